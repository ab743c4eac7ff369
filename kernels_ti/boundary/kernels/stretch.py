"""The kernels for the cores of a CPU: they move states to other parts, and let a stretch of vertices come in each part.

Two states of different parts never have equal children, so a worker takes a part through all vertices without a word to
the others. It copies the part to memory of its own, which holds two layers that change places, and finds equal children
by a table of their numbers. All that stays in the cache of a core. In the end it copies the last layer to the new rows.

A row has a state and the ways to it, whose digits have 64 bits, the lowest first. In a count by length the ways lie in
cells before the rows, for each number of vertices from the fewest to the most, and the row has the first of these cells
and this window.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.tables import array, child_function, mixing, place_for, row_functions
from kernels_ti.boundary.spec.packing import DEAD, DONE, NEXT, OVERFLOW, PART, ROWS, WAYS, WINDOW
from kernels_ti.taichi_door import kernel, ti

ITERATIONS_PER_WORKER = 512
"""Taichi hands out the iterations of a CPU loop in blocks of 512: a worker is the first of these."""


@lru_cache
def rearranging_kernel(words: int, bits: int) -> Any:
    """Return the kernel that moves states of a number of words, with symbols of a number of bits, to other parts."""
    vector = ti.types.vector(words, ti.u64)
    (state_at, _row_of, _rows_of), mixed = row_functions(words), mixing(words)

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
        return place_for(mixed(seen), buckets)

    @ti.func
    def deal(
        count, groups: ti.template(), parts: ti.template(), queue: ti.template(), stride, rows: ti.template(),
        masks: ti.template(), buckets, places: ti.template(), moved: ti.template(), moves: ti.template(),
    ):  # fmt: skip
        """Take groups of parts, and count the states of each by bucket, or move them to their places."""
        group = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
        while group < count:
            if ti.static(not moves):
                for k in range(group * buckets, group * buckets + buckets):
                    places[k] = 0
            for part in range(groups[group], groups[group + 1]):
                first = parts[part * PART]
                for row in range(first, first + parts[part * PART + 1]):
                    if rows[row * stride] != ti.u64(DEAD):
                        bucket = group * buckets + bucket_of(state_at(rows, row * stride), masks, buckets)
                        into = places[bucket]
                        places[bucket] = into + 1
                        if ti.static(moves):
                            for k in range(stride):
                                moved[into * stride + k] = rows[row * stride + k]
            group = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    @kernel
    def rearrange(
        workers: ti.i32, parts: array(ti.i32, 1), count: ti.i32, groups: array(ti.i32, 1), queue: array(ti.i64, 1),
        stride: ti.i32, rows: array(ti.u64, 1), masks: array(ti.u64, 1), buckets: ti.i32, places: array(ti.i32, 1),
        begins: array(ti.i32, 1), moved: array(ti.u64, 1),
    ):  # fmt: skip
        """Move the states of all parts to buckets, and write where each of these begins, and the end.

        One work item in 512 is a worker, which takes whole groups of parts: those from one entry of `groups` to the
        next. Between counting and moving one work item makes places of the numbers, a cell for each group and bucket.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                deal(count, groups, parts, queue, stride, rows, masks, buckets, places, moved, False)
        for _ in range(1):
            queue[NEXT] = 0
            place = 0
            for bucket in range(buckets):
                begins[bucket] = place
                for group in range(count):
                    states = places[group * buckets + bucket]
                    places[group * buckets + bucket] = place
                    place += states
            begins[buckets] = place
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                deal(count, groups, parts, queue, stride, rows, masks, buckets, places, moved, True)

    return rearrange


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
def add_number(old: ti.template(), at, digits, new: ti.template(), into):
    """Add a number to another one; return 1 if the sum has more than its digits."""
    over = ti.u64(0)
    for digit in range(digits):
        more = over + old[at + digit]
        over = ti.cast(more < over, ti.u64)
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
def take_in(
    old: ti.template(), ways: ti.template(), first, rows, digits, layers: ti.template(), source, words, cells,
    new_digits, apart, by_length: ti.template(),
):  # fmt: skip
    """Copy the living rows of a part to a worker; return their number and the cells of their ways, -1 for too many."""
    count, used = 0, 0
    for row in range(first, first + rows):
        at = row * (words + (WINDOW if ti.static(by_length) else digits))
        if old[at] != ti.u64(DEAD) and used >= 0:
            into = source + count * (words + (WINDOW if ti.static(by_length) else new_digits))
            for w in range(words):
                layers[into + w] = old[at + w]
            if ti.static(by_length):
                window, cell = old[at + words + 1], source - cells + used
                numbers = numbers_in(window, apart)
                if used + numbers * new_digits > cells:
                    used = -1
                else:
                    layers[into + words] = ti.cast(cell, ti.u64)
                    layers[into + words + 1] = window
                    at_ways = ti.i32(old[at + words])
                    for k in range(numbers):
                        copy_number(ways, at_ways + k * digits, digits, layers, cell + k * new_digits, new_digits)
                    used += numbers * new_digits
            else:
                copy_number(old, at + words, digits, layers, into + words, new_digits)
            count += 1
    return count, used


