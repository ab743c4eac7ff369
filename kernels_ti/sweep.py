"""The sweep: every CPU worker drains its share of the search depth first, through a private stack.

A worker holds one **frame** in registers: a path that is being extended at one end, with the extensions
that are still to be tried. Below it are the frames that it comes from: the uppermost in memory of the
worker's own, which the compiler knows that nobody else writes to, the others on its stack. A frame is
self-contained, so any of them can move to another worker. The initial triplets of a seed are a frame as
well: the path <x, u> with the extensions y. Triangles and triplets have been counted before, see
`kernels_ti.survey`.

Taichi hands out the iterations of a CPU loop in blocks of 512, so one worker is the first of 512.
"""

import taichi as ti

from kernels_ti.bits import above, bits_of, lowest_taken, population, single
from kernels_ti.step import reachable_extensions
from kernels_ti.step_required import completing, completing_extensions
from kernels_ti.sweep_frames import LENGTH_SHIFT, frame_words

ITERATIONS_PER_WORKER = 512
STEPS_BETWEEN_LOOKS = 256
"""Steps that a worker makes before it looks whether another has run dry."""

TOP_FRAMES = 8
"""Frames that a worker keeps off its stack; when there are as many, all of them move there."""

SHARES_PER_SLICE = 16
"""A worker gives work away only after this part of its budget, so that sharing stays cheap."""

NEXT_ITEM, DRY_WORKERS = 0, 1
"""Cells of the shared queue: what to take next, the frames of the pool before the seeds, and who found nothing."""

array = ti.types.ndarray


@ti.func
def add(counters: ti.template(), at, amount):
    """Add to a counter of this worker alone: an augmented assignment would be an atomic, many times slower."""
    counters[at] = counters[at] + ti.cast(amount, ti.i64)


@ti.func
def emit(words: ti.template(), cycles: ti.template(), at, members, closers, count, first_row):
    """Write one cycle for each of the `count` labels in `closers`, from cycle number `at` on."""
    bits = ti.static(bits_of(words))
    rest = closers
    for i in range(count):
        closer, rest = lowest_taken(words, rest)
        place = (at + i) * (words.n + 1)
        for k in ti.static(range(words.n)):
            cycles[place + k] = members[k] | single(closer, k, bits)
        cycles[place + words.n] = ti.cast(first_row, ti.u64)


@ti.func
def end_and_length(end, length):
    """Pack the waiting end of a path and its number of vertices into the last word of a frame."""
    return ti.cast(end, ti.u64) | ti.cast(length, ti.u64) << ti.u64(LENGTH_SHIFT)


@ti.func
def end_of(last):
    """Unpack the waiting end from the last word of a frame."""
    return ti.cast(last & ti.u64((1 << LENGTH_SHIFT) - 1), ti.i32)


@ti.func
def length_of(last):
    """Unpack the number of vertices from the last word of a frame."""
    return ti.cast(last >> ti.u64(LENGTH_SHIFT), ti.i32)


@ti.func
def lengthened(last, end):
    """Return the last word of a frame whose path has one vertex more and this waiting end."""
    return end_and_length(end, length_of(last) + 1)


@ti.func
def put(
    words: ti.template(), collect: ti.template(), top: ti.template(), height,
    allowed, waiting, extensions, members, weight, last,
):  # fmt: skip
    """Write a frame to the worker's own memory, a vector for each of its words."""
    for w in ti.static(range(words.n)):
        top[w][height] = allowed[w]
        top[words.n + w][height] = waiting[w]
        top[2 * words.n + w][height] = extensions[w]
        if ti.static(collect):
            top[3 * words.n + w][height] = members[w]
    frame = ti.static(frame_words(words.n, collect))
    top[frame - 2][height] = ti.bit_cast(weight, ti.u64)
    top[frame - 1][height] = last


@ti.func
def taken_back(words: ti.template(), collect: ti.template(), top: ti.template(), height):
    """Read a frame from the worker's own memory."""
    allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
    for w in ti.static(range(words.n)):
        allowed[w] = top[w][height]
        waiting[w] = top[words.n + w][height]
        extensions[w] = top[2 * words.n + w][height]
        if ti.static(collect):
            members[w] = top[3 * words.n + w][height]
    frame = ti.static(frame_words(words.n, collect))
    return allowed, waiting, extensions, members, ti.bit_cast(top[frame - 2][height], ti.f64), top[frame - 1][height]


@ti.func
def spill(words: ti.template(), collect: ti.template(), top: ti.template(), frames, stack: ti.template(), bottom):
    """Move so many frames from the worker's own memory to its stack, from word `bottom` on."""
    frame = ti.static(frame_words(words.n, collect))
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
    last = at + ti.static(frame_words(words.n, collect) - 1)
    return allowed, waiting, extensions, members, ti.bit_cast(stack[last - 1], ti.f64), stack[last]


