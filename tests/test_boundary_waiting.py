"""A row of a table that another thread is about to write: to wait for it is no reason to call the table full."""

import numpy as np
import pytest

from kernels_ti import open_device
from kernels_ti.boundary.kernels.tables import array, row_functions
from kernels_ti.boundary.spec.packing import TAKEN
from kernels_ti.taichi_door import ti

ROWS, STRIDE = 4, 2
# Taichi hands out the iterations of a CPU loop in blocks of 512: the first of each block run on threads of their own.
BLOCK = 512
# A thread that loses its core for long: many more turns than a search for a row takes.
TURNS = 1 << 20


def meeting_kernel():
    state_at, row_of, _rows_of = row_functions(1)

    @ti.kernel
    def meet(
        written: ti.u64, cell: ti.i32, turns: ti.i32, table: array(ti.u64, 1), source: array(ti.u64, 1),
        busy: array(ti.u64, 1), rows: array(ti.i32, 1),
    ):  # fmt: skip
        for i in range(2 * BLOCK):
            if i == 0:
                row, is_new = row_of(table, ROWS, STRIDE, state_at(source, 0))
                rows[0], rows[1] = row, is_new
            if i == BLOCK:
                for _ in range(turns):
                    ti.atomic_add(busy[0], ti.u64(1))
                ti.atomic_or(table[cell], written)

    return meet


@pytest.mark.owner
def test_a_row_is_found_however_long_its_writer_takes():
    open_device("cpu", threads=2)
    meet = meeting_kernel()
    source = np.array([TAKEN | 12345, 0], np.uint64)
    busy, rows, table = np.zeros(1, np.uint64), np.zeros(2, np.int32), np.zeros(ROWS * STRIDE, np.uint64)
    # An empty table tells the row of the state, and how it is written.
    meet(0, 0, 0, table, source, busy, rows)
    cell = int(rows[0])
    assert (cell >= 0, rows[1]) == (True, 1)
    written = int(table[cell])
    for _ in range(5):
        table[:] = 0
        table[cell] = TAKEN
        meet(written, cell, TURNS, table, source, busy, rows)
        assert rows.tolist() == [cell, 0]
