"""The Run screen: totals, evolution chart, cycles by length, and the log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Static

from chordless.runs.state import RunState, graph_name
from chordless.tui import run_words, tile_words
from chordless.tui.actions import bindings_of, key_of
from chordless.tui.messages import ReplayRun, RunChanged, ShowLength
from chordless.tui.screens.question import AskStop, AskStopNow, LengthQuestion
from chordless.tui.screens.run_keys import OF_REPLAY, RunKeys, offers_of
from chordless.tui.session import RunSession, telling_errors
from chordless.tui.widgets.chart import EvolutionChart, end_of_axis, series_of
from chordless.tui.widgets.event_log import EventLog
from chordless.tui.widgets.frontier_view import FrontierView
from chordless.tui.widgets.histogram import Histogram
from chordless.tui.widgets.load_meter import LoadMeter
from chordless.tui.widgets.tiles import Tile
from chordless.tui.widgets.web_verdict import WebVerdict
from chordless.tui.widgets.worker_rows import WorkerRows

SECONDS_BETWEEN_DRAWINGS = 0.1
_SECONDS_BETWEEN_TICKS = 1.0
_PADDING_OF_PHASE = 4
_STOPPING = "stopping"

_TILES: dict[str, tuple[str, Callable[[RunState], tile_words.TileWords], bool]] = {
    "cycles": ("{0.thing}s C", tile_words.cycles_tile, True),
    "paths": ("{0.step_title}", tile_words.paths_tile, True),
    "share": ("done", tile_words.share_tile, False),
    "memory": ("memory", tile_words.memory_tile, False),
    "estimate": ("in all", tile_words.estimate_tile, False),
    "checkpoint": ("checkpoint", tile_words.checkpoint_tile, False),
}


class RunScreen(RunKeys):
    """One run: live, ended, or replayed."""

    TAB = "run"
    BINDINGS = bindings_of("run")
    # Without focus, the screen stays scrolled to its top.
    AUTO_FOCUS = ""

    _newest: RunState | None = None
    _shown: RunState | None = None
    _frozen = False
    _by_step: bool | None = None  # None: as long as the run goes on
    _asked: tuple[str, RunState] | None = None
    _ended: RunSession | None = None  # The run that was last seen at its end
    _drawn_at = 0.0
    _waits = False

    def parts(self) -> ComposeResult:
        """Put the screen together."""
        with Container(id="run-nothing"):
            yield Static(id="run-nothing-words")
        with Vertical(id="run-body"):
            yield Static(id="run-phase")
            yield Static(id="run-trouble")
            yield Static(id="run-notes")
            with VerticalScroll(id="run-rest", can_focus=False):
                yield WebVerdict(id="run-web")
                with Container(id="run-tiles"):
                    for name, (title, _, has_rates) in _TILES.items():
                        yield Tile(title.format(RunState()), has_rates=has_rates, id=f"tile-{name}")
                        if name == "memory":
                            yield LoadMeter(id="run-load")
                yield FrontierView(id="run-frontier")
                yield WorkerRows(id="run-workers")
                with Container(id="run-views"):
                    yield EvolutionChart(id="run-chart")
                    yield Histogram(id="run-histogram")
                    yield EventLog(id="run-log")

    def on_mount(self) -> None:
        """Set the titles of the parts."""
        if self.app.return_code is not None:
            # The program ended while this screen was being made, so Textual has left out some or all of its parts.
            return
        self.query_one("#run-log").border_title = "log"
        self._draw()
        self.set_interval(_SECONDS_BETWEEN_TICKS, self._tick)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Show the newest state of the run."""
        self._take(self.dashboard.run_state)
        # A screen that is shown while the program ends has no parts.
        for bars in self.query(Histogram):
            bars.go_to_most()

    def on_run_changed(self, message: RunChanged) -> None:
        """Show the changed state."""
        self._take(message.state)

    def _tick(self) -> None:
        """Let the clock go on while an engine at work says nothing."""
        if self.is_current and self._quiet_seconds:
            self._draw()

    @property
    def _quiet_seconds(self) -> float:
        session = self.dashboard.session
        return 0.0 if session is None else session.quiet_seconds

    def on_histogram_chosen(self, message: Histogram.Chosen) -> None:
        """Show the cycles of a length, if the run lists its cycles."""
        state = self._newest
        if state is not None and state.directory and state.options.get("output_format") == "parts":
            self.post_message(ShowLength(message.length))
        else:
            key = key_of(self, "everywhere.show_cycles")
            thing = "cycle" if state is None else state.thing
            self.refuse(f"This run only counts its {thing}s. {key} offers to list them.")

    # Actions

    @property
    def _is_stopping(self) -> bool:
        return self._asked is not None and self._asked[0] == _STOPPING

    def action_pause(self) -> None:
        """Pause the search or the replay, or continue it; play a run that is over again."""
        if (replay := self._replay) is not None:
            replay.toggle()
            return
        session = self.dashboard.session
        if session is not None and not session.is_at_work and session.directory is not None:
            self.post_message(ReplayRun(session.directory))
            return
        session = self._controlled("paused")
        if session is None or self._newest is None:
            return
        if self._is_stopping:
            self.refuse("The run is stopping: it can be resumed then.")
            return
        asked = self._asked[0] if self._asked is not None else None
        if asked == "pausing" or (self._newest.phase == "paused" and asked != "going on"):
            self._ask("going on", session.feed.go_on)
        else:
            self._ask("pausing", session.feed.pause)

    def action_stop(self) -> None:
        """End the search. Ask first if another process has begun it, or if it is stopping and has to end at once."""
        session = self._controlled("stopped")
        if session is None or self._newest is None:
            return
        if self._is_stopping and session.owns_engine:
            question = AskStopNow(run_words.stop_now_words(self._newest), lambda: session.is_at_work)
            self.ask(question, session.feed.kill)
        elif session.owns_engine:
            self._ask(_STOPPING, session.feed.stop)
        else:
            self.ask(AskStop(graph_name(self._newest.graph)), partial(self._ask, _STOPPING, session.feed.stop))

    def action_checkpoint(self) -> None:
        """Write a checkpoint now."""
        session = self._controlled("asked for a checkpoint")
        if session is None:
            return
        if session.directory is None:
            self.refuse("This run has no folder: there is no place for a checkpoint.")
            return
        self._ask("writing a checkpoint", session.feed.checkpoint)

    def action_resume(self) -> None:
        """Resume a run that was stopped or lost."""
        session, state = self.dashboard.session, self._newest
        if session is None or state is None:
            self.refuse(self._no_run())
        elif session.is_at_work:
            paused = f"The run is paused: {key_of(self, 'run.pause')} lets it go on."
            self.refuse(paused if state.phase == "paused" else "The run is at work: there is nothing to resume.")
        elif state.reason == "complete":
            self.refuse("The search is complete: nothing is left to do.")
        elif not state.can_resume:
            self.refuse("This run has no checkpoint, so it cannot be resumed.")
        else:
            # The run may have been moved: the session knows its current directory, the recording an earlier one.
            self.resume(session.directory or Path(state.directory or ""))

    def action_freeze(self) -> None:
        """Freeze numbers, chart and log, or let them follow the run again. The phase is always up to date."""
        if self._newest is None:
            self.refuse(self._no_run())
            return
        session = self.dashboard.session
        if not self._frozen and session is not None and not session.is_at_work and session.replay is None:
            self.refuse("The run is over: nothing moves that could be frozen.")
            return
        self._frozen = not self._frozen
        self._draw()

    def action_read(self) -> None:
        """Let the arrow keys read the chart, or no longer."""
        chart = self.query_one(EvolutionChart)
        self.set_focus(None if chart.has_focus else chart)

    def action_go_to(self) -> None:
        """Ask for a length, and read the values of the chart there."""
        chart = self.query_one(EvolutionChart)
        if self._newest is None:
            self.refuse(self._no_run())
        elif not chart.lengths:
            self.refuse("There are no counts by length yet.")
        else:
            self.app.push_screen(LengthQuestion(chart.lengths), self._go_to)

    def _go_to(self, length: int | None) -> None:
        if length is not None:
            chart = self.query_one(EvolutionChart)
            chart.go_to(length)
            self.set_focus(chart)

    def action_scale(self) -> None:
        """Change the scale of the chart, and of the bars beside the lengths."""
        self.query_one(EvolutionChart).toggle_scale()
        self.query_one(Histogram).toggle_scale()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep the keys of a replay free on other runs."""
        if action == "by_step":
            return self._newest is not None and bool(self._newest.expected_by_step)
        return action not in OF_REPLAY or self._replay is not None

    def action_by_step(self) -> None:
        """Along a boundary, change between the states by step and the cycles by length."""
        if self._shown is not None:
            self._by_step = not self._draws_steps(self._shown)
            self._draw()

    # The picture

    def _draws_steps(self, state: RunState) -> bool:
        """Return whether the chart has the states by step. At the end of a count it has the cycles by length."""
        if not state.expected_by_step:
            return False
        return state.phase != "finished" if self._by_step is None else self._by_step

    def _take(self, state: RunState | None) -> None:
        before, self._newest = self._newest, state
        if before is not None and state is not None and before.began != state.began:
            self._frozen, self._asked, self._by_step = False, None, None
            if isinstance(self.focused, EvolutionChart):
                # Its cursor is at a length of the run before.
                self.set_focus(None)
        session = self.dashboard.session
        if session is not None and state is not None and state.is_over and session is not self._ended:
            was_running = before is not None and before.phase == "running"
            self._ended = session
            # These cycles are what the run was begun for, here or while this screen looked on.
            is_news = (was_running or session.command is not None) and self._replay is None
            if is_news and self.is_current and run_words.has_picked(state):
                self.call_later(self.dashboard.show, "cycles")
        if self._asked is not None and (state is None or _answered(*self._asked, state)):
            self._asked = None
        self._draw_soon()

    @on(Resize)
    def _draw_soon(self) -> None:
        """Draw now, or a tenth of a second after the last time."""
        if self._waits:
            return
        left = self._drawn_at + SECONDS_BETWEEN_DRAWINGS - time.monotonic()
        if left <= 0:
            self._draw()
        else:
            self._waits = True
            self.set_timer(left, self._draw)

    def _draw(self) -> None:
        self._waits = False
        if not self.query("#run-phase"):
            # The screen is not built yet, or the dashboard is closing.
            return
        self._drawn_at = time.monotonic()
        newest, session = self._newest, self.dashboard.session
        by_step = newest is not None and self._draws_steps(newest)
        offered = offers_of(session, newest, frozen=self._frozen, stopping=self._is_stopping, by_step=by_step)
        if self._offered != offered:
            self._offered = offered
            self.refresh_bindings()
        self.query_one("#run-nothing").display = newest is None
        self.query_one("#run-body").display = newest is not None
        if newest is None:
            self._write("#run-nothing-words", Content(self._no_run()), layout=True)
            return
        if (quiet := self._quiet_seconds) and newest.phase == "running" and not newest.compiling:
            newest = replace(newest, seconds=newest.seconds + quiet)
        self._write("#run-phase", self._phase_line(newest))
        trouble = run_words.trouble_words(newest, key_of(self, "run.resume"), key_of(self, "everywhere.show_new"))
        notes = run_words.note_words(newest)
        for selector, text in (("#run-trouble", trouble or self.way_words(newest)), ("#run-notes", notes)):
            self._write(selector, Content(text), layout=True)
            self.query_one(selector).display = bool(text)
        if not self._frozen or self._shown is None:
            self._shown = newest
        state = self._shown
        self.query_one(LoadMeter).watch_run(is_at_work=session is not None and session.is_at_work, pid=newest.pid)
        for name, (title, words, _) in _TILES.items():
            tile = self.query_one(f"#tile-{name}", Tile)
            _entitle(tile, "states" if name == "paths" and state.states is not None else title.format(state))
            tile.show(words(state))
        chart = self.query_one(EvolutionChart)
        by_step = self._draws_steps(state)
        _entitle(chart, "states by step" if by_step else "evolution")
        nothing = run_words.nothing_words(state)
        chart.show(series_of(state, by_step=by_step), end_of_axis(state, by_step=by_step), nothing)
        self.query_one(FrontierView).show(state)
        self.query_one(WorkerRows).show(state.workers)
        self.query_one(WebVerdict).show(state)
        self.query_one(Histogram).show(state.cycles_by_length, state.thing, nothing and "Counts by length come here.")
        self.query_one(EventLog).show(state.log)

    def _write(self, selector: str, content: Content, *, layout: bool = False) -> None:
        widget = self.query_one(selector, Static)
        if widget.content != content:
            widget.update(content, layout=layout)

    def _phase_line(self, state: RunState) -> Content:
        words = run_words.phase_words(state)
        gap = "  "
        quiet = self._quiet_seconds
        silence = quiet if self._asked is None else 0.0
        clock = run_words.clock_words(state, quiet) or run_words.spent_words(state, silence)
        text = " ".join(filter(None, [words.text(ascii_only=self.dashboard.ascii_only), clock]))
        parts: list[str | tuple[str, str]] = [(text, f"bold {words.colour}")]
        if (replay := self._replay) is not None:
            banner = run_words.replay_words(replay.speed, replay.position, replay.length, paused=replay.paused)
            parts = [(f" {banner} ", "bold reverse $text-accent"), gap, *parts]
        if self._frozen:
            parts += [gap, (f" VIEW FROZEN, {key_of(self, 'run.freeze')} unfreezes it ", "bold reverse $text-warning")]
        if self._asked is not None:
            now = f"{key_of(self, 'run.stop')} ends it at once" if self._is_stopping else ""
            room = self.size.width - _PADDING_OF_PHASE - Content.assemble(*parts).cell_length - len(gap)
            asked = run_words.asked_words(self._asked[0], quiet, now)
            parts += [gap, (next((text for text in asked if len(text) <= room), asked[-1]), "$text-warning")]
        room = self.size.width - _PADDING_OF_PHASE - Content.assemble(*parts).cell_length
        return Content.assemble(*parts, run_words.graph_and_device(state, gap, room))

    # Why not

    def _no_run(self) -> str:
        new, runs = key_of(self, "everywhere.show_new"), key_of(self, "everywhere.show_runs")
        return f"No run is shown. {new} begins one, {runs} opens an earlier one."

    def _controlled(self, what: str) -> RunSession | None:
        """Return the run if the dashboard can control it. Otherwise show why it cannot, and return None."""
        session, state = self.dashboard.session, self._newest
        if session is None or state is None:
            self.refuse(self._no_run())
        elif session.can_control:
            return session
        elif state.is_over:
            self.refuse(f"The run is over: it cannot be {what}.")
        elif session.is_at_work:
            self.refuse(f"The engine belongs to another user: it cannot be {what} from here.")
        else:
            self.refuse(f"This is a recording: it cannot be {what}.")
        return None

    def _ask(self, what: str, order: Callable[[], None]) -> None:
        assert self._newest is not None
        with telling_errors(self.app):
            order()
            self._asked = (what, self._newest)
            self._draw()


def _entitle(widget: Widget, title: str) -> None:
    # A title that is set again would be drawn again.
    if widget.border_title != title:
        widget.border_title = title


def _answered(what: str, asked_in: RunState, state: RunState) -> bool:
    """Return whether an order has taken effect. A run that stops writes a checkpoint before its end."""
    if what == _STOPPING:
        return state.is_over
    return (state.phase, state.checkpoint_time) != (asked_in.phase, asked_in.checkpoint_time)
