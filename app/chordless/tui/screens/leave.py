"""The questions before the user leaves while this process has a running engine, of a run or of a batch."""

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
from chordless.runs.state import graph_name
from chordless.tui.batch_session import BatchSession
from chordless.tui.run_words import stop_now_words
from chordless.tui.screens.question import AnswerT, Dialog
from chordless.tui.session import DETACHED_LOG, RunSession, go_on_detached, telling_errors
from kernels_ti import EngineError

_SECONDS_BETWEEN_LOOKS = 0.05


class LeaveQuestion(Dialog[AnswerT]):
    """Asks what happens to something at work before the user leaves: it shall go on, stop, or end at once."""

    BINDINGS: ClassVar[list[BindingType]] = [("up", "app.focus_previous", "Up"), ("down", "app.focus_next", "Down")]
    # A key that was meant for the screen below changes nothing.
    AUTO_FOCUS = "#stay"
    waiting: ClassVar[str]  # The words after a stop
    ended: ClassVar[str]  # The words after it has ended by itself

    def __init__(self, session: RunSession | BatchSession, question: str, *buttons: Button) -> None:
        super().__init__()
        self._at_work, self._question, self._buttons = session, question, buttons
        self._is_leaving = False

    def compose(self) -> ComposeResult:
        """Build the question."""
        with Vertical(id="leave"):
            yield Label(self._question, id="question")
            yield from self._buttons
            yield Button("Stay", id="stay", action="screen.back")

    def on_mount(self) -> None:
        """Look repeatedly whether it has ended, so that no question is left."""
        self.set_interval(_SECONDS_BETWEEN_LOOKS, self._look)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the user chose."""
        event.stop()
        choice = str(event.button.id)
        if choice == "kill" or not self._is_leaving:
            self._is_leaving = True
            if choice != "kill":
                self.query_one("#question", Label).update(self.waiting)
                for button in self.query(Button):
                    button.display = button.id == "kill"
            self._leave(choice)

    def action_back(self) -> None:
        """Go back to the dashboard."""
        if not self._is_leaving:
            self.dismiss(None)

    def _look(self) -> None:
        if self.is_active and not self._is_leaving and not self._at_work.is_at_work:
            self.app.notify(self.ended)
            self.dismiss(None)

    @work(exclusive=True)
    async def _leave(self, choice: str) -> None:
        answer: AnswerT | None = None
        with telling_errors(self.app):
            answer = await self.leave(choice)
        # The palette, or another tab, may be shown meanwhile: the answer is not lost by it.
        while not self.is_active:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        self.dismiss(answer)

    async def leave(self, choice: str) -> AnswerT:
        """Do what the button of this id says, and return the answer."""
        raise NotImplementedError


class LeaveScreen(LeaveQuestion[str]):
    """Asks what happens to the run. The answer is the text to print after leaving, or None if the user stays."""

    waiting = "Waiting for the checkpoint of the engine ..."
    ended = "The search has ended by itself."

    def __init__(self, session: RunSession) -> None:
        self._session = session
        buttons = [Button("Stop it; without a folder nothing is kept", id="kill")]
        if session.directory is not None:
            buttons = [
                Button("Leave and keep it running", id="keep"),
                Button("Stop it with a checkpoint, and leave", id="stop"),
                Button(stop_now_words(session.state), id="kill"),
            ]
        super().__init__(session, f"{graph_name(session.state.graph) or 'The run'} is still being searched.", *buttons)

    async def leave(self, choice: str) -> str:
        """Stop the engine. To keep the run, start a process that resumes it."""
        session = self._session
        if choice == "kill":
            session.feed.kill()
            return session.way_on()
        while session.state.phase == "starting" and session.is_at_work:
            # Before the search has begun there is no checkpoint.
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        if session.is_at_work:
            session.feed.stop()
        while session.feed.at_work:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        return await self._go_on() if choice == "keep" and session.state.can_resume else session.way_on()

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
            raise EngineError(f"the run could not go on without the dashboard; {directory / DETACHED_LOG} says why")
        return f"the run went on and has ended; to look at it: {look}"


class LeaveBatch(LeaveQuestion[bool]):
    """Asks whether to leave while a batch is running. The answer is True after the batch has ended."""

    waiting = "Waiting for the graphs that are being searched ..."
    ended = "The batch has ended by itself."

    def __init__(self, session: BatchSession) -> None:
        super().__init__(
            session,
            "A batch is still running. Finished graphs are kept, and Resume continues after them.\n",
            Button("Stop it after these graphs, and leave", id="stop"),
            Button("Stop now, and leave", id="kill"),
        )
        self._session = session

    async def leave(self, choice: str) -> bool:
        """Stop the batch, and wait for its end."""
        if choice == "kill":
            self._session.kill()
        else:
            self._session.stop()
        while self._session.is_at_work:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        return True
