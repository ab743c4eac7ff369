"""The cycles or paths of two runs by length, side by side. Differences are marked."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from chordless.tui.actions import list_bindings


class CountsTable(ScrollView, can_focus=True):
    """One line for each length with a count in either run. The heading does not scroll."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(
        up="scroll_up", down="scroll_down", first="scroll_home", last="scroll_end"
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {"counts--heading", "counts--same", "counts--different"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._headings = ("length", "", "", "B - A")
        self._rows: list[tuple[str, str, str, str]] = []
        self._widths: tuple[int, ...] = ()

    def show(self, first: dict[int, int], second: dict[int, int], first_title: str, second_title: str) -> None:
        """Show the counts of both runs, by length."""
        self._rows, self._headings = count_rows(first, second), ("length", first_title, second_title, "B - A")
        self._widths = tuple(max(len(row[column]) for row in [self._headings, *self._rows]) for column in range(4))
        self.virtual_size = Size(sum(self._widths) + 2 * 3, len(self._rows) + 1)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        row = y - 1 + self.scroll_offset.y
        if y == 0:
            cells, styles = self._headings, ("heading", "heading")
        elif row < len(self._rows):
            cells = self._rows[row]
            styles = ("same", "same" if cells[3] == "=" else "different")
        else:
            return Strip.blank(self.size.width, self.rich_style)
        *texts, last = (f"{cell:>{width}}  " for cell, width in zip(cells, self._widths, strict=True))
        strip = Strip(
            [
                Segment(text, self.get_component_rich_style(f"counts--{style}"))
                for text, style in zip(("".join(texts), last), styles, strict=True)
            ]
        )
        return strip.crop_extend(self.scroll_offset.x, self.scroll_offset.x + self.size.width, self.rich_style)


def count_rows(first: dict[int, int], second: dict[int, int]) -> list[tuple[str, str, str, str]]:
    """Return for each length the length, both counts, and ``=`` or the signed difference, as text."""
    rows = []
    for length in sorted(first.keys() | second.keys()):
        a, b = first.get(length, 0), second.get(length, 0)
        if a or b:
            rows.append((str(length), f"{a:,}", f"{b:,}", "=" if a == b else f"{b - a:+,}"))
    return rows
