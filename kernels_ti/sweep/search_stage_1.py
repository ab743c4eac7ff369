"""Stage 1 of the sweep: all triangles, and the number of initial triplets, before any path is expanded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.estimate.host_step import HostBlocks, labels_of, singles
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.found.to_host import cycles_of, rows_of
from kernels_ti.graph import IntArray
from kernels_ti.state import Rows, Totals, populations
from kernels_ti.sweep.stage_1 import store_triangles, survey

SEEDS_AT_ONCE = 1 << 18
"""Seeds of one launch."""

CYCLE_BYTES = 4 << 20

HOST_WORDS = 1 << 16
"""Up to this many words in the bit rows of a group's seeds, stage 1 is done in numpy. That takes a few milliseconds; to
load the compiled kernels takes a tenth of a second."""

_compiled: set[tuple[bool, bool]] = set()
"""The kinds of kernels that this process has compiled. After Taichi is closed they are compiled again, unannounced."""


class SurveySearch:
    """Stage 1 on the CPU, over all groups of blocks.

    Parameters
    ----------
    surveyed : list of int
        For each group the number of seeds that an earlier search has counted, from the first on.
    max_length : int
        Vertices of the longest cycle that is wanted; up to 3 there are no triplets to count.
    collect : bool
        Keep the triangles for `take_cycles` or `take_rows`.

    Attributes
    ----------
    compiling : bool
        Whether the next slice compiles kernels and does nothing else.
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
        self._host: HostBlocks | None = None
        self._for_kernels = [group for group in blocks if not _is_for_host(group)]
        self.compiling = any(self._kind(group) not in _compiled for group in self._for_kernels)

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
            group = self._for_kernels[0]
            self._survey(group, 0, 0)  # over nothing
            _compiled.add(self._kind(group))
            self.compiling = False
            return
        deadline = time.perf_counter() + seconds
        while not self.finished:
            blocks, done = self._blocks[self._group], self._surveyed[self._group]
            self._surveyed[self._group] += self._survey(blocks, done, min(SEEDS_AT_ONCE, blocks.seeds - done))
            self._skip_done()
            if time.perf_counter() >= deadline or self._stored >= CYCLE_BYTES:
                return

    def _kind(self, blocks: ResidentBlocks) -> tuple[bool, bool]:
        """Return the key that tells the kernels apart; all groups of a graph have the same."""
        return blocks.group.chords is not None, self._collect

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
        counts = self._count_on_host if _is_for_host(blocks) else _count_on_device
        triangles, triplets = counts(blocks, first, seeds)
        found = int(triangles.sum(dtype=np.int64))
        if self._collect:
            store = self._stored_on_host if _is_for_host(blocks) else _stored_on_device
            self._stored += found * each
            self._found.append((blocks, StoredCycles(store(blocks, first, triangles), words + 1, 1, 0, found)))
        triplets_found = int(triplets.sum(dtype=np.int64)) if self._max_length > 3 else 0
        self.totals.add({3: triplets_found}, {3: found})
        return seeds

    def _host_blocks(self, blocks: ResidentBlocks) -> HostBlocks:
        """Return the blocks of a group for the step on the host; those of the last group are kept."""
        if self._host is None or self._host.group is not blocks.group:
            self._host = HostBlocks(blocks.group)
        return self._host

    def _count_on_host(self, blocks: ResidentBlocks, first: int, seeds: int) -> tuple[IntArray, IntArray]:
        host, chosen = self._host_blocks(blocks), np.arange(first, first + seeds)
        return populations(host.triangles(chosen)), host.triplets(chosen)

    def _stored_on_host(self, blocks: ResidentBlocks, first: int, triangles: IntArray) -> Rows:
        host, group = self._host_blocks(blocks), blocks.group
        seeds, last = labels_of(host.triangles(np.arange(first, first + len(triangles))))
        u = group.seed_roots[first + seeds].astype(np.int64)
        x = group.neighbour[group.seed_entries[first + seeds]].astype(np.int64)
        start, start_of_x = (group.first_row_of_end[row].astype(np.int64) for row in (u, x))
        members = [singles(label, host.words) for label in (u - start, x - start_of_x, last)]
        return np.column_stack((np.bitwise_or.reduce(members), start.astype(np.uint64))).reshape(-1)


def _is_for_host(blocks: ResidentBlocks) -> bool:
    return blocks.seeds * blocks.group.words <= HOST_WORDS


def _arguments(blocks: ResidentBlocks, first: int) -> tuple[Any, ...]:
    """Return the arguments that both kernels have in common, in their order."""
    group = blocks.group
    rows = (group.words, group.chords is not None, blocks.rows, blocks.first_row, blocks.neighbour)
    return (*rows, blocks.seed_entry, blocks.seed_root, first)


def _count_on_device(blocks: ResidentBlocks, first: int, seeds: int) -> tuple[IntArray, IntArray]:
    """Count the triangles and the triplets of each of some seeds."""
    triangles, triplets = np.zeros(seeds, np.int32), np.zeros(seeds, np.int32)
    survey(*_arguments(blocks, first), triangles, triplets)
    return triangles.astype(np.int64), triplets.astype(np.int64)


def _stored_on_device(blocks: ResidentBlocks, first: int, triangles: IntArray) -> Rows:
    """Return the triangles of some seeds as cycles; `triangles` has the number of each."""
    ends = np.cumsum(triangles)
    cycles = np.empty(max(int(triangles.sum()), 1) * (blocks.group.words + 1), np.uint64)
    store_triangles(*_arguments(blocks, first), (ends - triangles).astype(np.int32), cycles)
    return cycles
