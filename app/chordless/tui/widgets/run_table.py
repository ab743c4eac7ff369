"""The table of the runs so far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual.events import Click
from textual.message import Message

from chordless.runs.history import RunSummary
from chordless.tui.marks import cut, cut_inside
from chordless.tui.run_list import STAGES, Column, columns_for
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.line_table import LineTable

_PADDING = 2


class _Runs(list[RunSummary]):
    def read(self, start: int, stop: int) -> Sequence[RunSummary]:
        return self[start:stop]


class RunTable(LineTable[RunSummary]):
    """A line for each run, with as many columns as fit. A click opens a run; the one that is `marked` has a sign."""

    POINTERS: ClassVar[tuple[str, str]] = ("", "")  # The state of a run is a mark already
    marked: Path | None = None

    class Opened(Message):
        """The user clicked on a run, which is the chosen one now."""

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show these runs. The cursor stays on its run."""
        chosen, self._read = self.chosen, {}
        paths = [run.path for run in runs]
        cursor = paths.index(chosen.path) if chosen is not None and chosen.path in paths else 0
        self.show(_Runs(runs), cursor=cursor, more=True)

    def on_click(self, event: Click) -> None:
        """Open the run under the mouse, once the base class has chosen it."""
        if 0 < event.y <= self._line_count - self.scroll_offset.y:
            self.call_later(self.post_message, self.Opened())

    def heading(self, width: int) -> list[tuple[str, str]]:
        """Return the line above the runs."""
        columns = columns_for(self.size.width)
        titles = [f"{column.title} {self.arrow(column.name)}".rstrip() for column in columns]
        names = (column.name for column in columns)
        return list(zip(names, self._cells(titles, columns), strict=True))

    def parts(self, row: RunSummary, width: int) -> list[tuple[str, str]]:
        """Return the cells of a run."""
        columns = columns_for(self.size.width)
        texts = {column.name: column.text(row) for column in columns}
        texts["state"] = STAGES[row.stage].text(ascii_only=is_ascii(self))
        if row.path == self.marked:
            texts["graph"] = f"{'*' if is_ascii(self) else '◆'} {texts['graph']}"
        return [(cell, "") for cell in self._cells(list(texts.values()), columns)]

    def _cells(self, texts: Sequence[str], columns: Sequence[Column]) -> list[str]:
        """Return texts in the cells of their columns; the graph has the room that the other columns leave."""
        left = max(self.size.width - sum(column.width + _PADDING for column in columns) - 1, 0)
        cells = []
        for text, column in zip(texts, columns, strict=True):
            width = column.width + left * (column.name == "graph")
            # Long names often differ at their ends, and what was asked for stands there.
            fitted = cut_inside if column.name == "graph" else cut
            text = fitted(text, width, ascii_only=is_ascii(self))
            blanks = " " * (width - cell_len(text))
            cells.append(f" {blanks}{text} " if column.is_number else f" {text}{blanks} ")
        return cells
