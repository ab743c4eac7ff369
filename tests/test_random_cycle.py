"""Single chordless cycles drawn at random."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.load import load_graph

from kernels_ti import Graph
from kernels_ti.estimate.random_cycle import CycleSampler


@pytest.mark.parametrize("spec", ["grid:4x5", "petersen", "gnp:20,0.2,1", "complete:5", "karate", "cycle:30"])
def test_what_is_drawn_is_a_chordless_cycle_in_cycle_order(spec):
    graph = load_graph(spec).graph
    full = nx.Graph(graph.edges().tolist())
    sampler = CycleSampler(graph, seed=1)
    drawn = [cycle.tolist() for cycle in (sampler.draw() for _ in range(100)) if cycle is not None]
    assert drawn
    for cycle in drawn:
        induced = full.subgraph(cycle)
        assert len(set(cycle)) == len(cycle) == induced.number_of_edges() >= 3
        assert all(full.has_edge(u, v) for u, v in zip(cycle, np.roll(cycle, -1).tolist(), strict=True))


def test_many_cycles_are_met():
    sampler = CycleSampler(load_graph("grid:3x4").graph)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))
    met = {frozenset(cycle.tolist()) for cycle in (sampler.draw() for _ in range(400)) if cycle is not None}
    assert met == {frozenset(cycle) for cycle in nx.chordless_cycles(grid)}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph])
def test_of_a_graph_that_is_not_simple_only_its_own_cycles_are_met(kind, seed):
    random = np.random.default_rng(seed)
    pairs = random.integers(0, 8, (14, 2)).tolist()
    edges = sorted(set(map(tuple, pairs))) if kind is nx.DiGraph else pairs
    other = kind(edges)
    other.add_nodes_from(range(8))
    graph = Graph.from_edge_array(np.array(edges), n=8, directed=kind is nx.DiGraph, multigraph=kind is nx.MultiGraph)
    sampler = CycleSampler(graph, seed=seed)
    met = {frozenset(cycle.tolist()) for cycle in (sampler.draw() for _ in range(600)) if cycle is not None}
    assert met == {frozenset(cycle) for cycle in nx.chordless_cycles(other) if len(cycle) > 2}


@pytest.mark.parametrize("spec", ["path:5", "path:1"])
def test_without_a_cycle_there_is_none(spec):
    sampler = CycleSampler(load_graph(spec).graph)
    assert all(sampler.draw() is None for _ in range(5))


def test_a_draw_can_be_given_up():
    sampler = CycleSampler(load_graph("cycle:30").graph)
    asked = iter([False] * 5)
    assert sampler.draw(lambda: next(asked, True)) is None
    assert len(sampler.draw()) == 30
