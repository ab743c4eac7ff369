"""What a vertex that comes makes of a state, and the tables in which kernels keep all states.

The children of a state are those of `kernels_ti.boundary.spec.changes` in numpy. One word more than those of the
symbols tells states apart that have the same symbols.

A table is a hash table of rows: a state followed by its values; an empty row begins with zero. A step reads the rows of
one table and writes to another one. Equal children become one row, where their values are added up.

Taichi has no compare-and-swap. A work item takes an empty row by `ti.atomic_or` of one bit: the first to set it owns
the row and writes the state there, and the others wait until they can read it. Whole states are compared, so that two
are never mistaken for one. Which states a table holds does not depend on the order of the threads.

Ways have digits of `DIGIT_BITS` bits, the lowest first, with room above for sums.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.spec.changes import AFTER, BEFORE, CLOSE, FAR, FIRST_HEAD, HEADER, SLOT
from kernels_ti.boundary.spec.packing import DIGIT_BITS, DIGIT_LIMIT, FIRST_END, FULL, TAKEN, WRITTEN
from kernels_ti.taichi_door import kernel, ti


@lru_cache
def symbols(words: int, bits: int) -> tuple[int, Any, Any]:
    """Return how symbols of a number of bits lie in so many words: the functions that read and write one.

    The first item has the bits of a word of which one is set at least where a symbol is that of an end.
    """
    slots, field = 64 // bits, (1 << bits) - 1
    end_bits = sum((field & ~1) << bits * k for k in range(slots))

    @ti.func
    def symbol(state, slot):
        found = ti.u64(0)
        if ti.static(words == 1):
            found = state[0] >> ti.cast(slot * bits, ti.u64)
        else:
            shift = ti.cast(slot % slots * bits, ti.u64)
            for w in ti.static(range(words)):
                if slot // slots == w:
                    found = state[w] >> shift
        return ti.cast(found & ti.u64(field), ti.i32)

    @ti.func
    def put(state, slot, value):
        """Write a symbol to a slot that is empty."""
        changed = state
        for w in ti.static(range(words)):
            if ti.static(words == 1) or slot // slots == w:
                changed[w] = state[w] | ti.cast(value, ti.u64) << ti.cast(slot % slots * bits, ti.u64)
        return changed

    return end_bits, symbol, put


@lru_cache
def joining(words: int, bits: int) -> Any:
    """Return the function that puts together the child of a state in which the vertex joins."""
    end_bits, symbol, put = symbols(words, bits)
    entry_cells = 1 + 2 * words

    @ti.func
    def put_together(state, spec: ti.template(), base):
        """Return the child in which the vertex joins, and which children there are, see `children`.

        It puts together what the neighbours tell, as `kernels_ti.boundary.spec.changes` does in numpy.
        """
        near, may = ti.cast(spec[base], ti.i32), ti.cast(spec[base + 1], ti.i32)
        slot_of = base + HEADER + 2 * words
        # The first entry stands for no neighbour.
        none = slot_of + near
        before, after, lives, fits = none, none, may, 1
        for k in range(near):
            at = symbol(state, ti.cast(spec[slot_of + k], ti.i32))
            entry = none + entry_cells * (1 + (k << bits | at))
            code = ti.cast(spec[entry], ti.i32)
            lives &= code
            goes_before = code >> BEFORE & ti.cast(before == none, ti.i32)
            goes_after = code >> AFTER & ti.cast(after == none, ti.i32) & ~goes_before
            fits &= goes_before | goes_after | ti.cast(at == 0, ti.i32)
            before = ti.select(goes_before == 1, entry, before)
            after = ti.select(goes_after == 1, entry, after)
        code_before, code_after = ti.cast(spec[before], ti.i32), ti.cast(spec[after], ti.i32)
        far_before, far_after = code_before >> FAR & 255, code_after >> FAR & 255
        has_before, has_after = ti.cast(before != none, ti.i32), ti.cast(after != none, ti.i32)
        links = has_before & has_after
        joins = fits & links & ti.cast(far_before == code_after >> SLOT, ti.i32)
        fits &= may >> (1 + has_before + 2 * has_after) & ~joins & 1
        on, rest, closes = state, ti.u64(0), 0
        for w in ti.static(range(words)):
            kept = state[w] & spec[before + 1 + w] & spec[after + 1 + w]
            rest |= kept & ti.u64(end_bits)
            inner = ti.select(links == 1, spec[base + HEADER + words + w], ti.u64(0))
            on[w] = kept | spec[before + 1 + words + w] | spec[after + 1 + words + w] | inner
        on = put(on, far_before, FIRST_END + far_after)
        on = put(on, far_after, ti.select(has_before | has_after == 1, (may >> FIRST_HEAD) + far_before, 0))
        # No piece may end anywhere but in the two neighbours.
        if joins == 1 and rest == ti.u64(0):
            closes = may >> CLOSE & 1
        return on, lives & 1 | fits << 1 | closes << 2

    return put_together


@lru_cache
def child_function(words: int, bits: int) -> Any:
    """Return the function for the children of a state of so many words."""
    end_bits, symbol, _put = symbols(words, bits)
    put_together, entry_cells = joining(words, bits), 1 + 2 * words

    @ti.func
    def children(state, spec: ti.template(), base):
        """Return both children, which of them can still become a cycle, and whether the vertex closes one."""
        off, on, flags = state, state, 0
        for w in ti.static(range(words)):
            off[w] &= spec[base + HEADER + w]
        at = ti.cast(spec[base + 2], ti.i32)
        if at > 0:
            row = 0
            for k in range(ti.cast(spec[base], ti.i32)):
                row |= symbol(state, ti.cast(spec[base + HEADER + 2 * words + k], ti.i32)) << k * bits
            at += row * entry_cells
            flags, rest = ti.cast(spec[at], ti.i32), ti.u64(0)
            for w in ti.static(range(words)):
                kept = state[w] & spec[at + 1 + w]
                on[w] = kept | spec[at + 1 + words + w]
                rest |= kept & ti.u64(end_bits)
            if rest != ti.u64(0):
                flags &= 3
        else:
            on, flags = put_together(state, spec, base)
        return off, on, flags

    return children


@lru_cache
def bounded_function(words: int, bits: int, cells: int) -> Any:
    """Return the function for the children of a state of so many cells within bounds on the length.

    With one cell more than the words of the symbols, that is the number of vertices on the cycle.
    """
    children = child_function(words, bits)

    @ti.func
    def bounded(state, spec: ti.template(), base, bounds: ti.template()):
        """Return both children, which of them can become a cycle within the bounds, and whether one closes."""
        off, on, flags = children(state, spec, base)
        if ti.static(cells > words):
            grown = ti.cast(state[words], ti.i32) + 1
            if grown < bounds[0] or grown > bounds[1] or (grown - bounds[0]) % bounds[4] != 0:
                flags &= 3
            # One vertex more has to close the cycle.
            if bounds[2] == 1 and grown >= bounds[1]:
                flags &= 5
            on[words] = ti.cast(ti.select(grown > bounds[3], grown - bounds[4], grown), ti.u64)
        return off, on, flags

    return bounded


_FACTOR, MIX = 0x9E3779B97F4A7C15, 0x94D049BB133111EB
_HALF = (1 << 32) - 1
# Rows that are looked at for one state before the table counts as full.
_MOST_PROBES = 512
# Looks at a row that is being written: seconds.
_LONGEST_WAIT = 1 << 30

array = ti.types.ndarray


@kernel
def clear(cells: ti.i32, table: array(ti.u64, 1), tallied: ti.i32, tallies: array(ti.u64, 1)):
    """Set the first cells of a table and of the tallies to zero; one cell of each for each work item."""
    for i in range(ti.max(cells, tallied)):
        if i < cells:
            table[i] = ti.u64(0)
        if i < tallied:
            tallies[i] = ti.u64(0)


@ti.func
def carried(table: ti.template(), at, digits):
    """Make the digits small that begin at a cell."""
    over = ti.u64(0)
    for digit in range(digits):
        cell = table[at + digit] + over
        over = cell >> ti.u64(DIGIT_BITS)
        table[at + digit] = cell & ti.u64(DIGIT_LIMIT - 1)


@ti.func
def reduced(cell, below, bits):
    """Return the remainder of a cell modulo the prime that is `below`, at most 2^16, less than 2^bits, 2^48 or more."""
    limit = ti.u64(1) << ti.cast(bits, ti.u64)
    folded = (cell >> ti.cast(bits, ti.u64)) * below + (cell & (limit - ti.u64(1)))
    return ti.select(folded >= limit - below, folded + below - limit, folded)


@kernel
def carry(rows: ti.i32, stride: ti.i32, before: ti.i32, digits: ti.i32, below: ti.u64, cells: array(ti.u64, 1)):
    """Carry the digits of a row, which begin `before` cells after its start; one row for each work item.

    Where the cells are sums of remainders modulo a prime, reduce each of them. `below` is how much less than 2^48 the
    prime is, 0 for exact numbers.
    """
    for i in range(rows):
        begin = i * stride + before
        if below == ti.u64(0):
            carried(cells, begin, digits)
        else:
            for cell in range(begin, begin + digits):
                cells[cell] = reduced(cells[cell], below, DIGIT_BITS)


@kernel
def gather(
    size: ti.i32, stride: ti.i32, kept: ti.i32, digits: ti.i32, together: ti.i32, table: array(ti.u64, 1),
    met: array(ti.u64, 1), rows: array(ti.u64, 1),
):  # fmt: skip
    """Copy the first cells of the rows that are not empty to a place without gaps; some rows for each work item.

    The last `digits` of the cells that are kept are those of a number, which are carried.
    """
    for part in range((size + together - 1) // together):
        last = ti.min(part * together + together, size)
        found = 0
        for i in range(part * together, last):
            if table[i * stride] != ti.u64(0):
                found += 1
        if found > 0:
            at = ti.cast(ti.atomic_add(met[0], ti.cast(found, ti.u64)), ti.i32)
            for i in range(part * together, last):
                if table[i * stride] != ti.u64(0):
                    for cell in range(kept):
                        rows[at * kept + cell] = table[i * stride + cell]
                    at += 1
                    carried(rows, at * kept - digits, digits)


@ti.func
def add_ways(
    old: ti.template(), at, digits, new: ti.template(), row_off, row_on, new_digits, tallies: ti.template(), found
):  # fmt: skip
    """Add one number of ways to those of both children, and to those that close a cycle; -1 for none of them.

    Return the place of its highest digit and that digit, in one cell.
    """
    largest, over = ti.u64(0), ti.u64(0)
    for digit in range(new_digits):
        ways = over
        if digit < digits:
            ways += old[at + digit]
        over = ways >> ti.u64(DIGIT_BITS)
        ways &= ti.u64(DIGIT_LIMIT - 1)
        if ways != ti.u64(0):
            largest = ti.cast(digit, ti.u64) << ti.u64(DIGIT_BITS) | ways
            if row_off >= 0:
                ti.atomic_add(new[row_off + digit], ways)
            if row_on >= 0:
                ti.atomic_add(new[row_on + digit], ways)
            if found >= 0:
                ti.atomic_add(tallies[found + 2 * digit], ways & ti.u64(_HALF))
                ti.atomic_add(tallies[found + 2 * digit + 1], ways >> ti.u64(32))
    return largest


def mixing(words: int) -> Any:
    """Return the function that mixes a state of so many words."""

    @ti.func
    def mixed(state):
        """Return a word of which each high bit depends on all bits of a state."""
        found = state[0] * ti.u64(_FACTOR)
        for w in ti.static(range(1, words)):
            found = (found ^ found >> ti.u64(32) ^ state[w] * ti.u64(MIX)) * ti.u64(_FACTOR)
        return (found ^ found >> ti.u64(32)) * ti.u64(_FACTOR)

    return mixed


@ti.func
def place_for(mixed, size):
    """Return a place below `size` for a mixed word."""
    return ti.cast((mixed >> ti.u64(32)) * ti.cast(size, ti.u64) >> ti.u64(32), ti.i32)


@lru_cache
def row_functions(cells: int, *, in_columns: bool = False) -> tuple[Any, Any, Any]:
    """Return the functions that read a state of so many words, and that find its row, or those of both children.

    A row is some neighbouring cells of one array, and fits the line of a cache. In columns each word has an array of
    its own, so that a table has as many rows as an array has cells.
    """
    vector, mixed, apart = ti.types.vector(cells, ti.u64), mixing(cells), 0 if in_columns else 1

    def array_of(table: Any, w: int) -> Any:
        return table[w] if in_columns else table

    @ti.func
    def state_at(table: ti.template(), at):
        state = vector(0)
        state[0] = ti.static(array_of(table, 0))[at] & ti.u64(WRITTEN - 1)
        for w in ti.static(range(1, cells)):
            state[w] = ti.static(array_of(table, w))[at + w * apart] & ti.u64(TAKEN - 1)
        return state

    @ti.func
    def row_of(table: ti.template(), size, stride, state):
        """Return the first cell of the row of a state, and whether it is new; -1 for a full table."""
        written = state[0] | ti.u64(TAKEN | WRITTEN)
        at = place_for(mixed(state), size)
        row, is_new, left, waits = -1, 0, _MOST_PROBES, 0
        while left > 0:
            cell = at * stride
            held = ti.static(array_of(table, 0))[cell]
            if held & ti.u64(WRITTEN) == ti.u64(0):
                # Atomics alone see what other work items have just written.
                held = ti.atomic_or(ti.static(array_of(table, 0))[cell], ti.u64(TAKEN))
                if held == ti.u64(0):
                    for w in ti.static(range(1, cells)):
                        ti.static(array_of(table, w))[cell + w * apart] = state[w] | ti.u64(TAKEN)
                    ti.atomic_or(ti.static(array_of(table, 0))[cell], written)
                    held = written
                    row, is_new = cell, 1
            differs, is_written = 0, 1
            if is_new == 1:
                left = 0
            elif held == written:
                for w in ti.static(range(1, cells)):
                    other = ti.static(array_of(table, w))[cell + w * apart]
                    if other == ti.u64(0):
                        other = ti.atomic_or(ti.static(array_of(table, w))[cell + w * apart], ti.u64(0))
                    if other == ti.u64(0):
                        is_written = 0
                    elif other != state[w] | ti.u64(TAKEN):
                        differs = 1
                if differs == 0 and is_written == 1:
                    row, left = cell, 0
            elif held & ti.u64(WRITTEN) != ti.u64(0):
                differs = 1
            if differs == 1:
                at = ti.select(at + 1 == size, 0, at + 1)
                left -= 1
            elif row < 0:
                # To wait for a row that is being written is no probe: its writer may have lost its core for a while.
                waits += 1
                left = ti.select(waits < _LONGEST_WAIT, left, 0)
        return row, is_new

    @ti.func
    def rows_of(off, on, flags, table: ti.template(), size, stride, tallies: ti.template(), mine):
        """Return the first cells of the rows of both children, -1 for none, and count the new ones in the tallies."""
        rows, added = ti.Vector([-1, -1]), 0
        for joins in ti.static(range(2)):
            if flags >> joins & 1 == 1:
                row, is_new = row_of(table, size, stride, on if ti.static(joins == 1) else off)
                rows[joins] = row
                added += is_new
                if row < 0:
                    tallies[FULL] = ti.u64(1)
        if added > 0:
            ti.atomic_add(tallies[mine], ti.cast(added, ti.u64))
        return rows

    return state_at, row_of, rows_of


def finding(cells: int) -> Any:
    """Return the function that finds the row of a state of so many words."""
    mixed = mixing(cells)

    @ti.func
    def found_at(table: ti.template(), size, stride, state):
        """Return the first cell of the row of a state, -1 for none; the table is only read, and has an empty row."""
        written = state[0] | ti.u64(TAKEN | WRITTEN)
        at = place_for(mixed(state), size)
        row, is_sought = -1, 1
        while is_sought == 1:
            cell = at * stride
            if table[cell] == ti.u64(0):
                is_sought = 0
            else:
                differs = 0
                if table[cell] != written:
                    differs = 1
                for w in ti.static(range(1, cells)):
                    if table[cell + w] != state[w] | ti.u64(TAKEN):
                        differs = 1
                if differs == 0:
                    row, is_sought = cell, 0
                at = ti.select(at + 1 == size, 0, at + 1)
        return row

    return found_at
