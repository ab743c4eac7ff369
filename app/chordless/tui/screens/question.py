"""Dialogs: a question on top of a screen. Escape and q take it away."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import BindingType
from textual.screen import ModalScreen
from textual.widgets import Button

from chordless.tui.actions import DIALOGS, QUESTIONS, bindings_of

AnswerT = TypeVar("AnswerT")


class Dialog(ModalScreen[AnswerT]):
    """Anything that is asked on top of a screen. Escape and q take it away without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(DIALOGS)

    def action_back(self) -> None:
        """Take the question away."""
        self.dismiss(None)

    def action_close(self) -> None:
        """Take the question away."""
        self.action_back()


class Question(Dialog[bool]):
    """The keys and the answer of a question. A subclass builds the widgets, with buttons ``yes`` and ``no``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(QUESTIONS),
        ("left", "app.focus_previous", "Left"),
        ("right", "app.focus_next", "Right"),
    ]
    AUTO_FOCUS = "#no"

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer of the pressed button."""
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Answer no."""
        self.dismiss(False)
