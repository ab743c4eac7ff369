"""Edge lists, read and written: what they hold, and one clear line for each way to be wrong."""

import gzip
import io

import numpy as np
import pytest
from chordless.graphs.load import LoadedGraph, load_graph, read_weight_file
from chordless.graphs.readers import edge_list, large_list
from chordless.graphs.readers.source import Source
from chordless.graphs.writers import save_graph, write_edge_list
from graph_files import load, named_edges, pairs, refusal
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernels_ti import EngineError, Graph, GraphError, OptionError


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("data", ["{}", "{'weight': 3}", "{'weight': 3, 'b': 4}"])
def test_the_data_of_networkx_are_left_out_behind_any_separator(tmp_path, separator, data):
    rows = [("Ann Lee", "b"), ("b", "Eve Roe"), ("Eve Roe", "d")]
    graph = load(tmp_path / "a.txt", "".join(f"{separator.join((u, v, data))}\n" for u, v in rows)).graph
    assert graph.names == ("Ann Lee", "b", "Eve Roe", "d")
    assert graph.m == 3


def test_integer_ids_are_sorted_by_value(tmp_path):
    graph = load(tmp_path / "a.txt", "10 9\n2 10\n9 2\n").graph
    assert graph.names == ("2", "9", "10")
    assert named_edges(graph) == pairs("2 9", "2 10", "9 10")


def test_other_ids_keep_the_order_in_which_they_appear(tmp_path):
    graph = load(tmp_path / "a.txt", "oslo bergen\nbergen 12\n").graph
    assert graph.names == ("oslo", "bergen", "12")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("ids", ["007 8", "7 -8", "99999999999999999999 7", "9223372036854775807 7", "1\x0b2"])
def test_unusual_ids(tmp_path, ids):
    graph = load(tmp_path / "a.txt", ids + "\n").graph
    assert (graph.n, graph.m) == (2, 1)
    assert set(graph.names) == {str(int(word)) for word in ids.split()}


def test_blank_lines_tabs_line_ends_and_a_byte_order_mark(tmp_path):
    graph = load(tmp_path / "a.txt", "\ufeff# hello\r\n\r\n1\t2\r\n  2   3  \r\n   \r\n% konect").graph
    assert named_edges(graph) == pairs("1 2", "2 3")


def test_a_declared_n_adds_isolated_vertices(tmp_path):
    assert load(tmp_path / "a.txt", "# n=5 m=1\n2 4\n").graph.names == ("1", "2", "3", "4", "5")
    assert load(tmp_path / "b.txt", "# n=5 m=1\n0 4\n").graph.names == ("0", "1", "2", "3", "4")
    assert load(tmp_path / "c.txt", "# n=3 m=0\n").graph.n == 3
    assert load(tmp_path / "d.txt", "# n=0 m=0\n").graph.n == 0


def test_ids_with_gaps_and_their_header(tmp_path):
    assert load(tmp_path / "a.txt", "# n=2 m=1\n20 40\n").graph.names == ("20", "40")
    assert load(tmp_path / "b.txt", "# n=3 m=1\n# label 30 c\n20 40\n").graph.names == ("20", "30", "40")
    assert "give each a line `# label ID text`" in refusal(tmp_path / "c.txt", "# n=3 m=1\n20 40\n")
    assert "n=3, but 2 vertices occur in the file and are not from 1 to 3" in refusal(
        tmp_path / "d.txt", "# n=3 m=1\na b\n"
    )
    too_many = "# n=3 m=1\n# label 1 a\n# label 2 b\n# label 3 c\n# label 4 d\n1 2\n"
    assert refusal(tmp_path / "e.txt", too_many).endswith("n=3, but 4 vertices occur in the file")


def test_labels_are_names_if_all_are_given_and_differ(tmp_path):
    text = "# label 1 Acton Town\n# label 2 Bank\n# label 3 {}\n1 2\n2 3\n"
    assert load(tmp_path / "a.txt", text.format("Angel")).graph.names == ("Acton Town", "Bank", "Angel")
    assert load(tmp_path / "b.txt", text.format("Bank")).graph.names == ("1", "2", "3")
    assert load(tmp_path / "c.txt", "# label 1 Acton\n1 2\n").graph.names == ("1", "2")


