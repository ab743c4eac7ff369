"""The graph: simple, undirected, finite, in compressed sparse rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import SIMPLIFY, GraphError

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph in CSR form.

    Build one with `from_edges`, `from_edge_array`, or from a graph of another library with `from_networkx`,
    `from_igraph`, `from_rustworkx`, `from_scipy` or `from_numpy`. None of these imports the other library. The
    constructor does not check its arrays: they must already be as described below.

    Parameters
    ----------
    row_ptr : ndarray of int64, shape (n + 1,)
        ``col_idx[row_ptr[v]:row_ptr[v + 1]]`` are the neighbours of vertex ``v``.
    col_idx : ndarray of int64, shape (2 m,)
        Neighbours, ascending within each row.
    vertex_names : tuple, length n, or None
        Name of each vertex in results; None stands for the indices 0 .. n - 1.

    Examples
    --------
    >>> Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    Graph(n=4, m=4)
    """

    row_ptr: IntArray
    col_idx: IntArray
    vertex_names: tuple[Hashable, ...] | None = None

    __networkx_backend__ = "chordless"  # networkx dispatches its functions by this attribute

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.row_ptr) - 1

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.col_idx) // 2

    @cached_property
    def degrees(self) -> IntArray:
        """Degree of every vertex, shape (n,)."""
        return np.diff(self.row_ptr)

    @property
    def max_degree(self) -> int:
        """Largest degree, 0 for a graph without vertices."""
        return int(self.degrees.max(initial=0))

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        """Name of every vertex; the indices if no names were given."""
        return tuple(range(self.n)) if self.vertex_names is None else self.vertex_names

    def neighbours(self, v: int) -> IntArray:
        """Neighbours of vertex `v`, ascending."""
        return self.col_idx[self.row_ptr[v] : self.row_ptr[v + 1]]

    def edges(self) -> IntArray:
        """Every edge once as a row (u, v) with u < v, shape (m, 2)."""
        u = np.repeat(np.arange(self.n), self.degrees)
        forward = u < self.col_idx
        edges = np.empty((self.m, 2), np.int64)
        edges[:, 0], edges[:, 1] = u[forward], self.col_idx[forward]
        return edges

    def permuted(self, place: IntArray) -> Graph:
        """Return the same graph, without names, with vertex v at number ``place[v]``, a permutation of shape (n,)."""
        entries: npt.NDArray[Any] = np.repeat(place.astype(_key_type(self.n)) * self.n, self.degrees)
        entries += place[self.col_idx].astype(entries.dtype)
        return self._from_entry_keys(self.n, entries, None)

    def induced(self, keep: npt.NDArray[np.bool_]) -> Graph:
        """Return the induced subgraph, without names, of the vertices in a mask of shape (n,), renumbered from 0."""
        if keep.all():
            return self
        kept = np.repeat(keep, self.degrees) & keep[self.col_idx]
        row_ptr = np.concatenate(([0], np.cumsum(kept)))[self.row_ptr][np.append(keep, True)]
        return Graph(row_ptr, (np.cumsum(keep) - 1)[self.col_idx[kept]])

    def __repr__(self) -> str:
        return f"Graph(n={self.n}, m={self.m})"

    @classmethod
    def from_edge_array(
        cls,
        edges: npt.ArrayLike,
        *,
        n: int | None = None,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
    ) -> Graph:
        """Build a graph from an array of vertex pairs.

        Parameters
        ----------
        edges : array_like of int, shape (m, 2)
            Vertex indices, each edge once in either direction.
        n : int, optional
            Number of vertices; by default the number of names, or one more than the largest index.
        names : sequence of hashable, optional
            Names of the vertices, all different.
        simplify : bool
            Drop self-loops and repeated edges instead of refusing them.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            For a vertex out of range, and, unless `simplify`, for a self-loop or a parallel edge. The
            message names the first one.
        """
        pairs = np.asarray(edges)
        if pairs.size == 0:
            pairs = np.empty((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise GraphError(f"edges must be pairs of vertices, an array of shape (m, 2), not {pairs.shape}")
        if pairs.dtype.kind not in "iu":
            raise GraphError(f"edges must be integers (vertex indices), not {pairs.dtype}")
        pairs = pairs.astype(np.int64, copy=False)
        if names is not None:
            if n is None:
                n = len(names)
            elif n != len(names):
                raise GraphError(f"{len(names)} names were given for {n} vertices")
            try:
                distinct = len(set(names))
            except TypeError as error:
                raise GraphError(f"names must be hashable: {error}") from None
            if distinct != len(names):
                raise GraphError(f"two vertices are called {Counter(names).most_common(1)[0][0]!r}: names must differ")
        if n is None:
            n = int(pairs.max(initial=-1)) + 1
        n = _size(n)
        label = tuple(names) if names is not None else range(n)

        if pairs.min(initial=0) < 0 or pairs.max(initial=-1) >= n:
            u, v = pairs[np.argmax(((pairs < 0) | (pairs >= n)).any(axis=1))]
            raise GraphError(f"edge ({u}, {v}): a vertex is out of range, the graph has vertices 0 to {n - 1}")
        loops = pairs[:, 0] == pairs[:, 1]
        if loops.any():
            if not simplify:
                vertex = label[int(pairs[np.argmax(loops), 0])]
                raise GraphError(f"vertex {vertex} has a self-loop ({SIMPLIFY} drops it)")
            pairs = pairs[~loops]
        keys: npt.NDArray[Any] = np.minimum(pairs[:, 0], pairs[:, 1]).astype(_key_type(n))
        keys *= n
        keys += np.maximum(pairs[:, 0], pairs[:, 1]).astype(keys.dtype)
        keys.sort()
        repeated = keys[1:] == keys[:-1]
        if repeated.any():
            if not simplify:
                u, v = divmod(int(keys[np.argmax(repeated)]), n)
                raise GraphError(f"the edge {label[u]} - {label[v]} is there more than once ({SIMPLIFY} merges them)")
            keys = keys[np.append(True, ~repeated)]
        low = keys // max(n, 1)
        high = keys - low * n
        return cls._from_entry_keys(n, np.concatenate((keys, high * n + low)), None if names is None else tuple(names))

    @classmethod
    def _from_entry_keys(cls, n: int, keys: npt.NDArray[Any], names: tuple[Hashable, ...] | None) -> Graph:
        """Build a graph from one number ``u * n + v`` for each entry (u, v) of its adjacency matrix, in any order.

        Sorting one number for each entry is several times faster than sorting by two. The array is sorted in place.
        """
        keys.sort()
        row = keys // max(n, 1)
        row_ptr = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=n), out=row_ptr[1:])
        row *= n
        return cls(row_ptr, (keys - row).astype(np.int64), names)

    @classmethod
    def from_edges(
        cls,
        n: int,
        edges: Iterable[tuple[int, int]],
        *,
        names: Sequence[Hashable] | None = None,
        simplify: bool = False,
    ) -> Graph:
        """Build a graph with `n` vertices from pairs of vertex indices; see `from_edge_array`."""
        return cls.from_edge_array(list(edges), n=n, names=names, simplify=simplify)

    @classmethod
    def from_networkx(cls, graph: Any, *, simplify: bool = False) -> Graph:
        """Build a graph from a networkx graph, or anything with its methods.

        Parameters
        ----------
        graph : networkx.Graph
            Its nodes become the vertices, in the order of iteration, and keep their names.
        simplify : bool
            Drop directions, parallel edges and self-loops instead of refusing them.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            Unless `simplify`, for a directed graph, a self-loop or parallel edges.
        """
        _require_undirected(graph.is_directed(), simplify)
        names = tuple(graph.nodes())
        index = {name: v for v, name in enumerate(names)}
        edges = [(index[edge[0]], index[edge[1]]) for edge in graph.edges()]
        return cls.from_edge_array(edges, n=len(names), names=names, simplify=simplify)

    @classmethod
    def from_igraph(cls, graph: Any, *, simplify: bool = False) -> Graph:
        """Build a graph from an igraph graph, or any object with its methods.

        Parameters
        ----------
        graph : igraph.Graph
            Its vertices keep their order. Their names are taken from the vertex attribute ``name`` if there is one.
        simplify : bool
            Drop directions, parallel edges and self-loops instead of refusing them.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            Unless `simplify`, for a directed graph, a self-loop or parallel edges. Always, for two vertices with the
            same name.
        """
        _require_undirected(graph.is_directed(), simplify)
        names = graph.vs["name"] if "name" in graph.vs.attributes() else None
        return cls.from_edge_array(graph.get_edgelist(), n=graph.vcount(), names=names, simplify=simplify)

    @classmethod
    def from_rustworkx(cls, graph: Any, *, simplify: bool = False) -> Graph:
        """Build a graph from a rustworkx graph, or any object with its methods.

        Parameters
        ----------
        graph : rustworkx.PyGraph
            The vertices are named by their indices in `graph`. Those have gaps where nodes were removed.
        simplify : bool
            Drop directions, parallel edges and self-loops instead of refusing them.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            Unless `simplify`, for a PyDiGraph, a self-loop or parallel edges.
        """
        _require_undirected(hasattr(graph, "to_undirected"), simplify)  # a PyGraph has no such method
        indices = np.asarray(graph.node_indices(), np.int64)
        edges = np.searchsorted(indices, np.asarray(graph.edge_list(), np.int64).reshape(-1, 2))
        gaps = len(indices) > 0 and indices[-1] >= len(indices)
        names = indices.tolist() if gaps else None
        return cls.from_edge_array(edges, n=len(indices), names=names, simplify=simplify)

    @classmethod
    def from_scipy(cls, matrix: Any, *, names: Sequence[Hashable] | None = None, simplify: bool = False) -> Graph:
        """Build a graph from a square sparse adjacency matrix of scipy, or any object with ``tocoo``.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, shape (n, n)
            An edge wherever an entry is not zero. The matrix must be symmetric.
        names : sequence of hashable, optional
            Names of the vertices.
        simplify : bool
            Drop the diagonal and take an entry on either side of it as an edge.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            For a matrix that is not square or has entries that are not numbers. Unless `simplify`, also for one that
            is not symmetric or has an entry on its diagonal.
        """
        size = _require_square(matrix.shape)
        entries = matrix.tocoo()
        present = _require_numbers(np.asarray(entries.data)) != 0
        u = np.asarray(entries.row)[present].astype(np.int64)
        v = np.asarray(entries.col)[present].astype(np.int64)
        return cls._from_entries(size, np.unique(u * size + v), names, simplify)

    @classmethod
    def from_numpy(
        cls, matrix: npt.ArrayLike, *, names: Sequence[Hashable] | None = None, simplify: bool = False
    ) -> Graph:
        """Build a graph from a square adjacency matrix.

        Parameters
        ----------
        matrix : array_like of bool or number, shape (n, n)
        names, simplify
            As for `from_scipy`.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            As for `from_scipy`.

        Examples
        --------
        >>> Graph.from_numpy([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
        Graph(n=3, m=3)
        """
        array = np.asarray(matrix)
        size = _require_square(array.shape)
        return cls._from_entries(size, np.flatnonzero(_require_numbers(array)), names, simplify)

    @classmethod
    def _from_entries(cls, n: int, keys: IntArray, names: Sequence[Hashable] | None, simplify: bool) -> Graph:
        """Build a graph from the ascending positions of the non-zero entries of an n x n matrix."""
        u, v = np.divmod(keys, max(n, 1))
        if not simplify:
            one_way = ~np.isin(v * n + u, keys)
            if one_way.any():
                at = int(np.argmax(one_way))
                one, other = (int(u[at]), int(v[at])) if names is None else (names[u[at]], names[v[at]])
                raise GraphError(
                    f"the matrix is directed: it has entry ({one}, {other}) but not ({other}, {one}) "
                    f"({SIMPLIFY} takes either as an edge)"
                )
            upper = u <= v
            u, v = u[upper], v[upper]
        return cls.from_edge_array(np.column_stack((u, v)), n=n, names=names, simplify=simplify)


