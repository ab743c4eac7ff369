"""The drawing of a graph: what is in view, and how much detail there is."""

from __future__ import annotations

import re

import numpy as np
import pytest
from chordless.graphs.drawing import layout_of
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.tui.widgets import graph_view
from chordless.tui.widgets.graph_view import GraphView
from textual.app import App

from kernels_ti import Graph
from tui.pilots import drive, text_of

ROADS = load_graph("grid:30x40").graph
SQUARE = np.array([41, 42, 82, 81])
"""A cycle near a corner, far from the middle of the drawing."""
RIM = np.array(
    [*range(40), *range(79, 1200, 40), *range(1198, 1159, -1), *range(1120, 0, -40)],
)
"""The rim of the grid, whose middle is empty."""


class Stage(App[None]):
    ascii_only = False

    def __init__(self, graph=ROADS, title="grid:30x40"):
        super().__init__()
        self.view = GraphView()
        self.graph, self.layout_shown = graph, layout_of(LoadedGraph(graph, title))

    def compose(self):
        yield self.view

    def on_mount(self):
        self.view.show_graph(self.graph, self.layout_shown)


def played(cycle, steps, size=(60, 20), **graph):
    app = Stage(**graph)

    async def run(pilot):
        app.view.light(cycle)
        await pilot.pause()
        result = await steps(pilot, app.view)
        return result

    return drive(app, size, run)


@pytest.mark.parametrize("cycle", [SQUARE, RIM], ids=["small", "around an empty middle"])
def test_zoom_goes_to_the_cycle_and_never_to_a_blank_pane(cycle):
    async def steps(pilot, view):
        for step in range(20):
            view.zoom(1)
            await pilot.pause()
            # A very small cycle is a spot at first.
            assert step < 5 or "●" in text_of(pilot.app)
        for _ in range(30):
            view.pan_by_share(1, 1)
        await pilot.pause()
        assert any(character >= "\u2800" or character == "●" for character in text_of(pilot.app).replace("\n", ""))

    played(cycle, steps)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("members", "lit"),
    [(range(12), 12), (range(11), 10), ((3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2), 12)],
    ids=["a ring", "a path", "a ring from elsewhere"],
)
def test_a_ring_is_closed_and_a_path_is_not(monkeypatch, members, lit, alone):
    drawn, lines = [], graph_view.Canvas.lines

    def noted(canvas, start, end, kind):
        drawn.append((kind, len(start)))
        lines(canvas, start, end, kind)

    monkeypatch.setattr(graph_view.Canvas, "lines", noted)

    async def steps(pilot, view):
        drawn.clear()
        view.thing = "path" if lit < len(members) else "cycle"
        view.set_alone(alone)
        await pilot.pause()

    # Vertex 12 hangs on vertex 0, so that the places on the ring are not the vertices of the graph.
    edges = [(0, 12), *((v, (v + 1) % 12) for v in range(12))]
    graph = Graph.from_edges(13, [(12 - u, 12 - v) for u, v in edges])
    played(12 - np.array(members), steps, graph=graph, title="cycle:12")
    assert (graph_view.LIT_EDGE, lit) in drawn


def test_another_cycle_comes_into_view():
    async def steps(pilot, view):
        for _ in range(14):
            view.zoom(1)
        view.light(np.array([1150, 1151, 1191, 1190]))
        await pilot.pause()
        assert "●" in text_of(pilot.app)
        assert any(ROADS.names[v] in text_of(pilot.app) for v in (1150, 1151, 1190, 1191))

    played(SQUARE, steps)


def test_nothing_is_lit_until_a_graph_is_shown():
    async def steps(pilot, view):
        view.zoom(1)
        view.clear()
        # A cycle of the next graph is found before that graph is drawn.
        view.light(SQUARE)
        view.zoom(1)
        view.pan(1, 1)
        await pilot.pause()
        assert not text_of(pilot.app).strip()
        view.show_graph(ROADS, layout_of(LoadedGraph(ROADS, "grid:30x40")))
        await pilot.pause()
        assert text_of(pilot.app).strip()

    played(np.arange(4), steps, graph=load_graph("cycle:4").graph, title="cycle:4")


