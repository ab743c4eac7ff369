"""The screen of a run, shown recorded events."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created
from chordless.tui.app import ChordlessApp
from chordless.tui.settings import Settings
from chordless.tui.widgets.histogram import Histogram
from chordless.tui.widgets.tiles import Tile
from chordless.words.numbers import short_number

from kernels_ti import EngineError
from tui.pilots import LARGE, SMALL, text_of, until
from tui.stage import (
    COMPLETE,
    FAILED,
    PAUSED,
    RECORDING,
    RUNNING,
    STOPPED,
    Session,
    Stage,
    notices,
    play,
)

WORDS = (
    "running",
    "grid:9x10: 90 vertices, 161 edges, max degree 4",
    f"{RUNNING.cycles:,}",
    f"about {short_number(RUNNING.paths)}",
    "paths wait now. Peak: 89 after 4.4 s.",
    "of 1.0 GiB",
    "checkpoint",
    "paths of each length looked at, over time",
    "paths T",
    "cycles C",
    "log scale",
    "resumed: grid:9x10",
)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "ascii_only"), [(SMALL, False), (SMALL, True), (LARGE, True)])
def test_what_a_run_shows(size, ascii_only):
    app = Stage(ascii_only=ascii_only)

    async def shown(pilot, state, *words):
        app.tell(state)
        await until(pilot, lambda: all(word in " ".join(text_of(app).split()) for word in words))
        assert not ascii_only or text_of(app).isascii()

    async def steps(pilot):
        await shown(pilot, None, "No run is shown. 1 begins one, 4 opens an earlier one.")
        await shown(pilot, RUNNING, "> running" if ascii_only else "▶ running", *WORDS)
        assert "Press r" not in text_of(app)
        lower_bounds = "The search is not complete: the counts are lower bounds. Press r to resume"
        await shown(pilot, STOPPED, "[] stopped" if ascii_only else "■ stopped", lower_bounds)
        killed = "The engine was killed [/] (SIGKILL). Press r to resume"
        await shown(pilot, FAILED, "!! failed" if ascii_only else "✘ failed", killed)
        another = "There is no checkpoint to resume from; 1 begins another run."
        await shown(pilot, replace(FAILED, can_resume=False), another)
        await shown(pilot, COMPLETE, "OK complete" if ascii_only else "✔ complete", "668,179,142", "100%")
        await until(pilot, lambda: "begins another run" not in text_of(app))

    play(app, size, steps)


def test_a_number_stays_whole_when_the_terminal_gets_smaller():
    # In a tile of one line these words are as long as they were in two.
    state = replace(RUNNING, paths=46_600_000, path_rates=(10_300_000.0,) * 8)

    async def steps(pilot):
        app = pilot.app
        app.tell(state)
        await until(pilot, lambda: "10.3 M/s" in text_of(app))
        shown = app.screen.query_one("#tile-paths", Tile)
        long = shown._shown.cell_length
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: shown.size.height == 1)
        assert shown._shown.cell_length == long
        assert "paths about 46.6 M" in text_of(app)

    play(Stage(), (120, 40), steps)


def test_the_notes_of_the_reader_take_three_lines_at_most():
    app = Stage()
    note = "a.csv:1: taken for a heading, not for an edge: " + "from,to " * 30

    async def steps(pilot):
        app.tell(RUNNING)
        await until(pilot, lambda: "running" in text_of(app))
        assert app.screen.query_one("#run-notes").size.height == 0
        app.tell(replace(RUNNING, graph="a.csv", notes=(note,)))
        await until(pilot, lambda: "line 1: taken for a heading, not for an edge: from,to" in text_of(app))
        assert app.screen.query_one("#run-notes").size.height == 3

    play(app, SMALL, steps)


def test_no_number_is_cut():
    many = replace(RUNNING, cycles_estimate=3.4e13, cycles_low=1.1e13, cycles_high=1.3e15)
    listing = {**RUNNING.options, "output": "x"}
    app = Stage()

    async def steps(pilot):
        tile = app.screen.query_one("#tile-estimate", Tile)
        for state, words in (
            (many, "of about 34 trillion (11 trillion to 1.3e15)"),
            (replace(many, cycles_high=None), "of at least 11 trillion"),
            (replace(many, options=listing, listed=1234), "1,234 listed; of about 34 trillion"),
            (replace(many, options=listing, listed=10**20), "100,000,000,000,000,000,000 listed"),
        ):
            app.tell(state)
            await until(pilot, lambda words=words: tile._shown is not None and tile._shown.plain == words)
            await until(pilot, lambda words=words: f"{words} " in text_of(app))
        await pilot.resize_terminal(110, 24)
        app.tell(replace(many, options=listing, listed=1234))
        words = "1,234 listed; of about 34 trillion (11 trillion to 1.3e15)"
        await until(pilot, lambda: words in text_of(app))

    play(app, SMALL, steps)


def test_orders_reach_the_run():
    app = Stage(RUNNING, Session(Path("/runs/a")))

    async def steps(pilot):
        await pilot.press("space")
        await until(pilot, lambda: "pausing ..." in text_of(app))
        # Thought better of before it was paused.
        await pilot.press("space", "space")
        app.tell(PAUSED)
        await until(pilot, lambda: "‖ paused" in text_of(app))
        assert "pausing" not in text_of(app)
        await pilot.press("space", "w", "s")
        return app.session.told

    told = play(app, LARGE, steps)
    assert told == ["pause", "go_on", "pause", "go_on", "checkpoint", "stop"]
    assert notices(app) == []


def test_a_run_of_another_process_is_stopped_only_after_a_question():
    app = Stage(RUNNING, Session(Path("/runs/a")))
    app.session.owns_engine = False

    async def steps(pilot):
        for key in ("enter", "escape", "q", "n"):
            app.notify("It would cover an answer.")
            await pilot.press("s")
            await until(pilot, lambda: "another process has" in text_of(app))
            assert notices(app) == []
            await pilot.press(key)
            await until(pilot, lambda: "another process has" not in text_of(app))
        assert app.session.told == []
        await pilot.press("s")
        await until(pilot, lambda: "another process has" in text_of(app))
        await pilot.press("y")
        await until(pilot, lambda: app.session.told == ["stop"])

    play(app, SMALL, steps)


def test_a_stop_that_takes_long_says_so_and_can_be_had_at_once():
    app = Stage(RUNNING, Session(Path("/runs/a")))

    async def steps(pilot):
        await pilot.press("s")
        await until(pilot, lambda: "stopping ..." in text_of(app))
        app.session.quiet_seconds = 12.0
        app.screen._tick()
        await until(pilot, lambda: "stopping: the engine finishes its step, 12 s, s ends it at once" in text_of(app))
        assert "s Stop now" in text_of(app)
        assert "Pause" not in text_of(app)
        await pilot.press("space")
        assert notices(app) == ["The run is stopping: it can be resumed then."]
        # Its last checkpoint is not its end, and a narrow line tells what fits.
        app.tell(replace(RUNNING, checkpoint_time=RUNNING.changed))
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: "stopping, 12 s, s ends it at once" in text_of(app))
        await pilot.press("s")
        await until(pilot, lambda: "writes a checkpoint" in text_of(app))
        await pilot.press("escape")
        assert app.session.told == ["stop"]
        await pilot.press("s")
        await until(pilot, lambda: "writes a checkpoint" in text_of(app))
        await pilot.press("y")
        await until(pilot, lambda: app.session.told == ["stop", "kill"])
        # The question is over as soon as the run is.
        await pilot.press("s")
        await until(pilot, lambda: "writes a checkpoint" in text_of(app))
        app.session.is_at_work = False
        await until(pilot, lambda: "writes a checkpoint" not in text_of(app))

    play(app, LARGE, steps)


def test_what_cannot_be_done_says_why():
    async def steps(pilot):
        app = pilot.app
        await pilot.press("space", "s", "w", "r", "f")
        assert notices(app) == ["No run is shown. 1 begins one, 4 opens an earlier one."] * 5
        app.session = Session()
        app.tell(RUNNING)
        await until(pilot, lambda: "running" in text_of(app))
        await pilot.press("w", "r")
        app.tell(PAUSED)
        await until(pilot, lambda: "paused" in text_of(app))
        await pilot.press("r")
        app.session.can_control = app.session.is_at_work = False
        app.tell(RUNNING)
        await until(pilot, lambda: "running" in text_of(app))
        await pilot.press("space")
        app.tell(COMPLETE)
        await until(pilot, lambda: "complete" in text_of(app))
        await pilot.press("s", "r", "f")
        app.tell(replace(STOPPED, can_resume=False))
        await until(pilot, lambda: "stopped" in text_of(app))
        await pilot.press("r")
        return notices(app)[5:]

    assert play(Stage(), SMALL, steps) == [
        "This run has no folder: there is no place for a checkpoint.",
        "The run is at work: there is nothing to resume.",
        "The run is paused: space lets it go on.",
        "This is a recording: it cannot be paused.",
        "The run is over: it cannot be stopped.",
        "The search is complete: nothing is left to do.",
        "The run is over: nothing moves that could be frozen.",
        "This run has no checkpoint, so it cannot be resumed.",
    ]


def test_the_footer_has_what_can_be_done():
    async def steps(pilot):
        app = pilot.app

        async def footer_is(*titles):
            await until(pilot, lambda: text_of(app).splitlines()[-1].split()[:-4] == list(titles))

        await footer_is()
        app.session = Session()
        app.tell(RUNNING)
        await footer_is("space", "Pause", "s", "Stop", "f", "Freeze")
        app.tell(PAUSED)
        await footer_is("space", "Go", "on", "s", "Stop", "f", "Freeze")
        app.tell(RUNNING)
        await footer_is("space", "Pause", "s", "Stop", "f", "Freeze")
        app.session.directory = Path("run")
        app.tell(PAUSED)
        # The search grew at both ends: its wave is a key away.
        await footer_is("space", "Go", "on", "s", "Stop", "B", "Breadth", "first", "f", "Freeze", "w", "Checkpoint")
        # On the narrowest screen it comes before what is used less.
        await pilot.resize_terminal(60, 20)
        await footer_is("space", "Go", "on", "s", "Stop", "B", "Breadth", "first")
        await pilot.resize_terminal(*SMALL)
        app.tell(replace(PAUSED, options={"expansion": "paper"}))
        await footer_is("space", "Go", "on", "s", "Stop", "f", "Freeze", "w", "Checkpoint")
        await pilot.resize_terminal(40, 24)
        await footer_is("space", "Go", "on", "s", "Stop")
        await pilot.resize_terminal(*SMALL)
        await pilot.press("f")
        app.session.can_control = app.session.is_at_work = False
        app.session.directory = None
        app.tell(STOPPED)
        await footer_is("r", "Resume", "f", "Freeze", "l", "Scale")
        await pilot.press("f")
        await footer_is("r", "Resume", "l", "Scale")
        app.tell(COMPLETE)
        await footer_is("l", "Scale")

    play(Stage(), SMALL, steps)


def test_an_order_that_fails_is_reported():
    session = Session()
    session.pause = lambda: (_ for _ in ()).throw(EngineError("no engine is at work in [x]"))
    app = Stage(RUNNING, session)

    async def steps(pilot):
        await pilot.press("space")
        assert "pausing" not in text_of(app)

    play(app, SMALL, steps)
    assert notices(app) == ["no engine is at work in [x]"]


def test_a_run_is_resumed(tmp_path):
    path = tmp_path / "moved"
    with created(path, RunCommand("cycle:5", 0.0, min_length=4), load_graph("cycle:5")) as directory:
        directory.checkpoint.touch()
    session = Session(path)
    session.can_control = session.is_at_work = False
    app = Stage(FAILED, session)

    async def steps(pilot):
        await pilot.press("r")
        await until(pilot, lambda: app.started)

    play(app, SMALL, steps)
    (command,) = app.started
    assert (command.resume, command.checkpoint, command.min_length) == (True, str(path), 4)
    assert 0 < command.program_start <= time.monotonic()
    (path / "run.json").write_text("{")

    async def broken(pilot):
        await pilot.press("r")
        await pilot.pause()

    app = Stage(FAILED, session)
    play(app, SMALL, broken)
    assert app.started == []
    assert "run.json is damaged" in notices(app)[0]


def test_a_replay_ends_as_it_was_recorded():
    app = ChordlessApp(Settings(), replay=RECORDING, speed=0)

    async def steps(pilot):
        await until(pilot, lambda: "✔ complete" in text_of(app))
        assert "668,179,142" in text_of(app)

    play(app, SMALL, steps)


@pytest.mark.slow
def test_the_values_of_the_chart_can_be_read():
    app = Stage(RUNNING)
    values = f"42 vertices:  paths T {RUNNING.frontier_by_length[42]:,}  cycles C {RUNNING.cycles_by_length[42]:,}"

    async def steps(pilot):
        await until(pilot, lambda: "⠒●⠒ cycles C" in text_of(app))
        await pilot.press("v", "home", *["right"] * 39)
        await until(pilot, lambda: values in text_of(app))
        assert text_of(app).count("┊") > 2
        await pilot.press("end")
        await until(pilot, lambda: f"{max(RUNNING.frontier_by_length)} vertices:" in text_of(app))
        await pilot.press("v")
        await until(pilot, lambda: "⠒●⠒ cycles C" in text_of(app))
        assert "┊" not in text_of(app)

    play(app, LARGE, steps)


def test_the_values_of_a_length_are_asked_for_by_its_number():
    app = Stage()

    async def steps(pilot):
        await pilot.press("colon")
        assert notices(app)[-1].startswith("No run is shown.")
        app.tell(replace(RUNNING, frontier_by_length={}, cycles_by_length={}))
        await until(pilot, lambda: app.screen._shown is not None)
        await pilot.press("colon")
        assert notices(app)[-1] == "There are no counts by length yet."
        app.tell(replace(RUNNING, cycles_by_length={}, frontier_by_length={3: 5, 4: 6, 8: 7}))
        await until(pilot, lambda: app.screen._shown.frontier_by_length)
        await pilot.press("colon")
        await until(pilot, lambda: "3 to 8" in text_of(app))
        for number, fault in (("x", "write a number, 3 to 8"), ("9", "write a number, 3 to 8"), ("5", "nothing has 5")):
            await pilot.press("ctrl+u", number)
            await until(pilot, lambda fault=fault: fault in text_of(app))
            await pilot.press("enter")
        await pilot.press("ctrl+u", "8", "enter")
        await until(pilot, lambda: "8 vertices:  paths T 7" in text_of(app))
        await pilot.press("left")
        await until(pilot, lambda: "4 vertices:  paths T 6" in text_of(app))
        await pilot.press("colon", "escape")
        await until(pilot, lambda: "4 vertices:  paths T 6" in text_of(app))

    play(app, SMALL, steps)


def test_escape_and_another_run_take_the_cursor_off_the_chart():
    app = Stage(RUNNING)

    async def steps(pilot):
        await pilot.press("v")
        await until(pilot, lambda: " vertices:  paths T" in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: " vertices:  paths T" not in text_of(app))
        assert app.screen.query_one("#run-chart").display
        await pilot.press("v")
        await until(pilot, lambda: " vertices:  paths T" in text_of(app))
        app.tell(replace(COMPLETE, began=COMPLETE.began + 1))
        await until(pilot, lambda: " vertices:  paths T" not in text_of(app))

    play(app, SMALL, steps)


@pytest.mark.parametrize("lists", [False, True])
def test_a_bar_of_the_histogram_leads_to_its_cycles(lists):
    options = {**RUNNING.options, "output_format": "parts" if lists else "text"}
    asked = []

    class Asked(Stage):
        def on_show_length(self, message):
            asked.append(message.length)

    app = Asked(replace(RUNNING, options=options, directory="/runs/a"))

    async def steps(pilot):
        await until(pilot, lambda: "bars: log scale" in text_of(app))
        app.screen.query_one(Histogram).focus()
        await pilot.pause()
        # The cursor begins at the length with the most cycles.
        app.screen.query_one(Histogram).action_move(-99)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: asked or notices(app))

    play(app, SMALL, steps)
    assert asked == [10] * lists
    assert lists or notices(app) == ["This run only counts its cycles. 3 offers to list them."]


def test_a_replay_is_no_live_run_and_can_be_gone_back_in():
    app = ChordlessApp(Settings(), replay=RECORDING, speed=0)

    async def steps(pilot):
        await until(pilot, lambda: "REPLAY, 82.7 s of 82.7 s" in text_of(app))
        assert "Again" in text_of(app)
        await pilot.press("left", "left")
        await until(pilot, lambda: "▶ running" in text_of(app))
        assert "REPLAY, paused, 7" in text_of(app)
        await pilot.press("greater_than_sign", "space")
        await until(pilot, lambda: "REPLAY 1x, " in text_of(app))
        await pilot.press("greater_than_sign", "right", "right", "right")
        await until(pilot, lambda: "✔ complete" in text_of(app))
        assert "REPLAY 2x, 82.7 s of" in text_of(app)

    play(app, LARGE, steps)


def test_a_very_small_terminal_shows_the_top_and_scrolls():
    app = Stage(RUNNING)

    async def steps(pilot):
        await until(pilot, lambda: text_of(app).splitlines()[1].startswith(" ▶ running"))
        shown = text_of(app).splitlines()
        assert "cycles" in shown[2]
        await pilot.press("tab", "tab", "tab")
        await until(pilot, lambda: "resumed" in text_of(app))
        assert text_of(app).splitlines()[1].startswith(" ▶ running")

    play(app, (50, 14), steps)
