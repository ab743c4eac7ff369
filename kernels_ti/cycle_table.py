"""All cycles of a search in arrays: as bit rows, as vertices in cycle order, as lists of names, as an Arrow table."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import accumulate, chain
from operator import index
from threading import local
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import running, spans
from kernels_ti.arrow import arrow_columns, integer_names, name_column
from kernels_ti.cycles import CYCLES_AT_ONCE, Cycles, name_array
from kernels_ti.device.machine import cores
from kernels_ti.errors import OptionError, quantity
from kernels_ti.graph import Graph, IntArray
from kernels_ti.notebook import SHOWN, html_table, more_text
from kernels_ti.options import require_number
from kernels_ti.proof import Proof, proof_text
from kernels_ti.state import STATE_WORD_BITS, Rows, populations

Order = Callable[[Rows, IntArray, npt.NDArray[np.int32]], None]
"""Writes the vertices of bit rows in cycle order, such as `kernels_ti.found.cycle_order.CycleOrder`."""

_ROWS_AT_ONCE = 1 << 17
"""Cycles that are put in order at a time where not all of them are wanted in one array."""

_ADDED_AT_ONCE = 1 << 20
"""Cycles whose lengths one core adds up at a time: fewer take longer to hand out than to add."""


class CycleTable:
    """All cycles of a search, in arrays.

    A table is made of bit rows or of vertices in cycle order. It makes the other form when that is asked for, and then
    keeps both. A search fills it with bit rows where the graph has 512 vertices or fewer.

    Parameters
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

    Attributes
    ----------
    graph : Graph
    complete : bool

    Examples
    --------
    >>> from chordless import Graph, collect_cycles
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

    def __init__(self, graph: Graph, offsets: IntArray, vertices: npt.NDArray[Any], complete: bool = True) -> None:
        self.graph = graph
        self.complete = complete
        self._count = len(offsets) - 1
        self._offsets: IntArray | None = offsets
        self._vertices: npt.NDArray[Any] | None = vertices
        self._rows: Rows | None = None
        self._order: Order | None = None

    @classmethod
    def of_rows(cls, graph: Graph, rows: Rows, order: Order, *, complete: bool = True) -> CycleTable:
        """Make a table of the bit rows that a search has found.

        Parameters
        ----------
        graph : Graph
        rows : ndarray of uint64, shape (k, ceil(n / 64))
            They belong to the table.
        order : callable
            Puts them in cycle order.
        complete : bool
        """
        table = cls(graph, np.zeros(1, np.int64), np.empty(0, np.int32), complete)
        table._count = len(rows)
        table._rows, table._order = rows, order
        table._offsets = table._vertices = None
        return table

    @classmethod
    def of_pieces(cls, graph: Graph, pieces: Iterable[Cycles], *, complete: bool = True) -> CycleTable:
        """Concatenate the cycles of some pieces, see `Cycles.joined`."""
        found = Cycles.joined(pieces)
        return cls(graph, found.offsets, found.vertices, complete)

    @property
    def offsets(self) -> IntArray:
        """Where each cycle begins in `vertices`, and where the last one ends: int64, shape (k + 1,)."""
        if self._offsets is None:
            assert self._rows is not None
            self._offsets = _ends_of_rows(self._rows)
        return _unwritable(self._offsets)

    @property
    def vertices(self) -> npt.NDArray[Any]:
        """Vertex indices in cycle order: int32, shape (offsets[-1],)."""
        self._vertices = self._all()
        return _unwritable(self._vertices)

    @property
    def lengths(self) -> IntArray:
        """Vertices of each cycle, shape (k,)."""
        if self._rows is not None:
            return populations(self._rows)
        lengths: IntArray = np.diff(self.offsets)
        return lengths

    def rows(self) -> Rows:
        """Return each cycle as a bit row.

        Returns
        -------
        ndarray of uint64, shape (k, ceil(n / 64))
            Bit ``v % 64`` of word ``v // 64`` is set when vertex v lies on the cycle. It is a view of the table that
            cannot be written to; make a copy to change it.
        """
        if self._rows is None:
            self._rows = self._rows_of_vertices()
        return _unwritable(self._rows)

    def proof(self) -> str:
        """Return a hash of the cycles of the table, as ``chordless count --proof`` prints it for all of a graph.

        Returns
        -------
        str
            64 hexadecimal digits; they depend on the names of the vertices, but not on the order of the cycles.
        """
        proof = Proof(self.graph.names)
        for start in range(0, len(self), proof.at_once):
            stop = start + proof.at_once
            proof.add(self._some(start, stop) if self._rows is None else self._rows[start:stop])
        return proof_text(proof.value)

    def first(self, count: int) -> CycleTable:
        """Return a table of the first `count` cycles. It is complete if it has all cycles of a complete table.

        Raises
        ------
        OptionError
            If `count` is not a whole number from 0 on.
        """
        require_number(count, "cycles")
        return self if count >= len(self) else self[:count]

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, which: int) -> list[Hashable]: ...
    @overload
    def __getitem__(self, which: slice) -> CycleTable: ...
    def __getitem__(self, which: int | slice) -> list[Hashable] | CycleTable:
        """Return cycle i as the list of its vertices' names, -1 is the last one; or a table of a slice, a view."""
        if isinstance(which, slice):
            return self._slice(which)
        try:
            i = range(len(self))[index(which)]
        except IndexError:
            raise IndexError(f"there is no cycle {which}: the table has {quantity(len(self), 'cycle')}") from None
        return next(self._some(i, i + 1).named(self.graph.names))

    def __iter__(self) -> Iterator[list[Hashable]]:
        """Yield each cycle as the list of its vertices' names, as `enumerate_cycles` does."""
        return chain.from_iterable(self._named_pieces())

    def __repr__(self) -> str:
        return f"CycleTable({quantity(len(self), 'cycle')} of {self.graph!r})"

    def _repr_html_(self) -> str:
        rows = ([i, len(cycle), cycle] for i, cycle in enumerate(self.first(SHOWN)))
        return html_table(repr(self), ("", "length", "vertices"), rows, more_text(len(self) - SHOWN, "cycle"))

    def lists(self) -> list[list[Hashable]]:
        """Return each cycle as the list of its vertices' names, as `enumerate_cycles` yields them.

        Python's garbage collector pauses meanwhile: it would look through millions of new lists again and again.
        """
        collecting = gc.isenabled()
        gc.disable()
        try:
            return list(self)
        finally:
            if collecting:
                gc.enable()

    def to_arrow(self) -> Any:
        """Return an Arrow table.

        Returns
        -------
        pyarrow.Table
            The columns ``length`` (int32) and ``vertices``, a list of the names in cycle order: integers where all
            names of the graph are (int32 if they fit, otherwise int64), and text otherwise, as a dictionary.

        Raises
        ------
        OptionError
            If pyarrow is not installed (``pip install 'chordless[parquet]'``), or two names are the same text, as 2 and
            "2" are.
        """
        names = name_column(self.graph)
        of_vertex = integer_names(names)
        if of_vertex is None:
            return arrow_columns(self.offsets, self._all(), names)
        if self.graph.vertex_names is None:
            return arrow_columns(self.offsets, self._all(), None)
        values = np.empty(int(self.offsets[-1]), of_vertex.dtype)
        for start in range(0, len(self), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(self))
            into = values[self.offsets[start] : self.offsets[stop]]
            np.take(of_vertex, self._some(start, stop).vertices, out=into, mode="clip")
        return arrow_columns(self.offsets, values, None)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_arrow`, in the memory of Arrow.

        If it is saved as Parquet, ``pandas.read_parquet`` needs ``dtype_backend="pyarrow"``.

        Raises
        ------
        OptionError
            If pyarrow or pandas is not installed, or two names are the same text.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError:
            raise OptionError("a data frame needs pandas: pip install 'chordless[pandas]'") from None
        return self.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype)

    def _named_pieces(self) -> Iterator[Iterator[list[Hashable]]]:
        names = name_array(self.graph.names)
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield self._some(start, min(start + _ROWS_AT_ONCE, len(self))).named(names)

    def _slice(self, which: slice) -> CycleTable:
        chosen = range(len(self))[which]
        complete = self.complete and len(chosen) == len(self)
        if self._rows is not None and self._order is not None:
            return CycleTable.of_rows(self.graph, self._rows[which], self._order, complete=complete)
        if chosen.step == 1:
            some = self._some(chosen.start, max(chosen.stop, chosen.start))
        else:
            numbers = np.arange(len(self))[which]
            lengths = self.lengths[numbers]
            offsets = running(lengths)
            some = Cycles(offsets, self.vertices[spans(self.offsets[numbers], lengths)])
        return CycleTable(self.graph, some.offsets, some.vertices, complete)

    def _some(self, start: int, stop: int) -> Cycles:
        """Return cycles `start` to ``stop - 1`` in cycle order; only these are put in order."""
        if self._vertices is None:
            assert self._rows is not None
            rows = self._rows[start:stop]
            offsets = _ends_of_rows(rows)
            return Cycles(offsets, self._in_order(rows, offsets))
        return Cycles(self.offsets, self._vertices).part(start, stop)

    def _all(self) -> npt.NDArray[Any]:
        """Return all vertices in cycle order; they are not kept."""
        if self._vertices is not None:
            return self._vertices
        assert self._rows is not None
        return self._in_order(self._rows, self.offsets)

    def _in_order(self, rows: Rows, offsets: IntArray) -> npt.NDArray[np.int32]:
        assert self._order is not None
        vertices = np.empty(int(offsets[-1]), np.int32)
        self._order(rows, offsets, vertices)
        return vertices

    def _rows_of_vertices(self) -> Rows:
        rows = np.empty((len(self), -(-self.graph.n // STATE_WORD_BITS)), np.uint64)

        def fill(start: int) -> None:
            some = self._some(start, min(start + CYCLES_AT_ONCE, len(self)))
            rows[start : start + len(some)] = some.rows(self.graph.n)

        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, range(0, len(self), CYCLES_AT_ONCE)))
        return rows


def _unwritable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of an array of a table: a write to it would change what the table answers."""
    view: npt.NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def _ends_of_rows(rows: Rows) -> IntArray:
    """Return where the cycles of bit rows begin, and where the last one ends; all cores add up pieces of the rows."""
    pieces = [slice(start, start + _ADDED_AT_ONCE) for start in range(0, len(rows), _ADDED_AT_ONCE)]
    offsets = np.empty(len(rows) + 1, np.int64)
    offsets[0], ends = 0, offsets[1:]
    of_thread = local()  # the system takes longer to give and take memory from many threads than they count

    def add_up(piece: slice) -> int:
        if not hasattr(of_thread, "lengths"):
            of_thread.lengths = np.empty(min(len(rows), _ADDED_AT_ONCE), np.int64)
        into = ends[piece]
        # To another array: in place numpy holds Python's lock.
        return int(np.cumsum(populations(rows[piece], of_thread.lengths[: len(into)]), out=into)[-1])

    with ThreadPoolExecutor(cores()) if len(pieces) > 1 else nullcontext() as threads:
        on_cores = threads.map if threads else map
        before = [0, *accumulate(on_cores(add_up, pieces))]

        def shift(piece: slice, by: int) -> None:
            ends[piece] += by

        list(on_cores(shift, pieces[1:], before[1:]))
    return offsets
