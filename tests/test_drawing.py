"""Where vertices are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chordless.graphs.drawing import LARGEST_DRAWN, can_be_drawn, layout_of
from chordless.graphs.load import LoadedGraph, load_graph

from kernels_ti import Graph, OptionError


def edge_lengths(loaded, places):
    u, v = loaded.graph.edges().T
    return np.linalg.norm(places[u] - places[v], axis=1)


def test_a_grid_is_drawn_as_one():
    places = layout_of(load_graph("grid:3x4"))
    assert places[0].tolist() == [0, 0]
    assert places[5].tolist() == [1, -1]
    # Another graph of that title is not.
    other = LoadedGraph(load_graph("cycle:12").graph, "grid:3x4")
    assert edge_lengths(other, layout_of(other)).std() < 1e-3


def test_places_of_the_file_are_taken_if_each_vertex_has_one():
    loaded = load_graph("grid:2x2")
    positions = {v: (float(v), float(v * v)) for v in range(4)}
    placed = replace(loaded, positions=positions)
    assert layout_of(placed).tolist() == [list(positions[v]) for v in range(4)]
    for bad in ({0: (1.0, 2.0)}, dict.fromkeys(range(4), (1.0, 1.0)), {**positions, 2: (float("nan"), 0.0)}):
        assert np.array_equal(layout_of(replace(loaded, positions=bad)), layout_of(loaded))


@pytest.mark.parametrize("graph", ["cycle:12", "complete:9"])
def test_cycles_and_complete_graphs_are_circles(graph):
    places = layout_of(load_graph(graph))
    radius = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert np.ptp(radius) < 0.02 * radius.mean()
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 10 * np.eye(len(places))
    assert apart.min() > 0.3 * radius.mean()


def test_distances_are_those_of_the_graph():
    places = layout_of(load_graph("path:9"))
    assert np.allclose(np.abs(np.diff(places[:, 0])), 1, atol=0.02)
    ladder = load_graph("ladder:12")
    assert np.allclose(edge_lengths(ladder, layout_of(ladder)), 1, atol=0.25)


@pytest.mark.parametrize("graph", ["karate", "gnp:60,0.1,1", "hypercube:4", "bipartite:3x9", "path:1", "path:2"])
def test_a_drawing_is_the_same_each_time_and_keeps_vertices_apart(graph):
    loaded = load_graph(graph)
    places = layout_of(loaded)
    assert np.isfinite(places).all()
    assert np.array_equal(places, layout_of(loaded))
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 10 * np.eye(len(places))
    assert apart.min() > 0.05


@pytest.mark.parametrize("graph", ["octahedral", "heawood", "bipartite:2x5", "johnson:4,2", "paley:13", "torus:5x6"])
def test_no_edge_leads_through_a_vertex_that_is_not_its_own(graph):
    loaded = load_graph(graph)
    places = layout_of(loaded)
    for u, v in loaded.graph.edges().tolist():
        for x in set(range(loaded.graph.n)) - {u, v}:
            way = np.linalg.norm(places[u] - places[x]) + np.linalg.norm(places[x] - places[v])
            assert way > np.linalg.norm(places[u] - places[v]) + 1e-3


def test_components_lie_side_by_side():
    squares = [(8 * i + j, 8 * i + (j + 1) % 8) for i in range(3) for j in range(8)]
    loaded = LoadedGraph(Graph.from_edges(26, squares), "squares")
    places = layout_of(loaded)
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in [*np.split(places[:24], 3), places[24:25], places[25:]]]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (high < other_low - 0.5).any() or (other_high < low - 0.5).any()


def test_vertices_without_an_edge_take_one_line():
    squares = LoadedGraph(Graph.from_edges(200, [(0, 1), (1, 2), (2, 3), (3, 0)]), "square")
    places = layout_of(squares)
    width, height = np.ptp(places, axis=0)
    assert max(width, height) < 3, "the square is still seen"
    assert len({tuple(place) for place in places.tolist()}) == 200
    assert places[4:, 1].max() < places[:4, 1].min()
    assert np.isfinite(layout_of(LoadedGraph(Graph.from_edges(5, []), "no edge"))).all()


def test_a_large_graph_is_laid_out_by_its_distances():
    """A grid of 30 by 40 without its name, as large as a road network: near vertices are near in the drawing."""
    loaded = LoadedGraph(load_graph("grid:30x40").graph, "roads")
    places = layout_of(loaded)
    assert np.array_equal(places, layout_of(loaded))
    lengths = edge_lengths(loaded, places)
    assert 0.6 < np.median(lengths) < 1.4
    assert lengths.max() < 3
    corners = places[[0, 39, 1160, 1199]]
    apart = np.linalg.norm(corners[:, None] - corners, axis=2)
    assert apart[~np.eye(4, dtype=bool)].min() > 15, "it is not folded"


def test_too_large_a_graph_is_refused():
    loaded = load_graph(f"path:{LARGEST_DRAWN + 1}")
    assert not can_be_drawn(loaded)
    with pytest.raises(OptionError, match="20,001 vertices and 20,000 edges is too large to draw; the most are 20,000"):
        layout_of(loaded)
    assert not can_be_drawn(load_graph("complete:700"))
    assert can_be_drawn(load_graph("grid:40x40"))
    assert not can_be_drawn(LoadedGraph(Graph.from_edges(0, []), "empty"))
