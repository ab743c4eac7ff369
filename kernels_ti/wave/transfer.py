"""Kernels that move records of the wave: to and from the host through a small buffer, and to a larger arena."""

from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@ti.func
def copy(out: ti.template(), arena: ti.template(), here, buffer: ti.template(), there):
    """Copy a cell `out` of the arena to the buffer, or back."""
    if ti.static(out):
        buffer[there] = arena[here]
    else:
        arena[here] = buffer[there]


@kernel
def transfer(
    words: ti.i32, collect: ti.template(), out: ti.template(), allowed: array(ndim=1), ends: array(ti.i32, 1),
    members: array(ndim=1), capacity: ti.i32, start: ti.i32, direction: ti.i32, count: ti.i32, rows: array(ndim=1),
    pairs: array(ti.i32, 1),
):  # fmt: skip
    """Copy records `out` of the arena to a buffer, or back; one work item copies one record.

    Record i lies at place ``start + direction * i``. In `rows` are the words of `allowed`, then with `collect` those of
    `members`, record by record, in `pairs` both ends of each.
    """
    width = (2 if ti.static(collect) else 1) * words
    for i in range(count):
        p = start + direction * i
        for w in range(words):
            copy(out, allowed, w * capacity + p, rows, i * width + w)
            if ti.static(collect):
                copy(out, members, w * capacity + p, rows, i * width + words + w)
        copy(out, ends, p, pairs, 2 * i)
        copy(out, ends, capacity + p, pairs, 2 * i + 1)


@kernel
def transplant(
    words: ti.i32, collect: ti.template(), allowed: array(ndim=1), ends: array(ti.i32, 1), members: array(ndim=1),
    capacity: ti.i32, left: ti.i32, right: ti.i32, new_allowed: array(ndim=1), new_ends: array(ti.i32, 1),
    new_members: array(ndim=1), new_capacity: ti.i32,
):  # fmt: skip
    """Copy the records of an arena to a larger one; one work item copies one record.

    The first `left` places keep their numbers, the last `right` places stay the last.
    """
    for i in range(left + right):
        p, q = i, i
        if i >= left:
            p = capacity - 1 - (i - left)
            q = new_capacity - 1 - (i - left)
        for w in range(words):
            new_allowed[w * new_capacity + q] = allowed[w * capacity + p]
            if ti.static(collect):
                new_members[w * new_capacity + q] = members[w * capacity + p]
        new_ends[q] = ends[p]
        new_ends[new_capacity + q] = ends[capacity + p]
