"""The one door to Dask: who the workers are, what they are asked, what they answer.

All calls to Dask are coroutines on the loop of its client, in a thread of its own. So a worker that does not answer
holds nothing up, and the driver only ever waits for replies.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pickle import dumps
from typing import Any

from kernels_ti.cluster.on_worker import Job, lease, prepare, recall
from kernels_ti.state import RunState

POLL_SECONDS = 0.5  # Seconds between two looks at who the workers are

QUICK_POLL_SECONDS, SECONDS_OF_QUICK_POLLS = 0.05, 10.0
"""The same in the first seconds, in which the workers of a new cluster come."""

_ORDER_SECONDS = 10.0
_SECONDS_OF_NEWS = 2.0


@dataclass(frozen=True, eq=False)
class Reply:
    """The end of a request to a worker."""

    address: str
    number: int  # Of the lease or the call, or -1 for `DaskWorkers.prepare`
    value: Any = None  # A Readiness, an Answer, or what a function returned
    error: BaseException | None = None  # Why there is no value


def _unpack_and_call(packed: bytes) -> Any:
    """Call a packed function with packed arguments, on the worker: its answer tells what it cannot import."""
    import pickle

    function, arguments = pickle.loads(packed)
    return function(*arguments)


# Dask then sends the function itself instead of its name. A worker that cannot import a name in a request dies of it.
_unpack_and_call.__module__ = "__main__"


class DaskWorkers:
    """The workers of a Dask cluster. Its client is not an asynchronous one, and stays open.

    A worker has one request at a time, or two leases, one after the other. The tests have another class with these
    methods, whose workers misbehave on demand.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._requests: dict[tuple[str, int], concurrent.futures.Future[Reply]] = {}
        self._threads: dict[str, int] = dict(client.nthreads())
        self._seen: dict[str, float] = {}
        self._answered = time.monotonic()
        self._closed = threading.Event()
        self._watch = self._start(self._watched())

    def threads(self) -> dict[str, int]:
        """Return the workers that were there at the last look."""
        return self._threads

    def silence(self) -> float:
        """Return the seconds since the scheduler last answered; infinite once Dask's client has given it up."""
        return math.inf if self._given_up() else time.monotonic() - self._answered

    def last_seen(self) -> dict[str, float]:
        """Return when the scheduler last heard of each worker, on its clock; empty if its last answer is too old."""
        return self._seen if time.monotonic() - self._answered < _SECONDS_OF_NEWS else {}

    def prepare(self, address: str, job: Job) -> None:
        """Let a worker prepare itself for a search."""
        # It may have left since the caller looked; then it does not answer.
        self._request(address, -1, prepare, job, self._threads.get(address, 1))

    def lease(self, address: str, key: str, number: int, state: RunState, seconds: float) -> None:
        """Lease frames to a worker."""
        self._request(address, number, lease, key, number, state, seconds)

    def call(
        self, address: str, key: str, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> None:
        """Let a worker call ``function(key, number, *arguments)``."""
        self._request(address, number, function, key, number, *arguments)

    def recall(self, address: str, key: str, number: int) -> None:
        """Ask a worker to answer soon; nothing happens if it does not listen."""
        self._start(self._recalled(address, key, number))

    def forget(self, address: str) -> None:
        """Give up the requests to a worker; their replies never come."""
        for key in [key for key in self._requests if key[0] == address]:
            self._requests.pop(key).cancel()

    def replies(self, seconds: float) -> list[Reply]:
        """Wait for replies, at most for `seconds`, and return them."""
        if not self._requests:
            time.sleep(seconds)
        concurrent.futures.wait(self._requests.values(), seconds, concurrent.futures.FIRST_COMPLETED)
        ended = [key for key, asked in self._requests.items() if asked.done() and not asked.cancelled()]
        return [self._requests.pop(key).result() for key in ended]

    def close(self) -> None:
        """Give up all requests; the client stays open."""
        self._closed.set()
        self._watch.cancel()
        for address in {address for address, _ in self._requests}:
            self.forget(address)

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _request(self, address: str, number: int, function: Callable[..., Any], *arguments: Any) -> None:
        self._requests[address, number] = self._start(self._answered_by(address, number, function, arguments))

    async def _answered_by(
        self, address: str, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Reply:
        future = None
        try:
            packed = dumps((function, arguments))
            future = self._client.submit(_unpack_and_call, packed, workers=[address], pure=False, retries=0)
            return Reply(address, number, await self._result_of(future))
        except Exception as error:  # whatever the worker raised, or Dask's own if it could not ask
            lost = future is None or future.cancelled()
            return Reply(address, number, error=ConnectionError(str(error)) if lost else error)
        finally:
            if future is not None:
                future.release()

    async def _result_of(self, future: Any) -> Any:
        """Wait for a request, and fetch what it returned by itself.

        Dask fetches the results of several awaited futures together: a worker that falls silent meanwhile would hold up
        the answers of the others.
        """
        if await future.exception() is None and not future.cancelled():
            told = await self._client.scheduler.gather(keys=[future.key])
            if told["status"] == "OK":
                return told["data"][future.key]
        return await future  # raises what the worker raised, or waits until the answer that was lost is given up

    async def _recalled(self, address: str, key: str, number: int) -> None:
        asked = self._client.run(recall, key, number, workers=[address], on_error="ignore")
        await asyncio.wait_for(asked, _ORDER_SECONDS)

    def _given_up(self) -> bool:
        """Whether the client has closed itself, because it could not reach the scheduler again for some time."""
        return self._client.scheduler is None

    async def _watched(self) -> None:
        began = time.monotonic()
        while not self._closed.is_set() and not self._given_up():
            try:
                told = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), _ORDER_SECONDS)
                self._threads = {address: worker["nthreads"] for address, worker in told["workers"].items()}
                self._seen = {address: float(worker["last_seen"]) for address, worker in told["workers"].items()}
                self._answered = time.monotonic()
            except (asyncio.TimeoutError, OSError, RuntimeError):
                pass  # `silence` tells
            early = time.monotonic() - began < SECONDS_OF_QUICK_POLLS
            await asyncio.sleep(QUICK_POLL_SECONDS if early else POLL_SECONDS)
