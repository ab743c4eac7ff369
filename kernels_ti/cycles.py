"""Cycles as the search hands them out: vertices in cycle order, many in two arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.graph import IntArray
from kernels_ti.state import STATE_WORD_BITS, Rows


@dataclass(frozen=True, eq=False)
class Cycles:
    """Some cycles, one behind the other.

    Attributes
    ----------
    offsets : ndarray of int64, shape (k + 1,)
        Cycle i is ``vertices[offsets[i]:offsets[i + 1]]``.
    vertices : ndarray of int64
        Vertex indices of the input graph in cycle order; each cycle starts at its smallest vertex and goes
        on to that vertex's smaller neighbour.
    """

    offsets: IntArray
    vertices: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """Vertices of each cycle, shape (k,)."""
        return np.diff(self.offsets)

    def chosen(self, keep: npt.NDArray[np.bool_]) -> Cycles:
        """Only the cycles for which `keep`, shape (k,), is true."""
        lengths = self.lengths
        return Cycles(
            np.concatenate(([0], np.cumsum(lengths[keep]))).astype(np.int64), self.vertices[np.repeat(keep, lengths)]
        )

    @staticmethod
    def of_lists(cycles: list[list[int]]) -> Cycles:
        """Cycles given as lists of vertices, in the order that is wanted."""
        offsets = np.concatenate(([0], np.cumsum([len(cycle) for cycle in cycles]))).astype(np.int64)
        return Cycles(offsets, np.array([v for cycle in cycles for v in cycle], np.int64))

    def rows(self, vertices: int) -> Rows:
        """Bit rows over so many vertices, shape (k, 64-bit words)."""
        rows = np.zeros((len(self), -(-vertices // STATE_WORD_BITS)), np.uint64)
        word, bit = np.divmod(self.vertices, STATE_WORD_BITS)
        owner = np.repeat(np.arange(len(self)), self.lengths)
        np.bitwise_or.at(rows, (owner, word), np.uint64(1) << bit.astype(np.uint64))
        return rows

    @staticmethod
    def joined(pieces: list[Cycles]) -> Cycles:
        """All cycles of some pieces, in order."""
        if len(pieces) == 1:
            return pieces[0]
        lengths = np.concatenate([np.empty(0, np.int64), *(piece.lengths for piece in pieces)])
        return Cycles(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *(piece.vertices for piece in pieces)]),
        )
