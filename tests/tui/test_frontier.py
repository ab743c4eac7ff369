"""The paths that wait: their number over time, the words about them, and the line on the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chordless.protocol.events import Progress
from chordless.runs.course import MOST_PIECES, Course
from chordless.runs.state import RunState
from chordless.tui.frontier_words import frontier_words
from chordless.tui.widgets.frontier_line import FrontierLine, resampled
from textual.app import App

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
    return RunState().after((1000.0 + i, report) for i, report in enumerate(reports))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (waiting({9: 20, 10: 30, 41: 1}), "51 paths wait now, of 9 to 41 vertices, most of them of 10. Peak: 51"),
        (waiting({17: 50}, 90, 10), "50 paths wait now, all of 17 vertices: the wave moves to the right. Peak: 90"),
        (waiting({7: 5, 8: 6}), "11 paths wait now, all of 7 and 8 vertices: the wave moves to the right. Peak: 11"),
        (waiting({7: 1}), "1 path waits now, of 7 vertices. Peak: 1"),
        (waiting({}, 700), "No path waits any more. At the peak 700 waited,"),
        (replace(waiting({9: 1}), waiting_by_length={}), "1 path waits now. Peak: 1"),
    ],
)
def test_what_is_said_about_the_frontier(state, words):
    said = frontier_words(state)
    assert said[0] == f"{words} after 1.0 s."
    assert list(said) == sorted(said, key=len, reverse=True)


def test_nothing_is_said_of_a_run_without_paths():
    assert frontier_words(RunState()) == ("",)


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


@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_line_marks_the_peak(ascii_only):
    class Screen(App[None]):
        CSS_PATH = Stage.CSS_PATH

        def compose(self):
            yield FrontierLine()

    app = Screen()
    app.ascii_only = ascii_only

    async def steps(pilot):
        line = app.query_one(FrontierLine)
        line.show(RunState())
        await pilot.pause()
        assert not text_of(app).strip()
        line.show(waiting({17: 40}, 10, 80, 20))
        await pilot.pause()
        bars, *words = text_of(app).splitlines()[0].split()
        heights = (("_", 5), ("#", 4), (".", 5), ("-", 4)) if ascii_only else (("▁", 5), ("█", 4), ("▂", 5), ("▄", 4))
        assert bars == "".join(bar * columns for bar, columns in heights)
        assert " ".join(words) == "40 paths wait, of 17 vertices. Peak: 80 after 2.0 s"
        colours = [segment.style.color for segment in line.render_line(0)][:19]
        assert len({*colours[:5], *colours[9:18]}) == 1
        assert len({*colours[5:9]}) == 2, "the peak is marked once"
        line.show(COMPLETE)
        await pilot.pause()
        assert "No path waits. Peak: 89 after 4.4 s" in text_of(app)

    drive(app, (76, 3), steps)
