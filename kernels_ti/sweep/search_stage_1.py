"""Stage 1 of the sweep: all triangles, and the number of initial triplets, before any path is expanded."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.found.to_host import cycles_of, rows_of
from kernels_ti.search import Totals
from kernels_ti.state import Rows
from kernels_ti.sweep.stage_1 import store_triangles, survey

SEEDS_AT_ONCE = 1 << 18
"""Seeds of one launch."""

CYCLE_BYTES = 4 << 20


class SurveySearch:
    """Stage 1 on the CPU, over all groups of blocks.

    Parameters
    ----------
    blocks : list of ResidentBlocks
    surveyed : list of int
        For each group the number of seeds that an earlier search has counted, from the first on.
    max_length : int
        Vertices of the longest cycle that is wanted; up to 3 there are no triplets to count.
    collect : bool
        Keep the triangles for `take_cycles` or `take_rows`.
    """

    def __init__(self, blocks: list[ResidentBlocks], surveyed: list[int], max_length: int, collect: bool) -> None:
        self.totals, self.compiling = Totals(), False  # its kernels are compiled below
        self._blocks = blocks
        self._surveyed = list(surveyed)
        self._max_length = max_length
        self._collect = collect
        self._group = self._stored = 0
        self._skip_done()
        self._found: list[tuple[ResidentBlocks, StoredCycles]] = []
        for group in blocks[:1]:
            self._survey(group, 0, 0)  # over nothing: it compiles

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
        """Count the triangles and triplets of seeds for about `seconds`."""
        deadline = time.perf_counter() + seconds
        while not self.finished:
            blocks, done = self._blocks[self._group], self._surveyed[self._group]
            self._surveyed[self._group] += self._survey(blocks, done, min(SEEDS_AT_ONCE, blocks.seeds - done))
            self._skip_done()
            if time.perf_counter() >= deadline or self._stored >= CYCLE_BYTES:
                return

    def _skip_done(self) -> None:
        """Continue with the next group that has seeds left."""
        while not self.finished and self._surveyed[self._group] >= self._blocks[self._group].seeds:
            self._group += 1

    def take_cycles(self) -> Cycles:
        """Return the triangles found since the last call."""
        return cycles_of(self.take_found())

    def take_rows(self) -> Rows:
        """Return them as bit rows over the graph's vertices, shape (k, words of a row), instead."""
        return rows_of(self.take_found(), self._blocks[0].row_words)

    def take_found(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Say where the triangles found since the last call are."""
        found, self._found, self._stored = self._found, [], 0
        yield from found

    def _survey(self, blocks: ResidentBlocks, first: int, seeds: int) -> int:
        """Look at some seeds, fewer if their triangles might not fit; return how many."""
        words = blocks.group.words
        each = max(8 * (words + 1), blocks.bytes_out(3))
        capacity = max(CYCLE_BYTES // each, blocks.group.longest_block)
        if self._collect and seeds:
            pairs = blocks.pairs_before
            fitting = int(np.searchsorted(pairs, pairs[first] + capacity, side="right")) - 1 - first
            seeds = min(seeds, max(fitting, 1))
        rows = (words, blocks.group.chords is not None, blocks.rows, blocks.first_row, blocks.neighbour)
        given = (*rows, blocks.seed_entry, blocks.seed_root, first)
        triangles, triplets = np.zeros(seeds, np.int32), np.zeros(seeds, np.int32)
        survey(*given, triangles, triplets)
        ends = np.cumsum(triangles, dtype=np.int64)
        found = int(triangles.sum(dtype=np.int64))
        if self._collect:
            cycles = np.empty(max(found, 1) * (words + 1), np.uint64)
            store_triangles(*given, (ends - triangles).astype(np.int32), cycles)
            self._stored += found * each
            self._found.append((blocks, StoredCycles(cycles, words + 1, 1, 0, found)))
        triplets_found = int(triplets.sum(dtype=np.int64)) if self._max_length > 3 else 0
        self.totals.add({3: triplets_found}, {3: found})
        return seeds
