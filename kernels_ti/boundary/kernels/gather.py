"""A kernel that copies the rows of a table of `kernels_ti.boundary.kernels.tables` to a place without gaps."""

from kernels_ti.boundary.kernels.tables import array
from kernels_ti.taichi_door import kernel, ti


@kernel
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
