"""Many small graphs in one launch: one work item searches each graph depth first, alone.

A work item reduces its graph to the 2-core, takes a vertex of least degree out of it as the root, finds the cycles
through the root, and goes on with the remaining graph until no vertex is left. So no vertex has to be renamed, and each
root is searched for in the 2-core of the graph that remains then.

A work item has a **slot**: a few numbers and a stack of frames, as in `kernels_ti.sweep.kernel`, which are kept between
launches. A launch ends after `budget` steps of each slot; the next launch continues there.
"""

from kernels_ti.bits import above, bits_of, lowest_taken, population, row_of, single, size_of, word_of
from kernels_ti.step.certificate import connected_extensions, reachable_extensions
from kernels_ti.step.choice_of_end import other_grows, parted, tried
from kernels_ti.sweep.kernel import ITERATIONS_PER_WORKER
from kernels_ti.taichi_door import kernel, ti

GRAPH, FRESH, ROOT, HEIGHT, SPENT, BARREN, NEXT, LAST = range(8)
"""Cells of a slot: its graph or -1, whether the graph has not begun, the root or -1, frames on the stack, steps made
for the graph, steps since the last cycle, and the range of graphs that a CPU worker has taken from the queue."""

SLOT_CELLS = 8

GRAPHS_AT_ONCE = 32  # Graphs that a worker of a CPU takes from the queue at a time

UNFINISHED, FINISHED, GIVEN_UP = 0, 1, 2

array = ti.types.ndarray


def slot_words(words: int, depth: int) -> int:
    """Words to a slot: the vertices left, the neighbours of the root left, and `depth` frames."""
    return 2 * words + depth * (3 * words + 1)


def rounds_per_step(vertices: int) -> int:
    """Return the rounds that one step may make in all loops: peeling, choosing a root, and the flood."""
    return 4 * vertices + 1


@ti.func
def cell(number, slot, slots):
    """Place of a slot's cell: neighbouring slots side by side."""
    return number * slots + slot


@ti.func
def word_at(on_cpu: ti.template(), number, slot, slots, size):
    """Place of a slot's word: a stack of its own for a worker of a CPU, neighbouring slots side by side elsewhere."""
    return slot * size + number if ti.static(on_cpu) else number * slots + slot


@ti.func
def peeled(words: ti.template(), rows: ti.template(), base, left, suspects):
    """Take out of the set `left` the vertices with fewer than two neighbours in it, beginning with `suspects`."""
    bits = ti.static(bits_of(words))
    core, rest = left, suspects
    while size_of(words, rest) > 0:
        label, rest = lowest_taken(words, rest)
        near = row_of(words, rows, base + label)
        for w in ti.static(range(words.n)):
            near[w] &= core[w]
        if size_of(words, near) < 2:
            for w in ti.static(range(words.n)):
                core[w] &= ~single(label, w, bits)
                # A neighbour may lose its second neighbour now; the vertex itself is out of the set.
                rest[w] = (rest[w] | near[w]) & core[w]
    return core


@ti.func
def least_connected(words: ti.template(), rows: ti.template(), base, left):
    """Vertex with the fewest neighbours in the set `left`, one of its own; -1 if it is empty."""
    found = -1
    fewest = words.n * ti.static(bits_of(words))
    rest = left
    while size_of(words, rest) > 0:
        label, rest = lowest_taken(words, rest)
        near = row_of(words, rows, base + label)
        for w in ti.static(range(words.n)):
            near[w] &= left[w]
        degree = size_of(words, near)
        if degree < fewest:
            found, fewest = label, degree
        if fewest == 2:
            rest = words(0)  # in a 2-core there are no fewer
    return found


@ti.func
def keep(
    words: ti.template(), on_cpu: ti.template(), stack: ti.template(), slot, slots, size, height,
    allowed, waiting, extensions, length,
):  # fmt: skip
    """Write frame number `height` of a slot's stack."""
    bits = ti.static(bits_of(words))
    at = 2 * words.n + height * (3 * words.n + 1)
    for w in ti.static(range(words.n)):
        stack[word_at(on_cpu, at + w, slot, slots, size)] = allowed[w]
        stack[word_at(on_cpu, at + words.n + w, slot, slots, size)] = waiting[w]
        stack[word_at(on_cpu, at + 2 * words.n + w, slot, slots, size)] = extensions[w]
    stack[word_at(on_cpu, at + 3 * words.n, slot, slots, size)] = word_of(length, bits)


