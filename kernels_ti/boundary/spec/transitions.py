"""The children of all states when a vertex comes, in numpy, and the states that are equal.

Where the neighbours have few combinations of symbols, the change is looked up in a table of all of them; otherwise it
is put together for each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Flags, Indices, Words
from kernels_ti.boundary.spec.changes import (
    FAR,
    MAY_BE_AFTER,
    MAY_BE_ALONE,
    MAY_BE_BEFORE,
    MAY_BE_BESIDE,
    MAY_BE_HEAD,
    MAY_BE_TAIL,
    MAY_CLOSE,
    MAY_STAY_OFF,
    SLOT,
    Changes,
)
from kernels_ti.boundary.spec.packing import FIRST_END, Packing

# A table of the changes is made in any case where it has so few entries.
_SMALL_TABLE = 256
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_BYTE = (1 << 8) - 1


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
        cell = _cells_of(some, bits, turn)
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


def _cells_of(words: Words, bits: int, turn: int) -> Indices:
    """Return a cell of a table of ``2 ** bits`` cells for each state; each turn spreads them in its own way."""
    mixed = np.full(words.shape[1], turn, np.uint64)
    for word in words:
        mixed ^= word
        mixed *= np.uint64(_MULTIPLIERS[0])
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(_MULTIPLIERS[1])
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64)
