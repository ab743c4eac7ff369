"""The children of all states when a vertex comes, in numpy, and the states that are equal.

Where the neighbours have few combinations of symbols, the change is looked up in a table of all of them; otherwise it
is put together for each state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Indices, Words
from kernels_ti.boundary.spec.changes import Changed, Changes, put_together
from kernels_ti.boundary.spec.packing import Packing

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
