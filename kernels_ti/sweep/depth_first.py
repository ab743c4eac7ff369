"""The depth-first search of one CPU worker: from a path to its children, and back to the frames above.

A worker keeps its latest frames in local memory. The compiler knows that nobody else writes there. There is a vector
for each word of a frame (`kernels_ti.sweep.frames`), with an entry for each frame.
"""

from kernels_ti.bits import bits_of, lowest_taken, population, single
from kernels_ti.step.bound import still_wanted
from kernels_ti.step.certificate import reachable_extensions
from kernels_ti.step.choice_of_end import other_grows, parted, tried
from kernels_ti.step.chords import first_of_other_end, open_word
from kernels_ti.step.required import completing
from kernels_ti.sweep.frames import LENGTH_SHIFT, frame_words
from kernels_ti.taichi_door import ti

WORD = 64  # Bits to a word of the CPU


@ti.func
def add(counters: ti.template(), at, amount):
    """Add to a counter of this worker alone: an augmented assignment would be an atomic, many times slower."""
    counters[at] = counters[at] + ti.cast(amount, ti.i64)


@ti.func
def joined(
    words: ti.template(), kept: ti.template(), over_graph: ti.template(), members, label, singles: ti.template(),
    singles_at,
):  # fmt: skip
    """Return the members with one vertex more, given by its label in the rows that are searched.

    The bit row that holds this vertex alone is at word ``singles_at + label * kept.n`` of `singles`. It is made here if
    members are labels of the block and the rows of the block are searched.
    """
    together = kept(0)
    for w in ti.static(range(kept.n)):
        if ti.static(words.n == kept.n and not over_graph):
            together[w] = members[w] | single(label, w, WORD)
        else:
            together[w] = members[w] | singles[singles_at + label * kept.n + w]
    return together


@ti.func
def emit(
    words: ti.template(), kept: ti.template(), over_graph: ti.template(), cycles: ti.template(), at, members, closers,
    count, first_row, singles: ti.template(), singles_at,
):  # fmt: skip
    """Write one cycle for each of the `count` labels in `closers`, from cycle number `at` on.

    If members are labels of the block, its first row comes after them.
    """
    rest = closers
    for i in range(count):
        closer, rest = lowest_taken(words, rest)
        cycle = joined(words, kept, over_graph, members, closer, singles, singles_at)
        place = (at + i) * ti.static(kept.n if over_graph else kept.n + 1)
        for k in ti.static(range(kept.n)):
            cycles[place + k] = cycle[k]
        if ti.static(not over_graph):
            cycles[place + kept.n] = ti.cast(first_row, ti.u64)


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
    words: ti.template(), kept: ti.template(), collect: ti.template(), top: ti.template(), height,
    allowed, waiting, extensions, members, weight, last,
):  # fmt: skip
    """Write a frame to the worker's own memory."""
    for w in ti.static(range(words.n)):
        top[w][height] = allowed[w]
        top[words.n + w][height] = waiting[w]
        top[2 * words.n + w][height] = extensions[w]
    if ti.static(collect):
        for w in ti.static(range(kept.n)):
            top[3 * words.n + w][height] = members[w]
    frame = ti.static(frame_words(words.n, kept.n if collect else 0))
    top[frame - 2][height] = ti.bit_cast(weight, ti.u64)
    top[frame - 1][height] = last


@ti.func
def taken_back(words: ti.template(), kept: ti.template(), collect: ti.template(), top: ti.template(), height):
    """Read a frame from the worker's own memory."""
    allowed, waiting, extensions, members = words(0), words(0), words(0), kept(0)
    for w in ti.static(range(words.n)):
        allowed[w] = top[w][height]
        waiting[w] = top[words.n + w][height]
        extensions[w] = top[2 * words.n + w][height]
    if ti.static(collect):
        for w in ti.static(range(kept.n)):
            members[w] = top[3 * words.n + w][height]
    frame = ti.static(frame_words(words.n, kept.n if collect else 0))
    return allowed, waiting, extensions, members, ti.bit_cast(top[frame - 2][height], ti.f64), top[frame - 1][height]


@ti.func
def usable(words: ti.template(), allowed, extensions):
    """Count the vertices that a path can still use."""
    count = 0
    for w in ti.static(range(words.n)):
        count += population(allowed[w] | extensions[w], WORD)
    return count


