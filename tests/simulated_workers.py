"""Workers of a cluster that are in the process of the test, and misbehave on demand."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from patience import PATIENCE

from kernels_ti import EngineError
from kernels_ti.cluster import on_worker
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.on_worker import Job, NotPrepared
from kernels_ti.cluster.workers import Reply
from kernels_ti.device.machine import cores
from kernels_ti.state import RunState

QUICK = Pace(shortest=0.0, longest=0.0, patience=0.05, no_worker_patience=0.2, scheduler_patience=0.2)
"""Leases of one slice; a driver that waits for nobody."""


@dataclass
class SimulatedWorkers:
    """Workers that do their leases in this process, at once, unless they are told to misbehave.

    `faults` gives, for some addresses, what each of their leases comes to: ``ok``, ``die``, ``fail``, ``silent`` or
    ``forget``, which loses what the worker prepared. After the last one all is well. `refusals` gives a program and
    its version, which the driver has and these workers have not. The workers in `unready` do not answer when they are
    to prepare themselves.
    """

    here: dict[str, int]
    faults: dict[str, list[str]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    unready: set[str] = field(default_factory=set)
    mute: float = 0.0
    waiting: list[Reply] = field(default_factory=list)
    leases: Counter[str] = field(default_factory=Counter)
    recalls: int = 0
    joining: dict[int, str] = field(default_factory=dict)

    def threads(self) -> dict[str, int]:
        return dict(self.here)

    def silence(self) -> float:
        return self.mute

    def last_seen(self) -> dict[str, float]:
        return dict.fromkeys(self.here, 1.0)

    def prepare(self, address: str, job: Job) -> None:
        if address in self.unready:
            return
        if address in self.refusals:
            program, version = self.refusals[address].split()
            job = replace(job, versions={**job.versions, program: version})
        self.waiting.append(Reply(address, -1, on_worker.prepare(job, cores())))

    def lease(self, address: str, key: str, number: int, state: RunState, seconds: float) -> None:
        if address not in self.here:
            return
        self.leases[address] += 1
        if (joined := self.joining.pop(self.leases.total(), None)) is not None:
            self.here[joined] = 1
        fault = self.faults[address].pop(0) if self.faults.get(address) else "ok"
        if fault == "die":
            del self.here[address]
        elif fault == "fail":
            self.waiting.append(Reply(address, number, error=EngineError("no room")))
        elif fault == "forget":
            self.waiting.append(Reply(address, number, error=NotPrepared(key)))
        elif fault != "silent":
            self.waiting.append(Reply(address, number, on_worker.lease(key, number, state, seconds)))

    def call(self, address: str, key: str, number: int, function: Any, arguments: tuple[Any, ...]) -> None:
        if address not in self.here:
            return
        self.leases[address] += 1
        fault = self.faults[address].pop(0) if self.faults.get(address) else "ok"
        if fault == "die":
            del self.here[address]
        elif fault == "fail":
            self.waiting.append(Reply(address, number, error=ValueError("a fault")))
        elif fault != "silent":
            self.waiting.append(Reply(address, number, function(key, number, *arguments)))

    def recall(self, address: str, key: str, number: int) -> None:
        self.recalls += 1

    def forget(self, address: str) -> None:
        self.waiting = [reply for reply in self.waiting if reply.address != address]

    def replies(self, seconds: float) -> list[Reply]:
        if not self.waiting:
            time.sleep(min(seconds, 0.01))
        some, self.waiting = self.waiting, []
        return some

    def close(self) -> None:
        self.waiting.clear()


def finished(run: ClusterRun) -> dict[int, int]:
    """Return the cycles by length once a run has finished."""
    began = time.monotonic()
    while not run.finished:
        run.advance()
        assert time.monotonic() - began < PATIENCE
    return run.snapshot().cycles_by_length
