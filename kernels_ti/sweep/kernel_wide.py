"""The sweep for bit rows of any number of words: the frames stay in memory, loops run over their words.

The same search as `kernels_ti.sweep.kernel`, frame for frame; there the words are held in registers.
"""

from kernels_ti.bits import lowest_bit, population, single, without_lowest
from kernels_ti.device.compilation import Tiered
from kernels_ti.step.certificate_wide import reachable_extensions_wide
from kernels_ti.step.choice_of_end import choice_of_end_wide, parted
from kernels_ti.step.chords import first_of_block, first_of_other_end, open_word, rows_of_ends
from kernels_ti.step.required import keep_completing, passing, required_word
from kernels_ti.sweep.depth_first import add, end_and_length, end_of, length_of
from kernels_ti.sweep.kernel import (
    DRY_WORKERS,
    ENDED,
    ITERATIONS_PER_WORKER,
    NEXT_CHUNK,
    NEXT_ITEM,
    SHARES_PER_SLICE,
    STEPS_BETWEEN_LOOKS,
    array,
    put_seed,
    take_chunk,
)
from kernels_ti.taichi_door import ti


@ti.func
def emit_wide(
    words, required: ti.template(), chorded: ti.template(), stack: ti.template(), at, label, lacking,
    rows: ti.template(), cycles: ti.template(), place, first_row, v, ends,
):  # fmt: skip
    """Write one cycle for each vertex that closes the path of the frame at word `at`, extended by `label`.

    The row of `label` at its end of the path is `v`. The extended path lacks `lacking` of the required vertices. The
    first cycle begins at word `place` of `cycles`. Returns the number of cycles written.
    """
    written = 0
    for w in range(words):
        free = open_word(chorded, rows, words, ends, v, w, stack[at + w])
        rest = rows[v * words + w] & free & stack[at + words + w]
        if ti.static(required):
            wanted = required_word(words, rows, w) & ~stack[at + 3 * words + w] & ~single(label, w, 64)
            rest = passing(64, lacking, wanted, rest)
        while rest != 0:
            closer = w * 64 + lowest_bit(rest, 64)
            rest = without_lowest(rest, 64)
            start = place + written * (words + 1)
            for k in range(words):
                cycles[start + k] = stack[at + 3 * words + k] | single(label, k, 64) | single(closer, k, 64)
            cycles[start + words] = ti.cast(first_row, ti.u64)
            written += 1
    return written


