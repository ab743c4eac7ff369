"""``chordless bench``: measure Table 1 of the paper, other programs, batches, the start, lists and more."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any, NamedTuple

from chordless import values
from chordless.bench.measure import Column, markdown_table, text_table
from chordless.bench.report import Report, heading
from chordless.commands.parser import Parser, examples
from chordless.commands.session import InterruptedRunError
from chordless.words.shown import error_line, on_terminal
from kernels_ti.choices import ARCHES

STANDARD_OUTPUT = "-"
_WIDTH, _WIDTH_OF_HELP = 120, 80
_PROBLEM_EXIT_CODE = 1

_TABLE1 = """\
Measure Table 1 of the paper again: its own figures, ours beside them, and
whether the counts agree. The runs of a row are taken in turns.
"""

_PEERS = """\
Count the cycles of the same graphs with this program, networkx, countg of
nauty, and programs of your own, in turns, and compare times and counts.

A COMMAND is run without a shell; {el} stands for a file with a line `n m` and
a line `u v` for each edge, vertices from 0, {file} for an edge list as
`chordless generate` writes it, {g6} for a file in graph6. Its count is N of a
`clc N` in its output (cycles of 4 or more vertices; `c3 N` for the triangles
may be there too), else the last whole number, with or without the triangles.
Its time is S of a `sec S`, else that of the whole process.
"""

_BATCH = """\
Count the cycles of many small graphs with `chordless batch`, and with countg of
nauty on the same graphs, in turns, and compare times and counts: all graphs of
N vertices, which geng of nauty makes, and molecules.
"""

_START = """\
Measure how long a newcomer waits for a short command, and for a large edge
list, which is made for the purpose.

The commands are --help, the count of petersen and of grid:7x10, and the first
cycles of a road network (planar:400,1). With GRAPHs of your own only these are
measured, until there are cycles longer than triangles, for which the large
kernels are compiled: count GRAPH --min-length 4 --limit 1.
"""

_LISTING = """\
Measure what it takes to have every cycle of a graph, beside counting them: in
calls of Python, and in whole commands.
"""

_SCALE = """\
Count the cycles of the same graphs on a local cluster of 1, 2, 4 ... workers,
in turns, and compare: speed-up, and where the rest of the time went. Each
worker has its share of the cores, or with --gpus one GPU.
"""

_BOUNDARY = """\
Measure the boundary method: all cycles together, by length, and the longest
cycle, each in a process that has done the same before.

