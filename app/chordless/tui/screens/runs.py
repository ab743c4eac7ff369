"""The Runs screen: all runs so far. The user can open, resume, compare or delete them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.timer import Timer
from textual.widgets import Button, Input, Static

from chordless.runs.elsewhere import noted_folders
from chordless.runs.history import RunSummary, delete_run, foreign_files, list_runs
from chordless.runs.mailbox import is_at_work
from chordless.tui.actions import bindings_of
from chordless.tui.messages import CompareRuns, OpenRun
from chordless.tui.run_list import COLUMNS, columns_for, details, ordered, row_title, title, with_home
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import AskDelete
from chordless.tui.widgets.form_row import TextField
from chordless.tui.widgets.load_meter import ProcessLoads
from chordless.tui.widgets.run_table import RunTable
from kernels_ti import ChordlessError
from kernels_ti.errors import quantity

_SECONDS_BETWEEN_LOOKS = 2.0
_LOOKS_LONGER = 10
_NO_RUNS = """\
There are no runs yet. Choose a graph and press Start:
every run is kept here, to be opened, resumed and compared."""
_NEED_A_RUN = ("open", "resume", "compare", "sort", "filter", "delete")


class RunsScreen(Page):
    """The table of runs, and details of the chosen one."""

    TAB = "runs"
    BINDINGS = bindings_of("runs")
    AUTO_FOCUS = "#runs"

    def __init__(self) -> None:
        super().__init__()
        self._runs: list[RunSummary] = []
        self._fault: str | None = None
        self._is_read = False  # Whether the folder has been read once
        self._early_keys: list[Key] = []  # Pressed before
        self._processes = ProcessLoads()
        self._loads: dict[Path, float | None] = {}
        self._followed: Path | None = None  # The run that was shown when the user came here last
        self._goes_to: Path | None = None
        self._sorted_by = "began"
        self._filter = ""
        self._turned = False
        self._timer: Timer | None = None
        self._shown: list[RunSummary] = []  # Those that pass the filter, in their order

    @property
    def _table(self) -> RunTable:
        return self.query_one(RunTable)

    def parts(self) -> ComposeResult:
        """Put the screen together."""
        words = "letters of the graph's name; escape shows all runs"
        yield TextField(placeholder=words, id="runs-filter", compact=True)
        yield RunTable(id="runs")
        with Vertical(id="no-runs"):
            yield Static(_NO_RUNS)
            yield Button("Begin a run", id="begin", variant="primary", action="app.show('new')")
        yield Static(id="run-details", markup=False)

    def on_mount(self) -> None:
        """Show neither the table nor the empty page until the folder has been read."""
        self._table.display = self.query_one("#no-runs").display = False
        self._table.disabled = True  # It takes no key

    def on_screen_resume(self) -> None:
        """Read the runs now, and repeatedly while this screen is shown."""
        if self.is_current:
            # A screen that is made beforehand reads nothing: its cursor would stay on the newest run of that time.
            session = self.dashboard.session
            shown = None if session is None or session.directory is None else session.directory.resolve()
            if shown != self._followed:
                self._followed = self._goes_to = shown
            self._look()

    def on_screen_suspend(self) -> None:
        """Stop reading the disk."""
        self._early_keys.clear()
        if self._timer is not None:
            self._timer.stop()

    def on_key(self, event: Key) -> None:
        """Keep a key that nothing has taken until the folder has been read."""
        if not self._is_read:
            self._early_keys.append(event)

    @work(exclusive=True, group="runs")
    async def _look(self) -> None:
        began, folder = time.monotonic(), self.dashboard.settings.runs_folder
        try:
            runs, fault = await asyncio.to_thread(lambda: list_runs(folder, noted_folders())), None
        except ChordlessError as error:
            runs, fault = [], str(error)
        # Without a table, the dashboard is closing.
        if self.query(RunTable):
            self._take(runs, fault, time.monotonic() - began)

    def _take(self, runs: list[RunSummary], fault: str | None, seconds: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        if self.is_current:
            # A slow disk, or a folder with thousands of runs, is read less often.
            self._timer = self.set_timer(max(_SECONDS_BETWEEN_LOOKS, _LOOKS_LONGER * seconds), self._look)
        self._loads = {run.path: self._processes.of(run.pid) for run in runs if run.pid}
        if runs == self._runs and self._table.display:
            self._show_details()
            self._go_to_run()
            return
        self._runs, self._fault = runs, fault
        if self._table.marked not in [run.path for run in runs]:
            self._table.marked = None
        has_focus = self._table.has_focus or self.focused is None
        self._table.display = bool(runs)
        self._table.disabled = False
        self.query_one("#no-runs").display = not runs and fault is None
        self._draw()
        self._go_to_run()
        self.refresh_bindings()
        if fault is None and has_focus and self.is_current:
            self.set_focus(self._table if runs else self.query_one("#begin"))
        self._is_read = True
        for key in self._early_keys:
            self.app.post_message(Key(key.key, key.character))
        self._early_keys.clear()

    def _go_to_run(self) -> None:
        """Put the cursor on the run that the user comes from, once."""
        if self._goes_to is not None and self._goes_to in (paths := [run.path.resolve() for run in self._shown]):
            self._table.go_to_line(paths.index(self._goes_to))
            self._goes_to = None

    # Drawing

    @on(Resize)
    def _draw(self) -> None:
        column = next(column for column in COLUMNS if column.name == self._sorted_by)
        matching = [run for run in self._runs if self._filter in row_title(run).lower()]
        self._shown = ordered(matching, column, turned=self._turned)
        self._table.mark(column.name, falling=column.is_number != self._turned)
        self._table.show_runs(self._shown)
        self._show_details()

    @on(RunTable.Chosen)
    def _show_details(self) -> None:
        run, marked = self._table.chosen, self._table.marked
        text = f"Runs are kept in {with_home(self.dashboard.settings.runs_folder)}"
        text = text if self._fault is None else f"! {self._fault}"
        text = text if run is None else details(run, self._loads.get(run.path))
        if self._filter:
            text = "" if run is None else f"{text}\n"
            text += f"{len(self._shown):,} of {quantity(len(self._runs), 'run')} match: escape shows all."
        if marked is not None:
            text += "\nThis run is marked" if run is not None and run.path == marked else "\nOne run is marked"
            text += ": mark another one to compare the two."
        self.query_one("#run-details", Static).update(text)

    @on(RunTable.HeadingClicked)
    def _sort_by(self, event: RunTable.HeadingClicked) -> None:
        self._turned = event.title == self._sorted_by and not self._turned
        self._sorted_by = event.title
        self._draw()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what is possible: without runs, no action on a run."""
        return bool(self._runs) or action not in _NEED_A_RUN

    def action_filter(self) -> None:
        """Ask for letters of the graph's name."""
        self.add_class("-filtering")
        self.set_focus(self.query_one("#runs-filter"))

    @on(Input.Changed, "#runs-filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        self._filter = event.value.strip().lower()
        self._draw()

    @on(Input.Submitted, "#runs-filter")
    def _filter_done(self) -> None:
        self._table.focus()

    def action_back(self) -> None:
        """Undo the filter. Without one, go back to the screen before this one."""
        if not self.has_class("-filtering"):
            self.call_later(self.dashboard.action_back)
            return
        self.remove_class("-filtering")
        self.query_one("#runs-filter", Input).value = ""
        self._table.focus()

    def action_sort(self) -> None:
        """Sort by the next column."""
        names = [column.name for column in columns_for(self.size.width)]
        # A narrow terminal may not show the column that the runs are sorted by.
        at = names.index(self._sorted_by) if self._sorted_by in names else -1
        self._sorted_by = names[(at + 1) % len(names)]
        self._turned = False
        self._draw()

    @on(RunTable.Opened)
    def action_open(self) -> None:
        """Show the run."""
        run = self._table.chosen
        if run is not None:
            self.post_message(OpenRun(run.path))

    def action_resume(self) -> None:
        """Resume the run."""
        run = self._table.chosen
        if run is None:
            return
        if not run.can_resume:
            why = {
                "complete": "it is complete",
                "running": "an engine is at work in it already",
                "paused": "an engine is paused in it",
            }
            other = run.why if run.has_checkpoint else "there is no checkpoint"
            self.refuse(f"{title(run)} cannot be resumed: {why.get(run.stage, other)}.")
            return
        self.resume(run.path)

    def action_compare(self) -> None:
        """Mark the run, or compare it with the marked one."""
        run = self._table.chosen
        if run is None:
            return
        if run.stage == "damaged":
            self.refuse(f"{title(run)} cannot be compared: {run.why}.")
            return
        other, self._table.marked = self._table.marked, None
        if other is None:
            self._table.marked = run.path
        elif other != run.path:
            self.post_message(CompareRuns((other, run.path)))
        self._draw()

    def action_delete(self) -> None:
        """Ask, then delete the run."""
        run = self._table.chosen
        if run is None:
            return
        # The list may be older than a run that was just resumed.
        if run.is_at_work or is_at_work(run.path):
            self.refuse(f"An engine is at work in the run of {title(run)}: stop it first.")
            return
        try:
            foreign = foreign_files(run.path)
        except OSError as error:
            self.refuse(f"cannot read {run.path}: {error.strerror}")
            return
        self.ask(AskDelete(run, foreign), lambda: self._delete(run))

    @work
    async def _delete(self, run: RunSummary) -> None:
        try:
            await asyncio.to_thread(delete_run, run.path)
        except ChordlessError as error:
            self.refuse(str(error))
        else:
            self.notify(f"The run of {title(run)} is deleted.")
        self._look()
