"""``chordless bench``: measure the paper's Table 1, other programs, many small graphs, and the start."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from chordless import values
from chordless.commands.parser import Parser, examples
from kernels_ti.choices import ARCHES

if TYPE_CHECKING:
    from pathlib import Path

    from chordless.bench.layout import Column
    from chordless.bench.report import Report

SUMMARY = "measure speed: Table 1, other programs, many graphs, start"
STANDARD_OUTPUT = "-"
_WIDTH = 120
_PROBLEM_EXIT_CODE = 1

TABLE1_DESCRIPTION = """\
Measure Table 1 of the paper again: its own figures, ours beside them, and
whether the counts agree.

T_seq is the schedule `reference`, the sequential algorithm in plain Python;
T_par-proc the search of a `count`; T_par-total the same search with the
transfer of all cycles to the memory of the host, as bit rows, in a process
that has searched the graph before. Start-up, compilation and the reading of
the graph are not counted: every run is a process of its own, and its clock
starts with the search. The runs of a row are taken in turns.
"""

PEERS_DESCRIPTION = """\
Count the cycles of the same graphs with this program, networkx, countg of
nauty, and programs of your own, in turns, and compare times and counts.

A COMMAND is run without a shell; {el} stands for a file with a line `n m` and
a line `u v` for each edge, vertices from 0, {file} for an edge list as
`chordless generate` writes it, {g6} for a file in graph6. Its count is N of a
`clc N` in its output (cycles of 4 or more vertices; `c3 N` for the triangles
may be there too), else the last whole number, with or without the triangles.
Its time is S of a `sec S`, else that of the whole process.
"""


BATCH_DESCRIPTION = """\
Count the cycles of many small graphs with `chordless batch`, and with countg of
nauty on the same graphs, in turns, and compare times and counts: all graphs of
N vertices, which geng of nauty makes, and molecules, which RDKit reads. Our time
is that of everything, from the start of the engine to the last line.
"""


START_DESCRIPTION = """\
Measure how long a newcomer waits: the whole process of a short command, with an
empty cache of compiled kernels (cold) and with the one that the run before it
has filled (warm). Then read, label and split a large edge list, which is made
for the purpose.

The commands are --help, the count of petersen and of grid:7x10, and the first
cycles of a road network (planar:400,1). With GRAPHs of your own only these are
measured, until there are cycles: count GRAPH --limit 1.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "bench",
        help=SUMMARY,
        description="Measure this program. Exit code 1: two counts disagree, or a program failed.",
        closing=lambda: examples("chordless bench table1 --rows Grid_6x6,K_50_50", "chordless bench peers"),
    )
    benches = parser.add_subparsers(dest="bench", metavar="BENCH", required=True, parser_class=Parser)
    _add_table1(benches)
    _add_peers(benches)
    _add_batch(benches)
    _add_start(benches)


def _bench(
    benches: Any, name: str, act: Callable[[argparse.Namespace], int], summary: str, description: str, *lines: str
) -> Parser:
    """Add the parser of one bench; `lines` are its examples."""
    parser: Parser = benches.add_parser(name, help=summary, description=description, closing=lambda: examples(*lines))
    parser.set_defaults(act=act, check=_check, parser=parser)
    return parser


def _add_table1(benches: Any) -> None:
    parser = _bench(
        benches,
        "table1",
        act_table1,
        "the paper's Table 1, measured here",
        TABLE1_DESCRIPTION,
        "chordless bench table1 --data foodwebs --json table1.json",
        "chordless bench table1 --arch cuda --rows Grid_7x10,Grid_8x10 --markdown",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="where the food webs are, NAME.net with NAME.clu beside it, and SiouxFalls.txt: in DIR or in a folder "
        "of it (without --data these rows are left out)",
    )
    parser.add_argument("--rows", type=_names, metavar="NAME,...", help="only these rows (default: all)")
    _add_timeout(parser, "--seq-timeout", "end T_seq after this long, and do not repeat it beyond")
    _add_common(parser)


def _add_peers(benches: Any) -> None:
    parser = _bench(
        benches,
        "peers",
        act_peers,
        "other programs on the same graphs",
        PEERS_DESCRIPTION,
        "chordless bench peers grid:7x10 --repeat 3",
        "chordless bench peers --program 'mine=./count {el}' --json peers.json",
    )
    parser.add_argument(
        "graphs",
        nargs="*",
        metavar="GRAPH",
        help="a file or a spec, see chordless help specs (default: three grids and two random graphs of 60 to 80 "
        "vertices)",
    )
    parser.add_argument(
        "--simplify", action="store_true", help="drop self-loops, repeated edges and directions of these graphs"
    )
    parser.add_argument(
        "--program", action="append", default=[], metavar="'NAME=COMMAND {el}'", help="another program; may be repeated"
    )
    _add_timeout(parser, "--timeout", "end a run after this long, and do not repeat a program beyond")
    _add_common(parser)


