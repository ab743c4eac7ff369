"""Degree labelling and biconnected components of large graphs: whole sets of vertices at a time, in numpy.

The results are the same on every run. The paper names parallel degree labelling as future work.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import distinct, for_entries, row_pieces
from kernels_ti.graph import Graph, IntArray

Numbers = npt.NDArray[Any]  # An array of int32 or int64

LARGE = 200_000
"""Edges of a graph from which this is worthwhile. Another number gives other labels, which states saved before do not
fit."""

VERTICES_PER_ROUND = 50
"""Vertices for each round of a loop over sets; a graph that needs more rounds is faster in another way."""

FIRST_SHARE = 20  # The first rounds may have fewer: all vertices divided by this would make up for them


@dataclass(frozen=True, eq=False)
class _Adjacency:
    """The CSR arrays of a graph in 32 bits, which take half the memory; in 64 bits if there are too many entries."""

    begin: Numbers
    degree: Numbers
    neighbour: Numbers

    @classmethod
    def of(cls, graph: Graph) -> _Adjacency:
        number = np.int32 if max(len(graph.col_idx), 3 * graph.n) < 1 << 31 else np.int64
        return cls(*(array.astype(number) for array in (graph.row_ptr[:-1], np.diff(graph.row_ptr), graph.col_idx)))

    @property
    def vertices(self) -> Numbers:
        return np.arange(len(self.begin), dtype=self.begin.dtype)

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


def labelling_in_bulk(graph: Graph) -> IntArray:
    """Label the vertices by bulk peeling, shape (n,).

    Each round removes all vertices that have at most k neighbours left. Where there is none, k becomes the least
    remaining degree. So each vertex has at most k later neighbours, and the result is a degeneracy ordering. If that
    takes too many rounds, the vertices are removed one by one, in another such ordering.
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
        if rounds * VERTICES_PER_ROUND > done + len(peeled) + graph.n // FIRST_SHARE:
            del adjacency, degree, left, labels
            return _labelling_one_by_one(graph)
        labels[peeled] = np.arange(done, done + len(peeled))
        done += len(peeled)
        left[peeled] = False
        near = adjacency.near(peeled)
        near = near[left[near]]
        np.subtract.at(degree, near, 1)
        peeled = distinct(near[degree[near] <= most])
    return labels


def _labelling_one_by_one(graph: Graph) -> IntArray:
    """Label the vertices as `labelling_in_bulk`, but one by one in typed arrays: of equal ones the last comes first."""
    degrees, labels = np.diff(graph.row_ptr), np.full(graph.n, -1)
    row_ptr, col_idx, degree, label_of = graph.row_ptr.data, graph.col_idx.data, degrees.data, labels.data
    done = most = 0
    while done < graph.n:
        left = labels < 0
        most = max(most, int(degrees[left].min()))
        waiting = array("q", np.flatnonzero(left & (degrees <= most)).tobytes())
        while waiting:
            v = waiting.pop()
            label_of[v] = done
            done += 1
            for at in range(row_ptr[v], row_ptr[v + 1]):
                u = col_idx[at]
                if label_of[u] < 0:
                    degree[u] -= 1
                    if degree[u] == most:
                        waiting.append(u)
    return labels


def tree_edges_in_bulk(graph: Graph) -> tuple[Numbers, Numbers]:
    """Find the biconnected components of the edges of a spanning forest (Tarjan and Vishkin 1985).

    The forest is made breadth first if that takes few rounds.
    Returns a number for each vertex, greater than that of its parent, and the component of the edge to the parent: -1
    for a bridge, and for a root.
    """
    tree = _spanning(graph)
    parent, preorder, end = tree.parent, tree.preorder, tree.preorder + tree.size
    least, greatest = _reach(graph, tree)
    del tree
    above = np.maximum(parent, 0)
    leaves = (least < preorder[above]) | (greatest >= end[above])
    child = np.flatnonzero((parent >= 0) & (parent[above] >= 0) & leaves).astype(parent.dtype)
    del above, leaves, least, greatest
    joined = [(child, parent[child])]
    for u, v in graph.pairs_in_pieces():
        # Edges of which no end is an ancestor of the other.
        first, second = preorder[u], preorder[v]
        apart = np.maximum(first, second) >= np.where(first < second, end[u], end[v])
        joined.append((u[apart].astype(parent.dtype), v[apart].astype(parent.dtype)))
    u, v = (np.concatenate(ends) for ends in zip(*joined, strict=True))
    del joined
    edge_class = _joined(graph.n, u, v)
    # A class of one tree edge is a bridge.
    is_component = np.bincount(edge_class, minlength=graph.n) > 1
    number = np.where(is_component, np.cumsum(is_component) - 1, -1)
    return preorder, number.astype(preorder.dtype)[edge_class]


