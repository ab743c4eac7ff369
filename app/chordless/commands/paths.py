"""``chordless paths``: chordless paths between two vertices, or all."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from chordless.commands import count, longest, sample
from chordless.commands import list as list_
from chordless.commands import options as shared
from chordless.commands.session import print_way_on, run_engine
from chordless.commands.terminal import title_of
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.values import SHORTEST_PATH, output_name
from chordless.words.numbers import seconds_text
from chordless.words.shown import on_terminal
from kernels_ti.choices import EXPANSIONS

DESCRIPTION = """\
Count the chordless paths from vertex S to vertex T by their number of vertices:
the paths whose vertices have no other edges among them. In a directed graph
they go along the arcs. If S and T are adjacent, only their edge can be one.
With --all-pairs instead of S and T, all chordless paths of the graph.
"""

_ONLY_OF_CYCLES = {"symmetry": False, "proof": False}
"""Options of a count of cycles which one of paths does not have."""
EXAMPLES = (
    "chordless paths grid:7x7 0,0 6,6",
    "chordless paths roads.txt 17 203 --max-length 12 --list",
    "chordless paths roads.txt 17 203 --shortest --through 40",
    "chordless paths city.graphml 17 203 --simplify --shortest --weight length",
    "chordless paths web.net 3 9 -o paths.jsonl",
    "chordless paths grid:12x12 0,0 11,11 --sample 10",
    "chordless paths grid:7x7 --all-pairs",
    "chordless paths grid:12x12 --all-pairs --total-only",
    "chordless paths city.graphml 17 203 -o paths.txt --checkpoint week/",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    ends = [
        parser.add_argument("start", metavar="S", help="the vertex at which the paths begin"),
        parser.add_argument("end", metavar="T", help="the vertex at which they end"),
    ]
    for end in ends:
        # With `nargs="?"` they would be taken as missing where an option follows GRAPH.
        end.required = False
    shared.add(
        parser, "--all-pairs", "all chordless paths of the graph, each once: an edge is one, a single vertex is none"
    )
    shared.add(parser, "--json", "print one JSON object; with --list one line for each path")
    what = parser.add_argument_group("what to find (default: how many, by length)").add_mutually_exclusive_group()
    shared.add(what, "--list", "print each path, in no particular order")
    shared.add(what, "--shortest", "find a shortest path, and how many are as short")
    shared.add(what, "--longest", "find a longest path, and how many are as long")
    shared.add(what, "--sample", "draw N paths uniformly at random; a path may come several times")
    shared.add(parser, "-k", "with --shortest or --longest: find N paths, the best one first")
    shared.add(
        parser,
        "--weight",
        "with --shortest: the lightest path; with --longest: the heaviest one; as for `chordless longest`",
    )
    shared.add(
        parser,
        "--seed",
        "with --sample: the same seed draws the same paths on cpu and cuda; Python and a search draw others "
        "(default: 0)",
    )
    shared.add(
        parser,
        "-o --output",
        "list the paths in FILE: text (.txt, or no suffix), .jsonl, .npy, .parquet or .arrow; or in a run "
        "directory, with a slash: DIR/, for `chordless export`; -: on standard output",
        type=output_name,
    )
    shared.add(
        parser,
        "--method",
        "search: every path; boundary: by dynamic programming over a path decomposition; auto (default): the one "
        "that is expected to be faster; for --longest, --shortest and --sample with --checkpoint: boundary",
    )
    count.add_total_only(parser)
    shared.add_orders(parser, "along a boundary: ")
    shared.add_search(parser, limit_help="stop after about N paths; a list has at most N", things="paths")
    shared.add_checkpoint(parser)
    shared.add_reporting(parser)
    parser.set_defaults(**_ONLY_OF_CYCLES)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle what is asked for; end with a usage error for options that exclude each other."""
    shared.check_search(parser, options, shortest=SHORTEST_PATH)
    if options.all_pairs and options.start is not None:
        parser.error("--all-pairs takes all ends: leave S and T out, or --all-pairs")
    if not options.all_pairs and options.end is None:
        parser.error("name both ends, S and T, or give --all-pairs")
    _check_kind(parser, options)
    output_format = None if options.output is None else list_.format_of(options.output)
    if options.all_pairs and output_format == "parts":
        parser.error(f"-o {options.output}: this is a folder; the output is a file")
    if options.all_pairs and output_format == "npy":
        parser.error(f"-o {options.output}: bit rows are for the paths between two vertices: name a .txt or .jsonl")
    if options.shortest or options.longest:
        longest.check_best(parser, options, "paths")
    elif options.sample is not None:
        sample.check_draws(parser, options, options.sample, "--sample", "paths")
    elif options.list:
        if options.method == "boundary":
            parser.error("--list is for the method search: along a boundary no path is met; --sample N draws some")
        if options.order is not None or options.write_order is not None:
            parser.error("--order and --write-order are for the method boundary, along which no path is listed")
        options.method = "search"
        shared.check_json_lines(parser, options, output_format)
        list_.check_output(parser, options, "paths")
    else:
        shared.check_checkpoint_every(parser, options, options.checkpoint)
        count.check_method(parser, options)


