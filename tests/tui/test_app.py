"""The dashboard as a whole: screens, palette, help, runs that are begun, killed and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from program import chordless, fails
from textual.widgets import Button, Input

from app.client import Engine
from app.events import Finished, RunCommand
from app.tui.actions import ACTIONS, EVERYWHERE, actions_of
from app.tui.app import ChordlessApp
from app.tui.messages import CompareRuns, OpenRun, StartRun
from app.tui.screens.leave import LeaveScreen
from app.tui.settings import Settings, load_settings
from kernels_ti.errors import ChordlessError
from tui.pilots import LARGE, SMALL, drive, text_of, until
from tui.slow_runs import GRAPH, begin, command

SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "160x50"])
SCREENS = ("new", "run", "cycles", "runs", "compare", "help")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory of a run that is complete."""
    run = tmp_path_factory.mktemp("runs") / "finished"
    command = RunCommand(
        "grid:5x5", time.time(), arch="cpu", checkpoint=str(run), output=str(run), output_format="parts"
    )
    with Engine(command) as engine:
        assert isinstance(list(engine.events())[-1], Finished)
    return run


# Screens and keys


@SIZES
def test_every_screen_is_shown_and_fits(finished, size):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: app.run_state.phase == "finished")
        for name in SCREENS:
            app.show(name)
            actions = [action for action in (*actions_of(EVERYWHERE), *actions_of(name)) if action.in_footer]

            def can_be_read(actions=actions):
                # All that the footer offers.
                footer = text_of(app).splitlines()[-1]
                return all(x.title in footer for x in actions if app.screen.check_action(x.name, ()) is not False)

            await until(pilot, can_be_read)
            assert app.current_mode == name
            assert app.screen.max_scroll_x == 0

    drive(ChordlessApp(Settings(), directory=finished), size, steps)


def test_keys_lead_to_the_screens():
    async def steps(pilot):
        app = pilot.app
        assert app.current_mode == "new"
        for key, name in [
            ("f3", "run"),
            ("f4", "cycles"),
            ("f5", "runs"),
            ("f1", "help"),
            ("f1", "runs"),
            ("f2", "new"),
        ]:
            await pilot.press(key)
            await pilot.pause()
            assert app.current_mode == name
        await pilot.press("f3", "question_mark")
        await pilot.pause()
        assert app.current_mode == "help"
        await pilot.press("escape")
        await pilot.pause()
        assert app.current_mode == "run"
        await pilot.press("ctrl+q")

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.return_code == 0


@SIZES
def test_help_has_every_action_with_the_keys_of_the_user(size):
    async def steps(pilot):
        await pilot.press("f1")
        await pilot.pause()
        app, shown = pilot.app, ""
        for _ in range(12):
            shown += text_of(app) + "\n"
            await pilot.press("pagedown")
            await pilot.pause()
        for action in ACTIONS:
            assert action.title in shown
        assert any(line.split()[:2] == ["f9", "Pause"] for line in shown.splitlines())
        assert "settings.toml" in shown
        assert ("run.pause " in shown) == (size == LARGE) or "everywhere.quit" in shown

    drive(ChordlessApp(Settings(keys={"run.pause": "f9"})), size, steps)


def test_the_palette_has_every_action_of_the_screen_and_does_it(finished):
    async def steps(pilot):
        app = pilot.app
        app.show("run")
        await pilot.press("ctrl+p")
        await pilot.pause(0.3)
        options = app.screen.query_one("CommandList")
        titles = {str(options.get_option_at_index(i).prompt).splitlines()[0] for i in range(options.option_count)}
        wanted = {action.title for screen in ("run", EVERYWHERE) for action in actions_of(screen)} - {"Palette"}
        assert wanted <= titles
        assert "Theme" in titles
        assert "Keys" not in titles
        await pilot.press(*"history"[:4])
        await pilot.press("escape")
        await pilot.press("ctrl+p", *"Browse the cycles")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "cycles")

    drive(ChordlessApp(Settings(), directory=finished), SMALL, steps)


def test_keys_are_remapped_and_what_is_wrong_is_said():
    settings = Settings(theme="none such", keys={"everywhere.show_runs": "f9", "run.stop": "k", "run.dance": "d"})

    async def steps(pilot):
        app = pilot.app
        words = " ".join(notification.message for notification in app._notifications)
        for fault in ("no theme 'none such'", "run.stop = 'k'", "run.dance = 'd'", "settings.toml: broken"):
            assert fault in words
        await pilot.press("f5")
        assert app.current_mode == "new"
        await pilot.press("f9")
        assert app.current_mode == "runs"

    drive(ChordlessApp(settings, warnings=["settings.toml: broken"]), SMALL, steps)


def test_a_theme_is_kept_and_taken_up():
    async def choose(pilot):
        pilot.app.theme = "nord"
        await pilot.pause()

    async def look(pilot):
        assert pilot.app.theme == "nord"

    drive(ChordlessApp(Settings()), SMALL, choose)
    settings, warnings = load_settings()
    assert (settings, warnings) == (Settings("nord"), [])
    drive(ChordlessApp(settings), SMALL, look)


def test_settings_that_cannot_be_written_are_no_reason_to_fail(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))

    async def steps(pilot):
        pilot.app.theme = "nord"
        await pilot.pause()
        assert any("cannot write" in notification.message for notification in pilot.app._notifications)

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_it_is_calm_over_ssh(monkeypatch):
    async def steps(pilot):
        return pilot.app.animation_level

    assert drive(ChordlessApp(Settings()), SMALL, steps) == "full"
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 10")
    assert drive(ChordlessApp(Settings()), SMALL, steps) == "none"