@ti.func
def kept(words: ti.template(), on_cpu: ti.template(), stack: ti.template(), slot, slots, size, height):
    """Read frame number `height` of a slot's stack."""
    at = 2 * words.n + height * (3 * words.n + 1)
    allowed, waiting, extensions = words(0), words(0), words(0)
    for w in ti.static(range(words.n)):
        allowed[w] = stack[word_at(on_cpu, at + w, slot, slots, size)]
        waiting[w] = stack[word_at(on_cpu, at + words.n + w, slot, slots, size)]
        extensions[w] = stack[word_at(on_cpu, at + 2 * words.n + w, slot, slots, size)]
    return allowed, waiting, extensions, ti.cast(stack[word_at(on_cpu, at + 3 * words.n, slot, slots, size)], ti.i32)


@kernel
def lay_rows(
    words: ti.template(), graphs: ti.i32, first_vertex: array(ti.i32, 1), first_edge: array(ti.i32, 1),
    edges: array(ti.i32, 1), rows: array(ndim=1),
):  # fmt: skip
    """Make the adjacency bit rows of many graphs; one work item makes those of one graph.

    `edges` has both ends of each edge, numbered within the graph. Row v of graph g begins at word
    ``(first_vertex[g] + v) * W`` of `rows`.
    """
    bits = ti.static(bits_of(words))
    for graph in range(graphs):
        base = first_vertex[graph]
        k = base * words.n
        while k < first_vertex[graph + 1] * words.n:
            rows[k] = word_of(0, bits)
            k += 1
        edge = first_edge[graph]
        while edge < first_edge[graph + 1]:
            u, v = edges[2 * edge], edges[2 * edge + 1]
            at_u = (base + u) * words.n + v // bits
            at_v = (base + v) * words.n + u // bits
            rows[at_u] = rows[at_u] | (word_of(1, bits) << word_of(v % bits, bits))
            rows[at_v] = rows[at_v] | (word_of(1, bits) << word_of(u % bits, bits))
            edge += 1


