"""A run of chordless paths: every screen speaks of paths, and tells those that are found from those that are begun."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from chordless.cli import main
from chordless.engine.process import EngineProcess
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.runs.history import summarize
from chordless.runs.state import RunState
from chordless.tui import cycle_words, run_words, tile_words
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import CompareRuns, ReplayRun
from chordless.tui.run_list import details
from chordless.tui.screens.question import _question
from chordless.tui.screens.run import RunScreen
from chordless.tui.session import RunSession
from chordless.tui.settings import LastChoices, Settings
from chordless.tui.widgets.frontier_view import frontier_words
from chordless.tui.widgets.graph_view import GraphView
from textual.widgets import Input

from tui.pilots import LARGE, SMALL, drive, text_of, until

PATHS = RunState(
    phase="running",
    graph="grid:9x9",
    n=81,
    m=144,
    options={"between": ("0,0", "8,8"), "min_length": 2},
    cycles=12,
    paths=345,
    frontier=7,
    waiting_by_length={5: 7},
    cycles_by_length={17: 12},
    frontier_by_length={5: 345},
)


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """The directory of a complete list of paths."""
    run = tmp_path_factory.mktemp("runs") / "listed"
    command = RunCommand(
        "grid:5x5",
        time.monotonic(),
        arch="cpu",
        min_length=2,
        between=("0,0", "4,4"),
        checkpoint=str(run),
        output=str(run),
        output_format="parts",
    )
    with EngineProcess(command) as engine:
        finished = list(engine.events())[-1]
    assert isinstance(finished, Finished)
    assert finished.cycles == 92
    return run


def body(app):
    """Return what the screen shows below its tabs, one of which is called Cycles."""
    return "\n".join(text_of(app).splitlines()[1:])


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=pytest.mark.slow)], ids=["80x24", "160x50"])
def test_no_screen_of_a_run_of_paths_speaks_of_cycles(size, listed):
    app = ChordlessApp(Settings(), directory=listed)

    async def steps(pilot):
        await until(pilot, lambda: "complete" in body(app) and "paths by length" in body(app))
        for words in ("grid:5x5, paths from 0,0 to 4,4", "begun paths T", "paths C", "92 listed", "complete: 92 paths"):
            assert words in body(app)
        assert "cycle" not in body(app).lower()
        await pilot.press("3")
        await until(pilot, lambda: "92 paths" in body(app) and "0,0 0,1" in body(app))
        assert "vertices in path order" in body(app)
        await until(pilot, lambda: not app.screen.query_one(GraphView).is_alone)
        await pilot.press("h")
        await until(pilot, lambda: "paths that pass an edge" in body(app))
        assert str(app.screen.query_one("#cycles-detail").content).startswith("edges in the most of 92 paths")
        assert "cycle" not in body(app).lower()
        for key, words in (("colon", "Go to the path"), ("slash", "Show only paths"), ("e", "92 paths that are shown")):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in body(app))
            assert "cycle" not in re.sub("Cycles", "", body(app)).lower()
            await pilot.press("escape")
        app.post_message(CompareRuns((listed, listed)))
        await until(pilot, lambda: "paths B" in body(app))
        assert "begun paths B" in body(app)
        assert "begun T" in body(app)
        assert "cycle" not in body(app).lower()
        app.post_message(ReplayRun(listed))
        await until(pilot, lambda: "REPLAY" in body(app) and "paths by length" in body(app))
        assert "cycle" not in body(app).lower()

    drive(app, size, steps)


@pytest.mark.slow
def test_the_dashboard_lists_paths_as_the_shell_does(tmp_path, capfd):
    assert main(["paths", "grid:4x4", "0,0", "3,3", "--list", "--quiet"]) == 0
    shell = sorted(capfd.readouterr().out.splitlines())
    choices = LastChoices(graph="grid:4x4", find="list", things="paths", path_start="0,0", path_end="3,3", arch="cpu")
    app = ChordlessApp(Settings(last=choices, runs_folder=tmp_path))

    async def steps(pilot):
        await until(pilot, lambda: not app.screen.query_one("#start").disabled)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.run_state is not None and app.run_state.phase == "finished")
        await pilot.press("3")
        await until(pilot, lambda: f"{len(shell)} paths" in body(app))
        await pilot.press("e")
        await until(pilot, lambda: "that are shown" in body(app))
        app.screen.query_one("#asked", Input).value = str(written)
        await pilot.press("enter")
        await until(pilot, lambda: written.exists() and len(written.read_text().splitlines()) == len(shell))

    written = tmp_path / "paths.txt"
    drive(app, SMALL, steps)
    assert sorted(written.read_text().splitlines()) == shell


@pytest.mark.parametrize(
    ("find", "kept", "words"),
    [
        ("longest", "1 path", "one of the 20 longest"),
        ("shortest", "1 path", "one of the 20 shortest"),
        ("sample", "1,000 paths", "drawn at random from 20"),
    ],
)
def test_paths_are_picked_between_two_ends(find, kept, words, tmp_path):
    choices = LastChoices(graph="grid:4x4", find=find, things="paths", path_start="0,0", path_end="3,3", arch="cpu")
    app = ChordlessApp(Settings(last=choices, runs_folder=tmp_path))

    async def steps(pilot):
        await until(pilot, lambda: not app.screen.query_one("#start").disabled)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: kept in body(app) and words in body(app))
        await until(pilot, lambda: not app.screen.query_one(GraphView).is_alone)
        await pilot.press("h")
        await until(pilot, lambda: "paths that pass an edge" in body(app))
        assert "cycle" not in body(app).lower()

    drive(app, LARGE, steps)


def test_what_was_picked_at_once_is_shown_too(monkeypatch, tmp_path):
    """Run sees nothing of such a run but its end."""
    changed = RunScreen.on_run_changed
    monkeypatch.setattr(
        RunScreen, "on_run_changed", lambda run, told: changed(run, told) if told.state.is_over else None
    )
    choices = LastChoices(
        graph="grid:4x4", find="longest", things="paths", path_start="0,0", path_end="3,3", arch="cpu"
    )
    app = ChordlessApp(Settings(last=choices, runs_folder=tmp_path))

    async def steps(pilot):
        await until(pilot, lambda: not app.screen.query_one("#start").disabled)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "one of the 20 longest" in body(app))
        # Run is shown when it is asked for.
        await pilot.press("2")
        await until(pilot, lambda: "20 are as long" in body(app))
        await pilot.pause(0.3)
        assert "20 are as long" in body(app)

    drive(app, LARGE, steps)


def test_paths_that_are_found_are_not_mixed_up_with_those_that_are_begun():
    assert tile_words.cycles_tile(PATHS).short == "paths 12"
    assert tile_words.paths_tile(PATHS).short == "begun paths 345"
    assert frontier_words(replace(PATHS, frontier_course=PATHS.frontier_course.after(1.0, 7)))[-1] == (
        "7 begun paths wait"
    )
    read = replace(PATHS, arch="cpu")
    assert run_words.graph_and_device(read, " ", 80).startswith(" grid:9x9, paths from 0,0 to 8,8: 81 vertices")
    saved = replace(PATHS, checkpoint_time=1.0, checkpoint_cycles=12, can_resume=True, phase="finished")
    assert tile_words.checkpoint_tile(replace(saved, directory="run")).notes == ("at 12 paths",)
    assert "from the checkpoint at 12 paths." in run_words.trouble_words(saved, "r", "1")


def test_what_is_said_of_a_run_of_paths(listed):
    run = summarize(listed)
    assert details(run).endswith("Every path within its bounds was found.")
    assert "with 92 listed paths." in "\n".join(_question(run, ()))
    counted = replace(PATHS, phase="finished", reason="complete")
    assert cycle_words.offer_words(counted, can_list=True)[1] == "List the paths of grid:9x9"
    _, button = cycle_words.offer_words(replace(counted, cycles=10**12), can_list=True)
    assert button == "Draw 1,000 of them at random"
    every = replace(counted, cycles=10**12, options={**counted.options, "all_pairs": True, "between": ()})
    text, button = cycle_words.offer_words(every, can_list=True)
    assert button == "", "no engine draws paths of all pairs"
    assert "chordless paths" in text


def test_a_run_of_paths_speaks_of_paths_before_its_engine_does(tmp_path):
    class Feed:
        command = RunCommand("grid:5x5", 0.0, all_pairs=True)

    assert RunSession(Feed()).state.thing == "path"
