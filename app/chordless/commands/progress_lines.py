"""The progress lines of the commands that run in this process: going along a boundary, and an export."""

from __future__ import annotations

import time

from chordless.commands.terminal import ProgressLine
from chordless.words.numbers import seconds_text, seeking_text, share_text, short_number
from kernels_ti.errors import quantity, vertices_text


class BoundaryLine(ProgressLine):
    """Shows the states of a boundary, or that an order is sought."""

    def show(self, share: float, states: int, width: int) -> None:
        """Show the state if an update is due."""
        self._state = share, states, width
        self.update()

    def _parts(self) -> list[str]:
        share, states, width = self._state
        elapsed = seconds_text(time.monotonic() - self._start)
        if not states:
            return [elapsed, seeking_text(width)]
        held = "1 state" if states == 1 else f"{short_number(states)} states"
        return [elapsed, share_text(share), held, f"boundary of {vertices_text(width)}"]


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
