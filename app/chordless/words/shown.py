"""Texts of others on a terminal: names, paths and contents of files, without the orders that a terminal obeys."""

from __future__ import annotations

import re
from typing import IO

LONGEST_LINE = 500
"""Characters of an error line."""

_LONGEST_PIECE = 120
_ELLIPSIS = " ... "
_PIECE = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"|\S+")
# The C0 and C1 controls, and what turns the direction of the text around or breaks its line.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text with its control characters written out as ``cat -v`` does: ``^[`` is escape, ``^J`` a new line.

    Characters above ASCII that do the same become ``M-^[`` or an escape of Python, such as ``\u202e``.
    """
    return _UNSAFE.sub(lambda found: _written_out(found[0]), text)


def without_controls(text: str) -> str:
    """Return a text without what `visible` would write out."""
    return _UNSAFE.sub("", text)


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x80:
        return f"^{chr(code ^ 0x40)}"
    if code < 0xA0:
        return f"M-^{chr(code - 0x80 ^ 0x40)}"
    # A byte of a file name that is not UTF-8 is kept in such a character.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def on_terminal(text: str, stream: IO[str]) -> str:
    """Return a text as `stream` shall get it: made `visible` on a terminal, as it stands in a file or a pipe."""
    return visible(text) if stream.isatty() else text


def error_line(message: str, stream: IO[str]) -> str:
    """Return a message as the one line in which `stream` shall get it, no longer than people read."""
    return on_terminal(shortened(" ".join(message.split())), stream)


def shortened(text: str, longest: int = LONGEST_LINE) -> str:
    """Return a text that is no longer than that: the middle is left out of its long words and quotations, or of all."""
    if len(text) > longest:
        text = _PIECE.sub(lambda found: _without_middle(found[0], _LONGEST_PIECE), text)
    return _without_middle(text, longest)


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    kept = longest - len(_ELLIPSIS)
    return text[: kept - kept // 2] + _ELLIPSIS + text[len(text) - kept // 2 :]
