"""The Runs screen: all runs so far. The user can open, resume, compare or delete them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.timer import Timer
from textual.widgets import Button, DataTable, Input, Static

from chordless.runs.elsewhere import noted_folders
from chordless.runs.history import RunSummary, delete_run, foreign_files, list_runs
from chordless.runs.mailbox import is_at_work
from chordless.tui.actions import bindings_of, list_bindings
from chordless.tui.marks import sort_arrow
from chordless.tui.messages import CompareRuns, OpenRun
from chordless.tui.run_list import (
    COLUMNS,
    STAGES,
    Column,
    columns_for,
    details,
    ordered,
    row_title,
    title,
    with_home,
)
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import AskDelete
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.load_meter import ProcessLoads
from chordless.tui.widgets.text_field import TextField
from kernels_ti import ChordlessError
from kernels_ti.errors import quantity

_SECONDS_BETWEEN_LOOKS = 2.0
_LOOKS_LONGER = 10
_PADDING = 2
_NO_RUNS = """\
There are no runs yet. Choose a graph and press Start:
every run is kept here, to be opened, resumed and compared."""
_NEED_A_RUN = ("open", "resume", "compare", "sort", "filter", "delete")


class _Table(DataTable[Text]):
    """The table of runs. Its Enter key is the one that the footer shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Open", show=True),
        *list_bindings(up="cursor_up", down="cursor_down", first="scroll_top", last="scroll_bottom"),
    ]


