"""The cycles through each vertex and each edge of one block, on the cores of a CPU: forward in parts, and back.

Forward, `kernels_ti.boundary.kernels.linked` keeps for each state the places of its children. So the way back looks for
no state: `kernels_ti.boundary.kernels.shares` adds up the completions of the children.

The layers lie in segments. Each begins with a copy of the states. Where the layers do not fit into the memory, those of
the first segments are forgotten, and made again from the copies on the way back. Where many copies do not fit, every
other one is forgotten too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.cores.changes import Changes, Stretch
from kernels_ti.boundary.cores.parts import CopyOfParts, Parts
from kernels_ti.boundary.forward_and_back.blocks import PlannedBlock
from kernels_ti.boundary.forward_and_back.numbers import Numbers
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.states import GivenUp, require_memory
from kernels_ti.boundary.tables.tables import made_for_a_while
from kernels_ti.errors import EngineError

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

Words = npt.NDArray[np.uint64]

# The layers of a segment take about this part of the memory for layers.
_PART_OF_A_SEGMENT = 0.125
# They take at least so many times the memory of the copy of the states.
_COPIES_TO_A_SEGMENT = 4
# Records of a launch on the way back: about 0.1 s, so that a pause or an interrupt need not wait.
_RECORDS_AT_ONCE = 1 << 19
# Work items that add up, and the fewest records for each.
_ITEMS, _FEWEST_RECORDS_TO_AN_ITEM = 1 << 8, 16
_DIGIT_BITS = 64
# Cells of the table of a part for each state.
_CELLS_TO_A_STATE = 4


@dataclass(frozen=True, eq=False)
class _Linked:
    """The states before a step, and what they become.

    Attributes
    ----------
    place : int
        The step.
    records : ndarray of uint64
        See `kernels_ti.boundary.kernels.linked`.
    count, digits : int
        How many, and the digits of the ways to each.
    places : int
        Places of the layer: all its states have a smaller one.
    """

    place: int
    records: Words
    count: int
    digits: int
    places: int


@dataclass
class _Segment:
    """Layers that follow each other.

    Attributes
    ----------
    place : int
        The first step.
    digits, places : int
        Of the layer before it.
    begin : CopyOfParts
        The states before it.
    layers : list of _Linked or None
        None if they have been forgotten.
    end : int
        The step after the last one.
    """

    place: int
    digits: int
    places: int
    begin: CopyOfParts
    layers: list[_Linked] | None = field(default_factory=list)
    end: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the layers."""
        return sum(layer.records.nbytes for layer in self.layers or ())


