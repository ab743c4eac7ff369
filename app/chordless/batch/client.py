"""The handle on a batch. One engine does all of it. If it dies, a new engine continues and leaves out the fatal graph.

From Python::

    command = BatchCommand(jobs_of(["webs/*.net", "all.g6"], BatchJob("")), "counts.jsonl")
    with BatchClient(command) as batch:
        for event in batch.events():
            ...  # BatchProgress ten times a second, at last a BatchFinished or a Failed
    for line in read_lines("counts.jsonl"):
        ...

The lines can be read while the batch runs.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import IO

from chordless.engine.process import EngineProcess
from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.events import BatchFinished, BatchSearching, Event, Failed
from chordless.protocol.orders import BatchCommand


class BatchClient(contextlib.AbstractContextManager["BatchClient"]):
    """A running batch; it takes what `chordless.engine.process.EngineProcess` takes.

    Use it as a context manager. Its end leaves no child process, even after an exception. `engine` is the current one
    of the `engines` that were started so far. An EngineError is raised if the system does not start a process.
    """

    def __init__(self, command: BatchCommand, *, recording: IO[str] | None = None, polite: bool = False) -> None:
        self._command = command
        self._start = partial(EngineProcess, recording=recording, polite=polite)
        self.engine = self._start(command)
        self._searching: BatchSearching | None = None
        self._stopping = False
        self._killed = False
        self._last: Event | None = None
        self.engines = 1

    @property
    def search_began(self) -> bool:
        """Whether the engine has checked its inputs and opened the output."""
        return self.engine.search_began

    def stop(self) -> None:
        """Ask the engine to end after the current graphs. It is safe to call this in a signal handler."""
        self._stopping = True
        self.engine.stop()

    def kill(self) -> None:
        """Kill the engine. Graphs with a line are done, and another batch to the same file continues after them."""
        self._killed = True
        self.engine.kill()

    def poll(self, timeout: float | None = None) -> Event | None:
        """Return the next event; None after `timeout` seconds, or after the last event.

        The last event is a `BatchFinished` or a `Failed`. If a graph kills an engine, this is an error of that graph,
        not an event.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._last is None:
            event = self.engine.poll(None if deadline is None else max(deadline - time.monotonic(), 0.0))
            if event is None:
                return None
            if isinstance(event, BatchSearching):
                self._searching = event if event.first < event.stop else None
            elif isinstance(event, Failed) and self.engine.died and self._can_go_on():
                self._go_on(event)
                continue
            if isinstance(event, (BatchFinished, Failed)):
                self._last = event
            return event
        return None

    def events(self) -> Iterator[Event]:
        """Yield all events, up to the last one."""
        while (event := self.poll()) is not None:
            yield event

    def close(self) -> None:
        """Let the engine end if it has sent its last event. Otherwise kill it."""
        self.engine.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _can_go_on(self) -> bool:
        """Return whether the fatal graphs are known, and all inputs can be read again."""
        if self._killed or self._stopping or self._searching is None:
            return False
        here = (self._searching.first, self._searching.stop)
        known_already = any((first, stop) == here for first, stop, _ in self._command.crashes)
        return not known_already and all(job.graph != STANDARD_INPUT for job in self._command.jobs)

    def _go_on(self, death: Failed) -> None:
        assert self._searching is not None
        crash = (self._searching.first, self._searching.stop, death.message)
        self._command = replace(self._command, crashes=(*self._command.crashes, crash))
        self._searching = None
        self.engine.close()
        self.engine = self._start(self._command)
        self.engines += 1
