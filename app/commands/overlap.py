"""``chordless overlap``: from a directed food web to its niche overlap graph."""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import Any

from app.commands import options as shared

SUMMARY = "write the niche overlap graph of a directed food web"

DESCRIPTION = """\
Write the niche overlap graph of a directed food web as an edge list: two
species are joined if they share a living prey. An arc from a to b in the web
means that b eats a.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "overlap",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: shared.examples(
            "chordless overlap Mondego.net -o niche.txt",
            "chordless overlap web.net --types types.clu | chordless count -",
        ),
    )
    parser.add_argument("web", metavar="WEB.net", help="the food web, a Pajek network")
    parser.add_argument(
        "--types",
        metavar="WEB.clu",
        help="a Pajek partition with the type of each vertex, 1 for the living ones "
        "(default: the .clu beside the web; without one, all are living)",
    )
    shared.add_output(parser)
    parser.set_defaults(act=act, check=None, parser=parser)


def act(options: argparse.Namespace) -> int:
    """Transform, write, return the exit code."""
    from app.commands.writing import write_graph
    from app.overlap import niche_overlap

    graph = niche_overlap(options.web, options.types)
    write_graph(graph, options.output, [f"niche overlap graph of {PurePath(options.web).name}"])
    return 0
