"""The table of the graphs of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import set_cell_size
from textual import events
from textual.message import Message

from chordless.tui.batch_lines import BatchLine, BatchLines
from chordless.tui.batch_words import Column, columns_within, error_text, graph_text, status_mark
from chordless.tui.marks import cut, sort_arrow
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.line_table import LineTable

_STATUS_WIDTH = 12
_LEAST_GRAPH_WIDTH = 8
_MOST_GRAPH_WIDTH = 44
_ERROR_WIDTH = 40
# Cells before every line.
_POINTER_WIDTH = 2


class BatchTable(LineTable[BatchLine]):
    """Shows number, status, size and results of each graph, or its error."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "batch-table--heading",
        "batch-table--number",
        "batch-table--success",
        "batch-table--warning",
        "batch-table--error",
        "batch-table--cursor",
    }
    HEADING_STYLE = "batch-table--heading"
    CURSOR_STYLE = "batch-table--cursor"

    @dataclass(eq=False)
    class Chosen(Message):
        """The user chose another graph."""

        line: BatchLine | None

    @dataclass(eq=False)
    class HeadingClicked(Message):
        """The user clicked on the heading of a column."""

        title: str  # One of `chordless.tui.batch_order.titles_of`

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._number_width = 1
        self._generation = 0
        self._is_ordered = False
        self._known: frozenset[str] = frozenset()
        self._sorted_by, self._falling = "", True

    def mark(self, title: str, *, falling: bool) -> None:
        """Mark the heading by which the lines are sorted; "" marks none."""
        self._sorted_by, self._falling = title, falling
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Post a message for a click on the heading. The base class handles clicks on lines."""
        if event.y == 0 and (title := self._title_at(event.x)):
            self.post_message(self.HeadingClicked(title))

    def show_lines(self, lines: BatchLines, *, follow: bool = False, anew: bool = False) -> None:
        """Show these lines. The cursor stays on its graph.

        With `follow` a cursor on the last line moves to the new last line. With `anew` the lines are from another file,
        or in another order.
        """
        chosen = None if anew else self.chosen
        at_end = self.cursor >= self._line_count - 1
        more = not anew and lines.generation == self._generation
        self._generation = lines.generation
        self._number_width = max(len(f"{len(lines):,}"), 3)
        cursor = 0 if chosen is None else lines.place_of(chosen.position)
        if self._is_ordered or lines.order is not None:
            # Lines may have been inserted, or the order has changed.
            self._read.clear()
        self._is_ordered, self._known = lines.order is not None, lines.known
        self.show(lines, cursor=len(lines) - 1 if follow and at_end else cursor, more=more)

    def tell(self, row: BatchLine | None) -> None:
        """Post the chosen graph."""
        self.post_message(self.Chosen(row))

    def heading(self, width: int) -> str:
        """Return the line above the graphs."""
        graph, error = self._widths(width)
        titles = "".join(f" {self._marked(column.title):>{column.width}}" for column in self._columns(width))
        text = f"{'no.':>{self._number_width}} {self._marked('status'):<{_STATUS_WIDTH}}"
        text += f"{self._marked('graph'):<{graph}}{titles}"
        return f"{text}  error" if error else text

    def _marked(self, title: str) -> str:
        # The columns are narrow: the arrow stands close to the title.
        is_sorted = title == self._sorted_by
        return title + sort_arrow(falling=self._falling, ascii_only=is_ascii(self)) * is_sorted

    def _title_at(self, x: int) -> str:
        """Return the title of the column at a cell of the heading; "" for the number."""
        room = max(self.scrollable_content_region.width - _POINTER_WIDTH, 0)
        graph, _ = self._widths(room)
        columns = self._columns(room)
        end = _POINTER_WIDTH + self._number_width + 1
        if x < end:
            return ""
        for title, width in (("status", _STATUS_WIDTH), ("graph", graph), *((c.title, c.width + 1) for c in columns)):
            end += width
            if x < end:
                return title
        return ""

    def parts(self, row: BatchLine, width: int) -> list[tuple[str, str]]:
        """Return number, status, graph and results, or the error in place of the results."""
        ascii_only = is_ascii(self)
        graph_width, error_width = self._widths(width)
        number = f"{row.position + 1:,}"
        mark = status_mark(row.status)
        graph = graph_text(row, graph_width, ascii_only=ascii_only)
        parts = [
            (f"{number:>{self._number_width}} ", "batch-table--number"),
            (f"{mark.text(ascii_only=ascii_only):<{_STATUS_WIDTH}}", f"batch-table--{mark.colour}"),
            (set_cell_size(graph, graph_width), ""),
        ]
        if row.error is not None and not error_width:
            room = max(width - self._number_width - 1 - _STATUS_WIDTH - graph_width - 1, 0)
            return [*parts, (f" {cut(error_text(row), room, ascii_only=ascii_only)}", "batch-table--error")]
        parts += [(f" {column.text(row)}", "") for column in self._columns(width)]
        if row.error is not None:
            parts.append((f"  {cut(error_text(row), error_width, ascii_only=ascii_only)}", "batch-table--error"))
        return parts

    def _columns(self, width: int) -> tuple[Column, ...]:
        """Return the columns of numbers that fit beside the graph."""
        return columns_within(width - self._number_width - 1 - _STATUS_WIDTH - _LEAST_GRAPH_WIDTH, self._known)

    def _widths(self, width: int) -> tuple[int, int]:
        """Return the widths of the graph and of the error; 0 if the error has no column of its own."""
        columns = self._columns(width)
        room = width - self._number_width - 1 - _STATUS_WIDTH - sum(column.width + 1 for column in columns)
        if room < _LEAST_GRAPH_WIDTH + _ERROR_WIDTH:
            return max(room, _LEAST_GRAPH_WIDTH), 0
        graph = min(room - _ERROR_WIDTH, _MOST_GRAPH_WIDTH)
        return graph, room - graph - 2
