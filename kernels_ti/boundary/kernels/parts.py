"""The kernel that moves the states of a boundary to other parts, for the cores of a CPU.

Two states of different parts never have equal children, so each worker takes whole parts, and no two workers write to
one place, see `kernels_ti.boundary.kernels.stretch`. Numbers of ways have digits of 64 bits, the lowest first.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.boundary.kernels.tables import array, mixing, place_for, row_functions
from kernels_ti.boundary.spec.cells import DEAD, NEXT, PART
from kernels_ti.taichi_door import kernel, ti

ITERATIONS_PER_WORKER = 512
"""Taichi hands out the iterations of a CPU loop in blocks of 512: a worker is the first of these."""


@lru_cache
def rearranging_kernel(words: int, bits: int) -> Any:
    """Return the kernel that moves states of a number of words, with symbols of a number of bits, to other parts."""
    vector = ti.types.vector(words, ti.u64)
    (state_at, _row_of, _rows_of), mixed = row_functions(words), mixing(words)

    @ti.func
    def bucket_of(state, masks: ti.template(), buckets):
        """Return the bucket of a state: by which of the chosen slots are off the cycle, inner ones, and ends."""
        seen = vector(0)
        for w in ti.static(range(words)):
            lowest = masks[w]
            ends = ti.u64(0)
            for k in ti.static(range(1, bits)):
                ends |= state[w] >> ti.u64(k)
            ends &= lowest
            seen[w] = ends << ti.u64(1) | state[w] & lowest & ~ends
        return place_for(mixed(seen), buckets)

    @ti.func
    def deal(
        count, groups: ti.template(), parts: ti.template(), queue: ti.template(), stride, rows: ti.template(),
        masks: ti.template(), buckets, places: ti.template(), moved: ti.template(), moves: ti.template(),
    ):  # fmt: skip
        """Take groups of parts, and count the states of each by bucket, or move them to their places."""
        group = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
        while group < count:
            if ti.static(not moves):
                for k in range(group * buckets, group * buckets + buckets):
                    places[k] = 0
            for part in range(groups[group], groups[group + 1]):
                first = parts[part * PART]
                for row in range(first, first + parts[part * PART + 1]):
                    if rows[row * stride] != ti.u64(DEAD):
                        bucket = group * buckets + bucket_of(state_at(rows, row * stride), masks, buckets)
                        into = places[bucket]
                        places[bucket] = into + 1
                        if ti.static(moves):
                            for k in range(stride):
                                moved[into * stride + k] = rows[row * stride + k]
            group = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    @kernel
    def rearrange(
        workers: ti.i32, parts: array(ti.i32, 1), count: ti.i32, groups: array(ti.i32, 1), queue: array(ti.i64, 1),
        stride: ti.i32, rows: array(ti.u64, 1), masks: array(ti.u64, 1), buckets: ti.i32, places: array(ti.i32, 1),
        begins: array(ti.i32, 1), moved: array(ti.u64, 1),
    ):  # fmt: skip
        """Move the states of all parts to buckets, and write where each of these begins, and the end.

        One work item in 512 is a worker, which takes whole groups of parts: those from one entry of `groups` to the
        next. Between counting and moving one work item makes places of the numbers, a cell for each group and bucket.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                deal(count, groups, parts, queue, stride, rows, masks, buckets, places, moved, False)
        for _ in range(1):
            queue[NEXT] = 0
            place = 0
            for bucket in range(buckets):
                begins[bucket] = place
                for group in range(count):
                    states = places[group * buckets + bucket]
                    places[group * buckets + bucket] = place
                    place += states
            begins[buckets] = place
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                deal(count, groups, parts, queue, stride, rows, masks, buckets, places, moved, True)

    return rearrange
