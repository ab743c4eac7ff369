"""Where the dashboard's events come from: an engine of its own, the recording of one elsewhere, a replay.

Each feed works in a thread of its own and hands over its events in batches, at most ten a second.
"""

from __future__ import annotations

import json
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app import mailbox
from app.client import Engine
from app.events import (
    CheckpointCommand,
    DeviceReport,
    Event,
    Failed,
    Finished,
    GoCommand,
    PauseCommand,
    RunCommand,
    StopCommand,
    event_from_json,
)
from app.run_directory import RunDirectory
from app.tui.run_state import RunState
from kernels_ti.errors import ChordlessError, EngineError

Batch = tuple[tuple[float, Event], ...]
"""Events, each with the wall-clock time at which it was recorded, in seconds."""

_SECONDS_BETWEEN_BATCHES = 0.1
_SECONDS_BETWEEN_LOOKS = 1.0
# Between the release of the lock and the recording of the last event, a moment passes.
_LOOKS_UNTIL_LOST = 3
# So that neither a pause nor the night between two sessions makes a replay wait.
_LONGEST_WAIT = 5.0


class Feed(ABC):
    """A source of events.

    Attributes
    ----------
    directory : Path or None
        The run directory, where it is known.
    owns_engine : bool
        Whether the engine is a child of this process, and ends with it.
    at_work : bool
        Whether an engine is at work, as far as is known.
    """

    directory: Path | None = None
    owns_engine = False
    at_work = False

    def __init__(self) -> None:
        self._deliver: Callable[[Batch], None] = lambda batch: None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name=type(self).__name__, daemon=True)
        self._batch: list[tuple[float, Event]] = []
        self._delivered = 0.0

    @property
    def can_control(self) -> bool:
        """Whether there is an engine that can be paused, stopped and so on."""
        return False

    def begin(self, deliver: Callable[[Batch], None]) -> None:
        """Start the thread.

        Parameters
        ----------
        deliver : callable
            Gets each batch, in that thread. An empty one says that `at_work` has changed.
        """
        self._deliver = deliver
        self._thread.start()

    def close(self) -> None:
        """Let the thread end, and with it an engine of its own that is still at work."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the thread, at most so long."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def settle(self, state: RunState) -> RunState:
        """Return the state of the run with what the feed knows better than its events."""
        return state

    def pause(self) -> None:
        """Ask the engine to halt after this slice."""
        raise _no_engine()

    def go_on(self) -> None:
        """Ask a paused engine to go on."""
        raise _no_engine()

    def stop(self) -> None:
        """Ask the engine to end and to report what it found."""
        raise _no_engine()

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint."""
        raise _no_engine()

    def kill(self) -> None:
        """End the engine at once."""
        raise _no_engine()

    def _work(self) -> None:
        try:
            self._feed()
        except (ChordlessError, OSError) as error:
            self._add(time.time(), Failed(type(error).__name__, str(error), EngineError.exit_code))
        self.at_work = False
        self._flush()

    @abstractmethod
    def _feed(self) -> None:
        """Add events until there are no more, or `_closing` is set."""

    def _add(self, when: float, event: Event) -> None:
        self._batch.append((when, event))

    def _flush_if_due(self) -> None:
        if self._batch and time.monotonic() - self._delivered >= _SECONDS_BETWEEN_BATCHES:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = tuple(self._batch), []
        self._delivered = time.monotonic()
        self._deliver(batch)


