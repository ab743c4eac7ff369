"""From bit rows to vertices in cycle order on the host, for many cycles at once.

It does the work of `kernels_ti.found.trace` for cycles that are read back from a file. Cycles of directed graphs and
multigraphs get the direction of their arcs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.blocks.passable import ways_of
from kernels_ti.cycles import Cycles
from kernels_ti.device.machine import cores
from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph, IntArray
from kernels_ti.short_cycles import self_loops, two_cycles
from kernels_ti.state import STATE_WORD_BITS, Rows, populations, singles

# Cycles that are traversed together, and the words of their bit rows: a step stays in the second-level cache.
_CYCLES_AT_ONCE = 1 << 13
_WORDS_AT_ONCE = 1 << 19
_NEIGHBOURS_AT_ONCE = 1 << 22
_LARGEST_TABLE_BYTES = 1 << 28
_FEW_WORDS = 8  # Words up to which it takes less time to write all words of a row than to find the word of a vertex
_ONE = np.uint64(1)


class CycleWalker:
    """Puts the vertices of chordless cycles of one graph in order, `at_once` of them to bound the memory."""

    def __init__(self, graph: Graph) -> None:
        self._whole, graph = graph, graph.underlying()
        self._graph = graph
        self._words = -(-graph.n // STATE_WORD_BITS)
        self.at_once = max(min(_WORDS_AT_ONCE // max(self._words, 1), _CYCLES_AT_ONCE), 1)
        # A step reads every word of a bit row, or every neighbour of a vertex. A neighbour takes twice as long.
        neighbours = 2 * graph.m / max(graph.n, 1)
        self._adjacency: Rows | None = None
        self._singles: Rows | None = None
        if self._words <= 2 * neighbours and 8 * self._words * graph.n <= _LARGEST_TABLE_BYTES:
            self._adjacency = adjacency_rows(graph, self._words)
            if self._words <= _FEW_WORDS:
                # Vertex v has column v.
                self._singles = np.ascontiguousarray(singles(np.arange(STATE_WORD_BITS * self._words), self._words).T)
        else:
            self.at_once = max(min(self.at_once, _NEIGHBOURS_AT_ONCE // max(graph.max_degree, 1)), 1)

    def order(self, rows: Rows) -> Cycles:
        """Put the vertices of bit rows, shape (k, ceil(n / 64)), in cycle order.

        Every row is checked: a GraphError if one is not a chordless cycle of the graph.
        """
        if rows.shape[1] != self._words:
            raise GraphError(
                f"rows of {rows.shape[1]} words hold cycles of another graph; "
                f"those of this one, with {self._graph.n:,} vertices, have {self._words}"
            )
        if not self._whole.is_simple:
            lengths = populations(rows)
            found = self._order_of_adjacency(rows[lengths >= 3])
            return in_direction(self._whole, rows, lengths, found)
        return self._order_of_adjacency(rows)

    def _order_of_adjacency(self, rows: Rows) -> Cycles:
        """Do what `order` does for a simple graph."""
        pieces = [slice(start, start + self.at_once) for start in range(0, len(rows), self.at_once)]
        lengths = np.empty(len(rows), np.int64)
        for piece in pieces:
            lengths[piece] = populations(rows[piece])
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        vertices = np.empty(offsets[-1], np.int32)

        def wrong_in(piece: slice) -> npt.NDArray[np.bool_]:
            wrong = lengths[piece] < 3
            return wrong if wrong.any() else self._walk(rows[piece], lengths[piece], offsets[:-1][piece], vertices)

        # Numpy's loops let other threads run.
        with ThreadPoolExecutor(cores()) if len(pieces) > 1 else nullcontext() as threads:
            for piece, wrong in zip(pieces, (threads.map if threads else map)(wrong_in, pieces), strict=True):
                if wrong.any():
                    at = piece.start + int(np.argmax(wrong))
                    raise _wrong(at)
        return Cycles(offsets, vertices)

    def _walk(
        self, rows: Rows, lengths: IntArray, offsets: IntArray, vertices: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.bool_]:
        """Traverse some cycles, one vertex of each at a time; return which rows are not chordless cycles.

        The first vertex of a chordless cycle has two neighbours in the row, and every later one has one that is not
        visited yet. The traversal ends at the second neighbour of the first vertex.
        """
        # The longest cycles come first, so that the unfinished ones are a slice.
        longest_first = np.argsort(-lengths, kind="stable")
        place = offsets[longest_first]
        going_on = np.searchsorted(-lengths[longest_first], -np.arange(int(lengths.max())))
        # Word w of cycle i is waiting[w, i]: its vertices that are not visited yet.
        waiting = np.ascontiguousarray(rows[longest_first].T)
        index = np.arange(len(rows))

        def visit(here: IntArray, step: int) -> None:
            vertices[place[: len(here)] + step] = here
            if self._singles is None:
                waiting[here >> 6, index[: len(here)]] ^= _ONE << (here & 63).astype(np.uint64)
                return
            for w in range(self._words):
                waiting[w, : len(here)] ^= self._singles[w].take(here)

        start = _lowest(waiting)
        visit(start, 0)
        here, _ = self._onward(start, waiting)
        # If there is no next vertex, an arbitrary one is returned. Visiting it would set its bit.
        begun = (waiting[here >> 6, index] >> (here & 63).astype(np.uint64)) & _ONE != 0
        visit(here, 1)
        end, right = self._onward(start, waiting)
        right &= begun
        for step in range(2, len(going_on)):
            here, one_way = self._onward(here[: going_on[step]], waiting)
            right[: len(here)] &= one_way
            visit(here, step)
        right &= vertices[place + lengths[longest_first] - 1] == end
        wrong = np.empty(len(rows), bool)
        wrong[longest_first] = ~right
        return wrong

    def _onward(self, here: IntArray, waiting: Rows) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the smallest waiting neighbour of each vertex, and whether it is the only one."""
        if self._adjacency is None:
            return _onward_by_neighbours(self._graph, here, waiting)
        following = np.zeros(len(here), np.int64)
        found = np.zeros(len(here), np.uint64)
        one_way = np.ones(len(here), bool)
        for w in reversed(range(self._words)):
            ways = np.take(self._adjacency[w], here) & waiting[w, : len(here)]
            some = ways != 0
            if w + 1 < self._words:
                one_way &= ~(some & (found != 0))
            np.copyto(found, ways, where=some)
            np.copyto(following, w * STATE_WORD_BITS, where=some)
        lowest = found & -found
        one_way &= (found == lowest) & (found != 0)
        return following + _bit_index(lowest), one_way