def _size(n: Any) -> int:
    """Return `n` as an int; raise GraphError if it is not a number of vertices."""
    if not isinstance(n, Integral):
        raise GraphError(f"the number of vertices must be a whole number, not {n!r}")
    if n < 0:
        raise GraphError(f"a graph cannot have {n} vertices")
    return int(n)


def _key_type(n: int) -> type[np.uint32] | type[np.int64]:
    """Return the smallest integer type that can number all pairs of n vertices: smaller keys sort faster."""
    return np.uint32 if n < 1 << 16 else np.int64


def _require_undirected(directed: bool, simplify: bool) -> None:
    if directed and not simplify:
        raise GraphError(
            f"the graph is directed, chordless cycles are those of undirected graphs ({SIMPLIFY} drops directions)"
        )


def _require_square(shape: tuple[int, ...]) -> int:
    """Return the number of vertices of an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        hint = "; a list of edges goes through Graph.from_edge_array" if len(shape) == 2 and shape[1] == 2 else ""
        size = " x ".join(map(str, shape)) or "a single number"
        raise GraphError(f"an adjacency matrix is square, this one is {size}{hint}")
    return shape[0]


def _require_numbers(entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if entries.dtype.kind not in "biufc":
        raise GraphError(f"an adjacency matrix holds numbers, 0 where there is no edge, not {entries.dtype}")
    if np.isnan(entries).any():
        raise GraphError("the adjacency matrix has an entry that is not a number (NaN); 0 says that there is no edge")
    return entries
