"""Launches of the wave for narrow blocks, whose bit rows fit into registers, and for wide ones in scratch memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels_ti.bits import vector_of
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.placing import MOST_LEVELS
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.taichi_door import ti
from kernels_ti.wave.kernels import expand_kernel
from kernels_ti.wave.kernels_wide import SCRATCH_ROWS, expand_wide
from kernels_ti.wave.queue import Queue
from kernels_ti.wave.warp_batch_wide import MOST_WORDS, expand_wide_kernel

SCRATCH_BYTES = {"cpu": 16 << 20, "vulkan": 64 << 20, "cuda": 1 << 30}
"""The most that is of use; a small budget is shared out."""

WIDE_FRONTIER = 1 << 22
"""Records with which the search goes depth first: they keep a GPU busy, and long cycles come soon."""

SMALLEST_SLICE = 1 << 14  # Records that are worth a launch
QUEUE_PART = 16  # Share of the places left that a queue of levels may take
LEAST_GROWTH, MOST_GROWTH = 4, 256  # How much a slice may grow in a queue: fitted to how they do


class NarrowStage:
    """Stage 2 for one group of narrow blocks, with the interface of `WideStage`.

    It needs no scratch memory. Its slices are as large as there is room for.
    """

    most_levels = MOST_LEVELS
    frontier = LARGEST_BUFFER
    bytes = 0

    def __init__(self, blocks: ResidentBlocks, collect: bool, bounded: bool, pruned: bool, memory: int) -> None:
        group, arch = blocks.group, blocks.device.arch
        self._items, self._most_vertices = blocks.device.items_at_once, group.longest_block
        words = vector_of(group.words, group.word_bits)
        resident = arch == "cuda" and group.longest_block == group.rows
        kernel = expand_kernel(words, collect, arch, bounded, group.required is not None, resident, pruned)
        self._queue = Queue(kernel, blocks.device, words.dtype)
        self.kind = (kernel,)

    def most_parents(self, capacity: int, left: int, roomy: bool) -> int:
        """Return the most parents of a slice: as many as work items."""
        return self._items

    def most_places(self, left: int) -> int:
        """Return the most places of parents and children in a queue: all that are left."""
        return left

    def fit(self, grown_too_far: bool) -> None:
        """Do nothing: the search chooses the size of a slice."""

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Queue `levels` levels, see `Queue.launch`."""
        self._queue.launch(levels, {**arguments, "most_vertices": self._most_vertices})


class WideStage:
    """Stage 2 for one group of wide blocks; for `collect` and `bounded` see `kernels_ti.wave.kernels.expand_kernel`.

    No path is dropped, whatever `pruned` says. It may take `memory` bytes of scratch memory, see
    `kernels_ti.wave.kernels_wide`, and takes `bytes` of them. A queue has `most_levels` levels at the most, and with
    `frontier` records the search goes depth first. `kind` tells its compiled kernels from others on the same arch.
    """

    frontier = WIDE_FRONTIER

    def __init__(self, blocks: ResidentBlocks, collect: bool, bounded: bool, pruned: bool, memory: int) -> None:
        self._blocks = blocks
        self._collect = collect
        group, device = blocks.group, blocks.device
        self._chorded = group.chords is not None
        self._queue = None
        self.kind: tuple[object, ...] = collect, group.required is not None, self._chorded
        if (
            device.arch == "cuda"
            and group.words <= MOST_WORDS
            and not bounded
            and group.required is None
            and not self._chorded
        ):
            kernel = expand_wide_kernel(group.words, collect)
            self._queue = Queue(kernel, device, ti.u32)
            self.kind = *self.kind, kernel
        slot_bytes = SCRATCH_ROWS * group.words * group.word_bits // 8 + 4 * group.longest_block
        memory = min(memory, SCRATCH_BYTES[device.arch])
        slots = min(memory // slot_bytes, LARGEST_BUFFER // max(SCRATCH_ROWS * group.words, group.longest_block))
        slots = min(max(slots, 1), device.items_at_once)
        self.most_levels = MOST_LEVELS if self._queue else 1
        self._slots = slots
        self._growth = LEAST_GROWTH
        word = np.uint64 if group.word_bits == 64 else np.uint32
        self._sets = device.empty(SCRATCH_ROWS * group.words * slots, word, kept=True)
        self._fifo = device.empty(group.longest_block * slots, np.int32, kept=True)
        self.bytes = slots * slot_bytes

    def most_parents(self, capacity: int, left: int, roomy: bool) -> int:
        """Return the most parents of a slice, in an arena of `capacity` places of which `left` are free.

        Without plenty of room the deepest level goes first. Then the slices are small enough that what they leave
        behind, level by level, fits.
        """
        if self._queue:
            return WIDE_FRONTIER if roomy else max(self.most_places(left) // self._growth, SMALLEST_SLICE)
        if roomy:
            return self._slots
        return min(self._slots, max(capacity // self._blocks.group.longest_block, SMALLEST_SLICE))

    def most_places(self, left: int) -> int:
        """Return the most places of parents and children in a queue, of those that are left.

        A queue that grows beyond that stops, and the next queue continues from its last level. Each queue takes only
        a part of the places that are left, so some always remain.
        """
        return left // QUEUE_PART if self._queue else left

    def fit(self, grown_too_far: bool) -> None:
        """Make slices smaller if the last one grew beyond its places, else larger."""
        self._growth = min(2 * self._growth, MOST_GROWTH) if grown_too_far else max(self._growth // 2, LEAST_GROWTH)

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Launch stage 2 for `levels` levels, see `kernels_ti.wave.queue.Queue.launch`."""
        blocks, group = self._blocks, self._blocks.group
        arguments = {name: value for name, value in arguments.items() if name != "least_length"}
        arguments |= {"row_ptr": blocks.row_ptr, "neighbour": blocks.neighbour}
        if self._queue:
            by_words = int(len(group.neighbour) > group.words * group.rows)
            self._queue.launch(levels, {**arguments, "by_words": by_words})
        else:
            kind = {"bits": group.word_bits, "words": group.words, "collect": self._collect}
            kind["required"], kind["chorded"] = group.required is not None, self._chorded
            scratch = {"sets": self._sets, "slots": self._slots, "fifo": self._fifo}
            expand_wide(**kind, **arguments, **scratch)