def test_positions_are_by_index(tmp_path):
    loaded = load(tmp_path / "a.txt", "# xy 20 1.5 -2e3\n# xy 10 0 1\n10 20\n20 30\n")
    assert loaded.positions == {0: (0.0, 1.0), 1: (1.5, -2000.0)}
    assert load(tmp_path / "b.txt", "1 2\n").positions is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("1 2\n\na b c\n", "a.txt:3: edge needs two vertices, found 3 words: 'a b c'"),
        (
            "1 2\n2 3 0.5\n",
            "a.txt:2: edge needs two vertices, found 3 words: '2 3 0.5' (weights in a third column",
        ),
        ("1 2 0.5\n2 3\n", "a.txt:2: each line of this list is an edge and a number, its weight; found 2 words: '2 3'"),
        ("1 2 1\n2 3 nan\n", "a.txt:2: each line of this list is an edge and a number, its weight; found 3 words"),
        ("1 2 a\n2 3 b\n", "a.txt:1: edge needs two vertices, found 3 words: '1 2 a'"),
        ("1 2\n3\n", "a.txt:2: edge needs two vertices, found 1 word: '3'"),
        ("1,2\n2,3\n2;3\n", "a.txt:3: edge needs two vertices, with commas between the columns, found 1 word: '2;3'"),
        ("1,2\n2,\n", "a.txt:2: edge needs two vertices, with commas between the columns, found 2 words: '2,'"),
        ("1 2\n2 3 0.5 6\n3 1\n", "a.txt:2: edge needs two vertices, found 4 words: '2 3 0.5 6'"),
        ("# xy 1 nan 1\n1 2\n", "a.txt:1: `# xy` needs a vertex id and two numbers"),
        ("# xy 1 1_0 \u0661\n1 2\n", "a.txt:1: `# xy` needs a vertex id and two numbers"),
        ("1 2 # road\n", "a.txt:1: edge needs two vertices, found 4 words"),
        ("# a\n\n1 2\n4 4\n", "a.txt:4: edge from 4 to itself; a simple graph has no loops — simplify=True drops them"),
        ("#\n1 2\n2 3\n\n2 1\n", "a.txt:5: edge 2 - 1 is already in line 2; a simple graph has each edge once"),
        ("x y\nx y\n", "a.txt:2: edge x - y is already in line 1"),
        ("# n=3 m=5\n1 2\n2 3\n", "a.txt:1: the header declares m=5, but the file has m=2"),
        ("#\n# n=2 m=2\n1 2\n2 3\n", "a.txt:2: the header declares n=2, but 3 vertices occur"),
        ("# n=3 m=x\n1 2\n", "a.txt:1: the header must read `# n=N m=M`"),
        ("# n=2 m=1\n# n=2 m=1\n1 2\n", "a.txt:2: a second `# n= m=` header"),
        ("# n=900000000000 m=1\n1 2\n", "a.txt:1: the file declares 900,000,000,000 vertices"),
        ("# label 7 x\n1 2\n", "a.txt:1: `# label` for 7, which is not a vertex"),
        ("# xy 7 1 1\n1 2\n", "a.txt:1: `# xy` for 7, which is not a vertex"),
        ("# xy 1 1 a\n1 2\n", "a.txt:1: `# xy` needs a vertex id and two numbers"),
        ("# label 1\n1 2\n", "a.txt:1: `# label` needs a vertex id and a text"),
        ("# label 1 a\n# label 01 b\n1 2\n", "a.txt:2: a second `# label` for vertex 1"),
        ("", "a.txt: the file is empty"),
        (" \n\n", "a.txt: the file is empty"),
        ("# only words\n", "a.txt: no edges"),
        (b"1 2\n\xff\xfe 3\n", "a.txt:2: byte 0xff is not UTF-8 text"),
        (b"\x7fELF\0\0\1", "a.txt: this is a binary file"),
        (b"PK\3\4\x14\0\0\0", "a.txt: this is a ZIP archive, as Excel saves: save the table as CSV"),
        ("1 2\n".encode("utf-16"), 'a.txt: this is UTF-16 text: say so with encoding="utf-16", or save the file'),
        ("1 2\n".encode("utf-32"), 'a.txt: this is UTF-32 text: say so with encoding="utf-32", or save the file'),
        (
            "\ufeff1 2\n".encode("utf-32-be"),
            'a.txt: this is UTF-32 text: say so with encoding="utf-32", or save the file',
        ),
        ("A,B,Type,Id\n1,2,x,0\n", "a.txt:1: an edge list has two columns, or three with weights; found 4"),
        (
            "A,B,C,D\n1,2,x,0\n",
            "a.txt:1: an edge list has two columns, or three with weights; found 4: 'A,B,C,D' (a table of edges has a "
            "heading that names the ends: source and target, from and to, or u and v; a matrix has names",
        ),
        ("1 -- 2\n2 -- 3\n", "a.txt:1: each line has '--' in column 2, which is no vertex"),
        ("1 <-> 2\n", "a.txt:1: each line has '<->' in column 2"),
        ("1 pp 2\n2 pp 3\n", "a.txt:1: each line has 'pp' in column 2"),
        (
            "e 1 2\ne 2 3\n",
            "a.txt:1: each line has 'e' in column 1, which is no vertex; an edge is `u v` or `u v weight`; D",
        ),
        ("0: 1 3\n1: 0 2\n", "a.txt:1: '0:' ends in a colon, and is no vertex"),
        ("Vertices: 4\n1 2\n", "a.txt:1: 'Vertices:' ends in a colon"),
        ("0 2\n1 {}\n2 {}\n1 0\n2 0\n", "a.txt:1: this is a multiline adjacency list of networkx"),
        ("9 0\n0 1\n1 {}\n1 0\n", "a.txt:1: this is a multiline adjacency list of networkx"),
        ("id u v\n10 1 2\n11 2 3\n", "a.txt:1: the ends of the edges are in columns 2 and 3 of 'id u v'; an edge"),
        ("id Prey Predator\n1 8 9\n2 9 7\n", "a.txt:1: the ends of the edges are in columns 2 and 3"),
        ("(0, 1)\n(1, 2)\n", "a.txt:1: an edge list has no brackets"),
        ("[0, 1]\n[1, 2]\n", "a.txt:1: an edge list has no brackets"),
        ("1 2 nan\n2 3 1\n3 1 1\n", "a.txt:1: each line of this list is an edge and a number, its weight"),
        ("a b 0x10\nb c 1\nc a 1\n", "a.txt:1: each line of this list is an edge and a number, its weight"),
        ("7 8 w\n8 9 1\n", "a.txt:1: each line of this list is an edge and a number, its weight"),
        (gzip.compress(b"1 2\n" * 99, mtime=0)[:-12], "a.txt: the gzip file is damaged or cut short"),
        (b"\x1f\x8bnonsense", "a.txt: the gzip file is damaged or cut short"),
    ],
)
def test_a_wrong_edge_list_is_one_clear_line(tmp_path, text, part):
    assert refusal(tmp_path / "a.txt", text).startswith(part)


