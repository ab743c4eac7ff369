"""What a boundary can look like: the pieces of a chordless cycle that reach it, and how many ways lead there.

The vertices of a block come one after another. Of those that came, a chordless cycle has some; they are induced paths,
or **pieces**, until the last of its vertices closes it. All that matters for what can still come is how they meet the
boundary, so every state stands for all sets of vertices that look alike there: of one chordless cycle or of 10^18.

A boundary vertex has a **slot**, and in each state a symbol of one byte there: 0 when it is not on the cycle,
`INNER` when it is and has both its neighbours, otherwise it is an end of a piece, and the symbol is `FIRST_END` plus
the slot of the piece's other end: its own while the piece is that vertex alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import EngineError, SizeError, parameter, worded

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

INNER, FIRST_END = 1, 2
SYMBOL_BITS, SLOTS_TO_A_WORD = 8, 8
LARGEST_BOUNDARY = (1 << SYMBOL_BITS) - FIRST_END
"""Slots that a symbol can name."""

# Digits of the counts, in words of 64 bits: the room above is for sums.
_DIGIT_BITS = 48
_DIGIT_LIMIT, _SUM_LIMIT = 1 << _DIGIT_BITS, 1 << 63

_ROWS_AT_ONCE = 2048
_FIELD = np.uint64((1 << SYMBOL_BITS) - 1)
_END_BITS = np.uint64(sum(0xFE << SYMBOL_BITS * k for k in range(SLOTS_TO_A_WORD)))
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


class GivenUp(Exception):
    """States were being put together when it was enough."""


def require_memory(needed: int, memory: int | None, states: int, width: int, *, by_length: bool) -> None:
    """Refuse a step that needs more than the memory allowed.

    Parameters
    ----------
    needed : int
        Bytes.
    memory : int or None
        Bytes allowed; None allows all.
    states, width : int
        What needs so much: so many states at a boundary of so many vertices.
    by_length : bool
        Lengths are told apart, which takes more.

    Raises
    ------
    SizeError
    """
    if memory is None or needed <= memory:
        return
    # Python has no count of the total alone.
    ways = worded("", "count --total-only needs far less, " if by_length else "")
    ways += f"{parameter('memory')} allows more, "
    raise SizeError(
        f"{states:,} states at a boundary of {width} vertices may need {needed / 2**30:,.2f} GiB, "
        f"more than the {memory / 2**30:,.2f} GiB allowed: {ways}{parameter('method', 'search')} needs next to none"
    )


@dataclass
class States:
    """States of one boundary, no two alike, each with the number of ways that lead to it.

    Attributes
    ----------
    words : ndarray of uint64, shape (W, k)
        The symbols, eight slots to a word.
    counts : ndarray of uint64, shape (k, digits, lengths)
        Sets of vertices behind each state, by their number of vertices from 0 on; digits of 48 bits, lowest first.
    bound : int
        No digit is larger.
    """

    words: Words
    counts: Words
    bound: int = 1

    @classmethod
    def initial(cls, slots: int) -> States:
        """Nothing has come: one state, and one way, without vertices."""
        return cls(np.zeros((-(-slots // SLOTS_TO_A_WORD), 1), np.uint64), np.ones((1, 1, 1), np.uint64))

    def __len__(self) -> int:
        return int(self.words.shape[1])

    def totals(self, which: Indices) -> list[int]:
        """Return the ways that lead to some of the states, all together, by number of vertices."""
        totals = [0] * self.counts.shape[2]
        # So few at a time that no sum of digits overflows.
        for start in range(0, len(which), 1 << 14):
            chosen = self.counts[which[start : start + (1 << 14)]]
            low, high = chosen & np.uint64(0xFFFFFFFF), chosen >> np.uint64(32)
            for digit in range(chosen.shape[1]):
                sums = zip(low[:, digit].sum(axis=0).tolist(), high[:, digit].sum(axis=0).tolist(), strict=True)
                for length, (lower, upper) in enumerate(sums):
                    totals[length] += (lower + (upper << 32)) << _DIGIT_BITS * digit
        return totals

    def kept(self, which: npt.NDArray[np.bool_]) -> States:
        """Only some of the states."""
        return self if which.all() else States(self.words[:, which], self.counts[which], self.bound)

    def carried(self) -> States:
        """Return the same with small digits, and one digit more where that takes one."""
        if self.bound <= _DIGIT_LIMIT:
            return self
        largest = int(self.counts.max(initial=0))
        if largest < _DIGIT_LIMIT:
            return States(self.words, self.counts, max(largest, 1))
        counts = self.counts
        for digit in range(counts.shape[1]):
            over = counts[:, digit] >> np.uint64(_DIGIT_BITS)
            counts[:, digit] &= np.uint64(_DIGIT_LIMIT - 1)
            if digit + 1 < counts.shape[1]:
                counts[:, digit + 1] += over
            elif over.any():
                counts = np.concatenate([counts, over[:, None]], axis=1)
        return States(self.words, counts, _DIGIT_LIMIT)


def symbol(words: Words, slot: int) -> Words:
    """Return the symbol of one slot in each state, shape (k,)."""
    word, place = divmod(slot, SLOTS_TO_A_WORD)
    symbols: Words = words[word] >> np.uint64(SYMBOL_BITS * place) & _FIELD
    return symbols


def symbol_at(words: Words, slots: Words) -> Words:
    """Return the symbol of one slot for each state, shape (k,), from the slots of the states."""
    found: Words = np.zeros(words.shape[1], np.uint64)
    for slot in np.unique(slots).tolist():
        here = slots == slot
        found[here] = symbol(words[:, here], int(slot))
    return found


def put(words: Words, slot: int | Words, value: int | Words, which: Indices | None = None) -> None:
    """Write the symbol of a slot, or of one slot for each state, in all states or in some of them.

    Parameters
    ----------
    words : ndarray of uint64, shape (W, k)
        Changed.
    slot, value : int or ndarray of uint64, shape (k,) or shape of `which`
    which : ndarray of int64, optional
        States to write to.
    """
    word, place = np.divmod(np.asarray(slot, np.uint64), np.uint64(SLOTS_TO_A_WORD))
    shift = np.uint64(SYMBOL_BITS) * place
    cleared, written = ~(_FIELD << shift), np.asarray(value, np.uint64) << shift
    for w in range(len(words)):
        here = words[w] if which is None else words[w, which]
        changed = np.where(word == w, here & cleared | written, here)
        if which is None:
            words[w] = changed
        else:
            words[w, which] = changed


def pieces_end_only_at(words: Words, first: Words, second: Words) -> npt.NDArray[np.bool_]:
    """Say of each state whether no piece ends anywhere but in these two slots."""
    rest = words & _END_BITS
    put(rest, first, 0)
    put(rest, second, 0)
    alone: npt.NDArray[np.bool_] = ~rest.any(axis=0)
    return alone


def merged(
    states: States,
    parents: list[Indices],
    words: list[Words],
    added: list[int],
    *,
    longest: int | None,
    enough: Callable[[], bool] = lambda: False,
) -> States:
    """Put states together that look alike.

    Parameters
    ----------
    states : States
        Those that the new ones come from.
    parents : list of ndarray of int64
        For each new state of each list the one it comes from; in one list no parent comes twice.
    words : list of ndarray of uint64, shape (W, k)
        The new states.
    added : list of int
        Vertices, 0 or 1, by which the sets behind the states of each list have grown.
    longest : int or None
        Sets of more vertices are dropped; None does not tell sets apart by their number of vertices.

    enough : callable
        Asked again and again.

    Returns
    -------
    States

    Raises
    ------
    GivenUp
        Once it was enough.
    """
    order, in_order, first = _alike(np.concatenate(words, axis=1))
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    # Those of one group are added one after another: rank r is the r-th of its group.
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    ranks = int(rank.max(initial=0)) + 1

    if states.bound * ranks >= _SUM_LIMIT:
        states = states.carried()
        if states.bound * ranks >= _SUM_LIMIT:
            raise EngineError(
                f"{ranks:,} states become one, more than can be added up: {parameter('method', 'search')}"
            )
    _, digits, lengths = states.counts.shape
    grown = lengths if longest is None else min(lengths + max(added), longest + 1)
    counts = np.empty((len(starts), digits, grown), np.uint64)
    for r in range(ranks):
        offset = 0
        for parent, new_words, more in zip(parents, words, added, strict=True):
            size = new_words.shape[1]
            now = np.flatnonzero(rank[offset : offset + size] == r)
            into = group[offset : offset + size][now]
            offset += size
            shift = 0 if longest is None else more
            # So few at a time that they stay in the cache between being read and being written.
            for start in range(0, len(now), _ROWS_AT_ONCE):
                if enough():
                    raise GivenUp
                piece = slice(start, start + _ROWS_AT_ONCE)
                ways = states.counts[parent[now[piece]], :, : grown - shift]
                end = shift + ways.shape[2]
                if r:
                    counts[into[piece], :, shift:end] += ways
                else:
                    counts[into[piece], :, shift:end] = ways
                    counts[into[piece], :, :shift] = 0
                    counts[into[piece], :, end:] = 0
    result = States(np.ascontiguousarray(in_order[:, starts]), counts, states.bound * ranks)
    if longest is None:
        return result
    if lengths + max(added) > grown:
        # Some sets have become too long, and perhaps all those behind a state.
        result = result.kept(np.asarray(counts.any(axis=(1, 2))))
    return _trimmed(result)


def _trimmed(states: States) -> States:
    """Leave out lengths beyond the longest set of all."""
    lengths = states.counts.shape[2]
    while lengths > 1 and not states.counts[:, :, lengths - 1].any():
        lengths -= 1
    if lengths < states.counts.shape[2]:
        states.counts = np.ascontiguousarray(states.counts[:, :, :lengths])
    return states


def _alike(words: Words) -> tuple[Indices, Words, npt.NDArray[np.bool_]]:
    """Order states so that equal ones are neighbours.

    Returns the order, the states in it, and which of them differ from the one before.
    """
    mixed = words[0]
    if len(words) > 1:
        mixed = np.zeros(words.shape[1], np.uint64)
        for w, word in enumerate(words):
            mixed = (mixed ^ word) * np.uint64(_MULTIPLIERS[w % len(_MULTIPLIERS)])
            mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed)
    in_order, first = _in_order(words, order)
    mixed = mixed[order]
    if (first[1:] & (mixed[1:] == mixed[:-1])).any():
        # Two states with one sum: rare, and no reason to take them for one.
        order = np.lexsort(words)
        in_order, first = _in_order(words, order)
    return order, in_order, first


def _in_order(words: Words, order: Indices) -> tuple[Words, npt.NDArray[np.bool_]]:
    in_order = np.take(words, order, axis=1)
    first = np.ones(len(order), np.bool_)
    first[1:] = (in_order[:, 1:] != in_order[:, :-1]).any(axis=0)
    return in_order, first
