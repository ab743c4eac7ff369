"""Faces: cycles of a graph in the plane into which no edge leads."""

from __future__ import annotations

import json

import networkx as nx
import pytest
from chordless import Graph, OptionError, collect_cycles
from chordless.cli import main
from chordless.graphs.faces import Faces
from chordless.graphs.load import LoadedGraph


def drawn(edges, places):
    return LoadedGraph(Graph.from_edges(len(places), edges), "a city", dict(enumerate(places)))


def faces_of(loaded):
    """Return the vertices of each chordless cycle, and whether it is a face."""
    faces = Faces(loaded)
    cycles = collect_cycles(loaded.graph).lists()
    return {tuple(sorted(cycle)): faces.is_face(cycle) for cycle in cycles}


def test_the_squares_of_a_grid_are_its_faces():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5), label_attribute="place")
    loaded = drawn(list(graph.edges), [graph.nodes[v]["place"] for v in range(20)])
    told = faces_of(loaded)
    assert len(told) > 12
    assert {cycle for cycle, face in told.items() if face} == {cycle for cycle in told if len(cycle) == 4}


def test_a_dead_end_and_a_square_that_hangs_inside_leave_a_face():
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    corners = [(0, 0), (8, 0), (8, 8), (0, 8)]
    inside = [(0, 4), (1, 5), (5, 6), (6, 7), (7, 1)]
    loaded = drawn([*square, *inside], [*corners, (1, 1), (6, 1), (5, 3), (7, 4)])
    assert faces_of(loaded) == {(0, 1, 2, 3): True, (1, 5, 6, 7): True}
    through = drawn([*square, (0, 4), (4, 2)], [*corners, (4, 4)])
    assert faces_of(through) == {(0, 1, 2, 3): False, (0, 1, 2, 4): True, (0, 2, 3, 4): True}


def test_where_edges_cross_it_cannot_be_told():
    crossing = drawn([(0, 2), (2, 1), (1, 3), (3, 0), (3, 4), (4, 0)], [(0, 0), (2, 0), (2, 2), (0, 2), (-2, 1)])
    assert faces_of(crossing) == {(0, 1, 2, 3): None, (0, 3, 4): True}


def test_one_way_streets_have_faces_too():
    graph = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], directed=True)
    loaded = LoadedGraph(graph, "a city", {0: (0, 0), 1: (1, 0), 2: (1, 1), 3: (0, 1)})
    assert Faces(loaded).is_face([0, 1, 2, 3])


def test_a_map_of_all_cycles_tells_faces(tmp_path, capsys):
    city, cycles, output = tmp_path / "city.txt", tmp_path / "cycles.txt", tmp_path / "cycles.geojson"
    places = "".join(f"# xy {x}{y} {x} {y}\n" for x in range(3) for y in range(2))
    city.write_text(places + "00 01\n10 11\n20 21\n00 10\n10 20\n01 11\n11 21\n")
    assert main(["list", str(city), "-o", str(cycles), "-q"]) == 0
    assert main(["plot", str(cycles), "--graph", str(city), "--all", "-o", str(output)]) == 0
    told = [feature["properties"] for feature in json.loads(output.read_text())["features"]]
    # The way around both squares has a chord.
    assert [(cycle["length"], cycle["face"]) for cycle in told] == [(4, True), (4, True)]
    cycles.write_text("0 1 2 3\n")
    assert main(["plot", str(cycles), "--graph", "cycle:4", "--all", "-o", str(output)]) == 2
    assert "no coordinates for these vertices, which GeoJSON needs" in capsys.readouterr().err
    city.write_text(city.read_text() + "21 30\n")
    cycles.write_text("0 1 11 10\n")
    assert main(["plot", str(cycles), "--graph", str(city), "--all", "-o", str(output)]) == 2
    assert "no coordinates for all vertices, which faces need" in capsys.readouterr().err
    assert main(["plot", str(cycles), "--graph", "cycle:4", "--all", "-o", "all.svg"]) == 2
    assert main(["plot", str(cycles), "--all", "-o", "all.geojson"]) == 2
    assert main(["plot", str(tmp_path), "--all", "-o", "all.geojson"]) == 2
    assert f"make one with `chordless export {tmp_path} -o cycles.txt`" in capsys.readouterr().err


def test_a_graph_without_places_is_refused():
    with pytest.raises(OptionError, match="coordinates"):
        Faces(LoadedGraph(Graph.from_edges(3, [(0, 1), (1, 2), (2, 0)]), "nowhere"))
