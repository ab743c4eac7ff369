"""The records of the wave: chordless paths in an arena that grows from both ends, and counters with carry.

A record is a path of the frontier: the vertices that are still `allowed` to join, its two ends, and its
`members` when cycles are wanted. Word w of record p lies at ``w * capacity + p``, so that neighbouring work
items read neighbouring words. Levels of even length fill the arena from the left, those of odd length from
the right; side s of the arena is addressed by its next free place and a direction.

Counters are pairs of 32-bit cells, low and high: 64-bit integers are not to be had on every device.
"""

import taichi as ti

CELLS_PER_LEVEL = 4
MOST_LEVELS = 4
"""Levels that one launch may expand; the time to compile grows faster than they do."""

CHILDREN, CYCLES = 0, 2
"""First cells of the two counters that each level of a launch has in `control`."""


@ti.func
def count_up(control: ti.template(), cell, amount):
    """Add to a counter of two cells; return the low cell as it was before."""
    before = ti.atomic_add(control[cell], ti.cast(amount, ti.u32))
    if before + ti.cast(amount, ti.u32) < before:
        ti.atomic_add(control[cell + 1], ti.u32(1))
    return ti.cast(before, ti.i32)


@ti.func
def placed(warp: ti.template(), control: ti.template(), cell, amount, item):
    """Reserve `amount` consecutive places for this work item; return the first.

    With `warp` (CUDA, every lane of the warp takes part) there is one atomic to a warp, else one to an item.
    """
    first = 0
    if ti.static(warp):
        lane = item & 31
        upto = amount
        for i in ti.static(range(5)):
            below = ti.simt.warp.shfl_up_i32(ti.u32(0xFFFFFFFF), upto, 1 << i)
            if lane >= 1 << i:
                upto += below
        base = 0
        if lane == 31 and upto > 0:
            base = count_up(control, cell, upto)
        first = ti.simt.warp.shfl_sync_i32(ti.u32(0xFFFFFFFF), base, 31) + upto - amount
    elif amount > 0:
        first = count_up(control, cell, amount)
    return first


@ti.func
def records_ready(control: ti.template(), level: ti.template(), parents, free, cycle_room):
    """Say how many records level `level` of a launch has to expand: none once an earlier level did not fit.

    A level fits when its children and itself share `free` places of the arena, and its cycles the places of
    `cycle_room` that earlier levels left. The host judges by the same rule.
    """
    ready = parents
    room = cycle_room
    for j in ti.static(range(level)):
        children = control[CELLS_PER_LEVEL * j + CHILDREN]
        cycles = control[CELLS_PER_LEVEL * j + CYCLES]
        carries = control[CELLS_PER_LEVEL * j + CHILDREN + 1] + control[CELLS_PER_LEVEL * j + CYCLES + 1]
        fits = ready > 0 and carries == 0 and children <= ti.cast(ti.max(free - ready, 0), ti.u32)
        if fits and cycles <= ti.cast(room, ti.u32):
            ready = ti.cast(children, ti.i32)
            room -= ti.cast(cycles, ti.i32)
        else:
            ready = 0
    return ready


@ti.func
def cycles_before(control: ti.template(), level: ti.template()):
    """Add up the cycles that the earlier levels of a launch found."""
    cycles = ti.u32(0)
    for j in ti.static(range(level)):
        cycles += control[CELLS_PER_LEVEL * j + CYCLES]
    return ti.cast(cycles, ti.i32)


@ti.kernel
def counters(control: ti.types.ndarray(ti.u32, 1)) -> ti.types.vector(CELLS_PER_LEVEL * MOST_LEVELS, ti.u32):
    """Return all counters of a launch: much faster than copying the array to the host."""
    cells = ti.Vector([ti.u32(0)] * (CELLS_PER_LEVEL * MOST_LEVELS))
    for k in ti.static(range(CELLS_PER_LEVEL * MOST_LEVELS)):
        cells[k] = control[k]
    return cells
