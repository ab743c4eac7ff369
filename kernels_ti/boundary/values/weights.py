"""What vertices or edges add to a cycle: whole gains, and exact weights that become gains on one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any

from kernels_ti.blocks.restriction import are_pairs, edges_called, vertices_called
from kernels_ti.errors import SIMPLIFY, OptionError, type_of
from kernels_ti.graph import Graph

_LARGEST_SUM = 1 << 62


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of all vertices, or of all edges; beyond 64 bits only a search by shortest paths adds them up."""

    of_vertices: Mapping[int, int] | None = None  # None adds 1 for each
    # As (u, v) with u < v, or from the tail to the head of an arc
    of_edges: Mapping[tuple[int, int], int] | None = None

    def fit(self) -> bool:
        """Return whether all sums of them fit into 64 bits."""
        return sum(map(abs, [*(self.of_vertices or {}).values(), *(self.of_edges or {}).values()])) < _LARGEST_SUM

    def require_fit(self) -> None:
        """Raise an OptionError if sums of them would not fit into 64 bits."""
        if not self.fit():
            raise OptionError(
                "the weights have too many digits: all together, as whole numbers, must stay below 2^62; "
                "round them to fewer decimals"
            )

    def of(self, v: int) -> int:
        """Return the gain of a vertex."""
        if self.of_vertices is not None:
            return self.of_vertices[v]
        return 1 if self.of_edges is None else 0

    def between(self, u: int, v: int) -> int:
        """Return the gain of an edge."""
        if self.of_edges is None:
            return 0
        return self.of_edges[u, v] if (u, v) in self.of_edges else self.of_edges[v, u]

    def onto(self, u: int, v: int) -> int:
        """Return the gain of going from u to v: the edge, and v."""
        return self.of(v) + (0 if u == v else self.between(u, v))

    def of_cycle(self, cycle: list[int]) -> int:
        """Return the value of a cycle, given in cycle order."""
        edges = zip(cycle, cycle[1:] + cycle[:1], strict=True)
        return sum(map(self.of, cycle)) + sum(self.between(u, v) for u, v in edges)


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of all vertices, or of all edges, of a graph: gains are the weights times a scale."""

    gains: Gains
    scale: int

    def weight(self, value: int) -> int | Fraction:
        """Return the weight of a cycle with this sum of gains."""
        return whole_if_it_is(Fraction(value, self.scale))

    def by_name(self, graph: Graph) -> dict[Any, int | Fraction]:
        """Return the mapping of these weights: from the vertices' names, or from the pairs of names of the edges."""
        names, of_vertices = graph.names, self.gains.of_vertices
        if of_vertices is not None:
            return {names[v]: self.weight(gain) for v, gain in of_vertices.items()}
        return {(names[u], names[v]): self.weight(gain) for (u, v), gain in (self.gains.of_edges or {}).items()}

    @classmethod
    def of_mapping(cls, graph: Graph, weights: Mapping[Any, Any]) -> Weights:
        """Return the weights of a mapping from the names of vertices, or from the pairs of names of edges or arcs.

        Edges are named in either order, arcs with the tail first. A float stands for the shortest decimal that is
        printed for it. An OptionError names a vertex or an edge that the graph does not have, one without a weight, or
        a weight that is no number.
        """
        if not isinstance(weights, Mapping):
            raise OptionError(
                "the weights are a mapping from each vertex, or from the pair of vertices of each edge, to a number, "
                f"not {type_of(weights)}"
            )
        if not are_pairs(graph, weights):
            vertices = vertices_called(graph, weights)
            return cls.of_vertices(graph, dict(zip(vertices, map(exact, weights.values()), strict=True)))
        found: dict[tuple[int, int], Fraction] = {}
        for (u, v), given in zip(edges_called(graph, weights), weights.values(), strict=True):
            weight = exact(given)
            if found.setdefault(key_of_edge(graph, u, v), weight) != weight:
                raise OptionError(f"the edge {graph.names[u]} - {graph.names[v]} has two weights")
        return cls.of_edges(graph, found)

    @classmethod
    def of_vertices(cls, graph: Graph, weights: Mapping[int, Fraction]) -> Weights:
        """Return the weights of the vertices, given by index; an OptionError names one that is missing."""
        for v in range(graph.n):
            if v not in weights:
                raise OptionError(f"the vertex {graph.names[v]} has no weight")
        scale = _scale(weights)
        return cls(Gains(of_vertices={v: int(weight * scale) for v, weight in weights.items()}), scale)

    @classmethod
    def of_edges(cls, graph: Graph, weights: Mapping[tuple[int, int], Fraction]) -> Weights:
        """Return the weights of the edges, given by `key_of_edge`.

        An OptionError names an edge without a weight, or refuses a graph with self-loops or parallel edges.
        """
        if graph.loops is not None or graph.is_multigraph:
            raise OptionError(
                "self-loops and parallel edges cannot have weights of their own: give weights of the vertices, or use "
                f"{SIMPLIFY} to drop them"
            )
        for u, v in graph.edges().tolist():
            if (u, v) not in weights:
                what = f"arc {graph.names[u]} ->" if graph.directed else f"edge {graph.names[u]} -"
                raise OptionError(f"the {what} {graph.names[v]} has no weight")
        scale = _scale(weights)
        return cls(Gains(of_edges={edge: int(weight * scale) for edge, weight in weights.items()}), scale)


def key_of_edge(graph: Graph, u: int, v: int) -> tuple[int, int]:
    """Return an edge as `Graph.edges` has it: the smaller vertex first, in a directed graph the tail."""
    return (u, v) if graph.directed or u < v else (v, u)


def whole_if_it_is(weight: Fraction) -> int | Fraction:
    """Return an exact number as an integer if it is one."""
    return weight.numerator if weight.denominator == 1 else weight


def exact(weight: Any) -> Fraction:
    """Return a finite number as an exact one: a float is the shortest decimal that is printed for it."""
    if isinstance(weight, Rational):
        # A Fraction of an integer of numpy computes with it, and overflows.
        return Fraction(int(weight.numerator), int(weight.denominator))
    try:
        return Fraction(Decimal(str(weight)))
    except (InvalidOperation, ValueError, OverflowError):
        raise OptionError(f"the weight {weight!r} is not a finite number") from None


def _scale(weights: Mapping[Any, Fraction]) -> int:
    return math.lcm(1, *(weight.denominator for weight in weights.values()))
