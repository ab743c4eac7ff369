"""What each vertex changes in the states of a boundary, tabulated for the steps to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.transitions import Packing
from kernels_ti.boundary.tables.tables import coded_step

Words = npt.NDArray[np.uint64]

# The changes by a vertex are tabulated for this many combinations of symbols at least; for more if there are many
# states.
_SMALL_TABLE, _STATES_TO_A_COMBINATION = 1 << 10, 4
# Vertices whose small tables are made in one launch.
_VERTICES_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Stretch:
    """Vertices that come one after another, as kernels read them.

    Attributes
    ----------
    vertices : int
    tabled : bool
        Whether their changes are looked up in tables. They are worked out for each state otherwise.
    cells : ndarray of int32
        For each of them, where its step begins among the coded steps, and its table in `table`.
    table : ndarray of uint64
    """

    vertices: int
    tabled: bool
    cells: npt.NDArray[np.int32]
    table: Words


class Changes:
    """Tables of the changes, one for each step.

    Parameters
    ----------
    steps : sequence of Step
    packing : Packing

    Attributes
    ----------
    coded : ndarray of int32
        All steps, as kernels read them.
    """

    def __init__(self, steps: Sequence[Step], packing: Packing) -> None:
        from kernels_ti.boundary.kernels.parts import part_kernels

        coded = [coded_step(step) for step in steps]
        self.coded = np.concatenate(coded)
        self._bases = np.cumsum([0, *map(len, coded)]).astype(np.int32)
        self._combinations = [1 << packing.bits * len(step.near) for step in steps]
        self._cells = 1 + 3 * packing.words
        self._tabulate = part_kernels(packing.words, packing.bits).tabulate
        self._none = np.zeros(1, np.uint64)
        # The small tables of the vertices from one place on.
        self._small, self._first = Stretch(0, True, np.zeros(0, np.int32), self._none), 0

    def of(self, place: int, most: int, states: int) -> Stretch:
        """Return the stretch from a place on, to be called on the thread that owns Taichi.

        Parameters
        ----------
        place : int
        most : int
            Vertices that it may have. It ends before a vertex whose changes are to be had in another way.
        states : int
            There are no tables of too many combinations of symbols for so many states.
        """
        if self._combinations[place] <= _SMALL_TABLE:
            return self._of_small_tables(place, most)
        room = max(_SMALL_TABLE, states // _STATES_TO_A_COMBINATION)
        tabled = self._combinations[place] <= room
        end = place
        while end < min(place + most, len(self._combinations)):
            combinations = self._combinations[end]
            is_alike = _SMALL_TABLE < combinations <= room if tabled else combinations > room
            if not is_alike:
                break
            end += 1
            # Few of such tables fit into a cache.
            room -= combinations if tabled else 0
        if tabled:
            return self._tabulated(range(place, end))
        cells = np.zeros((end - place, 2), np.int32)
        cells[:, 0] = self._bases[place:end]
        return Stretch(end - place, False, cells.reshape(-1), self._none)

    def _of_small_tables(self, place: int, most: int) -> Stretch:
        """Return a stretch of vertices that have small tables, which are made for many vertices at once."""
        if not self._first <= place < self._first + self._small.vertices:
            end = place
            while (
                end < min(place + _VERTICES_AT_ONCE, len(self._combinations))
                and self._combinations[end] <= _SMALL_TABLE
            ):
                end += 1
            self._small, self._first = self._tabulated(range(place, end)), place
        begin = place - self._first
        cells = self._small.cells[2 * begin : 2 * (begin + most)]
        return Stretch(len(cells) // 2, True, cells, self._small.table)

    def _tabulated(self, places: range) -> Stretch:
        """Return a stretch with its tables."""
        sizes = [self._combinations[place] for place in places]
        first = np.cumsum([0, *sizes]).astype(np.int32)
        table = np.empty(int(first[-1]) * self._cells, np.uint64)
        step_of = np.repeat(np.arange(len(places), dtype=np.int32), sizes)
        bases = self._bases[places.start : places.stop]
        self._tabulate(len(step_of), step_of, first, bases, self.coded, table)
        cells = np.stack((bases, first[:-1] * self._cells), axis=1).astype(np.int32).reshape(-1)
        return Stretch(len(places), True, cells, table)
