"""Degree labelling against the definition."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels_ti import Graph
from kernels_ti.blocks.degree_labelling import FEW_EDGES, degree_labelling, relabelled


def directly(graph: Graph) -> list[int]:
    """The definition, in O(n^2): take out a vertex of least remaining degree, the lowest index first."""
    degree = graph.degrees.tolist()
    labels = [-1] * graph.n
    for label in range(graph.n):
        v = min((v for v in range(graph.n) if labels[v] < 0), key=lambda v: (degree[v], v))
        labels[v] = label
        for u in graph.neighbours(v).tolist():
            degree[u] -= 1
    return labels


@given(st.integers(0, 40), st.floats(0, 1), st.integers(0, 10**6))
def test_equals_the_definition(n: int, p: float, seed: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
    assert degree_labelling(graph).tolist() == directly(graph)


def test_equals_the_definition_on_a_larger_graph() -> None:
    graph = Graph.from_networkx(nx.gnm_random_graph(2500, 4000, seed=3))
    assert degree_labelling(graph).tolist() == directly(graph)


@pytest.mark.parametrize("p", [0.5, 0.8, 1.0])
def test_equals_the_definition_on_a_dense_graph(p: float) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(240, p, seed=5))
    assert graph.m > FEW_EDGES
    assert degree_labelling(graph).tolist() == directly(graph)


@pytest.mark.parametrize("graph", [nx.barabasi_albert_graph(300, 3, seed=1), nx.complete_graph(20), nx.path_graph(50)])
def test_is_a_degeneracy_ordering(graph: nx.Graph) -> None:
    ordered, vertex_of = relabelled(Graph.from_networkx(graph), degree_labelling(Graph.from_networkx(graph)))
    later = [int(np.count_nonzero(ordered.neighbours(v) > v)) for v in range(ordered.n)]
    assert max(later) == max(nx.core_number(graph).values())
    assert sorted(vertex_of.tolist()) == list(range(len(graph)))
