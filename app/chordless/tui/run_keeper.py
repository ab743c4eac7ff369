"""The part of the app that keeps the runs: the one that is shown, and one of an own engine behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.app import App

from chordless.runs.mailbox import is_at_work
from chordless.runs.state import RunState
from chordless.tui.feeds import EngineFeed, Feed, FollowFeed, ReplayFeed
from chordless.tui.messages import OpenRun, ReplayRun, RunChanged, RunNews, StartRun
from chordless.tui.run_words import graph_name
from chordless.tui.session import RunSession
from chordless.tui.settings import Settings
from chordless.words.cycle_range import CycleRange
from kernels_ti import ChordlessError
from kernels_ti.errors import quantity

_SECONDS_OF_A_REPLAY = 30.0


class RunKeeper(App[str]):
    """Begins, opens and replays runs as messages ask for it, and tells the screen that is shown of their news."""

    settings: Settings
    session: RunSession | None = None
    _behind: RunSession | None = None

    def remember(self, settings: Settings) -> None:
        """Apply changed settings, and save them."""
        raise NotImplementedError

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
        try:
            feed = EngineFeed(message.command)
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return
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
        try:
            feed = make()
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return
        self._watch(feed)
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
        """Show the run of this process's own engine."""
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
