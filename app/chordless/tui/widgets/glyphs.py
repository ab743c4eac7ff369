"""Characters that widgets draw with, and their replacements in ASCII."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.widget import Widget

from chordless.words.shown import without_controls

_STAND_INS = {
    "…": ".",
    "·": "|",
    "•": "*",
    "●": "*",
    "▶": ">",
    "▼": "v",
    "▲": "^",
    "▸": "+",
    "▾": "-",
    "🔎": ">",
    "─": "-",
    "│": "|",
}


class TextFilter(LineFilter):
    """Changes the text of every drawn line, as `change` does; the width of a line stays."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments of a line with unchanged width."""
        return [each if each.control else Segment(self._change(each.text), each.style) for each in segments]


NO_CONTROLS = TextFilter(without_controls)
"""Removes control characters from names and file contents. Textual does not, and a terminal would obey them."""


@lru_cache(4096)
def _plain(text: str) -> str:
    return "".join(letter if letter.isascii() else _plain_letter(letter) for letter in text)


ASCII_FILTER = TextFilter(_plain)
"""Replaces all characters outside ASCII that Textual draws: borders, icons, the ends of scroll bars.

Our own widgets have better ASCII forms. This filter ensures that nothing else is drawn outside ASCII.
"""


def _plain_letter(letter: str) -> str:
    name = unicodedata.name(letter, "")
    if name.startswith("BOX DRAWINGS"):
        known = "-" if name.endswith("HORIZONTAL") else "|" if name.endswith("VERTICAL") else "+"
    elif "BLOCK" in name or "QUADRANT" in name or "EIGHTH" in name:
        # Decoration of edges, which the colours show as well.
        known = " "
    else:
        known = _STAND_INS.get(letter, "?")
    return known.ljust(cell_len(letter))[: cell_len(letter)]


def is_ascii(widget: Widget) -> bool:
    """Return whether the user wants ASCII only."""
    return bool(getattr(widget.app, "ascii_only", False))
