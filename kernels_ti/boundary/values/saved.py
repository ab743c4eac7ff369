"""Work along a boundary between two vertices, apart from any device: what a checkpoint of it holds.

Tables have rows with digits of 48 bits, as saved states; rows of parts have digits of 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.boundary.arrays import Indices, Words
from kernels_ti.boundary.spec.packing import DIGIT_BITS, TAKEN, WRITTEN
from kernels_ti.boundary.values.numbers import Numbers


@dataclass(frozen=True, eq=False)
class SavedStates:
    """The states of a block, with the number of ways that lead to each."""

    words: Words  # Shape (words, k), see `kernels_ti.boundary.spec.packing.Packing`
    counts: Words  # By the number of vertices from 0 on, shape (k, digits, lengths), the lowest digit first

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that do not fit together."""
        if self.words.ndim != 2 or self.counts.ndim != 3 or self.words.shape[1] != len(self.counts):
            raise ValueError("its states and their counts do not fit together")

    @property
    def ways(self) -> Numbers:
        """The ways, a number for each length."""
        return Numbers(np.ascontiguousarray(self.counts.transpose(1, 0, 2)), self.largest)

    @property
    def largest(self) -> int:
        """No digit is larger; at least 1."""
        return max(int(self.counts.max(initial=0)), 1)


@dataclass(frozen=True)
class SavedPasses:
    """The passes over a block that are made, see `kernels_ti.boundary.executors.in_passes`."""

    total: int  # Cycles of all lengths together
    triangles: int  # Those of three vertices
    most_states: int  # States of the largest boundary
    longest: int | None  # Vertices of the longest cycle, once it is known
    values: dict[int, tuple[int, ...]]  # For each prime the values of the polynomial at the points 1, 2, 3, ...


@dataclass(frozen=True, eq=False)
class SavedBlock:
    """The block that is being counted."""

    place: int  # Vertices that have come
    states: SavedStates
    cycles: dict[int, int]  # By length; all with length 0 where lengths are counted together
    triangles: int
    passes: SavedPasses | None = None  # Where the block is counted in several passes


@dataclass(frozen=True, eq=False)
class SavedCount:
    """A count of a graph."""

    orders: tuple[tuple[int, ...], ...]  # The order of the vertices of each block
    blocks_done: int
    block: SavedBlock | None  # The next one, if a vertex of it has come
    cycles: dict[int, int]  # Of the blocks that are done, and of those that need no boundary
    triangles: int
    work: float  # Expected cost of the vertices that have come
    most_states: int
    states_by_step: tuple[int, ...]  # See `kernels_ti.boundary.count.BoundaryCount`


@dataclass(frozen=True, eq=False)
class SavedLayer:
    """The states before a step, with what is carried along for them."""

    place: int  # The step
    numbers: dict[str, int]  # The class that goes through the block knows the names in `numbers` and `arrays`
    arrays: dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class SavedForward:
    """A block that is gone through forward, between two vertices."""

    in_kernels: bool  # Whether the layers are those of kernels
    between: int  # Steps from one layer that is kept to the next
    most_states: int  # States of the largest boundary so far
    found: dict[str, Any]  # The facts about the cycles that have closed
    layers: tuple[SavedLayer, ...]  # The layers that are kept; the last one is that from which to go on

    def __post_init__(self) -> None:
        """Raise ValueError if there is no layer from which to go on."""
        if not self.layers:
            raise ValueError("it has no states")

    @property
    def place(self) -> int:
        """Vertices that have come."""
        return self.layers[-1].place


@dataclass(frozen=True)
class SavedResult:
    """The result of a block that is done."""

    value: int | None  # The best value of its cycles; None without a cycle, and for a sample
    ways: int  # Cycles with this value; for a sample all cycles
    states: int  # States of the largest boundary
    cycle: tuple[int, ...] = ()  # A best cycle, if it is better than those of the blocks before


@dataclass(frozen=True, eq=False)
class SavedPick:
    """A search for a best cycle, or a sample."""

    orders: tuple[tuple[int, ...], ...]  # The order of the vertices of each block
    done: tuple[SavedResult, ...]  # The blocks that are done
    forward: SavedForward | None  # The next block, if a vertex of it has come


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
