"""The messages that change the state of the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from chordless.protocol.orders import RunCommand
from chordless.runs.state import RunState
from chordless.words.cycle_range import CycleRange

if TYPE_CHECKING:
    from chordless.tui.session import RunSession


class RunChanged(Message):
    """The state of the run has changed. The app posts it to the current screen, at most ten times a second."""

    def __init__(self, state: RunState) -> None:
        super().__init__()
        self.state = state


class StartRun(Message):
    """A screen asks the app to start or resume a run, and to show it.

    Parameters
    ----------
    show : str
        The name of the screen that shows it.
    expected : CycleRange or None
        The estimate of its cycles before the start.
    """

    def __init__(self, command: RunCommand, *, show: str = "run", expected: CycleRange | None = None) -> None:
        super().__init__()
        self.command = command
        self.show = show
        self.expected = expected


class OpenRun(Message):
    """A screen asks the app to show the run of a directory: live if an engine is running there, else its end."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory


class CompareRuns(Message):
    """A screen asks the app to show two runs side by side."""

    def __init__(self, directories: tuple[Path, Path]) -> None:
        super().__init__()
        self.directories = directories


class ShowLength(Message):
    """A screen asks the app to show the cycles of one length."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length


class RunNews(Message):
    """The state of this session has changed. The thread of a feed posts it."""

    def __init__(self, session: RunSession) -> None:
        super().__init__()
        self.session = session

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, RunNews) and message.session is self.session
