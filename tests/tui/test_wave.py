"""A run begun anew by one key: as the wave of the paper, or along a boundary."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from chordless.engine.process import EngineProcess
from chordless.protocol.events import Progress
from chordless.protocol.orders import RunCommand
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import OpenRun
from chordless.tui.run_form import wave_of
from chordless.tui.screens.question import Question
from chordless.tui.settings import Settings
from textual.events import Key
from textual.widgets import Static

from tui.new_form import fill
from tui.pilots import SMALL, drive, text_of, until
from tui.slow_runs import at_full_speed, begin, command
from tui.stage import notices


def test_the_form_begins_a_search_breadth_first():
    async def steps(pilot):
        # The graph has the focus, and takes letters.
        await until(pilot, lambda: "f4 Breadth first" in text_of(pilot.app))
        await pilot.press("f4")
        await until(pilot, lambda: pilot.app.command is not None)

    app = fill(SMALL, steps)
    command = app.command
    assert (command.graph, command.expansion, command.method) == ("grid:7x10", "paper", "search")
    # The key begins one run: the next one grows as before.
    assert app.settings.last.expansion == "two-ended"


def test_a_key_right_after_it_does_not_change_what_is_begun():
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: "f4 Breadth first" in text_of(app) and app.screen._is_known)
        app.post_message(Key("f4", None))
        app.post_message(Key("s", "s"))
        await until(pilot, lambda: app.command is not None)

    assert fill(SMALL, steps).command.graph == "grid:7x10"


@pytest.mark.slow
def test_a_run_is_begun_anew_breadth_first_after_a_question(tmp_path, slow):
    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run", halt=True)
        first = app.session
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Question))
        assert first.is_at_work
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("y")
        await until(pilot, lambda: app.session is not first and app.run_state.phase == "running")
        assert app.session.command.expansion == "paper"
        assert first.state.can_resume
        app.session.feed.stop()
        await until(pilot, lambda: not app.session.is_at_work)

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
def test_a_search_that_takes_years_names_the_boundary_and_one_key_takes_it(tmp_path, slow, monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.run_keys._SECONDS_OF_SEARCH", 0.0)
    monkeypatch.setattr("chordless.tui.screens.run_keys.time_left", lambda state: 1e14)

    async def steps(pilot):
        app = pilot.app
        await begin(pilot, tmp_path / "run", halt=True)
        first = app.session
        await until(pilot, lambda: "A search: about 3.2 million years. Along a boundary:" in text_of(app))
        assert "f2 takes the boundary." in " ".join(text_of(app).split())
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Question))
        assert first.is_at_work
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, Question))
        at_full_speed(monkeypatch)
        await pilot.press("y")
        await until(pilot, lambda: app.session is not first and app.run_state.reason == "complete")
        assert app.session.command.method == "boundary"
        assert first.state.can_resume
        await pilot.press("f2")
        await until(pilot, lambda: any("can go along a boundary" in said for said in notices(app)))

    drive(ChordlessApp(Settings()), SMALL, steps)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["B", "f2"])
def test_beside_a_run_of_another_process_none_is_begun_without_a_question(tmp_path, slow, key):
    run = tmp_path / "run"

    async def steps(pilot):
        app = pilot.app
        with EngineProcess(command(run)) as other:
            while not isinstance(other.poll(60), Progress):
                pass
            app.post_message(OpenRun(run))
            await until(pilot, lambda: app.run_state is not None and app.run_state.phase == "running")
            watched = app.session
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, Question))
            assert "goes on beside it, in another process." in str(app.screen.query_one(Static).content)
            await pilot.press("n")
            await until(pilot, lambda: not isinstance(app.screen, Question))
            assert app.session is watched
            other.stop()

    drive(ChordlessApp(Settings()), SMALL, steps)


def test_a_listing_begun_anew_lists_into_its_own_folder():
    old = {"checkpoint": "/old", "output": "/old", "output_format": "parts"}
    listing = RunCommand("petersen", time.monotonic(), cluster="a:1", **old)
    wave = wave_of(listing, Path("/new"))
    assert (wave.output, wave.checkpoint, wave.cluster, wave.resume) == ("/new", "/new", None, False)


def test_a_shortest_cycle_begun_anew_is_a_plain_search():
    best = RunCommand("petersen", time.monotonic(), pick="longest", shortest=True, weight="length")
    wave = wave_of(best, Path("/new"))
    assert (wave.pick, wave.shortest, wave.weight) == ("all", False, None)
