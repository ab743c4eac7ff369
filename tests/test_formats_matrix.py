"""Matrices with names, as spreadsheets write them: adjacency, and who eats whom."""

import json
import random
import warnings
from decimal import Decimal

import networkx as nx
import numpy as np
import pytest
from chordless import Graph, GraphError, OptionError, as_graph, count_cycles, load_graph, overlap_graph
from graph_files import load, named_edges, pairs, refusal
from program import chordless

SQUARE = "name;A;B;C;D\nA;0;1;0;1\nB;1;0;0,5;0\nC;;2,5;0;1\nD;1;;1e-3;0\n"
RING = pairs("A B", "B C", "C D", "D A")


def excel(prey, predators, links, separator=";", decimal=","):
    """Write a web as Excel does: a byte order mark, line ends of Windows, empty columns and rows at the end."""
    rows = [["", *predators, "", ""]]
    for name in prey:
        shares = [f"0{decimal}25" if (name, predator) in links else "" for predator in predators]
        rows.append([f'"{name}"', *shares, "", ""])
    rows.append([""] * len(rows[0]))
    return ("\ufeff" + "".join(separator.join(row) + "\r\n" for row in rows)).encode()


def random_web(number):
    generator = random.Random(number)
    species = [f"S{i}_adult" for i in range(14)]
    links = {(prey, predator) for prey in species[:10] for predator in species[4:] if generator.random() < 0.25}
    return species, links


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize("head", ["", "sep=SEP\n"])
def test_an_adjacency_matrix(tmp_path, separator, head):
    text = SQUARE.replace(",", "." if separator == "," else ",").replace(";", separator)
    loaded = load(tmp_path / "a.csv", head.replace("SEP", separator) + text)
    assert loaded.graph.names == ("A", "B", "C", "D")
    assert named_edges(loaded.graph) == RING
    assert loaded.graph.is_simple
    assert loaded.notes == ()


@pytest.mark.parametrize("words", [("TRUE", "FALSE"), ("True", "False")])
def test_true_is_an_edge_and_false_is_none(tmp_path, words):
    text = ",A,B,C,D\n" + "".join(
        f"{u},{','.join(words[(i - j) % 4 % 2 == 0] for j in range(4))}\n" for i, u in enumerate("ABCD")
    )
    loaded = load(tmp_path / "a.csv", text)
    assert named_edges(loaded.graph) == RING
    assert loaded.notes == ()


def test_rows_and_columns_in_different_orders_are_the_same_vertices(tmp_path):
    loaded = load(tmp_path / "a.csv", ";b;a;c\nc;1;1;0\na;0;0;1\nb;;;1\n")
    assert named_edges(loaded.graph) == pairs("a c", "b c")
    assert not loaded.graph.directed


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_r_writes_no_name_above_the_names_of_rows(tmp_path, separator):
    square = "A;B;C;D\nA;0;1;0;1\nB;1;0;1;0\nC;0;1;0;1\nD;1;0;1;0\n"
    assert named_edges(load(tmp_path / "a.csv", square.replace(";", separator)).graph) == RING
    # The plant eats nothing, so that the last cell of each row is empty.
    path = tmp_path / "web.csv"
    path.write_text("fox;mouse;hare;plant\nfox;;;;\nmouse;1;;;\nhare;1;;;\nplant;;1;1;\n".replace(";", separator))
    assert named_edges(overlap_graph(path)) == pairs("mouse hare")


def test_a_data_frame_of_r_is_no_matrix(tmp_path):
    frame = "a\tb\tw\n1\t3\t4\t2\n2\t4\t5\t1\n"
    assert refusal(tmp_path / "a.tsv", frame).startswith("a.tsv:1: edge needs two vertices")


def test_a_matrix_that_is_not_symmetric_needs_a_word(tmp_path):
    text = ";A;B;C\nA;0;1;0\nB;0;0;1\nC;1;0;1\n"
    assert refusal(tmp_path / "a.csv", text) == (
        "a.csv:2: the matrix is directed: row 'A' has an entry for 'B', but row 'B' none for 'A'; say so with "
        "directed=True, or use simplify=True to drop directions"
    )
    directed = load(tmp_path / "a.csv", text, directed=True).graph
    assert directed.directed
    assert directed.edges().tolist() == [[0, 1], [1, 2], [2, 0], [2, 2]]
    assert named_edges(load(tmp_path / "a.csv", text, simplify=True).graph) == pairs("A B", "B C", "A C")
    assert "edge from A to itself" in refusal(tmp_path / "a.csv", ";A;B\nA;1;1\nB;1;0\n")


