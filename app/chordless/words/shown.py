"""Texts of others on a terminal: names, paths and contents of files, without the orders that a terminal obeys."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TextIO, cast

from kernels_ti.foreign_text import UNSAFE, visible_lines
from kernels_ti.foreign_text import visible as visible

LONGEST_LINE = 500
"""Characters of an error line."""

_LONGEST_PIECE = 120
_ELLIPSIS = " ... "
_EIGHTHS = " ▏▎▍▌▋▊▉"
_PIECE = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"|\S+")


def fault_text(error: Exception) -> str:
    """Return the words for an error that is neither the user's nor one of the system that is told apart."""
    # Python has no class of its own for this error.
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return "the system allows no more threads; `ulimit -u` tells the limit"
    what = f"internal error: {type(error).__name__}: {error}"
    # A module that is not there is another matter: a fault of ours, or an extra, which is asked for by name.
    if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        what = f"a library cannot be loaded: {error.__cause__ or error}"
    return f"{what} (CHORDLESS_DEBUG=1 shows where)"


def without_controls(text: str) -> str:
    """Return a text without what `visible` would write out."""
    return UNSAFE.sub("", text)


def on_terminal(text: str, stream: IO[str]) -> str:
    """Return a text as `stream` shall get it: made `visible` on a terminal, as it stands in a file or a pipe."""
    return visible(text) if stream.isatty() else text


def separator_of(names: Iterable[Hashable]) -> str:
    """Return the separator of names in a line of text: a TAB if some name has white space, else a blank."""
    return "\t" if any(character.isspace() for name in names for character in str(name)) else " "


def names_line(names: Sequence[Hashable], stream: IO[str], separator: str | None = None) -> str:
    """Return names as a line that `stream` shall get, see `on_terminal`; without a separator that of these names."""
    return (separator or separator_of(names)).join(on_terminal(str(name), stream) for name in names)


def label_of(name: object) -> str:
    """Return the name of a vertex, or of both ends of an edge in a list."""
    return " - ".join(map(str, name)) if isinstance(name, list) else str(name)


class _VisibleLines:
    """A stream of text whose lines get to a terminal made `visible`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible_lines(text))

    def writelines(self, lines: Iterable[str]) -> None:
        self._stream.writelines(map(visible_lines, lines))


def lines_on_terminal(stream: TextIO) -> TextIO:
    """Return a stream that writes lines to `stream` as `on_terminal` has them; it can do nothing else."""
    return cast("TextIO", _VisibleLines(stream)) if stream.isatty() else stream


def error_line(message: str, stream: IO[str]) -> str:
    """Return a message as the one line in which `stream` shall get it, no longer than people read."""
    return on_terminal(shortened(" ".join(message.split())), stream)


def silence(stream: TextIO) -> None:
    """Discard the buffer of a stream that cannot be written, and all that follows: else Python fails at exit."""
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())


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


def bar(share: float, width: int, *, ascii_only: bool) -> str:
    """Return a bar of a share, 0 to 1, up to `width` characters: if there are any, empty only at 0, full only at 1."""
    share = min(max(share, 0.0), 1.0)
    if share == 0.0 or width == 0:
        return ""
    if ascii_only:
        return "#" * min(max(round(share * width), 1), width if share == 1.0 else max(width - 1, 1))
    eighths = min(max(round(share * width * 8), 1), 8 * width - (share < 1.0))
    whole, part = divmod(eighths, 8)
    return "█" * whole + _EIGHTHS[part] * (part > 0)


_MOST_DIGITS = 100_000
"""Digits of the largest count that the program tells; Python takes a tenth of a second for them."""


@contextmanager
def long_counts() -> Iterator[None]:
    """Let Python write and read counts of up to `_MOST_DIGITS` digits, where it stops at 4,300."""
    if not hasattr(sys, "set_int_max_str_digits"):  # a Python 3.10 without that limit
        yield
        return
    before = sys.get_int_max_str_digits()
    if before:
        sys.set_int_max_str_digits(max(before, _MOST_DIGITS))
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)
