"""The changes that a vertex makes in the states of a boundary: one table for numpy and for kernels.

A vertex has an edge to every vertex on the cycle that it is next to, so there are at most two of these: one before it
on the cycle and one after it. Without directions, the first one found counts as the one before. A cycle piece ends in
each of the two. So what the vertex changes is put together of what each of the two neighbours tells, and this is in a
table, by neighbour and symbol. `kernels_ti.boundary.spec.transitions` puts it together in numpy, and
`kernels_ti.boundary.kernels.children` in kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import ALONE, HEAD, TAIL, Step
from kernels_ti.boundary.spec.packing import FIRST_END, INNER, Packing

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Cells of the tables that are made at once, and the bits of a combination that kernels look up.
_CELLS_AT_ONCE, _TABLE_BITS = 1 << 20, 10

BEFORE, AFTER, CLOSE = 1, 2, 5
MAY_BE_BESIDE, MAY_BE_BEFORE, MAY_BE_AFTER = 1, 1 << BEFORE, 1 << AFTER
"""Of a neighbour with a symbol: the vertex may stay off the cycle beside it, and may follow or precede it there."""
MAY_STAY_OFF, MAY_BE_ALONE, MAY_BE_HEAD, MAY_BE_TAIL, MAY_LINK, MAY_CLOSE = 1, 2, 4, 8, 16, 1 << CLOSE
"""Of the vertex: it may stay off, join beside none, after one, before one, and between two; and close the cycle."""
FAR, SLOT = 8, 16
"""Where an entry has the slot of the other end of the piece, and the slot of the neighbour."""
HEADER, FIRST_HEAD = 4, 8
"""Cells of a step, as kernels read it: its neighbours; what the vertex may do, with the symbol of a head whose piece
begins in the first slot from bit `FIRST_HEAD` on; where its table of combinations begins, if it has one; its slot. Then
come the words that a state keeps with the vertex off the cycle, those that are written where it becomes inner, the
slots of the neighbours, an entry for no neighbour, and one for each neighbour and symbol: what it may be, what is kept,
what is written."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes that a vertex makes."""

    slot: int  # Of the vertex
    may: int  # Flags of what it may do
    off_kept: Words  # Mask of the bits that a state keeps with the vertex off the cycle, shape (words,)
    inner: Words  # The bits to write where the vertex becomes inner, shape (words,)
    near: tuple[int, ...]  # The slots of its neighbours
    # For each neighbour and symbol, what it may be, with the slot of the other end of its piece, and its own
    codes: Indices
    kept: Words  # If the vertex joins a piece there: what a state keeps, shape (words, near, symbols)
    written: Words  # And what is written to it beside the ends of the pieces

    def coded(self, first_head: int) -> Words:
        """Return the same as kernels read it."""
        entries = np.concatenate((self.codes.view(np.uint64)[None], self.kept, self.written))
        header = np.array([len(self.near), self.may | first_head << FIRST_HEAD, 0, self.slot], np.uint64)
        near, none = np.array(self.near, np.uint64), np.zeros(len(entries), np.uint64)
        none[0], none[1 : 1 + len(self.inner)] = self.slot << FAR, ~np.uint64(0)
        return np.concatenate((header, self.off_kept, self.inner, near, none, entries.transpose(1, 2, 0).reshape(-1)))


class Coded(NamedTuple):
    """The changes of all vertices of a block, as kernels read them."""

    spec: Words  # The steps, and room for their tables of combinations
    bases: npt.NDArray[np.int32]  # Where each step begins
    step_of: npt.NDArray[np.int32]  # For each entry of the tables, where its step begins
    first: npt.NDArray[np.int32]  # And the first entry of that step


