"""Steps in rounds over the memory of the host, for states that do not fit into two tables on the device.

The states of a layer then lie on the host, in parts. A step has several rounds. Each goes over all parts, a piece at a
time, and makes the new states whose key falls to it, in one table. So the table holds one part of the new layer, which
goes to the host before the next round begins. The work grows with the rounds; the results are the same.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.states import require_memory
from kernels_ti.boundary.tables.tables import DeviceTables, Shape, cells_of_two_tables
from kernels_ti.errors import SizeError, parameter

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

Words = npt.NDArray[np.uint64]

# One table, and two pieces of parts, share the room for two tables.
_PIECES_OF_A_TABLE = 4
# On a CPU the parts take the same memory as the tables, which get one share of these.
_SHARE_OF_TABLES = 4
_MOST_ROUNDS = 1 << 12
# How much more states may be expected than fit: there are often ten times fewer than that.
_HOPELESS = 16


class TablesInRounds(DeviceTables):
    """The states of one block, in two tables or, where they do not fit, in parts on the host.

    Parameters
    ----------
    device, steps, memory, beside
        See `DeviceTables`.
    host_memory : int or None
        Bytes that the parts may take on the host of a GPU, None for any number of them. On a CPU they take three
        quarters of `memory`.
    """

    def __init__(
        self,
        device: Device,
        steps: Sequence[Step],
        memory: int | None,
        *,
        beside: int = 0,
        host_memory: int | None = None,
    ) -> None:
        # The states before the next step, row by row; None while they are in a table.
        self._parts: list[Words] | None = None
        self._round = (0, 1)
        self._host_memory = host_memory
        super().__init__(device, steps, memory, beside=beside)

    @property
    def rounds(self) -> int:
        """Rounds of the last step; 1 where it took none."""
        return self._round[1]

    def rows(self) -> Words:
        """Return the rows of all states, shape (k, stride)."""
        shape = self._shape
        if self._parts is not None:
            return np.concatenate([np.zeros((0, shape.stride), np.uint64), *self._parts])
        rows = self._device.download(self._buffers[self._old])[: shape.cells].reshape(shape.rows, shape.stride)
        return np.asarray(rows[rows[:, 0] != 0])

    _closed: tuple[str, ...] = ()
    """Attributes that a step changes as cycles close."""

    @property
    def _may_take_rounds(self) -> bool:
        """Whether a step may be made in rounds; otherwise what does not fit is refused."""
        return True

    def _take(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come; yield between launches."""
        if self._parts is None:
            try:
                yield from super()._take(step)
            except SizeError:
                if not self._may_take_rounds or self._is_hopeless:
                    raise
            else:
                return
            yield from self._move_to_host()
        yield from self._take_in_rounds(step)

    def _move_to_host(self) -> Generator[bool, None, None]:
        """Keep the states in parts, and give both tables back."""
        self._buffers.pop(self._new, None)
        parts: list[Words] = []
        yield from self._gather(self._old, self._shape, parts)
        self._buffers.pop(self._old)
        self._parts = parts

    def _take_in_rounds(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come in all states of the parts."""
        shape, states, ways = self._shape, self.states, self._most_ways
        closed = {name: copy(getattr(self, name)) for name in self._closed}
        wanted, made = self._next_shape(step), None
        most = self._table_rows(wanted)
        try:
            while made is None:
                rounds = math.ceil(wanted.rows / most)
                if rounds > _MOST_ROUNDS:
                    raise SizeError(
                        f"{states:,} states do not fit into tables of {most:,} rows: {parameter('memory')} allows more"
                    )
                made = yield from self._made_in(rounds, step, replace(wanted, rows=math.ceil(wanted.rows / rounds)))
                wanted = replace(wanted, rows=2 * wanted.rows)
        finally:
            # A step that is given up, or does not fit, has changed nothing.
            self._shape, self.states, self._most_ways = shape, states, ways
            if made is None:
                vars(self).update(closed)
        self._shape, self.states, self._most_ways, self._parts = made
        if self._parts is None:
            self._buffers.pop(self._old)
            self._old, self._new = self._new, self._old

    def _made_in(
        self, rounds: int, step: Step, shape: Shape
    ) -> Generator[bool, None, tuple[Shape, int, int, list[Words] | None] | None]:
        """Make the new states in some rounds: return their shape, number, most ways, and parts; None for a full table.

        Those of a single round stay on the device.
        """
        before, states, ways = self._shape, self.states, self._most_ways
        parts: list[Words] = []
        found = most = 0
        for turn in range(rounds):
            self._round = turn, rounds
            self._shape, self.states, self._most_ways = before, states, ways
            if not (yield from self._advanced(step, shape)):
                return None
            found, most = found + self.states, max(most, self._most_ways)
            if rounds > 1:
                yield from self._drop_new(shape)
                yield from self._gather(self._new, shape, parts)
        if rounds == 1:
            return shape, found, most, None
        return shape, sum(map(len, parts)), most, parts

    def _drop_new(self, shape: Shape) -> Generator[bool, None, None]:
        """Drop new states that lead to no cycle, where that is known; yield between launches."""
        yield from ()

    def _gather(self, name: str, shape: Shape, parts: list[Words]) -> Generator[bool, None, None]:
        """Copy the states of a table to the host, as some more parts; yield between them."""
        from kernels_ti.boundary.kernels.gather import gather_wanted

        numbers = shape.numbers(self._cells)
        rows = self._piece_rows(shape)
        for first in range(0, shape.rows, rows):
            together = self._buffer("together", rows * shape.stride)
            met = self._device.buffer(np.zeros(1, np.uint64))
            last = min(first + rows, shape.rows)
            gather_wanted(first, last, shape.stride, self._cells, numbers, self._buffers[name], met, together)
            part = np.empty(int(self._device.download(met)[0]) * shape.stride, np.uint64)
            held = sum(each.nbytes for each in (*parts, *(self._parts or ()), part))
            states = sum(map(len, parts)) + len(part) // shape.stride
            largest = int(2 * self._largest_layer)
            require_memory(held, self._room_for_parts, states, self.width, by_length=False, largest=largest)
            if len(part):
                with self._device.copying() as start:
                    start(together, part)
                parts.append(part.reshape(-1, shape.stride))
            yield True

    def _pieces(self, rows: int | None) -> Iterator[tuple[int, int]]:
        """Cut the rows of all states into pieces for one launch each; those of parts come to the device before."""
        if self._parts is None:
            yield from super()._pieces(rows)
            return
        most = self._piece_rows(self._shape)
        for part in self._parts:
            for first in range(0, len(part), most):
                piece = part[first : first + most]
                self._device.upload(piece.reshape(-1), self._buffer(self._old, most * self._shape.stride))
                self._shape = replace(self._shape, rows=len(piece))
                yield from super()._pieces(rows)

    @property
    def _room_for_parts(self) -> int | None:
        """Bytes that the parts may take; None for any number of them."""
        if self._device.arch == "cuda" or self._memory is None:
            return self._host_memory
        return self._memory - self._memory // _SHARE_OF_TABLES

    @property
    def _largest_layer(self) -> float:
        """Bytes that the largest boundary to come is expected to take in parts."""
        return 8 * self._shape.stride * self._most_from[self._place]

    @property
    def _is_hopeless(self) -> bool:
        """Whether the parts would not fit either, by far: then no time is spent on rounds."""
        room = self._room_for_parts
        return room is not None and self._largest_layer > _HOPELESS * room

    def _table_rows(self, shape: Shape) -> int:
        """Return how many rows the one table may have that the device has room for, beside the pieces."""
        memory = self._memory
        if memory is not None and self._device.arch != "cuda":
            memory //= _SHARE_OF_TABLES
        return max(cells_of_two_tables(memory) // shape.stride, 1)

    def _piece_rows(self, shape: Shape) -> int:
        """Return how many rows are copied at once."""
        return max(self._table_rows(shape) // _PIECES_OF_A_TABLE, 1)
