"""The cycles that the workers of a sweep have found and that the caller has not taken yet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kernels_ti.found.stored import ResidentBlocks, StoredCycles
from kernels_ti.graph import IntArray
from kernels_ti.state import Rows

CHUNKS_PER_WORKER = 32
"""Chunks that the buffer has for each worker. The smaller a chunk, the less is left empty when the buffer is full."""

CLOSERS_PER_CHUNK = 8
"""A chunk has room for the cycles of so many steps at least, because a worker leaves it when the next step might not
fit."""


class FoundCycles:
    """The buffer of the workers, in chunks. A worker fills one chunk after another.

    No worker waits for a slower one while there are chunks left. The slice ends when there are none.

    Parameters
    ----------
    blocks : ResidentBlocks
    workers : int
    per_worker : int
        Cycles for which there is room, divided by the number of workers; 0 for a search that only counts.
    most_closers : int
        The most cycles that one step can close.

    Attributes
    ----------
    buffer : ndarray of uint64, shape (chunks * chunk * (W + 1),)
        Members of each cycle, and the first row of its block.
    counts : ndarray of int32, shape (chunks,)
        Cycles in each chunk; the kernel writes them.
    chunk : int
        Cycles for which a chunk has room.
    """

    def __init__(self, blocks: ResidentBlocks, workers: int, per_worker: int, most_closers: int) -> None:
        self._blocks = blocks
        self._width = blocks.group.words + 1
        # A single worker has one chunk, and its cycles stay in order of discovery.
        least = per_worker // CHUNKS_PER_WORKER if workers > 1 else per_worker
        self.chunk = max(min(per_worker, max(least, CLOSERS_PER_CHUNK * most_closers)), 1)
        chunks = max(workers * per_worker // self.chunk, workers)
        self.counts: npt.NDArray[np.int32] = np.zeros(chunks, np.int32)
        size = chunks * self.chunk * self._width if per_worker else 1
        self.buffer: Rows = blocks.device.empty(size, np.uint64)

    def __bool__(self) -> bool:
        return bool(self.counts.any())

    @property
    def chunks(self) -> int:
        """Number of chunks, at least one for each worker."""
        return len(self.counts)

    def take(self) -> Iterator[tuple[ResidentBlocks, StoredCycles]]:
        """Yield where the cycles lie, if there are any; after that they count as taken."""
        count = int(self.counts.sum())
        if count:
            close_gaps(self.buffer.reshape(-1, self._width), self.counts, self.chunk)
            yield self._blocks, StoredCycles(self.buffer, self._width, 1, 0, count)
        self.counts[:] = 0


def close_gaps(rows: Rows, counts: npt.NDArray[np.int32], chunk: int) -> None:
    """Move rows from the end into the gaps before them, so that all rows lie together at the beginning.

    Parameters
    ----------
    rows : ndarray, shape (at least chunks * chunk, width)
        Chunk c begins at row ``c * chunk``; changed.
    counts : ndarray of int32, shape (chunks,)
        Rows in each chunk, which lie at its beginning.
    chunk : int
        Rows for which a chunk has room.
    """
    total = int(counts.sum())
    starts = np.arange(len(counts)) * chunk
    ends = starts + counts
    rows[_ranges(np.minimum(ends, total), np.minimum(starts + chunk, total))] = rows[
        _ranges(np.maximum(starts, total), np.maximum(ends, total))
    ]


def _ranges(first: IntArray, last: IntArray) -> IntArray:
    """Return the numbers of several ranges, each without its last, one range after another."""
    sizes = last - first
    ends = np.cumsum(sizes)
    numbers: IntArray = np.arange(int(ends[-1])) + np.repeat(first - (ends - sizes), sizes)
    return numbers
