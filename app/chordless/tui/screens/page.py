"""The base of the screens: what stands on each of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.screen import Screen

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.tui.messages import StartRun
from chordless.tui.run_form import run_folder, with_kept_graph
from chordless.tui.screens.question import Question
from chordless.tui.screens.steady import SizedOnce
from chordless.tui.session import telling_errors
from chordless.tui.widgets.word_bar import TABS, KeyBar, TabBar

if TYPE_CHECKING:
    from chordless.tui.app import ChordlessApp


class Page(SizedOnce, Screen[None]):
    """A screen between the tabs and the keys. It is kept made, and so are its styles."""

    TAB: ClassVar[str]  # Its name in `chordless.tui.screens.SCREENS`

    def compose(self) -> ComposeResult:
        """Build the screen."""
        yield TabBar(self.TAB)
        yield from self.parts()
        yield KeyBar(closes=self.TAB not in TABS)

    def parts(self) -> ComposeResult:
        """Build what is the screen's own."""
        raise NotImplementedError

    @on(ScreenResume)
    def _keep_styles(self, event: ScreenResume) -> None:
        """Keep the styles. Textual would compute all of them again whenever the screen is shown."""
        event.refresh_styles = False
        for bar in self.query(TabBar):
            # Its keys may be others since.
            bar.follow()

    def ask(self, question: Question, then: Callable[[], object]) -> None:
        """Ask a question, and do something if the answer is yes."""

        def answered(yes: bool | None) -> None:
            if yes:
                then()

        self.app.push_screen(question, answered)

    def refuse(self, why: str) -> None:
        """Say why something is not done."""
        self.notify(why, severity="warning")

    def begin_again(
        self, command: RunCommand, make: Callable[[RunCommand, Path], RunCommand], *, name: str = "", show: str = "run"
    ) -> None:
        """Begin a run of the same graph, whose command `make` makes of this one and a new folder.

        The folder has the name of the graph, or another `name`. The screen `show` shows the run.
        """
        folder = run_folder(self.dashboard.settings.runs_folder, name or shown_name(command.graph))
        with telling_errors(self.app):
            self.post_message(StartRun(make(with_kept_graph(command), folder), show=show))

    def resume(self, directory: Path) -> None:
        """Go on with the run of a directory."""
        with telling_errors(self.app):
            command = RunDirectory(directory.resolve()).command()
            self.post_message(StartRun(replace(command, program_start=time.monotonic())))

    @property
    def dashboard(self) -> ChordlessApp:
        """The app."""
        return cast("ChordlessApp", self.app)
