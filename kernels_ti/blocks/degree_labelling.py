"""Degree labelling: the order in which vertices of least remaining degree are removed from the graph."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from kernels_ti.blocks.bulk import LARGE, labelling_in_bulk
from kernels_ti.graph import Graph, IntArray

FEW_EDGES, DENSE = 10_000, 100
"""A graph with more edges than the first, and fewer pairs of vertices than the second times its edges, counts as dense
and is labelled by whole rows."""


def degree_labelling(graph: Graph) -> IntArray:
    """Return the label of each vertex, 0 first, in the order in which they have the least remaining degree.

    This is Algorithm 2 of Jradi et al. (after Dias, Castonguay, Longo and Jradi 2014). It repeatedly removes a vertex
    of least degree from the graph; among equals the vertex with the lowest index. The result is a degeneracy ordering.
    A large graph gets another one, see `kernels_ti.blocks.bulk`.
    """
    if graph.m > FEW_EDGES and graph.n**2 < DENSE * graph.m:
        return _labelling_of_dense(graph)
    if graph.m >= LARGE:
        return labelling_in_bulk(graph)
    degree = graph.degrees.tolist()
    row_ptr = graph.row_ptr.tolist()
    col_idx = graph.col_idx.tolist()
    by_degree = np.argsort(graph.degrees, kind="stable")
    # One heap for each degree. A vertex stays in the heaps of its former degrees and is skipped there.
    ends = np.cumsum(np.bincount(graph.degrees, minlength=1))
    heaps = [vertices.tolist() for vertices in np.split(by_degree, ends[:-1])]
    labels = [-1] * graph.n
    least = label = 0
    while label < graph.n:
        if not heaps[least]:
            least += 1
            continue
        v = heappop(heaps[least])
        if degree[v] != least:
            continue
        degree[v] = -1
        labels[v] = label
        label += 1
        for u in col_idx[row_ptr[v] : row_ptr[v + 1]]:
            left = degree[u] - 1
            if left >= 0:
                degree[u] = left
                heappush(heaps[left], u)
        least = max(least - 1, 0)
    return np.array(labels, np.int64)


def _labelling_of_dense(graph: Graph) -> IntArray:
    """Scan all vertices for the one of least degree each time: O(n^2) in all, without a Python object for each edge."""
    degree = graph.degrees.copy()
    labels = np.empty(graph.n, np.int64)
    taken = np.iinfo(np.int64).max // 2
    for label in range(graph.n):
        v = int(degree.argmin())
        labels[v] = label
        degree[graph.neighbours(v)] -= 1
        degree[v] = taken
    return labels


def relabelled(graph: Graph, labels: IntArray) -> tuple[Graph, IntArray]:
    """Return a graph, without names, whose vertices have their labels, a permutation; and the vertex of each label."""
    vertex_of = np.argsort(labels)
    return graph.permuted(labels), vertex_of
