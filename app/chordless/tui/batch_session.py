"""A batch in the dashboard: a thread that listens to its engine, and its newest state."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from chordless.batch.client import BatchClient
from chordless.protocol.events import BatchFinished, BatchProgress, BatchStarted, Event, Failed
from chordless.protocol.orders import BatchCommand
from chordless.tui.feeds.feed import SECONDS_BETWEEN_BATCHES, Batch, Feed

# A launch of thousands of graphs has to end first.
_SECONDS_TO_STOP = 30.0
_SECONDS_TO_END = 15.0
# Fields of a state that are those of the last report.
_COUNTS = ("done", "kept", "failed", "stopped", "cycles", "seconds")

BatchPhase = Literal["starting", "running", "complete", "interrupted", "failed"]


@dataclass(frozen=True)
class BatchState:
    """The state of a batch."""

    # ``interrupted``: the user stopped it. ``failed``: an error of the batch itself ended it, not one of a graph.
    phase: BatchPhase = "starting"
    stopping: bool = False  # Whether it was asked to stop
    # `done`, `kept`, `failed`, `stopped`, `cycles`, `total`, `graph`, `share` and `seconds`: see
    # `chordless.protocol.events.BatchProgress`.
    done: int = 0
    kept: int = 0
    failed: int = 0
    stopped: int = 0
    cycles: int = 0
    total: int | None = None
    graph: str | None = None
    share: float = 0.0
    seconds: float = 0.0
    error: str | None = None  # The reason of a failure

    @property
    def rate(self) -> float:
        """Graphs per second, without those that were done earlier."""
        return (self.done - self.kept) / self.seconds if self.seconds > 0 else 0.0

    def after(self, events: Iterable[tuple[float, Event]]) -> BatchState:
        """Return the state after some events."""
        state = self
        for _, event in events:
            state = state._after(event)
        return state

    def _after(self, event: Event) -> BatchState:
        if isinstance(event, BatchStarted):
            return replace(self, phase="running", total=event.total)
        if isinstance(event, BatchProgress):
            counts = {name: getattr(event, name) for name in (*_COUNTS, "total", "graph", "share")}
            return replace(self, phase="running", **counts)
        if isinstance(event, BatchFinished):
            phase: BatchPhase = "complete" if event.reason == "complete" else "interrupted"
            return replace(self, phase=phase, graph=None, **{name: getattr(event, name) for name in _COUNTS})
        if isinstance(event, Failed):
            phase = "interrupted" if event.stopped else "failed"
            return replace(self, phase=phase, graph=None, error=event.message)
        return self


class BatchFeed(Feed):
    """The engine of a batch, a child of this process.

    Raise EngineError if the system does not start a process.
    """

    owns_engine = True
    at_work = True

    def __init__(self, command: BatchCommand) -> None:
        super().__init__()
        self._client = BatchClient(command, polite=True)
        self._ending: str | None = None

    def stop(self) -> None:
        """Ask the engine to end after the current graphs. Before the search has begun, kill it."""
        if self._client.search_began:
            self._client.stop()
        else:
            self.kill("stopped before the first graph")

    def kill(self, why: str = "ended at once") -> None:
        """End the engine at once."""
        self._ending = why
        self._client.kill()

    def _feed(self) -> None:
        with self._client as client:
            while not self._closing.is_set():
                event = client.poll(SECONDS_BETWEEN_BATCHES)
                if isinstance(event, Failed) and self._ending is not None:
                    event = replace(event, message=self._ending, stopped=True)
                if event is not None:
                    self._add(time.time(), event)
                if isinstance(event, (BatchFinished, Failed)):
                    return
                self._flush_if_due()


class BatchSession:
    """A batch that is running, or has ended; `state` is replaced, never changed.

    Raise EngineError if the system does not start a process.
    """

    def __init__(self, command: BatchCommand) -> None:
        self.command = command
        self._feed = BatchFeed(command)
        self._told = self.state = BatchState()
        self._stopping = False
        self._lock = threading.Lock()
        self._changed: Callable[[], object] = lambda: None

    @property
    def is_at_work(self) -> bool:
        """Whether the engine is at work."""
        return self._feed.at_work

    def begin(self, changed: Callable[[], object]) -> None:
        """Start to listen. After each change of `state`, the listening thread calls `changed`."""
        self._changed = changed
        self._feed.begin(self._take)

    def stop(self) -> None:
        """Ask the engine to end after the current graphs. At the second call, kill it."""
        if not self.is_at_work:
            return
        if self._stopping:
            self.kill()
            return
        self._stopping = True
        self._feed.stop()
        self._take(())

    def kill(self) -> None:
        """End the engine at once. Graphs that have a line in the file are done."""
        if self.is_at_work:
            self._stopping = True
            self._feed.kill()

    def end(self) -> None:
        """End the batch and wait. Let it finish the current graphs, if these end in time."""
        if self.is_at_work:
            if not self._stopping:
                self._feed.stop()
            self._feed.join(_SECONDS_TO_STOP)
        self._feed.close()
        self._feed.join(_SECONDS_TO_END)

    def _take(self, batch: Batch) -> None:
        with self._lock:
            self._told = self._told.after(batch)
            self.state = replace(self._told, stopping=self._stopping and self.is_at_work)
        self._changed()
