"""Files that networkx and scipy read: what they hold, and one clear line for each way to be wrong."""

import io
import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from chordless.graphs.load import load_graph
from chordless.graphs.overlap import niche_overlap
from graph_files import load, named_edges, pairs, refusal


def written(writer, graph):
    stream = io.BytesIO()
    writer(graph, stream)
    return stream.getvalue()


@pytest.mark.parametrize(("name", "writer"), [("a.graphml", nx.write_graphml), ("a.gml", nx.write_gml)])
def test_graphml_and_gml(tmp_path, name, writer):
    graph = nx.Graph([("b", "a"), ("a", "c d")])
    graph.add_node("alone")
    loaded = load(tmp_path / name, written(writer, graph)).graph
    assert loaded.names == ("b", "a", "c d", "alone")
    assert loaded.edges().tolist() == [[0, 1], [1, 2]]

    directed = written(writer, nx.DiGraph([("b", "a"), ("a", "b")]))
    assert load(tmp_path / name, directed).graph.edges().tolist() == [[0, 1], [1, 0]]
    assert load(tmp_path / name, directed, simplify=True).graph.m == 1

    repeated = written(writer, nx.MultiGraph([("b", "a"), ("a", "b")]))
    assert "edge b - a is there more than once; a simple graph has each edge once" in refusal(tmp_path / name, repeated)
    assert load(tmp_path / name, repeated, simplify=True).graph.m == 1

    loop = written(writer, nx.Graph([("b", "b")]))
    assert "edge from b to itself; a simple graph has no loops" in refusal(tmp_path / name, loop)
    assert "not a readable" in refusal(tmp_path / name, written(writer, graph)[:-20])


def test_gml_without_labels_and_with_repeats_that_it_does_not_announce(tmp_path):
    text = "graph [\n node [ id 5 ]\n node [ id 3 ]\n edge [ source 5 target 3 ]\n{}]\n"
    assert load(tmp_path / "a.gml", text.format("")).graph.names == ("5", "3")
    assert "more than once" in refusal(tmp_path / "a.gml", text.format(" edge [ source 3 target 5 ]\n"))
    assert "not a readable GML file" in refusal(tmp_path / "a.gml", text.format(" edge [ source 3 target 9 ]\n"))


def test_graphml_names_and_unlisted_nodes(tmp_path):
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="k" for="node" attr.name="name" '
    head += 'attr.type="string"/><graph edgedefault="undirected"><node id="n0"><data key="k">{}</data></node>'
    tail = '<node id="n1"><data key="k">Bank</data></node><edge source="n0" target="{}"/></graph></graphml>'
    assert load(tmp_path / "a.graphml", (head + tail).format("Angel", "n1")).graph.names == ("Angel", "Bank")
    assert load(tmp_path / "a.graphml", (head + tail).format("Bank", "n1")).graph.names == ("n0", "n1")
    assert "an edge ends in a node that the file does not list" in refusal(
        tmp_path / "a.graphml", (head + tail).format("a", "n9")
    )
    assert "the file holds 0 graphs" in refusal(tmp_path / "a.graphml", "<html></html>")


NODES = '<node id="a"/>\n<node id="b"/>\n'
EDGE = '<edge source="a" target="b"/>\n'


