"""Road networks as planners have them: GraphML and JSON with coordinates and lengths, tables, TNTP, GeoJSON."""

from __future__ import annotations

import json
import math
import re

import networkx as nx
import pytest
from chordless import GraphError
from chordless.cli import main
from chordless.graphs.load import load_graph
from program import chordless

# A ring of four crossings with a diagonal street, and a longer ring of five.
PLACES = {"a": (0.0, 0.0), "b": (3.0, 0.0), "c": (3.0, 4.0), "d": (0.0, 4.0), "e": (6.0, 8.0), "f": (9.0, 4.0)}
STREETS = {"ab": 3.5, "bc": 4.0, "cd": 3.0, "da": 4.25, "ce": 5.0, "ef": 5.0, "fb": 7.25, "cf": 6.125}
LIGHTEST = (["a", "b", "c", "d"], 14.75)


def city(crs: str | None = None) -> nx.MultiDiGraph:
    """Return the streets as OSMnx has them: an arc each way, all values of edges and vertices as text."""
    graph = nx.MultiDiGraph(**({} if crs is None else {"crs": crs}))
    for name, (x, y) in PLACES.items():
        graph.add_node(name, x=str(x), y=str(y))
    for (u, v), metres in STREETS.items():
        graph.add_edge(u, v, length=str(metres), highway="residential")
        graph.add_edge(v, u, length=str(metres), highway="residential")
    return graph


def as_table(separator: str = ",") -> str:
    rows = [("u", "v", "key", "length", "geometry")]
    rows += [(u, v, "0", str(metres), f'"LINESTRING (0 0{separator} 1 1)"') for (u, v), metres in STREETS.items()]
    return "".join(separator.join(row) + "\n" for row in rows)


def as_tntp() -> str:
    rows = "".join(f"\t{u}\t{v}\t100\t{metres}\t;\n" for (u, v), metres in STREETS.items())
    return f"<NUMBER OF NODES> 6\n<END OF METADATA>\n\n\n~ \tInit node \tTerm node \tCapacity \tLength \t;\n{rows}"


def as_geojson() -> str:
    lines = [
        {
            "type": "Feature",
            "properties": {"u": u, "v": v, "length": metres},
            "geometry": {"type": "LineString", "coordinates": [PLACES[u], (1.0, 1.0), PLACES[v]]},
        }
        for (u, v), metres in STREETS.items()
    ]
    return json.dumps({"type": "FeatureCollection", "features": lines})


FILES = {
    "city.graphml": lambda: "\n".join(nx.generate_graphml(city())),
    "city.gml": lambda: "\n".join(nx.generate_gml(city())),
    "city.json": lambda: json.dumps(nx.node_link_data(city(), edges="edges")),
    "d3.json": lambda: json.dumps(nx.node_link_data(city(), edges="links")),
    "city.geojson": as_geojson,
    "edges.csv": as_table,
    "edges.txt": lambda: as_table(";"),
    "city.tntp": as_tntp,
}


