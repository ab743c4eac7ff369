"""The sweep: every CPU worker drains its share of the search depth first, through a private stack.

A worker holds one **frame** in registers: a path that is being extended at one end, with the extensions
that are still to be tried. Its stack keeps the frames above which it works. A frame is self-contained, so
any of them can move to another worker. The initial triplets of a seed are a frame as well: the path <x, u>
with the extensions y. Triangles and triplets have been counted before, see `kernels_ti.survey`.

Taichi hands out the iterations of a CPU loop in blocks of 512, so one worker is the first of 512.
"""

import taichi as ti

from kernels_ti.bits import above, bits_of, lowest_taken, population, row_of, single
from kernels_ti.step import reachable_extensions

ITERATIONS_PER_WORKER = 512
STEPS_BETWEEN_LOOKS = 256
"""Steps that a worker makes before it looks whether another has run dry."""

SHARES_PER_SLICE = 16
"""A worker gives work away only after this part of its budget, so that sharing stays cheap."""

NEXT_SEED, DRY_WORKERS = 0, 1
"""Cells of the shared queue."""

array = ti.types.ndarray


def frame_words(words: int, collect: bool) -> int:
    """Words of a frame on a stack: allowed, waiting, extensions, members if wanted, and end with length."""
    return (4 if collect else 3) * words + 1


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
def add(counters: ti.template(), at, amount):
    """Add to a counter of this worker alone: an augmented assignment would be an atomic, many times slower."""
    counters[at] = counters[at] + ti.cast(amount, ti.i64)


@ti.func
def save(
    words: ti.template(), collect: ti.template(), stack: ti.template(), at,
    allowed, waiting, extensions, members, end, length,
):  # fmt: skip
    """Write a frame to the stack, at word `at`."""
    for w in ti.static(range(words.n)):
        stack[at + w] = allowed[w]
        stack[at + words.n + w] = waiting[w]
        stack[at + 2 * words.n + w] = extensions[w]
        if ti.static(collect):
            stack[at + 3 * words.n + w] = members[w]
    last = at + ti.static(frame_words(words.n, collect) - 1)
    stack[last] = ti.cast(end, ti.u64) | ti.cast(length, ti.u64) << ti.u64(32)


@ti.func
def restored(words: ti.template(), collect: ti.template(), stack: ti.template(), at):
    """Read a frame from the stack, at word `at`."""
    allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
    for w in ti.static(range(words.n)):
        allowed[w] = stack[at + w]
        waiting[w] = stack[at + words.n + w]
        extensions[w] = stack[at + 2 * words.n + w]
        if ti.static(collect):
            members[w] = stack[at + 3 * words.n + w]
    last = stack[at + ti.static(frame_words(words.n, collect) - 1)]
    end = ti.cast(last & ti.u64(0xFFFFFFFF), ti.i32)
    length = ti.cast(last >> ti.u64(32), ti.i32)
    return allowed, waiting, extensions, members, end, length


