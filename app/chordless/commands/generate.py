"""``chordless generate``: write the graph of a spec to a file, in the format of its suffix."""

from __future__ import annotations

import argparse

from chordless.commands import options as shared
from chordless.commands.session import print_notes
from chordless.commands.writing import require_writable, write_graph

DESCRIPTION = """\
Write the graph of a spec as an edge list, a line `u v` for each edge, or in the
format that the suffix of FILE says: .g6 graph6, .s6 sparse6, .col DIMACS, .net
Pajek, .mtx Matrix Market, .graphml, .gml. A second suffix .gz compresses it.
"""
EXAMPLES = (
    "chordless generate grid:7x10 -o grid.txt",
    "chordless generate petersen -o petersen.g6",
    "chordless generate gnp:60,0.1,1 | wc -l",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("spec", metavar="SPEC", help="what to generate, such as grid:7x10; see chordless help specs")
    shared.add_output(parser)


def act(options: argparse.Namespace) -> int:
    """Generate, write, return the exit code."""
    from chordless.graphs.generators import generate

    require_writable(options.output)
    print_notes(write_graph(generate(options.spec), options.output, [options.spec]))
    return 0
