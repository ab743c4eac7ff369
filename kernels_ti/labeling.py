"""Degree labelling: the order in which the vertices of least degree are taken out of the graph."""

from __future__ import annotations

import numpy as np

from kernels_ti.graph import Graph, IntArray

_CHUNK_BITS = 10  # a bucket is a set of sets of 1,024 vertices, so that finding its lowest looks at two short integers


class _Bucket:
    """The vertices of one degree, lowest index first.

    A two-level bit set: `chunks` holds the members 1,024 to an integer, `occupied` says which chunks have
    any. Both integers stay short for every n in reach, so each operation takes constant time.
    """

    __slots__ = ("chunks", "occupied")

    def __init__(self) -> None:
        self.occupied = 0
        self.chunks: dict[int, int] = {}

    def add(self, v: int) -> None:
        chunk = v >> _CHUNK_BITS
        self.chunks[chunk] = self.chunks.get(chunk, 0) | 1 << (v & (1 << _CHUNK_BITS) - 1)
        self.occupied |= 1 << chunk

    def remove(self, v: int) -> None:
        chunk = v >> _CHUNK_BITS
        left = self.chunks[chunk] & ~(1 << (v & (1 << _CHUNK_BITS) - 1))
        self.chunks[chunk] = left
        if not left:
            self.occupied &= ~(1 << chunk)

    def lowest(self) -> int:
        chunk = (self.occupied & -self.occupied).bit_length() - 1
        members = self.chunks[chunk]
        return chunk << _CHUNK_BITS | (members & -members).bit_length() - 1


def degree_labelling(graph: Graph) -> IntArray:
    """Label the vertices in the order in which they have the least remaining degree.

    Repeatedly takes a vertex of least degree, the lowest index among equals, out of the graph. The result
    is a degeneracy ordering. A bucket queue makes it linear in n + m.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    ndarray of int64, shape (n,)
        The label of each vertex: 0 for the vertex that was taken out first.

    References
    ----------
    Dias, Castonguay, Longo, Jradi 2014, *Efficient enumeration of chordless cycles*, degree labelling.
    """
    degree = graph.degrees.tolist()
    row_ptr = graph.row_ptr.tolist()
    col_idx = graph.col_idx.tolist()
    labels = [-1] * graph.n
    buckets = [_Bucket() for _ in range(graph.max_degree + 1)]
    for v, d in enumerate(degree):
        buckets[d].add(v)
    least = 0
    for label in range(graph.n):
        while not buckets[least].occupied:
            least += 1
        v = buckets[least].lowest()
        buckets[least].remove(v)
        labels[v] = label
        for u in col_idx[row_ptr[v] : row_ptr[v + 1]]:
            if labels[u] < 0:
                d = degree[u]
                buckets[d].remove(u)
                buckets[d - 1].add(u)
                degree[u] = d - 1
        least = max(least - 1, 0)
    return np.array(labels, np.int64)


def relabelled(graph: Graph, labels: IntArray) -> tuple[Graph, IntArray]:
    """Rename the vertices of `graph` to their labels.

    Parameters
    ----------
    graph : Graph
    labels : ndarray of int64, shape (n,)
        A permutation of 0 .. n - 1.

    Returns
    -------
    graph : Graph
        Without names: vertex l is the vertex that was labelled l.
    vertex_of : ndarray of int64, shape (n,)
        The vertex that each label stands for.
    """
    vertex_of = np.argsort(labels)
    edges = labels[graph.edges()]
    return Graph.from_edge_array(edges.reshape(-1, 2), n=graph.n), vertex_of
