"""``chordless list``: the cycles themselves, one a line."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePath
from typing import Any

from app.commands import options as shared
from app.events import CycleFormat, Finished

SUMMARY = "list the chordless cycles of a graph, one a line"
STANDARD_OUTPUT = "-"

DESCRIPTION = """\
List every chordless cycle of a graph, one a line, while the search runs.

A line holds the names of the cycle's vertices in the order of the cycle,
separated by a blank, or, if any vertex of the graph has white space in its
name, by a TAB. A FILE.jsonl gets a JSON array a line instead. Each cycle comes
once, starting at its first vertex in the order of the graph; the order of the
lines is that in which the cycles were found, and differs between arches.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "list",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: shared.graph_help(
            "chordless list grid:6x6 | sort -u | wc -l",
            "chordless list karate -o cycles.jsonl",
            "chordless list roads.txt --min-length 5 --limit 100",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=STANDARD_OUTPUT,
        help="write to FILE, .txt or .jsonl (default: text to standard output)",
    )
    shared.add_search(parser, limit_help="stop after N lines")
    shared.add_reporting(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for bounds or an output that cannot be."""
    shared.check_lengths(parser, options)
    if _format_of(options.output) is None:
        parser.error(f"-o {options.output}: cycles are written as .txt or .jsonl")


def act(options: argparse.Namespace) -> int:
    """List, say how it ended where that is worth a word, return the exit code."""
    from app.commands.session import run_command, run_engine

    line_format = _format_of(options.output)
    assert line_format is not None
    finished, exit_code = run_engine(run_command(options, output=options.output, output_format=line_format), options)
    note = _note(finished, options.output)
    if note is not None and not options.quiet:
        sys.stderr.write(f"{note}\n")
    return exit_code


def _format_of(output: str) -> CycleFormat | None:
    formats: dict[str, CycleFormat] = {"": "text", ".txt": "text", ".jsonl": "jsonl"}
    return formats.get(PurePath(output).suffix.lower())


def _note(finished: Finished, output: str) -> str | None:
    from app.commands.terminal import ending, seconds_text

    to_file = output != STANDARD_OUTPUT
    if finished.reason == "closed" or (finished.complete and not to_file):
        return None
    where = f" in {output}" if to_file else ""
    cycles = "cycle" if finished.listed == 1 else "cycles"
    if finished.complete:
        return f"{finished.listed:,} {cycles}{where}, {seconds_text(finished.total_seconds)} in all"
    return f"not complete: {ending(finished)}; {finished.listed:,} {cycles}{where}"