@ti.func
def cells_for(layers: ti.template(), target, made, stride, apart, digits):
    """Return the cells that the ways by length to the states of a layer take."""
    needed = ti.i64(0)
    for row in range(made):
        needed += numbers_in(layers[target + row * stride + stride - WINDOW + 1], apart) * digits
    return needed


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
    """Add the ways to the states of a layer to those of their children, or to `found`; return 1 for an overflow."""
    over = 0
    for row in range(count):
        at = source + row * stride + stride - WINDOW
        at_ways, window = ti.i32(layers[at]), layers[at + 1]
        low, high = fewest_in(window), most_in(window)
        if tables[links + 2 * row] & _CLOSES != 0:
            for k in range((ti.min(high, longest) - low) // apart + 1):
                into = first_found + (low + k * apart) * digits
                over |= add_number(layers, at_ways + k * digits, digits, found, into)
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
                        over |= add_number(layers, at_ways + k * digits, digits, layers, into + k * digits)
    return over


def _placing(words: int) -> Any:
    mixed = mixing(words)

    @ti.func
    def place_of(state, rows: ti.template(), first, stride, table: ti.template(), begin, size):
        """Return the place of a child among those of its part, and its cell in the table; -1 for a new child."""
        cell = place_for(mixed(state), size)
        place, going = -1, 1
        while going == 1:
            place = table[begin + cell] - 1
            if place < 0:
                going = 0
            else:
                differs = ti.u64(0)
                at = first + place * stride
                for w in ti.static(range(words)):
                    differs |= rows[at + w] ^ state[w]
                if differs == ti.u64(0):
                    going = 0
                else:
                    cell = ti.select(cell + 1 == size, 0, cell + 1)
        return place, begin + cell

    return place_of


@lru_cache
def _linking(words: int, bits: int, *, by_length: bool) -> Any:
    children, place_of = child_function(words, bits), _placing(words)
    state_at, _row_of, _rows_of = row_functions(words)

    @ti.func
    def link(
        layers: ti.template(), tables: ti.template(), spec: ti.template(), base, source, target, stride, count, begin,
        links, longest, found: ti.template(), first_found,
    ):  # fmt: skip
        """Put the children of `count` states behind one another; return how many there are, and 1 for an overflow.

        All lengths together are added up at once. By length, children get their windows and states links to them.
        """
        made, size, over = 0, 4 * count, 0
        for k in range(begin, begin + size):
            tables[k] = 0
        for row in range(count):
            at = source + row * stride
            state = state_at(layers, at)
            low, high = 0, 0
            if ti.static(by_length):
                low, high = fewest_in(layers[at + words + 1]), most_in(layers[at + words + 1])
                tables[links + 2 * row + 1] = 0
            off, on, flags = children(state, spec, base)
            for joins in ti.static(range(2)):
                linked = 0
                if flags >> joins & 1 == 1 and low + joins <= longest:
                    child = on if ti.static(joins == 1) else off
                    place, cell = place_of(child, layers, target, stride, tables, begin, size)
                    is_new = place < 0
                    if is_new:
                        place = made
                        made += 1
                        tables[cell] = made
                        for w in ti.static(range(words)):
                            layers[target + place * stride + w] = child[w]
                    into = target + place * stride + words
                    if ti.static(by_length):
                        least = ti.cast(low + joins, ti.u64)
                        most = ti.cast(ti.min(high + joins, longest), ti.u64)
                        if not is_new:
                            least = ti.min(least, layers[into + 1] >> ti.u64(32))
                            most = ti.max(most, layers[into + 1] & ti.u64(_HALF))
                        layers[into + 1] = least << ti.u64(32) | most
                        linked = place + 1
                    elif is_new:
                        for digit in range(stride - words):
                            layers[into + digit] = layers[at + words + digit]
                    else:
                        over |= add_number(layers, at + words, stride - words, layers, into)
                if ti.static(by_length):
                    tables[links + 2 * row + joins] = linked
            if flags >> 2 == 1:
                if ti.static(by_length):
                    tables[links + 2 * row] = tables[links + 2 * row] | _CLOSES
                else:
                    over |= add_number(layers, at + words, stride - words, found, first_found)
        return made, over

    return link


@lru_cache
def stretch_kernel(words: int, bits: int, *, by_length: bool) -> Any:
    """Return the kernel for states of a number of words and symbols of a number of bits."""
    link = _linking(words, bits, by_length=by_length)

    @kernel
    def go_through(
        workers: ti.i32, parts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        spec: array(ti.u64, 1), vertices: ti.i32, bases: array(ti.i32, 1),
        old: array(ti.u64, 1), ways: array(ti.u64, 1), digits: ti.i32,
        new: array(ti.u64, 1), new_rows: ti.i64, new_ways: array(ti.u64, 1), new_cells: ti.i64, new_digits: ti.i32,
        apart: ti.i32, longest: ti.i32, layers: array(ti.u64, 1), first_room: ti.i32, room: ti.i32, cells: ti.i32,
        tables: array(ti.i32, 1), found: array(ti.u64, 1), spread: ti.i32, met: array(ti.i64, 1),
    ):  # fmt: skip
        """Let a stretch of vertices come in the states of whole parts; a work item in 512 is a worker.

        It writes the new rows, where they are and the number of them, and to its own cells, which are `spread` apart:
        `found`, the ways that close a cycle, and `met`, the states that follow each vertex. Its own layers have
        `first_room` and `room` rows, and `cells` cells for ways by length before the rows of each. It stops before a
        vertex for which they might be too small, and says so in `DONE`. New rows and ways for which there is no room
        are not written. `apart` is the least difference of two lengths of one state.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker, stride = i // ITERATIONS_PER_WORKER, words + (WINDOW if ti.static(by_length) else new_digits)
                layer = worker * ((first_room + room) * stride + 2 * cells) + cells
                begin = worker * room * (3 if ti.static(by_length) else 2)
                links, own = (worker * 3 + 2) * room, worker * spread
                part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
                while part < end:
                    first, rows, over, going = parts[part * PART], parts[part * PART + 1], 0, 1
                    source, target = layer, layer + first_room * stride + cells
                    count, used = take_in(
                        old, ways, first, rows, digits, layers, source, words, cells, new_digits, apart, by_length
                    )
                    if used < 0:
                        going, used = 0, 0
                    vertex = 0
                    while going == 1 and vertex < vertices and 2 * count <= room:
                        made, too_many = link(
                            layers, tables, spec, bases[vertex], source, target, stride, count, begin, links, longest,
                            found, own,
                        )  # fmt: skip
                        over |= too_many
                        if ti.static(by_length):
                            needed = cells_for(layers, target, made, stride, apart, new_digits)
                            if needed > ti.i64(cells):
                                going = 0
                            else:
                                used = ti.i32(needed)
                                lay_out(layers, target, made, stride, cells, used, apart, new_digits)
                                over |= add_ways(
                                    layers, tables, found, source, count, target, stride, links, apart, longest,
                                    own, new_digits,
                                )  # fmt: skip
                        if going == 1:
                            count = made
                            source, target = target, source
                            met[own + vertex] = met[own + vertex] + made
                            vertex += 1
                    ti.atomic_min(queue[DONE], ti.i64(vertex))
                    last = ti.atomic_add(queue[ROWS], ti.i64(count))
                    last_cell = ti.atomic_add(queue[WAYS], ti.i64(used))
                    parts[part * PART + 2], parts[part * PART + 3] = ti.i32(last), count
                    if last + count <= new_rows and last_cell + used <= new_cells:
                        moved = ti.i32(last_cell) - source + cells
                        if ti.static(by_length):
                            for row in range(count):
                                at = source + row * stride + words
                                layers[at] = ti.cast(ti.i32(layers[at]) + moved, ti.u64)
                        into = ti.i32(last) * stride - source
                        for k in range(source, source + count * stride):
                            new[into + k] = layers[k]
                        for k in range(source - cells, source - cells + used):
                            new_ways[moved + k] = layers[k]
                    if over != 0:
                        queue[OVERFLOW] = 1
                    part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    return go_through
