"""``chordless count``: how many chordless cycles there are, by length."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.commands import options as shared

if TYPE_CHECKING:
    from app.events import Finished, RunCommand

SUMMARY = "count the chordless cycles of a graph, by length"


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "count",
        help=SUMMARY,
        description="Count every chordless cycle of a graph, triangles included, by length.",
        closing=lambda: shared.graph_help(
            "chordless count grid:7x10",
            "chordless count roads.txt --max-length 12 --timeout 5m",
            "chordless count petersen --json | jq .by_length",
            "chordless count web.net --checkpoint week/   # chordless resume week/",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    shared.add_search(parser, limit_help="stop once N cycles or more were found")
    shared.add_checkpoint(parser)
    shared.add_reporting(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that exclude each other."""
    shared.check_search(parser, options)
    shared.check_checkpoint_every(parser, options, options.checkpoint)


def act(options: argparse.Namespace) -> int:
    """Count, print the result, return the exit code."""
    from app.commands.session import print_way_on, run_command, run_engine

    command = run_command(options, checkpoint=options.checkpoint)
    finished, exit_code = run_engine(command, options)
    print_result(command, finished, as_json=options.json)
    if not options.quiet:
        print_way_on(finished)
    return exit_code


def print_result(command: RunCommand, finished: Finished, *, as_json: bool) -> None:
    """Print a count for people, or as one JSON object."""
    from app.commands.terminal import ending, result_table

    if as_json:
        print(json.dumps(result_object(command, finished)))
        return
    incomplete = None if finished.complete else ending(finished)
    titled = replace(finished, graph=f"{finished.graph}{_scope(command)}")
    for line in result_table(titled, incomplete, sys.stdout):
        print(line)


def _scope(command: RunCommand) -> str:
    """Say of what part of the cycles a count is, if not of all."""
    scope = "" if command.part is None else f", part {command.part[0]} of {command.part[1]}"
    if command.max_length is not None:
        return f"{scope}, cycles of {command.min_length} to {command.max_length} vertices"
    if command.min_length > shared.SHORTEST_CYCLE:
        return f"{scope}, cycles of {command.min_length} or more vertices"
    return scope


def result_object(command: RunCommand, finished: Finished) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    triangles = finished.cycles_by_length.get(3, 0)
    return {
        "graph": finished.graph,
        "n": finished.n,
        "m": finished.m,
        "max_degree": finished.max_degree,
        "min_length": command.min_length,
        "max_length": command.max_length,
        "part": command.part,
        "triangles": triangles,
        "chordless_cycles": finished.cycles - triangles,
        "total": finished.cycles,
        "by_length": dict(sorted(finished.cycles_by_length.items())),
        "frontier": {
            "peak": max(finished.frontier_by_length.values(), default=0),
            "by_length": dict(sorted(finished.frontier_by_length.items())),
        },
        "paths": finished.paths,
        "complete": finished.complete,
        "share": finished.share,
        "arch": finished.arch,
        "device": finished.device,
        "seconds": {
            "setup": round(finished.setup_seconds, 6),
            "enumerate": round(finished.enumerate_seconds, 6),
            "total": round(finished.total_seconds, 6),
        },
        "peak_memory_bytes": finished.peak_memory_bytes,
        "checkpoint": finished.checkpoint,
    }
