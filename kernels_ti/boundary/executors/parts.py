"""The states of a boundary in parts that the cores of a CPU take one by one, see `kernels_ti.boundary.kernels.stretch`.

A vertex that comes changes symbols of its neighbours and of the other ends of their pieces. Whether any other slot is
off the cycle, inner, or an end stays as it is. So the states are told apart by that, in **steady** slots which no
vertex changes for a while: equal children then come from one part only. The vertices until then are a **stretch**, and
come in one launch. When the next vertex would change a steady slot, the states are moved to other parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Words
from kernels_ti.boundary.executors.forward import Buffers
from kernels_ti.boundary.spec.block import OrderedBlock, require_memory
from kernels_ti.boundary.spec.packing import DEAD, NEXT, PART, WAYS
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device
from kernels_ti.errors import SizeError

# States of a part whose children and their table stay in the cache of a core.
_STATES_TO_A_PART = 2048
# So many parts for each thread, if that makes them no smaller than this, by length so many times as small.
_PARTS_TO_A_THREAD, _FEWEST_STATES_TO_A_PART, _TIMES_BY_LENGTH = 4, 256, 4
_MOST_PARTS = 4096
# States are moved in so many groups of parts for each thread.
_GROUPS_TO_A_THREAD = 4
# How many times as many parts a slot makes: some of its three kinds are rare.
_KINDS_OF_A_SLOT = 2.2
# More parts are made only once there are so many times as many states.
_GROWTH = 4
# States of a launch, once for each vertex: about 0.1 s, so that a pause or an interrupt need not wait.
_STATES_AT_ONCE = 1 << 21
# So many for all launches of a stretch: what is given up is lost. Where one vertex takes longer, it comes alone.
_STATES_OF_A_STRETCH = 1 << 24
# A stretch of several parts ends before there are expected to be so many times as many states: a part that outgrew the
# memory of its worker would begin anew.
_GROWTH_OF_A_STRETCH = 2
# Steps that are looked at for slots that no vertex changes for a while.
_STEPS_AHEAD = 1000
# Rows of a worker's layers for each state of the largest part, and at least: a part of fewer states needs no company.
_ROOM_TO_A_STATE, _LEAST_ROOM = 4, 1 << 12

FOR_THE_NEXT_LAYER = "other rows", "other ways", "layers", "tables"
"""Buffers whose content nobody needs between two stretches."""


class Parts:
    """The states of one block in parts, in rows of `stride` cells; all buffers stay within the memory.

    `table` has for each part its first row and its rows, then the same of the layer that follows. `queue` is that of
    `kernels_ti.boundary.kernels.stretch`. With a number for each length a state takes longer.
    """

    def __init__(self, device: Device, block: OrderedBlock, memory: int | None, *, by_length: bool) -> None:
        from kernels_ti.boundary.kernels.stretch import rearranging_kernel

        self._device, self._block, self._steps, self._packing = device, block, block.steps, block.packing
        self._rearrange = rearranging_kernel(block.packing.words, block.packing.bits)
        self._changed = [frozenset(slot for slot, _ in step.changed) for step in self._steps]
        self._memory, self._by_length = memory, by_length
        self.queue = np.zeros(WAYS + 1, np.int64)
        self.buffers = Buffers(device)
        self._steady: frozenset[int] = frozenset()
        self._wanted_before, self._place = 1, 0
        self.states = 0

    def begin(self, rows: Words) -> None:
        """Begin with rows, shape (k, cells), all in one part."""
        self.states, self.stride = rows.shape
        self.buffer("rows", rows.size)[: rows.size] = rows.reshape(-1)
        self.table = np.array([[0, self.states, 0, 0]], np.int32)
        self._steady, self._wanted_before = frozenset(), 1

    @property
    def workers(self) -> int:
        """Workers that a launch needs."""
        return min(self._device.threads or 1, len(self.table))

    def occupied(self) -> Words:
        """Return a copy of the rows of all states, shape (k, cells)."""
        rows = self.buffers["rows"]
        rows = rows[: len(rows) // self.stride * self.stride].reshape(-1, self.stride)
        found: Words = np.concatenate([rows[first : first + count] for first, count, _, _ in self.table.tolist()])
        alive: Words = found[found[:, 0] != np.uint64(DEAD)]
        return alive

    def buffer(self, name: str, cells: int, dtype: npt.DTypeLike = np.uint64, *, is_tight: bool = False) -> Any:
        """Return a buffer of so many cells or more, which loses its content to grow; a SizeError if it does not fit."""
        beside, size = self.buffers.nbytes_beside(name), np.dtype(dtype).itemsize
        require_memory(
            beside + cells * size, self._memory, self.states, self._block, self._place, cells=cells, most=LARGEST_BUFFER
        )
        room = LARGEST_BUFFER if self._memory is None else (self._memory - beside) // size
        return self.buffers.grown(name, cells, dtype, room=cells if is_tight else min(room, LARGEST_BUFFER))

    @property
    def report(self) -> tuple[bool, int, int, int]:
        """The report of the workers on a stretch.

        Whether a sum had too many digits; the fewest vertices that came in a part; rows that the new layer takes; and
        cells for its ways by length.
        """
        _, overflowed, vertices, rows, ways = self.queue.tolist()
        return bool(overflowed), vertices, rows, ways

    def launches(self, vertices: int) -> Iterator[int]:
        """Cut the parts into ranges for one launch each: set the queue to the first part, and yield the end."""
        at_once, parts = max(_STATES_AT_ONCE // vertices, 1), len(self.table)
        if self.states < at_once:
            self.queue[NEXT] = 0
            yield parts
            return
        launch = (np.cumsum(self.table[:, 1], dtype=np.int64) - 1) // at_once
        first = 0
        for end in [*(np.flatnonzero(np.diff(launch)) + 1).tolist(), parts]:
            self.queue[NEXT] = first
            yield end
            first = end

    def prepare(self, place: int) -> Iterator[None]:
        """Make parts that stay apart while the vertex of a step comes; yield between launches."""
        self._place = place
        wanted = self._wanted
        if self._changed[place] & self._steady or wanted > _GROWTH * self._wanted_before:
            yield from self.rearrange(place)

    def rearrange(self, place: int) -> Iterator[None]:
        """Move the states to new parts, without those that are marked as dead, all behind one another.

        The parts stay apart while the vertex of a step comes. This yields between launches.
        """
        self._place = place
        wanted = self._wanted
        steady = frozenset(self._last_to_change()[: ceil(log(wanted, _KINDS_OF_A_SLOT))])
        parts = wanted if steady else 1
        masks = np.zeros(self._packing.words, np.uint64)
        for slot in steady:
            word, shift = self._packing.place(slot)
            masks[word] |= np.uint64(1) << shift
        # Where groups of parts begin that have about as many states each, and the end
        ends = np.cumsum(self.table[:, 1], dtype=np.int64)
        count = _GROUPS_TO_A_THREAD * (self._device.threads or 1)
        inside = np.searchsorted(ends, np.arange(1, count) * (ends[-1] / count))
        groups = np.unique(np.concatenate(([0], inside, [len(ends)]))).astype(np.int32)
        try:
            other = self.buffer("other rows", self.states * self.stride)
        except SizeError:
            self.buffers.free(*FOR_THE_NEXT_LAYER)
            other = self.buffer("other rows", self.states * self.stride, is_tight=True)
        places = np.empty((len(groups) - 1) * parts, np.int32)
        begins = np.empty(parts + 1, np.int32)
        self.queue[NEXT] = 0
        self._rearrange(
            self.workers, self.table.reshape(-1), len(groups) - 1, groups, self.queue, self.stride,
            self.buffers["rows"], masks, parts, places, begins, other,
        )  # fmt: skip
        yield
        self.buffers.swap("rows", "other rows")
        sizes = np.diff(begins)
        # The largest come first, so that no worker begins one when the others are done.
        largest = np.argsort(-sizes, kind="stable")[: max(int(np.count_nonzero(sizes)), 1)]
        self.table = np.zeros((len(largest), PART), np.int32)
        self.table[:, 0], self.table[:, 1] = begins[largest], sizes[largest]
        self.states = int(begins[-1])
        self._steady, self._wanted_before = steady, wanted

    @property
    def largest(self) -> int:
        """States of the largest part."""
        return int(self.table[:, 1].max())

    def vertices_apart(self) -> int:
        """Return how many vertices can come before states have to be moved to other parts, or take too long."""
        most = min(_STATES_AT_ONCE // max(self.largest, _LEAST_ROOM // 2), _STATES_OF_A_STRETCH // max(self.states, 1))
        end = self._place + 1
        # A part alone may grow until its worker stops: that is no work lost.
        largest = inf if len(self.table) == 1 else _GROWTH_OF_A_STRETCH * self._steps[self._place].cost
        while (
            end < min(self._place + most, len(self._steps))
            and not self._changed[end] & self._steady
            and self._steps[end].cost <= largest
        ):
            end += 1
        return end - self._place

    def room(self, vertices: int) -> int:
        """Return the rows of a worker's layers: one vertex takes no more than twice those of the largest part."""
        return 2 * max(self.largest, 1) if vertices == 1 else max(_ROOM_TO_A_STATE * self.largest, _LEAST_ROOM)

    def follow(self, beside: int) -> None:
        """Go on with the states that follow, whose rows have so many cells behind the state."""
        self.stride = self._packing.words + beside
        self.buffers.swap("rows", "other rows")
        after = np.zeros_like(self.table)
        after[:, :2] = self.table[:, 2:]
        self.table = after[after[:, 1] > 0] if after[:, 1].any() else after[:1]
        self.states = int(self.table[:, 1].sum(dtype=np.int64))

    def _last_to_change(self) -> list[int]:
        """Return the slots of boundary vertices that the next vertex does not change, the last to change first."""
        found: dict[int, int] = {}
        for place, step in enumerate(self._steps[self._place : self._place + _STEPS_AHEAD]):
            for slot in step.near:
                found.setdefault(slot, place)
            # The slot of no neighbour is free until now.
            found.setdefault(step.slot, 0)
            if len(found) == self._packing.slots:
                break
        return sorted((slot for slot, place in found.items() if place > 0), key=lambda slot: -found[slot])

    @property
    def _wanted(self) -> int:
        """Parts that are wanted for so many states."""
        fewest = max(_FEWEST_STATES_TO_A_PART // (_TIMES_BY_LENGTH if self._by_length else 1), 1)
        for_threads = min(_PARTS_TO_A_THREAD * (self._device.threads or 1), self.states // fewest)
        return max(min(max(self.states // _STATES_TO_A_PART, for_threads), _MOST_PARTS), 1)
