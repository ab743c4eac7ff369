"""Leaving the dashboard while a run goes on: what becomes of it, and that nothing found is lost."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time

import pytest
from chordless.engine.process import EngineProcess
from chordless.protocol.events import Finished, Progress
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.runs.history import summarize
from chordless.runs.mailbox import is_at_work
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import StartRun
from chordless.tui.screens.leave import LeaveScreen
from chordless.tui.screens.question import AskRun, GoToQuestion, Question
from chordless.tui.session import go_on_detached
from chordless.tui.settings import Settings
from chordless.tui.widgets.choice import Choice
from patience import PATIENCE
from program import ROOT, SOURCE_PATH, events_in, slow_boot
from textual.css.query import NoMatches
from textual.widgets import Button
from textual.worker import WorkerFailed

from tui.pilots import SMALL, drive, until
from tui.slow_runs import begin, command


async def ask(pilot, key="ctrl+q"):
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, LeaveScreen))


def test_a_second_answer_to_a_question_leaves_the_screen_below():
    """Two keys may come before the question is gone."""

    async def steps(pilot):
        app, answers = pilot.app, []
        below = app.screen
        question = Question("Is it so?", "Yes")
        await app.push_screen(question, answers.append)
        for answer in (question.action_yes, question.action_no, question.action_back):
            answer()
        await pilot.pause()
        assert (app.screen, answers) == (below, [True])

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_staying_changes_nothing(tmp_path, slow):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run", halt=True)
        for key in ("ctrl+c", "ctrl+q"):
            await ask(pilot, key)
            await pilot.press("ctrl+c", "ctrl+q", "escape")
            await until(pilot, lambda: app.current_mode == "run" and not isinstance(app.screen, LeaveScreen))
            assert app.session.is_at_work
        await ask(pilot)
        app.session.feed.stop()
        await until(pilot, lambda: any("ended by itself" in told.message for told in app._notifications))
        await until(pilot, lambda: not isinstance(app.screen, LeaveScreen))
        await pilot.pause(0.2)
        assert app.current_mode == "run"

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_only_the_chosen_button_of_a_dialog_is_filled(tmp_path, slow):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run", halt=True)
        for dialog in (LeaveScreen(app.session), AskRun("petersen", lists=True), GoToQuestion(9, "cycle")):
            await app.push_screen(dialog)
            buttons = list(dialog.query(Button))
            for chosen in buttons:
                chosen.focus()
                await pilot.pause()
                plain = {button.background_colors[1] for button in buttons if button is not chosen}
                assert len(plain | {chosen.background_colors[1]}) == len(plain) + 1 == 2
            await pilot.press("escape")
        app.session.feed.stop()

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.parametrize("choice", ["keep", "stop", pytest.param("kill", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_leaving(tmp_path, slow, choice):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, run, halt=True, limit=100_000, output=str(run), output_format="parts")
        pid = app.session.feed.pid
        await ask(pilot)
        await pilot.click(f"#{choice}")
        await until(pilot, lambda: app._exit)
        return pid

    app = ChordlessApp(Settings())
    pid = drive(app, SMALL, steps)
    assert str(run) in app.return_value
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    events = RunDirectory(run).events
    if choice != "keep":
        assert not is_at_work(run)
        assert (b'"event": "finished"' in events.read_bytes()) == (choice == "stop")
        summary = summarize(run)
        assert (summary.stage, summary.why, summary.can_resume) == ("stopped", "interrupted", True)
        return
    assert app.return_value == f"the run goes on; to watch it: chordless tui {run}"
    # The limit holds further on.
    deadline = time.monotonic() + PATIENCE
    while b'"reason": "limit"' not in events.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    finished = [event for event in events_in(run) if isinstance(event, Finished)]
    assert [event.reason for event in finished] == ["interrupted", "limit"]
    assert finished[-1].listed == 100_000


@pytest.mark.slow
def test_a_run_may_go_on_and_end_before_anybody_looks(tmp_path, slow, monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.leave.is_at_work", lambda directory: False)
    run = tmp_path / "run"

    async def steps(pilot):
        await begin(pilot, run, halt=True, limit=100_000, output=str(run), output_format="parts")
        await ask(pilot)
        await pilot.click("#keep")
        await until(pilot, lambda: pilot.app._exit)

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_value == f"the run went on and has ended; to look at it: chordless tui {run}"
    assert [event.reason for event in events_in(run) if isinstance(event, Finished)] == ["interrupted", "limit"]


@pytest.mark.slow
def test_what_ends_without_a_question_keeps_what_was_found(tmp_path, slow):
    """A signal, or an error in the dashboard."""

    async def steps(pilot):
        await begin(pilot, tmp_path / "run")
        pilot.app._leave_at_once(signal.SIGTERM)

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 128 + signal.SIGTERM
    assert b'"reason": "interrupted"' in RunDirectory(tmp_path / "run").events.read_bytes()


def test_what_a_worker_misses_after_a_signal_is_no_failure():
    """The palette looks for its list in a worker."""

    async def steps(pilot):
        pilot.app._leave_at_once(signal.SIGTERM)
        pilot.app._handle_exception(WorkerFailed(NoMatches("No nodes match 'CommandList'")))

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 128 + signal.SIGTERM


def test_options_that_a_signal_takes_away_are_no_failure():
    async def steps(pilot):
        choice = pilot.app.screen.query(Choice).first()
        before = choice.chosen
        await choice.remove_children()
        assert choice.chosen == before
        pilot.app._leave_at_once(signal.SIGTERM)
        # `RadioSet` does so when it is mounted.
        choice.action_next_button()

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 128 + signal.SIGTERM


LEAVES_WORK = """
import sys
from types import SimpleNamespace
from chordless.commands.tui import show

