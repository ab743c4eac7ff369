"""The form for a batch: the graphs, the output file, the cluster. They are checked while the user types."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Mount
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from chordless.tui.batch_form import BatchPlan, BatchQuestion, plan_of
from chordless.tui.readings import AS_IT_IS, READINGS
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.form_row import FormLine, FormRow, GraphSuggester

# The check waits for a pause in typing, since a pattern may match files in many folders.
SECONDS_TO_TYPE = 0.2


class BatchForm(Vertical):
    """Text fields with their first contents, and between them how the graphs are read, one of `READINGS`."""

    @dataclass(eq=False)
    class Checked(Message):
        """The fields were checked."""

        plan: BatchPlan

    def __init__(self, graphs: str, output: str, reading: str = AS_IT_IS, cluster: str = "") -> None:
        super().__init__()
        self._graphs = FormRow(
            "batch_graphs", "Graphs", graphs, empty="'webs/*.net' all.g6 grid:6x6", suggester=GraphSuggester()
        )
        self._output = FormRow(
            "batch_output", "Write to", output, empty="batch.jsonl", suggester=GraphSuggester(specs=False)
        )
        self._cluster = FormRow("batch_cluster", "Cluster", cluster, empty="none", help="such as local:4")
        self._reading = Choice(READINGS, reading, id="batch-reading")
        self._timer: Timer | None = None
        self._plan: BatchPlan | None = None
        self._looked_at: BatchQuestion | None = None

    def compose(self) -> ComposeResult:
        """Build the form."""
        yield self._graphs
        with FormLine("Read it"):
            yield self._reading
        yield self._output
        yield self._cluster

    @property
    def question(self) -> BatchQuestion:
        """The text of the fields."""
        return BatchQuestion(self._graphs.value, self._output.value, self._reading.chosen, self._cluster.value)

    @property
    def plan(self) -> BatchPlan | None:
        """The meaning of the text; None until it was checked."""
        return self._plan if self._plan is not None and self._plan.question == self.question else None

    def put(self, **texts: str) -> None:
        """Fill in the fields of these names: ``graphs``, ``output``, ``cluster``, ``reading``."""
        rows = {"graphs": self._graphs, "output": self._output, "cluster": self._cluster}
        for name, text in texts.items():
            if name == "reading":
                self._reading.choose(text)
            else:
                rows[name].put(text)

    @on(Mount)
    def look(self) -> None:
        """Check the fields again, as files may have changed."""
        self._plan, self._looked_at = None, self.question
        self._look(self._looked_at)

    @on(Input.Changed)
    def _edited(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SECONDS_TO_TYPE, self._look_if_new)

    def _look_if_new(self) -> None:
        if self._looked_at != self.question:
            self.look()

    @on(Choice.Changed)
    def _read_otherwise(self, event: Choice.Changed) -> None:
        event.stop()
        self.look()

    @work(exclusive=True, group="plan")
    async def _look(self, question: BatchQuestion) -> None:
        plan = await asyncio.to_thread(plan_of, question)
        if question != self.question:
            return
        self._plan = plan
        for row, words, fault in (
            (self._graphs, plan.graphs_words, plan.graphs_fault),
            (self._output, plan.output_words, plan.output_fault),
        ):
            row.help = words
            row.show_fault(fault or None)
        self._cluster.show_fault(plan.cluster_fault)
        self.post_message(self.Checked(plan))