def _onward_by_neighbours(graph: Graph, here: IntArray, waiting: Rows) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    degrees = graph.degrees[here]
    of_cycle = np.repeat(np.arange(len(here)), degrees)
    neighbour = graph.col_idx[spans(graph.row_ptr[here], degrees)]
    waits = (waiting[neighbour >> 6, of_cycle] >> (neighbour & 63).astype(np.uint64)) & _ONE != 0
    of_cycle, neighbour = of_cycle[waits], neighbour[waits]
    # Neighbours ascend, so the first one is the smallest. Without one, the traversal stays at its vertex.
    first = np.ones(len(of_cycle), bool)
    first[1:] = of_cycle[1:] != of_cycle[:-1]
    following = here.copy()
    following[of_cycle[first]] = neighbour[first]
    return following, np.bincount(of_cycle, minlength=len(here)) == 1


def _lowest(words: Rows) -> IntArray:
    """Return the lowest set bit of each row; word w of row i is words[w, i]."""
    first: IntArray = (words != 0).argmax(axis=0)
    word = words[first, np.arange(words.shape[1])]
    return first * STATE_WORD_BITS + _bit_index(word & -word)


def _bit_index(powers: Rows) -> IntArray:
    """Return the exponents of powers of two; an arbitrary number from 0 to 63 for a 0."""
    # The exponent of a float64 is in its upper bits, with a bias of 1023.
    return ((powers.astype(np.float64).view(np.int64) >> 52) - 1023) & 63


def adjacency_rows(graph: Graph, words: int) -> Rows:
    """Return the adjacency matrix as bits, shape (words, 64 words): vertex v has column v."""
    rows = np.zeros((words, words * STATE_WORD_BITS), np.uint64)
    np.bitwise_or.at(rows, (graph.col_idx >> 6, graph.row_of_entry), _ONE << (graph.col_idx & 63).astype(np.uint64))
    return rows


def in_direction(graph: Graph, rows: Rows, lengths: IntArray, long: Cycles) -> Cycles:
    """Return the cycles of bit rows, in their order, each in the direction of its arcs.

    The graph is not simple; `lengths` are the vertices in each row. `long` are the rows of three or more vertices in
    order, as chordless cycles of `graph.underlying()`. A GraphError says that a row is no chordless cycle of the graph.
    """
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    vertices = np.empty(offsets[-1], np.int64)
    is_long = lengths >= 3
    vertices[np.repeat(is_long, lengths)] = _turned(graph, long, np.flatnonzero(is_long))
    bits = np.unpackbits(np.ascontiguousarray(rows[~is_long]).view(np.uint8), axis=1, bitorder="little")
    _, short = np.nonzero(bits[:, : STATE_WORD_BITS * rows.shape[1]])
    vertices[~np.repeat(is_long, lengths)] = short
    known = {(v,) for v in self_loops(graph).tolist()} | {(u, v) for u, v in two_cycles(graph).tolist()}
    for at in np.flatnonzero(~is_long).tolist():
        if tuple(vertices[offsets[at] : offsets[at + 1]].tolist()) not in known:
            raise _wrong(at)
    return Cycles(offsets, vertices)


def _turned(graph: Graph, cycles: Cycles, places: IntArray) -> IntArray:
    """Return the vertices of all cycles, those reversed that the arcs pass the other way round."""
    if not len(cycles):
        return cycles.vertices
    starts, lengths = cycles.offsets[:-1], cycles.lengths
    place_in_cycle = np.arange(len(cycles.vertices)) - np.repeat(starts, lengths)
    here = np.repeat(starts, lengths)
    following = cycles.vertices[here + (place_in_cycle + 1) % np.repeat(lengths, lengths)]
    entries = graph.row_of_entry * graph.n + graph.col_idx
    passed = ways_of(graph)[np.searchsorted(entries, cycles.vertices.astype(np.int64) * graph.n + following)]
    if graph.loops is not None:
        passed[graph.loops[cycles.vertices] > 0] = 0
    way = np.bitwise_and.reduceat(passed, starts)
    if not way.all():
        raise _wrong(int(places[np.argmin(way > 0)]))
    back = np.repeat((way & 1) == 0, lengths)
    turned = np.where(back, -place_in_cycle % np.repeat(lengths, lengths), place_in_cycle)
    vertices: IntArray = cycles.vertices[here + turned]
    return vertices


def _wrong(at: int) -> GraphError:
    return GraphError(f"the row at {at:,} is not a chordless cycle of this graph")
