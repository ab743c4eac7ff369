"""The wave's host side: slices of the frontier out of a double-ended arena.

With room a slice is a whole level and the search is breadth first, as in the paper. Without room, slices
are taken from the deepest level, whose children are the fewest to keep: memory is bounded, and a slice whose
children do not fit is made smaller and tried again, nothing lost and nothing twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels_ti.bits import LARGEST_UNROLLED, vector_of
from kernels_ti.blocks import BlockGroup
from kernels_ti.device import LARGEST_BUFFER, Device
from kernels_ti.errors import DeviceError, EngineError
from kernels_ti.records import CELLS_PER_LEVEL, MOST_LEVELS, counters
from kernels_ti.search import Cycles, ResidentBlocks, Totals
from kernels_ti.wave import expand, triplets
from kernels_ti.wave_wide import SCRATCH_ROWS, expand_wide, triplets_wide

LEVELS_AT_ONCE = {"cpu": 1, "vulkan": 1, "cuda": 4}
"""Levels that one launch expands: several where a launch costs more than a small level."""

FIRST_SLICE = {"cpu": 1 << 14, "vulkan": 1 << 14, "cuda": 1 << 22}
"""Records of the first slice; later ones are fitted to the time asked for."""

ARENA_BYTES = {"cpu": 3 << 30, "vulkan": 256 << 20, "cuda": 8 << 30}
CYCLE_BYTES = {"cpu": 64 << 20, "vulkan": 32 << 20, "cuda": 512 << 20}
SCRATCH_BYTES = {"cpu": 16 << 20, "vulkan": 64 << 20, "cuda": 1 << 30}
SHARE_OF_MEMORY = 8
"""No more than this part of the device's memory goes into the arena."""


@dataclass
class _Segment:
    """Records of one length in the arena, above those of the same parity that came before."""

    length: int
    count: int


