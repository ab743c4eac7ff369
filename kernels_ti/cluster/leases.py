"""What the driver of a cluster leases out, for how long, and how patient it is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from kernels_ti.cluster.work import Chunk


@dataclass(frozen=True)
class Pace:
    """How long leases last, and how long the driver waits.

    Attributes
    ----------
    shortest, longest : float
        Seconds of a lease; shorter near the end of the search.
    patience : float
        Seconds after which a lease that is overdue is given to another worker, if the scheduler has not heard of its
        worker either.
    no_worker_patience : float
        Seconds without any worker after which the search ends.
    scheduler_patience : float
        Seconds without an answer of the scheduler after which the search ends.
    tries : int
        Number of workers on which a lease may fail; then the search ends.
    deaths : int
        Number of workers that may die with the same frames; then the search ends.
    """

    shortest: float = 0.5
    longest: float = 5.0
    patience: float = 30.0
    no_worker_patience: float = 60.0
    scheduler_patience: float = 60.0
    tries: int = 3
    deaths: int = 10


@dataclass(frozen=True, eq=False)
class Work:
    """What one lease does.

    Attributes
    ----------
    chunks : list of Chunk
    stage_1 : bool
        Count triangles and triplets of the batch, too.
    failed_on : tuple of str
        The workers on which this work failed.
    deaths : int
        How many workers died with it.
    """

    chunks: list[Chunk]
    stage_1: bool = False
    failed_on: tuple[str, ...] = ()
    deaths: int = 0

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
    """Something that a worker was asked for.

    Attributes
    ----------
    number : int
        Later requests have larger numbers.
    address : str
    seconds : float
        How long the worker may take before it is overdue.
    began : float
        When it was asked (`time.monotonic`).
    heard : (float, float) or None
        When the scheduler last heard of the worker, on its clock, and when the driver learnt that, on its own.
    """

    number: int
    address: str
    seconds: float
    began: float = field(default_factory=time.monotonic, kw_only=True)
    heard: tuple[float, float] | None = field(default=None, kw_only=True)

    @property
    def age(self) -> float:
        """Seconds since it was asked."""
        return time.monotonic() - self.began


@dataclass(eq=False)
class Lease(Request):
    """Work that a worker has; it may search for `seconds`.

    Attributes
    ----------
    work : Work
    frame_bytes : int
        Bytes of the frames that were sent.
    ahead : bool
        The worker had another lease when it was given.
    recalled : bool
        The worker was asked to answer soon.
    """

    work: Work
    frame_bytes: int
    ahead: bool
    recalled: bool = False


class LeasesOut:
    """The leases that workers have, by number."""

    def __init__(self) -> None:
        self._leases: dict[int, Lease] = {}
        self._of: dict[str, list[Lease]] = {}

    def __iter__(self) -> Iterator[Lease]:
        return iter(self._leases.values())

    def __len__(self) -> int:
        return len(self._leases)

    def add(self, lease: Lease) -> None:
        """Add a lease."""
        self._leases[lease.number] = lease
        self._of.setdefault(lease.address, []).append(lease)

    def take(self, number: int) -> Lease:
        """Remove a lease, and return it."""
        lease = self._leases.pop(number)
        self._of[lease.address].remove(lease)
        return lease

    def of(self, address: str) -> list[Lease]:
        """Return the leases of a worker, the one that was given first at the beginning."""
        return list(self._of.get(address, ()))

    def addresses(self) -> set[str]:
        """Return the workers with a lease."""
        return {address for address, leases in self._of.items() if leases}
