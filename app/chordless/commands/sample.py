"""``chordless sample``: chordless cycles drawn uniformly at random."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless.commands import along_boundary
from chordless.commands import options as shared
from chordless.values import positive, seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernels_ti import CycleTable

SUMMARY = "draw chordless cycles uniformly at random"
STANDARD_OUTPUT = "-"
_FORMATS = {"": "text", ".txt": "text", ".jsonl": "jsonl", ".npy": "npy"}

DESCRIPTION = """\
Draw chordless cycles uniformly at random: each with exactly the same
probability, from all cycles of the graph or from those of given lengths. Each
draw is from all of them, so a cycle may come several times.

The cycles are counted and drawn by dynamic programming over a path
decomposition, without looking at every cycle: 1,000 of 10^18 in seconds. The
output is that of `chordless list`, in the order in which they were drawn.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "sample",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: shared.graph_help(
            "chordless sample grid:12x12",
            "chordless sample roads.txt --simplify -k 1000 -o cycles.jsonl",
            "chordless sample roads.txt -k 100 --length 40 --seed 7",
            "chordless sample grid:16x16 -k 10 --arch cuda",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument("-k", type=positive, default=1, metavar="N", help="how many cycles (default: 1)")
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="the same seed draws the same cycles on the same arch (default: 0)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STANDARD_OUTPUT,
        help="write to FILE: text (.txt, or no suffix), .jsonl or .npy (default, or -: text to standard output)",
    )
    along_boundary.add_options(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.settle_lengths(parser, options)
    if options.output == "":
        parser.error("-o: the name of the output is empty")
    if options.output.endswith("/") or os.path.isdir(options.output) or _suffix(options) not in _FORMATS:
        parser.error(f"-o {options.output}: cycles are written as .txt, .jsonl or .npy")


def act(options: argparse.Namespace) -> int:
    """Draw the cycles, write them, return the exit code."""
    from chordless.commands.writing import whole_file
    from kernels_ti.boundary.sample import sample_in

    space, _ = along_boundary.space_of(options)
    with along_boundary.progress(options) as report:
        table, total = sample_in(
            space,
            options.k,
            options.seed,
            report,
            arch=options.arch,
            timeout=options.timeout,
            **along_boundary.orders(options, space.graph),
        )
    if options.output == STANDARD_OUTPUT:
        sys.stdout.flush()
        for data in _data(table, "text", for_terminal=sys.stdout.isatty()):
            sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        with whole_file(options.output) as stream:
            for data in _data(table, _FORMATS[_suffix(options)]):
                stream.write(data)
    if not options.quiet and (total == 0 or options.output != STANDARD_OUTPUT):
        cycles = "cycle" if len(table) == 1 else "cycles"
        sys.stderr.write(f"{len(table):,} {cycles}, drawn from {total:,}\n")
    return 0


def _suffix(options: argparse.Namespace) -> str:
    return PurePath(options.output).suffix.lower()


def _data(table: CycleTable, output_format: str, *, for_terminal: bool = False) -> Iterator[bytes]:
    """Yield the bytes of an output."""
    if output_format == "npy":
        import io

        import numpy as np

        stream = io.BytesIO()
        np.save(stream, table.rows())
        yield stream.getvalue()
        return
    from chordless.cycles.lines import CycleEncoder
    from chordless.words.shown import visible
    from kernels_ti.cycles import Cycles

    names = table.graph.names
    if for_terminal:
        names = tuple(visible(str(name)) for name in names)
    encoder = CycleEncoder(names, "jsonl" if output_format == "jsonl" else "text")
    for _, data in encoder.encode(Cycles(table.offsets, table.vertices.astype("int64"))):
        yield data