@pytest.mark.parametrize(
    ("inside", "part"),
    [
        (
            f'{NODES}<node id="c">\n<graph id="g"><node id="d"/></graph></node>',
            "5: <graph> inside <node>; nested",
        ),
        (f'{NODES}<node id="c">\n{EDGE}</node>', "5: <edge> inside <node>; nested graphs"),
        (f'{NODES}<node id="a"/>', "4: node a is already in line 2; list each node once"),
        (f'{NODES[:-1]}<node id="b"/>', "3: node b is already in line 3"),
        (f'{NODES}<hyperedge><endpoint node="a"/></hyperedge>', "4: <hyperedge>; nested graphs"),
        (f'{NODES}<node id="c"><port name="x"/></node>', "4: <port>; nested graphs"),
        (f'{NODES}</graph><graph edgedefault="undirected">', " the file holds 2 graphs; one is needed"),
        (f'{NODES}<edge source="a" target="z"/>', "4: an edge ends in a node that the file does not list: z"),
        ("<desc>" * 200, "1: more than 100 elements inside one another"),
    ],
)
def test_a_graphml_file_is_one_flat_graph(tmp_path, inside, part):
    text = (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">\n{}</graph></graphml>'
    )
    assert load(tmp_path / "a.graphml", text.format(NODES + EDGE)).graph.m == 1
    if inside.startswith("<desc>"):
        text = text.replace("\n", "")
    assert part in refusal(tmp_path / "a.graphml", text.format(inside)).removeprefix("a.graphml:")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("graph [\n node [ id 1 ]\n]\nnode [ id 2 ]\n", "a.gml:4: `node` outside of the brackets of the graph"),
        ("graph [ node [ id 1 ] ]\ngraph [ ]\n", "a.gml: the file holds 2 graphs; one is needed"),
        ("graph [ node [ id 1\n node [ id 2 ] ] ]\n", "a.gml:2: `node` inside `node`"),
        ("graph [ node [ id 1 graph [\n node [ id 2 ] ] ] ]\n", "a.gml:1: `graph` inside `node`"),
        ("graph [ node [ id 1 ] ] ]\n", "a.gml:1: a closing bracket without an opening one"),
        (f"graph {'[ x ' * 5000}", "a.gml:1: more than 100 brackets inside one another"),
    ],
)
def test_a_gml_file_is_one_flat_graph(tmp_path, text, part):
    assert refusal(tmp_path / "a.gml", text).startswith(part)
    whole = '# c [\ngraph [\n comment "node ["\n node [ id 1 graphics [ x 1.0 ] ]\n node [ id 2 ]\n]\n'
    assert load(tmp_path / "a.gml", whole).graph.n == 2


@pytest.mark.skipif(not hasattr(sys, "get_int_max_str_digits"), reason="needs a Python that limits its numbers")
@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        ("a.json", '{"nodes": [{"id": 1},\n{"id": NUMBER}], "edges": []}', "JSON graph"),
        ("a.json", '{"nodes": [{"id": 1}, {"id": 2}],\n"edges": [{"source": 1, "target": NUMBER}]}', "JSON graph"),
        ("a.geojson", '{"type": "FeatureCollection", "features":\n[{"properties": {"u": NUMBER}}]}', "JSON graph"),
        ("a.gml", "graph [ node [ id 1 ]\n node [ id NUMBER ] ]", "GML file"),
        ("a.gml", "graph [ node [ id 1 label\n NUMBER ] ]", "GML file"),
    ],
)
def test_a_number_of_too_many_digits_is_told_with_its_line(tmp_path, file, text, what):
    told = refusal(tmp_path / file, text.replace("NUMBER", "9" * 5000))
    assert told == f"{file}:2: a number of 5,000 digits; the numbers of a {what} have at most 4,300"


@pytest.mark.parametrize("extension", ["g6", "s6"])
def test_graph6_and_sparse6(tmp_path, extension):
    writer = nx.to_graph6_bytes if extension == "g6" else nx.to_sparse6_bytes
    graph = nx.gnp_random_graph(70, 0.1, seed=2)
    graph.add_node(70)
    loaded = load(tmp_path / f"a.{extension}", writer(graph)).graph
    assert loaded.n == 71
    assert loaded.edges().tolist() == sorted(sorted(edge) for edge in graph.edges())
    assert load(tmp_path / f"a.{extension}", writer(graph).replace(b"<<", b"<<\n")).graph.n == 71
    several = writer(graph, header=False) * 3
    assert "there are 3 graphs; give one" in refusal(tmp_path / f"a.{extension}", several)
    assert "not a" in refusal(tmp_path / f"a.{extension}", b"D?{1")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"D?\n", "not a readable graph6 file"),
        (b">>graph6<<\n", "there is no graph in the file"),
        (b">>sparse6<<:\n", "its characters are ? to ~, found ':'"),
        (b"&B_\n", "not a readable digraph6 file: 3 vertices take 2 characters for their arcs, not 1"),
        (b";A_\n", "incremental sparse6"),
        (b":A_\n", "more than once"),
        (b":~~??~~~~\n", "the file declares"),
        (b"\xff\xfe\n", "its characters are ? to ~"),
    ],
)
def test_a_wrong_graph6_file_is_one_clear_line(tmp_path, line, part):
    assert part in refusal(tmp_path / "a.g6", line)


