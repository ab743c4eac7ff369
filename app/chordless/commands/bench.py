"""``chordless bench``: measure Table 1 of the paper, other programs, batches, the start, lists and more."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from chordless import values
from chordless.commands import bench_boundary, bench_scale
from chordless.commands.bench_acts import (
    STANDARD_OUTPUT,
    act_batch,
    act_listing,
    act_peers,
    act_start,
    act_table1,
)
from chordless.commands.parser import Parser, examples
from kernels_ti.choices import ARCHES

SUMMARY = "measure speed: Table 1, other programs, lists, clusters ..."

TABLE1_DESCRIPTION = """\
Measure Table 1 of the paper again: its own figures, ours beside them, and
whether the counts agree.

T_seq is the schedule `reference`, the sequential algorithm in plain Python;
T_par-proc the search of a `count`; T_par-total the same search with the
transfer of all cycles to the memory of the host, as bit rows. Both are made in
one process for all rows, which has searched the graph before. Start-up,
compilation and the reading of the graph are not counted: the clock starts with
the search. The runs of a row are taken in turns.
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
measured, until there are cycles longer than triangles, for which the large
kernels are compiled: count GRAPH --min-length 4 --limit 1.
"""


LISTING_DESCRIPTION = """\
Measure what it takes to have every cycle of a graph, beside counting them.

`count`, `kept`, `rows` and `lists` are the search alone, in a process that has
searched the graph before: the cycles are counted, kept in the memory of the
device, brought to the memory of the host as bit rows, and as Python lists. The
others are whole commands with a warm cache of compiled kernels: a list to
FILE.npy, to FILE.txt, through a pipe to `wc`, to a run directory, to
FILE.parquet and to FILE.arrow.
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
    _add_listing(benches)
    bench_scale.add_parser(benches, _check, _add_common)
    bench_boundary.add_parser(benches, _check, _add_common)


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
        "chordless bench table1 --sequential 'dias=./seq_dias {el}'",
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


def _add_listing(benches: Any) -> None:
    parser = _bench(
        benches,
        "listing",
        act_listing,
        "all cycles in memory, in files and through a pipe",
        LISTING_DESCRIPTION,
        "chordless bench listing --repeat 3 --json listing.json",
        "chordless bench listing roads.txt --arch cpu",
        "chordless bench listing grid:8x10 --ways rows,.npy",
    )
    parser.add_argument(
        "graphs",
        nargs="*",
        metavar="GRAPH",
        help="a file or a spec, see chordless help specs (default: grid:7x10 and grid:8x10, 1 and 11 GB on disk)",
    )
    parser.add_argument(
        "--ways",
        type=_names,
        metavar="WAY,...",
        help="only these, and counting: kept, rows, lists, .npy, .txt, pipe, folder, Parquet, Arrow (default: all)",
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
