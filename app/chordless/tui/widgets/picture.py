"""A widget that is drawn as a whole, and again only where something has changed."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from chordless.tui.widgets.glyphs import is_ascii


class Picture(Widget):
    """A picture. A subclass draws it, for one size; it is drawn again in another size, or after `draw_again`."""

    _strips: tuple[Strip, ...] = ()
    _drawn_for: tuple[int, int, bool] | None = None

    def drawn(self, width: int, height: int) -> list[Strip]:
        """Return the lines of the picture."""
        raise NotImplementedError

    def draw_again(self) -> None:
        """Draw the picture again, since its content has changed."""
        self._drawn_for = None
        self.refresh()

    def notify_style_update(self) -> None:
        """Discard the picture, since the colours have changed."""
        super().notify_style_update()
        self._drawn_for = None

    def render_line(self, y: int) -> Strip:
        """Return one line of the picture."""
        width, height = self.content_size
        drawn_for = (width, height, is_ascii(self))
        if drawn_for != self._drawn_for:
            self._drawn_for, self._strips = drawn_for, tuple(self.drawn(width, height))
        return self._strips[y] if y < len(self._strips) else Strip.blank(width, self.rich_style)