class EngineFeed(Feed):
    """An engine that is a child of this process.

    Parameters
    ----------
    command : RunCommand

    Raises
    ------
    EngineError
        If the system does not start a process.
    """

    owns_engine = True
    at_work = True

    def __init__(self, command: RunCommand) -> None:
        super().__init__()
        self.command = command
        self.directory = None if command.checkpoint is None else Path(command.checkpoint)
        self._engine = Engine(command)
        self._stopped_early = False

    @property
    def can_control(self) -> bool:
        """Whether the engine is still at work."""
        return self.at_work

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._engine.pid

    def pause(self) -> None:
        """Ask the engine to halt after this slice."""
        self._send(self._engine.pause)

    def go_on(self) -> None:
        """Ask a paused engine to go on."""
        self._send(self._engine.go)

    def stop(self) -> None:
        """Ask the engine to end and to report what it found; before the search began, end it at once."""
        if self._engine.search_began:
            self._send(self._engine.stop)
        else:
            self._stopped_early = True
            self._engine.kill()

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint."""
        self._send(self._engine.checkpoint)

    def kill(self) -> None:
        """End the engine at once."""
        self._engine.kill()

    def _send(self, order: Callable[[], None]) -> None:
        if self.at_work:
            order()

    def _feed(self) -> None:
        with self._engine as engine:
            while not self._closing.is_set():
                event = engine.poll(_SECONDS_BETWEEN_BATCHES)
                if event is not None:
                    self._add(time.time(), self._told(event))
                if isinstance(event, (Finished, Failed, DeviceReport)):
                    return
                self._flush_if_due()

    def _told(self, event: Event) -> Event:
        if self._stopped_early and isinstance(event, Failed):
            return replace(event, message="stopped before the search began")
        return event


class FollowFeed(Feed):
    """The recording of a run directory, read as it grows; the engine is controlled through its mailbox.

    Parameters
    ----------
    directory : Path

    Raises
    ------
    CheckpointError
        If there is no run.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        run_directory = RunDirectory(directory)
        run_directory.command()
        self.directory = directory
        self._path = run_directory.events
        self._read_to = 0
        self._looks_without_engine = 0
        self._is_lost = False
        self.at_work = mailbox.is_at_work(directory)

    @property
    def can_control(self) -> bool:
        """Whether an engine is at work there, and takes orders of this user."""
        return self.at_work and os.access(self.directory or "", os.W_OK)

    def pause(self) -> None:
        """Ask the engine to halt after this slice."""
        self._post(PauseCommand())

    def go_on(self) -> None:
        """Ask a paused engine to go on."""
        self._post(GoCommand())

    def stop(self) -> None:
        """Ask the engine to end and to report what it found."""
        self._post(StopCommand())

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint."""
        self._post(CheckpointCommand())

    def settle(self, state: RunState) -> RunState:
        """Say of a run whose last event is missing that it is lost, and of one at work that it need not be resumed."""
        # Where it lies now; it may have been moved since it was recorded.
        state = replace(state, directory=str(self.directory))
        if self._is_lost:
            return state.lost()
        return replace(state, can_resume=False) if self.at_work else state

    def _post(self, order: mailbox.Order) -> None:
        assert self.directory is not None
        mailbox.post(self.directory, order)

    def _feed(self) -> None:
        looked = 0.0
        while True:
            grown = self._read()
            now = time.monotonic()
            if grown:
                self._looks_without_engine = 0
                self._is_lost = False
            if now - looked >= _SECONDS_BETWEEN_LOOKS:
                looked = now
                self._look()
            self._flush_if_due()
            if self._closing.wait(_SECONDS_BETWEEN_BATCHES):
                return

    def _look(self) -> None:
        """Find out whether an engine is at work."""
        assert self.directory is not None
        before = self.at_work, self._is_lost
        self.at_work = mailbox.is_at_work(self.directory)
        self._looks_without_engine = 0 if self.at_work else self._looks_without_engine + 1
        self._is_lost = self._looks_without_engine >= _LOOKS_UNTIL_LOST
        if (self.at_work, self._is_lost) != before:
            self._flush()

    def _read(self) -> bool:
        """Add the events of the lines that have been completed; return whether there were any."""
        before = self._read_to
        try:
            with open(self._path, "rb") as stream:
                if stream.seek(0, os.SEEK_END) < self._read_to:
                    # Somebody has put another file in its place.
                    self._read_to = before = 0
                stream.seek(self._read_to)
                for line in stream:
                    if not line.endswith(b"\n") or self._closing.is_set():
                        break
                    self._read_to += len(line)
                    self._add(*timed_event(line))
                    self._flush_if_due()
        except FileNotFoundError:
            return False
        return self._read_to > before


class ReplayFeed(Feed):
    """A recording, played.

    Parameters
    ----------
    path : Path
        A file of events, or a run directory.
    speed : float
        How many times as fast as it was recorded; 0 plays it at once. No wait is longer than five seconds.

    Raises
    ------
    EngineError
        If it is not a recording.
    """

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        super().__init__()
        self._path = path / "events.jsonl" if path.is_dir() else path
        self._speed = speed
        self._is_over = False
        if path.is_dir():
            self.directory = path
        try:
            with open(self._path, "rb") as stream:
                first = stream.readline()
        except OSError as error:
            raise EngineError(f"cannot read {self._path}: {error.strerror}") from error
        try:
            timed_event(first)
        except EngineError as error:
            raise EngineError(f"{self._path} is not a recording of events: line 1: {error}") from error

    def settle(self, state: RunState) -> RunState:
        """Say that the recording is at its end, where the run is not; a replay cannot be resumed."""
        return replace(state.lost() if self._is_over else state, can_resume=False)

    def _feed(self) -> None:
        self._play()
        self._is_over = True

    def _play(self) -> None:
        before = None
        with open(self._path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    # What a killed process has torn.
                    return
                try:
                    when, event = timed_event(line)
                except EngineError as error:
                    raise EngineError(f"{self._path}: line {number}: {error}") from error
                if before is not None and self._speed > 0:
                    self._wait((when - before) / self._speed)
                if self._closing.is_set():
                    return
                before = when
                self._add(when, event)
                self._flush_if_due()

    def _wait(self, seconds: float) -> None:
        """Wait, but hand over in time what is there already."""
        until = time.monotonic() + min(seconds, _LONGEST_WAIT)
        while (left := until - time.monotonic()) > 0 and not self._closing.is_set():
            self._closing.wait(min(left, _SECONDS_BETWEEN_BATCHES))
            self._flush_if_due()


def timed_event(line: bytes) -> tuple[float, Event]:
    """Return the time and the event of a line of a recording.

    Raises
    ------
    EngineError
        If it is no such line.
    """
    event = event_from_json(line)
    when = json.loads(line).get("time")
    if not isinstance(when, (int, float)):
        raise EngineError("it does not say when it was recorded")
    return float(when), event


def _no_engine() -> EngineError:
    return EngineError("there is no engine here that could be told")
