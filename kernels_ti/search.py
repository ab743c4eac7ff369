"""What every schedule of the search has in common: its counters, its cycles, and blocks on a device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks import BlockGroup
from kernels_ti.device import LARGEST_BUFFER, Device
from kernels_ti.errors import EngineError
from kernels_ti.graph import IntArray

TRACED_AT_ONCE = 1 << 22
"""Vertices of cycles that are put in order in one launch."""


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
    def joined(pieces: list[Cycles]) -> Cycles:
        """All cycles of some pieces, in order."""
        if len(pieces) == 1:
            return pieces[0]
        lengths = np.concatenate([np.empty(0, np.int64), *(piece.lengths for piece in pieces)])
        return Cycles(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([np.empty(0, np.int64), *(piece.vertices for piece in pieces)]),
        )


@dataclass
class Totals:
    """Exact counts by number of vertices, as Python integers of any size.

    Attributes
    ----------
    paths : dict of int to int
        |T_t|: chordless paths with t vertices that were put into the frontier.
    cycles : dict of int to int
        |C_t|: chordless cycles with t vertices.
    """

    paths: dict[int, int] = field(default_factory=dict)
    cycles: dict[int, int] = field(default_factory=dict)

    def add(self, paths: dict[int, int], cycles: dict[int, int]) -> None:
        """Add counts by length."""
        for mine, more in ((self.paths, paths), (self.cycles, cycles)):
            for length, count in more.items():
                if count:
                    mine[length] = mine.get(length, 0) + count


class Search(Protocol):
    """A search of one group of blocks, in slices."""

    totals: Totals

    @property
    def finished(self) -> bool:
        """Whether nothing is left to look at."""

    @property
    def frontier(self) -> int:
        """Paths that wait to be looked at, those that stage 1 has yet to make among them."""

    @property
    def device_bytes(self) -> int:
        """Bytes of the buffers that the search holds."""

    def advance(self, seconds: float) -> None:
        """Search for about so many seconds, or until the cycles found should be taken."""

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call."""


def require_room(device: Device, groups: list[BlockGroup]) -> None:
    """Refuse groups of blocks whose bit rows the device cannot hold together.

    Raises
    ------
    EngineError
        The message says how much memory they would need.
    """
    sizes = [group.rows * group.words * group.word_bits // 8 for group in groups]
    too_long = any(group.rows * group.words > LARGEST_BUFFER for group in groups)
    if too_long or sum(sizes) > (device.memory or 1 << 62):
        longest = max(group.longest_block for group in groups)
        raise EngineError(
            f"a block of {longest:,} vertices needs {sum(sizes) / 2**30:,.1f} GiB for its bit rows, "
            f"more than {device.name} can hold"
        )


class ResidentBlocks:
    """A group of blocks in the memory of a device.

    Parameters
    ----------
    device : Device
    group : BlockGroup

    Attributes
    ----------
    rows, first_row, row_ptr, neighbour, seed_entry, seed_root, vertex_of_row : buffer
        See `kernels_ti.blocks.BlockGroup`.
    """

    def __init__(self, device: Device, group: BlockGroup) -> None:
        self.device = device
        self.group = group
        self.rows = device.buffer(group.bit_rows().reshape(-1))
        self.first_row = device.buffer(group.first_row)
        self.row_ptr = device.buffer(group.row_ptr)
        self.neighbour = device.buffer(group.neighbour)
        self.seed_entry = device.buffer(group.seed_entries)
        self.seed_root = device.buffer(group.seed_roots)
        self.vertex_of_row = device.buffer(group.vertex_of_row)
        # Pairs of the seeds before each seed, so that the pairs of a range are one subtraction.
        self.pairs_before = np.concatenate(([0], np.cumsum(group.pairs_of_seed)))
        self._buffers: dict[int, Any] = {}

    @property
    def seeds(self) -> int:
        """Number of seed entries."""
        return len(self.group.seed_entries)

    @property
    def bytes(self) -> int:
        """Bytes of the bit rows and the CSR arrays on the device."""
        group = self.group
        words = group.rows * group.words * group.word_bits // 8
        return words + 4 * (3 * group.rows + len(group.neighbour) + 2 * self.seeds)

    def compile_trace(self, cycles: Any) -> None:
        """Compile what `traced` needs for a buffer of this type."""
        from kernels_ti.trace import measure, trace

        place = (self.group.word_bits, self.group.words, cycles, 1, 1, 0, 0)
        csr = (self.row_ptr, self.neighbour, self.vertex_of_row)
        measure(*place, self._scratch(0, 1))
        trace(*place, self.rows, *csr, self._scratch(1, 1), self._scratch(2, 1))

    def traced(self, cycles: Any, cycle_stride: int, word_stride: int, first: int, count: int) -> Cycles:
        """Put the vertices of some found cycles in cycle order.

        Parameters
        ----------
        cycles : buffer
            Word w of cycle i lies at ``i * cycle_stride + w * word_stride``.
        first, count : int
            Which cycles.
        """
        pieces = []
        at_once = min(max(1, TRACED_AT_ONCE // self.group.longest_block), self.device.items_at_once)
        for start in range(first, first + count, at_once):
            pieces.append(
                self._traced_piece(cycles, cycle_stride, word_stride, start, min(at_once, first + count - start))
            )
        return Cycles.joined(pieces)

    def _traced_piece(self, cycles: Any, cycle_stride: int, word_stride: int, first: int, count: int) -> Cycles:
        from kernels_ti.trace import measure, trace

        group, device = self.group, self.device
        place = (group.word_bits, group.words, cycles, cycle_stride, word_stride, first, count)
        lengths = self._scratch(0, count)
        measure(*place, lengths)
        offsets = np.concatenate(([0], np.cumsum(device.download(lengths)[:count])))
        ends = np.zeros(1 << count.bit_length(), np.int32)
        ends[: count + 1] = offsets
        vertices = self._scratch(2, int(offsets[-1]))
        csr = (self.row_ptr, self.neighbour, self.vertex_of_row)
        trace(*place, self.rows, *csr, self._filled(1, ends), vertices)
        return Cycles(offsets, device.download(vertices)[: offsets[-1]].astype(np.int64))

    def _filled(self, role: int, values: npt.NDArray[np.int32]) -> Any:
        """Copy values to the scratch buffer of a role."""
        if self.device.arch == "cpu":
            return values
        buffer = self._scratch(role, len(values))
        whole = np.zeros(buffer.shape[0], np.int32)
        whole[: len(values)] = values
        buffer.from_numpy(whole)
        return buffer

    def _scratch(self, role: int, size: int) -> Any:
        """Return a buffer of 32-bit integers that is kept for reuse, at least so large."""
        kept = self._buffers.get(role)
        if kept is None or kept.shape[0] < size:
            kept = self._buffers[role] = self.device.empty(1 << max(size - 1, 1).bit_length(), np.int32)
        return kept
