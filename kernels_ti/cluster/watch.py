"""The watch over the workers of a cluster: who came, who went, who fell silent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from kernels_ti.cluster.leases import Lease, Pace
from kernels_ti.cluster.on_worker import Job
from kernels_ti.cluster.roster import Roster
from kernels_ti.cluster.workers import Workers
from kernels_ti.errors import EngineError

_LONGEST_WITHOUT_NEWS = 10.0


class Watch:
    """Keeps the roster true, and lets new workers prepare themselves.

    Parameters
    ----------
    workers : Workers
    roster : Roster
    pace : Pace
    job : Job
    tell : callable
        Called with a line of text when a worker is lost.
    """

    def __init__(self, workers: Workers, roster: Roster, pace: Pace, job: Job, tell: Callable[[str], None]) -> None:
        self._workers = workers
        self._roster = roster
        self._pace = pace
        self._job = job
        self._tell = tell
        self._some_worker = time.monotonic()

    def look(self, leases: Collection[Lease]) -> list[tuple[str, str]]:
        """Notice changes.

        Parameters
        ----------
        leases : collection of Lease
            Those that are out.

        Returns
        -------
        list of (str, str)
            For each worker that was lost its address, and why; its lease is to be given to another.
        """
        here = self._workers.threads()
        lost = [(address, "it left the cluster") for address in self._roster.gone(here)]
        for address in self._roster.new(here):
            self._workers.prepare(address, self._job)
        for lease in leases:
            overdue = lease.address in here and lease.age > lease.seconds + self._pace.patience
            if overdue and self._is_silent(lease):
                self._roster.silent(lease.address)
                lost.append((lease.address, "it does not answer"))
        for address, why in lost:
            self._workers.forget(address)
            self._tell(f"the worker {address} is lost: {why}")
        for address in self._roster.silent_ones():
            if self._roster.asked(address):
                self._workers.forget(address)
                self._workers.prepare(address, self._job)
        return lost

    def require_workers(self) -> None:
        """Raise EngineError if the scheduler is gone, or no worker can be expected to search."""
        silence = self._workers.silence()
        if silence > self._pace.scheduler_patience:
            raise EngineError(f"the scheduler of the cluster has not answered for {silence:.0f} s")
        if self._roster.any_usable():
            self._some_worker = time.monotonic()
            return
        refusals = self._roster.refusals()
        if refusals:
            raise EngineError(f"no worker of the cluster can be used: {refusals[0]}")
        patience = self._pace.no_worker_patience
        if time.monotonic() - self._some_worker > patience:
            raise EngineError(f"the cluster has had no worker for {patience:.0f} s")

    def _is_silent(self, lease: Lease) -> bool:
        """Whether the scheduler has not heard of a worker either since it was first missed."""
        heard, now = self._workers.last_seen().get(lease.address, math.nan), time.monotonic()
        if lease.heard is None or lease.heard[0] != heard:
            lease.heard = heard, now
            return False
        return now - lease.heard[1] > min(self._pace.patience, _LONGEST_WITHOUT_NEWS)