class WaveSearch:
    """Breadth first as far as memory goes; see the module.

    Parameters
    ----------
    device : Device
    group : BlockGroup
    max_length : int
        Vertices of the longest cycle that is wanted.
    collect : bool
        Keep the cycles for `take_cycles`.
    two_ended : bool
        False for the paper's own expansion: one end, no certificate.

    Raises
    ------
    EngineError
        If the device has not enough memory.
    """

    def __init__(self, device: Device, group: BlockGroup, max_length: int, collect: bool, two_ended: bool) -> None:
        self.totals = Totals()
        self._wide = group.words > LARGEST_UNROLLED
        self.blocks = ResidentBlocks(device, group)
        self._device = device
        self._collect = collect
        self._two_ended = int(two_ended)
        self._max_length = max_length
        self._words = group.words if self._wide else vector_of(group.words, group.word_bits)
        word_bytes = group.word_bits // 8
        record_bytes = group.words * word_bytes * (2 if collect else 1) + 8
        arena_bytes = min(ARENA_BYTES[device.arch], (device.memory or 1 << 62) // SHARE_OF_MEMORY)
        self._capacity = min(arena_bytes // record_bytes, LARGEST_BUFFER // max(group.words, 2))
        if self._capacity < 2:
            raise EngineError(
                f"{device.name} has no room for paths of {group.longest_block:,} vertices: use --arch cpu"
            )
        cycle_places = LARGEST_BUFFER // (group.words + 1)
        self._cycle_capacity = LARGEST_BUFFER  # nothing is stored, only counted
        if collect:
            self._cycle_capacity = min(CYCLE_BYTES[device.arch] // ((group.words + 1) * word_bytes), cycle_places)
        word = np.uint64 if group.word_bits == 64 else np.uint32
        self._allowed = device.empty(group.words * self._capacity, word)
        self._ends = device.empty(2 * self._capacity, np.int32)
        self._members = device.empty(group.words * self._capacity if collect else 1, word)
        self._cycles = device.empty((group.words + 1) * self._cycle_capacity if collect else 1, word)
        self._control = device.buffer(np.zeros(CELLS_PER_LEVEL * MOST_LEVELS, np.uint32))
        self._levels = 1 if self._wide else LEVELS_AT_ONCE[device.arch]
        self._slots, self._sets, self._fifo, self._scratch_bytes = device.items_at_once, None, None, 0
        if self._wide:
            self._make_scratch(word)
        self._arena_bytes = self._capacity * record_bytes
        if collect:
            self._arena_bytes += self._cycle_capacity * (group.words + 1) * word_bytes
        # Depth first, each level leaves the siblings of one path behind; so much is kept free for that.
        siblings = group.longest_block * int(np.diff(group.row_ptr).max(initial=0))
        self._reserve = min(siblings, self._capacity // 2)
        self._segments: list[_Segment] = []
        self._next_seed = 0
        self._cycle_count = 0
        self._slice_limit = FIRST_SLICE[device.arch]
        self._compile()

    def _compile(self) -> None:
        """Launch each kernel over nothing, so that the first slice is a search alone."""
        self._seed_slice(0)
        for levels in {1, self._levels}:
            self._expand_slice(_Segment(3, 0), 0, levels)
        if self._collect:
            self.blocks.compile_trace(self._cycles)

    def _make_scratch(self, word: Any) -> None:
        group, device = self.blocks.group, self._device
        slot_bytes = SCRATCH_ROWS * group.words * group.word_bits // 8 + 4 * group.longest_block
        slots = min(
            SCRATCH_BYTES[device.arch] // slot_bytes, LARGEST_BUFFER // max(5 * group.words, group.longest_block)
        )
        self._slots = min(max(slots, 1), device.items_at_once)
        self._sets = device.empty(SCRATCH_ROWS * group.words * self._slots, word)
        self._fifo = device.empty(group.longest_block * self._slots, np.int32)
        self._scratch_bytes = self._slots * slot_bytes

    @property
    def finished(self) -> bool:
        """Whether the arena is empty and stage 1 is over."""
        return not self._segments and self._next_seed >= self.blocks.seeds

    @property
    def frontier(self) -> int:
        """Records in the arena, and pairs that stage 1 has yet to look at."""
        pairs = self.blocks.pairs_before
        return sum(segment.count for segment in self._segments) + int(pairs[-1] - pairs[self._next_seed])

    @property
    def device_bytes(self) -> int:
        """Bytes of the blocks, the arena, the cycles and the scratch memory."""
        return self.blocks.bytes + self._arena_bytes + self._scratch_bytes

    def advance(self, seconds: float) -> None:
        """Search for about so many seconds, less if the cycles found should be taken."""
        deadline = time.perf_counter() + seconds
        while not self.finished:
            started = time.perf_counter()
            tried = self._launch()
            if tried is None:
                return
            spent = time.perf_counter() - started
            if tried >= self._slice_limit:
                self._slice_limit = int(tried * min(4.0, max(0.25, seconds / 2 / max(spent, 1e-6)))) + 1
            if time.perf_counter() >= deadline:
                return

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call."""
        count, self._cycle_count = self._cycle_count, 0
        return self.blocks.traced(self._cycles, 1, self._cycle_capacity, 0, count)

    def _used(self, side: int) -> int:
        return sum(segment.count for segment in self._segments if segment.length % 2 == side)

    def _free(self, parents: int) -> int:
        """Places that a slice and its children may share; only a single path may touch the reserve."""
        others = sum(kept.count for kept in self._segments) - parents
        return max(self._capacity - others - (self._reserve if parents > 1 else 0), 0)

    def _place(self, side: int, used: int) -> int:
        """Place of the arena that follows `used` records on a side."""
        return self._capacity - 1 - used if side else used

    def _launch(self) -> int | None:
        """Expand one slice, or make one of initial triplets.

        Returns the records tried, or None when there is no room for cycles until those found are taken.
        """
        return self._expand() if self._segments else self._seed()

    def _seed(self) -> int | None:
        """Stage 1 for as many seeds as surely fit."""
        pairs = self.blocks.pairs_before
        room = self._cycle_capacity - self._cycle_count
        most = int(pairs[self._next_seed]) + min(self._capacity - self._reserve, room)
        last = int(np.searchsorted(pairs, most, side="right")) - 1
        last = min(last, self._next_seed + min(self._slots, self._slice_limit))
        if last <= self._next_seed:
            if self._collect and self._cycle_count:
                return None
            raise EngineError(
                f"{self._device.name}: the arena has {self._capacity:,} places, "
                f"a single vertex needs {int(pairs[self._next_seed + 1] - pairs[self._next_seed]):,}"
            )
        tried, first = last - self._next_seed, self._next_seed
        children, closed = self._seed_slice(tried)
        self._next_seed = first + tried
        self._commit(children, closed, 3)
        if children:
            self._segments.append(_Segment(3, children))
        return tried

    def _seed_slice(self, seeds: int) -> tuple[int, int]:
        """Launch stage 1 over the next seeds; return the triplets placed and the triangles found."""
        blocks = self.blocks
        launch = (
            *(blocks.rows, blocks.first_row, blocks.neighbour, blocks.seed_entry, blocks.seed_root),
            *(self._next_seed, self._next_seed + seeds, self._max_length, self._control),
            *(self._allowed, self._ends, self._members, self._capacity),
            *(self._place(1, 0), -1, self._capacity),
            *(self._cycles, self._cycle_capacity, self._cycle_count),
        )
        warp = self._device.warp
        if self._wide:
            bits = blocks.group.word_bits
            triplets_wide(bits, self._words, self._collect, warp, *launch, self._sets, self._slots)
        else:
            triplets(self._words, self._collect, warp, *launch)
        return self._read_counters(1)[0]

    def _expand(self) -> int | None:
        """Stage 2 for the top of the shallowest level while there is plenty of room, else of the deepest."""
        total = sum(segment.count for segment in self._segments)
        adjacent = self._segments[-1].length - self._segments[0].length <= 1
        roomy = adjacent and total <= (self._capacity - self._reserve) // 2
        index = 0 if roomy else len(self._segments) - 1
        segment = self._segments[index]
        parents = max(1, min(segment.count, self._slice_limit, self._slots, self._free(2)))
        while True:
            levels = self._levels if index == len(self._segments) - 1 else 1
            counters = self._expand_slice(segment, parents, levels)
            done = self._commit_levels(segment, parents, counters)
            if done:
                return parents
            if self._collect and self._cycle_count:
                return None
            if parents == 1:
                raise EngineError(
                    f"{self._device.name} ran out of memory: {total:,} paths wait in an arena of "
                    f"{self._capacity:,} places and not one of them can be expanded"
                )
            self._slice_limit = parents = max(parents // 2, 1)

    def _expand_slice(self, segment: _Segment, parents: int, levels: int) -> list[tuple[int, int]]:
        blocks, side = self.blocks, segment.length % 2
        below = self._used(side) - parents
        launch = (
            *(parents, segment.length, self._max_length, self._control),
            *(self._allowed, self._ends, self._members, self._capacity),
            *(self._place(side, below), -1 if side else 1, self._place(1 - side, self._used(1 - side))),
            self._free(parents),
            *(self._cycles, self._cycle_capacity, self._cycle_count),
        )
        warp = self._device.warp
        if self._wide:
            rows = (blocks.rows, blocks.first_row, blocks.row_ptr, blocks.neighbour)
            bits = blocks.group.word_bits
            expand_wide(
                bits,
                self._words,
                self._collect,
                warp,
                self._two_ended,
                *rows,
                *launch,
                self._sets,
                self._slots,
                self._fifo,
            )
        else:
            expand(self._words, self._collect, warp, levels, self._two_ended, blocks.rows, blocks.first_row, *launch)
        return self._read_counters(levels)

    def _read_counters(self, levels: int) -> list[tuple[int, int]]:
        """Children placed and cycles found by each level of the last launch."""
        cells = counters(self._control).to_list()
        return [
            (cells[4 * j] + (cells[4 * j + 1] << 32), cells[4 * j + 2] + (cells[4 * j + 3] << 32))
            for j in range(levels)
        ]

    def _commit_levels(self, segment: _Segment, parents: int, counters: list[tuple[int, int]]) -> int:
        """Take over the levels of a launch that fitted, as the device judged them; return how many."""
        free = self._free(parents)
        room = self._cycle_capacity - self._cycle_count
        length, ready, done = segment.length, parents, 0
        for children, closed in counters:
            if ready == 0 or children > free - ready or closed > room:
                break
            self._commit(children, closed, length + 1)
            length, ready, done, room = length + 1, children, done + 1, room - closed
        if done:
            segment.count -= parents
            self._segments = [kept for kept in self._segments if kept.count]
            if ready:
                top = self._segments[-1] if self._segments else None
                if top is not None and top.length == length:
                    top.count += ready
                else:
                    self._segments.append(_Segment(length, ready))
        return done

    def _commit(self, children: int, closed: int, length: int) -> None:
        self.totals.add({length: children}, {length: closed})
        if self._collect:
            self._cycle_count += closed


def require_loops(device: Device, group: BlockGroup) -> None:
    """Refuse a group of blocks for which a work item might loop longer than the device can.

    Raises
    ------
    DeviceError
        The message says how many rounds it might need.
    """
    most = int(np.diff(group.row_ptr).max(initial=0))
    near = min(most, group.words)
    rounds = 8 * group.words + group.longest_block * (4 + near) + 2 * most * group.words
    if rounds > device.loop_rounds:
        raise DeviceError(
            f"{device.name} leaves a loop after {device.loop_rounds:,} rounds and this graph may need {rounds:,}: "
            "use --arch cpu"
        )
