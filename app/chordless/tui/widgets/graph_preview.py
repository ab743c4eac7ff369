"""The graph of the form for a new run: drawn while it is typed, one of its cycles lit, with an estimate of the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.graphs.check import LARGEST_MADE, GraphFacts
from chordless.graphs.drawing import Layout, can_be_drawn, layout_of
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.tui.outlook import Outlook, outlooks_of
from chordless.tui.readings import OVERLAP, options_of
from chordless.tui.run_form import expanded, overlap_graph
from chordless.tui.widgets.graph_view import GraphView
from kernels_ti import ChordlessError, Options
from kernels_ti.estimate.random_cycle import CycleSampler
from kernels_ti.graph import IntArray

_SECONDS_TO_SAMPLE, _MOST_SAMPLES, _MOST_SHOWN = 0.3, 300, 12
_SECONDS_OF_A_CYCLE = 2.5


@dataclass(frozen=True)
class PreviewQuestion:
    """The graph to draw, and how."""

    # `text`, `reading` and `types`: see `chordless.tui.widgets.graph_source.GraphQuestion`.
    text: str
    reading: str
    types: str
    min_length: int = 3
    max_length: int | None = None  # Bounds on the cycles that are lit and estimated
    changed: float | None = None  # When the file was changed, seconds since 1970; None of a spec


@dataclass(eq=False)
class _Read(Message):
    """A thread has read the graph."""

    question: PreviewQuestion
    loaded: LoadedGraph


@dataclass(eq=False)
class _Drawn(Message):
    """A thread has laid the graph out."""

    question: PreviewQuestion
    loaded: LoadedGraph
    layout: Layout | None


@dataclass(eq=False)
class _Sampled(Message):
    """A thread has found some cycles of the graph."""

    question: PreviewQuestion
    cycles: list[IntArray]


@dataclass(eq=False)
class _Estimated(Message):
    """A thread has estimated the run, or could not."""

    question: PreviewQuestion
    outlook: Outlook | None


class GraphPreview(Vertical):
    """A drawing of the graph, its size, and an estimate of the run. Threads do the work, so that keys answer.

    `outlook` is the estimate that is shown.
    """

    class Changed(Message):
        """Another estimate is shown."""

    def __init__(self) -> None:
        super().__init__(id="preview")
        self._question: PreviewQuestion | None = None
        self._cycles: list[IntArray] = []
        self._lit = 0
        self._is_whole = True
        self._estimate_lines: tuple[str, ...] = ()
        self._known = ""
        self._is_breadth_first = False
        self.outlook: Outlook | None = None
        # Threads may still report after the screen was removed. A query would fail then, so the parts are attributes.
        self._view = GraphView(id="preview-graph", crowded_names=False)
        self._facts = Static("", id="preview-size", markup=False)
        self._estimate = Static("", id="preview-estimate", markup=False)

    def compose(self) -> ComposeResult:
        """Build the parts."""
        yield self._view
        yield self._facts
        yield self._estimate

    def on_mount(self) -> None:
        """Light another cycle now and then, unless nothing should move."""
        if self.app.animation_level != "none":
            self.set_interval(_SECONDS_OF_A_CYCLE, self._light_next)

    def show(self, question: PreviewQuestion | None, facts: GraphFacts | None) -> None:
        """Show another graph; None shows nothing.

        The facts are known of the graph. A graph whose size is unknown or large is not read.
        """
        if question == self._question:
            return
        self._question, self._cycles, self.outlook, self._is_whole = question, [], None, True
        self.workers.cancel_node(self)
        self._view.clear()
        self._facts.update("" if facts is None else str(facts))
        if question is None or facts is None:
            self._estimate_lines = ()
        elif facts.m is None or max(facts.n or 0, facts.m) > LARGEST_MADE:
            self._estimate_lines = ("Too large to draw or to estimate before the start.",)
        else:
            self._estimate_lines, self._is_whole = ("estimating ...",), False
            self._look(question)
        self._show_estimate()

    def tell_known(self, sentence: str) -> None:
        """Show what a run has found out already, in place of an estimate; "" is nothing."""
        if sentence != self._known:
            self._known = sentence
            self._show_estimate()

    def tell_growth(self, *, breadth_first: bool) -> None:
        """Tell how long a search takes in which paths grow at one end, or at two."""
        if breadth_first != self._is_breadth_first:
            self._is_breadth_first = breadth_first
            self._show_estimate()

    def leave(self, text: str) -> None:
        """Say nothing more of a graph that is not the typed one; it stays drawn until the next one is known."""
        if self._question is not None and self._question.text != text:
            self.workers.cancel_node(self)
            self._estimate_lines, self._known, self._is_whole, self.outlook = (), "", False, None
            self._show_estimate()

    def pause(self) -> None:
        """Stop the threads, so that a run has the machine to itself. An estimate that is whole stays."""
        if not self._is_whole:
            self.workers.cancel_node(self)
            self._question = None

    @work(thread=True, exclusive=True, group="reading")
    def _look(self, question: PreviewQuestion) -> None:
        worker = get_current_worker()
        try:
            loaded = _loaded(question)
        except ChordlessError:
            # The form says what is wrong with it.
            return
        if not worker.is_cancelled:
            self.post_message(_Read(question, loaded))

    @on(_Read)
    def _take_graph(self, message: _Read) -> None:
        message.stop()
        if message.question == self._question:
            self._draw(message.question, message.loaded)
            self._estimate_run(message.question, message.loaded)

    @work(thread=True, exclusive=True, group="drawing")
    def _draw(self, question: PreviewQuestion, loaded: LoadedGraph) -> None:
        worker = get_current_worker()
        self.post_message(_Drawn(question, loaded, layout_of(loaded) if can_be_drawn(loaded) else None))
        if not worker.is_cancelled:
            self.post_message(_Sampled(question, _cycles_of(loaded, question, lambda: worker.is_cancelled)))

    @work(thread=True, exclusive=True, group="estimate")
    def _estimate_run(self, question: PreviewQuestion, loaded: LoadedGraph) -> None:
        worker = get_current_worker()
        options = Options(min_length=question.min_length, max_length=question.max_length)
        outlook = None
        for outlook in outlooks_of(loaded.graph, options, lambda: worker.is_cancelled):
            self.post_message(_Estimated(question, outlook))
        if outlook is None and not worker.is_cancelled:
            self.post_message(_Estimated(question, None))

    @on(_Sampled)
    def _take_cycles(self, message: _Sampled) -> None:
        message.stop()
        if message.question == self._question:
            self._cycles, self._lit = message.cycles, 0
            self._light()

    @on(_Drawn)
    def _take_drawing(self, message: _Drawn) -> None:
        message.stop()
        if message.question != self._question:
            return
        caption = "" if message.layout is not None else "too large to draw: one of its cycles alone"
        self._view.show_graph(message.loaded.graph, message.layout, caption)

    @on(_Estimated)
    def _take_estimate(self, message: _Estimated) -> None:
        message.stop()
        if message.question == self._question:
            outlook = self.outlook = message.outlook
            self._is_whole = outlook is None or outlook.is_last
            self._estimate_lines = ("Too large to estimate before the start.",) if outlook is None else ()
            self._show_estimate()
            self.post_message(self.Changed())

    def on_resize(self) -> None:
        """Fit the estimate to the new size."""
        self._show_estimate()

    def _show_estimate(self) -> None:
        """Show the sentences one below another, or in one paragraph below a form that has no room beside it."""
        lines = self._estimate_lines
        if self.outlook is not None:
            lines = self.outlook.lines(breadth_first=self._is_breadth_first)
        if self._known:
            lines = (self._known,)
        self._estimate.update((" " if self.screen.has_class("-narrow") else "\n").join(lines))

    def _light_next(self) -> None:
        if len(self._cycles) > 1 and self.screen.is_current:
            self._lit = (self._lit + 1) % len(self._cycles)
            self._light()

    def _light(self) -> None:
        if self._cycles:
            self._view.light(self._cycles[self._lit])


def _loaded(question: PreviewQuestion) -> LoadedGraph:
    source = expanded(question.text)
    if question.reading == OVERLAP:
        return LoadedGraph(overlap_graph(question.text, question.types), source)
    return load_graph(source, **options_of(question.reading))


def _cycles_of(loaded: LoadedGraph, question: PreviewQuestion, given_up: Callable[[], bool]) -> list[IntArray]:
    """Return some cycles within the bounds, of different lengths as far as there are any."""
    sampler, deadline = CycleSampler(loaded.graph), time.monotonic() + _SECONDS_TO_SAMPLE
    longest = question.max_length or loaded.graph.n
    by_length: dict[int, list[IntArray]] = {}
    drawn = 0

    def is_over() -> bool:
        return given_up() or time.monotonic() >= deadline

    while drawn < _MOST_SAMPLES and not is_over():
        drawn += 1
        cycle = sampler.draw(is_over)
        if cycle is not None and question.min_length <= len(cycle) <= longest:
            by_length.setdefault(len(cycle), []).append(cycle)
    lengths = sorted(by_length, reverse=True)
    few = lengths[:: max(len(lengths) // _MOST_SHOWN, 1)][:_MOST_SHOWN]
    return [by_length[length][0] for length in few]
