"""The pool: everything of a batch that no worker has at the moment, and what of it a worker gets next."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kernels_ti.cluster.leases import Chunk, Work

_MOST_FRAMES = 1 << 13
_PART_TAKEN = 0.6  # of a fair share: the rest evens out what the shares estimate badly


class Pool:
    """Chunks that wait, the largest share first, and the work of leases that came to nothing.

    Beyond `most_bytes` the chunks with the longest paths are taken first: their searches end soonest.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._chunks: dict[int, Chunk] = {}
        self._next = 0
        self._by_share: list[tuple[float, int]] = []
        self._by_length: list[tuple[int, int]] = []
        self._waiting_share = 0.0
        self._waiting_bytes = 0
        self._waiting_paths: Counter[int] = Counter()
        self._again: deque[Work] = deque()

    def __len__(self) -> int:
        return len(self._chunks) + len(self._again)

    @property
    def can_spare(self) -> bool:
        """Whether there are chunks for a worker that has a lease already."""
        return len(self._chunks) > 0

    @property
    def share(self) -> float:
        """Estimated share of the batch."""
        return self._waiting_share + sum(work.share for work in self._again)

    @property
    def paths_by_length(self) -> Counter[int]:
        """Paths that wait, by their number of vertices."""
        counted = Counter(self._waiting_paths)
        for work in self._again:
            counted.update(work.paths_by_length)
        return counted

    def chunks(self) -> list[Chunk]:
        """Return all chunks; they stay here."""
        return [*self._chunks.values(), *(chunk for work in self._again for chunk in work.chunks)]

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks."""
        for chunk in chunks:
            number, self._next = self._next, self._next + 1
            self._chunks[number] = chunk
            heapq.heappush(self._by_share, (-chunk.share, number))
            heapq.heappush(self._by_length, (-chunk.length, number))
            self._waiting_share += chunk.share
            self._waiting_bytes += chunk.frames.nbytes
            self._waiting_paths.update(chunk.paths_by_length)

    def add_stage_1(self) -> None:
        """Add the counting of triangles and triplets."""
        self._again.append(Work([], stage_1=True))

    def put_back(self, work: Work) -> None:
        """Put back the work of a lease that was not begun, or failed; it comes next."""
        self._again.appendleft(work)

    def put_back_in_halves(self, work: Work) -> None:
        """Put back the work of a lost worker; the halves are leased apart, in case its size was to blame."""
        if len(work.chunks) < 2:
            self._again.append(work)
            return
        self._again.append(replace(work, chunks=work.chunks[::2]))
        self._again.append(replace(work, chunks=work.chunks[1::2], stage_1=False))

    def work_for(self, address: str, usable: Sequence[str]) -> Work | None:
        """Take work for a worker that has none; None if nothing waits. `usable` are all that can have a lease."""
        for _ in range(len(self._again)):
            work = self._again.popleft()
            # A worker on which it failed gets it again only if there is no other.
            if address not in work.failed_on or set(usable) <= set(work.failed_on):
                return work
            self._again.append(work)
        return self.share_for(len(usable)) if self.can_spare else None

    def share_for(self, workers: int) -> Work:
        """Take chunks for one of some workers."""
        return Work(self.take(_PART_TAKEN * self._waiting_share / workers, _MOST_FRAMES))

    def take(self, share: float, most_frames: int) -> list[Chunk]:
        """Take chunks until their share is `share` or they have `most_frames` frames; at least one if any waits."""
        taken: list[Chunk] = []
        got, frames = 0.0, 0
        while self._chunks and (not taken or (got < share and frames < most_frames)):
            taken.append(self._pop(self._by_length if self._waiting_bytes > self._most_bytes else self._by_share))
            got += taken[-1].share
            frames += len(taken[-1].frames)
        return taken

    def _pop(self, heap: list[Any]) -> Chunk:
        number = heapq.heappop(heap)[1]
        while number not in self._chunks:  # it was taken by way of the other heap
            number = heapq.heappop(heap)[1]
        chunk = self._chunks.pop(number)
        self._waiting_share -= chunk.share
        self._waiting_bytes -= chunk.frames.nbytes
        self._waiting_paths.subtract(chunk.paths_by_length)
        if not self._chunks:
            self._by_share.clear()
            self._by_length.clear()
            self._waiting_share = 0.0
        return chunk
