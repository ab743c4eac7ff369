"""Kernels for the cores of a CPU: they let a stretch of vertices come in the states of one part after another.

No vertex of a **stretch** changes a symbol that tells parts apart, see `kernels_ti.boundary.kernels.parts`. So a worker
takes a part through all of them without a word to the others. It copies the part to memory of its own, which holds two
layers that change places, puts the children of a layer behind one another in the other one, and finds equal ones by a
table of their numbers. All that stays in the cache of a core. In the end it copies the last layer to the new rows.

The table of a vertex and its cells among the coded steps are two cells of `stretch`.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from kernels_ti.boundary.kernels.parts import (
    DEAD,
    DONE,
    ITERATIONS_PER_WORKER,
    NEXT,
    OVERFLOW,
    PART,
    ROWS,
    WAYS,
    WINDOW,
    array,
    part_functions,
)
from kernels_ti.boundary.kernels.tables import state_functions

VERTEX = 2
"""Cells of a vertex in a stretch: where its step begins among the coded steps, and its table among the changes."""

_CLOSES = 1 << 30
_HALF = (1 << 32) - 1


class StretchKernels(NamedTuple):
    """The kernels for states of one length and one width of symbols."""

    together: Any
    by_length: Any


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
def fewest_in(window):
    """Return the fewest vertices of a window."""
    return ti.i32(window >> ti.u64(32))


@ti.func
def most_in(window):
    """Return the most vertices of a window."""
    return ti.i32(window & ti.u64(_HALF))


@ti.func
def numbers_in(window, apart):
    """Return how many numbers of vertices a window has, which differ by `apart`."""
    return (most_in(window) - fewest_in(window)) // apart + 1


@lru_cache
def stretch_kernels(words: int, bits: int) -> StretchKernels:
    """Return the kernels for states of a number of words and symbols of a number of bits."""
    children = state_functions(words, bits, words).children_by
    state_at, _mixed, place_of = part_functions(words)

    @ti.kernel
    def together(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        tabled: ti.template(), steps: array(ti.i32, 1), vertices: ti.i32, stretch: array(ti.i32, 1),
        changes: array(ti.u64, 1), old: array(ti.u64, 1), digits: ti.i32, new: array(ti.u64, 1), new_digits: ti.i32,
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
                    first, count, over = parts[part * PART], 0, 0
                    source, target = layer, layer + first_room * stride
                    for row in range(first, first + parts[part * PART + 1]):
                        at = row * (words + digits)
                        if old[at] != ti.u64(DEAD):
                            into = source + count * stride
                            for w in ti.static(range(words)):
                                layers[into + w] = old[at + w]
                            copy_number(old, at + words, digits, layers, into + words, new_digits)
                            count += 1
                    vertex = 0
                    while vertex < vertices and 2 * count <= room:
                        base, table = stretch[vertex * VERTEX], stretch[vertex * VERTEX + 1]
                        made, size = 0, 4 * count
                        for k in range(begin, begin + size):
                            tables[k] = 0
                        for row in range(count):
                            at = source + row * stride
                            state = state_at(layers, at)
                            off, on, flags = children(tabled, state, steps, base, changes, table)
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

    @ti.kernel
    def by_length(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        tabled: ti.template(), steps: array(ti.i32, 1), vertices: ti.i32, stretch: array(ti.i32, 1),
        changes: array(ti.u64, 1), old: array(ti.u64, 1), ways: array(ti.u64, 1), digits: ti.i32,
        new: array(ti.u64, 1), new_rows: ti.i64, new_ways: array(ti.u64, 1), new_cells: ti.i64, new_digits: ti.i32,
        apart: ti.i32, longest: ti.i32, layers: array(ti.u64, 1), first_room: ti.i32, room: ti.i32, cells: ti.i32,
        tables: array(ti.i32, 1), found: array(ti.u64, 1), spread: ti.i32, met: array(ti.i64, 1),
    ):  # fmt: skip
        """Do what `together` does, with a number of ways for each length.

        `apart` is the least difference of two lengths of one state. Children with more than `longest` vertices are left
        out. A worker's own layers have `cells` cells for ways before their rows, and it stops also before a vertex for
        which these are too small.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker, stride = i // ITERATIONS_PER_WORKER, words + WINDOW
                layer = worker * ((first_room + room) * stride + 2 * cells) + cells
                begin, links = worker * room * 3, (worker * 3 + 2) * room
                part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
                while part < end:
                    first, count, over, going = parts[part * PART], 0, 0, 1
                    source, target, used = layer, layer + first_room * stride + cells, 0
                    for row in range(first, first + parts[part * PART + 1]):
                        at = row * stride
                        if old[at] != ti.u64(DEAD) and going == 1:
                            window = old[at + words + 1]
                            numbers = numbers_in(window, apart)
                            if used + numbers * new_digits > cells:
                                going = 0
                            else:
                                into, cell = source + count * stride, source - cells + used
                                for w in ti.static(range(words)):
                                    layers[into + w] = old[at + w]
                                layers[into + words] = ti.cast(cell, ti.u64)
                                layers[into + words + 1] = window
                                at_ways = ti.i32(old[at + words])
                                for k in range(numbers):
                                    copy_number(
                                        ways, at_ways + k * digits, digits, layers, cell + k * new_digits, new_digits
                                    )
                                count += 1
                                used += numbers * new_digits
                    vertex = 0
                    while going == 1 and vertex < vertices and 2 * count <= room:
                        base, table = stretch[vertex * VERTEX], stretch[vertex * VERTEX + 1]
                        made, size = 0, 4 * count
                        for k in range(begin, begin + size):
                            tables[k] = 0
                        for row in range(count):
                            at = source + row * stride
                            state = state_at(layers, at)
                            low, high = fewest_in(layers[at + words + 1]), most_in(layers[at + words + 1])
                            off, on, flags = children(tabled, state, steps, base, changes, table)
                            tables[links + 2 * row + 1] = 0
                            for joins in ti.static(range(2)):
                                linked = 0
                                if flags >> joins & 1 == 1 and low + joins <= longest:
                                    child = on if ti.static(joins == 1) else off
                                    least = ti.cast(low + joins, ti.u64)
                                    most = ti.cast(ti.min(high + joins, longest), ti.u64)
                                    place, cell = place_of(child, layers, target, stride, tables, begin, size)
                                    if place < 0:
                                        place = made
                                        made += 1
                                        tables[cell] = made
                                        into = target + place * stride
                                        for w in ti.static(range(words)):
                                            layers[into + w] = child[w]
                                        layers[into + words + 1] = least << ti.u64(32) | most
                                    else:
                                        into = target + place * stride + words + 1
                                        window = layers[into]
                                        least = ti.min(least, window >> ti.u64(32))
                                        most = ti.max(most, window & ti.u64(_HALF))
                                        layers[into] = least << ti.u64(32) | most
                                    linked = place + 1
                                tables[links + 2 * row + joins] = linked
                            if flags >> 2 == 1:
                                tables[links + 2 * row] = tables[links + 2 * row] | _CLOSES
                        needed = ti.i64(0)
                        for row in range(made):
                            needed += numbers_in(layers[target + row * stride + words + 1], apart) * new_digits
                        if needed > ti.i64(cells):
                            going = 0
                        else:
                            used = ti.i32(needed)
                            cell = target - cells
                            for k in range(cell, cell + used):
                                layers[k] = ti.u64(0)
                            for row in range(made):
                                at = target + row * stride + words
                                layers[at] = ti.cast(cell, ti.u64)
                                cell += numbers_in(layers[at + 1], apart) * new_digits
                            for row in range(count):
                                at = source + row * stride + words
                                at_ways, window = ti.i32(layers[at]), layers[at + 1]
                                low, high = fewest_in(window), most_in(window)
                                if tables[links + 2 * row] & _CLOSES != 0:
                                    for k in range((ti.min(high, longest) - low) // apart + 1):
                                        into = worker * spread + (low + k * apart) * new_digits
                                        from_cell = at_ways + k * new_digits
                                        over |= add_number(layers, from_cell, new_digits, found, into, new_digits)
                                for joins in range(2):
                                    child = (tables[links + 2 * row + joins] & (_CLOSES - 1)) - 1
                                    if child >= 0:
                                        at_child = target + child * stride + words
                                        least, most = fewest_in(layers[at_child + 1]), most_in(layers[at_child + 1])
                                        into = ti.i32(layers[at_child]) + (low + joins - least) // apart * new_digits
                                        numbers = (ti.min(high + joins, most) - low - joins) // apart + 1
                                        if new_digits == 1:
                                            for k in range(numbers):
                                                more = layers[at_ways + k]
                                                total = layers[into + k] + more
                                                layers[into + k] = total
                                                over |= ti.cast(total < more, ti.i32)
                                        else:
                                            for k in range(numbers):
                                                over |= add_number(
                                                    layers, at_ways + k * new_digits, new_digits,
                                                    layers, into + k * new_digits, new_digits,
                                                )  # fmt: skip
                            count = made
                            source, target = target, source
                            into_met = worker * spread + vertex
                            met[into_met] = met[into_met] + made
                            vertex += 1
                    ti.atomic_min(queue[DONE], ti.i64(vertex))
                    last = ti.atomic_add(queue[ROWS], ti.i64(count))
                    last_cell = ti.atomic_add(queue[WAYS], ti.i64(used))
                    parts[part * PART + 2], parts[part * PART + 3] = ti.i32(last), count
                    if last + count <= new_rows and last_cell + used <= new_cells:
                        moved = ti.i32(last_cell) - source + cells
                        for row in range(count):
                            at = source + row * stride
                            layers[at + words] = ti.cast(ti.i32(layers[at + words]) + moved, ti.u64)
                        into = ti.i32(last) * stride - source
                        for k in range(source, source + count * stride):
                            new[into + k] = layers[k]
                        for k in range(source - cells, source - cells + used):
                            new_ways[moved + k] = layers[k]
                    if over != 0:
                        queue[OVERFLOW] = 1
                    part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    return StretchKernels(together, by_length)
