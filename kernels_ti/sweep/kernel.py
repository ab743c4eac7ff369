"""The sweep: every CPU worker drains its share of the search depth first, through a private stack.

A **frame** is a path that is being extended at one end, with the extensions that are still to be tried. A worker holds
one frame in registers. The ancestors of that frame wait below it: the latest in local memory
(`kernels_ti.sweep.depth_first`), the others on the worker's stack. A frame is self-contained, so any frame can move to
another worker. The initial triplets of a seed are a frame too: the path <x, u> with the extensions y. Triangles and
triplets have been counted before, see `kernels_ti.sweep.search_stage_1`. The search changes to bit rows of one word as
soon as one word has a bit for each vertex that the path can still use, see `kernels_ti.sweep.compact`; not where rows
have chords, or where cycles must pass certain vertices.

Taichi hands out the iterations of a CPU loop in blocks of 512, so one worker is the first of 512.
"""

from kernels_ti.bits import above, lowest_bit, population, without_lowest
from kernels_ti.device.compilation import Tiered
from kernels_ti.step.chords import first_of_block, rows_of_ends
from kernels_ti.step.triplets import triplets_of_seed
from kernels_ti.sweep.compact import (
    COST,
    MOST_CREDIT,
    MOST_FRAMES,
    ONE_WORD,
    PAUSE,
    WAITING_END,
    compact_row,
    compact_words,
    first_single,
    make_compact,
    put_back,
    usable_on,
)
from kernels_ti.sweep.depth_first import WORD, end_and_length, end_of, length_of, put, search_depth_first, usable
from kernels_ti.sweep.frames import frame_words
from kernels_ti.taichi_door import ti

ITERATIONS_PER_WORKER = 512
STEPS_BETWEEN_LOOKS = 256
"""Steps that a worker makes before it checks whether another worker has no work left."""

TOP_FRAMES = 8
"""Frames that a worker keeps in local memory; when there are as many, all of them move to its stack."""

SHARES_PER_SLICE = 64
"""A worker gives work away only after this part of its budget, so that sharing stays cheap."""

NEXT_ITEM, DRY_WORKERS, NEXT_CHUNK, ENDED = 0, 1, 2, 3
"""Cells of the queue: the next item of work to take (first the frames of the pool, then the seeds), how many workers
have found no item, the next chunk of the buffer of cycles to take, and whether a worker has ended its slice. The others
end theirs soon then: some steps take longer than others, and no worker should wait for another."""

array = ti.types.ndarray


@ti.func
def asked_to_stop(queue: ti.template(), workers, steps, budget):
    """Return 1 if another worker has ended its slice and a part of this one is over."""
    asked = 0
    if workers > 1 and budget - steps >= budget // SHARES_PER_SLICE:
        asked = ti.cast(queue[ENDED] > 0, ti.i32)
    return asked


@ti.func
def take_chunk(
    queue: ti.template(), cycle_count: ti.template(), chunks, cycles_per_chunk, most_closers, chunk: ti.template(),
    found: ti.template(), cycles_end: ti.template(), steps: ti.template(),
):  # fmt: skip
    """Note how many cycles the chunk of a worker has, and take the next one; its slice ends if there is none."""
    if chunk < chunks:
        cycle_count[chunk] = found - chunk * cycles_per_chunk
    chunk = ti.atomic_add(queue[NEXT_CHUNK], 1)
    if chunk < chunks:
        found = chunk * cycles_per_chunk
        cycles_end = found + cycles_per_chunk - most_closers
    else:
        steps = 0


@ti.func
def spill(words: ti.template(), collect: ti.template(), top: ti.template(), frames, stack: ti.template(), bottom):
    """Move `frames` frames from the worker's own memory to its stack, from word `bottom` on."""
    frame = ti.static(frame_words(words.n, words.n if collect else 0))
    for h in range(frames):
        at = bottom + h * frame
        for w in ti.static(range(words.n)):
            stack[at + w] = top[w][h]
            stack[at + words.n + w] = top[words.n + w][h]
            stack[at + 2 * words.n + w] = top[2 * words.n + w][h]
            if ti.static(collect):
                stack[at + 3 * words.n + w] = top[3 * words.n + w][h]
        stack[at + frame - 2] = top[frame - 2][h]
        stack[at + frame - 1] = top[frame - 1][h]


