"""Kernels that let a vertex come in all states of a boundary, in one pass.

States are those of `kernels_ti.boundary.states.states`, with as many bits to a symbol as the width of the boundary
takes. A layer, all states of one boundary, is a hash table of rows. A row is a state followed by its values; an empty
row begins with zero. A step reads the rows of one table and writes to another one. Each state has up to two children:
the vertex stays off the cycle, or it joins. Equal children become one row, where their values are added up.

Taichi has no compare-and-swap. A work item takes an empty row by `ti.atomic_or` of one bit: the first to set it owns
the row and writes the state there, and the others wait until they can read it. Whole states are compared, so that two
are never mistaken for one. Which states a table holds does not depend on the order of the threads.

The ways that lead to a state are numbers of any size, one for each number of vertices on the cycle: digits of
`DIGIT_BITS` bits, the lowest first, with room above for sums.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

DIGIT_BITS = 48
DIGIT_LIMIT = 1 << DIGIT_BITS
"""A cell holds 2^16 digits without overflow."""

STEP_HEADER = 4
"""Cells of a step before its slots: their number, the new slot, whether it must join, whether cycles may close."""

TALLIES = 1024
"""Cells over which work items spread what they count: atomics on one cell are slow."""
FULL, FOUND = 3 * TALLIES, 3 * TALLIES + 1
"""Where the tallies say that a table was full, and where the ways that close a cycle begin.

