"""``chordless merge``: the counts of all the parts of one search, added up."""

from __future__ import annotations

import argparse

from chordless.commands import count, paths
from chordless.runs.merge import merged, read_result
from chordless.values import name_of_input

DESCRIPTION = """\
Add up the counts of a search that was done in parts, `chordless count GRAPH
--part I/N` for each I from 1 to N, and print what `chordless count GRAPH` would
have printed. A PART is a file of `count --json`, or a run directory of a count
or a listing. The parts of `chordless paths` are run directories.

The parts must be of one search: the same graph, the same bounds and
restrictions, the same version of the program, each part once and complete. The
cycles of each length are those of one run. The paths and the frontier are sums
over the parts, which may differ from those of one run: they depend on the arch
and on how the search is divided. The seconds are sums, too. The cycles of
listed parts are put together by `chordless export`, a page about all of them is
made by `chordless report`.
"""
EXAMPLES = (
    "chordless count grid:8x10 --part 1/2 --json > 1.json   # on one machine",
    "chordless count grid:8x10 --part 2/2 --json > 2.json   # on another",
    "chordless merge 1.json 2.json",
    "chordless export run-1/ run-2/ -o cycles.txt           # of listings",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "parts", nargs="+", type=name_of_input, metavar="PART", help="a file of `count --json`, or a run directory"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def act(options: argparse.Namespace) -> int:
    """Add up, print the result, return the exit code."""
    command, finished = merged([read_result(path) for path in options.parts])
    tell = paths.print_counts if command.is_of_paths else count.print_result
    tell(command, finished, as_json=options.json)
    return 0
