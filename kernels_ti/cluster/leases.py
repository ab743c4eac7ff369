"""The leases of a cluster's driver: their size, their time, and how patient the driver is."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from kernels_ti.cluster.work import Chunk


@dataclass(frozen=True)
class Pace:
    """How long leases last, and how long the driver waits, in seconds."""

    shortest: float = 0.5  # Of a lease near the end of the search
    longest: float = 5.0  # Of a lease
    # After which an overdue lease is given to another worker, if the scheduler has not heard of its worker either
    patience: float = 30.0
    no_worker_patience: float = 60.0  # Without any worker after which the search ends
    scheduler_patience: float = 60.0  # Without an answer of the scheduler after which the search ends
    tries: int = 3  # Workers on which a lease may fail; then the search ends
    deaths: int = 10  # Workers that may die with the same frames; then the search ends


@dataclass(frozen=True, eq=False)
class Work:
    """The work of one lease."""

    chunks: list[Chunk]
    stage_1: bool = False  # Count triangles and triplets of the batch, too
    failed_on: tuple[str, ...] = ()  # The workers on which this work failed
    deaths: int = 0  # How many workers died with it

    @property
    def share(self) -> float:
        """Estimated share of the batch."""
        return sum(chunk.share for chunk in self.chunks)

    @property
    def paths_by_length(self) -> Counter[int]:
        """Paths of its chunks, by their number of vertices."""
        counted: Counter[int] = Counter()
        for chunk in self.chunks:
            counted.update(chunk.paths_by_length)
        return counted


@dataclass(eq=False)
class Request:
    """Something that a worker was asked for."""

    number: int  # Later requests have larger numbers
    address: str
    seconds: float  # How long the worker may take before it is overdue
    began: float = field(default_factory=time.monotonic, kw_only=True)  # When it was asked (`time.monotonic`)
    # When the scheduler last heard of the worker, on its clock, and when the driver learnt that, on its own
    heard: tuple[float, float] | None = field(default=None, kw_only=True)

    @property
    def age(self) -> float:
        """Seconds since it was asked."""
        return time.monotonic() - self.began


@dataclass(eq=False)
class Lease(Request):
    """Work that a worker has; it may search for `seconds`."""

    work: Work
    frame_bytes: int  # Of the frames that were sent
    ahead: bool  # The worker had another lease when it was given
    recalled: bool = False  # The worker was asked to answer soon
