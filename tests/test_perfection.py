"""Perfect or not, against published numbers and networkx."""

from collections import Counter

import networkx as nx
import pytest
from batches import ATLAS

from kernels_ti import Graph, GraphError, is_perfect


def test_perfect_graphs_are_those_of_a052431():
    """A052431: perfect graphs on 1 to 7 vertices."""
    sizes = Counter(len(graph) for graph in ATLAS if is_perfect(graph))
    sizes.pop(0, None)
    assert sizes == {1: 1, 2: 2, 3: 4, 4: 11, 5: 33, 6: 148, 7: 906}


def test_long_odd_holes_and_their_complements():
    for n in range(5, 12):
        for graph in (nx.cycle_graph(n), nx.complement(nx.cycle_graph(n))):
            assert is_perfect(graph) is (n % 2 == 0)
            assert is_perfect(nx.disjoint_union(graph, nx.path_graph(3))) is (n % 2 == 0)


def test_a_search_that_is_not_tiny_finds_odd_holes_on_either_side():
    """The line graph of a bipartite graph is perfect; the complement of the other one has an odd hole."""
    assert is_perfect(nx.line_graph(nx.complete_bipartite_graph(6, 6)))
    assert not is_perfect(nx.disjoint_union(nx.grid_2d_graph(5, 6), nx.complement(nx.cycle_graph(13))))


def test_only_simple_graphs_are_perfect():
    for graph in (nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)]), nx.Graph([(0, 0)])):
        with pytest.raises(GraphError, match="perfection is a property of simple undirected graphs"):
            is_perfect(graph)
        assert is_perfect(graph, simplify=True)


def test_a_large_graph_with_a_small_core_needs_no_large_complement():
    assert is_perfect(nx.balanced_tree(4, 7))
    assert not is_perfect(nx.disjoint_union(nx.balanced_tree(4, 7), nx.complement(nx.cycle_graph(7))))


@pytest.mark.parametrize("arc", [(0, 1), (1, 0)])
@pytest.mark.parametrize("directed", [False, True])
def test_the_complement_keeps_names_and_sees_no_directions(arc, directed):
    other = Graph.from_edges(3, [arc], names="abc", directed=directed).complement()
    assert (other.names, other.edges().tolist()) == (("a", "b", "c"), [[0, 2], [1, 2]])
