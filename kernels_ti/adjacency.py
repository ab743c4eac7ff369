"""Arrays of adjacency: checks of what a graph is made of, and the entries of its rows; rows as whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import GraphError, quantity, vertices_text

IntArray = npt.NDArray[np.int64]

MOST_VERTICES = (1 << 31) - 1  # Pairs of vertices are numbered in 63 bits


def reverse_entries(row_ptr: IntArray, col_idx: IntArray) -> IntArray:
    """Return for each CSR entry (u, v) of a symmetric adjacency the place of the entry (v, u), shape (entries,)."""
    row = np.repeat(np.arange(len(row_ptr) - 1), np.diff(row_ptr))
    # Entries are in the order of (u, v); sorted by (v, u), entry k is the reverse of the k-th.
    return np.lexsort((row, col_idx))


PIECE = 1 << 17
"""Entries of a large array that are worked on at a time: their temporary arrays stay in the cache."""


def pieces(count: int) -> Iterator[slice]:
    """Yield the slices of at most `PIECE` entries that an array of `count` entries has."""
    for first in range(0, count, PIECE):
        yield slice(first, min(first + PIECE, count))


def row_pieces(row_ptr: npt.NDArray[Any]) -> Iterator[tuple[slice, slice]]:
    """Yield consecutive rows of a CSR matrix and their entries, about `PIECE` entries at a time."""
    bounds = [piece.start for piece in pieces(int(row_ptr[-1]))]
    rows = sorted({*np.searchsorted(row_ptr, bounds).tolist(), len(row_ptr) - 1})
    for first, last in pairwise(rows):
        yield slice(first, last), slice(int(row_ptr[first]), int(row_ptr[last]))


def for_entries(values: npt.NDArray[Any], row_ptr: IntArray, rows: slice) -> npt.NDArray[Any]:
    """Return the value of its row for each entry of some rows of a CSR matrix; `values` belong to these rows."""
    return np.repeat(values, np.diff(row_ptr[rows.start : rows.stop + 1]))


def running(counts: npt.NDArray[np.integer]) -> IntArray:
    """Return the sums before each of the counts, and that of all, shape (k + 1,)."""
    sums = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=sums[1:])
    return sums


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """Return the numbers of all ranges ``starts[i]`` to ``starts[i] + lengths[i]``, one range after another."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the whole numbers that occur, ascending; several times faster than ``np.unique``, which hashes them."""
    values = np.sort(values)
    found: npt.NDArray[Any] = values[np.append(True, values[1:] != values[:-1])[: len(values)]]
    return found


def bits_of(row: int) -> Iterator[int]:
    """Yield the places of the bits of a whole number, ascending: the vertices of a row of adjacency, say."""
    while row:
        lowest = row & -row
        yield lowest.bit_length() - 1
        row ^= lowest


def key_type(n: int) -> type[np.uint32] | type[np.int64]:
    """Return the smallest integer type that can number all pairs of n vertices: smaller keys sort faster."""
    return np.uint32 if n < 1 << 16 else np.int64


def checked_pairs(edges: npt.ArrayLike) -> IntArray:
    """Return edges as an array of int64, shape (m, 2); a GraphError for another shape or type."""
    try:
        pairs = np.asarray(edges)
    except ValueError as error:
        raise GraphError(f"edges must be pairs of vertices: {error}") from None
    if np.ma.is_masked(edges):
        raise GraphError("edges must be pairs of vertices, and a vertex of this array is masked")
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphError(f"edges must be pairs of vertices, an array of shape (m, 2), not {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise GraphError(f"edges must be integers (vertex indices), not {pairs.dtype}")
    # Of signed integers it would be a negative number.
    if pairs.dtype.kind == "u" and pairs.size and (largest := int(pairs.max())) > np.iinfo(np.int64).max:
        raise GraphError(f"a graph can have {MOST_VERTICES:,} vertices at most, and a vertex of an edge is {largest:,}")
    return pairs.astype(np.int64, copy=False)


def checked_names(names: Sequence[Hashable], n: int | None) -> int:
    """Return the number of names; a GraphError if there are not `n`, two are the same, or one cannot be hashed."""
    if not hasattr(names, "__len__") or isinstance(names, (set, frozenset, Mapping)):
        raise GraphError(f"names must be a list with the name of each vertex, not {names!r}")
    if n is not None and n != len(names):
        raise GraphError(f"{quantity(len(names), 'name was', 'names were')} given for {vertices_text(n)}")
    try:
        distinct = len(set(names))
    except TypeError as error:
        raise GraphError(f"names must be hashable: {error}") from None
    if distinct != len(names):
        raise GraphError(f"two vertices are called {Counter(names).most_common(1)[0][0]!r}: names must differ")
    return len(names)


def size_of_graph(n: Any) -> int:
    """Return `n` as an int; raise GraphError if it is not a number of vertices."""
    if isinstance(n, bool) or not isinstance(n, Integral):
        raise GraphError(f"the number of vertices must be a whole number, not {n!r}")
    if n < 0:
        raise GraphError(f"a graph cannot have {n} vertices")
    if int(n) > MOST_VERTICES:
        raise GraphError(f"a graph can have {MOST_VERTICES:,} vertices at most, not {int(n):,}")
    return int(n)


def require_square(shape: tuple[int, ...]) -> int:
    """Return the number of vertices of an adjacency matrix; raise GraphError if it is not square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        hint = "; a list of edges goes through Graph.from_edge_array" if len(shape) == 2 and shape[1] == 2 else ""
        size = " x ".join(map(str, shape)) or "a single number"
        raise GraphError(f"an adjacency matrix is square, this one is {size}{hint}")
    return shape[0]


def require_numbers(entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the entries of a matrix; raise GraphError if one is not a finite number."""
    if entries.dtype.kind not in "biufc":
        raise GraphError(f"an adjacency matrix holds numbers, 0 where there is no edge, not {entries.dtype}")
    if np.isnan(entries).any():
        raise GraphError("the adjacency matrix has an entry that is not a number (NaN); 0 says that there is no edge")
    # A matrix of distances says so that there is no edge.
    if np.isinf(entries).any():
        raise GraphError("the adjacency matrix has an entry that is infinite; 0 says that there is no edge")
    return entries
