"""The layers of a block: the states of a boundary, and what each of them becomes when a vertex comes.

They are a layered graph without circles: each way from the one state of no vertex to a state in which a vertex closes a
cycle is one chordless cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Indices, Places, Words
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.transitions import children_of, grouped
from kernels_ti.boundary.way_back.blocks import PlannedBlock

_NONE = -1


@dataclass(frozen=True, eq=False)
class Layer:
    """The states of a boundary, and what they become when a vertex comes."""

    step: Step
    words: Words  # The states, before the vertex comes
    off: Places  # The state that follows where the vertex stays off the cycle, -1 for none
    on: Places  # The same where it joins
    closing: Indices  # The states in which the vertex closes a cycle, within the bounds on the length
    after: int  # States that follow

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.words.nbytes + self.off.nbytes + self.on.nbytes + self.closing.nbytes

    def children(self, *, joins: bool) -> tuple[Indices, Indices]:
        """Return the states that have a child on one side, and the child of each."""
        child = self.on if joins else self.off
        parents = np.flatnonzero(child >= 0)
        return parents, child[parents].astype(np.int64)

    def parents_of(self, state: int, *, joins: bool) -> Indices:
        """Return the states that become one of those that follow."""
        return np.flatnonzero((self.on if joins else self.off) == state)


def layer_of(block: PlannedBlock, place: int, words: Words) -> tuple[Layer, Words]:
    """Let the vertex of a step come in all states; return the layer, and the states that follow.

    Where lengths are told apart, the last word of a state is the number of vertices on the cycle.
    """
    bounds = block.bounds
    states = words.shape[1]
    children = children_of(words, block.changes[place], block.packing)
    on_parents, on_words, closing = children.on_parents, children.on_words, children.closing
    if bounds.are_told_apart:
        on_words[-1] += np.uint64(1)
        if bounds.longest < bounds.n:
            # One vertex more has to close the cycle.
            fits = on_words[-1] < bounds.longest
            on_parents, on_words = on_parents[fits], on_words[:, fits]
        else:
            on_words[-1] -= (on_words[-1] > bounds.most) * np.uint64(bounds.stride)
        lengths = words[-1][closing].astype(np.int64) + 1
        is_wanted = (lengths >= bounds.shortest) & (lengths <= bounds.longest)
        closing = closing[is_wanted & ((lengths - bounds.shortest) % bounds.stride == 0)]
    together = np.concatenate((children.off_words, on_words), axis=1)
    leaders, group = grouped(together)
    off, on = np.full(states, _NONE, np.int32), np.full(states, _NONE, np.int32)
    off[children.off_parents] = group[: len(children.off_parents)]
    on[on_parents] = group[len(children.off_parents) :]
    layer = Layer(block.steps[place], words, off, on, closing, len(leaders))
    return layer, np.ascontiguousarray(together[:, leaders])
