"""The host side of the wave: it takes slices of the frontier from a double-ended arena.

With room a slice is a whole level and the search is breadth first, as in the paper. Without room, slices
are taken from the deepest level first, so that few children have to be kept and memory is bounded. A slice whose
children do not fit is made smaller and tried again; nothing is lost or counted twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.bits import LARGEST_UNROLLED, vector_of
from kernels_ti.device import resident
from kernels_ti.device.placing import CELLS, CELLS_PER_LEVEL, CHILDREN, CYCLES
from kernels_ti.errors import EngineError, parameter
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.state import Frames, GroupState, Totals, by_length
from kernels_ti.step.stage_1 import triplets_kernel
from kernels_ti.wave.arena import Arena, Segment
from kernels_ti.wave.found_cycles import FoundCycles
from kernels_ti.wave.queue import launcher
from kernels_ti.wave.stages import NarrowStage, WideStage

FIRST_QUEUE = {"cpu": 1, "vulkan": 64, "cuda": 64}
"""Levels that are queued at first, at the most, before the host looks; later queues are fitted to the time."""

LONGEST_SHARE = 0.6
"""Share of a block's vertices that its longest cycles rarely exceed: more levels are not queued at first."""

FIRST_SLICE = {"cpu": 1 << 14, "vulkan": 1 << 22, "cuda": 1 << 22}
"""Records of the first slice; later ones are fitted to the time asked for."""

LEAST_SLICE = 1 << 10
"""Records below which a slice is not shortened: on a busy machine a launch takes long whatever is in it."""

SOFTWARE_FIRST_QUEUE, SOFTWARE_FIRST_SLICE = 8, 1 << 14
"""The same where a CPU plays the GPU, which is slow."""

ARENA_BYTES = {"cpu": 3 << 30, "vulkan": 1 << 30, "cuda": 8 << 30}

SOFTWARE_ARENA_BYTES = 16 << 20
"""The same where a CPU plays the GPU, because a large buffer takes time to make; more where depth first needs more."""

_compiled: set[tuple[object, ...]] = set()
"""The kinds of kernels that this process has compiled. After Taichi is closed they are compiled again, unannounced."""


