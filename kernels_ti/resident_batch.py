"""The groups of one batch of blocks on a device, the searches that are made in them, and the work that is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.device.device import Device
from kernels_ti.device.memory import search_budget
from kernels_ti.errors import DeviceError, SizeError, parameter
from kernels_ti.estimate.estimate import seed_weights
from kernels_ti.found.stored import ResidentBlocks, block_bytes
from kernels_ti.options import Options
from kernels_ti.state import GroupState, Layout, Totals, by_length_of

if TYPE_CHECKING:
    from kernels_ti.sweep.search import SweepSearch
    from kernels_ti.sweep.search_stage_1 import SurveySearch
    from kernels_ti.wave.search import WaveSearch

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


class ResidentBatch:
    """One batch of blocks, ready to be searched. Only the thread of the device may use it.

    `weights` are the estimated share of the search below each seed of each group. With `begun` a part of the search is
    done, see `kernels_ti.device.memory.search_budget`. `is_wave` says that the schedule is the wave, not the sweep. A
    SizeError or DeviceError says that the device cannot hold or run these groups.
    """

    def __init__(
        self, space: SearchSpace, layout: Layout, number: int, device: Device, options: Options, *, begun: bool
    ) -> None:
        self._vertices = space.graph.n
        self._longest = space.longest
        self._smaller_blocks = space.smaller_blocks(layout)
        self._device = device
        self._options = options
        self._begun = begun
        self._budget: int | None = None
        self._blocks: list[ResidentBlocks] = []
        self._search: tuple[int, SweepSearch | WaveSearch] | None = None
        self.groups = space.batches(layout, device.word_bits)[number]
        self.is_wave = device.arch != "cpu" or layout.whole
        # A wave takes most often all seeds of its group at once: then nothing is gained by a walk of some milliseconds.
        self._weighs_late = self.is_wave and len(self.groups) == 1 and options.part is None
        if self._weighs_late:
            self.weights = [group.pairs_of_seed / group.pairs_of_seed.sum() for group in self.groups]
        else:
            # The weights take as much memory as the largest group, and seconds; what they keep counts in `make_room`.
            budget = self._budget_for_groups()
            # The parts of one search must agree on the weights, whatever memory each may take.
            is_bound = device.arch == "cpu" and options.part is None
            self.weights = seed_weights(self.groups, self._longest, budget if is_bound else None)

    def make_room(self) -> None:
        """Reserve the memory budget; bring the groups to the device if the schedule needs all of them at once."""
        if self._budget is not None:
            return
        budget = self._budget_for_groups()
        if not self.is_wave:
            self._blocks = [self._resident(number) for number in range(len(self.groups))]
            budget -= sum(group.bytes for group in self._blocks)
        self._budget = budget

    def _budget_for_groups(self) -> int:
        """Return the memory budget; raise an error if the device cannot hold or run these groups within it."""
        budget = search_budget(self._device, self._options.memory, begun=self._begun)
        if self.is_wave:
            for group in self.groups:
                require_room(self._device, [group], budget, self._smaller_blocks)
                require_loops(self._device, group)
        else:
            require_room(self._device, self.groups, budget, self._smaller_blocks)
        return budget

    def stage_1(self, surveyed: list[int]) -> SurveySearch:
        """Return the sweep's search for the triangles and triplets of all groups, from the `surveyed` seeds on."""
        from kernels_ti.sweep.search_stage_1 import SurveySearch

        return SurveySearch(self._blocks, surveyed, self._longest, self._options.members)

    def stage_2(self, number: int, state: GroupState) -> SweepSearch | WaveSearch:
        """Return the search of what is left of a group. One is held at a time; that of the same group is used again."""
        if self._search is not None and self._search[0] == number:
            self._search[1].restart(state)
            return self._search[1]
        self._search = None  # its memory is for the next one
        self._search = number, (self._wave if self.is_wave else self._sweep)(number, state)
        return self._search[1]

    def compile(self) -> None:
        """Compile the kernels of stage 2, those for the group with the most work last, whose search stays."""
        if self._longest <= 3:
            return
        self.make_room()
        for number in sorted(range(len(self.groups)), key=lambda each: float(self.weights[each].sum())):
            seeds = len(self.groups[number].seed_entries)
            search = self.stage_2(number, GroupState(surveyed=seeds, next_seed=seeds))
            if search.compiling:
                search.advance(0.0)

    def _resident(self, number: int) -> ResidentBlocks:
        options = self._options
        return ResidentBlocks.compiled(self._device, self.groups[number], self._vertices, options.collect, options.rows)

    def _sweep(self, number: int, state: GroupState) -> SweepSearch:
        from kernels_ti.sweep.search import SweepSearch

        assert self._budget is not None
        weight, members = self.weights[number], self._options.members
        pruned = self._options.pruned
        return SweepSearch(self._blocks[number], self._longest, members, state, weight, self._budget, pruned=pruned)

    def _wave(self, number: int, state: GroupState) -> WaveSearch:
        from kernels_ti.wave.search import WaveSearch

        assert self._budget is not None
        blocks, options = self._resident(number), self._options
        two_ended, memory = options.expansion == "two-ended", self._budget - blocks.bytes
        # It knows the groups alone: a search that held its batch would keep its buffers until Python collects both.
        groups, longest = self.groups, self._longest
        weigh = (lambda: seed_weights(groups, longest)[number]) if self._weighs_late else None
        return WaveSearch(
            blocks, self._longest, options.members, two_ended, state, self.weights[number], memory, weigh,
            pruned=options.pruned,
        )  # fmt: skip


class BatchCache:
    """The batch of blocks that is on the device, kept from one run of a search to the next."""

    def __init__(self) -> None:
        self._key: tuple[Layout, int] | None = None
        self._batch: ResidentBatch | None = None

    def batch(
        self, space: SearchSpace, layout: Layout, number: int, device: Device, options: Options, *, begun: bool
    ) -> ResidentBatch:
        """Return the kept batch if it is this one; else make it, in the place of the kept one.

        The parameters are those of `ResidentBatch`. All calls are for the same space, device and options.
        """
        if self._batch is None or self._key != (layout, number):
            self._batch = None
            self._batch = ResidentBatch(space, layout, number, device, options, begun=begun)
            self._key = layout, number
        return self._batch

    def clear(self) -> None:
        """Drop the kept batch: its searches may be in any state after an error."""
        self._batch = None


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
