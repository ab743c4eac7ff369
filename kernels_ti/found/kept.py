"""Cycles that a search has brought to the host, until the caller of the run takes them."""

from __future__ import annotations

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.found.row_store import RowStore
from kernels_ti.options import Lengths
from kernels_ti.state import STATE_WORD_BITS, Rows, populations


class Kept:
    """The cycles of the wanted lengths found since they were last taken: as lists of vertices or as bit rows.

    After `gather` all rows lie side by side in `store`.
    """

    def __init__(self, vertices: int, lengths: Lengths, *, as_rows: bool) -> None:
        self._vertices = vertices
        self._words = -(-vertices // STATE_WORD_BITS)
        self._lengths = lengths if lengths.exclude_some_found else None
        self._as_rows = as_rows
        self._cycles: list[Cycles] = []
        self._rows: list[Rows] = []
        self.store: RowStore | None = None

    def __bool__(self) -> bool:
        return bool(self._cycles or self._rows or self.store)

    def gather(self) -> None:
        """Put all rows into one store from now on, behind those that wait already."""
        self.store = RowStore(self._words, self._lengths)
        waiting, self._rows = self._rows, []
        for rows in waiting:
            self.store.add(rows)

    def add(self, found: Cycles | Rows) -> None:
        """Keep cycles until they are taken."""
        if isinstance(found, Cycles) and self._as_rows:
            found = found.rows(self._vertices)
        if not len(found):
            return
        if isinstance(found, Cycles):
            self._cycles.append(found)
        elif self.store is not None:
            self.store.add(found)
        else:
            self._rows.append(found)

    def take_cycles(self) -> Cycles:
        """Take the cycles that were kept as lists of vertices."""
        found, self._cycles = Cycles.joined(self._cycles), []
        return found if self._lengths is None else found.chosen(self._lengths.among(found.lengths))

    def take_rows(self) -> Rows:
        """Take the cycles that were kept as bit rows, shape (k, ceil(n / 64))."""
        if self.store is not None:
            return self.store.take()
        taken, self._rows = self._rows, []
        found: Rows = taken[0] if len(taken) == 1 else np.concatenate([np.empty((0, self._words), np.uint64), *taken])
        return found if self._lengths is None else found[self._lengths.among(populations(found))]
