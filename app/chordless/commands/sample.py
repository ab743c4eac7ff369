"""``chordless sample``: chordless cycles drawn uniformly at random."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from chordless.commands import along_boundary
from chordless.commands import list as list_
from chordless.commands import options as shared
from chordless.protocol.orders import RunCommand
from chordless.values import output_name
from chordless.words.numbers import lengths_text
from kernels_ti.errors import quantity

_MOST = 10**12
_FORMATS = ("text", "jsonl", "npy", "parts")

DESCRIPTION = """\
Draw chordless cycles uniformly at random: each with exactly the same
probability, from all cycles of the graph or from those of given lengths. Each
draw is from all of them, so a cycle may come several times.

The cycles are counted and drawn by dynamic programming over a path
decomposition, without looking at every cycle: 1,000 of 10^18 in seconds. Where
the boundary is too wide for that, all cycles are searched. The output is that
of `chordless list`, in the order in which they were drawn.
"""
EXAMPLES = (
    "chordless sample grid:12x12",
    "chordless sample roads.txt --simplify -k 1000 -o cycles.jsonl",
    "chordless sample roads.txt -k 100 --length 40 --seed 7",
    "chordless sample grid:16x16 -k 10 --arch cuda",
    "chordless sample petersen -k 2 --json",
    "chordless sample grid:12x12 -k 500 -o draws/   # chordless tui draws/",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(parser, "--json", "print each cycle as a JSON array, one a line")
    shared.add(parser, "-k", "how many cycles to draw (default: 1)", default=1)
    shared.add(
        parser,
        "--seed",
        "the same seed draws the same cycles on cpu and cuda; Python and a search draw others (default: 0)",
        default=0,
    )
    shared.add(
        parser,
        "-o --output",
        "write to FILE: text (.txt, or no suffix), .jsonl or .npy (default, or -: text to standard output); or to "
        "a run directory, with a slash: DIR/, for `chordless tui` and `chordless export`",
        type=output_name,
        default=shared.STANDARD_OUTPUT,
    )
    along_boundary.add_options(
        parser,
        "boundary: count by dynamic programming, then draw; search: all cycles are searched, and some of them kept; "
        "auto (default): boundary, unless a search is expected to be faster",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.settle_lengths(parser, options)
    check_draws(parser, options, options.k)


def check_draws(
    parser: argparse.ArgumentParser, options: argparse.Namespace, k: int, option: str = "-k", things: str = "cycles"
) -> None:
    """End with a usage error for a sample that is too large, impossible outputs, or a bad checkpoint."""
    if options.output == "":
        parser.error("-o: the name of the output is empty")
    output_format = list_.format_of(options.output)
    if output_format == "parts":
        if options.checkpoint is not None:
            parser.error(f"-o {options.output} is a folder, which keeps a checkpoint anyway: leave --checkpoint out")
        if options.method == "search":
            parser.error(
                f"-o {options.output} keeps a checkpoint, which is for the method boundary: leave one of them out"
            )
    else:
        along_boundary.check(parser, options)
    if k > _MOST:
        parser.error(f"{option} {k}: {_MOST:,} {things} are the most that are drawn in one run")
    shared.check_json_lines(parser, options, output_format)
    if output_format not in _FORMATS:
        parser.error(f"-o {options.output}: {things} are written as .txt, .jsonl or .npy, or to a folder DIR/")


def act(options: argparse.Namespace) -> int:
    """Draw the cycles, write them, return the exit code."""
    return answer(along_boundary.command_of(options, fields_of(options, options.k)), options)


def fields_of(options: argparse.Namespace, k: int) -> dict[str, Any]:
    """Return the fields of an order that make it one for a sample of k cycles, or paths."""
    output_format = "jsonl" if options.json else list_.format_of(options.output)
    return {"pick": "sample", "limit": k, "output_format": output_format, "checkpoint": list_.folder_of(options)}


def answer(command: RunCommand, options: argparse.Namespace) -> int:
    """Let the engine begin, or go on; say how many cycles, or paths, there were, return the exit code."""
    finished, exit_code = along_boundary.picked(command, options)
    total = (finished.boundary or {}).get("drawn_from", 0)
    if not options.quiet and finished.complete and (total == 0 or command.output != shared.STANDARD_OUTPUT):
        bounds = command.min_length, command.max_length, command.parity
        wanted = lengths_text(*bounds, of_paths=command.is_of_paths) or command.thing
        drawn = f"{quantity(finished.listed, command.thing)}, drawn from {total:,}"
        sys.stderr.write(f"{drawn if total else f'no chordless {wanted} to draw'}\n")
    return exit_code
