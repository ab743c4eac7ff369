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
    from kernels_ti.boundary.kernels.tables import TAKEN, WRITTEN

    found: Words = np.array(rows[:, :words].T, order="C")
    found[0] &= np.uint64(WRITTEN - 1)
    found[1:] &= np.uint64(TAKEN - 1)
    return found


def rows_of(states: SavedStates) -> Words:
    """Return a row for each state, shape (k, words + lengths * digits)."""
    from kernels_ti.boundary.kernels.tables import TAKEN, WRITTEN

    count, digits, lengths = states.counts.shape
    words = states.words.T | np.uint64(TAKEN)
    words[:, 0] |= np.uint64(WRITTEN)
    ways = states.counts.transpose(0, 2, 1).reshape(count, lengths * digits)  # also of no state
    return np.concatenate((words, ways), axis=1)
