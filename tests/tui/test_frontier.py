"""The paths that wait: their number over time, the words about them, and the line on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chordless.protocol.events import Progress
from chordless.runs.course import MOST_PIECES, Course, PathCourse
from chordless.runs.state import RunState
from chordless.tui.widgets.frontier_view import FrontierView, bands_of, frontier_words, heat_levels, resampled
from rich.style import Style
from textual.app import App
from textual.color import Color

from tui.pilots import drive, text_of
from tui.stage import COMPLETE, RUNNING, Stage


def test_a_course_keeps_its_peak_and_its_shape_in_bounded_room():
    course, reports = Course(), 5 * MOST_PIECES + 7
    for i in range(reports):
        course = course.after(i / 10, i if i <= 700 else reports - i)
    assert (course.peak, course.peak_seconds) == (700, 70.0)
    assert len(course.pieces) <= MOST_PIECES
    assert course.reports_in_piece == 8
    assert max(course.pieces) == course.pieces[700 // 8] == 700
    assert (len(course.pieces) - 1) * 8 + course.reports_in_last == reports
    assert course.pieces[:3] == (7, 15, 23)


def test_a_recording_before_version_3_has_a_course_but_no_lengths():
    assert RUNNING.waiting_by_length == {}
    assert len(RUNNING.frontier_course.pieces) > 3
    assert RUNNING.frontier_course.peak >= RUNNING.frontier > 0


def waiting(by_length, *earlier):
    """The state of a run in which these paths wait now, and of earlier reports only the number is known."""
    counts = [*earlier, sum(by_length.values())]
    reports = [Progress(1.0 + i, 9, 9, count, {}, {}, 0) for i, count in enumerate(counts)]
    reports[-1] = replace(reports[-1], waiting_by_length=by_length)
    state = RunState(options={"expansion": "paper"})
    return state.after((1000.0 + i, report) for i, report in enumerate(reports))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (waiting({9: 20, 10: 30, 41: 1}), "51 paths wait now, of 9 to 41 vertices, most of them of 10. Peak: 51"),
        (waiting({17: 50}, 90, 10), "50 paths wait now, all of 17 vertices: the wave moves to longer paths. Peak: 90"),
        (waiting({7: 5, 8: 6}), "11 paths wait now, all of 7 and 8 vertices: the wave moves to longer paths. Peak: 11"),
        (waiting({7: 1}), "1 path waits now, of 7 vertices. Peak: 1"),
        (waiting({}, 700), "No path waits now. At the peak 700 waited,"),
        (replace(waiting({9: 1}), waiting_by_length={}), "1 path waits now. Peak: 1"),
        # Reports of version 0.5.0 count starts, too, of which only some become paths that are looked at.
        (
            replace(waiting({9: 51}), options={}, frontier=60, counts_starts=True),
            "60 starts and paths wait now, the paths of 9 vertices. Peak: 51",
        ),
        (
            replace(waiting({9: 1}), options={}, waiting_by_length={}, counts_starts=True),
            "1 start or path waits now. Peak: 1",
        ),
        (replace(waiting({}, 700), options={}), "No path waits now. At the peak 700 starts and paths waited,"),
    ],
)
def test_what_is_said_about_the_frontier(state, words):
    said = frontier_words(state)
    assert said[0] == f"{words} after 1.0 s."
    assert list(said) == sorted(said, key=len, reverse=True)


@pytest.mark.parametrize("phase", ["failed", "lost"])
def test_what_an_engine_held_that_ended_before_it_was_done_waits_no_more(phase):
    wave = replace(waiting({23: 5, 24: 6}), phase=phase)
    said = "11 paths waited at last, all of 23 and 24 vertices: the wave moved to longer paths. Peak: 11 after 1.0 s."
    assert frontier_words(wave)[0] == said
    assert frontier_words(replace(waiting({7: 1}), phase=phase))[-1] == "1 path waited"


def test_at_the_end_of_a_search_only_paths_have_waited():
    reports = [
        Progress(1.0 + i, 9, 9, count, {}, {}, 0, waiting_by_length=lengths)
        for i, (count, lengths) in enumerate(((7, {9: 7}), (0, {})))
    ]
    state = RunState().after((1000.0 + i, report) for i, report in enumerate(reports))
    assert frontier_words(state)[0] == "No path waits now. At the peak 7 waited, after 1.0 s."
    over = replace(state, phase="finished", reason="complete")
    assert frontier_words(over)[0] == "No path waits any more. At the peak 7 waited, after 1.0 s."


def test_before_a_path_has_waited_it_is_said_that_none_waits_yet():
    assert frontier_words(RunState(phase="running", paths=121)) == ("No path waits yet.", "No path waits yet")


def test_nothing_is_said_of_a_run_without_paths():
    assert frontier_words(RunState()) == ("",)
    assert frontier_words(RunState(phase="finished", reason="limit")) == ("",)


def test_of_a_search_that_ended_before_its_first_report_it_is_said_that_no_path_waits():
    done = RunState(phase="finished", reason="complete", paths=52)
    assert frontier_words(done) == ("No path waits any more.", "No path waits any more")
    assert frontier_words(replace(done, reason="limit"))[0] == "No path waits now."


ALONG = RunState(
    phase="running",
    states=7_700,
    states_by_step={1: 1, 2: 7_700},
    expected_by_step={1: 1, 2: 9_000, 3: 10_500},
    width=9,
)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState(states=0, seconds=2.0), "Seeking a vertex order with a small boundary, 2.0 s."),
        (
            RunState(states=0, seconds=12.0, seeking_order=True, width=21),
            "Seeking a vertex order: boundary of 21 vertices so far, 12.0 s.",
        ),
        (
            replace(ALONG, phase="finished", states=1, width=1),
            "Along a boundary of at most 1 vertex: 1 state at the most.",
        ),
        (ALONG, "Vertex 2 of 3: 7.7 k states now, about 10.5 k expected at vertex 3. Boundary: 9 vertices."),
        (
            replace(ALONG, pass_number=3, passes=33),
            "Pass 3 of 33 over the vertices: 7.7 k states now, about 10.5 k expected at most. Boundary: 9 vertices.",
        ),
        (replace(ALONG, phase="finished"), "Along a boundary of at most 9 vertices: 7,700 states at the most."),
    ],
)
def test_along_a_boundary_the_line_tells_vertices_states_and_width(state, words):
    said = frontier_words(state)
    assert said[0] == words
    assert list(said) == sorted(said, key=len, reverse=True)


def test_numbers_are_resampled_by_their_largest():
    assert resampled((7,), 3) == [7, 7, 7]
    assert resampled((1, 9), 4) == [1, 1, 9, 9]
    assert resampled(tuple(range(10)), 5) == [1, 3, 5, 7, 9]
    assert max(resampled((0,) * 100 + (7,) + (0,) * 100, 12)) == 7


def test_a_path_course_keeps_every_path_in_bounded_room():
    course, reports = PathCourse(), 3 * MOST_PIECES + 5
    for i in range(1, reports + 1):
        course = course.after({length: min(i, 10 * length) for length in (4, 5, 9)})
    assert len(course.pieces) <= MOST_PIECES
    assert course.reports_in_piece == 4
    sums = {length: sum(piece.get(length, 0) for piece in course.pieces) for length in (4, 5, 9)}
    assert sums == course.totals == {4: 40, 5: 50, 9: 90}
    assert course.lengths == range(4, 10)
    assert course.pieces[0] == {4: 4, 5: 4, 9: 4}
    assert course.pieces[-1] == {}, "nothing was looked at any more"


def wave(levels):
    """The course of a wave: in each report the paths of one length."""
    course, totals = PathCourse(), {}
    for length, count in levels:
        totals = totals | {length: count}
        course = course.after(totals)
    return course


def test_the_heat_strip_shows_the_wave_move_to_longer_paths():
    levels = heat_levels(wave([(3, 10), (4, 10_000), (5, 50), (6, 1)]), 4, 4)
    brightest = [[row for row in range(4) if levels[row][column]] for column in range(4)]
    assert brightest == [[3], [2], [1], [0]], "time to the right, longer paths higher"
    assert levels[2][1] == 7, "the most paths are the brightest"
    assert levels[0][3] == 1, "a single path can be seen"


def test_a_strip_may_be_larger_or_smaller_than_the_course():
    course = wave([(3, 10), (4, 20)])
    large = heat_levels(course, 8, 6)
    assert [bool(level) for level in large[5]] == [True] * 4 + [False] * 4
    assert [bool(level) for level in large[0]] == [False] * 4 + [True] * 4
    small = heat_levels(wave([(3, 8000), (4, 8000), (5, 8000), (6, 8000)]), 2, 2)
    assert small == [[0, 7], [7, 0]]
    (first,) = heat_levels(wave([(3, 121)]), 1, 1)
    assert first[0] < 7, "the first paths of a search are no glaring block"


def test_bands_hold_each_length_once():
    assert bands_of(range(4, 14), 3) == [range(10, 14), range(7, 10), range(4, 7)]
    assert [length for band in bands_of(range(5, 8), 9) for length in band] == [7, 6, 5]


class FrontierStage(App[None]):
    CSS_PATH = Stage.CSS_PATH
    ascii_only = False

    def compose(self):
        yield FrontierView()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_view_shows_words_the_size_over_time_the_strip_and_what_waits_now(ascii_only):
    app = FrontierStage()
    app.ascii_only = ascii_only
    states = [RunState()]
    totals = {}
    for second, length in enumerate(range(4, 10)):
        totals = totals | {length: 10 ** (length - 3)}
        event = Progress(second, 9, 9, totals[length], totals, {}, 0, waiting_by_length={length: totals[length]})
        states.append(states[-1].after([(1000.0 + second, event)]))

    async def steps(pilot):
        view = app.query_one(FrontierView)
        view.styles.height = 10
        view.show(states[0])
        await pilot.pause()
        assert not text_of(app).strip()
        view.show(states[-1])
        await pilot.pause()
        shown = text_of(app).splitlines()
        assert shown[0].strip() == "1 M paths wait, of 9 vertices. Peak: 1 M after 5.0 s"
        assert shown[1].split()[0] == "1M", "the size has an axis of its own"
        assert shown[3].split()[0] == "9"
        assert ("#" if ascii_only else "█") in shown[3][-12:], "the paths that wait now stand beside their length"
        assert "paths of each length looked at, over time" in shown[9]
        assert shown[9].rstrip().endswith("wait now (log)"), "the bars tell their scale"
        assert shown[9].split()[0] == "0"
        strip = [segment for y in range(3, 9) for segment in view.render_line(y)]
        colours = {segment.style.color.name for segment in strip if segment.text.startswith("▀")}
        assert ascii_only or len(colours) > 3
        if ascii_only:
            assert all(line.isascii() for line in shown)

    drive(app, (90, 12), steps)


def test_the_view_has_as_many_columns_as_there_is_room_for():
    app = FrontierStage()
    event = Progress(3, 9, 9, 80, {7: 80}, {}, 0, waiting_by_length={7: 80})

    async def steps(pilot):
        view = app.query_one(FrontierView)
        view.show(RunState().after([(1000.0, event)]))
        await pilot.pause()
        for width in range(1, 90):
            for height in range(1, 14):
                strips = view.drawn(width, height)
                assert len(strips) <= height
                assert {strip.cell_length for strip in strips} == {width}

    drive(app, (90, 12), steps)


@pytest.mark.parametrize("width", range(50, 60))
def test_a_blank_stands_before_the_end_of_the_time_axis(width, monkeypatch):
    monkeypatch.setattr(FrontierView, "_style", lambda view, part: Style())
    view = FrontierView()
    view._state = RunState(seconds=14.9)
    assert view._time_axis(width - 7, 0, width).text.rstrip().endswith((" over time 14.9 s", "   14.9 s"))


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_hotter_places_stand_out_more_from_the_background(theme):
    app = FrontierStage()

    async def steps(pilot):
        app.theme = theme
        await pilot.pause()
        view = app.query_one(FrontierView)
        background = view.background_colors[1].brightness
        styles = view._heat_styles()
        colours = [Color.parse(styles[level, 0].color.name) for level in range(8)]
        contrasts = [abs(colour.brightness - background) for colour in colours]
        assert contrasts == sorted(contrasts)
        assert contrasts[-1] > 0.5

    drive(app, (80, 12), steps)


def test_the_strip_stays_when_the_run_has_ended():
    app = FrontierStage()

    async def steps(pilot):
        view = app.query_one(FrontierView)
        view.show(COMPLETE)
        await pilot.pause()
        assert "No path waits" in text_of(app)
        assert "▀" in text_of(app)

    drive(app, (76, 8), steps)
