"""Tables of a block in kernels that drop states which lead to no cycle, see `kernels_ti.boundary.completion`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from kernels_ti.boundary.completion import Completion
from kernels_ti.boundary.device_tables import DeviceTables
from kernels_ti.boundary.states import GivenUp
from kernels_ti.boundary.transitions import Packing
from kernels_ti.boundary.walk import Step
from kernels_ti.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernels_ti.device.device import Device

# With fewer numbers to a state, a step takes no longer than a test.
_FEWEST_NUMBERS = 16


class DroppingTables(DeviceTables):
    """The states of one block, without those that were seen to lead to no cycle.

    Parameters
    ----------
    device : Device
        A CPU or CUDA.
    block : Graph
    steps, memory, beside
        See `DeviceTables`.

    Attributes
    ----------
    dropped : int
        States that were dropped, as nothing completes them.
    """

    def __init__(
        self, device: Device, block: Graph, steps: Sequence[Step], memory: int | None, *, beside: int = 0
    ) -> None:
        super().__init__(device, steps, memory, beside=beside)
        self._completion = Completion(block, self._steps, Packing.of(self._steps))
        self.dropped = 0

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        self._drop(enough)
        return super().take_vertex(enough)

    def _drop(self, enough: Callable[[], bool]) -> None:
        """Drop states that cannot be completed, where that is expected to save time, or the room is short."""
        shape = self._next_shape(self._steps[self._place])
        is_short = 8 * shape.cells > self._room()
        numbers = self._numbers
        is_due = self._completion.is_due(self.states, numbers, is_short=is_short)
        # On a GPU neither the gain nor the compilation has been measured: it drops states only where it has to.
        is_worth_it = self._device.arch == "cpu" and numbers >= _FEWEST_NUMBERS
        if self._place == 0 or not is_due or not (is_short or is_worth_it):
            return
        slices = self._dropping()
        while self._device.call(next, slices, False):
            if enough():
                raise GivenUp

    @property
    def _numbers(self) -> int:
        """Cells of a row behind the state. A state whose cells are all zero counts as dropped."""
        return self._shape.words - self._cells + self._shape.lengths * self._shape.digits

    def _dropping(self) -> Generator[bool, None, None]:
        """Drop states; yield between launches."""
        from kernels_ti.boundary.completion_kernels import dropping_kernel
        from kernels_ti.boundary.kernels import FOUND, TALLIES, clear

        drop = dropping_kernel(self._words, self._bits)
        table, tallies = self._buffers[self._old], self._buffer("tallies", FOUND)
        ahead = self._device.buffer(self._completion.after(self._place - 1))
        clear(0, table, FOUND, tallies)
        for first, last in self._pieces(None):
            drop(first, last, self._shape.stride, self._numbers, table, ahead, self._spread, tallies)
            yield True
        dropped = int(self._device.download(tallies)[:TALLIES].sum())
        self._completion.learn(self.states, dropped)
        self.states -= dropped
        self.dropped += dropped