class ChangesOfSteps:
    """The changes of each vertex of a block, made for many vertices at once."""

    def __init__(self, steps: Sequence[Step], packing: Packing) -> None:
        self._steps, self._packing = steps, packing
        near = max((len(step.near) for step in steps), default=0)
        cells = max(near, 1) * (1 << packing.bits) * packing.words
        self._at_once = max(_CELLS_AT_ONCE // cells, 1)
        self._first, self._made = 0, list[Changes]()

    def __getitem__(self, place: int) -> Changes:
        if not self._first <= place < self._first + len(self._made):
            self._first = place
            self._made = _changes_of(self._steps[place : place + self._at_once], self._packing)
        return self._made[place - self._first]

    def coded(self) -> Coded:
        """Return the changes of all vertices, as kernels read them."""
        packing = self._packing
        coded = [self[place].coded(packing.first_head) for place in range(len(self._steps))]
        bases = np.cumsum([0, *map(len, coded)]).astype(np.int32)
        bits = packing.bits * np.array([len(step.near) for step in self._steps])
        # Tables of few combinations stay in the cache. Others would take longer than to put the changes together.
        entries = np.where(bits <= _TABLE_BITS, 1 << np.minimum(bits, _TABLE_BITS), 0)
        ends, cells = np.cumsum(entries), 1 + 2 * packing.words
        for cells_of_step, count, end in zip(coded, entries.tolist(), ends.tolist(), strict=True):
            cells_of_step[2] = bases[-1] + (end - count) * cells if count else 0
        spec = np.concatenate((*coded, np.zeros(int(ends[-1]) * cells, np.uint64)))
        step_of, first = (np.repeat(each, entries).astype(np.int32) for each in (bases[:-1], ends - entries))
        return Coded(spec, bases[:-1], step_of, first)


def _changes_of(steps: Sequence[Step], packing: Packing) -> list[Changes]:
    """Return the changes of the vertices of some steps."""
    ends = np.cumsum([0, *(len(step.near) for step in steps)]).tolist()
    columns: list[list[int]] = [[], [], [], []]
    for step in steps:
        for column, more in zip(columns, (step.near, step.ways, step.to_come[1:], step.may_end[1:]), strict=True):
            column += more
    slot, way, to_come, may_end = (np.array(column, np.int64).reshape(-1, 1) for column in columns)
    symbol = np.arange(1 << packing.bits)[None]
    is_end = (symbol >= FIRST_END) & (symbol < packing.kinds)
    is_head, is_tail = is_end & (symbol >= packing.first_head), is_end & (symbol < FIRST_END + packing.slots)
    far = np.where(is_end, (symbol - FIRST_END) % packing.slots, slot)
    is_alone = symbol == FIRST_END + slot
    ends_as_tail, ends_as_head, is_left_alone = ((may_end & each) > 0 for each in (TAIL, HEAD, ALONE))
    beside = np.where(is_alone, is_left_alone, (~is_tail | ends_as_tail) & (~is_head | ends_as_head))
    joins = is_end & np.where(is_alone, way > 0, (~is_tail | (way & 1 > 0)) & (~is_head | (way & 2 > 0)))
    # A vertex that was alone becomes an end of a longer piece, and needs a neighbour to come at its other side.
    before = joins & (way & 2 > 0) & (~is_alone | ends_as_tail)
    after = joins & (way & 1 > 0) & (~is_alone | ends_as_head)
    codes = beside * MAY_BE_BESIDE | before * MAY_BE_BEFORE | after * MAY_BE_AFTER | far << FAR | slot << SLOT
    own, field = packing.fields(slot), np.uint64(packing.field)
    kept = np.where(is_end, ~(own | packing.fields(far)), ~np.uint64(0))
    # A neighbour that becomes inner is forgotten at once if it leaves.
    written = np.where(is_end & ~is_alone & (to_come > 0), own // field * np.uint64(INNER), np.uint64(0))
    leaving = np.where(to_come == 0, own, np.uint64(0))[:, :, 0]
    inner = packing.fields(np.array([step.slot for step in steps])) // field * np.uint64(INNER)
    made = []
    for i, step in enumerate(steps):
        part = slice(ends[i], ends[i + 1])
        may = MAY_STAY_OFF * (not step.required) | MAY_LINK | MAY_CLOSE * step.may_close
        for allowed, then in ((ALONE, MAY_BE_ALONE), (HEAD, MAY_BE_HEAD), (TAIL, MAY_BE_TAIL)):
            may |= then * (step.may_end[0] & allowed > 0)
        off_kept = ~np.bitwise_or.reduce(leaving[:, part], axis=1)
        stays = inner[:, i] * np.uint64(step.to_come[0] > 0)
        made.append(Changes(step.slot, may, off_kept, stays, step.near, codes[part], kept[:, part], written[:, part]))
    return made