@ti.func
def put_seed(
    words, collect: ti.template(), rows: ti.template(), first, u, x, share, stack: ti.template(), at
):  # fmt: skip
    """Write the frame of a seed to a stack, at word `at`: the path <x, u>, to be extended by the y of its triplets.

    Returns how many frames that makes: 1, or 0 if there is no such y or nothing that the end x can meet.
    """
    opened = 0
    alive = ti.u64(0)
    for w in range(words):
        row_u, row_x = rows[u * words + w], rows[x * words + w]
        extensions = row_u & ~row_x & above(x - first, w, 64)
        allowed = above(u - first, w, 64) & ~row_u
        stack[at + w] = allowed
        stack[at + words + w] = row_x & allowed
        stack[at + 2 * words + w] = extensions
        if ti.static(collect):
            stack[at + 3 * words + w] = single(u - first, w, 64) | single(x - first, w, 64)
        opened += population(extensions, 64)
        alive |= row_x & allowed
    weight_at = at + (4 if ti.static(collect) else 3) * words
    stack[weight_at] = ti.bit_cast(share / ti.max(opened, 1), ti.u64)
    stack[weight_at + 1] = end_and_length(x, 2)
    return ti.cast(opened > 0, ti.i32) & ti.cast(alive != 0, ti.i32)


