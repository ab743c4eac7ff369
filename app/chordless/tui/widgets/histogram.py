"""The number of cycles of each length, as numbers and as bars."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import on
from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollTo
from textual.strip import Strip

from chordless.tui.actions import list_bindings
from chordless.tui.widgets.glyphs import is_ascii
from chordless.words.shown import bar

_LONGEST_BAR = 60


class Histogram(ScrollView, can_focus=True):
    """One line for each length with cycles. The heading does not scroll. Enter or a click chooses a length."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "histogram--heading", "histogram--bar", "histogram--number", "histogram--cursor"
    }  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        *list_bindings(
            up="move(-1)",
            down="move(1)",
            page_up="move(-10)",
            page_down="move(10)",
            first="move(-1_000_000)",
            last="move(1_000_000)",
        ),
        Binding("enter", "choose", show=False),
    ]

    @dataclass(eq=False)
    class Chosen(Message):
        """The user wants to see the cycles of a length."""

        length: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._thing, self._nothing = "cycle", ""
        self._entitle(0)
        self._counts: list[tuple[int, int]] = []
        self._cursor = 0
        self._largest = 1
        self._is_log = True
        self._is_moved = False
        self._count_width = 0
        self._length_width = len("length")

    def show(self, by_length: dict[int, int], thing: str = "cycle", nothing: str = "") -> None:
        """Show these counts of cycles or paths, or without counts the words `nothing`."""
        counts = sorted((length, count) for length, count in by_length.items() if count)
        if (counts, thing, nothing) == (self._counts, self._thing, self._nothing):
            return
        self._counts, self._thing, self._nothing = counts, thing, nothing
        self._entitle(self.scroll_offset.y)
        self._largest = max((count for _, count in counts), default=1)
        self._count_width = max([len(f"{thing}s"), *(len(f"{count:,}") for _, count in counts)])
        self._length_width = max([len("length"), *(len(str(length)) for length, _ in counts)])
        # The virtual width is 1, so there is never a horizontal scroll bar.
        self.virtual_size = Size(1, len(counts) + 1)
        self.go_to_most()
        self.refresh()

    def go_to_most(self) -> None:
        """Bring the lengths with the most cycles into view, unless the user has scrolled."""
        # How far it can be scrolled is known once it is laid out.
        self.call_after_refresh(self._go_to_most)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say how many shorter lengths are out of view: the table opens at the lengths with the most cycles."""
        super().watch_scroll_y(old_value, new_value)
        self._entitle(int(new_value))

    def _entitle(self, above: int) -> None:
        title = f"lengths: {above} shorter above" if above else f"{self._thing}s by length"
        if title != self.border_title:
            self.border_title = title

    def toggle_scale(self) -> None:
        """Change the bars between a logarithmic and a linear scale."""
        self._is_log = not self._is_log
        self.refresh()

    @on(MouseScrollUp)
    @on(MouseScrollDown)
    @on(ScrollTo)
    def _stay(self) -> None:
        """Stay where the user scrolls to, or has dragged the scroll bar to."""
        self._is_moved = True

    def _most(self) -> int:
        return next((i for i, (_, count) in enumerate(self._counts) if count == self._largest), 0)

    @on(Resize)
    def _go_to_most(self) -> None:
        """Show the length with the most cycles in the middle."""
        if not self._is_moved and self.size.height:
            room = max(self.size.height - 1, 1)
            top = max(min(self._most() - room // 2, len(self._counts) - room), 0)
            self.scroll_to(y=top, animate=False, immediate=True)

    def action_move(self, lines: int) -> None:
        """Move the cursor down by `lines`, up if negative, and keep it in view."""
        self._is_moved = True
        self._cursor = min(max(self._cursor + lines, 0), max(len(self._counts) - 1, 0))
        top, room = self.scroll_offset.y, max(self.size.height - 1, 1)
        self.scroll_to(y=min(max(top, self._cursor - room + 1), self._cursor), animate=False, immediate=True)
        self.refresh()

    def action_choose(self) -> None:
        """Ask for the cycles of the length at the cursor."""
        if self._cursor < len(self._counts):
            self.post_message(self.Chosen(self._counts[self._cursor][0]))

    def on_click(self, event: Click) -> None:
        """Choose a length with the mouse."""
        row = event.y - 1 + self.scroll_offset.y
        if event.y > 0 and row < len(self._counts):
            self._cursor = row
            self.refresh()
            self.action_choose()

    def on_focus(self) -> None:
        """Show the cursor. At first it is at the length with the most cycles."""
        if not self._is_moved:
            self._cursor = self._most()
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        # A scroll bar would cover the ends of the longest bars.
        width = self.scrollable_content_region.width
        heading = self.get_component_rich_style("histogram--heading")
        if y == 0:
            text = f"{'length':>{self._length_width}}  {f'{self._thing}s':>{self._count_width}} "
            scale = "log" if self._is_log else "linear"
            # Half a word would be worse than none.
            text += next((words for words in (f"bars: {scale} scale", scale) if len(text + words) <= width), "")
            return Strip([Segment(f"{text:<{width}}"[:width], heading)], width)
        row = y - 1 + self.scroll_offset.y
        if row >= len(self._counts):
            words = self._nothing or f"no {self._thing}s by length"
            lines = ["", *textwrap.wrap(words, max(width, 1))] if not self._counts else []
            return Strip([Segment(f"{lines[y] if y < len(lines) else '':<{width}}"[:width], heading)], width)
        length, count = self._counts[row]
        number = f"{length:>{self._length_width}}  {count:>{self._count_width},} "[:width]
        room = width - len(number)
        # Without the 1 a single cycle would have no bar.
        share = math.log(1 + count) / math.log(1 + self._largest) if self._is_log else count / self._largest
        drawn = bar(share, min(room, _LONGEST_BAR), ascii_only=is_ascii(self)) if room > 0 else ""
        part = "histogram--cursor" if row == self._cursor and self.has_focus else "histogram--number"
        return Strip(
            [
                Segment(number, self.get_component_rich_style(part)),
                Segment(f"{drawn:<{room}}"[:room], self.get_component_rich_style("histogram--bar")),
            ],
            width,
        )
