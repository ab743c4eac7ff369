"""Launches of the wave for wide blocks, one level each, with the scratch memory that they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels_ti.device import LARGEST_BUFFER
from kernels_ti.search import ResidentBlocks
from kernels_ti.wave_wide import SCRATCH_ROWS, expand_wide, triplets_wide
from kernels_ti.wave_wide_batch import MOST_WORDS, expand_wide_batch

SCRATCH_BYTES = {"cpu": 16 << 20, "vulkan": 64 << 20, "cuda": 1 << 30}
"""The most that is of use; a small budget is shared out."""

WIDE_FRONTIER = 1 << 22
"""Records with which the search goes depth first: they keep a GPU busy, and long cycles come soon."""

SMALLEST_SLICE = 1 << 14
"""Records that are worth a launch."""


class WideStage:
    """Both stages for one group of wide blocks.

    Parameters
    ----------
    blocks : ResidentBlocks
    collect, bounded : bool
        See `kernels_ti.wave.expand_kernel`.
    memory : int
        Bytes of scratch memory that it may take, see `kernels_ti.wave_wide`.

    Attributes
    ----------
    seeds_at_once : int
        Seeds of a launch, at the most.
    bytes : int
        Bytes of scratch memory on the device.
    """

    def __init__(self, blocks: ResidentBlocks, collect: bool, bounded: bool, memory: int) -> None:
        self._blocks = blocks
        self._collect = collect
        group, device = blocks.group, blocks.device
        self._batched = device.arch == "cuda" and group.words <= MOST_WORDS
        self._batched &= not bounded and group.required is None
        slot_bytes = SCRATCH_ROWS * group.words * group.word_bits // 8 + 4 * group.longest_block
        slots = min(memory // slot_bytes, LARGEST_BUFFER // max(SCRATCH_ROWS * group.words, group.longest_block))
        slots = min(max(slots, 1), device.items_at_once)
        self.seeds_at_once = slots
        word = np.uint64 if group.word_bits == 64 else np.uint32
        self._sets = device.empty(SCRATCH_ROWS * group.words * slots, word)
        self._fifo = device.empty(group.longest_block * slots, np.int32)
        self.bytes = slots * slot_bytes

    def parents_at_once(self, capacity: int, roomy: bool) -> int:
        """Return the most parents of a launch, in an arena of so many places.

        Without plenty of room the deepest level goes first: such slices leave no more behind them, level by level,
        than there is room for.
        """
        at_once = self._blocks.device.items_at_once if self._batched else self.seeds_at_once
        if not roomy:
            at_once = min(at_once, max(capacity // self._blocks.group.longest_block, SMALLEST_SLICE))
        return at_once

    def launch_triplets(self, *arguments: Any) -> None:
        """Stage 1: the arguments of `kernels_ti.wave.triplets` from ``rows`` on."""
        group = self._blocks.group
        scratch = (self._sets, self.seeds_at_once)
        triplets_wide(group.word_bits, group.words, self._collect, *arguments, *scratch)

    def launch(self, arguments: dict[str, Any]) -> None:
        """Stage 2 for one level: the arguments of `kernels_ti.wave.expand_kernel`, by name."""
        blocks, group = self._blocks, self._blocks.group
        csr = {"row_ptr": blocks.row_ptr, "neighbour": blocks.neighbour}
        wide = {"words": group.words, "collect": self._collect}
        if self._batched:
            by_words = int(len(group.neighbour) > group.words * group.rows)
            expand_wide_batch(by_words=by_words, **wide, **csr, **arguments)
        else:
            wide |= {"bits": group.word_bits, "required": group.required is not None}
            scratch = {"sets": self._sets, "slots": self.seeds_at_once, "fifo": self._fifo}
            expand_wide(**wide, **csr, **arguments, **scratch)
