"""Tables that turn the labels of a block into vertices of the graph, eight labels at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.block_group import BlockGroup, Index

Words = npt.NDArray[np.unsignedinteger]

LARGEST_TABLES = 1 << 20
"""Bytes of tables above which they no longer stay in a second-level cache: bit by bit is then as fast."""


@dataclass(frozen=True, eq=False)
class RowTables:
    """For each byte of the labels of each block, the bit rows over the graph of all 256 values of that byte."""

    row: Any  # The vector type of a bit row over the graph's vertices, of `row_words` words
    row_words: int
    first_table: Index  # int32, shape (rows,): at the first row of each block the number of its first table
    label_bytes: int  # Bytes of the labels of the largest block
    # uint32 or uint64, shape (tables * 256 * row_words,): the row of value x of table t begins at word ``(256 * t + x)
    # * row_words``
    tables: Words
    # uint32 or uint64, shape (vertices * row_words,): the neighbours of each vertex in all blocks of the group, as bit
    # rows over the graph's vertices. None where some neighbours are chords, or have a direction.
    adjacency: Words | None

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
