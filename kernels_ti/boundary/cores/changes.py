"""What each vertex changes in the states of a boundary, tabulated for the steps to come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.transitions import Packing
from kernels_ti.boundary.tables.tables import coded_step

Words = npt.NDArray[np.uint64]

# The changes by a vertex are tabulated for this many combinations of symbols at least; for more if there are many
# states.
_SMALL_TABLE, _STATES_TO_A_COMBINATION = 1 << 10, 4
# Steps whose small tables are made in one launch.
_STEPS_AT_ONCE = 64


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
    bases : list of int
        Where each step begins in them.
    """

    def __init__(self, steps: Sequence[Step], packing: Packing) -> None:
        from kernels_ti.boundary.kernels.parts import part_kernels

        coded = [coded_step(step) for step in steps]
        self.coded = np.concatenate(coded)
        self.bases: list[int] = np.cumsum([0, *map(len, coded)]).tolist()
        self._combinations = [1 << packing.bits * len(step.near) for step in steps]
        self._cells = 1 + 3 * packing.words
        self._tabulate = part_kernels(packing.words, packing.bits).tabulate
        self._tables: dict[int, Words] = {}
        self.none = np.zeros(1, np.uint64)

    def of(self, place: int, states: int) -> Words | None:
        """Return the table of a step, to be called on the thread that owns Taichi.

        None tells that it has too many combinations of symbols for the number of states: each change is worked out.
        """
        combinations = self._combinations[place]
        if combinations > max(_SMALL_TABLE, states // _STATES_TO_A_COMBINATION):
            return None
        if combinations > _SMALL_TABLE:
            return self._made([place])[place]
        if place not in self._tables:
            following = range(place, min(place + _STEPS_AT_ONCE, len(self._combinations)))
            self._tables = self._made([each for each in following if self._combinations[each] <= _SMALL_TABLE])
        return self._tables[place]

    def _made(self, places: list[int]) -> dict[int, Words]:
        """Return the tables of some steps."""
        sizes = [self._combinations[place] for place in places]
        first = np.cumsum([0, *sizes]).astype(np.int32)
        table = np.empty(int(first[-1]) * self._cells, np.uint64)
        step_of = np.repeat(np.arange(len(places), dtype=np.int32), sizes)
        bases = np.array([self.bases[place] for place in places], np.int32)
        self._tabulate(len(step_of), step_of, first, bases, self.coded, table)
        cells = (first * self._cells).tolist()
        return {place: table[begin:] for place, begin in zip(places, cells, strict=False)}
