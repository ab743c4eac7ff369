"""Characters that widgets draw with, and what stands for them where there is only ASCII."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBarRender
from textual.widget import Widget

_EIGHTHS = " ▏▎▍▌▋▊▉"


class AsciiScrollBar(ScrollBarRender):
    """A scroll bar that is drawn of blanks, with no fractions of blocks at its ends."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def is_ascii(widget: Widget) -> bool:
    """Say whether the user wants ASCII alone."""
    return bool(getattr(widget.app, "ascii_only", False))


def plain_scroll_bars(widget: Widget) -> None:
    """Let the scroll bars of a widget be drawn without fractions of blocks, if the user wants ASCII alone."""
    if is_ascii(widget):
        for scroll_bar in (widget.vertical_scrollbar, widget.horizontal_scrollbar):
            scroll_bar.renderer = AsciiScrollBar  # type: ignore[misc]


def bar(share: float, width: int, *, ascii_only: bool) -> str:
    """Return a bar; it is not empty if `share` is more than 0, and not full before it is 1.

    Parameters
    ----------
    share : float
        0 to 1.
    width : int
        Characters that stand for 1.
    ascii_only : bool
    """
    share = min(max(share, 0.0), 1.0)
    if share == 0.0:
        return ""
    if ascii_only:
        return "#" * min(max(round(share * width), 1), width if share == 1.0 else max(width - 1, 1))
    eighths = min(max(round(share * width * 8), 1), 8 * width - (share < 1.0))
    whole, part = divmod(eighths, 8)
    return "█" * whole + _EIGHTHS[part] * (part > 0)