def test_adjacency_lists(tmp_path):
    assert load(tmp_path / "a.adjlist", "# c\n10 9 2\n9\n2\n7\n").graph.names == ("2", "7", "9", "10")
    both_ways = "a b c\nb a\nc a\n"
    assert named_edges(load(tmp_path / "a.adjlist", both_ways).graph) == pairs("a b", "a c")
    assert named_edges(load(tmp_path / "a.adjlist", "a: b\nb c:d\n").graph) == pairs("a: b", "b c:d")
    assert named_edges(load(tmp_path / "a.adjlist", "# c\n0: 1 2\n1: 0\n2:\n").graph) == pairs("0 1", "0 2")
    assert "edge a - b is there more than once" in refusal(tmp_path / "a.adjlist", "a b b\n")
    assert "edge b - a is there more than once" in refusal(tmp_path / "a.adjlist", "a b\nb a a\n")
    assert "edge from a to itself" in refusal(tmp_path / "a.adjlist", "a a\n")
    assert "blanks between them, not commas: 'b,'" in refusal(tmp_path / "a.adjlist", "a: b, c\nb: a, c\n")
    assert "blanks between them, not commas: 'a,b,c'" in refusal(tmp_path / "a.adjlist", "a,b,c\nb,c\n")
    assert load(tmp_path / "a.adjlist", "0,0 0,1\n0,1\n").graph.names == ("0,0", "0,1")
    assert "multiline" in refusal(tmp_path / "a.adjlist", "# c\n0 1\n1 {'weight': 2}\n1 0\n")
    assert "no vertices" in refusal(tmp_path / "a.adjlist", "# nothing\n")


def test_matrix_market(tmp_path):
    general = "%%MatrixMarket matrix coordinate real general\n% c\n4 4 5\n1 2 0.5\n2 1 0.5\n3 2 -1\n\n2 3 1\n4 1 0\n"
    graph = load(tmp_path / "a.mtx", general).graph
    assert graph.names == ("1", "2", "3", "4")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]
    directed = "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n3 1\n1 2\n1 2\n"
    assert load(tmp_path / "a.mtx", directed, simplify=True).graph.edges().tolist() == [[0, 1], [0, 2]]
    assert load(tmp_path / "a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 0\n").graph.n == 3


SYMMETRIC = "coordinate pattern symmetric"
GENERAL = "coordinate pattern general"


