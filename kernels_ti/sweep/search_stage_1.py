"""Stage 1 of the sweep: all triangles, and the number of initial triplets, before any path is expanded."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.placing import CELLS_PER_LEVEL, CHILDREN, CYCLES
from kernels_ti.estimate.host_step import HostBlocks, labels_of
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.state import Totals, populations, singles
from kernels_ti.step.stage_1 import triplets_kernel

SEEDS_AT_ONCE = 1 << 18  # Seeds of one launch

CYCLE_BYTES = 4 << 20

HOST_WORDS = 1 << 16
"""Up to this many words in the bit rows of a group's seeds, stage 1 is done in numpy. That takes a few milliseconds; to
load the compiled kernels takes a tenth of a second."""

_compiled: set[Any] = set()
"""The kernels that this process has compiled. After Taichi is closed they are compiled again, unannounced."""


class SurveySearch:
    """Stage 1 on the CPU, over all groups of blocks, of which earlier searches have counted the first `surveyed` seeds.

    With a `max_length` of up to 3 there are no triplets to count. `collect` keeps the triangles for `take_found`.
    `compiling` says that the next slice compiles kernels and does nothing else.
    """

    def __init__(self, blocks: list[ResidentBlocks], surveyed: list[int], max_length: int, collect: bool) -> None:
        self.totals = Totals()
        self._blocks = blocks
        self._surveyed = list(surveyed)
        self._max_length = max_length
        self._collect = collect
        self._group = self._stored = 0
        self._skip_done()
        self._found: list[tuple[ResidentBlocks, StoredCycles]] = []
        self._host: HostBlocks | None = None  # Of the group that is counted in numpy: made once for all its slices
        self._for_kernel = [group for group in blocks if not _is_for_host(group)]
        # All groups of a graph have the same kernel.
        self._kernel = triplets_kernel(64, collect, any(group.group.chords is not None for group in blocks))
        self.compiling = bool(self._for_kernel) and self._kernel not in _compiled

    @property
    def finished(self) -> bool:
        """Whether the seeds of all groups have been counted."""
        return self._group >= len(self._blocks)

    @property
    def surveyed(self) -> list[int]:
        """For each group the number of seeds that have been counted, from the first on."""
        return list(self._surveyed)

    @property
    def remaining(self) -> float:
        """Always 0: the share of the search belongs to the triplets, which stage 2 expands."""
        return 0.0

    @property
    def waiting_by_length(self) -> dict[int, int]:
        """Nothing: stage 1 only counts the paths that stage 2 will make."""
        return {}

    @property
    def pairs_left(self) -> int:
        """None of its own: the run counts the pairs of all groups, whose stage 2 is still to come."""
        return 0

    @property
    def device_bytes(self) -> int:
        """Bytes of the blocks."""
        return sum(blocks.bytes for blocks in self._blocks)

    def advance(self, seconds: float) -> None:
        """Count the triangles and triplets of seeds for about `seconds`; compile alone where that is due."""
        if self.compiling:
            self._survey(self._for_kernel[0], 0, 0)  # over nothing
            _compiled.add(self._kernel)
            self.compiling = False
            return
        deadline = time.perf_counter() + seconds
        while not self.finished:
            blocks, done = self._blocks[self._group], self._surveyed[self._group]
            self._surveyed[self._group] += self._survey(blocks, done, min(SEEDS_AT_ONCE, blocks.seeds - done))
            self._skip_done()
            if time.perf_counter() >= deadline or self._stored >= CYCLE_BYTES:
                return

    def _skip_done(self) -> None:
        while not self.finished and self._surveyed[self._group] >= self._blocks[self._group].seeds:
            self._group += 1

    def take_found(self) -> list[tuple[ResidentBlocks, StoredCycles]]:
        """Tell where the triangles found since the last call are."""
        found, self._found, self._stored = self._found, [], 0
        return found

    def _survey(self, blocks: ResidentBlocks, first: int, seeds: int) -> int:
        """Look at some seeds, fewer if their triangles might not fit; return how many."""
        each = max(8 * (blocks.group.words + 1), blocks.bytes_out(3))
        capacity = max(CYCLE_BYTES // each, blocks.group.longest_block)
        if self._collect and seeds:
            pairs = blocks.pairs_before
            fitting = int(np.searchsorted(pairs, pairs[first] + capacity, side="right")) - 1 - first
            seeds = min(seeds, max(fitting, 1))
        survey = self._on_host if _is_for_host(blocks) else self._on_device
        triplets, triangles = survey(blocks, first, seeds)
        if self._collect:
            self._stored += triangles.count * each
            self._found.append((blocks, triangles))
        self.totals.add({3: triplets if self._max_length > 3 else 0}, {3: triangles.count})
        return seeds

    def _on_host(self, blocks: ResidentBlocks, first: int, seeds: int) -> tuple[int, StoredCycles]:
        """Count the triplets of some seeds in numpy; return their number and the triangles, stored with `collect`."""
        if self._host is None or self._host.group is not blocks.group:
            self._host = HostBlocks(blocks.group)
        host, group, chosen = self._host, blocks.group, np.arange(first, first + seeds)
        triangles, triplets = host.triangles(chosen), int(host.triplets(chosen).sum())
        count, cycles = int(populations(triangles).sum()), np.empty(0, np.uint64)
        if self._collect:
            of_seed, last = labels_of(triangles)
            u = group.seed_roots[first + of_seed].astype(np.int64)
            x = group.neighbour[group.seed_entries[first + of_seed]].astype(np.int64)
            start, start_of_x = (group.first_row_of_end[row].astype(np.int64) for row in (u, x))
            members = [singles(label, host.words) for label in (u - start, x - start_of_x, last)]
            cycles = np.column_stack((np.bitwise_or.reduce(members), start.astype(np.uint64))).reshape(-1)
        return triplets, StoredCycles(cycles, group.words + 1, 1, 0, count)

    def _on_device(self, blocks: ResidentBlocks, first: int, seeds: int) -> tuple[int, StoredCycles]:
        group, control, none = blocks.group, np.zeros(CELLS_PER_LEVEL, np.uint32), np.empty(1, np.uint64)
        pairs = int(blocks.pairs_before[first + seeds] - blocks.pairs_before[first])
        capacity = max(pairs, 1) if self._collect else LARGEST_BUFFER
        cycles = np.empty((group.words + 1) * capacity, np.uint64) if self._collect else none
        self._kernel(
            words=group.words, rows=blocks.rows, first_row=blocks.first_row, neighbour=blocks.neighbour,
            seed_entry=blocks.seed_entry, seed_root=blocks.seed_root, first_seed=first, last_seed=first + seeds,
            surveyed=first, max_length=self._max_length, control=control,
            allowed=none, ends=np.empty(1, np.int32), members=none, capacity=1, start=0, direction=1, room=0,
            cycles=cycles, cycle_capacity=capacity, cycle_start=0,
        )  # fmt: skip
        counters = control.view(np.uint64)
        return int(counters[CHILDREN // 2]), StoredCycles(cycles, 1, capacity, 0, int(counters[CYCLES // 2]))


def _is_for_host(blocks: ResidentBlocks) -> bool:
    return blocks.seeds * blocks.group.words <= HOST_WORDS
