"""The groups of one batch of blocks on a device, and the searches that are made in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import Device
from kernels_ti.device.memory import search_budget
from kernels_ti.estimate.estimate import seed_weights
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.options import Options
from kernels_ti.search import require_loops, require_room
from kernels_ti.state import GroupState, Layout

if TYPE_CHECKING:
    from kernels_ti.sweep.search import SweepSearch
    from kernels_ti.sweep.search_stage_1 import SurveySearch
    from kernels_ti.wave.search import WaveSearch


class ResidentBatch:
    """One batch of blocks, ready to be searched. Only the thread of the device may use it.

    `weights` are the estimated share of the search below each seed of each group. With `begun` a part of the search is
    done, see `kernels_ti.device.memory.search_budget`. `is_wave` says that the schedule is the wave, not the sweep.
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
        pairs = [group.pairs_of_seed for group in self.groups]
        self.weights = (
            [each / each.sum() for each in pairs] if self._weighs_late else seed_weights(self.groups, self._longest)
        )

    def make_room(self) -> None:
        """Reserve the memory budget; bring the groups to the device if the schedule needs all of them at once.

        A SizeError or DeviceError says that the device cannot hold or run these groups.
        """
        if self._budget is not None:
            return
        budget = search_budget(self._device, self._options.memory, begun=self._begun)
        if self.is_wave:
            for group in self.groups:
                require_room(self._device, [group], budget, self._smaller_blocks)
                require_loops(self._device, group)
        else:
            require_room(self._device, self.groups, budget, self._smaller_blocks)
            self._blocks = [self._resident(number) for number in range(len(self.groups))]
            budget -= sum(group.bytes for group in self._blocks)
        self._budget = budget

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
