"""``chordless bench``: measure Table 1 of the paper, other programs, batches, the start, lists and more."""

from __future__ import annotations

import argparse
from typing import Any

from chordless import values
from chordless.commands import bench_acts
from chordless.commands.bench_acts import STANDARD_OUTPUT
from chordless.commands.parser import Parser, examples
from kernels_ti.choices import ARCHES

SUMMARY = "measure speed: Table 1, other programs, lists, clusters ..."

_TABLE1 = """\
Measure Table 1 of the paper again: its own figures, ours beside them, and
whether the counts agree.

T_seq is the schedule `reference`, the sequential algorithm in plain Python;
T_par-proc the search of a `count`, alone; T_par-total the whole call of
collect_cycles(graph).rows() in Python, which has all cycles in the memory of
the host. Both are made in one process for all rows, which has searched the
graph before. Start-up, compilation and the reading of the graph are not
counted. The runs of a row are taken in turns.
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
N vertices, which geng of nauty makes, and molecules, which RDKit reads. Our time
is that of everything, from the start of the engine to the last line.
"""

_START = """\
Measure how long a newcomer waits: the whole process of a short command, with an
empty cache of compiled kernels (cold) and with the one that the run before it
has filled (warm). Then read, label and split a large edge list, which is made
for the purpose.

The commands are --help, the count of petersen and of grid:7x10, and the first
cycles of a road network (planar:400,1). With GRAPHs of your own only these are
measured, until there are cycles longer than triangles, for which the large
kernels are compiled: count GRAPH --min-length 4 --limit 1.
"""

_LISTING = """\
Measure what it takes to have every cycle of a graph, beside counting them.

`count`, `rows`, `batches` and `lists` are calls of Python in a process that has
made them before: count_cycles, collect_cycles(graph).rows(),
enumerate_cycles(graph).batches() with the vertices in cycle order, and
enumerate_cycles(graph). `search`, `search rows` and `kept` are the search
inside these calls alone: it counts, brings its cycles to the memory of the host
as bit rows, or keeps them in the memory of the device. The others are whole
commands with a warm cache of compiled kernels: a list to FILE.npy, to FILE.txt,
through a pipe to `wc`, to a run directory, to FILE.parquet and to FILE.arrow.
"""

_SCALE = """\
Count the cycles of the same graphs on a local cluster of 1, 2, 4 ... workers,
in turns, and compare: speed-up, and where the rest of the time went. Each worker
has its share of the cores, or with --gpus one GPU.
"""

_BOUNDARY = """\
Measure the boundary method: all cycles together, by length, and the longest
cycle, each in a process that has done the same before. The order of the
vertices is sought once, before the clock starts. The first run, which compiles
the kernels, is shown apart.

Without a GRAPH these are grid:12x12 and grid:14x14; with --arch cuda larger
grids follow, up to grid:20x20.
"""

_ESTIMATES = """\
Count the cycles of each GRAPH, then estimate them again and again, with other
random numbers each time, and compare: how many ranges hold the truth, and how
far the middles are from it. Without a GRAPH there are 30 searches: grids, king
graphs, random and planar graphs, some with a bound on the length or through
one vertex.
"""

_DASHBOARD = """\
Measure how soon the dashboard answers: keys are pressed on a terminal of its
own while it searches a graph on all cores, each after the answer to the one
before. Its settings and runs are kept away from yours.
"""
_GRAPHS = "a file or a spec, see chordless help specs"


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "bench",
        help=SUMMARY,
        description="Measure this program. Exit code 1: two counts disagree, or a program failed.",
        closing=lambda: examples("chordless bench table1 --rows Grid_6x6,K_50_50", "chordless bench peers"),
    )
    benches = parser.add_subparsers(dest="bench", metavar="BENCH", required=True, parser_class=Parser)
    for add in (_table1, _peers, _batch, _start, _listing, _scale, _boundary, _estimates, _dashboard):
        add(benches)


def _bench(benches: Any, name: str, summary: str, description: str, *lines: str) -> Parser:
    """Add the parser of one bench, whose act is `act_NAME`; `lines` are its examples."""
    closing = [f"chordless bench {name} {line}" for line in lines]
    parser: Parser = benches.add_parser(name, help=summary, description=description, closing=lambda: examples(*closing))
    parser.set_defaults(act=getattr(bench_acts, f"act_{name}"), check=_check, parser=parser)
    return parser


def _table1(benches: Any) -> None:
    parser = _bench(
        benches,
        "table1",
        "the paper's Table 1, measured here",
        _TABLE1,
        "--data foodwebs --json table1.json",
        "--arch cuda --rows Grid_7x10,Grid_8x10 --markdown",
        "--sequential 'dias=./seq_dias {el}'",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="where the food webs are, NAME.net with NAME.clu beside it, and SiouxFalls.txt: in DIR or in a folder "
        "of it (without --data these rows are left out)",
    )
    parser.add_argument("--rows", type=_names, metavar="NAME,...", help="only these rows (default: all)")
    parser.add_argument(
        "--sequential",
        metavar="'NAME=COMMAND {el}'",
        help="a program for T_seq, see chordless bench peers --help (default: the algorithm in plain Python)",
    )
    _add_timeout(parser, "--seq-timeout", "end T_seq after this long, and do not repeat it beyond")
    _add_common(parser)