@pytest.mark.parametrize(
    ("kind", "body", "part"),
    [
        (GENERAL, "3 3 2\n2 1\n3 2\n", "a.mtx: this graph is directed (entry 2 1, but none at 1 2)"),
        (GENERAL, "3 3 2\n2 1\n2 1\n", "a.mtx: edge 2 - 1 is there more than once"),
        (SYMMETRIC, "3 3 2\n2 1\n2 1\n", "a.mtx: edge 1 - 2 is there more than once"),
        ("coordinate real symmetric", "3 3 2\n2 1 1\n2 1 -1\n", "a.mtx: edge 1 - 2 is there more than once"),
        (SYMMETRIC, "%\n3 3 1\n2 2\n", "a.mtx: edge from 2 to itself"),
        ("coordinate real general", "3 3 2\n1 2 0\n2 2 1\n", "a.mtx: edge from 2 to itself"),
        (GENERAL, "3 4 1\n2 1\n", "a.mtx: an adjacency matrix is square, this one is 3 x 4"),
        (SYMMETRIC, "3 3 2\n2 1\n", "a.mtx: not a readable Matrix Market file: Truncated file"),
        (SYMMETRIC, "3 3 1\n2 1\n3 2\n", "a.mtx:4: not a readable Matrix Market file: Too many lines"),
        (SYMMETRIC, "3 3 99999999999\n2 1\n", "a.mtx: the header declares 99,999,999,999 entries, but the file has"),
        (SYMMETRIC, "999999999 999999999 1\n2 1\n", "a.mtx: the file declares 999,999,999 vertices"),
        (SYMMETRIC, "3 3\n2 1\n", "a.mtx: not a readable Matrix Market header: "),
        (SYMMETRIC, "% nothing", "a.mtx:3: not a readable Matrix Market header: "),
        (SYMMETRIC, "3 3 1\n4 1\n", "a.mtx:3: not a readable Matrix Market file: Row index out of bounds"),
        (SYMMETRIC, "3 3 1\n2 0\n", "a.mtx:3: not a readable Matrix Market file: Column index out of bounds"),
        (
            SYMMETRIC,
            "3 3 1\nnan 1.5\n",
            "a.mtx:3: a matrix entry (pattern) must read `row column`, found",
        ),
        (
            SYMMETRIC,
            "3 3 1\n3 1_2\n",
            "a.mtx:3: a matrix entry (pattern) must read `row column`, found '3 1_",
        ),
        (
            SYMMETRIC,
            "3 3 1\n3 1 1\n",
            "a.mtx:3: a matrix entry (pattern) must read `row column`, found",
        ),
        (
            SYMMETRIC,
            "3 3 1\n3 \u0661\n",
            "a.mtx:3: a matrix entry (pattern) must read `row column`, found",
        ),
        (
            "coordinate real symmetric",
            "3 3 1\n2 1\n",
            "a.mtx:3: a matrix entry (real) must read `row column va",
        ),
        ("coordinate real symmetric", "3 3 1\n2 1 nan\n", "a.mtx:3: a matrix entry (real) must read"),
        (
            "coordinate integer symmetric",
            "3 3 1\n2 1 1_0\n",
            "a.mtx:3: a matrix entry (integer) must read",
        ),
        ("array real general", "2 2\n0\n1\n1\n0\n", "a.mtx:1: a matrix in array form; write it in coordinate form"),
        ("coordinate odd general", "3 3 0\n", "a.mtx:1: not a readable Matrix Market header: "),
        ("coordinate real odd", "3 3 0\n", "a.mtx:1: not a readable Matrix Market header: "),
        ("nonsense", "3 3 2\n2 1\n", "a.mtx:1: not a readable Matrix Market header: "),
    ],
)
def test_a_wrong_matrix_is_one_clear_line(tmp_path, kind, body, part):
    message = refusal(tmp_path / "a.mtx", f"%%MatrixMarket matrix {kind}\n{body}")
    assert message.startswith(part)
    assert ("right is `%%MatrixMarket" in message) == ("readable Matrix Market header" in part)