async def work():
    pass

begun = [work()]
sys.exit(show(SimpleNamespace(driver_class=None, run=begun.clear, end_sessions=lambda: None, return_code=3)))
"""


def test_work_that_was_not_begun_is_not_told_of_on_the_terminal():
    environment = {**os.environ, "PYTHONPATH": SOURCE_PATH}
    done = subprocess.run([sys.executable, "-c", LEAVES_WORK], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (3, "")


ALTERNATE_SCREEN = b"\x1b[?1049h"
# A dashboard that begins a run by itself.
BEGINS = f"""
import sys, time, chordless.engine.process
from chordless.commands.tui import show
from chordless.tui.app import ChordlessApp
from chordless.tui.session import go_on_detached
from chordless.tui.messages import StartRun
from chordless.tui.settings import Settings
from tui.slow_runs import command
chordless.engine.process._BOOT = {slow_boot()!r}
mount = ChordlessApp.on_mount
def on_mount(self):
    mount(self)
    self.post_message(StartRun(command(sys.argv[1])))
ChordlessApp.on_mount = on_mount
sys.exit(show(ChordlessApp(Settings())))
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.slow
def test_a_signal_to_all_leaves_a_checkpoint_and_says_so(tmp_path, number):
    """The terminal is closed, which sends SIGHUP, or stays."""
    run, said = tmp_path / "run", b""
    paths = os.pathsep.join((SOURCE_PATH, str(ROOT / "tests")))
    environment = {**os.environ, "PYTHONPATH": paths, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", BEGINS, str(run)], environment)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (run / "events.jsonl").exists() or b'"progress"' not in (run / "events.jsonl").read_bytes():
            assert time.monotonic() < deadline, said
            said += os.read(terminal, 1 << 16)
        if number == signal.SIGHUP:
            os.close(terminal)
        else:
            os.killpg(pid, number)
            with contextlib.suppress(OSError):
                while more := os.read(terminal, 1 << 16):
                    said += more
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + number
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    assert b'"reason": "interrupted"' in RunDirectory(run).events.read_bytes()
    assert (f"the run is stopped; to go on: chordless resume {run}".encode() in said) == (number == signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 1.8])
