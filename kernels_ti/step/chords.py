"""The step in directed graphs and multigraphs: edges that no cycle can follow still make chords.

A path has a head, which grows along arcs, and a tail, which grows against them; without directions there is no
difference. A **row** stands for a vertex in the role of one of the two. Its bit row has the vertices by which the path
can grow there. A second bit row, as many rows further on as there are rows in all roles, has its **chords**: the other
adjacent vertices. None of them may join once the vertex has joined, so a path loses them then.

The array `first_row` has two parts here: for each row the first row of its block in the same role, then the first row
of its block in the role of the other end. See `kernels_ti.blocks.block_group.BlockGroup`.
"""

from kernels_ti.bits import above, single
from kernels_ti.taichi_door import ti


@ti.func
def rows_of_ends(chorded: ti.template(), first_row: ti.template()):
    """Count the rows in all roles; 0 where there are no chords."""
    return first_row.shape[0] // 2 if ti.static(chorded) else 0


@ti.func
def open_word(chorded: ti.template(), rows: ti.template(), words, ends, v, w, allowed):
    """Word `w` of the vertices that may join a path of which row `v` has become an end, of those `allowed` before.

    `ends` is the result of `rows_of_ends`; without chords all are left.
    """
    free = allowed
    if ti.static(chorded):
        free &= ~rows[(v + ends) * words + w]
    return free


@ti.func
def first_of_other_end(chorded: ti.template(), first_row: ti.template(), ends, end):
    """First row of the block in the role of the other end, given one end."""
    first = first_row[end]
    if ti.static(chorded):
        first = first_row[ends + end]
    return first


@ti.func
def first_of_block(chorded: ti.template(), first_row: ti.template(), ends, end):
    """First row of the block of an end in the first role, under which its cycles are stored."""
    first = first_row[end]
    if ti.static(chorded):
        first = ti.min(first, first_row[ends + end])
    return first


@ti.func
def chorded_triplets_of_seed(bits: ti.template(), rows: ti.template(), words, first_row: ti.template(), u, x, w):
    """Do what `kernels_ti.step.triplets.triplets_of_seed` does: for the paths x -> u -> y.

    Row u is a head and row x a tail. Without directions x and y have the same role, and y comes after x, so that each
    pair is taken once.
    """
    ends = first_row.shape[0] // 2
    label_u, label_x = u - first_row[u], x - first_row[x]
    after_u = above(label_u, w, bits)
    after = after_u
    if first_row[u] == first_row[x]:
        after = above(label_x, w, bits)
    row_u, row_x = rows[u * words + w], rows[x * words + w]
    chords_u, chords_x = rows[(u + ends) * words + w], rows[(x + ends) * words + w]
    pairs = row_u & after
    allowed = after_u & ~(row_u | chords_u | chords_x)
    members = single(label_u, w, bits) | single(label_x, w, bits)
    return pairs & row_x, pairs & ~(row_x | chords_x), allowed, row_x & allowed, members
