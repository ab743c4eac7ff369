"""The Cycles screen: browsing, sorting, filtering, drawing, and runs that go on meanwhile."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import chordless.tui
import numpy as np
import pytest
from chordless.cycles.browse import FoundCycle
from chordless.cycles.index import CycleFilter
from chordless.cycles.read import part_path
from chordless.cycles.write import RowFile
from chordless.graphs.drawing import layout_of
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created, reopened
from chordless.runs.state import RunState
from chordless.tui.app import ChordlessApp
from chordless.tui.messages import RunChanged
from chordless.tui.screens.cycles import CyclesScreen
from chordless.tui.settings import Settings
from chordless.tui.widgets.cycle_table import CycleTable
from chordless.tui.widgets.graph_view import GraphView
from patience import PATIENCE
from test_export import make_run
from test_order import rows_of
from textual.app import App
from textual.geometry import Offset, Size
from textual.widgets import Input

from kernels_ti.reference.algorithm import chordless_cycles
from tui.pilots import LARGE, SMALL, drive, text_of, until

GRID = load_graph("grid:5x6")
CYCLES = list(chordless_cycles(GRID.graph))
NO_HEAT = "A heat map needs the drawing of the whole graph."
NOT_YET_DRAWN = "The graph is still being drawn. A heat map can be had when it is there."
LONGEST = max(range(len(CYCLES)), key=lambda i: (len(CYCLES[i]), -i))


@pytest.fixture
def path(tmp_path):
    make_run(tmp_path / "run", GRID.graph, title="grid:5x6", part_bytes=1000)
    return tmp_path / "run"


class CyclesApp(App[None]):
    """The dashboard with this one screen."""

    CSS_PATH = Path(chordless.tui.__file__).parent / ChordlessApp.CSS_PATH
    HORIZONTAL_BREAKPOINTS = ChordlessApp.HORIZONTAL_BREAKPOINTS
    run_state = None

    def __init__(self, ascii_only=False):
        super().__init__()
        self.ascii_only = ascii_only

    def get_default_screen(self):
        self.set_class(self.ascii_only, "-ascii")
        return CyclesScreen()


def browse(path, steps, *, size=SMALL, ascii_only=False):
    """Open the cycles of a run directory in the dashboard, then take `steps`."""
    app = CyclesApp(ascii_only)

    async def opened(pilot):
        app.screen.show_directory(path)
        await until(pilot, lambda: app.screen._run is not None and not app.screen.query_one(GraphView)._caption)
        await pilot.pause()
        return await steps(pilot, app.screen)

    return drive(app, size, opened)


async def press(pilot, *keys):
    screen = pilot.app.screen
    await pilot.press(*keys)
    await until(pilot, lambda: not getattr(screen, "_work", ""))
    await pilot.pause()


def names_of(cycle):
    return " ".join(str(GRID.graph.names[v]) for v in cycle)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_the_longest_cycle_is_found_and_drawn(path, size):
    async def steps(pilot, screen):
        assert f"{len(CYCLES)} cycles · order: as found" in text_of(pilot.app)
        await press(pilot, "o")
        assert screen.query_one(CycleTable).chosen.position == LONGEST
        lines = text_of(pilot.app).splitlines()
        assert "longest first" in lines[1]
        assert lines[3].split()[:3] == ["▶", str(LONGEST + 1), str(len(CYCLES[LONGEST]))]
        drawn = sum(line.count("●") for line in lines)
        assert drawn == len(CYCLES[LONGEST])
        await press(pilot, "o")
        assert len(CYCLES[screen.query_one(CycleTable).chosen.position]) == 4
        await press(pilot, "o")
        assert screen.query_one(CycleTable).chosen.position == 0

    browse(path, steps, size=size)


def test_a_heat_map_follows_the_filter_and_goes_away(path):
    async def steps(pilot, screen):
        view = screen.query_one(GraphView)
        await pilot.press("h")
        await until(pilot, lambda: view.is_warm)
        assert f"edges in the most of {len(CYCLES):,} cycles" in text_of(pilot.app)
        screen.show_only(CycleFilter(4, 4))
        squares = sum(len(cycle) == 4 for cycle in CYCLES)
        await until(pilot, lambda: f"edges in the most of {squares:,} cycles" in text_of(pilot.app))
        await pilot.press("down")
        await pilot.pause()
        assert "edges in the most" in text_of(pilot.app)
        await pilot.press("h")
        await pilot.pause()
        assert not view.is_warm
        assert "length 4:" in text_of(pilot.app)

    browse(path, steps, size=LARGE)


def test_no_cycles_have_no_heat_map(path):
    async def steps(pilot, screen):
        screen.show_only(CycleFilter(3, 3))
        await until(pilot, lambda: not len(screen.index))
        await pilot.press("h")
        notes = [note.message for note in pilot.app._notifications]
        assert notes == ["Nothing is shown here to draw a heat map of."]

    browse(path, steps)


def test_a_heat_map_before_the_drawing_is_there_says_so(path, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(
        "chordless.tui.screens.cycles.layout_of", lambda loaded: go_on.wait(PATIENCE) and layout_of(loaded)
    )
    app = CyclesApp()

    async def steps(pilot):
        app.screen.show_directory(path)
        await until(pilot, lambda: len(app.screen.index) > 0)
        await pilot.press("h")
        await until(pilot, lambda: app._notifications)
        assert [note.message for note in app._notifications] == [NOT_YET_DRAWN]
        go_on.set()
        await until(pilot, lambda: not app.screen.query_one(GraphView).is_alone)
        await pilot.press("h")
        await until(pilot, lambda: "cycles that pass an edge" in text_of(app))

    drive(app, SMALL, steps)


def test_a_cycle_alone_has_no_heat_map(path):
    async def steps(pilot, screen):
        await pilot.press("a", "h")
        await until(pilot, lambda: [note.message for note in pilot.app._notifications] == [NO_HEAT])
        assert screen._heat_of is None

    browse(path, steps)


def test_keys_and_mouse_move_the_cursor(path):
    async def steps(pilot, screen):
        table = screen.query_one(CycleTable)
        page = table._page_height
        for keys, line in (
            (["down", "down", "up"], 1),
            (["pagedown"], page),
            (["pageup"], 1),
            (["end"], len(CYCLES) - 1),
            (["down"], len(CYCLES) - 1),
            (["home"], 0),
            (["up"], 0),
        ):
            await press(pilot, *keys)
            assert table.cursor == line
            assert table.scroll_offset.y <= line < table.scroll_offset.y + page
        await pilot.click(CycleTable, offset=(20, 4))
        assert table.cursor == 3
        assert table.chosen.vertices.tolist() == CYCLES[3]
        # A click on the heading sorts.
        await pilot.click(CycleTable, offset=(20, 0))
        await until(pilot, lambda: table.chosen.position == LONGEST)

    browse(path, steps)


@pytest.mark.slow
def test_go_to_a_number(path):
    async def steps(pilot, screen):
        await pilot.press("colon", *"7000")
        assert f"there are cycles 1 to {len(CYCLES)}" in text_of(pilot.app)
        await pilot.press("enter")
        assert pilot.app.screen is not screen
        await pilot.press(*["backspace"] * 4, *"700", "enter")
        await pilot.pause()
        assert pilot.app.screen is screen
        assert screen.query_one(CycleTable).cursor == 699
        await press(pilot, "o")
        await pilot.press("colon", *"12", "enter")
        await pilot.pause()
        assert screen.query_one(CycleTable).chosen.position == 11
        await pilot.press("colon", "escape")
        await pilot.pause()
        assert pilot.app.screen is screen

    browse(path, steps)


def test_filter_by_lengths_and_vertices(path):
    wanted = [i for i, cycle in enumerate(CYCLES) if 8 <= len(cycle) <= 12 and {0, 8} <= set(cycle)]
    assert len(wanted) > 2
    others = [i for i, cycle in enumerate(CYCLES) if 8 <= len(cycle) <= 12]

    async def steps(pilot, screen):
        await pilot.press("slash", *"8-1", "tab", *"0,9")
        await pilot.pause()
        shown = " ".join(text_of(pilot.app).split())
        assert "8 is more than 1" in shown
        assert "there is no vertex '0,9'" in shown
        await pilot.press("enter")
        assert pilot.app.screen is not screen
        pilot.app.screen.query_one("#lengths", Input).value = "8-12"
        pilot.app.screen.query_one("#through", Input).value = "0,0 1,2"
        await pilot.press("enter")
        await until(pilot, lambda: len(screen.index) == len(wanted))
        assert screen.index.window(0, 1000).tolist() == wanted
        words = f"{len(wanted)} of {len(CYCLES)} cycles · length 8-12 · through 0,0 1,2 · order: as found"
        assert words in text_of(pilot.app)
        # A cycle that is hidden cannot be gone to.
        await pilot.press("colon", "1", "enter")
        await pilot.pause()
        assert "filter hides it" in next(iter(pilot.app._notifications)).message
        await press(pilot, "o")
        assert len(CYCLES[screen.query_one(CycleTable).chosen.position]) == max(len(CYCLES[i]) for i in wanted)
        await pilot.press("slash", "tab", *["backspace"] * 7, "enter")
        await until(pilot, lambda: len(screen.index) == len(others))
        chosen = screen.query_one(CycleTable).chosen.position
        await press(pilot, "escape")
        assert len(screen.index) == len(CYCLES)
        assert screen.query_one(CycleTable).chosen.position == chosen
        await pilot.press("slash")
        await pilot.click("#other")
        assert pilot.app.screen is screen

    browse(path, steps)


def test_copy(path):
    async def steps(pilot, screen):
        await press(pilot, "down", "c")
        assert pilot.app.clipboard == names_of(CYCLES[1])
        assert next(iter(pilot.app._notifications)).title == "Cycle 2 copied"

    browse(path, steps)


@pytest.mark.slow
def test_move_about_in_the_drawing(path):
    async def steps(pilot, screen):
        view = screen.query_one(GraphView)

        def picture():
            return [strip.text for strip in view.drawn(*view.size)]

        whole = picture()
        await press(pilot, "plus", "plus")
        larger = picture()
        assert larger != whole
        await press(pilot, "shift+right", "shift+down")
        assert picture() not in (whole, larger)
        await press(pilot, "shift+left", "shift+up")
        assert picture() == larger
        await press(pilot, "minus", "minus")
        assert view._zoom == pytest.approx(1)
        await press(pilot, "plus", "0")
        assert picture() == whole
        lit = next((x, y) for y, line in enumerate(whole) for x, glyph in enumerate(line) if glyph == "●")
        view.zoom(4, Offset(*lit))
        x, y = lit
        assert "●" in "".join(line[x - 1 : x + 2] for line in picture()[y - 1 : y + 2])
        view.zoom(-4, Offset(*lit))
        assert view._zoom == pytest.approx(1)
        await press(pilot, "0")
        await pilot.mouse_down(GraphView, offset=(20, 5))
        await pilot.hover(GraphView, offset=(26, 7))
        await pilot.mouse_up(GraphView, offset=(26, 7))
        assert [line[6:] for line in picture()[2:]] == [line[:-6] for line in whole[:-2]]
        await press(pilot, "0", "a")
        assert sum(line.count("●") for line in picture()) == len(CYCLES[0])
        assert not any("⡷" in line for line in picture())
        await press(pilot, "a")
        assert picture() == whole
        await press(pilot, "p")
        assert not view.parent.display
        assert screen.query_one(CycleTable).size.height > 15

    browse(path, steps)


def test_ascii_alone(path):
    async def steps(pilot, screen):
        await press(pilot, "o", "end", "a")
        for widget in (
            screen.query_one("#cycles-status"),
            screen.query_one(CycleTable),
            screen.query_one(GraphView),
            screen.query_one("#cycles-detail"),
        ):
            lines = [widget.render_line(y).text for y in range(widget.size.height)]
            assert any(line.strip() for line in lines)
            assert "".join(lines).isascii(), lines

    browse(path, steps, size=LARGE, ascii_only=True)


def test_a_run_that_goes_on(path):
    part = part_path(path / "cycles", len(os.listdir(path / "cycles")) - 1)

    async def steps(pilot, screen):
        await press(pilot, "o", "down")
        chosen = screen.query_one(CycleTable).chosen.position
        with reopened(path):
            screen.look()
            await until(pilot, lambda: "so far" in text_of(pilot.app))
            file = RowFile(part, 1, position={"rows": len(np.load(part))})
            longest_again = rows_of([CYCLES[LONGEST]] * 3, GRID.graph.n)
            file.append(longest_again)
            screen.look()
            await until(pilot, lambda: len(screen.index) == len(CYCLES) + 3)
            assert screen.index.line_of(len(CYCLES), len(CYCLES[LONGEST])) is not None
            assert screen.query_one(CycleTable).chosen.position == chosen
            await press(pilot, "o", "o")
            file.append(longest_again)
            screen.look()
            await until(pilot, lambda: len(screen.index) == len(CYCLES) + 6)
            file.close()
        screen.look()
        # What no checkpoint vouches for is not shown of a run that nobody is at work on.
        await until(pilot, lambda: len(screen.index) == len(CYCLES))
        assert "so far" not in text_of(pilot.app)

    browse(path, steps)


def test_nothing_to_browse(tmp_path):
    counted = RunCommand(graph="grid:5x6", program_start=0.0, output=None)
    app = ChordlessApp(Settings())

    async def steps(pilot):
        app.show("cycles")
        await pilot.pause()
        assert "No cycles to browse yet" in text_of(app)
        await pilot.press("o", "slash", "colon", "c", "plus", "0", "a", "end")
        await pilot.pause()
        with created(tmp_path / "run", counted, GRID):
            app.screen.post_message(RunChanged(RunState(phase="running", directory=str(tmp_path / "run"))))
            await until(pilot, lambda: "This run keeps no cycles" in text_of(app))
        app.screen.show_directory(tmp_path / "nowhere")
        await until(pilot, lambda: "no such folder" in text_of(app))

    drive(app, SMALL, steps)


def test_a_list_without_cycles_says_why(tmp_path):
    command = RunCommand(graph="grid:5x6", program_start=0.0, output="run", output_format="parts")
    state = RunState(phase="running", directory=str(tmp_path / "run"), options={"output_format": "parts"})
    app = ChordlessApp(Settings())

    async def steps(pilot):
        app.show("cycles")
        await until(pilot, lambda: "No cycles to browse yet" in text_of(app))
        with created(tmp_path / "run", command, GRID):
            for told, words in (
                (replace(state, compiling=True), "Compiling, once: the cycles come here as they are found."),
                (state, "Running: the cycles come here as they are found."),
                (replace(state, phase="finished", reason="complete"), "This run found no cycles."),
                (replace(state, phase="lost"), "This run has no cycle to show: it ended too early."),
            ):
                app.screen.post_message(RunChanged(told))
                await until(pilot, lambda words=words: words in text_of(app))

    drive(app, SMALL, steps)


def test_a_filter_that_lets_nothing_through_is_named_in_the_table(path):
    async def steps(pilot, screen):
        screen.show_only(CycleFilter(29, 29))
        await until(pilot, lambda: "The filter lets no cycle through." in text_of(pilot.app))
        screen.show_only(CycleFilter())
        await until(pilot, lambda: "The filter" not in text_of(pilot.app))

    browse(path, steps)


@pytest.mark.slow
def test_too_large_a_graph_is_drawn_as_the_cycle_alone(tmp_path):
    make_run(tmp_path / "run", load_graph("cycle:20001").graph)

    async def steps(pilot):
        app.screen.show_directory(tmp_path / "run")
        await until(pilot, lambda: "20,001 vertices are too many to draw" in text_of(app))
        assert app.screen.query_one(GraphView).is_alone
        assert text_of(app).count("●") > 20

    app = CyclesApp()
    drive(app, SMALL, steps)


class FiftyMillion:
    """Lines that are made when they are asked for, and remember how many were."""

    def __init__(self):
        self.made = 0

    def __len__(self):
        return 50_000_000

    def read(self, start, stop):
        self.made += stop - start
        return [FoundCycle(line, np.array([line % 3, 3, 4])) for line in range(start, min(stop, len(self)))]


class TableApp(App[None]):
    def compose(self):
        yield CycleTable()


def test_fifty_million_lines_are_scrolled_exactly():
    app = TableApp()

    async def steps(pilot):
        table, lines = app.query_one(CycleTable), FiftyMillion()
        table.set_names(["north pole", "b", "c", "d", "e"])
        table.show(lines, cursor=0)
        table.focus()
        await pilot.pause()
        assert table.virtual_size == Size(80, 50_000_001)
        for line in (49_999_999, 33_333_333, 16_777_217, 12_345_678):
            table.go_to_line(line)
            await pilot.pause()
            (shown,) = [text for text in text_of(app).splitlines() if text.startswith("▶")]
            assert shown.split()[1:3] == [f"{line + 1:,}", "3"]
            await pilot.press("up", "down")
            assert table.cursor == line
        table.go_to_line(33_333_333)
        await pilot.pause()
        assert "north pole, d, e" in text_of(app)
        assert lines.made < 1000

    drive(app, SMALL, steps)
