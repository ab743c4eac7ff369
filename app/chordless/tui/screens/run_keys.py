"""The keys of the Run screen: those that its footer offers, those of a replay, those that begin the run anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual import work
from textual.binding import ActiveBinding, Binding
from textual.worker import get_current_worker

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.runs.state import RunState, graph_name
from chordless.tui.actions import key_of
from chordless.tui.messages import RunChanged
from chordless.tui.outlook import Outlook, can_be_planned, outlook_along
from chordless.tui.run_form import boundary_of, wave_of
from chordless.tui.run_words import time_left
from chordless.tui.screens.page import Page
from chordless.tui.screens.question import Question
from chordless.tui.session import RunSession, telling_errors
from kernels_ti import ChordlessError

if TYPE_CHECKING:
    from chordless.tui.feeds import ReplayFeed

OF_REPLAY = frozenset({"rewind", "forward", "slower", "faster"})
"""The names of the actions on a replay."""
_STEP_OF_REPLAY, _SECONDS_IF_UNKNOWN = 1 / 20, 200.0
_SECONDS_BETWEEN_LOOKS = 0.05
# Earlier, the time of a search is guessed from too little.
_SECONDS_OF_SEARCH = 3.0
_SEARCHED = frozenset({"search", "auto"})
# What else a command asks for is not asked along a boundary.
_KEPT = frozenset({
    "graph", "program_start", "file_format", "simplify", "directed", "multigraph", "encoding", "overlap", "types",
    "arch", "threads", "memory", "min_length", "expansion", "method", "checkpoint", "checkpoint_every", "resume",
    "between", "all_pairs", "reading_timeout",
})  # fmt: skip


class RunKeys(Page):
    """The Run screen's footer shows only what is possible. All keys stay bound: the others say why they do nothing."""

    _offered: Mapping[str, str] = MappingProxyType({})
    _outlook: Outlook | None = None
    _planned: float | None = None  # The beginning of the run for which a count along a boundary was planned

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The key bindings. The footer shows those that are possible now. The other keys say why they are not."""
        return {
            key: active._replace(binding=self._as_offered(active.binding)) if active.node is self else active
            for key, active in super().active_bindings.items()
        }

    def _as_offered(self, binding: Binding) -> Binding:
        title = self._offered.get(binding.action)
        return replace(binding, show=title is not None, description=title or binding.description)

    @property
    def _replay(self) -> ReplayFeed | None:
        session = self.dashboard.session
        return None if session is None else session.replay

    def action_rewind(self) -> None:
        """Go back in the replay."""
        self._seek(-_STEP_OF_REPLAY)

    def action_forward(self) -> None:
        """Go on in the replay."""
        self._seek(_STEP_OF_REPLAY)

    def action_slower(self) -> None:
        """Play the replay at half the speed."""
        if (replay := self._replay) is not None:
            replay.hurry(1 / 2)

    def action_faster(self) -> None:
        """Play the replay at twice the speed."""
        if (replay := self._replay) is not None:
            replay.hurry(2)

    def _seek(self, share: float) -> None:
        if (replay := self._replay) is not None:
            replay.seek(share * (replay.length or _SECONDS_IF_UNKNOWN))

    # The run anew

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

    def action_breadth_first(self) -> None:
        """Begin the shown run anew, breadth first. If a run is at work, ask first."""
        app = self.dashboard
        session, own = app.session, app.engine_session()
        with telling_errors(app):
            command = None if session is None else session.known_command()
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
        self, command: RunCommand, at_work: RunSession | None, make: Callable[[RunCommand, Path], RunCommand], name: str
    ) -> None:
        """Stop the run at work, and begin the other one once it has ended; see `begin_again`."""
        if at_work is not None and at_work.is_at_work:
            at_work.feed.stop()
        while at_work is not None and at_work.owns_engine:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        self.begin_again(command, make, name=name)


def offers_of(
    session: RunSession | None, state: RunState | None, *, frozen: bool, stopping: bool, by_step: bool
) -> dict[str, str]:
    """Return the possible actions, each with another title for the footer, or "".

    `frozen` says whether the view is frozen, `stopping` whether the run was told to stop, `by_step` whether the chart
    shows the states by step.
    """
    if session is None or state is None:
        return {}
    if session.replay is not None:
        title = "Again" if session.replay.has_ended else "Play" if session.replay.paused else "Pause"
        return {"pause": title, "rewind": "", "forward": "", "scale": ""}
    steps = {"by_step": "By length" if by_step else "By step"} if state.expected_by_step else {}
    is_known = session.directory is not None or session.command is not None
    if is_known and state.states is None and state.options.get("expansion") != "paper":
        steps["breadth_first"] = ""
    if session.is_at_work and session.can_control and stopping:
        return {**({"stop": "Stop now"} if session.owns_engine else {}), "freeze": "", **steps}
    if session.is_at_work and session.can_control:
        keep = {} if session.directory is None else {"checkpoint": ""}
        return {"pause": "Go on" if state.phase == "paused" else "", "stop": "", **keep, "freeze": "", **steps}
    offers = {"scale": "", **steps}
    if session.is_at_work or frozen:
        offers["freeze"] = ""
    if not session.is_at_work and session.directory is not None:
        offers["pause"] = "Replay"
    if state.can_resume:
        offers["resume"] = ""
    return offers