def test_there_are_as_many_details_as_there_is_room_for():
    async def steps(pilot, view):
        whole = text_of(pilot.app)
        assert "⡷" not in whole, "1,200 dots would hide the streets"
        assert "●" not in whole
        for _ in range(10):
            view.zoom(1)
        await pilot.pause()
        near = text_of(pilot.app)
        assert near.count("⡷") > 3
        assert near.count("●") == 4
        assert all(ROADS.names[v] in near for v in SQUARE.tolist())

    played(SQUARE, steps)


def test_names_without_room_are_told_of():
    ring = load_graph("cycle:90").graph

    async def steps(pilot, view):
        view.set_alone(True)
        await pilot.pause()
        few = text_of(pilot.app).splitlines()[-1]
        assert few.split(" ", 1)[1].strip() == "of the cycle's 90 names have no room: zoom in"
        assert 0 < int(few.split()[0]) < 90
        for _ in range(9):
            view.zoom(1)
        await pilot.pause()
        near = text_of(pilot.app)
        assert "no room" not in near
        assert near.count("●") == len(re.findall(r"\d+", near)) >= 1

    played(np.arange(90), steps, size=(60, 20), graph=ring, title="ring")


@pytest.mark.parametrize("width", [60, 100])
def test_a_ring_leaves_room_for_long_names_beside_it(width):
    names = ["13.40,52.50", "13.40,52.51", "13.41,52.51", "13.41,52.50"]
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names=names)

    async def steps(pilot, view):
        view.set_alone(True)
        await pilot.pause()
        shown = text_of(pilot.app)
        assert all(name in shown for name in names)
        assert "no room" not in shown

    # A pane higher than wide: the width bounds the ring.
    played(np.arange(4), steps, size=(width, width), graph=square, title="square")


def test_the_vertices_of_the_cycle_leave_no_gap_in_a_browser(monkeypatch):
    async def steps(pilot, view):
        shown = text_of(pilot.app)
        monkeypatch.setattr(Stage, "is_web", True)
        view.draw_again()
        await pilot.pause()
        assert text_of(pilot.app) == shown.replace("●", "█") != shown

    played(np.arange(4), steps, graph=load_graph("cycle:4").graph, title="cycle:4")


@pytest.mark.parametrize(("thing", "are_named"), [("cycle", False), ("path", True)])
def test_the_names_of_the_ends_to_choose_are_seen_before_a_path_is_lit(thing, are_named):
    async def steps(pilot, view):
        view.thing = thing
        view.draw_again()
        await pilot.pause()
        assert ("5,5" in text_of(pilot.app)) == are_named

    played(np.empty(0, np.int64), steps, size=(60, 30), graph=load_graph("grid:6x6").graph, title="grid:6x6")


@pytest.mark.parametrize(("width", "heading"), [(80, "cycles that pass an edge: "), (58, "cycles: "), (45, "")])
def test_the_legend_of_a_heat_map_has_all_kinds_of_lines_in_a_narrow_pane(width, heading):
    graph = load_graph("ladder:9").graph

    async def steps(pilot, view):
        view.warm(np.linspace(0, 1, len(graph.pairs())))
        await pilot.pause()
        legend = text_of(pilot.app).splitlines()[-1].strip()
        assert legend.startswith(heading + "⠒⠒ to 25%")
        assert legend.endswith("⠶⠶ to 100%")

    played(np.arange(4), steps, size=(width, 20), graph=graph, title="ladder:9")


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_heat_map_shows_four_kinds_of_edges_without_colour_too(ascii_only):
    graph = load_graph("ladder:9").graph
    shares = np.linspace(0, 0.8, len(graph.pairs()))

    async def steps(pilot, view):
        pilot.app.ascii_only = ascii_only
        view.warm(shares)
        await pilot.pause()
        hot = text_of(pilot.app)
        legend = hot.splitlines()[-1]
        assert [f"to {share}%" in legend for share in (20, 40, 60, 80)] == [True] * 4
        assert "#" in hot or not ascii_only
        assert view.is_warm
        view.warm(None)
        await pilot.pause()
        return hot, text_of(pilot.app)

    hot, cold = played(np.arange(4), steps, size=(90, 20), graph=graph, title="ladder:9")
    drawn = {character for line in hot.splitlines()[:-1] for character in line}
    assert not ascii_only or {*"-+*#"} <= drawn
    assert "cycles that pass an edge" in hot
    assert "cycles that pass an edge" not in cold
