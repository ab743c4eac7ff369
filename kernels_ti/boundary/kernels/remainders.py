"""The kernel that counts all cycles together in numbers of one word: remainders modulo primes, and a bound above.

A table has an array for each word of a state and for each number, so it has as many rows as an array has cells.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.children import child_function
from kernels_ti.boundary.kernels.tables import array, reduced, row_functions
from kernels_ti.boundary.spec.cells import FOUND, FULL, TALLIES
from kernels_ti.taichi_door import kernel, ti

_HALF = (1 << 32) - 1


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
