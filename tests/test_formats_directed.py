"""Files of directed graphs and of multigraphs."""

import io

import pytest
from chordless.graphs.load import load_graph
from chordless.graphs.writers import write_edge_list
from graph_files import load, refusal

from kernels_ti import Graph, OptionError

ARCS = [[0, 1], [1, 0], [1, 2], [2, 2]]
HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
BODY = "".join(f'<node id="{v}"/>' for v in "abc") + "".join(
    f'<edge source="{"abc"[u]}" target="{"abc"[v]}"/>' for u, v in ARCS
)
SAYING = {
    "a.txt": "a -> b\nb -> a\n\n# a comment\nb -> c\nc -> c\n",
    "a.col": "p sp 3 4\na 1 2 7\na 2 1 5\na 2 3 1\na 3 3 2\n",
    "a.net": "*Vertices 3\n*Arcs\n2 3 1\n3 3 1\n*Edges\n1 2\n",
    "b.net": "*Vertices 3\n*Matrix\n0 1 0\n1 0 1\n0 0 1\n",
    "a.graphml": f"{HEAD}{BODY}</graph></graphml>",
    "a.gml": "graph [ directed 1 "
    + " ".join(f"node [ id {v} ]" for v in range(3))
    + " ".join(f" edge [ source {u} target {v} ]" for u, v in ARCS)
    + " ]",
    "a.g6": b"&B" + bytes(63 + int(bits, 2) for bits in ("010101", "001000")) + b"\n",
}
MUTE = {
    "a.txt": "1 2\n2 1\n2 3\n3 3\n",
    "a.col": "p edge 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 3\n",
    "a.adjlist": "a b\nb a c\nc c\n",
    "a.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 2\n2 1\n2 3\n3 3\n",
    "a.net": "*Vertices 3\n*Edges\n1 2\n2 1\n2 3\n3 3\n",
}


@pytest.mark.parametrize(("name", "text"), SAYING.items(), ids=SAYING)
def test_a_file_that_says_that_it_is_directed_is_read_so(tmp_path, name, text):
    graph = load(tmp_path / name, text).graph
    assert graph.directed
    assert graph.edges().tolist() == ARCS
    simple = load(tmp_path / name, text, simplify=True).graph
    assert (simple.is_simple, simple.edges().tolist()) == (True, [[0, 1], [1, 2]])


@pytest.mark.parametrize(("name", "text"), [item for item in MUTE.items() if item[0] != "a.net"])
def test_any_other_file_is_directed_if_asked(tmp_path, name, text):
    assert load(tmp_path / name, text, directed=True).graph.edges().tolist() == ARCS


def test_the_edges_of_a_directed_pajek_network_are_two_arcs_each(tmp_path):
    graph = load(tmp_path / "a.net", "*Vertices 3\n*Edges\n1 2\n2 3\n", directed=True).graph
    assert graph.edges().tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]


@pytest.mark.parametrize("name", ["a.txt", "a.net"])
def test_a_multigraph_keeps_what_is_refused_otherwise(tmp_path, name):
    assert "simplify=True" in refusal(tmp_path / name, MUTE[name])
    graph = load(tmp_path / name, MUTE[name], multigraph=True).graph
    assert (graph.directed, graph.is_multigraph) == (False, True)
    assert graph.edges().tolist() == [[0, 1], [0, 1], [1, 2], [2, 2]]


def test_a_matrix_may_be_that_of_a_multigraph(tmp_path):
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n2 1\n2 1\n3 2\n3 3\n"
    assert load(tmp_path / "a.mtx", text, multigraph=True).graph.edges().tolist() == [[0, 1], [0, 1], [1, 2], [2, 2]]


@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        ("a->b\n", {}, "a.txt:1: edge needs two vertices, found 1 word: 'a->b' (an arrow has blanks on both sides)"),
        (
            "a -> b\nb c\n",
            {},
            "a.txt:2: each line of this list is an arc `u -> v`, as line 1 has an arrow; found 'b c'",
        ),
        (
            "a b -> c\nc -> d\n",
            {},
            "a.txt:1: each line of this list is an arc `u -> v`, as line 1 has an arrow; found 'a b -> c' (names with "
            "blanks stand in two columns, with commas or tabs between them, under a heading such as `prey,predator`)",
        ),
        ("a -> b\nb -> c d\n", {}, "a.txt:2: each line of this list is an arc"),
        ("1 -> 2\n1 -> 2\n", {}, "a.txt:2: edge 1 -> 2 is already in line 1; a simple graph has each edge once"),
        ("1 1\n2 2\n1 1\n", {"directed": True}, "a.txt:3: edge 1 -> 1 is already in line 1"),
    ],
)
def test_a_wrong_list_of_arcs_is_one_clear_line(tmp_path, text, options, part):
    assert refusal(tmp_path / "a.txt", text, **options).startswith(part)


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("grid:3x3", {"directed": True}, "a spec makes an undirected graph; leave directed=True out"),
        ("a.g6", {"directed": True}, "the format graph6 says itself whether it is directed"),
        ("a.txt", {"directed": True, "simplify": True}, "exclude each other"),
    ],
)
def test_what_cannot_be_asked_for_is_said(tmp_path, monkeypatch, source, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.g6").write_text("B?\n")
    with pytest.raises(OptionError, match=words):
        load_graph(source, **options)


@pytest.mark.parametrize("directed", [False, True])
def test_an_edge_list_is_read_back(tmp_path, directed):
    graph = Graph.from_edges(4, [(1, 0), (1, 0), (1, 2), (2, 2)], directed=directed, multigraph=True)
    text = io.StringIO()
    write_edge_list(graph, text)
    again = load(tmp_path / "a.txt", text.getvalue(), multigraph=True).graph
    assert (again.directed, again.n, again.edges().tolist()) == (directed, 4, graph.edges().tolist())