def _add_batch(benches: Any) -> None:
    parser = _bench(
        benches,
        "batch",
        act_batch,
        "many small graphs at once",
        BATCH_DESCRIPTION,
        "chordless bench batch --repeat 3 --json batch.json",
        "chordless bench batch --vertices 8 --molecules 1000",
    )
    parser.add_argument(
        "--vertices", type=values.positive, default=9, metavar="N", help="all graphs with N vertices (default: 9)"
    )
    parser.add_argument(
        "--molecules", type=values.positive, default=100_000, metavar="N", help="molecules (default: 100000)"
    )
    _add_common(parser)


def _add_start(benches: Any) -> None:
    parser = _bench(
        benches,
        "start",
        act_start,
        "start, compilation and the reading of large files",
        START_DESCRIPTION,
        "chordless bench start --repeat 3 --json start.json",
        "chordless bench start roads.txt --repeat 3",
    )
    parser.add_argument(
        "graphs", nargs="*", metavar="GRAPH", help="a file or a spec, see chordless help specs, instead of all else"
    )
    parser.add_argument(
        "--lines",
        type=values.positive,
        default=2_000_000,
        metavar="N",
        help="lines of the large edge list (default: 2000000)",
    )
    _add_common(parser)


def _add_timeout(parser: Parser, name: str, what: str) -> None:
    parser.add_argument(name, type=values.duration, default=60.0, metavar="TIME", help=f"{what} (default: 60)")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--arch",
        choices=ARCHES,
        default="auto",
        metavar="ARCH",
        help=f"one of {', '.join(ARCHES)} (default: auto)",
    )
    parser.add_argument(
        "--threads", type=values.thread_count, metavar="N", help="threads of the CPU to use (default: all)"
    )
    parser.add_argument("--repeat", type=values.positive, default=5, metavar="R", help="runs of each (default: 5)")
    parser.add_argument(
        "--json",
        nargs="?",
        const=STANDARD_OUTPUT,
        metavar="FILE.json",
        help="write machine, date, settings, all runs and medians to FILE.json, or print them instead of the table",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no name is given")
    return names


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for a bad ``--json`` FILE, or for two kinds of output at once."""
    if options.json == STANDARD_OUTPUT and options.markdown:
        parser.error("--markdown and --json without a file both print to standard output")
    if options.json not in (None, STANDARD_OUTPUT) and not options.json.endswith(".json"):
        parser.error(f"--json {options.json}: the file's name ends in .json")


def act_table1(options: argparse.Namespace) -> int:
    """Measure Table 1, print it, return the exit code."""
    import tempfile

    from chordless.bench import table1
    from chordless.bench.measure import machine, probe
    from chordless.bench.report import Report, heading
    from chordless.commands.info import version_of

    chosen, left_out = table1.chosen_rows(options.rows, options.data)
    with tempfile.TemporaryDirectory(prefix="chordless-bench-") as folder:
        rows = [table1.Table1Row(row, _folder(folder, i), options.data) for i, row in enumerate(chosen)]
        device = probe(options.arch)
        settings = {
            "arch": options.arch,
            "threads": options.threads,
            "repeat": options.repeat,
            "sequential_timeout": options.seq_timeout,
        }
        heads = heading("table1", table1.LEGEND, version_of("chordless"), machine(device), **settings)
        report = Report[table1.Table1Row](heads)
        if left_out:
            names = ", ".join(row.name for row in left_out)
            report.notes.append(f"left out, as their graphs are read from files (--data DIR): {names}")
        report.measure(
            rows,
            lambda row: row.measure(options.arch, options.threads, options.repeat, options.seq_timeout),
            _file(options),
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
        report.measure(rows, lambda row: row.measure(options.repeat), _file(options))
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
        report.measure(rows, lambda row: row.measure(options.repeat), _file(options))
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
        report.measure(rows, lambda row: row.measure(options.repeat), _file(options))
    return print_report(report, options, start.COLUMNS, [line for row in report.rows for line in row.cells()])


def _folder(parent: str, number: int) -> Path:
    from pathlib import Path

    folder = Path(parent, str(number))
    folder.mkdir()
    return folder


def _file(options: argparse.Namespace) -> str | None:
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
    if _file(options) is not None:
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
