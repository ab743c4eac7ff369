"""The cycles that the workers of a sweep have found and that the caller has not taken yet."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kernels_ti.adjacency import spans
from kernels_ti.found.stored import HELD_BY_US, ResidentBlocks, StoredCycles
from kernels_ti.state import Rows

CHUNKS_PER_WORKER = 32
"""Chunks that the buffer has for each worker. The smaller a chunk, the less is left empty when the buffer is full."""

CLOSERS_PER_CHUNK = 8
"""A chunk has room for the cycles of so many steps at least, because a worker leaves it when the next step might not
fit."""


class FoundCycles:
    """The buffer of the workers, in chunks, with room for `per_worker` times their number of cycles; 0 only counts.

    A worker fills one chunk after another, so that no worker waits for a slower one while there are chunks left. The
    slice ends when there are none. One step closes at most `most_closers` cycles. `buffer` has the members of each
    cycle and the first row of its block; with `over_graph` a bit row over the graph alone. The kernel writes to
    `counts` how many of the `chunk` places of each chunk are taken.
    """

    def __init__(
        self, blocks: ResidentBlocks, workers: int, per_worker: int, most_closers: int, *, over_graph: bool
    ) -> None:
        self._blocks = blocks
        self._width = blocks.group.words + (0 if over_graph else 1)
        self.over_graph = over_graph
        # A single worker has one chunk, and its cycles stay in order of discovery.
        least = per_worker // CHUNKS_PER_WORKER if workers > 1 else per_worker
        self.chunk = max(min(per_worker, max(least, CLOSERS_PER_CHUNK * most_closers)), 1)
        chunks = max(workers * per_worker // self.chunk, workers)
        self.counts: npt.NDArray[np.int32] = np.zeros(chunks, np.int32)
        size = chunks * self.chunk * self._width if per_worker else 1
        self.buffer: Rows = blocks.device.empty(size, np.uint64)
        self._before: Rows = np.empty(0, np.uint64)

    def __bool__(self) -> bool:
        return bool(self.counts.any())

    @property
    def chunks(self) -> int:
        """Number of chunks, at least one for each worker."""
        return len(self.counts)

    def take(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Yield where the cycles lie, if there are any; after that they count as taken."""
        count = len(self._together())
        if count:
            yield self._blocks, StoredCycles(self.buffer, self._width, 1, 0, count, self.over_graph)
        self.counts[:] = 0

    def make_room(self) -> None:
        """Take another buffer if a caller holds cycles that lie in this one: the one before, or a new one."""
        if sys.getrefcount(self.buffer) == HELD_BY_US:
            return
        self.buffer, self._before = self._before, self.buffer
        if not self.buffer.size or sys.getrefcount(self.buffer) > HELD_BY_US:
            self.buffer = self._blocks.device.empty(self._before.size, np.uint64)

    def _together(self) -> Rows:
        """Return the cycles side by side: the beginning of the buffer, shape (count, width)."""
        if not self:
            return np.empty((0, self._width), np.uint64)
        rows = self.buffer.reshape(-1, self._width)
        close_gaps(rows, self.counts, self.chunk)
        return rows[: int(self.counts.sum())]


def close_gaps(rows: Rows, counts: npt.NDArray[np.int32], chunk: int) -> None:
    """Move rows from the end into the gaps before them, so that all rows lie together at the beginning.

    Chunk c has room for `chunk` rows and begins at row ``c * chunk`` with the ``counts[c]`` rows that it has.
    """
    total = int(counts.sum())
    starts = np.arange(len(counts)) * chunk
    ends = starts + counts
    gaps, moved = np.minimum(ends, total), np.maximum(starts, total)
    gap_sizes, sizes = np.minimum(starts + chunk, total) - gaps, np.maximum(ends, total) - moved
    rows[spans(gaps, gap_sizes)] = rows[spans(moved, sizes)]
