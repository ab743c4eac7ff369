"""Kernels that carry the ways to each state along, and go back from some states to those that lead there.

They work on the tables of `kernels_ti.boundary.kernels.tables`. With bounds on the length a row has one more word, the
number of vertices on the cycle.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

from kernels_ti.boundary.kernels.optimum import optimum_kernels
from kernels_ti.boundary.kernels.tables import FOUND, FULL, TALLIES, add_ways, array, state_functions

OFF, ON, CLOSES = 0, 1, 2
"""What the vertex does in a state that is found: it stays off the cycle, joins it, or closes it."""

FOUND_CELLS = 3
"""Cells of what is found: the row, what the vertex does, and which of the wanted states follows."""


class WaysKernels(NamedTuple):
    """The kernels for one length of states and one width of symbols."""

    carry_along: Any
    trace: Any


@lru_cache
def ways_kernels(words: int, bits: int, cells: int) -> WaysKernels:
    """Return the kernels for states of `words` words with symbols of `bits` bits, in rows with `cells` words."""
    functions, bounded = state_functions(words, bits, cells), optimum_kernels(words, bits, cells).bounded
    state_at, row_of, found_at = functions.state_at, functions.row_of, functions.found_at

    @ti.kernel
    def carry_along(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32, digits: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32, new_digits: ti.i32,
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        bounds: array(ti.i32, 1), spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children, add its ways.

        `copies` of the closing ways are kept.
        """
        for i in range(first, last):
            begin = i * stride
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                mine = i // spread & TALLIES - 1
                off, on, flags = bounded(tabled, state_at(old, begin), steps, base, changes, bounds)
                rows = ti.Vector([-1, -1])
                added = 0
                for joins in ti.static(range(2)):
                    if flags >> joins & 1 == 1:
                        row, is_new = row_of(new, size, new_stride, on if ti.static(joins == 1) else off)
                        added += is_new
                        if row < 0:
                            tallies[FULL] = ti.u64(1)
                        else:
                            rows[joins] = row + cells
                if added > 0:
                    ti.atomic_add(tallies[mine], ti.cast(added, ti.u64))
                found = -1
                if flags >> 2 == 1:
                    found = FOUND + 2 * (mine % copies) * new_digits
                ways = add_ways(old, begin + cells, digits, new, rows[0], rows[1], new_digits, tallies, found)
                if ways > tallies[TALLIES + mine]:
                    ti.atomic_max(tallies[TALLIES + mine], ways)

    @ti.func
    def note(row, does, which, most, met: ti.template(), found: ti.template()):
        """Put down what was found, if there is room; `met` counts it in any case."""
        at = ti.cast(ti.atomic_add(met[0], ti.u64(1)), ti.i32)
        if at < most:
            found[at * FOUND_CELLS] = row
            found[at * FOUND_CELLS + 1] = does
            found[at * FOUND_CELLS + 2] = which

    @ti.kernel
    def trace(
        first: ti.i32, last: ti.i32, layer: array(ti.u64, 1), stride: ti.i32,
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        bounds: array(ti.i32, 1), wanted: array(ti.u64, 1), size: ti.i32, wants_closing: ti.i32, most: ti.i32,
        met: array(ti.u64, 1), found: array(ti.i32, 1),
    ):  # fmt: skip
        """Note the state of one row for each work item, once for each child that is wanted.

        `wanted` is a table of states, each with its number behind it, with one empty row at least. States in which the
        vertex closes a cycle are noted too, if they are wanted.
        """
        for i in range(first, last):
            off, on, flags = bounded(tabled, state_at(layer, i * stride), steps, base, changes, bounds)
            for joins in ti.static(range(2)):
                if flags >> joins & 1 == 1:
                    row = found_at(wanted, size, cells + 1, on if ti.static(joins == 1) else off)
                    if row >= 0:
                        note(i, joins, ti.cast(wanted[row + cells], ti.i32), most, met, found)
            if flags >> 2 == 1 and wants_closing == 1:
                note(i, CLOSES, 0, most, met, found)

    return WaysKernels(carry_along, trace)
