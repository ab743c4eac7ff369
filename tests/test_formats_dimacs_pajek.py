"""DIMACS, Pajek and METIS files: what they hold, and one clear line for each way to be wrong."""

import pytest
from graph_files import load, named_edges, pairs, refusal


def test_dimacs(tmp_path):
    graph = load(tmp_path / "a.col", "c x\np col 5 3\nn 1 4\ne 4 2\ne\t1  2\n\ne 5 4\n").graph
    assert graph.names == ("1", "2", "3", "4", "5")
    assert named_edges(graph) == pairs("2 4", "1 2", "4 5")
    both_ways = "p edge 2 2\ne 1 2\ne 2 1\n"
    assert load(tmp_path / "a.col", both_ways, simplify=True).graph.m == 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("p edge 3 3\ne 1 2\ne 2 1\ne 2 3\n", "a.col:3: edge 2 - 1 is already in line 2"),
        ("p edge 3 4\ne 1 2\ne 2 1\ne 1 2\ne 2 1\n", "a.col:3: edge 2 - 1 is already in line 2"),
        ("p edge 3 1\ne 1 2 9\n", "a.col:2: an edge must read `e u v` with vertices 1 to 3, found 'e 1 2 9'"),
        ("p edge 3 1\ne 1 b\n", "a.col:2: an edge must read `e u v`"),
        ("p edge 3 1\nc\ne\n", "a.col:3: an edge must read `e u v`"),
        ("p edge 3 1\n\ne 1 4\n", "a.col:3: edge 1 4: the vertices are 1 to 3"),
        ("p edge 3 1\ne 0 1\n", "a.col:2: edge 0 1: the vertices are 1 to 3"),
        ("p edge 3 4\ne 1 2\n", "a.col:1: the header declares m=4, but the file has m=1"),
        ("p edge 3\ne 1 2\n", "a.col:1: the problem line must read `p edge N M`"),
        ("p edge 1 0\np edge 1 0\n", "a.col:2: a second `p` line"),
        ("e 1 2\n", "a.col:1: an edge before the `p edge N M` line"),
        ("c x\n", "a.col: no `p edge N M` line"),
        ("p edge 3 2\na 1 2 5\ne 2 3\n", "a.col:3: the file has edges (`e` lines) and arcs (`a` lines); give one kind"),
        ("p edge 3 1\nx 1 2\n", "a.col:2: lines start with c, p, n, e or a, found 'x 1 2'"),
    ],
)
def test_a_wrong_dimacs_file_is_one_clear_line(tmp_path, text, part):
    assert refusal(tmp_path / "a.col", text).startswith(part)


def test_pajek_keeps_order_isolated_vertices_labels_and_places(tmp_path):
    loaded = load(
        tmp_path / "a.net",
        "*Network x\n*Vertices 4\n% c\n"
        '1 "b b" 0.1 0.2 0.5 ic Blue\n2 a\n4 "é" 0.3 1\n3 z\n*Arcs\n*Edges\n4 1 2.5\n2 1\n',
    )
    assert loaded.graph.names == ("b b", "a", "z", "é")
    assert named_edges(loaded.graph) == {frozenset(("é", "b b")), frozenset(("a", "b b"))}
    assert loaded.positions == {0: (0.1, 0.2), 3: (0.3, 1.0)}


@pytest.mark.parametrize(
    ("second", "why"),
    [(' "C"', "2 vertices are called 'C'"), ("", "2 of 3 vertices have one")],
    ids=["equal", "missing"],
)
def test_pajek_labels_that_do_not_tell_the_vertices_apart_are_left_out(tmp_path, second, why):
    loaded = load(tmp_path / "a.net", f'*Vertices 3\n1 "C"\n2{second}\n3 "O"\n*Edges\n1 2\n2 3\n')
    assert loaded.graph.names == ("1", "2", "3")
    assert loaded.graph.edges().tolist() == [[0, 1], [1, 2]]
    assert [note.partition(": ")[2] for note in loaded.notes] == [
        f"the labels are left out, as {why}; the vertices are called '1' and so on"
    ]


