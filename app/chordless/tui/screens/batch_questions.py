"""Questions before a batch replaces the lines of another one, a graph gets a run of its own, or the user leaves."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Button, Label

from chordless.batch.output import EARLIER
from chordless.tui.batch_session import BatchSession
from chordless.tui.screens.question import Dialog, Question
from kernels_ti.errors import quantity

_SECONDS_BETWEEN_LOOKS = 0.05


class AskResume(Question):
    """Asks whether to resume a file that may be about other graphs."""

    def __init__(self, output: str, lines: int) -> None:
        super().__init__(
            f"Resume {output}?\n\nIt has {quantity(lines, 'line')}. The lines of the graphs that are named, and read "
            f"as they are read now, stay. All others move to {output}{EARLIER}. To keep them together, write to "
            "another file.\n",
            "Yes, resume",
        )


class AskRun(Question):
    """Asks whether to search one graph of a batch in a run of its own, which `lists` its cycles or only counts them."""

    def __init__(self, graph: str, *, lists: bool) -> None:
        what = "lists its cycles, to browse and draw" if lists else "counts its cycles"
        super().__init__(f"Search {graph} on its own?\n\nA new run {what}.\n", "Yes, begin")


class LeaveBatch(Dialog[bool]):
    """Asks whether to leave while a batch is running. The answer is True after the batch has ended."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up", "app.focus_previous", "Up"),
        ("down", "app.focus_next", "Down"),
    ]
    # A key that was meant for the screen below changes nothing.
    AUTO_FOCUS = "#stay"

    def __init__(self, session: BatchSession) -> None:
        super().__init__()
        self._session = session
        self._is_leaving = False

    def compose(self) -> ComposeResult:
        """Put the question together."""
        with Vertical(classes="question"):
            yield Label(
                "A batch is still running. Finished graphs are kept, and Resume continues after them.", id="question"
            )
            yield Button("Stop it after these graphs, and leave", id="stop", variant="primary")
            yield Button("Stop now, and leave", id="kill")
            yield Button("Stay", id="stay")

    def on_mount(self) -> None:
        """Look repeatedly whether the batch has ended, so that no question is left."""
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the user chose."""
        event.stop()
        if event.button.id == "stay":
            self.action_back()
        elif event.button.id == "kill":
            self._session.kill()
            self._wait()
        elif not self._is_leaving:
            self.query_one("#question", Label).update("Waiting for the graphs that are being searched ...")
            for button in self.query(Button):
                button.display = button.id == "kill"
            self._session.stop()
            self._wait()

    def action_back(self) -> None:
        """Go back to the dashboard."""
        if not self._is_leaving:
            self.dismiss(False)

    def _look(self) -> None:
        if not self._is_leaving and not self._session.is_at_work:
            self.app.notify("The batch has ended by itself.")
            self.dismiss(False)

    @work(exclusive=True)
    async def _wait(self) -> None:
        self._is_leaving = True
        while self._session.is_at_work:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        self.dismiss(True)
