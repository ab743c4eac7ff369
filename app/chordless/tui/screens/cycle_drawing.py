"""The drawing of the Cycles screen, and its heat map: how many of the shown cycles pass each edge."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from textual import work
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.cycles.browse import RunCycles
from chordless.cycles.heat import Heat, heat_of_counts, heat_of_rows
from chordless.cycles.index import CycleFilter, CycleIndex
from chordless.cycles.read import Rows
from chordless.runs.state import RunState
from chordless.tui.cycle_words import heat_words
from chordless.tui.screens.page import Page
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.graph_view import GraphView
from kernels_ti import ChordlessError

_ROWS_AT_ONCE = 1 << 18
_SECONDS_BETWEEN_NEWS = 0.1
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class DrawingActions(Page):
    """The actions of a screen that has a `GraphView`.

    `heated` is the share of the cycles that is counted; None while there is nothing to count.
    """

    _run: RunCycles | None
    _state: RunState
    _graph_view: GraphView
    _table: CycleTable
    _detail: Static
    index: CycleIndex
    heated: float | None = None
    _heat_of: CycleFilter | None = None

    def _update_status(self) -> None:
        raise NotImplementedError

    def show_cycle_again(self) -> None:
        """Draw the chosen cycle again."""
        raise NotImplementedError

    def action_drawing(self) -> None:
        """Show or hide the drawing."""
        self.toggle_class("-no-drawing")

    def action_alone(self) -> None:
        """Switch between the cycle alone and the cycle in the graph."""
        self._graph_view.set_alone(not self._graph_view.is_alone)

    def action_zoom(self, way: str) -> None:
        """Magnify the drawing, or shrink it, so that it shows more of the graph."""
        self._graph_view.zoom(1 if way == "in" else -1)

    def action_fit(self) -> None:
        """Show the whole graph."""
        self._graph_view.fit()

    def action_pan(self, way: str) -> None:
        """Move the view."""
        self._graph_view.pan_by_share(*_WAYS[way])

    def action_heat(self) -> None:
        """Draw the heat map, or the cycle again."""
        if self._heat_of is not None:
            self.cancel_heat()
            self._heat_of = None
            self._graph_view.warm(None)
            self.show_cycle_again()
        elif self._graph_view.is_alone:
            self.refuse("A heat map needs the drawing of the whole graph.")
        elif self._run is not None and len(self.index):
            self._count_heat(self._run)
        else:
            self.refuse("There are no cycles yet to draw a heat map of.")

    def follow_heat(self) -> None:
        """Draw the heat map of other cycles, if there is one, after the filter has changed."""
        if self._run is not None and self._heat_of is not None and self._heat_of != self.index.chosen:
            self._count_heat(self._run)

    def cancel_heat(self) -> bool:
        """Stop counting. Return whether anything was being counted."""
        if self.heated is None:
            return False
        self.workers.cancel_group(self, "heat")
        self.heated = self._heat_of = None
        self._update_status()
        return True

    @property
    def is_hot(self) -> bool:
        """Whether there is a heat map, or will be soon."""
        return self._heat_of is not None

    def _count_heat(self, run: RunCycles) -> None:
        self._heat_of = self.index.chosen
        counted, total = self._state.participation, self._state.boundary.get("drawn_from", self._state.cycles)
        if self.index.chosen.keeps_all and counted is not None and counted.get("edges"):
            # The run has counted all cycles, not only those that it has listed.
            self._show_heat(run, self.index, heat_of_counts(run.loaded.graph, counted, total))
        else:
            self._tell_heat(0.0)
            self._count_in_thread(run, self.index)

    @work(group="heat", exclusive=True)
    async def _count_in_thread(self, run: RunCycles, index: CycleIndex) -> None:
        worker, told = get_current_worker(), time.monotonic()

        def pieces() -> Iterator[Rows]:
            nonlocal told
            for start in range(0, len(index), _ROWS_AT_ONCE):
                if time.monotonic() - told > _SECONDS_BETWEEN_NEWS and not worker.is_cancelled:
                    told = time.monotonic()
                    self.app.call_from_thread(self._tell_heat, start / len(index))
                yield run.rows_at(index.window(start, min(start + _ROWS_AT_ONCE, len(index))))

        try:
            heat = await asyncio.to_thread(heat_of_rows, run.loaded.graph, pieces(), lambda: worker.is_cancelled)
        except ChordlessError as error:
            self.heated = self._heat_of = None
            self._update_status()
            self.notify(str(error), severity="error")
        else:
            self._show_heat(run, index, heat)

    def _tell_heat(self, share: float) -> None:
        if self._heat_of is not None:
            self.heated = share
            self._update_status()

    def _show_heat(self, run: RunCycles, index: CycleIndex, heat: Heat) -> None:
        self.heated = None
        if run is self._run and self._heat_of == index.chosen:
            self._graph_view.warm(heat.shares)
            self._detail.update(heat_words(heat, run.loaded.graph, run.thing))
        self._update_status()
