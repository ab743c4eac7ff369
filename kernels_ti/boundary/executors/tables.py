"""A block, vertex by vertex, in two hash tables that change places; see `kernels_ti.boundary.kernels.tables`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.executors.completion import FEWEST_NUMBERS, Completion
from kernels_ti.boundary.executors.forward import Forward
from kernels_ti.boundary.executors.launches import go_through, slices
from kernels_ti.boundary.orders.walk import Step, most_additions
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.cells import DIGIT_BITS, DIGIT_LIMIT, FOUND, FULL, TALLIES
from kernels_ti.boundary.values.states import require_memory
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device
from kernels_ti.errors import SizeError, worded

# Work items of a launch: about 0.1 s on a CPU, so that a pause or an interrupt need not wait.
_ROWS_AT_ONCE = {"cpu": 1 << 19, "cuda": 1 << 24}
_CELLS_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 30}
# Neighbouring work items that count in one cell: those of one thread on a CPU; on a GPU neighbours run together.
_SPREAD = {"cpu": 512, "cuda": 1}
MOST_CELLS = LARGEST_BUFFER - (1 << 25)
"""Cells of a table. A GPU counts the cells that it clears in 32 bits, and each thread looks one whole grid of threads
beyond the last cell before it ends."""
ROOM_FOR_TWO = 2.5
"""Times the room of a table that two take, each with a quarter to spare."""
# Rows of a table for each state that is expected in it.
_ROWS_TO_A_STATE = 2.0
_FEWEST_ROWS, _FEWEST_CELLS, _CELLS_TO_SPARE, _FEWEST_TALLIES = 1 << 10, 1 << 16, 1 << 28, 1 << 12
# Digits that a cell holds without overflow, and rows between two carries where there may be more.
_MOST_ADDITIONS, _ROWS_BETWEEN_CARRIES = 1 << 16, 1 << 14
HALF_BITS = 32
FEW_CELLS = 64
"""Cells of closing ways up to which there are several copies of each."""
_EVEN_UP_TO = 4
_ROWS_TOGETHER = 8


@dataclass(frozen=True)
class Shape:
    """How a table lies in its cells."""

    rows: int  # The empty ones too
    words: int  # The cells before the ways: the state, and what else belongs to it
    lengths: int = 1  # Numbers of vertices on the cycle, from 0 on
    digits: int = 1  # Of the ways for each length

    @property
    def stride(self) -> int:
        """Cells from one row to the next: few cells are rounded up, so that fewer rows cross a line of the cache."""
        return self.used + self.used % 2 if self.used <= _EVEN_UP_TO else self.used

    @property
    def used(self) -> int:
        """Cells of a row."""
        return self.words + self.lengths * self.digits

    @property
    def cells(self) -> int:
        """Cells of all rows."""
        return self.rows * self.stride


class DeviceTables(Forward):
    """The states of one block whose states fit kernels, on a CPU or CUDA.

    `told_apart` cells of a row tell states with the same symbols apart, and `beside` cells lie between the state and
    the ways to it. `states` are held now.
    """

    _is_count = True
    """Whether states that lead to no cycle may be dropped, and a search could give the same answer."""

    def __init__(
        self, device: Device, block: OrderedBlock, memory: int | None, *, told_apart: int = 0, beside: int = 0
    ) -> None:
        super().__init__(block, memory)
        self._device = device
        self._is_resumed = False
        self._words, self._bits = self._packing.words, self._packing.bits
        self._cells = self._words + told_apart
        self.states = 1
        self._completion = Completion(block) if self._is_count else None
        # Two tables that change places from step to step.
        self._buffers: dict[str, Any] = {}
        self._old, self._new = "one table", "other table"
        self._shape = Shape(1, self._cells + beside)
        # No number of ways is larger.
        self._most_ways = 1
        device.call(self._begin)

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states; see `PythonBlock.take_vertex`."""
        self._drop(enough)
        go_through(self._device, self._take(self._steps[self.place]), enough)
        if self._is_resumed:
            # Reference cycles of the compiler hold the first buffers of each kernel, and these are large.
            self._is_resumed = False
            gc.collect()
        self._go_to(self.place + 1)

    def _drop(self, enough: Callable[[], bool]) -> None:
        """Drop states that cannot be completed, where that is expected to save time, or the room is short."""
        if self._completion is None or self.place == 0:
            return
        is_short = 8 * self._next_shape(self._steps[self.place]).cells > self._room()
        numbers = self._shape.used - self._cells
        is_due = self._completion.is_due(self.states, numbers, is_short=is_short)
        # On an H200 tests before each fourth step took longer than they saved: there states are dropped only for room.
        is_worth_it = self._device.arch == "cpu" and numbers >= FEWEST_NUMBERS
        if is_due and (is_short or is_worth_it):
            go_through(self._device, self._dropping(self._completion), enough)

    def _dropping(self, completion: Completion) -> Generator[None, None, None]:
        table, stride = self._buffers[self._old], self._shape.stride
        dropped = yield from completion.drop(self._device, self.place - 1, table, self._launches(), stride, empty=0)
        completion.learn(self.states, dropped)
        self.states -= dropped

    def _begin(self) -> None:
        """Make the one state of no vertex: one way leads there."""
        from kernels_ti.boundary.kernels.tables import initial_row

        coded = self._block.coded
        self._upload("spec", coded.cells)
        self._bases = coded.bases.tolist()
        row = np.zeros(self._shape.stride, np.uint64)
        row[: self._shape.words + 1] = initial_row(self._cells, self._shape.words - self._cells)
        self._upload(self._old, row)
        self._upload("bounds", np.zeros(5, np.int32))

    def _take(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come; yield between launches."""
        shape = self._next_shape(step)
        # Where there is less room, the table is fuller and the step slower.
        most = self._room() // (8 * shape.stride)
        if shape.rows > most >= self.states:
            shape = replace(shape, rows=most)
        while not (yield from self._advanced(step, shape)):
            shape = replace(shape, rows=2 * shape.rows)
        self._shape = shape
        self._old, self._new = self._new, self._old

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        raise NotImplementedError

    def _added_up(
        self, step: Step, shape: Shape, *, apart: bool
    ) -> Generator[bool, None, tuple[list[int], int] | None]:
        """Add the ways to all states to those of their children in the other table; None if they do not fit.

        With `apart`, a number of ways for each number of vertices. Return the ways that close a cycle, by number of
        vertices before the last one, and the most vertices behind a state.
        """
        from kernels_ti.boundary.kernels.count import count_kernel

        old, cells = self._shape, 2 * self._shape.lengths * shape.digits
        copies = max(FEW_CELLS // cells, 1)
        table, tallies = self._cleared(shape, copies * cells)
        advance = count_kernel(self._words, self._bits, self._cells)
        for first, last in self._slices(step, shape):
            advance(
                first, last, self._buffers[self._old], old.stride, old.lengths, old.digits,
                table, shape.rows, shape.stride, shape.lengths, shape.digits,
                int(apart), self._buffers["spec"], self._bases[self.place], self._buffers["bounds"],
                self._spread, copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: FOUND + copies * cells]
        if told[FULL]:
            return None
        self._measure(step, told)
        # Halves of 32 bits of fewer than 2^31 rows: their sum fits into a word.
        halves = told[FOUND:].reshape(copies, old.lengths, shape.digits, 2).sum(axis=0)
        found = [0] * old.lengths
        for vertices in np.flatnonzero(halves.any(axis=(1, 2))).tolist():
            digits = halves[vertices].tolist()
            found[vertices] = sum(low + (high << HALF_BITS) << DIGIT_BITS * k for k, (low, high) in enumerate(digits))
        return found, int(told[2 * TALLIES : 3 * TALLIES].max())

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that surely holds the ways to the new states, and probably all of these."""
        bits = (self._most_ways * most_additions(step, self.states)).bit_length()
        following = self._steps[self.place + 1].cost if self.place + 1 < len(self._steps) else step.cost
        growth = min(max(following / step.cost, 1.0), 2.0)
        rows = max(int(_ROWS_TO_A_STATE * growth * self.states), _FEWEST_ROWS)
        return replace(self._shape, rows=rows, digits=max(-(-bits // DIGIT_BITS), 1))

    def _cleared(self, shape: Shape, found: int) -> tuple[Any, Any]:
        """Return the other table and the tallies, all empty; `found` is the number of cells for closing ways."""
        from kernels_ti.boundary.kernels.tables import clear

        self._require_room(shape)
        # All of them are copied to the host after each step.
        tallies = self._buffer("tallies", FOUND + found, _FEWEST_TALLIES)
        table = self._buffer(self._new, shape.cells)
        clear(shape.cells, table, FOUND + found, tallies)
        return table, tallies

    def _measure(self, step: Step, told: np.ndarray) -> None:
        """Bound the ways to the new states by the most ways to an old state; count the new states."""
        highest, digit = divmod(int(told[TALLIES : 2 * TALLIES].max()), DIGIT_LIMIT)
        self._most_ways = ((digit + 1) << DIGIT_BITS * highest) * most_additions(step, self.states)
        self.states = int(told[:TALLIES].sum())

    def _slices(self, step: Step, shape: Shape) -> Iterator[tuple[int, int]]:
        """Cut the rows of the old table into pieces for one launch each; carry between them where it takes that."""
        many = most_additions(step, self.states) >= _MOST_ADDITIONS
        for piece in self._launches(_ROWS_BETWEEN_CARRIES if many else None):
            yield piece
            if many:
                self._carry(shape)

    def _carry(self, shape: Shape) -> None:
        """Make all numbers of the new table small enough for more additions."""
        from kernels_ti.boundary.kernels.tables import carry

        carry(shape.rows, shape.stride, shape.words, shape.lengths, shape.digits, self._buffers[self._new])

    def _launches(self, rows: int | None = None) -> Iterator[tuple[int, int]]:
        """Cut the rows of the old table into pieces of so many rows, by default as many as a launch takes."""
        arch, old = self._device.arch, self._shape
        return slices(old.rows, rows or max(min(_ROWS_AT_ONCE[arch], _CELLS_AT_ONCE[arch] // old.stride), 1))

    @property
    def _spread(self) -> int:
        """Neighbouring work items that count in one cell of the tallies."""
        return _SPREAD[self._device.arch]

    def _buffer(self, name: str, cells: int, fewest: int | None = None) -> Any:
        """Return a buffer of at least this size, in cells; its content is lost if it has to grow.

        The first one has `fewest` cells, by default as many as a table.
        """
        if name not in self._buffers or self._buffers[name].shape[0] < cells:
            self._buffers.pop(name, None)
            most = max(cells, self._room() // 8) if name == self._new else MOST_CELLS
            wanted = max(min(_rounded(cells), most), fewest or _FEWEST_CELLS)
            self._buffers[name] = self._device.empty(wanted, np.uint64)
        return self._buffers[name]

    def _upload(self, name: str, values: np.ndarray) -> None:
        self._buffers[name] = self._device.buffer(values)

    def _gathered(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the rows of all states, shape (k, cells), by way of a buffer."""
        cells = self._shape.used
        rows = self._buffer(name, self.states * cells)
        self._gather(rows)
        return np.array(self._device.download(rows)[: self.states * cells]).reshape(self.states, cells)

    def _gather(self, rows: Any) -> None:
        """Copy the rows of all states to a buffer, without gaps between them."""
        from kernels_ti.boundary.kernels.tables import gather

        shape, met = self._shape, self._device.buffer(np.zeros(1, np.uint64))
        gather(shape.rows, shape.stride, shape.used, _ROWS_TOGETHER, self._buffers[self._old], met, rows)

    def _put_back(self, place: int, rows: npt.NDArray[np.uint64], most_ways: int, lengths: int = 1) -> None:
        """Go on from rows that were gathered before a step."""
        digits = (rows.shape[1] - self._shape.words) // lengths
        self._shape = replace(self._shape, rows=max(len(rows), 1), lengths=lengths, digits=digits)
        table = np.zeros((self._shape.rows, self._shape.stride), np.uint64)
        table[: len(rows), : rows.shape[1]] = rows
        self._upload(self._old, table.reshape(-1))
        self.states, self._most_ways, self._is_resumed = len(rows), most_ways, True
        self._go_to(place)

    def _room(self) -> int:
        """Return the bytes that the other table may take."""
        if self._memory is None:
            return 8 * MOST_CELLS
        return min(self._memory - self._beside_other_table(), 8 * MOST_CELLS)

    def _beside_other_table(self) -> int:
        """Return the bytes of all buffers but the other table."""
        return sum(_bytes(buffer) for name, buffer in self._buffers.items() if name != self._new)

    def _other_table(self, shape: Shape) -> int:
        """Return the bytes of the other table, which may be larger than it needs to be."""
        return max(8 * shape.cells, _bytes(self._buffers.get(self._new)))

    def _require_room(self, shape: Shape) -> None:
        """Refuse a step whose table does not fit into the memory allowed, or into a buffer."""
        if self._memory is not None:
            needed = self._beside_other_table() + self._other_table(shape)
            two_tables = 2 * 8 * shape.stride * _ROWS_TO_A_STATE
            largest = two_tables * self._block.most_from[self.place]
            require_memory(
                needed, self._memory, self.states, self.width,
                by_length=self._shape.lengths > 1, largest=largest, is_count=self._is_count,
            )  # fmt: skip
        if shape.cells > MOST_CELLS:
            raise SizeError(
                f"{self.states:,} states need a table of {shape.cells:,} cells, more than the {MOST_CELLS:,} that "
                f"kernels can count{worded('', ': --total-only needs far fewer') if shape.lengths > 1 else ''}"
            )


def _bytes(buffer: Any) -> int:
    if buffer is None:
        return 0
    return int(buffer.shape[0]) * (buffer.dtype.itemsize if isinstance(buffer, np.ndarray) else 8)


def cells_of_two_tables(memory: int | None) -> int:
    """Return how many cells each of two tables may have, in so many bytes, or in any number of them."""
    return MOST_CELLS if memory is None else min(int(memory / ROOM_FOR_TWO) // 8, MOST_CELLS)


def _rounded(cells: int) -> int:
    """Return a number of cells that serves the next steps too, where these need a little more."""
    return cells + cells // 4 if cells < _CELLS_TO_SPARE else cells