TABS = "divided at tabs, not at blanks"
UNUSED = "a.txt: the third column, weights, is not used: every line is an edge"
HEADING = "a.txt:1: taken for a heading, not for an edge: '{}'"


@pytest.mark.parametrize(
    ("text", "edges", "notes"),
    [
        ("1 2 0.5\n2 3 -1e3\n", pairs("1 2", "2 3"), [UNUSED]),
        ("1 2 {'weight': 3, 'b': 4}\n2 3 {}\n", pairs("1 2", "2 3"), ["a.txt: the data in braces are not used: every"]),
        ("1 2 {}\n2 3 {}\n", pairs("1 2", "2 3"), []),
        ("1,2\n2,3\n", pairs("1 2", "2 3"), []),
        ("1, 2\n2, 3\n", pairs("1 2", "2 3"), []),
        ("1;2;9\n2;3;9\n", pairs("1 2", "2 3"), [UNUSED]),
        ("u,v,weight\n1,2,9\n", pairs("1 2"), [HEADING.format("u,v,weight"), UNUSED]),
        ("Source\tTarget\n1\t2\n", pairs("1 2"), [HEADING.format("Source\\tTarget")]),
        ("from,to\nx,y\n", pairs("x y"), [HEADING.format("from,to")]),
        ("u v\n1 2\n", pairs("1 2"), [HEADING.format("u v")]),
        ("u v\nw x\n", pairs("u v", "w x"), []),
        ("from to\nfrom x\n", pairs("from to", "from x"), []),
        ("source target\n", pairs("source target"), []),
        ("a,b c,d\nc,d e\n", pairs("a,b c,d", "c,d e"), []),
        ("hub a 1\nhub b 2\n", pairs("hub a", "hub b"), [UNUSED]),
        ("hub 1 0.5\nhub 2 1\n", pairs("hub 1", "hub 2"), [UNUSED]),
        ("(0,0)\t(0,1)\n(0,1)\t(1,1)\n", pairs("(0,0) (0,1)", "(0,1) (1,1)"), []),
        (
            "7 01\n01 02\n",
            pairs("1 7", "1 2"),
            ["a.txt:1: a whole number loses the zeros before it"],
        ),
        ("0 1\n2 -0\n", pairs("0 1", "0 2"), ["a.txt:2: a whole number loses the zeros before it: -0 is the vertex 0"]),
        ("a 1\n1 -01\n", pairs("1 a", "1 -1"), ["a.txt:2: a whole number loses the zeros before it: -01"]),
    ],
)
def test_weights_separators_and_headings(tmp_path, text, edges, notes):
    loaded = load(tmp_path / "a.txt", text)
    assert named_edges(loaded.graph) == edges
    said = [note.removeprefix(f"{tmp_path}/") for note in loaded.notes]
    assert len(said) == len(notes)
    assert all(one.startswith(part) for one, part in zip(said, notes, strict=True)), said


