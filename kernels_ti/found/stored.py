"""A group of blocks in the memory of a device, and the cycles that were found in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.block_group import Index
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.device.device import Device
from kernels_ti.device.pinned import PINNED_BYTES
from kernels_ti.errors import EngineError
from kernels_ti.graph import IntArray
from kernels_ti.state import STATE_WORD_BITS, Rows, populations, singles

HELD_BY_US = 2
"""The references to an array that nobody else holds: the attribute, and the argument of `sys.getrefcount`."""


class SpareMemory:
    """Makes arrays, each in the memory of the one before if nobody holds that any more.

    A new array costs more than filling it: the system clears each page that is touched for the first time.
    """

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array with undefined content. It belongs to the caller, as do all views of it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        # An array refers to the block, and so does each view of it: numpy keeps the owner of the memory as their base.
        if len(self._block) < size or sys.getrefcount(self._block) > HELD_BY_US:
            self._block = np.empty(size + size // 4, np.uint8)  # the next slice may find a little more
        return self._block[:size].view(dtype).reshape(shape)


TRACED_AT_ONCE = {"cpu": 1 << 21, "vulkan": 1 << 21, "cuda": 1 << 24}
"""Largest number of cycle vertices that one launch puts in order."""

LARGEST_TABLES = 1 << 20
"""Bytes of tables above which they no longer stay in a second-level cache: bit by bit is then as fast."""

ROW_BYTES_AT_ONCE = {"cpu": 16 << 20, "vulkan": 16 << 20, "cuda": 64 << 20}
"""Largest number of bytes of bit rows over the graph's vertices that one launch makes."""


def require_cycles(device: Device, wrong: Any) -> None:
    """Raise EngineError if a kernel has met a row that is not a chordless cycle; see `vertex_rows.trace_rows`."""
    if device.download(wrong)[0]:
        raise EngineError(f"internal error: a row that {device.arch} has found is not a chordless cycle")


@dataclass(frozen=True, eq=False)
class StoredCycles:
    """Cycles as a search has written them to a buffer of the device.

    Word w of cycle i lies at ``i * cycle_stride + w * word_stride``. The words of a cycle are a bit row over the labels
    of its block, then the first row of that block. With `over_graph` they are a bit row over the vertices of the graph,
    and nothing lies between two cycles.
    """

    buffer: Any
    # `cycle_stride`, `word_stride`: words from one cycle to the next, and from one word of a cycle to the next
    cycle_stride: int
    word_stride: int
    # `first`, `count`: cycles ``first`` to ``first + count - 1`` of the buffer are meant
    first: int
    count: int
    over_graph: bool = False

    def pieces(self, most: int) -> Iterator[StoredCycles]:
        """Cut the cycles into ranges of at most `most` cycles, in order."""
        for start in range(self.first, self.first + self.count, most):
            yield replace(self, first=start, count=min(most, self.first + self.count - start))

    @property
    def words(self) -> Any:
        """The words of cycles with `over_graph`, on the CPU: a view of the buffer, shape (count * W,)."""
        return self.buffer[self.first * self.cycle_stride : (self.first + self.count) * self.cycle_stride]

    @property
    def arguments(self) -> tuple[Any, int, int, int, int]:
        """The arguments for the kernels of this room, in their order."""
        return self.buffer, self.cycle_stride, self.word_stride, self.first, self.count


def _empty_words(group: BlockGroup) -> int:
    """Words of the empty bit rows behind those of a group.

    A label that no vertex of the last block has must be that of a row as well, see `step.bound.most_on_path`.
    """
    return group.longest_block * group.words if group.required is None and group.longest_block < group.rows else 0


def block_bytes(group: BlockGroup) -> int:
    """Bytes of the bit rows and the CSR arrays of a group on a device."""
    words = (group.bit_row_count * group.words + _empty_words(group)) * group.word_bits // 8
    return words + 4 * (3 * group.bit_row_count + len(group.neighbour) + 2 * len(group.seed_entries))


