"""The wave for bit rows of any number of words: what `kernels_ti.wave.kernels` does, with loops over memory.

Each work item owns a slot of scratch memory: five bit rows and a queue for the flood.
"""

from kernels_ti.bits import lowest_bit, population, single, without_lowest, word_of
from kernels_ti.device.placing import CELLS_PER_LEVEL, CHILDREN, CYCLES, cycle_place, placed
from kernels_ti.step.certificate_wide import reachable_extensions_wide
from kernels_ti.step.choice_of_end import choice_of_end_wide, parted
from kernels_ti.step.chords import first_of_block, open_word, rows_of_ends
from kernels_ti.step.required import keep_completing, lacked, passing, required_word
from kernels_ti.taichi_door import kernel, ti
from kernels_ti.wave.kernels import array

SCRATCH_ROWS = 5  # Bit rows of scratch to a slot: allowed, waiting, extensions, kept and seen


@ti.func
def store_cycles_wide(
    bits: ti.template(), words, cycles: ti.template(), cycle_capacity, place, closers, w,
    path: ti.template(), stride, path_at, first_row,
):  # fmt: skip
    """Write one cycle for each label in word `w` of the closers of a path, from `place` on, as far as they fit.

    Word k of the path's members is ``path[path_at + k * stride]``. Returns the place that follows.
    """
    at, rest = place, closers
    while rest != word_of(0, bits):
        label = w * bits + lowest_bit(rest, bits)
        rest = without_lowest(rest, bits)
        if at >= 0 and at < cycle_capacity:
            for k in range(words):
                cycles[k * cycle_capacity + at] = path[path_at + k * stride] | single(label, k, bits)
            cycles[words * cycle_capacity + at] = word_of(first_row, bits)
        at += 1
    return at


@ti.func
def store_children_wide(
    bits: ti.template(), words, collect: ti.template(), allowed: ti.template(), ends: ti.template(),
    members: ti.template(), capacity, start, direction, place, room, sets: ti.template(), slots, slot, chosen,
    parent_at, other, first_row,
):  # fmt: skip
    """Write a record for each extension of the path at place `parent_at`, in bit row `chosen` of the slot."""
    at = place
    for w in range(words):
        rest = sets[(chosen * words + w) * slots + slot]
        while rest != word_of(0, bits):
            label = w * bits + lowest_bit(rest, bits)
            rest = without_lowest(rest, bits)
            if at >= 0 and at < room:
                p = start + direction * at
                for k in range(words):
                    allowed[k * capacity + p] = sets[k * slots + slot]
                    if ti.static(collect):
                        path = members[k * capacity + parent_at]
                        members[k * capacity + p] = path | single(label, k, bits)
                ends[p] = other
                ends[capacity + p] = first_row + label
            at += 1


@kernel
def expand_wide(
    bits: ti.template(), words: ti.i32, collect: ti.template(), required: ti.template(), chorded: ti.template(),
    two_ended: ti.i32, rows: array(ndim=1), first_row: array(ti.i32, 1), row_ptr: array(ti.i32, 1),
    neighbour: array(ti.i32, 1), parents: ti.i32, length: ti.i32, max_length: ti.i32, control: array(ti.u32, 1),
    allowed: array(ndim=1), ends: array(ti.i32, 1), members: array(ndim=1), capacity: ti.i32, from_start: ti.i32,
    direction: ti.i32, to_start: ti.i32, free: ti.i32, cycles: array(ndim=1), cycle_capacity: ti.i32,
    cycle_start: ti.i32, sets: array(ndim=1), slots: ti.i32, fifo: array(ti.i32, 1),
):  # fmt: skip
    """Stage 2 for bit rows in memory: expand at most `slots` paths of one level.

    One work item takes one record. It reads the record and the adjacency of its ends. It writes its slot of scratch
    memory, a record for each child, a cycle for each closer with `collect`, and the counters of level 0. The parameters
    are those of the kernel of `kernels_ti.wave.kernels.expand_kernel` for a single level, and `sets`, shape
    (SCRATCH_ROWS * words * slots,), the scratch memory: word w of row k of a slot lies at
    ``(k * words + w) * slots + slot``. `fifo`, shape (longest block * slots,), has the queues of the floods.
    """
    for cell in range(CELLS_PER_LEVEL):
        control[cell] = ti.u32(0)
    for item in range(parents):
        ends_of_all = rows_of_ends(chorded, first_row)
        closing, opened, other, growing, last = 0, 0, 0, 0, 0
        chosen = 2
        p = from_start + direction * item
        if item < parents:
            other, growing = ends[p], ends[capacity + p]
            last = growing
            longer = ti.cast(length + 2 <= max_length, ti.i32)
            closing, opened, swapped = choice_of_end_wide(
                bits, words, two_ended, longer, rows, growing, rows, other * words, allowed, capacity, p,
                chorded, ends_of_all,
            )  # fmt: skip
            if swapped == 1:
                other, growing = growing, other
            if ti.static(required):
                lacking = lacked(bits, words, rows, members, capacity, p)
                closing = 0
                for w in range(words):
                    free_word = open_word(chorded, rows, words, ends_of_all, last, w, allowed[w * capacity + p])
                    closers = rows[other * words + w] & rows[growing * words + w] & free_word
                    wanted = required_word(words, rows, w) & ~members[w * capacity + p]
                    closing += population(passing(bits, lacking, wanted, closers), bits)
            if opened > 0:
                for w in range(words):
                    free_word = open_word(chorded, rows, words, ends_of_all, last, w, allowed[w * capacity + p])
                    near_growing = rows[growing * words + w] & free_word
                    _, extensions, waiting = parted(near_growing, rows[other * words + w] & free_word)
                    sets[w * slots + item] = free_word & ~near_growing
                    sets[(words + w) * slots + item] = waiting
                    sets[(2 * words + w) * slots + item] = extensions
                if ti.static(required):
                    opened = keep_completing(
                        bits, words, rows, sets, slots, 2 * words * slots + item, item, members, capacity, p
                    )
                unsure = ti.static(required) or opened > 1 or closing > 0 or length == 3
                if two_ended == 1 and opened > 0 and unsure:
                    chosen = 3
                    opened = reachable_extensions_wide(
                        bits, words, required, rows, row_ptr, neighbour, first_row[other],
                        sets, slots, item, words * slots + item, 2 * words * slots + item,
                        3 * words * slots + item, 4 * words * slots + item,
                        members, capacity, p, fifo, slots, item, max_length - length - 1,
                    )  # fmt: skip
        at = placed(control, CHILDREN, opened)
        cycle_at = placed(control, CYCLES, closing)
        if item < parents:
            if ti.static(collect):
                place = cycle_place(cycle_start, cycle_at, cycle_capacity)
                for w in range(words):
                    free_word = open_word(chorded, rows, words, ends_of_all, last, w, allowed[w * capacity + p])
                    rest = rows[other * words + w] & rows[growing * words + w] & free_word
                    if ti.static(required):
                        lacking = lacked(bits, words, rows, members, capacity, p)
                        rest = passing(bits, lacking, required_word(words, rows, w) & ~members[w * capacity + p], rest)
                    first = first_of_block(chorded, first_row, ends_of_all, last)
                    place = store_cycles_wide(
                        bits, words, cycles, cycle_capacity, place, rest, w, members, capacity, p, first
                    )
            if opened > 0:
                store_children_wide(
                    bits, words, collect, allowed, ends, members, capacity, to_start, -direction, at, free - parents,
                    sets, slots, item, chosen, p, other, first_row[growing],
                )  # fmt: skip
