"""The kernel that counts: it carries the ways to each state along, see `kernels_ti.boundary.kernels.tables`."""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.children import child_functions
from kernels_ti.boundary.kernels.tables import add_ways, array, row_functions
from kernels_ti.boundary.spec.cells import FOUND, FULL, TALLIES
from kernels_ti.taichi_door import kernel, ti


@lru_cache
def count_kernel(words: int, bits: int, cells: int) -> Any:
    """Return the kernel that counts; states have `words` words, symbols `bits` bits, rows `cells` words."""
    bounded = child_functions(words, bits, cells).bounded
    functions = row_functions(cells)
    state_at, rows_of = functions.state_at, functions.rows_of

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
