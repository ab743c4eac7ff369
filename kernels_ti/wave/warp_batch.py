"""Stage 2 of the wave on CUDA: the work items of a warp expand a batch of records together.

A flood of the certificate visits one vertex or thirty, and half of the records need no flood. If each work item flooded
for its own record, all of them would wait for the longest flood. So a warp first reads all records of its batch,
queues those that need a flood in shared memory, and gives the next of them to idle lanes. Then the children are queued,
and all lanes write them in turn. The warps of a block wait for one another only while they load the adjacency rows.

Shared memory holds the adjacency rows, padded, if there is only one block. For each slot of a warp it holds the
vertices that are still allowed, the extensions, the end that waits, the first row, and the closers if their cycles are
stored. Each warp also has a queue: first of slots that need a flood, later of cycles and of children.
"""

from kernels_ti.bits import any_label, bits_of, one_taken, padded_row_of, padding, population, row_of, single, size_of
from kernels_ti.device.placing import (
    CELLS_PER_LEVEL,
    CHILDREN,
    CYCLES,
    WARP,
    WHOLE_WARP,
    cycle_place,
    rank_of,
)
from kernels_ti.step.certificate import flooded
from kernels_ti.taichi_door import ti
from kernels_ti.wave.one_record import opened_record
from kernels_ti.wave.warp_queue import queue_label, write_queue

WARPS = 4
"""Warps of a thread block: they share the adjacency rows."""

QUEUE = 256
"""Entries of the queue, which is also how many children are written at a time."""

IDLE = 8
"""Lanes that must be idle before floods are given out."""

STRIDE = 3
"""Vertices that a flood visits before the warp counts its idle lanes."""


def most_batches(words: int) -> int:
    """Return the most records that each lane of a warp takes, for bit rows of `words` words.

    A thread block may have 48 KiB of shared memory.
    """
    return 6 if words <= 4 else 3 if words <= 7 else 2


def slots_of(words: int) -> int:
    """Return the slots of a warp."""
    return most_batches(words) * WARP


def cells_of_rows(words: int, resident: bool) -> int:
    """Return the 32-bit cells of shared memory for the adjacency rows."""
    return words * 32 << padding(words) if resident else 0


def cells_of(words: int, resident: bool, collect: bool) -> int:
    """Return the 32-bit cells of shared memory of a warp."""
    return ((3 if collect else 2) * words + (1 if resident else 2)) * slots_of(words) + QUEUE


@ti.func
def read_slot(words: ti.template(), pool: ti.template(), at):
    """Read a bit row of a slot out of shared memory."""
    row = words(0)
    for w in ti.static(range(words.n)):
        row[w] = pool[at + w * ti.static(slots_of(words.n))]
    return row


@ti.func
def write_slot(words: ti.template(), pool: ti.template(), at, row):
    """Write a bit row of a slot into shared memory."""
    for w in ti.static(range(words.n)):
        pool[at + w * ti.static(slots_of(words.n))] = row[w]


@ti.func
def near(words: ti.template(), resident: ti.template(), pool: ti.template(), rows: ti.template(), row):
    """Return an adjacency bit row, from shared memory if it is there."""
    found = words(0)
    if ti.static(resident):
        found = padded_row_of(words, pool, row)
    else:
        found = row_of(words, rows, row)
    return found


@ti.func
def look_at_batch(
    words: ti.template(), collect: ti.template(), bounded: ti.template(), required: ti.template(),
    pruned: ti.template(), resident: ti.template(), pool: ti.template(), corner, lane, item, batches, ready, length,
    two_ended, max_length, least_length, most_vertices, rows: ti.template(), first_row: ti.template(),
    allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity, start, way,
):  # fmt: skip
    """Find the closers and the extensions of the records of a batch, one slot each; queue what needs a flood.

    Returns how many records are in the queue, and how many cycles this lane has found.
    """
    slots = ti.static(slots_of(words.n))
    extensions_at, ends_at = corner + words.n * slots, corner + 2 * words.n * slots
    queue_at = corner + ti.static(cells_of(words.n, resident, collect) - QUEUE)
    queued, closed = 0, 0
    for batch in range(batches):
        slot = batch * WARP + lane
        closers, extensions = words(0), words(0)
        first, unsure = 0, 0
        if item + slot < ready:
            p = start + way * (item + slot)
            other, growing = ends[p], ends[capacity + p]
            if ti.static(not resident):
                first = first_row[growing]
            closers, extensions, _waiting, free_words, _path, other, unsure = opened_record(
                words, collect, bounded, required, pruned, p, other, growing, first,
                near(words, resident, pool, rows, other), near(words, resident, pool, rows, growing),
                length, two_ended, max_length, least_length, most_vertices, rows, allowed,
                members, capacity,
            )  # fmt: skip
            write_slot(words, pool, corner + slot, free_words)
            pool[ends_at + slot] = ti.cast(other, ti.u32)
            if ti.static(not resident):
                pool[ends_at + slots + slot] = ti.cast(first, ti.u32)
        write_slot(words, pool, extensions_at + slot, extensions)
        if ti.static(collect):
            write_slot(words, pool, queue_at - words.n * slots + slot, closers)
        closed += size_of(words, closers)
        needing = ti.simt.warp.ballot(unsure)
        if unsure == 1:
            pool[queue_at + queued + rank_of(needing, lane)] = ti.cast(slot, ti.u32)
        queued += population(needing, 32)
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))
    return queued, closed


