"""Tiles. Each shows one number with notes, or one line if there is little room."""

from __future__ import annotations

import re
import sys
import textwrap

from rich.console import Console, ConsoleOptions
from rich.console import RenderResult as RichResult
from rich.segment import Segment
from textual import on
from textual.app import ComposeResult, RenderResult
from textual.containers import Container
from textual.content import Content
from textual.events import Mount, Resize
from textual.renderables.sparkline import Sparkline as SparklineRenderable
from textual.widgets import Sparkline, Static

from chordless.tui.tile_words import TileWords
from chordless.tui.widgets.glyphs import is_ascii
from chordless.words.shown import bar

_SHORT_BAR = 10


class _AsciiBars(SparklineRenderable[float]):
    BARS = "_.,-=+*#"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RichResult:
        for segment in super().__rich_console__(console, options):
            # Rich draws a full block itself; it is not in `BARS`.
            yield Segment(segment.text.replace("█", "#"), segment.style) if isinstance(segment, Segment) else segment


class RateSparkline(Sparkline):
    """Rates, on a scale that begins at 0."""

    def show(self, rates: tuple[float, ...]) -> None:
        """Show these rates, the newest at the right."""
        data = (0.0, *(min(rate, sys.float_info.max) for rate in rates)) if rates else None
        if data != self.data:
            self.data = data

    def render(self) -> RenderResult:
        """Return the bars, or "" while there is no rate."""
        if not self.data:
            return ""
        picture = super().render()
        if not is_ascii(self) or not isinstance(picture, SparklineRenderable):
            return picture
        ascii_picture = _AsciiBars(self.data, width=self.size.width, height=self.size.height)
        ascii_picture.min_color, ascii_picture.max_color = picture.min_color, picture.max_color
        return ascii_picture


class Tile(Container):
    """One number with notes. A tile of one line shows the short words, a higher one shows all.

    The title stands in the border, if there is one. With `has_rates` the tile has a sparkline.
    """

    def __init__(self, title: str, *, has_rates: bool = False, id: str) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._has_rates = has_rates
        self._words = TileWords("")
        self._shown: Content | None = None
        self._is_short = False

    def compose(self) -> ComposeResult:
        """Build the tile."""
        yield Static(classes="words")
        if self._has_rates:
            yield RateSparkline()

    def show(self, words: TileWords) -> None:
        """Show these words."""
        if words != self._words:
            self._words = words
            self._write()

    @on(Mount)
    @on(Resize)
    def _write(self) -> None:
        if not self.is_mounted or not self.content_size.height:
            # How much room there is will be known soon.
            return
        is_short = self.content_size.height <= 1
        content = self._short() if is_short else self._long()
        if content != self._shown:
            # A new layout of the screen is slow, so it is done only if the sparkline moves.
            is_as_wide = self._is_short and self._shown is not None and self._shown.cell_length == content.cell_length
            moves = is_short and self._has_rates and not is_as_wide
            self._shown, self._is_short = content, is_short
            self.query_one(".words", Static).update(content, layout=moves)
        if self._has_rates:
            self.query_one(RateSparkline).show(self._words.rates)

    def _short(self) -> Content:
        words = self._words
        alternatives = (words.short, *words.shorter)
        room = self.content_size.width - (0 if words.share is None else _SHORT_BAR + 1)
        if self._has_rates:
            room = self.size.width - 1
        text = next((text for text in alternatives if len(text) <= room), alternatives[-1])
        if words.share is not None:
            return Content.assemble(*self._bar(words.share, _SHORT_BAR), " ", text)
        # Pad with blanks, so that the sparkline behind the text does not move with every digit.
        return Content(text.ljust(min(-(-len(text) // 4) * 4, room)) if self._has_rates else text)

    def _long(self) -> Content:
        words = self._words
        width = max(self.content_size.width, 1)
        height = self.content_size.height - self._has_rates - (words.share is not None)
        value = _in_lines(words.value, width)
        if words.about and len(value) > height:
            value = _in_lines(words.about, width)
        parts: list[str | tuple[str, str]] = [("\n".join(value), "bold")]
        if words.share is not None:
            parts += ["\n", *self._bar(words.share, width)]
        # A sentence that does not fit is left out as a whole.
        room = height - len(value)
        for note in filter(None, words.notes):
            room -= len(textwrap.wrap(note, width))
            if room < 0:
                break
            parts += ["\n", (note, "$foreground-muted")]
        return Content.assemble(*parts)

    def _bar(self, share: float, width: int) -> list[str | tuple[str, str]]:
        ascii_only = is_ascii(self)
        done = bar(share, width, ascii_only=ascii_only)
        return [(done, "$primary"), (("-" if ascii_only else "·") * (width - len(done)), "$foreground-muted")]


def _in_lines(value: str, width: int) -> list[str]:
    """Return a value in lines of at most `width` cells: words break at blanks, a long number after its commas."""
    lines = [""]
    for part in re.findall(r"[^ ,]+[ ,]*", value):
        if lines[-1] and len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]
