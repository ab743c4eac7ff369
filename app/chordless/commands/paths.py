"""``chordless paths``: chordless paths between two vertices, or all."""

from __future__ import annotations

import argparse
import sys
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from chordless.commands import options as shared
from chordless.values import SHORTEST_PATH, names_a_folder, positive, seed, size
from kernels_ti.choices import ARCHES, METHODS

if TYPE_CHECKING:
    from chordless.commands.session import Signals
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.events import Finished
    from chordless.protocol.orders import CycleFormat, RunCommand
    from kernels_ti import BestPath

SUMMARY = "count, list or find chordless paths between two vertices, or all"

DESCRIPTION = """\
Count the chordless paths from vertex S to vertex T by their number of vertices:
the paths whose vertices have no other edges among them. In a directed graph
they go along the arcs. If S and T are adjacent, the edge is the only one.
With --all-pairs instead of S and T, all chordless paths of the graph.
"""

STANDARD_OUTPUT = "-"
_LINES, _WHOLE = ("text", "jsonl"), ("parquet", "arrow")
_MOST = 10**9


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = shared.graph_command(
        subparsers,
        "paths",
        SUMMARY,
        DESCRIPTION,
        "chordless paths grid:7x7 0,0 6,6",
        "chordless paths roads.txt 17 203 --max-length 12 --list",
        "chordless paths roads.txt 17 203 --shortest --through 40",
        "chordless paths city.graphml 17 203 --simplify --shortest --weight length",
        "chordless paths web.net 3 9 -o paths.jsonl",
        "chordless paths grid:12x12 0,0 11,11 --sample 10",
        "chordless paths grid:7x7 --all-pairs",
        "chordless paths city.graphml 17 203 -o paths.txt --checkpoint week/",
    )
    parser.add_argument("start", metavar="S", nargs="?", help="the vertex at which the paths begin")
    parser.add_argument("end", metavar="T", nargs="?", help="the vertex at which they end")
    parser.add_argument(
        "--all-pairs",
        action="store_true",
        help="all chordless paths of the graph, each once: an edge is one, a single vertex is none",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object; with --list one line for each path")
    what = parser.add_argument_group("what to find (default: how many, by length)").add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print each path, in no particular order")
    what.add_argument("--shortest", action="store_true", help="find a shortest path, and how many are as short")
    what.add_argument("--longest", action="store_true", help="find a longest path, and how many are as long")
    what.add_argument(
        "--sample", type=positive, metavar="N", help="draw N paths uniformly at random; a path may come several times"
    )
    parser.add_argument(
        "-k", type=positive, metavar="N", help="with --shortest or --longest: find N paths, the best one first"
    )
    parser.add_argument(
        "--weight",
        metavar="FILE|NAME",
        help="with --shortest: the lightest path; with --longest: the heaviest one; as for `chordless longest`",
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="with --sample: seed of the draws (default: 0)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="list the paths in FILE: text (.txt, or no suffix), .jsonl, .npy, .parquet or .arrow; or in a run "
        "directory, with a slash: DIR/, for `chordless export`; -: on standard output",
    )
    group = parser.add_argument_group("which paths, and when to stop")
    shared.add_lengths(group, positive, "paths")
    shared.add_restriction(group, "paths")
    shared.add_stops(group, "stop after about N paths; a list has at most N")
    group = parser.add_argument_group("how to run")
    group.add_argument("--arch", choices=ARCHES, default=ARCHES[0], metavar="ARCH", help=f"one of {', '.join(ARCHES)}")
    group.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        metavar="HOW",
        help="search: every path; boundary: by dynamic programming over a path decomposition; auto (default): the one "
        "that is expected to be faster",
    )
    group.add_argument("--memory", type=size, metavar="SIZE", help="limit such as 256M or 1.5GiB")
    shared.add_checkpoint(parser, also="; for counts and lists")
    shared.add_reporting(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds or outputs."""
    shared.settle_lengths(parser, options, shortest=SHORTEST_PATH)
    if options.all_pairs and options.start is not None:
        parser.error("--all-pairs takes all ends: leave S and T out, or --all-pairs")
    if not options.all_pairs and options.end is None:
        parser.error("name both ends, S and T, or give --all-pairs")
    if options.output is not None:
        if options.shortest or options.longest:
            parser.error("-o lists paths: it is not allowed with --shortest and --longest")
        if options.output == "":
            parser.error("-o: the name of the output is empty")
        options.list = options.sample is None
        if (found := _format_of(options)) is None or (options.sample is not None and found not in _LINES):
            parser.error(
                f"-o {options.output}: paths are written as text or JSON lines (.txt, .jsonl); all of them also as "
                ".npy, .parquet or .arrow, or to a folder DIR/"
            )
    options.output = options.output or STANDARD_OUTPUT
    if options.sample is not None and options.sample > _MOST:
        parser.error(f"--sample {options.sample}: {_MOST:,} paths are the most that are drawn at once")
    is_best = options.shortest or options.longest
    if options.k is not None and not is_best:
        parser.error("-k is for --shortest and --longest; --limit N bounds a list, --sample N draws")
    if options.weight is not None and not is_best:
        parser.error("--weight is for --shortest and --longest")
    if options.seed is not None and options.sample is None:
        parser.error("--seed is for --sample")
    if options.limit is not None and (is_best or options.sample is not None):
        parser.error("--limit is for counts and lists: it is not allowed with --shortest, --longest and --sample")
    if options.list and options.method == "boundary":
        parser.error("--list is for the method search: along a boundary no path is met; --sample N draws some")
    _check_run(parser, options, is_pick=is_best or options.sample is not None)


def _check_run(parser: argparse.ArgumentParser, options: argparse.Namespace, *, is_pick: bool) -> None:
    """Settle the method of a count or a list; end with a usage error for options that it does not have."""
    given = {"--checkpoint": options.checkpoint, "--events": options.events}
    if unfit := [option for option, value in given.items() if value is not None and is_pick]:
        parser.error(f"{unfit[0]} is for counts and lists: leave it out")
    if options.checkpoint == "":
        parser.error("--checkpoint: the name of the folder is empty")
    if options.all_pairs and options.list and _format_of(options) == "parts":
        parser.error(f"-o {options.output}: this is a folder; the output is a file")
    if options.all_pairs and options.list and _format_of(options) == "npy":
        parser.error(f"-o {options.output}: bit rows are for the paths between two vertices: name a .txt or .jsonl")
    if options.list and _format_of(options) == "parts":
        if options.checkpoint is not None:
            parser.error(f"-o {options.output} is a folder, which keeps a checkpoint anyway: leave --checkpoint out")
        options.checkpoint = options.output
    shared.check_checkpoint_every(parser, options, options.checkpoint)
    if options.checkpoint is not None and options.list and options.output == STANDARD_OUTPUT:
        parser.error("--checkpoint needs -o FILE: standard output cannot be cut back to a checkpoint")
    if options.checkpoint is not None and options.list and _format_of(options) in _WHOLE:
        parser.error(
            f"--checkpoint: a run cannot go on with {options.output}, which is written as a whole: "
            f"list to a folder DIR/, then `chordless export DIR -o {options.output}`"
        )
    if is_pick:
        return
    if options.method == "boundary":
        if options.limit is not None:
            parser.error("--limit is for --method search: leave it out, or --method boundary")
        if options.arch == "vulkan":
            parser.error(shared.NOT_ON_VULKAN)
    elif options.list or options.limit is not None or options.arch in ("vulkan", "reference"):
        options.method = "search"


def _format_of(options: argparse.Namespace) -> CycleFormat | None:
    """Return how the output of a list is written, None if its name does not tell."""
    from chordless.protocol.orders import FORMATS

    suffix = "" if options.output == STANDARD_OUTPUT else PurePath(options.output).suffix.lower()
    if names_a_folder(options.output):
        return "parts"
    found = FORMATS.get(suffix or ".txt")
    return "jsonl" if options.json and found == "text" else found


def act(options: argparse.Namespace) -> int:
    """Find the paths, print them, return the exit code."""
    if options.sample is not None or options.shortest or options.longest:
        return _pick(options)
    from chordless.commands import list as list_
    from chordless.commands.session import print_way_on, run_engine
    from chordless.protocol.orders import RunCommand

    asked = ("arch", "limit", "timeout", "memory", "method", "all_pairs", "checkpoint")
    output_format = _format_of(options)
    assert output_format is not None
    command = RunCommand(
        **shared.graph_fields(options),
        **shared.restriction_fields(options),
        **shared.fields_of(options, *asked),
        between=() if options.all_pairs else (options.start, options.end),
        output=options.output if options.list else None,
        output_format=output_format,
        checkpoint_every=options.checkpoint_every or RunCommand.checkpoint_every,
    )
    finished, exit_code = run_engine(command, options)
    if command.output is None:
        print_counts(command, finished, as_json=options.json)
    elif not options.quiet:
        list_.print_note(finished, command.output, "path")
    if not options.quiet:
        print_way_on(finished)
    return exit_code


def _pick(options: argparse.Namespace) -> int:
    """Find the best paths or draw some by the library, in this process; print them, return the exit code."""
    from chordless.commands.session import graph_asked_for, searching_here, stopped_exit_code
    from chordless.commands.writing import THE_GRAPH, require_other_files

    if options.output != STANDARD_OUTPUT:
        require_other_files([(THE_GRAPH, options.graph)], {"-o": options.output})
    loaded = graph_asked_for(options)
    wanted = _wanted(options, loaded)
    weight = _weight(options, loaded)
    with searching_here() as signals:
        if options.sample is not None:
            is_complete = _sample(options, wanted, signals)
        else:
            is_complete = _best(options, loaded.title, weight, wanted, signals)
    return 0 if is_complete else stopped_exit_code(signals.received)


def _weight(options: argparse.Namespace, loaded: LoadedGraph) -> dict[Any, Any] | None:
    """Return the weights by the names of the vertices or of the ends of the edges, if any are asked for."""
    if options.weight is None:
        return None
    from chordless.commands.session import print_notes
    from chordless.graphs.attribute_weights import weights_asked_for
    from chordless.graphs.load import read_weight_file

    how = {"file_format": options.file_format, "encoding": options.encoding}
    data, notes = weights_asked_for(loaded, options.graph, options.weight, **how)
    print_notes([] if options.quiet else notes)
    return read_weight_file(options.weight, loaded.graph, encoding=options.encoding, data=data).by_name(loaded.graph)


def _wanted(options: argparse.Namespace, loaded: LoadedGraph) -> dict[str, Any]:
    """Return the arguments for the functions of the library, with vertices as they name them."""
    from chordless.graphs.vertex_names import edges_named, restriction_named, vertices_named

    graph = loaded.graph
    through, avoid = restriction_named(graph, options.through, options.through_edge, options.avoid)
    given = [] if options.all_pairs else [options.start, options.end]
    ends = [vertices_named(graph, [text]) for text in given]
    for text, found in zip(given, ends, strict=True):
        if len(found) != 1:
            options.parser.error(f"{text!r} names {len(found)} vertices: a path has one at each end")
    names, is_silent = graph.names, options.quiet or options.progress == "none"
    return {
        "graph": graph,
        **{end: names[found[0]] for end, found in zip("st", ends, strict=False)},
        "min_length": options.min_length,
        "max_length": options.max_length,
        "parity": options.parity,
        "through": [names[v] for v in through],
        "avoid": [names[v] for v in avoid],
        "avoid_edges": [(names[u], names[v]) for u, v in edges_named(graph, options.avoid_edge)],
        "timeout": options.timeout,
        "memory": options.memory,
        "arch": options.arch,
        "method": options.method,
        # On standard output the line would stand between the paths.
        "progress": not (is_silent or (options.sample is not None and options.output == STANDARD_OUTPUT)),
    }


def print_counts(command: RunCommand, finished: Finished, *, as_json: bool) -> None:
    """Print a count of paths for people, or as one JSON object."""
    import json

    from chordless.words.numbers import seconds_text
    from chordless.words.shown import on_terminal

    by_length, seconds = dict(sorted(finished.cycles_by_length.items())), finished.enumerate_seconds
    if as_json:
        start, end = finished.ends or (None, None)
        print(
            json.dumps(
                {
                    "graph": finished.graph,
                    "start": start,
                    "end": end,
                    **({"parity": command.parity} if command.parity else {}),
                    "total": finished.cycles,
                    "by_length": by_length,
                    "complete": finished.complete,
                    "seconds": round(seconds, 6),
                }
            )
        )
        return
    print(on_terminal(finished.graph, sys.stdout))
    if not finished.complete:
        if finished.cycles == 0:
            print(f"  stopped after {seconds_text(seconds)}, before a path was counted")
            return
        print("  the search was stopped: there may be more paths")
    print("  vertices  paths")
    for length, count in by_length.items():
        print(f"  {length:>8,}  {count:,}")
    print(f"  total     {finished.cycles:,}")
    print(f"  time      {seconds_text(seconds)}")


def _sample(options: argparse.Namespace, wanted: dict[str, Any], signals: Signals) -> bool:
    """Draw paths; write them as `chordless sample` writes cycles. Return whether all were written."""
    import os

    from chordless.commands.session import ended_by
    from chordless.cycles.output import open_output
    from chordless.protocol.orders import RunCommand
    from kernels_ti import sample_paths
    from kernels_ti.cycles import Cycles
    from kernels_ti.errors import quantity

    graph = wanted["graph"]
    drawn = sample_paths(k=options.sample, seed=options.seed or 0, **wanted)
    if not drawn and not options.quiet:
        sys.stderr.write("there is no chordless path to draw\n")
    place = {name: v for v, name in enumerate(graph.names)}
    output_format = _format_of(options)
    assert output_format is not None
    command = RunCommand(**shared.graph_fields(options), output=options.output, output_format=output_format)
    with open_output(command, graph, os.dup(1)) as output:
        found = Cycles.of_lists([[place[name] for name in path] for path in drawn])
        is_written = output.write(found, lambda: signals.received is not None)
        listed = output.listed
    if signals.received is not None and not is_written:
        where = "" if options.output == STANDARD_OUTPUT else f" in {options.output}"
        sys.stderr.write(f"not complete: {ended_by(signals.received)}; {quantity(listed, 'path')}{where}\n")
    return is_written


def _best(
    options: argparse.Namespace,
    title: str,
    weight: dict[Any, Any] | None,
    wanted: dict[str, Any],
    signals: Signals,
) -> bool:
    """Find the best paths, print them; return whether none can be better."""
    from chordless.commands.session import ended_by
    from kernels_ti import TimeIsUpError, longest_path

    ended = ""
    try:
        best = longest_path(shortest=options.shortest, k=options.k or 1, weight=weight, **wanted)
    except TimeIsUpError as error:
        if error.best is None:
            raise
        best, ended = error.best, "the time was up" if signals.received is None else ended_by(signals.received)
    _print_best(options, title, best, ended)
    return not ended


def _print_best(options: argparse.Namespace, title: str, best: BestPath, ended: str) -> None:
    """Print the best paths; `ended` says what ended the search before it was through."""
    import json

    from chordless.graphs.vertex_names import json_name
    from chordless.words.numbers import decimals, json_number, seconds_text
    from chordless.words.shown import names_line, on_terminal, separator_of

    if options.json:
        names = [json_name(v) for v in best.path]
        asked = {"parity": options.parity} if options.parity else {}
        weights = [json_number(decimals(weight)) for weight in best.weights]
        weighed = {} if options.weight is None else {"weight": weights[0] if weights else None}
        result = {
            "graph": title,
            **asked,
            "length": best.length,
            "path": names,
            **weighed,
            "ways": best.ways,
            **({"paths": [list(map(json_name, path)) for path in best.paths]} if options.k else {}),
            **({"weights": weights} if options.k and weighed else {}),
            "complete": not ended,
        }
        print(json.dumps({**result, "seconds": round(best.seconds, 6)}))
        return
    print(on_terminal(title, sys.stdout))
    if not best.path:
        print("  no chordless path")
        return
    so_far = f" so far: {ended}" if ended else ""
    kind, weight = "shortest" if options.shortest else "longest", ""
    if best.weight is not None:
        kind, weight = "lightest" if options.shortest else "heaviest", f"weight {decimals(best.weight)}, "
    print(f"  {kind:<9} {weight}{best.length:,} vertices{so_far}")
    print(f"  {'paths':<9} {best.ways:,} of this {'weight' if weight else 'length'}")
    print(f"  {'time':<9} {seconds_text(best.seconds)}")
    separator = separator_of(v for path in best.paths for v in path)
    for path, known in zip_longest(best.paths, best.weights):
        of = "one" if not options.k else f"{len(path):,}" if known is None else decimals(known)
        print(f"  {of:<9} {names_line(path, sys.stdout, separator)}")