Without a GRAPH these are grid:12x12 and grid:14x14; with --arch cuda larger
grids follow, up to grid:20x20.
"""

_DASHBOARD = """\
Measure how soon the dashboard answers keys, each after the answer to the one
before. Its settings and runs are kept away from yours.
"""


_Option = tuple[str, dict[str, Any]]
"""The name of an option, and the other arguments of ``add_argument``."""


def _option(name: str, text: str, **settings: Any) -> _Option:
    return name, {"help": text, **settings}


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no name is given")
    return names


def _graphs(more: str = "") -> _Option:
    return _option("graphs", f"a file or a spec, see chordless help specs{more}", nargs="*", metavar="GRAPH")


def _number(name: str, text: str, default: int, metavar: str = "N", **settings: Any) -> _Option:
    text = f"{text} (default: {default})"
    return _option(name, text, type=values.positive, default=default, metavar=metavar, **settings)


def _timeout(name: str, text: str) -> _Option:
    return _option(name, f"{text} (default: 60)", type=values.duration, default=60.0, metavar="TIME")


def _ways(text: str) -> _Option:
    return _option("--ways", f"{text} (default: all)", type=_names, metavar="WAY,...")


_OUTPUT = (
    _option(
        "--json",
        "write machine, date, settings, all runs and medians to FILE.json, or print them instead of the table",
        nargs="?",
        type=values.output_file,
        const=STANDARD_OUTPUT,
        metavar="FILE.json",
    ),
    _option("--markdown", "print the table in Markdown", action="store_true"),
)
_COMMON = (
    _option("--arch", f"one of {', '.join(ARCHES)} (default: auto)", choices=ARCHES, default=ARCHES[0], metavar="ARCH"),
    _option("--threads", "threads of the CPU to use (default: all)", type=values.thread_count, metavar="N"),
    _number("--repeat", "runs of each", 5, "R"),
    *_OUTPUT,
)


class _Bench(NamedTuple):
    summary: str
    description: str
    legend: str  # What the columns of its table mean
    examples: tuple[str, ...]
    options: tuple[_Option, ...]


_BENCHES = {
    "table1": _Bench(
        "the paper's Table 1, measured here",
        _TABLE1,
        (
            "n, m, Delta, C3 and #clc are the paper's; agree: C3 and #clc are the same here. Times are medians in ms. "
            "T_seq is the sequential algorithm, here in plain Python unless --sequential names a program; T_par-proc "
            "the search alone, cycles counted; T_par-total the whole call collect_cycles(graph).rows(), which has all "
            "cycles in the host's memory; speedup is T_seq / T_par-total. All parallel searches are made in one "
            "process, which has searched the graph before; each T_seq in one of its own. Start-up and compilation are "
            "not counted."
        ),
        (
            "--data foodwebs --json table1.json",
            "--arch cuda --rows Grid_7x10,Grid_8x10 --markdown",
            "--sequential 'dias=./seq_dias {el}'",
        ),
        (
            _option(
                "--data",
                "where the food webs are, NAME.net with NAME.clu beside it, and SiouxFalls.txt: in DIR or in a folder "
                "of it (without --data these rows are left out)",
                metavar="DIR",
            ),
            _option("--rows", "only these rows (default: all)", type=_names, metavar="NAME,..."),
            _option(
                "--sequential",
                "a program for T_seq, see chordless bench peers --help (default: the algorithm in plain Python)",
                metavar="'NAME=COMMAND {el}'",
            ),
            _timeout("--seq-timeout", "end T_seq after this long, and do not repeat it beyond"),
            *_COMMON,
        ),
    ),
    "peers": _Bench(
        "other programs on the same graphs",
        _PEERS,
        (
            "Seconds to count all chordless cycles: medians of the runs, which were taken in turns, each in a process "
            "of its own; the ratio is that to the first program. chordless: the search alone, without start-up and "
            "compilation; boundary: the count along one, with looking for it. networkx: the enumeration alone. Others: "
            "their own time if they print one (sec S), else that of the process."
        ),
        ("grid:7x10 --repeat 3", "--program 'mine=./count {el}' --json peers.json"),
        (
            _graphs(" (default: three grids and two random graphs of 60 to 80 vertices)"),
            _option(
                "--simplify", "drop self-loops, repeated edges and directions of these graphs", action="store_true"
            ),
            _option(
                "--program",
                "another program; may be repeated",
                action="append",
                default=[],
                metavar="'NAME=COMMAND {el}'",
            ),
            _timeout("--timeout", "end a run after this long, and do not repeat a program beyond"),
            *_COMMON,
        ),
    ),
    "batch": _Bench(
        "many small graphs at once",
        _BATCH,
        (
            "Seconds to count the chordless cycles of each graph of a file: medians of the runs, which were taken in "
            "turns. chordless: from the start of the engine to the last line of its output, reading and writing "
            "included. nauty-countg: the whole process, which prints how many graphs have how many cycles; it reads "
            "molecules as graph6, we read SMILES through RDKit."
        ),
        ("--repeat 3 --json batch.json", "--vertices 8 --molecules 1000"),
        (
            _number("--vertices", "all graphs with N vertices", 9),
            _number("--molecules", "molecules", 100_000),
            *_COMMON,
        ),
    ),
    "start": _Bench(
        "start, compilation and the reading of large files",
        _START,
        (
            "Seconds of the whole process: medians of the runs. cold: with an empty cache of compiled kernels; warm: "
            "with the cache that the cold run before it has filled. read: an edge list is read, labelled by degree and "
            "split into blocks, without the start of Python; memory: the most that this process took, in bytes for "
            "each byte of the file."
        ),
        ("--repeat 3 --json start.json", "roads.txt --repeat 3"),
        (
            _graphs(", instead of all else"),
            _number("--lines", "lines of the large edge list", 2_000_000),
            *_COMMON,
        ),
    ),
    "listing": _Bench(
        "all cycles in memory, in files and through a pipe",
        _LISTING,
        (
            "Seconds to have all chordless cycles: medians of the runs, which were taken in turns. The first ones are "
            "calls of the library in a process that has made the same call before: count (count_cycles), rows "
            "(collect_cycles(graph).rows(), in one array), batches (enumerate_cycles(graph).batches(), vertices in "
            "order) and lists (enumerate_cycles, Python lists of names, each dropped at once). search, search rows "
            "(bit rows in the memory of the host) and kept (they stay in the memory of the device) are the search "
            "inside these calls alone. times count is the median over that of count. .npy, .txt, pipe (list | wc -l), "
            "folder (a run directory), Parquet and Arrow are whole processes with a warm cache. GB/s: bytes of rows or "
            "of output over the median."
        ),
        ("--repeat 3 --json listing.json", "roads.txt --arch cpu", "grid:8x10 --ways rows,.npy"),
        (
            _graphs(" (default: grid:7x10 and grid:8x10, 1 and 11 GB on disk)"),
            _ways(
                "only these, and counting: rows, batches, lists, search, 'search rows', kept, .npy, .txt, pipe, "
                "folder, Parquet, Arrow"
            ),
            *_COMMON,
        ),
    ),
    "scale": _Bench(
        "one search on 1, 2, 4 ... workers of a local cluster",
        _SCALE,
        (
            "Seconds from the first lease to the last answer. speed-up: against the fewest workers. busy: share of "
            "that time in which the workers searched; transfer: in which leases and answers were on their way and a "
            "worker had nothing else; idle: the rest, most of it at the end. set-up: seconds until the first lease. Of "
            "these, device and kernels: the slowest worker opened the device for the search, and compiled or loaded "
            "its kernels; the rest: the processes started, and the driver made the work. other: the rest of the whole, "
            "the end of the processes included."
        ),
        (
            "grid:9x10 --workers 1,2 --repeat 3",
            "grid:8x10 --workers 1,2 --plot scale.svg",
            "gnp:105,0.1,1 --gpus 0,1,2,3 --workers 1,2,4 --json",
        ),
        (
            _graphs(" (default: grid:8x10)"),
            _option(
                "--workers",
                "numbers of workers (default: 1,2,4 as far as there are cores or GPUs)",
                type=values.whole_numbers,
                metavar="N,N..",
            ),
            _option("--gpus", "the GPUs that get a worker each", type=values.whole_numbers, metavar="N,N.."),
            _option(
                "--plot",
                "draw where the time went: a picture .svg, .png or .pdf",
                type=values.output_file,
                metavar="FILE",
            ),
            *_COMMON,
        ),
    ),
    "boundary": _Bench(
        "totals, counts by length and longest cycles along a boundary",
        _BOUNDARY,
        (
            "Seconds of the runs, without the search for an order of the vertices, the start and the compilation. "
            "first: the first run of all in its process, compilation included. answer: the cycles, triangles included; "
            "for longest the vertices of the longest cycle, and how many cycles have as many."
        ),
        ("--repeat 3 --json boundary.json", "--arch cuda --markdown", "roads.txt --ways total,longest"),
        (_graphs(), _ways("only these: total, lengths, longest"), *_COMMON),
    ),
    "dashboard": _Bench(
        "how soon the dashboard answers a key during a search",
        _DASHBOARD,
        (
            "Seconds from a key until the dashboard, on a terminal of 120 columns, has drawn the screen that the key "
            "asks for (Cycles, Runs, Batch and Run in turns), while it searches the graph on all cores. A search that "
            "has ended is begun again. 95%: 19 of 20 keys are answered as soon."
        ),
        ("--json dashboard.json", "roads.txt --keys 40"),
        (_graphs(" (default: grid:9x10)"), _number("--keys", "keys to press", 200, dest="repeat"), *_OUTPUT),
    ),
}
DESCRIPTION = "Measure this program. Exit code 1: two counts disagree, or a program failed."
EXAMPLES = ("chordless bench table1 --rows Grid_6x6,K_50_50", "chordless bench peers")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    benches = parser.add_subparsers(dest="bench", metavar="BENCH", required=True, parser_class=Parser)
    for name, bench in _BENCHES.items():
        _add_bench(benches, name, bench)


def _add_bench(benches: Any, name: str, bench: _Bench) -> None:
    parser = benches.add_parser(name, help=bench.summary, description=bench.description)
    parser.below += [
        lambda: textwrap.fill(bench.legend, _WIDTH_OF_HELP),
        lambda: examples(*(f"chordless bench {name} {line}" for line in bench.examples)),
    ]
    for option, settings in bench.options:
        parser.add_argument(option, **settings)
    parser.set_defaults(parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for a bad ``--json`` FILE, or for two kinds of output at once."""
    if options.json == STANDARD_OUTPUT and options.markdown:
        parser.error("--markdown and --json without a file both print to standard output")
    if options.json not in (None, STANDARD_OUTPUT) and not options.json.endswith(".json"):
        parser.error(f"--json {options.json}: the file's name ends in .json")


def act(options: argparse.Namespace) -> int:
    """Measure, print the table, return the exit code; the module of the bench has its rows and columns."""
    bench = import_module(f"chordless.bench.{options.bench}")
    with ExitStack() as stack:
        made = bench.prepared(options, stack)
        settings = {"arch": options.arch, "threads": options.threads, "repeat": options.repeat, **made.settings}
        begun = heading(options.bench, _BENCHES[options.bench].legend, made.machine, **settings)
        report = Report(begun, notes=[*made.notes])
        report.measure(made.rows, options.repeat, None if options.json == STANDARD_OUTPUT else options.json)
        made.after(report)
    return print_report(report, options, bench.COLUMNS)


def print_report(report: Report, options: argparse.Namespace, columns: Sequence[Column]) -> int:
    """Print what was measured, then what is wrong; return the exit code."""
    if report.interrupted is not None and not report.rows:
        raise InterruptedRunError(report.interrupted, "interrupted, nothing to report")
    if options.json not in (None, STANDARD_OUTPUT):
        report.save(options.json)
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
