"""A run in the dashboard: its feed, and its newest state."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, resume_line
from chordless.runs.state import RunState
from chordless.tui.feeds import Batch, Feed, ReplayFeed
from chordless.words.cycle_range import CycleRange
from kernels_ti import EngineError, child

# Writing a checkpoint of many gigabytes takes long.
_SECONDS_TO_STOP = 60.0
_SECONDS_TO_END = 15.0
# An engine at work reports ten times a second, but not while it compiles or seeks an order.
_SECONDS_OF_QUIET = 1.5
DETACHED_LOG = "detached.log"
_BOOT = "from chordless.cli import main; sys.exit(main())"


class RunSession:
    """A run that the dashboard shows; the feed's thread replaces its newest `state` and never changes it.

    Its `feed` takes the orders. `expected` is the estimate before the start. It stands until the engine has a narrower
    one.
    """

    def __init__(self, feed: Feed, expected: CycleRange | None = None) -> None:
        self.feed = feed
        self._expected = expected
        self._told = self.state = _estimated(_beginning(self.command), expected)
        self._changed: Callable[[], object] = lambda: None
        self._heard = time.monotonic()

    @property
    def can_control(self) -> bool:
        """Whether the dashboard can pause and stop the engine."""
        return self.feed.can_control and self.is_at_work

    @property
    def is_at_work(self) -> bool:
        """Whether an engine is at work."""
        return self.feed.at_work and not self.state.is_over

    @property
    def owns_engine(self) -> bool:
        """Whether the engine is a child of this process, and ends with it."""
        return self.feed.owns_engine and self.is_at_work

    @property
    def quiet_seconds(self) -> float:
        """Seconds since the last report of an engine at work; 0 while reports come, and of a run that is paused."""
        seconds = time.monotonic() - self._heard
        is_quiet = seconds >= _SECONDS_OF_QUIET and self.state.phase != "paused"
        return seconds if is_quiet and self.replay is None and self.is_at_work else 0.0

    @property
    def directory(self) -> Path | None:
        """The run directory, if there is one."""
        return self.feed.directory

    def is_in(self, directory: Path) -> bool:
        """Return whether this is the run of a directory."""
        own = self.directory
        return own is not None and own.resolve() == directory.resolve()

    @property
    def replay(self) -> ReplayFeed | None:
        """The replay, if this is one."""
        return self.feed if isinstance(self.feed, ReplayFeed) else None

    @property
    def command(self) -> RunCommand | None:
        """The command of the engine, if it is a child of this process."""
        return getattr(self.feed, "command", None)

    def known_command(self) -> RunCommand | None:
        """Return the command of the run, from its folder if it is no child of this process; None if it has neither.

        Raise ChordlessError if the folder does not tell it.
        """
        if self.command is not None or self.directory is None:
            return self.command
        return RunDirectory(self.directory).command()

    def begin(self, changed: Callable[[], object]) -> None:
        """Start the feed. After each change of `state`, its thread calls `changed`."""
        self._changed = changed
        self.feed.begin(self._take)

    def end(self) -> None:
        """End the feed and wait. If its own engine is searching, stop that with a checkpoint first."""
        if self.owns_engine:
            self.feed.stop()
            self.feed.join(_SECONDS_TO_STOP)
        self.feed.close()
        self.feed.join(_SECONDS_TO_END)

    def go_on_alone(self) -> None:
        """Let the stopped run go on in a process of its own, if it can be resumed."""
        if self.directory is not None and self.command is not None and self.state.can_resume:
            go_on_detached(self.command, self.directory)

    def way_on(self) -> str:
        """Return a line with the command that resumes the run, or "" if it cannot be resumed."""
        if self.directory is None or self.state.reason == "complete" or not self._has_checkpoint():
            return ""
        return f"the run is stopped; to go on: {resume_line(self.directory)}"

    def _take(self, batch: Batch) -> None:
        self._told = self.feed.base(self._told).after(batch)
        state = self.feed.settle(self._told)
        known = CycleRange.told(state.cycles_estimate, state.cycles_low, state.cycles_high, found=0)
        if self._expected is not None and known is not None and self._expected.width < known.width:
            state = _estimated(state, self._expected)
        if state.can_resume and not self._has_checkpoint():
            state = replace(state, can_resume=False)
        self.state, self._heard = state, time.monotonic()
        self._changed()

    def _has_checkpoint(self) -> bool:
        """Look for the checkpoint on the disk, since the folder may have been moved or deleted."""
        return self.directory is not None and RunDirectory(self.directory).checkpoint.exists()


def _beginning(command: RunCommand | None) -> RunState:
    """Return the state of a run of which nothing is known but what it shall find."""
    names = ("between", "all_pairs", "output_format")
    return RunState() if command is None else RunState(options={name: getattr(command, name) for name in names})


def _estimated(state: RunState, expected: CycleRange | None) -> RunState:
    """Return a state with an estimate of the number of cycles."""
    if expected is None:
        return state
    return replace(
        state,
        cycles_estimate=expected.middle,
        cycles_low=expected.low,
        cycles_high=expected.high if math.isfinite(expected.high) else None,
        is_counted=expected.exact,
    )


def go_on_detached(command: RunCommand, directory: Path) -> subprocess.Popen[bytes]:
    """Start ``chordless resume`` for a stopped run, in a session of its own; nobody has to wait for it.

    The device, the limit and the other options of `command` stay in force. Whatever the process prints besides events
    is appended to ``detached.log`` in the run directory. Raise EngineError if it cannot be started.
    """
    arguments = ["resume", str(directory.resolve()), *_options_of(command)]
    try:
        with open(directory / DETACHED_LOG, "ab") as log:
            return subprocess.Popen(
                child.command(_BOOT, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        raise EngineError(f"cannot let the run go on by itself: {error.strerror}") from error


def _options_of(command: RunCommand) -> list[str]:
    given = {
        "--arch": command.arch,
        "--threads": command.threads,
        "--memory": command.memory,
        # The number of cycles of a sample is kept in its folder.
        "--limit": command.limit if command.pick == "all" else None,
        "--timeout": command.timeout,
        "--checkpoint-every": command.checkpoint_every,
        "--cluster": command.cluster,
        "--gpus": None if command.gpus is None else ",".join(map(str, command.gpus)),
    }
    chosen = [text for option, value in given.items() if value is not None for text in (option, str(value))]
    return [*chosen, "--progress", "none"]