@ti.kernel
def sweep(
    words: ti.template(),
    collect: ti.template(),
    required: ti.template(),
    rows: array(ti.u64, 1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    seed_weight: array(ti.f64, 1),
    first_seed: ti.i32,
    pool: array(ti.u64, 1),
    pooled: ti.i32,
    last_item: ti.i32,
    queue: array(ti.i32, 1),
    stack: array(ti.u64, 1),
    stack_words: ti.i32,
    depth_of: array(ti.i32, 1),
    budget: ti.i32,
    patience: ti.i32,
    max_length: ti.i32,
    most_closers: ti.i32,
    paths_by_length: array(ti.i64, 1),
    cycles_by_length: array(ti.i64, 1),
    cycles: array(ti.u64, 1),
    cycles_per_worker: ti.i32,
    cycle_count: array(ti.i32, 1),
):
    """Drain seeds depth first for one slice of the search.

    One work item in 512 is a worker; it makes at most `budget` steps, each of which looks at one path, goes
    on with its own stack, then takes seeds from the queue. It stops early when its cycles might not fit, or
    when another worker has run dry and it has frames to give away. It reads the bit rows, the seeds and its
    stack; it writes its stack and its own cells of the counters and cycles.

    Parameters
    ----------
    required : bool
        Whether cycles must pass certain vertices, see `kernels_ti.step_required`; only with `collect`.
    rows, first_row, neighbour, seed_entry, seed_root
        The blocks, see `kernels_ti.blocks.BlockGroup`.
    seed_weight : shape (seeds,)
        Share of the whole search behind each seed.
    pool : shape (at least pooled * frame words,)
        Frames to begin with: items 0 to `pooled` of the queue. Item ``pooled + k`` is seed ``first_seed + k``.
    last_item : int
        One past the last item of the queue.
    queue : shape (2,)
        The next item to take, and how many workers found none.
    stack : shape (workers * stack_words,)
    depth_of : shape (workers,)
        Frames on each stack.
    patience : int
        Paths without a cycle after which a worker asks for the certificate.
    max_length : int
        Vertices of the longest cycle that is wanted or possible.
    most_closers : int
        The most cycles that one step can close: the largest degree.
    paths_by_length, cycles_by_length : shape (workers * (max_length + 2),)
        Added to.
    cycles : shape (workers * cycles_per_worker * (W + 1),)
        Members of each cycle, and the first row of its block; touched with `collect` only.
    cycle_count : shape (workers,)
        Cycles that each worker wrote.
    """
    bits = ti.static(bits_of(words))
    frame = ti.static(frame_words(words.n, collect))
    workers = depth_of.shape[0]
    for i in range(workers * ITERATIONS_PER_WORKER):
        if i % ITERATIONS_PER_WORKER == 0:
            me = i // ITERATIONS_PER_WORKER
            bottom = me * stack_words
            cycles_end = (me + 1) * cycles_per_worker - most_closers
            found = me * cycles_per_worker + cycle_count[me]
            depth = depth_of[me]
            height = 0
            counters = me * (max_length + 2)
            # One more than ever wait there: the frame in registers, when the slice ends.
            top = [ti.Vector.zero(ti.u64, TOP_FRAMES + 1) for k in ti.static(range(frame_words(words.n, collect)))]
            allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
            weight = ti.f64(0.0)
            last = ti.u64(0)
            first, active, barren = 0, 0, 0
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
                        depth = put_seed(words.n, collect, rows, first_row[u], u, x, seed_weight[seed], stack, bottom)
                if active == 0 and depth > 0:
                    active = 1
                    depth -= 1
                    allowed, waiting, extensions, members, weight, last = restored(
                        words, collect, stack, bottom + depth * frame
                    )
                    first = first_row[end_of(last)]
                turns = ti.min(steps, STEPS_BETWEEN_LOOKS) * active
                steps -= turns
                while turns > 0:
                    turns -= 1
                    label, extensions = lowest_taken(words, extensions)
                    v = first + label
                    length = length_of(last)
                    closing, of_v, of_end = 0, 0, 0
                    left = ti.u64(0)
                    free, closers, only_v, only_end, path = words(0), words(0), words(0), words(0), members
                    for w in ti.static(range(words.n)):
                        free[w] = rows[v * words.n + w] & allowed[w]
                        closers[w] = free[w] & waiting[w]
                        only_v[w] = free[w] & ~waiting[w]
                        only_end[w] = waiting[w] & ~free[w]
                        closing += population(closers[w], bits)
                        of_v += population(only_v[w], bits)
                        of_end += population(only_end[w], bits)
                        left |= extensions[w]
                        if ti.static(collect):
                            path[w] |= single(label, w, bits)
                    if ti.static(required):
                        # A new vector: Taichi confuses one that is passed as a whole and set word by word.
                        ending = completing(words, rows, path, closers)
                        closing = 0
                        for w in ti.static(range(words.n)):
                            closing += population(ending[w], bits)
                        emit(words, cycles, found, path, ending, closing, first)
                    add(cycles_by_length, counters + length + 2, closing)
                    if ti.static(collect):
                        if ti.static(not required):
                            emit(words, cycles, found, path, closers, closing, first)
                        found += closing
                    barren = ti.select(closing > 0, 0, barren + 1)
                    # Written whether it is needed again or not: a branch that cannot be foreseen costs more.
                    put(words, collect, top, height, allowed, waiting, extensions, members, weight, last)
                    opened = ti.select(length + 3 <= max_length, ti.min(of_v, of_end), 0)
                    if opened > 0:
                        height += ti.cast(left != 0, ti.i32)
                        swap = of_v > of_end
                        last = lengthened(last, ti.select(swap, v, end_of(last)))
                        members = path
                        for w in ti.static(range(words.n)):
                            extensions[w] = ti.select(swap, only_end[w], only_v[w])
                            # The allowed neighbours of the growing end are at hand: no need for its row.
                            allowed[w] &= ~ti.select(swap, waiting[w], free[w])
                            waiting[w] = ti.select(swap, only_v[w], only_end[w])
                        if ti.static(required):
                            barren = ti.max(barren, patience + 1)
                        if barren > patience:
                            if ti.static(required):
                                hopeful = completing_extensions(
                                    words, rows, first, allowed, path, waiting, extensions, max_length - length - 2
                                )
                                for w in ti.static(range(words.n)):
                                    extensions[w] = hopeful[w]
                            else:
                                extensions = reachable_extensions(
                                    words, rows, first, allowed, waiting, extensions, max_length - length - 2
                                )
                            opened = 0
                            for w in ti.static(range(words.n)):
                                opened += population(extensions[w], bits)
                            left = ti.cast(opened, ti.u64)
                        weight /= ti.cast(opened, ti.f64)
                        add(paths_by_length, counters + length + 2, opened)
                    if opened == 0:
                        height -= ti.cast(left == 0, ti.i32)
                        if height >= 0:
                            allowed, waiting, extensions, members, weight, last = taken_back(
                                words, collect, top, height
                            )
                        else:
                            height = 0
                            active = 0
                            break
                    if height == TOP_FRAMES:
                        break
                    if ti.static(collect):
                        if found > cycles_end:
                            break
                steps += turns
                if ti.static(collect):
                    if found > cycles_end:
                        steps = 0
                if workers > 1 and depth + height > 0 and budget - steps >= budget // SHARES_PER_SLICE:
                    if queue[DRY_WORKERS] > 0:
                        steps = 0
                if steps == 0 and active == 1:
                    put(words, collect, top, height, allowed, waiting, extensions, members, weight, last)
                    height += 1
                if steps == 0 or height == TOP_FRAMES:
                    spill(words, collect, top, height, stack, bottom + depth * frame)
                    depth += height
                    height = 0
            depth_of[me] = depth
            cycle_count[me] = found - me * cycles_per_worker