def test_a_damaged_matrix_does_not_crash_the_reader(tmp_path):
    whole = b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 1\n3 2 1p"
    cuts = [whole[:end] for end in range(1, len(whole) + 1)]
    nuls = [whole[:at] + b"\0" + whole[at:] for at in range(len(whole) + 1)]
    paths = [tmp_path / f"{number}.mtx" for number in range(len(cuts) + len(nuls))]
    for path, content in zip(paths, cuts + nuls, strict=True):
        path.write_bytes(content)
    code = (
        "import sys; from chordless.graphs.load import load_graph; from kernels_ti.errors import GraphError\n"
        "for path in sys.argv[1:]:\n"
        "    try: print(load_graph(path).graph.m)\n"
        "    except GraphError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(paths)
    assert answers[len(cuts) - 2] == "2"
    assert "a matrix entry (real) must read" in answers[len(cuts) - 1]
    assert all("this is a binary file" in answer for answer in answers[len(cuts) :])


def test_without_scipy_a_matrix_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.io", None)
    message = refusal(tmp_path / "a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n")
    assert message == "a.mtx: Matrix Market files need scipy: pip install 'chordless[scipy]'"


def test_gexf_is_refused_by_its_name(tmp_path):
    said = refusal(tmp_path / "a.gexf", written(nx.write_gexf, nx.cycle_graph(4)))
    assert said == "a.gexf:2: GEXF is not read: save the graph as GraphML, GML or an edge list"


@pytest.mark.parametrize(
    "heading",
    [
        "id,source,target",
        "weight,target,source",
        ",from,to",
        "Id,Source,Target,Type",
        "name,km,tail,head",
        "id,start,end,length",
        "road,node_a,node_b",
        "id,length,SourceID,TargetID",
        '"id","from","to"',
    ],
)
def test_the_ends_of_a_table_stand_in_any_column(tmp_path, heading):
    names = [name.strip('"').lower() for name in heading.split(",")]
    tails = ("source", "from", "tail", "start", "node_a", "sourceid")
    heads = ("target", "to", "head", "end", "node_b", "targetid")
    sides = dict.fromkeys(tails, 0) | dict.fromkeys(heads, 1)
    edges = (("10", "20", "7"), ("20", "30", "7"), ("30", "10", "7"))
    rows = [",".join(edge[sides.get(name, 2)] for name in names) for edge in edges]
    loaded = load(tmp_path / "a.csv", "\n".join([heading, *rows]) + "\n")
    assert named_edges(loaded.graph) == pairs("10 20", "20 30", "10 30")
    assert not loaded.graph.directed


@pytest.mark.parametrize(("name", "yes", "no"), [("Type", "Directed", "Undirected"), ("directed", "TRUE", "FALSE")])
def test_a_column_says_whether_edges_have_a_direction(tmp_path, name, yes, no):
    def table(*said):
        return f"Source,Target,{name},Weight\n" + "".join(f"{u},b{u},{each},1\n" for u, each in enumerate(said))

    arcs = load(tmp_path / "a.csv", table(yes, yes))
    assert arcs.graph.directed
    assert [note.partition(": ")[2] for note in arcs.notes] == ["a column says that each edge has a direction"]
    assert not load(tmp_path / "a.csv", table(no, no)).graph.directed
    assert not load(tmp_path / "a.csv", table(yes, yes), simplify=True).graph.directed
    assert "a.csv:3: some edges have a direction and others have none" in refusal(tmp_path / "a.csv", table(yes, no))


def features(*lines):
    """Return GeoJSON of lines, each with its properties and its places."""
    shapes = [
        {"type": "Feature", "properties": properties, "geometry": {"type": "LineString", "coordinates": places}}
        for properties, places in lines
    ]
    return json.dumps({"type": "FeatureCollection", "features": shapes}).encode()


WITH_KEYS = {
    "a.geojson": features(
        ({"u": 1, "v": 2, "key": 0, "length": 100}, [[0, 0], [0, 1]]),
        ({"u": 2, "v": 1, "key": 0, "length": 300}, [[0, 1], [0, 0]]),
    ),
    "a.json": json.dumps(
        {
            "nodes": [{"id": 1}, {"id": 2}],
            "edges": [{"source": 1, "target": 2, "key": 0}, {"source": 2, "target": 1, "key": 0}],
        }
    ).encode(),
    "a.graphml": b"""<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="k" for="edge" attr.name="key" attr.type="int"/><graph edgedefault="undirected">
        <node id="1"/><node id="2"/>
        <edge source="1" target="2"><data key="k">0</data></edge>
        <edge source="2" target="1"><data key="k">0</data></edge>
        </graph></graphml>""",
    "b.graphml": b"""<graphml><graph edgedefault="undirected"><node id="1"/><node id="2"/>
        <edge id="e" source="1" target="2"/><edge id="e" source="2" target="1"/></graph></graphml>""",
}


@pytest.mark.parametrize("name", WITH_KEYS)
def test_no_edge_takes_the_place_of_another_with_the_same_key(tmp_path, name):
    assert "edge 1 - 2 is there more than once" in refusal(tmp_path / name, WITH_KEYS[name])
    assert load(tmp_path / name, WITH_KEYS[name], multigraph=True).graph.m == 2


def test_numbers_that_are_equal_are_one_place(tmp_path):
    corners = [[[0.0, 0], [1, 0]], [[1.0, -0.0], [1, 1]], [[1, 1], [-0.0, 0.0]]]
    graph = load(tmp_path / "a.geojson", features(*(({}, places) for places in corners))).graph
    assert graph.names == ("0,0", "1,0", "1,1")
    by_number = features(({"u": 10.0, "v": 20}, corners[0]), ({"u": 20.0, "v": 10}, corners[1]))
    assert "edge 10 - 20 is there more than once" in refusal(tmp_path / "b.geojson", by_number)
    nodes = json.dumps({"nodes": [{"id": 1.0}, {"id": 2}], "links": [{"source": 1, "target": 2}]}).encode()
    assert load(tmp_path / "a.json", nodes).graph.m == 1
    twice = json.dumps({"nodes": [{"id": 1.0}, {"id": "1"}], "links": []}).encode()
    assert 'the nodes 1.0 and "1" have one name' in refusal(tmp_path / "b.json", twice)


@pytest.mark.parametrize(
    ("lines", "meetings"),
    [
        ([[[0, 0], [2, 0]], [[1, 0], [1, 1]]], "1 place"),  # a T, with no place of its own on the long line
        ([[[11.1, 48.1], [11.4, 48.7]], [[11.2, 48.3], [12, 48]], [[11.3, 48.5], [12, 49]]], "2 places"),  # rounded
        ([[[0, 0], [1, 1], [2, 2]], [[0, 2], [1, 1], [2, 0]]], "1 place"),
        ([[[0, 0], [2, 2]], [[0, 2], [2, 0]]], ""),  # a bridge
        ([[[0, 0], [1, 0], [2, 0]], [[2, 0], [1, 1], [0, 1]]], ""),
    ],
)
def test_a_place_where_lines_meet_without_an_end_of_both_is_told(tmp_path, lines, meetings):
    notes = load(tmp_path / "a.geojson", features(*(({}, places) for places in lines))).notes
    told = [f"no junction in {meetings} where a line meets the inside of another" in note for note in notes]
    assert told == [True] * bool(meetings)
    named = features(*(({"u": i, "v": -1}, places) for i, places in enumerate(lines)))
    assert load(tmp_path / "a.geojson", named).notes == ()  # the names say what is joined


def test_a_line_ends_in_the_point_at_its_end(tmp_path):
    corners = {"A": [0, 0], "B": [2, 0], "C": [1, 5]}
    shapes = [("LineString", [corners[one], corners[other]], None) for one, other in ("AB", "BC", "CA")]
    shapes += [("Point", place, name) for name, place in corners.items()]
    made = [
        {"type": "Feature", "id": name, "properties": {}, "geometry": {"type": kind, "coordinates": places}}
        for kind, places, name in shapes
    ]
    text = json.dumps({"type": "FeatureCollection", "features": made}).encode()
    assert named_edges(load(tmp_path / "a.geojson", text).graph) == pairs("A B", "B C", "A C")


def test_attributes_of_any_name_are_attributes(tmp_path):
    odd = features(({"u": "a", "v": "b", "u_for_edge": 1, "key": [1]}, [[0, 0], [0, 1]]))
    assert named_edges(load(tmp_path / "a.geojson", odd).graph) == pairs("a b")


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"directed": "false", "links": []}, '`directed` is true or false, not "false"'),
        ({"edges": [{"source": 1, "target": 2}], "links": [{"source": 1, "target": 2}]}, "both `edges` and `links`"),
    ],
)
def test_json_that_could_mean_two_graphs_is_refused(tmp_path, fields, part):
    nodes = {"nodes": [{"id": 1}, {"id": 2}]}
    assert part in refusal(tmp_path / "a.json", json.dumps(nodes | fields).encode())