def test_a_dashboard_ends_with_its_terminal(seconds):
    """The terminal is closed while the New screen draws a graph, so many seconds after the screen has been cleared."""
    environment = {**os.environ, "PYTHONPATH": SOURCE_PATH, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "chordless", "tui", "grid:40x40"], environment)
    try:
        os.set_blocking(terminal, False)
        said, until = b"", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            is_shown = ALTERNATE_SCREEN in said
            with contextlib.suppress(BlockingIOError):
                said += os.read(terminal, 1 << 16)
            if not is_shown and ALTERNATE_SCREEN in said:
                until = time.monotonic() + seconds
            time.sleep(0.01)
        assert ALTERNATE_SCREEN in said
        os.close(terminal)
        deadline = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert os.waitstatus_to_exitcode(ended[1]) == 128 + signal.SIGHUP
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise


def test_a_followed_run_is_left_alone(tmp_path, slow):
    with EngineProcess(command(tmp_path / "run")) as engine:
        while not isinstance(engine.poll(60), Progress):
            pass

        async def steps(pilot):
            app = pilot.app
            await until(pilot, lambda: app.run_state.phase == "running")
            await pilot.press("ctrl+q")
            await until(pilot, lambda: app._exit)

        drive(ChordlessApp(Settings(), directory=tmp_path / "run"), SMALL, steps)
        assert is_at_work(tmp_path / "run")
        assert isinstance(engine.poll(60), Progress)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [None, "stop"])
def test_a_run_goes_on_when_the_tab_of_its_browser_is_closed_but_not_against_an_answer(
    tmp_path, slow, monkeypatch, answer
):
    run, left = tmp_path / "run", []
    monkeypatch.setattr(ChordlessApp, "is_web", True)
    monkeypatch.setattr("chordless.tui.session.go_on_detached", lambda *order: left.append(order))

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, run, halt=True)
        if answer is None:
            app.exit()
            return
        await ask(pilot)
        await pilot.click(f"#{answer}")
        await until(pilot, lambda: app._exit)

    drive(ChordlessApp(Settings()), SMALL, steps)
    assert not is_at_work(run)
    assert [(order[0].graph, order[1]) for order in left] == ([] if answer else [("grid:6x9", run)])


def test_in_a_browser_ctrl_c_without_a_selection_does_not_leave(monkeypatch):
    monkeypatch.setattr(ChordlessApp, "is_web", True)

    async def steps(pilot):
        # The field with the focus would copy its text.
        await pilot.press("escape", "ctrl+c")
        await until(pilot, lambda: [told.message for told in pilot.app._notifications])
        assert [told.message for told in pilot.app._notifications] == ["Nothing is selected. ^q leaves."]
        assert not pilot.app._exit

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_a_run_on_a_cluster_goes_on_there_by_itself(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("chordless.tui.session.subprocess.Popen", lambda arguments, **more: started.append(arguments))
    go_on_detached(RunCommand("petersen", 0.0, cluster="local", gpus=(0, 2)), tmp_path)
    words = " ".join(started[0])
    assert "--cluster local --gpus 0,2 --progress none" in words


@pytest.mark.slow
def test_a_run_that_picks_cycles_is_stopped_with_a_checkpoint(tmp_path):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        app.on_start_run(StartRun(RunCommand("grid:20x20", 0.0, checkpoint=str(run), pick="longest")))
        await ask(pilot)
        assert {button.id for button in app.screen.query(Button)} == {"keep", "stop", "kill", "stay"}
        assert app.focused.id == "stay"
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: app.return_value is not None)
        assert app.return_value == f"the run is stopped; to go on: chordless resume {run}"

    drive(ChordlessApp(Settings()), SMALL, steps)
    assert RunDirectory(run).checkpoint.exists()
