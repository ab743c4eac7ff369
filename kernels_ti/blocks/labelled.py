"""The labelled blocks of a graph, and the layers in which they are searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.balls import later_degrees
from kernels_ti.blocks.biconnected import Components, is_dense_block
from kernels_ti.blocks.degree_labelling import degree_labelling
from kernels_ti.blocks.passable import split_with_chords
from kernels_ti.graph import Graph, IntArray


@dataclass(frozen=True, eq=False)
class Blocks:
    """Disjoint blocks, the rows of each in the order of its degree labelling.

    `rows` is the graph of all rows, `vertex_of_row` has an entry for each row and `sizes` one for each block.
    """

    rows: Graph
    vertex_of_row: IntArray
    sizes: IntArray

    @classmethod
    def labelled(cls, union: Graph, vertex_of: IntArray, sizes: IntArray, root: int | None = None) -> Blocks:
        """Label the blocks of a disjoint union; `sizes` counts their vertices. The root gets the first label."""
        labels = degree_labelling(union)
        if root is None and len(sizes) == 1:
            rows = union.permuted(labels)
            vertices = np.empty_like(vertex_of)
            vertices[labels] = vertex_of
            return cls(rows, vertices, sizes)
        block_of = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((labels, vertex_of != root, block_of))
        row_of = np.empty(union.n, np.int64)
        row_of[order] = np.arange(union.n)
        return cls(union.permuted(row_of), vertex_of[order], sizes)

    @property
    def edge_counts(self) -> IntArray:
        """Edges of each block, shape (blocks,)."""
        ends = np.cumsum(self.sizes)
        entries: IntArray = self.rows.row_ptr[ends] - self.rows.row_ptr[ends - self.sizes]
        return entries // 2

    def selected(self, keep: npt.NDArray[np.bool_]) -> Blocks:
        """Return only the blocks marked in a mask of shape (blocks,)."""
        rows = np.repeat(keep, self.sizes)
        return Blocks(self.rows.induced(rows), self.vertex_of_row[rows], self.sizes[keep])


@dataclass(frozen=True, eq=False)
class Layer:
    """Blocks with the roots at which their search begins.

    `first_row`, `vertex_of_row`, `is_root` and `words` have an entry for each row. `words` counts words of `grain`
    bits. Blocks are grouped by it, whatever the word of the device is.
    """

    rows: Graph
    first_row: IntArray
    vertex_of_row: IntArray
    is_root: npt.NDArray[np.bool_]
    words: IntArray
    grain: int

    @classmethod
    def of(cls, blocks: Blocks, grain: int, *, nested: bool = False, rooted: bool = False) -> Layer:
        """Lay blocks out. With `nested` only a block's first labels are roots, with `rooted` only the very first."""
        sizes = blocks.sizes
        words = -(-sizes // grain)
        first_row = np.repeat(np.cumsum(sizes) - sizes, sizes)
        roots = np.where(nested & (words > 1), sizes - grain * -(-words // 2), sizes)
        if rooted:
            roots = np.ones_like(sizes)
        return cls(
            rows=blocks.rows,
            first_row=first_row,
            vertex_of_row=blocks.vertex_of_row,
            is_root=np.arange(len(first_row)) - first_row < np.repeat(roots, sizes),
            words=np.repeat(words, sizes),
            grain=grain,
        )

    def seed_words(self, word_bits: int) -> int:
        """Words of the bit rows of all seeds."""
        words = -(-self.words * self.grain // word_bits)
        return int((np.maximum(later_degrees(self.rows) - 1, 0) * words)[self.is_root].sum())

    def inner_blocks(self) -> Blocks:
        """Find the blocks of the subgraph without the roots."""
        inner = ~self.is_root
        union, row_of, sizes = split(self.rows.induced(inner))
        vertex_of = self.vertex_of_row[inner][row_of]
        # Among vertices of equal degree, the degree labelling removes the first one of the input graph first.
        order = np.lexsort((vertex_of, np.repeat(np.arange(len(sizes)), sizes)))
        return Blocks.labelled(union.permuted(np.argsort(order)), vertex_of[order], sizes)

    def selected(self, keep: npt.NDArray[np.bool_]) -> Layer:
        """Return only the blocks whose rows are all marked in a mask of shape (rows,)."""
        return Layer(
            self.rows.induced(keep),
            (np.cumsum(keep) - 1)[self.first_row[keep]],
            self.vertex_of_row[keep],
            self.is_root[keep],
            self.words[keep],
            self.grain,
        )


def split(graph: Graph) -> tuple[Graph, IntArray, IntArray]:
    """Put the blocks of a graph side by side.

    Returns the graph of all blocks, the vertex of `graph` for each of its vertices (ascending within a block), and the
    number of vertices of each block.
    """
    if not graph.is_simple:
        return split_with_chords(graph)
    if is_dense_block(graph):
        joined = graph.degrees > 0
        vertex_of = np.flatnonzero(joined)
        return graph.induced(joined), vertex_of, np.array([len(vertex_of)])
    found = Components.of(graph)
    n = graph.n
    if found.count == 1:
        # No need to sort. An edge between two vertices of the block is its own.
        joined = np.zeros(n, np.bool_)
        for u, v, _ in found.edges():
            joined[u] = joined[v] = True
        del found  # of large graphs the memory counts
        vertex_of = np.flatnonzero(joined)
        return graph.induced(joined), vertex_of, np.array([len(vertex_of)])
    edges, block = found.arrays()
    keys, places = np.unique(block[:, None] * n + edges, return_inverse=True)
    block_of, vertex_of = np.divmod(keys, max(n, 1))
    union = Graph.from_edge_array(places.reshape(-1, 2), n=len(keys))
    return union, vertex_of, np.unique(block_of, return_counts=True)[1]