def test_the_list_that_holds_the_edges_is_read(tmp_path):
    both = {"nodes": [{"id": 1}, {"id": 2}], "edges": [], "links": [{"source": 1, "target": 2}]}
    assert load(tmp_path / "a.json", json.dumps(both).encode()).graph.m == 1


@pytest.mark.parametrize("heading", ['"","u","v"', "fid,u,v", "X,u,v"])
def test_a_column_may_number_the_edges(tmp_path, heading):
    body = f"{heading}\n1,10,20\n2,20,30\n3,10,30\n".encode()
    assert named_edges(load(tmp_path / "a.csv", body).graph) == pairs("10 20", "20 30", "10 30")


@pytest.mark.parametrize("heading", ["osmid,u,v,length", "id,length,u,v", ",v,u,length", "edge,u,v"])
def test_columns_called_u_and_v_are_ends_unless_they_hold_the_entries_of_a_matrix(tmp_path, heading):
    names = heading.split(",")
    ends = (("0", "20"), ("20", "30"), ("30", "0"))
    rows = [
        ",".join({"u": u, "v": v, "length": "5.5"}.get(name, str(at)) for name in names)
        for at, (u, v) in enumerate(ends, 7)
    ]
    table = load(tmp_path / "a.csv", "\n".join([heading, *rows]))
    assert named_edges(table.graph) == pairs("0 20", "20 30", "0 30")
    assert table.notes == ()

    for rows in ("a,1,0,1\nb,0,1,1\n", "a,0.5,0,0\nb,0.25,1,0\n", "a,,1,7\nb,2,1,\n"):
        web = load(tmp_path / "a.csv", f"prey,u,v,w\n{rows}").graph
        assert (web.directed, web.names) == (True, ("a", "b", "u", "v", "w"))
    adjacency = load(tmp_path / "a.csv", "name,u,v,w\nu,0,3,4\nv,3,0,5\nw,4,5,0\n").graph
    assert (adjacency.directed, adjacency.names) == (False, ("u", "v", "w"))


