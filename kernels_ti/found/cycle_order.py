"""The cycle order of many bit rows that a search has found: in a kernel where a device is open, else in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.device.device import Device, held_open_device
from kernels_ti.device.machine import cores
from kernels_ti.device.pinned import PINNED_BYTES
from kernels_ti.found.order import CycleWalker, adjacency_rows
from kernels_ti.found.stored import TRACED_AT_ONCE, Scratch, require_cycles
from kernels_ti.graph import Graph, IntArray
from kernels_ti.state import STATE_WORD_BITS, Rows

WORDS_OF_TABLE = 8
"""Words of the longest rows from which a table of cycles is made. Longer rows take more memory than short cycles of a
large graph, and no registers hold them."""

LEAST_FOR_KERNEL = 1 << 14  # Fewer cycles are put in order in numpy, before a kernel would be loaded
PIECES_AT_ONCE = 16  # Launches between two times that other threads may use the device

TOGETHER = {"cpu": 1, "vulkan": 1, "cuda": 32}
"""Cycles of which a kernel gets the place of the first one: CUDA adds up the others faster than they are copied."""


def fits_in_rows(graph: Graph) -> bool:
    """Whether bit rows over the graph are short enough for a table of cycles."""
    return graph.n <= WORDS_OF_TABLE * STATE_WORD_BITS


class CycleOrder:
    """Writes the vertices of bit rows in cycle order.

    A chordless cycle has the same vertices as its bit row, and each has two neighbours among them. So the order follows
    from the row and the graph, in a directed graph with the direction of the arcs, see `kernels_ti.found.order`.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __call__(self, rows: Rows, offsets: IntArray, vertices: npt.NDArray[np.int32]) -> None:
        """Write the cycles of bit rows, shape (k, ceil(n / 64)), to `vertices`.

        Cycle i goes to ``vertices[offsets[i] - offsets[0]:offsets[i + 1] - offsets[0]]``. Every row is checked: an
        EngineError, or in numpy a GraphError, if one is not a chordless cycle of the graph.
        """
        rows, offsets = np.ascontiguousarray(rows), np.ascontiguousarray(offsets)
        if len(rows) >= LEAST_FOR_KERNEL and self._graph.is_simple and fits_in_rows(self._graph):
            with held_open_device() as device:
                if device is not None and rows.shape[1] * STATE_WORD_BITS <= WORDS_OF_TABLE * device.word_bits:
                    _order_on_device(device, self._graph, rows, offsets, vertices)
                    return
        self._order_in_numpy(rows, offsets, vertices)

    @cached_property
    def _walker(self) -> CycleWalker:
        return CycleWalker(self._graph)

    def _order_in_numpy(self, rows: Rows, offsets: IntArray, vertices: npt.NDArray[np.int32]) -> None:
        walker = self._walker

        def fill(start: int) -> None:
            stop = min(start + walker.at_once, len(rows))
            ordered = walker.order(rows[start:stop]).vertices
            vertices[offsets[start] - offsets[0] : offsets[stop] - offsets[0]] = ordered

        starts = range(0, len(rows), walker.at_once)
        if len(starts) == 1:
            fill(0)
            return
        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(fill, starts))


def _order_on_device(
    device: Device, graph: Graph, rows: Rows, offsets: IntArray, vertices: npt.NDArray[np.int32]
) -> None:
    """Do the work of `CycleOrder` for a simple graph, in pieces, on a device that is held."""
    tracer = device.call(_Tracer, device, graph)
    at_once = min(max(1, tracer.most_vertices // graph.n), device.items_at_once)
    starts = range(0, len(rows), at_once)
    for first in range(0, len(starts), PIECES_AT_ONCE):
        some = starts[first : first + PIECES_AT_ONCE]
        device.call(tracer.write, rows, offsets, vertices, (slice(at, min(at + at_once, len(rows))) for at in some))
    device.call(require_cycles, device, tracer.wrong)


class _Tracer(Scratch):
    """The kernel that puts rows in order, with what it needs. All calls are the owner's of the device."""

    def __init__(self, device: Device, graph: Graph) -> None:
        from kernels_ti.bits import vector_of  # it loads Taichi

        super().__init__(device)
        word = np.dtype(f"uint{device.word_bits}")
        words = -(-graph.n // STATE_WORD_BITS) * STATE_WORD_BITS // device.word_bits
        adjacency = np.ascontiguousarray(adjacency_rows(graph, -(-graph.n // STATE_WORD_BITS)).T[: graph.n]).view(word)
        self._row = vector_of(words, device.word_bits)
        self._word, self._words = word, words
        self._adjacency = device.buffer(adjacency.reshape(-1))
        self.wrong = device.buffer(np.zeros(1, np.int32))
        # A copy from a GPU takes as long as its bytes: few vertices are sent as one byte each.
        self._sent = np.dtype(np.uint8 if device.arch == "cuda" and graph.n <= 1 << 8 else np.int32)
        self.most_vertices = TRACED_AT_ONCE[device.arch] * np.dtype(np.int32).itemsize // self._sent.itemsize
        self._together = TOGETHER[device.arch]

    def write(self, rows: Rows, offsets: IntArray, vertices: npt.NDArray[np.int32], pieces: Iterator[slice]) -> None:
        from kernels_ti.found.vertex_rows import trace_rows

        device = self.device
        how = self._row, self._sent == np.uint8, self._together
        with device.copying(PINNED_BYTES) as copy:
            for piece in pieces:
                count = piece.stop - piece.start
                part = vertices[offsets[piece.start] - offsets[0] : offsets[piece.stop] - offsets[0]]
                members = rows[piece].reshape(-1).view(self._word)
                places = np.ascontiguousarray(offsets[piece][:: self._together])
                if device.arch == "cpu":
                    trace_rows(*how, count, members, self._adjacency, places, part, self.wrong)
                    continue
                traced = self.scratch("vertices", len(part), self._sent)
                rows_there = self.filled("rows", members)
                places_there = self.filled("places", (places - places[0]).astype(np.int32))
                trace_rows(*how, count, rows_there, self._adjacency, places_there, traced, self.wrong)
                copy(traced, part)
