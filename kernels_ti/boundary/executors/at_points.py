"""One way along a block in kernels that carries values of polynomials, see `kernels_ti.boundary.kernels.points`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kernels_ti.boundary.executors.dropping import DroppingTables
from kernels_ti.boundary.executors.tables import FEW_CELLS, HALF_BITS, Shape
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

# The most vertices of a way to the state, plus one.
_BESIDE = 1


class BlockAtPoints(DroppingTables):
    """The polynomial whose coefficients are a block's cycles by length, at some points from 1 on, modulo a prime.

    The prime is just below 2^48. `longest` has the vertices of the longest cycle that closed so far, 0 before any did.
    """

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        memory: int | None,
        points: range,
        prime: int,
    ) -> None:
        self._points, self.prime = points, prime
        self.longest = 0
        self._sums = np.zeros(len(points), object)
        super().__init__(device, block, memory, beside=_BESIDE)

    @property
    def values(self) -> list[int]:
        """The values at the points, modulo the prime, of the cycles that closed so far."""
        return [int(value) % self.prime for value in self._sums]

    def _begin(self) -> None:
        """Make the one state of no vertex: its polynomial is 1."""
        super()._begin()
        row = np.array(self._device.download(self._buffers[self._old]))[: self._cells]
        self._shape = Shape(1, self._cells + _BESIDE, digits=len(self._points))
        ones = np.ones(self._shape.stride - self._cells, np.uint64)
        self._upload(self._old, np.concatenate((row, ones)))

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that probably holds all new states; no number needs more digits."""
        return replace(super()._next_shape(step), digits=len(self._points))

    @property
    def _below(self) -> int:
        from kernels_ti.boundary.kernels.tables import DIGIT_LIMIT

        return DIGIT_LIMIT - self.prime

    def _carry(self, shape: Shape) -> None:
        """Replace all values of the new table by their remainders."""
        from kernels_ti.boundary.kernels.points import reduce

        reduce(shape.rows, shape.stride, shape.words, shape.digits, self._below, self._buffers[self._new])

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        from kernels_ti.boundary.kernels.points import points_kernel
        from kernels_ti.boundary.kernels.tables import FOUND, FULL, TALLIES

        values = len(self._points)
        copies = max(FEW_CELLS // (2 * values), 1)
        table, tallies = self._cleared(shape, 2 * copies * values)
        evaluate = points_kernel(self._words, self._bits)
        for first, last in self._slices(step, shape):
            evaluate(
                first, last, self._buffers[self._old], self._shape.stride,
                table, shape.rows, shape.stride, values, self._points.start, self._below,
                self._buffers["spec"], self._bases[self.place],
                self._spread, copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: FOUND + 2 * copies * values]
        if told[FULL]:
            return False
        self._measure(step, told)
        self.longest = max(self.longest, int(told[2 * TALLIES : 3 * TALLIES].max()))
        # Halves of 32 bits of fewer than 2^31 rows: their sum fits into a word.
        halves = told[FOUND:].reshape(copies, values, 2).sum(axis=0).astype(object)
        self._sums += halves[:, 0] + (halves[:, 1] << HALF_BITS)
        return True
