"""The messages by which the state of the dashboard changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from chordless.protocol.orders import RunCommand
from chordless.runs.state import RunState

if TYPE_CHECKING:
    from chordless.tui.session import RunSession


class RunChanged(Message):
    """There is news of the run: posted by the app to the screen that is shown, at most ten times a second.

    Parameters
    ----------
    state : RunState
    """

    def __init__(self, state: RunState) -> None:
        super().__init__()
        self.state = state


class StartRun(Message):
    """A screen asks the app to begin a run, or to resume one, and to show it.

    Parameters
    ----------
    command : RunCommand
    show : str
        The name of the screen on which it is to be seen.
    """

    def __init__(self, command: RunCommand, *, show: str = "run") -> None:
        super().__init__()
        self.command = command
        self.show = show


class OpenRun(Message):
    """A screen asks the app to show the run of a directory: live if an engine is at work in it, else as it ended.

    Parameters
    ----------
    directory : Path
    """

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory


class CompareRuns(Message):
    """A screen asks the app to show two runs side by side.

    Parameters
    ----------
    directories : (Path, Path)
    """

    def __init__(self, directories: tuple[Path, Path]) -> None:
        super().__init__()
        self.directories = directories


class RunNews(Message):
    """Sent by the thread of a feed: the state of this session has changed."""

    def __init__(self, session: RunSession) -> None:
        super().__init__()
        self.session = session

    def can_replace(self, message: Message) -> bool:
        """Keep only the last of several waiting messages."""
        return isinstance(message, RunNews) and message.session is self.session