@kernel
def sweep_many(
    words: ti.template(), on_cpu: ti.template(), rows: array(ndim=1), first_vertex: array(ti.i32, 1), graphs: ti.i32,
    queue: array(ti.i32, 1), slots: ti.i32, cells: array(ti.i32, 1), stack: array(ndim=1), size: ti.i32, budget: ti.i32,
    patience: ti.i32, most_steps: ti.i32, max_length: ti.i32, cycles_by_length: array(ti.u32, 1),
    outcome: array(ti.i32, 1),
):  # fmt: skip
    """Search many graphs for one slice: every slot makes at most `budget` steps.

    On a CPU one work item in 512 has a slot, and takes graphs from the `queue` until its steps are used up. Elsewhere
    every work item has one, with the graph that the host put there, and stops when that is done.

    `rows` and `first_vertex` are as `lay_rows` made them. `cells` has `SLOT_CELLS` for each slot, `stack` the `size`
    words of `slot_words`. After `patience` steps without a cycle the certificate is asked for; after `most_steps` a
    graph is given up. The longest cycle that is wanted has `max_length` vertices, at least 3. To cell
    ``first_vertex[g] + g + k`` of `cycles_by_length` the cycles of k vertices of graph g are added. `outcome` is
    written when a graph is finished or given up.
    """
    bits = ti.static(bits_of(words))
    stride = ti.static(ITERATIONS_PER_WORKER if on_cpu else 1)
    for item in range(slots * stride):
        if item % stride == 0:
            me = item // stride
            graph = cells[cell(GRAPH, me, slots)]
            fresh = cells[cell(FRESH, me, slots)]
            root = cells[cell(ROOT, me, slots)]
            height = cells[cell(HEIGHT, me, slots)]
            spent = cells[cell(SPENT, me, slots)]
            barren = cells[cell(BARREN, me, slots)]
            following = cells[cell(NEXT, me, slots)]
            last = cells[cell(LAST, me, slots)]
            left, later = words(0), words(0)
            for w in ti.static(range(words.n)):
                left[w] = stack[word_at(on_cpu, w, me, slots, size)]
                later[w] = stack[word_at(on_cpu, words.n + w, me, slots, size)]
            allowed, waiting, extensions = words(0), words(0), words(0)
            length, active = 0, 0
            base, counters = 0, 0
            if graph >= 0:
                base = first_vertex[graph]
                counters = base + graph
            steps = budget
            if ti.static(not on_cpu):
                if graph < 0:
                    steps = 0
            while steps > 0:
                steps -= 1
                if ti.static(on_cpu):
                    if graph < 0:
                        if following >= last:
                            following = ti.atomic_add(queue[0], GRAPHS_AT_ONCE)
                            last = ti.min(following + GRAPHS_AT_ONCE, graphs)
                        if following < last:
                            graph, fresh = following, 1
                            following += 1
                        else:
                            steps = 0
                if graph >= 0 and fresh == 1:
                    fresh, root, height, spent, barren, active = 0, -1, 0, 0, 0, 0
                    base = first_vertex[graph]
                    counters = base + graph
                    later = words(0)
                    for w in ti.static(range(words.n)):
                        left[w] = ~above(first_vertex[graph + 1] - base - 1, w, bits)
                if active == 0 and height > 0:
                    height -= 1
                    active = 1
                    allowed, waiting, extensions, length = kept(words, on_cpu, stack, me, slots, size, height)
                if active == 1:
                    spent += 1
                    label, extensions = lowest_taken(words, extensions)
                    remaining = size_of(words, extensions)
                    free, only_free, only_waiting = words(0), words(0), words(0)
                    closing, of_free, of_waiting = 0, 0, 0
                    for w in ti.static(range(words.n)):  # as in `choice_of_end`, with the words that are at hand
                        free[w] = rows[(base + label) * words.n + w] & allowed[w]
                        closers, only_free[w], only_waiting[w] = parted(free[w], waiting[w])
                        closing += population(closers, bits)
                        of_free += population(only_free[w], bits)
                        of_waiting += population(only_waiting[w], bits)
                    barren += 1
                    if closing > 0:
                        barren = 0
                        at = counters + length + 2
                        cycles_by_length[at] = cycles_by_length[at] + ti.cast(closing, ti.u32)
                    grown = 0
                    if length + 3 <= max_length and tried(1, 1, of_free, of_waiting) > 0:
                        next_extensions, next_waiting, next_allowed = only_free, only_waiting, allowed
                        for w in ti.static(range(words.n)):
                            if other_grows(1, of_free, of_waiting) == 1:
                                next_extensions[w], next_waiting[w] = only_waiting[w], only_free[w]
                                next_allowed[w] &= ~waiting[w]
                            else:
                                next_allowed[w] &= ~free[w]
                        if barren > patience:
                            if ti.static(on_cpu):
                                next_extensions = reachable_extensions(
                                    words, False, rows, base, words(0), next_allowed, next_waiting, next_extensions,
                                    max_length - length - 2,
                                )  # fmt: skip
                            else:
                                next_extensions = connected_extensions(
                                    words, rows, base, next_allowed, next_waiting, next_extensions
                                )
                        grown = size_of(words, next_extensions)
                        if grown > 0:
                            if remaining > 0:
                                keep(
                                    words, on_cpu, stack, me, slots, size, height,
                                    allowed, waiting, extensions, length,
                                )  # fmt: skip
                                height += 1
                            allowed, waiting, extensions = next_allowed, next_waiting, next_extensions
                            length += 1
                    if grown == 0 and remaining == 0:
                        active = 0
                elif graph >= 0 and size_of(words, later) > 0:
                    spent += 1
                    label, later = lowest_taken(words, later)
                    triangles, of_extensions, of_waiting = 0, 0, 0
                    for w in ti.static(range(words.n)):
                        near = rows[(base + label) * words.n + w]
                        allowed[w] = left[w] & ~rows[(base + root) * words.n + w]
                        waiting[w] = near & allowed[w]
                        extensions[w] = later[w] & ~near
                        triangles += population(later[w] & near, bits)
                        of_extensions += population(extensions[w], bits)
                        of_waiting += population(waiting[w], bits)
                    if triangles > 0:
                        cycles_by_length[counters + 3] = cycles_by_length[counters + 3] + ti.cast(triangles, ti.u32)
                    if max_length > 3 and of_extensions > 0 and of_waiting > 0:
                        active, length = 1, 2
                elif graph >= 0:
                    suspects = left
                    if root >= 0:
                        suspects = row_of(words, rows, base + root)
                        for w in ti.static(range(words.n)):
                            suspects[w] &= left[w]
                    left = peeled(words, rows, base, left, suspects)
                    root = least_connected(words, rows, base, left)
                    if root < 0:
                        outcome[graph] = FINISHED
                        graph = -1
                    else:
                        for w in ti.static(range(words.n)):
                            left[w] &= ~single(root, w, bits)
                            later[w] = rows[(base + root) * words.n + w] & left[w]
                if graph >= 0 and spent >= most_steps:
                    outcome[graph] = GIVEN_UP
                    graph, active, height = -1, 0, 0
                if ti.static(not on_cpu):
                    if graph < 0:
                        steps = 0
            if active == 1:
                keep(words, on_cpu, stack, me, slots, size, height, allowed, waiting, extensions, length)
                height += 1
            for w in ti.static(range(words.n)):
                stack[word_at(on_cpu, w, me, slots, size)] = left[w]
                stack[word_at(on_cpu, words.n + w, me, slots, size)] = later[w]
            cells[cell(GRAPH, me, slots)] = graph
            cells[cell(FRESH, me, slots)] = fresh
            cells[cell(ROOT, me, slots)] = root
            cells[cell(HEIGHT, me, slots)] = height
            cells[cell(SPENT, me, slots)] = spent
            cells[cell(BARREN, me, slots)] = barren
            cells[cell(NEXT, me, slots)] = following
            cells[cell(LAST, me, slots)] = last
