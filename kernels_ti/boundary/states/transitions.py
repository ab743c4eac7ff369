"""What becomes of each state of a boundary when a vertex comes, in numpy.

A state lies in words of 64 bits: a symbol for each slot, see `kernels_ti.boundary.states.states`, with as many bits as
the boundary takes. What a vertex changes depends on the symbols of its neighbours only. Where few combinations of these
are possible, the change is looked up in a table of all of them; otherwise it is worked out for each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import ALONE, HEAD, TAIL, Step

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

INNER, FIRST_END = 1, 2

WORD_BITS = 64
# A table of the changes is made in any case where it has so few entries.
_SMALL_TABLE = 256
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True)
class Packing:
    """How the symbols of a state lie in words.

    Attributes
    ----------
    slots : int
    roles : int
        2 where an end of a piece is its tail or its head, and the symbol says which; 1 in undirected graphs.
    """

    slots: int
    roles: int = 1

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Packing:
        """Return the packing for all steps of a block."""
        slots = 1 + max((slot for step in steps for slot, _ in step.changed), default=0)
        return cls(slots, 2 if any(step.directed for step in steps) else 1)

    @property
    def kinds(self) -> int:
        """Different symbols."""
        return FIRST_END + self.roles * self.slots

    @property
    def first_head(self) -> int:
        """Symbol of a head whose piece begins in the first slot; in undirected graphs that of any end."""
        return FIRST_END + (self.roles - 1) * self.slots

    @property
    def bits(self) -> int:
        """Bits of a symbol: the largest is that of an end whose piece ends in the last slot.

        At least 4, so that one kernel serves all boundaries of up to 14 slots.
        """
        return max((self.kinds - 1).bit_length(), 4)

    @property
    def slots_to_a_word(self) -> int:
        """Symbols in a word."""
        return WORD_BITS // self.bits

    @property
    def words(self) -> int:
        """Words of a state."""
        return -(-self.slots // self.slots_to_a_word)

    @property
    def field(self) -> int:
        """All bits of the lowest symbol of a word."""
        return (1 << self.bits) - 1

    @property
    def end_bits(self) -> int:
        """The bits of a word of which one is set at least where a symbol is that of an end."""
        return sum((self.field & ~1) << self.bits * k for k in range(self.slots_to_a_word))

    def place(self, slot: int) -> tuple[int, np.uint64]:
        """Return the word of a slot and the place of its lowest bit."""
        word, place = divmod(slot, self.slots_to_a_word)
        return word, np.uint64(self.bits * place)

    def symbol(self, words: Words, slot: int) -> Words:
        """Return the symbol of one slot in each state, shape (k,)."""
        word, shift = self.place(slot)
        symbols: Words = words[word] >> shift
        symbols &= np.uint64(self.field)
        return symbols

    def ends(self, slot: int, allowed: int) -> Flags:
        """Return which symbols a slot may have, shape (kinds,), if it is an end only as `allowed`.

        `allowed` is a sum of `TAIL`, `HEAD` and `ALONE`, see `kernels_ti.boundary.orders.walk`.
        """
        fits = np.ones(self.kinds, np.bool_)
        fits[FIRST_END : FIRST_END + self.slots] = (allowed & TAIL) > 0
        fits[self.first_head :] = (allowed & HEAD) > 0
        fits[FIRST_END + slot] = (allowed & ALONE) > 0
        return fits

    def far_slot(self, symbol: Indices) -> Indices:
        """Return the slot in which the piece of an end has its other end."""
        far: Indices = symbol - FIRST_END
        return far if self.roles == 1 else np.where(far >= self.slots, far - self.slots, far)


@dataclass(frozen=True, eq=False)
class Children:
    """The children of the states of a boundary; each state has up to two.

    Attributes
    ----------
    off_parents, on_parents : ndarray of int64
        The states from which those come in which the vertex stays off the cycle, and those in which it joins.
    off_words, on_words : ndarray of uint64, shape (words, k)
        The children.
    closing : ndarray of int64
        States in which the vertex closes the cycle.
    """

    off_parents: Indices
    off_words: Words
    on_parents: Indices
    on_words: Words
    closing: Indices


def children_of(words: Words, step: Step, packing: Packing) -> Children:
    """Let a vertex come in all states.

    Parameters
    ----------
    words : ndarray of uint64, shape (words, k)
        Rows beyond those of the packing are handed on as they are.
    step : Step
        With the slot of a neighbour that leaves handed over to the vertex, or not.
    packing : Packing

    Returns
    -------
    Children
    """
    changes, rows = _changes(words, step, packing)
    symbols = packing.words
    off = np.flatnonzero(changes.off if rows is None else changes.off[rows])
    off_words = words if len(off) == words.shape[1] else words[:, off]
    cleared = [packing.place(slot) for slot, to_come in step.changed[1:] if to_come == 0]
    if cleared:
        off_words = off_words.copy()
        for word, shift in cleared:
            off_words[word] &= ~(np.uint64(packing.field) << shift)
    on = np.flatnonzero(changes.on if rows is None else changes.on[rows])
    of = on if rows is None else rows[on]
    on_words = words[:, on]
    for word in range(symbols):
        on_words[word] &= changes.kept[word][of]
        on_words[word] |= changes.written[word][of]
    closing = np.flatnonzero(changes.joins if rows is None else changes.joins[rows])
    if len(closing):
        of = closing if rows is None else rows[closing]
        rest = np.zeros(len(closing), np.uint64)
        for word in range(symbols):
            rest |= words[word][closing] & changes.kept[word][of]
        # No piece may end anywhere but in the two neighbours.
        closing = closing[rest & np.uint64(packing.end_bits) == 0]
    return Children(off, off_words, on, on_words, closing)


@dataclass(frozen=True, eq=False)
class _Changes:
    """What a vertex changes, for each row: a combination of the neighbours' symbols, or a state.

    `off`: it may stay off the cycle. `on`: it may join without closing the cycle, and then a word is what is `kept` of
    it with what is `written`. `joins`: it joins the two ends of one piece; `kept` leaves these two out.
    """

    off: Flags
    on: Flags
    joins: Flags
    kept: Words
    written: Words


def _changes(words: Words, step: Step, packing: Packing) -> tuple[_Changes, Indices | None]:
    """Return the changes, and the row of each state in them; None where each state has its own row."""
    kinds, near = packing.kinds, len(step.near)
    size = kinds**near
    if size > max(_SMALL_TABLE, words.shape[1] // 2):
        return _changes_of(step, packing, [packing.symbol(words, slot).astype(np.int64) for slot in step.near]), None
    rows = np.zeros(words.shape[1], np.uint64)
    for slot in step.near:
        rows *= np.uint64(kinds)
        rows += packing.symbol(words, slot)
    code = np.arange(size)
    symbols = [code // kinds ** (near - 1 - k) % kinds for k in range(near)]
    return _changes_of(step, packing, symbols), rows.view(np.int64)


def _changes_of(step: Step, packing: Packing, symbols: list[Indices]) -> _Changes:
    """Work out what the vertex changes, from the symbols of its neighbours in each row.

    It has an edge to every vertex on the cycle that it is next to, so there are at most two, and none is inner: one
    before it on the cycle and one after it. Without directions the first one found counts as the one before.
    """
    rows = len(symbols[0]) if symbols else 1
    has_before, has_after = (np.zeros(rows, np.bool_) for _ in range(2))
    before, after, one, two = (np.zeros(rows, np.int64) for _ in range(4))
    off = np.full(rows, not step.required)
    fits = np.ones(rows, np.bool_)
    gone, may_be_tail, may_be_head = (np.zeros(packing.slots, np.bool_) for _ in range(3))
    changed = zip(symbols, step.ways, step.changed[1:], step.may_end[1:], strict=True)
    for symbol, way, (slot, to_come), may_end in changed:
        gone[slot] = to_come == 0
        may_be_tail[slot], may_be_head[slot] = may_end & TAIL, may_end & HEAD
        if may_end != TAIL | HEAD | ALONE:
            off &= packing.ends(slot, may_end)[symbol]
        here = symbol != 0
        fits &= packing.ends(slot, ALONE * (way > 0) | TAIL * (way & 1) | HEAD * (way & 2 > 0))[symbol]
        fits &= symbol != INNER
        goes_before = here & ~has_before if way & 2 else np.zeros(rows, np.bool_)
        goes_after = here & ~goes_before
        fits &= ~(goes_after & has_after) if way & 1 else ~goes_after
        before[goes_before], one[goes_before] = slot, symbol[goes_before]
        after[goes_after], two[goes_after] = slot, symbol[goes_after]
        has_before |= goes_before
        has_after |= goes_after
    slot, to_come = step.slot, step.to_come[0]
    far_before, far_after = packing.far_slot(one), packing.far_slot(two)
    alone_before, alone_after = far_before == before, far_after == after
    has_none, has_both = fits & ~has_before & ~has_after, fits & has_before & has_after
    has_before, has_after = fits & has_before & ~has_after, fits & has_after & ~has_before
    joins = has_both & (far_before == after)
    links = has_both & ~joins
    # A vertex that was alone becomes an end of a longer piece, and needs a neighbour to come at its other side.
    open_before = ~alone_before | may_be_tail[before]
    open_after = ~alone_after | may_be_head[after]
    on = links & open_before & open_after
    if step.may_end[0] & HEAD:
        on |= has_before & open_before
    if step.may_end[0] & TAIL:
        on |= has_after & open_after
    if step.may_end[0] & ALONE:
        on |= has_none

    change = _Writing(packing, rows)
    # A vertex that becomes inner is forgotten at once if it leaves.
    change.put(before, np.where(gone[before], 0, INNER), (has_before | links) & ~alone_before)
    change.put(after, np.where(gone[after], 0, INNER), (has_after | links) & ~alone_after)
    tail, head = FIRST_END, packing.first_head
    change.put(far_before, np.where(links, tail + far_after, tail + slot), has_before | links)
    change.put(far_after, np.where(links, head + far_before, head + slot), has_after | links)
    itself = np.where(has_none, FIRST_END + slot, np.where(has_before, head + far_before, tail + far_after))
    itself[links] = INNER if to_come else 0
    # The last, as it may have taken over the slot of a neighbour.
    change.put(np.full(rows, slot), itself, on)
    for place in (before, after):
        change.put(place, np.zeros(rows, np.int64), joins)
    return _Changes(off, on, joins if step.may_close else np.zeros(rows, np.bool_), change.kept, change.written)


class _Writing:
    """Symbols to be written to states: a word is what is `kept` of it with what is `written`."""

    def __init__(self, packing: Packing, rows: int) -> None:
        self._packing = packing
        self.kept: Words = np.full((packing.words, rows), (1 << WORD_BITS) - 1, np.uint64)
        self.written: Words = np.zeros((packing.words, rows), np.uint64)

    def put(self, slot: Indices, symbol: Indices, where: Flags) -> None:
        """Write a symbol, shape (rows,), to a slot, shape (rows,), in some rows."""
        (chosen,) = np.nonzero(where)
        word, place = np.divmod(slot[chosen], self._packing.slots_to_a_word)
        shift = (place * self._packing.bits).astype(np.uint64)
        outside = ~(np.uint64(self._packing.field) << shift)
        self.kept[word, chosen] &= outside
        self.written[word, chosen] = self.written[word, chosen] & outside | symbol[chosen].astype(np.uint64) << shift


def grouped(words: Words) -> tuple[Indices, Indices]:
    """Find equal states.

    Each state is written to a cell of a table, by a sum of its words, and the last one that is written there leads all
    that equal it. States that meet another one in their cell are put into cells by another sum.

    Parameters
    ----------
    words : ndarray of uint64, shape (words, k)

    Returns
    -------
    leaders : ndarray of int64
        One state of each group, ascending.
    group : ndarray of int64, shape (k,)
        The number of each state's group.
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
