"""The base class of all sources of events, and those of an engine at work: a child of this process, or another's.

Of an engine that another process has started, the recording in its run directory is read.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chordless.engine.process import EngineProcess
from chordless.files import open_to_read
from chordless.protocol.events import DeviceReport, Event, Failed, Finished, Log, Started
from chordless.protocol.orders import CheckpointCommand, GoCommand, PauseCommand, RunCommand, StopCommand
from chordless.protocol.recording import recorded, timed_event
from chordless.runs import mailbox
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState
from kernels_ti import ChordlessError, EngineError

Batch = tuple[tuple[float, Event], ...]
"""Events, each with the time at which it was recorded, in seconds since 1970."""

SECONDS_BETWEEN_BATCHES = 0.1
_NO_ENGINE = "there is no engine here to control"
_LAST_EVENTS = (Finished, Failed, DeviceReport)
_SECONDS_BETWEEN_LOOKS = 1.0
# An engine may release its lock shortly before its last event is in the recording.
_LOOKS_UNTIL_LOST = 3


class Feed(ABC):
    """A source of events."""

    directory: Path | None = None  # The run directory, if it is known
    owns_engine = False  # Whether the engine is a child of this process, and ends with it
    at_work = False  # Whether an engine is running, as far as the feed knows

    def __init__(self) -> None:
        self._deliver: Callable[[Batch], None] = lambda batch: None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name=type(self).__name__, daemon=True)
        self._batch: list[tuple[float, Event]] = []
        self._delivered = 0.0

    @property
    def can_control(self) -> bool:
        """Whether there is an engine that takes orders: pause, stop and so on."""
        return False

    def begin(self, deliver: Callable[[Batch], None]) -> None:
        """Start the thread. It calls `deliver` with each batch; an empty one says that `at_work` has changed."""
        self._deliver = deliver
        self._thread.start()

    def close(self) -> None:
        """Let the thread end. If the feed has its own engine, that ends too."""
        self._closing.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the thread, at most `seconds`."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def base(self, state: RunState) -> RunState:
        """Return the state to which the next batch is added: the newest one, unless a replay has gone back."""
        return state

    def settle(self, state: RunState) -> RunState:
        """Return the state with corrections that only the feed knows, not the events."""
        return state

    def post(self, order: mailbox.Order) -> None:
        """Give the engine an order."""
        raise EngineError(_NO_ENGINE)

    def pause(self) -> None:
        """Ask the engine to pause after the current slice."""
        self.post(PauseCommand())

    def go_on(self) -> None:
        """Ask a paused engine to continue."""
        self.post(GoCommand())

    def stop(self) -> None:
        """Ask the engine to end and to report its results."""
        self.post(StopCommand())

    def checkpoint(self) -> None:
        """Ask the engine for a checkpoint."""
        self.post(CheckpointCommand())

    def kill(self) -> None:
        """End the engine of this process at once."""
        raise EngineError(_NO_ENGINE)

    def _work(self) -> None:
        try:
            self._feed()
        except (ChordlessError, OSError) as error:
            self._add(time.time(), Failed(type(error).__name__, str(error), EngineError.exit_code))
        except Exception as error:
            # This thread must report the error itself. Otherwise the run would seem to go on for ever.
            message = f"internal error: {type(error).__name__}: {error}"
            self._add(time.time(), Failed(type(error).__name__, message, EngineError.exit_code, traceback.format_exc()))
        # Whoever sees that the engine is not at work any more has the state that it ended in.
        self._flush()
        self.at_work = False
        self._flush()

    @abstractmethod
    def _feed(self) -> None:
        """Add events until there are no more, or `_closing` is set."""

    def _add(self, when: float, event: Event) -> None:
        self._batch.append((when, event))

    def _flush_if_due(self) -> None:
        if self._batch and time.monotonic() - self._delivered >= SECONDS_BETWEEN_BATCHES:
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = tuple(self._batch), []
        self._delivered = time.monotonic()
        self._deliver(batch)


class EngineFeed(Feed):
    """An engine that is a child of this process.

    Raise EngineError if the system does not start a process.
    """

    owns_engine = True
    at_work = True

    def __init__(self, command: RunCommand) -> None:
        super().__init__()
        self.command = command
        self.directory = None if command.checkpoint is None else Path(command.checkpoint)
        self._engine = EngineProcess(command, polite=True)
        self._has_begun = False

    @property
    def can_control(self) -> bool:
        """Whether the engine is still at work."""
        return self.at_work

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._engine.pid

    def post(self, order: mailbox.Order) -> None:
        """Give the engine an order. A stop kills it before the search has begun."""
        if not isinstance(order, StopCommand):
            self._engine.send(order)
        elif self._engine.search_began:
            self._engine.stop()
        else:
            self.kill()

    def kill(self) -> None:
        """End the engine at once."""
        self._engine.kill()

    def settle(self, state: RunState) -> RunState:
        """Mark a resumed run as starting until its engine reports the first event."""
        if self._has_begun:
            return state
        return replace(state, phase="starting", reason=None, error=None, can_resume=False)

    def _feed(self) -> None:
        with self._engine as engine:
            if self.command.resume and self.directory is not None:
                self._recall(self.directory)
            while not self._closing.is_set():
                event = engine.poll(SECONDS_BETWEEN_BATCHES)
                if event is not None:
                    self._has_begun = self._has_begun or isinstance(event, (Started, *_LAST_EVENTS))
                    self._add(time.time(), event)
                if isinstance(event, _LAST_EVENTS):
                    return
                self._flush_if_due()

    def _recall(self, directory: Path) -> None:
        """Deliver the earlier recording of a resumed run, so that it is visible while the engine starts."""
        try:
            for when, event in recorded(RunDirectory(directory).events):
                self._add(when, event)
        except EngineError as error:
            # The engine needs only the checkpoint. The recording is just for display.
            self._add(time.time(), Log(f"the earlier recording cannot be shown: {error}"))
        self._flush()


class FollowFeed(Feed):
    """Reads the recording of a run directory while it grows, and controls the engine through its mailbox.

    Raise CheckpointError if the directory holds no run.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        run_directory = RunDirectory(directory)
        run_directory.command()
        self.directory = directory
        self._path = run_directory.events
        self._read_to = self._lines_read = 0
        self._looks_without_engine = 0
        self._is_lost = False
        self.at_work = mailbox.is_at_work(directory)

    @property
    def can_control(self) -> bool:
        """Whether an engine is running there, and this user may give it orders."""
        return self.at_work and os.access(self.directory or "", os.W_OK)

    def post(self, order: mailbox.Order) -> None:
        """Leave an order for the engine in its mailbox."""
        assert self.directory is not None
        mailbox.post(self.directory, order)

    def settle(self, state: RunState) -> RunState:
        """Mark a run as lost if its engine has ended without a last event. A run at work cannot be resumed."""
        # The run may have been moved since the recording was made.
        state = replace(state, directory=str(self.directory))
        if self._is_lost:
            return state.lost()
        return replace(state, can_resume=False) if self.at_work else state

    def _feed(self) -> None:
        looked = 0.0
        self._read()
        if not self.at_work:
            # No engine was there before the recording was read: it is whole.
            self._looks_without_engine = _LOOKS_UNTIL_LOST - 1
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
            if self._closing.wait(SECONDS_BETWEEN_BATCHES):
                return

    def _look(self) -> None:
        assert self.directory is not None
        before = self.at_work, self._is_lost
        self.at_work = mailbox.is_at_work(self.directory)
        self._looks_without_engine = 0 if self.at_work else self._looks_without_engine + 1
        self._is_lost = self._looks_without_engine >= _LOOKS_UNTIL_LOST
        if (self.at_work, self._is_lost) != before:
            self._flush()

    def _read(self) -> bool:
        """Add the events of all new complete lines. Return whether there were any."""
        before = self._read_to
        try:
            with open_to_read(self._path) as stream:
                if stream.seek(0, os.SEEK_END) < self._read_to:
                    # The file is shorter than before, so it was replaced.
                    self._read_to = self._lines_read = before = 0
                stream.seek(self._read_to)
                for line in stream:
                    if not line.endswith(b"\n") or self._closing.is_set():
                        break
                    self._read_to += len(line)
                    self._lines_read += 1
                    try:
                        self._add(*timed_event(line))
                    except EngineError as error:
                        raise EngineError(
                            f"the recording cannot be read from line {self._lines_read} of {self._path} on: {error}"
                        ) from error
        except FileNotFoundError:
            return False
        return self._read_to > before
