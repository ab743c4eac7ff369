"""The count of one block in tables, on a GPU or a CPU: all lengths together, or by length."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.boundary.executors.forward import Forward
from kernels_ti.boundary.executors.tables import MOST_CELLS, DeviceTables, Shape, closing_ways, copies_of
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.packing import (
    DIGIT_BITS,
    DIGIT_LIMIT,
    FEWEST,
    FIRST,
    FULL,
    LENGTH_LIMIT,
    MOST,
    ROOM,
    TALLIES,
)
from kernels_ti.boundary.values.saved import (
    SavedBlock,
    SavedStates,
    rows_by_length,
    rows_with,
    states_by_length,
    words_in,
)
from kernels_ti.device.device import Device

# Work items that share the ways to a state: neighbours on a GPU read neighbouring cells.
_SHARING = {"cpu": 1, "cuda": 16}
_ROWS_TOGETHER = 8
BUFFER = MOST_CELLS
"""Cells of the ways that each of their two buffers holds at most."""
# Cells of the ways to the states that follow, for each cell of ways now, where states are dropped for want of room.
_GROWTH = 1.3


class DeviceBlock(DeviceTables):
    """The count of one block, all lengths together, in kernels on a CPU or CUDA."""

    def __init__(
        self, device: Device, block: OrderedBlock, longest: int | None, memory: int | None, **row: Any
    ) -> None:
        super().__init__(device, block, memory, **row)
        self._longest = longest

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states; see `DeviceTables.take_vertex`."""
        self.states_met = [self.states]
        super().take_vertex(enough)

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