@pytest.mark.parametrize(
    ("text", "edges", "notes"),
    [
        # Decimal commas, as Excel and R write them.
        ("a;b;0,5\nb;c;1,25\n", pairs("a b", "b c"), ["divided at semicolons, not at commas", UNUSED]),
        ("a b 0,5\nb c 1,25\n", pairs("a b", "b c"), ["divided at blanks, not at commas", UNUSED]),
        ("a\tb\t0,5\nb\tc\t1\n", pairs("a b", "b c"), [UNUSED]),
        ('a,b,"0,5"\nb,c,"1,25"\n', pairs("a b", "b c"), [UNUSED]),
        ("u v w\na b 0,5\nb c 1,25\n", pairs("a b", "b c"), ["u v w", UNUSED]),
        ("Room 1,Room 2\n", {frozenset(("Room 1", "Room 2"))}, ["divided at commas, not at blanks"]),
        ("1;2;0,5\n2;3;-,25e2\n", pairs("1 2", "2 3"), ["divided at semicolons, not at commas", UNUSED]),
        ("1 2 0,5\n2 3 1,25\n", pairs("1 2", "2 3"), ["divided at blanks, not at commas", UNUSED]),
        # Commas in names.
        ("0,1 0,2\n0,2 1,2\n", pairs("0,1 0,2", "0,2 1,2"), ["divided at blanks, not at commas"]),
        ("0,0 0,1\n0,0 1,0\n", pairs("0,0 0,1", "0,0 1,0"), ["divided at blanks, not at commas"]),
        ("0,0,0 0,0,1\n0,0,0 0,1,0\n0,0,1 0,1,1\n", pairs("0,0,0 0,0,1", "0,0,0 0,1,0", "0,0,1 0,1,1"), []),
        ("New York,Rome\nNew Haven,Rome\n", None, ["divided at commas, not at blanks"]),
        ("New York,Rome,5\nNew Haven,Rome,6\n", None, ["divided at commas, not at blanks", UNUSED]),
        # A name of two words behind a tab, and weights behind blanks.
        ("wolf\tplant 2\nfox\tplant 3\n", {frozenset(("wolf", "plant 2")), frozenset(("fox", "plant 3"))}, [TABS]),
        ("eater\tfood\nfox\ta\nfox\ta 3\n", {frozenset(("fox", "a")), frozenset(("fox", "a 3"))}, [TABS, "eater"]),
        ("1\t2 0.5\n2\t3 0.5\n", pairs("1 2", "2 3"), ["divided at blanks, not at tabs", UNUSED]),
        ("a b\t0.5\nb c\t0.6\n", pairs("a b", "b c"), ["divided at blanks, not at tabs", UNUSED]),
        # Headings by a rule: in no list, of any language.
        ("prey,predator\ngrass,hare\nhare,fox\n", pairs("grass hare", "hare fox"), ["prey,predator"]),
        ("Proie;Pr\u00e9dateur\na;b\nb;c\n", pairs("a b", "b c"), ["Proie;Pr\u00e9dateur"]),
        ("resource;consumer\n1;2\n", pairs("1 2"), ["resource;consumer"]),
        ("oslo bergen\n1 2\n3 4\n", pairs("1 2", "3 4"), ["oslo bergen"]),
        # No headings: the words have a weight, come again, are numbers, or are not the only ones that stand alone.
        ("a b 5\nc d 1\nd e 2\n", pairs("a b", "c d", "d e"), [UNUSED]),
        ("a b 5\n1 2 3\n2 3 4\n", pairs("a b", "1 2", "2 3"), [UNUSED]),
        ("prey,predator\ngrass,prey\ngrass,fox\n", pairs("prey predator", "grass prey", "grass fox"), []),
        ("a b\nb c\nc a\n", pairs("a b", "b c", "c a"), []),
        ("a b\nc d\nd e\nx y\n", pairs("a b", "c d", "d e", "x y"), []),
        ("n1 n2\nn3 n4\nn4 n15\n", pairs("n1 n2", "n3 n4", "n4 n15"), []),
        ("gene1 gene2\nTP53 BRCA1\nBRCA1 X\n", pairs("TP53 BRCA1", "BRCA1 X"), ["gene1 gene2"]),
        ("1 2\na b\nb c\n", pairs("1 2", "a b", "b c"), []),
    ],
)
def test_a_separator_for_the_whole_file_and_headings_by_a_rule(tmp_path, text, edges, notes):
    loaded = load(tmp_path / "a.txt", text)
    assert edges in (None, named_edges(loaded.graph))
    assert len(loaded.notes) == len(notes), loaded.notes
    assert all(part in note for note, part in zip(loaded.notes, notes, strict=True)), loaded.notes
    if edges is None:
        assert loaded.graph.names == ("New York", "Rome", "New Haven")


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        # A heading above weights fits its separator, whatever the blanks in the lines.
        ("a b,c,weight\nx y,z,1\nz,w v,2\n", ["x y - z", "w v - z"]),
        ("Room A;Room B;weight\nx y;z;3\nz;w v;4\n", ["x y - z", "w v - z"]),
        ("a b,c,weight\nx 1,x 2,5\n", ["x 1 - x 2"]),
        # A separator inside quotation marks divides nothing.
        ('"a; 1","a; 2"\n"a; 2","b"\n', ["a; 1 - a; 2", "a; 2 - b"]),
        ('"a; 1" , "a; 2"\n', ["a; 1 - a; 2"]),
        ('"x|2","it is","8"\n', ["it is - x|2"]),
        ('"a b";"10 """;"0,66"\n', ['10 " - a b']),
    ],
)
def test_quotation_marks_and_a_heading_of_weights_tell_the_separator(tmp_path, text, edges):
    graph = load(tmp_path / "a.txt", text).graph
    assert sorted(" - ".join(sorted(edge)) for edge in named_edges(graph)) == sorted(edges)


