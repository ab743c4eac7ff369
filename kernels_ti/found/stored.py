"""A group of blocks in the memory of a device, and the cycles that were found in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device
from kernels_ti.state import STATE_WORD_BITS, Rows

TRACED_AT_ONCE = 1 << 21
"""Largest number of cycle vertices that one launch puts in order."""


ROW_BYTES_AT_ONCE = 16 << 20
"""Largest number of bytes of bit rows over the graph's vertices that one launch makes."""


@dataclass(frozen=True, eq=False)
class StoredCycles:
    """Cycles as a search has written them to a buffer of the device.

    Word w of cycle i lies at ``i * cycle_stride + w * word_stride``. The words of a cycle are a bit row over the labels
    of its block, then the first row of that block.

    Attributes
    ----------
    buffer : buffer
    cycle_stride, word_stride : int
        Words from one cycle to the next, and from one word of a cycle to the next.
    first, count : int
        Cycles ``first`` to ``first + count - 1`` of the buffer are meant.
    """

    buffer: Any
    cycle_stride: int
    word_stride: int
    first: int
    count: int

    def pieces(self, most: int) -> Iterator[StoredCycles]:
        """Cut the cycles into ranges of at most `most` cycles, in order."""
        for start in range(self.first, self.first + self.count, most):
            yield replace(self, first=start, count=min(most, self.first + self.count - start))

    @property
    def arguments(self) -> tuple[Any, int, int, int, int]:
        """The arguments for the kernels of this room, in their order."""
        return self.buffer, self.cycle_stride, self.word_stride, self.first, self.count


def block_bytes(group: BlockGroup) -> int:
    """Bytes of the bit rows and the CSR arrays of a group on a device."""
    words = group.bit_row_count * group.words * group.word_bits // 8
    return words + 4 * (3 * group.bit_row_count + len(group.neighbour) + 2 * len(group.seed_entries))


