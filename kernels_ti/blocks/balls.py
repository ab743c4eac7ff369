"""Balls: the vertices that a search with a length bound can reach from a root. They replace the root's whole block.

A cycle of at most L vertices stays within distance L / 2 of each of its vertices. So the cycles with least label u lie
in the ball of that radius around u, in the subgraph of the labels from u on. In a large sparse block the ball is small.
The balls of many roots are made at once, as pairs of a root and a vertex. A pair is one integer: the root's number is
in the upper bits, the vertex in the lower bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import distinct, for_entries, row_pieces, spans
from kernels_ti.graph import Graph, IntArray

LARGEST_WHOLE = 512  # A block of at most this many vertices, 8 words of 64 bits, is searched whole
WORTHWHILE = 4  # Balls are searched where they need this many times fewer words than their block

MOST_BIT_ROWS, FREE_BIT_ROWS = 8, 1 << 30
"""Limits on the bit rows of all balls of a block: a multiple of the block's own, and bytes that are always allowed. The
balls are never all in memory at once, but making them takes time."""

BATCH_BYTES = 32 << 20  # Memory that the balls of one batch are expected to take
ENTRIES_AT_ONCE = 1 << 20  # Neighbours of pairs that are processed in one piece

_ROOTS_AT_ONCE = 1 << 13
_SAMPLE, _LEAST_SAMPLE = 256, 16  # roots sampled in all, and at least in each block
_SAMPLED_ENTRIES = 1 << 16  # neighbours after which a sampled ball counts as large
_TABLE_CELLS = 8  # largest table in cells for each pair looked up; for a larger one a binary search is faster
_PEELINGS = 16  # rounds; vertices of a longer chain stay, they only cost words


def choose_radius(graph: Graph, max_length: int | None) -> int | None:
    """Choose the radius of balls for the cycles of a graph up to a length.

    None where no balls are needed: without a bound, or if no block can be large. With a radius, `worthwhile` still
    decides for each block whether balls are used.
    """
    if max_length is None or graph.n <= LARGEST_WHOLE or max_length >= graph.n:
        return None
    return max_length // 2


def later_degrees(graph: Graph) -> IntArray:
    """Count for each vertex its neighbours with a larger number, shape (n,)."""
    counts = np.zeros(graph.n, np.int64)
    for rows, entries in row_pieces(graph.row_ptr):
        owner = for_entries(np.arange(rows.start, rows.stop), graph.row_ptr, rows)
        later = owner[graph.col_idx[entries] > owner]
        counts[rows] = np.bincount(later - rows.start, minlength=rows.stop - rows.start)
    return counts


@dataclass(frozen=True, eq=False)
class Sample:
    """The balls of some roots, spread evenly over each block."""

    roots: IntArray  # int64, shape (k,): ascending
    # int64, shape (k,): number of vertices of each ball; that of its block if the ball has a large part of the block
    sizes: IntArray

    def sizes_like(self, roots: IntArray) -> IntArray:
        """Return for each of the ascending `roots` the size of the last sampled ball before it, shape of `roots`."""
        return self.sizes[np.maximum(np.searchsorted(self.roots, roots, side="right") - 1, 0)]


def sample_balls(graph: Graph, block_sizes: IntArray, radius: int) -> Sample:
    """Measure the balls of a few roots of each block.

    The blocks of the graph, of `block_sizes` vertices, follow one another, the vertices of each in the order of its
    labels.
    """
    block_of = np.repeat(np.arange(len(block_sizes)), block_sizes)
    roots = np.flatnonzero(later_degrees(graph) > 1)
    ends = np.searchsorted(block_of[roots], np.arange(len(block_sizes)), side="right")
    counts = np.diff(ends, prepend=0)
    wanted = max(_SAMPLE // max(len(block_sizes), 1), _LEAST_SAMPLE)
    spread = (ends - counts)[:, None] + counts[:, None] * np.arange(wanted) // wanted
    chosen = roots[np.unique(spread[counts > 0])]
    entries = np.bincount(block_of, weights=graph.degrees, minlength=len(block_sizes)).astype(np.int64)
    most = np.minimum(entries // WORTHWHILE, _SAMPLED_ENTRIES)[block_of[chosen]]
    sizes = np.concatenate(
        [np.empty(0, np.int64)]
        + [
            np.bincount(keys >> graph.n.bit_length(), minlength=len(piece))
            for piece, keys in _pieces(graph, chosen, radius, most)
        ]
    )
    return Sample(chosen, np.where(sizes > 0, sizes, block_sizes[block_of[chosen]]))


def worthwhile(sample: Sample, block_sizes: IntArray) -> npt.NDArray[np.bool_]:
    """Say for each block whether it is large and the balls of its roots need far fewer words, shape (blocks,)."""
    block_of = np.searchsorted(np.cumsum(block_sizes), sample.roots, side="right")
    blocks, block_words = len(block_sizes), -(-block_sizes // 64)
    words = -(-sample.sizes // 64)
    looked_at = np.bincount(block_of, minlength=blocks)
    fewer = WORTHWHILE * np.bincount(block_of, words, blocks) <= block_words * looked_at
    ball_words = np.bincount(block_of, words * sample.sizes, blocks) / np.maximum(looked_at, 1)
    bounded = block_sizes * ball_words <= np.maximum(MOST_BIT_ROWS * block_sizes * block_words, FREE_BIT_ROWS // 8)
    chosen: npt.NDArray[np.bool_] = fewer & bounded & (block_sizes > LARGEST_WHOLE)
    return chosen


def batch_ends(roots: IntArray, sample: Sample) -> IntArray:
    """Return where ascending roots, at least one, are cut into batches whose balls take about equal memory.

    The last end is the number of roots, and no batch is empty.
    """
    # Bytes of bit rows, and of arrays with a cell for each row or edge. Whole numbers, so all machines cut alike.
    sizes = sample.sizes_like(roots)
    total = np.cumsum(sizes * (8 * -(-sizes // 64) + 100))
    batches = int(total[-1]) // BATCH_BYTES + 1
    ends = np.searchsorted(total, total[-1] * np.arange(1, batches) // batches) + 1
    return np.unique(np.append(ends, len(roots)))


def balls(graph: Graph, later: IntArray, roots: IntArray, radius: int) -> tuple[Graph, IntArray, IntArray]:
    """Make the balls of some roots: along vertices after the root, in the order of the labels, up to `radius` edges.

    `later` are the `later_degrees` of the graph.
    Peeling removes vertices that lie on no cycle of their ball. It need not find all of them. A ball whose root is
    removed is left out. Returns the union of the remaining balls, one after another, the vertices of each in order with
    its root first; for each of its vertices that of `graph`; and the vertices of each ball.
    """
    degrees, neighbours, vertices, sizes, offset = [], [], [], [], 0
    for piece, keys in _pieces(graph, roots, radius, None):
        own_degrees, own_neighbours, kept = _peeled(graph, later, piece, keys)
        degrees.append(own_degrees)
        neighbours.append(own_neighbours + offset)
        vertices.append(kept & (1 << graph.n.bit_length()) - 1)
        counts = np.bincount(kept >> graph.n.bit_length(), minlength=len(piece))
        sizes.append(counts[counts > 0])
        offset += len(kept)
    none = np.empty(0, np.int64)
    union = Graph(
        np.concatenate(([0], np.cumsum(np.concatenate([none, *degrees])))), np.concatenate([none, *neighbours])
    )
    return union, np.concatenate([none, *vertices]), np.concatenate([none, *sizes])


def _pieces(graph: Graph, roots: IntArray, radius: int, most: IntArray | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Cut the roots into pieces that fit in memory; yield each piece and the pairs of its balls, ascending."""
    at, step = 0, _ROOTS_AT_ONCE
    while at < len(roots):
        piece = roots[at : at + step]
        keys = _reached(graph, piece, radius, None if most is None else most[at : at + step])
        if keys is None:
            step = max(len(piece) // 2, 1)
        else:
            at += step
            yield piece, keys


def _reached(graph: Graph, roots: IntArray, radius: int, most: IntArray | None) -> IntArray | None:
    """Find the pairs of a root and a vertex of its ball, level by level.

    A root is given up, and has no pairs, if more than `most` of its entries would be visited. Returns None if
    several roots together have too many entries.
    """
    bits = graph.n.bit_length()
    size = len(roots) << bits
    level = np.arange(len(roots)) << bits | roots
    levels = [np.empty(0, np.int64), level]
    looked_at = np.zeros(len(roots), np.int64)
    given_up = np.zeros(len(roots), np.bool_)
    for _ in range(radius):
        entries = graph.degrees[level & (1 << bits) - 1]
        looked_at += np.bincount(level >> bits, weights=entries, minlength=len(roots)).astype(np.int64)
        if most is not None:
            given_up = looked_at > most
            level = level[~given_up[level >> bits]]
        if len(roots) > 1 and looked_at[~given_up].sum() > ENTRIES_AT_ONCE:
            return None
        found = distinct(_neighbours(graph, roots, level))
        for known in levels[-2:]:
            found = found[_places(found, known, size) < 0]
        level = found
        if not len(level):
            break
        levels.append(level)
    pairs: IntArray = np.sort(np.concatenate(levels))
    return pairs if most is None else pairs[~given_up[pairs >> bits]]


def _neighbours(graph: Graph, roots: IntArray, pairs: IntArray) -> IntArray:
    """Pair each root with the neighbours, from the root on, of its vertices."""
    bits = graph.n.bit_length()
    vertex, root = pairs & (1 << bits) - 1, pairs >> bits
    counts = graph.degrees[vertex]
    owner = np.repeat(np.arange(len(pairs)), counts)
    neighbour = graph.col_idx[spans(graph.row_ptr[vertex], counts)]
    keep = neighbour >= roots[root][owner]
    owner = owner[keep]
    found: IntArray = (root << bits)[owner] | neighbour[keep]
    return found


def _places(wanted: IntArray, pairs: IntArray, size: int) -> IntArray:
    """Find the index of each wanted pair in `pairs`, -1 if it is missing; `pairs` ascend and are below `size`."""
    if size <= _TABLE_CELLS * len(wanted):
        table = np.full(size, -1, np.int32)
        table[pairs] = np.arange(len(pairs), dtype=np.int32)
        return table[wanted].astype(np.int64)
    if not len(pairs):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return np.where(pairs[at] == wanted, at, -1)


def _peeled(graph: Graph, later: IntArray, roots: IntArray, pairs: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Make the edges between the pairs of each ball, and repeatedly remove vertices with fewer than two neighbours.

    Each edge is sought from its end that comes first, so a vertex with many neighbours before it costs little.
    Returns the degree of every remaining pair, the indices of its neighbours among these, and the pairs.
    """
    bits = graph.n.bit_length()
    vertex, root = pairs & (1 << bits) - 1, pairs >> bits
    counts = later[vertex]
    owner = np.repeat(np.arange(len(pairs)), counts)
    found = (root << bits)[owner] | graph.col_idx[spans(graph.row_ptr[vertex + 1] - counts, counts)]
    size = len(roots) << bits
    other = _places(found, pairs, size)
    owner, other = owner[other >= 0], other[other >= 0]
    root_places = _places(np.arange(len(roots)) << bits | roots, pairs, size)
    alive = np.ones(len(pairs), np.bool_)
    for _ in range(_PEELINGS):
        alive = np.bincount(owner, minlength=len(pairs)) + np.bincount(other, minlength=len(pairs)) > 1
        alive &= alive[root_places][root]  # a ball without its root is dropped
        keep = alive[owner] & alive[other]
        if keep.all():
            break
        owner, other = owner[keep], other[keep]
    places = len(pairs).bit_length()
    ends = np.sort(np.concatenate((owner << places | other, other << places | owner)))
    degrees = np.bincount(ends >> places, minlength=len(pairs))[alive]
    place = np.cumsum(alive) - 1
    return degrees, place[ends & (1 << places) - 1], pairs[alive]
