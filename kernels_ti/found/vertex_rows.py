"""Kernels for bit rows over the vertices of the graph, where such a row fits into registers.

`relabel_by_tables` makes the rows from the labels of a block, `trace_rows` puts the vertices of a row in cycle order.
They do the work of `relabel` and `trace` in `kernels_ti.found.trace`, which know no limit, several times as fast.
"""

from kernels_ti.bits import bits_of, lowest_bit, lowest_taken, population, row_of, size_of, word_of
from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@kernel
def relabel_by_tables(
    row: ti.template(), words: ti.i32, cycles: array(ndim=1), cycle_stride: ti.i32, word_stride: ti.i32,
    first_cycle: ti.i32, count: ti.i32, first_table: array(ti.i32, 1), label_bytes: ti.i32, tables: array(ndim=1),
    members: array(ndim=1),
):  # fmt: skip
    """Do what `kernels_ti.found.trace.relabel` does, a byte of the labels at a time; one work item takes one cycle.

    `row` is the vector type of a bit row over all vertices of the graph; for the tables see
    `kernels_ti.found.stored.RowTables`. `first_table` has at the first row of each block the number of its first
    table, and `label_bytes` are the bytes of the labels of the largest block: those above are zero.
    """
    bits = ti.static(bits_of(row))
    for i in range(count):
        at = (first_cycle + i) * cycle_stride
        table = first_table[ti.cast(cycles[at + words * word_stride], ti.i32)]
        found = row(0)
        left = label_bytes
        for w in range(words):
            word = cycles[at + w * word_stride]
            for byte in range(ti.min(left, bits // 8)):
                chosen = ti.cast((word >> word_of(8 * byte, bits)) & word_of(255, bits), ti.i32)
                entry = ((table + byte) * 256 + chosen) * row.n
                for k in ti.static(range(row.n)):
                    found[k] |= tables[entry + k]
            table += bits // 8
            left -= bits // 8
        for k in ti.static(range(row.n)):
            members[i * row.n + k] = found[k]


@ti.func
def onward(row: ti.template(), adjacency: ti.template(), v, rest):
    """Return the neighbour of vertex v in the set `rest`, the set without its neighbours, and how many these are."""
    bits = ti.static(bits_of(row))
    word, base = adjacency[v * row.n] & rest[0], 0
    rest[0] ^= word
    count = population(word, bits)
    for k in ti.static(range(1, row.n)):
        ways = adjacency[v * row.n + k] & rest[k]
        rest[k] ^= ways
        count += population(ways, bits)
        if ways != word_of(0, bits):
            word, base = ways, k * bits
    return base + lowest_bit(word, bits), rest, count


@ti.func
def are_adjacent(row: ti.template(), adjacency: ti.template(), u, v):
    """Return whether u and v are neighbours."""
    bits = ti.static(bits_of(row))
    return (adjacency[u * row.n + v // bits] >> word_of(v % bits, bits)) & word_of(1, bits) != word_of(0, bits)


@ti.func
def vertex_of(v, in_bytes: ti.template()):
    """Return a vertex in the type in which it is stored."""
    return ti.cast(v, ti.u8) if ti.static(in_bytes) else ti.cast(v, ti.i32)


@kernel
def trace_rows(
    row: ti.template(), in_bytes: ti.template(), together: ti.template(), count: ti.i32, members: array(ndim=1),
    adjacency: array(ndim=1), offsets: array(ndim=1), vertices: array(ndim=1), wrong: array(ti.i32, 1),
):  # fmt: skip
    """Write the vertices of each cycle in cycle order; one work item takes one cycle.

    It starts at the smallest vertex and goes both ways round at once: the smaller neighbour comes second, the other one
    last. Two short chains of steps that do not wait for each other are faster than a long one. On each side exactly one
    neighbour is left to go to, and the two sides are adjacent at the end alone: otherwise the row is no chordless
    cycle, 1 is written to `wrong`, and the vertices of that row are undefined.

    `row` is the vector type of a bit row over all vertices of the graph, as which `members` has each cycle and
    `adjacency` the neighbours of each vertex. The cycles lie side by side in `vertices`: `offsets` has the place of one
    in `together` of them, each counted as the first one's is, and the vertices of those between are added up. With
    `in_bytes`, not on Vulkan, vertices are bytes.
    """
    for i in range(count):
        near = ti.cast(offsets[i // together] - offsets[0], ti.i32)
        for k in range(i - i % together, i):
            near += size_of(row, row_of(row, members, k))
        own = row_of(row, members, i)
        far = near + size_of(row, own) - 1
        is_right = False
        if far - near >= 2:
            start, rest = lowest_taken(row, own)
            ends = row_of(row, adjacency, start)
            for k in ti.static(range(row.n)):
                ends[k] &= rest[k]
                rest[k] ^= ends[k]
            is_right = size_of(row, ends) == 2
            right, others = lowest_taken(row, ends)
            left, _ = lowest_taken(row, others)
            vertices[near] = vertex_of(start, in_bytes)
            vertices[near + 1] = vertex_of(right, in_bytes)
            vertices[far] = vertex_of(left, in_bytes)
            near, far = near + 2, far - 1
            # A side without a way on has no vertex to go on from: both stop.
            while is_right and near < far:
                have_met = are_adjacent(row, adjacency, right, left)
                right, rest, ways_right = onward(row, adjacency, right, rest)
                left, rest, ways_left = onward(row, adjacency, left, rest)
                is_right = not have_met and ways_right == 1 and ways_left == 1
                vertices[near] = vertex_of(right, in_bytes)
                vertices[far] = vertex_of(left, in_bytes)
                near, far = near + 1, far - 1
            if is_right and near == far:
                have_met = are_adjacent(row, adjacency, right, left)
                right, rest, ways_right = onward(row, adjacency, right, rest)
                is_right = not have_met and ways_right == 1
                vertices[near] = vertex_of(right, in_bytes)
            if is_right:
                is_right = are_adjacent(row, adjacency, right, left)
        if not is_right:
            wrong[0] = 1
