"""The children that a vertex makes of one state, for kernels, as `kernels_ti.boundary.spec.changes` in numpy.

One word more than those of the symbols tells states apart that have the same symbols.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.spec.changes import AFTER, BEFORE, CLOSE, FAR, FIRST_HEAD, HEADER, SLOT
from kernels_ti.boundary.spec.packing import FIRST_END
from kernels_ti.taichi_door import ti


@lru_cache
def symbols(words: int, bits: int) -> tuple[int, Any, Any]:
    """Return how symbols of a number of bits lie in so many words: the functions that read and write one.

    The first item has the bits of a word of which one is set at least where a symbol is that of an end.
    """
    slots, field = 64 // bits, (1 << bits) - 1
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
    def put(state, slot, value):
        """Write a symbol to a slot that is empty."""
        changed = state
        for w in ti.static(range(words)):
            if ti.static(words == 1) or slot // slots == w:
                changed[w] = state[w] | ti.cast(value, ti.u64) << ti.cast(slot % slots * bits, ti.u64)
        return changed

    return end_bits, symbol, put


@lru_cache
def joining(words: int, bits: int) -> Any:
    """Return the function that puts together the child of a state in which the vertex joins."""
    end_bits, symbol, put = symbols(words, bits)
    entry_cells = 1 + 2 * words

    @ti.func
    def put_together(state, spec: ti.template(), base):
        """Return the child in which the vertex joins, and which children there are, see `children`.

        It puts together what the neighbours tell, as `kernels_ti.boundary.spec.changes` does in numpy.
        """
        near, may = ti.cast(spec[base], ti.i32), ti.cast(spec[base + 1], ti.i32)
        slot_of = base + HEADER + 2 * words
        # The first entry stands for no neighbour.
        none = slot_of + near
        before, after, lives, fits = none, none, may, 1
        for k in range(near):
            at = symbol(state, ti.cast(spec[slot_of + k], ti.i32))
            entry = none + entry_cells * (1 + (k << bits | at))
            code = ti.cast(spec[entry], ti.i32)
            lives &= code
            goes_before = code >> BEFORE & ti.cast(before == none, ti.i32)
            goes_after = code >> AFTER & ti.cast(after == none, ti.i32) & ~goes_before
            fits &= goes_before | goes_after | ti.cast(at == 0, ti.i32)
            before = ti.select(goes_before == 1, entry, before)
            after = ti.select(goes_after == 1, entry, after)
        code_before, code_after = ti.cast(spec[before], ti.i32), ti.cast(spec[after], ti.i32)
        far_before, far_after = code_before >> FAR & 255, code_after >> FAR & 255
        has_before, has_after = ti.cast(before != none, ti.i32), ti.cast(after != none, ti.i32)
        links = has_before & has_after
        joins = fits & links & ti.cast(far_before == code_after >> SLOT, ti.i32)
        fits &= may >> (1 + has_before + 2 * has_after) & ~joins & 1
        on, rest, closes = state, ti.u64(0), 0
        for w in ti.static(range(words)):
            kept = state[w] & spec[before + 1 + w] & spec[after + 1 + w]
            rest |= kept & ti.u64(end_bits)
            inner = ti.select(links == 1, spec[base + HEADER + words + w], ti.u64(0))
            on[w] = kept | spec[before + 1 + words + w] | spec[after + 1 + words + w] | inner
        on = put(on, far_before, FIRST_END + far_after)
        on = put(on, far_after, ti.select(has_before | has_after == 1, (may >> FIRST_HEAD) + far_before, 0))
        # No piece may end anywhere but in the two neighbours.
        if joins == 1 and rest == ti.u64(0):
            closes = may >> CLOSE & 1
        return on, lives & 1 | fits << 1 | closes << 2

    return put_together


@lru_cache
def child_function(words: int, bits: int) -> Any:
    """Return the function for the children of a state of so many words."""
    end_bits, symbol, _put = symbols(words, bits)
    put_together, entry_cells = joining(words, bits), 1 + 2 * words

    @ti.func
    def children(state, spec: ti.template(), base):
        """Return both children, which of them can still become a cycle, and whether the vertex closes one."""
        off, on, flags = state, state, 0
        for w in ti.static(range(words)):
            off[w] &= spec[base + HEADER + w]
        at = ti.cast(spec[base + 2], ti.i32)
        if at > 0:
            row = 0
            for k in range(ti.cast(spec[base], ti.i32)):
                row |= symbol(state, ti.cast(spec[base + HEADER + 2 * words + k], ti.i32)) << k * bits
            at += row * entry_cells
            flags, rest = ti.cast(spec[at], ti.i32), ti.u64(0)
            for w in ti.static(range(words)):
                kept = state[w] & spec[at + 1 + w]
                on[w] = kept | spec[at + 1 + words + w]
                rest |= kept & ti.u64(end_bits)
            if rest != ti.u64(0):
                flags &= 3
        else:
            on, flags = put_together(state, spec, base)
        return off, on, flags

    return children


@lru_cache
def bounded_function(words: int, bits: int, cells: int) -> Any:
    """Return the function for the children of a state of so many cells within bounds on the length.

    With one cell more than the words of the symbols, that is the number of vertices on the cycle.
    """
    children = child_function(words, bits)

    @ti.func
    def bounded(state, spec: ti.template(), base, bounds: ti.template()):
        """Return both children, which of them can become a cycle within the bounds, and whether one closes."""
        off, on, flags = children(state, spec, base)
        if ti.static(cells > words):
            grown = ti.cast(state[words], ti.i32) + 1
            if grown < bounds[0] or grown > bounds[1] or (grown - bounds[0]) % bounds[4] != 0:
                flags &= 3
            # One vertex more has to close the cycle.
            if bounds[2] == 1 and grown >= bounds[1]:
                flags &= 5
            on[words] = ti.cast(ti.select(grown > bounds[3], grown - bounds[4], grown), ti.u64)
        return off, on, flags

    return bounded
