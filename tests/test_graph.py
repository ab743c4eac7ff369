"""The graph and its constructors."""

import networkx as nx
import numpy as np
import pytest

from kernels_ti import Graph, GraphError


def test_rows_are_sorted_whatever_the_order_of_the_edges() -> None:
    graph = Graph.from_edges(4, [(3, 0), (2, 1), (1, 0), (3, 2)])
    assert graph.row_ptr.tolist() == [0, 2, 4, 6, 8]
    assert graph.col_idx.tolist() == [1, 3, 0, 2, 1, 3, 0, 2]
    assert (graph.n, graph.m, graph.max_degree) == (4, 4, 2)
    assert graph.edges().tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert graph.names == (0, 1, 2, 3)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges(n: int) -> None:
    graph = Graph.from_edges(n, [])
    assert (graph.n, graph.m, graph.max_degree) == (n, 0, 0)
    assert graph.edges().shape == (0, 2)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (2, 2)], "vertex c has a self-loop"),
        ([(0, 1), (1, 0)], "the edge a - b is there more than once"),
        ([(0, 1), (0, 1)], "the edge a - b is there more than once"),
        ([(0, 3)], r"edge \(0, 3\): a vertex is out of range, the graph has vertices 0 to 2"),
        (np.array([(1 << 63, 0)], np.uint64), "2,147,483,647 vertices at most, and a vertex of an edge is 9,223,372,"),
        ([(-1, 0)], r"edge \(-1, 0\): a vertex is out of range"),
    ],
)
def test_what_is_not_simple_is_named(edges: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(3, edges, names="abc")


def test_simplify_drops_loops_duplicates_and_directions() -> None:
    graph = Graph.from_edges(3, [(0, 1), (1, 0), (2, 2), (1, 2), (1, 2)], simplify=True)
    assert graph.edges().tolist() == [[0, 1], [1, 2]]
    with pytest.raises(GraphError, match="out of range"):
        Graph.from_edges(2, [(0, 2)], simplify=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [(0, 1, 2)]}, "pairs of vertices"),
        ({"edges": [(0.5, 1.0)]}, "integers"),
        ({"edges": [], "n": 3, "names": "ab"}, "2 names were given for 3 vertices"),
        ({"edges": [], "names": "aba"}, "two vertices are called 'a'"),
        ({"edges": [], "n": -1}, "-1 vertices"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict, message: str) -> None:
    edges = arguments.pop("edges")
    with pytest.raises(GraphError, match=message):
        Graph.from_edge_array(edges, **arguments)


def test_from_networkx_keeps_the_order_and_names_of_nodes() -> None:
    graph = Graph.from_networkx(nx.Graph([("x", "y"), ("y", "z"), ("z", "x")]))
    assert graph.names == ("x", "y", "z")
    assert graph.m == 3
    both_ways = nx.MultiDiGraph([(0, 1), (1, 0), (1, 1)])
    assert Graph.from_networkx(both_ways, simplify=True).edges().tolist() == [[0, 1]]


def test_from_scipy_reads_a_symmetric_matrix() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    graph = Graph.from_scipy(sparse.csr_array(square), names="abcd")
    assert graph.m == 4
    assert graph.names == ("a", "b", "c", "d")
    with pytest.raises(GraphError, match=r"entry \(0, 1\) but not \(1, 0\)"):
        Graph.from_scipy(sparse.csr_array(np.triu(square)))
    assert Graph.from_scipy(sparse.csr_array(np.triu(square)), simplify=True).m == 4
    with pytest.raises(GraphError, match="diagonal: 0 is joined to itself"):
        Graph.from_scipy(sparse.csr_array(np.eye(2, dtype=int)))
    with pytest.raises(GraphError, match="square"):
        Graph.from_scipy(sparse.csr_array(np.ones((2, 3))))
