"""The count of one block in kernels, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kernels_ti.boundary.executors.dropping import DroppingTables
from kernels_ti.boundary.executors.rows import rows_of, states_in
from kernels_ti.boundary.executors.tables import Shape
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.values.saved import SavedBlock

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernels_ti.device.device import Device


class DeviceBlock(DroppingTables):
    """The count of one block, in kernels on a CPU or CUDA; see `PythonBlock` for the parameters."""

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
    ) -> None:
        super().__init__(device, block, memory)
        self._longest = longest
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        # No set of vertices behind a state is larger.
        self._most_vertices = 0

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        triangles = self._steps[self._place].triangles
        cost = super().take_vertex(enough)
        self.triangles += triangles
        return cost

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        added = yield from self._added_up(step, shape, apart=self._longest is not None)
        if added is None:
            return False
        found, most = added
        self._most_vertices = most + 1
        if step.may_close:
            self._count(found)
        return True

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that surely holds the ways to the new states, of each length."""
        shape = super()._next_shape(step)
        if self._longest is None:
            return shape
        return replace(shape, lengths=max(min(self._most_vertices + 2, self._longest), 1))

    def _count(self, found: list[int]) -> None:
        """Add the cycles that the new vertex closes, for each number of vertices before it."""
        for vertices, ways in enumerate(found):
            length = 0 if self._longest is None else vertices + 1
            if ways and (self._longest is None or length <= self._longest):
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        shape = self._shape
        states = states_in(self._device.call(self._gathered, self._new), shape.words, shape.lengths, shape.digits)
        return SavedBlock(self._place, states, dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        states, digits, lengths = saved.states.counts.shape
        self._shape = Shape(max(states, 1), self._words, lengths, digits)
        rows = np.zeros((self._shape.rows, self._shape.stride), np.uint64)
        rows[:states, : self._words + lengths * digits] = rows_of(saved.states)
        self._device.call(self._upload, self._old, rows.reshape(-1))
        self._place, self.states, self._is_resumed = saved.place, states, True
        self.cycles, self.triangles = dict(saved.cycles), saved.triangles
        self.width = self._block.width_after(saved.place)
        self._most_ways = (saved.states.largest + 1) << DIGIT_BITS * (digits - 1)
        self._most_vertices = lengths - 1
