"""Kernels that go back through all states of a boundary and count the cycles through the vertex of a step.

They take the rows of a layer without gaps, see `kernels_ti.boundary.kernels.ways`. Numbers of completions have digits
of `DIGIT_BITS` bits, the lowest first, as the numbers of ways have. Each has as many digits as the number of all
cycles. Numbers are multiplied in halves of digits, so that no product and no sum overflows. A state that leads to a
cycle has no more ways and no more completions than there are cycles, so the products are exact. The ways to other
states may have more digits; these are left out, as nothing completes such a state.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from kernels_ti.bits import lowest_bit
from kernels_ti.boundary.kernels.optimum import optimum_kernels
from kernels_ti.boundary.kernels.tables import DIGIT_BITS, DIGIT_LIMIT, STEP_HEADER, array, state_functions

HALF_BITS = DIGIT_BITS // 2
"""Bits of the numbers that are multiplied, and of those that are added up."""

CLOSES = 63
"""The bit of a mark that says that the vertex closes a cycle; before come the neighbours that are on the cycle."""

_HALF = (1 << HALF_BITS) - 1


class ShareKernels(NamedTuple):
    """The kernels for one length of states and one width of symbols."""

    put_down: Any
    link: Any
    complete: Any


@ti.func
def half_at(numbers: ti.template(), at, digits, place):
    """Return half a digit of a number that begins at a cell, zero beyond its digits."""
    found = ti.u64(0)
    if place < 2 * digits:
        found = numbers[at + place // 2] >> ti.cast(place % 2 * HALF_BITS, ti.u64) & ti.u64(_HALF)
    return found


@ti.kernel
def complete(
    first: ti.i32, last: ti.i32, items: ti.i32, spread: ti.i32, interleaved: ti.i32,
    rows: array(ti.u64, 1), stride: ti.i32, cells: ti.i32, digits: ti.i32,
    links: array(ti.i32, 1), marks: array(ti.u64, 1), wide: ti.i32,
    after: array(ti.u64, 1), before: array(ti.u64, 1), near: ti.i32, sums: array(ti.u64, 1),
):  # fmt: skip
    """Count the completions of states, and the cycles through the vertex and its edges.

    One work item in `spread` works. It takes neighbouring rows, or with `interleaved` every row whose number has one
    remainder. It reads the ways to a state, which follow its `cells`, its links and its mark, and the completions of
    its children in `after`. It writes the completions of the state to `before`, as numbers of `wide` digits. To its
    own part of `sums` it adds the cycles through the vertex, and those through the edge to each of `near` neighbours,
    in halves of digits.
    """
    for i in range(items * spread):
        if i % spread == 0:
            item = i // spread
            each = (last - first + items - 1) // items
            row, end, to_next = first + item * each, ti.min(first + (item + 1) * each, last), 1
            if interleaved == 1:
                row, end, to_next = first + item, last, items
            own = item * (1 + near) * 2 * wide
            while row < end:
                off, on, mark = links[2 * row], links[2 * row + 1], marks[row]
                closes = ti.cast(mark >> ti.u64(CLOSES), ti.i32)
                over, passing = ti.u64(0), ti.u64(closes)
                for digit in range(wide):
                    value = over
                    if digit == 0:
                        value += ti.u64(closes)
                    if off >= 0:
                        value += after[off * wide + digit]
                    if on >= 0:
                        joined = after[on * wide + digit]
                        value += joined
                        passing |= joined
                    before[row * wide + digit] = value & ti.u64(DIGIT_LIMIT - 1)
                    over = value >> ti.u64(DIGIT_BITS)
                if passing != ti.u64(0):
                    at, carried = row * stride + cells, ti.u64(0)
                    for half in range(2 * wide):
                        product = carried
                        if closes == 1:
                            # No piece is left: this state has no child where the vertex joins.
                            product = half_at(rows, at, digits, half)
                        else:
                            for k in range(ti.min(half + 1, 2 * digits)):
                                product += half_at(rows, at, digits, k) * half_at(after, on * wide, wide, half - k)
                        carried = product >> ti.u64(HALF_BITS)
                        product &= ti.u64(_HALF)
                        if product != ti.u64(0):
                            # No other work item has these cells: x = x + y is no race, and x += y would be an atomic.
                            sums[own + half] = sums[own + half] + product
                            beside = mark & ~(ti.u64(1) << ti.u64(CLOSES))
                            while beside != ti.u64(0):
                                cell = own + (1 + lowest_bit(beside, 64)) * 2 * wide + half
                                sums[cell] = sums[cell] + product
                                beside &= beside - ti.u64(1)
                row += to_next


@lru_cache
def share_kernels(words: int, bits: int, cells: int) -> ShareKernels:
    """Return the kernels for states of `words` words with symbols of `bits` bits, in rows with `cells` words."""
    functions, bounded = state_functions(words, bits, cells), optimum_kernels(words, bits, cells).bounded
    state_at, row_of, found_at, symbol = functions.state_at, functions.row_of, functions.found_at, functions.symbol

    @ti.kernel
    def put_down(
        first: ti.i32, last: ti.i32, rows: array(ti.u64, 1), stride: ti.i32,
        table: array(ti.u64, 1), size: ti.i32, full: array(ti.u64, 1),
    ):  # fmt: skip
        """Put the state of one row for each work item into a table, with the number of the row behind it."""
        for i in range(first, last):
            row, _is_new = row_of(table, size, cells + 1, state_at(rows, i * stride))
            if row < 0:
                full[0] = ti.u64(1)
            else:
                table[row + cells] = ti.cast(i, ti.u64)

    @ti.kernel
    def link(
        first: ti.i32, last: ti.i32, rows: array(ti.u64, 1), stride: ti.i32,
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        bounds: array(ti.i32, 1), table: array(ti.u64, 1), size: ti.i32,
        links: array(ti.i32, 1), marks: array(ti.u64, 1),
    ):  # fmt: skip
        """Find both children of the state of one row for each work item in the table of the states that follow.

        It writes the numbers of their rows, -1 for none, and a mark: which neighbours of the vertex are on the cycle,
        and whether the vertex closes one.
        """
        for i in range(first, last):
            state = state_at(rows, i * stride)
            off, on, flags = bounded(tabled, state, steps, base, changes, bounds)
            for joins in ti.static(range(2)):
                child = -1
                if flags >> joins & 1 == 1:
                    row = found_at(table, size, cells + 1, on if ti.static(joins == 1) else off)
                    if row >= 0:
                        child = ti.cast(table[row + cells], ti.i32)
                links[2 * i + joins] = child
            mark = ti.cast(flags >> 2 & 1, ti.u64) << ti.u64(CLOSES)
            for k in range(steps[base] - 1):
                if symbol(state, steps[base + STEP_HEADER + 2 + 2 * k]) != 0:
                    mark |= ti.u64(1) << ti.cast(k, ti.u64)
            marks[i] = mark

    return ShareKernels(put_down, link, complete)
