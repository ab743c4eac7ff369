"""The count of one block by length in kernels, on a GPU or a CPU, see `kernels_ti.boundary.kernels.lengths`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.boundary.executors.on_device import DeviceBlock
from kernels_ti.boundary.executors.rows import rows_by_length, states_by_length, words_in
from kernels_ti.boundary.executors.tables import MOST_CELLS, Shape, bytes_of, closing_ways, copies_of
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.cells import (
    BESIDE,
    DIGIT_BITS,
    FEWEST,
    FIRST,
    FULL,
    LENGTH_LIMIT,
    MOST,
    ROOM,
    TAKEN,
    TALLIES,
    WRITTEN,
)
from kernels_ti.boundary.values.saved import SavedBlock
from kernels_ti.device.device import Device

# Work items that share the ways to a state: neighbours on a GPU read neighbouring cells.
_SHARING = {"cpu": 1, "cuda": 16}
_ROWS_TOGETHER = 8
# Cells of the ways to the states that follow, for each cell of ways now, where states are dropped for want of room.
_GROWTH = 1.3


class DeviceLengths(DeviceBlock):
    """The count of one block by length, of cycles of up to `longest` vertices, in kernels on a CPU or CUDA.

    Rows hold the states. The ways to all of them lie in a buffer of their own.
    """

    def __init__(self, device: Device, block: OrderedBlock, longest: int, memory: int | None) -> None:
        super().__init__(device, block, longest, memory, beside=BESIDE)
        self._apart = 2 if block.is_bipartite else 1
        # Vertices behind a state, before the one that closes a cycle: of any state at most, and of those held now.
        self._most, self._most_held = longest - 1, 0
        # The ways that are held: the digits of each number, and all their cells.
        self._digits, self._ways = 1, 1

    def _begin(self) -> None:
        """Make the one state of no vertex: one way leads there."""
        super()._begin()
        row = np.array(self._device.download(self._buffers[self._old]))
        row[self._cells + FEWEST], row[self._cells + BESIDE] = LENGTH_LIMIT, 0
        self._shape = Shape(1, self._cells + BESIDE, digits=0)
        self._upload(self._old, row)
        self._upload("ways", np.ones(1, np.uint64))

    @property
    def _numbers(self) -> int:
        """Cells that are added up for a state, on average."""
        return self._ways // max(self.states, 1)

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that probably holds all new states."""
        return replace(super()._next_shape(step), digits=0)

    def _is_short(self, shape: Shape) -> bool:
        """Say whether the other table and its ways are expected to take more memory than there is."""
        cells, held = int(_GROWTH * self._ways), bytes_of(self._buffers.get("other ways"))
        return cells > MOST_CELLS or 8 * shape.cells + max(8 * cells, held) > self._room() + held

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        from kernels_ti.boundary.kernels.lengths import carry_ways, length_kernels

        kernels, digits, lengths = length_kernels(self._words, self._bits), self._next_digits(step), self._most_held + 1
        copies = copies_of(2 * lengths * digits)
        closing = copies * 2 * lengths * digits
        table, tallies = self._cleared(shape, 1 + closing)
        for first, last in self._launches():
            kernels.link(
                first, last, self._buffers[self._old], table, shape.rows, self._most,
                self._buffers["spec"], self._bases[self.place], self._spread,
                shape.rows if last == self._shape.rows else 0, _ROWS_TOGETHER, self._apart, digits, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)
        if told[FULL]:
            return False
        cells = int(told[ROOM])
        ways = self._room_for_ways(cells)
        for first, last in self._slices(step, partial(carry_ways, cells // digits, digits, ways)):
            kernels.add(
                first, last, _SHARING[self._device.arch], self._buffers[self._old], self._buffers["ways"],
                self._digits, table, ways, digits, self._apart, self._most, lengths, self._spread, copies,
                0 if first else cells, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: ROOM + 1 + closing]
        self._measure(step, told)
        if step.may_close:
            self._close(closing_ways(told[ROOM + 1 :], copies, lengths, digits))
        self._most_held = int(told[2 * TALLIES : 3 * TALLIES].max())
        self._digits, self._ways = digits, cells
        self._buffers["ways"], self._buffers["other ways"] = ways, self._buffers["ways"]
        return True

    def _room_for_ways(self, cells: int) -> Any:
        """Return the buffer for the ways to the new states, or refuse them."""
        beside = sum(bytes_of(buffer) for name, buffer in self._buffers.items() if name != "other ways")
        needed = beside + max(8 * cells, bytes_of(self._buffers.get("other ways")))
        self._require(needed, 2 * 8 * cells / max(self.states, 1), cells, by_length=True)
        room = None if self._memory is None else self._memory - beside
        return self._buffer("other ways", max(cells, 1), room=room)

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        rows, ways = self._device.call(self._downloaded)
        words, row = words_in(rows, self._words).T, rows[:, self._words :]
        window = LENGTH_LIMIT - row[:, FEWEST] << np.uint64(32) | row[:, MOST]
        found = np.concatenate((words, row[:, FIRST, None], window[:, None]), axis=1)
        return self._saved_with(states_by_length(found, self._words, ways, self._digits, self._apart, DIGIT_BITS))

    def _downloaded(self) -> tuple[np.ndarray, np.ndarray]:
        from kernels_ti.boundary.kernels.lengths import carry_ways

        carry_ways(self._ways // self._digits, self._digits, self._buffers["ways"])
        return self._gathered(self._new), self._device.download(self._buffers["ways"])

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        super().resume(saved)
        rows, ways, self._digits = rows_by_length(saved.states, self._apart, DIGIT_BITS)
        begin, (first, window) = rows[:, : self._words] | np.uint64(TAKEN), rows[:, self._words :].T
        begin[:, 0] |= np.uint64(WRITTEN)
        fewest, most = np.uint64(LENGTH_LIMIT) - (window >> np.uint64(32)), window & np.uint64((1 << 32) - 1)
        beside = np.stack((first, fewest, most, np.zeros_like(first)), axis=1)
        largest = (int(ways.max(initial=0)) + 1) << DIGIT_BITS * (self._digits - 1)
        self._device.call(self._put_back, saved.place, np.concatenate((begin, beside), axis=1), largest)
        self._device.call(self._upload, "ways", ways if len(ways) else np.zeros(1, np.uint64))
        self._most_held, self._ways = int(most.max(initial=0)), max(len(ways), 1)


def block_on_device(device: Device, block: OrderedBlock, longest: int | None, memory: int | None) -> DeviceBlock:
    """Begin the count of a block: of cycles of up to `longest` vertices by length, or all lengths together for None."""
    if longest is None:
        return DeviceBlock(device, block, None, memory)
    return DeviceLengths(device, block, longest, memory)