def _from_each_on(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sum of the weights from each seed on, and 0 behind the last one, shape (seeds + 1,)."""
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


class WaveSearch:
    """A search breadth first, as far as memory allows; see the module. An EngineError says that there is too little.

    `max_length` is the length of the longest cycle that is wanted; `collect` keeps the cycles for `take_found`.
    Without `two_ended` it is the paper's own expansion: one end, no certificate. `start` is left to do. `seed_weight`
    is the share of the whole search behind each seed; `weigh` returns better weights of all seeds, and is called once
    if these are not all taken at once. The arena, the cycles and scratch memory may take `memory` bytes. `pruned` drops
    paths that cannot become cycles of `least_length` vertices, which may be set between two slices.

    `compiling` says that the next slice compiles kernels and does nothing else: the first one, if this process has no
    kernels of this kind yet.
    """

    def __init__(
        self, blocks: ResidentBlocks, max_length: int, collect: bool, two_ended: bool, start: GroupState,
        seed_weight: npt.NDArray[np.float64], memory: int, weigh: Callable[[], npt.NDArray[np.float64]] | None = None,
        *, pruned: bool = False,
    ) -> None:  # fmt: skip
        self.blocks = blocks
        group, device = blocks.group, blocks.device
        self._device, self._collect = device, collect
        self._two_ended = int(two_ended)
        self._max_length, self._bounded = max_length, max_length < group.longest_block
        self._share_after = _from_each_on(seed_weight)
        self._weigh = weigh
        start = replace(start, frames=tuple(start.frames))
        if device.arch == "cpu":
            memory -= sum(frames.nbytes for frames in start.frames)
        # Only the kernels for bit rows in memory know chords.
        kind = WideStage if group.words > LARGEST_UNROLLED or group.chords is not None else NarrowStage
        self._stage: WideStage | NarrowStage = kind(blocks, collect, self._bounded, pruned, memory // 8)
        triplets = triplets_kernel(group.word_bits, collect, group.chords is not None)
        self._launch_stage_1 = launcher(triplets, device, vector_of(1, group.word_bits).dtype)
        self._kind = device.arch, triplets, *self._stage.kind
        memory -= self._stage.bytes + (blocks.reserve_copies(memory) if collect else 0)
        self._cycles = FoundCycles(blocks, collect, min(max_length, group.longest_block), memory // 4)
        memory -= self._cycles.bytes
        # Depth first, each level leaves the siblings of one path behind; these places are kept free for them.
        self._siblings = group.longest_block * int(np.diff(group.row_ptr).max(initial=0))
        memory = min(ARENA_BYTES[device.arch], memory)
        if device.software:
            least = 2 * self._siblings * (2 * group.words * group.word_bits // 8 + 8)
            memory = min(memory, max(SOFTWARE_ARENA_BYTES, least))
        self._arena = Arena(blocks, collect, memory)
        self._control = device.buffer(np.zeros(CELLS, np.uint32))
        self.least_length = 3
        self.restart(start)
        self._slice_limit = SOFTWARE_FIRST_SLICE if device.software else FIRST_SLICE[device.arch]
        queue_levels = SOFTWARE_FIRST_QUEUE if device.software else FIRST_QUEUE[device.arch]
        self._queue_levels = min(queue_levels, self._stage.most_levels, int(LONGEST_SHARE * group.longest_block) + 1)
        self._levels_done = self._queue_levels
        self.compiling = self._kind not in _compiled
        if not self.compiling:
            # Once more where the device was closed in the meantime, so that the first slice is a search alone.
            resident.made_once(self._kind, self._compile)

    def restart(self, start: GroupState) -> None:
        """Drop what waits, and search something else in the same blocks with the same buffers."""
        self.totals, self._cycles.count = Totals(), 0
        self.surveyed, self.next_seed = start.surveyed, start.next_seed
        self._pool, self._arena.segments = deque(by_length(start.frames)), []

    def _compile(self) -> None:
        """Launch each kernel over nothing, so that the first slice is a search alone."""
        self._launch_triplets(0, 0, self._max_length)
        self._launch_expand(Segment(3, 0, 0.0), 0, 1)
        self._device.download(self._control)
        _compiled.add(self._kind)
        resident.made_once(self._kind, lambda: None)
        self.compiling = False

    @property
    def _reserve(self) -> int:
        return min(self._siblings, self._arena.capacity // 2)

    @property
    def finished(self) -> bool:
        """Whether the arena is empty and stage 1 is over."""
        waiting = self._arena.segments or self._pool
        return not waiting and min(self.next_seed, self.surveyed) >= self.blocks.seeds

    @property
    def pairs_left(self) -> int:
        """Pairs of neighbours that stage 1 has not taken yet."""
        return int(self.blocks.pairs_before[-1] - self.blocks.pairs_before[self.next_seed])

    @property
    def waiting_by_length(self) -> dict[int, int]:
        """Records in the arena, and paths that wait on the host."""
        waiting = Totals({segment.length: segment.count for segment in self._arena.segments})
        for frames in self._pool:
            waiting.add({int(frames.length[0]) + 1: frames.paths}, {})
        return waiting.paths

    @property
    def remaining(self) -> float:
        """Share of the whole search that is still to do, level by level."""
        pooled = sum(frames.share for frames in self._pool)
        return self._arena.share + pooled + float(self._share_after[self.next_seed])

    @property
    def device_bytes(self) -> int:
        """Bytes of the blocks, the arena, the cycles and the scratch memory."""
        return self.blocks.bytes + self._arena.bytes + self._cycles.bytes + self._stage.bytes

    def frames(self) -> Iterator[Frames]:
        """All paths that wait, in pieces."""
        yield from self._arena.frames()
        yield from self._pool

    def take_found(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Tell where the cycles found since the last call lie, see `kernels_ti.found.to_host`."""
        return self._cycles.take()

    def advance(self, seconds: float) -> None:
        """Search for about `seconds`, less if the cycles found should be taken; compile alone where that is due."""
        if self.compiling:
            self._compile()
            return
        deadline = time.perf_counter() + seconds
        while not self.finished:
            started = time.perf_counter()
            tried = self._step()
            if tried is None:
                return
            spent = time.perf_counter() - started
            self._fit(tried, spent, seconds)
            if time.perf_counter() >= deadline:
                return

    def _fit(self, tried: int, spent: float, wanted: float) -> None:
        """Fit the levels of a queue and the records of a slice to the time that they took."""
        # A level that is not needed costs a launch, but nothing on CUDA.
        idle = self._device.arch != "cuda" and 2 * self._levels_done < self._queue_levels
        if self._queue_levels > 1 and (spent > wanted or idle):
            self._queue_levels //= 2
        elif tried >= self._slice_limit:
            fitted = int(tried * min(4.0, max(0.25, wanted / 2 / max(spent, 1e-6))))
            self._slice_limit = max(fitted, min(tried, LEAST_SLICE)) + 1
        elif spent < wanted / 4 and self._device.arch != "cpu":  # where a launch costs next to nothing
            self._queue_levels = min(2 * self._queue_levels, self._stage.most_levels)

    def _left(self, parents: int) -> int:
        """Places that no other path takes; only a single path may touch the reserve."""
        kept_free = self._reserve if parents > 1 else 0
        return max(self._arena.capacity - (self._arena.count - parents) - kept_free, 0)

    def _free(self, parents: int) -> int:
        """Places that a slice and its children may share."""
        left = self._left(parents)
        return min(left, max(self._stage.most_places(left), self._siblings), parents + self._device.items_at_once)

    def _step(self) -> int | None:
        """Expand one slice, or make one of initial triplets.

        Returns the records tried, or None when there is no room for cycles until those found are taken.
        """
        if self.surveyed < self.next_seed:
            return self._survey()
        if self._pool:
            self._load()
        return self._expand() if self._arena.segments else self._seed()

    def _load(self) -> None:
        """Load frames that wait on the host into the arena: those of the shortest paths first, one length at a time."""
        arena = self._arena
        while self._pool:
            frames = self._pool[0]
            room = (arena.capacity - self._reserve) // 4 - arena.count
            if not arena.segments:
                first = int(frames[:1].path_counts[0])
                if first > arena.capacity:
                    raise self._no_room(first)
                room = max(room, first)
            elif len(arena.segments) > 1 or arena.segments[0].length != int(frames.length[0]) + 1:
                return
            # Each frame has a path, so no more frames than `room` can fit.
            counts = frames[: max(room, 0)].path_counts
            fitting = int(np.searchsorted(np.cumsum(counts), room, side="right"))
            if fitting == 0:
                return
            arena.load(frames[:fitting])
            if fitting < len(frames):
                self._pool[0] = frames[fitting:]
            else:
                self._pool.popleft()

    def _survey(self) -> int | None:
        """Count the triangles and triplets of the seeds that stage 2 took in an earlier run."""
        pairs, first = self.blocks.pairs_before, self.surveyed
        last = self._fitting(first, self._cycles.room)
        last = min(last, self.next_seed)
        if last <= first:
            if self._cycles.count:
                return None
            raise self._no_room(int(pairs[first + 1] - pairs[first]))
        self._launch_triplets(first, last, 3)
        [(_, closed)] = self._counted(1)
        self._count(3, int(pairs[last] - pairs[first]) - closed if self._max_length > 3 else 0, closed)
        self.surveyed = last
        return last - first

    def _fitting(self, first: int, places: int) -> int:
        """Return the end of the range of seeds from `first` on whose pairs fit into `places` places."""
        pairs = self.blocks.pairs_before
        last = int(np.searchsorted(pairs, int(pairs[first]) + places, side="right")) - 1
        return min(last, first + min(self._device.items_at_once, self._slice_limit))

    def _seed(self) -> int | None:
        """Run stage 1 for as many seeds as are certain to fit."""
        pairs, first = self.blocks.pairs_before, self.next_seed
        last = self._fitting(first, min(self._arena.capacity - self._reserve, self._cycles.room))
        if first < self.surveyed:
            last = min(last, self.surveyed)
        if last <= first:
            if self._collect and self._cycles.count:
                return None
            raise self._no_room(int(pairs[first + 1] - pairs[first]))
        if last < len(self._share_after) - 1 and self._weigh is not None:
            # The seeds from the first one here on are weighed anew; their sum stays.
            better, self._weigh = _from_each_on(self._weigh()), None
            self._share_after[first:] = better[first:] * (self._share_after[first] / better[first])
        self._launch_triplets(first, last, self._max_length)
        [(children, closed)] = self._counted(1)
        self._count(3, 0 if first < self.surveyed else children, closed)
        self.next_seed, self.surveyed = last, max(last, self.surveyed)
        self._arena.add(3, children, float(self._share_after[first] - self._share_after[last]))
        return last - first

    def _no_room(self, needed: int) -> EngineError:
        return EngineError(
            f"{self._device.name}: the arena has {self._arena.capacity:,} places for paths and "
            f"{self._cycles.capacity:,} for cycles, a single step needs {needed:,}; {parameter('memory')} allows more"
        )

    @property
    def _buffers(self) -> dict[str, Any]:
        blocks, arena = self.blocks, self._arena
        return {
            "rows": blocks.rows,
            "first_row": blocks.first_row,
            "control": self._control,
            "allowed": arena.allowed,
            "ends": arena.ends,
            "members": arena.members,
            "capacity": arena.capacity,
            "cycles": self._cycles.buffer,
            "cycle_capacity": self._cycles.capacity,
            "cycle_start": self._cycles.count,
        }

    def _launch_triplets(self, first: int, last: int, max_length: int) -> None:
        blocks, arena = self.blocks, self._arena
        launch = {
            **self._buffers,
            "words": blocks.group.words,
            "neighbour": blocks.neighbour,
            "seed_entry": blocks.seed_entry,
            "seed_root": blocks.seed_root,
            "first_seed": first,
            "last_seed": last,
            "surveyed": self.surveyed,
            "max_length": max_length,
            "start": arena.place(1, 0),
            "direction": -1,
            "room": arena.capacity,
        }
        self._launch_stage_1(launch)

    def _expand(self) -> int | None:
        """Run stage 2 for the top of the shallowest level while there is plenty of room, else of the deepest."""
        arena, segments = self._arena, self._arena.segments
        adjacent = segments[-1].length - segments[0].length <= 1
        room = (arena.capacity - self._reserve) // 2
        roomy = adjacent and arena.count <= min(room, self._stage.frontier)
        segment = segments[0] if roomy else segments[-1]
        at_once = self._stage.most_parents(arena.capacity, self._left(2), roomy)
        parents = max(1, min(segment.count, self._slice_limit, at_once, self._free(2)))
        while True:
            levels = self._queue_levels
            if self._pool:  # not past the length of those that wait on the host, so that they can join
                levels = max(1, min(levels, int(self._pool[0].length[0]) + 1 - segment.length))
            self._launch_expand(segment, parents, levels)
            if self._commit(segment, parents, self._counted(levels)):
                return parents
            if self._collect and self._cycles.count:
                return None
            if parents == 1:
                raise self._no_room(1 + int(np.diff(self.blocks.group.row_ptr).max()))
            self._slice_limit = parents = max(parents // 2, 1)

    def _launch_expand(self, segment: Segment, parents: int, levels: int) -> None:
        """Launch stage 2 for the topmost records of a segment and their descendants, `levels` levels in all."""
        arena, side = self._arena, segment.length % 2
        launch = {
            **self._buffers,
            "two_ended": self._two_ended,
            "parents": parents,
            "length": segment.length,
            "max_length": self._max_length,
            "least_length": self.least_length,
            "from_start": arena.place(side, arena.used(side) - parents),
            "direction": -1 if side else 1,
            "to_start": arena.place(1 - side, arena.used(1 - side)),
            "free": self._free(parents),
        }
        self._stage.launch(levels, launch)

    def _counted(self, levels: int) -> list[tuple[int, int]]:
        """Return the children placed and the cycles found by each level of the last queue."""
        cells = self._device.download(self._control)[: levels * CELLS_PER_LEVEL].astype("<u4")
        counters = cells.view("<u8").reshape(levels, -1)
        return list(zip(counters[:, CHILDREN // 2].tolist(), counters[:, CYCLES // 2].tolist(), strict=True))

    def _commit(self, segment: Segment, parents: int, counted: list[tuple[int, int]]) -> bool:
        """Keep the levels of a queue that fitted, as the device reports them; return whether any did."""
        free, room = self._free(parents), self._cycles.room
        length, ready = segment.length, parents
        for children, closed in counted:
            if ready == 0 or children > free - ready or closed > room:
                break
            length, ready, room = length + 1, children, room - closed
            self._count(length, children, closed)
        self._levels_done = length - segment.length
        self._stage.fit(ready > 0 and self._levels_done < len(counted))
        if not self._levels_done:
            return False
        self._arena.add(length, ready, self._arena.take(segment, parents))
        return True

    def _count(self, length: int, children: int, closed: int) -> None:
        self.totals.add({length: children}, {length: closed})
        if self._collect:
            self._cycles.count += closed
