"""Where the wave stores the cycles that it finds, until they are taken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.found.stored import ResidentBlocks, StoredCycles

CYCLE_BYTES = {"cpu": 64 << 20, "vulkan": 32 << 20, "cuda": 2 << 30}
"""The most bytes that are of use. The CPU counts those on the way out as well."""

HOST_CYCLE_BYTES = 4 << 30
"""Bytes of the host that all cycles found between two looks may take on their way out."""


class FoundCycles:
    """A buffer for found cycles; without `collect` they are only counted and need no places.

    The longest cycle that can be stored has `longest` vertices. The buffer takes up to `memory` bytes, `bytes` of them,
    if they are of use. There is always a place for one cycle. Word w of cycle k lies at ``w * capacity + k``; the last
    word is the first row of the cycle's block. `count` cycles are stored since the last `take`.
    """

    def __init__(self, blocks: ResidentBlocks, collect: bool, longest: int, memory: int) -> None:
        group, device = blocks.group, blocks.device
        width, word_bytes = group.words + 1, group.word_bits // 8
        self._blocks = blocks
        self.count = self.bytes = 0
        self.capacity = LARGEST_BUFFER
        if collect:
            # On its way out a cycle is twice on the host.
            out = 2 * blocks.bytes_out(longest)
            memory = min(memory, CYCLE_BYTES[device.arch])
            each = width * word_bytes + (out if device.arch == "cpu" else 0)
            self.capacity = max(min(memory // each, HOST_CYCLE_BYTES // out, LARGEST_BUFFER // width), 1)
            self.bytes = self.capacity * each
        word = np.uint64 if group.word_bits == 64 else np.uint32
        self.buffer = device.empty(width * self.capacity if collect else 1, word, kept=True)

    @property
    def room(self) -> int:
        """Places that are left."""
        return self.capacity - self.count

    def take(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Yield where the cycles found since the last call lie."""
        count, self.count = self.count, 0
        if count:
            yield self._blocks, StoredCycles(self.buffer, 1, self.capacity, 0, count)
