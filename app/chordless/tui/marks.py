"""States as a mark and a word, and texts that are cut, each with a form in ASCII. This module does not use Textual."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

_IN_ASCII = {"✔": "OK", "■": "[]", "✘": "!!", "▶": ">", "‖": "||", "…": "..."}


@dataclass(frozen=True)
class Mark:
    """A state as a glyph, a word and a colour."""

    glyph: str
    word: str
    colour: str = ""  # The name of a colour of the theme

    def text(self, *, ascii_only: bool) -> str:
        """Return the glyph and the word."""
        return f"{_IN_ASCII.get(self.glyph, self.glyph) if ascii_only else self.glyph} {self.word}"


def cut(text: str, width: int, *, ascii_only: bool) -> str:
    """Return a text in `width` cells; an ellipsis stands for an end that has no room."""
    if cell_len(text) <= width:
        return text
    ellipsis = ("..." if ascii_only else "…")[: max(width, 0)]
    return set_cell_size(text, max(width - len(ellipsis), 0)) + ellipsis


def cut_inside(text: str, width: int, *, ascii_only: bool) -> str:
    """Return a text in `width` cells; an ellipsis stands for a part inside that has no room."""
    ellipsis = "..." if ascii_only else "…"
    room = width - len(ellipsis)
    if cell_len(text) <= width or room < 2:
        return cut(text, width, ascii_only=ascii_only)
    end = room // 2
    tail = text[-end:]
    while cell_len(tail) > end:
        tail = tail[1:]
    return set_cell_size(text, room - cell_len(tail)) + ellipsis + tail


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with a path or the name of a file."""
    is_of_file = re.match(r"\S*[/.]\S*[^\s.]", text) is not None
    return text if is_of_file else text[:1].upper() + text[1:]


def sort_arrow(*, falling: bool, ascii_only: bool) -> str:
    """Return the sign of the heading by which a table is sorted."""
    return ("v" if falling else "^") if ascii_only else ("↓" if falling else "↑")
