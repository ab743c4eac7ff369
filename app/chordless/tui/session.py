"""A run as the dashboard holds it: its feed, and the newest picture of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, resume_line
from chordless.runs.state import RunState
from chordless.tui.feeds import Batch, Feed

_OVER = frozenset({"finished", "failed", "lost"})
# A checkpoint of many gigabytes takes its time.
_SECONDS_TO_STOP = 60.0
_SECONDS_TO_END = 15.0


class RunSession:
    """A run that is watched.

    Parameters
    ----------
    feed : Feed

    Attributes
    ----------
    state : RunState
        The newest picture; it is replaced, never changed, by the feed's thread.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._told = self.state = RunState()
        self._changed: Callable[[], None] = lambda: None

    @property
    def can_control(self) -> bool:
        """Whether there is an engine that can be paused and stopped from here."""
        return self.feed.can_control and self.is_at_work

    @property
    def is_at_work(self) -> bool:
        """Whether an engine is at work."""
        return self.feed.at_work and self.state.phase not in _OVER

    @property
    def owns_engine(self) -> bool:
        """Whether the engine ends with this process."""
        return self.feed.owns_engine and self.is_at_work

    @property
    def directory(self) -> Path | None:
        """The run directory, where there is one."""
        return self.feed.directory

    def is_in(self, directory: Path) -> bool:
        """Return whether this is the run of a directory."""
        own = self.directory
        return own is not None and own.resolve() == directory.resolve()

    @property
    def command(self) -> RunCommand | None:
        """What the engine of this process was asked, if there is one."""
        return getattr(self.feed, "command", None)

    def begin(self, changed: Callable[[], None]) -> None:
        """Start the feed; `changed` is called, in its thread, whenever `state` is a new one."""
        self._changed = changed
        self.feed.begin(self._take)

    def pause(self) -> None:
        """Halt the search after this slice."""
        self.feed.pause()

    def go_on(self) -> None:
        """Let a paused search go on."""
        self.feed.go_on()

    def stop(self) -> None:
        """End the search; what was found is reported and, if it has a directory, kept."""
        self.feed.stop()

    def checkpoint(self) -> None:
        """Write a checkpoint now."""
        self.feed.checkpoint()

    def kill(self) -> None:
        """End the engine at once."""
        self.feed.kill()

    def close(self) -> None:
        """End the feed, and with it at once an engine of its own that is still at work. It does not wait for that."""
        self.feed.close()

    def end(self) -> None:
        """End the feed; an engine of its own that is searching ends with a checkpoint first. It waits for that."""
        if self.owns_engine:
            self.feed.stop()
            self.feed.join(_SECONDS_TO_STOP)
        self.feed.close()
        self.feed.join(_SECONDS_TO_END)

    def way_on(self) -> str:
        """Return a line with the command that resumes the run, or ""."""
        if self.directory is None or self.state.reason == "complete" or not self._has_checkpoint():
            return ""
        return f"the run is stopped; to go on: {resume_line(self.directory)}"

    def _take(self, batch: Batch) -> None:
        self._told = self._told.after(batch)
        state = self.feed.settle(self._told)
        if state.can_resume and not self._has_checkpoint():
            state = replace(state, can_resume=False)
        self.state = state
        self._changed()

    def _has_checkpoint(self) -> bool:
        """Look for it: the folder of a run may have been moved or taken away."""
        return self.directory is not None and RunDirectory(self.directory).checkpoint.exists()
