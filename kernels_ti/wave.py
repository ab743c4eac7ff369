"""The wave: one work item for each path of a slice of the frontier, children placed behind one another.

Stage 1 (`triplets`) and stage 2 (`expand`) of the paper for bit rows in registers.
"""

import taichi as ti

from kernels_ti.bits import above, bits_of, lowest_taken, population, row_of, single, word_of
from kernels_ti.records import CELLS_PER_LEVEL, CHILDREN, CYCLES, cycles_before, placed, records_ready
from kernels_ti.step import reachable_extensions

GROUP = 256
"""Work items to a thread block on CUDA; ranges are padded to it, so that every warp is whole."""

array = ti.types.ndarray


@ti.func
def padded(items, warp: ti.template()):
    """Round a number of work items up to whole thread blocks where warps work together."""
    return (items + GROUP - 1) // GROUP * GROUP if ti.static(warp) else items


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


@ti.kernel
def triplets(
    words: ti.template(),
    collect: ti.template(),
    warp: ti.template(),
    rows: array(ndim=1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    first_seed: ti.i32,
    last_seed: ti.i32,
    max_length: ti.i32,
    control: array(ti.u32, 1),
    allowed: array(ndim=1),
    ends: array(ti.i32, 1),
    members: array(ndim=1),
    capacity: ti.i32,
    start: ti.i32,
    direction: ti.i32,
    room: ti.i32,
    cycles: array(ndim=1),
    cycle_capacity: ti.i32,
    cycle_start: ti.i32,
):
    """Stage 1: count or emit the triangles and place the initial triplets of some seeds.

    One work item takes a seed, an edge from root u to x with l(u) < l(x), and looks at all its pairs
    <x, u, y> with l(x) < l(y) at once. It reads two bit rows, writes a record for each triplet from place
    ``start + direction * k`` on, a cycle for each triangle with `collect`, and the counters of level 0.
    """
    bits = ti.static(bits_of(words))
    for cell in range(CELLS_PER_LEVEL):
        control[cell] = ti.u32(0)
    for item in range(padded(last_seed - first_seed, warp)):
        triangles, extensions, child_allowed, path = words(0), words(0), words(0), words(0)
        opened, closing, u, x, first = 0, 0, 0, 0, 0
        if item < last_seed - first_seed:
            u = seed_root[first_seed + item]
            x = neighbour[seed_entry[first_seed + item]]
            first = first_row[u]
            row_u, row_x = row_of(words, rows, u), row_of(words, rows, x)
            for w in ti.static(range(words.n)):
                later = row_u[w] & above(x - first, w, bits)
                triangles[w] = later & row_x[w]
                child_allowed[w] = above(u - first, w, bits) & ~row_u[w]
                path[w] = single(u - first, w, bits) | single(x - first, w, bits)
                closing += population(triangles[w], bits)
                if max_length > 3:
                    extensions[w] = later & ~row_x[w]
                    opened += population(extensions[w], bits)
        at = placed(warp, control, CHILDREN, opened, item)
        cycle_at = placed(warp, control, CYCLES, closing, item)
        if ti.static(collect):
            store_cycles(words, cycles, cycle_capacity, cycle_start + cycle_at, path, triangles, closing, first)
        store_children(
            words, collect, allowed, ends, members, capacity, start, direction, at, room,
            extensions, opened, child_allowed, path, x, first,
        )  # fmt: skip


@ti.kernel
def expand(
    words: ti.template(),
    collect: ti.template(),
    warp: ti.template(),
    levels: ti.template(),
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
    """Stage 2: expand a slice of the frontier by up to `levels` levels.

    One work item takes one record: it counts or emits the cycles that a vertex adjacent to both ends
    closes, chooses the end with fewer extensions, keeps those that the certificate lets pass, and writes a
    record for each on the other side of the arena. Without `two_ended` it is the paper's expansion: the
    last vertex only, no certificate. Level j reads side j mod 2 and may take what is left of `free` places;
    a level that does not fit stops the launch, its parents untouched, and the host reads so in `control`.
    """
    for cell in range(CELLS_PER_LEVEL * levels):
        control[cell] = ti.u32(0)
    for level in ti.static(range(levels)):
        ready = records_ready(control, level, parents, free, cycle_capacity - cycle_start)
        cycle_base = cycle_start + cycles_before(control, level)
        for item in range(padded(ready, warp)):
            start = from_start if ti.static(level % 2 == 0) else to_start
            target = to_start if ti.static(level % 2 == 0) else from_start
            way = direction if ti.static(level % 2 == 0) else -direction
            p = start + way * item
            closers, extensions, waiting, free_words, path = words(0), words(0), words(0), words(0), words(0)
            bits = ti.static(bits_of(words))
            closing, opened, other, growing, first = 0, 0, 0, 0, 0
            if item < ready:
                other, growing = ends[p], ends[capacity + p]
                first = first_row[growing]
                of_other, of_growing = 0, 0
                for w in ti.static(range(words.n)):
                    free_words[w] = allowed[w * capacity + p]
                    if ti.static(collect):
                        path[w] = members[w * capacity + p]
                    near_other = rows[other * words.n + w] & free_words[w]
                    near_growing = rows[growing * words.n + w] & free_words[w]
                    closers[w] = near_other & near_growing
                    waiting[w] = near_other & ~near_growing
                    extensions[w] = near_growing & ~near_other
                    closing += population(closers[w], bits)
                    of_other += population(waiting[w], bits)
                    of_growing += population(extensions[w], bits)
                opened = of_growing
                if two_ended == 1 and of_other < of_growing:
                    opened = of_other
                    other, growing = growing, other
                    waiting, extensions = extensions, waiting
                if length + level + 2 > max_length or (two_ended == 1 and (of_other == 0 or of_growing == 0)):
                    opened = 0
                for w in ti.static(range(words.n)):
                    free_words[w] &= ~rows[growing * words.n + w]
                if two_ended == 1 and opened > 0:
                    extensions = reachable_extensions(
                        words, rows, first, free_words, waiting, extensions, max_length - length - level - 1
                    )
                    opened = 0
                    for w in ti.static(range(words.n)):
                        opened += population(extensions[w], bits)
            at = placed(warp, control, CELLS_PER_LEVEL * level + CHILDREN, opened, item)
            cycle_at = placed(warp, control, CELLS_PER_LEVEL * level + CYCLES, closing, item)
            if ti.static(collect):
                store_cycles(words, cycles, cycle_capacity, cycle_base + cycle_at, path, closers, closing, first)
            store_children(
                words, collect, allowed, ends, members, capacity, target, -way, at, free - ready,
                extensions, opened, free_words, path, other, first,
            )  # fmt: skip
