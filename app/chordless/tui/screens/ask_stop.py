"""The question before a run that another process has begun is stopped."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from chordless.tui.screens.question import Question


class AskStop(Question):
    """Asks whether to stop the run of another process; no is the default."""

    def __init__(self, graph: str) -> None:
        super().__init__()
        self._graph = graph

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Static(
                f"Stop the run of {self._graph or 'this graph'}?\n\nThis dashboard has not begun it: another process "
                "has, and may wait for its end. It stops with a checkpoint and can be resumed.\n",
                markup=False,
            )
            with Horizontal(classes="buttons"):
                yield Button("No", id="no", variant="primary")
                yield Button("Yes, stop it", id="yes", variant="warning")
