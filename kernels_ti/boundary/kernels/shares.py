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

from kernels_ti.boundary.kernels.optimum import optimum_kernels
from kernels_ti.boundary.kernels.tables import DIGIT_BITS, DIGIT_LIMIT, STEP_HEADER, array, state_functions

HALF_BITS = DIGIT_BITS // 2
"""Bits of the numbers that are multiplied, and of those that are added up."""

LINKED = 2
"""Cells of what a state becomes. The first has the places of its children in the layer that follows, plus one, 32 bits
each: where the vertex stays off the cycle, and where it joins; zero for none. The second is the mark."""

FIRST, SECOND, CLOSES = 32, 40, 48
"""Bits of a mark. Before them is the place of the state in its own layer. Then come the numbers of the neighbours of
the vertex that are on the cycle, at most two where the vertex joins; zero for none. The last says that the vertex
closes a cycle."""

_HALF, _PLACE, _NEIGHBOUR = (1 << HALF_BITS) - 1, (1 << 32) - 1, (1 << 8) - 1


class ShareKernels(NamedTuple):
    """The kernels for one length of states and one width of symbols."""

    put_down: Any
    link: Any
    complete: Any


@ti.func
def mark_of(symbol: ti.template(), state, flags, steps: ti.template(), base):
    """Return the mark of a state without its place."""
    first, second = 0, 0
    if flags >> 1 != 0:
        for k in range(1, steps[base]):
            if symbol(state, steps[base + STEP_HEADER + 2 * k]) != 0:
                second, first = first, k
    mark = ti.cast(first, ti.u64) << ti.u64(FIRST) | ti.cast(second, ti.u64) << ti.u64(SECOND)
    return mark | ti.cast(flags >> 2, ti.u64) << ti.u64(CLOSES)


@ti.func
def half_at(numbers: ti.template(), at, digits, digit_bits: ti.template(), place):
    """Return some bits of a number that begins at a cell, as many as half a digit has; zero beyond its digits."""
    found = ti.u64(0)
    cell, shift = place * HALF_BITS // digit_bits, place * HALF_BITS % digit_bits
    if cell < digits:
        found = numbers[at + cell] >> ti.cast(shift, ti.u64)
        if shift + HALF_BITS > digit_bits and cell + 1 < digits:
            found |= numbers[at + cell + 1] << ti.cast(digit_bits - shift, ti.u64)
    return found & ti.u64(_HALF)


@ti.kernel
def complete(
    first: ti.i32, last: ti.i32, items: ti.i32, spread: ti.i32, interleaved: ti.i32,
    links: array(ti.u64, 1), link_stride: ti.i32, numbers: array(ti.u64, 1), stride: ti.i32, cells: ti.i32,
    digits: ti.i32, digit_bits: ti.template(), wide: ti.i32,
    after: array(ti.u64, 1), before: array(ti.u64, 1), near: ti.i32, sums: array(ti.u64, 1),
):  # fmt: skip
    """Count the completions of states, and the cycles through the vertex and its edges.

    One work item in `spread` works. It takes neighbouring states, or with `interleaved` every state whose number has
    one remainder. It reads the ways to a state, in `numbers` behind `cells`, what it becomes in `links`, and the
    completions of its children in `after`. It writes the completions of the state to its place in `before`, as numbers
    of `wide` digits. To its own part of `sums` it adds the cycles through the vertex, and those through the edge to
    each of `near` neighbours, in halves of digits.
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
                link, mark = links[row * link_stride], links[row * link_stride + 1]
                off, on = ti.cast(link & ti.u64(_PLACE), ti.i32) - 1, ti.cast(link >> ti.u64(32), ti.i32) - 1
                closes = ti.cast(mark >> ti.u64(CLOSES), ti.i32)
                into = ti.cast(mark & ti.u64(_PLACE), ti.i32) * wide
                over, passing = ti.u64(0), ti.cast(closes, ti.u64)
                for digit in range(wide):
                    value = over
                    if digit == 0:
                        value += ti.cast(closes, ti.u64)
                    if off >= 0:
                        value += after[off * wide + digit]
                    if on >= 0:
                        joined = after[on * wide + digit]
                        value += joined
                        passing |= joined
                    before[into + digit] = value & ti.u64(DIGIT_LIMIT - 1)
                    over = value >> ti.u64(DIGIT_BITS)
                if passing != ti.u64(0):
                    one = ti.cast(mark >> ti.u64(FIRST) & ti.u64(_NEIGHBOUR), ti.i32)
                    other = ti.cast(mark >> ti.u64(SECOND) & ti.u64(_NEIGHBOUR), ti.i32)
                    at, carried, halves = row * stride + cells, ti.u64(0), digits * digit_bits // HALF_BITS + 1
                    for half in range(2 * wide):
                        product = carried
                        if closes == 1:
                            # No piece is left: this state has no child where the vertex joins.
                            product = half_at(numbers, at, digits, digit_bits, half)
                        else:
                            for k in range(ti.min(half + 1, halves)):
                                completions = half_at(after, on * wide, wide, DIGIT_BITS, half - k)
                                product += half_at(numbers, at, digits, digit_bits, k) * completions
                        carried = product >> ti.u64(HALF_BITS)
                        product &= ti.u64(_HALF)
                        if product != ti.u64(0):
                            # No other work item has these cells: x = x + y is no race, and x += y would be an atomic.
                            cell = own + half
                            sums[cell] = sums[cell] + product
                            if one > 0:
                                cell = own + one * 2 * wide + half
                                sums[cell] = sums[cell] + product
                            if other > 0:
                                cell = own + other * 2 * wide + half
                                sums[cell] = sums[cell] + product
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
        links: array(ti.u64, 1),
    ):  # fmt: skip
        """Find both children of the state of one row for each work item in the table of the states that follow.

        It writes what the state becomes.
        """
        for i in range(first, last):
            state = state_at(rows, i * stride)
            off, on, flags = bounded(tabled, state, steps, base, changes, bounds)
            places = ti.u64(0)
            for joins in ti.static(range(2)):
                if flags >> joins & 1 == 1:
                    row = found_at(table, size, cells + 1, on if ti.static(joins == 1) else off)
                    if row >= 0:
                        places |= table[row + cells] + ti.u64(1) << ti.u64(32 * joins)
            links[LINKED * i] = places
            links[LINKED * i + 1] = mark_of(symbol, state, flags, steps, base) | ti.cast(i, ti.u64)

    return ShareKernels(put_down, link, complete)
