"""The changes that a vertex makes in the states of a boundary: one table for numpy and for kernels.

A vertex has an edge to every vertex on the cycle that it is next to, so there are at most two of these: one before it
on the cycle and one after it. Without directions, the first one found counts as the one before. So what the vertex
changes is put together of what each of the two neighbours tells, and this is in a table, by neighbour and symbol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Flags, Indices, Words
from kernels_ti.boundary.orders.walk import ALONE, HEAD, TAIL, Step
from kernels_ti.boundary.spec.packing import FIRST_END, INNER, Packing

# Cells of the tables that are made at once.
_CELLS_AT_ONCE = 1 << 20
_BYTE = (1 << 8) - 1

BEFORE, AFTER, CLOSE = 1, 2, 5
MAY_BE_BESIDE, MAY_BE_BEFORE, MAY_BE_AFTER = 1, 1 << BEFORE, 1 << AFTER
"""Of a neighbour with a symbol: the vertex may stay off the cycle beside it, and may follow or precede it there."""
MAY_STAY_OFF, MAY_BE_ALONE, MAY_BE_HEAD, MAY_BE_TAIL, MAY_LINK, MAY_CLOSE = 1, 2, 4, 8, 16, 1 << CLOSE
"""Of the vertex: it may stay off, join beside none, after one, before one, and between two; and close the cycle."""
FAR, SLOT = 8, 16
"""Where an entry has the slot of the other end of the piece, and the slot of the neighbour."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes that a vertex makes."""

    may: int  # Flags of what the vertex may do
    off_kept: Words  # Mask of the bits that a state keeps with the vertex off the cycle, shape (words,)
    inner: Words  # The bits to write where the vertex becomes inner, shape (words,)
    near: tuple[int, ...]  # The slots of its neighbours
    # An entry for no neighbour, where the vertex itself is the end, and then one for each neighbour and symbol:
    codes: Indices  # What the neighbour may be, with the slot of the other end of its piece, and its own
    kept: Words  # If the vertex joins a piece there: what a state keeps, shape (words, entries)
    written: Words  # And what is written to it beside the ends of the pieces


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
    none, all_bits = np.zeros((packing.words, 1), np.uint64), np.full((packing.words, 1), ~np.uint64(0))
    made = []
    for i, step in enumerate(steps):
        part = slice(ends[i], ends[i + 1])
        may = MAY_STAY_OFF * (not step.required) | MAY_LINK | MAY_CLOSE * step.may_close
        for allowed, then in ((ALONE, MAY_BE_ALONE), (HEAD, MAY_BE_HEAD), (TAIL, MAY_BE_TAIL)):
            may |= then * (step.may_end[0] & allowed > 0)
        off_kept = ~np.bitwise_or.reduce(leaving[:, part], axis=1)
        stays = inner[:, i] * np.uint64(step.to_come[0] > 0)
        entries = [
            np.concatenate((no_neighbour, each[:, part].reshape(packing.words, -1)), axis=1)
            for no_neighbour, each in ((all_bits, kept), (none, written))
        ]
        codes_of_step = np.append(step.slot << FAR, codes[part])
        made.append(Changes(may, off_kept, stays, step.near, codes_of_step, *entries))
    return made


@dataclass(frozen=True, eq=False)
class Changed:
    """The child of each row: a combination of the neighbours' symbols, or a state.

    `off`: the vertex may stay off the cycle. `on`: it may join without closing the cycle, and then a word is what is
    `kept` of it with what is `written`. `joins`: it joins the two ends of one piece and may close the cycle; `kept`
    leaves these two out.
    """

    off: Flags
    on: Flags
    joins: Flags
    kept: Words
    written: Words


def put_together(steps: Sequence[Changes], packing: Packing, symbols: Sequence[Indices], size: int) -> Changed:
    """Put together what the neighbours of a vertex tell, from their symbols in so many rows.

    Several vertices with as many neighbours each have these rows one after another. For one state,
    `kernels_ti.boundary.kernels.children` does the same.
    """
    codes, kept, written = steps[0].codes, steps[0].kept, steps[0].written
    none: int | Indices = 0
    may: int | Indices = steps[0].may
    inner, rows = steps[0].inner[:, None], size
    if len(steps) > 1:
        codes = np.concatenate([step.codes for step in steps])
        kept, written = (
            np.concatenate(each, axis=1) for each in zip(*((s.kept, s.written) for s in steps), strict=True)
        )
        none = np.repeat(np.arange(len(steps)) * len(steps[0].codes), size)
        may = np.repeat([step.may for step in steps], size)
        inner = np.repeat(np.stack([step.inner for step in steps], axis=1), size, axis=1)
        symbols, rows = [np.tile(symbol, len(steps)) for symbol in symbols], size * len(steps)
    before, after = np.full(rows, none), np.full(rows, none)
    off, fits = np.full(rows, (may & MAY_STAY_OFF) > 0), np.ones(rows, np.bool_)
    for k, symbol in enumerate(symbols):
        entry = symbol + (none + 1 + (k << packing.bits))
        code = codes[entry]
        off &= (code & MAY_BE_BESIDE) > 0
        goes_before = ((code & MAY_BE_BEFORE) > 0) & (before == none)
        goes_after = ((code & MAY_BE_AFTER) > 0) & (after == none) & ~goes_before
        fits &= (symbol == 0) | goes_before | goes_after
        before[goes_before], after[goes_after] = entry[goes_before], entry[goes_after]
    has_before, has_after = before > none, after > none
    far_before, far_after = codes[before] >> FAR & _BYTE, codes[after] >> FAR & _BYTE
    links = has_before & has_after
    joins = fits & links & (far_before == codes[after] >> SLOT)
    allowed = np.where(has_before, MAY_BE_HEAD, np.where(has_after, MAY_BE_TAIL, MAY_BE_ALONE))
    on = fits & ~joins & (links | ((may & allowed) > 0))
    words = written[:, before] | written[:, after] | np.where(links, inner, np.uint64(0))
    tail, head = FIRST_END + far_after, packing.first_head + far_before
    _write(words, packing, far_before, tail)
    _write(words, packing, far_after, np.where(has_before | has_after, head, 0))
    return Changed(off, on, joins & ((may & MAY_CLOSE) > 0), kept[:, before] & kept[:, after], words)


def _write(words: Words, packing: Packing, slot: Indices, symbol: Indices) -> None:
    """Write a symbol to a slot that is empty in each row."""
    word, place = np.divmod(slot, packing.slots_to_a_word)
    words[word, np.arange(len(word))] |= symbol.astype(np.uint64) << (place * packing.bits).astype(np.uint64)
