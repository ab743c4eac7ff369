"""The graph of a new run, a spec or a file, and its weights. Both are read while the user types."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from chordless.graphs.check import GraphFacts, check_graph, check_overlap, check_weights, is_food_web
from chordless.graphs.load import LoadedGraph
from chordless.tui.readings import AS_IT_IS, OVERLAP, READING_HELP, READINGS, options_of, said_here
from chordless.tui.run_form import WEIGHTS, expanded
from chordless.tui.run_words import without_name
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.form_row import FormLine, FormRow, GraphSuggester, TextField
from chordless.tui.widgets.graph_panel import GraphPanel
from kernels_ti import ChordlessError

EXAMPLE = "grid:7x10"
_SECONDS_UNTIL_CHECK = 0.2
_FIELDS = ("#graph", "#row-graph", "#answer", "#reading", "#types", "GraphPanel")
_OFFER = "A food web: choose `food web` under Read it."


@dataclass(frozen=True)
class GraphQuestion:
    """A graph to read, and how to read it."""

    text: str  # A path or a spec, as typed
    reading: str  # One of `chordless.tui.readings.READINGS`
    # For a food web: the file that says what is living. Empty for the .clu file beside the web.
    types: str


class GraphSource(Vertical):
    """The fields for the graph, and a line about the graph that was read.

    At first the field has the text `graph`, which is read as a food web with `overlap`. The `recent` graphs come with
    the newest first. `facts` are None until the graph was read. `fault` says why it cannot be read.
    """

    class Checked(Message):
        """The fields have changed, or their graph was read."""

    def __init__(self, graph: str, *, overlap: bool, recent: Sequence[str]) -> None:
        super().__init__(id="graph-source")
        self.facts: GraphFacts | None = None
        self.fault: str | None = None
        self._recent = tuple(recent)
        self._graph = graph
        self._reading = OVERLAP if overlap else AS_IT_IS
        # The text for which the user has chosen a way of reading, and the other way that fits the file better.
        self._chosen_for = graph if overlap else ""
        self._better: str | None = None
        self._timer: Timer | None = None
        self._answered: GraphQuestion | None = None

    def compose(self) -> ComposeResult:
        """Build the fields."""
        yield FormRow("graph", "Graph", self._graph, empty=EXAMPLE, suggester=GraphSuggester(lambda: self._recent))
        yield Static(id="answer", classes="under", markup=False)
        with FormLine("Read it"):
            yield Choice(READINGS, self._reading, id="reading")
        yield Static(READING_HELP[self._reading], id="reading-help", classes="under", markup=False)
        yield FormRow(
            "types",
            "Types",
            "",
            empty="beside it",
            help="what is living",
            suggester=GraphSuggester(specs=False),
        )
        yield GraphPanel(self._recent, self._folder)

    def on_mount(self) -> None:
        """Read the first graph."""
        self._changed(0)

    @property
    def question(self) -> GraphQuestion:
        """The current content of the fields."""
        types = self.query_one("#types", Input).value
        return GraphQuestion(self.query_one("#graph", Input).value, self.query_one("#reading", Choice).chosen, types)

    @property
    def is_known(self) -> bool:
        """Whether the current graph was read, with or without success."""
        return self._answered == self.question

    @property
    def notes(self) -> list[str]:
        """A better way to read the file, and the notes of the reader about it, without its name."""
        name, offer = expanded(self.question.text), [_OFFER] if self._better == OVERLAP else []
        return (
            offer if self.facts is None else [*offer, *(without_name(note, name) for note in self.facts.reader_notes)]
        )

    def _folder(self) -> Path:
        """Return the folder of the typed file, or else the current folder."""
        typed = Path(expanded(self._graph if not self.is_mounted else self.query_one("#graph", Input).value))
        folder = typed if os.path.isdir(typed) else typed.parent
        return folder.absolute() if os.path.isdir(folder) else Path.cwd()

    def put(self, graph: str) -> None:
        """Replace the content of the field."""
        field = self.query_one("#graph", Input)
        field.value = graph
        field.cursor_position = len(graph)

    def show_recent(self, recent: Sequence[str]) -> None:
        """List these as the recent graphs."""
        self._recent = tuple(recent)
        self.query_one(GraphPanel).show_recent(recent)

    def look_again(self) -> None:
        """Read the graph again, as its file may have changed."""
        self._changed(0)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.is_known:
            self._changed(_SECONDS_UNTIL_CHECK)

    @on(Choice.Changed)
    def _chosen(self, event: Choice.Changed) -> None:
        event.stop()
        self._chosen_for = self.question.text
        self._changed(0)

    @on(GraphPanel.Picked)
    def _picked(self, event: GraphPanel.Picked) -> None:
        event.stop()
        self.put(event.graph)
        self.query_one("#graph", TextField).offer()

    def _changed(self, seconds: float) -> None:
        question = self.question
        note = self.query_one("#reading-help", Static)
        note.update(READING_HELP[question.reading])
        note.display = bool(READING_HELP[question.reading])
        self.query_one("#row-types").display = question.reading == OVERLAP
        if question != self._answered:
            self._better = None
            self._show(None, None)
        self._answered = None
        if self._timer is not None:
            self._timer.stop()
        if not question.text.strip():
            self._take(question, None, f"type a graph, such as {EXAMPLE}, or pick one of the examples")
        elif seconds:
            self._timer = self.set_timer(seconds, lambda: self._check(question))
        else:
            self._check(question)
        self.post_message(self.Checked())

    @work(exclusive=True)
    async def _check(self, question: GraphQuestion) -> None:
        facts, fault = await asyncio.to_thread(_read, question)
        better = await asyncio.to_thread(_better_reading, question, is_wrong=fault is not None)
        # A dashboard that closes takes the fields away one by one.
        if all(map(self.query, _FIELDS)):
            self._take(question, facts, fault, better)

    def _take(
        self, question: GraphQuestion, facts: GraphFacts | None, fault: str | None, better: str | None = None
    ) -> None:
        if question != self.question:
            return
        if better == AS_IT_IS and question.text != self._chosen_for:
            # A food web was the graph before this one.
            self.query_one("#reading", Choice).choose(AS_IT_IS)
            return
        self._answered, self._better = question, better
        self._show(facts, fault)
        self.post_message(self.Checked())

    def _show(self, facts: GraphFacts | None, fault: str | None) -> None:
        self.facts, self.fault = facts, fault
        answer = self.query_one("#answer", Static)
        answer.set_class(fault is not None, "-wrong")
        said = [f"! {fault}"] * (fault is not None) + [str(facts)] * (facts is not None)
        answer.update("\n".join([*said, *self.notes]))
        self.query_one("#row-graph", FormRow).set_class(fault is not None, "-wrong")


def _read(question: GraphQuestion) -> tuple[GraphFacts | None, str | None]:
    try:
        if question.reading == OVERLAP:
            return check_overlap(expanded(question.text), expanded(question.types) or None), None
        return check_graph(expanded(question.text), **options_of(question.reading)), None
    except ChordlessError as error:
        return None, without_name(said_here(str(error)), expanded(question.text))


def _better_reading(question: GraphQuestion, *, is_wrong: bool) -> str | None:
    """Return a way of reading that fits the file better: a food web as one, and what is none as it is."""
    path = expanded(question.text)
    if question.reading != OVERLAP:
        return OVERLAP if is_food_web(path) else None
    if not is_wrong or is_food_web(path):
        return None
    try:
        check_graph(path)
    except ChordlessError:
        return None
    return AS_IT_IS


def kind_of(text: str, reading: str) -> str:
    """Return the value of `chordless.tui.settings.LastChoices.source` for a text and a way of reading."""
    if reading == OVERLAP:
        return OVERLAP
    return "file" if os.path.lexists(expanded(text)) else "spec"


class WeightsRow(FormRow):
    """A file or an attribute of weights, `value` at first. `fault` says why it gives the graph no weights."""

    class Checked(Message):
        """The weights were read."""

    def __init__(self, value: str) -> None:
        super().__init__(WEIGHTS.name, WEIGHTS.label, value, empty=WEIGHTS.empty, help=WEIGHTS.help)
        self.fault: str | None = None
        self.is_known = True
        """Whether what was asked for last was read, with or without success."""
        self._asked: tuple[str, LoadedGraph | None] = ("", None)
        self._timer: Timer | None = None

    def look(self, text: str, loaded: LoadedGraph | None) -> None:
        """Read the weights `text` of a graph, unless this was done: "" is none.

        None is a graph that is not known or needs no weights.
        """
        text, (text_before, loaded_before) = text.strip(), self._asked
        if text == text_before and loaded is loaded_before:
            return
        self._asked = (text, loaded)
        self.fault, self.is_known = None, not text or loaded is None
        if self._timer is not None:
            self._timer.stop()
        if text and loaded is not None:
            self._timer = self.set_timer(_SECONDS_UNTIL_CHECK, lambda: self._check(text, loaded))

    @work(exclusive=True)
    async def _check(self, text: str, loaded: LoadedGraph) -> None:
        fault = await asyncio.to_thread(_fault_of_weights, text, loaded)
        if (text, loaded) == self._asked and self.is_attached:
            self.fault, self.is_known = fault, True
            self.post_message(self.Checked())


def _fault_of_weights(text: str, loaded: LoadedGraph) -> str | None:
    name = expanded(text)
    try:
        check_weights(loaded, name)
    except ChordlessError as error:
        return without_name(said_here(str(error)).removeprefix(f"--weight {name}: "), name)
    return None
