"""Parts of one search: N machines each search a deterministic part, without communication.

Every part begins in the same way: the frames of all seeds are split and expanded, breadth first, until there are many.
Then they are dealt out to the parts. Everything counted before that belongs to part 1. Nothing here depends on a
floating-point number, so different machines deal out the same frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import Begun, SearchSpace
from kernels_ti.cycles import canonical, in_order
from kernels_ti.estimate.host_step import HostBlocks, labels_of
from kernels_ti.estimate.strata import Floats
from kernels_ti.graph import IntArray
from kernels_ti.state import Frames, GroupState, Rows, Totals, by_length, populations

FRAMES_PER_PART = 64
FEWEST_FRAMES = 4096
"""Frames that are dealt out in all, if a level of the search has as many. There are many because their work differs."""


def split(
    groups: list[BlockGroup], weights: list[Floats], part: int, parts: int, max_length: int, collect: bool
) -> Begun:
    """Make part `part`, from 1, of the search of some groups of blocks. The frames of the parts are disjoint.

    Together with the counts of part 1, which lack the triplets and triangles, they are the whole search. All parts must
    be made from the same groups, in the same order, with the same bounds. The weights are the share of the search below
    each seed, see `kernels_ti.estimate.estimate.seed_weights`; those of the part's frames add up to 1. In every group
    ``next_seed`` is at the end: all remaining work is in frames. Only part 1 still has to count the triangles and
    triplets.
    """
    wanted = max(FRAMES_PER_PART * parts, FEWEST_FRAMES)
    if max_length > 3 and sum(len(group.seed_entries) for group in groups) >= wanted:
        made = _dealt_seeds(groups, weights, part, parts, collect)
    else:
        largest = _grown(_first_level(groups, weights, max_length, collect), wanted, max_length)
        made = Begun(_states(groups, _dealt(largest.paths, 0, part, parts)[0], part))
        if part == 1:
            made = Begun(made.groups, largest.totals, largest.cycles())
    if all(group.required is None for group in groups):
        return made
    return _after_stage_one(made, groups, part, max_length)


def begun_on_host(
    space: SearchSpace,
    batch: int,
    groups: list[BlockGroup],
    weights: list[Floats],
    part: tuple[int, int] | None,
    collect: bool,
) -> Begun | None:
    """Make the first frames of a batch, or of one part of it; None where its seeds begin the search on the device.

    The parameters are those of `split`; `part` is the number of the part and the number of parts. The cycles are
    counted as the run keeps its totals.
    """
    made = space.begun(batch, groups)
    if made is not None:
        return made if part is None else _part_of_begun(space, batch, groups, made, *part)
    if part is not None:
        made = split(groups, weights, *part, space.longest, collect)
    elif any(group.required is not None for group in groups):
        # The search has one root and few seeds. So stage 1 is done here, and stage 2 begins with frames.
        made = Begun(tuple(GroupState(next_seed=len(group.seed_entries)) for group in groups))
        if space.longest > 3:
            made = _dealt_seeds(groups, weights, 1, 1, True)
        made = _after_stage_one(made, groups, 1, space.longest)
    else:
        return None
    return replace(made, totals=Totals(made.totals.paths, space.scaled(batch, made.totals.cycles)))


def _part_of_begun(
    space: SearchSpace, batch: int, groups: list[BlockGroup], whole: Begun, part: int, parts: int
) -> Begun:
    """Deal out the frames with which a space begins a batch, those of each length by themselves."""
    totals, states, found, before = Totals(), [], [*whole.found], 0
    wanted = max(FRAMES_PER_PART * parts, FEWEST_FRAMES)
    totals.add(whole.totals.paths, whole.totals.cycles)
    for group, state in zip(groups, whole.groups, strict=True):
        blocks, frames = HostBlocks(group), []
        for piece in by_length(state.frames):
            alive = _shared_out(piece[blocks.alive(piece)])
            level = _grown(_Level([blocks], [alive]), wanted, space.longest)
            dealt, before = _dealt(level.paths, before, part, parts)
            frames += dealt
            totals.add(level.totals.paths, space.scaled(batch, level.totals.cycles))
            found += level.cycles()
        share = sum(each.share for each in frames)
        given = tuple(replace(each, weight=each.weight / share) for each in frames if len(each))
        states.append(replace(state, frames=given))
    return Begun(tuple(states)) if part > 1 else Begun(tuple(states), totals, found)


def _after_stage_one(made: Begun, groups: list[BlockGroup], part: int, max_length: int) -> Begun:
    """Do stage 1 of groups whose cycles must pass several vertices; its counts belong to part 1."""
    states = tuple(
        replace(state, surveyed=len(group.seed_entries)) for state, group in zip(made.groups, groups, strict=True)
    )
    if part > 1:
        return replace(made, groups=states)
    totals, found = made.totals.copy(), list(made.found)
    for group in groups:
        blocks = HostBlocks(group)
        triangles, triplets = blocks.survey(max_length)
        totals.add({3: triplets}, {3: triangles})
        seeds, last = labels_of(blocks.triangles(np.arange(len(group.seed_entries))))
        u = group.seed_roots[seeds]
        x = group.neighbour[group.seed_entries[seeds]]
        rows = np.column_stack((x % group.rows, u, group.first_row[u] + last))
        directed = group.roles == 2
        found += [canonical(cycle, directed=directed) for cycle in group.vertex_of_row[rows].tolist()]
    return Begun(states, totals, found)


def _dealt(paths: list[Frames], before: int, part: int, parts: int) -> tuple[list[Frames], int]:
    """Return the paths of a part, and the number of paths dealt out with these; `before` were dealt out already."""
    dealt = []
    for each in paths:
        dealt.append(each[(part - 1 - before) % parts :: parts])
        before += len(each)
    return dealt, before


def _dealt_seeds(groups: list[BlockGroup], weights: list[Floats], part: int, parts: int, collect: bool) -> Begun:
    """Deal out whole seeds, if there are many; frames are made only for the seeds of this part."""
    dealt, before = [], 0
    for group, weight in zip(groups, weights, strict=True):
        count = len(group.seed_entries)
        chosen = np.arange((part - 1 - before) % parts, count, parts)
        dealt.append(seed_frames(HostBlocks(group), chosen, collect, weight[chosen]))
        before += count
    return Begun(_states(groups, dealt, part))


def _states(groups: list[BlockGroup], dealt: list[Frames], part: int) -> tuple[GroupState, ...]:
    """Make the states of the groups from the frames of this part; scale the weights so that their sum is 1."""
    share = sum(frames.share for frames in dealt)
    states = []
    for group, frames in zip(groups, dealt, strict=True):
        seeds = len(group.seed_entries)
        given = (replace(frames, weight=frames.weight / share),) if len(frames) else ()
        states.append(GroupState(surveyed=0 if part == 1 else seeds, next_seed=seeds, frames=given))
    return tuple(states)


def seed_frames(blocks: HostBlocks, seeds: IntArray, collect: bool, weight: Floats) -> Frames:
    """Make the frames of some seeds, in their order, like the sweep when it takes a seed; `collect` gives them members.

    The frame of the seed (u, x) is the path <x, u>: it grows at u, and x waits. Frames that cannot lead to a cycle are
    left out. `weight` is the share of the search below each seed.
    """
    frames = blocks.seed_frames(seeds, members=collect, weight=weight)
    return _shared_out(frames[blocks.alive(frames)])


def _cycles_of(group: BlockGroup, members: Rows, closers: Rows, vertex: IntArray) -> list[list[int]]:
    """Return the cycles of paths with the extensions that close them."""
    path, closer = labels_of(closers)
    cycle_of_label, label = labels_of(members[path])
    labels: list[list[int]] = [[int(v)] for v in closer]
    for cycle, v in zip(cycle_of_label.tolist(), label.tolist(), strict=True):
        labels[cycle].append(v)
    first = group.first_row[vertex[path] % group.rows].tolist()

    def near(row: int) -> list[int]:
        found: list[int] = group.neighbour[group.row_ptr[row] : group.row_ptr[row + 1]].tolist()
        return found

    orders = [in_order([row + v for v in own], near) for row, own in zip(first, labels, strict=True)]
    return [canonical(group.vertex_of_row[order].tolist(), directed=group.roles == 2) for order in orders]


@dataclass(frozen=True, eq=False)
class _Level:
    """A level of the breadth-first search: the paths of each group, and the counts of the levels before."""

    blocks: list[HostBlocks]
    paths: list[Frames]
    totals: Totals = field(default_factory=Totals)
    closed: tuple[Callable[[], list[list[int]]], ...] = ()  # What makes the cycles that were met

    @property
    def size(self) -> int:
        return sum(map(len, self.paths))

    def cycles(self) -> list[list[int]]:
        return [cycle for cycles in self.closed for cycle in cycles()]

    def next(self, max_length: int) -> _Level:
        totals, closed, longer = self.totals.copy(), list(self.closed), []
        for blocks, paths in zip(self.blocks, self.paths, strict=True):
            if not len(paths):
                longer.append(paths)
                continue
            length = int(paths.length[0]) + 2
            step = blocks.expand(paths, max_length)
            cycles = int(populations(step.closers).sum())
            _, children = blocks.singled(_shared_out(step.children))
            totals.add({length: len(children)}, {length: cycles})
            if cycles and paths.members is not None:
                closes = step.closers.any(axis=1)
                members = (paths.members | paths.extensions)[closes]
                ends = paths.end[closes].astype(np.int64)
                closed.append(partial(_cycles_of, blocks.group, members, step.closers[closes], ends))
            longer.append(children)
        return _Level(self.blocks, longer, totals, tuple(closed))


def _grown(level: _Level, wanted: int, max_length: int) -> _Level:
    """Return the next level that has so many paths; the largest one if none has."""
    largest = level
    while 0 < level.size < wanted:
        level = level.next(max_length)
        if level.size > largest.size:
            largest = level
        elif 2 * level.size < largest.size:
            break
    return largest


def _first_level(groups: list[BlockGroup], weights: list[Floats], max_length: int, collect: bool) -> _Level:
    blocks = [HostBlocks(group) for group in groups]
    paths = []
    for each, weight in zip(blocks, weights, strict=True):
        seeds = np.arange(len(weight) if max_length > 3 else 0)
        _, triplets = each.singled(seed_frames(each, seeds, collect, weight[: len(seeds)]))
        paths.append(triplets)
    return _Level(blocks, paths)


def _shared_out(frames: Frames) -> Frames:
    return replace(frames, weight=frames.weight / populations(frames.extensions))
