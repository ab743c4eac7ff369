"""The line about a food web whose run is complete."""

from __future__ import annotations

import asyncio

from textual import work
from textual.content import Content
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.runs.state import RunState
from chordless.tui.food_web import is_known_in_full, report_of_web, verdict_words
from kernels_ti import ChordlessError


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
