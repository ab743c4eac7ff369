"""What is drawn: curves, bars, lines of the log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chordless.runs.state import LogLine, RunState
from chordless.tui.screens.compare import count_rows
from chordless.tui.widgets import chart as chart_module
from chordless.tui.widgets.chart import EvolutionChart, end_of_axis, series_of
from chordless.tui.widgets.event_log import EventLog
from chordless.tui.widgets.histogram import Histogram
from chordless.tui.widgets.plot import LOOKS, ON, Series, draw, short_count
from chordless.words.shown import bar
from textual.app import App

from tui.pilots import drive, text_of
from tui.stage import RUNNING
from tui.stage import Stage as RunStage

PATHS = {length: 10 ** min(length - 2, 60 - length) for length in range(3, 58)}
CYCLES = {length: 3 ** (length // 2) for length in range(4, 58, 2)}


def run_series(paths, cycles, waiting):
    """The curves of a run, before an area if anything waits."""
    area = (Series("waiting", "waiting", "paths that wait now", waiting),) if waiting else ()
    return (*area, *series_of(RunState(frontier_by_length=paths, cycles_by_length=cycles)))


LEAST_HUE = 0.2
TWO = run_series(PATHS, CYCLES, {})
FOUR = (*TWO, Series("other-paths", "paths B", "x", CYCLES), Series("other-cycles", "cycles B", "y", CYCLES))


def lines(series, width, height, **more):
    return ["".join(text for text, _ in row) for row in draw(series, width, height, **more)]


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_every_size_is_filled(log, ascii_only):
    some = [
        TWO,
        FOUR,
        run_series({}, {}, {}),
        run_series({3: 1}, {}, {3: 1}),
        run_series({3: 10**400}, {7: 1, 8: 0}, {5: 3, 6: 10**9}),
    ]
    for series in some:
        for width, height in [(150, 40), (80, 14), (40, 8), (39, 5), (21, 6), (19, 8), (3, 2), (1, 1)]:
            drawn = lines(series, width, height, log=log, ascii_only=ascii_only)
            assert [len(line) for line in drawn] == [width] * height
            assert not ascii_only or all(line.isascii() for line in drawn)
            parts = {part for row in draw(series, width, height, log=log) for _, part in row}
            assert {part.partition(ON)[0] for part in parts} <= {*LOOKS, "axis", "text"}


def test_points_lie_where_they_belong():
    series = run_series({}, {3: 1, 4: 10, 5: 100, 7: 10_000}, {})
    assert lines(series, 40, 8, ascii_only=True) == [
        "10k+                                   o",
        "   |                                    ",
        "100+                  o                 ",
        "   |         o                          ",
        "  1+o                                   ",
        "   ++--------+--------+-------+--------+",
        "    3        4        5       6        7",
        " ... paths T   o  cycles C     log scale",
    ]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_lines_break_where_there_is_nothing(ascii_only):
    """Barcelona's road network has cycles of up to 50 and of 79 and more vertices, none between them."""
    barcelona = dict.fromkeys((*range(3, 51), *range(79, 130)), 1000)
    [row] = [
        line for line in lines(run_series(barcelona, {}, {}), 135, 12, ascii_only=ascii_only)[:-5] if line[8:].strip()
    ]
    drawn = row[row.index("+" if ascii_only else "┤") + 1 :]
    left, right = round(len(drawn) * 48 / 126), round(len(drawn) * 75 / 126)
    assert not drawn[left : right - 1].strip()
    assert " " not in drawn[: left - 1] + drawn[right + 1 :]


