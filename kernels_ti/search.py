"""The parts that all schedules share: the interface of a search, its totals, and checks before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.cycles import Cycles
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device
from kernels_ti.errors import DeviceError, SizeError, parameter
from kernels_ti.found.stored import ResidentBlocks, StoredCycles, block_bytes
from kernels_ti.state import Frames, GroupState, Rows, Totals, by_length_of

NEARLY_DONE = 1 - 2**-20
"""Largest share that is reported while a search is not finished."""

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


class Search(Protocol):
    """A search in slices: of stage 1, of one group of blocks, or of a whole graph."""

    totals: Totals

    @property
    def remaining(self) -> float:
        """Share of the whole search, or of the batch of blocks, that is not done yet."""

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""

    @property
    def compiling(self) -> bool:
        """Whether the next slice compiles kernels and does nothing else."""

    @property
    def waiting_by_length(self) -> dict[int, int]:
        """Number of waiting paths with t vertices."""

    @property
    def pairs_left(self) -> int:
        """Pairs of neighbours from which stage 2 has not started yet."""

    @property
    def device_bytes(self) -> int:
        """Bytes of the buffers that the search holds."""

    def advance(self, seconds: float) -> None:
        """Search for about `seconds` seconds, or until the cycles found should be taken."""

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call."""

    def take_rows(self) -> Rows:
        """Return the cycles found since the last call as bit rows over the graph's vertices, shape (k, words)."""


class DeviceSearch(Search, Protocol):
    """A search whose cycles are on a device."""

    def take_found(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Yield where the cycles found since the last call lie; each item is valid until the next one is requested."""


class GroupSearch(DeviceSearch, Protocol):
    """Stage 2 of one group of blocks; its state can be saved and resumed.

    With `Options.pruned` it drops cycles of fewer than `least_length` vertices, and paths that cannot become
    as long.
    """

    least_length: int

    @property
    def surveyed(self) -> int:
        """Number of seeds, from the first, whose triangles and triplets are counted."""

    @property
    def next_seed(self) -> int:
        """Number of seeds, from the first, that stage 2 has taken."""

    def frames(self) -> Iterator[Frames]:
        """Yield all waiting paths in pieces. Take the cycles found before. The search does not change."""


def require_room(device: Device, groups: list[BlockGroup], memory: int) -> None:
    """Raise SizeError, with the memory that they need, if groups of blocks do not fit into `memory` bytes together."""
    too_long = any(group.bit_row_count * group.words > LARGEST_BUFFER for group in groups)
    needed = sum(block_bytes(group) for group in groups)
    if too_long or needed > memory:
        longest = max(group.longest_block for group in groups)
        raise SizeError(
            f"a block of {longest:,} vertices needs {needed / 2**30:,.2f} GiB for its bit rows, more than the "
            f"{memory / 2**30:,.2f} GiB that may be used on {device.name}; "
            f"{parameter('max_length')} makes smaller blocks, {parameter('memory')} allows more memory"
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
