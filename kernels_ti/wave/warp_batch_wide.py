"""Stage 2 of the wave on CUDA for wide blocks: `kernels_ti.wave.warp_batch` with bit rows in shared memory.

A warp reads the records of its batch, one slot each, queues those that need a flood, and gives them to idle lanes. A
flood keeps two sets: in the slot the vertices that it has not reached, extensions among them, and in the lane's own bit
row the vertices that it has reached and not yet visited. A summary in a register has a bit for each word of that row
which is not empty.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.bits import lowest_bit, population, single, without_lowest, word_of
from kernels_ti.device.levels import attend, through_levels
from kernels_ti.device.placing import (
    CELLS_PER_LEVEL,
    CHILDREN,
    CYCLES,
    WARP,
    WHOLE_WARP,
    cycle_place,
    placed_by_warp,
    rank_of,
)
from kernels_ti.step.choice_of_end import choice_of_end_wide
from kernels_ti.taichi_door import kernel, ti
from kernels_ti.wave.kernels import array
from kernels_ti.wave.kernels_wide import store_cycles_wide
from kernels_ti.wave.warp_queue import queue_label, write_queue

MOST_WORDS = 64
"""Bit rows of more words do not fit into a summary."""

THREADS = 1 << 16
"""Threads of a launch, about as many as run at a time; each thread block is one warp."""

QUEUE = 128
"""Entries of the queue."""

IDLE = 16
"""Lanes that must be idle before floods are given out."""

CERTIFICATE_LEVELS = 3
"""Levels from one certificate to the next: here a flood takes longer than looking at the dead paths that it saves."""

STRIDE = 2
"""Vertices that a flood goes on from before the lanes are asked who is idle."""


def most_batches(words: int) -> int:
    """Return how many records each lane takes, at the most."""
    return 2 if words <= 20 else 1


def slots_of(words: int) -> int:
    """Return the slots of a warp."""
    return most_batches(words) * WARP


def cells_of(words: int) -> int:
    """Return the 32-bit cells of shared memory of a warp."""
    return (2 * words + 2) * slots_of(words) + words * WARP + QUEUE


@ti.func
def look_at_wide_batch(
    words: ti.template(), collect: ti.template(), pool: ti.template(), lane, item, batches, two_ended,
    rows: ti.template(), first_row: ti.template(), ready, level, length, max_length, control: ti.template(),
    allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity, start, way,
    cycles: ti.template(), cycle_capacity, cycle_base,
):  # fmt: skip
    """Read the records of a batch: count or store their cycles, queue what needs a flood.

    Returns how many records are in the queue, and without `collect` the cycles of this lane, yet to be counted.
    """
    slots = ti.static(slots_of(words))
    extensions_at, ends_at, queue_at = words * slots, 2 * words * slots, ti.static(cells_of(words) - QUEUE)
    queued, closed = 0, 0
    for batch in range(batches):
        slot = batch * WARP + lane
        p = start + way * (item + slot)
        closing, opened, unsure, other, growing = 0, 0, 0, 0, 0
        if item + slot < ready:
            other, growing = ends[p], ends[capacity + p]
            room = ti.cast(length + 2 <= max_length, ti.i32)
            closing, opened, swapped = choice_of_end_wide(
                32, words, two_ended, room, rows, growing, rows, other * words, allowed, capacity, p, False, 0
            )
            if swapped == 1:
                other, growing = growing, other
            if two_ended == 1 and opened > 0 and (opened > 1 or closing > 0) and length % CERTIFICATE_LEVELS == 0:
                unsure = 1
            pool[ends_at + slot] = ti.cast(other, ti.u32)
            pool[ends_at + slots + slot] = ti.cast(growing, ti.u32)
        for w in range(words):
            extensions, unseen = ti.u32(0), ti.u32(0)
            if opened > 0:
                free_word, near_growing = allowed[w * capacity + p], rows[growing * words + w]
                extensions = near_growing & free_word & ~rows[other * words + w]
                if unsure == 1:
                    unseen = free_word & ~near_growing
            pool[w * slots + slot] = unseen
            pool[extensions_at + w * slots + slot] = extensions
        if ti.static(collect):
            place, before, _ = placed_by_warp(control, CELLS_PER_LEVEL * level + CYCLES, closing, lane)
            at = cycle_place(cycle_base, place + before, cycle_capacity)
            if closing > 0:
                for w in range(words):
                    rest = rows[other * words + w] & rows[growing * words + w] & allowed[w * capacity + p]
                    at = store_cycles_wide(
                        32, words, cycles, cycle_capacity, at, rest, w, members, capacity, p, first_row[growing]
                    )
        closed += closing
        needing = ti.simt.warp.ballot(unsure)
        if unsure == 1:
            pool[queue_at + queued + rank_of(needing, lane)] = ti.cast(slot, ti.u32)
        queued += population(needing, 32)
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))
    return queued, closed


@ti.func
def flood_wide_batch(
    words: ti.template(), pool: ti.template(), lane, queued, by_words,
    rows: ti.template(), first_row: ti.template(), row_ptr: ti.template(), neighbour: ti.template(),
):  # fmt: skip
    """Flood for the records in the queue; as soon as some lanes are idle, they take the next.

    With `by_words` a flood goes on from a vertex word by word, else neighbour by neighbour.
    """
    bits = ti.static(32 if words <= 32 else 64)
    slots = ti.static(slots_of(words))
    extensions_at, ends_at, queue_at = words * slots, 2 * words * slots, ti.static(cells_of(words) - QUEUE)
    fresh_at = (2 * words + 2) * slots + lane
    summary = word_of(0, bits)
    slot, first, missing, over, taken, going = 0, 0, 0, 1, 0, 1
    while going == 1:
        enough = WARP
        if taken < queued:
            enough = IDLE
        idle = ti.simt.warp.ballot(over)
        while population(idle, 32) < enough:
            for _ in ti.static(range(STRIDE)):
                if over == 0:
                    w = lowest_bit(summary, bits)
                    word = pool[fresh_at + w * WARP]
                    row = first + w * 32 + lowest_bit(word, 32)
                    word = without_lowest(word, 32)
                    pool[fresh_at + w * WARP] = word
                    if word == ti.u32(0):
                        summary = without_lowest(summary, bits)
                    if by_words == 1:
                        for k in range(words):
                            unseen = pool[k * slots + slot]
                            met = rows[row * words + k] & unseen
                            if met != ti.u32(0):
                                pool[k * slots + slot] = unseen ^ met
                                fresh = met & ~pool[extensions_at + k * slots + slot]
                                missing -= population(met ^ fresh, 32)
                                if fresh != ti.u32(0):
                                    pool[fresh_at + k * WARP] = pool[fresh_at + k * WARP] | fresh
                                    summary |= word_of(1, bits) << word_of(k, bits)
                    else:
                        for entry in range(row_ptr[row], row_ptr[row + 1]):
                            label = neighbour[entry] - first
                            k = label >> 5
                            bit = ti.u32(1) << ti.cast(label & 31, ti.u32)
                            unseen = pool[k * slots + slot]
                            if unseen & bit != ti.u32(0):
                                pool[k * slots + slot] = unseen ^ bit
                                if pool[extensions_at + k * slots + slot] & bit != ti.u32(0):
                                    missing -= 1
                                else:
                                    pool[fresh_at + k * WARP] = pool[fresh_at + k * WARP] | bit
                                    summary |= word_of(1, bits) << word_of(k, bits)
                    if missing == 0 or summary == word_of(0, bits):
                        over = 1
            idle = ti.simt.warp.ballot(over)
        if taken >= queued:
            going = 0
        at = taken + rank_of(idle, lane)
        if over == 1 and at < queued:
            slot = ti.cast(pool[queue_at + at], ti.i32)
            other = ti.cast(pool[ends_at + slot], ti.i32)
            first = first_row[other]
            summary = word_of(0, bits)
            missing, over = 0, 0
            for w in range(words):
                unseen, extensions = pool[w * slots + slot], pool[extensions_at + w * slots + slot]
                fresh = rows[other * words + w] & unseen
                pool[fresh_at + w * WARP] = fresh
                pool[w * slots + slot] = unseen & ~fresh | extensions
                missing += population(extensions, 32)
                if fresh != ti.u32(0):
                    summary |= word_of(1, bits) << word_of(w, bits)
        taken += population(idle, 32)
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))


@ti.func
def write_wide_child(
    slot, label, place, words: ti.template(), collect: ti.template(), pool: ti.template(), ends_at,
    rows: ti.template(), first_row: ti.template(), allowed: ti.template(), ends: ti.template(),
    members: ti.template(), capacity, from_item, target, way, room,
):  # fmt: skip
    """Write the record of a path extended by `label`; see `kernels_ti.wave.warp_queue.write_queue`."""
    slots = ti.static(slots_of(words))
    if place >= 0 and place < room:
        p, parent_at = target - way * place, from_item + way * slot
        growing = ti.cast(pool[ends_at + slots + slot], ti.i32)
        for j in range(words):
            allowed[j * capacity + p] = allowed[j * capacity + parent_at] & ~rows[growing * words + j]
            if ti.static(collect):
                members[j * capacity + p] = members[j * capacity + parent_at] | single(label, j, 32)
        ends[p] = ti.cast(pool[ends_at + slot], ti.i32)
        ends[capacity + p] = first_row[growing] + label


@ti.func
def store_wide_batch(
    words: ti.template(), collect: ti.template(), pool: ti.template(), lane, item, batches,
    rows: ti.template(), first_row: ti.template(), level, control: ti.template(),
    allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity, start, target, way, room,
):  # fmt: skip
    """Write a record for each child of a batch, as far as they fit: queue them, then lane by lane.

    The extensions that a flood did not reach are still in the set of vertices that it has not reached.
    """
    slots = ti.static(slots_of(words))
    extensions_at, ends_at, queue_at = words * slots, 2 * words * slots, ti.static(cells_of(words) - QUEUE)
    queued = 0
    for k in range(batches * words + 1):
        batch, w = k // words, k % words
        slot = batch * WARP + lane
        rest = ti.u32(0)
        if batch < batches:
            rest = pool[extensions_at + w * slots + slot] & ~pool[w * slots + slot]
        some = ti.simt.warp.ballot(ti.cast(rest != ti.u32(0), ti.i32))
        while some != 0 or (batch == batches and queued > 0):
            if rest != ti.u32(0):
                label = w * 32 + lowest_bit(rest, 32)
                rest = without_lowest(rest, 32)
                queue_label(pool, queue_at + queued, some, lane, slot, label)
            queued += population(some, 32)
            some = ti.simt.warp.ballot(ti.cast(rest != ti.u32(0), ti.i32))
            if queued > QUEUE - WARP or batch == batches:
                write_queue(
                    write_wide_child,
                    (
                        words, collect, pool, ends_at, rows, first_row, allowed, ends, members, capacity,
                        start + way * item, target, way, room,
                    ),
                    pool, queue_at, queued, lane, control, CELLS_PER_LEVEL * level + CHILDREN,
                )  # fmt: skip
                queued = 0


@ti.func
def expand_wide_batch(
    lane, item, batches, ready, level, start, target, way, room, taken,
    words: ti.template(), collect: ti.template(), pool: ti.template(), by_words, row_ptr: ti.template(),
    neighbour: ti.template(), length, two_ended, max_length, rows: ti.template(), first_row: ti.template(),
    control: ti.template(), allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity,
    cycles: ti.template(), cycle_capacity, cycle_start,
):  # fmt: skip
    """Expand ``batches * WARP`` records, see `kernels_ti.wave.warp_batch.expand_batch`."""
    queued, closed = look_at_wide_batch(
        words, collect, pool, lane, item, batches, two_ended, rows, first_row, ready, level, length + level, max_length,
        control, allowed, ends, members, capacity, start, way, cycles, cycle_capacity, cycle_start + taken,
    )  # fmt: skip
    flood_wide_batch(words, pool, lane, queued, by_words, rows, first_row, row_ptr, neighbour)
    store_wide_batch(
        words, collect, pool, lane, item, batches, rows, first_row, level, control, allowed, ends, members, capacity,
        start, target, way, room,
    )  # fmt: skip
    return closed


@lru_cache
def expand_wide_kernel(words: int, collect: bool) -> Any:
    """Return stage 2 for blocks of `words` words, see `kernels_ti.wave.kernels.expand_kernel`."""

    @kernel
    def expand_levels(
        launch: ti.i32,
        meeting: ti.i32,
        by_words: ti.i32,
        row_ptr: array(ti.i32, 1),
        neighbour: array(ti.i32, 1),
        levels: ti.i32,
        two_ended: ti.i32,
        rows: array(ndim=1),
        first_row: array(ti.i32, 1),
        parents: ti.i32,
        length: ti.i32,
        max_length: ti.i32,
        control: array(ti.u32, 1),
        allowed: array(ndim=1),
        ends: array(ti.i32, 1),
        members: array(ndim=1),
        capacity: ti.i32,
        from_start: ti.i32,
        direction: ti.i32,
        to_start: ti.i32,
        free: ti.i32,
        cycles: array(ndim=1),
        cycle_capacity: ti.i32,
        cycle_start: ti.i32,
    ):
        """Stage 2: expand the levels of a queue; a warp takes a batch of records, as in `kernels_ti.wave.warp_batch`.

        A thread block is one warp. It reads and writes what the kernel of `kernels_ti.wave.kernels.expand_kernel` does,
        and keeps the bit rows of its batch in shared memory. With `by_words` a flood goes on from a vertex word by
        word, else neighbour by neighbour.
        """
        ti.loop_config(block_dim=WARP)
        for thread in range(THREADS):
            pool = ti.simt.block.SharedArray((ti.static(cells_of(words)),), ti.u32)
            if meeting == 0:
                attend(control, thread & WARP - 1 == 0)
            through_levels(
                expand_wide_batch,
                (
                    words, collect, pool, by_words, row_ptr, neighbour, length, two_ended, max_length, rows, first_row,
                    control, allowed, ends, members, capacity, cycles, cycle_capacity, cycle_start,
                ),
                collect, ti.static(most_batches(words)), WARP, thread, meeting, control,
                levels, parents, free, cycle_capacity - cycle_start, from_start, to_start, direction,
            )  # fmt: skip

    return expand_levels
