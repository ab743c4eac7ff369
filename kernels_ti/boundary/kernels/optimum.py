"""Kernels that carry the largest value to each state of a boundary, and the ways that have it.

They work on the tables of `kernels_ti.boundary.kernels.tables`. Beside the state, a row has the largest value of a way
to it, and the origin of such a way: the mixed words of a state of an earlier layer, from which the cycle is found
again.

A step takes two passes. `improve` finds the rows of the children and their largest values. `settle` adds the ways that
have these values. Neither depends on the order of the threads.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.children import bounded_function, symbols
from kernels_ti.boundary.kernels.tables import add_ways, array, mixing, row_functions
from kernels_ti.boundary.spec.cells import FULL, ORIGIN, TALLIES
from kernels_ti.boundary.spec.coded import HEADER
from kernels_ti.taichi_door import kernel, ti


@lru_cache
def gaining(words: int, bits: int) -> Any:
    """Return the function for the gain of a vertex that joins; states have `words` words, symbols `bits` bits."""
    _end_bits, symbol, _put = symbols(words, bits)

    @ti.func
    def gained(state, spec: ti.template(), base, gains: ti.template(), gain_base, of_edges):
        """Return the gain in value when the vertex joins, with its edges."""
        gain = gains[gain_base]
        if of_edges == 1:
            for k in range(ti.cast(spec[base], ti.i32)):
                if symbol(state, ti.cast(spec[base + HEADER + 2 * words + k], ti.i32)) != 0:
                    gain += gains[gain_base + 1 + k]
        return ti.cast(gain, ti.u64)

    return gained


@lru_cache
def optimum_kernels(words: int, bits: int, cells: int) -> tuple[Any, Any, Any]:
    """Return `improve`, `settle` and `matching`; states have `words` words, symbols `bits` bits, rows `cells` words."""
    gained, bounded = gaining(words, bits), bounded_function(words, bits, cells)
    state_at, row_of, rows_of = row_functions(cells)
    mixed = mixing(cells)

    @kernel
    def improve(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32,
        bounds: array(ti.i32, 1), gains: array(ti.i64, 1), gain_base: ti.i32, of_edges: ti.i32, spread: ti.i32,
        tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the state of one row for each work item: find the rows of its children, raise values."""
        for i in range(first, last):
            begin = i * stride
            if old[begin] != ti.u64(0) and tallies[FULL] == ti.u64(0):
                mine = i // spread & TALLIES - 1
                state = state_at(old, begin)
                off, on, flags = bounded(state, spec, base, bounds)
                value = old[begin + cells]
                joined = value + gained(state, spec, base, gains, gain_base, of_edges)
                rows = rows_of(off, on, flags, new, size, new_stride, tallies, mine)
                for joins in ti.static(range(2)):
                    if rows[joins] >= 0:
                        ti.atomic_max(new[rows[joins] + cells], joined if ti.static(joins == 1) else value)
                if flags >> 2 == 1 and joined > tallies[2 * TALLIES + mine]:
                    ti.atomic_max(tallies[2 * TALLIES + mine], joined)

    @kernel
    def settle(
        first: ti.i32, last: ti.i32, old: array(ti.u64, 1), stride: ti.i32, digits: ti.i32,
        new: array(ti.u64, 1), size: ti.i32, new_stride: ti.i32, new_digits: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32,
        bounds: array(ti.i32, 1), gains: array(ti.i64, 1), gain_base: ti.i32, of_edges: ti.i32, is_origin: ti.i32,
        best: ti.u64, spread: ti.i32, copies: ti.i32, tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Add the ways to one state for each work item to those of its children that have its value, or to `best`."""
        for i in range(first, last):
            begin = i * stride
            if old[begin] != ti.u64(0):
                mine = i // spread & TALLIES - 1
                state = state_at(old, begin)
                off, on, flags = bounded(state, spec, base, bounds)
                value = old[begin + cells]
                joined = value + gained(state, spec, base, gains, gain_base, of_edges)
                origin = old[begin + cells + 1]
                if is_origin == 1:
                    origin = mixed(state)
                rows = ti.Vector([-1, -1])
                for joins in ti.static(range(2)):
                    if flags >> joins & 1 == 1:
                        row, _is_new = row_of(new, size, new_stride, on if ti.static(joins == 1) else off)
                        if new[row + cells] == (joined if ti.static(joins == 1) else value):
                            ti.atomic_max(new[row + cells + 1], origin)
                            rows[joins] = row + cells + 2
                found = -1
                if flags >> 2 == 1 and joined == best:
                    ti.atomic_max(tallies[ORIGIN], origin)
                    found = ORIGIN + 1 + 2 * (mine % copies) * new_digits
                ways = add_ways(old, begin + cells + 2, digits, new, rows[0], rows[1], new_digits, tallies, found)
                if ways > tallies[TALLIES + mine]:
                    ti.atomic_max(tallies[TALLIES + mine], ways)

    @kernel
    def matching(
        size: ti.i32, stride: ti.i32, origin: ti.u64, rows: array(ti.u64, 1), most: ti.i32, met: array(ti.u64, 1),
        found: array(ti.u64, 1),
    ):  # fmt: skip
        """Copy up to `most` rows, one for each work item, of states that may be an origin; `met` counts them all."""
        for i in range(size):
            if mixed(state_at(rows, i * stride)) == origin:
                at = ti.cast(ti.atomic_add(met[0], ti.u64(1)), ti.i32)
                if at < most:
                    for cell in range(stride):
                        found[at * stride + cell] = rows[i * stride + cell]

    return improve, settle, matching
