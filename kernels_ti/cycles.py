"""Cycles as the search hands them out: vertices in cycle order, many in two arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.device.machine import cores
from kernels_ti.errors import OptionError, quantity
from kernels_ti.graph import Graph, IntArray
from kernels_ti.state import STATE_WORD_BITS, Rows

_CYCLES_AT_ONCE = 1 << 12
"""Cycles that are turned into rows or names at a time: their vertices stay in the second-level cache."""

_FEW_WORDS = 16

ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Cycles:
    """Some cycles, stored one after another in two arrays.

    Attributes
    ----------
    offsets : ndarray of int64, shape (k + 1,)
        Cycle i is ``vertices[offsets[i]:offsets[i + 1]]``.
    vertices : ndarray of int32
        Vertex indices of the input graph in cycle order; each cycle starts at its smallest vertex and goes
        on to that vertex's smaller neighbour.
    """

    offsets: IntArray
    vertices: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """Vertices of each cycle, shape (k,)."""
        return np.diff(self.offsets)

    def chosen(self, keep: npt.NDArray[np.bool_]) -> Cycles:
        """Only the cycles for which `keep`, shape (k,), is true."""
        lengths = self.lengths
        return Cycles(
            np.concatenate(([0], np.cumsum(lengths[keep]))).astype(np.int64), self.vertices[np.repeat(keep, lengths)]
        )

    def part(self, start: int, stop: int) -> Cycles:
        """Cycles `start` to ``stop - 1``; their vertices are a view."""
        offsets = self.offsets[start : stop + 1]
        return Cycles(offsets - offsets[0], self.vertices[offsets[0] : offsets[-1]])

    @staticmethod
    def of_lists(cycles: list[list[int]]) -> Cycles:
        """Make `Cycles` from lists of vertices that are already in canonical cycle order."""
        offsets = np.concatenate(([0], np.cumsum([len(cycle) for cycle in cycles]))).astype(np.int64)
        return Cycles(offsets, np.array([v for cycle in cycles for v in cycle], np.int32))

    def rows(self, vertices: int) -> Rows:
        """Bit rows over `vertices` vertices, uint64, shape (k, ceil(vertices / 64))."""
        words = -(-vertices // STATE_WORD_BITS)
        rows = np.zeros((len(self), words), np.uint64)
        if not len(self):
            return rows
        bit = np.uint64(1) << (np.arange(vertices) % STATE_WORD_BITS).astype(np.uint64)
        if words <= _FEW_WORDS:
            for w in range(words):
                of_vertex = np.where(np.arange(vertices) // STATE_WORD_BITS == w, bit, np.uint64(0))
                rows[:, w] = np.bitwise_or.reduceat(of_vertex.take(self.vertices), self.offsets[:-1])
            return rows
        # No vertex comes twice in a cycle, so its bits add up.
        owner = np.repeat(np.arange(len(self)), self.lengths)
        np.add.at(rows.reshape(-1), owner * words + self.vertices // STATE_WORD_BITS, bit[self.vertices])
        return rows

    @staticmethod
    def joined(pieces: list[Cycles]) -> Cycles:
        """All cycles of some pieces, in order."""
        if len(pieces) == 1:
            return pieces[0]
        lengths = np.concatenate([np.empty(0, np.int64), *(piece.lengths for piece in pieces)])
        return Cycles(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([np.empty(0, np.int32), *(piece.vertices for piece in pieces)]),
        )

    def named(self, names: Sequence[Hashable] | ObjectArray) -> Iterator[list[Hashable]]:
        """Yield each cycle as the list of its vertices' names.

        Parameters
        ----------
        names : sequence of hashable, or what `name_array` makes of it
            The name of every vertex of the graph.
        """
        of_vertex = names if isinstance(names, np.ndarray) else name_array(names)
        for start in range(0, len(self), _CYCLES_AT_ONCE):
            offsets = self.offsets[start : start + _CYCLES_AT_ONCE + 1]
            # Lists are cut from one list of names: that takes half the time of a list comprehension for each cycle.
            named = np.take(of_vertex, self.vertices[offsets[0] : offsets[-1]]).tolist()
            bounds = (offsets - offsets[0]).tolist()
            yield from map(named.__getitem__, map(slice, bounds, bounds[1:]))


def name_array(names: Sequence[Hashable]) -> ObjectArray:
    """Return the names as an array of objects, shape (n,)."""
    array = np.empty(len(names), object)
    for v, name in enumerate(names):
        array[v] = name
    return array


@dataclass(frozen=True, eq=False)
class CycleTable:
    """All cycles of a search, in two arrays.

    Attributes
    ----------
    graph : Graph
        The graph that was searched.
    offsets : ndarray of int64, shape (k + 1,)
        Cycle i is ``vertices[offsets[i]:offsets[i + 1]]``.
    vertices : ndarray of int32
        Vertex indices of `graph` in cycle order; each cycle starts at its smallest vertex and goes on to that
        vertex's smaller neighbour, in a directed graph along the arc from it.
    complete : bool
        False if the search ended before it was done: there may be more cycles.

    Examples
    --------
    >>> from kernels_ti import Graph, collect_cycles
    >>> table = collect_cycles(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd"), arch="cpu")
    >>> len(table), table.offsets, table.vertices
    (1, array([0, 4]), array([0, 1, 2, 3], dtype=int32))
    >>> table.lists()
    [['a', 'b', 'c', 'd']]
    >>> table[0]
    ['a', 'b', 'c', 'd']
    >>> table.rows()
    array([[15]], dtype=uint64)
    """

    graph: Graph
    offsets: IntArray
    vertices: npt.NDArray[Any]
    complete: bool = True

    @classmethod
    def of_pieces(cls, graph: Graph, pieces: Iterable[Cycles]) -> CycleTable:
        """Concatenate the cycles of some pieces; `pieces` may be a generator, it is consumed piece by piece."""
        lengths: list[npt.NDArray[np.int32]] = []
        parts: list[npt.NDArray[np.int32]] = []
        for piece in pieces:
            lengths.append(piece.lengths.astype(np.int32))
            parts.append(piece.vertices)
        vertices = np.empty(sum(map(len, parts)), np.int32)
        filled = len(vertices)
        while parts:  # from the end, so that each part is freed as soon as it is copied
            part = parts.pop()
            vertices[filled - len(part) : filled] = part
            filled -= len(part)
        offsets = np.zeros(sum(map(len, lengths)) + 1, np.int64)
        np.cumsum(np.concatenate([np.empty(0, np.int32), *lengths]), out=offsets[1:])
        return cls(graph, offsets, vertices)

    def first(self, count: int) -> CycleTable:
        """Return a table of the first `count` cycles. It is complete if it has all cycles of a complete table.

        Raises
        ------
        OptionError
            If `count` is below 0.
        """
        if count < 0:
            raise OptionError(f"a table cannot have {count} cycles")
        if count >= len(self):
            return self
        return CycleTable(self.graph, self.offsets[: count + 1], self.vertices[: self.offsets[count]], complete=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> list[Hashable]:
        """Return cycle i as the list of its vertices' names; -1 is the last one."""
        i = range(len(self))[index(i)]
        return [self.graph.names[v] for v in self.vertices[self.offsets[i] : self.offsets[i + 1]].tolist()]

    def __iter__(self) -> Iterator[list[Hashable]]:
        """Yield each cycle as the list of its vertices' names, as `enumerate_cycles` does."""
        names = name_array(self.graph.names)
        for start in range(0, len(self), _CYCLES_AT_ONCE):
            yield from self._some(start).named(names)

    def __repr__(self) -> str:
        return f"CycleTable({quantity(len(self), 'cycle')} of {self.graph!r})"

    @property
    def lengths(self) -> IntArray:
        """Vertices of each cycle, shape (k,)."""
        return np.diff(self.offsets)

    def rows(self) -> Rows:
        """Return each cycle as a bit row.

        Returns
        -------
        ndarray of uint64, shape (k, ceil(n / 64))
            Bit ``v % 64`` of word ``v // 64`` is set when vertex v lies on the cycle.
        """
        rows = np.empty((len(self), -(-self.graph.n // STATE_WORD_BITS)), np.uint64)

        def fill(start: int) -> None:
            some = self._some(start)
            rows[start : start + len(some)] = some.rows(self.graph.n)

        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, range(0, len(self), _CYCLES_AT_ONCE)))
        return rows

    def lists(self) -> list[list[Hashable]]:
        """Return each cycle as the list of its vertices' names, as `enumerate_cycles` yields them."""
        return list(self)

    def to_arrow(self) -> Any:
        """Return an Arrow table with the columns of the Parquet files that ``chordless export`` writes.

        Returns
        -------
        pyarrow.Table
            ``length`` (int32) and ``vertices``, a list of the names in cycle order: integers (int64) where all
            names of the graph are, and text otherwise, as a dictionary.

        Raises
        ------
        OptionError
            If pyarrow is not installed (``pip install 'chordless[parquet]'``).
        """
        from kernels_ti.arrow import arrow_table, name_column

        return arrow_table(self.offsets, self.vertices, name_column(self.graph))

    def _some(self, start: int) -> Cycles:
        offsets = self.offsets[start : start + _CYCLES_AT_ONCE + 1]
        return Cycles(offsets - offsets[0], self.vertices[offsets[0] : offsets[-1]])


class CycleStream(Iterator[list[Hashable]]):
    """The cycles of a search that goes on while they are taken.

    Nothing is searched between two takes, so a slow consumer makes the search wait; no more than the cycles of one
    slice, about a tenth of a second, are in memory. Take lists or batches: a cycle is given once.

    Parameters
    ----------
    graph : Graph
    pieces : iterator of Cycles
        The cycles found by each slice.

    Examples
    --------
    >>> from kernels_ti import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    >>> [table.vertices.tolist() for table in enumerate_cycles(square, arch="cpu").batches()]
    [[0, 1, 2, 3]]
    """

    def __init__(self, graph: Graph, pieces: Iterator[Cycles]) -> None:
        self._graph = graph
        self._pieces = pieces
        self._lists = self._named()

    def __iter__(self) -> Iterator[list[Hashable]]:
        # The generator itself: a loop over it does not pass through `__next__`.
        return self._lists

    def __next__(self) -> list[Hashable]:
        """Return the next cycle as the list of its vertices' names."""
        return next(self._lists)

    def batches(self) -> Iterator[CycleTable]:
        """Yield the cycles in arrays, those of a slice of the search at a time.

        Yields
        ------
        CycleTable
            At least one cycle, in arrays that belong to the caller. `complete` is False: more may follow.
        """
        for found in self._pieces:
            if len(found):
                yield CycleTable(self._graph, found.offsets, found.vertices, complete=False)

    def _named(self) -> Iterator[list[Hashable]]:
        names = name_array(self._graph.names)
        for found in self._pieces:
            yield from found.named(names)
