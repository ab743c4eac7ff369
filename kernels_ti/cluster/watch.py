"""The watch over the workers of a cluster: who came, who went, who fell silent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from kernels_ti.cluster.leases import Pace, Request
from kernels_ti.cluster.on_worker import Job, Readiness
from kernels_ti.cluster.roster import Roster
from kernels_ti.cluster.workers import Reply, Workers
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

    def look(self, requests: Collection[Request]) -> list[tuple[str, str]]:
        """Notice changes.

        Parameters
        ----------
        requests : collection of Request
            Those that are out.

        Returns
        -------
        list of (str, str)
            For each worker that was lost its address, and why; its request is to be given to another.
        """
        here = self._workers.threads()
        lost = [(address, "it left the cluster") for address in self._roster.gone(here)]
        for address in self._roster.new(here):
            self._workers.prepare(address, self._job)
        for request in requests:
            overdue = request.address in here and request.age > request.seconds + self._pace.patience
            if overdue and self._is_silent(request):
                self._roster.silent(request.address)
                lost.append((request.address, "it does not answer"))
        for address, why in lost:
            self._workers.forget(address)
            self._tell(f"the worker {address} is lost: {why}")
        for address in self._roster.silent_ones():
            if self._roster.asked(address):
                self._workers.forget(address)
                self._workers.prepare(address, self._job)
        return lost

    def prepared(self, reply: Reply) -> None:
        """Note how a worker has prepared itself."""
        if isinstance(reply.value, Readiness) and not reply.value.refusal:
            self._roster.ready(reply.address, reply.value.device)
        elif isinstance(reply.error, ConnectionError):
            self._roster.forget(reply.address)
        else:
            why = reply.value.refusal if reply.error is None else f"{type(reply.error).__name__}: {reply.error}"
            self._roster.refused(reply.address, why)
            self._tell(f"the worker {reply.address} is not used: {why}")

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

    def _is_silent(self, request: Request) -> bool:
        """Whether the scheduler has not heard of a worker either since it was first missed."""
        heard, now = self._workers.last_seen().get(request.address, math.nan), time.monotonic()
        if request.heard is None or request.heard[0] != heard:
            request.heard = heard, now
            return False
        return now - request.heard[1] > min(self._pace.patience, _LONGEST_WITHOUT_NEWS)
