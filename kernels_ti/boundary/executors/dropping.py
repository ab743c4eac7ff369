"""Tables of a block in kernels that drop states which lead to no cycle, see `completion`."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from kernels_ti.boundary.executors.completion import Completion
from kernels_ti.boundary.executors.launches import go_through
from kernels_ti.boundary.executors.tables import DeviceTables
from kernels_ti.boundary.spec.block import OrderedBlock

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernels_ti.device.device import Device

# With fewer numbers to a state, a step takes no longer than a test.
_FEWEST_NUMBERS = 16


class DroppingTables(DeviceTables):
    """The states of one block, without those that were seen to lead to no cycle: `dropped` is the number of these."""

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        memory: int | None,
        *,
        beside: int = 0,
    ) -> None:
        super().__init__(device, block, memory, beside=beside)
        self._completion = Completion(block)
        self.dropped = 0

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        self._drop(enough)
        super().take_vertex(enough)

    def _drop(self, enough: Callable[[], bool]) -> None:
        """Drop states that cannot be completed, where that is expected to save time, or the room is short."""
        shape = self._next_shape(self._steps[self.place])
        is_short = 8 * shape.cells > self._room()
        numbers = self._shape.numbers(self._cells)
        is_due = self._completion.is_due(self.states, numbers, is_short=is_short)
        # On an H200 tests before each fourth step took longer than they saved: there states are dropped only for room.
        is_worth_it = self._device.arch == "cpu" and numbers >= _FEWEST_NUMBERS
        if self.place == 0 or not is_due or not (is_short or is_worth_it):
            return
        go_through(self._device, self._dropping(), enough)

    def _dropping(self) -> Generator[None, None, None]:
        """Drop states of the table, as they are after the last step; yield between launches."""
        from kernels_ti.boundary.kernels.completion import dropping_kernel
        from kernels_ti.boundary.kernels.tables import FOUND, TALLIES, clear

        drop = dropping_kernel(self._words, self._bits)
        table, tallies = self._buffers[self._old], self._buffer("tallies", FOUND)
        ahead = self._device.buffer(self._completion.after(self.place - 1))
        numbers = self._shape.numbers(self._cells)
        clear(0, table, FOUND, tallies)
        for first, last in self._launches():
            drop(first, last, self._shape.stride, numbers, table, ahead, self._spread, tallies)
            yield
        dropped = int(self._device.download(tallies)[:TALLIES].sum())
        self._completion.learn(self.states, dropped)
        self.states -= dropped
        self.dropped += dropped
