"""An order for chordless paths: the search of cycles that carries it out, and its results told in vertices of paths.

The engine joins new vertices to the graph, see `kernels_ti.path_graph`, and searches for cycles through the first of
them. Checkpoints hold such cycles. Only `told_in_paths`, for events, and `chordless.cycles.paths`, for outputs, turn
them into paths.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from chordless.protocol.events import Event, Finished, Progress
from kernels_ti import OptionError

if TYPE_CHECKING:
    from fractions import Fraction

    from chordless.protocol.orders import RunCommand
    from kernels_ti import Graph
    from kernels_ti.boundary.values.weights import Weights
    from kernels_ti.path_graph import PathGraph

_Number = TypeVar("_Number", int, float)
_LENGTHS = ("cycles_by_length", "frontier_by_length", "waiting_by_length")


def end_named(graph: Graph, text: str) -> Hashable:
    """Return the vertex that is one end of a path; an OptionError if the text names none, or several."""
    from chordless.graphs.vertex_names import vertices_named

    found = vertices_named(graph, [text])
    if len(found) != 1:
        raise OptionError(f"{text!r} names {len(found)} vertices: a path has one at each end")
    return graph.names[found[0]]


def ends_of(command: RunCommand, graph: Graph) -> list[Hashable]:
    """Return the names of the two ends of an order's paths in its graph; none if it is not for paths between two."""
    return [end_named(graph, text) for text in command.between]


def counts_totals(command: RunCommand, graph: Graph) -> bool:
    """Return whether all lengths can be counted together: not for all paths along arcs."""
    return not (command.all_pairs and graph.directed)


def path_graph_of(command: RunCommand, graph: Graph) -> PathGraph | None:
    """Return the graph in which the paths of an order are cycles, with the bounds of these; None for cycles.

    Raise OptionError if the ends are not two vertices of the graph, no path can have such a length, or all paths along
    arcs are to be counted together: the cycles of the single vertices are told from them by their length.
    """
    if not command.is_of_paths:
        return None
    if command.total_only and not counts_totals(command, graph):
        raise OptionError("--total-only counts all paths of a graph without directions: leave it out, or name S and T")
    from chordless.graphs.vertex_names import restriction_named
    from kernels_ti.path_graph import End, path_graph

    s, t = ends_of(command, graph) or (End.ANY, End.ANY)
    names = graph.names
    through, _ = restriction_named(graph, command.through, command.through_edges, ())
    return path_graph(
        graph,
        s,
        t,
        min_length=command.min_length,
        max_length=command.max_length,
        parity=command.parity,
        through=[names[v] for v in through],
    )


def searched_graph(command: RunCommand, graph: Graph) -> Graph:
    """Return the graph in which an order searches for cycles."""
    paths = path_graph_of(command, graph)
    return graph if paths is None else paths.graph


def new_on_a_cycle(command: RunCommand) -> int:
    """Return how many vertices of a cycle are none of the path for which it stands; 0 for an order for cycles."""
    if not command.is_of_paths:
        return 0
    from kernels_ti.path_graph import EXTRA_BETWEEN, EXTRA_OF_ALL

    return EXTRA_BETWEEN if command.between else EXTRA_OF_ALL


def weights_of_cycles(paths: PathGraph, weights: Weights) -> tuple[Weights, Fraction]:
    """Return the weights of the cycles that stand for paths, and how much the new vertices add to each."""
    from kernels_ti.boundary.values.weights import Weights

    by_name, added = paths.weights(weights.by_name(paths.given))
    return Weights.of_mapping(paths.graph, by_name), added


def in_paths(by_length: Mapping[int, _Number], extra: int) -> dict[int, _Number]:
    """Return numbers by vertices of a path from those by vertices of a cycle, which has `extra` ones more."""
    return {length - extra: number for length, number in by_length.items()}


def told_in_paths(event: Event, extra: int) -> Event:
    """Return an event with the lengths of paths instead of those of cycles with `extra` vertices more."""
    if not extra or not isinstance(event, (Progress, Finished)):
        return event
    told: dict[str, Any] = {name: in_paths(getattr(event, name), extra) for name in _LENGTHS}
    return replace(event, **told)
