"""The way forward through one block, vertex by vertex, and its buffers: the same for all executors."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.spec.block import GivenUp, OrderedBlock
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device

# Between two questions whether it is enough. The way to the thread that owns Taichi and back takes as long as a launch.
_SECONDS_OF_LAUNCHES = 0.05
_ENDED = object()
# Larger buffers have nothing to spare.
_CELLS_TO_SPARE = 1 << 28


class Forward:
    """A block whose vertices come: `place` of them have come. The states may take `memory` bytes."""

    def __init__(self, block: OrderedBlock, memory: int | None) -> None:
        self._block, self._steps, self._packing, self._memory = block, block.steps, block.packing, memory
        self.place = 0

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return self.place == len(self._steps)

    def _go_to(self, place: int) -> None:
        self.place = place

    def _close(self, found: Iterable[int]) -> None:
        """Take notice of the cycles that a new vertex closes, for each number of vertices before it."""
        raise NotImplementedError


class ForwardCount(Forward):
    """A count of one block, of cycles of `longest` vertices at most; None counts all lengths together.

    `cycles` has the cycles by length so far, all with length 0 for None; `states_met` the states there were when each
    of the vertices came that came last.
    """

    def _begin_count(self, longest: int | None) -> None:
        self._longest = longest
        self.cycles: dict[int, int] = {}
        self.states_met: list[int] = []
        self.triangles = 0

    def _go_to(self, place: int) -> None:
        self.triangles += sum(step.triangles for step in self._steps[self.place : place])
        super()._go_to(place)

    def _close(self, found: Iterable[int]) -> None:
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
