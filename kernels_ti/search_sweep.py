"""The sweep's host side: slices of the workers' stacks, and frames from the busy to the idle."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from kernels_ti.bits import LARGEST_UNROLLED, vector_of
from kernels_ti.device import LARGEST_BUFFER
from kernels_ti.search import Cycles, ResidentBlocks, Totals
from kernels_ti.sweep import DRY_WORKERS, NEXT_SEED, frame_words, sweep
from kernels_ti.sweep_wide import sweep_wide

FIRST_BUDGET, WIDE_FIRST_BUDGET = 20_000, 500
"""Steps of each worker in the first slice; later ones are fitted to the time asked for."""

PATIENCE = 32
"""Paths without a cycle after which the certificate is asked for."""

CYCLE_BYTES_PER_WORKER = 1 << 19
"""So few that a slice which lists is soon over."""

SHORT_SLICE = 0.005
"""Seconds under which a slice that ended because a worker ran dry was not worth its launch."""


class SweepSearch:
    """Stage 2 depth first on the CPU, every worker with a private stack.

    Parameters
    ----------
    blocks : ResidentBlocks
        On the CPU.
    max_length : int
        Vertices of the longest cycle that is wanted, at least 4.
    collect : bool
        Keep the cycles for `take_cycles`.
    """

    def __init__(self, blocks: ResidentBlocks, max_length: int, collect: bool) -> None:
        group, device = blocks.group, blocks.device
        self.blocks = blocks
        self.totals = Totals()
        self._collect = collect
        longest = group.longest_block
        self._max_length = min(max_length, longest)
        self._depth = self._max_length + 2  # each frame above another has a longer path
        self._most_closers = int(np.diff(group.row_ptr).max())
        self._wide = group.words > LARGEST_UNROLLED
        self._words = group.words if self._wide else vector_of(group.words, 64)
        self._frame = frame_words(group.words, collect)
        self._stack_words = self._depth * self._frame + (2 * group.words if self._wide else 0)
        workers = max(1, min(device.threads or 1, LARGEST_BUFFER // self._stack_words))
        cycle_words = group.words + 1
        self._cycles_per_worker = 1
        if collect:
            self._cycles_per_worker = max(CYCLE_BYTES_PER_WORKER // (8 * cycle_words), 2 * self._most_closers)
        self._queue = np.zeros(2, np.int32)
        self._depth_of = np.zeros(workers, np.int32)
        self._cycle_count = np.zeros(workers, np.int32)
        self._stack = device.empty(workers * self._stack_words, np.uint64)
        self._fifo = device.empty(workers * longest if self._wide else 1, np.int32)
        self._paths = np.zeros(workers * (self._max_length + 2), np.int64)
        self._cycles_found = np.zeros(workers * (self._max_length + 2), np.int64)
        self._cycles = device.empty(workers * self._cycles_per_worker * cycle_words if collect else 1, np.uint64)
        self._launch(0)  # over nothing: it compiles, so that the first slice is a search alone
        if collect:
            self.blocks.compile_trace(self._cycles)
        self._budget = WIDE_FIRST_BUDGET if self._wide else FIRST_BUDGET

    @property
    def finished(self) -> bool:
        """Whether all seeds are taken and all stacks are empty."""
        return self._next_seed >= self.blocks.seeds and not self._depth_of.any()

    @property
    def _next_seed(self) -> int:
        return int(self._queue[NEXT_SEED])

    @property
    def frontier(self) -> int:
        """Paths that wait on the stacks, and pairs that no worker has taken."""
        waiting = int(self.blocks.pairs_before[-1] - self.blocks.pairs_before[min(self._next_seed, self.blocks.seeds)])
        words = self.blocks.group.words
        for worker, depth in enumerate(self._depth_of.tolist()):
            extensions = np.ascontiguousarray(self._frames(worker)[:depth, 2 * words : 3 * words])
            waiting += int(np.unpackbits(extensions.view(np.uint8)).sum())
        return waiting

    @property
    def device_bytes(self) -> int:
        """Bytes of the blocks, stacks, counters and cycles."""
        own = (self._stack, self._fifo, self._paths, self._cycles_found, self._cycles)
        return self.blocks.bytes + sum(array.nbytes for array in own)

    def advance(self, seconds: float) -> None:
        """Search for about so many seconds, less if the cycles found should be taken."""
        deadline = time.perf_counter() + seconds
        while not self.finished:
            started = time.perf_counter()
            self._slice()
            self._fit_budget(seconds, time.perf_counter() - started)
            if time.perf_counter() >= deadline or self._cycle_count.any():
                return

    def _fit_budget(self, wanted: float, spent: float) -> None:
        """Fit the steps of a slice to the time that it took, if that says anything."""
        full = self._cycle_count.max() > self._cycles_per_worker - self._most_closers
        dry = self._queue[DRY_WORKERS] > 0
        if dry and spent < SHORT_SLICE:
            self._budget *= 2  # sharing would cost more than searching
        elif not dry and not (self._collect and full):
            self._budget = int(self._budget * min(4.0, max(0.25, wanted / max(spent, 1e-6))))
        elif spent > wanted:
            self._budget //= 2
        self._budget = min(max(self._budget, 100), 1 << 30)

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call."""
        stride = self.blocks.group.words + 1
        pieces = [
            self.blocks.traced(self._cycles, stride, 1, worker * self._cycles_per_worker, count)
            for worker, count in enumerate(self._cycle_count.tolist())
            if count
        ]
        self._cycle_count[:] = 0
        return Cycles.joined(pieces)

    def _slice(self) -> None:
        """Let every worker make its steps, then share what is left among them."""
        self._queue[DRY_WORKERS] = 0
        self._launch(self._budget)
        self._queue[NEXT_SEED] = min(self._next_seed, self.blocks.seeds)
        self._harvest()
        if self._queue[DRY_WORKERS]:
            self._share()

    def _launch(self, budget: int) -> None:
        blocks = self.blocks
        seeds = (blocks.seed_entry, blocks.seed_root, blocks.seeds, self._queue, self._stack, self._stack_words)
        bounds = (budget, PATIENCE, self._max_length, self._most_closers)
        results = (self._paths, self._cycles_found, self._cycles, self._cycles_per_worker, self._cycle_count)
        mode = (self._words, self._collect, blocks.rows, blocks.first_row)
        if self._wide:
            own = (self._fifo, self._depth_of, *bounds, blocks.group.longest_block)
            sweep_wide(*mode, blocks.row_ptr, blocks.neighbour, *seeds, *own, *results)
        else:
            sweep(*mode, blocks.neighbour, *seeds, self._depth_of, *bounds, *results)

    def _harvest(self) -> None:
        """Move the workers' counters into the totals."""
        shape = (len(self._depth_of), -1)
        for counters, into in ((self._paths, self.totals.paths), (self._cycles_found, self.totals.cycles)):
            sums = counters.reshape(shape).sum(axis=0)
            for length in np.flatnonzero(sums).tolist():
                into[length] = into.get(length, 0) + int(sums[length])
            counters[:] = 0

    def _frames(self, worker: int) -> npt.NDArray[np.uint64]:
        """Return the stack of a worker as one row to a frame, its oldest first; a view."""
        start = worker * self._stack_words
        end = start + self._depth * self._frame
        frames: npt.NDArray[np.uint64] = self._stack[start:end].reshape(self._depth, self._frame)
        return frames

    def _share(self) -> None:
        """Give every idle worker each second frame of the fullest stack, large and small ones alike."""
        for taker in np.flatnonzero(self._depth_of == 0).tolist():
            giver = int(self._depth_of.argmax())
            depth = int(self._depth_of[giver])
            if depth < 2:
                return
            frames = self._frames(giver)[:depth].copy()
            given, kept = frames[0::2], frames[1::2]
            self._frames(taker)[: len(given)] = given
            self._frames(giver)[: len(kept)] = kept
            self._depth_of[taker], self._depth_of[giver] = len(given), len(kept)
