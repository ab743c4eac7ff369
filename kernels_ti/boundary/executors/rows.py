"""The rows of a table in kernels as states and back, on the host; see `kernels_ti.boundary.kernels.tables`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.values.saved import SavedStates

Words = npt.NDArray[np.uint64]


def states_in(rows: Words, words: int, lengths: int, digits: int) -> SavedStates:
    """Return the states of rows, none of them empty, without those to which no way leads."""
    rows = rows[rows[:, words : words + lengths * digits].any(axis=1)]
    counts = rows[:, words : words + lengths * digits].reshape(-1, lengths, digits)
    return SavedStates(words_in(rows, words), np.ascontiguousarray(counts.transpose(0, 2, 1)))


def words_in(rows: Words, words: int) -> Words:
    """Return the states alone, shape (words, k), of rows that begin with them."""
    from kernels_ti.boundary.kernels.tables import FACTORS, MOST_KEY_BITS, TAKEN

    key_bits, half = np.uint64((1 << MOST_KEY_BITS) - 1), np.uint64(MOST_KEY_BITS // 2)
    found: Words = np.array(rows[:, :words].T, order="C")
    found[1:] &= np.uint64(TAKEN - 1)
    key = found[0]
    key &= key_bits
    for factor in reversed(FACTORS):
        key ^= key >> half
        key *= np.uint64(pow(factor, -1, 1 << MOST_KEY_BITS))
        key &= key_bits
    key ^= _mask_of(found)
    return found


def rows_of(states: SavedStates) -> Words:
    """Return a row for each state, shape (k, words + lengths * digits)."""
    from kernels_ti.boundary.kernels.tables import FACTORS, MOST_KEY_BITS, TAKEN, WRITTEN

    key_bits, half = np.uint64((1 << MOST_KEY_BITS) - 1), np.uint64(MOST_KEY_BITS // 2)
    key = states.words[0] ^ _mask_of(states.words)
    for factor in FACTORS:
        key *= np.uint64(factor)
        key &= key_bits
        key ^= key >> half
    count, digits, lengths = states.counts.shape
    ways = states.counts.transpose(0, 2, 1).reshape(count, lengths * digits)  # also of no state
    others = states.words[1:].T | np.uint64(TAKEN)
    return np.concatenate(((key | np.uint64(TAKEN | WRITTEN))[:, None], others, ways), axis=1)


def _mask_of(words: Words) -> Words:
    from kernels_ti.boundary.kernels.tables import MIX, MOST_KEY_BITS

    mask = np.zeros(words.shape[1], np.uint64)
    for word in words[1:]:
        mask ^= word
        mask *= np.uint64(MIX)
        mask ^= mask >> np.uint64(32)
    mask &= np.uint64((1 << MOST_KEY_BITS) - 1)
    return mask
