"""Launches of the wave for narrow blocks, whose bit rows fit into registers."""

from __future__ import annotations

from typing import Any

from kernels_ti.bits import vector_of
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.placing import MOST_LEVELS
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.wave.kernels import expand_kernel
from kernels_ti.wave.queue import Queue


class NarrowStage:
    """Stage 2 for one group of narrow blocks, with the interface of `kernels_ti.wave.stage_wide.WideStage`.

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
