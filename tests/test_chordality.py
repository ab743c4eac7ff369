"""Chordal or not, and the proof either way, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import check_cycles

from kernels_ti import Graph, is_chordal


def check_ordering(graph, ordering):
    """The later neighbours of each vertex are a clique."""
    assert sorted(ordering) == list(range(graph.n))
    place = {v: i for i, v in enumerate(ordering)}
    for v in ordering:
        later = [u for u in graph.neighbours(v).tolist() if place[u] > place[v]]
        for u in later:
            assert set(later) <= {u, *graph.neighbours(u).tolist()}, f"the later neighbours of {v} are no clique"


def check(other):
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(other))
    found = is_chordal(graph)
    loopless = nx.Graph(graph.edges().tolist())
    assert bool(found) is found.chordal is (loopless.number_of_nodes() == 0 or nx.is_chordal(loopless))
    if found.chordal:
        assert found.hole is None
        check_ordering(graph, found.elimination_ordering)
    else:
        assert found.elimination_ordering is None
        assert len(found.hole) >= 4
        check_cycles(graph, [list(found.hole)])


@given(n=st.integers(0, 14), p=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_random_graphs(n, p, seed):
    check(nx.gnp_random_graph(n, p, seed=seed))


@given(n=st.integers(4, 40), k=st.integers(1, 4), extra=st.integers(0, 2), seed=st.integers(0, 10**6))
def test_random_chordal_graphs_and_those_near_them(n, k, extra, seed):
    random = np.random.default_rng(seed)
    graph = nx.complete_graph(k)
    for v in range(k, n):  # each new vertex is joined to a part of a clique
        u = int(random.integers(v))
        clique = [u, *(w for w in graph[u] if w < u)]
        clique = next(c for c in nx.find_cliques(graph.subgraph(clique)))
        graph.add_edges_from((v, w) for w in random.permutation(clique)[: int(random.integers(1, k + 1))].tolist())
    assert is_chordal(graph)
    for _ in range(extra):
        u, v = random.choice(n, 2, replace=False).tolist()
        graph.add_edge(u, v)
    check(graph)


@pytest.mark.parametrize("n", [4, 5, 300])
def test_a_cycle_is_its_own_certificate(n):
    assert is_chordal(nx.cycle_graph(n)).hole == tuple(range(n))


def test_a_hole_is_found_beside_long_detours():
    wheel = nx.wheel_graph(30)  # every two rim vertices are joined through the hub as well
    check(wheel)
    check(nx.disjoint_union(nx.complete_graph(20), nx.complement(nx.cycle_graph(9))))
    check(nx.disjoint_union(nx.path_graph(9), nx.grid_2d_graph(4, 5)))


def test_names_are_those_of_the_graph():
    square = nx.Graph(["ab", "bc", "cd", "da"])
    assert is_chordal(square).hole == ("a", "b", "c", "d")
    square.add_edge("a", "c")
    assert sorted(is_chordal(square).elimination_ordering) == list("abcd")


@pytest.mark.slow
def test_no_recursion_and_linear_time():
    n = 200_000
    path = Graph.from_edge_array(np.column_stack((np.arange(n - 1), np.arange(1, n))))
    assert len(is_chordal(path).elimination_ordering) == n
    ring = Graph.from_edge_array(np.column_stack((np.arange(n), (np.arange(n) + 1) % n)))
    assert len(is_chordal(ring).hole) == n
