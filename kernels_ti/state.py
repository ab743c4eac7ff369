"""The state of a search, independent of any device: frames, seeds and totals.

A run can stop at any time, return its state, and resume from it later with another arch or number of threads.
Every schedule can resume every state: its bit rows have 64-bit words, whatever the words of the device are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import EngineError, OptionError
from kernels_ti.graph import IntArray

STATE_WORD_BITS = 64

Rows = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Layout:
    """How a graph is laid out in blocks. A state is valid for its own layout only."""

    whole: bool = False  # The graph is one block, as in the paper's algorithm
    nested: bool = False  # Roots with large labels are searched in the rest of their block, which needs fewer words
    # Blocks are grouped by their number of words of this many bits: the word of the first device, 32 or 64
    grain: int = 64
    # Large blocks are searched root by root, in balls with a radius of this many edges, where balls need far fewer
    # words
    radius: int | None = None


@dataclass(frozen=True, eq=False)
class Frames:
    """Chordless paths with the extensions that are still to be tried. Each frame is self-contained.

    A frame is a path that is extended at one end, its growing end, while the other end waits. Bit rows are
    over the labels of the path's block, W words of 64 bits.
    """

    allowed: Rows  # uint64, shape (k, W): vertices that may still join once the path has been extended
    # uint64, shape (k, W): vertices by which the path is still to be extended; at least one in each frame
    extensions: Rows
    members: Rows | None  # uint64, shape (k, W): the path's vertices; None where cycles are only counted
    end: npt.NDArray[np.int32]  # int32, shape (k,): row, in the group, of the end that waits
    length: npt.NDArray[np.int32]  # int32, shape (k,): vertices of the path, without the extension
    # float64, shape (k,): estimated share of the whole search below each of the extensions
    weight: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.end)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All arrays, of which the members may be None."""
        return self.allowed, self.extensions, self.members, self.end, self.length, self.weight

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(0 if array is None else array.nbytes for array in self.arrays)

    @cached_property
    def path_counts(self) -> IntArray:
        """Number of waiting paths in each frame, one for each extension, shape (k,)."""
        return populations(self.extensions)

    @property
    def paths(self) -> int:
        """Number of waiting paths in all frames."""
        return int(self.path_counts.sum())

    @property
    def paths_by_length(self) -> IntArray:
        """Number of waiting paths with t vertices at index t; they are one vertex longer than their frames."""
        return lengths_counted(self.length + 1, self.path_counts)

    @property
    def share(self) -> float:
        """Estimated share of the whole search below all frames."""
        return float(self.path_counts @ self.weight)

    def __getitem__(self, which: slice | npt.NDArray[np.generic]) -> Frames:
        chosen: list[Any] = [None if array is None else array[which] for array in self.arrays]
        return Frames(*chosen)


class FramesOfSearch:
    """The waiting paths of a search: read once, before it goes on. An EngineError says that it is too late."""

    def __init__(self, following: Callable[[], Frames | None], has_gone_on: Callable[[], bool]) -> None:
        self._following, self._has_gone_on = following, has_gone_on
        self._is_read = False

    def __iter__(self) -> Iterator[Frames]:
        was_read, self._is_read = self._is_read, True
        while True:
            if was_read or self._has_gone_on():
                raise EngineError("this state has been used, or its run has gone on: take the state of the run anew")
            if (some := self._following()) is None:
                return
            yield some

    def __reduce__(self) -> tuple[type[tuple[Frames, ...]], tuple[list[Frames]]]:
        """Pickle the paths themselves, which reads them."""
        return tuple, (list(self),)


def by_length(frames: Iterable[Frames]) -> list[Frames]:
    """Join the frames of each length, the shortest first."""
    pieces: list[Frames] = []
    for piece in frames:
        lengths = np.unique(piece.length).tolist()
        pieces += [piece] if len(lengths) == 1 else [piece[piece.length == length] for length in lengths]
    return sorted(pieces, key=lambda piece: int(piece.length[0]))


@dataclass(frozen=True, eq=False)
class GroupState:
    """The remaining search of one group of blocks."""

    surveyed: int = 0  # Number of seeds, from the first, whose triangles and triplets are counted
    next_seed: int = 0  # Number of seeds, from the first, that stage 2 has taken
    frames: Iterable[Frames] = ()  # The waiting paths in pieces. They may be `FramesOfSearch`, which are read once.


