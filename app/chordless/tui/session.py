"""A run in the dashboard: its feed and its newest state; and the part of the app that keeps the runs."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.app import App

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, resume_line
from chordless.runs.mailbox import is_at_work
from chordless.runs.state import RunState, graph_name
from chordless.tui.feeds import Batch, EngineFeed, Feed, FollowFeed, ReplayFeed
from chordless.tui.messages import OpenRun, ReplayRun, RunChanged, RunNews, StartRun
from chordless.tui.settings import Settings, save_settings
from chordless.words.numbers import CycleRange
from kernels_ti import ChordlessError, EngineError, child
from kernels_ti.errors import quantity

# Writing a checkpoint of many gigabytes takes long.
_SECONDS_TO_STOP = 60.0
_SECONDS_TO_END = 15.0
# An engine at work reports ten times a second, but not while it compiles or seeks an order.
_SECONDS_OF_QUIET = 1.5
_SECONDS_OF_A_REPLAY = 30.0
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
        state = RunState()
        if (command := self.command) is not None:
            # Nothing is known yet but the name of the graph, and what the run shall find in it.
            options = {name: getattr(command, name) for name in ("between", "all_pairs", "output_format")}
            state = RunState(graph=shown_name(command.graph), options=options)
        self._told = self.state = _estimated(state, expected)
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
        return self.directory is not None and os.path.exists(RunDirectory(self.directory).checkpoint)


def _estimated(state: RunState, expected: CycleRange | None) -> RunState:
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


@contextmanager
def telling_errors(app: App[Any]) -> Iterator[None]:
    """Tell a ChordlessError of the block in a notice; what follows in the block is not done then."""
    try:
        yield
    except ChordlessError as error:
        app.notify(str(error), severity="error")


class RunKeeper(App[str]):
    """Begins, opens and replays runs as messages ask for it, and tells the screen that is shown of their news."""

    settings: Settings
    session: RunSession | None = None
    _behind: RunSession | None = None

    def remember(self, settings: Settings) -> None:
        """Apply changed settings, and save them."""
        before, self.settings = self.settings, settings
        try:
            save_settings(settings, before)
        except EngineError as error:
            self.notify(str(error), title="Settings", severity="warning")

    def show(self, name: str) -> None:
        """Show the screen of a name."""
        raise NotImplementedError

    @property
    def run_state(self) -> RunState | None:
        """The newest state of the run that is shown."""
        return None if self.session is None else self.session.state

    def on_run_news(self, news: RunNews) -> None:
        """Pass the newest state on to the screen that is shown."""
        if news.session is self.session:
            self._tell_screen()
        elif news.session is self._behind and not news.session.is_at_work:
            state = news.session.state
            self.notify(
                f"{graph_name(state.graph) or 'The run'}: {state.phase}, {quantity(state.cycles, state.thing)}",
                title="The other run",
            )
            self._behind.feed.close()
            self._behind = None
            self._tell_screen()

    def on_start_run(self, message: StartRun) -> None:
        """Begin or resume a run, and show it."""
        if self.engine_session() is not None:
            self.notify("A run is still going on here: stop it first.", severity="warning")
            self._bring_back()
            return
        directory = message.command.checkpoint
        if message.command.resume and directory is not None and is_at_work(directory):
            # Another process has started an engine in this directory in the meantime.
            self.on_open_run(OpenRun(Path(directory)))
            return
        with telling_errors(self):
            feed = EngineFeed(message.command)
            if not message.command.resume:
                self.remember(self.settings.with_recent(message.command.graph))
            self._watch(feed, message.expected)
            self.show(message.show)

    def on_open_run(self, message: OpenRun) -> None:
        """Show the run of a directory."""
        own = self.engine_session()
        if own is not None and own.is_in(message.directory):
            self._bring_back()
            return
        self._show_feed(lambda: FollowFeed(message.directory))

    def on_replay_run(self, message: ReplayRun) -> None:
        """Play a run again, in half a minute at the most."""

        def replay() -> ReplayFeed:
            feed = ReplayFeed(message.directory)
            feed.speed = max(1.0, (feed.length or 0.0) / _SECONDS_OF_A_REPLAY)
            return feed

        self._show_feed(replay)

    def _show_feed(self, make: Callable[[], Feed]) -> None:
        """Show the run of a feed; say why where there is none."""
        with telling_errors(self):
            self._watch(make())
            self.show("run")

    def _watch(self, feed: Feed, expected: CycleRange | None = None) -> None:
        """Show another run, at first with the estimate before its start. A running engine goes on in the background."""
        if self.session is not None:
            if self.session.owns_engine:
                self._behind = self.session
            else:
                self.session.feed.close()
        session = self.session = RunSession(feed, expected)
        session.begin(lambda: self.post_message(RunNews(session)))

    def _bring_back(self) -> None:
        own = self.engine_session()
        if own is not None and own is not self.session:
            if self.session is not None:
                self.session.feed.close()
            self.session, self._behind = own, None
        self.show("run")

    def engine_session(self) -> RunSession | None:
        """Return the run whose engine is a running child of this process."""
        for session in (self.session, self._behind):
            if session is not None and session.owns_engine:
                return session
        return None

    def _tell_screen(self) -> None:
        # News of a run may come while the screens are taken down.
        if self.session is not None and self.current_mode in self.SCREENS and self.screen_stack:
            self.screen_stack[0].post_message(RunChanged(self.session.state))
