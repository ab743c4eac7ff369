"""The dashboard: it holds the run, shows the screens, and passes messages between them."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.events import Event, Key, Paste, Resize, Unmount
from textual.filter import LineFilter
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input
from textual.worker import WorkerFailed

from chordless.cycles.index import CycleFilter
from chordless.tui.actions import EVERYWHERE, ActionProvider, bindings_of, key_of, usable_keys
from chordless.tui.batch_session import BatchSession
from chordless.tui.feeds import Feed, FollowFeed, ReplayFeed
from chordless.tui.messages import CompareRuns, ShowLength
from chordless.tui.screens import SCREENS
from chordless.tui.screens.leave import LeaveBatch, LeaveScreen
from chordless.tui.screens.steady import Palette
from chordless.tui.session import RunKeeper
from chordless.tui.settings import DEFAULT_THEME, Settings, notice_of, settings_path
from chordless.tui.widgets.form_row import TextField
from chordless.tui.widgets.glyphs import ASCII_FILTER, NO_CONTROLS
from chordless.tui.widgets.word_bar import TABS

_SECONDS_UNTIL_PREPARED, _SECONDS_TO_CHANGE = 0.3, 0.01
_SECONDS_OF_AN_ERROR = 15.0
_LEAST_COLUMNS, _LEAST_LINES = 20, 6
_PROGRAM, _FRAMES_SHOWN = Path(__file__).parents[1], 3
_LEAVING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ChordlessApp(RunKeeper):
    """The dashboard. `run` returns the text to print after the dashboard has left the terminal.

    Raise ChordlessError if `directory` holds no run, or `replay` is no recording.

    Parameters
    ----------
    graph : str, optional
        The first content of the graph field in the form for a new run.
    directory : Path, optional
        A run directory to open.
    replay : Path, optional
        A recording to play.
    speed : float
        How fast to play it, see `chordless.tui.feeds.ReplayFeed`.
    batch : str, optional
        The output file of a batch to show, or a manifest for the form of a batch.
    ascii_only : bool
        Draw with ASCII only. `Settings.ascii` has the same effect.
    warnings : iterable of str
        The faults in the settings. They are shown at the start.

    Attributes
    ----------
    keys : dict of str to str
        The usable ones of `Settings.keys`.
    graph : str or None
        The graph of the command line, which the form for a new run shows at first.
    session : RunSession or None
        The run that is shown.
    batch : BatchSession or None
        The batch that is running, or else the last one that ran.
    run_state : RunState or None
        The newest state of the run that is shown.
    """

    TITLE = "chordless"
    CSS_PATH = "chordless.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(EVERYWHERE),
        # At once: a letter that follows belongs to the next field, and would otherwise arrive in this one.
        Binding("tab", "app.focus_next", "Next field", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", "Field before", show=False, priority=True),
    ]
    COMMANDS = {ActionProvider}  # noqa: RUF012
    SCREENS = SCREENS
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (40, "-high")]  # noqa: RUF012

    def __init__(
        self,
        settings: Settings,
        *,
        graph: str | None = None,
        directory: Path | None = None,
        replay: Path | None = None,
        speed: float = 1.0,
        batch: str | None = None,
        ascii_only: bool = False,
        warnings: Iterable[str] = (),
    ) -> None:
        super().__init__()
        for name in self.SCREENS:
            self.add_mode(name, partial(self._make_screen, name))
        self.settings = settings
        self.ascii_only = ascii_only or settings.ascii
        self.batch: BatchSession | None = None
        self.graph, self._batch = graph, batch
        self._first_screen = "new" if batch is None else "batch"
        self._first: Feed | None = None
        if directory is not None:
            self._first = FollowFeed(directory)
        elif replay is not None:
            self._first = ReplayFeed(replay, speed)
        self._warnings = list(warnings)
        self.keys: dict[str, str] = {}
        self._history: list[str] = []
        self._has_answered = False

    def on_app_focus(self) -> None:
        """Draw everything: a page that was loaded again is empty."""
        self.refresh()

    def on_mount(self) -> None:
        """Apply the settings, and show the first screen."""
        self.set_class(self.ascii_only, "-ascii")
        if "SSH_CONNECTION" in os.environ:
            self.animation_level = "none"
        self._take_theme()
        self.keys, faults = usable_keys(self.settings.keys)
        self.set_keymap(self.keys)
        warnings = [*self._warnings, *faults]
        if warnings:
            # One notice: several would cover each other on a small terminal.
            notice = notice_of(warnings)
            self.notify(notice, title=f"In {settings_path()}", severity="warning", timeout=30)
        if not self.is_headless:
            for number in _LEAVING_SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._leave_at_once, number)
            self.set_timer(_SECONDS_UNTIL_PREPARED, self.prepare)
        if self._first is not None:
            self._watch(self._first)
            self.show("run")
        else:
            self.show(self._first_screen)
        if self._batch is not None:
            # Of this screen: an early key may have shown another one by then.
            self.screen.call_after_refresh(self.screen.offer, self._batch)  # type: ignore[attr-defined]

    def prepare(self) -> None:
        """Do work while idle that would delay key presses during a run.

        It makes the screens of the tabs, one after another, and then excludes all objects that exist by now from
        garbage collection: one full collection of them takes 50 ms.
        """
        for name in TABS:
            if name not in self._screen_stacks:
                self._init_mode(name)
                self.set_timer(_SECONDS_UNTIL_PREPARED, self.prepare)
                return
        gc.collect()
        gc.freeze()

    @on(Unmount)
    def end_sessions(self) -> None:
        """End every feed. If this process has an engine that still runs, stop it with a checkpoint.

        If a browser's tab was closed, the run goes on without a dashboard.
        """
        left_behind = self.engine_session() if self.is_web and not self._has_answered else None
        if self.batch is not None:
            self.batch.end()
        for session in (self.session, self._behind):
            if session is not None:
                session.end()
        self.session = self._behind = None
        if left_behind is not None:
            left_behind.go_on_alone()

    def show(self, name: str) -> None:
        """Show the screen of a name, with the newest state of the run."""
        before = self.current_mode
        if before in self.SCREENS and before != name:
            self._history = [*(other for other in self._history if other != before), before]
        self._switch(name)

    def _switch(self, name: str) -> None:
        self.switch_mode(name)
        self._tell_screen()

    def notify(
        self, message: str, *, severity: SeverityLevel = "information", timeout: float | None = None, **more: Any
    ) -> None:
        """Show a notice. Names in it are never taken for markup, and an error stays longer."""
        if timeout is None and severity == "error":
            timeout = max(self.NOTIFICATION_TIMEOUT, _SECONDS_OF_AN_ERROR)
        super().notify(message, severity=severity, timeout=timeout, **{**more, "markup": False})

    def action_command_palette(self) -> None:
        """Show the palette of all actions."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    async def on_event(self, event: Event) -> None:
        """Obey a key before the next one is looked at; a text field does that itself.

        Textual passes a key on to the screen, which obeys it later: of ``:`` and a graph, typed on a busy machine, the
        first letters would go to where the focus was.
        """
        if isinstance(event, Key) and self._exit:
            # There may be no screen any more.
            return
        if isinstance(event, Key) and not event.is_forwarded and self.app_focus:
            field = self.focused
            if not (field.takes(event) if isinstance(field, TextField) else isinstance(field, Input)):
                await cast("Any", self.screen)._mounted_event.wait()
                if await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key):
                    return
        elif isinstance(event, Resize):
            # In fewer columns and lines Textual may lay a screen out for ever: a scrollbar comes as another one goes.
            size = Size(max(event.size.width, _LEAST_COLUMNS), max(event.size.height, _LEAST_LINES))
            event = event if size == event.size else Resize(size, size)
        elif isinstance(event, Paste) and not event.is_forwarded and isinstance(self.focused, TextField):
            # A key that follows is looked at before the field gets the text.
            self.focused.take_digits()
        await super().on_event(event)

    def delay_update(self, delay: float = 0.05) -> None:
        """Wait for a moment only on a change of screens: most are made already."""
        super().delay_update(min(delay, _SECONDS_TO_CHANGE))

    def on_compare_runs(self, message: CompareRuns) -> None:
        """Show two runs side by side."""
        self.show("compare")
        self.screen.call_after_refresh(self.screen.set_runs, message.directories)  # type: ignore[attr-defined]

    def on_show_length(self, message: ShowLength) -> None:
        """Show the cycles of one length."""
        self.show("cycles")
        only = CycleFilter(message.length, message.length)
        self.screen.call_after_refresh(self.screen.show_only, only)  # type: ignore[attr-defined]

    @property
    def screen_before(self) -> str | None:
        """The name of the screen that was shown before this one."""
        return self._history[-1] if self._history else None

    @property
    def is_beginning(self) -> bool:
        """Whether no other screen was shown before this one."""
        return not self._history

    def action_show(self, name: str) -> None:
        """Show a screen by its key. From the help and the settings, the same key goes back."""
        if name not in TABS and name == self.current_mode:
            self.call_later(self.action_back)
            return
        is_other = name != self.current_mode
        self.show(name)
        if is_other and name in TABS and isinstance(self.screen.focused, Input):
            # No field has the focus, so that another digit is a key too.
            self.screen.set_focus(None)

    def use_keys(self, keys: dict[str, str]) -> None:
        """Use other keys from now on, those of `usable_keys`, and keep them."""
        self.keys, _ = usable_keys(keys)
        self.set_keymap(self.keys)
        self.remember(replace(self.settings, keys=keys))

    def draw_with_ascii(self, ascii_only: bool) -> None:
        """Draw with ASCII alone from now on, or with all characters, and keep that."""
        if ascii_only != self.ascii_only:
            self.ascii_only = ascii_only
            self.set_class(ascii_only, "-ascii")
            self.refresh_css(animate=False)
            self.remember(replace(self.settings, ascii=ascii_only))

    async def action_back(self) -> None:
        """Leave the text field that has the focus. Without one, go back to the screen before this one."""
        if isinstance(self.focused, Input):
            self.screen.set_focus(None)
        elif self._history:
            self._switch(self._history.pop())
        else:
            self._switch("new")

    async def action_close(self) -> None:
        """Close the help, the settings or a comparison. On a screen with a tab, leave."""
        await (self.action_quit() if self.current_mode in TABS else self.action_back())

    async def action_quit(self) -> None:
        """Leave. If this process has a running engine, ask first."""
        if self.batch is not None and self.batch.is_at_work:
            if not isinstance(self.screen, LeaveBatch):
                self.push_screen(LeaveBatch(self.batch), self._leave_after_batch)
            return
        own = self.engine_session()
        if own is None:
            self.exit()
        elif not isinstance(self.screen, LeaveScreen):
            self.push_screen(LeaveScreen(own), self.exit_after_question)

    def action_help_quit(self) -> None:
        """Ctrl+C: leave as Ctrl+Q does. In a browser it copies, and without a selection it tells the key to leave."""
        if self.is_web:
            self.notify(f"Nothing is selected. {key_of(self.screen, 'everywhere.quit')} leaves.")
        else:
            self.call_later(self.action_quit)

    def _leave_after_batch(self, is_leaving: bool | None) -> None:
        if is_leaving:
            self.call_later(self.action_quit)

    def exit_after_question(self, words: str | None) -> None:
        """Leave and print this text. None means to stay."""
        if words is not None:
            self._has_answered = True
            self.exit(words)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for every drawn line."""
        drawn_with = [ASCII_FILTER] if self.ascii_only else []
        return [*super().get_line_filters(), NO_CONTROLS, *drawn_with]

    def get_key_display(self, binding: Binding) -> str:
        """Return a key as it is displayed. Textual's sign for enter is too small to read, and ASCII has no arrows."""
        shown = super().get_key_display(binding)
        return binding.key if binding.key == "enter" or (self.ascii_only and not shown.isascii()) else shown

    def _make_screen(self, name: str) -> Screen[Any]:
        screen = self.SCREENS[name]()
        # The widgets get the current styles when they are mounted. Without this line Textual would assume that the
        # screen has missed a change of theme, and would compute all styles again, twice.
        screen._css_update_count = self._css_update_count
        return screen

    def _take_theme(self) -> None:
        theme = self.settings.theme
        if theme not in self.available_themes:
            self._warnings.append(f"there is no theme {theme!r}; the palette (ctrl+p) lists them")
            theme = DEFAULT_THEME
        self.theme = theme
        self.theme_changed_signal.subscribe(self, self._keep_theme)

    def _keep_theme(self, theme: Theme) -> None:
        if theme.name != self.settings.theme:
            self.remember(replace(self.settings, theme=theme.name))

    def _leave_at_once(self, number: int) -> None:
        """Leave on a signal, without a question. A checkpoint keeps the results."""
        own = self.engine_session()
        # Nothing can be printed on a terminal that has hung up.
        words = own.way_on() if own is not None and sys.__stderr__ is not None and sys.__stderr__.isatty() else None
        self.exit(words, return_code=128 + number)

    def _handle_exception(self, error: Exception) -> None:
        """Fail, but not for want of a part of a screen that was being made when a signal ended the dashboard."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if not (self._exit and isinstance(cause, NoMatches)):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Show only the end of the traceback, unless CHORDLESS_DEBUG is set."""
        if os.environ.get("CHORDLESS_DEBUG"):
            super()._fatal_error()
            return
        _, error, trace = sys.exc_info()
        own = [frame for frame in traceback.extract_tb(trace) if _PROGRAM in Path(frame.filename).parents]
        lines = traceback.format_list(own[-_FRAMES_SHOWN:]) + traceback.format_exception_only(error)
        self.panic(Text(f"{''.join(lines).rstrip()}\nThe dashboard has failed; CHORDLESS_DEBUG=1 shows more."))
