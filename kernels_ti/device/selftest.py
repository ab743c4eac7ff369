"""The self-test that a device must pass before a search uses it.

Some drivers silently lose atomic updates, miscount bits or leave a long loop early. One kernel exercises the primitives
that the searches rely on. The host compares its results with the right values.
"""

from typing import Any

import numpy as np

from kernels_ti.bits import (
    above,
    bits_of,
    lowest_bit,
    one_taken,
    population,
    row_of,
    vector_of,
    without_lowest,
    word_of,
)
from kernels_ti.device.levels import note_level, opened_level
from kernels_ti.device.placing import (
    CELLS_PER_LEVEL,
    CHILDREN,
    CYCLES,
    GROUP,
    WARP,
    padded,
    placed,
    placed_by_warp,
    placed_together,
)
from kernels_ti.taichi_door import kernel, settings, ti

ITEMS = 3000  # Work items; not a multiple of any group size, so that incomplete groups are tested
LONG_LOOP = 1 << 20  # Rounds, in nested loops, of the longest loop that is tested
LEAST_LOOP = 60_000  # Rounds that every device must be able to make
LARGE = 1 << 24  # Factor that takes a counter beyond 32 bits

_MULTIPLIER, _INCREMENT = 1664525, 1013904223  # of a linear congruential generator: its rounds can't be skipped

array = ti.types.ndarray


@kernel
def exercise(
    word: ti.template(), items: ti.i32, rounds: ti.i32, patterns: array(ndim=1), control: array(ti.u32, 1),
    owner: array(ti.i32, 1), counted: array(ti.i32, 1), folded: array(ndim=1), looped: array(ti.u32, 1),
):  # fmt: skip
    """Exercise placement, words, a loop bound read on the device, and a long loop.

    Work item i of the first loop reserves ``i % 5`` places and writes its number there. The second loop
    runs over as many items as were placed. Each counts bits in a pattern three ways and rebuilds it twice.
    The last loop makes `rounds` rounds of a generator that cannot be shortened, in nested loops.
    """
    bits = ti.static(bits_of(word))
    ready, room, taken = opened_level(control, 0, 2, 1, 0x7FFFFFF0, 0x7FFFFFF0)
    note_level(control, 0, ready, room, taken)
    ti.loop_config(block_dim=GROUP)
    for item in range(padded(items)):
        amount = 0
        if item < items:
            amount = item % 5
        at, _beside = 0, 0
        if ti.static(settings().arch == ti.vulkan):
            at, _beside = placed_together(control, 0, amount, 0, item)
        elif ti.static(settings().arch == ti.cuda):
            some = ti.simt.warp.ballot(ti.cast(amount > 2, ti.i32))
            first, before, _total = placed_by_warp(control, CHILDREN, amount, item % WARP)
            at = first + before
            if (some >> item % WARP & 1 == 1) != (amount > 2):
                amount = 0
        else:
            at = placed(control, CHILDREN, amount)
        placed(control, 2 * CELLS_PER_LEVEL + CYCLES, amount * LARGE)
        k = 0
        while k < amount:
            owner[at + k] = item
            k += 1
    following, _left, before = opened_level(control, 1, 2, 1, 0x7FFFFFF0, 0x7FFFFFF0)
    for _ in range(following + before + 1):
        ti.atomic_add(control[CELLS_PER_LEVEL], ti.u32(1))
    for item in range(patterns.shape[0]):
        rest = patterns[item]
        rebuilt = word_of(0, bits)
        steps = 0
        while rest != word_of(0, bits):
            low = lowest_bit(rest, bits)
            rebuilt |= word_of(1, bits) << word_of(low, bits)
            rebuilt &= ~above(low, 0, bits)
            rebuilt |= patterns[item] & ~above(low, 0, bits)
            rest = without_lowest(rest, bits)
            steps += 1
        left, again = row_of(word, patterns, item), word_of(0, bits)
        while left[0] != word_of(0, bits):
            label, left = one_taken(word, left)
            again |= word_of(1, bits) << word_of(label, bits)
        if again != patterns[item]:
            steps = 0
        counted[item] = steps * 100 + population(patterns[item], bits)
        folded[item] = rebuilt
    for item in range(2):
        state = ti.u32(item + 1)
        outer = 0
        while outer < rounds // 1024:
            for _ in range(1024):
                state = state * ti.u32(_MULTIPLIER) + ti.u32(_INCREMENT)
            outer += 1
        looped[item] = state