def test_names_in_quotation_marks_between_blanks_are_not_divided_at_a_comma(tmp_path):
    text = '"Smith, J." "Doe, K."\n"Doe, K." "Roe, L."\n'
    assert "edge needs two vertices, found 4 words" in refusal(tmp_path / "a.txt", text)


@pytest.mark.parametrize("columns", ["{};{}", "{} {}", "{}\t{}", "{}; {}"])
@pytest.mark.parametrize("heading", ["", "Proie;Pr\u00e9dateur;Poids\n"])
def test_weights_with_decimal_commas(tmp_path, columns, heading):
    lines = [columns.format(columns.format(u, v), w) for u, v, w in ("ab5", "bc1", "ca2")]
    path = tmp_path / "a.txt"
    graph = load(path, "\n".join(line.replace("5", "0,5").replace("1", "1,25") for line in lines)).graph
    if heading and ";" in columns:
        path.write_text(heading + path.read_text())
    weights = read_weight_file(str(path), graph)
    assert weights.gains.of_edges == {(0, 1): 2, (1, 2): 5, (0, 2): 8}
    assert weights.scale == 4
    path.write_text("a;0,5\nb;1,25\nc;2\n")
    assert read_weight_file(str(path), graph).gains.of_vertices == {0: 2, 1: 5, 2: 8}
    path.write_text("a;0,5\nb;1.25\nc;2\n")
    with pytest.raises(GraphError, match=r"a\.txt:2: 1\.25: some weights have a decimal point, others a comma"):
        read_weight_file(str(path), graph)


def test_names_with_blanks_between_tabs_or_commas(tmp_path):
    for text in ("Acton Town\tBank\nBank\tKing's Cross\n", 'Acton Town,Bank\n"Bank",King\'s Cross\nBank,Acton\n'):
        assert load(tmp_path / "a.txt", text).graph.names[:3] == ("Acton Town", "Bank", "King's Cross")


