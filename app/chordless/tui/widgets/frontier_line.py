"""The frontier over time: a sparkline of how many paths waited, its peak marked, and a line of words."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from chordless.runs.state import RunState
from chordless.tui.frontier_words import frontier_words
from chordless.tui.widgets.glyphs import is_ascii

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.,-=+*#"
_NARROWEST, _WIDEST = 12, 48


class FrontierLine(Widget):
    """One line. It is empty while no path has waited."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"frontier-line--bar", "frontier-line--peak", "frontier-line--words"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pieces: tuple[int, ...] = ()
        self._words: tuple[str, ...] = ("",)

    def show(self, state: RunState) -> None:
        """Show the frontier of this state."""
        now = (state.frontier_course.pieces, frontier_words(state))
        if now != (self._pieces, self._words):
            self._pieces, self._words = now
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        width = self.size.width
        words_style = self.get_component_rich_style("frontier-line--words")
        if y > 0 or not self._words[0]:
            return Strip.blank(width, words_style)
        if not any(self._pieces):
            text = next((words for words in self._words if len(words) <= width), "")
            return Strip([Segment(f"{text:<{width}}", words_style)], width)
        bar_width = min(max(width // 4, _NARROWEST), _WIDEST)
        numbers = resampled(self._pieces, bar_width)
        peak = max(numbers)
        marked = numbers.index(peak)
        bars = _ASCII_BARS if is_ascii(self) else _BARS
        segments = [
            Segment(
                bars[number * (len(bars) - 1) // peak],
                self.get_component_rich_style(f"frontier-line--{'peak' if i == marked else 'bar'}"),
            )
            for i, number in enumerate(numbers)
        ]
        room = width - bar_width - 1
        text = next((words for words in self._words if len(words) <= room), "")
        return Strip([*segments, Segment(f" {text:<{room}}", words_style)], width)


def resampled(numbers: tuple[int, ...], count: int) -> list[int]:
    """Return `count` numbers over the same time: the largest of each part, or each number several times."""
    starts = [len(numbers) * i // count for i in range(count)]
    return [max(numbers[start : max(end, start + 1)]) for start, end in pairwise([*starts, len(numbers)])]
