"""The cycles of a search that goes on while they are taken, one by one or in tables."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator
from typing import Literal, overload

from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.errors import OptionError, require_flags
from kernels_ti.graph import Graph
from kernels_ti.state import Rows


class CycleStream(Iterator[list[Hashable]]):
    """The cycles of a search that goes on while they are taken.

    Nothing is searched between two takes, so a slow consumer makes the search wait; no more than the cycles of one
    slice, about a tenth of a second, are in memory. Take lists or batches: a cycle is given once.

    Parameters
    ----------
    graph : Graph
    pieces : generator of CycleTable or Cycles
        The cycles found by each slice. A complete table among them says that no cycle is missing after it.

    Attributes
    ----------
    complete : bool
        Whether all cycles have been taken. At the end it is False where a limit or a time-out ended the search.

    Examples
    --------
    >>> from chordless import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    >>> [table.vertices.tolist() for table in enumerate_cycles(square, arch="cpu").batches()]
    [[0, 1, 2, 3]]
    """

    def __init__(self, graph: Graph, pieces: Generator[CycleTable | Cycles, None, None]) -> None:
        self.graph = graph
        self.pieces = pieces
        self.complete = False
        self._tables = map(self._table, pieces)
        self._took_lists = False
        self._lists = self._each()

    def __iter__(self) -> Iterator[list[Hashable]]:
        # The generator itself: a loop over it does not pass through `__next__`.
        return self._lists

    def __next__(self) -> list[Hashable]:
        """Return the next cycle as the list of its vertices' names."""
        return next(self._lists)

    @overload
    def batches(self, *, rows: Literal[False] = False) -> Iterator[CycleTable]: ...
    @overload
    def batches(self, *, rows: Literal[True]) -> Iterator[Rows]: ...
    def batches(self, *, rows: bool = False) -> Iterator[CycleTable] | Iterator[Rows]:
        """Yield the cycles in arrays, those of a slice of the search at a time.

        Parameters
        ----------
        rows : bool
            Yield bit rows alone, see `CycleTable.rows`.

        Yields
        ------
        CycleTable or ndarray of uint64, shape (k, ceil(n / 64))
            At least one cycle, in arrays that belong to the caller. `complete` of a table is False: more may follow.

        Raises
        ------
        OptionError
            If cycles have been taken one by one: the rest of a slice would be lost.
        """
        require_flags(rows=rows)
        if self._took_lists:
            raise OptionError("cycles of this stream have been taken one by one: take lists or batches, not both")
        found = (table for table in self._tables if len(table))
        return (table.rows() for table in found) if rows else found

    def close(self) -> None:
        """End the search, as that of a generator: no cycle is given any more, and its memory is free."""
        self._lists.close()
        self.pieces.close()

    def _each(self) -> Generator[list[Hashable], None, None]:
        self._took_lists = True
        for table in self._tables:
            yield from table

    def _table(self, piece: CycleTable | Cycles) -> CycleTable:
        if isinstance(piece, CycleTable):
            self.complete = piece.complete
            return piece
        return CycleTable(self.graph, piece.offsets, piece.vertices, complete=False)
