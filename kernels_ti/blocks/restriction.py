"""Restriction of a search to the cycles through some vertices and not through others.

The graph is reduced before the search begins; no cycle is found and then dropped. Vertices to avoid are removed. A
cycle through several vertices lies in a block that contains all of them, within half the length bound of each. All
other blocks are removed. One of the required vertices is the root of every path. The search drops the paths that can no
longer reach the others, see `kernels_ti.step.required`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.blocks.passable import block_edges
from kernels_ti.errors import OptionError, vertices_text
from kernels_ti.graph import Graph

MOST_ROUNDS = 8
"""Rounds of reduction by blocks and distances. Vertices that more rounds would remove only cost words."""

_NUMBER = re.compile("0|[1-9][0-9]{0,9}")  # No graph has more than 2^31 vertices

MOST_CASES = 1024  # Largest number of searches that edges to avoid may make; see `restricted_cases`


@dataclass(frozen=True, eq=False)
class Restricted:
    """A graph reduced to the edges that a search needs."""

    graph: Graph  # All vertices with their names, and the edges that a wanted cycle can have
    root: int | None = None  # The vertex at which all paths begin; None if no vertex is required
    required: tuple[int, ...] = ()  # The other vertices that a cycle must pass

    @property
    def through(self) -> tuple[int, ...]:
        """All vertices that a cycle must pass."""
        return () if self.root is None else (self.root, *self.required)


def restricted(
    graph: Graph, through: Sequence[int] = (), avoid: Sequence[int] = (), max_length: int | None = None
) -> Restricted:
    """Remove from a graph the edges that no wanted cycle can have.

    An OptionError says that a vertex does not exist, or is in both `through` and `avoid`.
    """
    for v in (*through, *avoid):
        if not 0 <= v < graph.n:
            raise OptionError(f"there is no vertex {v}: the graph has {vertices_text(graph.n)}, counted from 0")
    wanted = tuple(dict.fromkeys(through))
    for v in wanted:
        if v in avoid:
            raise OptionError(f"the vertex {graph.names[v]} cannot be in both through and avoid")
    if graph.is_simple and not wanted and not avoid:
        return Restricted(graph)
    keep = np.ones(graph.n, np.bool_)
    keep[list(avoid)] = False
    if graph.loops is not None:
        # A vertex with a self-loop lies on no cycle of two or more vertices.
        keep &= graph.loops == 0
    # Only vertices are removed, with their edges: an edge that no cycle can follow may still be a chord.
    left = graph.among(keep)
    for _ in range(MOST_ROUNDS if wanted else 0):
        before = np.count_nonzero(keep)
        if max_length is not None:
            for v in wanted:
                keep &= _ball(left, v, max_length // 2)
            left = left.among(keep)
        edges, block = block_edges(left)
        has_all = np.ones(int(block.max(initial=-1)) + 1, np.bool_)
        for v in wanted:
            has_all &= np.bincount(block[(edges == v).any(axis=1)], minlength=len(has_all)) > 0
        keep = np.zeros(graph.n, np.bool_)
        keep[edges[has_all[block]]] = True
        left = left.among(keep)
        if np.count_nonzero(keep) == before:
            break
    if not wanted:
        return Restricted(left)
    # A root with few neighbours gives few initial paths.
    root = min(wanted, key=lambda v: (int(left.degrees[v]), v))
    return Restricted(left, root, tuple(v for v in wanted if v != root))


def require_avoidable(graph: Graph, through: Sequence[int], avoid_edges: Sequence[tuple[int, int]]) -> None:
    """Raise OptionError for a pair that is not an edge, and for an edge whose ends are both in `through`."""
    for u, v in avoid_edges:
        if not (0 <= u < graph.n and are_joined(graph, u, v)):
            raise OptionError(f"there is no edge from the vertex {u} to {v} that could be avoided")
        if u != v and u in through and v in through:
            names = f"{graph.names[u]} and {graph.names[v]}"
            raise OptionError(f"{names} are both in through, so the edge between them cannot be avoided")


def restricted_cases(
    graph: Graph,
    through: Sequence[int] = (),
    avoid: Sequence[int] = (),
    avoid_edges: Sequence[tuple[int, int]] = (),
    max_length: int | None = None,
) -> tuple[Restricted, ...]:
    """Split a search that avoids edges into searches, one or more, that avoid vertices only.

    An induced cycle that passes both ends of an edge contains that edge. So the cycles without the edge u, v are those
    that do not pass u, and those that pass u but not v: every wanted cycle belongs to exactly one case. With several
    edges each case is split again, at the vertex with the most remaining edges to avoid. Deleting the edges would be
    wrong: cycles that have such an edge as a chord would count as chordless. Cases in which no cycle can lie are left
    out. An OptionError is raised as by `restricted`, for a pair that is not an edge, for an edge whose ends are both in
    `through`, and for edges that make more than `MOST_CASES` cases.
    """
    require_avoidable(graph, through, avoid_edges)
    # No cycle of three or more vertices passes a vertex with a self-loop.
    avoid_edges = tuple((u, v) for u, v in avoid_edges if u != v)
    if not avoid_edges:
        return (restricted(graph, through, avoid, max_length),)
    found: list[Restricted] = []
    waiting = [(tuple(through), tuple(avoid), avoid_edges)]
    looked_at = 0
    while waiting:
        passed, avoided, edges = waiting.pop()
        edges = tuple(edge for edge in edges if not set(edge) & set(avoided))
        forced = {v for edge in edges for u, v in (edge, edge[::-1]) if u in passed}
        if forced & set(passed):
            continue
        if forced:
            waiting.append((passed, (*avoided, *sorted(forced)), edges))
            continue
        looked_at += 1
        if looked_at > 2 * MOST_CASES:
            raise OptionError(
                f"{len(avoid_edges)} edges are too many to avoid: they make more than {MOST_CASES:,} cases; edges that "
                "share a vertex make fewer"
            )
        left = restricted(graph, passed, avoided, max_length)
        if not left.graph.m:
            continue
        # Edges in no block of the case are avoided anyway.
        edges = tuple((u, v) for u, v in edges if v in left.graph.neighbours(u))
        if not edges:
            found.append(left)
            continue
        ends = [v for edge in edges for v in edge]
        u = max(sorted(set(ends)), key=ends.count)
        waiting.append(((*passed, u), avoided, edges))
        waiting.append((passed, (*avoided, u), edges))
    return tuple(found) or (restricted(graph, avoid=range(graph.n)),)


def _ball(graph: Graph, centre: int, radius: int) -> npt.NDArray[np.bool_]:
    inside = np.zeros(graph.n, np.bool_)
    inside[centre] = True
    border = np.array([centre])
    for _ in range(radius):
        near = graph.col_idx[spans(graph.row_ptr[border], graph.degrees[border])]
        border = np.unique(near[~inside[near]])
        if not len(border):
            break
        inside[border] = True
    return inside


def are_pairs(graph: Graph, names: Iterable[Hashable]) -> bool:
    """Whether all names are pairs that stand for edges: each pair names two vertices, or no pair names one vertex.

    The name of a vertex may be such a pair, too. Not all vertices have such names: the two in a pair are simpler ones.
    """
    vertices, names = set(graph.names), tuple(names)
    twos = [name for name in names if isinstance(name, tuple) and len(name) == 2]
    return len(twos) == len(names) and (all(map(vertices.issuperset, twos)) or vertices.isdisjoint(twos))


def vertices_called(graph: Graph, names: Iterable[Hashable]) -> tuple[int, ...]:
    """Find vertices by name, each given as it is in `Graph.names`; a text is one name.

    An OptionError is raised for a name that no vertex has, or for a single name that is no text instead of a list.
    """
    if isinstance(names, (str, bytes)):
        names = (names,)
    if not _is_list(names):
        raise OptionError(
            f"through and avoid are lists of vertices{'' if names is None else f': [{names!r}]'}, not {names!r}"
        )
    names = tuple(names)
    index = {name: v for v, name in enumerate(graph.names)} if names else {}
    found = []
    for name in names:
        try:
            found.append(index[name])
        except (KeyError, TypeError):  # an unhashable value, such as a list
            raise no_vertex(graph, name) from None
    return tuple(found)


def order_called(graph: Graph, order: Iterable[Hashable] | None) -> list[int] | None:
    """Return the vertices of an order that is given by their names, each once; None without one."""
    if order is None:
        return None
    if not isinstance(order, str) and not _is_list(order):
        raise OptionError(f"order is a list of all vertices, not {order!r}")
    vertices = list(vertices_called(graph, order))
    if sorted(vertices) != list(range(graph.n)):
        missing = len(set(vertices)) < graph.n
        found = f"{len(set(vertices)):,} of them" if missing else f"{len(vertices):,} names"
        raise OptionError(f"order names each of the {graph.n:,} vertices once, but it has {found}")
    return vertices


def edges_called(graph: Graph, edges: Iterable[tuple[Hashable, Hashable]]) -> tuple[tuple[int, int], ...]:
    """Find edges by the names of their ends, each given as it is in `Graph.names`.

    An OptionError is raised for an unknown name, for an item that is not a pair, and for two vertices that are not
    adjacent.
    """
    if not _is_list(edges):
        raise OptionError(f"avoid_edges is a list of pairs of vertices, not {edges!r}")
    named: list[Hashable] = []
    for edge in edges:
        if not _is_list(edge) or len(pair := tuple(edge)) != 2:
            raise OptionError(f"avoid_edges is a list of pairs of vertices; {edge!r} is not a pair")
        named += pair
    ends = vertices_called(graph, named)
    found = tuple(zip(ends[::2], ends[1::2], strict=True))
    for u, v in found:
        if not are_joined(graph, u, v):
            raise no_edge(graph, u, v)
    return found


def are_joined(graph: Graph, u: int, v: int) -> bool:
    """Whether an edge joins two vertices, in a directed graph an arc from u to v, or a self-loop a vertex to itself."""
    return graph.loops is not None and bool(graph.loops[u]) if u == v else graph.has_edge(u, v)


def no_edge(graph: Graph, u: int, v: int) -> OptionError:
    """Return the error for two vertices without an edge, or without an arc in this direction."""
    if graph.directed:
        return OptionError(f"there is no arc {graph.names[u]} -> {graph.names[v]} in the graph")
    return OptionError(f"there is no edge {graph.names[u]} - {graph.names[v]} in the graph")


def _is_list(value: object) -> bool:
    """Whether a value has items; a text has none of its own, and neither has a numpy array without dimensions."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) != 0


def no_vertex(graph: Graph, name: Hashable) -> OptionError:
    """Return the error for a name that no vertex has."""
    if not graph.n:
        return OptionError(f"there is no vertex {name!r}: the graph has none")
    if graph.vertex_names is None:
        is_number = isinstance(name, str) and bool(_NUMBER.fullmatch(name)) and int(name) < graph.n
        hint = f"; {name} without quotation marks is one" if is_number else ""
        return OptionError(f"there is no vertex {name!r}: the graph has the vertices 0 to {graph.n - 1}{hint}")
    return OptionError(f"there is no vertex {name!r} in the graph (its first is called {graph.names[0]!r})")
