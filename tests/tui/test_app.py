"""The dashboard as a whole: screens, palette, help, runs that are begun, killed and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from program import ROOT, chordless, fails
from textual.containers import VerticalScroll
from textual.widgets import Button, Input

from app.client import Engine
from app.cycle_index import CycleFilter
from app.events import Finished, Started
from app.formats import load_graph
from app.history import summarize
from app.orders import RunCommand
from app.tui.actions import ACTIONS, EVERYWHERE, actions_of
from app.tui.app import ChordlessApp
from app.tui.messages import CompareRuns, OpenRun, StartRun
from app.tui.screens.ask_delete import AskDelete
from app.tui.screens.cycle_questions import FilterQuestion, GoToQuestion
from app.tui.screens.leave import LeaveScreen
from app.tui.settings import Settings, load_settings
from app.tui.widgets.graph_panel import GraphPanel
from kernels_ti.errors import ChordlessError
from tui.pilots import LARGE, SMALL, drive, text_of, until
from tui.slow_runs import CYCLES, GRAPH, at_full_speed, begin, command

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


def test_every_screen_is_shown_and_fits(finished):
    async def steps(pilot):
        app = pilot.app
        app.prepare()
        await until(pilot, lambda: app.run_state.phase == "finished")
        for size in (SMALL, LARGE):
            await pilot.resize_terminal(*size)
            for name in SCREENS:
                app.show(name)
                actions = [action for action in (*actions_of(EVERYWHERE), *actions_of(name)) if action.in_footer]

                def can_be_read(actions=actions):
                    # All that the footer offers; on the screen of the run that is what can be done with it.
                    footer = text_of(app).splitlines()[-1]
                    shown = {key.binding.id for key in app.screen.active_bindings.values() if key.binding.show}
                    return all(
                        x.title in footer
                        for x in actions
                        if (x.id in shown if x.screen == "run" else app.screen.check_action(x.name, ()) is not False)
                    )

                await until(pilot, can_be_read)
                assert app.current_mode == name
                assert app.screen.size == size
                assert app.screen.max_scroll_x == 0

    drive(ChordlessApp(Settings(), directory=finished), SMALL, steps)


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
        scroll = app.screen.query_one(VerticalScroll)
        while True:
            shown += text_of(app) + "\n"
            if scroll.scroll_offset.y >= scroll.max_scroll_y:
                break
            scroll.scroll_page_down(animate=False)
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


def test_it_is_put_aside(monkeypatch):
    sent = []

    async def steps(pilot):
        monkeypatch.setattr(type(pilot.app._driver), "can_suspend", True)
        monkeypatch.setattr("textual.app.os.kill", lambda *order: sent.append(order))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: sent)
        monkeypatch.undo()

    drive(ChordlessApp(Settings()), SMALL, steps)
    assert sent == [(os.getpid(), signal.SIGTSTP)]


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


def test_with_ascii_alone_nothing_else_is_drawn(finished):
    async def steps(pilot):
        app, strange, drawn = pilot.app, {}, []

        def take(name):
            drawn.append(text_of(app))
            strange[name] = "".join(sorted({letter for letter in drawn[-1] if not letter.isascii()}))

        async def look(name):
            await pilot.pause(0.1)
            take(name)

        await until(pilot, lambda: app.run_state.phase == "finished")
        for size in (SMALL, LARGE):
            await pilot.resize_terminal(*size)
            for name in app.SCREENS:
                app.show(name)
                await look(name)
        app.post_message(CompareRuns((finished, finished)))
        await until(pilot, lambda: "grid:5x5" in text_of(app))
        await look("comparison")
        app.action_command_palette()
        await look("palette")
        await pilot.press("escape")
        app.show("new")
        for name in ("examples", "recent", "files"):
            app.screen.query_one(GraphPanel).unfold(name)
            await look(name)
        app.screen.query_one("#graph", Input).value = "café ♥"
        await look("typed")
        assert "caf? ?" in drawn[-1]
        grid = load_graph("grid:5x5").graph
        # The last goes away by itself, for there is nothing to ask.
        delete, which = AskDelete(summarize(finished), ["notes.txt"]), FilterQuestion(grid, CycleFilter())
        for question in (delete, which, GoToQuestion(9), LeaveScreen(app.session)):
            await app.push_screen(question)
            take(question)
            if not isinstance(question, LeaveScreen):
                await app.pop_screen()
        assert not any(strange.values()), strange

    drive(ChordlessApp(Settings(), directory=finished, ascii_only=True), SMALL, steps)


# Runs


def test_a_run_from_its_start_through_pause_death_and_stop_to_its_end(tmp_path, slow, monkeypatch):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run")
        assert "running" in text_of(app)
        await pilot.press("space")
        await until(pilot, lambda: app.run_state.phase == "paused")
        await pilot.pause(0.2)
        assert "paused" in text_of(app)
        await pilot.press("space")
        await until(pilot, lambda: app.run_state.phase == "running")
        await pilot.press("k")
        await until(pilot, lambda: app.run_state.checkpoint_cycles)
        found = app.run_state.checkpoint_cycles
        os.kill(app.session.feed.pid, signal.SIGKILL)
        await until(pilot, lambda: app.run_state.phase == "failed")
        await pilot.pause(0.2)
        assert "SIGKILL" in text_of(app)
        dead = app.session
        await pilot.press("r")
        await until(pilot, lambda: app.session is not dead and app.run_state.phase == "running")
        await until(pilot, lambda: app.run_state.cycles > found)
        await pilot.press("s")
        await until(pilot, lambda: app.run_state.phase == "finished")
        assert app.run_state.reason == "interrupted"
        at_full_speed(monkeypatch)
        await pilot.press("r")
        await until(pilot, lambda: app.run_state.reason == "complete")
        await pilot.pause(0.2)
        assert f"{CYCLES:,}" in text_of(app)
        assert sum(app.run_state.cycles_by_length.values()) == app.run_state.cycles == CYCLES

    app = ChordlessApp(Settings())
    drive(app, SMALL, steps)
    assert app.settings.recent == (GRAPH,)


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


def test_a_run_that_somebody_else_goes_on_with_is_followed(tmp_path, slow):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, run)
        await pilot.press("s")
        await until(pilot, lambda: app.run_state.can_resume)
        with Engine(command(run, resume=True)) as other:
            while not isinstance(other.poll(60), Started):
                pass
            own = app.session
            await pilot.press("r")
            await until(pilot, lambda: app.session is not own and app.run_state.phase == "running")
            assert app.session.can_control
            assert not app.session.owns_engine

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


def test_a_newcomer_begins_by_enter_and_finds_the_longest_cycle(tmp_path):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: any(field.value == "grid:5x5" for field in app.screen.query(Input)))
        await until(pilot, lambda: isinstance(app.focused, Button))
        await pilot.pause(0.5)
        await pilot.press("enter")
        await until(pilot, lambda: app.run_state is not None and app.run_state.phase == "finished")
        counted = app.run_state
        # Its cycles were not kept. What the screen of the cycles offers is taken by enter.
        await pilot.press("f4")
        await until(pilot, lambda: "has counted 229 cycles" in text_of(app))
        assert "Sort" not in text_of(app)
        await until(pilot, lambda: isinstance(app.focused, Button))
        await pilot.press("enter")
        await until(pilot, lambda: app.run_state.listed == 229)
        await until(pilot, lambda: "229 cycles · as found · s: longest first" in text_of(app))
        assert app.current_mode == "cycles"
        await pilot.press("s")
        await until(pilot, lambda: "longest first · s: shortest first" in text_of(app))
        assert text_of(app).splitlines()[2].split()[2] == "16"
        return counted, app.run_state

    settings = replace(Settings(), runs_folder=tmp_path / "runs")
    counted, listed = drive(ChordlessApp(settings, graph="grid:5x5"), SMALL, steps)
    assert counted.cycles == listed.cycles == 229
    assert Path(counted.directory).parent == Path(listed.directory).parent == tmp_path / "runs"
    assert counted.directory != listed.directory


def test_without_a_terminal_it_says_so(finished):
    more = {"stdin": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    for arguments in (["tui"], ["replay", finished]):
        assert fails(chordless(*arguments, **more), 2, "the dashboard needs a terminal")
    assert "is not a speed" in chordless("replay", finished, "--speed", "-1", **more).stderr