def _peers(benches: Any) -> None:
    parser = _bench(
        benches,
        "peers",
        "other programs on the same graphs",
        _PEERS,
        "grid:7x10 --repeat 3",
        "--program 'mine=./count {el}' --json peers.json",
    )
    _add_graphs(parser, " (default: three grids and two random graphs of 60 to 80 vertices)")
    parser.add_argument(
        "--simplify", action="store_true", help="drop self-loops, repeated edges and directions of these graphs"
    )
    parser.add_argument(
        "--program", action="append", default=[], metavar="'NAME=COMMAND {el}'", help="another program; may be repeated"
    )
    _add_timeout(parser, "--timeout", "end a run after this long, and do not repeat a program beyond")
    _add_common(parser)


def _batch(benches: Any) -> None:
    summary = "many small graphs at once"
    parser = _bench(benches, "batch", summary, _BATCH, "--repeat 3 --json batch.json", "--vertices 8 --molecules 1000")
    parser.add_argument(
        "--vertices", type=values.positive, default=9, metavar="N", help="all graphs with N vertices (default: 9)"
    )
    parser.add_argument(
        "--molecules", type=values.positive, default=100_000, metavar="N", help="molecules (default: 100000)"
    )
    _add_common(parser)


def _start(benches: Any) -> None:
    summary = "start, compilation and the reading of large files"
    parser = _bench(benches, "start", summary, _START, "--repeat 3 --json start.json", "roads.txt --repeat 3")
    _add_graphs(parser, ", instead of all else")
    parser.add_argument(
        "--lines",
        type=values.positive,
        default=2_000_000,
        metavar="N",
        help="lines of the large edge list (default: 2000000)",
    )
    _add_common(parser)


def _listing(benches: Any) -> None:
    parser = _bench(
        benches,
        "listing",
        "all cycles in memory, in files and through a pipe",
        _LISTING,
        "--repeat 3 --json listing.json",
        "roads.txt --arch cpu",
        "grid:8x10 --ways rows,.npy",
    )
    _add_graphs(parser, " (default: grid:7x10 and grid:8x10, 1 and 11 GB on disk)")
    parser.add_argument(
        "--ways",
        type=_names,
        metavar="WAY,...",
        help="only these, and counting: rows, batches, lists, search, 'search rows', kept, .npy, .txt, pipe, folder, "
        "Parquet, Arrow (default: all)",
    )
    _add_common(parser)


def _scale(benches: Any) -> None:
    parser = _bench(
        benches,
        "scale",
        "one search on 1, 2, 4 ... workers of a local cluster",
        _SCALE,
        "grid:9x10 --workers 1,2 --repeat 3",
        "grid:8x10 --workers 1,2 --plot scale.svg",
        "gnp:105,0.1,1 --gpus 0,1,2,3 --workers 1,2,4 --json scale.json",
    )
    _add_graphs(parser, " (default: grid:8x10)")
    parser.add_argument(
        "--workers",
        type=values.gpu_numbers,
        metavar="N,N..",
        help="numbers of workers (default: 1,2,4 as far as there are cores or GPUs)",
    )
    parser.add_argument("--gpus", type=values.gpu_numbers, metavar="N,N..", help="the GPUs that get a worker each")
    parser.add_argument("--plot", metavar="FILE", help="draw where the time went: a picture .svg, .png or .pdf")
    _add_common(parser)


def _boundary(benches: Any) -> None:
    parser = _bench(
        benches,
        "boundary",
        "totals, counts by length and longest cycles along a boundary",
        _BOUNDARY,
        "--repeat 3 --json boundary.json",
        "--arch cuda --markdown",
        "roads.txt --ways total,longest",
    )
    _add_graphs(parser)
    parser.add_argument(
        "--ways", type=_names, metavar="WAY,...", help="only these: total, lengths, longest (default: all)"
    )
    _add_common(parser)


def _estimates(benches: Any) -> None:
    parser = _bench(
        benches,
        "estimates",
        "how often the range of an estimate holds the truth",
        _ESTIMATES,
        "--json estimates.json",
        "roads.txt --through 500 --max-length 27 --seeds 8",
    )
    _add_graphs(parser)
    parser.add_argument("--max-length", type=values.positive, metavar="N", help="of each GRAPH: cycles of up to N")
    parser.add_argument(
        "--through", action="append", default=[], metavar="V", help="of each GRAPH: only cycles through this vertex"
    )
    parser.add_argument(
        "--seeds",
        type=values.positive,
        default=20,
        dest="repeat",
        metavar="N",
        help="of each GRAPH (default: 20)",
    )
    parser.add_argument(
        "--seconds", type=values.duration, default=1.5, metavar="TIME", help="time of each estimate (default: 1.5)"
    )
    _add_output(parser)


def _dashboard(benches: Any) -> None:
    parser = _bench(
        benches,
        "dashboard",
        "how soon the dashboard answers a key during a search",
        _DASHBOARD,
        "--json dashboard.json",
        "roads.txt --keys 40",
    )
    _add_graphs(parser, " (default: grid:9x10)")
    parser.add_argument(
        "--keys", type=values.positive, default=200, dest="repeat", metavar="N", help="keys to press (default: 200)"
    )
    _add_output(parser)


def _add_graphs(parser: Parser, more: str = "") -> None:
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=_GRAPHS + more)


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
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
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
