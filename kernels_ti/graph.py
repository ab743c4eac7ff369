"""The graph, in compressed sparse rows: undirected or directed, with or without self-loops and parallel edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import IntArray as IntArray
from kernels_ti.adjacency import (
    checked_names,
    checked_pairs,
    for_entries,
    key_type,
    pieces,
    reverse_entries,
    row_pieces,
    size_of_graph,
)
from kernels_ti.errors import MULTIGRAPH, SIMPLIFY, GraphError, require_flags
from kernels_ti.library_graphs import LibraryGraphs


@dataclass(frozen=True, eq=False)
class Graph(LibraryGraphs):
    """A graph in CSR form: simple and undirected unless it says otherwise.

    Two vertices are **adjacent** if any edge joins them, in whatever direction. The CSR arrays hold this adjacency.
    What else a directed graph or a multigraph has is in `multiplicity` and `loops`.

    Build one with `from_edges`, `from_edge_array`, or from a graph of another library with `from_networkx`,
    `from_igraph`, `from_rustworkx`, `from_scipy` or `from_numpy`. None of these imports the other library. The
    constructor does not check its arrays: they must already be as described below.

    Parameters
    ----------
    row_ptr : ndarray of int64, shape (n + 1,)
        ``col_idx[row_ptr[v]:row_ptr[v + 1]]`` are the neighbours of vertex ``v``.
    col_idx : ndarray of int64, shape (entries,)
        Neighbours, ascending within each row. Each pair of adjacent vertices has two entries.
    vertex_names : tuple, length n, or None
        Name of each vertex in results; None stands for the indices 0 .. n - 1.
    directed : bool
        Whether edges have a direction; they are called arcs then.
    multiplicity : ndarray of int64, shape (entries,), or None
        For the entry of v in the row of u the number of edges u - v, of a directed graph the number of arcs u -> v,
        which may be 0. None if it is 1 everywhere.
    loops : ndarray of int64, shape (n,), or None
        Number of self-loops of each vertex; None if there is none.

    Examples
    --------
    >>> from chordless import Graph
    >>> Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    Graph(n=4, m=4)
    >>> Graph.from_edges(3, [(0, 1), (1, 2), (2, 0), (0, 2)], directed=True)
    Graph(n=3, m=4, directed)
    """

    row_ptr: IntArray
    col_idx: IntArray
    vertex_names: tuple[Hashable, ...] | None = None
    directed: bool = False
    multiplicity: IntArray | None = None
    loops: IntArray | None = None

    __networkx_backend__ = "chordless"  # networkx dispatches its functions by this attribute

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.row_ptr) - 1

    @property
    def m(self) -> int:
        """Number of edges, or arcs; parallel ones and self-loops count."""
        loops = 0 if self.loops is None else int(self.loops.sum())
        if self.multiplicity is None:
            return len(self.col_idx) // 2 + loops
        return int(self.multiplicity.sum()) // (1 if self.directed else 2) + loops

    @property
    def is_simple(self) -> bool:
        """Whether the graph is undirected, without self-loops and parallel edges."""
        return self.multiplicity is None and self.loops is None

    @property
    def is_multigraph(self) -> bool:
        """Whether there are parallel edges or arcs, or several self-loops at a vertex."""
        counts = [each for each in (self.multiplicity, self.loops) if each is not None]
        return any(int(each.max(initial=0)) > 1 for each in counts)

    @cached_property
    def degrees(self) -> IntArray:
        """Number of neighbours of every vertex, shape (n,)."""
        return np.diff(self.row_ptr)

    @property
    def max_degree(self) -> int:
        """Largest number of neighbours, 0 for a graph without vertices."""
        return int(self.degrees.max(initial=0))

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        """Name of every vertex; the indices if no names were given."""
        return tuple(range(self.n)) if self.vertex_names is None else self.vertex_names

    def neighbours(self, v: int) -> IntArray:
        """Neighbours of vertex `v`, ascending."""
        return self.col_idx[self.row_ptr[v] : self.row_ptr[v + 1]]

    @property
    def row_of_entry(self) -> IntArray:
        """For each entry of `col_idx` the vertex in whose row it is."""
        return np.repeat(np.arange(self.n), self.degrees)

    def pairs(self) -> IntArray:
        """Every pair of adjacent vertices once as a row (u, v) with u < v, shape (pairs, 2)."""
        pairs = np.empty((len(self.col_idx) // 2, 2), np.int64)
        done = 0
        for u, v in self.pairs_in_pieces():
            some = pairs[done : done + len(u)]
            some[:, 0], some[:, 1] = u, v
            done += len(u)
        return pairs

    def pairs_in_pieces(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the ends u and v of the rows of `pairs`, some at a time."""
        for vertices, piece in row_pieces(self.row_ptr):
            u = for_entries(np.arange(vertices.start, vertices.stop), self.row_ptr, vertices)
            v = self.col_idx[piece]
            forward = u < v
            yield u[forward], v[forward]

    def pairs_in_direction(self) -> IntArray:
        """Every pair of adjacent vertices once, as `pairs`; (v, u) where arcs lead only from v to u."""
        pairs = self.pairs()
        if not self.directed or self.multiplicity is None:
            return pairs
        against = self.multiplicity[self.row_of_entry < self.col_idx] == 0
        return np.where(against[:, None], pairs[:, ::-1], pairs)

    def has_edge(self, u: int, v: int) -> bool:
        """Whether an edge joins two different vertices; in a directed graph, whether an arc leads from u to v."""
        at = np.flatnonzero(self.neighbours(u) == v)
        return len(at) > 0 and (self.multiplicity is None or bool(self.multiplicity[self.row_ptr[u] + at[0]] > 0))

    def edges(self) -> IntArray:
        """Every edge once as a row (u, v), shape (m, 2): with u <= v, and in a directed graph from tail to head."""
        if self.is_simple:
            return self.pairs()
        u = self.row_of_entry
        counts = np.ones(len(u), np.int64) if self.multiplicity is None else self.multiplicity
        counts = counts if self.directed else np.where(u < self.col_idx, counts, 0)
        ends = np.repeat(np.column_stack((u, self.col_idx)), counts, axis=0)
        at_loops = np.repeat(np.arange(self.n), 0 if self.loops is None else self.loops)
        ends = np.concatenate((ends, np.column_stack((at_loops, at_loops))))
        return ends[np.lexsort((ends[:, 1], ends[:, 0]))]

    @cached_property
    def ways(self) -> npt.NDArray[np.uint8] | None:
        """Which entries a cycle of three or more vertices can follow, shape (entries,); None if all.

        For the entry of v in the row of u: 1 if the only edge between them leads from u to v, 2 if from v to u, 3 if it
        has no direction. 0 if there are several: no such cycle passes both vertices.
        """
        if self.multiplicity is None:
            return None
        back = self.multiplicity[reverse_entries(self.row_ptr, self.col_idx)]
        if not self.directed:
            return np.where(self.multiplicity == 1, 3, 0).astype(np.uint8)
        only = self.multiplicity + back == 1
        return np.where(only, np.where(self.multiplicity == 1, 1, 2), 0).astype(np.uint8)

    def permuted(self, place: IntArray) -> Graph:
        """Return the same graph, without names, with vertex v at number ``place[v]``, a permutation of shape (n,)."""
        number: npt.NDArray[Any] = place.astype(key_type(self.n), copy=False)
        entries: npt.NDArray[Any] = np.empty(len(self.col_idx), number.dtype)
        for vertices, piece in row_pieces(self.row_ptr):
            entries[piece] = for_entries(number[vertices] * self.n, self.row_ptr, vertices)
            entries[piece] += number[self.col_idx[piece]]
        moved = self._from_entry_keys(self.n, entries, None, self.directed, self.multiplicity)
        return moved if self.loops is None else replace(moved, loops=self.loops[np.argsort(place)])

    def induced(self, keep: npt.NDArray[np.bool_]) -> Graph:
        """Return the induced subgraph, without names, of the vertices in a mask of shape (n,), renumbered from 0."""
        if keep.all():
            return self
        number = np.cumsum(keep) - 1
        row_ptr = np.zeros(self.n + 1, np.int64)
        columns = np.empty(int(np.diff(self.row_ptr)[keep].sum()), np.int64)
        counts = []
        done = 0
        for vertices, piece in row_pieces(self.row_ptr):
            kept = for_entries(keep[vertices], self.row_ptr, vertices) & keep[self.col_idx[piece]]
            rows = slice(vertices.start + 1, vertices.stop + 1)
            row_ptr[rows] = done + np.append(0, np.cumsum(kept))[self.row_ptr[rows] - piece.start]
            some = number[self.col_idx[piece][kept]]
            columns[done : done + len(some)] = some
            done += len(some)
            if self.multiplicity is not None:
                counts.append(self.multiplicity[piece][kept])
        columns.resize(done, refcheck=False)
        multiplicity = np.concatenate(counts) if counts else self.multiplicity
        loops = None if self.loops is None else self.loops[keep]
        return Graph(row_ptr[np.append(keep, True)], columns, None, self.directed, multiplicity, loops)

    def among(self, keep: npt.NDArray[np.bool_]) -> Graph:
        """Return the graph without its self-loops, and of its edges only those between vertices in a mask."""
        kept = np.repeat(keep, self.degrees) & keep[self.col_idx]
        row_ptr = np.concatenate(([0], np.cumsum(kept)))[self.row_ptr]
        multiplicity = None if self.multiplicity is None else self.multiplicity[kept]
        return Graph(row_ptr, self.col_idx[kept], self.vertex_names, self.directed, multiplicity)

    def underlying(self) -> Graph:
        """Return the simple undirected graph of the same adjacency: without directions, self-loops, parallel edges."""
        return self if self.is_simple else Graph(self.row_ptr, self.col_idx, self.vertex_names)

    def complement(self) -> Graph:
        """Return the simple graph that has the edges that this one lacks."""
        joined = np.eye(self.n, dtype=bool)
        joined[tuple(self.pairs().T)] = True
        return self.from_edge_array(np.argwhere(np.triu(~joined)), names=self.vertex_names, n=self.n)

    def __repr__(self) -> str:
        kind = (", directed" if self.directed else "") + (", multigraph" if self.is_multigraph else "")
        return f"Graph(n={self.n}, m={self.m}{kind})"

    @classmethod
    def from_edge_array(
        cls,
        edges: npt.ArrayLike,
        *,
        n: int | None = None,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
        directed: bool = False,
        multigraph: bool = False,
    ) -> Graph:
        """Build a graph from an array of vertex pairs.

        Parameters
        ----------
        edges : array_like of int, shape (m, 2)
            Vertex indices, each edge once in either direction; of a directed graph the tail and the head of each arc.
        n : int, optional
            Number of vertices; by default the number of names, or one more than the largest index.
        names : sequence of hashable, optional
            Names of the vertices, all different.
        simplify : bool
            Drop self-loops, repeated edges and directions: the graph is simple and undirected.
        directed : bool
            A pair (u, v) is an arc from u to v. Self-loops are kept.
        multigraph : bool
            Keep self-loops and repeated edges instead of refusing them.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            For a vertex out of range, and, unless `simplify` or `multigraph`, for a parallel edge and, unless
            `directed`, for a self-loop. The message names the first one.
        OptionError
            If `simplify`, `directed` or `multigraph` is neither True nor False.
        """
        require_flags(simplify=simplify, directed=directed, multigraph=multigraph)
        pairs = checked_pairs(edges)
        if names is not None:
            n = checked_names(names, n)
        if n is None:
            n = int(pairs.max(initial=-1)) + 1
        n = size_of_graph(n)
        label = tuple(names) if names is not None else range(n)
        given = None if names is None else tuple(names)
        directed = directed and not simplify

        if pairs.min(initial=0) < 0 or pairs.max(initial=-1) >= n:
            u, v = pairs[np.argmax(((pairs < 0) | (pairs >= n)).any(axis=1))]
            has = f"vertices 0 to {n - 1}" if n else "no vertices"
            raise GraphError(f"edge ({u}, {v}): a vertex is out of range, the graph has {has}")
        loops = pairs[:, 0] == pairs[:, 1]
        at_loops = None
        if loops.any():
            if not (simplify or directed or multigraph):
                vertex = label[int(pairs[np.argmax(loops), 0])]
                raise GraphError(f"vertex {vertex} has a self-loop ({SIMPLIFY} drops it, {MULTIGRAPH} keeps it)")
            if not simplify:
                at_loops = np.bincount(pairs[loops, 0], minlength=n)
                if at_loops.max() > 1 and not multigraph:
                    vertex = label[int(np.argmax(at_loops > 1))]
                    raise GraphError(
                        f"vertex {vertex} has several self-loops ({SIMPLIFY} drops them, {MULTIGRAPH} keeps them)"
                    )
            pairs = pairs[~loops]
        if directed:
            return cls._of_arcs(n, pairs, given, at_loops, multigraph, label)
        keys: npt.NDArray[Any] = np.empty(len(pairs), key_type(n))
        for piece in pieces(len(pairs)):
            u, v = pairs[piece, 0], pairs[piece, 1]
            keys[piece] = np.minimum(u, v) * n + np.maximum(u, v)
        del pairs
        keys.sort()
        repeated = keys[1:] == keys[:-1]
        counts = None
        if repeated.any():
            if not (simplify or multigraph):
                u, v = divmod(int(keys[np.argmax(repeated)]), n)
                raise GraphError(_repeated(f"{label[u]} - {label[v]}"))
            begins = np.flatnonzero(np.append(True, ~repeated))
            if not simplify:
                counts = np.tile(np.diff(np.append(begins, len(keys))), 2)
            keys = keys[begins]
        entries = np.concatenate((keys, keys))
        del keys
        for piece in pieces(len(entries) // 2):
            backward = entries[len(entries) // 2 :][piece]
            low = backward // n
            backward -= low * n
            backward *= n
            backward += low
        made = cls._from_entry_keys(n, entries, given, multiplicity=counts)
        return made if at_loops is None else replace(made, loops=at_loops)

    @classmethod
    def _of_arcs(
        cls,
        n: int,
        arcs: IntArray,
        names: tuple[Hashable, ...] | None,
        loops: IntArray | None,
        multigraph: bool,
        label: Sequence[Hashable],
    ) -> Graph:
        keys, counts = np.unique(arcs[:, 0] * n + arcs[:, 1], return_counts=True)
        if not multigraph and len(keys) < len(arcs):
            u, v = divmod(int(keys[np.argmax(counts > 1)]), n)
            raise GraphError(_repeated(f"{label[u]} -> {label[v]}"))
        tail, head = np.divmod(keys, max(n, 1))
        back = head * n + tail
        entries = np.union1d(keys, back)
        multiplicity = np.zeros(len(entries), np.int64)
        multiplicity[np.searchsorted(entries, keys)] = counts
        return replace(cls._from_entry_keys(n, entries, names, True, multiplicity), loops=loops)

    @classmethod
    def _from_entry_keys(
        cls,
        n: int,
        keys: npt.NDArray[Any],
        names: tuple[Hashable, ...] | None,
        directed: bool = False,
        multiplicity: IntArray | None = None,
    ) -> Graph:
        """Build a graph from one number ``u * n + v`` for each entry (u, v) of its adjacency matrix, in any order.

        Sorting one number for each entry is several times faster than sorting by two. The array is used up.
        """
        if multiplicity is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable")
            keys, multiplicity = keys[order], multiplicity[order]
        row_ptr = np.zeros(n + 1, np.int64)
        for piece in pieces(len(keys)):
            of_piece = keys[piece]
            row = of_piece // n
            first, last = int(row[0]), int(row[-1])
            row_ptr[first + 1 : last + 2] += np.bincount(row - first)
            of_piece -= row * n
        np.cumsum(row_ptr, out=row_ptr)
        return cls(row_ptr, keys.astype(np.int64, copy=False), names, directed, multiplicity)

    @classmethod
    def from_edges(
        cls,
        n: int,
        edges: Iterable[tuple[int, int]],
        *,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
        directed: bool = False,
        multigraph: bool = False,
    ) -> Graph:
        """Build a graph with `n` vertices from pairs of vertex indices; see `from_edge_array`."""
        if not isinstance(edges, Iterable):
            raise GraphError(f"edges must be pairs of vertices, not {edges!r}")
        return cls.from_edge_array(
            list(edges), n=n, names=names, simplify=simplify, directed=directed, multigraph=multigraph
        )


def _repeated(edge: str) -> str:
    return f"the edge {edge} is there more than once ({SIMPLIFY} merges them, {MULTIGRAPH} keeps them)"
