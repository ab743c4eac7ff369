"""The table of the graphs of a batch."""

from __future__ import annotations

from rich.cells import set_cell_size

from chordless.tui.batch_lines import BatchLine, BatchLines
from chordless.tui.batch_words import Column, columns_within, error_text, graph_text, status_mark
from chordless.tui.marks import cut
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.line_table import LineTable

_STATUS_WIDTH = 12
_LEAST_GRAPH_WIDTH = 9
_MOST_GRAPH_WIDTH = 44
_ERROR_WIDTH = 40


class BatchTable(LineTable[BatchLine]):
    """Shows number, status, size and results of each graph, or its error."""

    _number_width = 1
    _generation = 0
    _is_ordered = False
    _known: frozenset[str] = frozenset()

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

    def heading(self, width: int) -> list[tuple[str, str]]:
        """Return the line above the graphs."""
        graph, error = self._widths(width)
        return [
            ("", f"{'no.':>{self._number_width}} "),
            ("status", f"{self._marked('status'):<{_STATUS_WIDTH}}"),
            ("graph", f"{self._marked('graph'):<{graph}}"),
            *((column.title, f" {self._marked(column.title):>{column.width}}") for column in self._columns(width)),
            ("", "  error" if error else ""),
        ]

    def _marked(self, title: str) -> str:
        # The columns are narrow: the arrow stands close to the title.
        return title + self.arrow(title)

    def parts(self, row: BatchLine, width: int) -> list[tuple[str, str]]:
        """Return number, status, graph and results, or the error in place of the results."""
        ascii_only = is_ascii(self)
        graph_width, error_width = self._widths(width)
        number = f"{row.position + 1:,}"
        mark = status_mark(row.status)
        graph = graph_text(row, graph_width, ascii_only=ascii_only)
        parts = [
            (f"{number:>{self._number_width}} ", "number"),
            (f"{mark.text(ascii_only=ascii_only):<{_STATUS_WIDTH}}", mark.colour),
            (set_cell_size(graph, graph_width), ""),
        ]
        if row.error is not None and not error_width:
            room = max(width - self._number_width - 1 - _STATUS_WIDTH - graph_width - 1, 0)
            return [*parts, (f" {cut(error_text(row), room, ascii_only=ascii_only)}", "error")]
        parts += [(f" {column.text(row)}", "") for column in self._columns(width)]
        if row.error is not None:
            parts.append((f"  {cut(error_text(row), error_width, ascii_only=ascii_only)}", "error"))
        return parts

    def _columns(self, width: int) -> tuple[Column, ...]:
        return columns_within(width - self._number_width - 1 - _STATUS_WIDTH - _LEAST_GRAPH_WIDTH, self._known)

    def _widths(self, width: int) -> tuple[int, int]:
        """Return the widths of the graph and of the error; 0 if the error has no column of its own."""
        columns = self._columns(width)
        room = width - self._number_width - 1 - _STATUS_WIDTH - sum(column.width + 1 for column in columns)
        if room < _LEAST_GRAPH_WIDTH + _ERROR_WIDTH:
            return max(room, _LEAST_GRAPH_WIDTH), 0
        graph = min(room - _ERROR_WIDTH, _MOST_GRAPH_WIDTH)
        return graph, room - graph - 2
