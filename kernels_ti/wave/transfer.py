"""Kernels that move records of the wave: to and from the host through a small buffer, and to a larger arena."""

from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@kernel
def gather(
    words: ti.i32,
    collect: ti.template(),
    allowed: array(ndim=1),
    ends: array(ti.i32, 1),
    members: array(ndim=1),
    capacity: ti.i32,
    start: ti.i32,
    direction: ti.i32,
    count: ti.i32,
    rows: array(ndim=1),
    pairs: array(ti.i32, 1),
):
    """Copy records out of the arena; one work item copies one record.

    Parameters
    ----------
    start, direction : int
        Record i lies at place ``start + direction * i``.
    rows : shape (at least count * words, twice that with `collect`,)
        Written: the words of `allowed`, then those of `members`, record by record.
    pairs : shape (at least 2 * count,)
        Written: both ends of each record.
    """
    width = (2 if ti.static(collect) else 1) * words
    for i in range(count):
        p = start + direction * i
        for w in range(words):
            rows[i * width + w] = allowed[w * capacity + p]
            if ti.static(collect):
                rows[i * width + words + w] = members[w * capacity + p]
        pairs[2 * i] = ends[p]
        pairs[2 * i + 1] = ends[capacity + p]


@kernel
def scatter(
    words: ti.i32,
    collect: ti.template(),
    allowed: array(ndim=1),
    ends: array(ti.i32, 1),
    members: array(ndim=1),
    capacity: ti.i32,
    start: ti.i32,
    direction: ti.i32,
    count: ti.i32,
    rows: array(ndim=1),
    pairs: array(ti.i32, 1),
):
    """Copy records from the buffer into the arena: the reverse of `gather`."""
    width = (2 if ti.static(collect) else 1) * words
    for i in range(count):
        p = start + direction * i
        for w in range(words):
            allowed[w * capacity + p] = rows[i * width + w]
            if ti.static(collect):
                members[w * capacity + p] = rows[i * width + words + w]
        ends[p] = pairs[2 * i]
        ends[capacity + p] = pairs[2 * i + 1]


@kernel
def transplant(
    words: ti.i32,
    collect: ti.template(),
    allowed: array(ndim=1),
    ends: array(ti.i32, 1),
    members: array(ndim=1),
    capacity: ti.i32,
    left: ti.i32,
    right: ti.i32,
    new_allowed: array(ndim=1),
    new_ends: array(ti.i32, 1),
    new_members: array(ndim=1),
    new_capacity: ti.i32,
):
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
