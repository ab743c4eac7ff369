"""Slips that users of Python make: each gets one line that says the way out, and never a wrong answer."""

from __future__ import annotations

import contextlib
import io

import networkx as nx
import numpy as np
import pytest
from chordless import generate, load_graph, overlap_graph

from kernels_ti import (
    ChordlessError,
    Graph,
    GraphError,
    OptionError,
    as_graph,
    collect_cycles,
    count_cycles,
    enumerate_cycles,
    enumerate_paths,
    is_chordal,
    longest_cycle,
    shortest_path,
)
from kernels_ti.blocks import restriction


def ring_with_a_parallel_edge(first, second):
    ring = nx.MultiGraph()
    ring.add_edge(0, 1, weight=first)
    ring.add_edge(0, 1, weight=second)
    ring.add_weighted_edges_from([(1, 2, 1), (2, 3, 1), (3, 0, 1)])
    return ring


@pytest.mark.parametrize("weights", [(1, 2), (2, 1)])
def test_parallel_edges_of_two_weights_are_refused(weights):
    ring = ring_with_a_parallel_edge(*weights)
    for find in (lambda: longest_cycle(ring, weight="weight", simplify=True, shortest=True),
                 lambda: shortest_path(ring, 0, 1, weight="weight", simplify=True)):  # fmt: skip
        with pytest.raises(OptionError, match="the edge 0 - 1 has two weights, "):
            find()


def test_parallel_edges_of_one_weight_are_one_edge():
    best = longest_cycle(ring_with_a_parallel_edge(5, 5), weight="weight", simplify=True)
    assert (best.length, best.weight) == (4, 8)


def test_a_self_loop_with_a_weight_is_dropped_with_its_weight():
    triangle = nx.Graph()
    triangle.add_weighted_edges_from([(0, 1, 1), (1, 2, 1), (2, 0, 1), (0, 0, 4)])
    assert longest_cycle(triangle, weight="weight", simplify=True).weight == 3
    assert shortest_path(triangle, 0, 1, weight="weight", simplify=True).weight == 1


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (
            lambda: count_cycles(generate("cycle:6"), through="5"),
            OptionError,
            "'5': the graph has the vertices 0 to 5; 5 with",
        ),
        (lambda: collect_cycles(nx.cycle_graph(6))[1], IndexError, "there is no cycle 1: the table has 1 cycle"),
        (
            lambda: is_chordal(nx.DiGraph([(0, 1)])),
            GraphError,
            "this graph is directed (simplify=True makes it simple)",
        ),
        (
            lambda: longest_cycle(nx.cycle_graph(3), shortest=True, max_length=3),
            OptionError,
            "max_length 3 is below 4, the least that is sought without min_length",
        ),
        (
            lambda: collect_cycles(nx.Graph([(2, "2"), ("2", 3), (3, 2)])).to_arrow(),
            OptionError,
            "two vertices are '2' in an Arrow table: rename one",
        ),
        (lambda: longest_cycle(nx.cycle_graph(3), weight=np.ones((3, 3))), OptionError, "to a number, not a ndarray"),
        (
            lambda: Graph.from_edge_array(np.ma.array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]])),
            GraphError,
            "a vertex of this array is masked",
        ),
        (lambda: count_cycles(np.ones((3, 3))), GraphError, "an entry on its diagonal: 0 is joined to itself"),
        (lambda: count_cycles(np.triu(np.ones((3, 3)), 1)), GraphError, "Graph.from_numpy(matrix, directed=True)"),
    ],
    ids=(
        "a number as a text",
        "a cycle beyond the last",
        "a digraph",
        "a shortest triangle",
        "two names of one text",
        "weights in a matrix",
        "a masked edge",
        "a diagonal",
        "a triangular matrix",
    ),
)
def test_a_message_names_what_the_function_has(act, kind, words):
    with pytest.raises(kind) as refused:
        act()
    assert words in str(refused.value)


def test_weights_of_an_edge_that_leads_out_of_the_graph_name_the_vertex_that_is_not_there():
    ring = nx.cycle_graph(30)
    weight = dict.fromkeys(ring.edges, 1)
    with pytest.raises(OptionError, match="there is no vertex 29 in the graph"):
        longest_cycle(ring.subgraph(range(20)), weight=weight)


