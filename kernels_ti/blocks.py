"""Biconnected blocks, laid side by side as bit rows.

A chordless cycle lies inside one biconnected component, and each component is an induced subgraph as far as
its cycles are concerned. So the search runs on the blocks, each with compact labels of its own: fewer words
to a path, and the blocks of one graph, or of many, share a launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.graph import Graph, IntArray
from kernels_ti.labeling import degree_labelling

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
    """

    words: int
    word_bits: int
    first_row: Index
    row_ptr: Index
    neighbour: Index
    vertex_of_row: Index
    is_root: npt.NDArray[np.bool_]
    longest_block: int

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


def block_groups(graph: Graph, word_bits: int, *, whole: bool = False, nested: bool = False) -> list[BlockGroup]:
    """Split a graph into biconnected blocks with a cycle and group them by the words that they need.

    Parameters
    ----------
    graph : Graph
    word_bits : int
        Bits to a word of the device, 32 or 64.
    whole : bool
        Do not split: the graph is one block, as in the paper's algorithm.
    nested : bool
        Search a block of several words only for the cycles through its first labels. The others lie in what
        is left of it without them, which falls into blocks of at most half the words, and so on.

    Returns
    -------
    list of BlockGroup
        Fewest words first. Only groups with a seed: a forest gives none.
    """
    layers = []
    if whole:
        layers.append(_Layer.of(graph, np.arange(graph.n), np.array([graph.n]), word_bits, nested=False))
    else:
        blocks = biconnected_edges(graph)
        while blocks:
            layers.append(_Layer.of(*_disjoint_union(blocks), word_bits, nested=nested))
            blocks = layers[-1].inner_blocks()
    all_words = sorted({words for layer in layers for words in np.unique(layer.words).tolist()})
    groups = (
        _group([layer.selected(layer.words == words) for layer in layers], words, word_bits) for words in all_words
    )
    return [group for group in groups if len(group.seed_entries)]


@dataclass(frozen=True, eq=False)
class _Layer:
    """Disjoint blocks, each with its rows in the order of its degree labelling.

    `rows` is the graph of all rows, `first_row`, `vertex_of_row` and `words` have an entry to a row.
    """

    rows: Graph
    first_row: IntArray
    vertex_of_row: IntArray
    is_root: npt.NDArray[np.bool_]
    words: IntArray

    @classmethod
    def of(cls, union: Graph, vertex_of: IntArray, sizes: IntArray, word_bits: int, *, nested: bool) -> _Layer:
        """Lay out the blocks of a disjoint union, given by their numbers of vertices."""
        block_of = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((degree_labelling(union), block_of))
        row_of = np.empty(union.n, np.int64)
        row_of[order] = np.arange(union.n)
        words = -(-sizes // word_bits)
        first_row = np.repeat(np.cumsum(sizes) - sizes, sizes)
        roots = np.where(nested & (words > 1), sizes - word_bits * -(-words // 2), sizes)
        return cls(
            rows=Graph.from_edge_array(row_of[union.edges()].reshape(-1, 2), n=union.n),
            first_row=first_row,
            vertex_of_row=vertex_of[order],
            is_root=np.arange(union.n) - first_row < np.repeat(roots, sizes),
            words=np.repeat(words, sizes),
        )

    def inner_blocks(self) -> list[IntArray]:
        """Find the blocks of what is left without the roots, as edges between vertices of the input graph."""
        edges = self.rows.edges()
        inner = edges[~self.is_root[edges].any(axis=1)]
        left = Graph.from_edge_array(inner.reshape(-1, 2), n=self.rows.n)
        return [self.vertex_of_row[block] for block in biconnected_edges(left)]

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


def _disjoint_union(blocks: list[IntArray]) -> tuple[Graph, IntArray, IntArray]:
    """Put blocks, given by their edges, side by side.

    Returns the graph of all blocks, the vertex of the input that each of its vertices stands for, and the
    number of vertices of each block.
    """
    sizes, vertices, edges, offset = [], [], [], 0
    for block in blocks:
        members, inverse = np.unique(block, return_inverse=True)
        edges.append(inverse.reshape(-1, 2) + offset)
        vertices.append(members)
        sizes.append(len(members))
        offset += len(members)
    union = Graph.from_edge_array(np.concatenate(edges), n=offset)
    return union, np.concatenate(vertices), np.array(sizes)


def biconnected_edges(graph: Graph) -> list[IntArray]:
    """Find the biconnected components that have a cycle.

    Depth first with an explicit stack (Hopcroft and Tarjan 1973), so depth is bounded by memory only.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    list of ndarray of int64, shape (edges, 2)
        The edges of each component with at least three vertices; bridges are left out.
    """
    row_ptr = graph.row_ptr.tolist()
    col_idx = graph.col_idx.tolist()
    cursor = row_ptr[:-1].copy()
    discovered = [-1] * graph.n
    low = [0] * graph.n
    clock = 0
    components: list[IntArray] = []
    edge_stack: list[tuple[int, int]] = []
    for root in range(graph.n):
        if discovered[root] >= 0:
            continue
        discovered[root] = low[root] = clock
        clock += 1
        path = [root]
        parents = [-1]
        marks = [0]  # where in the edge stack the tree edge into each path vertex lies
        while path:
            v = path[-1]
            if cursor[v] < row_ptr[v + 1]:
                u = col_idx[cursor[v]]
                cursor[v] += 1
                if discovered[u] < 0:
                    discovered[u] = low[u] = clock
                    clock += 1
                    marks.append(len(edge_stack))
                    edge_stack.append((v, u))
                    path.append(u)
                    parents.append(v)
                elif discovered[u] < discovered[v] and u != parents[-1]:
                    edge_stack.append((v, u))
                    low[v] = min(low[v], discovered[u])
                continue
            path.pop()
            parent = parents.pop()
            mark = marks.pop()
            if parent < 0:
                continue
            low[parent] = min(low[parent], low[v])
            if low[v] >= discovered[parent]:
                if len(edge_stack) - mark > 1:
                    components.append(np.array(edge_stack[mark:], np.int64))
                del edge_stack[mark:]
    return components
