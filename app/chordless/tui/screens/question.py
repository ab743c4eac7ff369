"""Dialogs: a question on top of a screen. Escape and q take it away."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from chordless.tui.actions import DIALOGS, QUESTIONS, bindings_of

AnswerT = TypeVar("AnswerT")


class Dialog(ModalScreen[AnswerT]):
    """Anything that is asked on top of a screen. Escape and q take it away without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(DIALOGS)

    def on_mount(self) -> None:
        """Take notices away: on a small terminal one would cover an answer."""
        self.app.clear_notifications()

    def action_back(self) -> None:
        """Take the question away."""
        self.dismiss(None)

    def action_close(self) -> None:
        """Take the question away."""
        self.action_back()


class Question(Dialog[bool]):
    """A question whose answer is yes or no; no is the default."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(QUESTIONS),
        ("left", "app.focus_previous", "Left"),
        ("right", "app.focus_next", "Right"),
    ]
    AUTO_FOCUS = "#no"

    def __init__(
        self, text: str, yes: str, *, no: str = "No", variant: Literal["warning", "error"] = "warning"
    ) -> None:
        super().__init__()
        self._text, self._yes, self._no, self._variant = text, yes, no, variant

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._no, id="no", variant="primary", action="screen.no")
                yield Button(self._yes, id="yes", variant=self._variant, action="screen.yes")

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Answer no."""
        self.dismiss(False)
