"""The other way to count one key away: a search that takes very long is begun anew along a boundary."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from functools import partial

from textual import work
from textual.worker import get_current_worker

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState
from chordless.tui.actions import key_of
from chordless.tui.messages import RunChanged
from chordless.tui.outlook import Outlook, can_be_planned, outlook_along
from chordless.tui.run_form import boundary_of
from chordless.tui.run_words import graph_name, time_left
from chordless.tui.screens.run_wave import WaveAction
from kernels_ti import ChordlessError

# Earlier, the time of a search is guessed from too little.
_SECONDS_OF_SEARCH = 3.0
_SEARCHED = frozenset({"search", "auto"})
# What else a command asks for is not asked along a boundary.
_KEPT = frozenset({
    "graph", "program_start", "file_format", "simplify", "directed", "multigraph", "encoding", "overlap", "types",
    "arch", "threads", "memory", "min_length", "expansion", "method", "checkpoint", "checkpoint_every", "resume",
    "between", "all_pairs", "reading_timeout",
})  # fmt: skip


class WayAction(WaveAction):
    """The part of the Run screen that names and takes the count along a boundary."""

    _outlook: Outlook | None = None
    _planned: float | None = None  # The beginning of the run for which a count along a boundary was planned

    def way_words(self, state: RunState) -> str:
        """Return the times of a search that takes very long and of a count along a boundary that is much sooner."""
        session = self.dashboard.session
        if session is None or not session.is_at_work or session.replay is not None:
            return ""
        if state.phase not in ("running", "paused") or state.seconds < _SECONDS_OF_SEARCH:
            return ""
        if self._planned != state.began:
            self._planned, self._outlook = state.began, None
            self._plan()
        times = "" if self._outlook is None else self._outlook.times_if_long(time_left(state))
        return f"{times} {key_of(self, 'run.other_way')} takes the boundary." if times else ""

    def action_other_way(self) -> None:
        """Begin the shown run anew along a boundary. If a run is at work, ask first."""
        app = self.dashboard
        command, own = self._command_of_search(), app.engine_session()
        if command is None:
            self.refuse("Only a count of all cycles by a search can go along a boundary instead.")
        else:
            graph = graph_name(shown_name(command.graph))
            self.ask_anew(
                f"Count {graph} anew, along a boundary?\n\nThat counts by length, and looks at no cycle by itself.",
                own,
                partial(self.begin_anew, command, own, boundary_of, graph),
            )

    def _command_of_search(self) -> RunCommand | None:
        """Return the command of the shown run if that is a count in a folder which can go along a boundary as well."""
        session = self.dashboard.session
        try:
            command = None if session is None or session.directory is None else session.known_command()
        except ChordlessError as error:
            self.notify(str(error), severity="error")
            return None
        if command is None or command.method not in _SEARCHED or command.arch not in ("auto", "cpu", "cuda"):
            return None
        usual = RunCommand(command.graph, command.program_start)
        asked = {each.name for each in fields(command) if getattr(command, each.name) != getattr(usual, each.name)}
        return command if asked <= _KEPT else None

    @work(exclusive=True, group="along")
    async def _plan(self) -> None:
        """Plan a count along a boundary of the shown run, in a thread."""
        worker, session, command = get_current_worker(), self.dashboard.session, self._command_of_search()
        if session is None or session.directory is None or command is None or command.expansion == "paper":
            return
        # The graph of a run is read in this process: a large one would stop the screen.
        if not can_be_planned(session.state.n, session.state.m):
            return
        run = RunDirectory(session.directory)
        try:
            outlook = await asyncio.to_thread(outlook_along, run, command, lambda: worker.is_cancelled)
        except ChordlessError as error:
            self.refuse(str(error))
            return
        if self.dashboard.session is session:
            self._outlook = outlook
            # A run that is paused tells nothing more.
            self.post_message(RunChanged(session.state))
