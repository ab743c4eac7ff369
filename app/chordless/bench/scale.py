"""``bench scale``: the same search on 1, 2, 4 ... workers of a local cluster, and where the rest of the time went."""

from __future__ import annotations

import json
import statistics
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import PurePath
from typing import Any

from chordless.bench.measure import NOTHING, Column, Outcome, Series, cpu_for_auto, figures, machine, series_columns
from chordless.bench.process import run_chordless
from chordless.bench.report import Prepared, Report, Row
from kernels_ti import OptionError

DEFAULT_GRAPHS = ("grid:8x10",)

_PARTS = ("busy", "transfer", "idle", "leases", "setup", "device", "kernels", "other")
COLUMNS = (
    Column("graph", left=True),
    *series_columns("workers"),
    Column("speed-up"),
    Column("busy"),
    Column("transfer"),
    Column("idle"),
    Column("leases"),
    Column("set-up, s"),
    Column("device, s"),
    Column("kernels, s"),
    Column("other, s"),
)


def prepared(options: Namespace, stack: ExitStack) -> Prepared:
    """Return a row for each graph; an OptionError for a number of workers, or a picture, that cannot be."""
    counts = _numbers_of_workers(options)
    if options.plot is not None:
        from chordless.pictures.style import require_matplotlib

        require_matplotlib()
        _format_of(options.plot)
    how = ["--arch", options.arch, *([] if options.threads is None else ["--threads", str(options.threads)])]
    rows = [ScaleRow(graph, counts, how, options.gpus) for graph in options.graphs or DEFAULT_GRAPHS]

    def after(report: Report) -> None:
        if options.plot is not None:
            _draw([row.to_json() for row in report.rows], options.plot)

    return Prepared(rows, machine(cpu_for_auto(options.arch)), {"workers": list(counts)}, after=after)


def _numbers_of_workers(options: Namespace) -> tuple[int, ...]:
    """Return the numbers of workers to measure, ascending; 0, or more workers than GPUs, is an OptionError."""
    from kernels_ti.device.machine import cores

    most = cores() if options.gpus is None else len(options.gpus)
    counts = options.workers or tuple(count for count in (1, 2, 4) if count <= most)
    if min(counts) < 1:
        raise OptionError("--workers: a search needs at least one worker")
    if options.gpus is not None and max(counts) > most:
        raise OptionError(f"--workers {max(counts)}: --gpus names {most}")
    return tuple(sorted(set(counts)))


def _format_of(path: str) -> str:
    """Return the format of a picture by the name of its file; another than those of pictures is an OptionError."""
    from chordless.pictures.style import FORMATS

    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise OptionError(f"--plot {path}: a picture ends in {', '.join(f'.{each}' for each in FORMATS)}")
    return suffix


def _draw(rows: list[dict[str, Any]], path: str) -> None:
    from chordless.files import whole_file
    from chordless.pictures.charts import scale_chart
    from chordless.pictures.style import file_bytes, in_style

    with in_style():
        picture = file_bytes(scale_chart(rows), _format_of(path))
    with whole_file(path) as stream:
        stream.write(picture)


class ScaleRow(Row):
    """One graph on several numbers of workers, `counts`; with `gpus` n workers use the first n of these GPUs."""

    keys = ("graph", "workers")

    def __init__(self, graph: str, counts: Sequence[int], options: Sequence[str], gpus: Sequence[int] | None) -> None:
        self._results: dict[str, list[dict[str, Any]]] = {str(count): [] for count in counts}
        series = []
        for count in counts:
            where = ["--cluster", f"local:{count}"]
            if gpus is not None:
                where = ["--cluster", "local", "--gpus", ",".join(map(str, gpus[:count]))]
            arguments = ["count", graph, *where, *options, "--json", "--progress", "none"]
            run = partial(_run_once, arguments, count, self._results[str(count)])
            series.append(Series(str(count), f"chordless {' '.join(arguments)}", run))
        super().__init__(graph, series)

    def _behind(self, one: Series) -> tuple[str, ...]:
        results, fewest = self._results[one.name], self.series[0].median
        if not results:
            return (NOTHING,) * 9
        median = {name: statistics.median(result[name] for result in results) for name in _PARTS}
        return (
            NOTHING if fewest is None or not one.median else f"{fewest / one.median:.2f}",
            *(f"{median[part]:.1%}" for part in ("busy", "transfer", "idle")),
            f"{median['leases']:.0f}",
            *(figures(median[part]) for part in ("setup", "device", "kernels", "other")),
        )

    def _facts_of(self, one: Series) -> dict[str, Any]:
        return {"workers": int(one.name), "runs": self._results[one.name]}


def _run_once(arguments: Sequence[str], count: int, results: list[dict[str, Any]]) -> Outcome:
    """Count once on a number of workers; note where the time went."""
    ended = run_chordless(*arguments)
    result = json.loads(ended.printed)
    search = float(result["seconds"]["enumerate"])
    busy = sum(worker["seconds"] for worker in result["workers"]) / (count * search)
    transfer = sum(worker["transfer_seconds"] for worker in result["workers"]) / (count * search)
    results.append(
        {
            "search": search,
            "busy": busy,
            "transfer": transfer,
            "idle": max(1 - busy - transfer, 0.0),
            "bytes": sum(worker["bytes_sent"] + worker["bytes_back"] for worker in result["workers"]),
            "leases": sum(worker["leases"] for worker in result["workers"]),
            "setup": float(result["seconds"]["setup"]),
            "device": max((worker["device_seconds"] for worker in result["workers"]), default=0.0),
            "kernels": max((worker["kernel_seconds"] for worker in result["workers"]), default=0.0),
            "other": max(ended.seconds - search - float(result["seconds"]["setup"]), 0.0),
            "devices": [worker["device"] for worker in result["workers"]],
        }
    )
    return Outcome(search, count={"cycles": int(result["total"])})