def test_a_table_that_may_be_a_matrix_says_how_to_read_it_as_one(tmp_path):
    web = tmp_path / "web.csv"
    loaded = load(web, "species,u,v,w\na,1,2,0\nb,3,0,1\nc,0,1,1\n")
    assert loaded.graph.names == ("1", "2", "3", "0")
    (note,) = loaded.notes
    assert note.endswith("a table of edges between u and v; it may be a matrix, which the format matrix reads")
    assert load_graph(str(web), file_format="matrix").graph.names == ("a", "b", "c", "u", "v", "w")
    # A web is a matrix rather than a table of edges.
    assert niche_overlap(str(web), "none").m == 3
    adjacency = load(tmp_path / "a.csv", "name,by,from,to\nby,0,1,1\nfrom,1,0,0\nto,1,0,0\n").graph
    assert (adjacency.names, adjacency.m) == (("by", "from", "to"), 2)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name,from,to\na,0,1\nb,1,0\nc,1,1\n", "a.csv: edge 1 - 0 is there more than once"),
        ("species,u,v\na,0,1\nb,1,\nc,1,2\n", "a.csv:1: the ends of the edges are in columns 2 and 3"),
    ],
)
def test_a_table_that_fails_and_may_be_a_matrix_says_how_to_read_it_as_one(tmp_path, text, fault):
    told = refusal(tmp_path / "a.csv", text)
    assert told.startswith(fault)
    assert told.endswith('; if it is a matrix, file_format="matrix" reads it')
    assert load_graph(str(tmp_path / "a.csv"), file_format="matrix").graph.n == 5


@pytest.mark.parametrize("corner", ["name", ""])
def test_a_matrix_may_have_columns_that_are_called_as_the_ends_of_edges(tmp_path, corner):
    text = f"{corner},from,to,by\nfrom,0,1,1\nto,1,0,1\nby,1,1,0\n"
    loaded = load(tmp_path / "a.csv", text)
    assert (loaded.graph.names, loaded.graph.m, loaded.notes) == (("from", "to", "by"), 3, ())


def test_a_matrix_of_r_without_names_is_square(tmp_path):
    graph = load(tmp_path / "a.csv", b'"","V1","V2","V3"\n"1",0,1,1\n"2",1,0,1\n"3",1,1,0\n').graph
    assert (graph.names, graph.m, graph.directed) == (("1", "2", "3"), 3, False)


def test_a_table_of_vertices_has_no_edges(tmp_path):
    assert "this is a table of vertices" in refusal(tmp_path / "a.csv", b"Id,Label\n1,Anna\n2,Bert\n")
