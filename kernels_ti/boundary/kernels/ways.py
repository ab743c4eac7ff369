"""Kernels for the way back, on the tables of `kernels_ti.boundary.kernels.tables`.

Some let walks go back from states to those that lead there. The others carry the largest value to each state, and the
ways that have it. Beside the state, a row has the largest value of a way to it, and the origin of such a way: the mixed
words of a state of an earlier layer, from which the cycle is found again. A step takes two passes. `improve` finds the
rows of the children and their largest values. `settle` adds the ways that have these values. Neither depends on the
order of the threads.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.tables import (
    add_ways,
    array,
    bounded_function,
    finding,
    mixing,
    row_functions,
    symbols,
)
from kernels_ti.boundary.spec.changes import HEADER
from kernels_ti.boundary.spec.packing import DIGIT_BITS, DIGIT_LIMIT, FULL, ORIGIN, TALLIES
from kernels_ti.taichi_door import kernel, ti


@lru_cache
def _going_back(cells: int) -> Any:
    @ti.func
    def comes_before(one, other, layer: ti.template(), stride):
        """Return 1 if a parent comes before another one: by whether the vertex joins, then by the state."""
        is_before, is_known = ti.cast((one & 1) < (other & 1), ti.i32), ti.cast((one & 1) != (other & 1), ti.i32)
        for cell in ti.static(range(cells)):
            mine, theirs = layer[(one >> 1) * stride + cell], layer[(other >> 1) * stride + cell]
            if is_known == 0 and mine != theirs:
                is_known, is_before = 1, ti.cast(mine < theirs, ti.i32)
        return is_before

    @kernel
    def go_back(
        walks: ti.i32, at: array(ti.i32, 1), where: array(ti.i32, 1), ends: array(ti.i32, 1), parents: array(ti.i32, 1),
        layer: array(ti.u64, 1), stride: ti.i32, rest: array(ti.u64, 1), digits: ti.i32,
        members: array(ti.u64, 1), words_of_row: ti.i32, word: ti.i32, bit: ti.u64, failed: array(ti.u64, 1),
    ):  # fmt: skip
        """Take one walk for each work item to a parent of its state: the one in whose ways its rest lies.

        The parents are taken in one order by all walks, however they lie. `ends` says where those of each wanted state
        end.
        """
        for i in range(walks):
            first, last = 0, ends[where[i]]
            if where[i] > 0:
                first = ends[where[i] - 1]
            before, chosen, left = -1, -1, last - first
            while left > 0:
                following = -1
                for k in range(first, last):
                    one = parents[k]
                    is_next = 1
                    if before >= 0:
                        is_next = comes_before(before, one, layer, stride)
                    if is_next == 1 and following >= 0:
                        is_next = comes_before(one, following, layer, stride)
                    if is_next == 1:
                        following = one
                ways, own = (following >> 1) * stride + cells, i * digits
                is_less = 0
                for digit in range(ti.min(digits, stride - cells)):
                    mine, theirs = rest[own + digit], layer[ways + digit]
                    if mine != theirs:
                        is_less = ti.cast(mine < theirs, ti.i32)
                for digit in range(stride - cells, digits):
                    if rest[own + digit] != ti.u64(0):
                        is_less = 0
                left -= 1
                before = following
                if is_less == 1:
                    chosen, left = following, 0
                else:
                    over = ti.u64(0)
                    for digit in range(digits):
                        taken = over
                        if digit < stride - cells:
                            taken += layer[ways + digit]
                        value = rest[own + digit] + ti.u64(DIGIT_LIMIT) - taken
                        rest[own + digit] = value & ti.u64(DIGIT_LIMIT - 1)
                        over = ti.u64(1) - (value >> ti.u64(DIGIT_BITS))
            if chosen < 0:
                failed[0] = ti.u64(1)
                chosen = 0
            at[i] = chosen >> 1
            if chosen & 1 == 1:
                cell = i * words_of_row + word
                members[cell] = members[cell] | bit

    return go_back


@lru_cache
def ways_kernels(words: int, bits: int, cells: int) -> tuple[Any, Any, Any]:
    """Return `put_down`, `find_parents` and `go_back`; states have `words` words, symbols `bits` bits, rows `cells`."""
    bounded = bounded_function(words, bits, cells)
    state_at, row_of, _rows_of = row_functions(cells)
    found_at = finding(cells)

    @kernel
    def put_down(
        walks: ti.i32, at: array(ti.i32, 1), following: array(ti.u64, 1), stride: ti.i32,
        wanted: array(ti.u64, 1), size: ti.i32, where: array(ti.i32, 1), full: array(ti.u64, 1),
    ):  # fmt: skip
        """Put the state `at` of one walk for each work item into a table, and write where it is."""
        for i in range(walks):
            row, _is_new = row_of(wanted, size, cells, state_at(following, at[i] * stride))
            if row < 0:
                full[0] = ti.u64(1)
            else:
                where[i] = row // cells

    @kernel
    def find_parents(
        first: ti.i32, last: ti.i32, layer: array(ti.u64, 1), stride: ti.i32,
        spec: array(ti.u64, 1), base: ti.i32,
        bounds: array(ti.i32, 1), wanted: array(ti.u64, 1), size: ti.i32, places: array(ti.i32, 1), notes: ti.i32,
        parents: array(ti.i32, 1),
    ):  # fmt: skip
        """Find the children of the state of one row for each work item in a table of wanted states.

        `places` counts them for each row of the table, and at last the states in which the vertex closes a cycle. With
        `notes`, the counts begin where the parents of a state go: the row, and whether the vertex joins.
        """
        for i in range(first, last):
            off, on, flags = bounded(state_at(layer, i * stride), spec, base, bounds)
            for joins in ti.static(range(2)):
                if flags >> joins & 1 == 1:
                    row = found_at(wanted, size, cells, on if ti.static(joins == 1) else off)
                    if row >= 0:
                        place = ti.atomic_add(places[row // cells], 1)
                        if notes == 1:
                            parents[place] = 2 * i + joins
            if flags >> 2 == 1:
                place = ti.atomic_add(places[size], 1)
                if notes == 1:
                    parents[place] = 2 * i + 1

    return put_down, find_parents, _going_back(cells)


@kernel
def begin(
    first: ti.i32, last: ti.i32, rows: array(ti.i32, 1), left: array(ti.u64, 1), digits: ti.i32, at: array(ti.i32, 1),
    rest: array(ti.u64, 1), members: array(ti.u64, 1), words_of_row: ti.i32, word: ti.i32, bit: ti.u64,
):  # fmt: skip
    """Begin one walk for each work item, in a state in which the vertex closes its cycle."""
    for i in range(first, last):
        at[i] = rows[i - first]
        for digit in range(digits):
            rest[i * digits + digit] = left[(i - first) * digits + digit]
        members[i * words_of_row + word] = bit


@kernel
def copy_rows(count: ti.i32, which: array(ti.i32, 1), stride: ti.i32, layer: array(ti.u64, 1), rows: array(ti.u64, 1)):
    """Copy some rows of a layer; one for each work item."""
    for i in range(count):
        for cell in range(stride):
            rows[i * stride + cell] = layer[(which[i] >> 1) * stride + cell]


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
