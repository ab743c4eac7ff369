"""The history as the dashboard shows it: its lines, and what can be done with a run."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import chordless.tui.app
import chordless.tui.screens.runs
import pytest
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import reopened
from chordless.runs.elsewhere import note_folder
from chordless.runs.history import RunSummary
from chordless.tui.app import ChordlessApp
from chordless.tui.run_list import COLUMNS, counted_before, counted_words, row_title, when
from chordless.tui.run_list import details as details_of
from chordless.tui.screens.question import AskDelete
from chordless.tui.screens.runs import RunsScreen
from chordless.tui.settings import Settings
from chordless.tui.widgets import arch_field
from test_history import PROGRESS, STARTED, begin, finished
from textual.widgets import Static

from tui.pilots import LARGE, SIZES, SMALL, drive, text_of, until

SUMMARY = RunSummary(Path("run"), "grid:3x4", 12, 17, "cpu", "", 50, 0, False, 1.0, 1.0, "complete", "", 1.0, 4096)


class Recorder(ChordlessApp):
    """A dashboard that keeps what the screen asks for, and does nothing of it."""

    CSS_PATH = Path(chordless.tui.app.__file__).with_name("chordless.tcss")

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.asked = []

    def show(self, name):
        super().show("runs" if self.current_mode == "_default" else name)

    def on_start_run(self, message):
        message.prevent_default()
        self.asked.append(message.command)

    def on_open_run(self, message):
        message.prevent_default()
        self.asked.append(message.directory)

    def on_compare_runs(self, message):
        message.prevent_default()
        self.asked.append(message.directories)


@pytest.fixture(autouse=True)
def unprobed(monkeypatch):
    monkeypatch.setattr(arch_field, "probe_arch", lambda arch, given_up: None)
    monkeypatch.setattr("chordless.tui.screens.runs._SECONDS_BETWEEN_LOOKS", 0.05)


@pytest.fixture
def runs(tmp_path):
    """A folder of a complete, a stopped and a damaged run, the newest first."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for began, name, events in (
        (300.0, "complete", [STARTED, PROGRESS, finished()]),
        (200.0, "stopped", [STARTED, PROGRESS, finished("limit", cycles=1234567)]),
        (100.0, "damaged", [STARTED, PROGRESS]),
    ):
        path = begin(folder / name, *events, lists=name == "stopped")
        run = path / "run.json"
        run.write_text(json.dumps({**json.loads(run.read_text()), "began": began}))
    (folder / "damaged" / "checkpoint").unlink()
    return folder


def watch(size, folder, steps, **more):
    """Run `steps` on the history; return the app."""
    app = Recorder(Settings(runs_folder=folder), **more)

    async def show_and_go(pilot):
        # Its timer runs as soon as the folder has been read once.
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen._timer is not None)
        await steps(pilot)

    drive(app, size, show_and_go)
    return app


def lines(app):
    table, runs = app.screen_stack[0].query_one("#runs"), app.screen_stack[0]._shown
    return [[text.strip() for text, _ in table.parts(run, table.size.width)] for run in runs]


def details(app):
    return str(app.screen_stack[0].query_one("#run-details", Static).content)


def test_two_runs_of_one_graph_are_told_apart():
    def row(**more):
        command = RunCommand("grid:3x4", 1.0, **more)
        return row_title(replace(SUMMARY, lists=command.output_format == "parts", command=command))

    assert row() == "grid:3x4"
    assert row(method="boundary") == "grid:3x4, boundary"
    assert row(expansion="paper", max_length=12) == "grid:3x4, wave, 3 to 12"
    assert row(output_format="parts", min_length=5, limit=1000) == "grid:3x4, list, from 5, up to 1,000"
    assert row(min_length=6, max_length=6) == "grid:3x4, length 6"
    assert row(parity="odd", min_length=5) == "grid:3x4, odd, from 5"
    assert row(pick="longest", shortest=True, weight="w.txt", min_length=4) == "grid:3x4, lightest"
    path = {"between": ("0,0", "2,3"), "pick": "longest", "shortest": True}
    assert row(**path, min_length=2) == "grid:3x4, shortest, paths from 0,0 to 2,3"
    assert row(**path, min_length=4) == "grid:3x4, shortest, paths from 0,0 to 2,3, from 4"
    assert row(all_pairs=True, min_length=3) == "grid:3x4, all paths, from 3"
    assert when(time.time()).count(":") == 2


def test_a_count_without_room_is_rounded_not_cut():
    (column,) = [column for column in COLUMNS if column.name == "cycles"]
    assert column.text(replace(SUMMARY, cycles=14_138_533_757_973_013_145)) == "1.4e19"
    assert column.text(replace(SUMMARY, cycles=99_999_999_999)) == "99,999,999,999"


