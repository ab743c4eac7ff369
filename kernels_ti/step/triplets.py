"""Stage 1: triangles and initial triplets, one word at a time.

A **seed** is an edge from a root u to a neighbour x with l(u) < l(x). With each neighbour y of u that comes after x it
makes a pair. If x and y are adjacent, x, u and y are a triangle, else <x, u, y> is a chordless path to begin with.
`kernels_ti.many.kernel` writes this out for the graph that is left: with `triplets` its launches took 2% longer.
"""

from kernels_ti.bits import above, single, word_of
from kernels_ti.step.chords import chorded_triplets_of_seed
from kernels_ti.taichi_door import ti


@ti.func
def triplets(row_u, row_x, after_u, after_x):
    """Tell the triangles of a seed from its triplets, one word of each bit row: Algorithm 3 of Jradi et al.

    From the neighbours of the root u and of x, and the vertices that come after u and after x, this returns the
    vertices y that make a triangle, those that make a triplet, the vertices that may join the path <x, u, y>, and the
    neighbours of x among them.
    """
    pairs, allowed = row_u & after_x, after_u & ~row_u
    return pairs & row_x, pairs & ~row_x, allowed, row_x & allowed


@ti.func
def triplets_of_seed(
    bits: ti.template(), chorded: ti.template(), rows: ti.template(), words, first_row: ti.template(), first, u, x, w
):  # fmt: skip
    """Read word `w` of the rows u and x of a seed; return what `triplets` does, and the seed's vertices as a word.

    `first` is the first row of the block, whose rows are ordered by their labels. With `chorded` rows have chords, see
    `kernels_ti.step.chords`, for which alone `first_row` is needed.
    """
    none = word_of(0, bits)
    triangles, extensions, allowed, waiting, members = none, none, none, none, none
    if ti.static(chorded):
        triangles, extensions, allowed, waiting, members = chorded_triplets_of_seed(
            bits, rows, words, first_row, u, x, w
        )
    else:
        triangles, extensions, allowed, waiting = triplets(
            rows[u * words + w], rows[x * words + w], above(u - first, w, bits), above(x - first, w, bits)
        )
        members = single(u - first, w, bits) | single(x - first, w, bits)
    return triangles, extensions, allowed, waiting, members