@pytest.mark.parametrize(
    "text",
    [
        ",0,1\n0,1,2\n1,2,3\n2,3,1\n",
        ",0,1,2\n0,1,2,0.5\n1,2,3,1\n2,3,4,1\n3,4,1,2\n",
        ",0,1\n0,a,b\n1,b,c\n2,c,a\n",
    ],
    ids=["edges", "weights", "names"],
)
def test_edges_behind_the_numbers_of_rows_of_pandas_are_no_matrix(tmp_path, text):
    said = refusal(tmp_path / "a.csv", text)
    assert said.startswith("a.csv:1: the first cell is empty: ")
    assert "as pandas writes them, leave it out with index=False" in said


def test_numbered_rows_and_columns_of_0_and_1_are_a_predation_matrix(tmp_path):
    assert load(tmp_path / "a.csv", ",0,1\n0,0,1\n1,1,0\n2,1,1\n", multigraph=True).graph.directed


def test_different_names_make_a_predation_matrix(tmp_path):
    loaded = load(tmp_path / "a.csv", ";fox;hare\ngrass;;1\nhare;2,0;0\n")
    assert loaded.graph.directed
    assert loaded.graph.names == ("grass", "hare", "fox")
    assert loaded.graph.edges().tolist() == [[0, 1], [1, 2]]
    assert "an entry is an arc from its row to its column" in loaded.notes[0]
    assert not load(tmp_path / "a.csv", ";fox;hare\ngrass;;1\nhare;2,0;0\n", simplify=True).graph.directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (";A;B\nA;NA;1\nB;1;NA\n", "a.csv:2: row 'A', column 'A': 'NA' says that the value is missing; leave the cell"),
        (";A;B\nA;0;x\nB;0;0\n", "a.csv:2: row 'A', column 'B': 'x' is not a number; leave the cell empty where there"),
        (";A;B\nA;0\nB;0;0\n", "a.csv:2: row 'A' has 1 entry, the first line names 2 columns"),
        (";A;B\nA;0;1;1\nB;0;0\n", "a.csv:2: row 'A' has 3 entries, the first line names 2 columns"),
        (";A;A\nA;0;1\nB;0;0\n", "a.csv: two columns of the matrix are called 'A'"),
        (";A;B\nA;0;1\nA;0;0\n", "a.csv: two rows of the matrix are called 'A'"),
        (";A;;B\nA;0;1;1\nB;0;0;0\n", "a.csv: column 2 of the matrix has no name"),
        (";A;B\nA;0;1\n;0;1\n", "a.csv: row 2 of the matrix has no name"),
        (";A;B\n", "a.csv: the matrix has no rows"),
        ("A\nB\n", "a.csv: the matrix has no columns"),
    ],
)
def test_what_is_no_matrix_is_one_clear_line(tmp_path, text, message):
    assert refusal(tmp_path / "a.csv", text, file_format="matrix").startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (";A;B;C\nA;0;1;1\nB;1;0\nC;1;1;0\n", "a.txt:3: row 'B' has 2 entries, the first line names 3 columns"),
        (",A,B\nA,0,1\nB,1,x\n", "a.txt:3: row 'B', column 'B': 'x' is not a number"),
        ("A;B;C\nA;0;1;1\nB;1;0\nC;1;1;0\n", "a.txt:3: row 'B' has 2 entries, the first line names 3 columns"),
        ("web\tA\tB\tC\nA\t0\t1\t1\nB\t1\t0\ty\nC\t1\t1\t0\n", "a.txt:3: row 'B', column 'C': 'y' is not a number"),
        (";A;B;C;D\ne;0;1;1\nf;1;0;0;1\n", "a.txt:2: row 'e' has 3 entries, the first line names 4 columns"),
        (",A,B,C\ne,0,1,1\ne,1,0,0\n", "a.txt: two rows of the matrix are called 'e'"),
        ("prey,A,B,A\ne,0,1,1\nf,1,0,0\n", "a.txt: two columns of the matrix are called 'A'"),
        (",A,B,C\ne,0,1,1\n,1,0,0\n", "a.txt: row 2 of the matrix has no name"),
        (",A,,C\nA,0,1,1\nf,1,0,0\n", "a.txt: column 2 of the matrix has no name"),
        ("0 1 1 0\n1 0 x 1\n1 1 0\n0 1 0 0\n", "a.txt: this matrix has no names: write them into a first row"),
        ("\n0,1,1,0\n1,0,1,0\n1,1,0,0\n0,0,0,0\n", "a.txt: this matrix has no names: write them into a first row"),
        ("0 1 1\n1 0 1\n1 1 0\n", "a.txt: this matrix has no names: write them into a first row"),
        (3 * "0.000e+00 1.000e+00 0.0\n", "a.txt: this matrix has no names: write them into a first row"),
        ("0,1,0\n\n1,0,1\n0,1,0\n", "a.txt: this matrix has no names: write them into a first row"),
    ],
)
def test_a_fault_of_a_matrix_is_told_as_one_without_the_format(tmp_path, text, message):
    assert refusal(tmp_path / "a.txt", text).startswith(message)


