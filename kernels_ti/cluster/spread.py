"""Calls of a function on the workers of a cluster, one at a time on each worker."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernels_ti.cluster.leases import Pace, Request
from kernels_ti.cluster.on_worker import Job, versions
from kernels_ti.cluster.roster import Roster
from kernels_ti.cluster.watch import Watch
from kernels_ti.cluster.workers import DaskWorkers, Reply


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a call."""

    number: int  # See `Spread.call`
    value: Any = None  # The result of the function
    error: BaseException | None = None  # The error that it raised
    lost: int = 0  # How many workers were lost with this call, which is given up. If 0, there is a value or an error


@dataclass(eq=False)
class _Call:
    arguments: tuple[Any, ...]
    lost: int = 0


class Spread:
    """Calls a function on whatever worker is free.

    `function` is called with the key of this spread, the number of the call, the threads of the worker, and the
    arguments. It should return soon once `kernels_ti.cluster.on_worker.is_recalled` says so for key and number. A call
    is given up once `Pace.tries` workers were lost with it. `tell` is called with a line of text when a worker is lost
    or refused.
    """

    def __init__(
        self,
        workers: DaskWorkers,
        function: Callable[..., Any],
        *,
        pace: Pace | None = None,
        tell: Callable[[str], None],
    ) -> None:
        self._workers = workers
        self._function = function
        self._pace = pace or Pace()
        self._key = uuid.uuid4().hex
        self._roster = Roster()
        self._watch = Watch(workers, self._roster, self._pace, Job(self._key, versions()), tell)
        self._calls: dict[int, _Call] = {}
        self._waiting: deque[int] = deque()
        self._requests: dict[str, Request] = {}

    @property
    def workers(self) -> int:
        """Number of workers that can be called."""
        return len(self._roster.usable())

    def call(self, number: int, *arguments: Any) -> None:
        """Call the function soon, on some worker. The number is unique, and larger than those before."""
        self._calls[number] = _Call(arguments)
        self._waiting.append(number)

    def outcomes(self, seconds: float) -> list[Outcome]:
        """Wait for ends of calls, at most for `seconds`; an EngineError if no scheduler or no worker can be used."""
        ended: list[Outcome] = []
        for address in self._watch.look(self._requests.values()):
            self._lost(address, ended)
        self._watch.require_workers()
        self._give()
        for reply in self._workers.replies(0.0 if ended else seconds):
            if reply.number < 0:
                self._watch.prepared(reply)
            else:
                self._hear(reply, ended)
        self._give()
        return ended

    def stop(self) -> None:
        """Drop the calls that have not begun, and ask the others to return soon."""
        self._waiting.clear()
        for request in self._requests.values():
            self._workers.recall(request.address, self._key, request.number)

    def close(self) -> None:
        """Let go of the workers."""
        self.stop()
        self._workers.close()

    def _give(self) -> None:
        threads = self._workers.threads()
        for address in self._roster.usable():
            if not self._waiting:
                return
            if address in threads and address not in self._requests:
                number = self._waiting.popleft()
                self._requests[address] = Request(number, address, 0.0)
                arguments = (threads[address], *self._calls[number].arguments)
                self._workers.call(address, self._key, number, self._function, arguments)

    def _hear(self, reply: Reply, ended: list[Outcome]) -> None:
        if isinstance(reply.error, ConnectionError):
            self._roster.forget(reply.address)
            self._lost(reply.address, ended)
            return
        del self._requests[reply.address]
        del self._calls[reply.number]
        ended.append(Outcome(reply.number, reply.value, reply.error))

    def _lost(self, address: str, ended: list[Outcome]) -> None:
        """Take the call of a lost worker back, or give it up."""
        request = self._requests.pop(address, None)
        if request is None:
            return
        call = self._calls[request.number]
        call.lost += 1
        if call.lost < self._pace.tries:
            self._waiting.appendleft(request.number)
            return
        del self._calls[request.number]
        ended.append(Outcome(request.number, lost=call.lost))
