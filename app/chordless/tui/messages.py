"""The messages that change the state of the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from chordless.protocol.orders import RunCommand
from chordless.runs.state import RunState
from chordless.words.numbers import CycleRange

if TYPE_CHECKING:
    from chordless.tui.session import RunSession


@dataclass(eq=False)
class RunChanged(Message):
    """The state of the run has changed. The app posts it to the current screen, at most ten times a second."""

    state: RunState


@dataclass(eq=False)
class StartRun(Message):
    """A screen asks the app to start or resume a run, and to show it."""

    command: RunCommand
    show: str = "run"  # The name of the screen that shows it
    expected: CycleRange | None = None  # The estimate of its cycles before the start


@dataclass(eq=False)
class ReplayRun(Message):
    """Play the recording of a run again, from its beginning."""

    directory: Path


@dataclass(eq=False)
class OpenRun(Message):
    """A screen asks the app to show the run of a directory: live if an engine is running there, else its end."""

    directory: Path


@dataclass(eq=False)
class CompareRuns(Message):
    """A screen asks the app to show two runs side by side."""

    directories: tuple[Path, Path]


@dataclass(eq=False)
class ShowLength(Message):
    """A screen asks the app to show the cycles of one length."""

    length: int


@dataclass(eq=False)
class RunNews(Message):
    """The state of this session has changed. The thread of a feed posts it."""

    session: RunSession

    def can_replace(self, message: Message) -> bool:
        """Let a newer message replace those that still wait."""
        return isinstance(message, RunNews) and message.session is self.session
