"""The question before the user leaves while this process has a running engine."""

from __future__ import annotations

import asyncio
import shlex
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Button, Label

from chordless.runs.directory import RunDirectory
from chordless.runs.mailbox import is_at_work
from chordless.tui.detached import LOG, go_on_detached
from chordless.tui.run_words import stop_now_words
from chordless.tui.screens.question import Dialog
from chordless.tui.session import RunSession
from kernels_ti import ChordlessError, EngineError

_SECONDS_BETWEEN_LOOKS = 0.05


class LeaveScreen(Dialog[str]):
    """Asks what happens to the run. The answer is the text to print after leaving, or None if the user stays."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up", "app.focus_previous", "Up"),
        ("down", "app.focus_next", "Down"),
    ]
    # A key that was meant for the screen below changes nothing.
    AUTO_FOCUS = "#stay"

    def __init__(self, session: RunSession) -> None:
        super().__init__()
        self._session = session
        self._is_leaving = False
        self._has_answered = False

    def compose(self) -> ComposeResult:
        """Build the question."""
        with Vertical(id="leave"):
            yield Label(f"{self._session.state.graph or 'The run'} is still being searched.", id="question")
            if self._session.directory is not None:
                yield Button("Leave and keep it running", id="keep", variant="primary")
                yield Button("Stop it with a checkpoint, and leave", id="stop")
                yield Button(stop_now_words(self._session.state), id="kill")
            else:
                yield Button("Stop it; without a folder nothing is kept", id="kill", variant="warning")
            yield Button("Stay", id="stay")

    def on_mount(self) -> None:
        """Look repeatedly whether the run has ended, so that no question is left."""
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the user chose."""
        event.stop()
        if event.button.id == "stay":
            self.action_back()
        elif event.button.id == "kill":
            self._is_leaving = True
            self._session.feed.kill()
            self._answer(self._session.way_on())
        elif not self._is_leaving:
            self._is_leaving = True
            self._show_only("kill")
            self.query_one("#question", Label).update("Waiting for the checkpoint of the engine ...")
            self._leave(keep_running=event.button.id == "keep")

    def action_back(self) -> None:
        """Go back to the dashboard."""
        if not self._is_leaving:
            self._answer(None)

    def _look(self) -> None:
        if not self._is_leaving and not self._session.is_at_work:
            self.app.notify("The search has ended by itself.")
            self._answer(None)

    def _answer(self, words: str | None) -> None:
        # The screen is removed a moment later. A second answer would remove the screen below it.
        if not self._has_answered:
            self._has_answered = True
            self.dismiss(words)

    def _show_only(self, name: str) -> None:
        for button in self.query(Button):
            button.display = button.id == name

    @work
    async def _leave(self, *, keep_running: bool) -> None:
        """Stop the engine and leave. With `keep_running`, start a process that resumes the run before leaving."""
        session = self._session
        while session.state.phase == "starting" and session.is_at_work:
            # Before the search has begun there is no checkpoint.
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        if session.is_at_work:
            session.feed.stop()
        while session.feed.at_work:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        try:
            words = await self._go_on() if keep_running and session.state.can_resume else self._session.way_on()
        except ChordlessError as error:
            self.app.notify(str(error), severity="error", timeout=15)
            words = None
        self._answer(words)

    async def _go_on(self) -> str:
        directory, command = self._session.directory, self._session.command
        assert directory is not None
        assert command is not None
        recording = RunDirectory(directory).events
        before = recording.stat().st_size
        process = go_on_detached(command, directory)
        while process.poll() is None and not is_at_work(directory):
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        look = f"chordless tui {shlex.quote(str(directory))}"
        if process.returncode is None:
            return f"the run goes on; to watch it: {look}"
        if recording.stat().st_size == before:
            raise EngineError(f"the run could not go on without the dashboard; {directory / LOG} says why")
        return f"the run went on and has ended; to look at it: {look}"
