"""``chordless count``: the number of chordless cycles, by length."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from chordless import values
from chordless.commands import options as shared
from chordless.commands import up_to_symmetry
from chordless.commands.other_method import other_method
from chordless.commands.session import print_way_on, run_engine
from chordless.commands.terminal import participation_table, result_table
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.protocol.results import result_object
from chordless.words.shown import on_terminal
from kernels_ti import ChordlessError

# Whoever sends SIGTERM wants the program to end, not advice.
_SIGTERM_EXIT_CODE = 143
DESCRIPTION = "Count every chordless cycle of a graph, triangles included, by length."
EXAMPLES = (
    "chordless count grid:7x10",
    "chordless count roads.txt --max-length 12 --timeout 5m",
    "chordless count petersen --json | jq .by_length",
    "chordless count web.net --checkpoint week/   # chordless resume week/",
    "chordless count karate --through 0,33 --avoid 2 --per-vertex",
    "chordless count karate --proof",
    "chordless count karate --odd --min-length 4   # odd holes",
    "chordless count grid:12x12 --method boundary   # 421,587,920,205,546 cycles",
    "chordless count hypercube:6 --symmetry   # 149,137,552 cycles in 10 ms",
    "chordless count hypercube:6 --up-to-symmetry   # 3,632 orbits",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(parser, "--json")
    shared.add(parser, "--per-vertex", "also count the cycles through each vertex")
    shared.add(parser, "--per-edge", "also count the cycles through each edge")
    shared.add(parser, "--proof")
    group = parser.add_argument_group("how to count")
    shared.add(
        group,
        "--method",
        "search: find every cycle; boundary: count without finding each, by dynamic programming over a path "
        "decomposition, which is fast on narrow graphs such as grids, road networks and molecules; auto (default): "
        "search, unless that is expected to take more than 1 s and the boundary a tenth of it, or, without "
        "--arch, the boundary half a second, in which no search begins; a search of seconds goes by automorphisms, as "
        "with --symmetry, where that saves time",
    )
    add_total_only(group)
    shared.add_orders(group, "along a boundary: ")
    shared.add(group, "--symmetry")
    up_to_symmetry.add(group, "count the orbits of the cycles")
    shared.add_search(parser, limit_help="stop once N cycles or more were found")
    shared.add_checkpoint(parser)
    shared.add_reporting(parser)


def add_total_only(group: Any) -> None:
    """Add the option of a count along a boundary that tells no lengths apart."""
    shared.add(
        group,
        "--total-only",
        "along a boundary: only the total of all lengths, in less time, and mostly in less memory",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for options that exclude each other."""
    shared.check_search(parser, options)
    if options.up_to_symmetry:
        up_to_symmetry.check(parser, options)
        return
    shared.check_checkpoint_every(parser, options, options.checkpoint)
    if options.checkpoint is not None and (options.per_vertex or options.per_edge):
        parser.error("--per-vertex and --per-edge keep no checkpoint: leave --checkpoint out")
    if options.cluster is not None and (options.per_vertex or options.per_edge):
        parser.error("--per-vertex and --per-edge are counted on one machine: leave --cluster out")
    if options.proof and (options.per_vertex or options.per_edge):
        parser.error("--proof needs every cycle, --per-vertex and --per-edge keep none: leave one of them out")
    shared.check_symmetry(parser, options)
    check_method(parser, options)


def check_method(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle ``auto`` where other options do; end with a usage error for options of the other method."""
    meant_for_search = shared.given(parser, options, "part", "cluster", "limit", "expansion", "symmetry", "proof")
    meant_for_search += ["--arch reference"] * (options.arch == "reference")
    meant_for_boundary = shared.given(parser, options, "total_only", "order", "write_order")
    reason = "--method boundary"
    if options.method == "auto":
        if meant_for_boundary:
            options.method, reason = "boundary", meant_for_boundary[0]
        elif meant_for_search or options.arch == "vulkan" or options.threads is not None:
            options.method = "search"
    if options.method != "boundary":
        for option in meant_for_boundary:
            parser.error(f"{option} needs --method boundary: leave it out, or --method search")
        return
    for option in meant_for_search:
        parser.error(f"{option} is for --method search: leave it out, or {reason}")
    if options.arch == "vulkan":
        parser.error(shared.NOT_ON_VULKAN)
    bounds, of_paths = (options.min_length, options.max_length), options.command == "paths"
    if options.total_only and not values.takes_all_lengths(*bounds, None, of_paths=of_paths):
        parser.error("--total-only counts all lengths together: leave the bounds on the length out")
    if options.total_only and options.parity is not None:
        parser.error(f"--total-only counts all lengths together: for --{options.parity} leave it out")


def act(options: argparse.Namespace) -> int:
    """Count, print the result, return the exit code."""
    command = shared.order_of(RunCommand, options, reading_timeout=options.timeout)
    if options.up_to_symmetry:
        return up_to_symmetry.count(command, options)
    finished, exit_code = run_engine(command, options)
    print_result(command, finished, as_json=options.json)
    if not options.quiet:
        print_way_on(finished)
        if exit_code != _SIGTERM_EXIT_CODE:
            sys.stdout.flush()
            _print_other_method(command, finished)
    return exit_code


def _print_other_method(command: RunCommand, finished: Finished) -> None:
    """Print to standard error that the boundary method would finish the count, if it would."""
    try:
        line = other_method(command, finished)
    except (KeyboardInterrupt, ChordlessError):
        # The result is printed. This line is extra: give it up on Ctrl-C, or if the graph cannot be read again.
        return
    if line is not None:
        sys.stderr.write(f"{on_terminal(line, sys.stderr)}\n")


def print_result(command: RunCommand, finished: Finished, *, as_json: bool) -> None:
    """Print a count for people, or as one JSON object."""
    if as_json:
        print(json.dumps(result_object(command, finished)))
        return
    for line in result_table(command, finished, sys.stdout):
        print(line)
    counted = finished.participation or {}
    for kind, what in (("vertices", "vertex"), ("edges", "edge")):
        if kind in counted:
            print()
            for line in participation_table(counted[kind], what, finished.cycles, sys.stdout):
                print(line)
