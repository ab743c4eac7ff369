"""The wave: one work item for each path of a slice of the frontier, children placed behind one another.

Stage 1 (`triplets`) and stage 2 (`expand`) of the paper for bit rows in registers.
"""

from functools import lru_cache
from typing import Any

import taichi as ti

from kernels_ti.bits import above, bits_of, lowest_taken, population, row_of, single, word_of
from kernels_ti.records import (
    CELLS_PER_LEVEL,
    CHILDREN,
    CYCLES,
    GROUP,
    note_level,
    opened_level,
    padded,
    placed,
    placed_together,
)
from kernels_ti.step import connected_extensions, reachable_extensions
from kernels_ti.step_required import completing, completing_extensions

LEVELS = {"cpu": 1, "vulkan": 1, "cuda": 4}
"""Levels of one launch: several where a launch costs more than a small level."""

THREADS = 1 << 20
"""Threads of a launch on CUDA: each takes every so many-th record, so that no bound has to be known before."""

array = ti.types.ndarray


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
    rows: array(ndim=1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    first_seed: ti.i32,
    last_seed: ti.i32,
    surveyed: ti.i32,
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
    The triangles of seeds before `surveyed` are known already.
    """
    bits = ti.static(bits_of(words))
    for cell in range(CELLS_PER_LEVEL):
        control[cell] = ti.u32(0)
    for item in range(last_seed - first_seed):
        triangles, extensions, child_allowed, path = words(0), words(0), words(0), words(0)
        opened, closing = 0, 0
        u = seed_root[first_seed + item]
        x = neighbour[seed_entry[first_seed + item]]
        first = first_row[u]
        row_u, row_x = row_of(words, rows, u), row_of(words, rows, x)
        for w in ti.static(range(words.n)):
            later = row_u[w] & above(x - first, w, bits)
            if first_seed + item >= surveyed:
                triangles[w] = later & row_x[w]
            child_allowed[w] = above(u - first, w, bits) & ~row_u[w]
            path[w] = single(u - first, w, bits) | single(x - first, w, bits)
            closing += population(triangles[w], bits)
            if max_length > 3:
                extensions[w] = later & ~row_x[w]
                opened += population(extensions[w], bits)
        at = placed(control, CHILDREN, opened)
        cycle_at = placed(control, CYCLES, closing)
        if ti.static(collect):
            store_cycles(words, cycles, cycle_capacity, cycle_start + cycle_at, path, triangles, closing, first)
        store_children(
            words, collect, allowed, ends, members, capacity, start, direction, at, room,
            extensions, opened, child_allowed, path, x, first,
        )  # fmt: skip


@ti.func
def expand_record(
    words: ti.template(), collect: ti.template(), arch: ti.template(), bounded: ti.template(),
    required: ti.template(), item, ready, level, length, two_ended, max_length,
    rows: ti.template(), first_row: ti.template(),
    control: ti.template(), allowed: ti.template(), ends: ti.template(), members: ti.template(), capacity,
    start, target, way, room, cycles: ti.template(), cycle_capacity, cycle_base,
):  # fmt: skip
    """Expand one record of `length` vertices; items from `ready` on only take part in the placing."""
    bits = ti.static(bits_of(words))
    closers, extensions, waiting, free_words, path = words(0), words(0), words(0), words(0), words(0)
    ending, going = words(0), words(0)  # only with `required`
    closing, opened, other, growing, first = 0, 0, 0, 0, 0
    if item < ready:
        p = start + way * item
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
        if two_ended == 1 and (of_other == 0 or of_growing == 0):
            opened = 0
        if length + 2 > max_length:
            opened = 0
        for w in ti.static(range(words.n)):
            free_words[w] &= ~(extensions[w] | closers[w])
        if ti.static(required):
            # New vectors: Taichi confuses one that is passed as a whole and set word by word in the same block.
            ending = completing(words, rows, path, closers)
            if two_ended == 0:
                going = completing(words, rows, path | free_words, extensions)
            elif opened > 0:
                rounds = max_length - length - 1
                going = completing_extensions(words, rows, first, free_words, path, waiting, extensions, rounds)
            closing, of_growing = 0, 0
            for w in ti.static(range(words.n)):
                closing += population(ending[w], bits)
                of_growing += population(going[w], bits)
            opened = ti.min(opened, of_growing)
        elif two_ended == 1 and opened > 0:
            if ti.static(bounded):
                rounds = max_length - length - 1
                extensions = reachable_extensions(words, rows, first, free_words, waiting, extensions, rounds)
            else:
                extensions = connected_extensions(words, rows, first, free_words, waiting, extensions)
            opened = 0
            for w in ti.static(range(words.n)):
                opened += population(extensions[w], bits)
    at, cycle_at = 0, 0
    if ti.static(arch != "cpu"):
        at, cycle_at = placed_together(arch == "cuda", control, level, opened, closing, item)
    else:
        at = placed(control, CELLS_PER_LEVEL * level + CHILDREN, opened)
        cycle_at = placed(control, CELLS_PER_LEVEL * level + CYCLES, closing)
    if ti.static(required):
        store_cycles(words, cycles, cycle_capacity, cycle_base + cycle_at, path, ending, closing, first)
        store_children(
            words, collect, allowed, ends, members, capacity, target, -way, at, room,
            going, opened, free_words, path, other, first,
        )  # fmt: skip
    else:
        if ti.static(collect):
            store_cycles(words, cycles, cycle_capacity, cycle_base + cycle_at, path, closers, closing, first)
        store_children(
            words, collect, allowed, ends, members, capacity, target, -way, at, room,
            extensions, opened, free_words, path, other, first,
        )  # fmt: skip


@lru_cache
def expand_kernel(words: Any, collect: bool, arch: str, bounded: bool, required: bool = False) -> Any:
    """Return stage 2 for one kind of record; many launches of it are queued in one `ti.graph`.

    Parameters
    ----------
    words : vector type
        See `kernels_ti.bits.vector_of`.
    collect : bool
        Records have members, and cycles are stored.
    arch : str
        What is open now.
    bounded : bool
        Some cycles are too long to be wanted.
    required : bool
        Cycles must pass certain vertices, see `kernels_ti.step_required`; only with `collect`.
    """

    @ti.kernel
    def expand(
        first_level: ti.i32,
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
        """Stage 2: expand the next levels of a queue, level 0 from a slice of the frontier.

        One work item takes one record: it counts or emits the cycles that a vertex adjacent to both ends
        closes, chooses the end with fewer extensions, keeps those that the certificate lets pass, and writes
        a record for each on the other side of the arena. Without `two_ended` it is the paper's expansion:
        the last vertex only, no certificate. Level j reads side j mod 2 and may take what is left of `free`
        places; a level that does not fit stops the queue, its parents untouched, and the host reads so in
        `control`.
        """
        for step in ti.static(range(LEVELS[arch])):
            if ti.static(arch == "cuda"):
                ti.loop_config(block_dim=GROUP)
                for thread in range(THREADS):
                    level = first_level + step
                    ready, room, taken = opened_level(
                        control, level, levels, parents, free, cycle_capacity - cycle_start
                    )
                    if thread == 0:
                        note_level(control, level, ready, room, taken)
                    start, target, way = from_start, to_start, direction
                    if level % 2 == 1:
                        start, target, way = to_start, from_start, -direction
                    item = thread
                    while item < padded(ready):
                        expand_record(
                            words, collect, arch, bounded, required,
                            item, ready, level, length + level, two_ended, max_length, rows, first_row, control,
                            allowed, ends, members, capacity, start, target, way, free - ready,
                            cycles, cycle_capacity, cycle_start + taken,
                        )  # fmt: skip
                        item += THREADS
            else:
                level = first_level + step
                ready, room, taken = opened_level(control, level, levels, parents, free, cycle_capacity - cycle_start)
                note_level(control, level, ready, room, taken)
                ti.loop_config(block_dim=GROUP)
                for item in range(padded(ready)):
                    start, target, way = from_start, to_start, direction
                    if level % 2 == 1:
                        start, target, way = to_start, from_start, -direction
                    expand_record(
                        words, collect, arch, bounded, required,
                        item, ready, level, length + level, two_ended, max_length, rows, first_row, control,
                        allowed, ends, members, capacity, start, target, way, free - ready,
                        cycles, cycle_capacity, cycle_start + taken,
                    )  # fmt: skip

    return expand
