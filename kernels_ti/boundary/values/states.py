"""States of a boundary: the pieces of a chordless cycle that reach it, and how many ways lead there.

The vertices of a block come one after another. Of those that came, a chordless cycle has some; they are induced paths,
or **pieces**, until the last of its vertices closes it. All that matters for what can still come is how they meet the
boundary, so every state stands for all sets of vertices that look alike there: of one chordless cycle or of 10^18.

A boundary vertex has a **slot**, and in each state a symbol there: 0 when it is not on the cycle,
`INNER` when it is and has both its neighbours, otherwise it is an end of a piece, and the symbol is `FIRST_END` plus
the slot of the piece's other end: its own while the piece is that vertex alone. In a directed graph this is the symbol
of a tail, and of a vertex alone; that of a head is larger by the number of slots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.spec.cells import DIGIT_BITS, DIGIT_LIMIT
from kernels_ti.boundary.spec.transitions import grouped
from kernels_ti.errors import EngineError, SizeError, bytes_text, parameter, quantity, vertices_text, worded

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Digits of the counts, in words of 64 bits: the room above is for sums.
_SUM_LIMIT = 1 << 63

_ROWS_AT_ONCE = 2048


class GivenUp(Exception):
    """States were being put together when it was enough."""


def require_memory(
    needed: int,
    memory: int | None,
    states: int,
    width: int,
    *,
    by_length: bool,
    largest: float = 0.0,
    is_count: bool = True,
) -> None:
    """Refuse, by a SizeError, a step that needs more bytes than the memory allows; None allows all.

    The states at a boundary of `width` vertices need the memory; to tell lengths apart takes more. The largest boundary
    to come is expected to need `largest` bytes. A search can count too (`is_count`); but it finds no longest cycle, and
    draws no samples.
    """
    if memory is None or needed <= memory:
        return
    # Python has no count of the total alone.
    before = worded("", "count --total-only may need less, " if by_length else "")
    after = f", {parameter('method', 'search')} needs next to none" if is_count else ""
    raise SizeError(
        f"{quantity(states, 'state')} at a boundary of {vertices_text(width)} may need {bytes_text(needed)}, "
        f"more than the {bytes_text(memory)} allowed, and the largest boundary about "
        f"{bytes_text(max(needed, largest))}: {before}{parameter('memory')} allows more{after}"
    )


@dataclass
class States:
    """States of one boundary, no two alike, each with the number of ways that lead to it."""

    words: Words  # The symbols, see `kernels_ti.boundary.spec.packing.Packing`
    # Sets of vertices behind each state, by their number from 0 on, shape (k, digits, lengths): 48 bits, lowest first
    counts: Words
    bound: int = 1  # No digit is larger

    @classmethod
    def initial(cls, words: int) -> States:
        """Return the states before the first vertex: one state of `words` words, with one way of no vertices."""
        return cls(np.zeros((words, 1), np.uint64), np.ones((1, 1, 1), np.uint64))

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
                    totals[length] += (lower + (upper << 32)) << DIGIT_BITS * digit
        return totals

    def kept(self, which: npt.NDArray[np.bool_]) -> States:
        """Only some of the states."""
        return self if which.all() else States(self.words[:, which], self.counts[which], self.bound)

    def carried(self) -> States:
        """Return the same with small digits, and one digit more where that takes one."""
        if self.bound <= DIGIT_LIMIT:
            return self
        largest = int(self.counts.max(initial=0))
        if largest < DIGIT_LIMIT:
            return States(self.words, self.counts, max(largest, 1))
        # A copy: what closes is counted in these states afterwards, and a step may be given up.
        counts = self.counts.copy()
        for digit in range(counts.shape[1]):
            over = counts[:, digit] >> np.uint64(DIGIT_BITS)
            counts[:, digit] &= np.uint64(DIGIT_LIMIT - 1)
            if digit + 1 < counts.shape[1]:
                counts[:, digit + 1] += over
            elif over.any():
                counts = np.concatenate([counts, over[:, None]], axis=1)
        return States(self.words, counts, DIGIT_LIMIT)


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

    The new states come in lists: for each of them its parent among `states`, its words, and by how many vertices, 0 or
    1, the sets behind the states of the list have grown. Sets of more than `longest` vertices are dropped; None does
    not tell sets apart by their number of vertices. GivenUp is raised once it was enough.
    """
    # Each of the steps below takes about a second for ten million states.
    if enough():
        raise GivenUp
    together = np.concatenate(words, axis=1)
    leaders, group = grouped(together)
    ranks = int(np.bincount(group).max(initial=1))
    if states.bound * ranks >= _SUM_LIMIT:
        states = states.carried()
        if states.bound * ranks >= _SUM_LIMIT:
            raise EngineError(
                f"{ranks:,} states become one, more than can be added up: {parameter('method', 'search')}"
            )
    _, digits, lengths = states.counts.shape
    grown = lengths
    if longest is not None:
        grown = min(_grown(states.counts, parents, added), longest + 1)
    counts = np.empty((len(leaders), digits, grown), np.uint64)
    has_ways = np.zeros(len(leaders), np.bool_)
    offset = 0
    for parent, new_words, more in zip(parents, words, added, strict=True):
        into = group[offset : offset + len(parent)]
        offset += new_words.shape[1]
        _add(counts, has_ways, states.counts, parent, into, 0 if longest is None else more, enough)
    result = States(np.ascontiguousarray(together[:, leaders]), counts, states.bound * ranks)
    if longest is None:
        return result
    if lengths + max(added) > longest + 1:
        # Some sets have become too long, and perhaps all those behind a state.
        result = result.kept(np.asarray(counts.any(axis=(1, 2))))
    return result


