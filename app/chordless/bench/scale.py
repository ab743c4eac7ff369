"""``bench scale``: the same search on 1, 2, 4 ... workers of a local cluster, and where the rest of the time went."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from chordless.bench.layout import NOTHING, Column, figures
from chordless.bench.measure import Outcome, Series, take_turns
from chordless.bench.process import module_command, program_command, run_process
from kernels_ti import EngineError

LEGEND = (
    "search: seconds from the first lease to the last answer, the median of the runs. speed-up: against the fewest "
    "workers. busy: share of that time in which the workers searched; transfer: in which leases and answers were on "
    "their way and a worker had nothing else; idle: the rest, most of it at the end. set-up: seconds until the first "
    "lease. Of these, device and kernels: the slowest worker opened the device for the search, and compiled or loaded "
    "its kernels; first frames: the driver made the work; the rest: the processes started, and opened their devices "
    "meanwhile. other: the rest of the whole, the end of the processes included."
)

COLUMNS = (
    Column("graph", left=True),
    Column("workers"),
    Column("runs"),
    Column("search, s"),
    Column("speed-up"),
    Column("busy"),
    Column("transfer"),
    Column("idle"),
    Column("leases"),
    Column("set-up, s"),
    Column("device, s"),
    Column("kernels, s"),
    Column("first frames, s"),
    Column("other, s"),
)


@dataclass
class _Workers:
    """The runs with one number of workers."""

    series: Series
    results: list[dict[str, Any]] = field(default_factory=list)

    def median_of(self, value: str) -> float:
        return float(statistics.median(result[value] for result in self.results))


class ScaleRow:
    """One graph on several numbers of workers.

    Parameters
    ----------
    graph : str
    counts : sequence of int
        Numbers of workers.
    options : sequence of str
        Further options of each count.
    gpus : sequence of int or None
        If given, n workers use the first n of these GPUs.
    """

    def __init__(self, graph: str, counts: Sequence[int], options: Sequence[str], gpus: Sequence[int] | None) -> None:
        self.title = graph
        self._first_frames: float | None = None
        self._workers: dict[int, _Workers] = {}
        for count in counts:
            where = ["--cluster", f"local:{count}"]
            if gpus is not None:
                where = ["--cluster", "local", "--gpus", ",".join(map(str, gpus[:count]))]
            arguments = ["count", graph, *where, *options, "--json", "--progress", "none"]
            results: list[dict[str, Any]] = []
            command = f"chordless {' '.join(arguments)}"
            series = Series(f"{count}", command, partial(_run_once, arguments, count, results))
            self._workers[count] = _Workers(series, results)

    @property
    def measured(self) -> bool:
        """Whether there is any result."""
        return any(each.results or each.series.stopped for each in self._workers.values())

    @property
    def problems(self) -> Iterator[str]:
        """Yield one line for each problem."""
        for count, each in self._workers.items():
            if each.series.error is not None:
                yield f"{self.title}, {count} workers: {each.series.error}"
        counted = {tuple(sorted(each.series.count.items())) for each in self._workers.values() if each.series.seconds}
        if len(counted) > 1:
            yield f"{self.title}: the counts of different numbers of workers disagree"

    def measure(self, repeat: int) -> None:
        """Run the numbers of workers in turns; before that, make the first frames once as the driver does."""
        ended = run_process(module_command("chordless.bench.first_frames", self.title))
        if ended.exit_code == 0:
            self._first_frames = float(ended.printed.splitlines()[-1])
        take_turns([each.series for each in self._workers.values()], repeat)

    def cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, one for each number of workers."""
        fewest = next(iter(self._workers.values())).series.median
        for number, (count, each) in enumerate(self._workers.items()):
            title = self.title if number == 0 else ""
            median = each.series.median
            if median is None:
                yield (title, str(count), NOTHING, each.series.stopped or NOTHING, *[NOTHING] * 10)
                continue
            yield (
                title,
                str(count),
                str(len(each.results)),
                figures(median),
                NOTHING if fewest is None else f"{fewest / median:.2f}",
                *(f"{each.median_of(part):.1%}" for part in ("busy", "transfer", "idle")),
                f"{each.median_of('leases'):.0f}",
                *(figures(each.median_of(part)) for part in ("setup", "device", "kernels")),
                NOTHING if self._first_frames is None else figures(self._first_frames),
                figures(each.median_of("other")),
            )

    def to_json(self) -> dict[str, Any]:
        """Return the data for the report."""
        return {
            "graph": self.title,
            "first_frames": self._first_frames,
            "workers": [
                {"workers": count, "runs": each.results, **each.series.to_json()}
                for count, each in self._workers.items()
            ],
        }


def _run_once(arguments: Sequence[str], count: int, results: list[dict[str, Any]]) -> Outcome:
    """Count once on a number of workers; note where the time went."""
    ended = run_process(program_command(*arguments))
    if ended.exit_code != 0:
        raise EngineError(f"chordless ended with exit code {ended.exit_code}{ended.last_words}")
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
