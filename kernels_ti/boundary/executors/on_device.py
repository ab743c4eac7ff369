"""The count of one block in kernels, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from kernels_ti.boundary.executors.forward import ForwardCount
from kernels_ti.boundary.executors.rows import rows_of, states_in
from kernels_ti.boundary.executors.tables import DeviceTables, Shape
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.cells import DIGIT_BITS
from kernels_ti.boundary.values.saved import SavedBlock
from kernels_ti.device.device import Device


class DeviceBlock(DeviceTables, ForwardCount):
    """The count of one block, in kernels on a CPU or CUDA."""

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
    ) -> None:
        super().__init__(device, block, memory)
        self._begin_count(longest)
        # No set of vertices behind a state is larger.
        self._most_vertices = 0

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        self.states_met = [self.states]
        super().take_vertex(enough)

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        added = yield from self._added_up(step, shape, apart=self._longest is not None)
        if added is None:
            return False
        found, most = added
        self._most_vertices = most + 1
        if step.may_close:
            self._close(found)
        return True

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that surely holds the ways to the new states, of each length."""
        shape = super()._next_shape(step)
        if self._longest is None:
            return shape
        return replace(shape, lengths=max(min(self._most_vertices + 2, self._longest), 1))

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        shape = self._shape
        rows = self._device.call(self._gathered, self._new)
        return self._saved_with(states_in(rows, shape.words, shape.lengths, shape.digits))

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        super().resume(saved)
        _, digits, lengths = saved.states.counts.shape
        most_ways = (saved.states.largest + 1) << DIGIT_BITS * (digits - 1)
        self._device.call(self._put_back, saved.place, rows_of(saved.states), most_ways, lengths)
        self._most_vertices = lengths - 1
