"""The levels of a launch queue of the wave, and how CUDA thread blocks go from one level to the next.

A launch takes longer than a small level of the search. So the thread blocks stay on the device for several levels.
When all blocks are done with a level, they begin the next one. The counters tell it what the previous level has made.
"""

from kernels_ti.device.placing import (
    CELLS_PER_LEVEL,
    CHILDREN,
    CYCLES,
    FIRST_GATE,
    GATES,
    HERE,
    MEETINGS,
    MOST_HERE,
    NEXT,
    READY,
    ROOM,
    SECTOR,
    TAKEN,
    WARP,
    WHOLE_WARP,
    placed_by_warp,
)
from kernels_ti.taichi_door import fence, ti

ATTENDING = 300
"""Polls that a thread block makes before it leaves: a fraction of a millisecond, after which all blocks have begun."""


@ti.func
def opened_level(control: ti.template(), level, levels, parents, free, cycle_room):
    """Compute the work of a level in a launch queue from the counters of the level before it.

    The first level expands `parents` records. A later one, up to `levels`, expands the children of the level before it,
    and none once a level did not fit: a level fits when its children and itself share `free` places of the arena, and
    its cycles the places of `cycle_room` that earlier levels left. The host judges by the same rule. Returns the
    records that are ready, the places left for cycles, and the cycles stored by the levels before.
    """
    ready, room, taken = parents, cycle_room, 0
    if level > 0:
        before = CELLS_PER_LEVEL * (level - 1)
        children, cycles = control[before + CHILDREN], control[before + CYCLES]
        expanded = ti.cast(control[before + READY], ti.i32)
        room = ti.cast(control[before + ROOM], ti.i32)
        taken = ti.cast(control[before + TAKEN], ti.i32)
        ready = 0
        if level < levels and control[before + CHILDREN + 1] + control[before + CYCLES + 1] == ti.u32(0):
            if children <= ti.cast(ti.max(free - expanded, 0), ti.u32) and cycles <= ti.cast(room, ti.u32):
                ready = ti.cast(children, ti.i32)
                room -= ti.cast(cycles, ti.i32)
                taken += ti.cast(cycles, ti.i32)
    return ready, room, taken


@ti.func
def note_level(control: ti.template(), level, ready, room, taken):
    """Store the result of `opened_level` for the next level."""
    cell = CELLS_PER_LEVEL * level
    control[cell + READY] = ti.cast(ready, ti.u32)
    control[cell + ROOM] = ti.cast(room, ti.u32)
    control[cell + TAKEN] = ti.cast(taken, ti.u32)


@ti.func
def taken_by_warp(control: ti.template(), level, spread, ready, batches, lane):
    """Take the next batch of a level, behind those that warps began with, which hold `spread` records together.

    Only lane 0 gets the number of its first record. A warp takes its next batch before it expands the present one, so
    that it need not wait for the atomic.
    """
    item = ready
    if lane == 0 and spread < ready:
        size = ti.cast(batches * WARP, ti.u32)
        item = spread + ti.cast(ti.atomic_add(control[CELLS_PER_LEVEL * level + NEXT], size), ti.i32)
    return item


@ti.func
def said_by_first(value):
    """Return the value of lane 0 to all lanes of a warp."""
    return ti.simt.warp.shfl_sync_i32(ti.u32(WHOLE_WARP), value, 0)


@ti.func
def meet(control: ti.template(), level, blocks, block, speaks):
    """Wait until `blocks` thread blocks are done with a level: a barrier. Their earlier writes can be read afterwards.

    One work item of each block `speaks` for it. The last block to arrive opens the gates, which the others poll. If
    they polled the arrival counter instead, they would slow down the last block. All blocks must be on the device at
    the same time, or they would wait for ever; `attend` measures how many are.
    """
    ti.simt.block.sync()
    if speaks:
        fence()
        before = ti.atomic_add(control[MEETINGS + level], ti.u32(1))
        if before + ti.u32(1) == ti.cast(blocks, ti.u32):
            fence()
            for gate in range(GATES):
                ti.atomic_max(control[FIRST_GATE + gate * SECTOR], ti.cast(level + 1, ti.u32))
        opened = ti.u32(0)
        while opened <= ti.cast(level, ti.u32):
            opened = ti.atomic_add(control[FIRST_GATE + block % GATES * SECTOR], ti.u32(0))
        fence()
    ti.simt.block.sync()


@ti.func
def attend(control: ti.template(), speaks):
    """Measure how many thread blocks run at the same time.

    Each block counts itself in, waits, and counts itself out. A block for which there is no room starts only after
    another has ended, so it never raises the largest number seen. All work items of a block wait: if some ended early,
    their registers could make room for another block.
    """
    if speaks:
        ti.atomic_max(control[MOST_HERE], ti.atomic_add(control[HERE], ti.u32(1)) + ti.u32(1))
        rounds = 0
        while rounds < ATTENDING and ti.atomic_add(control[HERE], ti.u32(0)) > ti.u32(0):
            rounds += 1
        ti.atomic_sub(control[HERE], ti.u32(1))
    ti.simt.block.sync()


@ti.func
def through_levels(
    expand: ti.template(), given: ti.template(), collect: ti.template(), most_batches: ti.template(),
    block_threads: ti.template(), thread, meeting, control: ti.template(), levels, parents, free, cycle_room,
    from_start, to_start, direction,
):  # fmt: skip
    """Go through the levels of a queue of the wave on CUDA, batch by batch, with all other thread blocks.

    `expand` expands a batch with all lanes of a warp. It takes the lane, the first record of the batch, its records for
    each lane, at most `most_batches`, the records of the level, the level, where records are read, where children are
    placed, the direction, the places for children, the cycles stored by earlier levels, and then the arguments in
    `given`. It returns how many cycles this lane has seen and not counted: none with `collect`. `meeting` thread blocks
    of `block_threads` take part; the others leave at once. `thread` is the number of this one in the launch. For the
    places see `opened_level` and `kernels_ti.wave.kernels.expand_kernel`.
    """
    lane, speaks = thread & WARP - 1, thread & block_threads - 1 == 0
    threads = meeting * block_threads
    level, going = 0, ti.cast(thread < threads, ti.i32)
    while going == 1:
        ready, room, taken = opened_level(control, level, levels, parents, free, cycle_room)
        if thread == 0:
            note_level(control, level, ready, room, taken)
        start, target, way = from_start, to_start, direction
        if level % 2 == 1:
            start, target, way = to_start, from_start, -direction
        batches = ti.min(ti.max(ready // threads, 1), most_batches)
        item, closed = (thread >> 5) * batches * WARP, 0
        while item < ready:
            following = taken_by_warp(control, level, threads * batches, ready, batches, lane)
            closed += expand(lane, item, batches, ready, level, start, target, way, free - ready, taken, *given)
            item = said_by_first(following)
        if ti.static(not collect):
            placed_by_warp(control, CELLS_PER_LEVEL * level + CYCLES, closed, lane)
        level += 1
        if ready == 0 or level >= levels:
            going = 0
        else:
            meet(control, level - 1, meeting, thread // block_threads, speaks)
