"""How the cycles that a search has found come to the host: as bit rows, or as vertices in cycle order.

The kernels of a CPU write into the arrays that the caller gets; where the sweep has written rows over the graph itself,
the caller gets those. From other devices a buffer is copied, piece by piece.
Every array belongs to the caller. Its memory may be that of an earlier array which nobody holds any more.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kernels_ti.cycles import Cycles
from kernels_ti.found.row_store import RowStore
from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.state import Rows

Found = Iterable[tuple[ResidentBlocks, StoredCycles]]
"""Where cycles lie: the blocks that they were found in, and their place on the device."""


def rows_of(found: Found, row_words: int) -> Rows:
    """Return cycles as bit rows over the graph, shape (k, row_words)."""
    places = list(found)
    if not places:
        return np.empty((0, row_words), np.uint64)
    blocks, stored = places[0]
    if len(places) == 1 and stored.over_graph and 2 * stored.words.size >= stored.buffer.size:
        # The buffer itself goes to the caller, unless most of it is empty. Copies of a few rows take no time.
        return np.asarray(stored.words.reshape(stored.count, row_words))
    rows: Rows = blocks.spare.array((sum(stored.count for _, stored in places), row_words), np.uint64)
    at = 0
    for blocks, stored in places:
        blocks.write_rows(stored, rows[at : at + stored.count])
        at += stored.count
    return rows


def rows_into(found: Found, store: RowStore) -> None:
    """Write cycles as bit rows over the graph behind the rows of a store."""
    for blocks, stored in found:
        blocks.write_rows(stored, store.room(stored.count))
        store.keep(stored.count)


def cycles_of(found: Found) -> Cycles:
    """Return cycles as vertices in cycle order."""
    places = list(found)
    count = sum(stored.count for _, stored in places)
    lengths = np.empty(count, np.int32)
    at = 0
    for blocks, stored in places:
        blocks.write_lengths(stored, lengths[at : at + stored.count])
        at += stored.count
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    empty = places[0][0].spare.array if places else np.empty
    vertices = empty((int(offsets[-1]),), np.int32)
    at = 0
    for blocks, stored in places:
        blocks.write_vertices(stored, offsets[at : at + stored.count + 1], vertices)
        at += stored.count
    return Cycles(offsets, vertices)