class ResidentBlocks:
    """A group of blocks in the memory of a device.

    Parameters
    ----------
    device : Device
    group : BlockGroup
    vertices : int
        Vertices of the whole graph.

    Attributes
    ----------
    rows, first_row, row_ptr, neighbour, seed_entry, seed_root, vertex_of_row : buffer
        See `kernels_ti.blocks.block_group.BlockGroup`. If the group has chords, `first_row` is its
        `first_rows_of_both_ends`.
    participants : object
        Cache of `kernels_ti.found.participation` for these blocks.
    """

    def __init__(self, device: Device, group: BlockGroup, vertices: int) -> None:
        self.device = device
        self.group = group
        self.vertices = vertices
        rows = group.bit_rows().reshape(-1)
        # The required vertices are stored as one more bit row, which saves an argument of the kernels.
        self.rows = device.buffer(rows if group.required is None else np.concatenate((rows, group.required)))
        self.first_row = device.buffer(group.first_row if group.chords is None else group.first_rows_of_both_ends)
        self.row_ptr = device.buffer(group.row_ptr)
        self.neighbour = device.buffer(group.neighbour)
        self.seed_entry = device.buffer(group.seed_entries)
        self.seed_root = device.buffer(group.seed_roots)
        self.vertex_of_row = device.buffer(group.vertex_of_row)
        # Prefix sums of the pairs, so that the pairs of a range of seeds are one subtraction.
        self.pairs_before = np.concatenate(([0], np.cumsum(group.pairs_of_seed)))
        self.participants: Any = None
        self._buffers: dict[int | str, Any] = {}

    @property
    def seeds(self) -> int:
        """Number of seed entries."""
        return len(self.group.seed_entries)

    @property
    def bytes(self) -> int:
        """Bytes of the bit rows and the CSR arrays on the device."""
        return block_bytes(self.group)

    @property
    def row_words(self) -> int:
        """64-bit words of a bit row over all vertices of the graph."""
        return -(-self.vertices // STATE_WORD_BITS)

    def compile_trace(self, cycles: Any) -> None:
        """Compile the kernels of `traced` and `member_rows` for a buffer of this type."""
        from kernels_ti.found.trace import measure, relabel, trace

        place = (self.group.word_bits, self.group.words, *StoredCycles(cycles, 1, 1, 0, 0).arguments)
        csr = (self.row_ptr, self.neighbour, self.vertex_of_row)
        measure(*place, self.scratch(0, 1), self.scratch(4, 1))
        trace(*place, self.rows, *csr, self.scratch(1, 1), self.scratch(2, 1))
        relabel(*place, self.vertex_of_row, 1, self.scratch(3, 1, self._word))

    def traced(self, stored: StoredCycles) -> Cycles:
        """Return the vertices of some cycles of these blocks, in cycle order."""
        at_once = min(max(1, TRACED_AT_ONCE // self.group.longest_block), self.device.items_at_once)
        return Cycles.joined([self._traced_piece(piece) for piece in stored.pieces(at_once)])

    def _traced_piece(self, stored: StoredCycles) -> Cycles:
        from kernels_ti.found.trace import trace

        group, device = self.group, self.device
        count = stored.count
        place = (group.word_bits, group.words, *stored.arguments)
        lengths, _ = self.measured(stored)
        offsets = np.concatenate(([0], np.cumsum(device.download(lengths)[:count])))
        ends = np.zeros(1 << count.bit_length(), np.int32)
        ends[: count + 1] = offsets
        vertices = self.scratch(2, int(offsets[-1]))
        csr = (self.row_ptr, self.neighbour, self.vertex_of_row)
        trace(*place, self.rows, *csr, self.filled(1, ends), vertices)
        return Cycles(offsets, device.download(vertices)[: offsets[-1]].astype(np.int64))

    def measured(self, stored: StoredCycles) -> tuple[Any, Any]:
        """Return two buffers: the number of vertices of each cycle, and the first row of its block."""
        from kernels_ti.found.trace import measure

        lengths, first_rows = self.scratch(0, stored.count), self.scratch(4, stored.count)
        measure(self.group.word_bits, self.group.words, *stored.arguments, lengths, first_rows)
        return lengths, first_rows

    def member_rows(self, stored: StoredCycles) -> Rows:
        """Return the vertices of some cycles of these blocks as bit rows over the graph.

        Parameters
        ----------
        stored : StoredCycles

        Returns
        -------
        ndarray of uint64, shape (stored.count, row_words)
            Bit ``v % 64`` of word ``v // 64`` is set when vertex v lies on the cycle.
        """
        from kernels_ti.found.trace import relabel

        group = self.group
        width = self.row_words * STATE_WORD_BITS // group.word_bits
        at_once = min(max(1, ROW_BYTES_AT_ONCE // (8 * self.row_words)), self.device.items_at_once)
        pieces = [np.empty((0, self.row_words), np.uint64)]
        for piece in stored.pieces(at_once):
            members = self.scratch(3, piece.count * width, self._word)
            relabel(group.word_bits, group.words, *piece.arguments, self.vertex_of_row, width, members)
            found = self.device.download(members)[: piece.count * width]
            pieces.append(found.copy().view(np.uint64).reshape(piece.count, self.row_words))
        return np.concatenate(pieces)

    @property
    def _word(self) -> Any:
        return np.uint64 if self.group.word_bits == STATE_WORD_BITS else np.uint32

    def filled(self, role: int | str, values: npt.NDArray[np.int32]) -> Any:
        """Copy values to the scratch buffer of a role."""
        if self.device.arch == "cpu":
            return values
        buffer = self.scratch(role, len(values))
        whole = np.zeros(buffer.shape[0], np.int32)
        whole[: len(values)] = values
        buffer.from_numpy(whole)
        return buffer

    def scratch(self, role: int | str, size: int, dtype: npt.DTypeLike = np.int32) -> Any:
        """Return a reusable buffer of at least `size` elements for a role; its content is undefined."""
        kept = self._buffers.get(role)
        if kept is None or kept.shape[0] < size:
            kept = self._buffers[role] = self.device.empty(1 << max(size - 1, 1).bit_length(), dtype)
        return kept
