"""Cycles of one and two vertices: self-loops, parallel edges and opposite arcs. They are found on the host."""

from __future__ import annotations

import numpy as np

from kernels_ti.adjacency import reverse_entries
from kernels_ti.graph import Graph, IntArray
from kernels_ti.options import Options


def self_loops(graph: Graph) -> IntArray:
    """Return the vertices with a self-loop that no other is parallel to, shape (k,)."""
    if graph.loops is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(graph.loops == 1)


def two_cycles(graph: Graph) -> IntArray:
    """Find the chordless cycles of two vertices u < v, shape (k, 2).

    They are two opposite arcs of a directed graph, or two parallel edges of any other. There is no further edge between
    the two vertices, and none of them has a self-loop.
    """
    if graph.multiplicity is None:
        return np.empty((0, 2), np.int64)
    u, v = graph.row_of_entry, graph.col_idx
    if graph.directed:
        there_and_back = (graph.multiplicity == 1) & (graph.multiplicity[reverse_entries(graph.row_ptr, v)] == 1)
    else:
        there_and_back = graph.multiplicity == 2
    there_and_back &= u < v
    pairs: IntArray = np.column_stack((u, v))[there_and_back]
    if graph.loops is not None:
        pairs = pairs[(graph.loops[pairs] == 0).all(axis=1)]
    return pairs


def short_cycles(graph: Graph, options: Options) -> list[list[int]]:
    """List the cycles of one and of two vertices, ascending in each, that the bounds and the restriction allow."""
    lengths = options.lengths
    found = self_loops(graph).tolist() if 1 in lengths else []
    cycles: list[list[int]] = [[v] for v in found]
    if 2 in lengths:
        cycles += two_cycles(graph).tolist()
    needed, forbidden = set(options.through), set(options.avoid)
    without = {frozenset(edge) for edge in options.avoid_edges}
    return [
        cycle
        for cycle in cycles
        if needed.issubset(cycle) and forbidden.isdisjoint(cycle) and frozenset(cycle) not in without
    ]
