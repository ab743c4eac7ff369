"""``chordless overlap``: from a directed food web to its niche overlap graph, and what there is to say of that."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless import values
from chordless.commands import options as shared
from chordless.commands.parser import examples

if TYPE_CHECKING:
    from chordless.protocol.events import Finished
    from kernels_ti.graph import Graph

SUMMARY = "the niche overlap graph of a food web, and a report on its holes"
STANDARD_OUTPUT = "-"

DESCRIPTION = """\
Write the niche overlap graph of a directed food web as an edge list: two
species are joined if they share a living prey. An arc from a to b in the web
means that b eats a.

With --report, say of that graph what an ecologist asks: how many species and
niche overlap edges there are, how many holes (chordless cycles of 4 or more
species) by length, which species lie in most of them, and whether the species
can be ordered along one line of niches. That is so if the graph is an interval
graph (Cohen 1978). For this it is necessary that there is no hole, but not
sufficient: there must be no asteroidal triple either (Lekkerkerker and Boland
1962), and that is checked as well.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "overlap",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: examples(
            "chordless overlap Mondego.net -o niche.txt",
            "chordless overlap web.net --types types.clu | chordless count -",
            "chordless overlap Everglades.net --report",
            "chordless overlap Everglades.net --json | jq '.species[0]'",
        ),
    )
    parser.add_argument("web", metavar="WEB.net", help="the food web, a Pajek network")
    parser.add_argument(
        "--types",
        metavar="WEB.clu",
        help="a Pajek partition with the type of each vertex, 1 for the living ones "
        "(default: the .clu beside the web; without one, all are living)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the graph to FILE (default, or -: standard output, unless there is a report)",
    )
    parser.add_argument("--report", action="store_true", help="print a report on the graph")
    parser.add_argument("--json", action="store_true", help="print that report as one JSON object")
    group = parser.add_argument_group("how the holes of a report are counted")
    shared.add_stops(group, "stop once N holes or more were found")
    shared.add_device(group)
    shared.add_reporting(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that do not go together."""
    options.report = options.report or options.json
    if options.report:
        if options.output == STANDARD_OUTPUT:
            parser.error("-o -: standard output has the report; write the graph to a file")
        return
    for name in ("limit", "timeout", "threads", "memory", "events"):
        if getattr(options, name) is not None:
            parser.error(f"--{name} is for the holes of a report; add --report")
    if options.arch != values.ARCHES[0]:
        parser.error("--arch is for the holes of a report; add --report")


def act(options: argparse.Namespace) -> int:
    """Transform, write, report, return the exit code."""
    from chordless.commands.writing import write_graph
    from chordless.graphs.overlap import read_food_web

    web = read_food_web(options.web, options.types)
    if options.output is not None or not options.report:
        comments = [f"niche overlap graph of {PurePath(options.web).name}"]
        write_graph(web.overlap, options.output or STANDARD_OUTPUT, comments)
    if not options.report:
        if options.types is None and web.types_path is not None and not options.quiet:
            sys.stderr.write(f"types of the vertices: {web.types_path}\n")
        return 0

    from chordless.graphs.overlap_report import report_lines, report_of_holes, report_without_holes
    from kernels_ti.chordality import is_chordal

    exit_code = 0
    if is_chordal(web.overlap):
        report = report_without_holes(options.web, web)
    else:
        finished, exit_code = _count_holes(web.overlap, options)
        report = report_of_holes(options.web, web, finished)
    if options.json:
        print(json.dumps(report.to_object()))
    else:
        print("\n".join(report_lines(report)))
    return exit_code


def _count_holes(graph: Graph, options: argparse.Namespace) -> tuple[Finished, int]:
    """Let the engine count, for each vertex; it reads the graph from a file."""
    import tempfile

    from chordless.commands.session import run_engine
    from chordless.commands.writing import write_graph
    from chordless.graphs.overlap_report import SHORTEST_HOLE
    from chordless.protocol.orders import RunCommand
    from kernels_ti.graph import Graph

    with tempfile.TemporaryDirectory(prefix="chordless-") as folder:
        path = os.path.join(folder, "niche-overlap.txt")
        # Without the names, of which an edge list does not hold every one.
        write_graph(Graph.from_edge_array(graph.edges(), n=graph.n), path, [])
        command = RunCommand(
            graph=path,
            program_start=options.program_start,
            arch=options.arch,
            threads=options.threads,
            memory=options.memory,
            limit=options.limit,
            timeout=options.timeout,
            min_length=SHORTEST_HOLE,
            per_vertex=True,
        )
        return run_engine(command, options)