Before come how many rows are new, the largest numbers (the place of the highest digit and that digit, in one cell),
and the most vertices on a cycle.
"""

MOST_KEY_BITS = 62
"""Bits of the first word of a state."""

INNER, FIRST_END = 1, 2
TAKEN, WRITTEN = 1 << 63, 1 << 62
_KEY, _HALF_KEY = (1 << MOST_KEY_BITS) - 1, MOST_KEY_BITS // 2
FACTORS = (0x1E3779B97F4A7C15, 0x14D049BB133111EB)
_INVERSES = tuple(pow(factor, -1, 1 << MOST_KEY_BITS) for factor in FACTORS)
MIX = 0x94D049BB133111EB
_HALF = (1 << 32) - 1
# Rows that are looked at for one state before the table counts as full.
_MOST_PROBES = 512

array = ti.types.ndarray


class StateFunctions(NamedTuple):
    """What kernels do with the states of one length and one width of symbols."""

    tabulate: Any
    symbol: Any
    state_at: Any
    row_of: Any
    found_at: Any
    round_of: Any
    children: Any
    children_by: Any


def initial_row(cells: int, beside: int) -> list[int]:
    """Return the row of the state before the first vertex: `cells` cells, `beside` empty cells, and one way."""
    return [TAKEN | WRITTEN] + [TAKEN] * (cells - 1) + [0] * beside + [1]


@ti.kernel
def clear(cells: ti.i32, table: array(ti.u64, 1), tallied: ti.i32, tallies: array(ti.u64, 1)):
    """Set the first cells of a table and of the tallies to zero; one cell for each work item."""
    for i in range(cells):
        table[i] = ti.u64(0)
    for i in range(tallied):
        tallies[i] = ti.u64(0)


@ti.kernel
def carry(size: ti.i32, stride: ti.i32, words: ti.i32, lengths: ti.i32, digits: ti.i32, table: array(ti.u64, 1)):
    """Make all digits small; one row for each work item."""
    for i in range(size):
        if table[i * stride] != ti.u64(0):
            for length in range(lengths):
                at = i * stride + words + length * digits
                over = ti.u64(0)
                for digit in range(digits):
                    cell = table[at + digit] + over
                    over = cell >> ti.u64(DIGIT_BITS)
                    table[at + digit] = cell & ti.u64(DIGIT_LIMIT - 1)


@ti.func
def add_ways(
    old: ti.template(), at, digits, new: ti.template(), row_off, row_on, new_digits, tallies: ti.template(), found
):  # fmt: skip
    """Add one number of ways to those of both children, and to those that close a cycle; -1 for none of them.

    Return the place of its highest digit and that digit, in one cell.
    """
    largest, over = ti.u64(0), ti.u64(0)
    for digit in range(new_digits):
        ways = over
        if digit < digits:
            ways += old[at + digit]
        over = ways >> ti.u64(DIGIT_BITS)
        ways &= ti.u64(DIGIT_LIMIT - 1)
        if ways != ti.u64(0):
            largest = ti.cast(digit, ti.u64) << ti.u64(DIGIT_BITS) | ways
            if row_off >= 0:
                ti.atomic_add(new[row_off + digit], ways)
            if row_on >= 0:
                ti.atomic_add(new[row_on + digit], ways)
            if found >= 0:
                ti.atomic_add(tallies[found + 2 * digit], ways & ti.u64(_HALF))
                ti.atomic_add(tallies[found + 2 * digit + 1], ways >> ti.u64(32))
    return largest


@lru_cache
def state_functions(words: int, bits: int, cells: int) -> StateFunctions:
    """Return the functions for states of `words` words with symbols of `bits` bits, in rows with `cells` words.

    One word more than those of the symbols tells states apart that have the same symbols.
    """
    vector = ti.types.vector(cells, ti.u64)
    slots, field = 64 // bits, (1 << bits) - 1
    if bits * slots > MOST_KEY_BITS:
        slots -= 1
    end_bits = sum((field & ~1) << bits * k for k in range(slots))

    @ti.func
    def symbol(state, slot):
        found = ti.u64(0)
        if ti.static(words == 1):
            found = state[0] >> ti.cast(slot * bits, ti.u64)
        else:
            shift = ti.cast(slot % slots * bits, ti.u64)
            for w in ti.static(range(words)):
                if slot // slots == w:
                    found = state[w] >> shift
        return ti.cast(found & ti.u64(field), ti.i32)

    @ti.func
    def with_symbol(state, slot, value):
        changed = state
        shift = ti.cast(slot % slots * bits, ti.u64)
        for w in ti.static(range(words)):
            if ti.static(words == 1) or slot // slots == w:
                changed[w] = state[w] & ~(ti.u64(field) << shift) | ti.cast(value, ti.u64) << shift
        return changed

    @ti.func
    def mask_of(state):
        """Return a sum of all words but the first, by which the first is changed in a table."""
        mask = ti.u64(0)
        for w in ti.static(range(1, cells)):
            mask = (mask ^ state[w]) * ti.u64(MIX)
            mask ^= mask >> ti.u64(32)
        return mask & ti.u64(_KEY)

    @ti.func
    def key_of(state):
        """Return the first word as a table holds it, mixed so that each bit depends on all others."""
        key = (state[0] ^ mask_of(state)) * ti.u64(FACTORS[0]) & ti.u64(_KEY)
        key ^= key >> ti.u64(_HALF_KEY)
        key = key * ti.u64(FACTORS[1]) & ti.u64(_KEY)
        return key ^ key >> ti.u64(_HALF_KEY)

    @ti.func
    def state_at(table: ti.template(), at):
        """Return the state of a row that begins at a cell."""
        state = vector(0)
        for w in ti.static(range(1, cells)):
            state[w] = table[at + w] & ~ti.u64(TAKEN)
        key = table[at] & ti.u64(_KEY)
        key ^= key >> ti.u64(_HALF_KEY)
        key = key * ti.u64(_INVERSES[1]) & ti.u64(_KEY)
        key ^= key >> ti.u64(_HALF_KEY)
        state[0] = (key * ti.u64(_INVERSES[0]) & ti.u64(_KEY)) ^ mask_of(state)
        return state

    @ti.func
    def first_row(written, size):
        """Return the row of a table at which the search for a state begins."""
        key = (written & ti.u64(_KEY)) >> ti.u64(MOST_KEY_BITS - 32)
        return ti.cast(key * ti.cast(size, ti.u64) >> ti.u64(32), ti.i32)

    @ti.func
    def row_of(table: ti.template(), size, stride, state):
        """Return the first cell of the row of a state, and whether it is new; -1 for a full table."""
        written = key_of(state) | ti.u64(TAKEN | WRITTEN)
        at = first_row(written, size)
        row, is_new, left = -1, 0, _MOST_PROBES
        while left > 0:
            cell = at * stride
            held = table[cell]
            if held & ti.u64(WRITTEN) == ti.u64(0):
                # Atomics alone see what other work items have just written.
                held = ti.atomic_or(table[cell], ti.u64(TAKEN))
                if held == ti.u64(0):
                    for w in ti.static(range(1, cells)):
                        table[cell + w] = state[w] | ti.u64(TAKEN)
                    ti.atomic_or(table[cell], written)
                    held = written
                    row, is_new = cell, 1
            if is_new == 1:
                left = 0
            else:
                left -= 1
                if held == written:
                    differs, is_written = 0, 1
                    for w in ti.static(range(1, cells)):
                        other = table[cell + w]
                        if other == ti.u64(0):
                            other = ti.atomic_or(table[cell + w], ti.u64(0))
                        if other == ti.u64(0):
                            is_written = 0
                        elif other != state[w] | ti.u64(TAKEN):
                            differs = 1
                    if differs == 1:
                        at = ti.select(at + 1 == size, 0, at + 1)
                    elif is_written == 1:
                        row, left = cell, 0
                elif held & ti.u64(WRITTEN) != ti.u64(0):
                    at = ti.select(at + 1 == size, 0, at + 1)
        return row, is_new

    @ti.func
    def found_at(table: ti.template(), size, stride, state):
        """Return the first cell of the row of a state in a table that is only read, -1 for none.

        The table has an empty row.
        """
        written = key_of(state) | ti.u64(TAKEN | WRITTEN)
        at = first_row(written, size)
        row, is_sought = -1, 1
        while is_sought == 1:
            cell = at * stride
            if table[cell] == ti.u64(0):
                is_sought = 0
            else:
                differs = 0
                if table[cell] != written:
                    differs = 1
                for w in ti.static(range(1, cells)):
                    if table[cell + w] != state[w] | ti.u64(TAKEN):
                        differs = 1
                if differs == 0:
                    row, is_sought = cell, 0
                at = ti.select(at + 1 == size, 0, at + 1)
        return row

    @ti.func
    def round_of(state, rounds):
        """Return in which of the rounds of a step a state is made, by the end of its key: the table takes its top."""
        return ti.cast((key_of(state) & ti.u64(_HALF)) * ti.cast(rounds, ti.u64) >> ti.u64(32), ti.i32)

    @ti.func
    def joined(state, steps: ti.template(), base):
        """Put the vertex on the cycle: the state, whether it is possible, whether it closes the cycle.

        It has an edge to every vertex on the cycle that it is next to, so there are at most two, and none is inner.
        """
        slot, beside, first, second, alive, closes = steps[base + 1], 0, 0, 0, 1, 0
        for k in range(1, steps[base]):
            near = steps[base + STEP_HEADER + 2 * k]
            at = symbol(state, near)
            if at != 0:
                if at == INNER:
                    alive = 0
                if beside == 0:
                    first = near
                else:
                    second = near
                beside += 1
        if beside > 2:
            alive = 0
        # A neighbour that leaves may hand its slot over. It must not stay an end: it has nobody to come.
        if beside > 0 and (symbol(state, slot) == FIRST_END + slot):
            alive = 0
        out = state
        if alive == 1:
            if beside == 0:
                out = with_symbol(out, slot, FIRST_END + slot)
            else:
                far = symbol(state, first) - FIRST_END
                if beside == 1:
                    if far != first:
                        out = with_symbol(out, first, INNER)
                    out = with_symbol(with_symbol(out, far, FIRST_END + slot), slot, FIRST_END + far)
                elif far == second:
                    rest = with_symbol(with_symbol(state, first, 0), second, 0)
                    ends = ti.u64(0)
                    for w in ti.static(range(words)):
                        ends |= rest[w] & ti.u64(end_bits)
                    if ends == ti.u64(0):
                        closes = steps[base + 3]
                    alive = 0
                else:
                    other = symbol(state, second) - FIRST_END
                    if far != first:
                        out = with_symbol(out, first, INNER)
                    if other != second:
                        out = with_symbol(out, second, INNER)
                    out = with_symbol(with_symbol(out, far, FIRST_END + other), other, FIRST_END + far)
                    out = with_symbol(out, slot, INNER)
        return out, alive, closes

    @ti.func
    def child(joins: ti.template(), state, steps: ti.template(), base):
        """Return a child, whether it can still become a cycle, and whether the vertex closes one."""
        out, alive, closes = state, 1, 0
        if ti.static(joins == 1):
            out, alive, closes = joined(state, steps, base)
        elif steps[base + 2] == 1:
            alive = 0
        if alive == 1:
            # An end needs a neighbour to come, a vertex alone two. Vertices with none to come leave the boundary.
            for k in range(1 - joins, steps[base]):
                slot, to_come = steps[base + STEP_HEADER + 2 * k], steps[base + STEP_HEADER + 1 + 2 * k]
                handed_over = joins == 1 and k > 0 and slot == steps[base + 1]
                if to_come < 2 and not handed_over:
                    at = symbol(out, slot)
                    if to_come == 0:
                        if at > INNER:
                            alive = 0
                        out = with_symbol(out, slot, 0)
                    elif at == FIRST_END + slot:
                        alive = 0
        return out, alive, closes

    @ti.kernel
    def tabulate(size: ti.i32, steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1)):
        """Write what a vertex changes, for one combination of its neighbours' symbols for each work item.

        A state without anything else and one with everything else tell which bits a child keeps and which it is given.
        """
        for i in range(size):
            at = i * (1 + 3 * words)
            flags = 0
            for joins in ti.static(range(2)):
                none, all_else = vector(0), ~vector(0)
                all_else = with_symbol(all_else, steps[base + 1], 0)
                for k in range(steps[base] - 1):
                    near, value = steps[base + STEP_HEADER + 2 + 2 * k], i >> k * bits & field
                    none, all_else = with_symbol(none, near, value), with_symbol(all_else, near, value)
                given, alive, closes = child(joins, none, steps, base)
                both, _alive, _closes = child(joins, all_else, steps, base)
                flags |= (alive | closes << 1) << joins
                for w in ti.static(range(words)):
                    kept = (both[w] ^ given[w]) & ti.u64(_KEY)
                    if ti.static(joins == 1):
                        changes[at + 1 + words + w] = given[w]
                        changes[at + 1 + 2 * words + w] = kept
                    else:
                        # The vertex off the cycle changes no symbol of a neighbour, or clears it.
                        changes[at + 1 + w] = kept | given[w]
            changes[at] = ti.cast(flags, ti.u64)

    @ti.func
    def children(tabled: ti.template(), state, steps: ti.template(), base, changes: ti.template()):
        """Return both children, which of them can still become a cycle, and whether the vertex closes one."""
        off, on, flags = children_by(tabled, state, steps, base, changes, 0)
        return off, on, flags

    @ti.func
    def children_by(tabled: ti.template(), state, steps: ti.template(), base, changes: ti.template(), begin):
        """Return the same as `children`, by a table of the changes that begins at a cell."""
        off, on, flags = state, state, 0
        if ti.static(tabled):
            row = 0
            for k in range(steps[base] - 1):
                row |= symbol(state, steps[base + STEP_HEADER + 2 + 2 * k]) << k * bits
            at = begin + row * (1 + 3 * words)
            flags = ti.cast(changes[at], ti.i32)
            ends = ti.u64(0)
            for w in ti.static(range(words)):
                off[w] = state[w] & changes[at + 1 + w]
                kept = state[w] & changes[at + 1 + 2 * words + w]
                on[w] = kept | changes[at + 1 + words + w]
                ends |= kept & ti.u64(end_bits)
            if ends != ti.u64(0):
                flags &= 3
        else:
            lives, joins_alive, closes = 1, 1, 0
            off, lives, closes = child(0, state, steps, base)
            on, joins_alive, closes = child(1, state, steps, base)
            flags = lives | joins_alive << 1 | closes << 2
        return off, on, flags

    return StateFunctions(tabulate, symbol, state_at, row_of, found_at, round_of, children, children_by)
