"""The graph of the form for a new run, drawn while it is typed: a cycle or a path is lit, the run estimated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.graphs.check import LARGEST_MADE, GraphFacts
from chordless.graphs.drawing import can_be_drawn, layout_of
from chordless.graphs.load import LoadedGraph
from chordless.graphs.paths import path_graph_of
from chordless.protocol.orders import RunCommand
from chordless.tui.outlook import Outlook, outlooks_of, search_of
from chordless.tui.widgets.graph_view import GraphView
from kernels_ti import Graph
from kernels_ti.cycles import Cycles
from kernels_ti.estimate.random_cycle import CycleSampler
from kernels_ti.graph import IntArray
from kernels_ti.options import Lengths

_SECONDS_TO_SAMPLE, _MOST_SAMPLES, _MOST_SHOWN = 0.3, 300, 12
_SECONDS_OF_A_CYCLE = 2.5
_NO_ENDS = "Name both ends of the paths, and their number is estimated."


@dataclass(frozen=True)
class PreviewQuestion:
    """A graph to draw, and the cycles or paths that are lit and estimated."""

    # `text`, `reading` and `types`: see `chordless.tui.widgets.graph_source.GraphQuestion`. With them the time at which
    # the file was changed, seconds since 1970; None of a spec.
    graph: tuple[str, str, str, float | None]
    command: RunCommand | None  # What is searched for; None while the ends of the paths are wrong


class GraphPreview(Vertical):
    """A drawing of the graph, its size, and an estimate of the run. Threads do the work, so that keys answer.

    `outlook` is the estimate that is shown.
    """

    class Changed(Message):
        """Another estimate is shown."""

    def __init__(self) -> None:
        super().__init__(id="preview")
        self._question: PreviewQuestion | None = None
        self._drawn: tuple[str, str, str, float | None] | None = None  # The graph that is drawn
        self._found: list[IntArray] = []
        self._lit = 0
        self._is_whole = True
        self._estimate_lines: tuple[str, ...] = ()
        self._known = ""
        self._way: dict[str, bool] = {}
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
        """Show another graph, or other cycles or paths of it; None shows nothing.

        The facts are known of the graph. One that is not known, or large, is neither drawn nor estimated.
        """
        if question == self._question:
            return
        self._question, self._found, self.outlook, self._is_whole = question, [], None, True
        self.workers.cancel_node(self)
        if question is None or question.graph != self._drawn:
            self._drawn = None
            self._view.clear()
        if question is not None:
            self._view.thing = "path" if question.command is None else question.command.thing
        self._light()
        self._facts.update("" if facts is None else str(facts))
        if question is None or facts is None:
            self._estimate_lines = ()
        elif facts.loaded is None or max(facts.loaded.graph.n, facts.loaded.graph.m) > LARGEST_MADE:
            self._estimate_lines = ("Too large to draw or to estimate before the start.",)
        else:
            if self._drawn is None:
                self._draw(question, facts.loaded)
            self._estimate_lines = (_NO_ENDS,)
            if question.command is not None:
                self._estimate_lines, self._is_whole = ("estimating ...",), False
                self._sample(question.command, facts.loaded.graph)
                self._estimate_run(question.command, facts.loaded.graph)
        self._show_estimate()

    @property
    def is_estimated(self) -> bool:
        """Whether the estimate is there: of a vague one a better one follows. A graph without one is not waited for."""
        return self._is_whole or (self.outlook is not None and not self.outlook.cycles.is_vague)

    def tell_known(self, sentence: str) -> None:
        """Show what a run has found out already, in place of an estimate; "" is nothing."""
        if sentence != self._known:
            self._known = sentence
            self._show_estimate()

    def tell_way(self, **way: bool) -> None:
        """Fit the estimate to the chosen way; for `way` see `Outlook.lines`."""
        if way != self._way:
            self._way = way
            self._show_estimate()

    def leave(self, text: str) -> None:
        """Say nothing more of a graph that is not the typed one; it stays drawn until the next one is known."""
        if self._question is not None and self._question.graph[0] != text:
            self.workers.cancel_node(self)
            self._estimate_lines, self._known, self._is_whole, self.outlook = (), "", False, None
            self._show_estimate()

    def pause(self) -> None:
        """Stop the threads, so that a run has the machine to itself. An estimate that is whole stays."""
        if not self._is_whole:
            self.workers.cancel_node(self)
            self._question = None

    @work(exclusive=True, group="drawing")
    async def _draw(self, question: PreviewQuestion, loaded: LoadedGraph) -> None:
        layout = await asyncio.to_thread(layout_of, loaded) if can_be_drawn(loaded) else None
        self._drawn = question.graph
        caption = "" if layout is not None else "too large to draw: one of those found alone"
        self._view.show_graph(loaded.graph, layout, caption)
        self._light()

    @work(exclusive=True, group="samples")
    async def _sample(self, command: RunCommand, graph: Graph) -> None:
        worker = get_current_worker()
        self._found = await asyncio.to_thread(_some_of, command, graph, lambda: worker.is_cancelled)
        self._lit = 0
        self._light()

    @work(exclusive=True, group="estimate")
    async def _estimate_run(self, command: RunCommand, graph: Graph) -> None:
        worker = get_current_worker()
        search = await asyncio.to_thread(search_of, command, graph)
        outlooks = iter(outlooks_of(*search, lambda: worker.is_cancelled))
        while not self._is_whole:
            outlook = await asyncio.to_thread(next, outlooks, None)
            self.outlook = None if outlook is None else replace(outlook, thing=command.thing)
            self._is_whole = outlook is None or outlook.is_last
            self._estimate_lines = ("Too large to estimate before the start.",) if outlook is None else ()
            self._show_estimate()
            self.post_message(self.Changed())

    @on(Resize)
    def _show_estimate(self) -> None:
        """Show the sentences one below another, or in one paragraph below a form that has no room beside it."""
        lines = self._estimate_lines
        if self.outlook is not None:
            lines = self.outlook.lines(**self._way)
        if self._known:
            lines = (self._known,)
        self._estimate.update((" " if self.screen.has_class("-narrow") else "\n").join(lines))

    def _light_next(self) -> None:
        if len(self._found) > 1 and self.screen.is_current:
            self._lit = (self._lit + 1) % len(self._found)
            self._light()

    def _light(self) -> None:
        self._view.light(self._found[self._lit] if self._found else np.empty(0, np.int64))


def _some_of(command: RunCommand, graph: Graph, given_up: Callable[[], bool]) -> list[IntArray]:
    """Return some cycles or paths within the bounds, of different lengths as far as there are any."""
    paths = path_graph_of(command, graph)
    sampler = CycleSampler(graph) if paths is None else CycleSampler(paths.graph, start=graph.n)
    deadline = time.monotonic() + _SECONDS_TO_SAMPLE
    wanted = Lengths(command.min_length, command.max_length, command.parity)
    by_length: dict[int, IntArray] = {}
    drawn = 0

    def is_over() -> bool:
        return given_up() or time.monotonic() >= deadline

    while drawn < _MOST_SAMPLES and not is_over():
        drawn += 1
        found = sampler.draw(is_over)
        if found is not None and paths is not None:
            found = paths.of_cycles(Cycles.of_lists([found.tolist()])).vertices
        if found is not None and len(found) in wanted:
            by_length.setdefault(len(found), found)
    lengths = sorted(by_length, reverse=True)
    return [by_length[length] for length in lengths[:: max(len(lengths) // _MOST_SHOWN, 1)][:_MOST_SHOWN]]
