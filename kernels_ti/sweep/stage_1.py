"""Stage 1 on the CPU: the triangles, and how many initial triplets there are.

The triplets themselves are not stored: a worker of the sweep makes those of a seed when it takes it.
"""

from kernels_ti.bits import lowest_bit, population, single, without_lowest
from kernels_ti.step.triplets import triplets_of_seed
from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@kernel
def survey(
    words: ti.i32,
    chorded: ti.template(),
    rows: array(ti.u64, 1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    first_seed: ti.i32,
    triangles: array(ti.i32, 1),
    triplets: array(ti.i32, 1),
):
    """Count the triangles and the initial triplets of some seeds.

    One work item takes a seed, an edge from root u to x with l(u) < l(x), reads both bit rows and writes
    the numbers of y with l(x) < l(y) that are adjacent to both, and to u alone. With `chorded` rows have chords, see
    `kernels_ti.step.chords`.
    """
    for item in range(triangles.shape[0]):
        u = seed_root[first_seed + item]
        x = neighbour[seed_entry[first_seed + item]]
        first, joined, apart = first_row[u], 0, 0
        for w in range(words):
            closers, extensions, _, _, _ = triplets_of_seed(64, chorded, rows, words, first_row, first, u, x, w)
            joined += population(closers, 64)
            apart += population(extensions, 64)
        triangles[item] = joined
        triplets[item] = apart


@kernel
def store_triangles(
    words: ti.i32,
    chorded: ti.template(),
    rows: array(ti.u64, 1),
    first_row: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    seed_entry: array(ti.i32, 1),
    seed_root: array(ti.i32, 1),
    first_seed: ti.i32,
    offsets: array(ti.i32, 1),
    cycles: array(ti.u64, 1),
):
    """Write the triangles of some seeds as cycles; one work item takes one seed.

    Parameters
    ----------
    offsets : shape (seeds of this launch,)
        The place of each seed's first triangle.
    cycles : ndarray of uint64
        Written: members of each triangle, and the first row of its block.
    """
    for item in range(offsets.shape[0]):
        u = seed_root[first_seed + item]
        x = neighbour[seed_entry[first_seed + item]]
        first = first_row[u]
        place = offsets[item] * (words + 1)
        label_x = x - first_row[x]
        for w in range(words):
            rest, _, _, _, _ = triplets_of_seed(64, chorded, rows, words, first_row, first, u, x, w)
            while rest != 0:
                label = w * 64 + lowest_bit(rest, 64)
                rest = without_lowest(rest, 64)
                for k in range(words):
                    cycles[place + k] = single(u - first, k, 64) | single(label_x, k, 64) | single(label, k, 64)
                cycles[place + words] = ti.cast(first, ti.u64)
                place += words + 1
