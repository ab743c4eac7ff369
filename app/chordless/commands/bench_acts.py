"""What the subcommands of ``chordless bench`` do: measure, print the table, then what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
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
    import tempfile

    from chordless.bench import programs, table1
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.bench.searches import SearchProcess
    from chordless.commands.info import version_of

    chosen, left_out = table1.chosen_rows(options.rows, options.data)
    sequential = None if options.sequential is None else programs.given(options.sequential, "--sequential")
    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        rows = [table1.Table1Row(row, _folder(folder, i), options.data) for i, row in enumerate(chosen)]
        device = probe(options.arch)
        settings = {
            "arch": options.arch,
            "threads": options.threads,
            "repeat": options.repeat,
            "sequential_timeout": options.seq_timeout,
            "sequential": None if sequential is None else sequential.name,
        }
        heads = heading("table1", table1.LEGEND, version_of("chordless"), machine(device), **settings)
        report = Report[table1.Table1Row](heads)
        if sequential is not None:
            report.notes.append(f"T_seq is that of {sequential.name}: {sequential.shown}")
        if left_out:
            names = ", ".join(row.name for row in left_out)
            report.notes.append(f"left out, as their graphs are read from files (--data DIR): {names}")
        with SearchProcess(options.arch, options.threads) as searches:
            report.measure(
                rows,
                lambda row: row.measure(searches, options.arch, options.repeat, options.seq_timeout, sequential),
                report_file(options),
            )
    report.notes += [row.note for row in report.rows if row.note is not None]
    columns = table1.MARKDOWN_COLUMNS if options.markdown else table1.COLUMNS
    return print_report(report, options, columns, [row.cells() for row in report.rows])


def act_peers(options: argparse.Namespace) -> int:
    """Measure all programs on all graphs, print the table, return the exit code."""
    import tempfile

    from chordless.bench import peers, programs
    from chordless.bench.graphs import BenchGraph
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.commands.info import version_of
    from chordless.graphs.load import load_graph
    from kernels_ti import OptionError

    others = [programs.networkx(), programs.nauty(), *(programs.given(text) for text in options.program)]
    names = [program.name for program in others]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise OptionError(f"--program {repeated}=...: there are two programs of that name")
    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        graphs = [
            BenchGraph(title, load_graph(title, simplify=options.simplify).graph, _folder(folder, i))
            for i, title in enumerate(options.graphs or peers.DEFAULT_GRAPHS)
        ]
        device = probe(options.arch)
        ours = peers.our_programs(options.arch, options.threads, device)
        settings = {
            "arch": options.arch,
            "threads": options.threads,
            "repeat": options.repeat,
            "timeout": options.timeout,
        }
        heads = heading("peers", peers.LEGEND, version_of("chordless"), machine(device), **settings)
        report = Report[peers.PeersRow](heads)
        rows = [peers.PeersRow(graph, ours, others, options.timeout) for graph in graphs]
        report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    if options.markdown and report.rows:
        columns = peers.markdown_columns(report.rows[0])
        return print_report(report, options, columns, [row.markdown_cells() for row in report.rows])
    lines = [line for row in report.rows for line in row.cells()]
    return print_report(report, options, peers.COLUMNS, lines)


def act_batch(options: argparse.Namespace) -> int:
    """Measure batches of small graphs, print the table, return the exit code."""
    import tempfile
    from pathlib import Path

    from chordless.bench import batch
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.commands.info import version_of
    from kernels_ti import OptionError

    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        files, notes = batch.graph_files(Path(folder), options.vertices, options.molecules)
        if not files:
            raise OptionError(f"there is nothing to measure: {'; '.join(notes)}")
        device = probe("cpu" if options.arch == "auto" else options.arch)
        settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat}
        heads = heading("batch", batch.LEGEND, version_of("chordless"), machine(device), **settings)
        report = Report[batch.BatchRow](heads, notes=notes)
        rows = [batch.BatchRow(graphs, Path(folder), options.arch, options.threads) for graphs in files]
        report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    lines = [line for row in report.rows for line in row.cells()]
    return print_report(report, options, batch.COLUMNS, lines)


def act_start(options: argparse.Namespace) -> int:
    """Measure starts and the reading of a large file, print the table, return the exit code."""
    import tempfile
    from pathlib import Path

    from chordless.bench import start
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.commands.info import version_of

    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        device = probe("cpu" if options.arch == "auto" else options.arch)
        settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, "lines": options.lines}
        heads = heading("start", start.LEGEND, version_of("chordless"), machine(device), **settings)
        rows = start.rows(Path(folder), options.graphs, options.arch, options.threads, options.lines)
        report = Report[start.StartRow](heads)
        report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    return print_report(report, options, start.COLUMNS, [line for row in report.rows for line in row.cells()])


def act_listing(options: argparse.Namespace) -> int:
    """Measure listing, print the table, return the exit code."""
    import tempfile
    from pathlib import Path

    from chordless.bench import listing
    from chordless.bench.bandwidth import bandwidth
    from chordless.bench.graphs import BenchGraph
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.bench.searches import SearchProcess
    from chordless.commands.info import version_of
    from chordless.graphs.load import load_graph
    from kernels_ti import OptionError
    from kernels_ti.device.machine import cores

    unknown = [way for way in options.ways or () if way not in listing.WAYS]
    if unknown:
        raise OptionError(f"--ways {unknown[0]}: there is no such way; there are {', '.join(listing.WAYS)}")
    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        graphs = [
            BenchGraph(title, load_graph(title).graph, _folder(folder, i))
            for i, title in enumerate(options.graphs or listing.DEFAULT_GRAPHS)
        ]
        device = probe("cpu" if options.arch == "auto" else options.arch)
        limits = bandwidth(Path(folder), options.threads or cores())
        settings = {
            "arch": device.arch,
            "threads": options.threads,
            "repeat": options.repeat,
            "ways": options.ways,
        }
        with SearchProcess(device.arch, options.threads) as searches:
            link = searches.link_speed()
            limits |= {} if link is None else {"link": link}
            settings["bytes_per_second"] = {name: round(value) for name, value in limits.items()}
            heads = heading("listing", listing.LEGEND, version_of("chordless"), machine(device), **settings)
            report = Report[listing.ListingRow](heads)
            shown = ", ".join(f"{name} {value / 1e9:.3g} GB/s" for name, value in limits.items())
            report.notes.append(f"what this machine takes: {shown}")
            rows = [
                listing.ListingRow(graph, searches, device.arch, options.threads, limits, options.ways or listing.WAYS)
                for graph in graphs
            ]
            report.measure(rows, lambda row: row.measure(options.repeat), report_file(options))
    return print_report(report, options, listing.COLUMNS, [line for row in report.rows for line in row.cells()])


def _folder(parent: str, number: int) -> Path:
    from pathlib import Path

    folder = Path(parent, str(number))
    folder.mkdir()
    return folder


def report_file(options: argparse.Namespace) -> str | None:
    """Return the file of ``--json``, None if there is none."""
    return None if options.json in (None, STANDARD_OUTPUT) else str(options.json)


def print_report(
    report: Report[Any], options: argparse.Namespace, columns: Sequence[Column], lines: Sequence[Sequence[str]]
) -> int:
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
        for line in (*make(columns, lines), "", *_below(report, options.markdown)):
            print(on_terminal(line, sys.stdout))
    sys.stdout.flush()
    for problem in report.problems:
        sys.stderr.write(f"chordless: error: {error_line(problem, sys.stderr)}\n")
    if report.interrupted is not None:
        return 128 + report.interrupted
    return _PROBLEM_EXIT_CODE if report.problems else 0


def _below(report: Report[Any], markdown: bool) -> Iterator[str]:
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
