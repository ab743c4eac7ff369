"""The host side of the sweep: it launches slices, and moves frames from busy workers to idle ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernels_ti.bits import LARGEST_UNROLLED, vector_of
from kernels_ti.device import kernel_cache
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.compilation import Tiered
from kernels_ti.errors import SizeError, parameter
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.state import Frames, GroupState, Rows, Totals, by_length_of
from kernels_ti.sweep.compact import compact_words
from kernels_ti.sweep.found_cycles import FoundCycles
from kernels_ti.sweep.frames import FramePool, frame_words, share_frames, unpacked, with_labels
from kernels_ti.sweep.kernel import DRY_WORKERS, ENDED, NEXT_CHUNK, NEXT_ITEM, sweep
from kernels_ti.sweep.kernel_wide import sweep_wide

FIRST_BUDGET, WIDE_FIRST_BUDGET = 2_000_000, 500
"""Steps of each worker in the first slice; later ones are fitted to the time asked for."""

PATIENCE = 32  # Paths without a cycle after which the certificate is asked for

ROW_BYTES_PER_WORKER = 1 << 25
"""Bytes of the host that the cycles of a worker may take on their way out: bit rows over a large graph are long."""

CYCLE_BYTES_PER_WORKER = 1 << 23
"""Small, so that a slice of a listing is short. Large enough for the arrays that the caller gets to lie in large pages,
which the system clears faster than small ones."""

FRAMES_AT_ONCE = 1 << 18  # Frames of an earlier search that are laid out for the workers at a time, at most

THOROUGH_SECONDS, THOROUGH_GAIN = 6.0, 0.05
"""Seconds that it takes to compile the kernel thoroughly, once for a kind of graph, and the share of its time that a
search saves from then on. A search waits for it only where it is expected to save more than that."""

FORESIGHT_SECONDS = 5.0  # Seconds of search before what is left is foreseen from what was done

LARGEST_WITH_CHORDS = 1
"""Bit rows of directed graphs and multigraphs are held in registers up to this many words. Most of the search is in
blocks so small, and kernels for more words take seconds to compile."""

SHORT_SLICE = 0.001
"""Seconds under which a slice that ended because a worker ran dry was not worth its launch."""

_compiled: set[tuple[object, ...]] = set()
"""The kinds of kernels that this process has compiled. After Taichi is closed they are compiled again, unannounced."""


class SweepSearch:
    """Stage 2 depth first on the CPU, every worker with a private stack; a SizeError if not even one has room.

    It begins with the frames of `start`, which have members with `collect`, then with its next seed. `collect` keeps
    the cycles for `take_found`; the longest that is wanted has `max_length` vertices, at least 4.
    `seed_weight` is the share of the whole search behind each seed. Stacks, found cycles and the pool of frames may
    take `memory` bytes; fewer workers take less. `pruned` drops paths that cannot become cycles of `least_length`
    vertices, which may be set between two slices; none is dropped where bit rows are wide.

    `compiling` says that the next slice compiles kernels and does nothing else, because this process has no kernels of
    this kind yet: the first one, and one of a long search, see `THOROUGH_SECONDS`.
    """

    def __init__(
        self,
        blocks: ResidentBlocks,
        max_length: int,
        collect: bool,
        start: GroupState,
        seed_weight: npt.NDArray[np.float64],
        memory: int,
        *,
        pruned: bool = False,
    ) -> None:
        group, device = blocks.group, blocks.device
        self.blocks = blocks
        self._collect, self._pruned, self.least_length = collect, pruned, 3
        self._max_length = min(max_length, group.longest_block)
        self._depth = self._max_length + 2  # each frame above another has a longer path
        self._most_closers = int(np.diff(group.row_ptr).max())
        self._wide = group.words > (LARGEST_UNROLLED if group.chords is None else LARGEST_WITH_CHORDS)
        self._words = group.words if self._wide else vector_of(group.words, 64)
        self._frame = frame_words(group.words, group.words if collect else 0)
        self._stack_words = self._depth * self._frame + (2 * group.words if self._wide else compact_words(group.words))
        start = replace(start, frames=tuple(start.frames))
        memory -= sum(frames.nbytes for frames in start.frames)
        workers, memory = self._workers_in(memory)
        over_graph = collect and blocks.over_graph and not self._wide
        per_worker = 0
        if collect:
            cycle_words = group.words + (0 if over_graph else 1)
            out = blocks.bytes_out(self._max_length)
            fitting = memory // (2 * workers * (8 * cycle_words + out))
            fitting = min(fitting, CYCLE_BYTES_PER_WORKER // (8 * cycle_words), ROW_BYTES_PER_WORKER // out)
            per_worker = max(fitting, self._most_closers)
        self._found = FoundCycles(blocks, workers, per_worker, self._most_closers, over_graph=over_graph)
        self._pool_room = min(max(memory // (4 * 8 * self._frame), 1), FRAMES_AT_ONCE)
        self._seed_weight = np.ascontiguousarray(seed_weight, np.float64)
        # Summed up from the last on, so that what is left comes down to 0 exactly.
        self._share_from_seed = np.append(np.cumsum(self._seed_weight[::-1])[::-1], 0.0)
        self._block_size = np.bincount(group.first_row, minlength=group.rows).astype(np.int32)
        self._queue = np.zeros(4, np.int32)
        self._depth_of = np.zeros(workers, np.int32)
        self._stack = device.empty(workers * self._stack_words, np.uint64)
        of_worker = self._stack.reshape(workers, -1)[:, : self._depth * self._frame]
        self._stacks: Rows = of_worker.reshape(workers, self._depth, self._frame)  # a view
        self._fifo = device.empty(workers * group.longest_block if self._wide else 1, np.int32)
        self._paths = np.zeros(workers * (self._max_length + 2), np.int64)
        self._cycles_found = np.zeros(workers * (self._max_length + 2), np.int64)
        self.restart(start)
        self._thorough = self._kind(thorough=True) in _compiled or kernel_cache.holds(self._name)
        self.compiling = self._kind(thorough=self._thorough) not in _compiled
        if not self.compiling:
            self._compile()
        self._budget = WIDE_FIRST_BUDGET if self._wide else FIRST_BUDGET

    def restart(self, start: GroupState) -> None:
        """Search something else in the same blocks with the same buffers; the cycles found before have been taken."""
        group = self.blocks.group
        rows = self.blocks.rows[: group.end_rows * group.words].reshape(-1, group.words)
        self.totals = Totals()
        self._pool = FramePool(start.frames, rows, self._collect, self._pool_room)
        self._first_seed = start.next_seed
        self._stacked: list[Frames] | None = None
        for counter in (self._queue, self._depth_of, self._found.counts):
            counter[:] = 0
        self._searched, self._share_at_start = 0.0, self.remaining

    def _workers_in(self, memory: int) -> tuple[int, int]:
        """Return how many workers have room, and the bytes that are left when each has the least that it needs."""
        group, device = self.blocks.group, self.blocks.device
        cycle_words = self._most_closers * (group.words + 1) if self._collect else 0
        words = self._stack_words + 2 * (self._max_length + 2) + cycle_words
        least = 8 * words + (4 * group.longest_block if self._wide else 0)
        room = min(memory, 8 * LARGEST_BUFFER)
        workers = min(device.threads or 1, room // least)
        if workers < 1:
            bound = "a smaller " if self._max_length < group.longest_block else ""
            raise SizeError(
                f"a block of {group.longest_block:,} vertices needs {-(-least // 1024):,} KiB for one worker's stack, "
                f"more than the {max(room, 0) // 1024:,} KiB that it may take: "
                f"{bound}{parameter('max_length')} needs a smaller stack, {parameter('memory')} allows more memory"
            )
        return workers, memory - workers * least

    @property
    def finished(self) -> bool:
        """Whether all frames and seeds are taken and all stacks are empty."""
        taken = self.next_seed >= self.blocks.seeds and self._frames_taken >= self._pool.size
        return taken and not self._pool.more and not self._depth_of.any()

    @property
    def surveyed(self) -> int:
        """All seeds, because stage 1 is done before."""
        return self.blocks.seeds

    @property
    def next_seed(self) -> int:
        """Seeds that have been taken, from the first on."""
        return self._first_seed + max(0, int(self._queue[NEXT_ITEM]) - self._pool.size)

    @property
    def _frames_taken(self) -> int:
        return min(int(self._queue[NEXT_ITEM]), self._pool.size)

    @property
    def pairs_left(self) -> int:
        """Pairs of neighbours that no worker has taken."""
        return int(self.blocks.pairs_before[-1] - self.blocks.pairs_before[self.next_seed])

    @property
    def waiting_by_length(self) -> dict[int, int]:
        """Paths that wait on the stacks and in the pool, by their number of vertices."""
        waiting = np.zeros(self._max_length + 2, np.int64)
        pooled = self._pool.paths_by_length(self._frames_taken)
        waiting[: len(pooled)] = pooled
        for frames in self._stacked_frames():
            counted = frames.paths_by_length
            waiting[: len(counted)] += counted
        return by_length_of(waiting)

    @property
    def remaining(self) -> float:
        """Share of the whole search behind the frames on the stacks and in the pool, and behind the seeds left."""
        waiting = self._pool.share(self._frames_taken) + float(self._share_from_seed[self.next_seed])
        return waiting + sum(frames.share for frames in self._stacked_frames())

    @property
    def workers(self) -> int:
        """Number of workers that have room."""
        return len(self._depth_of)

    @property
    def device_bytes(self) -> int:
        """Bytes of the blocks, stacks, frames to begin with, counters and cycles."""
        own = (self._stack, self._pool.stacked, self._fifo, self._paths, self._cycles_found, self._found.buffer)
        return self.blocks.bytes + sum(array.nbytes for array in own)

    def frames(self) -> Iterator[Frames]:
        """All paths that wait, in pieces, once the cycles found have been taken; nothing changes."""
        for frames in self._stacked_frames():
            yield with_labels(frames, self.blocks.group) if self._found.over_graph else frames
        yield from self._pool.frames(self._frames_taken)

    def _stacked_frames(self) -> list[Frames]:
        """Return the frames of each stack with the members that they have there. They are read once after a slice."""
        if self._stacked is None:
            self._stacked = [
                unpacked(self._stacks[worker, :depth], self.blocks.group.words, self._collect)
                for worker, depth in enumerate(self._depth_of.tolist())
                if depth
            ]
        return self._stacked

    def advance(self, seconds: float) -> None:
        """Search for about `seconds`, less if the cycles found should be taken; compile alone where that is due."""
        if self.compiling:
            self._compile()
            return
        deadline = time.perf_counter() + seconds
        while not self.finished:
            started = time.perf_counter()
            self.advance_by(self._budget)
            spent = time.perf_counter() - started
            self._fit_budget(seconds, spent)
            self._searched += spent
            if not self._thorough and self._thorough_pays():
                self._thorough = True
                self.compiling = self._kind(thorough=True) not in _compiled
                return
            if time.perf_counter() >= deadline or self._found:
                return

    def _compile(self) -> None:
        """Launch the kernels over nothing, so that the slices are a search alone."""
        self._launch(0)
        _compiled.add(self._kind(thorough=self._thorough))
        if self._thorough:
            kernel_cache.note(self._name)
        self.compiling = False

    def _thorough_pays(self) -> bool:
        """Whether the rest of the search is expected to be so long that compiling thoroughly saves time."""
        if self._searched < FORESIGHT_SECONDS:
            return False
        left = self.remaining
        done = self._share_at_start - left
        return done > 0 and THOROUGH_GAIN * self._searched * left > THOROUGH_SECONDS * done

    def _kind(self, *, thorough: bool) -> tuple[object, ...]:
        group = self.blocks.group
        words = 0 if self._wide else group.words
        kind = self._collect, self._found.over_graph, group.required is not None, group.chords is not None, self._pruned
        return words, *kind, thorough

    @property
    def _name(self) -> str:
        """Name of the kernel, compiled thoroughly, in the cache of compiled kernels."""
        return "sweep {} {} {} {} {} {}".format(*self._kind(thorough=True)[:-1])

    def _fit_budget(self, wanted: float, spent: float) -> None:
        """Fit the steps of a slice to the time that the last one took, unless that one ended early."""
        full = self._queue[NEXT_CHUNK] > self._found.chunks
        dry = self._queue[DRY_WORKERS] > 0
        if dry and spent < SHORT_SLICE:
            self._budget *= 2  # sharing would cost more than searching
        elif not dry and not full:
            self._budget = int(self._budget * min(4.0, max(0.25, wanted / max(spent, 1e-6))))
        elif spent > wanted:
            self._budget //= 2
        self._budget = min(max(self._budget, 100), 1 << 30)

    def take_found(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Tell where the cycles found since the last call lie, see `kernels_ti.found.to_host`."""
        return self._found.take()

    def advance_by(self, steps: int) -> None:
        """Let every worker make up to `steps` steps, then share what is left; the cycles found must be taken next."""
        self._stacked = None
        if self._pool.more and self._frames_taken == self._pool.size:
            self._queue[NEXT_ITEM] = 0
            self._pool.refill()
        self._queue[[DRY_WORKERS, ENDED]] = 0
        self._queue[NEXT_CHUNK] = self.workers  # each begins with the chunk that has its own number
        self._found.make_room()
        self._launch(steps)
        self._queue[NEXT_ITEM] = min(self._queue[NEXT_ITEM], self._last_item)
        self._harvest()
        if self._queue[DRY_WORKERS]:
            share_frames(self._stacks, self._depth_of, self.blocks.group.words)

    @property
    def _last_item(self) -> int:
        """One past the last item that workers may take: seeds only when all frames to begin with are laid out."""
        return self._pool.size + (0 if self._pool.more else self.blocks.seeds - self._first_seed)

    def _launch(self, budget: int) -> None:
        blocks = self.blocks
        arguments = {
            "words": self._words,
            "collect": self._collect,
            "required": blocks.group.required is not None,
            "chorded": blocks.group.chords is not None,
            "rows": blocks.rows,
            "first_row": blocks.first_row,
            "neighbour": blocks.neighbour,
            "seed_entry": blocks.seed_entry,
            "seed_root": blocks.seed_root,
            "seed_weight": self._seed_weight,
            "first_seed": self._first_seed,
            "pool": self._pool.stacked,
            "pooled": self._pool.size,
            "last_item": self._last_item,
            "queue": self._queue,
            "stack": self._stack,
            "stack_words": self._stack_words,
            "depth_of": self._depth_of,
            "budget": budget,
            "patience": PATIENCE,
            "max_length": self._max_length,
            "most_closers": self._most_closers,
            "paths_by_length": self._paths,
            "cycles_by_length": self._cycles_found,
            "cycles": self._found.buffer,
            "cycles_per_chunk": self._found.chunk,
            "cycle_count": self._found.counts,
        }
        if self._wide:
            group = blocks.group
            self._tier_of(sweep_wide)(
                **arguments, row_ptr=blocks.row_ptr, fifo=self._fifo, longest_block=group.longest_block
            )
        else:
            over_graph = self._found.over_graph
            self._tier_of(sweep)(
                **arguments,
                over_graph=over_graph,
                pruned=self._pruned,
                least_length=self.least_length,
                vertex_bits=blocks.vertex_bits if over_graph else blocks.rows[:1],
                block_size=self._block_size,
            )

    def _tier_of(self, kernel: Tiered) -> Callable[..., None]:
        return kernel.thorough if self._thorough else kernel.quick

    def _harvest(self) -> None:
        shape = (len(self._depth_of), -1)
        for counters, into in ((self._paths, self.totals.paths), (self._cycles_found, self.totals.cycles)):
            sums = counters.reshape(shape).sum(axis=0)
            for length in np.flatnonzero(sums).tolist():
                into[length] = into.get(length, 0) + int(sums[length])
            counters[:] = 0