@pytest.mark.filterwarnings("ignore:.*(taken for a heading|the third column)")
@pytest.mark.parametrize(
    ("text", "is_matrix"),
    [
        (";A;B\nA;0;1\nB;1;0\n", True),
        ("x;A;B;C\nA;0;1;0\nB;1;0;0\nC;0;0;0\n", True),
        ("from;to;weight\n1;2;3\n2;3;4\n", False),
        ('"",A,B\nA,0,1\nB,1,0\n', True),
        ("0;1;1\n1;2;1\n2;0;1\n", False),
        ("A;B\nB;C\n", False),
        ("0;1;1\n", False),
    ],
)
def test_a_matrix_is_told_from_a_list(tmp_path, text, is_matrix):
    path = tmp_path / "a.csv"
    path.write_text(text)
    told = load(path, text).graph
    assert named_edges(told) == named_edges(load_graph(path, file_format="matrix" if is_matrix else "edgelist"))
    assert set(told.names) <= set("ABC123" if is_matrix else "ABC0123")


@pytest.mark.parametrize("ends", ["Node ", "ID ", "vertex "])
@pytest.mark.parametrize("corner", [";", "Name;", ""])
def test_the_columns_of_a_matrix_may_be_called_as_the_ends_of_edges(tmp_path, ends, corner):
    ring = "A;B;C;D\nA;0;1;0;1\nB;1;0;1;0\nC;0;1;0;1\nD;1;0;1;0\n"
    named = corner + "".join(f"{ends}{'ABCD'.index(sign) + 1}" if sign in "ABCD" else sign for sign in ring)
    graph = load(tmp_path / "a.csv", named).graph
    assert (graph.n, graph.m, graph.names[0]) == (4, 4, f"{ends}1")


def test_a_list_with_numbered_rows_is_no_matrix(tmp_path):
    assert named_edges(load(tmp_path / "a.csv", ",source,target\n0,1,2\n1,2,3\n").graph) == pairs("1 2", "2 3")


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_predation_matrix_of_excel_is_the_same_web_as_a_list(tmp_path, number, separator):
    species, links = random_web(number)
    matrix, web_list, square = (str(tmp_path / name) for name in ("matrix.csv", "list.txt", "square.csv"))
    with open(matrix, "wb") as file:
        file.write(excel(species[:10], species[4:], links, separator))
    with open(square, "wb") as file:
        file.write(excel(species, species, links, separator))
    with open(web_list, "w") as file:
        file.writelines(f"{prey} -> {predator}\n" for prey, predator in sorted(links))
    expected = {
        frozenset((u, v))
        for u in species
        for v in species
        if u < v and any((prey, u) in links and (prey, v) in links for prey in species)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # these name species alone: a partition with types is not missed
        for path in (matrix, web_list, square):
            assert named_edges(overlap_graph(path)) == expected
    counts = count_cycles(nx.Graph(map(tuple, expected)), arch="reference", min_length=4)
    assert count_cycles(overlap_graph(matrix), arch="reference", min_length=4).by_length == counts.by_length


@pytest.mark.slow
def test_the_report_of_a_matrix(tmp_path):
    species = list("ABCDEFGH")
    links = {(f"prey {i}", species[j]) for i in range(6) for j in (i, (i + 1) % 6)}
    path = tmp_path / "web.csv"
    path.write_bytes(excel([f"prey {i}" for i in range(6)], species[:6], links))
    done = chordless("overlap", str(path), "--types", "none", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["holes"] == 1
    assert "this is a predation matrix" not in done.stderr, "overlap asks for one"


def test_frames_and_matrices_in_memory():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1, None], [1, 0, 2.5], [None, 1, 0]], index=list("abc"), columns=list("abc"))
    assert named_edges(as_graph(frame)) == pairs("a b", "b c")
    assert named_edges(as_graph(frame[["c", "a", "b"]])) == pairs("a b", "b c")
    with pytest.raises(GraphError, match="the same names in rows and columns, this data frame has not"):
        as_graph(pandas.DataFrame({"source": [1, 2], "target": [2, 3]}))
    with pytest.raises(GraphError, match="holds numbers, 0 or nothing"):
        as_graph(pandas.DataFrame([["x"]], index=["a"], columns=["a"]))
    with pytest.raises(GraphError, match="have the same name"):
        as_graph(pandas.DataFrame([[0, 1], [1, 0]], index=["a", "a"], columns=["a", "b"]))
    with pytest.raises(GraphError, match="the matrix is directed"):
        as_graph(pandas.DataFrame([[0, 1], [0, 0]], index=["a", "b"], columns=["a", "b"]))
    unnamed = pandas.DataFrame([[0, 1], [1, 0]], index=[1, float("nan")], columns=[1, float("nan")])
    with pytest.raises(GraphError, match=r"a row or a column of the data frame has no name \(NaN\)"):
        as_graph(unnamed, simplify=True)
    for part in (("a", float("nan")), Decimal("nan")):
        label = pandas.Index([part, "b"], dtype=object, tupleize_cols=False)
        with pytest.raises(GraphError, match=r"has no name \(NaN\)"):
            as_graph(pandas.DataFrame([[0, 1], [1, 0]], index=label, columns=label), simplify=True)
    turned = pandas.DataFrame([[0, 1j], [-1j, 0]])
    assert as_graph(turned).m == as_graph(turned.to_numpy()).m == 1
    species, links = random_web(1)
    table = pandas.DataFrame(
        [[float((prey, eater) in links) for eater in species[4:]] for prey in species[:10]],
        index=species[:10],
        columns=species[4:],
    )
    web = nx.DiGraph(sorted(links))
    assert named_edges(overlap_graph(table)) == named_edges(overlap_graph(web))
    assert named_edges(overlap_graph(table.replace(0, np.nan))) == named_edges(overlap_graph(web))