def answer(capsys, *arguments) -> dict:
    assert main(["longest", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_file_of_roads_has_the_same_lightest_hole(name, tmp_path, capsys):
    path = tmp_path / name
    path.write_text(FILES[name]())
    found = answer(capsys, path, "--simplify", "--shortest", "--weight", "length")
    assert (sorted(found["cycle"]), found["weight"]) == LIGHTEST
    # The heaviest one by the boundary method, and a folder that keeps the weights.
    heaviest = answer(capsys, path, "--simplify", "--weight", "length", "--checkpoint", tmp_path / "run")
    assert (sorted(heaviest["cycle"]), heaviest["weight"]) == (["b", "c", "f"], 17.375)
    assert len((tmp_path / "run" / "weights").read_text().splitlines()) == len(STREETS)
    loaded = load_graph(str(path), simplify=True)
    places = {str(loaded.graph.names[v]): place for v, place in (loaded.positions or {}).items()}
    assert places == ({} if name in ("edges.csv", "edges.txt", "city.tntp") else PLACES)


def test_the_weights_of_arcs_are_their_own(tmp_path, capsys):
    arcs = nx.DiGraph()
    for (u, v), metres in {**STREETS, "ba": 1.0, "cb": 2.0}.items():
        arcs.add_edge(u, v, length=metres)
    path = tmp_path / "arcs.graphml"
    nx.write_graphml(arcs, path)
    lightest = answer(capsys, path, "--shortest", "--weight", "length", "--min-length", "2")
    assert (sorted(lightest["cycle"]), lightest["weight"]) == (["a", "b"], 4.5)


def test_of_parallel_edges_the_smallest_weight_counts_and_a_note_says_so(tmp_path, capsys):
    graph = city()
    graph.add_edge("a", "b", length="2")
    path = tmp_path / "city.graphml"
    nx.write_graphml(graph, path)
    assert main(["longest", str(path), "--simplify", "--shortest", "--weight", "length"]) == 0
    captured = capsys.readouterr()
    assert "weight 13.25, 4 vertices" in captured.out
    assert "1 pair of vertices with edges of different length: the smallest counts" in captured.err


def test_straight_lines_are_measured_in_the_unit_of_the_coordinates_or_in_metres(tmp_path, capsys):
    path = tmp_path / "city.graphml"
    nx.write_graphml(city(), path)
    assert answer(capsys, path, "--simplify", "--shortest", "--weight", "distance")["weight"] == 14
    degree = 6_371_008.8 * math.pi / 180
    # A ring along the equator and two meridians; the northern side is shorter by the cosine.
    ring = nx.cycle_graph(4, create_using=nx.Graph)
    ring.graph["crs"] = "epsg:4326"
    for node, (x, y) in enumerate([(0, 0), (1, 0), (1, 60), (0, 60)]):
        ring.nodes[node].update(x=x, y=y)
    nx.write_graphml(ring, path)
    found = answer(capsys, path, "--weight", "distance")["weight"]
    assert found == pytest.approx(degree * (1 + 60 + 0.5 + 60), rel=1e-5)


def square_of(side: float, crs: str | None) -> str:
    """Return the lines of a square around the place 0, 0, and of one that is a tenth larger, beside it, as GeoJSON."""
    lines = []
    for west, size in ((0.0, side), (2 * side, 1.1 * side)):
        corners = [(west, 0.0), (west + size, 0.0), (west + size, size), (west, size)]
        lines += [[one, other] for one, other in zip(corners, corners[1:] + corners[:1], strict=True)]
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": line}} for line in lines
    ]
    system = {} if crs is None else {"crs": {"type": "name", "properties": {"name": crs}}}
    return json.dumps({"type": "FeatureCollection", **system, "features": features})


@pytest.mark.parametrize(
    ("side", "crs", "unit"),
    [
        (0.0001, None, 6_371_008.8 * math.pi / 180),
        (0.0001, "urn:ogc:def:crs:OGC:1.3:CRS84", 6_371_008.8 * math.pi / 180),
        (0.0001, "urn:ogc:def:crs:EPSG::3857", 1.0),
        (100.0, None, 1.0),
    ],
)
def test_distances_of_geojson_are_metres_and_small_ones_are_told_apart(side, crs, unit, tmp_path, capsys):
    path = tmp_path / "city.geojson"
    path.write_text(square_of(side, crs))
    assert main(["longest", str(path), "--shortest", "--weight", "distance", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["weight"], found["ways"]) == (pytest.approx(4 * side * unit, rel=1e-4), 1)
    assert ("in metres" in captured.err) == (unit != 1.0)


def test_distances_need_coordinates(tmp_path, capsys):
    assert main(["longest", "grid:4x4", "--weight", "distance"]) == 2
    assert "grid:4x4 has no coordinates; GraphML, GML" in capsys.readouterr().err
    path = tmp_path / "square.txt"
    path.write_text("# xy a 0 0\na b\nb c\nc d\nd a\n")
    assert main(["longest", str(path), "--weight", "distance"]) == 2
    assert f"{path} has no coordinates for the vertex b" in capsys.readouterr().err


def test_weights_of_vertices_may_be_attributes_too(tmp_path, capsys):
    ring = nx.cycle_graph(4)
    nx.set_node_attributes(ring, {0: 1, 1: 2, 2: 3, 3: 4.5}, "people")
    nx.write_graphml(ring, tmp_path / "ring.graphml")
    assert answer(capsys, tmp_path / "ring.graphml", "--weight", "people")["weight"] == 10.5


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ('[{"name": "a"}, {"name": "b"}, {"name": "c"}]', ("a", "b", "c")),
        ('[{"name": "a"}, {"name": "a"}, {}]', ("0", "1", "2")),
    ],
)
def test_links_of_json_without_ids_end_in_places(nodes, names, tmp_path):
    path = tmp_path / "miserables.json"
    path.write_text(f'{{"nodes": {nodes}, "links": [{{"source": 0, "target": 2}}, {{"source": 1, "target": 2}}]}}')
    graph = load_graph(str(path)).graph
    assert graph.names == names
    assert graph.pairs().tolist() == [[0, 2], [1, 2]]


