"""The step where cycles must pass several vertices: paths that can no longer pass all of them are dropped.

One of the vertices is the root of all paths; the others are a bit row behind the last adjacency row of `rows`, and
there is one block. A path needs its members then, to tell the required vertices that it has from those that it lacks.
A vertex that it lacks must still be allowed, and the flood of the certificate must come to it.
"""

from kernels_ti.bits import bits_of, population, word_of
from kernels_ti.taichi_door import ti


@ti.func
def required_word(words, rows: ti.template(), w):
    """Return word `w` of the set of required vertices, for bit rows of `words` words."""
    return rows[rows.shape[0] - words + w]


@ti.func
def passing(bits: ti.template(), count, lacking, labels):
    """Word of `labels` that is kept where `count` required vertices are lacking, `lacking` among these labels."""
    none = word_of(0, bits)
    return labels & ti.select(count == 0, ~none, ti.select(count == 1, lacking, none))


@ti.func
def completing(words: ti.template(), rows: ti.template(), had, labels):
    """Keep the labels that leave no required vertex out.

    `had` are the vertices that the path has, or that may still join. Where they have all required ones, all labels are
    kept; where they lack one, that one, if it is among the labels.
    """
    bits = ti.static(bits_of(words))
    lacking = words(0)
    count = 0
    for w in ti.static(range(words.n)):
        lacking[w] = required_word(words.n, rows, w) & ~had[w]
        count += population(lacking[w], bits)
    kept = words(0)
    for w in ti.static(range(words.n)):
        kept[w] = passing(bits, count, lacking[w], labels[w])
    return kept


@ti.func
def lacked(bits: ti.template(), words, rows: ti.template(), path: ti.template(), stride, at):
    """Count the required vertices that a path lacks; word w of its members is ``path[at + w * stride]``."""
    count = 0
    for w in range(words):
        count += population(required_word(words, rows, w) & ~path[at + w * stride], bits)
    return count


@ti.func
def keep_completing(
    bits: ti.template(), words, rows: ti.template(), sets: ti.template(), stride, labels_at, more_at,
    path: ti.template(), path_stride, path_at,
):  # fmt: skip
    """Do what `completing` does for bit rows in memory.

    The path's members are the set at `path_at` of `path`, what may still join is that at `more_at` of `sets`. Keeps of
    the set at `labels_at` of `sets` the labels that leave no required vertex out, and returns their number.
    """
    count = 0
    for w in range(words):
        had = sets[more_at + w * stride] | path[path_at + w * path_stride]
        count += population(required_word(words, rows, w) & ~had, bits)
    kept = 0
    for w in range(words):
        had = sets[more_at + w * stride] | path[path_at + w * path_stride]
        labels = passing(bits, count, required_word(words, rows, w) & ~had, sets[labels_at + w * stride])
        sets[labels_at + w * stride] = labels
        kept += population(labels, bits)
    return kept