@ti.func
def search_depth_first(
    words: ti.template(), kept: ti.template(), collect: ti.template(), over_graph: ti.template(),
    required: ti.template(), chorded: ti.template(), compacting: ti.template(), pruned: ti.template(),
    rows: ti.template(), first_row: ti.template(), ends, first, block, singles: ti.template(), singles_at,
    top: ti.template(), frames: ti.template(), height: ti.template(), allowed: ti.template(), waiting: ti.template(),
    extensions: ti.template(), members: ti.template(), weight: ti.template(), last: ti.template(),
    active: ti.template(), turns: ti.template(), barren: ti.template(), pause: ti.template(), patience, max_length,
    least_length, counters, paths_by_length: ti.template(), cycles_by_length: ti.template(), cycles: ti.template(),
    found: ti.template(), cycles_end,
):  # fmt: skip
    """Expand up to `turns` paths depth first, beginning with the frame in registers.

    Algorithm 4 of Jradi et al. for one path after another, at the end with fewer extensions. It stops early when no
    frame is left, when local memory is full of frames, when the next cycles might not fit, or when the vertices that a
    path can still use fit into one word.

    Arguments that `kernels_ti.sweep.kernel.sweep` has too are explained there. `kept` is the vector type of `members`,
    `counters` where the counters of this worker begin, `first` the first row of the paths' block in `rows`, `block`
    that in its group; for `singles` see `joined`, for `chorded`, `first_row` and `ends` `kernels_ti.step.chords`. `top`
    has the ancestors of the frame in registers that have extensions left, `height` of at most `frames`. The frame in
    registers has an extension at first; `active` becomes 0 when the last frame is used up. `turns` is counted down, and
    what is left was not used. `barren` counts the paths since the last cycle. With `compacting` the search stops at
    frames that need bits for 64 vertices or fewer, once `pause` paths have been expanded. The next cycle is written to
    place `found`, and no step begins beyond `cycles_end`.
    """
    bits = ti.static(bits_of(words))
    while turns > 0:
        turns -= 1
        label, extensions = lowest_taken(words, extensions)
        v = first + label
        if ti.static(chorded):
            v = first_of_other_end(True, first_row, ends, end_of(last)) + label
        length = length_of(last)
        closing, of_v, of_end = 0, 0, 0
        left = ti.u64(0)
        free, closers, only_v, only_end, others = words(0), words(0), words(0), words(0), words(0)
        path = kept(0)
        may_join = words(0)
        for w in ti.static(range(words.n)):  # as in `choice_of_end`, with the words that are at hand
            if ti.static(chorded):
                may_join[w] = open_word(True, rows, words.n, ends, v, w, allowed[w])
                free[w] = rows[v * words.n + w] & may_join[w]
                closers[w], only_v[w], only_end[w] = parted(free[w], waiting[w] & may_join[w])
            else:
                free[w] = rows[v * words.n + w] & allowed[w]
                closers[w], only_v[w], only_end[w] = parted(free[w], waiting[w])
            closing += population(closers[w], bits)
            of_v += population(only_v[w], bits)
            of_end += population(only_end[w], bits)
            if ti.static(pruned):
                joining = may_join[w] if ti.static(chorded) else allowed[w]
                others[w] = joining & ~(free[w] | waiting[w])
            left |= extensions[w]
        if ti.static(collect):
            path = joined(words, kept, over_graph, members, label, singles, singles_at)
        is_wanted = 1
        if ti.static(pruned):
            is_wanted = ti.cast(length + 2 >= least_length, ti.i32)
        if ti.static(required):
            # A new vector: Taichi confuses one that is passed as a whole and set word by word.
            ending = completing(words, rows, path, closers)
            closing = 0
            for w in ti.static(range(words.n)):
                closing += population(ending[w], bits)
            count = closing * is_wanted
            emit(words, kept, over_graph, cycles, found, path, ending, count, block, singles, singles_at)
        barren = ti.select(closing > 0, 0, barren + 1)
        closing *= is_wanted
        add(cycles_by_length, counters + length + 2, closing)
        if ti.static(collect):
            if ti.static(not required):
                emit(words, kept, over_graph, cycles, found, path, closers, closing, block, singles, singles_at)
            found += closing
        # Written whether it is needed again or not: a branch that cannot be foreseen costs more.
        put(words, kept, collect, top, height, allowed, waiting, extensions, members, weight, last)
        room = ti.cast(length + 3 <= max_length, ti.i32)
        if ti.static(pruned):
            room = still_wanted(words, not chorded, rows, first, room, length + 1, others, least_length)
        opened = tried(1, room, of_v, of_end)
        if opened > 0:
            height += ti.cast(left != 0, ti.i32)
            swapped = other_grows(1, of_v, of_end)
            last = lengthened(last, ti.select(swapped, v, end_of(last)))
            members = path
            for w in ti.static(range(words.n)):
                extensions[w] = ti.select(swapped, only_end[w], only_v[w])
                if ti.static(chorded):
                    allowed[w] = may_join[w]
                # The allowed neighbours of the growing end are at hand: no need for its row.
                allowed[w] &= ~ti.select(swapped, waiting[w], free[w])
                waiting[w] = ti.select(swapped, only_v[w], only_end[w])
            if ti.static(required):
                barren = ti.max(barren, patience + 1)
            if barren > patience:
                base = first
                if ti.static(chorded):
                    base = first_row[end_of(last)]
                extensions = reachable_extensions(
                    words, required, rows, base, path, allowed, waiting, extensions, max_length - length - 2
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
                allowed, waiting, extensions, members, weight, last = taken_back(words, kept, collect, top, height)
            else:
                height = 0
                active = 0
                break
        if height == frames:
            break
        if ti.static(compacting):
            pause -= 1
            if pause < 0 and opened > 0:
                if usable(words, allowed, extensions) <= WORD:
                    break
        if ti.static(collect):
            if found > cycles_end:
                break
