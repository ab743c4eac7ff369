"""Stage 1 as a kernel, for every device: the triangles, and the initial triplets as records of the wave.

Bit rows may have any number of words: they are read word by word, and nothing but counters is kept in between.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.bits import lowest_bit, population, single, without_lowest, word_of
from kernels_ti.device.placing import CELLS_PER_LEVEL, CHILDREN, CYCLES, cycle_place, placed
from kernels_ti.step.triplets import triplets_of_seed
from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@lru_cache
def triplets_kernel(bits: int, collect: bool, chorded: bool) -> Any:
    """Return stage 1 for words of some bits; with `collect` it stores triangles and gives records members.

    With `chorded` rows have chords, see `kernels_ti.step.chords`.
    """

    @kernel
    def triplets(
        words: ti.i32, rows: array(ndim=1), first_row: array(ti.i32, 1), neighbour: array(ti.i32, 1),
        seed_entry: array(ti.i32, 1), seed_root: array(ti.i32, 1), first_seed: ti.i32, last_seed: ti.i32,
        surveyed: ti.i32, max_length: ti.i32, control: array(ti.u32, 1), allowed: array(ndim=1), ends: array(ti.i32, 1),
        members: array(ndim=1), capacity: ti.i32, start: ti.i32, direction: ti.i32, room: ti.i32, cycles: array(ndim=1),
        cycle_capacity: ti.i32, cycle_start: ti.i32,
    ):  # fmt: skip
        """Stage 1: count or emit the triangles and place the initial triplets of some seeds, as far as they fit.

        One work item takes a seed, an edge from root u to x with l(u) < l(x), and handles all its pairs
        <x, u, y> with l(x) < l(y) together. It reads two bit rows, writes a record for each triplet from place
        ``start + direction * k`` on, k below `room`, a cycle for each triangle with `collect`, and the counters of
        level 0. The triangles of seeds before `surveyed` have been counted.
        """
        for cell in range(CELLS_PER_LEVEL):
            control[cell] = ti.u32(0)
        for item in range(last_seed - first_seed):
            u = seed_root[first_seed + item]
            x = neighbour[seed_entry[first_seed + item]]
            first, opened, closing = first_row[u], 0, 0
            for w in range(words):
                triangles, extensions, _, _, _ = triplets_of_seed(bits, chorded, rows, words, first_row, first, u, x, w)
                closing += population(triangles, bits)
                opened += population(extensions, bits)
            if first_seed + item < surveyed:
                closing = 0
            if max_length <= 3:
                opened = 0
            at = placed(control, CHILDREN, opened)
            cycle_at = placed(control, CYCLES, closing)
            place = cycle_place(cycle_start, cycle_at, cycle_capacity)
            storing = opened > 0 and room > 0
            if ti.static(collect):
                storing = storing or closing > 0
            for w in range(words if storing else 0):
                triangles, extensions, _, _, _ = triplets_of_seed(bits, chorded, rows, words, first_row, first, u, x, w)
                if ti.static(collect):
                    while closing > 0 and triangles != word_of(0, bits):
                        label = w * bits + lowest_bit(triangles, bits)
                        triangles = without_lowest(triangles, bits)
                        if place >= 0 and place < cycle_capacity:
                            for k in range(words):
                                _, _, _, _, pair = triplets_of_seed(
                                    bits, chorded, rows, words, first_row, first, u, x, k
                                )
                                cycles[k * cycle_capacity + place] = pair | single(label, k, bits)
                            cycles[words * cycle_capacity + place] = word_of(first, bits)
                        place += 1
                while opened > 0 and room > 0 and extensions != word_of(0, bits):
                    label = w * bits + lowest_bit(extensions, bits)
                    extensions = without_lowest(extensions, bits)
                    if at >= 0 and at < room:
                        p = start + direction * at
                        for k in range(words):
                            _, _, may_join, _, pair = triplets_of_seed(
                                bits, chorded, rows, words, first_row, first, u, x, k
                            )
                            allowed[k * capacity + p] = may_join
                            if ti.static(collect):
                                members[k * capacity + p] = pair | single(label, k, bits)
                        ends[p] = x
                        ends[capacity + p] = first + label
                    at += 1

    return triplets
