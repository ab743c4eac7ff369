"""The groups of a state that is resumed: whatever a file holds, no frame leads outside the blocks of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels_ti.blocks.block_group import BlockGroup
from kernels_ti.errors import OptionError
from kernels_ti.state import STATE_WORD_BITS, Frames, GroupState, RunState, below


def resumed_groups(state: RunState, groups: Sequence[BlockGroup], *, members: bool) -> list[GroupState]:
    """Return the groups of a state, whose frames are checked when they are read; frames have members if `members`.

    Raise an OptionError unless there is one for each group of blocks, and none has more seeds.
    """
    kept = list(state.groups)
    if len(kept) != len(groups) or any(
        max(each.surveyed, each.next_seed) > len(group.seed_entries) for each, group in zip(kept, groups, strict=True)
    ):
        raise OptionError("the state does not fit the graph: it has other groups of blocks")
    return [
        replace(each, frames=_Fitting(each.frames, group, members)) if each.frames != () else each
        for each, group in zip(kept, groups, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Frames that raise an OptionError when one that does not fit its block is reached."""

    frames: Iterable[Frames]
    group: BlockGroup
    members: bool

    def __iter__(self) -> Iterator[Frames]:
        for frames in self.frames:
            if not _fit(frames, self.group, members=self.members):
                raise OptionError("the state does not fit the graph: a path leads out of its block")
            yield frames


def _fit(frames: Frames, group: BlockGroup, *, members: bool) -> bool:
    """Say whether the ends and the labels of frames are those of a block, and no path is longer than its block."""
    words = -(-group.words * group.word_bits // STATE_WORD_BITS)
    if frames.extensions.shape[1] != words or (members and frames.members is None):
        return False
    if not ((frames.end >= 0) & (frames.end < group.end_rows) & (frames.length <= group.longest_block)).all():
        return False
    block = group.first_row[frames.end % group.rows]
    sizes, size = np.unique(np.bincount(group.first_row)[block], return_inverse=True)
    beyond = ~below(sizes, words)[size]
    return not any((row & beyond).any() for row in (frames.extensions, frames.members) if row is not None)
