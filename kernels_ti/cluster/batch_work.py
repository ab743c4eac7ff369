"""The work of one batch of blocks, as frames that can be leased, and the batches after it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.resumed import resumed_groups
from kernels_ti.blocks.search_space import Begun, SearchSpace
from kernels_ti.choices import EXPANSIONS
from kernels_ti.cluster.leases import Chunk, chunks_of, groups_of
from kernels_ti.errors import OptionError, parameter
from kernels_ti.estimate.estimate import seed_weights
from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.estimate.parts import begun_on_host, seed_frames
from kernels_ti.options import Options
from kernels_ti.state import STATE_WORD_BITS, Frames, GroupState, Layout, RunState


class BatchWork:
    """The batches of a search, one after another; `batch` is the number of the current one.

    For each group of it, `seeds` has the number of seeds, `surveyed` that of those whose triangles and triplets are
    counted.
    """

    def __init__(self, space: SearchSpace, options: Options, layout: Layout, batch: int) -> None:
        self._space = space
        self._options = options
        self._layout = layout
        self._batches = space.batches(layout, STATE_WORD_BITS)
        self.batch = batch
        self.seeds: list[int] = []
        self.surveyed: list[int] = []

    @property
    def ended(self) -> bool:
        """Whether no batch is left."""
        return self._space.longest < 3 or self.batch >= len(self._batches)

    @property
    def is_surveyed(self) -> bool:
        """Whether all triangles and triplets of the batch are counted."""
        return self.surveyed == self.seeds

    def begin(self, resumed: RunState | None) -> tuple[list[Chunk], Begun | None]:
        """Make the work of the current batch: what is left of it, or all if `resumed` is None.

        Returns chunks, and what was found on the way; None for a resumed batch.
        """
        groups = self._batches[self.batch]
        weights = seed_weights(groups, self._space.longest)
        self.seeds = [len(group.seed_entries) for group in groups]
        begun = None
        if resumed is not None and resumed.groups:
            states = tuple(resumed_groups(resumed, groups, members=self._options.members))
        else:
            part = self._options.part or (1, 1)
            begun = begun_on_host(self._space, self.batch, groups, weights, part, self._options.members)
            assert begun is not None
            states = begun.groups
        self.surveyed = [state.surveyed for state in states]
        chunks = []
        for number, (group, state, weight) in enumerate(zip(groups, states, weights, strict=True)):
            for frames in self._frames_of(group, state, weight):
                chunks += chunks_of(number, frames)
        return chunks, begun

    def state(self, chunks: list[Chunk], *, surveyed: list[int] | None, alone: bool) -> RunState:
        """Return the state of a run that has some chunks of this batch to do, and no later batch if `alone`.

        `surveyed` has the seeds of each group whose triangles and triplets are counted; None for all.
        """
        groups = () if self.ended else groups_of(chunks, self.seeds, surveyed)
        batches = self.batch + 1 if alone else None
        return RunState(layout=self._layout, batch=self.batch, groups=groups, batches=batches)

    def share_done(self, left: float) -> float:
        """Return the share of the search that is done if a share `left` of this batch is not."""
        shares = self._batches.shares
        return float(shares[: self.batch].sum() + shares[self.batch] * (1 - min(left, 1.0)))

    def _frames_of(self, group: BlockGroup, state: GroupState, weight: npt.NDArray[np.float64]) -> list[Frames]:
        """Return the frames of a group; seeds that wait become frames."""
        if self._space.longest <= 3:
            return []
        waiting = np.arange(state.next_seed, len(weight))
        made = [*state.frames]
        if len(waiting):
            made.append(seed_frames(HostBlocks(group), waiting, self._options.members, weight[waiting]))
        return [frames for frames in made if len(frames)]


def require_fit(options: Options, arch: str) -> None:
    """Raise OptionError for options that a search on a cluster cannot have."""
    if arch == "reference":
        raise OptionError(f"{parameter('arch', 'reference')} searches in one piece, not on a cluster")
    if options.expansion != EXPANSIONS[0]:
        raise OptionError(f"{parameter('expansion', options.expansion)} searches in one piece, not on a cluster")
    if options.participation != "none":
        raise OptionError("a count for each vertex or edge is made on one machine, not on a cluster")