def _spanning(graph: Graph) -> _Tree:
    adjacency = _Adjacency.of(graph)
    u, v = adjacency.pairs()
    roots = np.flatnonzero(_joined(graph.n, u, v) == adjacency.vertices).astype(u.dtype)
    tree = _breadth_first(adjacency, roots)
    if tree is not None:
        return tree
    del adjacency  # of large graphs the memory counts
    u, v = _forest(graph.n, u, v)
    return _Tree.toured(roots, u, v)


def _joined(n: int, u: Numbers, v: Numbers) -> Numbers:
    """Return for each of n items the least item of its class, where u[i] and v[i] are of one class."""
    least = np.arange(n, dtype=u.dtype)
    while len(u):
        np.minimum.at(least, np.maximum(u, v), np.minimum(u, v))
        u, v, _ = _still_apart(least, u, v)
    return least


def _forest(n: int, u: Numbers, v: Numbers) -> tuple[Numbers, Numbers]:
    """Return those of the edges u, v of a graph that span it without a cycle."""
    least = np.arange(n, dtype=u.dtype)
    place = np.empty(n, u.dtype)
    ends, edge, chosen = (u, v), np.arange(len(u), dtype=u.dtype), [np.empty(0, u.dtype)]
    while len(u):
        above, below = np.maximum(u, v), np.minimum(u, v)
        np.minimum.at(least, above, below)
        joins = np.flatnonzero(least[above] == below).astype(u.dtype)
        above = above[joins]
        # Of several edges that join the same two classes the last one counts.
        place[above] = joins
        chosen.append(edge[joins[place[above] == joins]])
        del above, below, joins
        u, v, apart = _still_apart(least, u, v)
        edge = edge[apart]
    found = np.concatenate(chosen)
    return ends[0][found], ends[1][found]


def _still_apart(least: Numbers, u: Numbers, v: Numbers) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_]]:
    """Lead items to the least of their classes, in place; return pairs of classes still to be joined, and which."""
    while not np.array_equal(further := least[least], least):
        least[:] = further
    u, v = least[u], least[v]
    apart = u != v
    return u[apart], v[apart], apart