@pytest.mark.parametrize("first", ["a b friends", "a b NA", "x a NA", "x a ?", "x,a,n/a"])
def test_an_edge_that_lacks_its_weight_is_no_heading(tmp_path, first):
    rest = "b c 1\nc a 2\n"
    text = f"{first}\n{rest.replace(' ', ',') if ',' in first else rest}"
    assert refusal(tmp_path / "a.txt", text).startswith("a.txt:1: each line of this list is an edge and a number")
    # These are common names of columns, even if two vertices have them as well.
    text = f"source target type\n{rest.replace('a', 'source').replace('b', 'target')}"
    assert load(tmp_path / "a.txt", text).graph.names == ("target", "c", "source")


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        ("4 3\n2 3\n1 3\n1 2\n", True),  # METIS, but for the empty line of a vertex alone
        ("# from 0\n6 5\n0 1\n1 2\n2 3\n3 0\n0 5\n", True),
        ("6 5\n0 1\n1 2\n2 3\n3 0\n0 7\n", False),
        ("6 5\n0 1\n1 2\n2 3\n3 0\n", False),
        ("# n=4 m=4\n4 3\n2 3\n1 3\n1 2\n", False),
        ("4 -> 3\n2 -> 3\n1 -> 3\n1 -> 2\n", False),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_a_first_line_that_may_tell_the_numbers_of_vertices_and_edges_is_noted(
    tmp_path, monkeypatch, text, is_noted, large
):
    if large:
        monkeypatch.setattr(large_list, "LARGE", 0)
    (tmp_path / "a.txt").write_text(text)
    loaded = load_graph(str(tmp_path / "a.txt"))
    assert loaded.graph.m == text.count("\n") - text.count("#")
    assert len(loaded.notes) == is_noted
    if is_noted:
        n, m, line = (6, 5, 2) if "#" in text else (4, 3, 1)
        assert (
            f"a.txt:{line}: taken for an edge, not for the numbers of vertices and edges: {n} {m} (" in loaded.notes[0]
        )


def test_a_heading_keeps_the_lines_of_errors(tmp_path):
    assert refusal(tmp_path / "a.txt", "u,v\n1,2\n\n2,1\n").startswith("a.txt:4: edge 2 - 1 is already in line 2")


def test_other_encodings(tmp_path):
    text = "Ål Bø\nBø Ål2\n"
    for encoding in ("latin-1", "utf-16", "UTF8"):
        loaded = load(tmp_path / "a.txt", text.encode(encoding), encoding=encoding)
        assert loaded.graph.names == ("Ål", "Bø", "Ål2")
    latin = text.encode("latin-1")
    assert (
        'a.txt:1: byte 0xc5 is not UTF-8 text; save the file as UTF-8, or say what it is, such as encoding="latin-1"'
        in (refusal(tmp_path / "a.txt", latin))
    )
    for wrong in ("klingon", "hex", "", "\0", "idna", "punycode"):
        with pytest.raises(OptionError, match="there is no encoding"):
            load(tmp_path / "a.txt", latin, encoding=wrong)


def test_simplify_drops_loops_and_repeats(tmp_path):
    text = "# n=4 m={}\n1 2\n2 1\n3 3\n2 3\n1 2\n"
    for declared in (5, 2):
        graph = load(tmp_path / "a.txt", text.format(declared), simplify=True).graph
        assert (graph.n, named_edges(graph)) == (4, pairs("1 2", "2 3"))
    assert "declares m=3" in refusal(tmp_path / "a.txt", text.format(3), simplify=True)


def test_a_long_edge_list(tmp_path):
    ends = np.arange(200_000)
    graph = load(tmp_path / "a.txt", "\n".join(f"{v} {v + 1}" for v in ends)).graph
    assert (graph.n, graph.m, graph.max_degree) == (200_001, 200_000, 2)
    assert graph.names[199_999] == "199999"


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 9))
    possible = [(u, v) for u in range(n) for v in range(u + 1, n)]
    edges = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1)
    names = draw(st.none() | st.lists(texts | st.integers(), min_size=n, max_size=n, unique_by=str))
    return Graph.from_edges(n, edges, names=names)