@ti.func
def restored(words: ti.template(), collect: ti.template(), stack: ti.template(), at):
    """Read a frame from a stack or the pool, at word `at`."""
    allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
    for w in ti.static(range(words.n)):
        allowed[w] = stack[at + w]
        waiting[w] = stack[at + words.n + w]
        extensions[w] = stack[at + 2 * words.n + w]
        if ti.static(collect):
            members[w] = stack[at + 3 * words.n + w]
    last = at + ti.static(frame_words(words.n, words.n if collect else 0) - 1)
    return allowed, waiting, extensions, members, ti.bit_cast(stack[last - 1], ti.f64), stack[last]


@ti.func
def name_members(words: ti.template(), vertex_bits: ti.template(), first, stack: ti.template(), at):
    """Turn the members at word `at` of a stack from labels of the block that begins at row `first` into vertices."""
    named = words(0)
    for w in range(words.n):
        rest = stack[at + w]
        while rest != ti.u64(0):
            row = first + w * WORD + lowest_bit(rest, WORD)
            rest = without_lowest(rest, WORD)
            for k in ti.static(range(words.n)):
                named[k] |= vertex_bits[row * words.n + k]
    for k in ti.static(range(words.n)):
        stack[at + k] = named[k]


@ti.func
def put_seed(
    words, collect: ti.template(), chorded: ti.template(), rows: ti.template(), first_row: ti.template(), u, x, share,
    stack: ti.template(), at,
):  # fmt: skip
    """Write the frame of a seed to a stack, at word `at`: the path <x, u> with the y of its triplets as extensions.

    Returns the number of frames: 1, or 0 if there is no such y or no way on from x.
    """
    opened, first = 0, first_row[u]
    alive = ti.u64(0)
    for w in range(words):
        _, extensions, allowed, waiting, members = triplets_of_seed(64, chorded, rows, words, first_row, first, u, x, w)
        stack[at + w] = allowed
        stack[at + words + w] = waiting
        stack[at + 2 * words + w] = extensions
        if ti.static(collect):
            stack[at + 3 * words + w] = members
        opened += population(extensions, 64)
        alive |= waiting
    weight_at = at + (4 if ti.static(collect) else 3) * words
    stack[weight_at] = ti.bit_cast(share / ti.max(opened, 1), ti.u64)
    stack[weight_at + 1] = end_and_length(x, 2)
    return ti.cast(opened > 0, ti.i32) & ti.cast(alive != 0, ti.i32)


