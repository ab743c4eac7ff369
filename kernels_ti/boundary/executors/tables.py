"""A block, vertex by vertex, in two hash tables that change places; see `kernels_ti.boundary.kernels.tables`."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.boundary.arrays import Words
from kernels_ti.boundary.executors.forward import FEWEST_NUMBERS, Buffers, Completion, Forward, go_through, slices
from kernels_ti.boundary.orders.walk import Step, most_additions
from kernels_ti.boundary.spec.block import OrderedBlock, require_memory
from kernels_ti.boundary.spec.packing import DIGIT_BITS, DIGIT_LIMIT, FOUND, FULL, TAKEN, TALLIES, WRITTEN
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device

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
_FEWEST_ROWS, _FEWEST_CELLS, _FEWEST_TALLIES = 1 << 10, 1 << 16, 1 << 12
# Digits that a cell holds without overflow, and rows between two carries where there may be more.
_MOST_ADDITIONS, _ROWS_BETWEEN_CARRIES = 1 << 16, 1 << 14
_HALF_BITS = 32
FEW_CELLS = 64
"""Cells of closing ways up to which there are several copies of each."""
_EVEN_UP_TO = 4
_ROWS_TOGETHER = 8


@dataclass(frozen=True)
class Shape:
    """How a table lies in its cells."""

    rows: int  # The empty ones too
    words: int  # The cells before the ways: the state, and what else belongs to it
    digits: int = 1  # Of the ways
    in_columns: bool = False  # Each cell of a row in an array of its own

    @property
    def stride(self) -> int:
        """Cells from one row to the next: few cells are rounded up, so that fewer rows cross a line of the cache."""
        return self.used + self.used % 2 if self.used <= _EVEN_UP_TO and not self.in_columns else self.used

    @property
    def used(self) -> int:
        """Cells of a row."""
        return self.words + self.digits

    @property
    def cells(self) -> int:
        """Cells of all rows."""
        return self.rows * self.stride


class DeviceTables(Forward):
    """The states of one block whose states fit kernels, on a CPU or CUDA.

    `told_apart` cells of a row tell states with the same symbols apart. The row of the state of no vertex goes on with
    the cells `beside`, and with the digits of its `ways`. `states` are held now.
    """

    _is_count = True
    """Whether states that lead to no cycle may be dropped."""
    _columns, _most_cells = 1, MOST_CELLS
    """Arrays of a table, and the cells that it has at most."""
    _digits_apart = False
    """Whether each digit is a number of its own."""
    _below = 0
    """How much less than 2^48 the prime is of which the numbers are remainders; 0 for exact numbers."""

    def __init__(
        self, device: Device, block: OrderedBlock, memory: int | None, *,
        told_apart: int = 0, beside: Sequence[int] = (), ways: Sequence[int] = (1,),
    ) -> None:  # fmt: skip
        super().__init__(block, memory)
        self._device = device
        self._is_resumed = False
        self._words, self._bits = self._packing.words, self._packing.bits
        self._spread = _SPREAD[device.arch]
        self._cells = self._words + told_apart
        self.states = 1
        self._completion = Completion(block) if self._is_count else None
        # Two tables that change places from step to step.
        self._buffers = Buffers(device)
        self._old, self._new = "one table", "other table"
        self._shape = Shape(1, self._cells + len(beside), len(ways))
        # No number of ways is larger.
        self._most_ways = 1
        row = np.zeros(self._shape.stride, np.uint64)
        row[: self._shape.used] = [TAKEN | WRITTEN, *[TAKEN] * (self._cells - 1), *beside, *ways]
        spec, bases = block.coded
        self._bases = bases.tolist()
        for name, values in (("spec", spec), (self._old, row), ("bounds", np.zeros(5, np.int32))):
            self._buffers[name] = device.buffer(values)

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
        is_short, numbers = self._is_short(self._next_shape(self._steps[self.place])), self._numbers
        is_due = self._completion.is_due(self.states, numbers, is_short=is_short)
        if is_due and (is_short or numbers >= FEWEST_NUMBERS):
            go_through(self._device, self._dropping(self._completion), enough)

    @property
    def _numbers(self) -> int:
        """Cells beside a state that are added up."""
        return self._shape.used - self._cells

    def _is_short(self, shape: Shape) -> bool:
        """Say whether the other table is expected to take more memory than there is."""
        return 8 * shape.cells > self._room()

    def _dropping(self, completion: Completion) -> Generator[bool, None, None]:
        dropped = yield from self._dropped(completion)
        completion.learn(self.states, dropped)
        self.states -= dropped

    def _dropped(self, completion: Completion) -> Generator[bool, None, int]:
        """Empty the rows of states that cannot be completed, and return how many these are."""
        words, stride = [self._buffers[self._old]] * 3, self._shape.stride
        return (yield from completion.drop(self._device, self.place - 1, words, self._launches(), stride, empty=0))

    def _take(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come; yield between launches. States are dropped once the largest table is full."""
        shape = self._next_shape(step)
        # Where there is less room, the table is fuller and the step slower.
        most = self._room() // (8 * shape.stride)
        if shape.rows > most >= self.states:
            shape = replace(shape, rows=most)
        may_drop = self._completion
        while not (yield from self._advanced(step, shape)):
            if shape.rows < most:
                shape = replace(shape, rows=min(2 * shape.rows, most))
            elif may_drop is not None and may_drop.is_due(self.states, self._numbers, is_short=True):
                yield from self._dropping(may_drop)
                may_drop = None
            else:
                shape = replace(shape, rows=2 * shape.rows)
        self._shape = shape
        self._old, self._new = self._new, self._old

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether these fit."""
        copies = copies_of(2 * shape.digits)
        closing = copies * 2 * shape.digits
        table, tallies = self._cleared(shape, closing)
        for first, last in self._slices(step, partial(self._carry, shape)):
            self._launch(first, last, shape, table, copies, tallies)
            yield True
        told = self._device.download(tallies)[: FOUND + closing]
        if told[FULL]:
            return False
        self._measure(step, told)
        numbers = shape.digits if self._digits_apart else 1
        self._close(closing_ways(told[FOUND:], copies, numbers, shape.digits // numbers))
        return True

    def _launch(self, first: int, last: int, shape: Shape, table: Any, copies: int, tallies: Any) -> None:
        """Add the ways to some states to those of their children in the other table."""
        from kernels_ti.boundary.kernels.count import count_kernel

        old = self._shape
        count_kernel(self._words, self._bits, self._cells)(
            first, last, self._buffers[self._old], old.stride, old.digits,
            table, shape.rows, shape.stride, shape.digits,
            self._buffers["spec"], self._bases[self.place], self._buffers["bounds"],
            self._spread, copies, tallies,
        )  # fmt: skip

    def _next_shape(self, step: Step) -> Shape:
        """Return a table that surely holds the ways to the new states, and probably all of these."""
        following = self._steps[self.place + 1].cost if self.place + 1 < len(self._steps) else step.cost
        growth = min(max(following / step.cost, 1.0), 2.0)
        rows = max(int(_ROWS_TO_A_STATE * growth * self.states), _FEWEST_ROWS)
        return replace(self._shape, rows=rows, digits=self._next_digits(step))

    def _next_digits(self, step: Step) -> int:
        """Return the digits of a number that surely holds the ways to a new state."""
        bits = (self._most_ways * most_additions(step, self.states)).bit_length()
        return max(-(-bits // DIGIT_BITS), 1)

    def _cleared(self, shape: Shape, found: int) -> tuple[Any, Any]:
        """Return the other table and the tallies, all empty; `found` is the number of cells for closing ways."""
        from kernels_ti.boundary.kernels.tables import clear

        self._require_room(shape)
        # All of them are copied to the host after each step.
        tallies = self._buffers.grown("tallies", FOUND + found, fewest=_FEWEST_TALLIES)
        cells, room = shape.cells // self._columns, self._room() // self._columns
        for name in self._names(self._new):
            table = self._grown(name, cells, room)
            clear(cells, table, FOUND + found, tallies)
        return table, tallies

    def _measure(self, step: Step, told: np.ndarray) -> None:
        """Bound the ways to the new states by the most ways to an old state; count the new states."""
        highest, digit = divmod(int(told[TALLIES : 2 * TALLIES].max()), DIGIT_LIMIT)
        self._most_ways = ((digit + 1) << DIGIT_BITS * highest) * most_additions(step, self.states)
        self.states = int(told[:TALLIES].sum())

    def _slices(self, step: Step, carry: Callable[[], None]) -> Iterator[tuple[int, int]]:
        """Cut the rows of the old table into pieces for one launch each; carry between them where it takes that."""
        many = most_additions(step, self.states) >= _MOST_ADDITIONS
        for piece in self._launches(_ROWS_BETWEEN_CARRIES if many else None):
            yield piece
            if many:
                carry()

    def _carry(self, shape: Shape) -> None:
        """Make all numbers of the new table small enough for more additions."""
        from kernels_ti.boundary.kernels.tables import carry

        carry(shape.rows, shape.stride, shape.words, shape.digits, self._below, self._buffers[self._new])

    def _launches(self, rows: int | None = None) -> Iterator[tuple[int, int]]:
        """Cut the rows of the old table into pieces of so many rows, by default as many as a launch takes."""
        arch, old = self._device.arch, self._shape
        return slices(old.rows, rows or max(min(_ROWS_AT_ONCE[arch], _CELLS_AT_ONCE[arch] // old.stride), 1))

    def _grown(self, name: str, cells: int, room: int) -> Any:
        return self._buffers.grown(name, cells, room=room // 8, fewest=_FEWEST_CELLS)

    def _gathered(self, name: str) -> Words:
        """Return the rows of all states, shape (k, cells), by way of a buffer."""
        cells = self._shape.used
        rows = self._grown(name, self.states * cells, self._room())
        # Fewer than were noted, where a launch that dropped some was the last one before a stop.
        self.states = self._gather(rows)
        return np.array(self._device.download(rows)[: self.states * cells]).reshape(self.states, cells)

    def _gather(self, rows: Any, digits: int = 0) -> int:
        """Copy the rows of all states to a buffer, without gaps, and return how many these are.

        So many digits at the end of each row are carried.
        """
        from kernels_ti.boundary.kernels.tables import gather

        shape, met = self._shape, self._device.buffer(np.zeros(1, np.uint64))
        gather(shape.rows, shape.stride, shape.used, digits, _ROWS_TOGETHER, self._buffers[self._old], met, rows)
        return int(self._device.download(met)[0])

    def _put_back(self, place: int, rows: Words, most_ways: int) -> None:
        """Go on from rows that were gathered before a step."""
        self._shape = replace(self._shape, rows=max(len(rows), 1), digits=rows.shape[1] - self._shape.words)
        table = np.zeros((self._shape.rows, self._shape.stride), np.uint64)
        table[: len(rows), : rows.shape[1]] = rows
        self._buffers[self._old] = self._device.buffer(table.reshape(-1))
        self.states, self._most_ways, self._is_resumed = len(rows), most_ways, True
        self._go_to(place)

    def _names(self, table: str) -> list[str]:
        return [table] if self._columns == 1 else [f"{table}, {k}" for k in range(self._columns)]

    def _room(self) -> int:
        """Return the bytes that the other table may take."""
        if self._memory is None:
            return 8 * self._most_cells
        return min(self._memory - self._beside_other_table(), 8 * self._most_cells)

    def _beside_other_table(self) -> int:
        """Return the bytes of all buffers but the other table."""
        return self._buffers.nbytes_beside(*self._names(self._new))

    def _other_table(self, shape: Shape) -> int:
        """Return the bytes of the other table, which may be larger than it needs to be."""
        return max(8 * shape.cells, sum(self._buffers.nbytes(name) for name in self._names(self._new)))

    def _require_room(self, shape: Shape) -> None:
        """Refuse a step whose table does not fit into the memory allowed, or into a buffer."""
        needed = self._beside_other_table() + self._other_table(shape)
        self._require(needed, 2 * 8 * shape.stride * _ROWS_TO_A_STATE, shape.cells, most=self._most_cells)

    def _require(self, needed: int, of_a_state: float, cells: int, *, most: int = MOST_CELLS) -> None:
        """Refuse what does not fit into the memory, or `most` cells; a state takes `of_a_state` bytes at most."""
        require_memory(
            needed, self._memory, self.states, self._block, self.place,
            of_a_state=of_a_state, cells=cells, most=most,
        )  # fmt: skip


def copies_of(cells: int) -> int:
    """Return how many copies there are of so many cells, to which many work items add at once."""
    return max(FEW_CELLS // cells, 1)


def closing_ways(cells: Words, copies: int, lengths: int, digits: int) -> list[int]:
    """Return the ways that close a cycle, for each length, from all copies of their digits in halves."""
    # Halves of 32 bits of fewer than 2^31 rows: their sum fits into a word.
    halves = cells.reshape(copies, lengths, digits, 2).sum(axis=0)
    found = [0] * lengths
    for length in np.flatnonzero(halves.any(axis=(1, 2))).tolist():
        pairs = halves[length].tolist()
        found[length] = sum(low + (high << _HALF_BITS) << DIGIT_BITS * k for k, (low, high) in enumerate(pairs))
    return found


def cells_of_two_tables(memory: int | None) -> int:
    """Return how many cells each of two tables may have, in so many bytes, or in any number of them."""
    return MOST_CELLS if memory is None else min(int(memory / ROOM_FOR_TWO) // 8, MOST_CELLS)