@pytest.mark.slow
@given(graphs())
@example(Graph.from_edges(3, [(0, 2)], names=["2", "1", "3"]))
@example(Graph.from_edges(2, [], names=[" a ", "\x85b\u2028 c"]))
@example(Graph.from_edges(2, [(0, 1)], names=["1", "2"]))
def test_what_is_written_reads_back_the_same(tmp_path_factory, graph):
    stream = io.StringIO()
    write_edge_list(graph, stream, ["some words", "two\nlines"])
    path = tmp_path_factory.mktemp("written") / "graph.txt"
    path.write_bytes(stream.getvalue().encode())
    again = load_graph(str(path), multigraph=True).graph
    assert again.is_simple
    assert again.n == graph.n
    assert again.edges().tolist() == graph.edges().tolist()
    assert again.names == tuple(map(str, graph.names))


def test_a_graph_is_saved_with_its_places(tmp_path):
    path = tmp_path / "graph.txt"
    graph = Graph.from_edges(3, [(0, 2)], names=["a", "b c", "d"])
    save_graph(LoadedGraph(graph, "-", {0: (1.5, -2e-7), 2: (0.1, 3.0)}), path)
    again = load_graph(str(path))
    assert (again.graph.names, again.graph.edges().tolist()) == (graph.names, [[0, 2]])
    assert again.positions == {0: (1.5, -2e-7), 2: (0.1, 3.0)}
    with pytest.raises(EngineError, match=r"cannot write .*/none/graph.txt: No such file"):
        save_graph(again, tmp_path / "none" / "graph.txt")


def test_the_written_form():
    stream = io.StringIO()
    write_edge_list(Graph.from_edges(3, [(2, 1)], names=["a", "b c", "d"]), stream, ["from somewhere"])
    assert stream.getvalue() == "# from somewhere\n# n=3 m=1\n# label 1 a\n# label 2 b c\n# label 3 d\n2 3\n"


@pytest.mark.parametrize(
    ("names", "comments", "part"),
    [
        (["a\nb", "c"], [], "does not fit in a line"),
        (["", "c"], [], "does not fit in a line"),
        ([1, "1"], [], "the same text"),
        (["1", "2"], ["n=5 m=3"], "would be read as a part of the graph"),
        (["1", "2"], ["fine", "label 1 x"], "would be read as a part of the graph"),
    ],
)
def test_what_cannot_be_written(names, comments, part):
    stream = io.StringIO()
    with pytest.raises(GraphError, match=part):
        write_edge_list(Graph.from_edges(2, [(0, 1)], names=names), stream, comments)
    assert stream.getvalue() == ""


# Large lists of numbers are read from their bytes.


@pytest.fixture
def all_are_large(monkeypatch):
    monkeypatch.setattr(large_list, "LARGE", 0)
    monkeypatch.setattr(large_list, "_AT_ONCE", 32)


LARGE_TEXTS = [
    "1 2\n2 3\n",
    "# n=4 m=2\n% by hand\n\n1 2\n\n  2\t3 \n",
    "# label 7 oslo\n# label 9 rome\n7 9\r\n",
    "0 999999999999999999\n999999999999999999 5",
    "".join(f"{u} {u + 1}\n" for u in range(90)),
    "1,2\n20, 3 \n\n3,\t007\r\n",
    "1;2\n2;3\n",
    "1;2;05\n2;3;07\n3;4;0.5\n",
    "1;02;05\n2;003;1\n",
    "1 2 3\n2\t3\t-0.25\n3 4 .5\n",
    "1 2\n# label 1 oslo\n2 3\n  % by hand, 7\n\n#\n3 1\n# label 3 rome\r\n#label 2 caen",
    "# routes\nsource,target\n1,2\n# late\n2,3\n",
    "\ufeffSource\tTarget\tWeight\n1\t2\t0.5\n2\t3\t1\n",
    "u v\r\n1 2\r\n2 3\r\n",
    "from;to;length in m\n1;2;7\n",
    "# weights\n1,2,5.\n2,3,-1\n" + "".join(f"{u},{u + 1},{u}.5\n" for u in range(3, 90)),
]


@pytest.mark.parametrize("text", LARGE_TEXTS)
def test_a_large_list_is_read_as_a_small_one(tmp_path, all_are_large, monkeypatch, text):
    assert large_list.read_large_list(Source("a.txt", text.encode()), lambda *first: None) is not None
    large = load(tmp_path / "a.txt", text)
    monkeypatch.undo()
    small = load(tmp_path / "a.txt", text)
    assert (large.graph.names, large.graph.edges().tolist()) == (small.graph.names, small.graph.edges().tolist())
    assert large.notes == small.notes


