"""How the symbols of a state lie in words; see `kernels_ti.boundary.values.states` for the symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.boundary.arrays import Indices, Words
from kernels_ti.boundary.orders.walk import Step

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
