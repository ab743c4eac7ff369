"""Degree labelling and biconnected components of large graphs: whole sets of vertices at a time, in numpy.

The results are the same on every run. The paper names parallel degree labelling as future work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import distinct, row_pieces
from kernels_ti.graph import Graph, IntArray

Numbers = npt.NDArray[Any]
"""An array of int32 or int64."""

LARGE = 200_000
"""Edges of a graph from which this is worthwhile. Another number gives other labels, which states saved before do not
fit."""

VERTICES_PER_ROUND = 50
"""Vertices of a graph for each round of a loop over sets; a graph that needs more rounds is faster one by one."""


@dataclass(frozen=True, eq=False)
class _Adjacency:
    """The CSR arrays of a graph in 32 bits, which take half the memory; in 64 bits if there are too many entries."""

    begin: Numbers
    degree: Numbers
    neighbour: Numbers

    @classmethod
    def of(cls, graph: Graph) -> _Adjacency:
        number = np.int32 if len(graph.col_idx) < 1 << 31 else np.int64
        return cls(*(array.astype(number) for array in (graph.row_ptr[:-1], np.diff(graph.row_ptr), graph.col_idx)))

    @property
    def vertices(self) -> Numbers:
        """All vertices."""
        return np.arange(len(self.begin), dtype=self.begin.dtype)

    def pieces(self) -> Iterator[tuple[slice, slice]]:
        """Yield consecutive vertices and their entries, so many that temporary arrays stay in the cache."""
        return row_pieces(np.append(self.begin, self.begin.dtype.type(len(self.neighbour))))

    def pairs(self) -> tuple[Numbers, Numbers]:
        """Return both ends of every edge, the lesser first."""
        row = np.repeat(self.vertices, self.degree)
        upward = row < self.neighbour
        return row[upward], self.neighbour[upward]

    def near(self, vertices: Numbers) -> Numbers:
        """Return the neighbours of some vertices, one vertex after another."""
        count = self.degree[vertices]
        entries = np.repeat(self.begin[vertices] - (np.cumsum(count, dtype=count.dtype) - count), count)
        entries += np.arange(len(entries), dtype=count.dtype)
        found: Numbers = self.neighbour[entries]
        return found


def labelling_in_bulk(graph: Graph) -> IntArray | None:
    """Label the vertices by bulk peeling, shape (n,); None if too many rounds would be needed.

    Each round removes all vertices that have at most k neighbours left. Where there is none, k becomes the least
    remaining degree. So each vertex has at most k later neighbours, and the result is a degeneracy ordering.
    """
    adjacency = _Adjacency.of(graph)
    degree = adjacency.degree.copy()
    left = np.ones(graph.n, np.bool_)
    labels = np.empty(graph.n, np.int64)
    done = rounds = most = 0
    peeled: Numbers = np.empty(0, np.int64)
    while done < graph.n:
        if not len(peeled):
            most = max(most, int(degree[left].min()))
            peeled = np.flatnonzero(left & (degree <= most))
        rounds += 1
        if rounds > graph.n // VERTICES_PER_ROUND:
            return None
        labels[peeled] = np.arange(done, done + len(peeled))
        done += len(peeled)
        left[peeled] = False
        near = adjacency.near(peeled)
        near = near[left[near]]
        np.subtract.at(degree, near, 1)
        peeled = distinct(near[degree[near] <= most])
    return labels


def tree_edges_in_bulk(graph: Graph) -> tuple[Numbers, Numbers] | None:
    """Find the biconnected components of the edges of a spanning forest (Tarjan and Vishkin 1985).

    The forest is made breadth first, so every other edge joins two vertices of which none is an ancestor of the other.
    Returns a number for each vertex, greater than that of its parent, and the component of the edge to the parent: -1
    for a bridge, and for a root. None if too many rounds would be needed.
    """
    adjacency = _Adjacency.of(graph)
    u, v = adjacency.pairs()
    roots = np.flatnonzero(_joined(graph.n, u, v) == adjacency.vertices).astype(u.dtype)
    found = _breadth_first(adjacency, roots)
    if found is None:
        return None
    parent, levels = found
    size = np.ones(graph.n, parent.dtype)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    preorder = np.empty(graph.n, parent.dtype)
    preorder[roots] = np.cumsum(size[roots]) - size[roots]
    for level in levels[1:]:
        # The children of a vertex follow one another in their level.
        above, before = parent[level], np.cumsum(size[level]) - size[level]
        first = np.append(True, above[1:] != above[:-1])
        sibling = np.maximum.accumulate(np.where(first, np.arange(len(level)), 0))
        preorder[level] = preorder[above] + 1 + before - before[sibling]
    least, greatest = _reach(adjacency, parent, levels, preorder)
    del adjacency, levels
    is_tree = (parent[u] == v) | (parent[v] == u)
    above = np.maximum(parent, 0)
    leaves = (least < preorder[above]) | (greatest >= preorder[above] + size[above])
    child = np.flatnonzero((parent >= 0) & (parent[above] >= 0) & leaves).astype(u.dtype)
    del above, leaves, least, greatest, size
    u, v = np.concatenate((u[~is_tree], child)), np.concatenate((v[~is_tree], parent[child]))
    edge_class = _joined(graph.n, u, v)
    # A class of one tree edge is a bridge.
    is_component = np.bincount(edge_class, minlength=graph.n) > 1
    number = np.where(is_component, np.cumsum(is_component) - 1, -1)
    return preorder, number.astype(preorder.dtype)[edge_class]


def _joined(n: int, u: Numbers, v: Numbers) -> Numbers:
    """Return for each of n items the least item of its class, where u[i] and v[i] are of one class."""
    least = np.arange(n, dtype=u.dtype)
    while len(u):
        np.minimum.at(least, np.maximum(u, v), np.minimum(u, v))
        while not np.array_equal(further := least[least], least):
            least = further
        u, v = least[u], least[v]
        apart = u != v
        u, v = u[apart], v[apart]
    return least


def _breadth_first(adjacency: _Adjacency, roots: Numbers) -> tuple[Numbers, list[Numbers]] | None:
    """Return the parent of each vertex, -1 for a root, and the vertices of each level; None for too many levels."""
    n = len(adjacency.begin)
    parent = np.full(n, -1, adjacency.neighbour.dtype)
    seen: npt.NDArray[np.bool_] = np.zeros(n, np.bool_)
    place = np.empty(n, adjacency.neighbour.dtype)
    level, levels = roots, []
    while len(level):
        levels.append(level)
        if len(levels) > n // VERTICES_PER_ROUND:
            return None
        seen[level] = True
        near = adjacency.near(level)
        above = np.repeat(level, adjacency.degree[level])
        new = ~seen[near]
        near, above = near[new], above[new]
        # Of several entries for a vertex the last one counts.
        order = np.arange(len(near), dtype=place.dtype)
        place[near] = order
        last = place[near] == order
        level = near[last]
        parent[level] = above[last]
    return parent, levels


def _reach(adjacency: _Adjacency, parent: Numbers, levels: list[Numbers], preorder: Numbers) -> tuple[Numbers, Numbers]:
    """Return the least and greatest preorder number of each subtree and its neighbours, without its root's parent."""
    least, greatest = preorder.copy(), preorder.copy()
    for vertices, entries in adjacency.pieces():
        degree, near = adjacency.degree[vertices], adjacency.neighbour[entries]
        row = np.repeat(adjacency.vertices[vertices], degree)
        number = preorder[near]
        to_parent = np.flatnonzero(near == parent[row])
        number[to_parent] = preorder[row[to_parent]]
        some = degree > 0
        begin = adjacency.begin[vertices][some] - entries.start
        for values, ufunc in ((least[vertices], np.minimum), (greatest[vertices], np.maximum)):
            values[some] = ufunc(values[some], ufunc.reduceat(number, begin))
    for level in reversed(levels[1:]):
        np.minimum.at(least, parent[level], least[level])
        np.maximum.at(greatest, parent[level], greatest[level])
    return least, greatest
