"""The kernel that counts: it carries the ways to each state along, see `kernels_ti.boundary.kernels.tables`."""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.children import child_functions
from kernels_ti.boundary.kernels.tables import add_ways, array, row_functions
from kernels_ti.boundary.spec.cells import FOUND, FULL, TALLIES
from kernels_ti.taichi_door import kernel, ti


@lru_cache
def count_kernel(words: int, bits: int, cells: int) -> Any:
    """Return the kernel that counts, for states of `words` words with symbols of `bits` bits, in rows of `cells`.

    With one word more, that is the number of vertices on the cycle.
    """
    bounded = child_functions(words, bits, cells).bounded
    functions = row_functions(cells)
    state_at, rows_of = functions.state_at, functions.rows_of

    @kernel
    def advance(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32, lengths: ti.i32, digits: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32, new_lengths: ti.i32, new_digits: ti.i32,
        apart: ti.i32, spec: array(ti.u64, 1), base: ti.i32, bounds: array(ti.i32, 1),
        spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children, add its ways.

        `apart` is 1 where cycles are told apart by their number of vertices. `copies` of the closing ways are kept.
        """
        for i in range(first, last):
            begin = i * stride
            is_wanted = 0
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                # All ways to a state may have become too long.
                for cell in range(begin + cells, begin + cells + lengths * digits):
                    if old[cell] != ti.u64(0):
                        is_wanted = 1
            if is_wanted == 1:
                mine = i // spread & TALLIES - 1
                state = state_at(old, begin)
                off, on, flags = bounded(state, spec, base, bounds)
                rows, closing = rows_of(off, on, flags, new, size, new_stride, tallies, mine), flags >> 2
                largest, most = ti.u64(0), 0
                for length in range(lengths):
                    row_off, row_on = -1, -1
                    if rows[0] >= 0 and length < new_lengths:
                        row_off = rows[0] + cells + length * new_digits
                    if rows[1] >= 0 and length + apart < new_lengths:
                        row_on = rows[1] + cells + (length + apart) * new_digits
                    found = -1
                    if closing == 1:
                        found = FOUND + 2 * (mine % copies * lengths + length) * new_digits
                    ways = add_ways(
                        old, begin + cells + length * digits, digits, new, row_off, row_on, new_digits, tallies, found
                    )
                    if ways != ti.u64(0):
                        largest, most = ti.max(largest, ways), length
                # Look first: few states have the largest number so far.
                if largest > tallies[TALLIES + mine]:
                    ti.atomic_max(tallies[TALLIES + mine], largest)
                if ti.cast(most, ti.u64) > tallies[2 * TALLIES + mine]:
                    ti.atomic_max(tallies[2 * TALLIES + mine], ti.cast(most, ti.u64))

    return advance
