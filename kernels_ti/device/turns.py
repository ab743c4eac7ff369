"""A lock on the open arch: Taichi runs one arch at a time, and a call holds its arch until its search is done."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Turns:
    """A lock with a key: calls with the same key run side by side, a call with another key waits.

    Calls are served in the order of their arrival. A thread never waits for itself: a call within a call is served at
    once, whatever its key is.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders: list[tuple[int, Hashable]] = []
        self._waiting: deque[object] = deque()

    @contextmanager
    def hold(self, needed: Hashable) -> Iterator[None]:
        """Wait until nobody holds anything else, then hold `needed`."""
        holder, place = (threading.get_ident(), needed), object()
        with self._changed:
            if all(other != holder[0] for other, _ in self._holders):
                self._waiting.append(place)
                try:
                    self._changed.wait_for(
                        lambda: self._waiting[0] is place and all(held == needed for _, held in self._holders)
                    )
                finally:
                    self._waiting.remove(place)
                    self._changed.notify_all()
            self._holders.append(holder)
        try:
            yield
        finally:
            with self._changed:
                self._holders.remove(holder)
                self._changed.notify_all()
