"""The end of a food web: how many holes, whether one line of niches has all species, and which species matter."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual import work
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.engine.process import EngineProcess
from chordless.graphs.overlap import read_food_web
from chordless.graphs.overlap_report import OverlapReport, report_of_holes, report_without_holes
from chordless.protocol.events import Failed, Finished
from chordless.protocol.orders import RunCommand
from chordless.runs.state import RunState
from chordless.values import SHORTEST_HOLE
from kernels_ti import ChordlessError, EngineError, is_chordal
from kernels_ti.errors import quantity

_SECONDS_BETWEEN_LOOKS = 0.1
_SPECIES_NAMED = 3


class WebVerdict(Static):
    """Holes, line of niches and species of a food web; hidden for any other run."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.display = False
        self._asked: tuple[float, str] | None = None

    def show(self, state: RunState) -> None:
        """Show the verdict on the web of a run once that is complete. A thread finds it."""
        if not is_known_in_full(state.options, state.reason):
            self._asked, self.display = None, False
            return
        asked = (state.began, state.graph)
        if asked != self._asked:
            self._asked = asked
            self._put("looking at the holes of each species ...")
            self._look(state.graph, state.options.get("types"))

    @work(exclusive=True)
    async def _look(self, web: str, types: str | None) -> None:
        worker = get_current_worker()
        try:
            report = await asyncio.to_thread(report_of_web, web, types, lambda: worker.is_cancelled)
        except ChordlessError as error:
            self._put(f"no more is known of this web: {error}")
        else:
            self._put("" if report is None else verdict_words(report))

    def _put(self, words: str) -> None:
        self.display = True
        self.update(Content(words))


def report_of_web(web: str, types: str | None, given_up: Callable[[], bool]) -> OverlapReport | None:
    """Report on a food web, its holes counted by an engine for each species.

    Without `types` the .clu file beside the web says what is living. `given_up` is called ten times a second; once it
    returns True, the engine is killed, and the report is None. Raise GraphError if the web cannot be read, EngineError
    if the engine fails.
    """
    known = read_food_web(web, types)
    if is_chordal(known.overlap):
        return report_without_holes(web, known)
    command = RunCommand(
        web, time.monotonic(), overlap=True, types=types, arch="cpu", min_length=SHORTEST_HOLE, per_vertex=True
    )
    with EngineProcess(command, polite=True) as engine:
        while not given_up():
            event = engine.poll(_SECONDS_BETWEEN_LOOKS)
            if isinstance(event, Finished):
                return report_of_holes(web, known, event)
            if isinstance(event, Failed):
                raise EngineError(event.message)
    return None


def verdict_words(report: OverlapReport) -> str:
    """Return the report in two sentences, or three."""
    sharing = report.sharing_prey
    if not sharing:
        return "No two species share prey."
    if report.holes:
        most = ", ".join(f"{one.name} ({one.holes:,})" for one in report.species[:_SPECIES_NAMED])
        holes = quantity(report.holes, "hole")
        return f"{holes}: no line of niches has all {sharing:,} species. In most holes: {most}."
    if report.order is None:
        triple = "; ".join(report.asteroidal_triple or ())
        return f"No hole, but no line of niches has all {sharing:,} species: {triple} are an asteroidal triple."
    order = ", ".join(one["name"] for one in report.order)
    return f"No hole: one line of niches has all {sharing:,} species. An order of them: {order}."


def is_known_in_full(options: dict[str, Any], reason: str | None) -> bool:
    """Return whether a run has counted or listed the cycles of a food web to the end."""
    return bool(options.get("overlap")) and reason == "complete" and options.get("pick", "all") == "all"
