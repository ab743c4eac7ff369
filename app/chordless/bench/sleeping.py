"""A simulated cluster: workers that sleep for as long as a lease lasts, and answer without searching."""

from __future__ import annotations

import heapq
import json
import time
from importlib.util import find_spec
from typing import Any

from chordless.graphs.load import load_graph
from kernels_ti import ChordlessError, Graph
from kernels_ti.cluster.connect import connected
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import Pace
from kernels_ti.cluster.on_worker import Answer, Job, Readiness, is_recalled
from kernels_ti.cluster.workers import DaskWorkers, Reply
from kernels_ti.state import RunState

_PATHS_OF_A_LEASE = {4: 1}
_SHORTEST_WAIT = 0.01
_REAL_WORKERS, _CALLS_OF_A_WORKER = 2, 8
_LONGEST_WAIT = 0.1
_NO_JOB = "bench"


class SleepingWorkers:
    """Workers that leave as much as they were leased. They are `kernels_ti.cluster.workers.Workers`.

    Parameters
    ----------
    count : int
        Number of workers.

    Attributes
    ----------
    leases : int
        Leases given so far.
    """

    def __init__(self, count: int) -> None:
        self._threads = {f"worker {number}": 1 for number in range(count)}
        self._answers: list[tuple[float, int, Reply]] = []
        self._busy_until: dict[str, float] = {}
        self._requests = 0
        self.leases = 0

    def threads(self) -> dict[str, int]:
        """Return all workers."""
        return self._threads

    def silence(self) -> float:
        """Return 0: the scheduler is always there."""
        return 0.0

    def last_seen(self) -> dict[str, float]:
        """Return nothing: no worker falls silent."""
        return {}

    def prepare(self, address: str, job: Job) -> None:
        """Answer at once."""
        self._answer(0.0, Reply(address, -1, Readiness("simulated")))

    def lease(self, address: str, key: str, number: int, state: RunState, seconds: float) -> None:
        """Answer after the time of the lease, with all that was leased."""
        self.leases += 1
        begun = tuple(sum(map(len, group.frames)) for group in state.groups)
        answer = Answer(_PATHS_OF_A_LEASE, {}, None, state, begun, seconds, device_bytes=0, memory_bytes=0)
        # A second lease waits for the first.
        begins = max(time.monotonic(), self._busy_until.get(address, 0.0))
        self._busy_until[address] = begins + seconds
        self._answer(begins + seconds - time.monotonic(), Reply(address, number, answer))

    def call(self, address: str, key: str, number: int, function: Any, arguments: tuple[Any, ...]) -> None:
        """Do nothing: only leases are simulated."""

    def recall(self, address: str, key: str, number: int) -> None:
        """Do nothing: the answer comes in its time."""

    def forget(self, address: str) -> None:
        """Do nothing: no worker is given up."""

    def replies(self, seconds: float) -> list[Reply]:
        """Return the answers that are due."""
        due, now = [], time.monotonic()
        while self._answers and self._answers[0][0] <= now:
            due.append(heapq.heappop(self._answers)[2])
        if not due:
            time.sleep(min(seconds, _SHORTEST_WAIT))
        return due

    def close(self) -> None:
        """Forget what is under way."""
        self._answers.clear()

    def _answer(self, seconds: float, reply: Reply) -> None:
        self._requests += 1
        heapq.heappush(self._answers, (time.monotonic() + seconds, self._requests, reply))


def leases_per_second(graph: Graph, workers: int, lease_seconds: float, seconds: float) -> tuple[float, float]:
    """Measure how many leases the driver handles.

    Parameters
    ----------
    graph : Graph
        Its first frames are leased; it must be large enough that each worker gets some.
    workers : int
    lease_seconds : float
        How long each lease lasts.
    seconds : float
        How long to measure.

    Returns
    -------
    float
        Leases a second.
    float
        Share of the time in which the driver computed.
    """
    sleeping = SleepingWorkers(workers)
    run = ClusterRun(graph, sleeping, pace=Pace(shortest=lease_seconds, longest=lease_seconds))
    run.wait_for_workers()
    began, computed, before = time.monotonic(), time.process_time(), sleeping.leases
    while time.monotonic() - began < seconds:
        run.advance()
    took = time.monotonic() - began
    return (sleeping.leases - before) / took, (time.process_time() - computed) / took


def calls_per_second(seconds: float) -> float:
    """Measure how many calls that do nothing go to two local workers and back by way of Dask.

    Parameters
    ----------
    seconds : float
        How long to measure.
    """
    with connected(f"local:{_REAL_WORKERS}") as client:
        client.wait_for_workers(_REAL_WORKERS)
        workers = DaskWorkers(client)
        waiting = list(workers.threads()) * _CALLS_OF_A_WORKER
        done, calls, began = 0, 0, time.monotonic()
        while time.monotonic() - began < seconds:
            for address in waiting:
                workers.call(address, _NO_JOB, calls, is_recalled, ())
                calls += 1
            replies = workers.replies(_LONGEST_WAIT)
            waiting = [reply.address for reply in replies]
            done += len(replies)
        took = time.monotonic() - began
        workers.close()
    return done / took


def main(graph: str, workers: str, lease_seconds: str, seconds: str) -> None:
    """Measure in this process, and print what was found as JSON.

    The object has ``leases_per_second``, ``computing`` and ``calls_per_second``, which is null without Dask; or it has
    an ``error``.
    """
    try:
        rate, computing = leases_per_second(load_graph(graph).graph, int(workers), float(lease_seconds), float(seconds))
        calls = round(calls_per_second(float(seconds)), 1) if find_spec("distributed") else None
    except ChordlessError as error:
        print(json.dumps({"error": str(error)}))
        return
    found = {"leases_per_second": round(rate, 1), "computing": round(computing, 3), "calls_per_second": calls}
    print(json.dumps(found))
