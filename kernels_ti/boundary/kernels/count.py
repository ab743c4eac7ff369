"""Kernels that carry numbers to each state, on the tables of `kernels_ti.boundary.kernels.tables`.

They are ways, or points: values of polynomials. That of a state is the sum of z^vertices over all ways that lead there.
A row has the state, the most vertices of such a way plus one, and the values of the polynomial at successive points z,
modulo a prime just below 2^48. Points are less than 2^16, so that the product of a point and a value fits into a cell.

Or they are numbers of one word for all cycles together: remainders modulo primes, and a bound above. Such a table has
an array for each word of a state and for each number, so it has as many rows as an array has cells.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.tables import add_ways, array, bounded_function, child_function, reduced, row_functions
from kernels_ti.boundary.spec.packing import DIGIT_BITS, FOUND, FULL, TALLIES
from kernels_ti.taichi_door import kernel, ti

_HALF = (1 << 32) - 1


@lru_cache
def count_kernel(words: int, bits: int, cells: int) -> Any:
    """Return the kernel that counts; states have `words` words, symbols `bits` bits, rows `cells` words."""
    bounded = bounded_function(words, bits, cells)
    state_at, _row_of, rows_of = row_functions(cells)

    @kernel
    def advance(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32, digits: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32, new_digits: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32, bounds: array(ti.i32, 1),
        spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Find the rows of the children of one state for each work item, and add its ways."""
        for i in range(first, last):
            begin = i * stride
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                mine = i // spread & TALLIES - 1
                off, on, flags = bounded(state_at(old, begin), spec, base, bounds)
                rows = rows_of(off, on, flags, new, size, new_stride, tallies, mine)
                for joins in ti.static(range(2)):
                    rows[joins] = ti.select(rows[joins] >= 0, rows[joins] + cells, -1)
                found = -1
                if flags >> 2 == 1:
                    found = FOUND + 2 * (mine % copies) * new_digits
                largest = add_ways(old, begin + cells, digits, new, rows[0], rows[1], new_digits, tallies, found)
                # Look first: few states have the largest number so far.
                if largest > tallies[TALLIES + mine]:
                    ti.atomic_max(tallies[TALLIES + mine], largest)

    return advance


@lru_cache
def points_kernel(words: int, bits: int) -> Any:
    """Return the kernel that evaluates, for states of a number of words, and symbols of a number of bits."""
    children = child_function(words, bits)
    state_at, _row_of, rows_of = row_functions(words)

    @kernel
    def evaluate(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32, values: ti.i32, first_point: ti.i32, below: ti.u64,
        spec: array(ti.u64, 1), base: ti.i32,
        spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children, add its values.

        Where the vertex joins, each value is multiplied by its point. The tallies are told the most vertices of a cycle
        that closes, and the values of all these cycles, in halves of 32 bits; `copies` of these are kept.
        """
        for i in range(first, last):
            begin = i * stride
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                mine, most = i // spread & TALLIES - 1, old[begin + words]
                off, on, flags = children(state_at(old, begin), spec, base)
                rows, closing = rows_of(off, on, flags, new, size, new_stride, tallies, mine), flags >> 2
                for joins in ti.static(range(2)):
                    if rows[joins] >= 0:
                        ti.atomic_max(new[rows[joins] + words], most + ti.u64(joins))
                # The vertex that closes the cycle is one more.
                if closing == 1 and most > tallies[2 * TALLIES + mine]:
                    ti.atomic_max(tallies[2 * TALLIES + mine], most)
                for k in range(values):
                    value = reduced(old[begin + words + 1 + k], below, DIGIT_BITS)
                    raised = reduced(value * ti.cast(first_point + k, ti.u64), below, DIGIT_BITS)
                    if rows[0] >= 0:
                        ti.atomic_add(new[rows[0] + words + 1 + k], value)
                    if rows[1] >= 0:
                        ti.atomic_add(new[rows[1] + words + 1 + k], raised)
                    if closing == 1:
                        found = FOUND + 2 * (mine % copies * values + k)
                        ti.atomic_add(tallies[found], raised & ti.u64(_HALF))
                        ti.atomic_add(tallies[found + 1], raised >> ti.u64(32))

    return evaluate


@ti.func
def rounded_up(number, shift):
    """Return at least a number divided by 2^shift; the number itself for no shift."""
    return ti.select(shift > 0, (number >> ti.cast(shift, ti.u64)) + ti.u64(1), number)


@lru_cache
def remainder_kernel(words: int, bits: int, numbers: int) -> Any:
    """Return the kernel for states of at most three words, symbols of so many bits, and one to five numbers.

    Columns that a table does not have are not read: any array will do.
    """
    children = child_function(words, bits)
    state_at, _row_of, rows_of = row_functions(words, in_columns=True)

    @ti.func
    def add_number(
        i, k: ti.template(), old: ti.template(), new: ti.template(), rows, closes, below, prime_bits, shift,
        mine, copies, tallies: ti.template(),
    ):  # fmt: skip
        """Add number `k` of a row to those of the children, and to those that close a cycle; see `advance`."""
        number = old[i]
        if below == ti.u64(0):
            number = rounded_up(number, shift)
            # Look first: few states have the largest number so far.
            if number > tallies[TALLIES + mine]:
                ti.atomic_max(tallies[TALLIES + mine], number)
        else:
            number = reduced(number, below, prime_bits)
        for joins in ti.static(range(2)):
            if rows[joins] >= 0:
                ti.atomic_add(new[rows[joins]], number)
        if closes == 1:
            found = FOUND + 2 * (mine % copies * numbers + k)
            ti.atomic_add(tallies[found], number & ti.u64(_HALF))
            ti.atomic_add(tallies[found + 1], number >> ti.u64(32))

    @kernel
    def advance(
        first: ti.i32, last: ti.i32,
        old_0: array(ti.u64, 1), old_1: array(ti.u64, 1), old_2: array(ti.u64, 1),
        from_0: array(ti.u64, 1), from_1: array(ti.u64, 1), from_2: array(ti.u64, 1), from_3: array(ti.u64, 1),
        from_4: array(ti.u64, 1),
        new_0: array(ti.u64, 1), new_1: array(ti.u64, 1), new_2: array(ti.u64, 1),
        to_0: array(ti.u64, 1), to_1: array(ti.u64, 1), to_2: array(ti.u64, 1), to_3: array(ti.u64, 1),
        to_4: array(ti.u64, 1),
        size: ti.i32, below: array(ti.u64, 1), prime_bits: ti.i32, shift: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32, spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children, add its numbers.

        Number k is reduced before, modulo the prime that is ``below[k]`` less than 2^prime_bits. Where that is 0, it is
        a bound: it is divided by 2^shift and rounded up. The tallies are told the largest bound, and the sum of the
        numbers that close a cycle in halves of 32 bits, of which `copies` are kept.
        """
        for i in range(first, last):
            if old_0[i] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                mine = i // spread & TALLIES - 1
                off, on, flags = children(state_at((old_0, old_1, old_2), i), spec, base)
                rows = rows_of(off, on, flags, (new_0, new_1, new_2), size, 1, tallies, mine)
                for k in ti.static(range(numbers)):
                    add_number(
                        i, k, ti.static((from_0, from_1, from_2, from_3, from_4)[k]),
                        ti.static((to_0, to_1, to_2, to_3, to_4)[k]), rows, flags >> 2, below[k], prime_bits, shift,
                        mine, copies, tallies,
                    )  # fmt: skip

    return advance
