"""The progress of a batch on standard error."""

from __future__ import annotations

from typing import TextIO

from chordless.commands.terminal import ProgressDisplay, bar_text
from chordless.protocol.events import BatchProgress
from chordless.words.numbers import seconds_text, share_text, short_number
from kernels_ti.errors import quantity

_BAR_WIDTH = 16


class BatchDisplay(ProgressDisplay):
    """Shows the progress of a batch; see `ProgressDisplay`."""

    def __init__(self, mode: str, stream: TextIO, *, live: bool) -> None:
        super().__init__(mode, stream, live=live)
        self._batch: BatchProgress | None = None

    def show_batch(self, progress: BatchProgress | None) -> None:
        """Show the state if an update is due; None stands for no news since the last call."""
        self._batch = progress or self._batch
        self.show(None)

    def _parts(self) -> list[str]:
        stopping = ["stopping after these graphs (Ctrl-C again: at once)"] if self.stopping else []
        state = self._batch
        if state is None:
            return [*stopping, "reading the graphs, preparing the device"]
        rate = f"({short_number((state.done - state.kept) / max(state.seconds, 0.1))}/s)"
        if state.total is None:
            parts = [f"{quantity(state.done, 'graph')} {rate}"]
        else:
            share = min(state.done / max(state.total, 1), 1.0)
            bar = [bar_text(share, _BAR_WIDTH, self._stream)] if self._live else []
            parts = [*bar, share_text(share), f"{state.done:,} of {quantity(state.total, 'graph')} {rate}"]
        parts += [f"{state.failed:,} failed"] * (state.failed > 0)
        if state.graph is not None:
            parts.append(f"{state.graph} {share_text(state.share)}")
        parts.append("1 cycle" if state.cycles == 1 else f"{short_number(state.cycles)} cycles")
        return [*stopping, seconds_text(state.seconds), *parts]