def test_links_of_json_without_ids_may_end_in_names(tmp_path):
    path = tmp_path / "g.json"
    path.write_text('{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": "a", "target": "b"}]}')
    assert load_graph(str(path)).graph.pairs().tolist() == [[0, 1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("city.tntp", as_tntp().replace("3.5", "far"), "--weight length: 'far' at a - b; a weight is a number"),
        ("city.tntp", as_tntp().replace("Length", "Time"), "no such attribute: the edges of .* have capacity, time"),
        ("roads.txt", "1 2\n2 3\n3 1\n", "no such attribute: the edges of .*roads.txt have no attributes"),
    ],
)
def test_missing_attributes_are_told(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    done = chordless("longest", str(path), "--weight", "length")
    assert done.returncode != 0
    assert re.search(message, " ".join(done.stderr.split()))


def test_features_without_coordinates_are_left_out_with_a_note(tmp_path):
    data = json.loads(as_geojson())
    (tmp_path / "whole.geojson").write_text(json.dumps(data))
    data["features"][1:1] = [{"type": "Feature", "properties": {}, "geometry": None}]
    (tmp_path / "g.geojson").write_text(json.dumps(data))
    loaded, whole = (load_graph(str(tmp_path / name), multigraph=True) for name in ("g.geojson", "whole.geojson"))
    assert loaded.notes[0] == f"{tmp_path}/g.geojson: 1 feature without coordinates left out"
    assert loaded.graph.edges().tolist() == whole.graph.edges().tolist()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.json", '{"a": 1}', "not a graph: node-link JSON has"),
        ("g.json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "node 1 is listed twice"),
        ("g.json", '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}', 'the nodes 1 and "1" have one name'),
        ("g.json", '{"nodes": [{"name": "a"}], "links": [{"source": 0, "target": 1}]}', "does not list: 1"),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "does not list: 2"),
        ("g.json", '{"nodes": [', "not a readable JSON graph"),
        ("g.json", '{"nodes": ["a", "b"], "links": []}', "the `nodes` of node-link JSON are objects"),
        ("g.json", '{"nodes": [{"id": {"a": 1}}], "links": []}', "the `id` of a node is a text or a number"),
        ("g.geojson", '{"type": "FeatureCollection", "features": {}}', "`features` of GeoJSON are a list"),
        ("g.geojson", as_geojson().replace("LineString", "Polygon"), "feature 1 is a Polygon"),
        ("g.csv", "u,v,key,length\na,b,0\n", "g.csv:2: 3 cells, and the heading has 4"),
        ("g.tntp", "~\ta\tb\tc\td\t;\n", "no columns with the ends of the edges"),
        ("g.tntp", "<NUMBER OF NODES> 6\n", "no heading: the columns"),
        ("g.tntp", as_tntp() + as_tntp().rpartition("~")[2], "edge a - b is there more than once"),
    ],
)
def test_wrong_files_of_roads_are_told(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(GraphError, match=message):
        load_graph(str(path))


def test_ends_written_as_text_are_the_nodes_written_as_numbers(tmp_path):
    path = tmp_path / "g.json"
    links = [{"source": "1", "target": "2"}, {"source": 2, "target": "3"}, {"source": "1", "target": 3}]
    path.write_text(json.dumps({"nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "links": links}))
    graph = load_graph(str(path)).graph
    assert (graph.n, graph.m) == (3, 3)
