"""The kernel of `kernels_ti.boundary.kernels.stretch` for a count by length.

The ways to a state lie in cells before the rows, for each number of vertices from the fewest to the most, its window.
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
    WAYS,
    WINDOW,
    array,
    part_functions,
)
from kernels_ti.boundary.kernels.stretch import add_number, copy_number
from kernels_ti.taichi_door import ti

_CLOSES = 1 << 30
_HALF = (1 << 32) - 1


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


@ti.func
def take_in_ways(
    old: ti.template(), ways: ti.template(), first, rows, digits, layers: ti.template(), source, words, cells,
    new_digits, apart,
):  # fmt: skip
    """Do what `take_in` does, with the ways by length; return also the cells that these take, -1 for too many."""
    count, used, stride = 0, 0, words + WINDOW
    for row in range(first, first + rows):
        at = row * stride
        if old[at] != ti.u64(DEAD) and used >= 0:
            window = old[at + words + 1]
            numbers = numbers_in(window, apart)
            if used + numbers * new_digits > cells:
                used = -1
            else:
                into, cell = source + count * stride, source - cells + used
                for w in range(words):
                    layers[into + w] = old[at + w]
                layers[into + words] = ti.cast(cell, ti.u64)
                layers[into + words + 1] = window
                at_ways = ti.i32(old[at + words])
                for k in range(numbers):
                    copy_number(ways, at_ways + k * digits, digits, layers, cell + k * new_digits, new_digits)
                count += 1
                used += numbers * new_digits
    return count, used


@ti.func
def lay_out(layers: ti.template(), target, made, stride, cells, used, apart, digits):
    """Give each state of a layer cells for its ways, all zero, behind one another before the rows."""
    cell = target - cells
    for k in range(cell, cell + used):
        layers[k] = ti.u64(0)
    for row in range(made):
        at = target + row * stride + stride - WINDOW
        layers[at] = ti.cast(cell, ti.u64)
        cell += numbers_in(layers[at + 1], apart) * digits


@ti.func
def add_ways(
    layers: ti.template(), tables: ti.template(), found: ti.template(), source, count, target, stride, links, apart,
    longest, first_found, digits,
):  # fmt: skip
    """Add the ways to each state of a layer to those of its children, and those that close a cycle to `found`.

    Return 1 if a sum has too many digits.
    """
    over = 0
    for row in range(count):
        at = source + row * stride + stride - WINDOW
        at_ways, window = ti.i32(layers[at]), layers[at + 1]
        low, high = fewest_in(window), most_in(window)
        if tables[links + 2 * row] & _CLOSES != 0:
            for k in range((ti.min(high, longest) - low) // apart + 1):
                into = first_found + (low + k * apart) * digits
                from_cell = at_ways + k * digits
                over |= add_number(layers, from_cell, digits, found, into, digits)
        for joins in range(2):
            child = (tables[links + 2 * row + joins] & (_CLOSES - 1)) - 1
            if child >= 0:
                at_child = target + child * stride + stride - WINDOW
                least, most = fewest_in(layers[at_child + 1]), most_in(layers[at_child + 1])
                into = ti.i32(layers[at_child]) + (low + joins - least) // apart * digits
                numbers = (ti.min(high + joins, most) - low - joins) // apart + 1
                if digits == 1:
                    for k in range(numbers):
                        more = layers[at_ways + k]
                        total = layers[into + k] + more
                        layers[into + k] = total
                        over |= ti.cast(total < more, ti.i32)
                else:
                    for k in range(numbers):
                        over |= add_number(
                            layers, at_ways + k * digits, digits,
                            layers, into + k * digits, digits,
                        )  # fmt: skip
    return over


@lru_cache
def _linking(words: int, bits: int) -> Any:
    """Return the function that makes the children of a layer, with windows of lengths, and links states to them."""
    children = child_functions(words, bits, words).children
    state_at, _mixed, place_of = part_functions(words)
    stride = words + WINDOW

    @ti.func
    def link(
        layers: ti.template(), tables: ti.template(), spec: ti.template(), base, source, target, count, begin, links,
        longest,
    ):  # fmt: skip
        """Put the children of `count` states behind one another, and return how many there are."""
        made, size = 0, 4 * count
        for k in range(begin, begin + size):
            tables[k] = 0
        for row in range(count):
            at = source + row * stride
            state = state_at(layers, at)
            low, high = fewest_in(layers[at + words + 1]), most_in(layers[at + words + 1])
            off, on, flags = children(state, spec, base)
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
        return made

    return link


@lru_cache
def by_length_kernel(words: int, bits: int) -> Any:
    """Return the kernel for states of a number of words and symbols of a number of bits, by length."""
    link = _linking(words, bits)

    @ti.kernel
    def by_length(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        spec: array(ti.u64, 1), vertices: ti.i32, bases: array(ti.i32, 1),
        old: array(ti.u64, 1), ways: array(ti.u64, 1), digits: ti.i32,
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
                    first, rows, over, going = parts[part * PART], parts[part * PART + 1], 0, 1
                    source, target = layer, layer + first_room * stride + cells
                    count, used = take_in_ways(
                        old, ways, first, rows, digits, layers, source, words, cells, new_digits, apart
                    )
                    if used < 0:
                        going, used = 0, 0
                    vertex = 0
                    while going == 1 and vertex < vertices and 2 * count <= room:
                        made = link(layers, tables, spec, bases[vertex], source, target, count, begin, links, longest)
                        needed = ti.i64(0)
                        for row in range(made):
                            needed += numbers_in(layers[target + row * stride + words + 1], apart) * new_digits
                        if needed > ti.i64(cells):
                            going = 0
                        else:
                            used = ti.i32(needed)
                            lay_out(layers, target, made, stride, cells, used, apart, new_digits)
                            over |= add_ways(
                                layers, tables, found, source, count, target, stride, links, apart, longest,
                                worker * spread, new_digits,
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

    return by_length
