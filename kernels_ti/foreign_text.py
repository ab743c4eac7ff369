"""Texts of others, such as names and paths, without the orders that a terminal obeys."""

from __future__ import annotations

import re

# The C0 and C1 controls, and what turns the direction of the text around or breaks its line.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text with its control characters written out as ``cat -v`` does: ``^[`` is escape, ``^J`` a new line.

    Characters above ASCII that do the same become ``M-^[`` or an escape of Python, such as ``\u202e``.
    """
    return UNSAFE.sub(lambda found: _written_out(found[0]), text)


def visible_lines(text: str) -> str:
    """Return a text of several lines, each of them made `visible`."""
    return "\n".join(map(visible, text.split("\n")))


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x80:
        return f"^{chr(code ^ 0x40)}"
    if code < 0xA0:
        return f"M-^{chr(code - 0x80 ^ 0x40)}"
    # A byte of a file name that is not UTF-8 is kept in such a character.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
