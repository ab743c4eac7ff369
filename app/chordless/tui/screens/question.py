"""A question with the answers yes and no. Enter means no."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.screen import ModalScreen
from textual.widgets import Button


class Question(ModalScreen[bool]):
    """The keys and the answer of a question. A subclass builds the widgets, with buttons ``yes`` and ``no``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,n", "answer(False)", "No"),
        ("y", "answer(True)", "Yes"),
        ("left", "app.focus_previous", "Left"),
        ("right", "app.focus_next", "Right"),
    ]
    AUTO_FOCUS = "#no"

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer of the pressed button."""
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """Give the answer of the pressed key."""
        self.dismiss(answer)