def test_the_details_tell_the_level_of_a_wave_and_what_a_list_lacks():
    wave = replace(SUMMARY, stage="stopped", why="interrupted", share=0.0032, level=8, listed=42, unlisted=1)
    wave = replace(wave, lists=True, command=RunCommand("grid:3x4", 1.0, expansion="paper"))
    said = details_of(wave)
    assert "42 listed; 1 waits in the checkpoint;" in said
    assert "It was stopped at level 8. It can be resumed." in said
    at_work = replace(wave, stage="running", pid=7)
    assert "An engine is at work in it; level 8 is reached." in details_of(at_work)
    words = "An engine is at work in it; process 7 uses 98% of the cores; level 8 is reached."
    assert words in details_of(at_work, 0.98)
    search = replace(wave, command=RunCommand("grid:3x4", 1.0))
    assert "It was stopped at 0.32%. It can be resumed." in details_of(search)


def test_a_run_elsewhere_is_among_the_runs(runs, tmp_path):
    note_folder(begin(tmp_path / "elsewhere", STARTED, PROGRESS, finished()))

    async def steps(pilot):
        assert len(lines(pilot.app)) == 4
        assert "elsewhere" in details(pilot.app)

    watch(SMALL, runs, steps)


@SIZES
def test_the_newest_is_first_and_a_line_says_what_it_is(size, runs):
    async def steps(pilot):
        app = pilot.app
        found = lines(app)
        assert [line[0] for line in found] == ["✔ complete", "■ stopped", "! damaged"]
        assert [line[1] for line in found] == ["grid:3x4", "grid:3x4, list", "grid:3x4"]
        assert "1,234,567" in found[1]
        assert "vulkan: llvmpipe" in details(app)
        assert "Every cycle within its bounds was found." in details(app)
        shown = text_of(app)
        assert ("Vertices" in shown and "On disk" in shown) == (size == LARGE)
        assert "Count: all lengths\n" in details(app)
        await pilot.press("down")
        assert "List: all lengths\n" in details(app)
        assert "It reached its limit at 100%. It can be resumed." in details(app)
        await pilot.press("down")
        assert "It cannot be used: it has no checkpoint." in details(app)
        await pilot.resize_terminal(*(SMALL if size == LARGE else LARGE))
        await until(pilot, lambda: ("On disk" in text_of(app)) == (size == SMALL))
        assert "no checkpoint" in details(app)

    watch(size, runs, steps)


def test_the_table_follows_the_folder_and_the_cursor_stays_on_its_run(runs):
    async def steps(pilot):
        app = pilot.app
        await pilot.press("down")
        begin(runs / "newer", STARTED, PROGRESS, finished("timeout"))
        # The list may be read while the new folder is written.
        states = ["■ stopped", "✔ complete", "■ stopped", "! damaged"]
        await until(pilot, lambda: [line[0] for line in lines(app)] == states)
        assert str(runs / "stopped") in details(app)
        with reopened(runs / "stopped"):
            await until(pilot, lambda: lines(app)[2][0] == "▶ running")
            await pilot.press("d", "r")
            await pilot.pause()
            assert not isinstance(app.screen, AskDelete)
        await until(pilot, lambda: lines(app)[2][0] == "■ stopped")
        await pilot.press("enter")

    assert watch(SMALL, runs, steps).asked == [runs / "stopped"]


def test_the_cursor_goes_to_the_run_that_was_shown_last(runs):
    async def steps(pilot):
        app = pilot.app
        assert str(runs / "complete") in details(app)
        app.session = SimpleNamespace(directory=runs / "stopped", owns_engine=False, end=lambda: None)
        app.screen.on_screen_resume()
        await until(pilot, lambda: str(runs / "stopped") in details(app))
        # Only once: the user may look at others.
        await pilot.press("up")
        app.screen.on_screen_resume()
        await pilot.pause(0.2)
        assert str(runs / "complete") in details(app)
        app.session = None

    watch(SMALL, runs, steps)


def test_lines_are_sorted_by_any_column(runs):
    async def steps(pilot):
        app = pilot.app

        def cycles():
            return [line[2] for line in lines(app)]

        assert cycles() == ["50", "1,234,567", "40"]
        await pilot.press("o", "o", "o")
        assert "Found v" in text_of(app)
        assert cycles() == ["1,234,567", "50", "40"]
        assert lines(app)[0][0] == "[] stopped"
        await pilot.click("#runs", offset=(40, 0))
        assert "Found ^" in text_of(app)
        assert cycles() == ["40", "50", "1,234,567"]

    watch(SMALL, runs, steps, ascii_only=True)


def test_a_run_is_resumed_and_two_are_compared(runs):
    async def steps(pilot):
        app = pilot.app
        await pilot.press("r")
        await pilot.pause()
        assert app.asked == []
        await pilot.press("m")
        await pilot.pause()
        assert "This run is marked" in details(app)
        assert lines(app)[0][1] == "◆ grid:3x4"
        await pilot.press("m", "m", "down", "r", "m")
        await until(pilot, lambda: len(app.asked) == 2)
        assert "◆" not in text_of(app)
        await pilot.press("down", "m", "r")
        await pilot.pause()

    command, pair = watch(SMALL, runs, steps).asked
    assert (command.checkpoint, command.output, command.resume) == (str(runs / "stopped"), str(runs / "stopped"), True)
    assert 0 < command.program_start <= time.monotonic()
    assert pair == (runs / "complete", runs / "stopped")