def _check_kind(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle whether paths are listed, and where; end with a usage error for options of another question."""
    is_best, is_sample = options.shortest or options.longest, options.sample is not None
    options.list = options.list or (options.output is not None and not is_best and not is_sample)
    of_search = {f"--{name}": getattr(options, name) for name in ("limit", "part", "cluster", "gpus")}
    of_search["--expansion"] = None if options.expansion == EXPANSIONS[0] else options.expansion
    meant_for: list[tuple[str, bool, dict[str, Any]]] = [
        ("--shortest and --longest; --limit N bounds a list, --sample N draws", is_best, {"-k": options.k}),
        ("--shortest and --longest", is_best, {"--weight": options.weight}),
        ("--sample", is_sample, {"--seed": options.seed}),
        ("lists and --sample", not is_best, {"-o": options.output}),
        ("counts and lists", not is_best and not is_sample, of_search),
        ("counts", not is_best and not is_sample and not options.list, {"--total-only": options.total_only or None}),
    ]
    for kind, is_asked, given in meant_for:
        if unfit := [option for option, value in given.items() if value is not None and not is_asked]:
            parser.error(f"{unfit[0]} is for {kind}")
    if options.output is None and (options.list or is_sample):
        options.output = shared.STANDARD_OUTPUT


def act(options: argparse.Namespace) -> int:
    """Find the paths, print them, return the exit code."""
    command = _command_of(options)
    if command.pick == "longest":
        return longest.answer(command, options)
    if command.pick == "sample":
        return sample.answer(command, options)
    finished, exit_code = run_engine(command, options)
    print_end(command, finished, options)
    return exit_code


def print_end(command: RunCommand, finished: Finished, options: argparse.Namespace) -> None:
    """Print how a listing ended, or a count of cycles or paths, and what resumes it."""
    if command.output is not None:
        list_.print_end(command, finished, quiet=options.quiet)
        return
    tell = print_counts if command.is_of_paths else count.print_result
    tell(command, finished, as_json=options.json)
    if not options.quiet:
        print_way_on(finished)


def _command_of(options: argparse.Namespace) -> RunCommand:
    more: dict[str, Any] = {}
    if options.shortest or options.longest:
        more = longest.fields_of(options)
    elif options.sample is not None:
        more = sample.fields_of(options, options.sample)
    elif options.list:
        output_format = "jsonl" if options.json else list_.format_of(options.output)
        more = {"output_format": output_format, "checkpoint": list_.folder_of(options)}
    between = () if options.all_pairs else (options.start, options.end)
    return shared.order_of(RunCommand, options, between=between, **more)


def print_counts(command: RunCommand, finished: Finished, *, as_json: bool) -> None:
    """Print a count of paths for people, or as one JSON object."""
    by_length, seconds = dict(sorted(finished.cycles_by_length.items())), finished.enumerate_seconds
    if as_json:
        start, end = finished.ends or (None, None)
        print(
            json.dumps(
                {
                    "graph": finished.graph,
                    "start": start,
                    "end": end,
                    **({"part": command.part} if command.part else {}),
                    **({"parity": command.parity} if command.parity else {}),
                    "total": finished.cycles,
                    "by_length": None if command.total_only else by_length,
                    "complete": finished.complete,
                    "seconds": round(seconds, 6),
                }
            )
        )
        return
    print(on_terminal(title_of(finished.graph, command), sys.stdout))
    if not finished.complete:
        if finished.cycles == 0:
            print(f"  stopped after {seconds_text(seconds)}, before a path was counted")
            return
        print("  the search was stopped: there may be more paths")
    if not command.total_only:
        print("  vertices  paths")
        for length, found in by_length.items():
            print(f"  {length:>8,}  {found:,}")
    print(f"  total     {finished.cycles:,}")
    print(f"  time      {seconds_text(seconds)}")