class RunsScreen(Page):
    """The table of runs, and details of the chosen one."""

    TAB = "runs"
    BINDINGS = bindings_of("runs")
    AUTO_FOCUS = "#runs"

    def __init__(self) -> None:
        super().__init__()
        self._runs: list[RunSummary] = []
        self._is_read = False  # Whether the folder has been read once
        self._early_keys: list[Key] = []  # Pressed before
        self._processes = ProcessLoads()
        self._loads: dict[Path, float | None] = {}
        self._marked: Path | None = None
        self._followed: Path | None = None  # The run that was shown when the user came here last
        self._goes_to: Path | None = None
        self._sorted_by = "began"
        self._filter = ""
        self._turned = False
        self._timer: Timer | None = None
        self._drawn: tuple[tuple[str, ...], list[tuple[Path, list[str]]]] = ((), [])

    @property
    def _folder(self) -> Path:
        return self.dashboard.settings.runs_folder

    @property
    def _table(self) -> _Table:
        return self.query_one(_Table)

    def parts(self) -> ComposeResult:
        """Put the screen together."""
        yield TextField(
            placeholder="letters of the graph's name; escape shows all runs", id="runs-filter", compact=True
        )
        yield _Table(id="runs", cursor_type="row")
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

    def on_resize(self, event: Resize) -> None:
        """Show as many columns as fit."""
        self._draw()

    @work(exclusive=True, group="runs")
    async def _look(self) -> None:
        began = time.monotonic()
        try:
            runs, fault = await asyncio.to_thread(lambda: list_runs(self._folder, noted_folders())), None
        except ChordlessError as error:
            runs, fault = [], str(error)
        # Without a table, the dashboard is closing.
        if self.query(_Table):
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
        self._runs = runs
        if self._marked not in [run.path for run in runs]:
            self._marked = None
        has_focus = self._table.has_focus or self.focused is None
        self._table.display = bool(runs)
        self._table.disabled = False
        self.query_one("#no-runs").display = not runs and fault is None
        self._draw()
        self._go_to_run()
        self.refresh_bindings()
        if fault is not None:
            self.query_one("#run-details", Static).update(f"! {fault}")
        elif has_focus and self.is_current:
            self.set_focus(self._table if runs else self.query_one("#begin"))
        self._is_read = True
        for key in self._early_keys:
            self.app.post_message(Key(key.key, key.character))
        self._early_keys.clear()

    def _go_to_run(self) -> None:
        """Put the cursor on the run that the user comes from, once."""
        _, lines = self._drawn
        row = next((row for row, (path, _) in enumerate(lines) if path.resolve() == self._goes_to), None)
        if row is not None:
            self._goes_to = None
            self._table.move_cursor(row=row)

    # Drawing

    def _draw(self) -> None:
        """Update the table. If only cells have changed, draw only those."""
        columns = columns_for(self.size.width)
        runs = ordered(self._matching, self._column(), turned=self._turned)
        headings = (*(self._heading(column) for column in columns), str(self.size.width))
        lines = [(run.path, [self._cell(run, column) for column in columns]) for run in runs]
        old_headings, old_lines = self._drawn
        if headings == old_headings and [path for path, _ in lines] == [path for path, _ in old_lines]:
            for (path, cells), (_, old_cells) in zip(lines, old_lines, strict=True):
                for column, cell, old_cell in zip(columns, cells, old_cells, strict=True):
                    if cell != old_cell:
                        self._table.update_cell(str(path), column.name, _aligned(cell, column))
        else:
            self._draw_anew(columns, lines)
        self._drawn = (headings, lines)
        self._show_details()

    def _draw_anew(self, columns: Sequence[Column], lines: Sequence[tuple[Path, Sequence[str]]]) -> None:
        table, chosen, top = self._table, self._chosen_path, self._table.scroll_y
        table.clear(columns=True)
        taken = sum(column.width + _PADDING for column in columns)
        for column in columns:
            more = max(self.size.width - taken - 1, 0) if column.name == "graph" else 0
            table.add_column(_aligned(self._heading(column), column), width=column.width + more, key=column.name)
        paths = [path for path, _ in lines]
        for path, cells in lines:
            table.add_row(*map(_aligned, cells, columns), key=str(path))
        if chosen in paths:
            table.move_cursor(row=paths.index(chosen), scroll=False)
            table.scroll_to(y=top, animate=False)

    @property
    def _matching(self) -> list[RunSummary]:
        """The runs that pass the filter."""
        return [run for run in self._runs if self._filter in row_title(run).lower()]

    def _heading(self, column: Column) -> str:
        if column.name != self._sorted_by:
            return column.title
        falling = column.is_number != self._turned
        return f"{column.title} {sort_arrow(falling=falling, ascii_only=is_ascii(self))}"

    def _cell(self, run: RunSummary, column: Column) -> str:
        if column.name == "state":
            return STAGES[run.stage].text(ascii_only=is_ascii(self))
        if column.name == "graph" and run.path == self._marked:
            return f"{'*' if is_ascii(self) else '◆'} {column.text(run)}"
        return column.text(run)

    def _show_details(self) -> None:
        run = self._chosen
        text = f"Runs are kept in {with_home(self._folder)}" if run is None else details(run, self._loads.get(run.path))
        if self._filter:
            text = "" if run is None else f"{text}\n"
            text += f"{len(self._matching):,} of {quantity(len(self._runs), 'run')} match: escape shows all."
        if self._marked is not None:
            text += "\nThis run is marked" if run is not None and run.path == self._marked else "\nOne run is marked"
            text += ": mark another one to compare the two."
        self.query_one("#run-details", Static).update(text)

    # Which run

    @property
    def _chosen_path(self) -> Path | None:
        if not self._table.row_count:
            return None
        return Path(str(self._table.coordinate_to_cell_key(self._table.cursor_coordinate).row_key.value))

    @property
    def _chosen(self) -> RunSummary | None:
        path = self._chosen_path
        return next((run for run in self._runs if run.path == path), None)

    def _column(self) -> Column:
        return next(column for column in COLUMNS if column.name == self._sorted_by)

    @on(DataTable.RowHighlighted)
    def _moved(self) -> None:
        self._show_details()

    @on(DataTable.RowSelected)
    def _selected(self) -> None:
        self.action_open()

    @on(DataTable.HeaderSelected)
    def _sort_by(self, event: DataTable.HeaderSelected) -> None:
        name = str(event.column_key.value)
        self._turned = name == self._sorted_by and not self._turned
        self._sorted_by = name
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

    def action_open(self) -> None:
        """Show the run."""
        run = self._chosen
        if run is not None:
            self.post_message(OpenRun(run.path))

    def action_resume(self) -> None:
        """Resume the run."""
        run = self._chosen
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
        run = self._chosen
        if run is None:
            return
        if run.stage == "damaged":
            self.refuse(f"{title(run)} cannot be compared: {run.why}.")
            return
        other, self._marked = self._marked, None
        if other is None:
            self._marked = run.path
        elif other != run.path:
            self.post_message(CompareRuns((other, run.path)))
        self._draw()

    def action_delete(self) -> None:
        """Ask, then delete the run."""
        run = self._chosen
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


def _aligned(text: str, column: Column) -> Text:
    return Text(text, justify="right" if column.is_number else "left", no_wrap=True, overflow="ellipsis")
