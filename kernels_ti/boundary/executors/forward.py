"""The way forward through one block, vertex by vertex: what all executors have in common.

States that no vertices to come can complete to a cycle are dropped: a third of those of grids, nine tenths of those of
cities. All ends of a state have to come to lie on one cycle, through vertices that are still to come. These are
**nodes** of a small graph: those next to the boundary and their neighbours, one by one, and **deep** nodes, one for
each connected part of the rest. A state leaves a part of this graph free, which is tested in some hundred instructions,
see `kernels_ti.boundary.kernels.completion`. A state is dropped only if it is sure that nothing completes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Flags, Words
from kernels_ti.boundary.orders.order import neighbour_lists
from kernels_ti.boundary.spec.block import GivenUp, OrderedBlock
from kernels_ti.boundary.spec.packing import DEAD, MOST_NODES, TALLIES
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device, held_device

# Between two questions whether it is enough. The way to the thread that owns Taichi and back takes as long as a launch.
_SECONDS_OF_LAUNCHES = 0.05
_ENDED = object()
# Larger buffers have nothing to spare.
_CELLS_TO_SPARE = 1 << 28


class Forward:
    """A block whose vertices come: `place` of them have come. The states may take `memory` bytes.

    A count is of cycles of `longest` vertices at most; None counts all lengths together. `cycles` has the cycles by
    length so far, all with length 0 for None; `states_met` the states there were when each of the vertices came that
    came last.
    """

    def __init__(self, block: OrderedBlock, memory: int | None, longest: int | None = None) -> None:
        self._block, self._steps, self._packing, self._memory = block, block.steps, block.packing, memory
        self._longest, self.place, self.triangles = longest, 0, 0
        self.cycles: dict[int, int] = {}
        self.states_met: list[int] = []

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return self.place == len(self._steps)

    def _go_to(self, place: int) -> None:
        self.triangles += sum(step.triangles for step in self._steps[self.place : place])
        self.place = place

    def _close(self, found: Iterable[int]) -> None:
        """Take notice of the cycles that a new vertex closes, for each number of vertices before it."""
        for vertices, ways in enumerate(found):
            length = 0 if self._longest is None else vertices + 1
            if ways and (self._longest is None or length <= self._longest):
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def _saved_with(self, states: SavedStates) -> SavedBlock:
        return SavedBlock(self.place, states, dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block."""
        self._go_to(saved.place)
        self.cycles, self.triangles = dict(saved.cycles), saved.triangles


