"""The kernel that moves records of the wave to the host through a small buffer, and back."""

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
