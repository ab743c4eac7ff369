"""Kernels that count by length in tables: each state has the ways of the lengths between its shortest and its longest.

Rows of tables, see `kernels_ti.boundary.kernels.tables`, hold states and where their ways are; the ways lie behind one
another in buffers of their own. So a vertex comes in three passes. The first one finds the rows of all children, and
tells them the range of their lengths. The second one gives each row its place among the ways. The third one adds the
ways, and neighbouring work items take neighbouring numbers.

There are two buffers of ways, as kernels count the cells of one buffer in 32 bits. No number lies in both. The ways are
exact numbers of several digits, or their remainders modulo a prime, of one cell each.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.tables import array, child_function, reduced, row_functions
from kernels_ti.boundary.spec.packing import (
    BESIDE,
    CLOSES,
    DIGIT_BITS,
    DIGIT_LIMIT,
    FEWEST,
    FIRST,
    FULL,
    LENGTH_LIMIT,
    LINK_BITS,
    LINKS,
    MOST,
    ROOM,
    TALLIES,
)
from kernels_ti.taichi_door import kernel, ti

_LINK, _CLOSING, _HALF = (1 << CLOSES - LINK_BITS) - 1, 1 << CLOSES, (1 << 32) - 1


@ti.func
def way_at(ways: ti.template(), beyond: ti.template(), split, cell):
    """Return a cell of the ways, of which the first `split` lie in the first buffer."""
    found = ti.u64(0)
    if cell < split:
        found = ways[ti.cast(cell, ti.i32)]
    if cell >= split:
        found = beyond[ti.cast(cell - split, ti.i32)]
    return found


@ti.func
def add_at(ways: ti.template(), beyond: ti.template(), split, cell, added):
    """Add to a cell of the ways, of which the first `split` lie in the first buffer."""
    if cell < split:
        ti.atomic_add(ways[ti.cast(cell, ti.i32)], added)
    else:
        ti.atomic_add(beyond[ti.cast(cell - split, ti.i32)], added)


@ti.func
def fewest_of(table: ti.template(), row):
    """Return the fewest vertices of the state whose cells behind the state begin at `row`."""
    return ti.cast(ti.u64(LENGTH_LIMIT) - table[row + FEWEST], ti.i32)


def _adding(words: int) -> Any:
    @ti.func
    def number_of(table: ti.template(), row, vertices, apart, digits):
        """Return the first cell of the ways with so many vertices to the state of a row."""
        state = row + words
        return ti.cast(table[state + FIRST], ti.i64) + (vertices - fewest_of(table, state)) // apart * digits

    @kernel
    def add(
        first: ti.i32, last: ti.i32, together: ti.i32,
        old: array(ti.u64, 1), ways: array(ti.u64, 1), beyond: array(ti.u64, 1), split: ti.i64, digits: ti.i32,
        new: array(ti.u64, 1), new_ways: array(ti.u64, 1), new_beyond: array(ti.u64, 1), new_split: ti.i64,
        new_digits: ti.i32, below: ti.u64, apart: ti.i32, most: ti.i32,
        lengths: ti.i32, spread: ti.i32, copies: ti.i32, cleared: ti.i32, cleared_beyond: ti.i32,
        tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Add the ways to a state to those of its children, and to those that close a cycle.

        Before, the first `cleared` cells of the new ways, and `cleared_beyond` of their second buffer, are set to zero,
        one for each work item. The first `split` cells of the old ways lie in their first buffer, and the first
        `new_split` of the new ones. `together` work items share a row, and each takes every so-manieth of its numbers.
        `below` is how much less than 2^48 the prime is, 0 for exact numbers. `copies` of the closing ways are kept, for
        `lengths` numbers of vertices.
        """
        for i in range(cleared):
            new_ways[i] = ti.u64(0)
        for i in range(cleared_beyond):
            new_beyond[i] = ti.u64(0)
        for item in range((last - first) * together):
            begin = (first + item // together) * (words + BESIDE)
            state, links = begin + words, old[begin + words + LINKS]
            if old[begin] != ti.u64(0) and links != ti.u64(0):
                fewest, own = fewest_of(old, state), ti.cast(old[state + FIRST], ti.i64)
                numbers = (ti.cast(old[state + MOST], ti.i32) - fewest) // apart + 1
                row_off = ti.cast(links >> ti.u64(LINK_BITS) & ti.u64(_LINK), ti.i32) - 1
                row_on = ti.cast(links & ti.u64(_LINK), ti.i32) - 1
                off, on = ti.i64(0), ti.i64(0)
                if row_off >= 0:
                    off = number_of(new, row_off, fewest, apart, new_digits)
                if row_on >= 0:
                    on = number_of(new, row_on, fewest + 1, apart, new_digits)
                mine, largest = item // spread & TALLIES - 1, ti.u64(0)
                k = item % together
                while k < numbers:
                    vertices, over = fewest + k * apart, ti.u64(0)
                    for digit in range(new_digits):
                        number = over
                        if digit < digits:
                            number += way_at(ways, beyond, split, own + k * digits + digit)
                        if below == ti.u64(0):
                            over = number >> ti.u64(DIGIT_BITS)
                            number &= ti.u64(DIGIT_LIMIT - 1)
                        else:
                            number = reduced(number, below, DIGIT_BITS)
                        if number != ti.u64(0):
                            largest = ti.max(largest, ti.cast(digit, ti.u64) << ti.u64(DIGIT_BITS) | number)
                            # A state that Python has left may hold sets that are too large.
                            if row_off >= 0 and vertices <= most:
                                add_at(new_ways, new_beyond, new_split, off + k * new_digits + digit, number)
                            if row_on >= 0 and vertices < most:
                                add_at(new_ways, new_beyond, new_split, on + k * new_digits + digit, number)
                            if links & ti.u64(_CLOSING) != ti.u64(0):
                                found = ROOM + 1 + 2 * ((mine % copies * lengths + vertices) * new_digits + digit)
                                ti.atomic_add(tallies[found], number & ti.u64(_HALF))
                                ti.atomic_add(tallies[found + 1], number >> ti.u64(32))
                    k += together
                # Look first: few states have the largest number so far.
                if largest > tallies[TALLIES + mine]:
                    ti.atomic_max(tallies[TALLIES + mine], largest)

    return add


@lru_cache
def length_kernels(words: int, bits: int) -> tuple[Any, Any]:
    """Return `link`, which makes two passes, and `add`; states have `words` words and symbols of `bits` bits."""
    children = child_function(words, bits)
    state_at, _row_of, rows_of = row_functions(words)

    @kernel
    def link(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), new: array(ti.u64, 1), size: ti.i32, most: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32, spread: ti.i32, placed: ti.i32, together: ti.i32, apart: ti.i32,
        digits: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children.

        These rows are told the fewest and the most vertices, up to `most`. Then the first `placed` rows of the new
        table, all or none, get their place among the ways, `together` for each work item. The lengths of one state
        differ by multiples of `apart`.
        """
        for i in range(first, last):
            begin = i * (words + BESIDE)
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                beside = begin + words
                off, on, flags = children(state_at(old, begin), spec, base)
                if fewest_of(old, beside) >= most:
                    # A vertex more would be too many.
                    flags &= 5
                rows = rows_of(off, on, flags, new, size, words + BESIDE, tallies, i // spread & TALLIES - 1)
                for joins in ti.static(range(2)):
                    if rows[joins] >= 0:
                        child = rows[joins] + words
                        grown = ti.min(old[beside + MOST] + ti.u64(joins), ti.cast(most, ti.u64))
                        ti.atomic_max(new[child + FEWEST], old[beside + FEWEST] - ti.u64(joins))
                        ti.atomic_max(new[child + MOST], grown)
                links = ti.cast(rows[0] + 1, ti.u64) << ti.u64(LINK_BITS) | ti.cast(rows[1] + 1, ti.u64)
                old[beside + LINKS] = links | ti.cast(flags >> 2, ti.u64) << ti.u64(CLOSES)
        for part in range((placed + together - 1) // together):
            last_row = ti.min(part * together + together, placed)
            cells, largest = 0, ti.u64(0)
            for i in range(part * together, last_row):
                row = i * (words + BESIDE) + words
                if new[row - words] != ti.u64(0):
                    numbers = (ti.cast(new[row + MOST], ti.i32) - fewest_of(new, row)) // apart + 1
                    new[row + FIRST] = ti.cast(cells, ti.u64)
                    cells += numbers * digits
                    largest = ti.max(largest, new[row + MOST])
            if cells > 0:
                at = ti.atomic_add(tallies[ROOM], ti.cast(cells, ti.u64))
                for i in range(part * together, last_row):
                    row = i * (words + BESIDE) + words
                    if new[row - words] != ti.u64(0):
                        new[row + FIRST] += at
                mine = 2 * TALLIES + (part & TALLIES - 1)
                if largest > tallies[mine]:
                    ti.atomic_max(tallies[mine], largest)

    return link, _adding(words)