@dataclass(frozen=True, eq=False)
class RunState:
    """The state of a stopped run: its totals and the remaining work."""

    layout: Layout
    batch: int  # The batch of blocks that is being searched; those before it are done. See `kernels_ti.blocks.groups`.
    groups: tuple[GroupState, ...]  # The groups of that batch, in order
    # `paths_by_length`, `cycles_by_length`: totals so far, including the cycles below the minimum length
    paths_by_length: dict[int, int] = field(default_factory=dict)
    cycles_by_length: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0  # Time spent searching
    share: float = 0.0  # Share of the search that is done, 0 to 1
    batches: int | None = None  # Number of batches, from the first, that this state covers; None for all

    def require_batch(self, batches: int) -> None:
        """Raise an OptionError unless the state is of a search of so many batches."""
        if self.batch > batches:
            raise OptionError(f"the state does not fit the graph: batch {self.batch:,} of {batches:,}")


def lengths_counted(lengths: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> IntArray:
    """Add up the counts of each length: entry t of the result belongs to length t."""
    # Sums of floats are exact up to 2 ** 53, more paths than any memory holds.
    sums: IntArray = np.bincount(lengths, weights=counts).astype(np.int64)
    return sums


def by_length_of(counts: npt.NDArray[np.integer]) -> dict[int, int]:
    """Return the entries of an array by length that are not 0, as a dict."""
    return {length: int(counts[length]) for length in np.flatnonzero(counts).tolist()}


_FEW_COLUMNS = 8  # up to so many are added one by one: numpy is slow where it adds up many short rows
_POPULATION = np.array([value.bit_count() for value in range(256)], np.uint8)


def scattered(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter numbers over 64 bits, no two to the same one.

    The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    """
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    found: npt.NDArray[np.uint64] = values ^ values >> np.uint64(31)
    return found


def populations(rows: Rows, out: IntArray | None = None) -> IntArray:
    """Count the set bits of each bit row, shape (k, W); returns shape (k,), in the memory of `out` if it is given."""
    if hasattr(np, "bitwise_count"):  # from numpy 2.0 on
        counted = np.bitwise_count(rows)
    else:
        counted = _POPULATION[np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), 8 * rows.shape[1])]
    if counted.shape[1] > _FEW_COLUMNS:
        return np.asarray(counted.sum(axis=1, dtype=np.int64, out=out))
    sums = np.empty(len(counted), np.int64) if out is None else out
    sums[:] = counted[:, 0] if counted.shape[1] else 0
    for column in counted.T[1:]:
        sums += column
    return sums


def words_for(vertices: int) -> int:
    """Return the words of a bit row over so many vertices."""
    return -(-vertices // STATE_WORD_BITS)


def singles(labels: npt.NDArray[np.integer], words: int) -> Rows:
    """Return for each label the bit row that holds it alone, shape (k, words)."""
    rows = np.zeros((len(labels), words), np.uint64)
    word, bit = np.divmod(labels, STATE_WORD_BITS)
    rows[np.arange(len(labels)), word] = np.uint64(1) << bit.astype(np.uint64)
    return rows


def below(ends: IntArray, words: int) -> Rows:
    """Return for each number the bit row of all labels less than it, shape (k, words)."""
    bits = ends[:, None] - STATE_WORD_BITS * np.arange(words)
    partial = (np.uint64(1) << np.clip(bits, 0, STATE_WORD_BITS - 1).astype(np.uint64)) - np.uint64(1)
    rows: Rows = np.where(bits >= STATE_WORD_BITS, ~np.uint64(0), partial)
    return rows


def wide_words(rows: npt.NDArray[np.unsignedinteger]) -> Rows:
    """Return bit rows, shape (k, words) of 32 or 64 bits, in 64-bit words."""
    if rows.dtype == np.uint64:
        return np.ascontiguousarray(rows)
    if rows.shape[1] % 2:
        rows = np.concatenate([rows, np.zeros((len(rows), 1), rows.dtype)], axis=1)
    return np.ascontiguousarray(rows).view(np.uint64)


def narrow_words(rows: Rows, words: int, word_bits: int) -> npt.NDArray[np.unsignedinteger]:
    """Return bit rows in `words` words of `word_bits` bits; the bits that are cut off must be 0."""
    if word_bits == STATE_WORD_BITS:
        return rows
    return np.ascontiguousarray(np.ascontiguousarray(rows).view(np.uint32)[:, :words])


@dataclass
class Totals:
    """Exact counts by number of vertices, as Python integers of any size."""

    # |T_t|: chordless paths with t vertices that were put into the frontier
    paths: dict[int, int] = field(default_factory=dict)
    cycles: dict[int, int] = field(default_factory=dict)  # |C_t|: chordless cycles with t vertices

    def copy(self) -> Totals:
        """Return counts that do not change with these."""
        return Totals(dict(self.paths), dict(self.cycles))

    def add(self, paths: dict[int, int], cycles: dict[int, int]) -> None:
        """Add counts by length."""
        for mine, more in ((self.paths, paths), (self.cycles, cycles)):
            for length, count in more.items():
                if count:
                    mine[length] = mine.get(length, 0) + count
