"""The Batch screen: count many graphs, see the results in a table, and open one graph as a run of its own."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Center, Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.widgets import Button, Static

from chordless.protocol.orders import BatchCommand
from chordless.tui import batch_form, batch_words
from chordless.tui.actions import bindings_of, key_of
from chordless.tui.batch_lines import BatchLines, LineIndex
from chordless.tui.batch_session import BatchSession
from chordless.tui.messages import StartRun
from chordless.tui.run_form import run_folder
from chordless.tui.screens.batch_sorting import SortedBatch
from chordless.tui.screens.question import AskResume, AskRun
from chordless.tui.widgets.batch_form import BatchForm
from chordless.tui.widgets.batch_table import BatchTable
from chordless.tui.widgets.form_row import TextField
from chordless.tui.widgets.glyphs import is_ascii
from kernels_ti import ChordlessError

_SECONDS_BETWEEN_LOOKS, _SECONDS_BETWEEN_NEWS = 0.2, 0.1
_FEW_DETAIL_LINES, _MOST_DETAIL_LINES = 3, 8


class BatchScreen(SortedBatch):
    """The form and the table of a batch; `lines` are those of the output file, None before they are read."""

    TAB = "batch"
    BINDINGS = bindings_of("batch")
    AUTO_FOCUS = ""

    _recent: Sequence[batch_form.RecentBatch] = ()
    _recent_fault: str | None = None
    _output = ""
    _index: LineIndex | None = None
    _fault: str | None = None
    _is_to_start = False
    _is_to_focus_table = False
    _told_end: BatchSession | None = None

    @property
    def _form(self) -> BatchForm:
        return self.query_one(BatchForm)

    def parts(self) -> ComposeResult:
        """Build the screen. The form contains the latest batch."""
        self._recent, self._recent_fault = batch_form.load_recent()
        last = self._recent[0] if self._recent and os.path.exists(self._recent[0].output) else None
        if last is None:
            yield BatchForm("", batch_form.free_output())
        else:
            yield BatchForm(output=batch_form.shortest(last.output), **last.fields_here())
        with Horizontal(id="batch-bar"):
            yield Button("Start", id="batch-start", variant="primary", compact=True, action="screen.start")
            yield Button("Stop", id="batch-stop", compact=True, action="screen.stop")
            yield Static(id="batch-phase", markup=True)
        with Vertical(id="batch-progress"):
            yield Static(id="batch-counts")
            yield Static(id="batch-now", markup=False)
        yield BatchTable(id="batch-table")
        with Center(id="batch-nothing"):
            yield Static(batch_words.HOW_TO_BEGIN, id="batch-nothing-words", markup=False)
        yield Static(id="batch-detail", markup=False)

    def on_mount(self) -> None:
        """Start with an empty table."""
        if self._recent_fault is not None:
            self.notify(self._recent_fault, severity="warning", timeout=15)
        self._draw()
        if self.dashboard.is_beginning and self.is_current:
            self.query_one("#batch-graphs", TextField).offer()

    def on_screen_resume(self) -> None:
        """Apply what may have changed while another screen was shown."""
        self._form.look()
        if self._index is not None:
            self._follow(self._index)
        self._draw()

    def on_screen_suspend(self) -> None:
        """Stop reading the disk."""
        self.workers.cancel_group(self, "lines")

    def offer(self, path: str) -> None:
        """Open the output file of a batch, or fill the form with a manifest."""
        if path.endswith(batch_form.MANIFEST):
            self._form.put(
                graphs=shlex.quote(path), output=batch_form.free_output(Path(path).with_suffix(".jsonl").name)
            )
            self.query_one("#batch-graphs").focus()
            return
        known = self._known(batch_form.absolute(path))
        self._form.put(output=path, **({"graphs": ""} if known is None else known.fields_here()))
        self._is_to_focus_table = True
        self._show_file(batch_form.absolute(path))
        self._draw()  # The same file may be open already.

    # The file of lines

    def _show_file(self, output: str) -> None:
        if output == self._output:
            return
        self._output = output
        self._table.clear()
        self.lines, self._fault = None, None
        self.forget_order()
        self.workers.cancel_group(self, "lines")
        self._index = LineIndex(output) if output else None
        if self._index is not None:
            self._follow(self._index)
        self._draw()

    @work(exclusive=True, group="lines")
    async def _follow(self, index: LineIndex) -> None:
        told, is_untold = 0.0, True
        while True:
            fault = None
            try:
                is_news = await asyncio.to_thread(index.look)
            except OSError as error:
                is_news, fault = False, f"cannot be read: {error.strerror}"
            is_untold = is_untold or is_news or fault is not None
            if is_untold and (not is_news or time.monotonic() - told >= _SECONDS_BETWEEN_NEWS):
                self._take_lines(index.lines(), fault)
                told, is_untold = time.monotonic(), False
            if not is_news:
                await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)

    def _take_lines(self, lines: BatchLines, fault: str | None) -> None:
        had_none = not self.lines
        self.lines, self._fault = lines, fault
        self.show_lines(anew=had_none)
        if had_none != (not self.lines):
            self.refresh_bindings()
        self._draw()

    @on(BatchTable.Chosen)
    @on(DescendantFocus)
    def _show_detail(self) -> None:
        """Show what is wrong while a field has the focus. Otherwise show a line, below the names that are left out."""
        plan, line = self._form.plan, self._table.chosen
        width, ascii_only = max(self.size.width - 2, 20), is_ascii(self)
        is_in_table = self._table.has_focus and self._table.display
        troubles = () if plan is None else plan.what_is_left_out if is_in_table else plan.troubles
        fault, text = "", ""
        if troubles:
            room = 1 if is_in_table else _FEW_DETAIL_LINES
            fault = batch_words.trouble_text(troubles, width, room, ascii_only=ascii_only)
        if is_in_table or not troubles:
            is_long = self.has_class("-high") or (line and line.error)
            room = (_MOST_DETAIL_LINES if is_long else _FEW_DETAIL_LINES) - bool(fault)
            text = batch_words.detail_text(line, width, room, ascii_only=ascii_only)
        detail = self.query_one("#batch-detail", Static)
        detail.display = bool(troubles or self.lines)
        detail.update(Content.assemble((fault, "$text-error"), "\n" if fault and text else "", text))

    # The form

    @on(BatchForm.Checked)
    def _checked(self, message: BatchForm.Checked) -> None:
        plan = message.plan
        if plan.lines is not None or (self._session is not None and plan.output == self._session.command.output):
            self._show_file(plan.output)
        elif not self._is_at_work:
            self._show_file("")
        self.refresh_bindings()
        self._draw()
        if self._is_to_start:
            self._is_to_start = False
            self.action_start()

    def _known(self, output: str) -> batch_form.RecentBatch | None:
        return next((batch for batch in self._recent if batch.output == output), None)

    # Drawing

    @on(Resize)
    def _draw(self) -> None:
        """Update everything except the table."""
        session, plan, ascii_only = self._session, self._form.plan, is_ascii(self)
        state = None if session is None or session.command.output != self._output else session.state
        has_lines = bool(self.lines)
        self._table.display = has_lines
        if has_lines and self._is_to_focus_table:
            self._is_to_focus_table = False
            self._table.focus()
        self.query_one("#batch-nothing").display = not has_lines and state is None
        self._show_detail()
        start, stop = self.query_one("#batch-start", Button), self.query_one("#batch-stop", Button)
        offer = "Start" if plan is None or not plan.lines else batch_words.AGAIN if self._is_done(plan) else "Resume"
        start.label = offer
        start.disabled = self._is_at_work or plan is None or not plan.can_start
        stop.disabled = not self._is_at_work
        self.query_one("#batch-progress").display = state is not None or has_lines
        phase, counts, now = self.query_one("#batch-phase", Static), "", ""
        if state is not None:
            phase.update(batch_words.phase_markup(state, ascii_only=ascii_only))
            counts = batch_words.progress_markup(state, self.size.width - 2, ascii_only=ascii_only)
            now = batch_words.now_text(state)
        else:
            is_offered = plan is not None and plan.can_start
            phase.update(
                batch_words.offer_markup(key_of(self, "batch.start"), offer, ascii_only=ascii_only)
                if is_offered
                else ""
            )
            if self.lines:
                counts = escape(batch_words.file_text(self.lines))
                now = "" if plan is None or plan.jobs else "To resume it, name its graphs again."
        if self._fault is not None:
            now = f"! {self._output} {self._fault}"
        self.query_one("#batch-counts", Static).update(counts)
        self.query_one("#batch-now", Static).update(now)

    def _hear(self) -> None:
        session = self._session
        if session is None or not self.is_attached:
            return
        if not session.is_at_work and self._told_end is not session:
            self._told_end = session
            self._form.look()
            self.refresh_bindings()
            if not self.is_current:
                self.notify(batch_words.tally_text(session.state), title="The batch has ended")
        self._draw()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the actions that are possible now."""
        if action == "start":
            return not self._is_at_work
        if action == "stop":
            return self._is_at_work
        return bool(self.lines) or action not in ("failures", "open", "sort")

    def action_go_to(self) -> None:
        """Move the focus to the field of the graphs."""
        self.set_focus(self.query_one("#batch-graphs"))

    def action_start(self) -> None:
        """Start or resume the batch. If a field is wrong, move the focus there."""
        plan = self._form.plan
        if self._is_at_work:
            return
        if plan is None:
            self._is_to_start = True
        elif plan.graphs_fault is not None or not plan.jobs:
            self.query_one("#batch-graphs").focus()
        elif plan.output_fault is not None:
            self.query_one("#batch-output").focus()
        elif plan.cluster_fault is not None:
            self.query_one("#batch-cluster").focus()
        elif not plan.lines or self._asks_for_the_same(plan):
            self._begin(plan)
        else:
            self.ask(AskResume(batch_form.shortest(plan.output), plan.lines), lambda: self._begin(plan))

    def _is_done(self, plan: batch_form.BatchPlan) -> bool:
        return plan.lines == plan.graphs and self._asks_for_the_same(plan)

    def _asks_for_the_same(self, plan: batch_form.BatchPlan) -> bool:
        if self._session is not None and self._session.command.output == plan.output:
            return self._session.command.jobs == plan.jobs
        known = self._known(plan.output)
        typed = (plan.question.graphs, plan.question.reading)
        return known is not None and (known.graphs_here(), known.reading) == typed

    def _begin(self, plan: batch_form.BatchPlan) -> None:
        try:
            session = BatchSession(BatchCommand(plan.jobs, plan.output, cluster=plan.cluster))
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return
        try:
            self._recent = batch_form.remember(batch_form.recent_batch_of(plan), self._recent)
        except ChordlessError as error:
            self.refuse(str(error))
        self.dashboard.batch = session
        session.begin(lambda: self.call_later(self._hear))
        self._is_to_focus_table = True
        self._show_file(plan.output)
        self.refresh_bindings()
        self._draw()

    def action_stop(self) -> None:
        """End the batch after the current graphs. If pressed again, end it at once."""
        if self._session is not None and self._is_at_work:
            self._session.stop()

    def action_open(self) -> None:
        """Ask whether to search the graph of this line in a run of its own; show that run."""
        line, plan = self._table.chosen, self._form.plan
        if line is None:
            return
        if not line.is_readable:
            self.refuse("This graph cannot be read, so there is nothing to run.")
            return
        source = batch_form.source_of(line.graph, self._output)
        if source is None:
            self.notify(batch_form.FROM_STANDARD_INPUT, severity="warning", timeout=10)
            return
        session = self._session
        jobs = () if plan is None else plan.jobs
        if session is not None and session.command.output == self._output:
            jobs = session.command.jobs
        folder = run_folder(self.dashboard.settings.runs_folder, line.graph)
        command = batch_form.run_of(line, source, jobs, folder)
        question = AskRun(line.graph, lists=command.output is not None)
        self.ask(question, lambda: self.post_message(StartRun(command)))