@dataclass(frozen=True, eq=False)
class _Tree:
    """A forest that spans a graph: arrays of shape (n,)."""

    parent: Numbers  # -1 for a root
    preorder: Numbers  # The descendants of a vertex follow it
    size: Numbers  # Number of descendants, itself among them

    @classmethod
    def of_levels(cls, parent: Numbers, roots: Numbers, levels: list[Numbers]) -> _Tree:
        size = np.ones_like(parent)
        for level in reversed(levels[1:]):
            np.add.at(size, parent[level], size[level])
        preorder = np.empty_like(parent)
        preorder[roots] = np.cumsum(size[roots]) - size[roots]
        for level in levels[1:]:
            # The children of a vertex follow one another in their level.
            above, before = parent[level], np.cumsum(size[level]) - size[level]
            first = np.append(True, above[1:] != above[:-1])
            sibling = np.maximum.accumulate(np.where(first, np.arange(len(level)), 0))
            preorder[level] = preorder[above] + 1 + before - before[sibling]
        return cls(parent, preorder, size)

    @classmethod
    def toured(cls, roots: Numbers, u: Numbers, v: Numbers) -> _Tree:
        """Direct the edges u, v of a forest away from its roots, by a tour that passes each edge once in both ways.

        The rounds are as many as the length of the tour has binary digits, whatever the depth of the forest is.
        """
        n = len(roots) + len(u)
        # One more vertex, n, is above all roots. Arc i + n is arc i backwards.
        tail = np.concatenate((u, roots, v, np.full_like(roots, n)))
        order = np.argsort(tail, kind="stable").astype(tail.dtype)
        tail = tail[order]
        place = np.empty_like(order)
        place[order] = np.arange(2 * n, dtype=order.dtype)
        back = place[(order + n) % (2 * n)]
        del order, place
        # After an arc comes the next one of its head's row, seen from the arc backwards; after the last the first.
        is_last = np.append(tail[1:] != tail[:-1], True)
        begin = np.append(0, np.flatnonzero(is_last) + 1)[:-1].astype(tail.dtype)
        after = np.arange(1, 2 * n + 1, dtype=tail.dtype)
        after[is_last] = begin
        following = after[back]
        del after, begin, is_last
        end = back[-1]  # where the tour that begins with the last vertex's row would begin again
        following[end] = end
        left = np.ones(2 * n, tail.dtype)  # arcs that follow, on the way that is known
        left[end] = 0
        for _ in range((2 * n).bit_length()):
            left += left[following]
            following = following[following]
        del following
        passed_back = left[back]
        down = left > passed_back
        head = tail[back[down]]
        parent, preorder, size = (np.empty(n, tail.dtype) for _ in range(3))
        parent[head] = tail[down]
        parent[roots] = -1
        size[head] = (left[down] - passed_back[down] + 1) // 2
        is_down = np.zeros(2 * n, np.bool_)
        at = 2 * n - 1 - left[down]
        is_down[at] = True
        preorder[head] = (np.cumsum(is_down, dtype=tail.dtype) - 1)[at]
        return cls(parent, preorder, size)

    def over_subtrees(self, ufunc: np.ufunc, values: Numbers) -> Numbers:
        """Return for each vertex the minimum or maximum of the values of its descendants."""
        found, table = np.empty_like(values), np.empty_like(values)
        table[self.preorder] = values
        digits = np.frexp(self.size)[1]
        # An entry of the table is for a range of `width` numbers, and two ranges cover that of a subtree.
        for digit in range(1, int(digits.max(initial=0)) + 1):
            width = 1 << (digit - 1)
            some = np.flatnonzero(digits == digit)
            first = self.preorder[some]
            found[some] = ufunc(table[first], table[first + self.size[some] - width])
            table = ufunc(table[:-width], table[width:])
        return found


def _breadth_first(adjacency: _Adjacency, roots: Numbers) -> _Tree | None:
    """Return a forest made breadth first; None for too many levels."""
    n = len(adjacency.begin)
    parent = np.full(n, -1, adjacency.neighbour.dtype)
    seen: npt.NDArray[np.bool_] = np.zeros(n, np.bool_)
    place = np.empty(n, adjacency.neighbour.dtype)
    level, levels, done = roots, [], 0
    while len(level):
        levels.append(level)
        done += len(level)
        if len(levels) * VERTICES_PER_ROUND > done + n // FIRST_SHARE:
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
    del seen, place
    return _Tree.of_levels(parent, roots, levels)


def _reach(graph: Graph, tree: _Tree) -> tuple[Numbers, Numbers]:
    """Return the least and greatest preorder number of each subtree and its neighbours, without its root's parent."""
    least, greatest = tree.preorder.copy(), tree.preorder.copy()
    for vertices, entries in row_pieces(graph.row_ptr):
        near = graph.col_idx[entries]
        row = for_entries(np.arange(vertices.start, vertices.stop), graph.row_ptr, vertices)
        number = tree.preorder[near]
        to_parent = np.flatnonzero(near == tree.parent[row])
        number[to_parent] = tree.preorder[row[to_parent]]
        begin, end = graph.row_ptr[vertices], graph.row_ptr[vertices.start + 1 : vertices.stop + 1]
        some = begin < end
        for values, ufunc in ((least[vertices], np.minimum), (greatest[vertices], np.maximum)):
            values[some] = ufunc(values[some], ufunc.reduceat(number, begin[some] - entries.start))
    return tree.over_subtrees(np.minimum, least), tree.over_subtrees(np.maximum, greatest)
