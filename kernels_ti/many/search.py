"""The host side of `kernels_ti.many.kernel`: it launches slices, and gives idle slots their next graphs."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from kernels_ti.bits import vector_of
from kernels_ti.device.device import UNLIMITED_ROUNDS, Device, require_running
from kernels_ti.graph import IntArray
from kernels_ti.many.graphs import ManyGraphs
from kernels_ti.many.kernel import (
    FRESH,
    GIVEN_UP,
    GRAPH,
    SLOT_CELLS,
    UNFINISHED,
    lay_rows,
    rounds_per_step,
    slot_words,
    sweep_many,
)

MOST_STEPS = {"cpu": 1 << 24, "vulkan": 1 << 20, "cuda": 1 << 20}
"""Steps after which a graph is given up, less than a second: what is left of it is work for all workers together.

A step counts no more cycles than a bit row has bits, so counters of 32 bits hold those of all steps.
"""

SLOW_MOST_STEPS = 1 << 14  # The same where loops are limited, so that a launch ends after some hundred steps
PATIENCE = 32  # Steps without a cycle after which the certificate is asked for

SLICE_SECONDS = 0.1

FIRST_BUDGET = {"cpu": 100_000, "vulkan": 1_000, "cuda": 1_000}
"""Steps of each slot in the first slice; later ones are fitted to the time that a slice should take."""

LARGEST_BUDGET = 1 << 26

SLOT_BYTES, SOFTWARE_SLOT_BYTES = 256 << 20, 16 << 20  # Memory that all slots may take; less where a CPU plays the GPU


class ManySearch:
    """The search of many small graphs, at least one and each with an edge, on a device, in slices.

    `words` to a bit row are enough for the largest graph, and no more than are unrolled. It does not run on the
    reference. An EngineError says that memory is short.
    """

    def __init__(self, graphs: ManyGraphs, device: Device, words: int, max_length: int | None) -> None:
        self._graphs, self._device = graphs, device
        device.call(self._set_up, words, max_length)

    def _set_up(self, words: int, max_length: int | None) -> None:
        graphs, device = self._graphs, self._device
        require_running(device)
        self._words = vector_of(words, device.word_bits)
        word = np.uint64 if device.word_bits == 64 else np.uint32
        longest = int(graphs.vertices.max())
        self._max_length = min(longest, max_length or longest)
        self._size = slot_words(words, self._max_length)
        room = (SOFTWARE_SLOT_BYTES if device.software else SLOT_BYTES) // (self._size * device.word_bits // 8)
        workers = min(room, len(graphs), device.items_at_once)
        self._slots = device.threads or 1 if device.arch == "cpu" else workers
        limited = device.loop_rounds < UNLIMITED_ROUNDS
        self._most_steps = SLOW_MOST_STEPS if limited else MOST_STEPS[device.arch]
        self._most_per_launch = device.loop_rounds // rounds_per_step(longest)
        self._budget = FIRST_BUDGET[device.arch]
        self._outcome = np.full(len(graphs), UNFINISHED, np.int32)
        self._taken = 0
        cells = np.full((SLOT_CELLS, self._slots), -1, np.int32)
        self._refill(cells)
        self._cells = device.buffer(cells.reshape(-1))
        self._stack = device.empty(self._slots * self._size, word)
        self._queue = device.buffer(np.zeros(1, np.int32))
        self._device_outcome = device.buffer(self._outcome)
        self._first_vertex = device.buffer(graphs.first_vertex.astype(np.int32))
        self._cycles = device.buffer(np.zeros(int(graphs.first_vertex[-1]) + len(graphs), np.uint32))
        self._rows = device.empty(int(graphs.first_vertex[-1]) * words, word)
        # Kept until the results are fetched: some drivers never free what is dropped while they still work with it.
        self._edges = device.buffer(graphs.first_edge.astype(np.int32)), device.buffer(graphs.edges.reshape(-1))
        lay_rows(self._words, len(graphs), self._first_vertex, *self._edges, self._rows)

    def _refill(self, cells: npt.NDArray[np.int32]) -> None:
        """Put graphs that have not begun into idle slots; on a CPU workers take graphs themselves."""
        if self._device.arch == "cpu":
            return
        idle = np.flatnonzero(cells[GRAPH] < 0)[: len(self._graphs) - self._taken]
        cells[GRAPH, idle] = np.arange(self._taken, self._taken + len(idle))
        cells[FRESH, idle] = 1
        self._taken += len(idle)

    @property
    def done(self) -> int:
        """Graphs that are finished or given up."""
        return int(np.count_nonzero(self._outcome != UNFINISHED))

    @property
    def counted(self) -> int:
        """Graphs that are finished."""
        return self.done - int(np.count_nonzero(self.given_up))

    @property
    def finished(self) -> bool:
        """Whether every graph is done."""
        return self.done == len(self._graphs)

    @property
    def given_up(self) -> npt.NDArray[np.bool_]:
        """Which graphs took too many steps, shape (graphs,)."""
        given_up: npt.NDArray[np.bool_] = self._outcome == GIVEN_UP
        return given_up

    def cycles_by_length(self) -> IntArray:
        """Cycles found, laid out as in `ManyCounts`; of graphs that are not finished only some."""
        return self._device.download(self._cycles).astype(np.int64)

    def cycles_of_counted(self, wanted: npt.NDArray[np.bool_]) -> int:
        """Sum the wanted ones of `cycles_by_length` over the graphs that are finished."""
        is_counted = (self._outcome != UNFINISHED) & ~self.given_up
        return int(self.cycles_by_length()[wanted & np.repeat(is_counted, self._graphs.vertices + 1)].sum())

    def advance(self) -> None:
        """Search for one slice."""
        self._device.call(self._advance)

    def _advance(self) -> None:
        require_running(self._device)
        started = time.perf_counter()
        for made in range(0, self._budget, self._most_per_launch):
            self._launch(min(self._budget - made, self._most_per_launch))
        self._outcome = self._device.download(self._device_outcome)
        spent = time.perf_counter() - started
        if self._device.arch != "cpu" and self._taken < len(self._graphs):
            cells = self._device.download(self._cells)
            self._refill(cells.reshape(SLOT_CELLS, self._slots))
            self._device.upload(cells, self._cells)
        factor = min(4.0, max(0.25, SLICE_SECONDS / max(spent, 1e-6)))
        self._budget = min(max(int(self._budget * factor), 1), LARGEST_BUDGET)

    def _launch(self, budget: int) -> None:
        sweep_many(
            words=self._words, on_cpu=self._device.arch == "cpu", rows=self._rows, first_vertex=self._first_vertex,
            graphs=len(self._graphs), queue=self._queue, slots=self._slots, cells=self._cells, stack=self._stack,
            size=self._size, budget=budget, patience=PATIENCE, most_steps=self._most_steps,
            max_length=self._max_length, cycles_by_length=self._cycles, outcome=self._device_outcome,
        )  # fmt: skip
