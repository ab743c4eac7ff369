"""The bound of branch and bound: whether a path can still become a cycle of enough vertices.

Two more vertices that are adjacent to an end of a path join it at the most. The others that join are a chordless path
among the vertices which may join and are adjacent to none of its ends.
"""

from kernels_ti.bits import bits_of, lowest_bit, population, size_of, without_lowest, word_of
from kernels_ti.taichi_door import ti

DIVISORS = (2, 3, 4, 6)
"""The d of `most_on_path`. With eight of them, up to 16, no fewer paths were left on grids and random graphs."""


@ti.func
def most_on_path(words: ti.template(), rows: ti.template(), first, among):
    """Return a number that the vertices of a chordless path among some vertices do not exceed, if they are two or more.

    Let m be the number of edges among these vertices, and deg(v) that of the neighbours of v among them. Of a path with
    l vertices, l - 1 edges have both ends on it. So the sum of deg(v) - 1 over its vertices is at most m - 1. For each
    d above 0 hence d l is at most m - 1 and the sum of d + 1 - deg(v) over all v for which that is above 0. A vertex
    with a single neighbour is an end of the path, and one without any is not on it.

    The vertices are the bit row `among`. A label that no vertex has may be there: then the number is larger. `words` is
    the vector type of a bit row, `first` the first row of the block in `rows`.
    """
    bits = ti.static(bits_of(words))
    ends_of_edges, leaves, inner = 0, 0, 0
    sums = ti.Vector([0, 0, 0, 0])
    for w in ti.static(range(words.n)):
        rest = among[w]
        while rest != word_of(0, bits):
            at = (first + w * bits + lowest_bit(rest, bits)) * words.n
            rest = without_lowest(rest, bits)
            degree = 0
            for k in ti.static(range(words.n)):
                degree += population(rows[at + k] & among[k], bits)
            ends_of_edges += degree
            leaves += ti.cast(degree == 1, ti.i32)
            if degree > 1:
                inner += 1
                for i in ti.static(range(len(DIVISORS))):
                    sums[i] += ti.max(ti.static(DIVISORS[i]) + 1 - degree, 0)
    ends = ti.min(leaves, 2)
    most = inner + ends
    for i in ti.static(range(len(DIVISORS))):
        most = ti.min(most, ends + (sums[i] + ends_of_edges // 2 - 1) // ti.static(DIVISORS[i]))
    return most


@ti.func
def still_wanted(
    words: ti.template(), simple: ti.template(), rows: ti.template(), first, room, length, others, least_length
):
    """Return `room`, or 0 if no cycle of `least_length` vertices can come of a path of `length` vertices.

    `others` are the vertices that may join it and are adjacent to no end. Only the rows of a `simple` graph tell how
    they are joined. `most_on_path` is hardly below half of their number, so it is asked only where that could decide.
    """
    count, missing, wanted = size_of(words, others), least_length - length - 2, room
    if count < missing:
        wanted = 0
    if ti.static(simple):
        if wanted == 1 and missing > 1 and 2 * missing > count:
            if most_on_path(words, rows, first, others) < missing:
                wanted = 0
    return wanted
