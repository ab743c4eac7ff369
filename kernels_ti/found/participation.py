"""Participation: the number of chordless cycles through each vertex and each edge, by length, counted on the device.

The cycles of a slice stay in the buffer of the search. Only their lengths are copied to the host, which sorts them into
bundles of one block and one length. The device transposes the bundles and counts bits, see
`kernels_ti.found.participation_kernels`. It returns only a few counts for each vertex, edge and length.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.cycles import Cycles
from kernels_ti.errors import OptionError, quantity, require_flags, vertices_text
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.graph import Graph, IntArray
from kernels_ti.notebook import html_of_shares
from kernels_ti.options import Lengths, require_number

CYCLES_AT_ONCE = 1 << 20  # Cycles that are sorted into bundles at a time
BUNDLES_OF_ITEM = 256  # Largest number of bundles for one work item, so that there are enough work items

ITEMS_AT_ONCE = 1 << 20  # Largest number of work items in a launch, unless a single block has more vertices and edges
TURNED_BYTES = 16 << 20  # Largest size of the transposed bundles in a launch


@dataclass(frozen=True, eq=False)
class Participation:
    """The number of chordless cycles through each vertex and each edge of a graph.

    Attributes
    ----------
    vertices : ndarray of int64, shape (n, longest + 1)
        ``vertices[v, k]`` cycles of k vertices pass vertex v; `longest` is the length of the longest cycle found, or 0.
    edges : ndarray of int64, shape (m, longest + 1), or None
        The same for the edges; None if only vertices were asked for.
    edge_list : ndarray of int64, shape (m, 2)
        The two vertices of each edge in the order of `Graph.pairs`, tail and head of an arc. All edges between the same
        two vertices count as one.
    names : tuple of hashable
        The names of the vertices.
    complete : bool
        False if the search ended before it was done: only the cycles found until then are counted.

    Examples
    --------
    >>> from chordless import Graph, count_participation
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> counts = count_participation(house, arch="cpu")
    >>> counts.top(2)
    [('a', 2), ('b', 2)]
    >>> counts.top(1, edges=True)
    [(('a', 'b'), 2)]
    """

    vertices: IntArray
    edges: IntArray | None
    edge_list: IntArray
    names: tuple[Hashable, ...]
    complete: bool = True

    def __repr__(self) -> str:
        edges = "" if self.edges is None else f", {quantity(len(self.edges), 'edge')}"
        return f"Participation({vertices_text(len(self.names))}{edges}, complete={self.complete})"

    def _repr_html_(self) -> str:
        return html_of_shares(repr(self), self.top(), [] if self.edges is None else self.top(edges=True))

    def top(self, n: int = 10, *, edges: bool = False) -> list[tuple[Any, int]]:
        """Return the vertices, or edges, that lie in the most cycles of any length.

        Parameters
        ----------
        n : int
            Largest number of vertices or edges to return.
        edges : bool
            Rank the edges.

        Returns
        -------
        list of (name, int)
            The name of a vertex, or the names of the two ends of an edge, and its number of cycles. The largest number
            comes first; equal ones keep the order of the graph. Vertices and edges in no cycle are left out.

        Raises
        ------
        OptionError
            If edges were not counted, or `n` is not a whole number from 0 on.
        """
        require_number(n, "entries")
        require_flags(edges=edges)
        if edges and self.edges is None:
            raise OptionError("the edges were not counted: ask for edges=True")
        counts = (self.edges if edges and self.edges is not None else self.vertices).sum(axis=1)
        ranked = np.argsort(-counts, kind="stable")[:n]
        ranked = ranked[counts[ranked] > 0]
        if not edges:
            return [(self.names[v], int(counts[v])) for v in ranked.tolist()]
        ends = self.edge_list[ranked].tolist()
        return [
            ((self.names[u], self.names[v]), int(counts[e])) for e, (u, v) in zip(ranked.tolist(), ends, strict=True)
        ]


class Counter:
    """Adds up the cycles through each vertex, and with `edges` through each edge."""

    def __init__(self, graph: Graph, *, edges: bool) -> None:
        self._n = graph.n
        self._names = graph.names
        pairs = graph.pairs()
        self._edge_list = graph.pairs_in_direction()
        self._keys = pairs @ np.array([graph.n, 1]) if edges else None
        # For each length that was met, the vertices, then the edges.
        self._counts: dict[int, IntArray] = {}

    def add_cycles(self, found: Cycles) -> None:
        """Count cycles that are on the host, in cycle order."""
        lengths = found.lengths
        if not len(found):
            return
        following = np.arange(1, len(found.vertices) + 1)
        following[found.offsets[1:] - 1] = found.offsets[:-1]
        vertices = found.vertices.astype(np.int64)  # a product of two vertices may need more than 32 bits
        passed = [vertices]
        if self._keys is not None:
            passed.append(self._n + self._edges_of(vertices, vertices[following]))
        length_of_entry = np.repeat(lengths, lengths)
        # The way back of a cycle of two vertices is between the same two; a self-loop joins no two vertices.
        way_back = length_of_entry < 3
        way_back[found.offsets[:-1][lengths == 2]] = False
        for length in np.unique(lengths).tolist():
            counts = self._counts_of(length)
            for targets, skipped in zip(passed, (False, way_back), strict=False):
                np.add.at(counts, targets[(length_of_entry == length) & ~np.asarray(skipped)], 1)

    def add_found(self, blocks: ResidentBlocks, stored: StoredCycles) -> None:
        """Count cycles that are on the device, found in these blocks."""
        if blocks.participants is None:
            blocks.participants = self._participants_of(blocks.group)
        at_once = min(CYCLES_AT_ONCE, blocks.device.items_at_once)
        for piece in stored.pieces(at_once):
            self._add_some(blocks, piece)

    def result(self, lengths: Lengths, *, complete: bool) -> Participation:
        """Return the counts of the cycles of some lengths; `complete`: the search is finished."""
        counted = {length: counts for length, counts in self._counts.items() if length in lengths}
        longest = max(counted, default=0)
        whole = np.zeros((self._n + (0 if self._keys is None else len(self._keys)), longest + 1), np.int64)
        for length, counts in counted.items():
            whole[:, length] = counts
        edges = None if self._keys is None else whole[self._n :]
        return Participation(whole[: self._n], edges, self._edge_list, self._names, complete)

    def _counts_of(self, length: int) -> IntArray:
        if length not in self._counts:
            size = self._n + (0 if self._keys is None else len(self._keys))
            self._counts[length] = np.zeros(size, np.int64)
        return self._counts[length]

    def _edges_of(self, u: IntArray, v: IntArray) -> IntArray:
        assert self._keys is not None
        return np.searchsorted(self._keys, np.minimum(u, v) * self._n + np.maximum(u, v))

    def _participants_of(self, group: BlockGroup) -> _Participants:
        starts, block_of_row = np.unique(group.first_row, return_inverse=True)
        row = np.arange(group.rows)
        one, other = row, row
        vertex = group.vertex_of_row.astype(np.int64)
        target = vertex
        if self._keys is not None:
            forward = group.row_of_entry < (group.neighbour if group.roles == 1 else group.rows)
            u, v = group.row_of_entry[forward], group.neighbour[forward]
            one, other = np.concatenate((row, u)), np.concatenate((row, v))
            target = np.concatenate((vertex, self._n + self._edges_of(vertex[u], vertex[v])))
        block = block_of_row[one]
        order = np.argsort(block, kind="stable")
        first = starts[block[order]]
        return _Participants(
            starts=starts,
            pointer=np.concatenate(([0], np.cumsum(np.bincount(block, minlength=len(starts))))),
            label=(one[order] - first).astype(np.int32),
            other=(other[order] - first).astype(np.int32),
            target=target[order],
        )

    def _add_some(self, blocks: ResidentBlocks, stored: StoredCycles) -> None:
        from kernels_ti.found.participation_kernels import turn

        bits, words = blocks.group.word_bits, blocks.group.words
        most_bundles = max(1, TURNED_BYTES // (words * bits * bits // 8))
        lengths, first_rows = (blocks.device.download(each)[: stored.count] for each in blocks.measured(stored))
        most = min(most_bundles, BUNDLES_OF_ITEM)
        bundles = _bundled(lengths, first_rows, stored.first, bits, blocks.participants, most)
        slots = blocks.filled("slots", bundles.slots)
        first = 0
        while first < len(bundles.pieces):
            last = bundles.last_fitting(first, most_bundles)
            pieces = bundles.pieces[first:last]
            first = last
            begin, end = int(pieces[0, 0]), int(pieces[-1, 1])
            # Not a power of two, so that the words of a bundle do not map to the same cache set.
            stride = (end - begin) | 1
            turned = blocks.scratch("turned", words * bits * stride, np.dtype(f"uint{bits}"))
            strides = (stored.cycle_stride, stored.word_stride)
            turn(bits, words, stored.buffer, *strides, slots, begin, end - begin, stride, turned)
            self._tally(blocks, turned, stride, pieces, begin)

    def _tally(self, blocks: ResidentBlocks, turned: Any, stride: int, pieces: IntArray, first_bundle: int) -> None:
        from kernels_ti.found.participation_kernels import tally

        participants, at_once = blocks.participants, blocks.device.items_at_once
        before = participants.pointer[pieces[:, 2]]
        sizes = participants.pointer[pieces[:, 2] + 1] - before
        piece = np.repeat(np.arange(len(pieces)), sizes)
        which = spans(before, sizes)
        for start in range(0, len(piece), at_once):
            some, of_piece = which[start : start + at_once], pieces[piece[start : start + at_once]]
            counts = blocks.scratch("counts", len(some), np.int32)
            tally(
                blocks.group.word_bits, turned, stride, len(some),
                blocks.filled("begins", (of_piece[:, 0] - first_bundle).astype(np.int32)),
                blocks.filled("ends", (of_piece[:, 1] - first_bundle).astype(np.int32)),
                blocks.filled("labels", participants.label[some]),
                blocks.filled("others", participants.other[some]),
                counts,
            )  # fmt: skip
            counted = blocks.device.download(counts)[: len(some)]
            self._add_counts(counted, participants.target[some], of_piece[:, 3])

    def _add_counts(self, counts: npt.NDArray[np.int32], targets: IntArray, lengths: IntArray) -> None:
        """Add counts of vertices and edges; their lengths ascend."""
        cuts = np.flatnonzero(np.diff(lengths, prepend=-1)).tolist()
        for begin, end in zip(cuts, [*cuts[1:], len(lengths)], strict=True):
            np.add.at(self._counts_of(int(lengths[begin])), targets[begin:end], counts[begin:end].astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Participants:
    """The vertices and edges of a group, block by block: those of block b from ``pointer[b]`` on.

    `starts` has the first row of each block. `label` and `other` are the labels of the two ends of an edge; they are
    equal for a vertex. `target` is the index of its counts.
    """

    starts: npt.NDArray[np.int32]
    pointer: IntArray
    label: npt.NDArray[np.int32]
    other: npt.NDArray[np.int32]
    target: IntArray


@dataclass(frozen=True, eq=False)
class _Bundles:
    """Cycles sorted into bundles, and the bundles into pieces of one block and one length, the shortest first.

    `slots` has the cycles of the bundles, -1 for an empty place. A row of `pieces`, shape (k, 4), is the first bundle,
    one past the last bundle, the number of the block and the length. `items` is the number of work items before each
    piece.
    """

    slots: npt.NDArray[np.int32]
    pieces: IntArray
    items: IntArray

    def last_fitting(self, first: int, bundles: int) -> int:
        """Return one past the last piece that fits in a launch whose first piece is `first`."""
        ends = self.pieces[:, 1]
        by_bundles = int(np.searchsorted(ends, self.pieces[first, 0] + bundles, side="right"))
        by_items = int(np.searchsorted(self.items, self.items[first] + ITEMS_AT_ONCE, side="right")) - 1
        return max(min(by_bundles, by_items), first + 1)


def _bundled(
    lengths: npt.NDArray[np.int32],
    first_rows: npt.NDArray[np.int32],
    first_cycle: int,
    bits: int,
    participants: _Participants,
    most: int,
) -> _Bundles:
    """Sort cycles into bundles of `bits` cycles, and the bundles into pieces of at most `most` bundles."""
    if len(participants.starts) == 1:
        # numpy sorts 16-bit numbers with a radix sort.
        order = np.argsort(lengths.astype(np.uint16) if lengths.max() < 1 << 16 else lengths, kind="stable")
    else:
        order = np.lexsort((first_rows, lengths))
    lengths, first_rows = lengths[order], first_rows[order]
    changes = (np.diff(lengths, prepend=-1) != 0) | (np.diff(first_rows, prepend=-1) != 0)
    start = np.flatnonzero(changes)
    size = np.diff(np.append(start, len(order)))
    bundles = -(-size // bits)
    first_bundle = np.cumsum(bundles) - bundles
    slots = np.full(int(bundles.sum()) * bits, -1, np.int32)
    slots[spans(first_bundle * bits, size)] = order + first_cycle
    pieces = -(-bundles // most)
    kind = np.repeat(np.arange(len(start)), pieces)
    begin = spans(np.zeros_like(pieces), pieces) * most
    end = np.minimum(begin + most, bundles[kind])
    block = np.searchsorted(participants.starts, first_rows[start])[kind]
    table = np.column_stack((first_bundle[kind] + begin, first_bundle[kind] + end, block, lengths[start][kind]))
    items = participants.pointer[block + 1] - participants.pointer[block]
    return _Bundles(slots, table.astype(np.int64), np.concatenate(([0], np.cumsum(items))))
