"""When the screen of a run is drawn: frozen views, the scale, and how often."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from chordless.runs.state import RunState
from chordless.tui.screens.run import RunScreen
from chordless.tui.widgets.chart import EvolutionChart
from chordless.tui.widgets.frontier_view import FrontierView
from chordless.tui.widgets.histogram import Histogram
from textual.screen import Screen

from tui.pilots import LARGE, SMALL, text_of, until
from tui.stage import (
    COMPLETE,
    FAILED,
    PAUSED,
    RUNNING,
    Stage,
    play,
)


def test_a_frozen_view_holds_still_while_the_run_goes_on():
    app = Stage(RUNNING)

    async def steps(pilot):
        await pilot.press("f")
        await until(pilot, lambda: "VIEW FROZEN, f unfreezes it" in text_of(app))
        # How it stands is no part of the picture.
        app.tell(FAILED)
        await until(pilot, lambda: "✘ failed" in text_of(app))
        assert "SIGKILL" in text_of(app)
        assert "VIEW FROZEN, f unfreezes it" in text_of(app)
        app.tell(COMPLETE)
        await until(pilot, lambda: "✔ complete" in text_of(app))
        assert "SIGKILL" not in text_of(app)
        assert f"{RUNNING.cycles:,}" in text_of(app)
        assert "668,179,142" not in text_of(app)
        await pilot.press("f")
        await until(pilot, lambda: "668,179,142" in text_of(app))
        assert "FROZEN" not in text_of(app)
        await pilot.press("f")
        # Another run does not begin frozen.
        app.tell(replace(PAUSED, began=1.0))
        await until(pilot, lambda: "paused" in text_of(app))
        assert app.session.told == []

    play(app, SMALL, steps)


def test_a_view_frozen_before_it_was_drawn_is_of_the_run():
    app = Stage(RUNNING)

    async def steps(pilot):
        screen = app.screen
        screen._shown, screen._waits = None, True
        await pilot.press("f")
        await until(pilot, lambda: "VIEW FROZEN, f unfreezes it" in text_of(app))
        assert f"{RUNNING.cycles:,}" in text_of(app)

    play(app, SMALL, steps)


def test_the_scale_is_changed():
    app = Stage(RUNNING)

    async def steps(pilot):
        await pilot.press("l")
        await until(pilot, lambda: "linear scale" in text_of(app))

    play(app, SMALL, steps)


def test_it_is_drawn_ten_times_a_second_at_most(monkeypatch):
    drawn = []
    draw = RunScreen._draw
    monkeypatch.setattr(RunScreen, "_draw", lambda self: (drawn.append(self.app._loop.time()), draw(self))[1])
    app = Stage(RUNNING)

    async def steps(pilot):
        await pilot.pause()
        drawn.clear()
        for cycles in range(50):
            app.tell(replace(RUNNING, cycles=RUNNING.cycles + cycles))
        app.tell(COMPLETE)
        await until(pilot, lambda: "668,179,142" in text_of(app))

    play(app, SMALL, steps)
    assert 1 <= len(drawn) <= 5
    assert all(later - earlier > 0.08 for earlier, later in pairwise(drawn))


def test_only_what_has_changed_is_drawn(monkeypatch):
    app = Stage(RUNNING)

    async def steps(pilot):
        await pilot.pause()
        refreshed = []
        for widget in app.screen.walk_children():
            monkeypatch.setattr(
                widget, "refresh", lambda *args, widget=widget, **kw: refreshed.append(widget.id) or widget
            )
        app.tell(replace(RUNNING, frontier=RUNNING.frontier + 1))
        words = f"{RUNNING.frontier + 1} starts and paths wait now"
        view = app.screen.query_one(FrontierView)
        await until(pilot, lambda: words in view.render_line(0).text)
        chart = app.screen.query_one(EvolutionChart)
        assert chart.id not in refreshed
        assert "run-histogram" not in refreshed
        return set(refreshed)

    # The line about the frontier; the load of the machine is looked at once a second.
    assert play(app, LARGE, steps) <= {None, "run-frontier", "run-load"}


def test_a_run_that_ended_behind_another_screen_shows_the_lengths_with_most_cycles():
    app = Stage(RUNNING)

    async def steps(pilot):
        bars = app.screen.query_one(Histogram)
        bars.show({})
        await pilot.pause()
        app.push_screen(Screen())
        await pilot.pause()
        bars.show(COMPLETE.cycles_by_length)
        await pilot.pause()
        app.run_state = COMPLETE
        app.pop_screen()
        await until(pilot, lambda: bars.scroll_offset.y > 0)
        # The table does not begin with the shortest lengths, and says so.
        above = int(bars.scroll_offset.y)
        await until(pilot, lambda: f"lengths: {above} shorter above" in text_of(app))
        bars.scroll_to(y=0, animate=False)
        await until(pilot, lambda: "shorter" not in text_of(app))

    play(app, SMALL, steps)


def test_the_clock_goes_on_while_the_engine_says_nothing(monkeypatch):
    monkeypatch.setattr("chordless.tui.screens.run._SECONDS_BETWEEN_TICKS", 0.01)
    app = Stage(replace(RUNNING, states=0, seconds=14.5, seeking_order=True, width=21))

    async def steps(pilot):
        await until(pilot, lambda: "21 vertices so far, 14.5 s." in text_of(app))
        app.session.quiet_seconds = 70.5
        await until(pilot, lambda: "21 vertices so far, 85.0 s." in text_of(app))
        app.session.quiet_seconds = 7.2
        app.tell(replace(RUNNING, compiling=True, seconds=3.0))
        await until(pilot, lambda: "compiling kernels for the rest 7 s" in text_of(app))
        # A start is no search, from which something could be lost.
        resumed = replace(RUNNING, phase="starting", directory="a", seconds=3.0, checkpoint_seconds=3.0)
        app.tell(replace(resumed, checkpoint_time=1.0))
        await until(pilot, lambda: "starting 7 s" in text_of(app))
        assert "checkpoint just now" in text_of(app)

    play(app, SMALL, steps)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState(), "The engine starts"),
        (RunState(phase="running", compiling=True), "The search has not begun yet."),
        (RunState(phase="running", seeking_order=True), "The count has not begun yet."),
        (RunState(phase="running", options={"all_pairs": True}), "No path was found yet."),
    ],
)
def test_a_run_without_counts_says_why_there_are_none(state, words):
    async def steps(pilot):
        app = pilot.app
        await until(pilot, lambda: text_of(app).count("here.") == 1)
        assert words in text_of(app)
        # The phase says it, and nothing else.
        assert text_of(app).count("compil") == state.compiling
        if state.phase == "starting":
            assert "memory unknown" in text_of(app)
        app.tell(replace(state, phase="finished"))
        await until(pilot, lambda: f"no {state.thing}s by length" in text_of(app) and "here." not in text_of(app))

    play(Stage(state), (60, 20), steps)
