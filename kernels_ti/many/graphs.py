"""Many simple undirected graphs in three arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import running, spans
from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph, IntArray


@dataclass(frozen=True, eq=False)
class ManyGraphs:
    """Simple undirected graphs, one after another.

    Build them with `from_graphs`, `from_arrays` or `joined`. The constructor does not check its arrays: they must
    already be as described below.
    """

    first_vertex: IntArray  # int64, shape (graphs + 1,): graph i has ``first_vertex[i + 1] - first_vertex[i]`` vertices
    # int64, shape (graphs + 1,): ``edges[first_edge[i]:first_edge[i + 1]]`` are the edges of graph i
    first_edge: IntArray
    # int32, shape (all edges, 2): both ends of each edge, numbered from 0 within the graph; each edge once
    edges: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first_vertex) - 1

    @property
    def vertices(self) -> IntArray:
        """Vertices of each graph, shape (graphs,)."""
        return np.diff(self.first_vertex)

    @property
    def edge_counts(self) -> IntArray:
        """Edges of each graph, shape (graphs,)."""
        return np.diff(self.first_edge)

    def graph(self, i: int) -> Graph:
        """Graph `i` alone."""
        edges = self.edges[self.first_edge[i] : self.first_edge[i + 1]]
        return Graph.from_edge_array(edges, n=int(self.first_vertex[i + 1] - self.first_vertex[i]))

    def chosen(self, indices: IntArray) -> ManyGraphs:
        """Only the graphs of these indices, shape (k,), in their order."""
        edge_counts = self.edge_counts[indices]
        edges = self.edges[spans(self.first_edge[:-1][indices], edge_counts)]
        return ManyGraphs(running(self.vertices[indices]), running(edge_counts), edges)

    @classmethod
    def joined(cls, parts: Sequence[ManyGraphs]) -> ManyGraphs:
        """Put the graphs of all `parts` one after another."""
        if len(parts) == 1:
            return parts[0]
        none = np.empty(0, np.int64)
        vertices = np.concatenate([none, *(part.vertices for part in parts)])
        edge_counts = np.concatenate([none, *(part.edge_counts for part in parts)])
        edges = np.concatenate([np.empty((0, 2), np.int32), *(part.edges for part in parts)])
        return cls(running(vertices), running(edge_counts), edges)

    @classmethod
    def from_arrays(cls, vertices: npt.ArrayLike, edge_counts: npt.ArrayLike, edges: npt.ArrayLike) -> ManyGraphs:
        """Build many graphs from the edges of all of them, and check that each is simple.

        The edges, shape (all edges, 2), have vertices numbered from 0 within each graph, each edge once in either
        direction. A GraphError names the first graph and edge with a vertex out of range, a self-loop or an edge twice,
        or says that the numbers do not match.
        """
        sizes, counts = np.asarray(vertices, np.int64), np.asarray(edge_counts, np.int64)
        pairs = np.asarray(edges)
        if pairs.size == 0:
            pairs = np.empty((0, 2), np.int32)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise GraphError(f"edges must be integers, an array of shape (m, 2), not {pairs.dtype} of {pairs.shape}")
        if sizes.shape != counts.shape or sizes.ndim != 1 or (sizes < 0).any() or (counts < 0).any():
            raise GraphError("vertices and edge_counts must be one number, 0 or more, for each graph")
        if counts.sum() != len(pairs):
            raise GraphError(f"edge_counts add up to {counts.sum():,}, but there are {len(pairs):,} edges")
        owner = np.repeat(np.arange(len(sizes)), counts)
        low, high = pairs.min(axis=1).astype(np.int64), pairs.max(axis=1).astype(np.int64)
        outside = (low < 0) | (high >= sizes[owner])
        if outside.any():
            at = int(np.argmax(outside))
            raise GraphError(
                f"graph {owner[at]}, edge ({pairs[at, 0]}, {pairs[at, 1]}): a vertex is out of range, "
                f"the graph has {sizes[owner[at]]} vertices, from 0 on"
            )
        if (low == high).any():
            at = int(np.argmax(low == high))
            raise GraphError(f"graph {owner[at]}: vertex {low[at]} has a self-loop")
        first_vertex = running(sizes)
        keys = (first_vertex[owner] + low) * int(sizes.max(initial=1)) + high
        ordered = np.sort(keys)
        same = ordered[1:] == ordered[:-1]
        if same.any():
            at = int(np.argmax(keys == ordered[np.argmax(same)]))
            raise GraphError(f"graph {owner[at]}: the edge {low[at]} - {high[at]} is there more than once")
        return cls(first_vertex, running(counts), pairs.astype(np.int32))

    @classmethod
    def from_graphs(cls, graphs: Sequence[Graph]) -> ManyGraphs:
        """Put graphs one after another; the names of their vertices are dropped."""
        for i, graph in enumerate(graphs):
            if not graph.is_simple:
                raise GraphError(f"graph {i} is directed or has self-loops or parallel edges: count it on its own")
        sizes = np.array([graph.n for graph in graphs], np.int64)
        counts = np.array([graph.m for graph in graphs], np.int64)
        nothing = np.empty(0, np.int64)
        degrees = np.concatenate([nothing, *(graph.degrees for graph in graphs)])
        ends = np.concatenate([nothing, *(graph.col_idx for graph in graphs)])
        starts = np.repeat(spans(np.zeros(len(sizes), np.int64), sizes), degrees)
        forward = starts < ends
        edges = np.column_stack((starts[forward], ends[forward])).astype(np.int32)
        return cls(running(sizes), running(counts), edges)
