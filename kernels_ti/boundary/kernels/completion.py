"""Tell states that no vertices to come can complete to a cycle, see `kernels_ti.boundary.executors.forward`.

A work item tests one state. It first follows what the state forces: vertices to come that are next to an inner one stay
off the cycle, and an end whose neighbours to come are all but one off the cycle has that one on it, and so on. Then a
depth-first search looks for a vertex whose removal parts what must lie on one cycle (R. Tarjan, *Depth-first search and
linear graph algorithms*, SIAM Journal on Computing 1, 1972).
"""

from functools import lru_cache
from typing import Any

from kernels_ti.bits import lowest_bit, population
from kernels_ti.boundary.kernels.tables import array, symbols
from kernels_ti.boundary.spec.packing import FIRST_END, INNER, MOST_NODES, TALLIES, WRITTEN
from kernels_ti.taichi_door import kernel, ti

NODES, DEEP, SLOTS = 0, 1, 2
"""Cells of the tables before the rows: all nodes, the deep ones, and the number of slots."""
BESIDE_NODES = 3
"""Then for each of 64 nodes the nodes next to it, for each the slots next to it, and for each slot its nodes."""
BESIDE_SLOTS = BESIDE_NODES + MOST_NODES
NEAR = BESIDE_SLOTS + MOST_NODES

_ROUNDS = 8
# A depth-first search meets each node and each end once.
_DEEPEST = 128
_FIELD = 255


@ti.func
def bit(place):
    """Return a word with one bit set."""
    return ti.u64(1) << ti.cast(place, ti.u64)


@ti.func
def touched(ends, ahead: ti.template()):
    """Return the nodes beside at least one, two and three ends."""
    ones, twos, threes, rest = ti.u64(0), ti.u64(0), ti.u64(0), ends
    while rest != ti.u64(0):
        near = ahead[NEAR + lowest_bit(rest, 64)]
        rest &= rest - ti.u64(1)
        threes |= twos & near
        twos |= ones & near
        ones |= near
    return ones, twos, threes


@ti.func
def forced(ends, alone, inner, ahead: ti.template()):
    """Return the nodes that may be on the cycle, those that must be, and whether the state contradicts itself."""
    deep = ahead[DEEP]
    blocked, rest = ti.u64(0), inner
    while rest != ti.u64(0):
        blocked |= ahead[NEAR + lowest_bit(rest, 64)]
        rest &= rest - ti.u64(1)
    ones, twos, threes = touched(ends, ahead)
    free, on = ahead[NODES] & ~((blocked | threes) & ~deep), ti.u64(0)
    dead, going, turn = 0, 1, 0
    while going == 1 and dead == 0 and turn < _ROUNDS:
        free_before, on_before = free, on
        rest = ends
        while rest != ti.u64(0):
            end = lowest_bit(rest, 64)
            rest &= rest - ti.u64(1)
            near = ahead[NEAR + end]
            if near & deep == ti.u64(0):
                needed = 1 + ti.cast(alone >> ti.cast(end, ti.u64) & ti.u64(1), ti.i32)
                possible, certain = population(near & free, 64), population(near & on, 64)
                if possible < needed or certain > needed:
                    dead = 1
                elif possible == needed:
                    on |= near & free
                elif certain == needed:
                    free &= ~(near & ~on)
        rest = free & ~deep
        while rest != ti.u64(0):
            node = lowest_bit(rest, 64)
            here = bit(node)
            rest &= rest - ti.u64(1)
            beside = ahead[BESIDE_NODES + node] & free
            ending = ti.cast((ones & here) >> ti.cast(node, ti.u64), ti.i32)
            ending += ti.cast((twos & here) >> ti.cast(node, ti.u64), ti.i32)
            ending += ti.cast((threes & here) >> ti.cast(node, ti.u64), ti.i32)
            certain = ending + population(beside & on & ~deep, 64)
            # A deep node stands for many vertices.
            lacking = beside & deep == ti.u64(0) and ending + population(beside, 64) < 2
            if on & here != ti.u64(0):
                if certain > 2 or lacking:
                    dead = 1
                elif certain == 2:
                    free &= ~(beside & ~on & ~deep)
                elif beside & deep == ti.u64(0) and ending + population(beside, 64) == 2:
                    on |= beside
            elif certain > 2 or lacking:
                free &= ~here
        if on & ~free != ti.u64(0):
            dead = 1
        if free == free_before and on == on_before:
            going = 0
        turn += 1
    return free, on & ~deep, dead


@ti.func
def first_of(vertices, first, depths: ti.template(), depth, lowest):
    """Return the least depth of some vertices, bits from `first` on, of the path but its last one; `lowest` at most."""
    rest, low = vertices, lowest
    while rest != ti.u64(0):
        there = depths[first + lowest_bit(rest, 64)]
        rest &= rest - ti.u64(1)
        if there < depth - 1:
            low = ti.min(low, there)
    return low


def _neighbours(words: int, bits: int) -> Any:
    _end_bits, symbol, _put = symbols(words, bits)

    @ti.func
    def beside(vertex, state, nodes, ends, ahead: ti.template()):
        """Return which of some nodes and of some ends are next to a vertex of the search."""
        near_nodes, near_ends = ti.u64(0), ti.u64(0)
        if vertex < 64:
            near_nodes, near_ends = ahead[BESIDE_NODES + vertex], ahead[BESIDE_SLOTS + vertex]
        else:
            near_nodes = ahead[NEAR + vertex - 64]
            other = symbol(state, vertex - 64) - FIRST_END
            if other != vertex - 64:
                near_ends = bit(other)
        return near_nodes & nodes, near_ends & ends

    return beside


