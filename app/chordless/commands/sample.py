"""``chordless sample``: chordless cycles drawn uniformly at random."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless.commands import along_boundary
from chordless.commands import options as shared
from chordless.values import output_file, positive, seed

if TYPE_CHECKING:
    from chordless.protocol.orders import CycleFormat, RunCommand

SUMMARY = "draw chordless cycles uniformly at random"
STANDARD_OUTPUT = "-"
_MOST = 10**12
_FORMATS: dict[str, CycleFormat] = {"": "text", ".txt": "text", ".jsonl": "jsonl", ".npy": "npy"}

DESCRIPTION = """\
Draw chordless cycles uniformly at random: each with exactly the same
probability, from all cycles of the graph or from those of given lengths. Each
draw is from all of them, so a cycle may come several times.

The cycles are counted and drawn by dynamic programming over a path
decomposition, without looking at every cycle: 1,000 of 10^18 in seconds. Where
the boundary is too wide for that, all cycles are searched. The output is that
of `chordless list`, in the order in which they were drawn.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = shared.graph_command(
        subparsers,
        "sample",
        SUMMARY,
        DESCRIPTION,
        "chordless sample grid:12x12",
        "chordless sample roads.txt --simplify -k 1000 -o cycles.jsonl",
        "chordless sample roads.txt -k 100 --length 40 --seed 7",
        "chordless sample grid:16x16 -k 10 --arch cuda",
        "chordless sample petersen -k 2 --json",
    )
    parser.add_argument("--json", action="store_true", help="print each cycle as a JSON array, one a line")
    parser.add_argument("-k", type=positive, default=1, metavar="N", help="how many cycles to draw (default: 1)")
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="the same seed draws the same cycles on cpu and cuda; Python and a search draw others (default: 0)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE",
        default=STANDARD_OUTPUT,
        help="write to FILE: text (.txt, or no suffix), .jsonl or .npy (default, or -: text to standard output)",
    )
    along_boundary.add_options(
        parser,
        "boundary: count by dynamic programming, then draw; search: all cycles are searched, and some of them kept; "
        "auto (default): boundary, unless a search is expected to be faster",
    )
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.settle_lengths(parser, options)
    shared.check_checkpoint_every(parser, options, options.checkpoint)
    if options.k > _MOST:
        parser.error(f"-k {options.k}: {_MOST:,} cycles are the most that are drawn in one run")
    if options.json and options.output != STANDARD_OUTPUT and _suffix(options) != ".jsonl":
        parser.error(f"--json with -o {options.output}: JSON lines are written to a file named .jsonl")
    if _suffix(options) not in _FORMATS:
        parser.error(f"-o {options.output}: cycles are written as .txt, .jsonl or .npy")


def act(options: argparse.Namespace) -> int:
    """Draw the cycles, write them, return the exit code."""
    from dataclasses import replace

    output_format = "jsonl" if options.json else _FORMATS[_suffix(options)]
    command = replace(
        along_boundary.command_of(options),
        pick="sample",
        limit=options.k,
        seed=options.seed,
        output=options.output,
        output_format=output_format,
    )
    return answer(command, options)


def answer(command: RunCommand, options: argparse.Namespace) -> int:
    """Let the engine begin, or go on; say how many cycles there were, return the exit code."""
    from kernels_ti.errors import quantity

    finished, exit_code = along_boundary.picked(command, options)
    total = (finished.boundary or {}).get("drawn_from", 0)
    if not options.quiet and finished.complete and (total == 0 or command.output != STANDARD_OUTPUT):
        drawn = f"{quantity(finished.listed, 'cycle')}, drawn from {total:,}"
        sys.stderr.write(f"{drawn if total else 'there is no chordless cycle to draw'}\n")
    return exit_code


def _suffix(options: argparse.Namespace) -> str:
    return PurePath(options.output).suffix.lower()