def test_a_run_that_was_just_resumed_is_not_offered_for_deletion(runs, monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.runs._SECONDS_BETWEEN_LOOKS", 1000.0)

    async def steps(pilot):
        app = pilot.app
        await pilot.press("down")
        with reopened(runs / "stopped"):
            await pilot.press("d")
            assert [note.message for note in app._notifications] == [
                "An engine is at work in the run of grid:3x4: stop it first."
            ]

    watch(SMALL, runs, steps)


@SIZES
def test_a_run_is_deleted_after_a_question_whose_answer_is_no(size, runs):
    (runs / "stopped" / "mine.csv").write_text("")

    async def steps(pilot):
        app = pilot.app
        await pilot.press("down", "d")
        await until(pilot, lambda: isinstance(app.screen, AskDelete))
        shown = text_of(app)
        assert "1,234,567 listed cycles" in shown
        assert "KiB of the disk" in shown
        assert "mine.csv" in shown
        # On the screen it may be broken in two.
        assert str(runs / "stopped") in str(app.screen.query(Static).first().content)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert len(os.listdir(runs)) == 3
        await pilot.press("delete", "escape", "d")
        await pilot.click("#yes")
        await until(pilot, lambda: len(lines(app)) == 2)
        await pilot.press("d", "y")
        await until(pilot, lambda: len(lines(app)) == 1)

    watch(size, runs, steps)
    assert len(os.listdir(runs)) == 1


def test_keys_pressed_before_the_runs_are_read_are_obeyed_then(runs, monkeypatch):
    may_read = threading.Event()
    read = chordless.tui.screens.runs.list_runs
    monkeypatch.setattr(chordless.tui.screens.runs, "list_runs", lambda *folders: may_read.wait() and read(*folders))
    app = Recorder(Settings(runs_folder=runs))

    async def steps(pilot):
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("j", "d")
        may_read.set()
        await until(pilot, lambda: isinstance(app.screen, AskDelete))
        assert str(runs / "stopped") in str(app.screen.query(Static).first().content)

    try:
        drive(app, SMALL, steps)
    finally:
        may_read.set()


@pytest.mark.slow
def test_an_empty_history_says_how_to_begin(tmp_path):
    async def steps(pilot):
        app = pilot.app
        assert "There are no runs yet" in text_of(app)
        assert "Resume" not in text_of(app).splitlines()[-1]
        await pilot.press("d", "m", "r", "o")
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "new")

    assert watch(LARGE, tmp_path / "none", steps).asked == []


def test_a_folder_that_cannot_be_read_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    async def steps(pilot):
        await until(pilot, lambda: "cannot read" in details(pilot.app))
        await pilot.press("o")
        await until(pilot, lambda: "There are no runs yet" not in text_of(pilot.app))
        assert "cannot read" in details(pilot.app)

    watch(SMALL, tmp_path / "file", steps)


def test_runs_are_filtered_by_letters_of_the_graph_and_escape_shows_all(runs):
    run = runs / "stopped" / "events.jsonl"
    run.write_text(run.read_text().replace('"graph": "', '"graph": "Roads of '))

    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: len(lines(app)) == 3)
        await pilot.press("slash", *"ROADS")
        await until(pilot, lambda: len(lines(app)) == 1)
        assert "1 of 3 runs match: escape shows all." in details(app)
        await pilot.press("enter")
        assert app.focused is app.screen.query_one("#runs")
        await pilot.press("slash", *"zz")
        await until(pilot, lambda: len(lines(app)) == 0)
        assert details(app) == "0 of 3 runs match: escape shows all."
        await pilot.press("escape")
        await until(pilot, lambda: len(lines(app)) == 3)
        assert "match" not in details(app)

    watch(SMALL, runs, steps)


def test_what_a_run_has_counted_is_told_of_the_same_question_only():
    command = RunCommand("grid:3x4", 1.0, max_length=8)
    slow = replace(SUMMARY, command=replace(command, arch="cpu"), cycles=7, seconds=60.0)
    fast = replace(slow, command=replace(command, method="boundary"), seconds=2.0)
    sentence = f"7 chordless cycles: counted along a boundary in 2.0 s, {when(1.0)}."
    assert counted_before([slow, fast], command) == [fast, slow]
    assert counted_words(fast) == sentence
    assert counted_before([replace(fast, stage="stopped")], command) == []
    for other in ({"max_length": None}, {"limit": 7}, {"simplify": True}, {"graph": "grid:4x3"}, {"pick": "longest"}):
        assert counted_before([slow, fast], replace(command, **other)) == []
    assert counted_before([replace(fast, command=None)], command) == []
