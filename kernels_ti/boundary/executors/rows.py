"""The rows of kernels as saved states and back: tables have digits of 48 bits, as saved states, and parts of 64."""

from __future__ import annotations

import numpy as np

from kernels_ti.adjacency import spans
from kernels_ti.boundary.arrays import Indices, Words
from kernels_ti.boundary.spec.cells import DIGIT_BITS, TAKEN, WRITTEN
from kernels_ti.boundary.values.saved import SavedStates

_BITS, _HALF = 64, 32


def words_in(rows: Words, words: int) -> Words:
    """Return the states alone, shape (words, k), of rows that begin with them."""
    found: Words = np.array(rows[:, :words].T, order="C")
    found[0] &= np.uint64(WRITTEN - 1)
    found[1:] &= np.uint64(TAKEN - 1)
    return found


def rows_with(words: Words, beside: Words) -> Words:
    """Return the rows of tables with states, shape (k, words), and with more cells beside them."""
    taken = words | np.uint64(TAKEN)
    taken[:, 0] |= np.uint64(WRITTEN)
    return np.concatenate((taken, beside), axis=1)


def rows_of_totals(states: SavedStates) -> tuple[Words, int]:
    """Return a row for each state, shape (k, words + digits), and the digits."""
    digits = _digits_of(_carried(states).transpose(0, 2, 1)[:, 0], DIGIT_BITS, _BITS)
    return np.concatenate((states.words.T, digits), axis=1), digits.shape[1]


def totals_of_rows(rows: Words, words: int) -> SavedStates:
    """Return the states of rows, the converse of `rows_of_totals`."""
    digits = _digits_of(rows[:, words:], _BITS, DIGIT_BITS)
    return SavedStates(np.ascontiguousarray(rows[:, :words].T), np.ascontiguousarray(digits[:, :, None]))


def rows_by_length(states: SavedStates, apart: int, bits: int = _BITS) -> tuple[Words, Words, int]:
    """Return a row for each state to which a way leads, the ways to all of them, and the digits of a number.

    A row has a state, the first cell of its ways, and in one cell its fewest and its most vertices. `apart` is the
    least difference of two lengths of one state. Digits have `bits` bits.
    """
    counts = _carried(states)
    has_ways = np.asarray(counts.any(axis=1))
    leads = np.flatnonzero(has_ways.any(axis=1))
    has_ways, counts = has_ways[leads], counts[leads]
    low = has_ways.argmax(axis=1)
    high = counts.shape[2] - 1 - has_ways[:, ::-1].argmax(axis=1)
    numbers = (high - low) // apart + 1
    row, length = _spread(low, numbers, apart)
    ways = _digits_of(counts[row, :, length], DIGIT_BITS, bits)
    digits = ways.shape[1]
    first = (np.cumsum(numbers) - numbers) * digits
    window = low << _HALF | high
    rows = np.concatenate((states.words[:, leads].T, np.stack((first, window), axis=1).astype(np.uint64)), axis=1)
    return rows, ways.reshape(-1), digits


def states_by_length(rows: Words, words: int, ways: Words, digits: int, apart: int, bits: int = _BITS) -> SavedStates:
    """Return the states of rows with their ways, the converse of `rows_by_length`."""
    first, window = rows[:, words].astype(np.int64), rows[:, words + 1].astype(np.int64)
    low, high = window >> _HALF, window & (1 << _HALF) - 1
    numbers = (high - low) // apart + 1
    row, length = _spread(low, numbers, apart)
    cell = first[row] + (length - low[row]) // apart * digits
    found = _digits_of(ways[cell[:, None] + np.arange(digits)], bits, DIGIT_BITS)
    counts = np.zeros((len(rows), found.shape[1], int(high.max(initial=0)) + 1), np.uint64)
    counts[row, :, length] = found
    return SavedStates(np.ascontiguousarray(rows[:, :words].T), counts)


def _spread(low: Indices, numbers: Indices, apart: int) -> tuple[Indices, Indices]:
    """Return the row and the length of each number."""
    row = np.repeat(np.arange(len(low)), numbers)
    return row, low[row] + apart * spans(np.zeros_like(numbers), numbers)


def _carried(states: SavedStates) -> Words:
    """Return the counts with no digit of more than 48 bits, shape (k, digits, lengths)."""
    counts: Words = states.ways.carried().digits.transpose(1, 0, 2)
    return counts


def _digits_of(digits: Words, bits: int, new_bits: int) -> Words:
    """Turn digits, shape (k, digits), the lowest first, into digits of other bits, as many as are needed."""
    count = -(-digits.shape[1] * bits // new_bits)
    found = np.zeros((len(digits), count + 1), np.uint64)
    mask = np.uint64((1 << new_bits) - 1)
    for digit in range(digits.shape[1]):
        place, shift = divmod(digit * bits, new_bits)
        found[:, place] |= digits[:, digit] << np.uint64(shift) & mask
        for more in range(1, count + 1 - place):
            # The bits beyond this digit belong to those that follow.
            left = more * new_bits - shift
            if left < bits:
                found[:, place + more] |= digits[:, digit] >> np.uint64(left) & mask
    used = np.flatnonzero(found.any(axis=0))
    return found[:, : int(used[-1]) + 1 if len(used) else 1]
