"""The records of the wave: chordless paths in an arena that grows from both ends, and counters with carry.

A record is a path of the frontier: the vertices that are still `allowed` to join, its two ends, and its
`members` when cycles are wanted. Word w of record p lies at ``w * capacity + p``, so that neighbouring work
items read neighbouring words. Levels of even length fill the arena from the left, those of odd length from
the right; side s of the arena is addressed by its next free place and a direction.

Counters are pairs of 32-bit cells, low and high: not every device has 64-bit integers.
"""

from kernels_ti.bits import population
from kernels_ti.taichi_door import ti

CELLS_PER_LEVEL = 8  # Cells that each level of a launch queue has in `control`
MOST_LEVELS = 64  # Levels of the search that may be queued before the host reads the counters

MEETINGS = CELLS_PER_LEVEL * MOST_LEVELS
"""First cell after those of the levels: for each level, the number of thread blocks that are done with it."""

GATES, SECTOR = 16, 8
FIRST_GATE = MEETINGS + MOST_LEVELS
"""Cells after those, each in its own memory sector: the number of levels that all blocks are done with."""

CELLS = FIRST_GATE + GATES * SECTOR  # Cells of `control`
HERE, MOST_HERE = MEETINGS, MEETINGS + 1  # Cells by which thread blocks are counted, see `attend`
CHILDREN, CYCLES = 0, 2  # First cells of the two counters: records placed for the next level, cycles found

GROUP_SIDE = 16
GROUP = GROUP_SIDE * GROUP_SIDE
"""Work items of a group that reserve places together; it is a thread block of the GPU."""

WARP, WHOLE_WARP = 32, 0xFFFFFFFF
"""Work items of a CUDA warp, which can read one another's registers, and the mask of all of them."""

READY, ROOM, TAKEN, NEXT = 4, 5, 6, 7
"""Cells for the records that the level expands, the free places for cycles, the cycles stored before, and the records
that warps have taken after their first batch of records."""


@ti.func
def count_up(control: ti.template(), cell, amount):
    """Add to a counter of two cells; return the previous value of its low cell."""
    before = ti.atomic_add(control[cell], ti.cast(amount, ti.u32))
    if before + ti.cast(amount, ti.u32) < before:
        ti.atomic_add(control[cell + 1], ti.u32(1))
    return ti.cast(before, ti.i32)


@ti.func
def placed(control: ti.template(), cell, amount):
    """Reserve `amount` consecutive places for this work item with an atomic of its own; return the first."""
    first = 0
    if amount > 0:
        first = count_up(control, cell, amount)
    return first


@ti.func
def cycle_place(base, offset, capacity):
    """Return the place of a cycle: `base` plus `offset`, or `capacity` if there is no such place.

    A counter beyond 31 bits reads as a negative number, which would point to cycles of earlier launches.
    """
    at = capacity
    if offset >= 0:
        at = base + offset
    return at


@ti.func
def padded(items):
    """Round a number of work items up to whole groups."""
    return (items + GROUP - 1) // GROUP * GROUP


@ti.func
def summed_up(amounts, item, sums: ti.template()):
    """Add up the amounts of the work items of a group before this one, without atomics.

    Each item adds up those before it in its row of `GROUP_SIDE`, and the sums of the rows before.
    """
    me = item % GROUP
    row = me // GROUP_SIDE
    sums[me] = amounts
    ti.simt.block.sync()
    if me < GROUP_SIDE:
        total = ti.u32(0)
        for k in ti.static(range(GROUP_SIDE)):
            total += sums[me * GROUP_SIDE + k]
        sums[GROUP + me] = total
    ti.simt.block.sync()
    before = ti.u32(0)
    for k in ti.static(range(GROUP_SIDE)):
        if k < me % GROUP_SIDE:
            before += sums[row * GROUP_SIDE + k]
        if k < row:
            before += sums[GROUP + k]
    return before


@ti.func
def placed_together(control: ti.template(), level, opened, closing, item):
    """Reserve places for the children and cycles of a whole group of work items with one atomic for each.

    One atomic for each work item would be the slowest part of a launch, because all use the same address. Every item of
    the group must take part. Up to 255 children and cycles of an item share a word. Returns the first place for the
    item's children, and for its cycles.
    """
    # One cell for each item, one for each row, and the first places of the group.
    sums = ti.simt.block.SharedArray((GROUP + GROUP_SIDE + 2,), ti.u32)
    amounts = ti.cast(opened, ti.u32) | ti.cast(closing, ti.u32) << ti.u32(16)
    before = summed_up(amounts, item, sums)
    if item % GROUP == GROUP - 1:
        total = before + amounts
        children, found = ti.cast(total & ti.u32(0xFFFF), ti.i32), ti.cast(total >> ti.u32(16), ti.i32)
        cell = CELLS_PER_LEVEL * level
        sums[GROUP + GROUP_SIDE] = ti.cast(placed(control, cell + CHILDREN, children), ti.u32)
        sums[GROUP + GROUP_SIDE + 1] = ti.cast(placed(control, cell + CYCLES, found), ti.u32)
    ti.simt.block.sync()
    child = ti.cast(sums[GROUP + GROUP_SIDE] + (before & ti.u32(0xFFFF)), ti.i32)
    cycle = ti.cast(sums[GROUP + GROUP_SIDE + 1] + (before >> ti.u32(16)), ti.i32)
    ti.simt.block.sync()
    return child, cycle


@ti.func
def rank_of(mask, lane):
    """Count the lanes of a mask before this one."""
    return population(mask & ((1 << lane) - 1), 32)


@ti.func
def placed_by_warp(control: ti.template(), cell, amount, lane):
    """Reserve places for all lanes of a warp with one atomic.

    Returns the first place of the warp, the places of the lanes before this one, and those of all lanes.
    """
    upto = amount
    for i in ti.static(range(5)):
        below = ti.simt.warp.shfl_up_i32(ti.u32(WHOLE_WARP), upto, 1 << i)
        if lane >= 1 << i:
            upto += below
    first = 0
    if lane == WARP - 1:
        first = placed(control, cell, upto)
    first = ti.simt.warp.shfl_sync_i32(ti.u32(WHOLE_WARP), first, WARP - 1)
    total = ti.simt.warp.shfl_sync_i32(ti.u32(WHOLE_WARP), upto, WARP - 1)
    return first, upto - amount, total
