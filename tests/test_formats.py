"""Where graphs come from, and how the program knows what a file holds."""

import gzip
import io
import os
from pathlib import Path

import networkx as nx
import pytest
from chordless import overlap_graph
from chordless.batch.inputs import read_job
from chordless.graphs.load import load_graph
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.orders import BatchJob
from graph_files import load, named_edges, pairs, refusal
from hypothesis import example, given
from hypothesis import strategies as st
from program import refused

from kernels_ti import GraphError, OptionError


def test_a_spec_and_a_file_of_the_same_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_graph("cycle:5").graph.n == 5
    assert load_graph("cycle:5").title == "cycle:5"
    unused = "the format graph6 is not used: cycle:5 is a spec, not a file"
    assert load_graph("cycle:5", file_format="graph6").notes == (unused,)
    Path("cycle:5").write_text("1 2\n")
    assert load_graph("cycle:5").graph.n == 2


def test_a_file_in_a_closed_folder_is_not_called_missing(monkeypatch):
    monkeypatch.setattr(os, "lstat", refused)
    with pytest.raises(GraphError, match=r"^closed/g\.txt: cannot be read: Permission denied$"):
        load_graph("closed/g.txt")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no/where.txt", "no/where.txt: no such file"),
        ("where.txt", "where.txt: no such file"),
        ("", "'' is neither a file nor a spec such as grid:7x10"),
        ("gird:3x3", "gird:3x3: no such file, and there is no kind of graph called 'gird'; did you mean grid?"),
        (".", ".: this is a folder, not a graph file"),
        ("grid:7x", "grid:7x: the size '7x' is not made of whole numbers; right is grid:7x10"),
    ],
)
def test_what_is_not_there(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GraphError) as caught:
        load_graph(source)
    assert str(caught.value) == message


def test_a_link_to_nothing(tmp_path):
    link = tmp_path / "a.txt"
    link.symlink_to(tmp_path / "nothing")
    with pytest.raises(GraphError, match="cannot be read: No such file"):
        load_graph(str(link))


def test_an_unknown_format_is_an_option_error():
    with pytest.raises(OptionError, match="the formats are edgelist, dimacs"):
        load_graph("petersen", file_format="yaml")


@pytest.mark.parametrize(
    ("content", "edges"),
    [
        (b"1 2\n2 3\n", pairs("1 2", "2 3")),
        (b"% a web\n\n% of two\n*Vertices 3\n*Edges\n1 2\n2 3\n", pairs("1 2", "2 3")),
        (b"*network x\r\n*vertices 3\r\n*edges\r\n1 2\r\n2 3\r\n", pairs("1 2", "2 3")),
        (b"c words\np edge 3 2\ne 1 2\ne 2 3\n", pairs("1 2", "2 3")),
        (b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", pairs("1 2", "2 3")),
        ("".join(nx.generate_graphml(nx.Graph(["ab", "bc"]))).encode(), pairs("a b", "b c")),
        ("\n".join(nx.generate_gml(nx.Graph(["ab", "bc"]))).encode(), pairs("a b", "b c")),
        (b'Creator "x"\n# y\ngraph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]', pairs("1 2")),
        (nx.to_graph6_bytes(nx.path_graph(3)), pairs("0 1", "1 2")),
        (nx.to_graph6_bytes(nx.path_graph(3), header=False), pairs("0 1", "1 2")),
        (nx.to_sparse6_bytes(nx.path_graph(3)), pairs("0 1", "1 2")),
        (nx.to_sparse6_bytes(nx.path_graph(3), header=False), pairs("0 1", "1 2")),
    ],
)
def test_the_content_tells_the_format(tmp_path, monkeypatch, content, edges):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    loaded = load_graph("-")
    assert named_edges(loaded.graph) == edges
    assert loaded.title == "-"
    assert named_edges(load(tmp_path / "a.dat", content).graph) == edges


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"a b\rb c\rc a\r"),
        ("a.csv", b"u,v\ra,b\rb,c\rc,a"),
        ("a.csv", b";a;b;c\ra;0;1;1\rb;1;0;1\rc;1;1;0\r"),
        ("a.adjlist", b"a b c\rb c\r"),
        ("a.net", b'*Vertices 3\r1 "a"\r2 "b"\r3 "c"\r*Edges\r1 2\r2 3\r3 1\r'),
    ],
)
def test_lines_may_end_with_a_carriage_return_alone(tmp_path, name, content):
    assert named_edges(load(tmp_path / name, content).graph) == pairs("a b", "b c", "a c")
    for encoding in ("utf-16", "utf-32"):
        path = tmp_path / f"{encoding}-{name}"
        path.write_bytes(content.decode().encode(encoding))
        assert named_edges(load_graph(str(path), encoding=encoding).graph) == pairs("a b", "b c", "a c")


@pytest.mark.parametrize(("name", "content"), [("a.g6", b"Bw\n"), ("a.s6", b":BcN\n"), ("a.smi", b"C1CC1\n")])
def test_a_byte_order_mark_is_passed_over(tmp_path, monkeypatch, name, content):
    marked = b"\xef\xbb\xbf" + content
    path = tmp_path / name
    for data in (marked, gzip.compress(marked)):
        assert load(path, data).graph.m == 3
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        for job in (BatchJob(str(path)), BatchJob("-")):
            assert [(len(chunk.titles), chunk.errors) for chunk in read_job(job, Limits())] == [(1, {})]


