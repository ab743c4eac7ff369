"""``chordless bench scale``: one search on more and more workers."""

from __future__ import annotations

import argparse
from typing import Any

from chordless import values
from chordless.commands.parser import Parser, examples
from kernels_ti import OptionError

SUMMARY = "one search on 1, 2, 4 ... workers of a local cluster"

DESCRIPTION = """\
Count the cycles of the same graphs on a local cluster of 1, 2, 4 ... workers,
in turns, and compare: speed-up, and where the rest of the time went. Each worker
has its share of the cores, or with --gpus one GPU.

With --simulate N nothing is searched: N workers sleep for as long as a lease
lasts and answer. That measures how many leases a second the driver handles.
Then calls that do nothing go to two local workers and back: that is Dask alone.
"""
_DEFAULT_GRAPH = "grid:8x10"
_SIMULATED_SECONDS = 5.0
_LEASE_SECONDS = 0.5


def add_parser(benches: Any, check: Any, add_common: Any) -> None:
    """Add the bench to those of ``chordless bench``.

    Parameters
    ----------
    benches : argparse subparsers
    check, add_common : callable
        What all benches share, see `chordless.commands.bench`.
    """
    parser: Parser = benches.add_parser(
        "scale",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: examples(
            "chordless bench scale grid:9x10 --workers 1,2 --repeat 3",
            "chordless bench scale grid:8x10 --workers 1,2 --plot scale.svg",
            "chordless bench scale gnp:105,0.1,1 --gpus 0,1,2,3 --workers 1,2,4 --json scale.json",
            "chordless bench scale --simulate 1000",
        ),
    )
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=f"a file or a spec (default: {_DEFAULT_GRAPH})")
    parser.add_argument(
        "--workers",
        type=values.gpu_numbers,
        metavar="N,N..",
        help="numbers of workers (default: 1,2,4 as far as there are cores or GPUs)",
    )
    parser.add_argument("--gpus", type=values.gpu_numbers, metavar="N,N..", help="the GPUs that get a worker each")
    parser.add_argument("--plot", metavar="FILE", help="draw where the time went: a picture .svg, .png or .pdf")
    parser.add_argument("--simulate", type=values.positive, metavar="N", help="N workers that sleep and answer")
    add_common(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def act(options: argparse.Namespace) -> int:
    """Measure, print the table, return the exit code."""
    from chordless.bench import scale
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.commands.bench_acts import print_report, report_file
    from chordless.commands.info import version_of

    if options.simulate is not None:
        return _simulate(options)
    counts = _numbers_of_workers(options)
    if options.plot is not None:
        from chordless.pictures.style import require_matplotlib

        require_matplotlib()
        _format_of(options.plot)
    device = probe("cpu" if options.arch == "auto" else options.arch)
    settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, "workers": list(counts)}
    report = Report[scale.ScaleRow](
        heading("scale", scale.LEGEND, version_of("chordless"), machine(device), **settings)
    )
    more = ["--arch", options.arch, *([] if options.threads is None else ["--threads", str(options.threads)])]
    rows = [scale.ScaleRow(graph, counts, more, options.gpus) for graph in options.graphs or (_DEFAULT_GRAPH,)]
    report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    if options.plot is not None:
        _draw([row.to_json() for row in report.rows], options.plot)
    return print_report(report, options, scale.COLUMNS, [line for row in report.rows for line in row.cells()])


def _format_of(path: str) -> str:
    """Return the format of a picture by the name of its file.

    Raises
    ------
    OptionError
        If it is none of `chordless.pictures.style.FORMATS`.
    """
    from pathlib import PurePath

    from chordless.pictures.style import FORMATS

    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise OptionError(f"--plot {path}: a picture ends in {', '.join(f'.{each}' for each in FORMATS)}")
    return suffix


def _draw(rows: list[dict[str, Any]], path: str) -> None:
    """Write the picture."""
    from chordless.commands.writing import whole_file
    from chordless.pictures.scale import scale_chart
    from chordless.pictures.style import file_bytes, in_style

    with in_style():
        picture = file_bytes(scale_chart(rows), _format_of(path))
    with whole_file(path) as stream:
        stream.write(picture)


def _numbers_of_workers(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the numbers of workers to measure, ascending.

    Raises
    ------
    OptionError
        For 0, or more workers than GPUs.
    """
    from kernels_ti.device.machine import cores

    most = cores() if options.gpus is None else len(options.gpus)
    counts = options.workers or tuple(count for count in (1, 2, 4) if count <= most)
    if min(counts) < 1:
        raise OptionError("--workers: a search needs at least one worker")
    if options.gpus is not None and max(counts) > most:
        raise OptionError(f"--workers {max(counts)}: --gpus names {most}")
    return tuple(sorted(set(counts)))


def _simulate(options: argparse.Namespace) -> int:
    """Measure the driver alone in a process of its own, print what came out, return the exit code.

    Raises
    ------
    EngineError
        If that process fails.
    """
    import json

    from chordless.bench.process import module_command, run_process
    from kernels_ti import EngineError

    if options.json not in (None, "-"):
        raise OptionError("--simulate prints its JSON: leave the file of --json out")
    graph = options.graphs[0] if options.graphs else _DEFAULT_GRAPH
    settings = (graph, str(options.simulate), str(_LEASE_SECONDS), str(_SIMULATED_SECONDS))
    ended = run_process(module_command("chordless.bench.sleeping", *settings))
    if ended.exit_code != 0:
        raise EngineError(f"the driver's process ended with exit code {ended.exit_code}{ended.last_words}")
    measured = json.loads(ended.printed.splitlines()[-1])
    if "error" in measured:
        raise EngineError(measured["error"])
    if options.json is not None:
        print(json.dumps({"workers": options.simulate, "lease_seconds": _LEASE_SECONDS, **measured}))
    else:
        rate, computing = measured["leases_per_second"], measured["computing"]
        print(
            f"{options.simulate:,} simulated workers with leases of {_LEASE_SECONDS} s: {rate:,.0f} leases a second; "
            f"the driver computed {computing:.0%} of the time"
        )
        if measured["calls_per_second"] is not None:
            print(f"2 local workers: {measured['calls_per_second']:,.0f} calls a second that do nothing, through Dask")
    return 0