def test_a_directed_matrix_is_sent_to_the_constructor_of_its_library():
    scipy, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    arcs = np.eye(3, k=1)
    for matrix, name in ((arcs, "numpy"), (scipy.csr_array(arcs), "scipy"), (pandas.DataFrame(arcs), "pandas")):
        with pytest.raises(GraphError, match=rf"Graph\.from_{name}\(matrix, directed=True\) makes a directed graph"):
            as_graph(matrix)
        assert getattr(Graph, f"from_{name}")(matrix, directed=True).m == 2


@pytest.mark.parametrize("missing", [None, float("nan"), "NA of pandas"])
@pytest.mark.parametrize("kind", ["object", "str", "Int64"])
def test_a_missing_cell_of_a_frame_is_no_edge_whatever_its_column_holds(kind, missing):
    pandas = pytest.importorskip("pandas")
    missing = pandas.NA if missing == "NA of pandas" else missing
    cells = pandas.Series([missing, 1, 1, missing], dtype=object)
    cells = cells if kind == "object" else cells.astype(pandas.StringDtype() if kind == "str" else kind)
    frame = pandas.DataFrame({"a": cells[:2].to_list(), "b": cells[2:].to_list()}, index=["a", "b"], dtype=cells.dtype)
    assert frame.isna().to_numpy().tolist() == [[True, False], [False, True]]
    assert named_edges(as_graph(frame)) == pairs("a b")


def test_webs_in_memory():
    web = np.zeros((4, 4), int)
    web[0, [1, 2]] = web[1, 1] = web[1, 3] = 1
    assert overlap_graph(web).edges().tolist() == [[1, 2], [1, 3]]
    assert overlap_graph(Graph.from_numpy(web, directed=True)).edges().tolist() == [[1, 2], [1, 3]]
    with pytest.raises(GraphError, match="a food web is a directed graph"):
        overlap_graph(nx.path_graph(3))
    with pytest.raises(GraphError, match="an adjacency matrix is square"):
        overlap_graph(np.zeros((2, 3)))
    with pytest.raises(OptionError, match="types and encoding are of a file"):
        overlap_graph(web, types="web.clu")


def test_a_web_of_edges_is_refused(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    with pytest.raises(GraphError, match="a food web has arcs, this file has none"):
        overlap_graph(tmp_path / "a.graphml")
    (tmp_path / "roads.txt").write_text("1 2\n2 3\n1 3\n")
    with pytest.raises(GraphError, match=r"or lines `prey -> predator`$"):
        overlap_graph(tmp_path / "roads.txt")


def test_a_name_keeps_the_end_of_a_line_in_it(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(';"Sea\ntrout";b\n"Sea\ntrout";0;1\nb;1;0\n')
    assert load_graph(str(path)).names == ("Sea\ntrout", "b")