def test_a_length_without_neighbours_is_seen():
    drawn = lines(run_series({}, {4: 1000, **dict.fromkeys(range(8, 31, 2), 1000)}, {}), 100, 12)
    [row] = [line for line in drawn if line.count("●") > 3]
    dots = row[row.index("┤") + 1 :]
    assert dots.startswith("●      "), "the grid has no chordless cycle of 6 vertices"
    assert " " not in dots[len(dots) * 4 // 26 :], "the other lengths, all even, are on one line"


@pytest.mark.parametrize("ascii_only", [False, True])
def test_markers_sit_on_their_line(ascii_only):
    """A line and the markers on it are drawn as two series, so that what the markers hide is seen."""
    slope = {length: length**5 for length in range(3, 40)}
    marked = lines(run_series({}, slope, {}), 90, 30, ascii_only=ascii_only)
    under = lines(run_series(slope, {}, {}), 90, 30, ascii_only=ascii_only)
    for above, below in zip(marked[:-4], under[:-4], strict=True):
        assert all(below[i] not in " " for i, letter in enumerate(above) if letter in "●o")


def test_what_waits_is_filled_under_the_curves():
    series = run_series({3: 10, 4: 100, 5: 1000}, {}, {4: 100})
    assert [line[4:] for line in lines(series, 40, 8, ascii_only=True)[:5]] == [
        "                         ...........",
        "         :::::............:         ",
        "    ...........::::::::::::         ",
        "....     ::::::::::::::::::         ",
        "         ::::::::::::::::::         ",
    ]
    parts = {part for row in draw(series, 40, 8) for _, part in row}
    assert {"waiting", "paths", "paths" + ON + "waiting"} <= parts
    # In ASCII a coloured cell would look like a fault.
    assert not any(ON in part for row in draw(series, 40, 8, ascii_only=True) for _, part in row)
    assert lines(run_series({3: 10}, {}, {}), 40, 8)[-1].startswith(" ⠒⠒⠒ paths T"), "nothing waits, nothing is named"


def test_the_axis_waits_for_the_frontier_to_arrive():
    state = RunState(phase="running", n=70)
    ends = [
        end_of_axis(replace(state, frontier_by_length={longest: 1})) for longest in (3, 8, 9, 13, 17, 25, 33, 49, 70)
    ]
    assert ends == [8, 8, 12, 16, 24, 32, 48, 64, 70]
    assert end_of_axis(replace(state, frontier_by_length={40: 1}, options={"max_length": 42})) == 42
    assert end_of_axis(replace(state, frontier_by_length={40: 1}, phase="finished")) == 40
    drawn = lines(run_series({}, {3: 10, 4: 10}, {}), 60, 8, longest=12)
    assert drawn[-2].rstrip().endswith("12")


@pytest.mark.parametrize(
    ("width", "last"),
    [
        (90, " 30 vertices:  waiting 9  paths T 13,371,234  cycles C 2,834,621"),
        (60, " 30 vertices:  waiting 9  paths T 13.37M  cycles C 2.835M"),
        (50, " 30:  waiting 9  T 13.37M  C 2.835M"),
    ],
)
def test_no_value_at_the_cursor_is_cut(width, last):
    series = run_series({3: 1, 30: 13_371_234, 40: 1}, {30: 2_834_621}, {30: 9})
    drawn = lines(series, width, 12, cursor=30)
    assert drawn[-1].rstrip() == last
    # It covers no legend.
    assert "paths T" in "".join(drawn[-4:-1])
    assert "cycles C" in "".join(drawn[-4:-1])
    assert len(drawn) == 12


def test_a_linear_scale_begins_at_nothing():
    drawn = lines(run_series({3: 100, 4: 1, 5: 50}, {}, {}), 40, 9, log=False, ascii_only=True)
    assert drawn[0].startswith("100+.")
    assert drawn[5].startswith("  0+")
    assert drawn[-1].endswith("linear scale")


def test_the_legend_explains_where_there_is_room():
    wide = lines(TWO, 80, 14)
    assert wide[-2].startswith(" ⠒⠒⠒ paths T: chordless paths looked at, by number of vertices ")
    assert wide[-1].startswith(" ⠒●⠒ cycles C: chordless cycles found, by length ")
    assert lines(TWO, 40, 8)[-1].split() == ["⠒⠒⠒", "paths", "T", "⠒●⠒", "cycles", "C", "log", "scale"]


def test_curves_are_told_apart_without_colour():
    for ascii_only in (False, True):
        marks = [(look.letter if ascii_only else look.marker, look.dashed, look.filled) for look in LOOKS.values()]
        assert len(set(marks)) == len(LOOKS)
    drawn = lines(FOUR, 100, 30)
    # The other run has the same cycles.
    assert sum(line.count("◉") for line in drawn[:-4]) == len(CYCLES)
    assert "◉ both" in drawn[-1]
    apart = (*TWO, Series("other-cycles", "cycles B", "y", {10: 10**9}))
    assert sum(line.count("○") for line in lines(apart, 100, 30)[:-3]) == 1


def test_markers_do_not_hide_a_curve_of_many_lengths():
    many = run_series({}, {length: 10 ** (length // 20) for length in range(3, 103)}, {})
    assert 5 <= sum(line.count("●") for line in lines(many, 60, 12)[:-2]) <= 11
    assert sum(line.count("o") for line in lines(many, 60, 12, ascii_only=True)[:-2]) > 40


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1"), (500, "500"), (1000, "1k"), (2500, "2.5k"), (10**7, "10M"), (10**15, "1P"), (10**18, "1e18")],
)
def test_counts_of_an_axis(count, text):
    assert short_count(count) == text


def test_an_axis_beyond_the_units_has_powers_of_ten_throughout():
    texts = [short_count(count, 2 * 10**18) for count in (0, 100, 10**3, 5 * 10**14, 15 * 10**17)]
    assert texts == ["0", "100", "1e3", "5e14", "1.5e18"]


def test_bars():
    assert [bar(share, 8, ascii_only=True) for share in (0, 1e-9, 0.5, 0.999, 1)] == ["", "#", "####", "#" * 7, "#" * 8]
    assert [bar(1e-9, 0, ascii_only=ascii_only) for ascii_only in (True, False)] == ["", ""]
    assert [bar(share, 4, ascii_only=False) for share in (0, 1e-9, 0.5, 0.999, 1)] == ["", "▏", "██", "███▉", "████"]


def test_differences_of_two_runs_are_marked():
    assert count_rows({4: 5, 6: 1000, 8: 0}, {4: 5, 6: 1, 10: 2000}) == [
        ("4", "5", "5", "="),
        ("6", "1,000", "1", "-999"),
        ("10", "0", "2,000", "+2,000"),
    ]


class Stage(App[None]):
    ascii_only = False

    def __init__(self, widget):
        super().__init__()
        self.widget = widget

    def compose(self):
        yield self.widget


def test_the_chart_is_drawn_only_when_something_has_changed(monkeypatch):
    drawings = []
    monkeypatch.setattr(chart_module, "draw", lambda *args, **kw: (drawings.append(kw), draw(*args, **kw))[1])
    widget = EvolutionChart()

    async def steps(pilot):
        widget.show(TWO)
        await pilot.pause()
        assert "cycles C" in text_of(pilot.app)
        drawn = len(drawings)
        widget.show(run_series(dict(PATHS), dict(CYCLES), {}))
        widget.refresh()
        await pilot.pause()
        assert len(drawings) == drawn
        widget.toggle_scale()
        await pilot.pause()
        assert len(drawings) == drawn + 1
        assert not widget._is_log
        assert "linear scale" in text_of(pilot.app)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert len(drawings) > drawn + 1

    drive(Stage(widget), (60, 20), steps)


def test_the_histogram_scrolls_below_its_heading():
    widget = Histogram()

    async def steps(pilot):
        assert "no cycles by length" in text_of(pilot.app)
        widget.show({length: 1000 * length for length in range(3, 103)})
        await pilot.pause()
        shown = text_of(pilot.app).splitlines()
        assert shown[0].split() == ["length", "cycles", "bars:", "log", "scale"]
        assert shown[9].split()[:2] == ["102", "102,000"]
        widget.focus()
        await pilot.press("home")
        await pilot.pause(0.5)
        assert text_of(pilot.app).splitlines()[1].split()[:2] == ["3", "3,000"]
        widget.focus()
        await pilot.press("end")
        await pilot.pause(0.5)
        shown = text_of(pilot.app).splitlines()
        assert shown[0].split() == ["length", "cycles", "bars:", "log", "scale"]
        assert shown[9].split()[:2] == ["102", "102,000"]
        assert shown[9].count("█") > 20

    drive(Stage(widget), (60, 10), steps)


def test_the_log_stays_at_its_end_unless_it_is_scrolled():
    widget = EventLog()

    def log(count):
        return tuple(LogLine(float(i), f"line {i}") for i in range(count))

    async def steps(pilot):
        widget.show(log(30))
        await pilot.pause()
        assert "line 29" in text_of(pilot.app)
        widget.scroll_to(y=3, animate=False)
        widget.show(log(40))
        await pilot.pause()
        assert text_of(pilot.app).splitlines()[0].split()[1:3] == ["line", "3"]
        widget.scroll_end(animate=False)
        widget.show((*log(40), LogLine(50.0, "\x1b[31mred\x1b[0m and \u754c " + "long " * 30)))
        await pilot.pause()
        shown = text_of(pilot.app)
        assert "red and 界 long" in shown
        assert "\x1b" not in shown
        assert shown.count("long") == 30

    drive(Stage(widget), (40, 10), steps)


def test_the_lengths_begin_where_most_cycles_are_and_their_bars_follow_the_scale():
    class Bars(App[None]):
        def compose(self):
            yield Histogram(id="bars")

    counts = {length: 10 ** (9 - abs(length - 20)) for length in range(12, 29)}
    app = Bars()

    async def steps(pilot):
        bars = app.query_one(Histogram)
        bars.show(counts)
        await pilot.pause()
        shown = [bars.render_line(y).text for y in range(1, bars.size.height)]
        assert shown[len(shown) // 2].split()[0] in ("19", "20", "21")
        wide = shown[0].count("█")
        bars.toggle_scale()
        assert bars.render_line(1).text.count("█") < wide
        bars.action_move(-1)
        await pilot.pause()
        bars.show({**counts, 29: 1})
        await pilot.pause()
        assert bars.render_line(1).text.split()[0] == "12"

    drive(app, (60, 8), steps)


def test_paths_and_cycles_differ_in_hue_in_every_theme():
    def hue(app, part):
        return app.screen.query_one(EvolutionChart).get_component_styles(f"chart--{part}").color.hsl.h

    async def steps(pilot):
        app, close = pilot.app, []
        for theme in sorted(set(app.available_themes) - {"ansi-dark", "ansi-light", "textual-ansi"}):
            app.theme = theme
            await pilot.pause()
            apart = abs(hue(app, "paths") - hue(app, "cycles"))
            close += [(theme, apart)] if min(apart, 1 - apart) < LEAST_HUE else []
        return close

    assert drive(RunStage(RUNNING), (80, 24), steps) == []
