"""A group of blocks, side by side as bit rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.graph import IntArray

Index = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BlockGroup:
    """Blocks whose paths need the same number of words, side by side.

    A **row** is a vertex of one block; the rows of a block follow one another in the order of its degree
    labelling, so the label of row r within its block is ``r - first_row[r]``. A cut vertex has a row in
    each of its blocks.
    """

    words: int  # Words in a bit row
    word_bits: int  # Bits in a word, 32 or 64
    first_row: Index  # int32, shape (rows,): for each row the first row of its block
    row_ptr: Index  # int32, shape (rows + 1,): CSR pointers into `neighbour`
    neighbour: Index  # int32, shape (entries,): adjacent rows, ascending
    vertex_of_row: Index  # int32, shape (rows,): the vertex of the input graph that a row stands for
    # bool, shape (rows,): whether cycles whose least label is this row's are searched for in this block
    is_root: npt.NDArray[np.bool_]
    longest_block: int  # Vertices of the largest block
    # uint32 or uint64, shape (words,): with a single block: the labels, other than the root, that every wanted cycle
    # must have
    required: npt.NDArray[np.unsignedinteger] | None = None
    # 1, or 2 for a directed graph: its paths grow at the head along arcs, and at the tail against them. Then `row_ptr`
    # and `neighbour` have two parts. Row r stands for a vertex as the head of a path, with the heads of its arcs as
    # neighbours. Row ``r + rows`` stands for the same vertex as the tail of a path, with the tails of the arcs that
    # lead to it, which are numbered from `rows` on as well.
    roles: int = 1
    # int32, shape (2, k): for a directed graph or a multigraph: row, in its role, and label of adjacent vertices that
    # are no neighbours: no cycle of three or more vertices follows an edge between them in this direction
    chords: Index | None = None

    @property
    def rows(self) -> int:
        """Number of rows, in one role."""
        return len(self.first_row)

    @property
    def end_rows(self) -> int:
        """Number of rows in all roles."""
        return self.roles * self.rows

    @property
    def bit_row_count(self) -> int:
        """Number of bit rows: one for each row in each role, and as many again for chords."""
        return self.end_rows * (1 if self.chords is None else 2)

    @cached_property
    def first_row_of_end(self) -> Index:
        """For each row in each role the first row of its block in that role, shape (end_rows,)."""
        if self.roles == 1:
            return self.first_row
        return np.concatenate((self.first_row, self.first_row + np.int32(self.rows)))

    @cached_property
    def first_rows_of_both_ends(self) -> Index:
        """The first rows of `first_row_of_end`, then those of the same blocks in the role of the other end."""
        return np.concatenate((self.first_row_of_end, np.roll(self.first_row_of_end, self.rows * (self.roles - 1))))

    @cached_property
    def row_of_entry(self) -> Index:
        """For each CSR entry the row, in its role, that it belongs to, shape (entries,)."""
        return np.repeat(np.arange(self.end_rows, dtype=np.int32), np.diff(self.row_ptr))

    def bit_rows(self) -> npt.NDArray[np.unsignedinteger]:
        """Adjacency as bit rows, shape (bit_row_count, words).

        Bit ``b % word_bits`` of word ``b // word_bits`` of row r is set when the vertex with label b of the same block
        is a neighbour of row r. Row ``r + end_rows`` has the chords of row r.
        """
        word = np.dtype(f"uint{self.word_bits}").type
        bits = np.zeros((self.bit_row_count, self.words), word)
        at, shift = np.divmod(self.neighbour - self.first_row_of_end[self.neighbour], self.word_bits)
        np.bitwise_or.at(bits, (self.row_of_entry, at), word(1) << shift.astype(word))
        if self.chords is not None:
            row, label = self.chords
            at, shift = np.divmod(label, self.word_bits)
            np.bitwise_or.at(bits, (self.end_rows + row, at), word(1) << shift.astype(word))
        return bits

    def with_required(self, vertices: Sequence[int]) -> BlockGroup:
        """Return the group, of a single block, with these vertices required of every cycle."""
        word = np.dtype(f"uint{self.word_bits}").type
        bits = np.zeros(self.words, word)
        labels = np.flatnonzero(np.isin(self.vertex_of_row, vertices))
        assert len(labels) == len(vertices)
        assert self.longest_block == self.rows
        at, shift = np.divmod(labels, self.word_bits)
        np.bitwise_or.at(bits, at, word(1) << shift.astype(word))
        return replace(self, required=bits)

    @cached_property
    def seed_entries(self) -> Index:
        """The CSR entries from which initial triplets are made.

        Entry e stands for an edge from root u to a neighbour x with a greater label. The y of its triplets <x, u, y>
        is a later neighbour of u. The last neighbour of u has no later one and is left out. In a directed graph x is a
        tail and y a head, and both come after u.
        """
        entry = np.arange(len(self.neighbour), dtype=np.int32)
        owner = self.row_of_entry
        if self.roles == 2:
            begins = (self.neighbour > owner) & (owner >= self.rows)
            root = owner - np.where(owner >= self.rows, self.rows, 0)
            begins &= self.is_root[root] & (self._later_heads[root] > 0)
            seeds: Index = entry[begins]
            return seeds
        later = (self.neighbour > owner) & (entry + 1 < self.row_ptr[owner + 1])
        seeds = entry[later & self.is_root[owner]]
        return seeds

    @cached_property
    def _later_heads(self) -> IntArray:
        """For each row of a directed graph the arcs to later vertices, shape (rows,)."""
        owner = self.row_of_entry
        counts: IntArray = np.bincount(owner[(self.neighbour > owner) & (owner < self.rows)], minlength=self.rows)
        return counts

    @cached_property
    def seed_roots(self) -> Index:
        """For each seed entry its root u, in a directed graph as a head."""
        roots: Index = self.row_of_entry[self.seed_entries] - np.int32(self.rows * (self.roles - 1))
        return roots

    @cached_property
    def pairs_of_seed(self) -> IntArray:
        """For each seed entry its number of pairs (x, y), triangles and triplets together.

        Of a directed graph or a multigraph the pairs that a chord joins count as well, although they make neither.
        """
        seeds = self.seed_entries
        if self.roles == 2:
            return self._later_heads[self.seed_roots]
        return (self.row_ptr[self.seed_roots + 1] - seeds - 1).astype(np.int64)