def test_the_names_of_edges_are_looked_up_in_one_go(monkeypatch):
    """Each look takes as long as the graph has vertices: a city would take minutes."""
    asked, vertices_called = [], restriction.vertices_called

    def counted(graph, names):
        asked.extend([len(names)] if (names := list(names)) else [])
        return vertices_called(graph, names)

    monkeypatch.setattr(restriction, "vertices_called", counted)
    ring = nx.cycle_graph(30)
    assert longest_cycle(ring, weight=dict.fromkeys(ring.edges, 2), arch="reference").weight == 60
    assert asked == [60]
    asked.clear()
    assert count_cycles(ring, avoid_edges=[*ring.edges][:9]).total == 0
    assert asked == [18]


def test_a_table_of_edges_is_no_matrix():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"source": [1, 2, 3, 4], "target": [2, 3, 4, 1]})
    for edges in (table, table[table["source"] > 1]):
        with pytest.raises(GraphError, match=r"it is no matrix.*Graph\.from_edges takes a list of edges"):
            as_graph(edges, simplify=True)
        with pytest.raises(GraphError, match="it is no matrix"):
            overlap_graph(edges)
    # A matrix whose columns are not all those of the rows stays one.
    assert as_graph(pandas.DataFrame([[0, 1], [1, 0]], index=[0, 1], columns=[1, 2]), simplify=True).n == 3


def test_a_matrix_whose_columns_are_texts_of_the_numbers_of_its_rows_is_one():
    """pandas.read_csv makes numbers of the names of rows, and leaves those of columns texts."""
    pandas = pytest.importorskip("pandas")
    text = ",3,1,2,4\n1,0,0,1,1\n2,1,1,0,0\n3,0,0,1,1\n4,1,1,0,0\n"
    frame = pandas.read_csv(io.StringIO(text), index_col=0)
    assert [*enumerate_cycles(frame, arch="reference")] == [[1, 2, 3, 4]]
    assert as_graph(frame).names == (1, 2, 3, 4)
    assert overlap_graph(frame).m == 2
    with pytest.raises(GraphError, match=r"`frame.columns.astype\(int\)` makes numbers of the columns' names"):
        overlap_graph(frame.drop(columns="4"))


def test_a_table_whose_names_are_no_index_is_refused_with_the_way_out():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(GraphError, match="index_col=0"):
        overlap_graph(pandas.DataFrame({"species": ["grass"], "hare": [1]}))


def test_a_stream_is_taken_as_lists_or_as_batches():
    stream = enumerate_cycles(generate("grid:3x3"))
    next(stream)
    with pytest.raises(ChordlessError, match="take lists or batches, not both"):
        next(stream.batches())
    assert len(list(stream)) == 4


def test_notes_and_warnings_of_files_are_in_words_of_python(tmp_path):
    matrix = tmp_path / "p.csv"
    matrix.write_text(";hare;fox\ngrass;1;0\nhare;0;1\n")
    with pytest.warns(UserWarning, match="predation matrix") as told:
        load_graph(str(matrix))
    assert all(str(one.message).isprintable() for one in told)
    web = tmp_path / "w.net"
    web.write_text("*Vertices 3\n*Arcs\n1 2\n1 3\n")
    with pytest.warns(UserWarning, match='every vertex counts as a living species.*; types="none" says'):
        overlap_graph(web)
    assert overlap_graph(web, types="none").m == 1


@pytest.mark.parametrize("arch", ["cpu", "reference"])
def test_a_stream_that_is_closed_gives_no_more(arch):
    for make in (enumerate_cycles, enumerate_paths):
        stream = make(nx.grid_2d_graph(5, 5), arch=arch)
        with contextlib.closing(stream):
            next(stream)
        assert list(stream) == []
        assert not stream.complete
        tables = make(nx.grid_2d_graph(5, 5), arch=arch)
        batches = tables.batches()
        tables.close()
        assert list(batches) == []
        stream.close()
