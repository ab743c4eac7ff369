"""The count of one block in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels_ti.boundary.arrays import Flags, Words
from kernels_ti.boundary.executors.forward import Completion, Forward
from kernels_ti.boundary.spec.block import GivenUp, OrderedBlock, require_memory
from kernels_ti.boundary.spec.changes import Children, children_of, grouped
from kernels_ti.boundary.values.numbers import Addends, Numbers, sums_of
from kernels_ti.boundary.values.saved import SavedBlock, SavedStates
from kernels_ti.device.device import left_beside_kernels

# Beside the counts, which are there twice while states are merged: words, sums, order and ranks of old and new states.
_BYTES_OF_A_STATE = 150


class PythonBlock(Forward):
    """The count of one block, in numpy; `drops` says whether a kernel may drop states that cannot be completed."""

    def __init__(self, block: OrderedBlock, longest: int | None, memory: int | None, *, drops: bool = True) -> None:
        super().__init__(block, memory, longest)
        self._words = np.zeros((self._packing.words, 1), np.uint64)
        self._ways = Numbers(np.ones((1, 1) if longest is None else (1, 1, 1), np.uint64), 1)
        self._completion = Completion(block) if drops else None

    @property
    def states(self) -> int:
        """States held now."""
        return self._words.shape[1]

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex come, in all states.

        GivenUp is raised once it was enough, and a SizeError if the states do not fit into the memory.
        """
        states = self.states
        self._drop(enough)
        require_memory(self._needed, self._memory, self.states, self._block, self.place)
        children = children_of(self._words, self._block.changes[self.place], self._packing)
        words, ways = merged(children, self._ways, self._longest, enough)
        self._close(self._ways.totals(children.closing))
        self._words, self._ways, self.states_met = words, ways, [states]
        self._go_to(self.place + 1)

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        ways = self._ways.carried().by_length
        return self._saved_with(SavedStates(self._words, np.ascontiguousarray(ways.transpose(1, 0, 2))))

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block."""
        super().resume(saved)
        self._words, self._ways = saved.states.words, saved.states.ways
        if self._longest is None:
            self._ways = Numbers(self._ways.digits[:, :, 0], self._ways.bound)

    @property
    def _needed(self) -> int:
        needed: int = 3 * self.states * (_BYTES_OF_A_STATE + 8 * (self._numbers + len(self._ways.digits)))
        return needed

    @property
    def _numbers(self) -> int:
        """Digits of a state, for all lengths."""
        return self._ways.digits.size // max(self.states, 1)

    def _drop(self, enough: Callable[[], bool]) -> None:
        if self._completion is None or self.place == 0:
            return
        is_short = self._memory is not None and self._needed > self._memory
        if self.states and self._completion.is_due(self.states, self._numbers, is_short=is_short):
            if self._memory is not None:
                left = left_beside_kernels(self._memory)
                if self._needed > left and left < self._memory:
                    return  # The kernel has not started, and has no room beside the states.
                self._memory = left
            possible = self._completion.possible(self.place - 1, self._words, enough)
            self._words, self._ways = _chosen(self._words, self._ways, possible)


def merged(children: Children, ways: Numbers, longest: int | None, enough: Callable[[], bool]) -> tuple[Words, Numbers]:
    """Put children together that look alike, and add up their ways; GivenUp is raised once it was enough.

    Sets of more than `longest` vertices are dropped; None does not tell sets apart by their number of vertices.
    """
    # Each of the steps below takes about a second for ten million states.
    if enough():
        raise GivenUp
    together = np.concatenate((children.off_words, children.on_words), axis=1)
    leaders, group = grouped(together)
    off, on = np.split(group, [len(children.off_parents)])
    addends = [
        Addends(ways, children.off_parents, off),
        Addends(ways, children.on_parents, on, longer=int(longest is not None)),
    ]
    words, sums = np.ascontiguousarray(together[:, leaders]), sums_of(addends, len(leaders), longest, enough)
    if longest is None or ways.digits.shape[2] <= longest:
        return words, sums
    # Some sets have become too long, and perhaps all those behind a state.
    return _chosen(words, sums, np.asarray(sums.digits.any(axis=(0, 2))))


def _chosen(words: Words, ways: Numbers, which: Flags) -> tuple[Words, Numbers]:
    return (words, ways) if which.all() else (words[:, which], ways[which])
