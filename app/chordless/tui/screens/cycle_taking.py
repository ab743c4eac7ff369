"""The actions that take cycles out of the Cycles screen: one to the clipboard, or those that are shown to a file."""

from __future__ import annotations

import numpy as np
from textual.screen import Screen

from chordless.cycles.browse import RunCycles
from chordless.cycles.lines import CycleEncoder
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.glyphs import is_ascii
from kernels_ti import ChordlessError
from kernels_ti.cycles import Cycles


class TakingActions(Screen[None]):
    """The actions of a screen that has a `CycleTable`."""

    _run: RunCycles | None
    _table: CycleTable

    def action_copy(self) -> None:
        """Copy the line of the chosen cycle, in the format of `chordless list`."""
        cycle = self._table.chosen
        if cycle is None or self._run is None or cycle.error is not None:
            return
        cycles = Cycles(np.array([0, len(cycle.vertices)]), cycle.vertices)
        try:
            encoder = CycleEncoder(self._run.loaded.graph.names, "text")
        except ChordlessError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        line = b"".join(piece for _, piece in encoder.encode(cycles)).decode().rstrip("\n")
        self.app.copy_to_clipboard(line)
        shown = line if len(line) <= 60 else line[:59] + ("..." if is_ascii(self) else "…")
        self.notify(shown, title=f"Cycle {cycle.position + 1:,} copied", markup=False)
