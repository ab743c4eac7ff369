"""Events of a recording, played back in time."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from pathlib import Path

from chordless.files import open_to_read
from chordless.protocol.recording import timed_event
from chordless.runs.state import RunState
from chordless.tui.feeds.feed import SECONDS_BETWEEN_BATCHES, Feed
from kernels_ti import EngineError

# In seconds. A pause of the run, or the night before it was resumed, must not make a replay wait.
_LONGEST_WAIT = 5.0
_SECONDS_AT_REST = 1.0
_SLOWEST, _FASTEST = 0.125, 1024.0
# Bytes. The last line of a longer recording is looked for in these.
_LONGEST_LINE = 1 << 20


class ReplayFeed(Feed):
    """Plays a recording: a file of events, or that of a run directory. Raise EngineError if it is none.

    A speed of 1 is the original one, 2 is twice as fast, and 0 delivers everything at once. No wait is longer than 5 s.
    `position` and `length` are recorded seconds from the first event, to the newest one that was played and to the
    last. The length is None if the last event cannot be read. It `has_ended` when all events have been played.
    """

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        super().__init__()
        self._path = path / "events.jsonl" if path.is_dir() else path
        self.speed = speed
        self.position = 0.0
        self.length: float | None = None
        self.paused = False
        self._target: float | None = None
        self._wake = threading.Event()
        self.has_ended = self._is_rewound = self._is_backward = False
        if path.is_dir():
            self.directory = path
        try:
            with open_to_read(self._path) as stream:
                first = stream.readline()
        except OSError as error:
            raise EngineError(f"cannot read {self._path}: {error.strerror}") from error
        try:
            self._first, _ = timed_event(first)
        except EngineError as error:
            raise EngineError(f"{self._path}: line 1: {error}") from error
        last = _last_time(self._path)
        if last is not None:
            self.length = max(last - self._first, 0.0)

    def toggle(self) -> None:
        """Pause, or go on. A replay that has ended begins again."""
        if self.has_ended and not self.paused:
            self.seek(-self.position)
        else:
            self.paused = not self.paused
        # A replay at once, paused by a seek, goes on as it was recorded.
        self.speed = self.speed or 1.0
        self._wake.set()

    def seek(self, seconds: float) -> None:
        """Move the position by this number of recorded seconds: forward, or back if it is negative."""
        position = self.position if self._target is None else self._target
        self._target, self._is_backward = max(position + seconds, 0.0), seconds < 0
        self.paused = self.paused or not self.speed
        self._wake.set()

    def hurry(self, factor: float) -> None:
        """Multiply the speed."""
        self.speed = min(max(self.speed * factor, _SLOWEST), _FASTEST) if self.speed else 1.0
        self._wake.set()

    def close(self) -> None:
        """Let the thread end."""
        super().close()
        self._wake.set()

    def base(self, state: RunState) -> RunState:
        """Return the state before the first event if the replay has gone back."""
        if not self._is_rewound:
            return state
        self._is_rewound = False
        return RunState()

    def settle(self, state: RunState) -> RunState:
        """Mark the run as lost if the recording has ended before the run. A replay cannot be resumed."""
        return replace(state.lost() if self.has_ended else state, can_resume=False)

    def _feed(self) -> None:
        while not self._closing.is_set():
            if self._play():
                self.has_ended = True
                self._target = None
                self._flush()
                # Wait at the end: the user may go back.
                while self._target is None and not self._closing.is_set():
                    self._rest(_SECONDS_AT_REST)
            self.has_ended, self._is_rewound, self.position = False, True, 0.0

    def _play(self) -> bool:
        """Play from the first event on. Return False when the user wants to go back."""
        before = self._first
        with open_to_read(self._path) as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    # A killed process has left an incomplete line.
                    break
                try:
                    when, event = timed_event(line)
                except EngineError as error:
                    raise EngineError(f"{self._path}: line {number}: {error}") from error
                if self._is_backward and self._is_beyond(when - self._first) and number > 1:
                    self._arrive()
                if self._target is None:
                    self._wait(when - before)
                if self._closing.is_set():
                    return True
                if self._target is not None and self._target < self.position:
                    return False
                before = when
                self._add(when, event)
                self.position = max(when - self._first, self.position)
                if self._target is None:
                    self._flush_if_due()
                elif not self._is_backward and self._is_beyond(self.position):
                    self._arrive()
        return True

    def _is_beyond(self, position: float) -> bool:
        return self._target is not None and position >= self._target

    def _arrive(self) -> None:
        """Show where the user wanted to go: back to the event before that place, or on to the one after it."""
        self._target = None
        self._flush()

    def _wait(self, recorded: float) -> None:
        """Wait for this number of recorded seconds, and deliver the events that are due in the meantime."""
        left = min(recorded, _LONGEST_WAIT * self.speed)
        while (self.paused or (left > 0 and self.speed)) and self._target is None and not self._closing.is_set():
            began = time.monotonic()
            self._rest(_SECONDS_AT_REST if self.paused else min(left / self.speed, SECONDS_BETWEEN_BATCHES))
            if not self.paused:
                left -= (time.monotonic() - began) * self.speed
                self._flush_if_due()

    def _rest(self, seconds: float) -> None:
        """Wait until the user does something, and tell what has changed then."""
        if self._wake.wait(seconds):
            self._wake.clear()
            if self._target is None:
                self._flush()


def _last_time(path: Path) -> float | None:
    """Return the time of the last complete line of a recording; None if it cannot be read."""
    with open_to_read(path) as stream:
        stream.seek(0, 2)
        stream.seek(max(stream.tell() - _LONGEST_LINE, 0))
        lines = stream.read().split(b"\n")[:-1]
    with contextlib.suppress(EngineError, IndexError):
        return timed_event(lines[-1] + b"\n")[0]
    return None