def slices(count: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Cut the numbers below `count` into ranges for one launch each."""
    for first in range(0, count, at_once):
        yield first, min(first + at_once, count)


def go_through(device: Device, launches: Generator[object, None, object], enough: Callable[[], bool]) -> None:
    """Make all launches, unless it was enough before: then close them and raise GivenUp."""
    is_through = False
    while not is_through:
        if enough():
            device.call(launches.close)
            raise GivenUp
        is_through = device.call(_made_for_a_while, launches)


def _made_for_a_while(launches: Iterator[object]) -> bool:
    """Make some of the launches, on the thread that owns Taichi; say whether that was all."""
    end = time.perf_counter() + _SECONDS_OF_LAUNCHES
    while time.perf_counter() < end:
        if next(launches, _ENDED) is _ENDED:
            return True
    return False


class Buffers(dict[str, Any]):
    """Buffers on a device, by name."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device

    def grown(
        self, name: str, cells: int, dtype: npt.DTypeLike = np.uint64, *, room: int = LARGEST_BUFFER, fewest: int = 0
    ) -> Any:
        """Return a buffer of at least so many cells; its content is lost if it has to grow.

        A new one has `fewest` cells at least, and a quarter to spare where that makes no more than `room` of them.
        """
        if name not in self or self[name].shape[0] < cells:
            self.pop(name, None)
            wanted = cells + cells // 4 if cells < _CELLS_TO_SPARE else cells
            self[name] = self._device.empty(max(min(wanted, room), cells, fewest), dtype)
        return self[name]

    def swap(self, name: str, other: str) -> None:
        """Let two buffers change names."""
        self[name], self[other] = self[other], self[name]

    def free(self, *names: str) -> None:
        """Give buffers back."""
        for name in names:
            self.pop(name, None)

    def nbytes(self, name: str) -> int:
        """Return the bytes of a buffer, 0 of none."""
        buffer = self.get(name)
        if buffer is None:
            return 0
        return int(buffer.shape[0]) * (buffer.dtype.itemsize if isinstance(buffer, np.ndarray) else 8)

    def nbytes_beside(self, *names: str) -> int:
        """Return the bytes of all buffers but these."""
        return sum(self.nbytes(name) for name in self if name not in names)


# The most nodes that stand for one vertex each, and how far from the boundary these vertices may be.
_MOST_NEAR, _DEPTH = 56, 2
# Ends are bits of a word.
_MOST_SLOTS = 62

# Work is measured in the time that a step takes for one number of a state, 2 to 10 ns. A state takes some of these for
# itself, and the start of Taichi with the compilation of the kernel about as many as this.
_STATE, _START = 10, 400_000_000
# A test takes less than that for a state, and for its tables. But a state that is dropped too late has had children.
_TEST, _TABLES = 200, 100_000
# The part of the states that a test is expected to drop: what the last one dropped, and at first and at least this.
_FIRST_PART, _LEAST_PART = 0.5, 0.2
FEWEST_NUMBERS = 16
"""With fewer numbers to a state, a step takes no longer than a test."""
STATES_AT_ONCE = 1 << 17
"""States of a launch."""


class Completion:
    """Says when a block's states are worth a test, and makes it in numpy's states."""

    def __init__(self, block: OrderedBlock) -> None:
        packing = block.packing
        self._is_possible = packing.roles == 1 and packing.slots <= _MOST_SLOTS
        self._neighbours, self._steps, self._packing = neighbour_lists(block.graph), block.steps, packing
        self._part = _FIRST_PART
        self._work, self._has_begun = 0, False

    def is_due(self, states: int, numbers: int, *, is_short: bool, met: int = 0) -> bool:
        """Say whether a test of the states before the next step is expected to save more work than it takes.

        For each of them `numbers` are added up. `is_short` says that the memory does not suffice for the step. More
        steps since the last question began with `met` states.
        """
        self._work += (states + met) * (_STATE + numbers)
        if not self._is_possible or not (self._has_begun or is_short or self._work > _START):
            return False
        return is_short or self._part * self._work > states * _TEST + _TABLES

    def drop(
        self, device: Device, place: int, words: Sequence[Any], slices: Iterable[tuple[int, int]], stride: int, *,
        word_stride: int = 1, empty: int = DEAD,
    ) -> Generator[bool, None, int]:  # fmt: skip
        """Drop states as they are after a step, from 0 on, and return how many these are.

        For the arrays of their first three words, and how these lie, see `completion_kernel`.
        """
        from kernels_ti.boundary.kernels.completion import completion_kernel

        kernel = completion_kernel(self._packing.words, self._packing.bits)
        ahead, tallies = device.buffer(self._ahead(place)), device.buffer(np.zeros(TALLIES, np.uint64))
        # The compiler keeps what the first launch is given until Python collects its garbage: nothing large.
        kernel(0, 0, stride, word_stride, empty, *[device.empty(1, np.uint64)] * 3, ahead, tallies)
        for first, last in slices:
            kernel(first, last, stride, word_stride, empty, *words, ahead, tallies)
            yield True
        return int(device.download(tallies).sum())

    def learn(self, tested: int, dropped: int) -> None:
        """Take notice of a test."""
        self._part = max(dropped / max(tested, 1), _LEAST_PART)
        self._work, self._has_begun = 0, True

    def possible(self, place: int, words: Words, enough: Callable[[], bool]) -> Flags:
        """Say which states after a step, from 0 on, may be completed; GivenUp once it was enough."""
        states, marked = words.shape[1], words.copy().reshape(-1)
        pieces = slices(states, STATES_AT_ONCE)
        with held_device("cpu") as device:
            go_through(device, self.drop(device, place, [marked] * 3, pieces, 1, word_stride=states), enough)
        possible = np.asarray(marked[:states] != np.uint64(DEAD))
        self.learn(states, states - np.count_nonzero(possible))
        return possible

    def _ahead(self, place: int) -> Words:
        """Return tables of the vertices to come after a step, from 0 on, as the kernel reads them."""
        coming, slots = [step.vertex for step in self._steps[place + 1 :]], self._packing.slots
        missing = set(coming)
        slot_of = {
            step.vertex: step.slot
            for step in self._steps[: place + 1]
            if not missing.isdisjoint(self._neighbours[step.vertex])
        }
        node_of, single = self._nodes(list(slot_of), missing)
        count = max(node_of.values(), default=-1) + 1
        beside_nodes, beside_slots, near = [0] * MOST_NODES, [0] * MOST_NODES, [0] * slots
        for v in coming:
            node = node_of[v]
            for u in self._neighbours[v]:
                if u in slot_of:
                    near[slot_of[u]] |= 1 << node
                    beside_slots[node] |= 1 << slot_of[u]
                elif node_of[u] != node:
                    beside_nodes[node] |= 1 << node_of[u]
        nodes = (1 << count) - 1
        return np.array([nodes, nodes >> single << single, slots, *beside_nodes, *beside_slots, *near], np.uint64)

    def _nodes(self, boundary: list[int], missing: set[int]) -> tuple[dict[int, int], int]:
        """Return the node of each vertex to come, and how many nodes stand for one vertex: these are the first."""
        found: dict[int, None] = {}
        layer = boundary
        for _ in range(_DEPTH):
            layer = [u for v in layer for u in self._neighbours[v] if u in missing]
            found.update(dict.fromkeys(layer))
        near = list(found)[:_MOST_NEAR]
        node_of = {v: node for node, v in enumerate(near)}
        deep = len(near)
        for v in missing:
            if v not in node_of:
                # Parts beyond the last node share it: that connects more, and drops no state too many.
                node = min(deep, MOST_NODES - 1)
                node_of[v], part = node, [v]
                while part:
                    for u in self._neighbours[part.pop()]:
                        if u in missing and u not in node_of:
                            node_of[u] = node
                            part.append(u)
                deep += 1
        return node_of, len(near)
