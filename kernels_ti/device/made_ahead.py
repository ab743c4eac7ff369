"""Pieces of work that threads do while the results before them are taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from kernels_ti.device.machine import cores

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST_WORKERS = 8
_PIECES_AHEAD = 2  # Pieces for each worker that may be done before they are taken, which bounds the memory


def made_ahead(make: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield what `make`, which releases Python's lock, makes of each item, in their order.

    Threads are a few items ahead. The items themselves are made by the thread that takes the results.
    """
    workers = min(cores(), _MOST_WORKERS)
    if workers < 2:
        yield from map(make, items)
        return
    under_way: deque[Future[_Result]] = deque()
    with ThreadPoolExecutor(workers, "chordless pieces") as threads:
        for item in items:
            if len(under_way) >= _PIECES_AHEAD * workers:
                yield under_way.popleft().result()
            under_way.append(threads.submit(make, item))
        while under_way:
            yield under_way.popleft().result()