@pytest.mark.parametrize(
    "text",
    [
        *("1\n2 3 4\n", "1 2\n3\n4\n", "1 2\n# late\n", "-1 2\n", "a b\n", "1 2\r3 4\n", "1 " + "9" * 19),
        *("1 2\n2 3 4\n3 4\n", "1 2 3 4\n", "1.5 2 3\n", "1 2 3e5\n", "1 2 1.5.2\n", "1 2 5-3\n", "1 2 -\n", "1 2 .\n"),
        *("1,2\n2 3\n", "1,2\n2;3\n", "1 ,2\n", "1,,2\n", "1,2,\n", ",1,2\n", "1,2 3\n", "1 2,3\n", '"1",2\n'),
        *("1,2,3\n1,2\n4,5,6,7\n", "1,-2\n", "1,2\n\n,\n", ",\n"),
        *("1 2\t3\n", "1\t2\t3\t\n", "\t1\t2\t3\n"),
    ],
)
def test_what_is_no_list_of_pairs_of_numbers_is_left_to_the_reader_of_lines(text):
    assert large_list.pairs_of_numbers(text.encode()) is None


CELLS = st.sampled_from(["1", "2", "30", "-4", "0.5", "-", ".", "x", ""])
LINES = st.lists(st.tuples(CELLS, CELLS, CELLS, st.sampled_from([" ", ",", ", ", " ,", ";", "\t"]), st.integers(2, 3)))


@given(LINES, st.sampled_from([None, " ", ",", ";", "\t"]), st.sampled_from([None, 2, 3]))
def test_whatever_is_read_from_bytes_is_what_the_reader_of_lines_reads(lines, separator, columns):
    text = "".join((separator or own).join(cells[: columns or count]) + "\n" for *cells, own, count in lines)
    read = large_list.pairs_of_numbers(text.encode())
    if read is not None:
        made = edge_list.read_named_list(Source("a.txt", text.encode()), lambda *first: None)
        assert read[0].tolist() == [[int(made.names[u]), int(made.names[v])] for u, v in made.pairs.tolist()]


LINES_OF_FILES = [
    *(
        "1 2",
        "2 3",
        "1,2",
        "2, 3",
        "1;2",
        "1\t2",
        "1 2 5",
        "2,3,-.5",
        "3\t4\t7",
        "",
        " ",
        "u v",
        "u,v",
        "u\tv",
        "x;y;z",
    ),
    *("source,target,weight", "source target weight", "from\tto\tlength in m", "from, to", "a,\tb", "1,2,w", "1 2 w"),
    *(
        "# late",
        " % by hand",
        "#",
        "# n=3 m=2",
        "# label 1 oslo",
        "#label 2 rome",
        "# xy 1 0 1",
        "\x0c# feed",
        "# \u00e5",
    ),
    *("1 2 # road", "-1 2", "rome oslo", "rome oslo 5", "1 2\r", "# end\r", "\ufeff1 2", "# a\r1 2"),
]


@given(st.lists(st.sampled_from(LINES_OF_FILES), max_size=6))
@example(["\x0c# feed", "1 2"])
@settings(max_examples=300)
def test_any_large_list_is_read_as_a_small_one(lines):
    data = "\n".join(lines).encode()
    results = []
    for least in (0, 1 << 18):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_list, "LARGE", least)
            patch.setattr(large_list, "_AT_ONCE", 32)
            source = Source("a.txt", data)
            try:
                graph, positions = edge_list.read_edge_list(source, simplify=True)
                results.append((graph.names, graph.edges().tolist(), positions, source.notes))
            except GraphError as error:
                results.append(str(error))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# a\n\n1 2\n\n3 3\n", 5, "edge from 3 to itself"),
        ("1 2\n2 3\n\n2 1\n", 4, "already in line 1"),
        ("# n=2 m=2\n1 2\n2 3\n", 1, "3 vertices occur"),
        ("1 2\n2 3\nrome\n", 3, "edge needs two vertices"),
        ("u,v\n1,2\n# late\n\n3,3\n", 5, "edge from 3 to itself"),
        ("1 2\n\n# label 7 oslo\n", 3, "7, which is not a vertex"),
    ],
)
def test_errors_in_a_large_list_name_the_line(tmp_path, all_are_large, text, line, message):
    assert message in (said := refusal(tmp_path / "a.txt", text))
    assert f"a.txt:{line}: " in said
