"""A graph in which each chordless path of another graph is a chordless cycle through a new vertex.

Between two vertices s and t the new vertex is joined to s and to t only (in a directed graph by arcs to s and from t).
Each chordless cycle through it is one of the paths. If s and t are adjacent, the edge is the only path between them.

For all paths of a graph, each vertex gets a new neighbour of its own, and a new hub is joined to all of these. Each
chordless cycle through the hub passes two of them, and between these is a chordless path of two or more vertices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.restriction import order_called, vertices_called
from kernels_ti.boundary.values.weights import Weights
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles
from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph
from kernels_ti.options import require_lengths, require_parity

FEWEST = 2  # Vertices of the shortest path


EXTRA_BETWEEN, EXTRA_OF_ALL = 1, 3
"""New vertices on a cycle that stands for a path: between two ends, and of all paths."""

_UNBOUNDED = 3  # The minimum length of a search of all cycles


class End(Enum):
    """No end of a path; None may be the name of a vertex."""

    ANY = "any"


@dataclass(frozen=True)
class _Joining:
    """The name of a new vertex: no vertex of a user has it."""

    number: int


@dataclass(frozen=True, eq=False)
class PathGraph:
    """A graph with new vertices, the first of which is on each cycle that is a path, and the options of a search."""

    graph: Graph
    given: Graph
    ends: tuple[Hashable, ...]  # Empty for all paths
    options: dict[str, Any]

    @property
    def new(self) -> tuple[Hashable, ...]:
        """The new vertices."""
        return self.graph.names[self.given.n :]

    @property
    def extra(self) -> int:
        """New vertices on a cycle."""
        return EXTRA_BETWEEN if self.ends else EXTRA_OF_ALL

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {name: v for v, name in enumerate(self.given.names)}

    def order(self, vertices: Sequence[int]) -> list[int]:
        """Return an order of the vertices of the graph with the new ones, each before the first of its neighbours."""
        n = self.given.n
        in_order = [] if self.ends else [n]
        for v in vertices:
            in_order += [*(w for w in self.graph.neighbours(v).tolist() if w >= n), v]
        return list(dict.fromkeys(in_order))

    def path(self, cycle: list[Hashable]) -> list[Hashable]:
        """Return the path of a cycle; of all paths without directions, from its end that comes first in the graph."""
        if not cycle:
            return []
        new = self.new[0]
        # By its type first: how a name of a user's own class compares with others is not known.
        at = next(place for place, name in enumerate(cycle) if type(name) is type(new) and name == new)
        path = [*cycle[at + 1 :], *cycle[:at]]
        if self.ends:
            return path if self._index[path[0]] == self._index[self.ends[0]] else path[::-1]
        path = path[1:-1]
        is_forward = self.given.directed or self._index[path[0]] < self._index[path[-1]]
        return path if is_forward else path[::-1]

    def of_cycles(self, cycles: Cycles) -> Cycles:
        """Return the paths for which some cycles stand, each from its first vertex on, as `path` does."""
        first, n = (self.extra + 1) // 2, self.given.n
        counts = cycles.lengths - self.extra
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        owner = np.repeat(np.arange(len(cycles)), counts)
        place = np.arange(offsets[-1]) - offsets[owner]
        starts = np.flatnonzero(cycles.vertices == n) - cycles.offsets[:-1] + first

        def at(places: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
            return cycles.vertices[cycles.offsets[owners] + (starts[owners] + places) % cycles.lengths[owners]]

        if not self.given.directed:
            every = np.arange(len(cycles))
            one, other = at(np.zeros_like(counts), every), at(counts - 1, every)
            is_backward = one > other
            if self.ends:
                is_backward = one != self._index[self.ends[0]]
            place = np.where(is_backward[owner], counts[owner] - 1 - place, place)
        return Cycles(offsets, at(place, owner))

    def weights(self, weight: Mapping[Any, Any]) -> tuple[dict[Any, Any], Fraction]:
        """Return weights with those of the new vertices, or of their edges, and how much they add to each cycle."""
        given = Weights.of_mapping(self.given, weight)
        # Positive weights let the search by shortest paths count the cycles; these are the smallest on its scale.
        least = Fraction(1, given.scale)
        if given.gains.of_edges is None:
            return {**weight, **dict.fromkeys(self.new, least)}, self.extra * least
        names = self.graph.names
        edges = self.graph.pairs_in_direction()
        new = [(names[u], names[v]) for u, v in edges[(edges >= self.given.n).any(axis=1)].tolist()]
        return {**weight, **dict.fromkeys(new, least)}, (self.extra + 1) * least


def path_graph(
    graph: Any,
    s: Hashable,
    t: Hashable,
    *,
    min_length: int = FEWEST,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    order: Iterable[Hashable] | None = None,
    **others: Any,
) -> PathGraph:
    """Join new vertices to the ends, and put them before these in an order; see `count_paths` for the parameters.

    The options of the search for cycles are those of the paths, with `others`.
    """
    require_lengths(min_length, max_length)
    require_parity(parity)
    # Small integers of numpy overflow where new vertices are added.
    min_length, max_length = int(min_length), None if max_length is None else int(max_length)
    if min_length < FEWEST:
        raise OptionError(f"a path has {FEWEST} vertices or more: {min_length} is no minimum of its length")
    if max_length is not None and max_length < min_length:
        raise OptionError(f"the maximum length {max_length} of a path is less than the minimum {min_length}")
    graph = as_graph(graph, simplify=simplify)
    given = [end for end in (s, t) if end is not End.ANY]
    if len(given) == 1:
        raise OptionError("a path has two ends: name both, or none of them for all paths")
    # A name may be a text or a tuple, which are no lists of names here.
    ends = list(vertices_called(graph, given))
    through = [graph.names[w] for w in vertices_called(graph, through)]
    if ends and ends[0] == ends[1]:
        raise same_ends(s)
    n, edges = graph.n, _new_edges(graph, ends)
    size = int(edges.max(initial=n)) + 1
    names = None if graph.vertex_names is None else (*graph.vertex_names, *map(_Joining, range(size - n)))
    joined = Graph.from_edge_array(
        np.concatenate((graph.edges(), edges)),
        n=size,
        names=names,
        directed=graph.directed,
        multigraph=not graph.is_simple,
    )
    found = PathGraph(joined, graph, tuple(graph.names[v] for v in ends), dict(others))
    # Without directions no cycle that stands for all paths is shorter: a bound would only make the search longer.
    is_bound = min_length > FEWEST or graph.directed
    found.options.update(
        min_length=min_length + found.extra if is_bound else _UNBOUNDED,
        max_length=None if max_length is None else max_length + found.extra,
        through=[found.new[0], *through],
    )
    if parity is not None:
        # An odd number of new vertices is on each cycle.
        found.options["parity"] = "even" if parity == "odd" else "odd"
    if (vertices := order_called(graph, order)) is not None:
        found.options["order"] = [joined.names[w] for w in found.order(vertices)]
    return found


def same_ends(end: Hashable) -> OptionError:
    """Return the error of a path that shall end where it begins."""
    return OptionError(f"a path has two different ends, not {end} twice")


def _new_edges(graph: Graph, ends: list[int]) -> npt.NDArray[np.int64]:
    """Return the edges of the new vertices, arcs in a directed graph; the first of these is on each cycle.

    Between two ends one new vertex is joined to both. For all paths each vertex gets a neighbour of its own, in a
    directed graph one before it and one after it, and a hub is joined to all of these.
    """
    n = graph.n
    if ends:
        return np.array([[n, ends[0]], [ends[1], n]])
    every, hub = np.arange(n), np.full(n, n)
    first = n + 1 + every
    to = [np.column_stack((hub, first)), np.column_stack((first, every))]
    if not graph.directed:
        return np.concatenate(to)
    last = first + n
    return np.concatenate((*to, np.column_stack((every, last)), np.column_stack((last, hub))))
