"""What the subcommands' command lines have in common: parsers of values, shared options, help texts."""

from __future__ import annotations

import argparse
from typing import Any

from chordless.commands.parser import examples
from chordless.values import ARCHES, SHORTEST_CYCLE, cycle_length, duration, part, positive, size
from kernels_ti.options import EXPANSIONS

PROGRESS = ("auto", "plain", "none")


def add_graph(parser: argparse.ArgumentParser) -> None:
    """Add GRAPH and how to read it."""
    parser.add_argument("graph", metavar="GRAPH", help="a file, a spec such as grid:7x10, or - for standard input")
    group = parser.add_argument_group("reading the graph")
    group.add_argument(
        "--format", dest="file_format", metavar="FORMAT", help="format of the file (default: by its name and content)"
    )
    group.add_argument(
        "--simplify",
        action="store_true",
        help="drop self-loops, repeated edges and directions instead of refusing them",
    )


def add_search(parser: argparse.ArgumentParser, *, limit_help: str) -> None:
    """Add what bounds the search and where it runs."""
    group = parser.add_argument_group("what to look for, and when to stop")
    add_lengths(group)
    group.add_argument(
        "--part",
        type=part,
        metavar="I/N",
        help="search only the I-th of N parts; the counts of all parts add up, no cycle is in two of them",
    )
    add_restriction(group)
    add_stops(group, limit_help)
    group = parser.add_argument_group("how to run")
    add_device(group)
    group.add_argument(
        "--expansion",
        choices=EXPANSIONS,
        default=EXPANSIONS[0],
        metavar="HOW",
        help="two-ended (default), or paper: breadth first at one end of each path, to compare its frontier",
    )


def add_lengths(group: Any) -> None:
    """Add the bounds on the length; `settle_lengths` makes ``min_length`` and ``max_length`` of what is given."""
    group.add_argument("--length", type=cycle_length, metavar="N", help="only cycles of exactly N vertices")
    group.add_argument("--min-length", type=cycle_length, metavar="N", help="only cycles of N vertices or more")
    group.add_argument("--max-length", type=cycle_length, metavar="N", help="only cycles of N vertices or fewer")


def settle_lengths(
    parser: argparse.ArgumentParser, options: argparse.Namespace, shortest: int = SHORTEST_CYCLE
) -> None:
    """Set ``min_length`` and ``max_length``; end with a usage error if no length lies within the bounds.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    options : argparse.Namespace
    shortest : int
        The lower bound where none is given.
    """
    if options.length is not None:
        if options.min_length is not None or options.max_length is not None:
            parser.error(f"--length {options.length} is both bounds: leave --min-length and --max-length out")
        options.min_length = options.max_length = options.length
    if options.min_length is None:
        options.min_length = shortest
    if options.max_length is not None and options.max_length < options.min_length:
        parser.error(f"--max-length {options.max_length} is below --min-length {options.min_length}")


def add_restriction(group: Any) -> None:
    """Add which vertices and edges a cycle must have, and must not; the search is the shorter for it."""
    group.add_argument(
        "--through",
        action="append",
        default=[],
        metavar="V[,V..]",
        help="only cycles through all of these vertices, by the names that they have in lists",
    )
    group.add_argument(
        "--through-edge",
        action="append",
        default=[],
        metavar="U-V",
        help="only cycles that have this edge; may be given several times",
    )
    group.add_argument(
        "--avoid", action="append", default=[], metavar="V[,V..]", help="only cycles through none of these vertices"
    )


def add_stops(group: Any, limit_help: str) -> None:
    """Add what ends a search early."""
    group.add_argument("--limit", type=positive, metavar="N", help=limit_help)
    group.add_argument(
        "--timeout", type=duration, metavar="TIME", help="stop this long after the search began: 10, 1.5, 90s, 5m, 2h"
    )


def add_device(group: Any, *, resumed: bool = False) -> None:
    """Add where a search runs; a resumed one runs where it did before, unless it is said."""
    before = "as it was"
    arch = None if resumed else ARCHES[0]
    group.add_argument(
        "--arch",
        choices=ARCHES,
        default=arch,
        metavar="ARCH",
        help=f"one of {', '.join(ARCHES)} (default: {arch or before})",
    )
    threads = before if resumed else "all"
    group.add_argument("--threads", type=positive, metavar="N", help=f"threads of the CPU to use (default: {threads})")
    memory = before if resumed else "a share of what is free"
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="what the search may take, 256M, 1.5GiB: on the CPU the whole process with its output, on a GPU the "
        f"buffers on the device (default: {memory})",
    )


def add_checkpoint(parser: argparse.ArgumentParser, *, also: str = "") -> None:
    """Add what makes a run resumable."""
    group = parser.add_argument_group("to go on another time (chordless resume DIR)")
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help=f"keep a checkpoint in DIR, a new or an empty folder: now and then, and wherever the run stops{also}",
    )
    add_checkpoint_every(group)


def add_checkpoint_every(group: Any, *, resumed: bool = False) -> None:
    """Add how often a checkpoint is written; the value is None where nothing is said."""
    group.add_argument(
        "--checkpoint-every",
        type=duration,
        metavar="TIME",
        help=f"how often: 0.5, 30s, 10m (default: {'as it was' if resumed else '1m'})",
    )


def add_reporting(parser: argparse.ArgumentParser) -> None:
    """Add what is told while the search runs."""
    group = parser.add_argument_group("what to say meanwhile (on standard error)")
    group.add_argument(
        "--progress",
        choices=PROGRESS,
        default="auto",
        metavar="HOW",
        help="auto: a live line on a terminal; plain: a line every 2 s; none",
    )
    group.add_argument(
        "--events", metavar="FILE", help="record everything the engine reports, one JSON object a line, as it comes"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes, only errors")


def check_search(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle the lengths; end with a usage error if nothing can be kept where it is asked for."""
    settle_lengths(parser, options)
    if options.checkpoint == "":
        parser.error("--checkpoint: the name of the folder is empty")


def check_checkpoint_every(parser: argparse.ArgumentParser, options: argparse.Namespace, directory: str | None) -> None:
    """End with a usage error if it is said how often to write what is not written at all."""
    if options.checkpoint_every is not None and directory is None:
        parser.error("--checkpoint-every: there is no checkpoint to write; say where, --checkpoint DIR")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``-o`` of the commands that write a graph."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="-", help="write to FILE (default, or -: standard output)"
    )


def graph_help(*example_lines: str) -> str:
    """Return the closing help text of the commands that take a GRAPH."""
    return f"{examples(*example_lines)}\n\nGRAPH: see `chordless help specs` and `chordless help formats`"
