"""The direction of cycles: vertices in the order of the arcs, for cycles of directed graphs and multigraphs."""

from __future__ import annotations

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph, IntArray
from kernels_ti.short_cycles import self_loops, two_cycles
from kernels_ti.state import STATE_WORD_BITS, Rows


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
    assert graph.ways is not None or graph.loops is not None
    ways = np.full(len(entries), 3, np.uint8) if graph.ways is None else graph.ways
    passed = ways[np.searchsorted(entries, cycles.vertices.astype(np.int64) * graph.n + following)]
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
