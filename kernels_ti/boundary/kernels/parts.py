"""Kernels for the cores of a CPU: they let a vertex come in the states of a boundary, one part of them at a time.

A layer, all states of one boundary, lies in parts. Two states of different parts never have equal children, so each
worker takes whole parts, and no two workers write to one place. A worker puts the children of a part behind one
another, and finds equal ones by a table of their numbers that stays in its cache. States have the symbols of
`kernels_ti.boundary.states.states`.

A part is `PART` cells of an array: its first row in the old layer, its rows, its first row in the new layer, its new
rows. The workers share a queue: cell `NEXT` is the next part, and a worker that finds a sum too large for its digits
sets `OVERFLOW`. Numbers of ways have digits of 64 bits, the lowest first.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from kernels_ti.boundary.kernels.tables import STEP_HEADER, state_functions

ITERATIONS_PER_WORKER = 512
"""Taichi hands out the iterations of a CPU loop in blocks of 512: a worker is the first of these."""

PART = 4
NEXT, OVERFLOW = 0, 1
WINDOW = 2
"""Cells of a row between the words and the ways in a count by length: the first cell of its ways among all, and its
fewest and its most vertices."""
DEAD = (1 << 64) - 1
"""First word of a state that leads to no cycle."""

_FACTOR = 0x9E3779B97F4A7C15
_HALF = (1 << 32) - 1

array = ti.types.ndarray


class PartKernels(NamedTuple):
    """The kernels for states of one length and one width of symbols."""

    tabulate: Any
    count_together: Any
    link: Any
    measure: Any
    move: Any


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


@ti.kernel
def add_ways(
    workers: ti.i32, parts: array(ti.i32, 1), bases: array(ti.i64, 1), end: ti.i32, queue: array(ti.i32, 1),
    words: ti.i32, apart: ti.i32, old: array(ti.u64, 1), ways: array(ti.u64, 1), digits: ti.i32,
    links: array(ti.i32, 1), new: array(ti.u64, 1), new_ways: array(ti.u64, 1), new_digits: ti.i32,
):  # fmt: skip
    """Add the ways to the states to those of their children; a work item in 512 is a worker, which takes whole parts.

    It reads the rows and ways of a part and the links to the children. It writes the children's ways, and where they
    begin. `apart` is the least difference of two lengths of one state.
    """
    for i in range(workers * ITERATIONS_PER_WORKER):
        if i % ITERATIONS_PER_WORKER == 0:
            part = ti.atomic_add(queue[NEXT], 1)
            while part < end:
                stride = words + WINDOW
                first_new, made = parts[part * PART + 2], parts[part * PART + 3]
                cell = ti.i32(bases[part])
                for row in range(first_new, first_new + made):
                    at = row * stride + words
                    window = new[at + 1]
                    numbers = ti.i32(window & ti.u64(_HALF)) - ti.i32(window >> ti.u64(32))
                    cells = (numbers // apart + 1) * new_digits
                    new[at] = ti.cast(cell, ti.u64)
                    for k in range(cell, cell + cells):
                        new_ways[k] = ti.u64(0)
                    cell += cells
                first, over = parts[part * PART], 0
                for row in range(first, first + parts[part * PART + 1]):
                    at = row * stride + words
                    source = ti.i32(old[at])
                    low, high = ti.i32(old[at + 1] >> ti.u64(32)), ti.i32(old[at + 1] & ti.u64(_HALF))
                    for joins in range(2):
                        child = links[2 * row + joins]
                        if child >= 0:
                            row_new = child * stride + words
                            least = ti.i32(new[row_new + 1] >> ti.u64(32))
                            most = ti.i32(new[row_new + 1] & ti.u64(_HALF))
                            target = ti.i32(new[row_new]) + (low + joins - least) // apart * new_digits
                            numbers = (ti.min(high + joins, most) - low - joins) // apart + 1
                            if new_digits == 1:
                                for k in range(numbers):
                                    more = ways[source + k]
                                    total = new_ways[target + k] + more
                                    new_ways[target + k] = total
                                    over |= ti.cast(total < more, ti.i32)
                            else:
                                for k in range(numbers):
                                    into, at_number = target + k * new_digits, source + k * digits
                                    over |= add_number(ways, at_number, digits, new_ways, into, new_digits)
                if over != 0:
                    queue[OVERFLOW] = 1
                part = ti.atomic_add(queue[NEXT], 1)


@lru_cache
def part_kernels(words: int, bits: int) -> PartKernels:
    """Return the kernels for states of a number of words and symbols of a number of bits."""
    vector = ti.types.vector(words, ti.u64)
    functions = state_functions(words, bits, words)
    children = functions.children
    slots, field = 64 // bits, (1 << bits) - 1

    @ti.func
    def state_at(rows: ti.template(), at):
        state = vector(0)
        for w in ti.static(range(words)):
            state[w] = rows[at + w]
        return state

    @ti.func
    def mixed(state):
        """Return a word of which each high bit depends on all bits of a state."""
        found = state[0] * ti.u64(_FACTOR)
        for w in ti.static(range(1, words)):
            found = (found ^ found >> ti.u64(32) ^ state[w]) * ti.u64(_FACTOR)
        return (found ^ found >> ti.u64(32)) * ti.u64(_FACTOR)

    @ti.func
    def place_of(state, rows: ti.template(), first, stride, table: ti.template(), begin, size):
        """Return the place of a child among those of its part, and its cell in the table; -1 for a new child."""
        cell = ti.i32((mixed(state) >> ti.u64(32)) * ti.cast(size, ti.u64) >> ti.u64(32))
        place, going = -1, 1
        while going == 1:
            place = table[begin + cell] - 1
            if place < 0:
                going = 0
            else:
                differs = ti.u64(0)
                at = (first + place) * stride
                for w in ti.static(range(words)):
                    differs |= rows[at + w] ^ state[w]
                if differs == ti.u64(0):
                    going = 0
                else:
                    cell = ti.select(cell + 1 == size, 0, cell + 1)
        return place, begin + cell

    @ti.kernel
    def count_together(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i32, 1),
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        old: array(ti.u64, 1), digits: ti.i32, new: array(ti.u64, 1), new_digits: ti.i32,
        tables: array(ti.i32, 1), room: ti.i32, found: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the states of whole parts; a work item in 512 is a worker.

        It reads the old rows of a part, states with the ways to them. It writes the new rows, and the number of them to
        the part. It adds the ways that close a cycle to its own digits of `found`. Its table has `room` cells.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker = i // ITERATIONS_PER_WORKER
                part = ti.atomic_add(queue[NEXT], 1)
                while part < end:
                    first, count = parts[part * PART], parts[part * PART + 1]
                    first_new, made, over = parts[part * PART + 2], 0, 0
                    stride, new_stride = words + digits, words + new_digits
                    begin, size = worker * room, 4 * count
                    for k in range(begin, begin + size):
                        tables[k] = 0
                    for row in range(first, first + count):
                        at = row * stride
                        state = state_at(old, at)
                        if state[0] != ti.u64(DEAD):
                            off, on, flags = children(tabled, state, steps, base, changes)
                            if flags >> 2 == 1:
                                over |= add_number(old, at + words, digits, found, worker * new_digits, new_digits)
                            for joins in ti.static(range(2)):
                                if flags >> joins & 1 == 1:
                                    child = on if ti.static(joins == 1) else off
                                    place, cell = place_of(child, new, first_new, new_stride, tables, begin, size)
                                    if place < 0:
                                        into = (first_new + made) * new_stride
                                        made += 1
                                        tables[cell] = made
                                        for w in ti.static(range(words)):
                                            new[into + w] = child[w]
                                        for digit in range(new_digits):
                                            new[into + words + digit] = ti.u64(0)
                                            if digit < digits:
                                                new[into + words + digit] = old[at + words + digit]
                                    else:
                                        into = (first_new + place) * new_stride + words
                                        over |= add_number(old, at + words, digits, new, into, new_digits)
                    parts[part * PART + 3] = made
                    if over != 0:
                        queue[OVERFLOW] = 1
                    part = ti.atomic_add(queue[NEXT], 1)

    @ti.kernel
    def link(
        workers: ti.i32, parts: array(ti.i32, 1), sizes: array(ti.i64, 1), end: ti.i32, queue: array(ti.i32, 1),
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        old: array(ti.u64, 1), ways: array(ti.u64, 1), digits: ti.i32, apart: ti.i32, longest: ti.i32,
        new: array(ti.u64, 1), new_digits: ti.i32, links: array(ti.i32, 1),
        tables: array(ti.i32, 1), room: ti.i32, lengths: ti.i32, found: array(ti.u64, 1),
    ):  # fmt: skip
        """Find the children of the states of whole parts; a work item in 512 is a worker.

        It reads the old rows of a part. It writes the new rows without their ways, two links for each old row, the
        children or -1, and the number of new rows and of the cells for their ways. It adds the ways that close a cycle
        to its own `lengths` numbers of `found`. Children with more than `longest` vertices are left out.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker = i // ITERATIONS_PER_WORKER
                part = ti.atomic_add(queue[NEXT], 1)
                while part < end:
                    first, count = parts[part * PART], parts[part * PART + 1]
                    first_new, made, over = parts[part * PART + 2], 0, 0
                    stride = words + WINDOW
                    begin, size = worker * room, 4 * count
                    for k in range(begin, begin + size):
                        tables[k] = 0
                    for row in range(first, first + count):
                        at = row * stride
                        state = state_at(old, at)
                        links[2 * row], links[2 * row + 1] = -1, -1
                        if state[0] != ti.u64(DEAD):
                            low = ti.i32(old[at + words + 1] >> ti.u64(32))
                            high = ti.i32(old[at + words + 1] & ti.u64(_HALF))
                            off, on, flags = children(tabled, state, steps, base, changes)
                            if flags >> 2 == 1:
                                source = ti.i32(old[at + words])
                                for k in range((ti.min(high, longest) - low) // apart + 1):
                                    into = (worker * lengths + low + k * apart) * new_digits
                                    over |= add_number(ways, source + k * digits, digits, found, into, new_digits)
                            for joins in ti.static(range(2)):
                                if flags >> joins & 1 == 1 and low + joins <= longest:
                                    child = on if ti.static(joins == 1) else off
                                    least = ti.cast(low + joins, ti.u64)
                                    most = ti.cast(ti.min(high + joins, longest), ti.u64)
                                    place, cell = place_of(child, new, first_new, stride, tables, begin, size)
                                    if place < 0:
                                        place = made
                                        made += 1
                                        tables[cell] = made
                                        into = (first_new + place) * stride
                                        for w in ti.static(range(words)):
                                            new[into + w] = child[w]
                                        new[into + words + 1] = least << ti.u64(32) | most
                                    else:
                                        into = (first_new + place) * stride + words + 1
                                        window = new[into]
                                        least = ti.min(least, window >> ti.u64(32))
                                        most = ti.max(most, window & ti.u64(_HALF))
                                        new[into] = least << ti.u64(32) | most
                                    links[2 * row + joins] = first_new + place
                    numbers = ti.i64(0)
                    for row in range(first_new, first_new + made):
                        window = new[row * stride + words + 1]
                        span = ti.cast(window & ti.u64(_HALF), ti.i64) - ti.cast(window >> ti.u64(32), ti.i64)
                        numbers += span // apart + 1
                    parts[part * PART + 3] = made
                    if over != 0:
                        queue[OVERFLOW] = 1
                    sizes[part] = numbers
                    part = ti.atomic_add(queue[NEXT], 1)

    @ti.func
    def bucket_of(state, masks: ti.template(), buckets):
        """Return the bucket of a state: by which of the chosen slots are off the cycle, inner ones, and ends."""
        seen = vector(0)
        for w in ti.static(range(words)):
            lowest = masks[w]
            ends = ti.u64(0)
            for k in ti.static(range(1, bits)):
                ends |= state[w] >> ti.u64(k)
            ends &= lowest
            seen[w] = ends << ti.u64(1) | state[w] & lowest & ~ends
        return ti.i32((mixed(seen) >> ti.u64(32)) * ti.cast(buckets, ti.u64) >> ti.u64(32))

    @ti.kernel
    def measure(
        workers: ti.i32, parts: array(ti.i32, 1), groups: array(ti.i32, 1), end: ti.i32, queue: array(ti.i32, 1),
        stride: ti.i32, rows: array(ti.u64, 1), masks: array(ti.u64, 1), buckets: ti.i32, sizes: array(ti.i32, 1),
    ):  # fmt: skip
        """Count the states of whole groups of parts by the bucket that they are to be moved to.

        One work item in 512 is a worker. A group is the parts from one entry of `groups` to the next.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                group = ti.atomic_add(queue[NEXT], 1)
                while group < end:
                    for k in range(group * buckets, group * buckets + buckets):
                        sizes[k] = 0
                    for part in range(groups[group], groups[group + 1]):
                        first = parts[part * PART]
                        for row in range(first, first + parts[part * PART + 1]):
                            state = state_at(rows, row * stride)
                            if state[0] != ti.u64(DEAD):
                                bucket = group * buckets + bucket_of(state, masks, buckets)
                                sizes[bucket] = sizes[bucket] + 1
                    group = ti.atomic_add(queue[NEXT], 1)

    @ti.kernel
    def move(
        workers: ti.i32, parts: array(ti.i32, 1), groups: array(ti.i32, 1), end: ti.i32, queue: array(ti.i32, 1),
        stride: ti.i32, rows: array(ti.u64, 1), masks: array(ti.u64, 1), buckets: ti.i32, places: array(ti.i32, 1),
        moved: array(ti.u64, 1),
    ):  # fmt: skip
        """Move the rows of whole groups of parts to their buckets, to the places for each group; see `measure`."""
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                group = ti.atomic_add(queue[NEXT], 1)
                while group < end:
                    for part in range(groups[group], groups[group + 1]):
                        first = parts[part * PART]
                        for row in range(first, first + parts[part * PART + 1]):
                            state = state_at(rows, row * stride)
                            if state[0] != ti.u64(DEAD):
                                bucket = group * buckets + bucket_of(state, masks, buckets)
                                into = places[bucket] * stride
                                places[bucket] = places[bucket] + 1
                                for k in range(stride):
                                    moved[into + k] = rows[row * stride + k]
                    group = ti.atomic_add(queue[NEXT], 1)

    @ti.kernel
    def tabulate(
        entries: ti.i32, step_of: array(ti.i32, 1), first: array(ti.i32, 1), bases: array(ti.i32, 1),
        steps: array(ti.i32, 1), changes: array(ti.u64, 1),
    ):  # fmt: skip
        """Write what a vertex changes, for one combination of its neighbours' symbols for each work item.

        A state without anything else and one with everything else tell which bits a child keeps and which it is given.
        """
        for i in range(entries):
            base, combination = bases[step_of[i]], i - first[step_of[i]]
            none, all_else = vector(0), ~vector(0)
            for k in range(steps[base]):
                near = steps[base + STEP_HEADER + 2 * k]
                value = ti.u64(0)
                if k > 0:
                    value = ti.cast(combination >> (k - 1) * bits & field, ti.u64)
                for w in ti.static(range(words)):
                    if near // slots == w:
                        shift = ti.cast(near % slots * bits, ti.u64)
                        none[w] = none[w] & ~(ti.u64(field) << shift) | value << shift
                        all_else[w] = all_else[w] & ~(ti.u64(field) << shift) | value << shift
            off, on, flags = children(0, none, steps, base, changes)
            off_all, on_all, _flags = children(0, all_else, steps, base, changes)
            at = i * (1 + 3 * words)
            changes[at] = ti.cast(flags, ti.u64)
            for w in ti.static(range(words)):
                # The vertex off the cycle changes no symbol of a neighbour, or clears it.
                changes[at + 1 + w] = off[w] ^ off_all[w] | off[w]
                changes[at + 1 + words + w] = on[w]
                changes[at + 1 + 2 * words + w] = on[w] ^ on_all[w]

    return PartKernels(tabulate, count_together, link, measure, move)
