"""Graphs written in the format of a suffix, read back, and refused where the format cannot hold them."""

import io
from pathlib import Path

import networkx as nx
import pytest
from chordless.graphs.generators import generate
from chordless.graphs.load import ALL_FORMATS, load_graph
from chordless.graphs.public import load_graph as public_load_graph
from chordless.graphs.writers import _FORMATS, format_to_write, write_graph_file
from hypothesis import given, settings
from hypothesis import strategies as st
from program import REFERENCE, chordless, fails

from kernels_ti import Graph, GraphError, OptionError

FORMATS_PAGE = Path(__file__).parent.parent / "assets" / "docs" / "formats.md"
SUFFIXES = ("txt", "el", "g6", "s6", "d6", "col", "net", "mtx", "graphml", "gml", "txt.gz", "G6", "g6.gz")
HOLD_NO_MULTIGRAPH = ("g6", "d6", "mtx", "G6", "g6.gz")
KEEP_NAMES = ("txt", "el", "net", "graphml", "gml", "txt.gz")


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 9))
    directed, multigraph = draw(st.booleans()), draw(st.booleans())
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw(st.lists(ends, max_size=12))
    if not multigraph:
        edges = list({(u, v) if directed else (min(u, v), max(u, v)) for u, v in edges if u != v})
    names = draw(st.none() | st.just([f"vertex {chr(97 + v)}" for v in range(n)]))
    return Graph.from_edges(n, edges, names=names, directed=directed, multigraph=multigraph)


def written(graph, path):
    with open(path, "wb") as stream:
        return write_graph_file(graph, str(path), stream, ["by a test"])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(graph=graphs())
@settings(max_examples=40)
def test_each_graph_is_read_back_or_refused(tmp_path_factory, suffix, graph):
    path = tmp_path_factory.mktemp("written") / f"graph.{suffix}"
    plain = suffix.lower().removesuffix(".gz")
    is_more = not graph.is_simple and not (graph.directed and not graph.is_multigraph)
    cannot = (plain == "d6") != graph.directed if plain in ("g6", "s6", "d6") else False
    if cannot or (suffix in HOLD_NO_MULTIGRAPH and is_more):
        with pytest.raises(GraphError, match=r"cannot hold this graph, which is (?:(?:un)?directed|a multigraph);"):
            written(graph, path)
        return
    notes = written(graph, path)
    asked = {"directed": True} if graph.directed and not graph.m and plain in ("txt", "el", "col", "net") else {}
    asked |= {"directed": True} if graph.directed and plain == "mtx" else {}
    again = load_graph(str(path), multigraph=True, **asked).graph
    assert again.directed == graph.directed
    assert again.edges().tolist() == graph.edges().tolist()
    assert again.n == graph.n
    if suffix in KEEP_NAMES:
        assert (again.names, notes) == (tuple(map(str, graph.names)), [])
    else:
        assert bool(notes) == (again.names != tuple(map(str, graph.names)))


@pytest.mark.parametrize("spec", ["grid:1x1", "petersen", "gnp:62,0.3,1", "gnp:63,0.3,1", "gnp:70,0.1,3", "path:300"])
def test_the_lines_are_those_of_networkx(tmp_path, spec):
    graph = generate(spec)
    drawn = nx.empty_graph(graph.n)
    drawn.add_edges_from(graph.edges().tolist())
    for suffix, write in (("g6", nx.to_graph6_bytes), ("s6", nx.to_sparse6_bytes)):
        written(graph, path := tmp_path / f"graph.{suffix}")
        assert path.read_bytes() == write(drawn, header=False)


def test_a_suffix_that_no_graph_is_written_in():
    for path in ("a.html", "a.png", "folder.g6/a.svg", "a.adjlist", "a.csv", "a.html.gz"):
        with pytest.raises(OptionError, match=r"graphs are not written as \.\w+; a file may end in \.txt"):
            format_to_write(path)
    assert {format_to_write(path).name for path in ("a", "/dev/stdout", "a.TXT", "a.gz")} == {"an edge list"}


def test_a_matrix_beyond_all_memory_is_refused():
    graph = Graph.from_edges(200_000, [(0, 1)])
    with pytest.raises(GraphError, match=r"a line of graph6 for 200,000 vertices takes 3\.\d GiB"):
        write_graph_file(graph, "a.g6", io.BytesIO())


@pytest.mark.slow
def test_generate_and_overlap_write_what_the_suffix_says(tmp_path):
    for suffix in ("g6", "s6.gz", "net"):
        path = tmp_path / f"petersen.{suffix}"
        assert chordless("generate", "petersen", "-o", path).returncode == 0
        assert load_graph(str(path)).graph.m == 15
    assert (tmp_path / "petersen.g6").read_bytes() == nx.to_graph6_bytes(nx.petersen_graph(), header=False)
    web = tmp_path / "web.net"
    web.write_text('*Vertices 4\n1 "a"\n2 "b"\n3 "c"\n4 "d"\n*Arcs\n1 2\n1 3\n4 3\n')
    done = chordless("overlap", web, "-o", tmp_path / "niche.g6")
    assert load_graph(str(tmp_path / "niche.g6")).graph.edges().tolist() == [[1, 2]]
    assert "graph6 has no names of vertices; they are the numbers 0 to 3" in done.stderr
    html = tmp_path / "x.html"
    for arguments in (["generate", "petersen"], ["overlap", web], ["overlap", web, "--report", *REFERENCE]):
        assert fails(chordless(*arguments, "-o", html), 2, "graphs are not written as .html")
        assert not html.exists()
    assert fails(chordless("generate", "petersen", "-o", tmp_path / "p.d6"), 2, "digraph6 cannot hold this graph")
    assert not (tmp_path / "p.d6").exists()


def test_each_format_is_named_wherever_formats_are_named():
    """The suffixes that `generate` and `overlap` write, and the formats that are read; of each one suffix will do.

    Both make undirected graphs only, so digraph6 is not among them.
    """
    with pytest.raises(OptionError) as refused:
        format_to_write("graph.doc")
    if not FORMATS_PAGE.exists():
        pytest.skip("the checkout with its assets is not here")
    page = FORMATS_PAGE.read_text()
    named = {made.name: suffix for suffix, made in _FORMATS.items() if suffix and suffix in str(refused.value)}
    assert {made.name for made in _FORMATS.values() if made.undirected} == named.keys()
    assert [suffix for suffix in named.values() if f"`{suffix}`" not in page] == []
    helped = chordless("help", "formats").stdout
    for name in ALL_FORMATS:
        assert f"``{name}``" in public_load_graph.__doc__
        assert f"\n  {name} " in helped
