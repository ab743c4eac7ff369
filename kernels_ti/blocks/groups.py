"""Groups of biconnected blocks, side by side as bit rows.

Each chordless cycle lies inside one biconnected component, and each component is an induced subgraph for its cycles. So
the search runs on the blocks, each with its own compact labels. A path then needs fewer words, and the blocks of one
graph, or of many, share a launch. A large block may be replaced by balls, see `kernels_ti.blocks.balls`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.balls import LARGEST_WHOLE, Sample, balls, batch_ends, later_degrees, sample_balls, worthwhile
from kernels_ti.blocks.block_group import BlockGroup as BlockGroup
from kernels_ti.blocks.block_group import Index
from kernels_ti.blocks.labelled import Blocks, Layer, split
from kernels_ti.blocks.passable import entries_by_role, ways_of, with_edges_of
from kernels_ti.graph import Graph, IntArray
from kernels_ti.state import Layout

_Makers = list[Callable[[], list[BlockGroup]]]


@dataclass(frozen=True, eq=False)
class BlockBatches:
    """The blocks of a graph in batches that are made on demand, so that only one is in memory at a time."""

    # float64, shape (batches,): estimated share of the work in each batch; their sum is 1
    shares: npt.NDArray[np.float64]
    seed_words: int  # Estimated words in the bit rows of all seeds of the largest batch; known before the batch is made
    makers: tuple[Callable[[], list[BlockGroup]], ...]  # One function for each batch; it makes the groups of the batch

    @classmethod
    def joined(cls, parts: Sequence[BlockBatches], work: npt.NDArray[np.float64]) -> BlockBatches:
        """Concatenate the batches of several searches; `work` is proportional to the work of each search."""
        if len(parts) == 1:
            return parts[0]
        shares = np.concatenate([part.shares * share for part, share in zip(parts, work / work.sum(), strict=True)])
        makers = tuple(maker for part in parts for maker in part.makers)
        return cls(shares, max(part.seed_words for part in parts), makers)

    def __len__(self) -> int:
        return len(self.makers)

    def __getitem__(self, batch: int) -> list[BlockGroup]:
        return self.makers[batch]()


class LabelledBlocks:
    """The biconnected blocks of a graph that have a cycle, each in the order of its degree labelling.

    They are found and labelled once, when they are first needed; every layout is made from them. With a `root` only the
    cycles through it count: in each of its blocks it has the least label and is the only root, without nested blocks
    and balls, see `kernels_ti.blocks.restriction`. Every cycle must pass the `required` vertices too; the graph then
    has at most one block.
    """

    def __init__(self, graph: Graph, root: int | None = None, required: Sequence[int] = ()) -> None:
        self._graph = graph
        self._root = root
        self._required = tuple(required)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.labelled(*split(self._graph), self._root)

    @property
    def longest(self) -> int:
        """Vertices of the largest block, 0 if there is none."""
        return int(self._blocks.sizes.max(initial=0))

    @property
    def vertices(self) -> IntArray:
        """The vertices of all blocks, one that lies in several more than once."""
        return self._blocks.vertex_of_row

    @property
    def ring_lengths(self) -> IntArray:
        """Vertices of each block that is only a cycle, shape (rings,)."""
        blocks = self._blocks
        rings: IntArray = blocks.sizes[blocks.edge_counts == blocks.sizes]
        return rings

    def rings(self) -> Iterator[tuple[Graph, IntArray]]:
        """Yield each block that is only a cycle, as `other_blocks` does."""
        return self._graphs(self._blocks.edge_counts == self._blocks.sizes)

    def other_blocks(self) -> Iterator[tuple[Graph, IntArray]]:
        """Yield each block that is not a ring: as a graph, and its vertices in the input graph, ascending."""
        return self._graphs(self._blocks.edge_counts > self._blocks.sizes)

    def _graphs(self, chosen: npt.NDArray[np.bool_]) -> Iterator[tuple[Graph, IntArray]]:
        blocks = self._blocks
        ends = np.cumsum(blocks.sizes)
        for block in np.flatnonzero(chosen).tolist():
            start, end = int(ends[block] - blocks.sizes[block]), int(ends[block])
            pointers, vertices = blocks.rows.row_ptr[start : end + 1], blocks.vertex_of_row[start:end]
            order = np.argsort(vertices)
            entries = slice(pointers[0], pointers[-1])
            counts = None if blocks.rows.multiplicity is None else blocks.rows.multiplicity[entries]
            labelled = Graph(
                pointers - pointers[0], blocks.rows.col_idx[entries] - start, None, blocks.rows.directed, counts
            )
            yield labelled.permuted(np.argsort(order)), vertices[order]

    def batches(self, layout: Layout, word_bits: int) -> BlockBatches:
        """Lay the blocks out and group them by the words that they need.

        With `whole` the graph is one block, as in the paper's algorithm. With `nested`, a block of several words is
        searched only for the cycles through its first labels. The other cycles lie in the rest of the block, which is
        split into blocks of at most half the words, recursively. With a `radius`, each root of a large block is
        searched in its ball, if balls need far fewer words. Groups, rows, seeds and labels do not depend on
        `word_bits`, 32 or 64. The groups of a batch are sorted by their words, the fewest first. Each group has a seed:
        a forest gives one batch without a group. Balls have their own batches, after all other blocks.
        """
        grain = layout.grain
        if layout.whole:
            whole = Blocks.labelled(self._graph, np.arange(self._graph.n), np.array([self._graph.n]), self._root)
            return self._one_batch(Layer.of(whole, grain, rooted=self._root is not None), word_bits)
        blocks = self._blocks
        if self._root is not None:
            return self._one_batch(Layer.of(blocks, grain, rooted=True), word_bits)
        inside, makers, seed_words = np.zeros(len(blocks.sizes), np.bool_), _Makers(), 0
        if layout.radius is not None:
            inside, makers, seed_words = _ball_batches(blocks, layout.radius, grain, word_bits)
        edges = blocks.edge_counts
        shares = np.full(len(makers), edges[inside].sum() / max(len(makers), 1))
        if not makers or not inside.all():
            layer = Layer.of(blocks.selected(~inside), grain, nested=layout.nested)
            makers.insert(0, partial(_nested_groups, layer, layout, word_bits))
            shares = np.insert(shares, 0, max(int(edges[~inside].sum()), 1))
            seed_words = max(seed_words, layer.seed_words(word_bits))
        return BlockBatches(shares / shares.sum(), seed_words, tuple(makers))

    def _one_batch(self, layer: Layer, word_bits: int) -> BlockBatches:
        def groups() -> list[BlockGroup]:
            made = _groups([layer], layer.grain, word_bits)
            return [group.with_required(self._required) for group in made] if self._required else made

        return BlockBatches(np.ones(1), layer.seed_words(word_bits), (groups,))


def _nested_groups(layer: Layer, layout: Layout, word_bits: int) -> list[BlockGroup]:
    layers = [layer]
    while not layers[-1].is_root.all():
        layers.append(Layer.of(layers[-1].inner_blocks(), layout.grain, nested=layout.nested))
    return _groups(layers, layout.grain, word_bits)


def _ball_batches(
    blocks: Blocks, radius: int, grain: int, word_bits: int
) -> tuple[npt.NDArray[np.bool_], _Makers, int]:
    """Choose the blocks for which balls are worthwhile, shape (blocks,).

    Return them, the makers of their balls, and the words of the seeds in the largest batch.
    """
    chosen = blocks.edge_counts > LARGEST_WHOLE
    large = blocks.selected(chosen)
    sample = sample_balls(large.rows, large.sizes, radius)
    worthy = worthwhile(sample, large.sizes)
    chosen[chosen] = worthy
    rows = np.repeat(worthy, large.sizes)
    later = later_degrees(large.rows)
    roots = np.flatnonzero(rows & (later > 1))
    if not len(roots):
        return chosen, [], 0
    inside = Sample(sample.roots[rows[sample.roots]], sample.sizes[rows[sample.roots]])
    cuts = [0, *batch_ends(roots, inside).tolist()]
    words = later[roots] * -(-inside.sizes_like(roots) // word_bits)
    layer = Layer.of(large, grain)
    makers: _Makers = [partial(_balls, layer, later, roots[a:b], radius, grain, word_bits) for a, b in pairwise(cuts)]
    return chosen, makers, int(np.add.reduceat(words, cuts[:-1]).max())


def _balls(layer: Layer, later: IntArray, roots: IntArray, radius: int, grain: int, word_bits: int) -> list[BlockGroup]:
    union, row_of, sizes = balls(layer.rows, later, roots, radius)
    union = with_edges_of(union, layer.rows, row_of)
    first_row = np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_root = first_row == np.arange(union.n)
    # Powers of two, so that there are few groups: each number of words needs kernels of its own.
    words = 1 << np.ceil(np.log2(-(-sizes // grain))).astype(np.int64)
    laid_out = Layer(union, first_row, layer.vertex_of_row[row_of], is_root, np.repeat(words, sizes), grain)
    return _groups([laid_out], grain, word_bits)


def _groups(layers: list[Layer], grain: int, word_bits: int) -> list[BlockGroup]:
    """Group the blocks of several layers by the words of `grain` bits that they need."""
    all_words = sorted({words for layer in layers for words in np.flatnonzero(np.bincount(layer.words)).tolist()})
    groups = (
        _group([layer.selected(layer.words == words) for layer in layers], -(-words * grain // word_bits), word_bits)
        for words in all_words
    )
    return [group for group in groups if len(group.seed_entries)]


def _group(layers: list[Layer], words: int, word_bits: int) -> BlockGroup:
    row_offsets = np.cumsum([0] + [layer.rows.n for layer in layers])
    if any(layer.rows.ways is not None for layer in layers):
        return _chorded_group(layers, row_offsets, words, word_bits)
    entry_offsets = np.cumsum([0] + [len(layer.rows.col_idx) for layer in layers])
    pointers = [layer.rows.row_ptr[:-1] + at for layer, at in zip(layers, entry_offsets, strict=False)]
    neighbour = np.empty(entry_offsets[-1], np.int32)
    for layer, row, entry in zip(layers, row_offsets.tolist(), entry_offsets.tolist(), strict=False):
        piece = neighbour[entry : entry + len(layer.rows.col_idx)]
        piece[:] = layer.rows.col_idx
        piece += row
    row_ptr = np.concatenate([*pointers, entry_offsets[-1:]]).astype(np.int32)
    return _assembled(layers, row_offsets, words, word_bits, row_ptr, neighbour)


def _chorded_group(layers: list[Layer], row_offsets: IntArray, words: int, word_bits: int) -> BlockGroup:
    """Put blocks of a directed graph or of a multigraph side by side, with a part for each role."""
    placed = list(zip(layers, row_offsets.tolist(), strict=False))
    row = np.concatenate([layer.rows.row_of_entry + at for layer, at in placed])
    column = np.concatenate([layer.rows.col_idx + at for layer, at in placed])
    label = column - np.concatenate([layer.first_row + at for layer, at in placed])[row]
    ways = np.concatenate([ways_of(layer.rows) for layer in layers])
    roles = 2 if layers[0].rows.directed else 1
    row_ptr, neighbour, chords = entries_by_role(row, column, label, ways, int(row_offsets[-1]), roles)
    made = _assembled(layers, row_offsets, words, word_bits, row_ptr, neighbour)
    return replace(made, roles=roles, chords=chords)


def _assembled(
    layers: list[Layer], row_offsets: IntArray, words: int, word_bits: int, row_ptr: Index, neighbour: Index
) -> BlockGroup:
    first_row = np.concatenate([layer.first_row + at for layer, at in zip(layers, row_offsets, strict=False)])
    return BlockGroup(
        words=words,
        word_bits=word_bits,
        first_row=first_row.astype(np.int32),
        row_ptr=row_ptr,
        neighbour=neighbour,
        vertex_of_row=np.concatenate([layer.vertex_of_row for layer in layers]).astype(np.int32),
        is_root=np.concatenate([layer.is_root for layer in layers]),
        longest_block=int(np.bincount(first_row).max()),
    )
