"""A table of any number of lines. Only the visible lines are read and drawn."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from chordless.tui.actions import list_bindings
from chordless.tui.marks import sort_arrow
from chordless.tui.widgets.glyphs import is_ascii

_LARGEST_CACHE = 4096
_FAR = 1 << 60  # Lines; no table has as many

RowT = TypeVar("RowT")
RowT_co = TypeVar("RowT_co", covariant=True)


class Lines(Protocol[RowT_co]):
    """The content of a table: lines, counted from 0."""

    def __len__(self) -> int:
        """Count the lines."""

    def read(self, start: int, stop: int) -> Sequence[RowT_co]:
        """Return the lines `start` to `stop` - 1, as far as they exist."""


class LineTable(ScrollView, Generic[RowT], can_focus=True):
    """A table with a heading and a cursor. A subclass defines the content of the heading and of a line."""

    BINDINGS: ClassVar[list[BindingType]] = list_bindings(
        up="move(-1)",
        down="move(1)",
        page_up="page(-1)",
        page_down="page(1)",
        first=f"move({-_FAR})",
        last=f"move({_FAR})",
    )
    STYLES = ("heading", "cursor", "number", "length", "success", "warning", "error")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line-table--{style}" for style in STYLES}
    POINTERS: ClassVar[tuple[str, str]] = ("▶ ", "> ")  # Before the line of the cursor, and with ASCII only

    @dataclass(eq=False)
    class Chosen(Message):
        """The cursor is on another row."""

        row: Any  # None if the table is empty

    @dataclass(eq=False)
    class HeadingClicked(Message):
        """The user clicked on the heading of a column."""

        title: str

    cursor: reactive[int] = reactive(0, repaint=False, init=False)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Lines[RowT] | None = None
        self._read: dict[int, RowT] = {}
        self._told: RowT | None = None
        self._sorted_by, self._falling = "", True
        self._nothing = ""

    @abstractmethod
    def heading(self, width: int) -> list[tuple[str, str]]:
        """Return the heading right of the pointer: the title of each column, or "", and the text that stands there."""

    @abstractmethod
    def parts(self, row: RowT, width: int) -> list[tuple[str, str]]:
        """Return the texts of a line, each with one of `STYLES`, or ""."""

    def mark(self, title: str, *, falling: bool) -> None:
        """Mark the heading by which the lines are sorted; "" marks none."""
        self._sorted_by, self._falling = title, falling
        self.refresh()

    def arrow(self, title: str) -> str:
        """Return the sign of a heading if the lines are sorted by it, or ""."""
        return sort_arrow(falling=self._falling, ascii_only=is_ascii(self)) if title == self._sorted_by else ""

    def show(self, lines: Lines[RowT], *, cursor: int, more: bool = False) -> None:
        """Show other lines, with the cursor on one of them.

        `more` says that they are the same lines as before, with others added at the end.
        """
        self._lines = lines
        if not more:
            self._read.clear()
            self._told = None
        self._set_size()
        before, self.cursor = self.cursor, max(min(cursor, len(lines) - 1), 0)
        if self.cursor == before:
            self._choose(scroll=not more)
        self.refresh()

    def tell_nothing(self, words: str) -> None:
        """Show these words where there are no lines."""
        if words != self._nothing:
            self._nothing = words
            self.refresh()

    def clear(self) -> None:
        """Show nothing."""
        self._lines, self._told = None, None
        self._read.clear()
        self._set_size()
        self.refresh()

    @property
    def chosen(self) -> RowT | None:
        """The row on the line of the cursor."""
        return self._row(self.cursor)

    def watch_cursor(self, before: int, after: int) -> None:
        """Draw the chosen line, and post it."""
        for line in (before, after):
            self.refresh(Region(0, line + 1 - self.scroll_offset.y, self.size.width, 1))
        self._choose(scroll=True)

    def _choose(self, *, scroll: bool) -> None:
        if scroll:
            top, height = self.scroll_offset.y, self._page_height
            if self.cursor < top or self.cursor >= top + height:
                # After a jump the line is in the middle of the screen. After a step it is at the border.
                near = top - self.cursor == 1 or self.cursor - top - height == 0
                wanted = self.cursor - height // 2
                if near:
                    wanted = self.cursor if self.cursor < top else self.cursor - height + 1
                self.scroll_to(y=wanted, animate=False)
        row = self.chosen
        if row is None or row is not self._told:
            self._told = row
            self.post_message(self.Chosen(row))

    @property
    def _page_height(self) -> int:
        return max(self.size.height - 1, 1)

    @property
    def _line_count(self) -> int:
        return 0 if self._lines is None else len(self._lines)

    def _set_size(self) -> None:
        # The heading takes one line and does not scroll, so there is one more line to scroll.
        self.virtual_size = Size(max(self.size.width, 1), self._line_count + 1)

    def on_resize(self) -> None:
        """Keep the chosen line visible."""
        self._set_size()
        self.call_after_refresh(self._choose, scroll=True)

    # Keys and mouse

    def action_move(self, by: int) -> None:
        """Go up or down by lines."""
        self.go_to_line(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Go up or down by pages."""
        step = by * max(self._page_height - 1, 1)
        target = max(min(self.cursor + step, self._line_count - 1), 0)
        self.scroll_to(y=self.scroll_offset.y + step, animate=False)
        self.go_to_line(target)

    def go_to_line(self, line: int) -> None:
        """Choose a line, or where there is none so far, the first or the last."""
        self.cursor = max(min(line, self._line_count - 1), 0)

    def on_click(self, event: events.Click) -> None:
        """Choose the line under the mouse, or tell of a click on a heading."""
        line = self.scroll_offset.y + event.y - 1
        end = len(self._pointer)
        for title, text in self.heading(self._room) if event.y == 0 else ():
            end += cell_len(text)
            if event.x < end:
                if title:
                    self.post_message(self.HeadingClicked(title))
                break
        if event.y >= 1 and line < self._line_count:
            self.go_to_line(line)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        # The width without the scroll bar.
        width, blank = self.scrollable_content_region.width, " " * len(self._pointer)
        if y == 0:
            text = blank + "".join(text for _, text in self.heading(self._room))
            return Strip([Segment(set_cell_size(text, width), self._style("heading"))])
        line = self.scroll_offset.y + y - 1
        row = self._row(line)
        if row is None:
            words = [] if self._line_count else textwrap.wrap(self._nothing, max(self._room, 1))
            text = blank + words[y - 1] if y <= len(words) else ""
            return Strip([Segment(set_cell_size(text, width), self.rich_style)])
        here, plain, cursor = line == self.cursor, self.rich_style, self._style("cursor")
        segments = [
            Segment(text, cursor if here else self._style(name) if name else plain)
            for text, name in [(self._pointer if here else blank, ""), *self.parts(row, self._room)]
        ]
        return Strip(segments).adjust_cell_length(width, cursor if here else plain)

    @property
    def _pointer(self) -> str:
        return self.POINTERS[is_ascii(self)]

    @property
    def _room(self) -> int:
        return max(self.scrollable_content_region.width - len(self._pointer), 0)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"line-table--{name}")

    def _row(self, line: int) -> RowT | None:
        if self._lines is None or not 0 <= line < len(self._lines):
            return None
        if line not in self._read:
            if len(self._read) > _LARGEST_CACHE:
                self._read.clear()
            # Read all visible lines at once, since the others are drawn next.
            top = self.scroll_offset.y
            height = self._page_height
            start, stop = (top, top + height) if top <= line < top + height else (line, line + 1)
            for at, row in enumerate(self._lines.read(start, stop), start):
                self._read[at] = row
        return self._read.get(line)
