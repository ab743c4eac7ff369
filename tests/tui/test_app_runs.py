"""Runs in the dashboard as a whole: begun, killed, resumed, compared, replayed."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from chordless.engine.process import EngineProcess
from chordless.protocol.events import Started
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import CompareRuns, OpenRun, StartRun
from chordless.tui.settings import Settings
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.histogram import Histogram
from textual.widgets import Button, Input

from kernels_ti import ChordlessError
from tui.pilots import LARGE, SMALL, drive, text_of, until
from tui.slow_runs import CYCLES, GRAPH, at_full_speed, begin, command


@pytest.mark.slow
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
        await pilot.press("w")
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


@pytest.mark.slow
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
        own.feed.stop()
        await until(pilot, lambda: app._behind is None)
        app.post_message(OpenRun(tmp_path / "nothing"))
        await pilot.pause()
        assert any("there is no run" in notification.message for notification in app._notifications)

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_a_run_that_somebody_else_goes_on_with_is_followed(tmp_path, slow):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, run)
        await pilot.press("s")
        await until(pilot, lambda: app.run_state.can_resume)
        with EngineProcess(command(run, resume=True)) as other:
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
        await pilot.press("s", "w", "r")
        await pilot.pause()
        assert app.run_state.phase == "finished"
        return app.run_state

    state = drive(ChordlessApp(Settings(), replay=finished, speed=0), SMALL, steps)
    assert state.reason == "complete"
    with pytest.raises(ChordlessError, match="cannot read"):
        ChordlessApp(Settings(), replay=finished / "none")
    with pytest.raises(ChordlessError, match="there is no run"):
        ChordlessApp(Settings(), directory=finished.parent)


def test_a_run_that_is_over_is_played_again(finished):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: app.run_state.phase == "finished" and "Replay" in text_of(app))
        assert app.session.replay is None
        await pilot.press("space")
        await until(pilot, lambda: app.session.replay is not None and "REPLAY" in text_of(app))
        await until(pilot, lambda: app.session.replay.has_ended)
        assert app.run_state.cycles == 229

    drive(ChordlessApp(Settings(), directory=finished), LARGE, steps)


@pytest.mark.slow
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
        await pilot.press("3")
        await until(pilot, lambda: "has counted 229 cycles" in text_of(app))
        assert "Sort" not in text_of(app)
        await until(pilot, lambda: isinstance(app.focused, Button))
        await pilot.press("enter")
        await until(pilot, lambda: app.run_state.listed == 229)
        await until(pilot, lambda: "229 cycles · order: as found  " in text_of(app))
        assert app.current_mode == "cycles"
        await pilot.press("o")
        await until(pilot, lambda: "· longest first" in text_of(app))
        assert text_of(app).splitlines()[3].split()[2] == "16"
        return counted, app.run_state

    settings = replace(Settings(), runs_folder=tmp_path / "runs")
    counted, listed = drive(ChordlessApp(settings, graph="grid:5x5"), SMALL, steps)
    assert counted.cycles == listed.cycles == 229
    assert Path(counted.directory).parent == Path(listed.directory).parent == tmp_path / "runs"
    assert counted.directory != listed.directory


def test_the_cycles_of_a_bar_are_shown(finished):
    app = ChordlessApp(Settings(), directory=finished)

    async def steps(pilot):
        await until(pilot, lambda: "complete" in text_of(app))
        app.screen.query_one(Histogram).focus()
        await pilot.pause()
        app.screen.query_one(Histogram).action_move(-99)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "9 of 229 cycles" in text_of(app))
        assert len(app.screen.query_one(CycleTable).chosen.vertices) == 8
        await pilot.press("escape")
        await until(pilot, lambda: "9 of 229 cycles" not in text_of(app))

    drive(app, LARGE, steps)