def test_words_that_are_too_short_for_graph6_are_a_list_of_edges(tmp_path):
    assert refusal(tmp_path / "a.txt", "a|b\nb|c\n").startswith("a.txt:1: edge needs two vertices, found 1 word: 'a|b'")
    for line in ("network", "friends"):
        text = f"{line}\nDan Eve\nAl Bo\n"
        assert refusal(tmp_path / "a.txt", text).startswith(f"a.txt:1: edge needs two vertices, found 1 word: '{line}'")
    # A damaged line among others is one of graph6.
    assert "there are 2 graphs" in refusal(tmp_path / "a.txt", "DQ\nDQc\n")
    assert "there are 2 graphs" in refusal(tmp_path / "a.txt", "D!c\nDQc\n")
    # A line alone may be either.
    for line, is_told in (("DQcx", True), ("DQ", True), ("D", False), ("Eve", True), ("Jo", False), ("17", False)):
        told = refusal(tmp_path / "a.txt", f"{line}\n")
        assert told.startswith(f"a.txt:1: edge needs two vertices, found 1 word: '{line}'")
        assert ('if it is graph6, file_format="graph6" tells' in told) == is_told


def test_errors_on_standard_input_say_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 2\n1\n")))
    with pytest.raises(GraphError, match=r"^standard input, line 2: edge needs two vertices"):
        load_graph("-")
    # One of several graphs cannot be named there.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"A_\nA_\n")))
    with pytest.raises(GraphError, match=r"^standard input: there are 2 graphs; give all of them to `chordless batch`"):
        load_graph("-", file_format="graph6")


def test_a_format_may_be_forced(tmp_path):
    assert load(tmp_path / "a.txt", "1 2 3\n", file_format="adjlist").graph.m == 2
    assert refusal(tmp_path / "a.net", "1 2\n").startswith("a.net:1: a Pajek network starts with `*Vertices N`")
    assert load(tmp_path / "a.net", "1 2\n", file_format="edgelist").graph.m == 1


def test_gzip_is_read_whatever_the_name(tmp_path):
    for name in ("a.txt.gz", "a.txt"):
        assert load(tmp_path / name, gzip.compress(b"1 2\n")).graph.m == 1
    assert load(tmp_path / "a.net.gz", gzip.compress(b"*Vertices 3\n*Edges\n1 2\n")).graph.n == 3


@given(
    st.binary(max_size=60), st.sampled_from(["txt", "col", "net", "graphml", "gml", "g6", "s6", "mtx", "adjlist", "x"])
)
@example(b'*Vertices 2\n"', "net")
@example(b":", "s6")
def test_any_bytes_give_a_graph_or_one_line(tmp_path_factory, data, extension):
    path = tmp_path_factory.mktemp("junk") / f"junk.{extension}"
    path.write_bytes(data)
    try:
        n, message = load_graph(str(path)).graph.n, f"{path}: "
    except GraphError as error:
        n, message = 0, str(error)
    assert n >= 0
    assert message.startswith(str(path))
    assert "\n" not in message


LONG = 10**6 * "x"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.edges", f"# n=4 m={LONG}\n1 2\n"),
        ("a.edges", f"# label {LONG} text\n1 2\n"),
        ("a.edges", f"# xy 1 {LONG}\n1 2\n"),
        ("a.edges", f"{LONG} 2\n{LONG} 2\n"),
        ("a.edges", f"1 2\n{LONG}\n"),
        ("a.col", f"p {LONG} 3 2\n"),
        ("a.col", f"p edge 3 2\ne 1 {LONG}\n"),
        ("a.net", f"*Vertices {LONG}\n"),
        ("a.net", f"*Vertices 2\n*Edges\n{LONG}\n"),
        ("a.adjlist", f"{LONG} {LONG}\n"),
        ("a.txt", f",{LONG},b\n{LONG},0,1\nb,0,0\n"),
        ("a.mtx", f"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n{LONG}\n"),
        ("a.gml", f"graph [ {LONG} [ node [ id 1 ] ] ]\n"),
        ("a.json", f'{{"nodes": [{{"id": 1}}], "edges": [{{"source": 1, "target": "{LONG}"}}]}}\n'),
    ],
)
def test_what_is_long_in_a_file_is_shortened_in_the_error(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphError, match=r"xxx|not a readable") as caught:
        load_graph(str(tmp_path / name))
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 protein\n2 protein\n3 gene\n#\n1 3\n3 2\n", "TGF is not read"),
        ("1 a\n2 b\n#\n1 2 label of it\n", "TGF is not read"),
        ("nodedef>name VARCHAR,label VARCHAR\nx,X\ny,Y\nedgedef>node1 VARCHAR,node2 VARCHAR\nx,y\n", "GDF is not read"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 123\n", "a pointer of Git LFS"),
        ("graph G { a -- b -- c -- a }\n", "DOT is not read"),
        ("digraph {\n a -> b;\n}\n", "DOT is not read"),
    ],
)
def test_a_format_that_is_not_read_is_no_list_of_edges(tmp_path, text, words):
    for name in ("a.txt", "a.net2"):
        assert words in refusal(tmp_path / name, text)
    with pytest.raises(GraphError, match=words):
        overlap_graph(tmp_path / "a.txt")


@pytest.mark.parametrize("text", ["a b\n#\nb c\n", "#\n# a list\n#\na b\nb c\n", "graph b {}\nb c {'w': '->'}\n"])
def test_comments_and_names_do_not_make_another_format(tmp_path, text):
    assert load(tmp_path / "a.txt", text).graph.m == 2
