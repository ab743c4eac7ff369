"""The acts of the subcommands of ``chordless bench``: measure, print the table, then what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from chordless.bench.layout import Column
    from chordless.bench.report import Report

STANDARD_OUTPUT = "-"
_WIDTH = 120
_PROBLEM_EXIT_CODE = 1


def act_table1(options: argparse.Namespace) -> int:
    """Measure Table 1, print it, return the exit code."""
    from chordless.bench import programs, table1
    from chordless.bench.warm import WarmProcess

    chosen, left_out = table1.chosen_rows(options.rows, options.data)
    sequential = None if options.sequential is None else programs.given(options.sequential, "--sequential")
    notes = []
    if sequential is not None:
        notes.append(f"T_seq is that of {sequential.name}: {sequential.shown}")
    if left_out:
        names = ", ".join(row.name for row in left_out)
        notes.append(f"left out, as their graphs are read from files (--data DIR): {names}")
    with _folder() as folder, WarmProcess(options.arch, options.threads) as searches:
        rows = [
            table1.Table1Row(
                row, _below(folder, i), options.data, searches, options.arch, options.seq_timeout, sequential
            )
            for i, row in enumerate(chosen)
        ]
        report = _report(
            "table1",
            table1.LEGEND,
            options,
            options.arch,
            notes,
            **{
                "sequential_timeout": options.seq_timeout,
                "sequential": None if sequential is None else sequential.name,
            },
        )
        report.measure(rows, options.repeat, report_file(options))
    report.notes += [row.note for row in rows[: len(report.rows)] if row.note is not None]
    return print_report(report, options, table1.COLUMNS)


def act_peers(options: argparse.Namespace) -> int:
    """Measure all programs on all graphs, print the table, return the exit code."""
    from chordless.bench import peers, programs
    from chordless.bench.graphs import BenchGraph
    from chordless.graphs.load import load_graph
    from kernels_ti import OptionError

    others = [programs.networkx(), programs.nauty(), *(programs.given(text) for text in options.program)]
    names = [program.name for program in others]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise OptionError(f"--program {repeated}=...: there are two programs of that name")
    with _folder() as folder:
        graphs = [
            BenchGraph(title, load_graph(title, simplify=options.simplify).graph, _below(folder, i))
            for i, title in enumerate(options.graphs or peers.DEFAULT_GRAPHS)
        ]
        report = _report("peers", peers.LEGEND, options, options.arch, timeout=options.timeout)
        ours = peers.our_programs(options.arch, options.threads, report.heading["machine"])
        rows = [peers.PeersRow(graph, ours, others, options.timeout) for graph in graphs]
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, peers.COLUMNS)


def act_batch(options: argparse.Namespace) -> int:
    """Measure batches of small graphs, print the table, return the exit code."""
    from chordless.bench import batch
    from kernels_ti import OptionError

    with _folder() as folder:
        rows, notes = batch.rows(folder, options.vertices, options.molecules, options.arch, options.threads)
        if not rows:
            raise OptionError(f"there is nothing to measure: {'; '.join(notes)}")
        report = _report("batch", batch.LEGEND, options, _cpu_for_auto(options), notes)
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, batch.COLUMNS)


def act_start(options: argparse.Namespace) -> int:
    """Measure starts and the reading of a large file, print the table, return the exit code."""
    from chordless.bench import start

    with _folder() as folder:
        report = _report("start", start.LEGEND, options, _cpu_for_auto(options), lines=options.lines)
        rows = start.rows(folder, options.graphs, options.arch, options.threads, options.lines)
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, start.COLUMNS)


def act_listing(options: argparse.Namespace) -> int:
    """Measure listing, print the table, return the exit code."""
    from chordless.bench import listing
    from chordless.bench.graphs import BenchGraph
    from chordless.bench.warm import WarmProcess
    from chordless.graphs.load import load_graph

    ways = _known(options.ways, listing.WAYS)
    arch = _cpu_for_auto(options)
    with _folder() as folder, WarmProcess(arch, options.threads) as searches:
        graphs = [
            BenchGraph(title, load_graph(title).graph, _below(folder, i))
            for i, title in enumerate(options.graphs or listing.DEFAULT_GRAPHS)
        ]
        report = _report("listing", listing.LEGEND, options, arch, ways=options.ways)
        rows = [listing.ListingRow(graph, searches, arch, options.threads, ways) for graph in graphs]
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, listing.COLUMNS)


def act_scale(options: argparse.Namespace) -> int:
    """Measure numbers of workers, print the table, return the exit code."""
    from chordless.bench import scale

    counts = _numbers_of_workers(options)
    if options.plot is not None:
        from chordless.pictures.style import require_matplotlib

        require_matplotlib()
        _format_of(options.plot)
    report = _report("scale", scale.LEGEND, options, _cpu_for_auto(options), workers=list(counts))
    more = ["--arch", options.arch, *([] if options.threads is None else ["--threads", str(options.threads)])]
    rows = [scale.ScaleRow(graph, counts, more, options.gpus) for graph in options.graphs or scale.DEFAULT_GRAPHS]
    report.measure(rows, options.repeat, report_file(options))
    if options.plot is not None:
        _draw([row.to_json() for row in report.rows], options.plot)
    return print_report(report, options, scale.COLUMNS)


def act_boundary(options: argparse.Namespace) -> int:
    """Measure the boundary method, print the table, return the exit code."""
    from chordless.bench import boundary
    from chordless.bench.warm import WarmProcess

    ways = _known(options.ways, tuple(boundary.WAYS))
    arch = "cpu" if options.arch == "reference" else _cpu_for_auto(options)
    report = _report("boundary", boundary.LEGEND, options, arch, ways=list(ways))
    with WarmProcess(options.arch, options.threads, "chordless.bench.boundary_calls") as process:
        rows = boundary.rows(options.graphs, ways, options.arch, process)
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, boundary.COLUMNS)


def act_estimates(options: argparse.Namespace) -> int:
    """Count and estimate, print the table, return the exit code."""
    from chordless.bench import estimates

    cases = [estimates.Case(graph, options.max_length, tuple(options.through)) for graph in options.graphs]
    rows = [estimates.EstimatesRow(case, options.seconds) for case in cases or estimates.DEFAULT_CASES]
    options.arch, options.threads = "reference", None  # The host estimates
    report = _report("estimates", estimates.LEGEND, options, options.arch, seconds=options.seconds)
    report.measure(rows, options.repeat, report_file(options))
    report.notes.append(estimates.summary(rows))
    return print_report(report, options, estimates.COLUMNS)


def act_dashboard(options: argparse.Namespace) -> int:
    """Press keys in dashboards that search, print the table, return the exit code."""
    from chordless.bench import dashboard

    options.arch, options.threads = "cpu", None  # As a new dashboard has it
    with _folder() as folder:
        graphs = options.graphs or dashboard.DEFAULT_GRAPHS
        rows = [dashboard.DashboardRow(graph, _below(folder, i)) for i, graph in enumerate(graphs)]
        report = _report("dashboard", dashboard.LEGEND, options, options.arch)
        report.measure(rows, options.repeat, report_file(options))
    return print_report(report, options, dashboard.COLUMNS)


def _report(
    kind: str, legend: str, options: argparse.Namespace, arch: str, notes: Sequence[str] = (), **settings: Any
) -> Report:
    """Return an empty report; the arch is opened and tested before."""
    from chordless.bench import measure
    from chordless.bench.report import Report, heading
    from chordless.commands.info import version_of

    settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, **settings}
    machine = measure.machine(measure.probe(arch))
    return Report(heading(kind, legend, version_of("chordless"), machine, **settings), notes=list(notes))


def _cpu_for_auto(options: argparse.Namespace) -> str:
    return "cpu" if options.arch == "auto" else str(options.arch)


def _known(ways: Sequence[str] | None, all_ways: Sequence[str]) -> Sequence[str]:
    """Return the ways to measure, by default all."""
    from kernels_ti import OptionError

    unknown = [way for way in ways or () if way not in all_ways]
    if unknown:
        raise OptionError(f"--ways {unknown[0]}: there is no such way; there are {', '.join(all_ways)}")
    return ways or all_ways


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder for the time of a bench."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        yield Path(folder)


def _below(parent: Path, number: int) -> Path:
    folder = parent / str(number)
    folder.mkdir()
    return folder


def report_file(options: argparse.Namespace) -> str | None:
    """Return the file of ``--json``, None if there is none."""
    return None if options.json in (None, STANDARD_OUTPUT) else str(options.json)


def print_report(report: Report, options: argparse.Namespace, columns: Sequence[Column]) -> int:
    """Print what was measured, then what is wrong; return the exit code."""
    import json

    from chordless.bench.layout import markdown_table, text_table
    from chordless.commands.session import InterruptedRunError
    from chordless.words.shown import error_line, on_terminal

    if report.interrupted is not None and not report.rows:
        raise InterruptedRunError(report.interrupted, "interrupted, nothing to report")
    if report_file(options) is not None:
        report.save(str(options.json))
    if options.json == STANDARD_OUTPUT:
        print(json.dumps(report.to_json()))
    else:
        make = markdown_table if options.markdown else text_table
        lines = [line for row in report.rows for line in row.cells()]
        for line in (*make(columns, lines), "", *_lines_below(report, options.markdown)):
            print(on_terminal(line, sys.stdout))
    sys.stdout.flush()
    for problem in report.problems:
        sys.stderr.write(f"chordless: error: {error_line(problem, sys.stderr)}\n")
    if report.interrupted is not None:
        return 128 + report.interrupted
    return _PROBLEM_EXIT_CODE if report.problems else 0


def _lines_below(report: Report, markdown: bool) -> Iterator[str]:
    """Yield the lines below the table: machine and date, the meaning of the columns, notes."""
    import textwrap

    heading, machine = report.heading, report.heading["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores"
    if machine["device"] != machine["cpu"]:
        where = f"{machine['device']} ({machine['arch']}); {where}"
    repeat = heading["settings"]["repeat"]
    runs = "a single run" if repeat == 1 else f"medians of up to {repeat} runs"
    ended = "; interrupted, not complete" if report.interrupted is not None else ""
    said = [f"{where}; chordless {heading['chordless']}, {heading['date'][:10]}, {runs}{ended}.", heading["legend"]]
    for text in (*said, *report.notes):
        yield from [f"- {text}"] if markdown else textwrap.wrap(text, _WIDTH)


def _numbers_of_workers(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the numbers of workers to measure, ascending; 0, or more workers than GPUs, is an OptionError."""
    from kernels_ti import OptionError
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
    from pathlib import PurePath

    from chordless.pictures.style import FORMATS
    from kernels_ti import OptionError

    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise OptionError(f"--plot {path}: a picture ends in {', '.join(f'.{each}' for each in FORMATS)}")
    return suffix


def _draw(rows: list[dict[str, Any]], path: str) -> None:
    """Write the picture of ``bench scale``."""
    from chordless.files import whole_file
    from chordless.pictures.scale import scale_chart
    from chordless.pictures.style import file_bytes, in_style

    with in_style():
        picture = file_bytes(scale_chart(rows), _format_of(path))
    with whole_file(path) as stream:
        stream.write(picture)
