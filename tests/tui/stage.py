"""A stage for the screen of a run: an app that shows it recorded events, and a session that remembers its orders."""

from __future__ import annotations

from pathlib import Path

from chordless.protocol.events import Failed
from chordless.protocol.recording import timed_event
from chordless.runs.state import RunState
from chordless.tui import app as app_module
from chordless.tui.actions import EVERYWHERE, bindings_of
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import RunChanged, StartRun
from chordless.tui.screens.run import RunScreen
from chordless.tui.widgets.glyphs import ASCII_FILTER
from textual.app import App

from tui.pilots import drive, until

RECORDING = Path(__file__).parent / "grid-9x10.jsonl"
EVENTS = [timed_event(line) for line in RECORDING.read_bytes().splitlines(keepends=True)]


def state_when(condition):
    """The picture after the first event for which it holds."""
    state = RunState()
    for event in EVENTS:
        state = state.after([event])
        if condition(state):
            return state
    raise AssertionError("it never holds")


RUNNING = state_when(lambda state: state.cycles_estimate is not None)
PAUSED = state_when(lambda state: state.phase == "paused")
STOPPED = state_when(lambda state: state.reason == "interrupted")
COMPLETE = RunState().after(EVENTS)
FAILED = RUNNING.after([(RUNNING.changed, Failed("EngineError", "the engine was killed [/] (SIGKILL)", 5))])


class Session:
    """Stands for a run that can be controlled, and remembers what it was told."""

    replay = command = None
    quiet_seconds = 0.0

    def __init__(self, directory=None):
        self.told = []
        self.feed = self
        self.can_control = self.is_at_work = self.owns_engine = True
        self.directory = directory

    def known_command(self):
        return self.command

    def __getattr__(self, name):
        if name not in ("pause", "go_on", "stop", "checkpoint", "kill"):
            raise AttributeError(name)
        return lambda: self.told.append(name)


class Stage(App[None]):
    CSS_PATH = app_module.__file__.replace("app.py", "chordless.tcss")
    BINDINGS = bindings_of(EVERYWHERE)
    HORIZONTAL_BREAKPOINTS = ChordlessApp.HORIZONTAL_BREAKPOINTS
    VERTICAL_BREAKPOINTS = ChordlessApp.VERTICAL_BREAKPOINTS
    shows = RunScreen

    def __init__(self, state=None, session=None, ascii_only=False):
        super().__init__()
        self.run_state = state
        self.session = session if session is not None or state is None else Session()
        self.ascii_only = ascii_only
        self.started = []

    def on_mount(self):
        self.set_class(self.ascii_only, "-ascii")
        self.push_screen(self.shows())

    def on_start_run(self, message: StartRun):
        self.started.append(message.command)

    def get_line_filters(self):
        return [ASCII_FILTER] if self.ascii_only else []

    def tell(self, state):
        self.run_state = state
        if state is not None:
            self.screen.post_message(RunChanged(state))


def play(app, size, steps):
    """Run `steps` once the screen is put together."""

    async def when_ready(pilot):
        await until(pilot, lambda: app.screen.query("KeyBar"))
        # What is asked of a screen that has not met its run yet is not asked of the run.
        await until(pilot, lambda: app.run_state is None or app.screen._shown is not None)
        await pilot.pause()
        return await steps(pilot)

    return drive(app, size, when_ready)


def notices(app):
    return [notification.message for notification in app._notifications]
