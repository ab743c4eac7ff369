"""What the subcommands' command lines have in common: parsers of values, shared options, help texts."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from chordless.values import ARCHES, SHORTEST_CYCLE, cycle_length, duration, part, positive, size
from kernels_ti.options import EXPANSIONS

PROGRESS = ("auto", "plain", "none")
USAGE_EXIT_CODE = 2


EXIT_CODES = """\
exit codes:
  0    complete
  1    failed: the output could not be written, memory ran out, the engine died
       (of `first`, as of grep: there is no such cycle; what failed is 2 there)
  2    wrong usage, or a graph or a checkpoint that cannot be used
  3    the arch asked for is not available here
  4    stopped by --limit, by --timeout or by a reader that had enough:
       what was reported is right, but not complete
  5    some graphs of a batch failed; the others are right
  130  interrupted by Ctrl-C (143: by SIGTERM); what was found is reported
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are two lines and whose closing help text may be made when it is asked for.

    Parameters
    ----------
    closing : callable, optional
        Returns the text below the options; it is called by ``--help`` only, so it may import what it needs.
    """

    def __init__(self, *arguments: Any, closing: Callable[[], str] | None = None, **options: Any) -> None:
        options = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False, **options}
        super().__init__(*arguments, **options)
        self._closing = closing

    def format_help(self) -> str:
        """Return the help text."""
        if self._closing is not None:
            self.epilog = self._closing()
            if " " in self.prog:
                self.epilog = f"{self.epilog.rstrip()}\n\nexit codes: see {self.prog.split()[0]} --help"
        return super().format_help()

    def print_help(self, file: Any = None) -> None:
        """Print the help text; unlike argparse's own, a closed pipe or a full disk is not passed over."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where help is, and exit."""
        sys.stderr.write(f"{self.prog}: error: {message}\n(see {self.prog} --help)\n")
        raise SystemExit(USAGE_EXIT_CODE)


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
    group.add_argument(
        "--min-length", type=cycle_length, default=SHORTEST_CYCLE, metavar="N", help="only cycles of N vertices or more"
    )
    group.add_argument("--max-length", type=cycle_length, metavar="N", help="only cycles of N vertices or fewer")
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
    """End with a usage error if no length lies within the bounds, or nothing can be kept where it is asked for."""
    if options.max_length is not None and options.max_length < options.min_length:
        parser.error(f"--max-length {options.max_length} is below --min-length {options.min_length}")
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


def examples(*lines: str) -> str:
    """Return a help section with example commands."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])


def graph_help(*example_lines: str) -> str:
    """Return the closing help text of the commands that take a GRAPH."""
    from chordless.graphs.load import FORMATS

    formats = f"file formats (GRAPH, --format), plain or gzipped:\n  {', '.join(FORMATS)}"
    return "\n\n".join([examples(*example_lines), formats, spec_help()])


def spec_help() -> str:
    """Return the help section on generated graphs."""
    from chordless.graphs.generators import known_kinds

    kinds = known_kinds()
    families = [kind for kind in kinds if kind.example != kind.name]
    width = max(len(kind.example) for kind in families)
    below = " " * (width + 4)
    rows = [
        line
        for kind in families
        for line in textwrap.wrap(f"  {kind.example:<{width}}  {kind.summary}", 80, subsequent_indent=below)
    ]
    names = ", ".join(kind.name for kind in kinds if kind.example == kind.name)
    named = textwrap.wrap(names, 78, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(["specs of generated graphs:", *rows, "well known graphs, by name:", *named])
