"""The parts that all schedules share: the work that waits for a later search, and checks before one begins."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device
from kernels_ti.errors import DeviceError, SizeError, parameter
from kernels_ti.found.stored import block_bytes
from kernels_ti.state import GroupState, Totals, by_length_of

NEARLY_DONE = 1 - 2**-20  # Largest share that is reported while a search is not finished

Weights = list[npt.NDArray[np.float64]]
"""For each group of blocks, the estimated share of the search below each of its seeds."""


@dataclass
class LaterWork:
    """The remaining work of the groups of blocks that are not searched yet."""

    pairs: int = 0  # Pairs of neighbours from which stage 2 has not started
    share: float = 0.0  # Estimated share of the batch
    waiting: Totals = field(default_factory=Totals)  # Paths that wait, by number of vertices

    @classmethod
    def of(cls, groups: list[BlockGroup], states: list[GroupState], weights: Weights) -> LaterWork:
        """Add up the work of some groups; `weights` has the share of the search below each seed."""
        later = cls()
        for group, state, weight in zip(groups, states, weights, strict=True):
            later.pairs += int(group.pairs_of_seed[state.next_seed :].sum())
            later.share += float(weight[state.next_seed :].sum())
            for frames in state.frames:
                later.waiting.add(by_length_of(frames.paths_by_length), {})
                later.share += frames.share
        return later


def require_room(device: Device, groups: list[BlockGroup], memory: int, smaller_blocks: str) -> None:
    """Raise SizeError, with the memory needed and what makes them smaller, if groups of blocks do not fit together."""
    too_long = any(group.bit_row_count * group.words > LARGEST_BUFFER for group in groups)
    needed = sum(block_bytes(group) for group in groups)
    if too_long or needed > memory:
        longest = max(group.longest_block for group in groups)
        advice = f"{smaller_blocks} makes smaller blocks, " if smaller_blocks else ""
        raise SizeError(
            f"a block of {longest:,} vertices needs {needed / 2**30:,.2f} GiB for its bit rows, more than the "
            f"{memory / 2**30:,.2f} GiB that may be used on {device.name}; "
            f"{advice}{parameter('memory')} allows more memory"
        )


def require_loops(device: Device, group: BlockGroup) -> None:
    """Raise DeviceError if a work item might loop longer for this group of blocks than the device can."""
    most = int(np.diff(group.row_ptr).max(initial=0))
    near = min(most, group.words)
    rounds = 8 * group.words + group.longest_block * (4 + near) + 2 * most * group.words
    if rounds > device.loop_rounds:
        raise DeviceError(
            f"{device.name} leaves a loop after {device.loop_rounds:,} rounds and this graph may need {rounds:,}: "
            f"use {parameter('arch', 'cpu')}"
        )
