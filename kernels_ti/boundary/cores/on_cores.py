"""The count of one block on all cores of a CPU, in kernels that share nothing but a queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.cores.changes import Changes
from kernels_ti.boundary.cores.parted_states import rows_by_length, rows_of_totals, states_by_length, totals_of_rows
from kernels_ti.boundary.cores.parts import Parts
from kernels_ti.boundary.orders.order import BoundaryOrder
from kernels_ti.boundary.orders.walk import steps_of
from kernels_ti.boundary.states.completion import Completion
from kernels_ti.boundary.states.saved import SavedBlock, SavedStates
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.boundary.states.transitions import Packing
from kernels_ti.graph import Graph

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

Words = npt.NDArray[np.uint64]

_ENDED = object()
# Between two questions whether it is enough.
_SECONDS_OF_LAUNCHES = 0.05
# With fewer numbers to a state, a step takes no longer than a test for states that lead to no cycle.
_FEWEST_NUMBERS = 16
# Bytes of a state in a step, beside the rows and the ways: two links, and its cells of the table of a part.
_BYTES_BESIDE = 24
_STATES_TESTED_AT_ONCE = 1 << 17


class CoresBlock:
    """The count of one block, on all cores.

    Parameters
    ----------
    device : Device
        A CPU.
    block : Graph
        A simple undirected one.
    order : BoundaryOrder
        Of a width up to `kernels_ti.boundary.tables.tables.WIDEST`.
    required : frozenset of int
        Vertices that every cycle has to pass.
    longest : int or None
        Longer cycles are not counted; None counts all lengths together.
    memory : int or None
        Bytes that the states may take.

    Attributes
    ----------
    cycles : dict of int to int
        Cycles by length, so far; all with length 0 where lengths are counted together.
    triangles : int
    place : int
        Vertices that have come.
    width : int
        Vertices in the boundary.
    dropped : int
        States that were dropped, as nothing completes them.
    """

    def __init__(
        self,
        device: Device,
        block: Graph,
        order: BoundaryOrder,
        required: frozenset[int],
        longest: int | None,
        memory: int | None,
    ) -> None:
        self._device, self._memory, self._longest = device, memory, longest
        self._steps = tuple(steps_of(block, order, required))
        self._packing = Packing.of(self._steps)
        self._completion = Completion(block, self._steps, self._packing)
        self._changes = device.call(Changes, self._steps, self._packing)
        # The pieces of a state end at its boundary: in a bipartite graph this tells whether their vertices are even.
        self._apart = 2 if _is_bipartite(block) else 1
        self._digits = 1
        self._parts = Parts(device, self._steps, self._packing, memory, by_length=longest is not None)
        # Cells that hold the ways to all states, in a count by length.
        self._cells = 1
        self._begin(SavedStates(np.zeros((self._packing.words, 1), np.uint64), np.ones((1, 1, 1), np.uint64)))
        self.place, self.width = 0, 0
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        self.dropped = 0

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return self.place == len(self._steps)

    @property
    def states(self) -> int:
        """States held now."""
        return self._parts.states

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; return the expected cost of that.

        Raises
        ------
        GivenUp
            Once it was enough.
        SizeError
            If the states do not fit into the memory allowed.
        """
        step = self._steps[self.place]
        launches = self._take()
        is_through = False
        while not is_through:
            if enough():
                raise GivenUp
            is_through = self._device.call(_is_through, launches)
        self.place += 1
        self.triangles += step.triangles
        self.width = step.width
        return step.cost

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        rows = self._parts.occupied()
        if self._longest is None:
            states = totals_of_rows(rows, self._packing.words)
        else:
            ways = self._parts.buffer("ways", 1)
            states = states_by_length(rows, self._packing.words, ways, self._digits, self._apart)
        return SavedBlock(self.place, states, dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        self._begin(saved.states)
        self.place, self.cycles, self.triangles = saved.place, dict(saved.cycles), saved.triangles
        self.width = self._steps[saved.place - 1].width if saved.place else 0

    def _begin(self, states: SavedStates) -> None:
        """Begin with states."""
        if self._longest is None:
            rows, self._digits = rows_of_totals(states)
        else:
            rows, ways, self._digits = rows_by_length(states, self._apart)
            self._parts.buffer("ways", len(ways))[: len(ways)] = ways
            self._cells = len(ways)
        self._parts.begin(rows)

    def _take(self) -> Iterator[None]:
        """Let a vertex come; yield between launches."""
        yield from self._drop()
        yield from self._parts.prepare(self.place)
        changes = self._changes.of(self.place, self.states)
        follow = self._count_together if self._longest is None else self._count_by_length
        digits = self._digits
        while not (yield from follow(digits, changes)):
            digits += 1
        self._digits = digits

    def _count_together(self, digits: int, changes: Words | None) -> Generator[None, None, bool]:
        """Add the ways to the states to those of their children; say whether so many digits suffice."""
        parts = self._parts
        new, tables, room = parts.room_for_children(digits)
        found = np.zeros((parts.workers, 1, digits), np.uint64)
        table, base, tabled = parts.table.reshape(-1), self._changes.bases[self.place], changes is not None
        tabulated = self._changes.none if changes is None else changes
        for end in parts.launches():
            parts.kernels.count_together(
                parts.workers, table, end, parts.queue, tabled, self._changes.coded, base, tabulated,
                parts.rows, self._digits, new, digits, tables, room, found.reshape(-1),
            )  # fmt: skip
            yield
        if parts.overflowed():
            return False
        parts.follow(digits)
        self._add(found)
        return True

    def _count_by_length(self, digits: int, changes: Words | None) -> Generator[None, None, bool]:
        """Do the same for each length: find the children first, then make room for their ways and add them."""
        from kernels_ti.boundary.kernels.parts import WINDOW, add_ways

        assert self._longest is not None
        parts = self._parts
        new, tables, room = parts.room_for_children(WINDOW)
        links = parts.buffer("links", 2 * int((parts.table[:, 0] + parts.table[:, 1]).max()), np.int32)
        found = np.zeros((parts.workers, self.place + 1, digits), np.uint64)
        numbers = np.zeros(len(parts.table), np.int64)
        table, base, tabled = parts.table.reshape(-1), self._changes.bases[self.place], changes is not None
        tabulated = self._changes.none if changes is None else changes
        ways = parts.buffer("ways", 1)
        for end in parts.launches():
            parts.kernels.link(
                parts.workers, table, numbers, end, parts.queue, tabled, self._changes.coded, base, tabulated,
                parts.rows, ways, self._digits, self._apart, self._longest - 1, new, digits, links, tables, room,
                self.place + 1, found.reshape(-1),
            )  # fmt: skip
            yield
        ends = np.cumsum(numbers) * digits
        new_ways = parts.buffer("other ways", int(ends[-1]))
        for end in parts.launches():
            add_ways(
                parts.workers, table, ends - numbers * digits, end, parts.queue, self._packing.words, self._apart,
                parts.rows, ways, self._digits, links, new, new_ways, digits,
            )  # fmt: skip
            yield
        if parts.overflowed():
            return False
        parts.follow(WINDOW)
        parts.swap("ways", "other ways")
        self._cells = int(ends[-1])
        self._add(found)
        return True

    def _add(self, found: np.ndarray) -> None:
        """Add the cycles that the new vertex closes: for each worker and length, a number."""
        if not found.any():
            return
        for vertices, digits in enumerate(found.astype(object).sum(axis=0).tolist()):
            ways = sum(digit << 64 * k for k, digit in enumerate(digits))
            if ways:
                length = 0 if self._longest is None else vertices + 1
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def _drop(self) -> Iterator[None]:
        """Drop states that cannot be completed, where that is expected to save time, or the room is short."""
        from kernels_ti.boundary.kernels.completion import DEAD, completion_kernel

        parts, states = self._parts, self.states
        if self.place == 0 or states == 0:
            return
        numbers = self._digits if self._longest is None else self._cells // states
        expected = parts.nbytes_beside("other rows", "other ways", "tables", "links")
        expected += states * (16 * parts.stride + _BYTES_BESIDE) + (0 if self._longest is None else 16 * self._cells)
        is_short = self._memory is not None and expected > self._memory
        is_due = self._completion.is_due(states, numbers, is_short=is_short)
        if not is_due or not (is_short or numbers >= _FEWEST_NUMBERS):
            return
        # That puts the rows behind one another.
        yield from parts.rearrange(self.place)
        mark = completion_kernel(self._packing.words, self._packing.bits)
        ahead = self._completion.after(self.place - 1)
        rows, stride, dead = parts.rows, parts.stride, 0
        for first in range(0, parts.states, _STATES_TESTED_AT_ONCE):
            last = min(first + _STATES_TESTED_AT_ONCE, parts.states)
            mark(first, last, stride, 1, rows, ahead)
            dead += int(np.count_nonzero(rows[first * stride : last * stride : stride] == np.uint64(DEAD)))
            yield
        self._completion.learn(parts.states, dead)
        self.dropped += dead
        parts.states -= dead


def _is_through(launches: Iterator[None]) -> bool:
    """Make some of the launches; say whether that was all."""
    # The way to the thread that owns Taichi and back takes as long as a launch.
    end = time.perf_counter() + _SECONDS_OF_LAUNCHES
    while time.perf_counter() < end:
        if next(launches, _ENDED) is _ENDED:
            return True
    return False


def _is_bipartite(block: Graph) -> bool:
    """Say whether the vertices of a connected graph have two colours, different ones at both ends of each edge."""
    colours = {0: 0}
    waiting = [0]
    while waiting:
        v = waiting.pop()
        for u in block.neighbours(v).tolist():
            if u not in colours:
                colours[u] = 1 - colours[v]
                waiting.append(u)
            elif colours[u] == colours[v]:
                return False
    return True
