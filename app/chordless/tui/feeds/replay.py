"""Events of a recording, played back in time."""

from __future__ import annotations

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


class ReplayFeed(Feed):
    """Plays a recording.

    Parameters
    ----------
    path : Path
        A file of events, or a run directory.
    speed : float
        1 plays at the original speed, 2 twice as fast; 0 delivers everything at once. No wait is longer than 5 s.

    Raises
    ------
    EngineError
        If the file is not a recording.
    """

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        super().__init__()
        self._path = path / "events.jsonl" if path.is_dir() else path
        self._speed = speed
        self._is_over = False
        if path.is_dir():
            self.directory = path
        try:
            with open_to_read(self._path) as stream:
                first = stream.readline()
        except OSError as error:
            raise EngineError(f"cannot read {self._path}: {error.strerror}") from error
        try:
            timed_event(first)
        except EngineError as error:
            raise EngineError(f"{self._path}: line 1: {error}") from error

    def settle(self, state: RunState) -> RunState:
        """Mark the run as lost if the recording has ended before the run. A replay cannot be resumed."""
        return replace(state.lost() if self._is_over else state, can_resume=False)

    def _feed(self) -> None:
        self._play()
        self._is_over = True

    def _play(self) -> None:
        before = None
        with open_to_read(self._path) as stream:
            for number, line in enumerate(stream, start=1):
                if not line.endswith(b"\n"):
                    # A killed process has left an incomplete line.
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
        """Wait, and deliver the events that are due meanwhile."""
        until = time.monotonic() + min(seconds, _LONGEST_WAIT)
        while (left := until - time.monotonic()) > 0 and not self._closing.is_set():
            self._closing.wait(min(left, SECONDS_BETWEEN_BATCHES))
            self._flush_if_due()
