"""Graphs of other libraries in, cycles as lists, bit rows, arrays and Arrow out."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import by_length, check_cycles
from patience import PATIENCE

from kernels_ti import (
    CycleTable,
    Graph,
    GraphError,
    OptionError,
    as_graph,
    collect_cycles,
    count_cycles,
    enumerate_cycles,
)
from kernels_ti.cycles import Cycles

igraph = pytest.importorskip("igraph")
rustworkx = pytest.importorskip("rustworkx")
sparse = pytest.importorskip("scipy.sparse")


def in_every_library(graph):
    """The same graph with vertices 0 .. n - 1 in each library."""
    n, edges = len(graph), list(graph.edges)
    of_rust = rustworkx.PyGraph()
    of_rust.add_nodes_from(range(n))
    of_rust.add_edges_from_no_data(edges)
    matrix = nx.to_numpy_array(graph, nodelist=range(n)) if n else np.zeros((0, 0))
    return {
        "networkx": graph,
        "igraph": igraph.Graph(n, edges),
        "rustworkx": of_rust,
        "scipy matrix": sparse.csr_matrix(matrix),
        "scipy array": sparse.coo_array(matrix),
        "numpy": matrix,
        "numpy bool": matrix.astype(bool),
        "numpy int8": matrix.astype(np.int8),
    }


@given(n=st.integers(0, 12), p=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_every_library_gives_the_same_graph(n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    expected = Graph.from_edge_array(list(graph.edges), n=n)
    for library, other in in_every_library(graph).items():
        converted = as_graph(other)
        assert np.array_equal(converted.row_ptr, expected.row_ptr), library
        assert np.array_equal(converted.col_idx, expected.col_idx), library
        assert converted.names == tuple(range(n)), library


@pytest.mark.parametrize("library", in_every_library(nx.empty_graph(1)))
def test_every_library_goes_into_the_easy_entry_points(library):
    graph = in_every_library(nx.petersen_graph())[library]
    assert count_cycles(graph, arch="reference").by_length == {5: 12, 6: 10}
    holes = count_cycles(graph, arch="reference", min_length=6)
    assert (holes.triangles, holes.chordless_cycles, holes.total) == (None, 10, 10)
    assert sum(1 for _ in enumerate_cycles(graph, arch="reference")) == 22
    assert len(collect_cycles(graph, arch="reference")) == 22


def test_names_come_along():
    named = igraph.Graph(3, [(0, 1), (1, 2)])
    named.vs["name"] = ["x", "y", "z"]
    assert as_graph(named).names == ("x", "y", "z")
    gaps = rustworkx.PyGraph()
    gaps.add_nodes_from("abcd")
    gaps.add_edges_from_no_data([(0, 2), (2, 3), (0, 3)])
    gaps.remove_node(1)
    assert list(enumerate_cycles(gaps, arch="reference")) == [[0, 2, 3]]
    assert Graph.from_numpy([[0, 1], [1, 0]], names="ab").names == ("a", "b")


def rust(graph, *edges):
    graph.add_nodes_from(range(3))
    graph.add_edges_from_no_data(list(edges))
    return graph


repeated = igraph.Graph(3, [(0, 1), (1, 2)])
repeated.vs["name"] = ["x", "y", "x"]

DISTANCES = np.where(np.eye(3), 0, np.inf)

WRONG = {
    "loop numpy": (np.eye(3), "an entry on its diagonal: 0 is joined to itself"),
    "one-way numpy": (np.triu(np.ones((3, 3)), 1), r"it has entry \(0, 1\) but not \(1, 0\)"),
    "one-way scipy": (sparse.csr_array(np.triu(np.ones((3, 3)), 1)), r"it has entry \(0, 1\) but not \(1, 0\)"),
    "wide numpy": (np.zeros((2, 3)), "square, this one is 2 x 3"),
    "edges numpy": (np.zeros((5, 2)), "square, this one is 5 x 2; a list of edges goes through Graph.from_edge_array"),
    "cube numpy": (np.zeros((2, 2, 2)), "square, this one is 2 x 2 x 2"),
    "wide scipy": (sparse.csr_array(np.zeros((2, 3))), "square, this one is 2 x 3"),
    "text numpy": (np.array([["a", "b"], ["b", "a"]]), "holds numbers"),
    "nan numpy": (np.full((2, 2), np.nan), "NaN"),
    "infinite numpy": (DISTANCES, "infinite"),
    "infinite scipy": (sparse.csr_array(DISTANCES), "infinite"),
    "names igraph": (repeated, "two vertices are called 'x'"),
    "list": ([(0, 1)], "a list is not a graph"),
    "int": (5, "an int is not a graph"),
}


@pytest.mark.parametrize(("graph", "words"), WRONG.values(), ids=WRONG)
def test_what_is_no_graph_is_refused(graph, words):
    with pytest.raises(GraphError, match=words):
        as_graph(graph)


ARCS = [(0, 1), (1, 0), (1, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    "graph",
    [
        nx.MultiDiGraph(ARCS),
        igraph.Graph(3, ARCS, directed=True),
        rust(rustworkx.PyDiGraph(), *ARCS),
        nx.MultiGraph(ARCS),
        igraph.Graph(3, ARCS),
        rust(rustworkx.PyGraph(), *ARCS),
    ],
    ids=lambda graph: f"{type(graph).__module__} {type(graph).__name__}",
)
def test_directions_loops_and_parallel_edges_are_kept(graph):
    made = as_graph(graph)
    expected = ARCS if made.directed else [(min(edge), max(edge)) for edge in ARCS]
    assert made.directed is (getattr(graph, "is_directed", lambda: "Di" in type(graph).__name__)())
    assert made.is_multigraph
    assert made.edges().tolist() == sorted(map(list, expected))
    assert (made.m, made.loops.tolist()) == (5, [0, 0, 1])


def test_a_matrix_is_a_directed_graph_if_asked():
    matrix = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0]])
    for made in (Graph.from_numpy(matrix, directed=True), Graph.from_scipy(sparse.csr_array(matrix), directed=True)):
        assert made.edges().tolist() == [[0, 1], [1, 1], [1, 2], [2, 0]]


def test_entries_of_a_sparse_matrix_in_the_same_place_are_added_up():
    row, column = [0, 1, 1, 2, 0, 2, 0, 2, 0, 1], [1, 0, 2, 1, 2, 0, 2, 0, 1, 0]
    matrix = sparse.coo_array(([1, 1, 1, 1, 1, 1, -1, -1, 1, 1], (row, column)), shape=(3, 3))
    assert as_graph(matrix).edges().tolist() == as_graph(matrix.toarray()).edges().tolist() == [[0, 1], [1, 2]]
    assert as_graph(matrix.astype(bool)).m == 3


def test_masked_entries_of_an_array_are_missing():
    matrix = np.ma.masked_equal([[9, 1, 9], [1, 9, 1], [9, 1, 9]], 9)
    assert as_graph(matrix).edges().tolist() == [[0, 1], [1, 2]]


def test_simplify_drops_all_of_these():
    assert Graph.from_igraph(igraph.Graph(2, [(0, 1), (1, 0), (1, 1)], directed=True), simplify=True).m == 1
    assert Graph.from_rustworkx(rust(rustworkx.PyDiGraph(), (0, 1), (1, 0), (2, 2)), simplify=True).m == 1
    assert Graph.from_numpy(np.triu(np.ones((3, 3))), simplify=True).m == 3


def test_none_of_the_libraries_is_loaded():
    code = (
        "import sys, numpy; from kernels_ti import as_graph; as_graph(numpy.ones((3, 3)) - numpy.eye(3)); "
        "print([name for name in ('networkx', 'igraph', 'rustworkx', 'scipy', 'taichi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "[]\n"


GRID = nx.grid_2d_graph(4, 5)
TOTAL = sum(1 for _ in nx.chordless_cycles(GRID))


def test_the_forms_of_a_collection_agree():
    table = collect_cycles(GRID, arch="cpu")
    assert len(table) == TOTAL == len(table.lengths)
    assert (table.offsets.dtype, table.vertices.dtype) == (np.int64, np.int32)
    assert table.offsets[[0, -1]].tolist() == [0, len(table.vertices)]
    cycles = [table.vertices[i:j].tolist() for i, j in zip(table.offsets[:-1], table.offsets[1:], strict=True)]
    check_cycles(table.graph, cycles)
    assert by_length(cycles) == count_cycles(GRID, arch="cpu").by_length
    names = [[table.graph.names[v] for v in cycle] for cycle in cycles]
    assert table.lists() == names
    assert sorted(names) == sorted(enumerate_cycles(GRID, arch="cpu"))
    rows = table.rows()
    assert rows.shape == (TOTAL, 1)
    assert [sum(1 << v for v in cycle) for cycle in cycles] == rows[:, 0].tolist()
    assert repr(table) == f"CycleTable({TOTAL} cycles of Graph(n=20, m=31))"


def test_bounds_hold_for_a_collection():
    assert set(collect_cycles(GRID, arch="cpu", min_length=8, max_length=10).lengths.tolist()) == {8, 10}
    none = collect_cycles(nx.path_graph(70), arch="cpu")
    assert (len(none), none.lists(), none.rows().shape, len(none.to_arrow())) == (0, [], (0, 2), 0)


def test_pieces_larger_than_a_chunk_are_put_together():
    graph = Graph.from_edge_array([], n=200)
    triangles = np.array([(v, v + 1, v + 2) for v in range(198)])
    pieces = [Cycles(np.arange(0, 3 * 198 + 1, 3), triangles.ravel()) for _ in range(400)]
    table = CycleTable.of_pieces(graph, pieces)
    assert len(table) == 400 * 198
    assert np.array_equal(table.vertices, np.tile(triangles.ravel(), 400))
    assert np.array_equal(table.rows(), np.tile(pieces[0].rows(200), (400, 1)))
    assert table.lists() == triangles.tolist() * 400


@pytest.mark.parametrize("names", [None, "abcd", (3, 5, 7, 9), (3, "x", 7, 9)])
def test_arrow(names):
    pyarrow = pytest.importorskip("pyarrow")
    table = collect_cycles(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)], names=names), arch="cpu")
    arrow = table.to_arrow()
    text = names is not None and any(isinstance(name, str) for name in names)
    of_names = pyarrow.dictionary(pyarrow.int32(), pyarrow.string()) if text else pyarrow.int32()
    assert arrow.schema == pyarrow.schema([("length", pyarrow.int32()), ("vertices", pyarrow.list_(of_names))])
    expected = [[str(name) if text else name for name in cycle] for cycle in table.lists()]
    assert arrow.to_pydict() == {"length": [3, 3], "vertices": expected}
    arrow.validate(full=True)


def test_more_than_32_bits_can_count_get_wider_offsets(monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    # The names together stay below, and the vertices of all cycles do not.
    monkeypatch.setattr("kernels_ti.arrow.LARGEST_OFFSET", 200)
    arrow = collect_cycles(GRID, arch="cpu").to_arrow()
    assert pyarrow.types.is_large_list(arrow.schema.field("vertices").type)
    arrow.validate(full=True)


def test_arrow_without_pyarrow_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OptionError, match=r"an Arrow table needs pyarrow: pip install 'chordless\[parquet\]'"):
        collect_cycles(nx.cycle_graph(4), arch="cpu").to_arrow()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (nx.Graph, "the class Graph is not a graph: give an instance of it"),
        (nx, "the module networkx is not a graph"),
        ("grid:3x3", "a str is not a graph: .*; chordless.load_graph reads a file and makes the graph of a spec"),
        ([(0, 1)], "a list is not a graph: .*; Graph.from_edges makes one of a list of edges, numpy.array of a list"),
    ],
)
def test_what_is_nearly_a_graph_gets_a_hint(wrong, words):
    with pytest.raises(GraphError, match=words):
        as_graph(wrong)


def test_wrong_sizes_and_names_are_refused():
    for wrong in (2.5, "3"):
        with pytest.raises(GraphError, match=f"the number of vertices must be a whole number, not {wrong!r}"):
            Graph.from_edges(wrong, [])
    with pytest.raises(GraphError, match=r"names must be hashable: .*unhashable type: 'list'"):
        Graph.from_edges(1, [], names=[[1]])
    with pytest.raises(GraphError, match="names must be a list with the name of each vertex, not"):
        Graph.from_edges(1, [], names={"a"})


def test_a_table_is_a_sequence_of_cycles():
    table = collect_cycles(nx.petersen_graph(), arch="reference")
    assert list(table) == table.lists() == [table[i] for i in range(22)]
    assert table[-1] == table[np.int64(21)] == table.lists()[21]
    for wrong in (22, -23):
        with pytest.raises(IndexError):
            table[wrong]
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        table["a"]
    with pytest.raises(OptionError, match="whole number from 0 on, not -1"):
        table.first(-1)