def _add(
    counts: Words,
    has_ways: npt.NDArray[np.bool_],
    ways: Words,
    parents: Indices,
    into: Indices,
    shift: int,
    enough: Callable[[], bool],
) -> None:
    """Add the ways to the parents to those of the states that they become; each way gets `shift` vertices more.

    The first ways to a state are written to it, as `has_ways` tells, and others are added.
    """
    if enough():
        raise GivenUp
    lengths = counts.shape[2] - shift
    if counts.shape[2] == 1:
        # numpy adds up numbers of one dimension at many places at once.
        counts[into[~has_ways[into]]] = 0
        has_ways[into] = True
        for digit in range(counts.shape[1]):
            np.add.at(counts[:, digit, 0], into, ways[parents, digit, 0])
        return
    last = np.empty(len(counts), np.int64)
    while len(parents):
        # Those of one state are added one after another.
        last[into] = np.arange(len(into))
        now = last[into] == np.arange(len(into))
        # So few at a time that they stay in the cache between being read and being written.
        turn_parents, turn_into = parents[now], into[now]
        for start in range(0, len(turn_into), _ROWS_AT_ONCE):
            if enough():
                raise GivenUp
            piece = slice(start, start + _ROWS_AT_ONCE)
            place = turn_into[piece]
            more = ways[turn_parents[piece], :, :lengths]
            end = shift + more.shape[2]
            old = has_ways[place]
            if old.any():
                counts[place[old], :, shift:end] += more[old]
                place, more = place[~old], more[~old]
            counts[place, :, shift:end] = more
            counts[place, :, :shift] = 0
            counts[place, :, end:] = 0
        has_ways[turn_into] = True
        parents, into = parents[~now], into[~now]


def _grown(ways: Words, parents: list[Indices], added: list[int]) -> int:
    """Return how many lengths the new sets have, from 0 vertices on."""
    grown = 1
    for parent, more in zip(parents, added, strict=True):
        lengths = ways.shape[2]
        while lengths + more > grown and not ways[parent, :, lengths - 1].any():
            lengths -= 1
        grown = max(grown, lengths + more)
    return grown
