"""Kernels that let a vertex come in all states of a boundary.

States are those of `kernels_ti.boundary.states`, with as many bits to a symbol as the width of the boundary takes. Each
has up to two children: the vertex stays off the cycle, or it joins. Equal children become one state.

They find each other in an ordered hash table, which is filled by `ti.atomic_max` alone: who meets a smaller key takes
its place and carries the smaller one on. What the table holds in the end does not depend on the order of the threads.
A state of one word is its own key, by a mixing function that can be undone. The key of a longer one is a fingerprint,
and a last pass compares the states, so that two with one fingerprint are noticed.

The ways that lead to a state are numbers of any size, one for each number of vertices on the cycle: digits of
`DIGIT_BITS` bits, the lowest first, with room above for sums.

References
----------
J. Shun, G. E. Blelloch, *Phase-concurrent hash tables for determinism*, SPAA 2014.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import taichi as ti

DIGIT_BITS = 48
DIGIT_LIMIT = 1 << DIGIT_BITS
"""A cell holds 2^16 digits without overflow."""

STEP_HEADER = 4
"""Cells of a step before its slots: their number, the new slot, whether it must join, whether cycles may close."""

INNER, FIRST_END = 1, 2
_MIX = 0x94D049BB133111EB
_DEAD = (1 << 64) - 1
_HALF = (1 << 32) - 1

array = ti.types.ndarray


class BoundaryKernels(NamedTuple):
    """The kernels for one length of states and one width of symbols."""

    insert: Any
    number: Any
    decode: Any
    accumulate: Any
    compare: Any


@ti.kernel
def clear(size: ti.i32, cells: array(ti.u64, 1)):
    """Set the first cells to zero."""
    for i in range(size):
        cells[i] = ti.u64(0)


@ti.kernel
def carry(
    states: ti.i32, words: ti.i32, lengths: ti.i32, digits: ti.i32, drop: ti.i32,
    state: array(ti.u64, 1), values: array(ti.u64, 1), measured: array(ti.u64, 1),
):  # fmt: skip
    """Make all digits small; measure the largest number and the most vertices; mark states without any way.

    `measured` gets the place of the highest digit and that digit, in one cell, and the most vertices in the other.
    """
    for i in range(states):
        largest, most = ti.u64(0), 0
        for length in range(lengths):
            at = (i * lengths + length) * digits
            over = ti.u64(0)
            for digit in range(digits):
                cell = values[at + digit] + over
                over = cell >> ti.u64(DIGIT_BITS)
                cell = cell & ti.u64(DIGIT_LIMIT - 1)
                values[at + digit] = cell
                if cell != ti.u64(0):
                    largest = ti.max(largest, ti.cast(digit, ti.u64) << ti.u64(DIGIT_BITS) | cell)
                    most = length
        if drop == 1 and largest == ti.u64(0):
            state[i * words] = ti.u64(_DEAD)
        # Look first: few states have the largest number so far, and atomics on one cell are slow.
        if largest > measured[0]:
            ti.atomic_max(measured[0], largest)
        if ti.cast(most, ti.u64) > measured[1]:
            ti.atomic_max(measured[1], ti.cast(most, ti.u64))


@lru_cache
def boundary_kernels(words: int, bits: int) -> BoundaryKernels:
    """Return the kernels for states of a number of words, and symbols of a number of bits."""
    vector = ti.types.vector(words, ti.u64)
    slots, field = 64 // bits, (1 << bits) - 1
    low_bits = sum(1 << bits * k for k in range(slots))
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
    def key_of(state, multiplier):
        key = ti.u64(0)
        if ti.static(words == 1):
            # Zero is an empty place. No state has all bits set.
            key = (state[0] + ti.u64(1)) * multiplier
            key ^= key >> ti.u64(32)
        else:
            for w in ti.static(range(words)):
                key = (key ^ state[w]) * multiplier
                key ^= key >> ti.u64(29)
                key *= ti.u64(_MIX)
                key ^= key >> ti.u64(32)
            key = ti.max(key, ti.u64(1))
        return key

    @ti.func
    def home(state, key, steady: ti.template(), size, spread):
        """Return where the search for a key begins: children of neighbours are neighbours, so that caches help.

        For slots that no vertex touches for a while, it stays the same whether they are off the cycle, inner or ends.
        """
        kinds = ti.u64(0)
        for w in ti.static(range(words)):
            kept = state[w] & steady[w]
            ends = ti.u64(0)
            for k in ti.static(range(1, bits)):
                ends |= kept >> ti.u64(k)
            ends &= ti.u64(low_bits)
            kinds = (kinds ^ (ends << ti.u64(1) | kept & ~ends & ti.u64(low_bits))) * ti.u64(_MIX)
            kinds ^= kinds >> ti.u64(32)
        begin = ti.cast(kinds * ti.u64(_MIX) >> ti.u64(32), ti.i32)
        return begin + (ti.cast(key * ti.u64(_MIX) >> ti.u64(32), ti.i32) & (spread - 1)) & size - 1

    @ti.func
    def place_of(table: ti.template(), begin, size, key):
        at = begin
        while table[at] != key:
            at = at + 1 & size - 1
        return at

    @ti.func
    def read(states: ti.template(), i):
        state = vector(0)
        for w in ti.static(range(words)):
            state[w] = states[i * words + w]
        return state

    @ti.func
    def joined(state, step: ti.template()):
        """Put the vertex on the cycle: the state, whether it is possible, whether it closes the cycle.

        It has an edge to every vertex on the cycle that it is next to, so there are at most two, and none is inner.
        """
        slot, beside, first, second, alive, closes = step[1], 0, 0, 0, 1, 0
        for k in range(1, step[0]):
            near = step[STEP_HEADER + 2 * k]
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
                        closes = step[3]
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
    def child(joins: ti.template(), state, step: ti.template()):
        """Return a child, whether it can still become a cycle, and whether the vertex closes one."""
        out, alive, closes = state, 1, 0
        if ti.static(joins == 1):
            out, alive, closes = joined(state, step)
        elif step[2] == 1:
            alive = 0
        if alive == 1:
            # An end needs a neighbour to come, a vertex alone two. Vertices with none to come leave the boundary.
            for k in range(1 - joins, step[0]):
                slot, to_come = step[STEP_HEADER + 2 * k], step[STEP_HEADER + 1 + 2 * k]
                handed_over = joins == 1 and k > 0 and slot == step[1]
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
    def insert(
        first: ti.i32, last: ti.i32, states: array(ti.u64, 1), step: array(ti.i32, 1),
        table: array(ti.u64, 1), size: ti.i32, spread: ti.i32, steady: array(ti.u64, 1), multiplier: ti.u64,
    ):  # fmt: skip
        for i in range(first, last):
            state = read(states, i)
            if state[0] != ti.u64(_DEAD):
                for joins in ti.static(range(2)):
                    out, alive, _closes = child(joins, state, step)
                    if alive == 1:
                        key = key_of(out, multiplier)
                        at = home(out, key, steady, size, spread)
                        going = 1
                        while going == 1:
                            held = table[at]
                            if held == key:
                                going = 0
                            elif held < key:
                                old = ti.atomic_max(table[at], key)
                                if old == ti.u64(0) or old == key:
                                    going = 0
                                elif old < key:
                                    key = old
                            at = at + 1 & size - 1

    @ti.kernel
    def number(size: ti.i32, together: ti.i32, table: array(ti.u64, 1), index: array(ti.i32, 1), met: array(ti.i32, 1)):
        for part in range(size // together):
            found = 0
            for k in range(together):
                if table[part * together + k] != ti.u64(0):
                    found += 1
            if found > 0:
                at = ti.atomic_add(met[0], found)
                for k in range(together):
                    if table[part * together + k] != ti.u64(0):
                        index[part * together + k] = at
                        at += 1

    @ti.kernel
    def decode(
        size: ti.i32, table: array(ti.u64, 1), index: array(ti.i32, 1), inverse: ti.u64, new_states: array(ti.u64, 1)
    ):
        for at in range(size):
            key = table[at]
            if key != ti.u64(0):
                new_states[index[at]] = (key ^ key >> ti.u64(32)) * inverse - ti.u64(1)

    @ti.kernel
    def accumulate(
        first: ti.i32, last: ti.i32, states: array(ti.u64, 1), values: array(ti.u64, 1), step: array(ti.i32, 1),
        table: array(ti.u64, 1), size: ti.i32, spread: ti.i32, steady: array(ti.u64, 1), multiplier: ti.u64,
        index: array(ti.i32, 1), new_states: array(ti.u64, 1), new_values: array(ti.u64, 1), found: array(ti.u64, 1),
        shape: array(ti.i32, 1),
    ):  # fmt: skip
        for i in range(first, last):
            # Lengths and digits of old values: between states, in use; then those of new ones.
            stride, digits_stride = shape[0], shape[1]
            lengths, digits, new_stride, new_digits = shape[2], shape[3], shape[4], shape[5]
            state = read(states, i)
            if state[0] != ti.u64(_DEAD):
                for joins in ti.static(range(2)):
                    out, alive, closes = child(joins, state, step)
                    if alive == 1:
                        key = key_of(out, multiplier)
                        j = index[place_of(table, home(out, key, steady, size, spread), size, key)]
                        if ti.static(words > 1):
                            for w in ti.static(range(words)):
                                new_states[j * words + w] = out[w]
                        more = joins * shape[6]
                        for length in range(ti.min(lengths, new_stride - more)):
                            for digit in range(digits):
                                ways = values[(i * stride + length) * digits_stride + digit]
                                if ways != ti.u64(0):
                                    ti.atomic_add(
                                        new_values[(j * new_stride + length + more) * new_digits + digit], ways
                                    )
                    if closes == 1:
                        for length in range(lengths):
                            for digit in range(digits):
                                ways = values[(i * stride + length) * digits_stride + digit]
                                if ways != ti.u64(0):
                                    at = 2 * (length * digits + digit)
                                    ti.atomic_add(found[at], ways & ti.u64(_HALF))
                                    ti.atomic_add(found[at + 1], ways >> ti.u64(32))

    @ti.kernel
    def compare(
        first: ti.i32, last: ti.i32, states: array(ti.u64, 1), step: array(ti.i32, 1), table: array(ti.u64, 1),
        size: ti.i32, spread: ti.i32, steady: array(ti.u64, 1), multiplier: ti.u64, index: array(ti.i32, 1),
        new_states: array(ti.u64, 1), differ: array(ti.i32, 1),
    ):  # fmt: skip
        for i in range(first, last):
            state = read(states, i)
            if state[0] != ti.u64(_DEAD):
                for joins in ti.static(range(2)):
                    out, alive, _closes = child(joins, state, step)
                    if alive == 1:
                        key = key_of(out, multiplier)
                        j = index[place_of(table, home(out, key, steady, size, spread), size, key)]
                        for w in ti.static(range(words)):
                            if new_states[j * words + w] != out[w]:
                                differ[0] = 1

    return BoundaryKernels(insert, number, decode, accumulate, compare)
