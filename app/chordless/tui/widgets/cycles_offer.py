"""The page that is shown while there are no cycles: the reason, and a way to get some."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Center, Vertical
from textual.widgets import Button, Static


class CyclesOffer(Vertical):
    """A text, and a button if there is something to do: the action ``take_offer`` of the screen."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        # Threads may still report after the screen was removed. A query would fail then, so the parts are attributes.
        self._words = Static("", markup=False)
        self._button = Button("", variant="primary", action="screen.take_offer")
        self._button.display = False
        self._said = ("", "")

    def compose(self) -> ComposeResult:
        """Build the page."""
        yield self._words
        with Center():
            yield self._button

    def say(self, text: str, button: str = "") -> None:
        """Show a text, and a button if it has a label."""
        if (text, button) == self._said:
            return
        self._said = (text, button)
        self._words.update(text)
        self._button.label = button.replace("[", r"\[")
        self._button.display = bool(button)
        if button:
            self._button.focus()
