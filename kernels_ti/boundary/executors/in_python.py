"""The count of one block in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.executors.completion import Completion
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.transitions import children_of
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.boundary.values.states import States, merged, require_memory

# Beside the counts, which are there twice while states are merged: words, sums, order and ranks of old and new states.
_BYTES_OF_A_STATE = 150


class PythonBlock:
    """The count of one block, in numpy.

    A cycle has `longest` vertices at most; None counts all lengths together. The states may take `memory` bytes.
    `drops` says whether a kernel may drop states that cannot be completed, see `completion`. `cycles` has the cycles by
    length so far, all with length 0 where lengths are counted together; `width` the vertices in the boundary; `dropped`
    the states that were dropped.
    """

    def __init__(
        self,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
        *,
        drops: bool = True,
    ) -> None:
        self._block, self._steps, self._packing = block, block.steps, block.packing
        self._place = 0
        self._longest = longest
        self._memory = memory
        self._held = States.initial(self._packing.words)
        self._completion = Completion(block) if drops else None
        self.width = 0
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        self.dropped = 0

    @property
    def place(self) -> int:
        """Vertices that have come."""
        return self._place

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return self._place == len(self._steps)

    @property
    def states(self) -> int:
        """States held now."""
        return len(self._held)

    def take_vertex(self, enough: Callable[[], bool]) -> float:
        """Let the next vertex come, in all states; return the expected cost of that.

        GivenUp is raised once it was enough, and a SizeError if the states do not fit into the memory.
        """
        self._drop(enough)
        require_memory(
            self._needed,
            self._memory,
            self.states,
            self.width,
            by_length=self._longest is not None,
            largest=self._needed / max(self.states, 1) * self._block.most_from[self._place],
        )
        step = self._steps[self._place]
        children = children_of(self._held.words, self._block.changes[self._place], self._packing)
        held = merged(
            self._held,
            [children.off_parents, children.on_parents],
            [children.off_words, children.on_words],
            [0, 1],
            longest=self._longest,
            enough=enough,
        )
        self._count(children.closing)
        self._held = held
        self._place += 1
        self.triangles += step.triangles
        self.width = step.width
        return step.cost

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        held = self._held.carried()
        return SavedBlock(self._place, SavedStates(held.words, held.counts), dict(self.cycles), self.triangles)

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block."""
        states = saved.states
        self._held = States(states.words, states.counts, states.largest)
        self._place, self.cycles, self.triangles = saved.place, dict(saved.cycles), saved.triangles
        self.width = self._block.width_after(saved.place)

    @property
    def _needed(self) -> int:
        """Bytes that the next step may need."""
        states, digits, lengths = self._held.counts.shape
        needed: int = 3 * states * (_BYTES_OF_A_STATE + 8 * digits * (lengths + 1))
        return needed

    def _drop(self, enough: Callable[[], bool]) -> None:
        """Drop states that cannot be completed, where that is expected to save time, or the memory is short."""
        if self._completion is None or self._place == 0:
            return
        _, digits, lengths = self._held.counts.shape
        is_short = self._memory is not None and self._needed > self._memory
        if self.states and self._completion.is_due(self.states, digits * lengths, is_short=is_short):
            before = self.states
            self._held = self._held.kept(self._completion.possible(self._place - 1, self._held.words, enough))
            self.dropped += before - self.states

    def _count(self, closed: npt.NDArray[np.int64]) -> None:
        """Add the cycles that the new vertex closes in some states."""
        for vertices, ways in enumerate(self._held.totals(closed)):
            length = 0 if self._longest is None else vertices + 1
            if ways and (self._longest is None or length <= self._longest):
                self.cycles[length] = self.cycles.get(length, 0) + ways
