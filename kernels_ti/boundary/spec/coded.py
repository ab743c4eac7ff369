"""The changes of all vertices of a block in cells, as kernels read them.

A vertex with few combinations of symbols beside it has a table of all of them, made in numpy for all such vertices at
once. Others have what each neighbour tells, and kernels put it together for each state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels_ti.boundary.arrays import Places, Words
from kernels_ti.boundary.spec.changes import Changes, put_together
from kernels_ti.boundary.spec.packing import Packing

# Bits of a combination that is looked up: larger tables would leave the cache.
_TABLE_BITS = 10

HEADER, FIRST_HEAD = 3, 8
"""Cells of a vertex: its neighbours; what it may do, with the symbol of a head whose piece begins in the first slot
from bit `FIRST_HEAD` on; where its table of combinations begins, if it has one. Then come the words that a state keeps
with the vertex off the cycle, those that are written where it becomes inner, the slots of the neighbours, an entry for
no neighbour, and one for each neighbour and symbol: what it may be, what is kept, what is written. An entry of a table
has three flags (the vertex may stay off, it may join, it may close the cycle), what is kept, and what is written."""


def coded(changes: Sequence[Changes], packing: Packing) -> tuple[Words, Places]:
    """Return the cells of all vertices of a block, and where those of each vertex begin."""
    steps = [_cells_of(each, packing) for each in changes]
    tables: dict[int, Words] = {}
    for near in range(_TABLE_BITS // packing.bits + 1):
        places = [place for place, each in enumerate(changes) if len(each.near) == near]
        if places:
            tables.update(zip(places, _tables_of([changes[place] for place in places], packing, near), strict=True))
    bases = np.cumsum([0, *map(len, steps)])
    end = int(bases[-1])
    for place, table in sorted(tables.items()):
        steps[place][2] = end
        end += len(table)
    return np.concatenate((*steps, *(tables[place] for place in sorted(tables)))), bases[:-1].astype(np.int32)


def _cells_of(changes: Changes, packing: Packing) -> Words:
    """Return the cells of a vertex, without a table."""
    entries = np.concatenate((changes.codes.view(np.uint64)[None], changes.kept, changes.written))
    header = np.array([len(changes.near), changes.may | packing.first_head << FIRST_HEAD, 0], np.uint64)
    near = np.array(changes.near, np.uint64)
    return np.concatenate((header, changes.off_kept, changes.inner, near, entries.T.reshape(-1)))


def _tables_of(steps: Sequence[Changes], packing: Packing, near: int) -> Words:
    """Return the table of all combinations for each of some vertices with as many neighbours, shape (steps, cells)."""
    combination = np.arange(packing.kinds**near)
    symbols = [combination // packing.kinds**k % packing.kinds for k in range(near)]
    changed = put_together(steps, packing, symbols, len(combination))
    flags = changed.off | changed.on.astype(np.uint64) << np.uint64(1) | changed.joins.astype(np.uint64) << np.uint64(2)
    table = np.zeros((len(steps), 1 << near * packing.bits, 1 + 2 * packing.words), np.uint64)
    rows = sum((symbol << k * packing.bits for k, symbol in enumerate(symbols)), np.zeros_like(combination))
    table[:, rows] = np.concatenate((flags[None], changed.kept, changed.written)).T.reshape(len(steps), len(rows), -1)
    return table.reshape(len(steps), -1)
