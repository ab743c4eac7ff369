"""What is done with the cycles that are shown: drawn, counted for a heat map, written to a file, copied."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from textual import on, work
from textual.widgets import Static
from textual.worker import get_current_worker

from chordless.cycles.browse import RunCycles
from chordless.cycles.heat import Heat, heat_of_counts, heat_of_rows
from chordless.cycles.index import CycleFilter, CycleIndex
from chordless.cycles.lines import CycleEncoder
from chordless.cycles.output import LineOutput
from chordless.cycles.read import Rows
from chordless.runs.state import RunState
from chordless.tui import cycle_words
from chordless.tui.batch_form import free_output
from chordless.tui.marks import cut
from chordless.tui.run_list import with_home
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import ExportQuestion
from chordless.tui.session import telling_errors
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.graph_view import GraphView
from kernels_ti import ChordlessError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import quantity

_ROWS_AT_ONCE, _CYCLES_AT_ONCE = 1 << 18, 1 << 14
_LONGEST_NOTICE = 60
_SECONDS_BETWEEN_NEWS = 0.1
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class CycleActions(Page):
    """The actions on the cycles of a `CycleTable` and a `GraphView`.

    `heated` and `exported` are the shares of the cycles that are counted and written; None while nothing is to do.
    """

    _run: RunCycles | None = None
    _state = RunState()
    _graph_view: GraphView
    _table: CycleTable
    _status: Static
    _detail: Static
    index: CycleIndex
    _work = ""
    heated: float | None = None
    exported: float | None = None
    _heat_of: CycleFilter | None = None

    def _is_at_work(self, group: str) -> bool:
        return any(worker.group == group and worker.node is self for worker in self.workers if not worker.is_finished)

    @on(CycleTable.Chosen)
    def _light(self) -> None:
        cycle = self._table.chosen
        if self._run is not None:
            self._graph_view.light(np.empty(0, np.int64) if cycle is None else cycle.vertices)
        if self._run is not None and self._heat_of is None:
            self._detail.update(cycle_words.cycle_words(cycle, self._run.loaded.graph, self._run.thing))

    def _update_status(self) -> None:
        if self._run is not None:
            separator = " | " if is_ascii(self) else " · "
            picked = cycle_words.picked_words(self._state)
            words = cycle_words.status_words(self._run, self.index, self._doing, separator, picked=picked)
            self._status.update(words)
            self._table.tell_nothing(cycle_words.empty_words(self._run, self._state))

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
            self._light()
        elif self._graph_view.is_alone and self._is_at_work("open"):
            self.refuse("The graph is still being drawn. A heat map can be had when it is there.")
        elif self._graph_view.is_alone:
            self.refuse("A heat map needs the drawing of the whole graph.")
        elif self._run is not None and len(self.index):
            self._count_heat(self._run)
        else:
            self.refuse("Nothing is shown here to draw a heat map of.")

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

    def _count_heat(self, run: RunCycles) -> None:
        self._heat_of = self.index.chosen
        counted = self._state.participation
        if self.index.chosen.keeps_all and counted is not None and counted.get("edges"):
            # The run has counted all cycles, not only those that it has listed.
            self._show_heat(run, self.index, heat_of_counts(run.loaded.graph, counted, self._state.counted))
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
            self._detail.update(cycle_words.heat_words(heat, run.loaded.graph, run.thing))
        self._update_status()

    # Out of the screen

    def action_export(self) -> None:
        """Ask for a file, and write the cycles that are shown to it."""
        if self._run is not None and self.exported is None and len(self.index):
            thing = self._run.thing
            question = ExportQuestion(len(self.index), free_output(f"{thing}s.txt"), thing)
            self.app.push_screen(question, self._export_to)

    def _export_to(self, path: str | None) -> None:
        if path is not None and self._run is not None:
            self._tell_export(0.0)
            self._export(self._run, self.index, path)

    @work(thread=True, group="export", exclusive=True)
    def _export(self, run: RunCycles, index: CycleIndex, path: str) -> None:
        worker, written, fault = get_current_worker(), 0, None
        try:
            encoder = CycleEncoder(run.loaded.graph.names, "jsonl" if path.endswith(".jsonl") else "text")
            output = LineOutput.to_file(path, encoder)
            try:
                while written < len(index) and not worker.is_cancelled:
                    positions = index.window(written, min(written + _CYCLES_AT_ONCE, len(index)))
                    output.write(run.cycles_at(positions), lambda: worker.is_cancelled)
                    written += len(positions)
                    self.app.call_from_thread(self._tell_export, written / len(index))
            finally:
                output.close()
        except ChordlessError as error:
            fault = str(error)
        if self.app.is_running:
            self.app.call_from_thread(self._exported, written, len(index), path, fault, run.thing)

    def cancel_export(self) -> bool:
        """Stop an export. Return whether there was one."""
        if self.exported is not None:
            self.workers.cancel_group(self, "export")
        return self.exported is not None

    @property
    def _doing(self) -> str:
        if self.exported is not None:
            return f"exporting {self.exported:.0%}"
        return self._work if self.heated is None else f"counting for the heat map {self.heated:.0%}"

    def _tell_export(self, share: float | None) -> None:
        self.exported = share
        self._update_status()

    def _exported(self, written: int, count: int, path: str, fault: str | None, thing: str) -> None:
        self._tell_export(None)
        if fault is not None:
            self.notify(fault, severity="error")
            return
        part = f"{written:,} of " if written < count else ""
        words = f"{part}{quantity(count, f'{thing} is', f'{thing}s are')} in {with_home(Path(path).absolute())}"
        self.notify(words, title="Export")

    def action_copy(self) -> None:
        """Copy the line of the chosen cycle, in the format of `chordless list`."""
        cycle = self._table.chosen
        if cycle is None or self._run is None or cycle.error is not None:
            return
        cycles = Cycles(np.array([0, len(cycle.vertices)]), cycle.vertices)
        with telling_errors(self.app):
            encoder = CycleEncoder(self._run.loaded.graph.names, "text")
            line = b"".join(piece for _, piece in encoder.encode(cycles)).decode().rstrip("\n")
            self.app.copy_to_clipboard(line)
            shown = cut(line, _LONGEST_NOTICE, ascii_only=is_ascii(self))
            self.notify(shown, title=f"{self._run.thing.capitalize()} {cycle.position + 1:,} copied")