class DeviceLengths(DeviceBlock):
    """The count of one block by length, of cycles of up to `longest` vertices; ways have two buffers of their own."""

    def __init__(self, device: Device, block: OrderedBlock, longest: int, memory: int | None) -> None:
        super().__init__(device, block, longest, memory, beside=(0, LENGTH_LIMIT, 0, 0), ways=())
        self._apart = 2 if block.is_bipartite else 1
        # Vertices behind a state, before the one that closes a cycle: of any state at most, and of those held now.
        self._most, self._most_held = longest - 1, 0
        # The ways that are held: the digits of each number, and all their cells.
        self._digits, self._ways = 1, 1
        self._ways_from(np.ones(1, np.uint64))

    def _ways_from(self, ways: np.ndarray) -> None:
        split = _split(self._digits)
        self._buffers["ways"] = self._device.buffer(ways[:split])
        beyond = ways[split:] if len(ways) > split else np.zeros(1, np.uint64)
        self._buffers["ways beyond"] = self._device.buffer(beyond)

    @property
    def _numbers(self) -> int:
        """Cells that are added up for a state, on average."""
        return self._ways // max(self.states, 1)

    def _next_shape(self, step: Step) -> Shape:
        return replace(super()._next_shape(step), digits=0)

    def _is_short(self, shape: Shape) -> bool:
        cells, held = int(_GROWTH * self._ways), self._held_by_other_ways
        return cells > 2 * BUFFER or 8 * shape.cells + max(8 * cells, held) > self._room() + held

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        from kernels_ti.boundary.kernels.lengths import length_kernels

        link, add = length_kernels(self._words, self._bits)
        digits, lengths = self._next_digits(step), self._most_held + 1
        copies = copies_of(2 * lengths * digits)
        closing = copies * 2 * lengths * digits
        table, tallies = self._cleared(shape, 1 + closing)
        for first, last in self._launches():
            link(
                first, last, self._buffers[self._old], table, shape.rows, self._most,
                self._buffers["spec"], self._bases[self.place], self._spread,
                shape.rows if last == self._shape.rows else 0, _ROWS_TOGETHER, self._apart, digits, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)
        if told[FULL]:
            return False
        cells, split = int(told[ROOM]), _split(digits)
        ways, beyond = self._room_for_ways(cells, split)
        for first, last in self._slices(step, partial(self._carry_ways, ways, beyond, cells, digits)):
            add(
                first, last, _SHARING[self._device.arch],
                self._buffers[self._old], self._buffers["ways"], self._buffers["ways beyond"], _split(self._digits),
                self._digits, table, ways, beyond, split, digits, self._below, self._apart, self._most,
                lengths, self._spread, copies,
                0 if first else min(cells, split), 0 if first else max(cells - split, 0), tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: ROOM + 1 + closing]
        self._measure(step, told)
        if step.may_close:
            self._close(closing_ways(told[ROOM + 1 :], copies, lengths, digits))
        self._most_held = int(told[2 * TALLIES : 3 * TALLIES].max())
        self._digits, self._ways = digits, cells
        for name in ("ways", "ways beyond"):
            self._buffers.swap(name, f"other {name}")
        return True

    def _carry_ways(self, ways: Any, beyond: Any, cells: int, digits: int) -> None:
        """Make all cells of some ways small enough for more additions."""
        from kernels_ti.boundary.kernels.tables import carry

        split = _split(digits)
        for buffer, held in ((ways, min(cells, split)), (beyond, cells - split)):
            if held > 0:
                carry(held // digits, digits, 0, digits, self._below, buffer)

    def _room_for_ways(self, cells: int, split: int) -> tuple[Any, Any]:
        """Return the two buffers for the ways to the new states, or refuse them."""
        beside = self._buffers.nbytes_beside("other ways", "other ways beyond")
        needed = beside + max(8 * cells, self._held_by_other_ways)
        self._require(needed, 2 * 8 * cells / max(self.states, 1), cells, most=2 * BUFFER)
        room = 8 * MOST_CELLS if self._memory is None else self._memory - beside
        ways = self._grown("other ways", min(max(cells, 1), split), room)
        return ways, self._buffers.grown("other ways beyond", max(cells - split, 1), room=room // 8)

    @property
    def _held_by_other_ways(self) -> int:
        """Bytes of the buffers for the ways to the states that follow."""
        return self._buffers.nbytes("other ways") + self._buffers.nbytes("other ways beyond")

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        rows, ways = self._device.call(self._downloaded)
        words, row = words_in(rows, self._words).T, rows[:, self._words :]
        window = LENGTH_LIMIT - row[:, FEWEST] << np.uint64(32) | row[:, MOST]
        found = np.concatenate((words, row[:, FIRST, None], window[:, None]), axis=1)
        return self._saved_with(states_by_length(found, self._words, ways, self._digits, self._apart, DIGIT_BITS))

    def _downloaded(self) -> tuple[np.ndarray, np.ndarray]:
        ways, beyond, split = self._buffers["ways"], self._buffers["ways beyond"], _split(self._digits)
        self._carry_ways(ways, beyond, self._ways, self._digits)
        first, second = self._device.download(ways)[:split], self._device.download(beyond)
        return self._gathered(self._new), np.concatenate((first, second)) if self._ways > split else first

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        Forward.resume(self, saved)
        rows, ways, self._digits = rows_by_length(saved.states, self._apart, DIGIT_BITS)
        first, window = rows[:, self._words :].T
        fewest, most = np.uint64(LENGTH_LIMIT) - (window >> np.uint64(32)), window & np.uint64((1 << 32) - 1)
        beside = np.stack((first, fewest, most, np.zeros_like(first)), axis=1)
        largest = (int(ways.max(initial=0)) + 1) << DIGIT_BITS * (self._digits - 1)
        self._put_back(saved.place, rows_with(rows[:, : self._words], beside), largest)
        self._ways_from(ways if len(ways) else np.zeros(1, np.uint64))
        self._most_held, self._ways = int(most.max(initial=0)), max(len(ways), 1)


class LengthsModulo(DeviceLengths):
    """The count of one block by length modulo a prime just below 2^48: each number of ways takes one cell.

    `longest` is at least the vertices of the longest cycle that closed so far, 0 before any could.
    """

    def __init__(self, device: Device, block: OrderedBlock, memory: int | None, prime: int) -> None:
        self.prime, self._below = prime, DIGIT_LIMIT - prime
        self.longest = 0
        super().__init__(device, block, block.graph.n, memory)

    def _next_digits(self, step: Step) -> int:
        """Return one digit: no remainder needs more."""
        return 1

    def _close(self, found: Iterable[int]) -> None:
        self.longest = max(self.longest, self._most_held + 1)
        super()._close(found)


def _split(digits: int) -> int:
    """Return how many cells of the ways lie in their first buffer: whole numbers of so many digits."""
    return BUFFER // digits * digits


def block_on_device(device: Device, block: OrderedBlock, longest: int | None, memory: int | None) -> DeviceBlock:
    """Begin the count of a block: of cycles of up to `longest` vertices by length, or all lengths together for None."""
    if longest is None:
        return DeviceBlock(device, block, None, memory)
    return DeviceLengths(device, block, longest, memory)