@dataclass(frozen=True, eq=False)
class RowTables:
    """For each byte of the labels of each block, the bit rows over the graph of all 256 values of that byte."""

    row: Any  # The vector type of a bit row over the graph's vertices, of `row_words` words
    row_words: int
    first_table: Index  # int32, shape (rows,): at the first row of each block the number of its first table
    label_bytes: int  # Bytes of the labels of the largest block
    # uint32 or uint64, shape (tables * 256 * row_words,): the row of value x of table t begins at word ``(256 * t + x)
    # * row_words``
    tables: npt.NDArray[np.unsignedinteger]
    # uint32 or uint64, shape (vertices * row_words,): the neighbours of each vertex in all blocks of the group, as bit
    # rows over the graph's vertices. None where some neighbours are chords, or have a direction.
    adjacency: npt.NDArray[np.unsignedinteger] | None

    @classmethod
    def of_group(cls, group: BlockGroup, vertices: int) -> RowTables | None:
        """Make the tables of a group of blocks in a graph of `vertices` vertices; None if they would be too large."""
        from kernels_ti.bits import LARGEST_UNROLLED, vector_of  # it loads Taichi, which the reference does without

        row_words = -(-vertices // 64) * 64 // group.word_bits
        starts, sizes = np.unique(group.first_row, return_counts=True)
        bytes_of_block = -(-sizes // 8)
        label_bytes = int(bytes_of_block.max(initial=0))
        # A kernel reads as many tables for every block as for the largest: those behind the last block are empty.
        tables = int(bytes_of_block.sum()) + label_bytes
        if row_words > LARGEST_UNROLLED or tables * 256 * row_words * group.word_bits // 8 > LARGEST_TABLES:
            return None
        word = np.dtype(f"uint{group.word_bits}").type
        first_table = np.zeros(group.rows, np.int32)
        first_table[starts] = np.cumsum(bytes_of_block) - bytes_of_block
        label = np.arange(group.rows) - group.first_row
        at, shift = np.divmod(group.vertex_of_row, group.word_bits)
        single = word(1) << shift.astype(word)
        bit_rows = np.zeros((tables, 8, row_words), word)
        bit_rows[first_table[group.first_row] + label // 8, label % 8, at] = single
        rows = np.zeros((tables, 256, row_words), word)
        for bit in range(8):
            rows[:, 1 << bit : 2 << bit] = rows[:, : 1 << bit] | bit_rows[:, bit, None]
        adjacency = None
        if group.chords is None:
            adjacency = np.zeros(vertices * row_words, word)
            vertex = group.vertex_of_row[group.row_of_entry].astype(np.int64)
            np.bitwise_or.at(adjacency, vertex * row_words + at[group.neighbour], single[group.neighbour])
        row = vector_of(row_words, group.word_bits)
        return cls(row, row_words, first_table, label_bytes, rows.reshape(-1), adjacency)

    def on(self, buffer: Callable[[Any], Any]) -> RowTables:
        """Return the tables in buffers of a device."""
        adjacency = None if self.adjacency is None else buffer(self.adjacency)
        return replace(self, first_table=buffer(self.first_table), tables=buffer(self.tables), adjacency=adjacency)


class Scratch:
    """Buffers of a device that are used again, one for each role."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._buffers: dict[str, Any] = {}

    def filled(self, role: str, values: npt.NDArray[Any]) -> Any:
        """Copy values to the scratch buffer of a role."""
        if self.device.arch == "cpu":
            return values
        buffer = self.scratch(role, len(values), values.dtype)
        self.device.upload(values, buffer)
        return buffer

    def scratch(self, role: str, size: int, dtype: npt.DTypeLike = np.int32) -> Any:
        """Return a reusable buffer of at least `size` elements for a role; its content is undefined."""
        kept = self._buffers.get(role)
        if kept is None or kept.shape[0] < size:
            kept = self._buffers[role] = self.device.empty(1 << max(size - 1, 1).bit_length(), dtype, kept=True)
        return kept


class ResidentBlocks(Scratch):
    """A group of blocks in the memory of a device.

    With `as_rows` cycles are wanted as bit rows over the graph, see `bytes_out`; with `to_host` they are to come to the
    host, see `over_graph`. The buffers are those of `kernels_ti.blocks.block_group.BlockGroup`; if the group has
    chords, `first_row` is its `first_rows_of_both_ends`. `participants` is a cache of `kernels_ti.found.participation`,
    and `spare` gives the arrays of cycles on the host.
    """

    def __init__(
        self, device: Device, group: BlockGroup, vertices: int, *, as_rows: bool = False, to_host: bool = False
    ) -> None:
        super().__init__(device)
        self.group = group
        self.vertices = vertices
        self._as_rows = as_rows
        self._to_host = to_host
        rows = group.bit_rows().reshape(-1)
        if empty := _empty_words(group):
            rows = np.concatenate((rows, np.zeros(empty, rows.dtype)))
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
        self.spare = SpareMemory()
        self._copy_memory = PINNED_BYTES

    @classmethod
    def compiled(cls, device: Device, group: BlockGroup, vertices: int, collect: bool, as_rows: bool) -> ResidentBlocks:
        """Bring a group to a device; with `collect` compile what brings its cycles back, so that no slice does."""
        blocks = cls(device, group, vertices, as_rows=as_rows, to_host=collect)
        if collect:
            none = StoredCycles(blocks.scratch("none", group.words + 1, blocks._word), 1, 1, 0, 0)
            if as_rows:
                blocks._relabel(none, blocks.scratch("rows", 1, blocks._word))
            else:
                blocks.measured(none)
                blocks._trace(none, blocks.scratch("ends", 1), blocks.scratch("vertices", 1))
        return blocks

    @property
    def seeds(self) -> int:
        """Number of seed entries."""
        return len(self.group.seed_entries)

    @property
    def bytes(self) -> int:
        """Bytes of the bit rows and the CSR arrays on the device."""
        return block_bytes(self.group)

    def reserve_copies(self, memory: int) -> int:
        """Let copies to the host take a small share of `memory`; return how much they may take, in bytes."""
        self._copy_memory = min(PINNED_BYTES, memory // 16) if self.device.arch == "cuda" else 0
        return self._copy_memory

    def bytes_out(self, longest: int) -> int:
        """Return the bytes of the host that a cycle of up to `longest` vertices may take on its way out."""
        if self._as_rows:
            return 8 * self.row_words
        # As a bit row in registers and as vertices in cycle order.
        return 8 * (self.group.words + 1) + 4 * longest

    @property
    def row_words(self) -> int:
        """64-bit words of a bit row over all vertices of the graph."""
        return -(-self.vertices // STATE_WORD_BITS)

    @cached_property
    def over_graph(self) -> bool:
        """Whether the sweep shall write cycles as bit rows over the graph: it does so at no cost.

        They must be as long as those of a block. Cycles that are only counted by vertex need the labels of their block.
        """
        group = self.group
        fitting = group.words == self.row_words and group.chords is None and group.required is None
        return self._to_host and self.device.arch == "cpu" and fitting and self._tables is not None

    @cached_property
    def vertex_bits(self) -> Rows:
        """For each row the bit row over the graph that holds its vertex alone, shape (rows * row_words,)."""
        return singles(self.group.vertex_of_row, self.row_words).reshape(-1)

    @cached_property
    def _tables(self) -> RowTables | None:
        """The tables in the memory of the device; None where they are too large."""
        tables = RowTables.of_group(self.group, self.vertices)
        return None if tables is None else tables.on(self.device.buffer)

    def write_rows(self, stored: StoredCycles, target: Rows) -> None:
        """Write the vertices of some cycles as bit rows over the graph to `target`, shape (stored.count, row_words)."""
        if stored.over_graph:
            target[:] = stored.words.reshape(target.shape)
            return
        width = self.row_words * STATE_WORD_BITS // self.group.word_bits
        at_once = max(1, ROW_BYTES_AT_ONCE[self.device.arch] // (8 * self.row_words))
        with self.device.copying(self._copy_memory) as copy:
            for piece in stored.pieces(min(at_once, self.device.items_at_once)):
                part = target[piece.first - stored.first :][: piece.count]
                if self.device.arch == "cpu":
                    self._relabel(piece, part.reshape(-1))
                    continue
                members = self.scratch("rows", piece.count * width, self._word)
                self._relabel(piece, members)
                copy(members, part)

    def write_lengths(self, stored: StoredCycles, target: npt.NDArray[np.int32]) -> None:
        """Write the number of vertices of each cycle to `target`, shape (stored.count,)."""
        if stored.over_graph:
            target[:] = populations(stored.words.reshape(stored.count, -1))
            return
        with self.device.copying(self._copy_memory) as copy:
            for piece in stored.pieces(self.device.items_at_once):
                lengths, _ = self.measured(piece)
                copy(lengths, target[piece.first - stored.first :][: piece.count])

    def write_vertices(self, stored: StoredCycles, offsets: IntArray, target: npt.NDArray[np.int32]) -> None:
        """Write the vertices of some cycles in cycle order to `target`, each from its place in `offsets` on."""
        at_once = max(1, TRACED_AT_ONCE[self.device.arch] // self.group.longest_block)
        with self.device.copying(self._copy_memory) as copy:
            for piece in stored.pieces(min(at_once, self.device.items_at_once)):
                first = piece.first - stored.first
                ends = offsets[first : first + piece.count + 1]
                part = target[ends[0] : ends[-1]]
                relative = (ends - ends[0]).astype(np.int32)
                if self.device.arch == "cpu":
                    self._trace(piece, relative, part)
                    continue
                vertices = self.scratch("vertices", len(part))
                self._trace(piece, self.filled("ends", relative), vertices)
                copy(vertices, part)
        require_cycles(self.device, self._wrong)

    def measured(self, stored: StoredCycles) -> tuple[Any, Any]:
        """Return buffers with the vertices of each cycle, and the first row of its block; not with `over_graph`."""
        from kernels_ti.found.trace import measure

        size = max(stored.count, 1)
        lengths, first_rows = self.scratch("lengths", size), self.scratch("first rows", size)
        measure(self.group.word_bits, self.group.words, *stored.arguments, lengths, first_rows)
        return lengths, first_rows

    def _relabel(self, stored: StoredCycles, members: Any) -> None:
        """Write bit rows over the graph to a buffer of the device."""
        from kernels_ti.found.trace import relabel
        from kernels_ti.found.vertex_rows import relabel_by_tables

        group, tables = self.group, self._tables
        if tables is None:
            width = self.row_words * STATE_WORD_BITS // group.word_bits
            relabel(group.word_bits, group.words, *stored.arguments, self.vertex_of_row, width, members)
        else:
            of_tables = tables.first_table, tables.label_bytes, tables.tables
            relabel_by_tables(tables.row, group.words, *stored.arguments, *of_tables, members)

    def _trace(self, stored: StoredCycles, offsets: Any, vertices: Any) -> None:
        """Write vertices in cycle order to a buffer of the device."""
        from kernels_ti.found.trace import trace
        from kernels_ti.found.vertex_rows import trace_rows

        group, tables = self.group, self._tables
        if tables is None or tables.adjacency is None:
            csr = (self.row_ptr, self.neighbour, self.vertex_of_row)
            trace(group.word_bits, group.words, *stored.arguments, self.rows, *csr, offsets, vertices)
            return
        if stored.over_graph:
            members = stored.words
        else:
            members = self.scratch("rows", max(stored.count, 1) * tables.row.n, self._word)
            self._relabel(stored, members)
        trace_rows(tables.row, False, 1, stored.count, members, tables.adjacency, offsets, vertices, self._wrong)

    @cached_property
    def _wrong(self) -> Any:
        return self.device.buffer(np.zeros(1, np.int32))

    @property
    def _word(self) -> Any:
        return np.uint64 if self.group.word_bits == STATE_WORD_BITS else np.uint32
