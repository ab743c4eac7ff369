"""Events of an engine at work: a child of this process, or that of another one, read from its run directory."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from chordless.engine.process import EngineProcess
from chordless.files import open_to_read
from chordless.protocol.events import DeviceReport, Failed, Finished, Log, Started
from chordless.protocol.orders import RunCommand, StopCommand
from chordless.protocol.recording import recorded, timed_event
from chordless.runs import mailbox
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState
from chordless.tui.feeds.feed import SECONDS_BETWEEN_BATCHES, Feed
from kernels_ti import EngineError

_LAST_EVENTS = (Finished, Failed, DeviceReport)
_SECONDS_BETWEEN_LOOKS = 1.0
# An engine may release its lock shortly before its last event is in the recording.
_LOOKS_UNTIL_LOST = 3


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
        """Find out whether an engine is running."""
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
