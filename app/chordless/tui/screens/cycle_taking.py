"""The actions that take cycles out of the Cycles screen: one to the clipboard, or those that are shown to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from textual import work
from textual.worker import get_current_worker

from chordless.cycles.browse import RunCycles
from chordless.cycles.index import CycleIndex
from chordless.cycles.lines import CycleEncoder
from chordless.cycles.output import LineOutput
from chordless.tui.batch_form import free_output
from chordless.tui.marks import cut
from chordless.tui.run_list import with_home
from chordless.tui.screens.cycle_questions import ExportQuestion
from chordless.tui.screens.page import Page
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.glyphs import is_ascii
from kernels_ti import ChordlessError
from kernels_ti.cycles import Cycles
from kernels_ti.errors import quantity

_CYCLES_AT_ONCE = 1 << 14
_LONGEST_NOTICE = 60


class TakingActions(Page):
    """The actions of a screen that has a `CycleTable`.

    `exported` is the share of the cycles that is exported; None while there is no export.
    """

    _run: RunCycles | None
    _table: CycleTable
    index: CycleIndex
    _work: str
    exported: float | None = None
    heated: float | None

    def _update_status(self) -> None:
        raise NotImplementedError

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
        try:
            encoder = CycleEncoder(self._run.loaded.graph.names, "text")
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return
        line = b"".join(piece for _, piece in encoder.encode(cycles)).decode().rstrip("\n")
        self.app.copy_to_clipboard(line)
        shown = cut(line, _LONGEST_NOTICE, ascii_only=is_ascii(self))
        self.notify(shown, title=f"{self._run.thing.capitalize()} {cycle.position + 1:,} copied")