@ti.kernel
def sweep(
    words: ti.template(),
    collect: ti.template(),
    rows: array(ti.u64, 1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    last_seed: ti.i32,
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
    rows, first_row, neighbour, seed_entry, seed_root
        The blocks, see `kernels_ti.blocks.BlockGroup`.
    last_seed : int
        One past the last seed of the search.
    queue : shape (2,)
        The next seed to take, and how many workers found none.
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
            counters = me * (max_length + 2)
            bottom = me * stack_words
            cycles_end = (me + 1) * cycles_per_worker - most_closers
            found = me * cycles_per_worker + cycle_count[me]
            depth = depth_of[me]
            steps = budget
            barren = 0
            active = 0
            allowed, waiting, extensions, members = words(0), words(0), words(0), words(0)
            end, length, first = 0, 0, 0
            if depth > 0:
                depth -= 1
                active = 1
                allowed, waiting, extensions, members, end, length = restored(
                    words, collect, stack, bottom + depth * frame
                )
                first = first_row[end]
            while steps > 0:
                if active == 0:
                    seed = ti.atomic_add(queue[NEXT_SEED], 1)
                    if seed >= last_seed:
                        ti.atomic_add(queue[DRY_WORKERS], 1)
                        steps = 0
                    else:
                        u = seed_root[seed]
                        end = neighbour[seed_entry[seed]]
                        first = first_row[u]
                        length = 2
                        row_u = row_of(words, rows, u)
                        row_x = row_of(words, rows, end)
                        opened = ti.u64(0)
                        alive = ti.u64(0)
                        for w in ti.static(range(words.n)):
                            extensions[w] = row_u[w] & ~row_x[w] & above(end - first, w, bits)
                            allowed[w] = above(u - first, w, bits) & ~row_u[w]
                            waiting[w] = row_x[w] & allowed[w]
                            opened |= extensions[w]
                            alive |= waiting[w]
                            if ti.static(collect):
                                members[w] = single(u - first, w, bits) | single(end - first, w, bits)
                        if opened != 0 and alive != 0:
                            active = 1
                        steps -= 1
                while active == 1 and steps > 0:
                    steps -= 1
                    label, extensions = lowest_taken(words, extensions)
                    v = first + label
                    closing, of_v, of_end = 0, 0, 0
                    left = ti.u64(0)
                    closers, only_v, only_end = words(0), words(0), words(0)
                    for w in ti.static(range(words.n)):
                        free = rows[v * words.n + w] & allowed[w]
                        closers[w] = free & waiting[w]
                        only_v[w] = free & ~waiting[w]
                        only_end[w] = waiting[w] & ~free
                        closing += population(closers[w], bits)
                        of_v += population(only_v[w], bits)
                        of_end += population(only_end[w], bits)
                        left |= extensions[w]
                    add(cycles_by_length, counters + length + 2, closing)
                    barren = ti.select(closing > 0, 0, barren)
                    path = members
                    if ti.static(collect):
                        for w in ti.static(range(words.n)):
                            path[w] |= single(label, w, bits)
                        emit(words, cycles, found, path, closers, closing, first)
                        found += closing
                    if of_v > 0 and of_end > 0 and length + 3 <= max_length:
                        if left != 0:
                            save(
                                words, collect, stack, bottom + depth * frame,
                                allowed, waiting, extensions, members, end, length,
                            )  # fmt: skip
                            depth += 1
                        length += 1
                        swap = of_v > of_end
                        growing = ti.select(swap, end, v)
                        end = ti.select(swap, v, end)
                        opened = ti.min(of_v, of_end)
                        members = path
                        for w in ti.static(range(words.n)):
                            extensions[w] = ti.select(swap, only_end[w], only_v[w])
                            waiting[w] = ti.select(swap, only_v[w], only_end[w])
                            allowed[w] &= ~rows[growing * words.n + w]
                        barren += 1
                        if barren > patience:
                            extensions = reachable_extensions(
                                words, rows, first, allowed, waiting, extensions, max_length - length - 1
                            )
                            opened = 0
                            for w in ti.static(range(words.n)):
                                opened += population(extensions[w], bits)
                        add(paths_by_length, counters + length + 1, opened)
                        left = ti.cast(opened, ti.u64)
                    if left == 0:
                        active = 0
                        if depth > 0:
                            depth -= 1
                            active = 1
                            allowed, waiting, extensions, members, end, length = restored(
                                words, collect, stack, bottom + depth * frame
                            )
                            first = first_row[end]
                    if steps % STEPS_BETWEEN_LOOKS == 0 and depth > 0 and budget - steps >= budget // SHARES_PER_SLICE:
                        if ti.atomic_add(queue[DRY_WORKERS], 0) > 0:
                            steps = 0
                    if ti.static(collect):
                        if found > cycles_end:
                            steps = 0
            if active == 1:
                save(
                    words, collect, stack, bottom + depth * frame,
                    allowed, waiting, extensions, members, end, length,
                )  # fmt: skip
                depth += 1
            depth_of[me] = depth
            cycle_count[me] = found - me * cycles_per_worker