def test_no_color_leaves_no_colour(monkeypatch):
    async def steps(pilot):
        app = pilot.app
        await pilot.press("f1")
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        styles = {segment.style for strip in strips for segment in strip if segment.style is not None}
        colours = {colour.triplet for style in styles for colour in (style.color, style.bgcolor) if colour is not None}
        return all(red == green == blue for red, green, blue in filter(None, colours))

    assert not drive(ChordlessApp(Settings()), SMALL, steps)
    monkeypatch.setenv("NO_COLOR", "1")
    assert drive(ChordlessApp(Settings()), SMALL, steps)


@SIZES
def test_with_ascii_alone_nothing_else_is_drawn(finished, size):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: app.run_state.phase == "finished")
        strange = {}
        for name in SCREENS:
            app.show(name)
            await pilot.pause(0.2)
            strange[name] = "".join(sorted({letter for letter in text_of(app) if not letter.isascii()}))
        await app.push_screen(LeaveScreen(app.session))
        strange["leave"] = "".join(sorted({letter for letter in text_of(app) if not letter.isascii()}))
        assert not any(strange.values()), strange

    drive(ChordlessApp(Settings(), directory=finished, ascii_only=True), size, steps)


# Runs


@SIZES
def test_a_run_from_its_start_through_pause_and_stop_to_its_end(tmp_path, size, slow, monkeypatch):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, run)
        assert "running" in text_of(app)
        await pilot.press("space")
        await until(pilot, lambda: app.run_state.phase == "paused")
        await pilot.pause(0.2)
        assert "paused" in text_of(app)
        await pilot.press("space")
        await until(pilot, lambda: app.run_state.phase == "running")
        await pilot.press("k")
        await until(pilot, lambda: app.run_state.checkpoint_cycles)
        await pilot.press("s")
        await until(pilot, lambda: app.run_state.phase == "finished")
        assert app.run_state.reason == "interrupted"
        assert app.run_state.cycles > 0
        monkeypatch.undo()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        await pilot.press("r")
        await until(pilot, lambda: app.run_state.reason == "complete")
        await pilot.pause(0.2)
        assert f"{app.run_state.cycles:,}" in text_of(app)
        return app.run_state

    app = ChordlessApp(Settings())
    state = drive(app, size, steps)
    with Engine(RunCommand(GRAPH, time.time(), arch="cpu")) as engine:
        assert list(engine.events())[-1].cycles_by_length == state.cycles_by_length
    assert app.settings.recent == (GRAPH,)


def test_a_killed_engine_is_told_of_and_can_be_gone_on_with(tmp_path, slow, monkeypatch):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run")
        os.kill(app.session.feed.pid, signal.SIGKILL)
        await until(pilot, lambda: app.run_state.phase == "failed")
        await pilot.pause(0.2)
        assert "SIGKILL" in text_of(app)
        monkeypatch.undo()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        await pilot.press("r")
        await until(pilot, lambda: app.run_state.reason == "complete")

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_one_engine_at_a_time_and_it_goes_on_behind_another_run(tmp_path, slow, finished):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run", halt=True)
        own = app.session
        app.post_message(StartRun(command(tmp_path / "second")))
        await pilot.pause()
        assert app.session is own
        assert not (tmp_path / "second").exists()
        app.post_message(OpenRun(finished))
        await until(pilot, lambda: app.run_state.phase == "finished")
        assert app.session is not own
        assert own.is_at_work
        app.post_message(OpenRun(tmp_path / "run" / ".." / "run"))
        await until(pilot, lambda: app.session is own)
        app.post_message(OpenRun(finished))
        await until(pilot, lambda: app.session is not own)
        own.stop()
        await until(pilot, lambda: app._behind is None)
        app.post_message(OpenRun(tmp_path / "nothing"))
        await pilot.pause()
        assert any("there is no run" in notification.message for notification in app._notifications)

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_two_runs_are_compared(finished):
    async def steps(pilot):
        app = pilot.app
        app.post_message(CompareRuns((finished, finished)))
        await until(pilot, lambda: app.current_mode == "compare")
        await until(pilot, lambda: "grid:5x5" in text_of(app))

    drive(ChordlessApp(Settings()), LARGE, steps)


def test_a_replay_shows_the_run_and_controls_nothing(finished):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: app.run_state.phase == "finished")
        assert app.current_mode == "run"
        assert not app.session.can_control
        await pilot.press("space", "s", "k", "r")
        await pilot.pause()
        assert app.run_state.phase == "finished"
        return app.run_state

    state = drive(ChordlessApp(Settings(), replay=finished, speed=0), SMALL, steps)
    assert state.reason == "complete"
    with pytest.raises(ChordlessError, match="cannot read"):
        ChordlessApp(Settings(), replay=finished / "none")
    with pytest.raises(ChordlessError, match="there is no run"):
        ChordlessApp(Settings(), directory=finished.parent)


def test_a_graph_is_filled_in_and_enter_begins(tmp_path):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: any(field.value == "cycle:7" for field in app.screen.query(Input)))
        await until(pilot, lambda: isinstance(app.focused, Button))
        await pilot.pause(0.5)
        await pilot.press("enter")
        await until(pilot, lambda: app.run_state is not None and app.run_state.phase == "finished")
        return app.run_state

    settings = replace(Settings(), runs_folder=tmp_path / "runs")
    state = drive(ChordlessApp(settings, graph="cycle:7"), SMALL, steps)
    assert state.cycles == 1
    assert Path(state.directory).parent == tmp_path / "runs"


def test_without_a_terminal_it_says_so(finished):
    for arguments in (["tui"], ["tui", "grid:5x5"], ["replay", finished]):
        assert fails(chordless(*arguments, stdin=subprocess.DEVNULL), 2, "the dashboard needs a terminal")
    assert "is not a speed" in chordless("replay", finished, "--speed", "-1").stderr
