"""The count of one block in kernels, on a GPU or a CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernels_ti.boundary.executors.forward import ForwardCount
from kernels_ti.boundary.executors.rows import rows_with, words_in
from kernels_ti.boundary.executors.tables import DeviceTables
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.cells import DIGIT_BITS
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.device.device import Device


class DeviceBlock(DeviceTables, ForwardCount):
    """The count of one block, all lengths together, in kernels on a CPU or CUDA."""

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
        *,
        beside: Sequence[int] = (),
        ways: Sequence[int] = (1,),
    ) -> None:
        super().__init__(device, block, memory, beside=beside, ways=ways)
        self._begin_count(longest)

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        self.states_met = [self.states]
        super().take_vertex(enough)

    def _note_closed(self, ways: int) -> None:
        self._close([ways])

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        rows, words = self._device.call(self._gathered, self._new), self._words
        return self._saved_with(SavedStates(words_in(rows, words), np.ascontiguousarray(rows[:, words:, None])))

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        super().resume(saved)
        _, digits, _ = saved.states.counts.shape
        most_ways = (saved.states.largest + 1) << DIGIT_BITS * (digits - 1)
        self._put_back(saved.place, rows_with(saved.states.words.T, saved.states.counts[:, :, 0]), most_ways)
