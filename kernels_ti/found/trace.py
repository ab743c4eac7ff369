"""Kernels that turn bit rows of a block into vertices of the graph: in cycle order, or as bit rows."""

from kernels_ti.bits import lowest_bit, population, without_lowest, word_of
from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@kernel
def measure(
    bits: ti.template(), words: ti.i32, cycles: array(ndim=1), cycle_stride: ti.i32, word_stride: ti.i32,
    first_cycle: ti.i32, count: ti.i32, lengths: array(ti.i32, 1), first_rows: array(ti.i32, 1),
):  # fmt: skip
    """Write the number of vertices of each cycle and the first row of its block; one work item takes one cycle.

    For the place of a cycle in its buffer see `kernels_ti.found.stored.StoredCycles`, here and below.
    """
    for i in range(count):
        at = (first_cycle + i) * cycle_stride
        length = 0
        for w in range(words):
            length += population(cycles[at + w * word_stride], bits)
        lengths[i] = length
        first_rows[i] = ti.cast(cycles[at + words * word_stride], ti.i32)


@kernel
def trace(
    bits: ti.template(), words: ti.i32, cycles: array(ndim=1), cycle_stride: ti.i32, word_stride: ti.i32,
    first_cycle: ti.i32, count: ti.i32, rows: array(ndim=1), row_ptr: array(ti.i32, 1), neighbour: array(ti.i32, 1),
    vertex_of_row: array(ti.i32, 1), offsets: array(ti.i32, 1), vertices: array(ti.i32, 1),
):  # fmt: skip
    """Write the vertices of each cycle in cycle order, from its place in `offsets` on; one work item takes one cycle.

    It starts at the smallest vertex of the input graph and goes to its smaller neighbour first. Each vertex of an
    induced cycle has exactly two neighbours among the members, so the next vertex is the neighbour that is not the
    vertex before. The neighbours of a vertex with more of them than words are read from the bit rows, else from the CSR
    arrays.
    """
    for i in range(count):
        at = (first_cycle + i) * cycle_stride
        first_row = ti.cast(cycles[at + words * word_stride], ti.i32)
        start, smallest = 0, 0x7FFFFFFF
        for w in range(words):
            rest = cycles[at + w * word_stride]
            while rest != word_of(0, bits):
                row = first_row + w * bits + lowest_bit(rest, bits)
                rest = without_lowest(rest, bits)
                if vertex_of_row[row] < smallest:
                    smallest = vertex_of_row[row]
                    start = row
        place, last = offsets[i], offsets[i + 1]
        vertices[place] = smallest
        before, here = -1, start
        while place + 1 < last:
            following, least = -1, 0x7FFFFFFF
            begin, end = row_ptr[here], row_ptr[here + 1]
            if end - begin <= words:
                for entry in range(begin, end):
                    row = neighbour[entry]
                    label = row - first_row
                    word = cycles[at + label // bits * word_stride]
                    member = (word >> word_of(label % bits, bits)) & word_of(1, bits)
                    if member != word_of(0, bits) and row != before and vertex_of_row[row] < least:
                        following = row
                        least = vertex_of_row[row]
            else:
                for w in range(words):
                    rest = rows[here * words + w] & cycles[at + w * word_stride]
                    while rest != word_of(0, bits):
                        row = first_row + w * bits + lowest_bit(rest, bits)
                        rest = without_lowest(rest, bits)
                        if row != before and vertex_of_row[row] < least:
                            following = row
                            least = vertex_of_row[row]
            before = here
            here = following
            place += 1
            vertices[place] = least


@kernel
def relabel(
    bits: ti.template(), words: ti.i32, cycles: array(ndim=1), cycle_stride: ti.i32, word_stride: ti.i32,
    first_cycle: ti.i32, count: ti.i32, vertex_of_row: array(ti.i32, 1), row_words: ti.i32, members: array(ndim=1),
):  # fmt: skip
    """Turn the labels of each cycle's block into vertices of the graph; one work item takes one cycle.

    Bit ``v % bits`` of word ``v // bits`` of row i of `members`, of `row_words` words, is set when vertex v lies on the
    cycle.
    """
    for i in range(count):
        at = (first_cycle + i) * cycle_stride
        first_row = ti.cast(cycles[at + words * word_stride], ti.i32)
        for k in range(row_words):
            members[i * row_words + k] = word_of(0, bits)
        for w in range(words):
            rest = cycles[at + w * word_stride]
            while rest != word_of(0, bits):
                v = vertex_of_row[first_row + w * bits + lowest_bit(rest, bits)]
                rest = without_lowest(rest, bits)
                place = i * row_words + v // bits
                members[place] = members[place] | (word_of(1, bits) << word_of(v % bits, bits))
