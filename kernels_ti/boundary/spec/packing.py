"""How the symbols of a state, and numbers, lie in words of 64 bits: for numpy and for kernels.

Of the vertices that came, a chordless cycle has some; they are induced paths, or **pieces**, until the last vertex
closes it. A state stands for all sets of vertices that look alike at the boundary.

A boundary vertex has a **slot**, and in each state a symbol there: 0 when it is not on the cycle, `INNER` when it is
and has both its neighbours, otherwise it is an end of a piece, and the symbol is `FIRST_END` plus the slot of the
piece's other end: its own while the piece is that vertex alone. In a directed graph this is the symbol of a tail, and
of a vertex alone; that of a head is larger by the number of slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Indices, Words
from kernels_ti.boundary.orders.walk import Step

DIGIT_BITS = 48
DIGIT_LIMIT = 1 << DIGIT_BITS
"""Numbers of any size are digits below this, the lowest first. A cell holds the sum of 2^16 digits."""

TAKEN, WRITTEN = 1 << 63, 1 << 62
"""Flags of the cells of a state in a hash table, which it leaves free: each cell is taken, and the first one says
whether all are written."""
DEAD = (1 << 64) - 1
"""The first word of a state outside of hash tables that leads to no cycle."""

TALLIES = 1024
"""Cells over which work items spread what they count: atomics on one cell are slow."""
FULL, FOUND = 3 * TALLIES, 3 * TALLIES + 1
"""Where the tallies say that a table was full, and where the ways that close a cycle begin.

Before come how many rows are new, the largest numbers (the place of the highest digit and that digit, in one cell),
and the most vertices on a cycle.
"""
BIAS = 1 << 62
"""Added to a value in a row, so that it is above zero, where a row begins."""
ORIGIN = FOUND
"""Where the tallies say from where the best cycle that closes comes; the ways follow."""

PART = 4
"""Cells of a part on the cores of a CPU: its first row in the old layer, its rows, the same in the new layer."""
NEXT, OVERFLOW, DONE, ROWS, WAYS = range(5)
"""Cells of the queue of parts: the next part; set where a sum had too many digits; the fewest vertices that came in a
part; the rows and the cells for ways that the new layer takes."""
WINDOW = 2
"""Cells of a row between the words and the ways in a count by length: the first cell of its ways among all, and its
fewest and its most vertices."""
FIRST, FEWEST, MOST, LINKS, BESIDE = range(5)
"""Cells of a row of a table behind the state in a count by length: the first cell of its ways among all, `LENGTH_LIMIT`
less its fewest vertices, its most vertices, and where its children are. `BESIDE` is how many these are."""
LENGTH_LIMIT = 1 << 32
"""Above any number of vertices: the fewest are a maximum too, as cells are 0 at first."""
CLOSES, LINK_BITS = 63, 32
"""The bit of the links that says that a cycle closes. Below are the first cells of the rows of both children plus one,
each in `LINK_BITS` bits."""
ROOM = FOUND
"""Where the tallies say how many cells the ways by length take; the ways that close follow."""

MOST_NODES = 64
"""Nodes of the graph of vertices to come, see `kernels_ti.boundary.executors.forward`."""


INNER, FIRST_END = 1, 2

WORD_BITS = 64
# Kernels keep two bits of a word for themselves: with more bits to a symbol, words would have no two bits to spare.
_MOST_BITS = 6


@dataclass(frozen=True)
class Packing:
    """How the symbols of a state lie in words."""

    slots: int
    # 2 where an end of a piece is its tail or its head, and the symbol says which; 1 in undirected graphs
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
    def fits_kernels(self) -> bool:
        """Whether kernels hold its states: 62 slots, in directed graphs 31."""
        return self.bits <= _MOST_BITS

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

    def fields(self, slots: Indices) -> Words:
        """Return the bits of the symbols in some slots, shape (words, *shape of the slots)."""
        word, place = np.divmod(slots, self.slots_to_a_word)
        bits = np.uint64(self.field) << (self.bits * place).astype(np.uint64)
        return np.stack([np.where(word == each, bits, np.uint64(0)) for each in range(self.words)])

    def symbol(self, words: Words, slot: int) -> Words:
        """Return the symbol of one slot in each state, shape (k,)."""
        word, shift = self.place(slot)
        symbols: Words = words[word] >> shift
        symbols &= np.uint64(self.field)
        return symbols
