"""The kernel that carries the ways to each state along on the cores of a CPU, and keeps what each state becomes.

It works on the parts of `kernels_ti.boundary.kernels.parts`. A row is a state, with bounds on the length also its
number of vertices, then the place at which the row was made, then the ways. Rows are moved to other parts between two
steps: the place stays what it was.

A record of a layer that is kept has `LINKED` cells, which `kernels_ti.boundary.kernels.shares` describes, and the ways.
"""

from functools import lru_cache
from typing import Any

import taichi as ti

from kernels_ti.boundary.kernels.optimum import optimum_kernels
from kernels_ti.boundary.kernels.parts import ITERATIONS_PER_WORKER, NEXT, OVERFLOW, PART, part_functions
from kernels_ti.boundary.kernels.shares import LINKED, mark_of
from kernels_ti.boundary.kernels.stretch import add_number, copy_number
from kernels_ti.boundary.kernels.tables import array, state_functions


@lru_cache
def linking_kernel(words: int, bits: int, cells: int) -> Any:
    """Return the kernel for states of `words` words with symbols of `bits` bits, in rows that begin with `cells` words.

    With one word more, that is the number of vertices on the cycle.
    """
    bounded, symbol = optimum_kernels(words, bits, cells).bounded, state_functions(words, bits, cells).symbol
    state_at, _mixed, place_of = part_functions(cells)

    @ti.kernel
    def carry_linked(
        workers: ti.i32, parts: array(ti.i32, 1), firsts: array(ti.i32, 1), end: ti.i32, queue: array(ti.i64, 1),
        tabled: ti.template(), steps: array(ti.i32, 1), base: ti.i32, changes: array(ti.u64, 1),
        bounds: array(ti.i32, 1), old: array(ti.u64, 1), digits: ti.i32, new: array(ti.u64, 1), new_digits: ti.i32,
        tables: array(ti.i32, 1), room: ti.i32, found: array(ti.u64, 1), kept: array(ti.u64, 1),
    ):  # fmt: skip
        """Let a vertex come in the states of whole parts; a work item in 512 is a worker.

        It reads the old rows of a part. It writes the new rows, and the number of them to the part. For each old row it
        writes a record to `kept`, those of a part from the record in `firsts` on. It adds the ways that close a cycle
        to its own digits of `found`. Its table has `room` cells.
        """
        for i in range(workers * ITERATIONS_PER_WORKER):
            if i % ITERATIONS_PER_WORKER == 0:
                worker = i // ITERATIONS_PER_WORKER
                part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))
                while part < end:
                    first, count = parts[part * PART], parts[part * PART + 1]
                    first_new, made, over = parts[part * PART + 2], 0, 0
                    stride, new_stride = cells + 1 + digits, cells + 1 + new_digits
                    made_from = first_new * new_stride
                    begin, size = worker * room, 4 * count
                    for k in range(begin, begin + size):
                        tables[k] = 0
                    for row in range(first, first + count):
                        ways = row * stride + cells + 1
                        state = state_at(old, row * stride)
                        off, on, flags = bounded(tabled, state, steps, base, changes, bounds)
                        if flags >> 2 == 1:
                            over |= add_number(old, ways, digits, found, worker * new_digits, new_digits)
                        links = ti.Vector([0, 0])
                        for joins in ti.static(range(2)):
                            if flags >> joins & 1 == 1:
                                child = on if ti.static(joins == 1) else off
                                place, cell = place_of(child, new, made_from, new_stride, tables, begin, size)
                                into = made_from + place * new_stride
                                if place < 0:
                                    place = made
                                    made += 1
                                    tables[cell] = made
                                    into = made_from + place * new_stride
                                    for w in ti.static(range(cells)):
                                        new[into + w] = child[w]
                                    new[into + cells] = ti.cast(first_new + place, ti.u64)
                                    copy_number(old, ways, digits, new, into + cells + 1, new_digits)
                                else:
                                    over |= add_number(old, ways, digits, new, into + cells + 1, new_digits)
                                links[joins] = first_new + place + 1
                        record = (firsts[part] + row - first) * (LINKED + digits)
                        kept[record] = ti.cast(links[1], ti.u64) << ti.u64(32) | ti.cast(links[0], ti.u64)
                        kept[record + 1] = mark_of(symbol, state, flags, steps, base) | old[ways - 1]
                        for digit in range(digits):
                            kept[record + LINKED + digit] = old[ways + digit]
                    parts[part * PART + 3] = made
                    if over != 0:
                        queue[OVERFLOW] = ti.i64(1)
                    part = ti.i32(ti.atomic_add(queue[NEXT], ti.i64(1)))

    return carry_linked
