"""Test whether a graph is chordal, with a certificate for either answer, in O(n + m) time."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels_ti.conversion import as_graph
from kernels_ti.cycles import canonical
from kernels_ti.errors import SIMPLIFY, EngineError, GraphError
from kernels_ti.graph import Graph, IntArray


@dataclass(frozen=True)
class Chordality:
    """The answer of `is_chordal`. Its truth value says whether the graph is chordal.

    Attributes
    ----------
    chordal : bool
        Whether no chordless cycle has 4 or more vertices.
    elimination_ordering : tuple of hashable, or None
        For a chordal graph, the names of its vertices in an order in which the later neighbours of each vertex are
        adjacent to one another: a perfect elimination ordering, which only a chordal graph has.
    hole : tuple of hashable, or None
        For a graph that is not chordal, the names of the vertices of a chordless cycle of 4 or more, in the order of
        `enumerate_cycles`: from the vertex with the smallest index to its neighbour with the smaller index.
    """

    chordal: bool
    elimination_ordering: tuple[Hashable, ...] | None
    hole: tuple[Hashable, ...] | None

    def __bool__(self) -> bool:
        return self.chordal


def is_chordal(graph: Any, *, simplify: bool = False) -> Chordality:
    """Say whether a graph is chordal: whether none of its chordless cycles has 4 or more vertices.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        Simple and undirected; see `as_graph` for what is understood.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.

    Returns
    -------
    Chordality
        The answer and its certificate.

    Raises
    ------
    GraphError
        If the graph is not simple and undirected.
    EngineError
        If the hole that was found is not a chordless cycle. Every hole is checked before it is returned.

    Notes
    -----
    Maximum cardinality search: the next vertex is always one with the most visited neighbours. The graph is
    chordal if and only if the earlier neighbours of every vertex are a clique. The first vertex whose earlier
    neighbours are not a clique closes a hole: the graph before it is chordal, so a path that avoids its other
    neighbours joins two of them that are not adjacent. No device is used.

    References
    ----------
    Tarjan, Yannakakis, *Simple linear-time algorithms to test chordality of graphs, test acyclicity of hypergraphs,
    and selectively reduce acyclic hypergraphs*, SIAM Journal on Computing 13 (1984).

    Examples
    --------
    >>> import networkx
    >>> from chordless import is_chordal
    >>> is_chordal(networkx.cycle_graph(5)).hole
    (0, 1, 2, 3, 4)
    >>> is_chordal(networkx.path_graph(3)).elimination_ordering
    (2, 1, 0)
    """
    graph = as_graph(graph, simplify=simplify)
    require_simple(graph, "chordality")
    order, closing = _search(graph)
    names = graph.names
    if closing is None:
        return Chordality(True, tuple(names[v] for v in reversed(order)), None)
    hole = _hole(graph, order, closing)
    members = set(hole)
    if len(hole) < 4 or any(len(members.intersection(graph.neighbours(v).tolist())) != 2 for v in hole):
        raise EngineError(f"internal error: the cycle found, {hole}, is not chordless")
    return Chordality(False, None, tuple(names[v] for v in hole))


def require_simple(graph: Graph, name: str) -> None:
    """Raise a GraphError unless a graph is simple and undirected, as the property of this name demands."""
    if not graph.is_simple:
        raise GraphError(
            f"{name} is a property of simple undirected graphs, and this graph "
            f"{'is directed' if graph.directed else 'has self-loops or parallel edges'} ({SIMPLIFY} makes it simple)"
        )


def _search(graph: Graph) -> tuple[list[int], int | None]:
    """Visit the vertices by maximum cardinality search: next is always one with the most visited neighbours.

    Returns the vertices visited, in order, and the first vertex whose visited neighbours are not a clique, which ends
    the search, or None.
    """
    row_ptr, col_idx = graph.row_ptr.tolist(), graph.col_idx.tolist()
    visited_at = [-1] * graph.n
    weight = [0] * graph.n
    # Stack w has the vertices with w visited neighbours. Outdated entries stay there and are skipped.
    stacks = [list(range(graph.n - 1, -1, -1))]
    order: list[int] = []
    while stacks:
        if not stacks[-1]:
            stacks.pop()
            continue
        v = stacks[-1].pop()
        if visited_at[v] >= 0 or weight[v] != len(stacks) - 1:
            continue
        parent, latest = -1, -1
        earlier = []
        for u in col_idx[row_ptr[v] : row_ptr[v + 1]]:
            at = visited_at[u]
            if at >= 0:
                earlier.append(u)
                if at > latest:
                    parent, latest = u, at
            else:
                weight[u] += 1
                if weight[u] == len(stacks):
                    stacks.append([])
                stacks[weight[u]].append(u)
        visited_at[v] = len(order)
        order.append(v)
        # The earlier neighbours of the latest one are a clique. So it is enough that the others are among them.
        end = row_ptr[parent + 1]
        for u in earlier:
            if u != parent:
                place = bisect_left(col_idx, u, row_ptr[parent], end)
                if place == end or col_idx[place] != u:
                    return order, v
    return order, None


def _hole(graph: Graph, order: list[int], closing: int) -> list[int]:
    """Return a hole through the last vertex visited, given that the graph of those before it is chordal.

    Remove the closing vertex and its neighbours from the visited vertices. Some component of the rest touches two of
    these neighbours that are not adjacent. A shortest path between them through this component closes the hole.
    """
    visited_at = np.full(graph.n, -1)
    visited_at[order] = np.arange(len(order))
    inside = bytearray((visited_at >= 0).view(np.uint8).tobytes())
    inside[closing] = 0
    for u in graph.neighbours(closing).tolist():
        inside[u] = 0
    left = bytearray(inside)
    around = [u for u in graph.neighbours(closing).tolist() if visited_at[u] >= 0]
    for near in around:
        for start in graph.neighbours(near).tolist():
            if left[start]:
                ends = _two_apart(graph, visited_at, _touched(graph, start, left, set(around)))
                if ends is not None:
                    return canonical([closing, *_shortest_path(graph, *ends, inside)])
    raise AssertionError("maximum cardinality search: no hole through the vertex that closes one")


def _touched(graph: Graph, start: int, left: bytearray, around: set[int]) -> set[int]:
    """Remove the component of `start` from `left`; return the vertices of `around` that it touches."""
    left[start] = 0
    waiting, touched = [start], set()
    while waiting:
        for u in graph.neighbours(waiting.pop()).tolist():
            if left[u]:
                left[u] = 0
                waiting.append(u)
            elif u in around:
                touched.add(u)
    return touched


def _two_apart(graph: Graph, visited_at: IntArray, among: set[int]) -> tuple[int, int] | None:
    """Return two vertices of `among` that are not adjacent; None if all are adjacent.

    The earlier neighbours of each of them are a clique, so only those of the latest one must be checked.
    """
    latest = max(among, key=lambda u: int(visited_at[u]))
    apart = among - {latest} - set(graph.neighbours(latest).tolist())
    return (latest, min(apart)) if apart else None


def _shortest_path(graph: Graph, start: int, end: int, inside: bytearray) -> list[int]:
    """Return a shortest path through marked vertices; being shortest, it has no chord."""
    before, waiting = {start: start}, deque([start])
    while end not in before:
        assert waiting, "the two vertices touch one component"
        v = waiting.popleft()
        for u in graph.neighbours(v).tolist():
            if u not in before and (inside[u] or u == end):
                before[u] = v
                waiting.append(u)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path
