"""One record of the wave: the vertices that close or extend its path, and the places of its children in the arena."""

from kernels_ti.bits import above, bits_of, lowest_taken, row_of, single, size_of, word_of
from kernels_ti.device.placing import CELLS_PER_LEVEL, CHILDREN, CYCLES, cycle_place, placed, placed_together
from kernels_ti.step.bound import still_wanted
from kernels_ti.step.certificate import connected_extensions, reachable_extensions
from kernels_ti.step.choice_of_end import choice_of_end
from kernels_ti.step.required import completing
from kernels_ti.taichi_door import ti


@ti.func
def store_cycles(
    words: ti.template(), cycles: ti.template(), capacity, place, members, closers, count, first_row,
):  # fmt: skip
    """Write one cycle for each of the `count` labels in `closers`, from place `place` on, as far as they fit."""
    bits = ti.static(bits_of(words))
    rest = closers
    for i in range(count):
        closer, rest = lowest_taken(words, rest)
        at = place + i
        if at >= 0 and at < capacity:
            for k in ti.static(range(words.n)):
                cycles[k * capacity + at] = members[k] | single(closer, k, bits)
            cycles[words.n * capacity + at] = word_of(first_row, bits)


@ti.func
def store_children(
    words: ti.template(), collect: ti.template(), allowed: ti.template(), ends: ti.template(), members: ti.template(),
    capacity, start, direction, place, room, extensions, count, child_allowed, path, other, first_row,
):  # fmt: skip
    """Write one record for each of the `count` labels in `extensions`, as far as they fit."""
    bits = ti.static(bits_of(words))
    rest = extensions
    for i in range(count):
        label, rest = lowest_taken(words, rest)
        at = place + i
        if at >= 0 and at < room:
            p = start + direction * at
            for k in ti.static(range(words.n)):
                allowed[k * capacity + p] = child_allowed[k]
                if ti.static(collect):
                    members[k * capacity + p] = path[k] | single(label, k, bits)
            ends[p] = other
            ends[capacity + p] = first_row + label


@ti.func
def opened_record(
    words: ti.template(), collect: ti.template(), bounded: ti.template(), required: ti.template(),
    pruned: ti.template(), p, other, growing, first, row_of_other, row_of_growing, length, two_ended, max_length,
    least_length, most_vertices, rows: ti.template(),
    allowed: ti.template(), members: ti.template(), capacity,
):  # fmt: skip
    """Find the closers and extensions of the record at place `p`, given its ends and their rows.

    A path with a single extension needs no flood: the parent's certificate already connects both ends, and every
    connection between them begins with that extension. An initial triplet has no parent, so it always needs the flood.

    Returns the closers, the extensions, the neighbours of the end that is not extended, the vertices that may join an
    extended path, the path, which is empty without `collect`, the end that is not extended, and whether a flood is
    still needed.
    """
    bits = ti.static(bits_of(words))
    free_words, path, near_growing, near_other = words(0), words(0), words(0), words(0)
    for w in ti.static(range(words.n)):
        free_words[w] = allowed[w * capacity + p]
        if ti.static(collect):
            path[w] = members[w * capacity + p]
        near_other[w] = row_of_other[w] & free_words[w]
        near_growing[w] = row_of_growing[w] & free_words[w]
    room = ti.cast(length + 2 <= max_length, ti.i32)
    if ti.static(pruned):
        others = words(0)
        for w in ti.static(range(words.n)):
            # A record allows labels that no vertex has as well: harmless, but they would count as others.
            others[w] = free_words[w] & ~(near_growing[w] | near_other[w] | above(most_vertices - 1, w, bits))
        room = still_wanted(words, True, rows, first, room, length, others, least_length)
    closers, extensions, waiting, closing, opened, swapped = choice_of_end(
        words, two_ended, room, near_growing, near_other
    )
    if swapped == 1:
        other = growing
        waiting, extensions = extensions, waiting
    for w in ti.static(range(words.n)):
        free_words[w] &= ~(extensions[w] | closers[w])
    unsure = 0
    if two_ended == 1 and opened > 0 and (opened > 1 or closing > 0 or length == 3):
        unsure = 1
    if ti.static(required):
        # New vectors: Taichi confuses one that is passed as a whole and set word by word in the same block.
        ending = completing(words, rows, path, closers)
        going = words(0)
        if two_ended == 0:
            going = completing(words, rows, path | free_words, extensions)
        elif opened > 0:
            rounds = max_length - length - 1
            going = reachable_extensions(words, True, rows, first, path, free_words, waiting, extensions, rounds)
        closers, extensions, unsure = ending, going, 0
    elif ti.static(bounded):
        if unsure == 1:
            rounds = max_length - length - 1
            extensions = reachable_extensions(words, False, rows, first, path, free_words, waiting, extensions, rounds)
            unsure = 0
    if opened == 0:
        extensions = words(0)
    if ti.static(pruned):
        if length + 1 < least_length:
            closers = words(0)
    return closers, extensions, waiting, free_words, path, other, unsure


@ti.func
def expand_record(
    words: ti.template(), collect: ti.template(), arch: ti.template(), bounded: ti.template(),
    required: ti.template(), pruned: ti.template(), item, ready, level, length, two_ended, max_length, least_length,
    most_vertices, rows: ti.template(), first_row: ti.template(),
    control: ti.template(), allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity,
    start, target, way, room, cycles: ti.template(), cycle_capacity, cycle_base,
):  # fmt: skip
    """Expand one path: find its closers and extensions, store the cycles and place the children.

    Algorithm 4 of Jradi et al. With `two_ended` the path grows at the end with fewer extensions, and only by those from
    which it can still be closed.

    Record `item` of the `ready` records of its level, whose paths have `length` vertices, lies at place
    ``start + way * item``; work items from `ready` on have no path and only take part in the placing. Child i goes to
    place ``target - way * i`` if i is below `room`. The first cycle of the level goes to place `cycle_base`. The other
    arguments are those of `kernels_ti.wave.kernels.expand_kernel` and its kernel.
    """
    closers, extensions, free_words, path = words(0), words(0), words(0), words(0)
    closing, opened, other, first = 0, 0, 0, 0
    if item < ready:
        p = start + way * item
        other, growing = ends[p], ends[capacity + p]
        first = first_row[growing]
        closers, extensions, waiting, free_words, path, other, unsure = opened_record(
            words, collect, bounded, required, pruned, p, other, growing, first, row_of(words, rows, other),
            row_of(words, rows, growing), length, two_ended, max_length, least_length, most_vertices, rows,
            allowed, members, capacity,
        )  # fmt: skip
        if unsure == 1:
            extensions = connected_extensions(words, rows, first, free_words, waiting, extensions)
        closing = size_of(words, closers)
        opened = size_of(words, extensions)
    at, cycle_at = 0, 0
    if ti.static(arch != "cpu"):
        at, cycle_at = placed_together(control, level, opened, closing, item)
    else:
        at = placed(control, CELLS_PER_LEVEL * level + CHILDREN, opened)
        cycle_at = placed(control, CELLS_PER_LEVEL * level + CYCLES, closing)
    if ti.static(collect):
        place = cycle_place(cycle_base, cycle_at, cycle_capacity)
        store_cycles(words, cycles, cycle_capacity, place, path, closers, closing, first)
    store_children(
        words, collect, allowed, ends, members, capacity, target, -way, at, room,
        extensions, opened, free_words, path, other, first,
    )  # fmt: skip
