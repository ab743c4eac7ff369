"""Large graphs: labels and biconnected components that are found for whole sets of vertices at a time."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.generators import generate
from hypothesis import given
from hypothesis import strategies as st
from laid_out import block_batches

from kernels_ti import Graph
from kernels_ti.blocks import biconnected, bulk, degree_labelling
from kernels_ti.state import Layout


def count_as_large(monkeypatch):
    """Make small graphs count as large, and let them take as many rounds as they need."""
    monkeypatch.setattr(biconnected, "LARGE", 0)
    monkeypatch.setattr(degree_labelling, "LARGE", 0)
    monkeypatch.setattr(bulk, "VERTICES_PER_ROUND", 1e-3)


def components(graph):
    edges, component = biconnected.biconnected_edges(graph)
    assert component.tolist() == sorted(component.tolist())
    return {frozenset(map(frozenset, edges[component == k].tolist())) for k in range(component.max(initial=-1) + 1)}


@pytest.mark.parametrize("vertices_per_round", [1e-3, 1e9])
@given(n=st.integers(0, 30), density=st.floats(0, 3), seed=st.integers(0, 10**6))
def test_components_are_those_of_networkx(n, density, seed, vertices_per_round):
    drawn = nx.gnm_random_graph(n, int(n * density), seed=seed)
    expected = {frozenset(map(frozenset, part)) for part in nx.biconnected_component_edges(drawn) if len(part) > 1}
    with pytest.MonkeyPatch.context() as patch:
        count_as_large(patch)
        patch.setattr(bulk, "VERTICES_PER_ROUND", vertices_per_round)
        assert components(Graph.from_networkx(drawn)) == expected


@pytest.mark.parametrize("vertices_per_round", [1e-3, 1e9])
@given(n=st.integers(0, 40), density=st.floats(0, 6), seed=st.integers(0, 10**6))
def test_the_labels_are_a_degeneracy_ordering(n, density, seed, vertices_per_round):
    drawn = nx.gnm_random_graph(n, int(n * density), seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        count_as_large(patch)
        patch.setattr(bulk, "VERTICES_PER_ROUND", vertices_per_round)
        labels = degree_labelling.degree_labelling(Graph.from_networkx(drawn))
    assert sorted(labels.tolist()) == list(range(n))
    later = [sum(int(labels[u] > labels[v]) for u in drawn[v]) for v in drawn]
    assert max(later, default=0) == max(nx.core_number(drawn).values(), default=0)


def test_many_blocks_are_laid_out_alike(monkeypatch):
    count_as_large(monkeypatch)
    drawn = nx.disjoint_union(nx.cycle_graph(7), nx.windmill_graph(4, 5))
    drawn.add_edge(0, 7)
    graph = Graph.from_networkx(drawn)
    (in_bulk,) = block_batches(graph, Layout(), 64)[0]
    monkeypatch.undo()
    (one_by_one,) = block_batches(graph, Layout(), 64)[0]
    assert in_bulk.longest_block == one_by_one.longest_block == 7
    assert sorted(in_bulk.vertex_of_row.tolist()) == sorted(one_by_one.vertex_of_row.tolist())
    assert np.diff(in_bulk.row_ptr).sum() == np.diff(one_by_one.row_ptr).sum()


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_graph_is_split_in_a_few_numbers_for_each_vertex(monkeypatch, shuffled):
    """A search breadth first would need a round for each vertex, and Python objects take four times as much."""
    monkeypatch.setattr(biconnected, "LARGE", 0)
    n = 50_000
    name = np.random.default_rng(1).permutation(n) if shuffled else np.arange(n)
    graph = Graph.from_edge_array(np.column_stack((name, np.roll(name, 1)))[1:], n=n)
    tracemalloc.start()
    found = biconnected.Components.of(graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.count == 0
    assert sorted(found.discovered.tolist()) == list(range(n))
    assert peak < 120 * n


def test_a_long_graph_is_labelled_in_a_few_numbers_for_each_vertex(monkeypatch):
    """Bulk peeling would take a round for four vertices, and Python objects take four times as much."""
    monkeypatch.setattr(degree_labelling, "LARGE", 0)
    ladder = generate("grid:2x10000")
    tracemalloc.start()
    labels = degree_labelling.degree_labelling(ladder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sorted(labels.tolist()) == list(range(ladder.n))
    assert peak < 60 * ladder.n
