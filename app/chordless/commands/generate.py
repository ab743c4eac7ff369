"""``chordless generate``: write the graph of a spec as an edge list."""

from __future__ import annotations

import argparse
from typing import Any

from chordless.commands import options as shared
from chordless.commands.parser import examples

SUMMARY = "write a generated graph, such as grid:7x10, as an edge list"


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "generate",
        help=SUMMARY,
        description="Write the graph of a spec as an edge list, a line `u v` for each edge.",
        closing=lambda: examples("chordless generate grid:7x10 -o grid.txt", "chordless generate gnp:60,0.1,1 | wc -l"),
    )
    parser.add_argument("spec", metavar="SPEC", help="what to generate, such as grid:7x10; see chordless help specs")
    shared.add_output(parser)
    parser.set_defaults(act=act, check=None, parser=parser)


def act(options: argparse.Namespace) -> int:
    """Generate, write, return the exit code."""
    from chordless.commands.writing import write_graph
    from chordless.graphs.generators import generate

    write_graph(generate(options.spec), options.output, [options.spec])
    return 0
