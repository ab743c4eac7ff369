"""Kernels that copy the rows of a table of `kernels_ti.boundary.kernels.tables` to a place without gaps."""

import taichi as ti

from kernels_ti.boundary.kernels.tables import array


@ti.kernel
def gather(
    size: ti.i32, stride: ti.i32, kept: ti.i32, together: ti.i32, table: array(ti.u64, 1), met: array(ti.u64, 1),
    rows: array(ti.u64, 1),
):  # fmt: skip
    """Copy the first cells of the rows that are not empty to a place without gaps; some rows for each work item."""
    for part in range((size + together - 1) // together):
        last = ti.min(part * together + together, size)
        found = 0
        for i in range(part * together, last):
            if table[i * stride] != ti.u64(0):
                found += 1
        if found > 0:
            at = ti.cast(ti.atomic_add(met[0], ti.cast(found, ti.u64)), ti.i32)
            for i in range(part * together, last):
                if table[i * stride] != ti.u64(0):
                    for cell in range(kept):
                        rows[at * kept + cell] = table[i * stride + cell]
                    at += 1


@ti.kernel
def gather_wanted(
    first: ti.i32, last: ti.i32, stride: ti.i32, words: ti.i32, numbers: ti.i32, table: array(ti.u64, 1),
    met: array(ti.u64, 1), rows: array(ti.u64, 1),
):  # fmt: skip
    """Copy the rows that hold any number but zero to a place without gaps; one row for each work item."""
    for i in range(first, last):
        is_wanted = 0
        if table[i * stride] != ti.u64(0):
            for cell in range(i * stride + words, i * stride + words + numbers):
                if table[cell] != ti.u64(0):
                    is_wanted = 1
        if is_wanted == 1:
            at = ti.cast(ti.atomic_add(met[0], ti.u64(1)), ti.i32)
            for cell in range(stride):
                rows[at * stride + cell] = table[i * stride + cell]
