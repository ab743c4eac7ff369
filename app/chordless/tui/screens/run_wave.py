"""The wave of the paper one key away: the shown run is begun anew, breadth first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.tui.run_form import wave_of
from chordless.tui.run_words import graph_name
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import Question
from kernels_ti import ChordlessError

if TYPE_CHECKING:
    from chordless.tui.session import RunSession

_SECONDS_BETWEEN_LOOKS = 0.05


class WaveAction(Page):
    """The part of the Run screen that shows the wave."""

    def action_breadth_first(self) -> None:
        """Begin the shown run anew, breadth first. If a run is at work, ask first."""
        app = self.dashboard
        session, own = app.session, app.engine_session()
        try:
            command = None if session is None else session.known_command()
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return
        if command is None:
            self.refuse("There is no run here that could be begun anew.")
        elif command.expansion == "paper":
            self.refuse("This run is breadth first already.")
        else:
            graph = graph_name(shown_name(command.graph))
            self.ask_anew(
                f"Begin {graph} anew, breadth first?\n\nPaths then grow at one end and level by level, as in the "
                "paper: the frontier is a wave. It is slower and takes more memory.",
                own,
                partial(self.begin_anew, command, own, wave_of, f"{graph}-wave"),
            )

    def ask_anew(self, what: str, own: RunSession | None, begin: Callable[[], object]) -> None:
        """Begin a run anew; ask first if that ends the run at work here, or goes on beside one of another process."""
        becomes, shown = [], self.dashboard.session
        if own is not None:
            is_kept = own.directory is not None
            kept = "stops with a checkpoint and can be resumed" if is_kept else "stops, and nothing of it is kept"
            becomes.append(f"The run at work {kept}.")
        if shown is not None and shown.is_at_work and not shown.owns_engine and shown.replay is None:
            becomes.append("The run that is shown goes on beside it, in another process.")
        if becomes:
            self.ask(Question(f"{what} {' '.join(becomes)}\n", "Yes, begin anew"), begin)
        else:
            begin()

    @work(exclusive=True, group="anew")
    async def begin_anew(
        self,
        command: RunCommand,
        at_work: RunSession | None,
        make: Callable[[RunCommand, Path], RunCommand],
        name: str,
    ) -> None:
        """Stop the run at work, and begin the other one once it has ended; see `begin_again`."""
        if at_work is not None and at_work.is_at_work:
            at_work.feed.stop()
        while at_work is not None and at_work.owns_engine:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        self.begin_again(command, make, name=name)
