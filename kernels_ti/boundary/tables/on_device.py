"""The count of one block in kernels, on a CPU or a GPU."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kernels_ti.boundary.orders.order import BoundaryOrder
from kernels_ti.boundary.orders.walk import Step, steps_of
from kernels_ti.boundary.states.saved import SavedBlock
from kernels_ti.boundary.tables.dropping import DroppingTables
from kernels_ti.boundary.tables.rows import rows_of, states_in
from kernels_ti.boundary.tables.tables import FEW_CELLS, HALF_BITS, Shape
from kernels_ti.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernels_ti.device.device import Device


class DeviceBlock(DroppingTables):
    """The count of one block, in kernels.

    Parameters
    ----------
    device : Device
        A CPU or CUDA.
    block : Graph
    order : BoundaryOrder
        Of a width up to `WIDEST`.
    required : frozenset of int
        Vertices that every cycle has to pass.
    longest : int or None
        Longer cycles are not counted; None counts all lengths together.
    memory, host_memory : int or None
        Bytes that the states may take, see `TablesInRounds`.

    Attributes
    ----------
    cycles : dict of int to int
        Cycles by length, so far; all with length 0 where lengths are counted together.
    triangles : int
    states : int
        States held now.
    """

    def __init__(
        self,
        device: Device,
        block: Graph,
        order: BoundaryOrder,
        required: frozenset[int],
        longest: int | None,
        memory: int | None,
        host_memory: int | None = None,
    ) -> None:
        steps = tuple(steps_of(block, order, required))
        super().__init__(device, block, steps, memory, host_memory=host_memory)
        self._longest = longest
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        # No set of vertices behind a state is larger.
        self._most_vertices = 0

    _closed = ("cycles",)

    @property
    def _may_take_rounds(self) -> bool:
        """With a number for each length, several passes are faster, see `kernels_ti.boundary.tables.in_passes`."""
        return self._longest is None

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        triangles = self._steps[self._place].triangles
        cost = super().take_vertex(enough)
        self.triangles += triangles
        return cost

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        from kernels_ti.boundary.kernels.count import count_kernel
        from kernels_ti.boundary.kernels.tables import FOUND, FULL, TALLIES

        old, apart = self._shape, int(self._longest is not None)
        found = 2 * old.lengths * shape.digits
        copies = max(FEW_CELLS // found, 1)
        table, tallies = self._cleared(shape, copies * found)
        tabled = self._tabulate(step)
        advance = count_kernel(self._words, self._bits)
        for first, last in self._slices(step, shape):
            advance(
                first, last, self._buffers[self._old], old.stride, old.lengths, old.digits,
                table, shape.rows, shape.stride, shape.lengths, shape.digits,
                apart, tabled, self._buffers["steps"], self._bases[self._place], self._buffers["changes"],
                *self._round, self._spread, copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: FOUND + copies * found]
        if told[FULL]:
            return False
        self._measure(step, told)
        self._most_vertices = int(told[2 * TALLIES : 3 * TALLIES].max()) + 1
        if step.may_close:
            self._count(told[FOUND:].reshape(copies, old.lengths, shape.digits, 2))
        return True

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that surely holds the ways to the new states, of each length."""
        shape = super()._next_shape(step)
        if self._longest is None:
            return shape
        return replace(shape, lengths=max(min(self._most_vertices + 2, self._longest), 1))

    def _count(self, found: np.ndarray) -> None:
        """Add the cycles that the new vertex closes."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        # Halves of 32 bits of fewer than 2^31 rows: their sum fits into a word.
        sums = found.sum(axis=0)
        for vertices in np.flatnonzero(sums.any(axis=(1, 2))).tolist():
            ways = sum(
                low + (high << HALF_BITS) << DIGIT_BITS * k for k, (low, high) in enumerate(sums[vertices].tolist())
            )
            length = 0 if self._longest is None else vertices + 1
            if self._longest is None or length <= self._longest:
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        shape = self._shape
        states = states_in(self.rows(), shape.words, shape.lengths, shape.digits)
        return SavedBlock(self._place, states, dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        states, digits, lengths = saved.states.counts.shape
        self._shape = Shape(max(states, 1), self._words, lengths, digits)
        rows = np.zeros((self._shape.rows, self._shape.stride), np.uint64)
        rows[:states, : self._words + lengths * digits] = rows_of(saved.states)
        if self._may_take_rounds and rows.nbytes > self._room():
            self._buffers.pop(self._old)
            self._parts = [rows]
        else:
            self._device.call(self._upload, self._old, rows.reshape(-1))
        self._place, self.states = saved.place, states
        self.cycles, self.triangles = dict(saved.cycles), saved.triangles
        self.width = self._steps[saved.place - 1].width if saved.place else 0
        self._most_ways = (saved.states.largest + 1) << DIGIT_BITS * (digits - 1)
        self._most_vertices = lengths - 1
