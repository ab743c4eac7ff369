"""The Cycles screen: a table of any number of cycles, and a drawing of the graph that highlights the chosen cycle."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Center, Container, Vertical
from textual.widgets import Button, Static
from textual.worker import get_current_worker

from chordless.cycles.browse import RunCycles, ShownCycles
from chordless.cycles.index import ORDERS, CycleFilter, CycleIndex, Order, build_index
from chordless.graphs.drawing import can_be_drawn, layout_of
from chordless.protocol.orders import RunCommand
from chordless.runs.state import RunState
from chordless.tui import cycle_words
from chordless.tui.actions import actions_of, bindings_of
from chordless.tui.marks import sentence
from chordless.tui.messages import RunChanged
from chordless.tui.run_form import kept_pick_of, listing_of, sample_of
from chordless.tui.screens.cycle_actions import CycleActions
from chordless.tui.screens.question import FilterQuestion, GoToQuestion
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.graph_view import GraphView
from kernels_ti import ChordlessError

if TYPE_CHECKING:
    from textual.worker import Worker


_SECONDS_BETWEEN_LOOKS = 1.0
# While a run goes on, sorting takes at most one tenth of the time.
_SHARE_OF_SORTING = 10
_FEW_CYCLES = 3
_ACTIONS = frozenset({"pan", "zoom", *(action.name for action in actions_of("cycles"))})
_NOTHING = "No cycles to browse yet.\n\nStart a run that lists its cycles, or open one from the history."
_SOON = "The engine is getting ready. The {}s come here as they are found."


class CyclesScreen(CycleActions):
    """The cycles that a run has listed; `index` has those that are shown, in their order."""

    TAB = "cycles"
    BINDINGS = bindings_of("cycles")
    _wanted = CycleFilter()

    def __init__(self) -> None:
        super().__init__()
        self._path: Path | None = None
        self._session = 0
        self.index = CycleIndex(0)
        self._built_at = self._build_seconds = 0.0
        self._may_build = True
        # Threads may still report after the screen was removed. A query would fail then, so the parts are attributes.
        self._why_none = Static("", markup=False)
        self._offer = Button("", variant="primary", action="screen.take_offer")
        self._said: tuple[str | None, str] = (None, "")
        self._status = Static("", id="cycles-status", markup=False)
        self._table = CycleTable(id="cycles-table")
        self._graph_view = GraphView(id="cycles-graph")
        self._detail = Static("", id="cycles-detail", markup=False)

    def parts(self) -> ComposeResult:
        """Put the screen together."""
        with Vertical(id="cycles-nothing"):
            yield self._why_none
            with Center():
                yield self._offer
        with Container(id="cycles-browser"):
            yield self._status
            with Container(id="cycles-panes"):
                yield self._table
                with Vertical(id="cycles-drawing"):
                    yield self._graph_view
                    yield self._detail

    def on_mount(self) -> None:
        """Start to look for new cycles."""
        self._say(_NOTHING)
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self.look)

    def on_screen_resume(self) -> None:
        """Show the cycles of the dashboard's current run."""
        state = getattr(self.app, "run_state", None)
        if state is not None:
            self._take(state)

    def on_run_changed(self, message: RunChanged) -> None:
        """Show the cycles of the changed run."""
        self._take(message.state)

    def _take(self, state: RunState) -> None:
        self._state = state
        if state.arch and state.options and state.options.get("output_format") != "parts":
            self._path = self._run = None
            self._say(*cycle_words.offer_words(state, self._listing_command() is not None))
        elif state.error and state.directory is None:
            self._say(sentence(state.error))
        elif state.directory is None:
            self._path = self._run = None
            self._say(_SOON.format(state.thing) if state.phase == "starting" else _NOTHING)
        elif Path(state.directory) != self._path:
            self.show_directory(Path(state.directory))
        else:
            self._update_status()

    def _listing_command(self) -> RunCommand | None:
        """Return the command of a run that has ended without keeping its cycles; None if it is unknown."""
        session = self.dashboard.session
        try:
            return None if session is None or session.is_at_work else session.known_command()
        except ChordlessError:
            return None

    # Which run

    def show_directory(self, path: Path) -> None:
        """Show the cycles of a run directory, or the reason why there are none."""
        self._path, self._run, self._wanted = path, None, CycleFilter()
        self.index = CycleIndex(0)
        self._may_build = True
        self.workers.cancel_group(self, "index")
        self.cancel_heat()
        self._work, self._heat_of = "", None
        self._say(f"Reading {path} ...")
        self._open(path)

    @work(group="open", exclusive=True)
    async def _open(self, path: Path) -> None:
        try:
            run = await asyncio.to_thread(RunCycles, path)
        except ChordlessError as error:
            self._say(sentence(str(error)))
            return
        graph = run.loaded.graph
        is_drawn = can_be_drawn(run.loaded)
        if path == self._path:
            self._run, self._session = run, run.session
            self._table.clear()
            self._table.set_names(graph.names, run.thing)
            self._graph_view.thing = run.thing
            self._graph_view.show_graph(graph, None, "drawing ..." if is_drawn else "")
            self._detail.update("")
            self._say(None)
            self._table.focus()
            self._build(self._wanted, "found")
        layout = await asyncio.to_thread(layout_of, run.loaded) if is_drawn else None
        if run is self._run:
            caption = "" if layout is not None else f"{graph.n:,} vertices are too many to draw: the {run.thing} alone"
            self._graph_view.show_graph(graph, layout, caption)
            self._light()

    def _say(self, text: str | None, button: str = "") -> None:
        """Show a text in place of the cycles, with a button if it has a label. None shows the cycles."""
        self.set_class(text is None, "-browsing")
        self.refresh_bindings()
        if text is not None and (text, button) != self._said:
            self._why_none.update(text)
            self._offer.label = button.replace("[", r"\[")
            self._offer.display = bool(button)
            if button:
                self._offer.focus()
        self._said = (text, button)

    # News of a run that goes on

    def look(self) -> None:
        """Take in what the run has listed since the last look."""
        if self._run is not None and self.is_current and not self._is_at_work("look"):
            self._refresh(self._run)

    @work(group="look")
    async def _refresh(self, run: RunCycles) -> None:
        why = ""
        try:
            changed = await asyncio.to_thread(run.refresh)
        except ChordlessError as error:
            changed, why = False, str(error)
        if run is not self._run:
            return
        if why:
            self._run = None
            self._say(sentence(why))
        elif changed or self.index.covered < len(run):
            # The last cycles of a run that has ended may not be sorted yet.
            self._changed(run)

    def _changed(self, run: RunCycles) -> None:
        if run.session != self._session:
            # Cycles may have moved to other positions.
            self._session = run.session
            self.workers.cancel_group(self, "index")
            before = self.index
            self._show_index(CycleIndex(len(run)), cursor=0)
            self._build(before.chosen, before.order)
            return
        if self.index.positions is None:
            self._show_index(CycleIndex(len(run)), cursor=self._table.cursor, more=True)
        elif self._may_build and not self._is_at_work("index"):
            waited = time.monotonic() - self._built_at
            if waited >= _SHARE_OF_SORTING * self._build_seconds:
                # A cursor on the first line stays there and shows the new first cycle.
                self._build(self.index.chosen, self.index.order, keep_cursor=self._table.cursor > 0)
        self._update_status()

    # Which cycles, and in which order

    def _build(self, chosen: CycleFilter, order: Order, *, keep_cursor: bool = False) -> None:
        """Show these cycles at once if no sort is needed, else as soon as a thread has sorted them."""
        run = self._run
        if run is None:
            return
        self.workers.cancel_group(self, "index")
        self._may_build = True
        index = None
        if chosen.keeps_all and order == "found":
            index = CycleIndex(len(run))
        elif chosen == self.index.chosen and self.index.covered == len(run):
            index = self.index.with_order(order)
        if index is not None:
            self._work = ""
            self._show_index(index, cursor=None if keep_cursor else 0)
            return
        self._tell_progress(order, 0.0)
        self._build_in_thread(run, chosen, order, keep_cursor)

    @work(group="index", exclusive=True)
    async def _build_in_thread(self, run: RunCycles, chosen: CycleFilter, order: Order, keep_cursor: bool) -> None:
        worker, session = get_current_worker(), run.session
        began = told = time.monotonic()

        def tell(share: float) -> None:
            nonlocal told
            if time.monotonic() - told > 0.1 and not worker.is_cancelled:
                told = time.monotonic()
                self.app.call_from_thread(self._tell_progress, order, share, worker)

        n = run.loaded.graph.n
        build = partial(build_index, run.store, chosen, order, n, tell=tell, cancelled=lambda: worker.is_cancelled)
        try:
            index = await asyncio.to_thread(build)
        except ChordlessError as error:
            self._stop_building()
            self.notify(str(error), severity="error")
            return
        if index is not None and run is self._run and session == self._session:
            self._work = ""
            self._built_at, self._build_seconds = time.monotonic(), time.monotonic() - began
            self._show_index(index, cursor=None if keep_cursor else 0)

    def _tell_progress(self, order: Order, share: float, worker: Worker[object] | None = None) -> None:
        if worker is None or not worker.is_cancelled:
            self._work = f"{'filtering' if order == 'found' else 'sorting'} {share:.0%}"
            self._update_status()

    def _stop_building(self) -> None:
        self._work = ""
        self._may_build = False
        self._update_status()

    def _show_index(self, index: CycleIndex, *, cursor: int | None, more: bool = False) -> None:
        """Show cycles, with the cursor on a line. None keeps the cursor on its cycle, if that is still shown."""
        assert self._run is not None
        if cursor is None:
            cycle = self._table.chosen
            line = None if cycle is None else index.line_of(cycle.position, len(cycle.vertices))
            cursor = 0 if line is None else line
        self.index = index
        down, up = (" v", " ^") if is_ascii(self) else (" ▼", " ▲")
        mark = {"found": "", "longest": down, "shortest": up}[index.order]
        shown = ShownCycles(self._run, index)
        self._table.show(shown, cursor=cursor, largest=len(self._run), mark=mark, more=more)
        # The drawing below gets the room that a few cycles leave. Beside the drawing there is room for both.
        self._table.set_class(len(index) <= _FEW_CYCLES, "-few")
        self.follow_heat()
        self._update_status()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the actions on cycles only if there are cycles."""
        return self._run is not None or action not in _ACTIONS

    def action_take_offer(self) -> None:
        """Start a run that lists the cycles, picks them again, or draws some of too many. This screen shows them."""
        command, state = self._listing_command(), self.dashboard.run_state
        if command is None or state is None:
            return
        make = sample_of if cycle_words.is_too_many(state) else listing_of
        self.begin_again(command, make if command.pick == "all" else kept_pick_of, show="cycles")

    def action_go_to(self) -> None:
        """Ask for the number of a cycle, and go there."""
        if self._run is None or not len(self._run):
            self.refuse("Nothing is listed yet.")
        else:
            self.app.push_screen(GoToQuestion(len(self._run), self._run.thing), self._go_to)

    def _go_to(self, position: int | None) -> None:
        if position is None or self._run is None:
            return
        cycle = self._run.found(np.array([position]))[0]
        line = self.index.line_of(position, len(cycle.vertices))
        if line is None:
            hidden = not self.index.chosen.keeps_all
            thing = self._run.thing
            why = f"the filter hides it; escape shows all {thing}s" if hidden else "it was found after the last sorting"
            self.refuse(f"{thing.capitalize()} {position + 1:,} is not shown: {why}.")
            return
        self._table.go_to_line(line)

    def action_filter(self) -> None:
        """Ask which cycles to show."""
        if self._run is not None:
            self.app.push_screen(
                FilterQuestion(self._run.loaded.graph, self.index.chosen, self._run.thing), self._filter
            )

    def _filter(self, chosen: CycleFilter | None) -> None:
        if chosen is not None and chosen != self.index.chosen:
            self._build(chosen, self.index.order, keep_cursor=True)

    def show_only(self, chosen: CycleFilter) -> None:
        """Show only these cycles of the run, as soon as they are read."""
        self._wanted = chosen
        if self._run is not None:
            self._filter(chosen)

    @on(CycleTable.HeadingClicked)
    def action_sort(self) -> None:
        """Sort in the next order."""
        following = ORDERS[(ORDERS.index(self.index.order) + 1) % len(ORDERS)]
        self._build(self.index.chosen, following)

    def action_back(self) -> None:
        """Stop sorting or filtering; otherwise show all cycles again, or go back to the screen before."""
        if self.cancel_export() or self.cancel_heat():
            return
        if self._work:
            self.workers.cancel_group(self, "index")
            self._stop_building()
        elif not self.index.chosen.keeps_all:
            self._build(CycleFilter(), self.index.order, keep_cursor=True)
        else:
            self.call_later(self.dashboard.action_back)
