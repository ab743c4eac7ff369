"""The way forward through one block, vertex by vertex: the same for all executors."""

from __future__ import annotations

from collections.abc import Iterable

from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates


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
        """Take notice of the number of vertices that have come."""
        self.place = place


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
        """Add the cycles that a new vertex closes, for each number of vertices before it."""
        for vertices, ways in enumerate(found):
            length = 0 if self._longest is None else vertices + 1
            if ways and (self._longest is None or length <= self._longest):
                self.cycles[length] = self.cycles.get(length, 0) + ways

    def _saved_with(self, states: SavedStates) -> SavedBlock:
        """Return the count between two vertices, with its states."""
        return SavedBlock(self.place, states, dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block."""
        self._go_to(saved.place)
        self.cycles, self.triangles = dict(saved.cycles), saved.triangles