class CoresShares:
    """The ways to all states of one block, and on the way back the cycles through its vertices and edges.

    Parameters
    ----------
    device : Device
        A CPU.
    block : PlannedBlock
        Simple and undirected, with a boundary of up to `kernels_ti.boundary.tables.tables.WIDEST` vertices.
    memory : int or None
        Bytes for the states and the layers.
    enough : callable
        Asked again and again; once it says so, `GivenUp` is raised.
    report : callable, optional
        Told each step with its states, on the way forward.

    Attributes
    ----------
    total : int
        All cycles.
    most_states : int
        States of the largest boundary.

    Raises
    ------
    GivenUp
    SizeError
        If a boundary alone does not fit into the memory.
    """

    def __init__(
        self,
        device: Device,
        block: PlannedBlock,
        memory: int | None,
        enough: Callable[[], bool] = lambda: False,
        report: Callable[[Step, int], None] = lambda step, states: None,
    ) -> None:
        self._device, self._enough = device, enough
        self._steps, self._packing, self._bounds = block.steps, block.packing, block.bounds
        self._cells = self._packing.words + int(self._bounds.are_told_apart)
        # One half is for the states and their children, the other one for the layers.
        self._memory = None if memory is None else memory // 2
        self._changes = device.call(Changes, self._steps, self._packing)
        self._parts = Parts(device, self._steps, self._packing, self._memory, by_length=False)
        self._digits = self._places = 1
        # The state of no vertex, at the first place; one way leads there.
        self._parts.begin(np.array([[0] * (self._cells + 1) + [1]], np.uint64))
        self.total, self.most_states = 0, 1
        self._segments: list[_Segment] = []
        self._forward(report)

    def passing(
        self, report: Callable[[Step, int], None] = lambda step, states: None
    ) -> Iterator[tuple[Step, list[int]]]:
        """Go back once; see `kernels_ti.boundary.forward_and_back.device_shares.DeviceShares.passing`."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        wide = max(-(-self.total.bit_length() // DIGIT_BITS), 1)
        after = np.zeros(wide, np.uint64)
        while self._segments:
            segment = self._segments.pop()
            if segment.layers is None:
                self._make_again(segment)
            while segment.layers:
                layer = segment.layers.pop()
                step = self._steps[layer.place]
                sums, after = self._before_step(layer, after, wide)
                report(step, layer.count)
                yield step, [Numbers.of_halves(halves) for halves in sums.tolist()]
        if Numbers(after[:wide, None]).at(0) != self.total:
            raise EngineError("internal error: the way back counts other cycles than the way forward")

    def _forward(self, report: Callable[[Step, int], None]) -> None:
        """Let all vertices come."""
        for place, step in enumerate(self._steps):
            self.total += self._keep_layer(place, begins=place == 0)
            self.most_states = max(self.most_states, self._parts.states)
            report(step, self._parts.states)

    def _make_again(self, segment: _Segment) -> None:
        """Put segments with the layers of one that has been forgotten in its place: those of the last one are there."""
        self._parts.go_back(segment.begin)
        self._digits, self._places = segment.digits, segment.places
        for place in range(segment.place, segment.end):
            self._keep_layer(place, begins=place == segment.place)

    def _keep_layer(self, place: int, *, begins: bool) -> int:
        """Let a vertex come, and keep the layer, in the last segment or a new one; return the cycles that it closes."""
        if not begins:
            last = self._segments[-1]
            most = math.inf if self._memory is None else _PART_OF_A_SEGMENT * self._memory
            begins = last.nbytes > max(most, _COPIES_TO_A_SEGMENT * last.begin.nbytes)
        if begins:
            self._segments.append(_Segment(place, self._digits, self._places, self._parts.copy()))
        layer, closed = self._taken(place)
        segment = self._segments[-1]
        assert segment.layers is not None
        segment.layers.append(layer)
        segment.end = place + 1
        self._make_room(self._steps[place])
        return closed

    def _make_room(self, step: Step) -> None:
        """Where not all fits, forget the layers of the first segments, then every other copy."""
        memory = self._memory
        if memory is None:
            return
        for segment in self._segments[:-1]:
            if self.nbytes > memory:
                segment.layers = None
        while self.nbytes > memory and len(self._segments) > 2:
            *forgotten, last = self._segments
            for segment, following in zip(forgotten[::2], forgotten[1::2], strict=False):
                segment.end = following.end
            self._segments = [*forgotten[::2], last]
        require_memory(self.nbytes, memory, self._parts.states, step.width, by_length=False, is_count=False)

    @property
    def nbytes(self) -> int:
        """Bytes of the layers that are kept, and of the copies."""
        return sum(segment.nbytes + segment.begin.nbytes for segment in self._segments)

    def _taken(self, place: int) -> tuple[_Linked, int]:
        """Let the vertex of a step come; return the layer before, and the cycles that it closes."""
        made: list[tuple[_Linked, int]] = []
        launches = self._launches(place, made)
        is_done = False
        while not is_done:
            if self._enough():
                raise GivenUp
            is_done = self._device.call(made_for_a_while, launches)
        return made[0]

    def _launches(self, place: int, made: list[tuple[_Linked, int]]) -> Iterator[None]:
        """Do the same; yield between launches."""
        parts = self._parts
        yield from parts.prepare(place)
        stretch = self._changes.of(place, 1, parts.states)
        digits = self._digits
        while not (yield from self._carry(place, digits, stretch, made)):
            digits += 1
        parts.follow(self._cells - self._packing.words + 1 + digits)
        self._digits = digits

    def _carry(
        self, place: int, digits: int, stretch: Stretch, made: list[tuple[_Linked, int]]
    ) -> Generator[None, None, bool]:
        """Add the ways to the states to those of their children; say whether so many digits suffice."""
        from kernels_ti.boundary.kernels.linked import linking_kernel
        from kernels_ti.boundary.kernels.shares import LINKED

        parts = self._parts
        carry_linked = linking_kernel(self._packing.words, self._packing.bits, self._cells)
        counts = parts.table[:, 1].astype(np.int64)
        firsts = np.cumsum(counts) - counts
        # Each state has at most two children. A table of them is at least half empty.
        parts.table[:, 2] = 2 * firsts
        room = _CELLS_TO_A_STATE * parts.largest
        tables = parts.buffer("tables", parts.workers * room, np.int32)
        new = parts.buffer("other rows", 2 * parts.states * (self._cells + 1 + digits))
        records = self._device.empty(parts.states * (LINKED + self._digits), np.uint64)
        found = np.zeros((parts.workers, digits), np.uint64)
        base, table = stretch.cells[:2].tolist()
        parts.expect(1)
        for end in parts.launches(1):
            carry_linked(
                parts.workers, parts.table.reshape(-1), firsts.astype(np.int32), end, parts.queue, stretch.tabled,
                self._changes.coded, base, stretch.table[table:], self._bounds.limits, parts.rows, self._digits, new,
                digits, tables, room, found.reshape(-1), records,
            )  # fmt: skip
            yield
        if parts.told.overflowed:
            return False
        closed = sum(digit << _DIGIT_BITS * k for k, digit in enumerate(found.astype(object).sum(axis=0).tolist()))
        made.append((_Linked(place, records, parts.states, self._digits, self._places), closed))
        self._places = 2 * parts.states
        return True

    def _before_step(self, layer: _Linked, after: Words, wide: int) -> tuple[Words, Words]:
        """Go back by one step; see `kernels_ti.boundary.forward_and_back.device_shares.DeviceShares`."""
        from kernels_ti.boundary.kernels.parts import ITERATIONS_PER_WORKER
        from kernels_ti.boundary.kernels.shares import LINKED, complete

        near = len(self._steps[layer.place].near)
        items = min(max(layer.count // _FEWEST_RECORDS_TO_AN_ITEM, 1), _ITEMS)
        sums = np.zeros((items, 1 + near, 2 * wide), np.uint64)
        before = self._device.empty(layer.places * wide, np.uint64)
        stride = LINKED + layer.digits
        for first in range(0, layer.count, _RECORDS_AT_ONCE):
            if self._enough():
                raise GivenUp
            last = min(first + _RECORDS_AT_ONCE, layer.count)
            self._device.call(
                complete, first, last, items, ITERATIONS_PER_WORKER, 0, layer.records, stride, layer.records, stride,
                LINKED, layer.digits, _DIGIT_BITS, wide, after, before, near, sums.reshape(-1),
            )  # fmt: skip
        return sums.sum(axis=0), before