def _generator_after(state: int, rounds: int) -> int:
    """Return the state of the generator after `rounds` rounds, by repeated squaring."""
    multiplier, increment = 1, 0
    step_multiplier, step_increment = _MULTIPLIER, _INCREMENT
    while rounds:
        if rounds & 1:
            multiplier, increment = step_multiplier * multiplier, step_multiplier * increment + step_increment
        step_increment = (step_multiplier + 1) * step_increment % 2**32
        step_multiplier = step_multiplier**2 % 2**32
        rounds >>= 1
    return (multiplier * state + increment) % 2**32


def failures(bits: int, buffer: Any, download: Any) -> tuple[list[str], int]:
    """Run the self-test on the device that is open, whose words have so many bits.

    `buffer` and `download` copy an array to the device and back, see `kernels_ti.device.device.Device`. Returns one
    text for each failed check, none if the device passes; and the loop rounds that a work item may make in all, of
    which `LONG_LOOP` stands for no limit.
    """
    word = np.uint64 if bits == 64 else np.uint32
    masks = [1 << b for b in range(bits)] + [(1 << b) - 1 for b in range(1, bits + 1)]
    masks += [(1 << bits) - 1 - mask for mask in masks] + [0x9E3779B97F4A7C15 % (1 << bits)]
    patterns = np.array(masks, word)
    amounts = np.arange(ITEMS) % 5
    total = int(amounts.sum())

    def run(rounds: int) -> list[np.ndarray]:
        arrays = [
            buffer(patterns),
            buffer(np.zeros(3 * CELLS_PER_LEVEL, np.uint32)),
            buffer(np.full(total, -1, np.int32)),
            buffer(np.zeros(len(masks), np.int32)),
            buffer(np.zeros(len(masks), word)),
            buffer(np.zeros(2, np.uint32)),
        ]
        exercise(vector_of(1, bits), ITEMS, rounds, *arrays)
        return [download(a) for a in arrays[1:]]

    control, owner, counted, folded, looped = run(LONG_LOOP)
    found = []
    if control[CHILDREN] != total or not np.array_equal(np.sort(owner), np.repeat(np.arange(ITEMS), amounts)):
        found.append("children are not placed one behind another (atomic additions lose updates)")
    runs = np.flatnonzero(np.diff(owner)) + 1
    if len(runs) != np.count_nonzero(amounts) - 1:
        found.append("the children of one path are not placed together")
    carried = control[2 * CELLS_PER_LEVEL + CYCLES :].tolist()
    if carried[0] + (carried[1] << 32) != total * LARGE:
        found.append("totals beyond 32 bits are wrong (carry)")
    if control[CELLS_PER_LEVEL] != total + 1:
        found.append("a loop bound that was computed on the device is not obeyed")
    expected = np.array([101 * mask.bit_count() for mask in masks])
    if not np.array_equal(counted, expected):
        found.append("population count, lowest or highest bit is wrong")
    if not np.array_equal(folded, patterns):
        found.append("shifts or masks of words are wrong")
    if looped.tolist() == [_generator_after(1, LONG_LOOP), _generator_after(2, LONG_LOOP)]:
        return found, LONG_LOOP
    rounds = LEAST_LOOP // 1024 * 1024
    if run(rounds)[-1].tolist() != [_generator_after(1, rounds), _generator_after(2, rounds)]:
        found.append(f"a loop of {rounds} rounds ends early")
    return found, LEAST_LOOP
