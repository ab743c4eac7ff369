"""``chordless longest``: the longest, shortest, heaviest or lightest chordless cycle."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chordless.commands import along_boundary
from chordless.commands import options as shared

if TYPE_CHECKING:
    from fractions import Fraction

    from chordless.commands.kept_pick import KeptPick
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.orders import RunCommand
    from kernels_ti import BestCycle

SUMMARY = "find the longest, shortest, heaviest or lightest chordless cycle"

DESCRIPTION = """\
Find the longest chordless cycle of a graph, or the shortest, heaviest or
lightest one. Also tell how many cycles are as long, or weigh as much.

The cycle is found by dynamic programming over a path decomposition, without
looking at every cycle. The time depends on the boundary of the graph, as that
of `chordless count --method boundary` does, and hardly on the number of cycles.
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "longest",
        help=SUMMARY,
        description=DESCRIPTION,
        closing=lambda: shared.graph_help(
            "chordless longest grid:9x9",
            "chordless longest roads.txt --simplify --json | jq .length",
            "chordless longest roads.txt --shortest --through 17",
            "chordless longest grid:18x18 --arch cuda",
            "chordless longest roads.txt --weight roads.txt   # its third column",
            "chordless longest roads.txt --checkpoint way/   # chordless resume way/",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    group = parser.add_argument_group("what to find")
    group.add_argument(
        "--shortest",
        action="store_true",
        help="find the shortest cycle of 4 or more vertices instead; with --weight, the lightest one",
    )
    group.add_argument(
        "--weight",
        metavar="FILE",
        help="find the heaviest cycle instead: FILE has a line `v weight` for each vertex, or `u v weight` for each "
        "edge; it may be the edge list of the graph",
    )
    along_boundary.add_options(parser)
    parser.set_defaults(act=act, check=check, parser=parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds."""
    from chordless.values import SHORTEST_CYCLE

    shared.settle_lengths(parser, options, shortest=4 if options.shortest else SHORTEST_CYCLE)
    shared.check_checkpoint_every(parser, options, options.checkpoint)


def act(options: argparse.Namespace) -> int:
    """Find the cycle, print it, return the exit code."""
    if options.checkpoint is None:
        return _answer(options, along_boundary.loaded_graph(options))
    from dataclasses import replace

    from chordless.commands.kept_pick import begun
    from chordless.graphs.readers.incoming import read_bytes
    from chordless.runs.directory import check_is_free

    check_is_free(options.checkpoint)
    loaded = along_boundary.loaded_graph(options)
    weights = None if options.weight is None else read_bytes(options.weight)
    command = replace(
        along_boundary.command_of(options), pick="longest", shortest=options.shortest, weight=options.weight
    )
    with begun(command, loaded, weights) as kept:
        return _answer(options, loaded, kept)


def resume(command: RunCommand, options: argparse.Namespace) -> int:
    """Go on from a checkpoint, print the cycle, return the exit code."""
    from chordless.commands.kept_pick import resumed

    with resumed(command) as (kept, loaded):
        return _answer(along_boundary.options_of(command, options), loaded, kept)


def _answer(options: argparse.Namespace, loaded: LoadedGraph, kept: KeptPick | None = None) -> int:
    import json
    from contextlib import nullcontext
    from dataclasses import replace

    from kernels_ti.boundary.longest import longest_in

    space = along_boundary.space_of(options, loaded.graph)
    weights, path = None, options.weight if kept is None else kept.weights
    if path is not None:
        from chordless.graphs.load import read_weight_file

        weights = read_weight_file(path, space.graph, encoding=options.encoding)
    orders = along_boundary.orders(options, space.graph)
    at_work = nullcontext(None) if kept is None else kept.at_work()
    with along_boundary.progress(options) as report, at_work as keeping:
        best = longest_in(
            space,
            weights,
            shortest=options.shortest,
            arch=options.arch,
            timeout=options.timeout,
            report=report,
            keeping=keeping,
            **orders,
        )
    if kept is not None:
        best = replace(best, seconds=kept.finish())
    if options.json:
        print(json.dumps(_result_object(loaded.title, best)))
    else:
        bounds = options.min_length, options.max_length
        for line in _lines(loaded.title, best, bounds, shortest=options.shortest, weighted=weights is not None):
            print(line)
    return 0


def _result_object(name: str, best: BestCycle) -> dict[str, Any]:
    from chordless.cycles.participation import json_name

    return {
        "graph": name,
        "length": best.length,
        "cycle": [json_name(vertex) for vertex in best.cycle],
        "weight": None if best.weight is None else _number(best.weight),
        "ways": best.ways,
        "method": "boundary",
        "boundary": {"width": best.width, "states": best.states},
        "seconds": round(best.seconds, 6),
    }


def _number(weight: int | Fraction) -> int | float | str:
    """Return a weight for JSON: a number where that is exact, else its decimals as text."""
    if isinstance(weight, int):
        return weight
    return float(weight) if _text(weight) == repr(float(weight)) else _text(weight)


def _text(weight: int | Fraction) -> str:
    """Return the decimals of a weight; all weights are decimals, so they end."""
    from decimal import Context, Decimal

    if isinstance(weight, int):
        return str(weight)
    exact = Context(prec=200).divide(Decimal(weight.numerator), Decimal(weight.denominator))
    return f"{exact.normalize():f}"


def _lines(
    name: str, best: BestCycle, bounds: tuple[int, int | None], *, shortest: bool, weighted: bool
) -> Iterator[str]:
    from chordless.words.numbers import lengths_text, seconds_text
    from chordless.words.shown import on_terminal
    from kernels_ti.errors import quantity, vertices_text

    yield on_terminal(name, sys.stdout)
    if not best.cycle:
        yield f"  no chordless {lengths_text(*bounds) or 'cycle'}"
        return
    what = ("lightest" if shortest else "heaviest") if weighted else "shortest" if shortest else "longest"
    if weighted and best.weight is not None:
        yield f"  {what:<9} weight {_text(best.weight)}, {best.length:,} vertices"
    else:
        yield f"  {what:<9} {best.length:,} vertices"
    yield f"  {'cycles':<9} {best.ways:,} of this {'weight' if weighted else 'length'}"
    if best.width:
        yield f"  {'boundary':<9} {vertices_text(best.width)}, {quantity(best.states, 'state')} at most"
    yield f"  {'time':<9} {seconds_text(best.seconds)}"
    yield f"  {'one':<9} {on_terminal(' '.join(map(str, best.cycle)), sys.stdout)}"
