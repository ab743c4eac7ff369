"""Biconnected components: each chordless cycle lies inside one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels_ti.blocks.bulk import LARGE, Numbers, tree_edges_in_bulk
from kernels_ti.graph import Graph, IntArray


def biconnected_edges(graph: Graph) -> tuple[IntArray, IntArray]:
    """Find the biconnected components that contain a cycle (Hopcroft and Tarjan 1973), in bulk for a large graph.

    Returns their edges, shape (k, 2), component by component without bridges, and for each edge the number of its
    component, from 0, ascending.
    """
    if is_dense_block(graph):
        edges = graph.pairs()
        return edges, np.zeros(len(edges), np.int64)
    return Components.of(graph).arrays()


@dataclass(frozen=True, eq=False)
class Components:
    """The biconnected components of a graph, by a tree that spans it."""

    graph: Graph
    discovered: Numbers  # int32 or int64, shape (n,): a number for each vertex, greater than that of its parent
    # int32 or int64, shape (n,): the component of the edge to the parent: -1 for a bridge, and for a root
    of_tree_edge: Numbers

    @classmethod
    def of(cls, graph: Graph) -> Components:
        """Find the components; those of a large graph as in `kernels_ti.blocks.bulk`."""
        is_large = len(graph.col_idx) >= 2 * LARGE
        return cls(graph, *(tree_edges_in_bulk(graph) if is_large else _components_of_tree_edges(graph)))

    @property
    def count(self) -> int:
        """Number of components with at least three vertices."""
        return int(self.of_tree_edge.max(initial=-1)) + 1

    def edges(self) -> Iterator[tuple[IntArray, IntArray, Numbers]]:
        """Yield both ends and the component of every edge that is no bridge, some at a time."""
        for u, v in self.graph.pairs_in_pieces():
            # An edge lies in the component of the tree edge of that end which was discovered later.
            component = self.of_tree_edge[np.where(self.discovered[u] > self.discovered[v], u, v)]
            on_cycle = component >= 0
            yield u[on_cycle], v[on_cycle], component[on_cycle]

    def arrays(self) -> tuple[IntArray, IntArray]:
        """Return the edges and their components, as `biconnected_edges` does."""
        most = len(self.graph.col_idx) // 2
        edges, component = np.empty((most, 2), np.int64), np.empty(most, np.int64)
        done = 0
        for u, v, of_edge in self.edges():
            some = slice(done, done + len(u))
            edges[some, 0], edges[some, 1], component[some] = u, v, of_edge
            done = some.stop
        edges, component = edges[:done], component[:done]
        if self.count <= 1:
            return edges, component
        order = np.argsort(component, kind="stable")
        return edges[order], component[order]


def bytes_to_split(graph: Graph) -> int:
    """Return about how many bytes it takes to find the components of a large graph; 0 for a small or dense one."""
    if len(graph.col_idx) < 2 * LARGE or is_dense_block(graph):
        return 0
    return 50 * graph.n + 14 * len(graph.col_idx)


def is_dense_block(graph: Graph) -> bool:
    """Say whether the degrees alone prove that all vertices with an edge form one biconnected component.

    A graph of n vertices is biconnected if each vertex is adjacent to at least n / 2 others.
    """
    degrees = np.diff(graph.row_ptr)  # of large graphs they are not kept
    joined = degrees[degrees > 0]
    return len(joined) > 2 and 2 * int(joined.min()) >= len(joined)


def _components_of_tree_edges(graph: Graph) -> tuple[IntArray, IntArray]:
    """Search the graph depth first (Hopcroft and Tarjan 1973), with an explicit stack instead of recursion.

    Returns when each vertex was discovered, and the component of the tree edge that leads to it: -1 for a
    bridge, and for a vertex at which the search began.
    """
    row_ptr = graph.row_ptr.tolist()
    col_idx = graph.col_idx.tolist()
    cursor = row_ptr[:-1]
    discovered = [-1] * graph.n
    low = [0] * graph.n
    component = [-1] * graph.n
    components = clock = 0
    open_vertices: list[int] = []  # discovered, but not yet given a component
    for start in range(graph.n):
        if discovered[start] >= 0:
            continue
        path = [start]
        discovered[start] = low[start] = clock
        clock += 1
        while True:
            v = path[-1]
            least, end = low[v], row_ptr[v + 1]
            for at in range(cursor[v], end):
                u = col_idx[at]
                seen = discovered[u]
                if seen < 0:
                    cursor[v], low[v] = at + 1, least
                    discovered[u] = low[u] = clock
                    clock += 1
                    path.append(u)
                    open_vertices.append(u)
                    break
                if seen < least:
                    least = seen
            else:
                path.pop()
                if not path:
                    break
                parent = path[-1]
                if least < discovered[parent]:
                    low[parent] = min(low[parent], least)
                elif open_vertices[-1] == v:
                    open_vertices.pop()  # a bridge
                else:
                    at = len(open_vertices) - 1
                    while open_vertices[at] != v:
                        component[open_vertices[at]] = components
                        at -= 1
                    component[v] = components
                    del open_vertices[at:]
                    components += 1
    return np.array(discovered, np.int64), np.array(component, np.int64)
