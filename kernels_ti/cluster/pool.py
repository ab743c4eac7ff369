"""The pool: everything of a batch that no worker has at the moment, and what of it a worker gets next."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kernels_ti.cluster.leases import Work
from kernels_ti.cluster.work import Chunk, WaitingWork

_MOST_FRAMES = 1 << 13
_PART_TAKEN = 0.6  # of a fair share: the rest evens out what the shares estimate badly


class Pool:
    """Chunks that wait, up to about `most_bytes`, and the work of leases that came to nothing."""

    def __init__(self, most_bytes: int) -> None:
        self._waiting = WaitingWork(most_bytes)
        self._again: deque[Work] = deque()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._again)

    @property
    def can_spare(self) -> bool:
        """Whether there are chunks for a worker that has a lease already."""
        return len(self._waiting) > 0

    @property
    def share(self) -> float:
        """Estimated share of the batch."""
        return self._waiting.share + sum(work.share for work in self._again)

    @property
    def paths_by_length(self) -> Counter[int]:
        """Paths that wait, by their number of vertices."""
        counted = Counter(self._waiting.paths_by_length)
        for work in self._again:
            counted.update(work.paths_by_length)
        return counted

    def chunks(self) -> list[Chunk]:
        """Return all chunks; they stay here."""
        return [*self._waiting.chunks(), *(chunk for work in self._again for chunk in work.chunks)]

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks."""
        self._waiting.add(chunks)

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
        return Work(self._waiting.take(_PART_TAKEN * self._waiting.share / workers, _MOST_FRAMES))
