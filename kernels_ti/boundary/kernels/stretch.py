"""Kernels for the cores of a CPU: they let a stretch of vertices come in the states of one part after another.

No vertex of a **stretch** changes a symbol that tells parts apart, see `kernels_ti.boundary.kernels.parts`. So a worker
takes a part through all of them without a word to the others. It copies the part to memory of its own, which holds two
layers that change places, puts the children of a layer behind one another in the other one, and finds equal ones by a
table of their numbers. All that stays in the cache of a core. In the end it copies the last layer to the new rows.

`bases` says where what each vertex changes begins in `spec`.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.children import child_functions
from kernels_ti.boundary.kernels.parts import (
    DEAD,
    DONE,
    ITERATIONS_PER_WORKER,
    NEXT,
    OVERFLOW,
    PART,
    ROWS,
    array,
    part_functions,
)
from kernels_ti.taichi_door import ti


@ti.func
def add_number(old: ti.template(), at, digits, new: ti.template(), into, new_digits):
    """Add a number to another one; return 1 if the sum has more than its digits."""
    over = ti.u64(0)
    for digit in range(new_digits):
        more = over
        if digit < digits:
            more += old[at + digit]
            over = ti.cast(more < over, ti.u64)
        else:
            over = ti.u64(0)
        total = new[into + digit] + more
        if total < more:
            over = ti.u64(1)
        new[into + digit] = total
    return ti.cast(over, ti.i32)


@ti.func
def copy_number(old: ti.template(), at, digits, new: ti.template(), into, new_digits):
    """Copy a number to one of as many digits or more."""
    for digit in range(new_digits):
        new[into + digit] = ti.u64(0)
        if digit < digits:
            new[into + digit] = old[at + digit]


@ti.func
def take_in(old: ti.template(), first, rows, digits, layers: ti.template(), source, words, new_digits):
    """Copy the rows of a part, but for those that are dead, to a worker's own; return how many they are."""
    count = 0
    for row in range(first, first + rows):
        at = row * (words + digits)
        if old[at] != ti.u64(DEAD):
            into = source + count * (words + new_digits)
            for w in range(words):
                layers[into + w] = old[at + w]
            copy_number(old, at + words, digits, layers, into + words, new_digits)
            count += 1
    return count


@lru_cache
def together_kernel(words: int, bits: int) -> Any:
    """Return the kernel for states of a number of words and symbols of a number of bits, for all lengths together."""
    children = child_functions(words, bits, words).children
    state_at, _mixed, place_of = part_functions(words)

    @ti.kernel
    def together(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        spec: array(ti.u64, 1), vertices: ti.i32, bases: array(ti.i32, 1),
        old: array(ti.u64, 1), digits: ti.i32, new: array(ti.u64, 1), new_digits: ti.i32,
        new_rows: ti.i64, layers: array(ti.u64, 1), first_room: ti.i32, room: ti.i32, tables: array(ti.i32, 1),
        found: array(ti.u64, 1), spread: ti.i32, met: array(ti.i64, 1),
    ):  # fmt: skip
        """Let a stretch of vertices come in the states of whole parts; a work item in 512 is a worker.

        It reads the old rows of a part, states with the ways to them. It writes the new rows, where they are and the
        number of them, and to its own cells, which are `spread` apart: `found`, the ways that close a cycle, and `met`,
        the states that follow each vertex. Its own layers have `first_room` and `room` rows, as many where more than
        one vertex comes. It stops before a vertex for which they might be too small, and says so in `DONE`. New rows
        for which there is no room are not written.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker = i // ITERATIONS_PER_WORKER
                stride, begin = words + new_digits, worker * room * 2
                layer = worker * (first_room + room) * stride
                part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
                while part < end:
                    first, rows, over = parts[part * PART], parts[part * PART + 1], 0
                    source, target = layer, layer + first_room * stride
                    count = take_in(old, first, rows, digits, layers, source, words, new_digits)
                    vertex = 0
                    while vertex < vertices and 2 * count <= room:
                        base = bases[vertex]
                        made, size = 0, 4 * count
                        for k in range(begin, begin + size):
                            tables[k] = 0
                        for row in range(count):
                            at = source + row * stride
                            state = state_at(layers, at)
                            off, on, flags = children(state, spec, base)
                            if flags >> 2 == 1:
                                over |= add_number(layers, at + words, new_digits, found, worker * spread, new_digits)
                            for joins in ti.static(range(2)):
                                if flags >> joins & 1 == 1:
                                    child = on if ti.static(joins == 1) else off
                                    place, cell = place_of(child, layers, target, stride, tables, begin, size)
                                    if place < 0:
                                        into = target + made * stride
                                        made += 1
                                        tables[cell] = made
                                        for w in ti.static(range(words)):
                                            layers[into + w] = child[w]
                                        for digit in range(words, words + new_digits):
                                            layers[into + digit] = layers[at + digit]
                                    else:
                                        into = target + place * stride + words
                                        over |= add_number(layers, at + words, new_digits, layers, into, new_digits)
                        count = made
                        source, target = target, source
                        into_met = worker * spread + vertex
                        met[into_met] = met[into_met] + made
                        vertex += 1
                    ti.atomic_min(queue[DONE], ti.i64(vertex))
                    last = ti.atomic_add(queue[ROWS], ti.i64(count))
                    parts[part * PART + 2], parts[part * PART + 3] = ti.i32(last), count
                    if last + count <= new_rows:
                        into = ti.i32(last) * stride - source
                        for k in range(source, source + count * stride):
                            new[into + k] = layers[k]
                    if over != 0:
                        queue[OVERFLOW] = 1
                    part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    return together