@ti.func
def flood_batch(
    words: ti.template(), collect: ti.template(), resident: ti.template(), pool: ti.template(), corner, lane, queued,
    rows: ti.template(),
):  # fmt: skip
    """Flood for the records in the queue; as soon as some lanes are idle, they take the next."""
    slots = ti.static(slots_of(words.n))
    extensions_at, ends_at = corner + words.n * slots, corner + 2 * words.n * slots
    queue_at = corner + ti.static(cells_of(words.n, resident, collect) - QUEUE)
    fresh, unseen, missing = words(0), words(0), words(0)
    slot, first, over, taken, going = -1, 0, 1, 0, 1
    while going == 1:
        enough = WARP
        if taken < queued:
            enough = IDLE
        idle = ti.simt.warp.ballot(over)
        while population(idle, 32) < enough:
            for _ in ti.static(range(STRIDE)):
                if over == 0:
                    label, rest = one_taken(words, fresh)
                    found = near(words, resident, pool, rows, first + label)
                    fresh, unseen, missing, over = flooded(words, found, rest, unseen, missing)
            idle = ti.simt.warp.ballot(over)
        if over == 1 and slot >= 0:
            kept = read_slot(words, pool, extensions_at + slot) & ~missing
            write_slot(words, pool, extensions_at + slot, kept)
            slot = -1
        if taken >= queued:
            going = 0
        at = taken + rank_of(idle, lane)
        if over == 1 and at < queued:
            slot = ti.cast(pool[queue_at + at], ti.i32)
            if ti.static(not resident):
                first = ti.cast(pool[ends_at + slots + slot], ti.i32)
            free_words = read_slot(words, pool, corner + slot)
            fresh = near(words, resident, pool, rows, ti.cast(pool[ends_at + slot], ti.i32)) & free_words
            unseen = free_words & ~fresh
            missing = read_slot(words, pool, extensions_at + slot)
            over = 0
        taken += population(idle, 32)
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))


@ti.func
def write_cycle(
    slot, label, place, words: ti.template(), resident: ti.template(), pool: ti.template(), first_rows_at,
    members: ti.template(), capacity, from_item, way, cycles: ti.template(), cycle_capacity, cycle_base,
):  # fmt: skip
    """Write the cycle that `label` closes with the path of a slot; see `kernels_ti.wave.warp_queue.write_queue`."""
    bits = ti.static(bits_of(words))
    at = cycle_place(cycle_base, place, cycle_capacity)
    if at >= 0 and at < cycle_capacity:
        p, first = from_item + way * slot, 0
        if ti.static(not resident):
            first = ti.cast(pool[first_rows_at + slot], ti.i32)
        for w in ti.static(range(words.n)):
            cycles[w * cycle_capacity + at] = members[w * capacity + p] | single(label, w, bits)
        cycles[words.n * cycle_capacity + at] = ti.cast(first, ti.u32)


@ti.func
def write_child(
    slot, label, place, words: ti.template(), collect: ti.template(), resident: ti.template(), pool: ti.template(),
    corner, ends_at, allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity, from_item, target,
    way, room,
):  # fmt: skip
    """Write the record of a path extended by `label`; see `kernels_ti.wave.warp_queue.write_queue`."""
    bits = ti.static(bits_of(words))
    slots = ti.static(slots_of(words.n))
    if place >= 0 and place < room:
        p, first = target - way * place, 0
        if ti.static(not resident):
            first = ti.cast(pool[ends_at + slots + slot], ti.i32)
        for w in ti.static(range(words.n)):
            allowed[w * capacity + p] = pool[corner + w * slots + slot]
            if ti.static(collect):
                path = members[w * capacity + from_item + way * slot]
                members[w * capacity + p] = path | single(label, w, bits)
        ends[p] = ti.cast(pool[ends_at + slot], ti.i32)
        ends[capacity + p] = first + label


