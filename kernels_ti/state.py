"""What a search still has to do, apart from any device: frames, seeds and totals.

A run that stops anywhere hands its state out and goes on from it later, on another arch or number of threads.
Every schedule understands every state: bit rows are in 64-bit words here, whatever the device's are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.graph import IntArray

STATE_WORD_BITS = 64

Rows = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Layout:
    """How a graph is laid out in blocks; a state is valid for one layout alone.

    Attributes
    ----------
    whole : bool
        The graph is one block, as in the paper's algorithm.
    nested : bool
        Late roots are searched in what is left of their block, in fewer words.
    grain : int
        Bits by which blocks are grouped: the word of the device that the run began on, 32 or 64.
    radius : int or None
        Large blocks are searched root by root, in balls of so many edges, where those need far fewer words.
    """

    whole: bool = False
    nested: bool = False
    grain: int = 64
    radius: int | None = None


@dataclass(frozen=True, eq=False)
class Frames:
    """Chordless paths with the extensions that are still to be tried; each is self-contained.

    A frame is a path that is extended at one end, its growing end, while the other end waits. Bit rows are
    over the labels of the path's block, W words of 64 bits.

    Attributes
    ----------
    allowed : ndarray of uint64, shape (k, W)
        Vertices that may still join once the path has been extended.
    extensions : ndarray of uint64, shape (k, W)
        Vertices by which the path is still to be extended; at least one to a frame.
    members : ndarray of uint64, shape (k, W), or None
        The path's vertices; None where cycles are only counted.
    end : ndarray of int32, shape (k,)
        Row, in the group, of the end that waits.
    length : ndarray of int32, shape (k,)
        Vertices of the path, without the extension.
    weight : ndarray of float64, shape (k,)
        Share of the whole search that lies behind each of the extensions.
    """

    allowed: Rows
    extensions: Rows
    members: Rows | None
    end: npt.NDArray[np.int32]
    length: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.end)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.allowed, self.extensions, self.members, self.end, self.length, self.weight)
        return sum(0 if array is None else array.nbytes for array in arrays)

    @cached_property
    def path_counts(self) -> IntArray:
        """Paths that wait in each frame, one for each extension, shape (k,)."""
        return populations(self.extensions)

    @property
    def paths(self) -> int:
        """Paths that wait in all of them."""
        return int(self.path_counts.sum())

    @property
    def share(self) -> float:
        """Share of the whole search that lies behind all of them."""
        return float(self.path_counts @ self.weight)

    def __getitem__(self, which: slice | npt.NDArray[np.generic]) -> Frames:
        members = None if self.members is None else self.members[which]
        return Frames(
            self.allowed[which],
            self.extensions[which],
            members,
            self.end[which],
            self.length[which],
            self.weight[which],
        )


def by_length(frames: Iterable[Frames]) -> list[Frames]:
    """Put frames of one length together, the shortest first."""
    pieces: list[Frames] = []
    for piece in frames:
        lengths = np.unique(piece.length).tolist()
        pieces += [piece] if len(lengths) == 1 else [piece[piece.length == length] for length in lengths]
    return sorted(pieces, key=lambda piece: int(piece.length[0]))


@dataclass(frozen=True, eq=False)
class GroupState:
    """What is left of the search of one group of blocks.

    Attributes
    ----------
    surveyed : int
        Seeds whose triangles and triplets are counted, from the first on.
    next_seed : int
        Seeds that stage 2 has taken, from the first on.
    frames : iterable of Frames
        Paths that wait, in pieces; it may be a generator, to be gone through once.
    """

    surveyed: int = 0
    next_seed: int = 0
    frames: Iterable[Frames] = ()


@dataclass(frozen=True, eq=False)
class RunState:
    """Where a run stopped, and all that it still has to do.

    Attributes
    ----------
    layout : Layout
    batch : int
        The batch of blocks that is being searched; those before it are done. See `kernels_ti.blocks.groups`.
    groups : tuple of GroupState
        The groups of that batch, in order.
    paths_by_length, cycles_by_length : dict of int to int
        Totals so far, cycles below the minimum length among them.
    seconds : float
        Time spent searching.
    share : float
        Share of the search that is done, 0 to 1.
    """

    layout: Layout
    batch: int
    groups: tuple[GroupState, ...]
    paths_by_length: dict[int, int] = field(default_factory=dict)
    cycles_by_length: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    share: float = 0.0


_POPULATION = np.array([value.bit_count() for value in range(256)], np.uint8)


def populations(rows: Rows) -> IntArray:
    """Count the set bits of each bit row, shape (k, W); returns shape (k,)."""
    if hasattr(np, "bitwise_count"):  # from numpy 2.0 on
        counted = np.bitwise_count(rows)
    else:
        counted = _POPULATION[np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), 8 * rows.shape[1])]
    sums: IntArray = counted.sum(axis=1, dtype=np.int64)
    return sums


def wide_words(rows: npt.NDArray[np.unsignedinteger]) -> Rows:
    """Return bit rows, shape (k, words) of 32 or 64 bits, in 64-bit words."""
    if rows.dtype == np.uint64:
        return np.ascontiguousarray(rows)
    if rows.shape[1] % 2:
        rows = np.concatenate([rows, np.zeros((len(rows), 1), rows.dtype)], axis=1)
    return np.ascontiguousarray(rows).view(np.uint64)


def narrow_words(rows: Rows, words: int, word_bits: int) -> npt.NDArray[np.unsignedinteger]:
    """Return bit rows in `words` words of `word_bits` bits; what is cut off must be empty."""
    if word_bits == STATE_WORD_BITS:
        return rows
    return np.ascontiguousarray(np.ascontiguousarray(rows).view(np.uint32)[:, :words])
