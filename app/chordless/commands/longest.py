"""``chordless longest``: the longest, shortest, heaviest or lightest chordless cycle."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from chordless.commands import along_boundary
from chordless.commands import options as shared
from chordless.commands.session import print_way_on
from chordless.commands.terminal import title_of
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.values import SHORTEST_CYCLE
from chordless.words.numbers import best_text, json_number, lengths_text, seconds_text
from chordless.words.shown import names_line, on_terminal, separator_of
from kernels_ti.errors import quantity, vertices_text

DESCRIPTION = """\
Find the longest chordless cycle of a graph, or the shortest, heaviest or
lightest one. Also tell how many cycles are as long, or weigh as much.

The shortest and the lightest cycle are found by shortest paths: in a moment in
the network of a city. The longest and the heaviest one are found by dynamic
programming over a path decomposition, without looking at every cycle: the time
depends on the boundary of the graph, as that of `chordless count --method
boundary` does, and hardly on the number of cycles.
"""
EXAMPLES = (
    "chordless longest grid:9x9",
    "chordless longest roads.txt --simplify --json | jq .length",
    "chordless longest roads.txt --shortest --through 17",
    "chordless longest roads.txt --shortest -k 20",
    "chordless longest grid:18x18 --arch cuda",
    "chordless longest roads.txt --weight roads.txt   # its third column",
    "chordless longest city.graphml --simplify --shortest --weight length",
    "chordless longest roads.txt --checkpoint way/   # chordless resume way/",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(parser, "--json")
    group = parser.add_argument_group("what to find")
    shared.add(group, "-k", "find the N longest cycles, the longest first; with the others likewise")
    shared.add(
        group, "--shortest", "find the shortest cycle of 4 or more vertices instead; with --weight, the lightest one"
    )
    shared.add(
        group,
        "--weight",
        "find the heaviest cycle instead: FILE has a line `v weight` for each vertex, or `u v weight` for each "
        "edge; it may be the edge list of the graph. NAME is an attribute in the file of the graph, such as length; "
        "distance: of the ends of each edge in a straight line",
    )
    along_boundary.add_options(
        parser,
        "search: by shortest paths, or all cycles for a longest one; boundary: by dynamic programming over a path "
        "decomposition; auto (default): the one that is expected to be faster",
    )


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error for impossible bounds."""
    shared.settle_lengths(parser, options, shortest=4 if options.shortest else SHORTEST_CYCLE)
    check_best(parser, options)


def check_best(parser: argparse.ArgumentParser, options: argparse.Namespace, things: str = "cycles") -> None:
    """End with a usage error for a bad checkpoint of the best cycles, or paths."""
    along_boundary.check(parser, options)
    if options.k is not None and options.checkpoint is not None:
        parser.error(f"-k {options.k}: several {things} are found without a checkpoint: leave --checkpoint out")


def act(options: argparse.Namespace) -> int:
    """Find the cycle, print it, return the exit code."""
    return answer(along_boundary.command_of(options, fields_of(options)), options)


def fields_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of an order that make it one for the best cycles, or paths."""
    return {"pick": "longest", "limit": options.k}


def answer(command: RunCommand, options: argparse.Namespace) -> int:
    """Let the engine begin, or go on; print the cycle, return the exit code."""
    finished, exit_code = along_boundary.picked(command, options)
    assert finished.best is not None
    if options.json:
        print(json.dumps(_result_object(command, finished, finished.best)))
    else:
        for line in _lines(command, finished, finished.best):
            print(line)
    if finished.reason == "interrupted":
        print_way_on(finished, "interrupted; ")
    elif not options.quiet:
        print_way_on(finished)
    return exit_code


def _result_object(command: RunCommand, finished: Finished, best: dict[str, Any]) -> dict[str, Any]:
    found = finished.boundary or {}
    of_kind = _of_paths if command.is_of_paths else _of_cycles
    return {
        "graph": finished.graph,
        **({"parity": command.parity} if command.parity else {}),
        "length": len(best["cycle"]),
        **of_kind(best, weighted=command.weight is not None),
        "ways": best["ways"],
        "method": best["method"],
        "complete": finished.complete,
        **({"no_longer_than": best["no_longer_than"]} if "no_longer_than" in best else {}),
        "boundary": {name: found[name] for name in ("width", "states")} if best["method"] == "boundary" else None,
        "seconds": round(finished.enumerate_seconds, 6),
    }


def _of_cycles(best: dict[str, Any], *, weighted: bool) -> dict[str, Any]:
    cycles = [{"length": len(each["cycle"]), **_weighed(each)} for each in best.get("cycles", ())]
    return {**_weighed(best), **({"cycles": cycles} if "cycles" in best else {})}


def _weighed(found: dict[str, Any]) -> dict[str, Any]:
    return {"cycle": found["cycle"], "weight": None if found["weight"] is None else json_number(found["weight"])}


def _of_paths(best: dict[str, Any], *, weighted: bool) -> dict[str, Any]:
    several = [_weighed(each) for each in best.get("cycles", ())]
    return {
        "path": best["cycle"],
        **({"weight": _weighed(best)["weight"]} if weighted else {}),
        **({"paths": [each["cycle"] for each in several]} if "cycles" in best else {}),
        **({"weights": [each["weight"] for each in several]} if weighted and "cycles" in best else {}),
    }


def _lines(command: RunCommand, finished: Finished, best: dict[str, Any]) -> Iterator[str]:
    yield on_terminal(title_of(finished.graph, command), sys.stdout)
    things = f"{command.thing}s"
    cycle, boundary = best["cycle"], finished.boundary or {}
    if not cycle:
        bounds = command.min_length, command.max_length, command.parity
        wanted = lengths_text(*bounds, of_paths=command.is_of_paths)
        yield f"  no chordless {wanted or things[:-1]}"
        return
    weighted, so_far = best["weight"] is not None, "" if finished.complete else " so far"
    kind = best_text(shortest=command.shortest, weighted=weighted)
    weight = f"weight {best['weight']}, " if weighted else ""
    yield f"  {kind:<9} {weight}{vertices_text(len(cycle))}{so_far}"
    if not finished.complete:
        bound = f"; none has more than {vertices_text(best['no_longer_than'])}" if "no_longer_than" in best else ""
        why = "interrupted" if finished.reason == "interrupted" else "the time was up"
        yield f"  {'not all':<9} {why} before all {things} were compared{bound}"
    yield f"  {things:<9} {best['ways']:,} of this {'weight' if weighted else 'length'}{so_far}"
    if boundary.get("width"):
        yield f"  {'boundary':<9} {vertices_text(boundary['width'])}, {quantity(boundary['states'], 'state')} at most"
    yield f"  {'time':<9} {seconds_text(finished.enumerate_seconds)}"
    cycles = best.get("cycles", [best])
    separator = separator_of(v for each in cycles for v in each["cycle"])
    for each in cycles:
        of = "one" if "cycles" not in best else each["weight"] or f"{len(each['cycle']):,}"
        yield f"  {of:<9} {names_line(each['cycle'], sys.stdout, separator)}"
