"""The handle on a batch: one engine does all of it; where one dies, another goes on after the graph it died of.

From Python::

    command = BatchCommand(jobs_of(["webs/*.net", "all.g6"], BatchJob("")), "counts.jsonl")
    with BatchClient(command) as batch:
        for event in batch.events():
            ...  # BatchProgress ten times a second, at last a BatchFinished or a Failed
    for line in read_lines("counts.jsonl"):
        ...

The lines may be read while they are written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import IO

from chordless.engine.process import EngineProcess
from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.events import BatchFinished, BatchSearching, Event, Failed
from chordless.protocol.orders import BatchCommand


class BatchClient:
    """A running batch.

    Use it as a context manager: however the block is left, no child stays behind.

    Parameters
    ----------
    command : BatchCommand
    recording : text file, optional
    polite : bool, default False
        See `chordless.engine.process.EngineProcess`.

    Attributes
    ----------
    search_began : bool
        Whether it has said so; from then on `stop` gets an answer soon.
    engines : int
        How many engines have been started.

    Raises
    ------
    EngineError
        If the system does not start a process.
    """

    def __init__(self, command: BatchCommand, *, recording: IO[str] | None = None, polite: bool = False) -> None:
        self._command = command
        self._start = partial(EngineProcess, recording=recording, polite=polite)
        self._engine = self._start(command)
        self._searching: BatchSearching | None = None
        self._stopping = False
        self._killed = False
        self._last: Event | None = None
        self.engines = 1

    @property
    def search_began(self) -> bool:
        """Whether the engine has its inputs together and the output open."""
        return self._engine.search_began

    @property
    def engine(self) -> EngineProcess:
        """The engine that is at work."""
        return self._engine

    def stop(self) -> None:
        """Ask for an end after the graphs that are being searched. May be called in a signal handler."""
        self._stopping = True
        self._engine.stop()

    def kill(self) -> None:
        """End the engine at once; what has its line is done, and a batch to the same file goes on from there."""
        self._killed = True
        self._engine.kill()

    def poll(self, timeout: float | None = None) -> Event | None:
        """Return the next event.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait; by default until there is one.

        Returns
        -------
        Event or None
            None if nothing came in time, or after the last event, a `BatchFinished` or a `Failed`. That an engine
            died of a graph is an error of that graph and no event.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._last is None:
            event = self._engine.poll(None if deadline is None else max(deadline - time.monotonic(), 0.0))
            if event is None:
                return None
            if isinstance(event, BatchSearching):
                self._searching = event if event.first < event.stop else None
            elif isinstance(event, Failed) and self._engine.died and self._can_go_on(event):
                self._go_on(event)
                continue
            if isinstance(event, (BatchFinished, Failed)):
                self._last = event
            return event
        return None

    def events(self) -> Iterator[Event]:
        """Yield events as they come, up to the last one."""
        while (event := self.poll()) is not None:
            yield event

    def close(self) -> None:
        """Let the engine end if it has reported its last event, kill it otherwise."""
        self._engine.close()

    def __enter__(self) -> BatchClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _can_go_on(self, death: Failed) -> bool:
        """Say whether it is known what the engine died of, and whether the others can be read again."""
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
        self._engine.close()
        self._engine = self._start(self._command)
        self.engines += 1
