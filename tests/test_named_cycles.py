"""Cycles that are read back from files of names, and drawn in their graph: every format that the program writes."""

from __future__ import annotations

import io
import json
import sys

import networkx as nx
import pytest
from chordless import GraphError, OptionError
from chordless.cli import main
from chordless.cycles.heat import heat_of_file
from chordless.cycles.named import named_cycles
from chordless.graphs.load import load_graph
from oracles import networkx_cycles
from program import REFERENCE

GRAPH = load_graph("grid:3x4").graph
CYCLES = {frozenset(cycle) for cycle in networkx_cycles(GRAPH)}


def names_of(cycle):
    return [GRAPH.names[v] for v in cycle.vertices]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["txt", "jsonl", "npy", "parquet", "arrow"])
def test_what_list_writes_is_read_back(suffix, tmp_path):
    if suffix in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    path = tmp_path / f"cycles.{suffix}"
    assert main(["list", "grid:3x4", "-q", "-o", str(path), *REFERENCE]) == 0
    read = [cycle.vertices for cycle in named_cycles(str(path), GRAPH, "grid:3x4")]
    assert len(read) == len(CYCLES)
    assert {frozenset(cycle) for cycle in read} == CYCLES
    for cycle in read:
        assert all(GRAPH.has_edge(u, v) for u, v in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


@pytest.mark.parametrize(
    "names", [["#1", "b", "c", "d"], ["[x]", "{y}", "c", "d"], ["a\u2028b", "a\x85b", "c d", "\x1cz"]]
)
def test_names_that_look_like_comments_json_or_line_ends_are_read_back(names, tmp_path):
    graph, listing = tmp_path / "graph.json", tmp_path / "cycles.txt"
    square = nx.relabel_nodes(nx.cycle_graph(4), dict(enumerate(names)))
    graph.write_text(json.dumps(nx.node_link_data(square, edges="links")))
    assert main(["list", str(graph), "-q", "-o", str(listing), *REFERENCE]) == 0
    listing.write_text("# from elsewhere\n" + listing.read_text())
    read = [cycle.vertices for cycle in named_cycles(str(listing), load_graph(str(graph)).graph, "")]
    assert read == [[0, 1, 2, 3]]


@pytest.mark.parametrize("command", ["longest", "first"])
def test_the_json_of_an_answer_is_a_cycle(command, tmp_path, capsys):
    assert main([command, "grid:3x4", "--json", "-q"]) == 0
    path = tmp_path / "answer.json"
    path.write_text(capsys.readouterr().out)
    answer = json.loads(path.read_text())["cycle"]
    (cycle,) = named_cycles(str(path), GRAPH, "grid:3x4")
    assert names_of(cycle) == answer


@pytest.mark.parametrize("more", [[], ["--shortest"]])
def test_each_of_several_answers_is_a_cycle(more, tmp_path, capsys):
    assert main(["longest", "grid:3x4", "-k", "4", *more, "--json", "-q"]) == 0
    path = tmp_path / "answers.json"
    path.write_text(capsys.readouterr().out)
    cycles = [each["cycle"] for each in json.loads(path.read_text())["cycles"]]
    assert len(cycles) == 4
    assert list(map(names_of, named_cycles(str(path), GRAPH, "grid:3x4"))) == cycles


@pytest.mark.parametrize("which", [["--shortest"], ["--longest", "-k", "3"], ["--longest"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_json_of_paths_is_drawn(which, weighted, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from chordless.pictures.cycle_drawing import cycle_of_file, draw_cycle

    weights, path = tmp_path / "weights.txt", tmp_path / "paths.json"
    weights.write_text("".join(f"{name} {0.5 * v + 1}\n" for v, name in enumerate(GRAPH.names)))
    more = ["--weight", str(weights)] if weighted else []
    assert main(["paths", "grid:3x4", "0,0", "2,3", *which, *more, "--json", "-q"]) == 0
    path.write_text(capsys.readouterr().out)
    answer = json.loads(path.read_text())
    read = list(named_cycles(str(path), GRAPH, "grid:3x4"))
    assert list(map(names_of, read)) == answer.get("paths", [answer["path"]])
    assert [found.weight for found in read] == answer.get("weights", [answer.get("weight")] * len(read))
    assert len(read) == (3 if "-k" in which else 1)
    assert {found.thing for found in read} == {"path"}
    picture = tmp_path / "path.svg"
    assert main(["plot", str(path), "--graph", "grid:3x4", "-o", str(picture)]) == 0
    (line,) = draw_cycle(cycle_of_file(str(path), "grid:3x4", 1)).axes[0].lines
    assert len(line.get_xdata()) == len(answer["path"])  # it does not come back to its start
    assert sum(heat_of_file(str(path), GRAPH, "grid:3x4").counts) == sum(len(found.vertices) - 1 for found in read)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"path": ["0,0"]}', "cycles.txt:2: a path has two vertices or more, each once"),
        ('{"path": ["0,0", "0,1", "1,1", "1,0"]}', "cycles.txt:2: not a chordless path of this graph, see the vertex"),
        ('{"path": ["0,0", "1,1"]}', "cycles.txt:2: not a chordless path of this graph, see the vertex 0,0"),
        ('{"path": 5}', "cycles.txt:2: a line of JSON is an array of names, or has a `cycle` or a `path`"),
        ('{"path": [], "paths": [["0,0"]], "weights": []}', "cycles.txt:2: a line of JSON is an array of names"),
        ("0,0 0,1 9,9 1,0", "cycles.txt:2: there is no vertex '9,9' in the graph"),
        ("0,0 0,1", "cycles.txt:2: a cycle has three vertices or more"),
        ("0,0 0,1 1,1 0,1", "cycles.txt:2: a cycle has three vertices or more, each once"),
        ("0,0 0,1 1,0 1,1", "cycles.txt:2: not a chordless cycle of this graph, see the vertex 0,0"),
        ("0,0 0,1 0,2 1,2 1,1 1,0", "cycles.txt:2: not a chordless cycle of this graph, see the vertex 0,1"),
        ('["0,0", 3', "cycles.txt:2: a line of JSON is an array of names"),
        ('{"cycle": [], "cycles": [1]}', "cycles.txt:2: a line of JSON is an array of names"),
        ('{"cycles": []}', "cycles.txt:2: a line of JSON is an array of names, or has a `cycle`"),
    ],
)
def test_lines_that_are_no_cycles_are_named(line, message, tmp_path):
    path = tmp_path / "cycles.txt"
    path.write_text(f"# a comment\n{line}\n")
    with pytest.raises(GraphError, match=message):
        list(named_cycles(str(path), GRAPH, "grid:3x4"))


def test_a_cycle_of_a_file_is_drawn_in_its_graph(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from chordless.pictures.cycle_drawing import cycle_of_file

    path = tmp_path / "cycles.txt"
    path.write_text("0,0 0,1 1,1 1,0\n0,0 0,1 0,2 1,2 2,2 2,1 2,0 1,0\n0,1 0,2 1,2 1,1\n")
    second = cycle_of_file(str(path), "grid:3x4", 2)
    assert (second.number, second.names()[2], second.source) == (2, "0,2", str(path))
    assert cycle_of_file(str(path), "grid:3x4", None).number == 2
    with pytest.raises(OptionError, match="there is no cycle 4; it has 3"):
        cycle_of_file(str(path), "grid:3x4", 4)
    pictures = []
    for chosen in ([], ["--cycle", "2"], ["--longest"]):
        output = tmp_path / "picture.svg"
        assert main(["plot", str(path), "--graph", "grid:3x4", *chosen, "-o", str(output)]) == 0
        pictures.append(output.read_bytes())
    assert pictures[0] != pictures[1] == pictures[2]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert main(["plot", "-", "--graph", "grid:3x4", "-o", str(tmp_path / "picture.png")]) == 0


@pytest.mark.parametrize("suffix", ["txt", "npy"])
def test_a_graph_whose_format_is_named_is_read_again_in_it(suffix, tmp_path, monkeypatch, capfd):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.txt").write_text("1 2 4\n2 3\n3 4\n")
    assert main(["list", "ring.txt", "--format", "adjlist", "-q", "-o", f"c.{suffix}", *REFERENCE]) == 0
    read = ["--graph", "ring.txt", "--graph-format"]
    assert main(["plot", f"c.{suffix}", *read, "adjlist", "-o", "picture.svg"]) == 0
    assert main(["plot", f"c.{suffix}", *read, "edgelist", "-o", "picture.svg"]) == 2
    assert "edge needs two vertices" in capfd.readouterr().err
    if suffix == "npy":
        assert main(["export", "c.npy", *read, "adjlist"]) == 0
        assert capfd.readouterr().out == "1 2 3 4\n"


def test_the_title_has_the_weight_of_the_cycle(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from chordless.pictures.cycle_drawing import cycle_of_file, draw_cycle

    monkeypatch.chdir(tmp_path)
    (tmp_path / "hole.json").write_text('{"cycle": ["0,0", "0,1", "1,1", "1,0"], "weight": 2.5}')
    (tmp_path / "hole.txt").write_text("0,0 0,1 1,1 1,0\n")
    for name, told in (("hole.json", "4 vertices, weight 2.5, number 1"), ("hole.txt", "4 vertices, number 1")):
        figure = draw_cycle(cycle_of_file(name, "grid:2x3", 1))
        assert any(told in text.get_text() for text in figure.texts)


def test_a_cycle_with_coordinates_becomes_a_line_on_a_map(tmp_path, capsys):
    city = tmp_path / "city.txt"
    city.write_text("# xy 1 8.5 47.25\n# xy 2 8.75 47.25\n# xy 3 8.75 47.5\n# xy 4 8.5 47.5\n1 2\n2 3\n3 4\n4 1\n")
    cycle, output = tmp_path / "cycle.txt", tmp_path / "hole.geojson"
    cycle.write_text("2 3 4 1\n")
    assert main(["plot", str(cycle), "--graph", str(city), "-o", str(output)]) == 0
    (feature,) = json.loads(output.read_text())["features"]
    assert feature["geometry"]["coordinates"] == [[8.75, 47.25], [8.75, 47.5], [8.5, 47.5], [8.5, 47.25], [8.75, 47.25]]
    assert feature["properties"] == {"graph": str(city), "length": 4, "vertices": ["2", "3", "4", "1"]}
    assert capsys.readouterr().err == ""
    in_feet = tmp_path / "feet.txt"
    in_feet.write_text(city.read_text().replace("# xy 1 8.5", "# xy 1 656010"))
    assert main(["plot", str(cycle), "--graph", str(in_feet), "-o", str(output)]) == 0
    assert capsys.readouterr().err.endswith("those of the graph, no longitudes and latitudes\n")
    cycle.write_text('{"path": ["4", "1"], "weight": 2.5}')
    assert main(["plot", str(cycle), "--graph", str(city), "--all", "-o", str(output)]) == 0
    (feature,) = json.loads(output.read_text())["features"]
    assert feature["geometry"]["coordinates"] == [[8.5, 47.5], [8.5, 47.25]]
    assert feature["properties"] == {"graph": str(city), "length": 2, "weight": 2.5, "vertices": ["4", "1"]}
    cycle.write_text("0 1 2 3\n")
    assert main(["plot", str(cycle), "--graph", "cycle:4", "-o", str(output)]) == 2
    assert "no coordinates for these vertices" in capsys.readouterr().err


def test_the_lightest_hole_on_a_map_has_its_weight(tmp_path, capsys):
    city, hole, output = (tmp_path / name for name in ("city.txt", "hole.json", "hole.geojson"))
    places = {"a": (8, 47), "b": (9, 47), "c": (9, 48), "d": (8, 48), "e": (10, 47), "f": (10, 48)}
    edges = {"a b": 2, "b c": 1.5, "c d": 1, "d a": 1, "b e": 1, "e f": 1, "f c": 0.5}
    city.write_text("".join(f"# xy {name} {x} {y}\n" for name, (x, y) in places.items()) + "\n".join(edges))
    weights = tmp_path / "weights.txt"
    weights.write_text("".join(f"{edge} {weight}\n" for edge, weight in edges.items()))
    for more, expected in (([], [4]), (["-k", "2"], [4, 5.5])):
        arguments = ["longest", str(city), "--shortest", "--weight", str(weights), "--json", "-q", *more]
        assert main(arguments) == 0
        hole.write_text(capsys.readouterr().out)
        assert main(["plot", str(hole), "--graph", str(city), "--all", "-o", str(output)]) == 0
        features = json.loads(output.read_text())["features"]
        assert [feature["properties"]["weight"] for feature in features] == expected
        assert {feature["properties"]["face"] for feature in features} == {True}
    assert main(["plot", str(hole), "--graph", str(city), "-o", str(output)]) == 0
    assert json.loads(output.read_text())["features"][0]["properties"]["weight"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--graph", "petersen", "--histogram", "-o", "a.svg"], "--histogram is drawn of runs"),
        (["--graph", "petersen", "--log", "-o", "a.svg"], "--graph draws a graph, which has no scale"),
        (["--simplify", "-o", "a.svg"], "--graph is missing"),
        (["-o", "a.geojson"], "the name of a picture ends in .svg, .png, .pdf (see"),
        (["--graph", "petersen", "-o", "a.gif"], "the name of a picture ends in .svg, .png, .pdf, .geojson"),
        (["--graph-format", "gml", "-o", "a.svg"], "--graph is missing"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, message, capsys):
    assert main(["plot", "cycles.txt", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_run_has_its_graph(tmp_path, capsys):
    assert main(["plot", str(tmp_path), "--graph", "petersen", "-o", "a.svg"]) == 2
    assert f"{tmp_path} is a run, which has its graph: leave --graph out" in " ".join(capsys.readouterr().err.split())


def test_molecules_stand_as_a_chemist_draws_them():
    pytest.importorskip("rdkit")
    from chordless.graphs.molecules import read_molecule
    from chordless.graphs.readers.source import Source
    from rdkit.Chem import MolFromSmiles, MolToMolBlock, rdDepictor

    graph, places = read_molecule(Source("a.smi", b"c1ccccc1O phenol\n"), "smiles")
    lengths = [
        sum((a - b) ** 2 for a, b in zip(places[u], places[v], strict=True)) ** 0.5 for u, v in graph.edges().tolist()
    ]
    assert lengths == pytest.approx(7 * [1.5], abs=0.01)  # all bonds alike: rings are regular
    assert read_molecule(Source("long.smi", b"C" * 201 + b"\n"), "smiles")[1] is None  # it would take long
    molecule = MolFromSmiles("CC")
    rdDepictor.Compute2DCoords(molecule)
    molecule.GetConformer().SetAtomPosition(0, (5.0, 7.0, 0.0))
    block = MolToMolBlock(molecule).encode()
    assert read_molecule(Source("a.sdf", block), "sdf")[1][0] == (5.0, 7.0)  # those of the file are kept
