"""The log of a run: its events, and the lines that its engine printed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from textual import on
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from chordless.runs.state import LogLine
from chordless.tui.actions import SCROLLING

# Escape sequences, which drivers print to colour a terminal, and all other control characters.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_INDENT = len("00:00:00 ")


class EventLog(ScrollView, can_focus=True):
    """Shows the newest line, unless the user has scrolled away from it."""

    BINDINGS = SCROLLING
    COMPONENT_CLASSES: ClassVar[set[str]] = {"event-log--time", "event-log--text"}

    # Lines are then wrapped to the same width with and without a scroll bar.
    DEFAULT_CSS = "EventLog { scrollbar-gutter: stable; }"

    _log: tuple[LogLine, ...] = ()
    _rows: Sequence[tuple[str, str]] = ()

    def show(self, log: tuple[LogLine, ...]) -> None:
        """Show these lines."""
        if log != self._log:
            self._log = log
            self._wrap()

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        when, text = self._rows[row] if row < len(self._rows) else ("", "")
        segments = [
            Segment(f"{when:<{_INDENT}}", self.get_component_rich_style("event-log--time")),
            Segment(text, self.get_component_rich_style("event-log--text")),
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    @on(Resize)
    def _wrap(self) -> None:
        at_end, room = self.is_vertical_scroll_end, max(self.scrollable_content_region.width - _INDENT, 10)
        self._rows = [
            (when if part == 0 else "", text)
            for line in self._log
            for when in (time.strftime("%H:%M:%S", time.localtime(line.time)),)
            for part, text in enumerate(_wrapped(self.app.console, line.text, room))
        ]
        # The virtual width is 1, so there is never a horizontal scroll bar.
        self.virtual_size = Size(1, len(self._rows))
        if at_end:
            self.scroll_end(animate=False)
        self.refresh()


@lru_cache(1024)
def _wrapped(console: Console, text: str, width: int) -> tuple[str, ...]:
    """Wrap a line. With each new line of the log all that stand there already are wrapped again."""
    return tuple(row.plain for row in Text(_CONTROL.sub("", text.expandtabs())).wrap(console, width))
