"""The watch over the workers of a cluster: who came, who went, who fell silent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from kernels_ti.cluster.leases import Pace, Request
from kernels_ti.cluster.on_worker import Job, Readiness
from kernels_ti.cluster.roster import Roster
from kernels_ti.cluster.workers import DaskWorkers, Reply
from kernels_ti.errors import EngineError

_LONGEST_WITHOUT_NEWS = 10.0
_WAIT_IN_SILENCE = 10.0  # then a line says for which worker the run waits


class Watch:
    """Keeps the roster true, and lets new workers prepare themselves; `tell` hears a line of text when one is lost."""

    def __init__(self, workers: DaskWorkers, roster: Roster, pace: Pace, job: Job, tell: Callable[[str], None]) -> None:
        self._workers = workers
        self._roster = roster
        self._pace = pace
        self._job = job
        self._tell = tell
        self._some_worker = self._some_ready = time.monotonic()
        self._preparing: dict[str, Request] = {}
        self._lost_in_preparation = 0
        self._said_waiting = False

    def look(self, requests: Collection[Request]) -> dict[str, str]:
        """Notice changes, while these requests are out.

        Returns the address of each worker that was lost, and why; its requests are to be given to others.
        """
        here = self._workers.threads()
        lost = dict.fromkeys(self._roster.gone(here), "it left the cluster")
        self._lost_in_preparation += sum(self._preparing.pop(address, None) is not None for address in lost)
        for address in self._roster.new(here):
            self._prepare(address)
        for request in [*requests, *self._preparing.values()]:
            overdue = request.address in here and request.age > request.seconds + self._pace.patience
            if overdue and self._is_silent(request):
                self._roster.note(request.address, standing="silent", failure="it does not answer")
                self._preparing.pop(request.address, None)
                lost[request.address] = "it does not answer"
        for address, why in lost.items():
            self._workers.forget(address)
            self._tell(f"the worker {address} is lost: {why}")
            if address in here:
                self._workers.prepare(address, self._job)  # once it answers, it is used again
        return lost

    def _prepare(self, address: str) -> None:
        self._preparing[address] = Request(-1, address, 0.0)
        self._workers.prepare(address, self._job)

    def prepared(self, reply: Reply) -> None:
        """Note how a worker has prepared itself."""
        self._preparing.pop(reply.address, None)
        if isinstance(reply.value, Readiness) and not reply.value.refusal:
            self._roster.ready(reply.address, reply.value)
            self._lost_in_preparation = 0
        elif isinstance(reply.error, ConnectionError):
            self._roster.forget(reply.address)
        else:
            why = reply.value.refusal if reply.error is None else f"{type(reply.error).__name__}: {reply.error}"
            self._roster.note(reply.address, standing="refused", failure=why)
            self._tell(f"the worker {reply.address} is not used: {why}")

    def require_workers(self) -> None:
        """Raise EngineError if the scheduler is gone, or no worker can be expected to be ready.

        If none is ready for long, a line says which worker the run waits for.
        """
        silence = self._workers.silence()
        if silence == math.inf:
            raise EngineError("the scheduler of the cluster is gone")
        if silence > self._pace.scheduler_patience:
            raise EngineError(f"the scheduler of the cluster has not answered for {silence:.0f} s")
        if self._lost_in_preparation >= self._pace.deaths:
            raise EngineError(
                f"{self._lost_in_preparation} workers were lost while they prepared themselves; they may lack memory"
            )
        now = time.monotonic()
        if self._roster.usable():
            self._some_ready, self._said_waiting = now, False
        elif now - self._some_ready > _WAIT_IN_SILENCE and not self._said_waiting:
            self._said_waiting = self._say_waiting(now - self._some_ready)
        if self._roster.having("ready", "preparing", "silent"):
            self._some_worker = now
            return
        for address, worker in self._roster.having("refused", "failing").items():
            raise EngineError(f"no worker of the cluster can be used: {address}: {worker.failure}")
        patience = self._pace.no_worker_patience
        if time.monotonic() - self._some_worker > patience:
            raise EngineError(f"the cluster has had no worker for {patience:.0f} s")

    def _say_waiting(self, seconds: float) -> bool:
        """Say which workers the run waits for; return whether there is any."""
        awaited = self._roster.having("preparing", "silent")
        if awaited:
            first, worker = next(iter(awaited.items()))
            others = f" and {len(awaited) - 1} more" if len(awaited) > 1 else ""
            why = "does not answer" if worker.standing == "silent" else f"has not been ready for {seconds:.0f} s"
            self._tell(f"waiting for the worker {first}{others}: it {why}, and no other worker can search")
        return bool(awaited)

    def _is_silent(self, request: Request) -> bool:
        """Whether the scheduler has not heard of a worker either since it was first missed."""
        heard, now = self._workers.last_seen().get(request.address, math.nan), time.monotonic()
        if request.heard is None or request.heard[0] != heard:
            request.heard = heard, now
            return False
        return now - request.heard[1] > min(self._pace.patience, _LONGEST_WITHOUT_NEWS)