@lru_cache
def _parted_test(words: int, bits: int) -> Any:
    beside = _neighbours(words, bits)

    @ti.func
    def parted(state, ends, free, on, ahead: ti.template()):
        """Return 1 if the ends and the vertices that must be on the cycle are not in one biconnected part.

        Vertices of the search: the nodes, and from 64 on the slots of ends. An entry of the path has a vertex, its low
        point, and how many vertices below it must be on the cycle, 8 bits each.
        """
        path, depths = ti.Vector([0] * _DEEPEST, ti.i32), ti.Vector([0] * _DEEPEST, ti.i32)
        deep = ahead[DEEP]
        wanted = population(ends, 64) + population(on, 64)
        root = lowest_bit(ends, 64)
        vertex, depth, dead, met = root + 64, 0, 0, 1
        seen_nodes, seen_ends = ti.u64(0), bit(root)
        path_nodes, path_ends = ti.u64(0), bit(root)
        path[0] = vertex | 1 << 16
        while depth >= 0 and dead == 0:
            beside_nodes, beside_ends = beside(vertex, state, free, ends, ahead)
            following = -1
            if beside_ends & ~seen_ends != ti.u64(0):
                following = 64 + lowest_bit(beside_ends & ~seen_ends, 64)
            elif beside_nodes & ~seen_nodes != ti.u64(0):
                following = lowest_bit(beside_nodes & ~seen_nodes, 64)
            if following >= 0:
                depth += 1
                needed = 1
                beside_nodes, beside_ends = beside(following, state, path_nodes, path_ends, ahead)
                if following < 64:
                    needed = ti.cast(on >> ti.cast(following, ti.u64) & ti.u64(1), ti.i32)
                    seen_nodes |= bit(following)
                    path_nodes |= bit(following)
                else:
                    seen_ends |= bit(following - 64)
                    path_ends |= bit(following - 64)
                # The first vertex of the path that is next to it, but for the one before it.
                low = first_of(beside_nodes, 0, depths, depth, depth)
                low = first_of(beside_ends, 64, depths, depth, low)
                depths[following] = depth
                path[depth] = following | low << 8 | needed << 16
                met += needed
                vertex = following
            else:
                entry = path[depth]
                depth -= 1
                if depth >= 0:
                    above = path[depth]
                    low, below = entry >> 8 & _FIELD, entry >> 16
                    parent = above & _FIELD
                    if vertex < 64:
                        path_nodes &= ~bit(vertex)
                    else:
                        path_ends &= ~bit(vertex - 64)
                    if low >= depth and below > 0:
                        parent_needed, parent_deep = 1, 0
                        if parent < 64:
                            parent_needed = ti.cast(on >> ti.cast(parent, ti.u64) & ti.u64(1), ti.i32)
                            parent_deep = ti.cast(deep >> ti.cast(parent, ti.u64) & ti.u64(1), ti.i32)
                        if parent_deep == 0 and wanted - below - parent_needed > 0:
                            dead = 1
                        # A piece lies on no cycle if nothing else joins its ends.
                        if parent >= 64 and vertex >= 64 and low > depth:
                            dead = 1
                    path[depth] = parent | ti.min(low, above >> 8 & _FIELD) << 8 | (above >> 16) + below << 16
                    vertex = parent
        if met < wanted:
            dead = 1
        return dead

    return parted


@lru_cache
def completion_kernel(words: int, bits: int) -> Any:
    """Return the kernel that drops states which cannot be completed."""
    vector = ti.types.vector(words, ti.u64)
    (_end_bits, symbol, _put), parted = symbols(words, bits), _parted_test(words, bits)

    @ti.func
    def cannot_be_completed(state, ahead: ti.template()):
        """Return 1 if no vertices to come complete the state to a cycle, otherwise 0."""
        ends, alone, inner = ti.u64(0), ti.u64(0), ti.u64(0)
        for slot in range(ti.cast(ahead[SLOTS], ti.i32)):
            at = symbol(state, slot)
            if at == INNER:
                inner |= bit(slot)
            elif at > INNER:
                ends |= bit(slot)
                if at == FIRST_END + slot:
                    alone |= bit(slot)
        dead = 0
        if ends != ti.u64(0):
            free, on, contradicted = forced(ends, alone, inner, ahead)
            dead = contradicted
            if dead == 0:
                dead = parted(state, ends, free, on, ahead)
        return dead

    @kernel
    def drop(
        first: ti.i32, last: ti.i32, stride: ti.i32, word_stride: ti.i32, empty: ti.u64,
        words_0: array(ti.u64, 1), words_1: array(ti.u64, 1), words_2: array(ti.u64, 1),
        ahead: array(ti.u64, 1), tallies: array(ti.u64, 1),
    ):  # fmt: skip
        """Write `empty` to each state, one for each work item, that cannot be completed, and count these.

        The words of a state are `word_stride` apart, in one array that is given three times. With a distance of 0, the
        first three words have an array each.
        """
        for i in range(first, last):
            if words_0[i * stride] != empty:
                state = vector(0)
                for w in ti.static(range(words)):
                    cells = ti.static((words_0, words_1, words_2)[min(w, 2)])
                    state[w] = cells[i * stride + w * word_stride] & ti.u64(WRITTEN - 1)
                if cannot_be_completed(state, ahead) == 1:
                    words_0[i * stride] = empty
                    ti.atomic_add(tallies[i & TALLIES - 1], ti.u64(1))

    return drop