@Tiered
def sweep_wide(
    words: ti.i32, collect: ti.template(), required: ti.template(), chorded: ti.template(), rows: array(ti.u64, 1),
    first_row: array(ti.i32, 1), row_ptr: array(ti.i32, 1), neighbour: array(ti.i32, 1), seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1), seed_weight: array(ti.f64, 1), first_seed: ti.i32, pool: array(ti.u64, 1),
    pooled: ti.i32, last_item: ti.i32, queue: array(ti.i32, 1), stack: array(ti.u64, 1), stack_words: ti.i32,
    fifo: array(ti.i32, 1), depth_of: array(ti.i32, 1), budget: ti.i32, patience: ti.i32, max_length: ti.i32,
    most_closers: ti.i32, longest_block: ti.i32, paths_by_length: array(ti.i64, 1), cycles_by_length: array(ti.i64, 1),
    cycles: array(ti.u64, 1), cycles_per_chunk: ti.i32, cycle_count: array(ti.i32, 1),
):  # fmt: skip
    """Drain seeds depth first for one slice of the search; one work item in 512 is a worker.

    A worker does what a worker of `kernels_ti.sweep.kernel.sweep` does, with all frames on its stack. The parameters
    are those of `sweep`, `chorded`, which says whether rows have chords (`kernels_ti.step.chords`), `row_ptr` of the
    blocks, `longest_block`, the vertices of the largest block, and `fifo`, shape (workers * longest_block,), the queues
    of the floods. The last two bit rows of a worker's part of `stack` belong to the floods too.
    """
    frame = (4 if ti.static(collect) else 3) * words + 2
    ends = rows_of_ends(chorded, first_row)
    workers, chunks = depth_of.shape[0], cycle_count.shape[0]
    for i in range(workers * ITERATIONS_PER_WORKER):
        if i % ITERATIONS_PER_WORKER == 0:
            me = i // ITERATIONS_PER_WORKER
            counters = me * (max_length + 2)
            bottom = me * stack_words
            kept_at = bottom + stack_words - 2 * words
            chunk, found = me, me * cycles_per_chunk
            cycles_end = found + cycles_per_chunk - most_closers
            depth = depth_of[me]
            steps = budget
            barren = 0
            while steps > 0:
                steps -= 1
                if depth == 0:
                    item = ti.atomic_add(queue[NEXT_ITEM], 1)
                    if item >= last_item:
                        ti.atomic_add(queue[DRY_WORKERS], 1)
                        steps = 0
                    elif item < pooled:
                        for k in range(frame):
                            stack[bottom + k] = pool[item * frame + k]
                        depth = 1
                    else:
                        seed = first_seed + item - pooled
                        u = seed_root[seed]
                        x = neighbour[seed_entry[seed]]
                        depth = put_seed(
                            words, collect, chorded, rows, first_row, u, x, seed_weight[seed], stack, bottom
                        )
                else:
                    at = bottom + (depth - 1) * frame
                    last = stack[at + frame - 1]
                    end, length = end_of(last), length_of(last)
                    weight = ti.bit_cast(stack[at + frame - 2], ti.f64)
                    label = 0
                    waits = 1
                    left = ti.u64(0)
                    for w in range(words):
                        extensions = stack[at + 2 * words + w]
                        if waits == 1 and extensions != 0:
                            label = w * 64 + lowest_bit(extensions, 64)
                            extensions = without_lowest(extensions, 64)
                            stack[at + 2 * words + w] = extensions
                            waits = 0
                        left |= extensions
                    v = first_of_other_end(chorded, first_row, ends, end) + label
                    room = ti.cast(length + 3 <= max_length, ti.i32)
                    closing, opened, swapped = choice_of_end_wide(
                        64, words, 1, room, rows, v, stack, at + words, stack, 1, at, chorded, ends
                    )
                    lacking = 0
                    if ti.static(required):
                        closing = 0
                        for w in range(words):
                            had = stack[at + 3 * words + w] | single(label, w, 64)
                            lacking += population(required_word(words, rows, w) & ~had, 64)
                        for w in range(words):
                            had = stack[at + 3 * words + w] | single(label, w, 64)
                            free = open_word(chorded, rows, words, ends, v, w, stack[at + w])
                            closers = rows[v * words + w] & free & stack[at + words + w]
                            closers = passing(64, lacking, required_word(words, rows, w) & ~had, closers)
                            closing += population(closers, 64)
                    add(cycles_by_length, counters + length + 2, closing)
                    barren = ti.select(closing > 0, 0, barren)
                    if ti.static(collect):
                        if closing > 0:
                            found += emit_wide(
                                words, required, chorded, stack, at, label, lacking, rows, cycles,
                                found * (words + 1), first_of_block(chorded, first_row, ends, v), v, ends,
                            )  # fmt: skip
                    if opened > 0:
                        target = at
                        if left != 0:
                            target = at + frame
                            depth += 1
                        length += 1
                        end = ti.select(swapped, v, end)
                        for w in range(words):
                            allowed = open_word(chorded, rows, words, ends, v, w, stack[at + w])
                            waiting = stack[at + words + w] & allowed
                            free = rows[v * words + w] & allowed
                            _, only_v, only_end = parted(free, waiting)
                            stack[target + w] = allowed & ~ti.select(swapped, waiting, free)
                            stack[target + words + w] = ti.select(swapped, only_v, only_end)
                            stack[target + 2 * words + w] = ti.select(swapped, only_end, only_v)
                            if ti.static(collect):
                                stack[target + 3 * words + w] = stack[at + 3 * words + w] | single(label, w, 64)
                        stack[target + frame - 1] = end_and_length(end, length)
                        barren += 1
                        asked = barren > patience
                        if ti.static(required):
                            opened = keep_completing(
                                64, words, rows, stack, 1, target + 2 * words, target, stack, 1, target + 3 * words
                            )
                            asked = asked and opened > 0
                        if asked:
                            opened = reachable_extensions_wide(
                                64, words, required, rows, row_ptr, neighbour, first_row[end],
                                stack, 1, target, target + words, target + 2 * words, kept_at, kept_at + words,
                                stack, 1, target + 3 * words, fifo, 1, me * longest_block, max_length - length - 1,
                            )  # fmt: skip
                            for w in range(words):
                                stack[target + 2 * words + w] = stack[kept_at + w]
                        stack[target + frame - 2] = ti.bit_cast(weight / ti.max(opened, 1), ti.u64)
                        add(paths_by_length, counters + length + 1, opened)
                        if opened == 0:
                            depth -= 1
                    elif left == 0:
                        depth -= 1
                    if steps % STEPS_BETWEEN_LOOKS == 0 and depth > 1 and budget - steps >= budget // SHARES_PER_SLICE:
                        if ti.atomic_add(queue[ENDED], 0) > 0:
                            steps = 0
                    if ti.static(collect):
                        if found > cycles_end:
                            take_chunk(
                                queue, cycle_count, chunks, cycles_per_chunk, most_closers, chunk, found, cycles_end,
                                steps,
                            )  # fmt: skip
                        elif steps % STEPS_BETWEEN_LOOKS == 0 and queue[NEXT_CHUNK] > chunks:
                            steps = 0
            queue[ENDED] = 1
            depth_of[me] = depth
            if chunk < chunks:
                cycle_count[chunk] = found - chunk * cycles_per_chunk