def test_pajek_lists_and_matrices(tmp_path):
    assert load(tmp_path / "a.net", "*Vertices 3\n*Edgeslist\n1 2 3\n").graph.edges().tolist() == [[0, 1], [0, 2]]
    assert load(tmp_path / "a.net", "*Vertices 3\n*Matrix\n0 1 0\n1 0 2\n0 1 0\n").graph.edges().tolist() == [
        [0, 1],
        [1, 2],
    ]
    both = "*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n*Arcslist\n3 1 3\n"
    assert load(tmp_path / "a.net", both, simplify=True).graph.m == 3


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("*Vertices 2\n*Arcs\n1 2\n1 2\n", "a.net:4: edge 1 -> 2 is already in line 3; a simple graph has each edge"),
        ("*Vertices 2\n*Edges\n1 2\n2 1\n", "a.net:4: edge 2 - 1 is already in line 3"),
        ("*Vertices 2\n*Edges\n1 1\n", "a.net:3: edge from 1 to itself"),
        ("*Vertices 2\n*Edges\n1 3\n", "a.net:3: '3' is not a vertex: they are the numbers 1 to 2"),
        ("*Vertices 2\n*Edges\n1\n", "a.net:3: *edges needs two vertices in each line"),
        ("*Vertices x\n", "a.net:1: the vertices must be announced by `*Vertices N`"),
        ("*Vertices 2\n1 a\n1 b\n", "a.net:3: vertex 1 is listed twice"),
        ("*Vertices 2\n*Vertices 2\n", "a.net:2: *vertices after *Vertices: the file holds several networks"),
        ("*Vertices 2\n*Network\n1 2\n", "a.net:2: *network after *Vertices: the file holds several networks"),
        ("*Vertices 2\n*Partition\n", "a.net:2: a section *partition is not part of a network"),
        ("*Edges\n1 2\n", "a.net:1: *edges before *Vertices"),
        ("% x\n", "a.net: no *Vertices section"),
        ("*Vertices 2\n*Matrix\n0 1\n", "a.net: the *Matrix section needs a row for each vertex: 2 rows, found 1"),
        ("*Vertices 2\n*Matrix\n0 1\n1\n", "a.net:4: a row of the matrix needs 2 entries, found 1"),
        ("*Vertices 2\n*Matrix\n0 x\n1 0\n", "a.net:3: 'x' is not a number"),
        ("*Vertices 99999999999\n", "a.net:1: the file declares 99,999,999,999 vertices"),
    ],
)
def test_a_wrong_pajek_file_is_one_clear_line(tmp_path, text, part):
    assert refusal(tmp_path / "a.net", text).startswith(part)


def test_dimacs_with_each_edge_both_ways(tmp_path):
    text = "p edge 4 {}\ne 1 2\ne 3 2\ne 2 1\ne 2 3\n"
    for declared in (2, 4):
        assert load(tmp_path / "a.col", text.format(declared)).graph.edges().tolist() == [[0, 1], [1, 2]]
    assert "declares m=3" in refusal(tmp_path / "a.col", text.format(3))


@pytest.mark.parametrize("word", ["nan", "1_0", "\u0661", "inf"])
def test_numbers_of_a_pajek_file_are_plain_ones(tmp_path, word):
    text = f'*Vertices 2\n1 "a" {word} 0.5\n2 "b" 1 1e-1\n*Edges\n1 2\n'
    assert load(tmp_path / "a.net", text).positions == {1: (1.0, 0.1)}
    assert f"{word!r} is not a number" in refusal(tmp_path / "a.net", f"*Vertices 2\n*Matrix\n0 {word}\n1 0\n")


METIS = "% two triangles and a vertex alone\n\n5 5\n2 3 4\n1 3\n1 2 4\n3 1\n\n"


def test_metis_is_told_by_its_lines(tmp_path):
    told = load(tmp_path / "a.graph", METIS)
    assert (told.graph.n, named_edges(told.graph)) == (5, pairs("1 2", "1 3", "1 4", "2 3", "3 4"))
    assert [note.partition(": ")[2] for note in told.notes] == [
        "read as METIS: each line has the neighbours of a vertex"
    ]
    assert load(tmp_path / "a.metis", METIS).notes == ()
    triangle = load(tmp_path / "a.txt", "4 3\n2 3\n1 3\n1 2\n\n").graph
    assert (triangle.n, named_edges(triangle)) == (4, pairs("1 2", "1 3", "2 3"))

    for text, edges in (("2 1\n1 3\n2 3\n", 3), ("1 0\n\n", 1), ("3 4\n1 2\n1 3\n1 4\n2 3\n", 5)):
        assert load(tmp_path / "a.txt", text).graph.m == edges
        assert load(tmp_path / "a.txt", text).notes == ()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("5 5 1\n2 3 4\n", "1: METIS begins with `n m`, the numbers of vertices and edges; weights are not read"),
        ("% nothing\n", "a.metis: METIS begins with"),
        ("3 2\n2\n1 4\n3\n", "3: line 2 of 3 has numbers of neighbours, from 1 to 3: '4'"),
        ("3 2\n2\n1 \u0663\n3\n", "3: line 2 of 3 has numbers of neighbours, from 1 to 3: "),
        (f"3 2\n2\n1 {'9' * 5000}\n3\n", "3: line 2 of 3 has numbers of neighbours, from 1 to 3: "),
        ("3 2\n2\n1 3\n2\n1\n", "5: line 4 of 3 has numbers of neighbours"),
        ("3 1\n2\n1 3\n2\n", "3: the heading declares m=1, and here begins the next edge"),
        ("3 3\n2\n1 3\n2\n", "1: the heading declares n=3 and m=3, but the file has 3 and 2"),
        ("3 2\n2\n1 3\n1\n", "3: 3 is a neighbour of 2, but 2 none of 3"),
        ("3 2\n2 2\n1 1\n\n", "2: edge 1 - 2 is already in line 2"),
        ("2 1\n1 1\n\n", "2: edge from 1 to itself"),
    ],
)
def test_a_wrong_metis_file_is_one_clear_line(tmp_path, text, part):
    assert part in refusal(tmp_path / "a.metis", text)
