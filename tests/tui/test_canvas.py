"""The canvas: lines, points and labels in characters."""

from __future__ import annotations

import numpy as np
from chordless.tui.widgets.canvas import EDGE, FAINT_LABEL, HOT, LABEL, LIT_EDGE, LIT_VERTEX, VERTEX, WARM, Canvas


def text_of(canvas):
    return ["".join(text for text, _ in line) for line in canvas.strips()]


def kinds_of(canvas):
    return [[kind for text, kind in line for _ in text] for line in canvas.strips()]


def draw(canvas, kind, *lines):
    ends = np.array(lines, np.float64).reshape(-1, 2, 2)
    canvas.lines(ends[:, 0], ends[:, 1], kind)


def test_a_cell_is_twice_as_high_as_wide():
    canvas = Canvas(5, 3)
    draw(canvas, EDGE, [(0, 0), (4.9, 4.9)])
    assert text_of(canvas) == ["⠑⢄   ", "  ⠑⢄ ", "    ⠑"]


def test_lines_are_cut_off_at_the_border():
    canvas, cut = Canvas(6, 3), Canvas(6, 3)
    draw(canvas, EDGE, [(0.25, 2.9), (5.75, 2.9)], [(2.25, 0.1), (2.25, 5.9)])
    draw(cut, EDGE, [(-1e6, 2.9), (1e6, 2.9)], [(2.25, 1e7), (2.25, -1e7)], [(-5, -1), (9, -1)], [(7, 0), (7, 6)])
    assert text_of(canvas) == text_of(cut) == ["  ⡇   ", "⠒⠒⡗⠒⠒⠒", "  ⡇   "]


def test_lit_lines_are_thicker_and_hide_faint_ones():
    canvas = Canvas(3, 1)
    draw(canvas, EDGE, [(1.25, 0), (1.25, 2)])
    draw(canvas, LIT_EDGE, [(0, 0.9), (1.9, 0.9)])
    assert text_of(canvas) == ["⠶⠶ "]
    assert kinds_of(canvas) == [[LIT_EDGE, LIT_EDGE, 0]]


def test_points_lie_on_their_lines():
    canvas = Canvas(5, 1)
    places = canvas.centred(np.array([[0.9, 1.9], [3.1, 0.2]]))
    canvas.lines(places[:1], places[1:], EDGE)
    canvas.points(places, VERTEX)
    assert text_of(canvas) == ["⠶⠒⠒⠶ "]
    canvas.points(places[:1], LIT_VERTEX)
    canvas.points(places, VERTEX)
    assert text_of(canvas) == ["●⠒⠒⠶ "]
    canvas.points(np.array([[-1.0, 0.0], [0.0, 2.0], [5.0, 0.0]]), LIT_VERTEX)
    assert text_of(canvas) == ["●⠒⠒⠶ "]


def test_lines_go_on_through_the_vertices_that_they_meet_in():
    canvas = Canvas(5, 3)
    (middle,) = canvas.centred(np.array([[2.0, 3.0]]))
    for kind, away in ((EDGE, (0, -9)), (WARM, (-9, 0)), (HOT, (9, 0)), (EDGE, (0, 9))):
        draw(canvas, kind, [middle, middle + np.array(away)])
    canvas.points(middle[None], VERTEX)
    assert text_of(canvas) == ["  ⡇  ", "⠒⠒⡷⠶⠶", "  ⡇  "]
    assert kinds_of(canvas)[1] == [WARM, WARM, HOT, HOT, HOT], "the colour of the hottest"
    draw(canvas, LIT_EDGE, [middle, middle + np.array([0, -9])])
    assert kinds_of(canvas)[1] == [WARM, WARM, LIT_EDGE, HOT, HOT]


def test_ascii_alone():
    canvas = Canvas(7, 3, ascii_only=True)
    draw(canvas, EDGE, [(0.5, 1), (6.5, 1)])
    draw(canvas, LIT_EDGE, [(0.5, 3), (6.5, 3)])
    canvas.points(np.array([[0.5, 1.0], [6.5, 1.0]]), VERTEX)
    canvas.points(np.array([[3.5, 3.0]]), LIT_VERTEX)
    assert text_of(canvas) == ["o.....o", "###@###", "       "]
    assert "".join(text_of(canvas)).isascii()


def test_labels_go_where_there_is_room():
    canvas = Canvas(9, 2)
    place = np.array([4.0, 0.5])
    canvas.points(place[None], LIT_VERTEX)
    assert canvas.label(place, "ab")
    assert canvas.label(place, "cd")
    assert canvas.label(place, "ef")
    assert not canvas.label(place, "gh")
    assert text_of(canvas) == ["  cd●ab  ", "   ef    "]
    assert not canvas.label(np.array([20.0, 0.5]), "ij")


def test_labels_cover_faint_lines_but_faint_ones_cover_nothing():
    lit = Canvas(4, 1)
    draw(lit, LIT_EDGE, [(0, 0.9), (3.9, 0.9)])
    assert not lit.label(np.array([0.0, 0.5]), "a")
    faint = Canvas(4, 1)
    draw(faint, EDGE, [(0, 0.9), (3.9, 0.9)])
    assert not faint.label(np.array([0.0, 0.5]), "a", FAINT_LABEL)
    assert faint.label(np.array([0.0, 0.5]), "a", LABEL)
    assert text_of(faint) == ["⠒a⠒⠒"]
