"""Blocks of directed graphs and multigraphs: where the edges that a cycle can follow are connected.

A cycle of three or more vertices follows edges that are the only edge between their ends, in their direction. So it
lies inside one strongly connected component of these edges, and inside one biconnected component of that component.
The other edges between the vertices of such a block are chords: they belong to the block as well.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.blocks.biconnected import biconnected_edges
from kernels_ti.graph import Graph, IntArray


def block_edges(graph: Graph) -> tuple[IntArray, IntArray]:
    """Find the blocks of any graph, by the edges that a cycle of three or more vertices can follow.

    Returns the ends of these edges, shape (k, 2), block by block without those on no cycle, and for each edge the
    number of its block, from 0, ascending.
    """
    ways = graph.ways
    if ways is None:
        return biconnected_edges(graph)
    u, v = graph.row_of_entry, graph.col_idx
    followed = (ways & 1) > 0
    if graph.directed:
        component = strong_components(graph, followed)
        followed &= component[u] == component[v]
    return biconnected_edges(Graph.from_edge_array(np.column_stack((u, v))[followed], n=graph.n, simplify=True))


def strong_components(graph: Graph, followed: npt.NDArray[np.bool_]) -> IntArray:
    """Return for each vertex its strongly connected component (Tarjan 1972, with an explicit stack).

    `followed` marks the entries of `graph` that are arcs from their row to their column.
    """
    ends = np.concatenate(([0], np.cumsum(followed)))[graph.row_ptr].tolist()
    heads = graph.col_idx[followed].tolist()
    cursor = ends[:-1]
    discovered = [-1] * graph.n
    low = [0] * graph.n
    component = [-1] * graph.n
    components = clock = 0
    open_vertices: list[int] = []  # discovered, but not yet given a component
    for start in range(graph.n):
        if discovered[start] >= 0:
            continue
        path = [start]
        while path:
            v = path[-1]
            if discovered[v] < 0:
                discovered[v] = low[v] = clock
                clock += 1
                open_vertices.append(v)
            at = cursor[v]
            if at < ends[v + 1]:
                cursor[v] = at + 1
                u = heads[at]
                if discovered[u] < 0:
                    path.append(u)
                elif component[u] < 0:
                    low[v] = min(low[v], discovered[u])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[v])
            if low[v] == discovered[v]:
                while component[v] < 0:
                    component[open_vertices.pop()] = components
                components += 1
    return np.array(component, np.int64)


def split_with_chords(graph: Graph) -> tuple[Graph, IntArray, IntArray]:
    """Put the blocks of a graph that is not simple side by side, each with all edges between its vertices.

    Returns what `kernels_ti.blocks.labelled.split` does for a simple graph.
    """
    n = graph.n
    edges, block = block_edges(graph)
    keys = np.unique(block[:, None] * n + edges)
    block_of, vertex_of = np.divmod(keys, max(n, 1))
    pairs = graph.pairs()
    # Two vertices have at most one block in common: look among the blocks of the one that has fewer.
    order = np.argsort(vertex_of, kind="stable")
    counts = np.bincount(vertex_of, minlength=n)
    first = np.cumsum(counts) - counts
    fewer = counts[pairs[:, 0]] <= counts[pairs[:, 1]]
    one, other = np.where(fewer, pairs.T, pairs.T[::-1])
    owner = np.repeat(np.arange(len(pairs)), counts[one])
    here = order[spans(first[one], counts[one])]
    wanted = block_of[here] * n + other[owner]
    there = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    common = keys[there] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
    ends = np.column_stack((here[common], there[common]))
    union = Graph.from_edge_array(ends, n=len(keys))
    return with_edges_of(union, graph, vertex_of), vertex_of, np.unique(block_of, return_counts=True)[1]


def with_edges_of(union: Graph, graph: Graph, vertex_of: IntArray) -> Graph:
    """Give a simple graph the directions and multiplicities that its edges have in another graph.

    Vertex i of `union` stands for ``vertex_of[i]`` of `graph`, which has all edges of `union`.
    """
    if graph.multiplicity is None:
        return union
    known = graph.row_of_entry * graph.n + graph.col_idx
    wanted = vertex_of[union.row_of_entry] * graph.n + vertex_of[union.col_idx]
    multiplicity = graph.multiplicity[np.searchsorted(known, wanted)]
    return Graph(union.row_ptr, union.col_idx, None, graph.directed, multiplicity)


def ways_of(graph: Graph) -> npt.NDArray[np.uint8]:
    """Return `Graph.ways`, 3 for every entry of a simple graph."""
    return np.full(len(graph.col_idx), 3, np.uint8) if graph.ways is None else graph.ways


def entries_by_role(
    row: IntArray, column: IntArray, label: IntArray, ways: npt.NDArray[np.uint8], rows: int, roles: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Sort entries into those that the path's head can follow, those that its tail can follow, and chords.

    Each entry has a row, a column, the label of the column in its block, and its `Graph.ways`. Returns `row_ptr`,
    `neighbour` and `chords` of `kernels_ti.blocks.block_group.BlockGroup`.
    """
    followed = [(ways & way) > 0 for way in (1, 2)[:roles]]
    counts = np.concatenate([np.bincount(row[some], minlength=rows) for some in followed])
    neighbour = np.concatenate([column[some] + role * rows for role, some in enumerate(followed)])
    chords = [np.stack((row[~some] + role * rows, label[~some])) for role, some in enumerate(followed)]
    row_ptr = np.concatenate(([0], np.cumsum(counts)))
    return row_ptr.astype(np.int32), neighbour.astype(np.int32), np.concatenate(chords, axis=1).astype(np.int32)