@Tiered
def sweep(
    words: ti.template(), collect: ti.template(), over_graph: ti.template(), required: ti.template(),
    chorded: ti.template(), pruned: ti.template(), rows: array(ti.u64, 1), vertex_bits: array(ti.u64, 1),
    first_row: array(ti.i32, 1), block_size: array(ti.i32, 1), neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1), seed_root: array(ti.i32, 1), seed_weight: array(ti.f64, 1), first_seed: ti.i32,
    pool: array(ti.u64, 1), pooled: ti.i32, last_item: ti.i32, queue: array(ti.i32, 1), stack: array(ti.u64, 1),
    stack_words: ti.i32, depth_of: array(ti.i32, 1), budget: ti.i32, patience: ti.i32, max_length: ti.i32,
    least_length: ti.i32, most_closers: ti.i32, paths_by_length: array(ti.i64, 1), cycles_by_length: array(ti.i64, 1),
    cycles: array(ti.u64, 1), cycles_per_chunk: ti.i32, cycle_count: array(ti.i32, 1),
):  # fmt: skip
    """Drain seeds depth first for one slice of the search.

    One work item in 512 is a worker. It makes at most `budget` steps; a step expands one path. It first empties its own
    stack, then takes items from the queue. It stops early when no chunk is left for the cycles of a worker, or when
    another worker has ended and it has frames that it could give away. It reads the bit rows, the seeds and its stack.
    It writes its stack, its own cells of the counters, and the chunks of cycles that it takes: first the one with its
    own number.

    `rows`, `first_row`, `neighbour`, `seed_entry` and `seed_root` are those of
    `kernels_ti.blocks.block_group.BlockGroup`; `block_size` has at the first row of each block its number of vertices,
    `seed_weight` the share of the whole search behind each seed. Items 0 to `pooled` of the queue are the frames of
    `pool`, item ``pooled + k`` is seed ``first_seed + k``, `last_item` is one past the last. For the cells of `queue`
    see `NEXT_ITEM` and those beside it. `stack` has `stack_words` for each worker: `depth_of` frames, and at the end
    the table of `kernels_ti.sweep.compact`.

    With `required` cycles must pass certain vertices (`kernels_ti.step.required`; only with `collect`), with `chorded`
    rows have chords (`kernels_ti.step.chords`), with `pruned` paths are dropped that cannot become cycles of
    `least_length` vertices. With `over_graph`, not with the first two, members of paths and cycles are bit rows over
    the graph instead of labels of the block; `vertex_bits` has for each row the one that holds its vertex alone, and
    the frames of the pool have labels. After `patience` paths without a cycle a worker asks for the certificate.

    No wanted cycle has more than `max_length` vertices, and no step closes more than `most_closers` cycles. To
    `paths_by_length` and `cycles_by_length`, ``max_length + 2`` cells for each worker, is added. With `collect` the
    members of each cycle go to `cycles`, and without `over_graph` the first row of its block; `cycle_count` gets the
    cycles of each chunk that a worker took, of `cycles_per_chunk` places.
    """
    compacting = ti.static(words.n > 1 and not required and not chorded)
    member_words = ti.static(words.n if collect else 0)
    frame = ti.static(frame_words(words.n, member_words))
    workers, chunks = depth_of.shape[0], cycle_count.shape[0]
    ends = rows_of_ends(chorded, first_row)
    for i in range(workers * ITERATIONS_PER_WORKER):
        if i % ITERATIONS_PER_WORKER == 0:
            me = i // ITERATIONS_PER_WORKER
            bottom = me * stack_words
            chunk, found = me, me * cycles_per_chunk
            cycles_end = found + cycles_per_chunk - most_closers
            depth = depth_of[me]
            height = 0
            counters = me * (max_length + 2)
            # One more than ever wait there: the frame in registers, when it goes to the stack with them.
            top = [ti.Vector.zero(ti.u64, TOP_FRAMES + 1) for k in ti.static(range(frame))]
            allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
            weight = ti.f64(0.0)
            last = ti.u64(0)
            labels = bottom + stack_words - ti.static(compact_words(words.n))
            compact_rows = ti.Vector.zero(ti.u64, WORD if ti.static(compacting) else 1)
            compact_top = [
                ti.Vector.zero(ti.u64, MOST_FRAMES + 1 if ti.static(compacting) else 1)
                for k in ti.static(range(frame_words(1, member_words)))
            ]
            first, active, barren, size = 0, 0, 0, 0
            pause, credit = -1, 0  # no pause; each slice begins a new account
            steps = budget
            while steps > 0:
                if active == 0 and depth == 0:
                    steps -= 1
                    item = ti.atomic_add(queue[NEXT_ITEM], 1)
                    if item >= last_item:
                        ti.atomic_add(queue[DRY_WORKERS], 1)
                        steps = 0
                    elif item < pooled:
                        depth = 1
                        for k in range(frame):
                            stack[bottom + k] = pool[item * frame + k]
                    else:
                        seed = first_seed + item - pooled
                        u = seed_root[seed]
                        x = neighbour[seed_entry[seed]]
                        depth = put_seed(
                            words.n, collect, chorded, rows, first_row, u, x, seed_weight[seed], stack, bottom
                        )
                    if ti.static(over_graph):
                        if depth > 0:
                            block = first_row[end_of(stack[bottom + frame - 1])]
                            name_members(words, vertex_bits, block, stack, bottom + 3 * words.n)
                compact = 0
                at = bottom + (depth - 1) * frame
                if active == 0 and depth > 0:
                    depth -= 1
                    first = first_of_block(chorded, first_row, ends, end_of(stack[at + frame - 1]))
                    if ti.static(compacting or pruned):
                        # A seed allows labels that no vertex has as well: harmless, but they would count as usable.
                        for w in range(words.n):
                            stack[at + w] = stack[at + w] & ~above(block_size[first] - 1, w, WORD)
                    if ti.static(compacting):
                        size = usable_on(words.n, stack, at)
                        compact = ti.cast(pause < 0 and size <= WORD, ti.i32)
                    if compact == 0:
                        active = 1
                        allowed, waiting, extensions, members, weight, last = restored(words, collect, stack, at)
                if ti.static(compacting):
                    if compact == 1:
                        make_compact(
                            words.n, member_words, over_graph, rows, vertex_bits, first, stack, at, labels, compact_rows
                        )
                        few_allowed, few_waiting, few_extensions = ONE_WORD(0), ONE_WORD(0), ONE_WORD(0)
                        few_allowed[0] = compact_row(words.n, stack, at, stack, labels)
                        few_waiting[0] = compact_row(words.n, stack, at + words.n, stack, labels)
                        few_extensions[0] = compact_row(words.n, stack, at + 2 * words.n, stack, labels)
                        if ti.static(collect):
                            for w in ti.static(range(words.n)):
                                members[w] = stack[at + 3 * words.n + w]
                        weight = ti.bit_cast(stack[at + frame - 2], ti.f64)
                        last = end_and_length(WAITING_END, length_of(stack[at + frame - 1]))
                        before, frames, full = steps, 0, 0
                        while compact == 1 and steps > 0 and full == 0:
                            turns = ti.min(steps, STEPS_BETWEEN_LOOKS)
                            steps -= turns
                            search_depth_first(
                                ONE_WORD, words, collect, over_graph, False, False, False, pruned, compact_rows,
                                first_row, 0, 0, first, stack, first_single(words.n, labels), compact_top, MOST_FRAMES,
                                frames, few_allowed, few_waiting, few_extensions, members, weight, last, compact, turns,
                                barren, pause, patience, max_length, least_length, counters, paths_by_length,
                                cycles_by_length, cycles, found, cycles_end,
                            )  # fmt: skip
                            steps += turns
                            if ti.static(collect):
                                if found > cycles_end or queue[NEXT_CHUNK] > chunks:
                                    full = 1
                            if depth + frames + compact > 1 and asked_to_stop(queue, workers, steps, budget) == 1:
                                steps = 0
                        credit = ti.min(credit + before - steps - COST * size, MOST_CREDIT)
                        if credit < 0:
                            credit, pause = 0, PAUSE
                        if compact == 1:
                            put(
                                ONE_WORD, words, collect, compact_top, frames,
                                few_allowed, few_waiting, few_extensions, members, weight, last,
                            )  # fmt: skip
                            put_back(words.n, member_words, first, compact_top, frames + 1, stack, at, labels)
                            depth += frames + 1
                turns = ti.min(steps, STEPS_BETWEEN_LOOKS) * active
                steps -= turns
                search_depth_first(
                    words, words, collect, over_graph, required, chorded, compacting, pruned, rows, first_row, ends,
                    first, first, vertex_bits, first * words.n, top, TOP_FRAMES, height,
                    allowed, waiting, extensions, members, weight, last, active, turns,
                    barren, pause, patience, max_length, least_length, counters, paths_by_length, cycles_by_length,
                    cycles, found, cycles_end,
                )  # fmt: skip
                steps += turns
                if ti.static(collect):
                    if found > cycles_end:
                        take_chunk(
                            queue, cycle_count, chunks, cycles_per_chunk, most_closers, chunk, found, cycles_end, steps
                        )
                    elif queue[NEXT_CHUNK] > chunks:
                        steps = 0
                if depth + height + active > 1 and asked_to_stop(queue, workers, steps, budget) == 1:
                    steps = 0
                leaves = ti.cast(steps == 0, ti.i32)
                if ti.static(compacting):
                    if pause < 0 and usable(words, allowed, extensions) <= WORD:
                        leaves = 1
                if leaves == 1 and active == 1:
                    put(words, words, collect, top, height, allowed, waiting, extensions, members, weight, last)
                    height += 1
                    active = 0
                if leaves == 1 or height == TOP_FRAMES:
                    spill(words, collect, top, height, stack, bottom + depth * frame)
                    depth += height
                    height = 0
            queue[ENDED] = 1
            depth_of[me] = depth
            if chunk < chunks:
                cycle_count[chunk] = found - chunk * cycles_per_chunk
