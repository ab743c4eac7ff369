"""The progress line of an export."""

from __future__ import annotations

import time

from chordless.commands.terminal import ProgressLine
from chordless.words.numbers import seconds_text
from kernels_ti.errors import quantity


class ExportLine(ProgressLine):
    """Shows how many cycles are exported."""

    def show(self, done: int, total: int) -> None:
        """Show the state if an update is due."""
        self._state = done, total
        self.update()

    def _parts(self) -> list[str]:
        done, total = self._state
        elapsed = seconds_text(time.monotonic() - self._start)
        return [elapsed, f"{done:,} of {quantity(total, 'cycle')}", f"{100 * done / max(total, 1):.0f} %"]
