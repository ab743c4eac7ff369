"""Biconnected blocks, laid side by side as bit rows.

A chordless cycle lies inside one biconnected component, and each component is an induced subgraph as far as
its cycles are concerned. So the search runs on the blocks, each with compact labels of its own: fewer words
to a path, and the blocks of one graph, or of many, share a launch. A large block may fall into balls,
see `kernels_ti.blocks.balls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.balls import LARGEST_WHOLE, Sample, balls, batch_ends, later_degrees, sample_balls, worthwhile
from kernels_ti.blocks.biconnected import biconnected_edges
from kernels_ti.blocks.degree_labelling import degree_labelling
from kernels_ti.graph import Graph, IntArray
from kernels_ti.state import Layout

Index = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class BlockGroup:
    """Blocks whose paths need the same number of words, side by side.

    A **row** is a vertex of one block; the rows of a block follow one another in the order of its degree
    labelling, so the label of row r within its block is ``r - first_row[r]``. A cut vertex has a row in
    each of its blocks.

    Attributes
    ----------
    words : int
        Words to a bit row.
    word_bits : int
        Bits to a word, 32 or 64.
    first_row : ndarray of int32, shape (rows,)
        For each row the first row of its block.
    row_ptr : ndarray of int32, shape (rows + 1,)
        CSR pointers into `neighbour`.
    neighbour : ndarray of int32, shape (entries,)
        Adjacent rows, ascending.
    vertex_of_row : ndarray of int32, shape (rows,)
        The vertex of the input graph that a row stands for.
    is_root : ndarray of bool, shape (rows,)
        Whether cycles whose least label is this row's are searched for in this block.
    longest_block : int
        Vertices of the largest block.
    required : ndarray of uint32 or uint64, shape (words,), or None
        With a single block: the labels, apart from the root, that every wanted cycle has.
    """

    words: int
    word_bits: int
    first_row: Index
    row_ptr: Index
    neighbour: Index
    vertex_of_row: Index
    is_root: npt.NDArray[np.bool_]
    longest_block: int
    required: npt.NDArray[np.unsignedinteger] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.first_row)

    @cached_property
    def row_of_entry(self) -> Index:
        """For each CSR entry the row that it belongs to, shape (entries,)."""
        return np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.row_ptr))

    def bit_rows(self) -> npt.NDArray[np.unsignedinteger]:
        """Adjacency as bit rows.

        Returns
        -------
        ndarray of uint32 or uint64, shape (rows, words)
            Bit ``b % word_bits`` of word ``b // word_bits`` of row r is set when r is adjacent to the row
            with label b of the same block.
        """
        word = np.dtype(f"uint{self.word_bits}").type
        bits = np.zeros((self.rows, self.words), word)
        at, shift = np.divmod(self.neighbour - self.first_row[self.neighbour], self.word_bits)
        np.bitwise_or.at(bits, (self.row_of_entry, at), word(1) << shift.astype(word))
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
        """The CSR entries from which initial triplets grow.

        Entry e stands for an edge from root u to a neighbour x with a greater label; its triplets
        <x, u, y> have a later neighbour y of u. The last neighbour has no later one and is left out.
        """
        entry = np.arange(len(self.neighbour), dtype=np.int32)
        owner = self.row_of_entry
        later = (self.neighbour > owner) & (entry + 1 < self.row_ptr[owner + 1])
        seeds: Index = entry[later & self.is_root[owner]]
        return seeds

    @cached_property
    def seed_roots(self) -> Index:
        """For each seed entry its root u."""
        roots: Index = self.row_of_entry[self.seed_entries]
        return roots

    @cached_property
    def pairs_of_seed(self) -> IntArray:
        """For each seed entry its number of pairs (x, y), triangles and triplets together."""
        seeds = self.seed_entries
        return (self.row_ptr[self.seed_roots + 1] - seeds - 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class BlockBatches:
    """The blocks of a graph in batches that are made on demand, so that one at a time takes memory.

    Attributes
    ----------
    shares : ndarray of float64, shape (batches,)
        Expected part of the work of each batch; their sum is 1.
    makers : tuple of callable
        Each makes the groups of a batch.
    """

    shares: npt.NDArray[np.float64]
    makers: tuple[Callable[[], list[BlockGroup]], ...]

    def __len__(self) -> int:
        return len(self.makers)

    def __getitem__(self, batch: int) -> list[BlockGroup]:
        return self.makers[batch]()


def block_batches(
    graph: Graph, layout: Layout, word_bits: int, *, root: int | None = None, required: Sequence[int] = ()
) -> BlockBatches:
    """Split a graph into biconnected blocks with a cycle and group them by the words that they need.

    Parameters
    ----------
    graph : Graph
    layout : Layout
        With `whole` there is no split: the graph is one block, as in the paper's algorithm. With `nested` a
        block of several words is searched for the cycles through its first labels only; the others lie in
        what is left of it without them, which falls into blocks of at most half the words, and so on. With a
        `radius` each root of a large block has a block of its own, its ball, if that needs far fewer words.
    word_bits : int
        Bits to a word of the device, 32 or 64. Groups, rows, seeds and labels do not depend on it.
    root : int or None
        Search for the cycles through this vertex only: in each of its blocks it has the least label, and is the one
        root. There are no nested blocks then, and no balls: see `kernels_ti.blocks.restriction`.
    required : sequence of int
        Other vertices that every cycle must pass; the graph has then one block at the most.

    Returns
    -------
    BlockBatches
        The groups of a batch come with the fewest words first, and each has a seed: a forest gives one batch
        without a group. Balls have batches of their own, after all other blocks.
    """
    if layout.whole:
        whole = partial(_whole_graph, graph, layout.grain, word_bits, root, required)
        return BlockBatches(np.ones(1), (whole,))
    edges, block = biconnected_edges(graph)
    if root is not None:
        rooted = partial(_rooted_blocks, edges, block, layout.grain, word_bits, root, required)
        return BlockBatches(np.ones(1), (rooted,))
    in_balls = np.zeros(len(edges), np.bool_)
    makers: list[Callable[[], list[BlockGroup]]] = []
    if layout.radius is not None:
        in_balls, makers = _ball_batches(edges, block, layout.radius, layout.grain, word_bits)
    shares = np.full(len(makers), np.count_nonzero(in_balls) / max(len(makers), 1))
    if not makers or not in_balls.all():
        edges, block = edges[~in_balls], block[~in_balls]
        makers.insert(0, partial(_blocks, edges, block, layout, word_bits))
        shares = np.insert(shares, 0, max(len(edges), 1))
    return BlockBatches(shares / shares.sum(), tuple(makers))


def _whole_graph(
    graph: Graph, grain: int, word_bits: int, root: int | None, required: Sequence[int]
) -> list[BlockGroup]:
    layer = _Layer.of(graph, np.arange(graph.n), np.array([graph.n]), grain, root=root)
    return _with_required(_groups([layer], grain, word_bits), required)


def _rooted_blocks(
    edges: IntArray, block: IntArray, grain: int, word_bits: int, root: int, required: Sequence[int]
) -> list[BlockGroup]:
    """Lay out blocks of which each has the root."""
    layer = _Layer.of(*_disjoint_union(edges, block), grain, root=root)
    return _with_required(_groups([layer], grain, word_bits), required)


def _with_required(groups: list[BlockGroup], required: Sequence[int]) -> list[BlockGroup]:
    return [group.with_required(required) for group in groups] if required else groups


def _blocks(edges: IntArray, block: IntArray, layout: Layout, word_bits: int) -> list[BlockGroup]:
    """Lay out the blocks to which edges belong, and those nested in them."""
    layers = []
    while len(edges):
        layers.append(_Layer.of(*_disjoint_union(edges, block), layout.grain, nested=layout.nested))
        edges, block = layers[-1].inner_blocks()
    return _groups(layers, layout.grain, word_bits)


def _ball_batches(
    edges: IntArray, block: IntArray, radius: int, grain: int, word_bits: int
) -> tuple[npt.NDArray[np.bool_], list[Callable[[], list[BlockGroup]]]]:
    """Choose the blocks for which balls are worthwhile; return which edges they have, and makers of the balls."""
    maybe = np.bincount(block, minlength=1) > LARGEST_WHOLE
    union, vertex_of, sizes = _disjoint_union(edges[maybe[block]], block[maybe[block]])
    layer = _Layer.of(union, vertex_of, sizes, grain)
    sample = sample_balls(layer.rows, sizes, radius)
    chosen = worthwhile(sample, sizes)
    maybe[maybe] = chosen
    rows = np.repeat(chosen, sizes)
    roots = np.flatnonzero(rows & (later_degrees(layer.rows) > 1))
    if not len(roots):
        return maybe[block], []
    inside = rows[sample.roots]
    cuts = [0, *batch_ends(roots, Sample(sample.roots[inside], sample.sizes[inside])).tolist()]
    return maybe[block], [partial(_balls, layer, roots[a:b], radius, grain, word_bits) for a, b in pairwise(cuts)]


def _balls(layer: _Layer, roots: IntArray, radius: int, grain: int, word_bits: int) -> list[BlockGroup]:
    """Lay out the balls of some rows of a layer."""
    union, row_of, sizes = balls(layer.rows, roots, radius)
    first_row = np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_root = first_row == np.arange(union.n)
    # Powers of two, so that there are few groups: the first of each kind has its kernels to compile.
    words = 1 << np.ceil(np.log2(-(-sizes // grain))).astype(np.int64)
    laid_out = _Layer(union, first_row, layer.vertex_of_row[row_of], is_root, np.repeat(words, sizes))
    return _groups([laid_out], grain, word_bits)


def _groups(layers: list[_Layer], grain: int, word_bits: int) -> list[BlockGroup]:
    """Group the blocks of several layers by the words of `grain` bits that they need."""
    all_words = sorted({words for layer in layers for words in np.unique(layer.words).tolist()})
    groups = (
        _group([layer.selected(layer.words == words) for layer in layers], -(-words * grain // word_bits), word_bits)
        for words in all_words
    )
    return [group for group in groups if len(group.seed_entries)]


@dataclass(frozen=True, eq=False)
class _Layer:
    """Disjoint blocks, each with its rows in the order of its degree labelling.

    `rows` is the graph of all rows, `first_row`, `vertex_of_row` and `words` have an entry to a row; these words
    are those by which blocks are grouped, whatever the device's are.
    """

    rows: Graph
    first_row: IntArray
    vertex_of_row: IntArray
    is_root: npt.NDArray[np.bool_]
    words: IntArray

    @classmethod
    def of(
        cls,
        union: Graph,
        vertex_of: IntArray,
        sizes: IntArray,
        grain: int,
        *,
        nested: bool = False,
        root: int | None = None,
    ) -> _Layer:
        """Lay out the blocks of a disjoint union, given by their numbers of vertices.

        With `nested` the first labels only are roots, with `root` only the rows of that vertex, which come first.
        """
        block_of = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((degree_labelling(union), vertex_of != root, block_of))
        row_of = np.empty(union.n, np.int64)
        row_of[order] = np.arange(union.n)
        words = -(-sizes // grain)
        first_row = np.repeat(np.cumsum(sizes) - sizes, sizes)
        roots = np.where(nested & (words > 1), sizes - grain * -(-words // 2), sizes)
        if root is not None:
            roots = np.ones_like(sizes)
        return cls(
            rows=Graph.from_edge_array(row_of[union.edges()].reshape(-1, 2), n=union.n),
            first_row=first_row,
            vertex_of_row=vertex_of[order],
            is_root=np.arange(union.n) - first_row < np.repeat(roots, sizes),
            words=np.repeat(words, sizes),
        )

    def inner_blocks(self) -> tuple[IntArray, IntArray]:
        """Find the blocks of what is left without the roots: their edges in the input graph, and the block of each."""
        edges = self.rows.edges()
        inner = edges[~self.is_root[edges].any(axis=1)]
        edges, block = biconnected_edges(Graph.from_edge_array(inner.reshape(-1, 2), n=self.rows.n))
        return self.vertex_of_row[edges], block

    def selected(self, keep: npt.NDArray[np.bool_]) -> _Layer:
        """Only the blocks whose rows are all to be kept."""
        row = np.cumsum(keep) - 1
        degrees = self.rows.degrees
        row_ptr = np.concatenate(([0], np.cumsum(degrees[keep])))
        rows = Graph(row_ptr, row[self.rows.col_idx[np.repeat(keep, degrees)]])
        return _Layer(rows, row[self.first_row[keep]], self.vertex_of_row[keep], self.is_root[keep], self.words[keep])


def _group(layers: list[_Layer], words: int, word_bits: int) -> BlockGroup:
    """Put the blocks of several layers side by side."""
    row_offsets = np.cumsum([0] + [layer.rows.n for layer in layers])
    entry_offsets = np.cumsum([0] + [len(layer.rows.col_idx) for layer in layers])
    first_row = np.concatenate([layer.first_row + at for layer, at in zip(layers, row_offsets, strict=False)])
    row_ptr = [layer.rows.row_ptr[:-1] + at for layer, at in zip(layers, entry_offsets, strict=False)]
    neighbour = [layer.rows.col_idx + at for layer, at in zip(layers, row_offsets, strict=False)]
    return BlockGroup(
        words=words,
        word_bits=word_bits,
        first_row=first_row.astype(np.int32),
        row_ptr=np.concatenate([*row_ptr, entry_offsets[-1:]]).astype(np.int32),
        neighbour=np.concatenate(neighbour).astype(np.int32),
        vertex_of_row=np.concatenate([layer.vertex_of_row for layer in layers]).astype(np.int32),
        is_root=np.concatenate([layer.is_root for layer in layers]),
        longest_block=int(np.bincount(first_row).max()),
    )


def _disjoint_union(edges: IntArray, block: IntArray) -> tuple[Graph, IntArray, IntArray]:
    """Put blocks side by side, given by their edges and the number of the block of each.

    Returns the graph of all blocks, the vertex of the input that each of its vertices stands for, and the
    number of vertices of each block.
    """
    n = int(edges.max(initial=-1)) + 1
    keys, places = np.unique(block[:, None] * n + edges, return_inverse=True)
    block_of, vertex_of = np.divmod(keys, max(n, 1))
    union = Graph.from_edge_array(places.reshape(-1, 2), n=len(keys))
    return union, vertex_of, np.unique(block_of, return_counts=True)[1]
