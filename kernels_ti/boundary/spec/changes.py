"""The changes that a vertex makes in the states of a boundary: one table for numpy and for kernels.

A vertex has an edge to every vertex on the cycle that it is next to, so there are at most two of these: one before it
on the cycle and one after it. Without directions, the first one found counts as the one before. So what the vertex
changes is put together of what each of the two neighbours tells, and this is in a table, by neighbour and symbol.

Where the neighbours have few combinations of symbols, the change is looked up in a table of all of them; otherwise it
is put together for each state. `children_of` does so in numpy. `coded` lays both out in cells for kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Flags, Indices, Places, Words
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
    `kernels_ti.boundary.kernels.tables` does the same.
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


# Bits of a combination that is looked up: larger tables would leave the cache.
_TABLE_BITS = 10

HEADER, FIRST_HEAD = 3, 8
"""Cells of a vertex: its neighbours; what it may do, with the symbol of a head whose piece begins in the first slot
from bit `FIRST_HEAD` on; where its table of combinations begins, if it has one. Then come the words that a state keeps
with the vertex off the cycle, those that are written where it becomes inner, the slots of the neighbours, an entry for
no neighbour, and one for each neighbour and symbol: what it may be, what is kept, what is written. An entry of a table
has three flags (the vertex may stay off, it may join, it may close the cycle), what is kept, and what is written."""


def coded(changes: Sequence[Changes], packing: Packing) -> tuple[Words, Places]:
    """Return the cells of all vertices of a block, and where those of each vertex begin."""
    steps = [_cells_of(each, packing) for each in changes]
    tables: dict[int, Words] = {}
    for near in range(_TABLE_BITS // packing.bits + 1):
        places = [place for place, each in enumerate(changes) if len(each.near) == near]
        if places:
            tables.update(zip(places, _tables_of([changes[place] for place in places], packing, near), strict=True))
    bases = np.cumsum([0, *map(len, steps)])
    end = int(bases[-1])
    for place, table in sorted(tables.items()):
        steps[place][2] = end
        end += len(table)
    return np.concatenate((*steps, *(tables[place] for place in sorted(tables)))), bases[:-1].astype(np.int32)


def _cells_of(changes: Changes, packing: Packing) -> Words:
    """Return the cells of a vertex, without a table."""
    entries = np.concatenate((changes.codes.view(np.uint64)[None], changes.kept, changes.written))
    header = np.array([len(changes.near), changes.may | packing.first_head << FIRST_HEAD, 0], np.uint64)
    near = np.array(changes.near, np.uint64)
    return np.concatenate((header, changes.off_kept, changes.inner, near, entries.T.reshape(-1)))


def _tables_of(steps: Sequence[Changes], packing: Packing, near: int) -> Words:
    """Return the table of all combinations for each of some vertices with as many neighbours, shape (steps, cells)."""
    combination = np.arange(packing.kinds**near)
    symbols = [combination // packing.kinds**k % packing.kinds for k in range(near)]
    changed = put_together(steps, packing, symbols, len(combination))
    flags = changed.off | changed.on.astype(np.uint64) << np.uint64(1) | changed.joins.astype(np.uint64) << np.uint64(2)
    table = np.zeros((len(steps), 1 << near * packing.bits, 1 + 2 * packing.words), np.uint64)
    rows = sum((symbol << k * packing.bits for k, symbol in enumerate(symbols)), np.zeros_like(combination))
    table[:, rows] = np.concatenate((flags[None], changed.kept, changed.written)).T.reshape(len(steps), len(rows), -1)
    return table.reshape(len(steps), -1)


# A table of the changes is made in any case where it has so few entries.
_SMALL_TABLE = 256
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, eq=False)
class Children:
    """The children of the states of a boundary; each state has up to two."""

    off_parents: Indices  # The states from which those come in which the vertex stays off the cycle
    off_words: Words
    on_parents: Indices  # And those in which it joins
    on_words: Words
    closing: Indices  # States in which the vertex closes the cycle


def children_of(words: Words, changes: Changes, packing: Packing) -> Children:
    """Let a vertex come in all states, shape (words, k); words beyond the packing's are handed on as they are."""
    changed, rows = _changed(words, changes, packing)
    symbols = packing.words
    off = np.flatnonzero(changed.off if rows is None else changed.off[rows])
    off_words = words if len(off) == words.shape[1] else words[:, off]
    cleared = np.flatnonzero(~changes.off_kept)
    if len(cleared):
        off_words = off_words.copy()
        off_words[cleared] &= changes.off_kept[cleared, None]
    on = np.flatnonzero(changed.on if rows is None else changed.on[rows])
    of = on if rows is None else rows[on]
    on_words = words[:, on]
    for word in range(symbols):
        on_words[word] &= changed.kept[word][of]
        on_words[word] |= changed.written[word][of]
    closing = np.flatnonzero(changed.joins if rows is None else changed.joins[rows])
    if len(closing):
        of = closing if rows is None else rows[closing]
        rest = np.zeros(len(closing), np.uint64)
        for word in range(symbols):
            rest |= words[word][closing] & changed.kept[word][of]
        # No piece may end anywhere but in the two neighbours.
        closing = closing[rest & np.uint64(packing.end_bits) == 0]
    return Children(off, off_words, on, on_words, closing)


def _changed(words: Words, changes: Changes, packing: Packing) -> tuple[Changed, Indices | None]:
    """Return the children of rows, and the row of each state; None where each state has its own row."""
    kinds, near = packing.kinds, len(changes.near)
    size = kinds**near
    if size > max(_SMALL_TABLE, words.shape[1] // 2):
        symbols = [packing.symbol(words, slot).view(np.int64) for slot in changes.near]
        return put_together([changes], packing, symbols, words.shape[1]), None
    rows = np.zeros(words.shape[1], np.uint64)
    for slot in changes.near:
        rows *= np.uint64(kinds)
        rows += packing.symbol(words, slot)
    code = np.arange(size)
    symbols = [code // kinds ** (near - 1 - k) % kinds for k in range(near)]
    return put_together([changes], packing, symbols, size), rows.view(np.int64)


def grouped(words: Words) -> tuple[Indices, Indices]:
    """Find equal states: return one of each group, ascending, and the number of each state's group.

    Each state is written to a cell of a table, by a sum of its words, and the last one that is written there leads all
    that equal it. States that meet another one in their cell are put into cells by another sum.
    """
    size = words.shape[1]
    numbers = np.arange(size)
    bits = size.bit_length() + 1
    cells = np.empty(1 << bits, np.int64)
    leader, pending, turn = numbers.copy(), numbers, 0
    while len(pending):
        some = words if turn == 0 else words[:, pending]
        cell = _mixed_cells(some, bits, turn)
        cells[cell] = pending
        found = cells[cell]
        same = np.ones(len(pending), np.bool_)
        for word, mine in zip(words, some, strict=True):
            same &= word[found] == mine
        leader[pending[same]] = found[same]
        pending = pending[~same]
        turn += 1
    leads = leader == numbers
    return np.flatnonzero(leads), (np.cumsum(leads) - 1)[leader]


def _mixed_cells(words: Words, bits: int, turn: int) -> Indices:
    """Return a cell of a table of ``2 ** bits`` cells for each state; each turn spreads them in its own way."""
    mixed = np.full(words.shape[1], turn, np.uint64)
    for word in words:
        mixed ^= word
        mixed *= np.uint64(_MULTIPLIERS[0])
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(_MULTIPLIERS[1])
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64)
