"""The order of the vertices of an interval graph along one line, if there is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels_ti import Graph, is_chordal
from kernels_ti.graph import IntArray

BoolMatrix = NDArray[np.bool_]


@dataclass(frozen=True)
class Stretch:
    """The interval of a vertex: two vertices are joined if and only if their intervals have a place in common."""

    vertex: int
    first: int  # The first place on the line, counted from 1
    last: int  # The last place; it belongs to the interval


def interval_order(graph: Graph) -> tuple[Stretch, ...] | None:
    """Lay the vertices of a graph along a line, so that those that are joined overlap, and no others.

    Each place of the line is a maximal clique. The places are ordered by a transitive orientation of the complement
    (Gilmore and Hoffman 1964). Meant for at most some hundred vertices. A vertex without a neighbour fits anywhere
    between the others, so it is left out.

    Parameters
    ----------
    graph : Graph
        A simple undirected graph.

    Returns
    -------
    tuple of Stretch or None
        Sorted by place. None if this is not an interval graph.
    """
    chordality = is_chordal(graph)
    if chordality.elimination_ordering is None:
        return None
    edges = graph.edges()
    named = np.unique(edges)
    if not len(named):
        return ()
    u, v = np.searchsorted(named, edges).T
    joined = np.eye(len(named), dtype=bool)
    joined[u, v] = joined[v, u] = True
    before = _transitive_orientation(~joined)
    if before is None:
        return None
    index = {name: v for v, name in enumerate(graph.names)}
    ordering = np.array([index[name] for name in chordality.elimination_ordering], np.int64)
    cliques = _maximal_cliques(joined, np.searchsorted(named, ordering[np.isin(ordering, named)]))
    # A clique comes before another one if any of its vertices does.
    precedes = (cliques.astype(np.float32) @ before @ cliques.T) > 0
    cliques = cliques[np.argsort(precedes.sum(0), kind="stable")]
    stretches = []
    for vertex, places in zip(named.tolist(), cliques.T, strict=True):
        held = np.flatnonzero(places)
        if held[-1] - held[0] + 1 != len(held):
            return None
        stretches.append(Stretch(vertex, int(held[0]) + 1, int(held[-1]) + 1))
    return tuple(sorted(stretches, key=lambda one: (one.first, one.last, one.vertex)))


def _maximal_cliques(joined: BoolMatrix, ordering: IntArray) -> BoolMatrix:
    """Return a row for each maximal clique of a chordal graph, from a perfect elimination ordering of its vertices.

    A vertex and its neighbours after it are a clique. It is maximal unless some vertex, of which this one is the first
    neighbour after it, has as many neighbours after it as the clique has vertices (Fulkerson and Gross 1965).
    """
    place = np.empty(len(ordering), np.int64)
    place[ordering] = np.arange(len(ordering))
    after = joined & (place[None, :] > place[:, None])
    size = after.sum(1)
    has_parent = np.flatnonzero(size)
    parent = ordering[np.where(after[has_parent], place[None, :], len(ordering)).min(1)]
    contained = np.zeros(len(ordering), bool)
    contained[parent[size[has_parent] == size[parent] + 1]] = True
    return (after | np.eye(len(ordering), dtype=bool))[~contained]


def _transitive_orientation(edges: BoolMatrix) -> BoolMatrix | None:
    """Orient a graph so that a before b and b before c mean a before c; None if that is impossible.

    An arc forces the direction of the edges that share one end with it and whose other ends are not joined. Such a
    class is oriented at once and taken out, then the next one (Golumbic 1980, *Algorithmic Graph Theory and Perfect
    Graphs*, section 5.6).
    """
    left, before = edges.copy(), np.zeros_like(edges)
    for a, b in np.argwhere(np.triu(edges)).tolist():
        if not left[a, b]:
            continue
        before[a, b] = True
        arcs = [(a, b)]
        # The list grows while it is gone through.
        for x, y in arcs:
            if before[y, x]:
                return None
            heads = np.flatnonzero(left[x] & ~left[y] & ~before[x])
            before[x, heads] = True
            tails = np.flatnonzero(left[y] & ~left[x] & ~before[:, y])
            before[tails, y] = True
            arcs += [(x, head) for head in heads.tolist()]
            arcs += [(tail, y) for tail in tails.tolist()]
        from_, to = np.array(arcs).T
        left[from_, to] = left[to, from_] = False
    return before