@ti.func
def store_batch(
    words: ti.template(), collect: ti.template(), resident: ti.template(), closing: ti.template(),
    pool: ti.template(), corner, lane, item, batches, level, control: ti.template(), allowed: ti.template(),
    ends: ti.template(), members: ti.template(), capacity, start, target, way, room,
    cycles: ti.template(), cycle_capacity, cycle_base,
):  # fmt: skip
    """Write a record for each child of a batch, or with `closing` a cycle for each closer, as far as they fit."""
    slots = ti.static(slots_of(words.n))
    ends_at = corner + 2 * words.n * slots
    queue_at = corner + ti.static(cells_of(words.n, resident, collect) - QUEUE)
    labels_at = corner + words.n * slots
    if ti.static(closing):
        labels_at = queue_at - words.n * slots
    queued, from_item = 0, start + way * item
    for batch in range(batches + 1):
        rest = words(0)
        slot = batch * WARP + lane
        if batch < batches:
            rest = read_slot(words, pool, labels_at + slot)
        some = ti.simt.warp.ballot(ti.cast(any_label(words, rest) != ti.u32(0), ti.i32))
        while some != 0 or (batch == batches and queued > 0):
            if any_label(words, rest) != ti.u32(0):
                label, left = one_taken(words, rest)
                queue_label(pool, queue_at + queued, some, lane, slot, label)
                rest = left
            queued += population(some, 32)
            some = ti.simt.warp.ballot(ti.cast(any_label(words, rest) != ti.u32(0), ti.i32))
            if queued > QUEUE - WARP or batch == batches:
                if ti.static(closing):
                    write_queue(
                        write_cycle,
                        (
                            words, resident, pool, ends_at + slots, members, capacity, from_item, way,
                            cycles, cycle_capacity, cycle_base,
                        ),
                        pool, queue_at, queued, lane, control, CELLS_PER_LEVEL * level + CYCLES,
                    )  # fmt: skip
                else:
                    write_queue(
                        write_child,
                        (
                            words, collect, resident, pool, corner, ends_at, allowed, ends, members, capacity,
                            from_item, target, way, room,
                        ),
                        pool, queue_at, queued, lane, control, CELLS_PER_LEVEL * level + CHILDREN,
                    )  # fmt: skip
                queued = 0


@ti.func
def load_rows(words: ti.template(), pool: ti.template(), rows: ti.template(), number, thread):
    """Copy the adjacency rows of the only block into shared memory, by all threads of a thread block."""
    row = thread
    while row < number:
        for w in ti.static(range(words.n)):
            pool[row << ti.static(padding(words.n)) | w] = rows[row * words.n + w]
        row += WARPS * WARP
    ti.simt.block.sync()


@ti.func
def expand_batch(
    lane, item, batches, ready, level, start, target, way, room, taken,
    words: ti.template(), collect: ti.template(), bounded: ti.template(), required: ti.template(),
    pruned: ti.template(), resident: ti.template(), pool: ti.template(), corner, length, two_ended, max_length,
    least_length, most_vertices, rows: ti.template(), first_row: ti.template(), control: ti.template(),
    allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity, cycles: ti.template(),
    cycle_capacity, cycle_start,
):  # fmt: skip
    """Expand ``batches * WARP`` records from `item` on, as far as they are ready; all lanes of a warp take part.

    Records of the first level have `length` vertices. The parameters from `lane` on are those that
    `kernels_ti.device.levels.through_levels` gives. Returns how many cycles this lane has seen, which without `collect`
    are yet to be counted.
    """
    queued, closed = look_at_batch(
        words, collect, bounded, required, pruned, resident, pool, corner, lane, item, batches, ready, length + level,
        two_ended, max_length, least_length, most_vertices, rows, first_row, allowed, ends, members, capacity, start,
        way,
    )  # fmt: skip
    flood_batch(words, collect, resident, pool, corner, lane, queued, rows)
    for closing in ti.static(range(1 if collect else 0, -1, -1)):
        store_batch(
            words, collect, resident, closing, pool, corner, lane, item, batches, level, control, allowed, ends,
            members, capacity, start, target, way, room, cycles, cycle_capacity, cycle_start + taken,
        )  # fmt: skip
    return closed
