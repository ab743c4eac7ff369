"""One preparation of a graph serves the device choice, the estimate, the forecast, the boundary plan and the run."""

from __future__ import annotations

import math
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from chordless import generate
from laid_out import block_batches
from oracles import grid

from kernels_ti import Graph, OptionError, Options, Run, open_device
from kernels_ti.blocks import biconnected, groups
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.estimate.device_choice import device_for
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.state import Layout


def test_a_graph_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[Graph] = []
    of = groups.split
    monkeypatch.setattr(groups, "split", lambda graph: split.append(graph) or of(graph))
    space = SearchSpace(grid(5, 9), Options(min_length=4))
    monkeypatch.setattr("kernels_ti.estimate.device_choice.cuda_is_here", lambda: True)
    opened = open_device("cpu")
    monkeypatch.setattr("kernels_ti.estimate.device_choice.open_device", lambda arch, threads=None: opened)
    estimator = Estimator(space)
    estimator.add_walk(10**6)
    run = Run(space, device_for(space))
    while not run.finished:
        run.advance()
    count = BoundaryCount(space)
    count.advance(math.inf)
    assert run.snapshot().cycles == estimator.estimate().total.estimate == sum(count.cycles_by_length.values()) > 0
    assert [graph for graph in split if graph.n] == [space.cases[0].graph]


def test_a_run_of_other_bounds_is_refused() -> None:
    space = SearchSpace(grid(3, 3), Options(max_length=6))
    assert Run(space, open_device("cpu")).options.max_length == 6
    assert Run(space, open_device("cpu"), Options(max_length=6, collect=True)).options.collect
    with pytest.raises(OptionError, match="other bounds"):
        Run(space, open_device("cpu"), Options())


def test_a_dense_graph_takes_little_memory_to_prepare() -> None:
    """A Python object to each edge would take twice as much."""
    graph = generate("complete:700")
    tracemalloc.start()
    groups = block_batches(graph, Layout(nested=True), 64)[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(group.rows for group in groups) > graph.n
    assert peak < 110 * graph.m


@pytest.mark.parametrize("p", [0.45, 0.6, 1.0])
def test_dense_graphs_have_the_blocks_that_a_search_finds(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = nx.disjoint_union(nx.gnp_random_graph(25, p, seed=4), nx.empty_graph(3))
    graph = Graph.from_networkx(drawn)
    edges, component = biconnected.biconnected_edges(graph)
    monkeypatch.setattr(biconnected, "is_dense_block", lambda graph: False)
    searched, component_searched = biconnected.biconnected_edges(graph)
    assert edges.tolist() == searched.tolist()
    assert component.tolist() == component_searched.tolist()


def test_two_cliques_at_a_vertex_are_two_blocks() -> None:
    """Every vertex has half of all as neighbours, less one."""
    graph = Graph.from_networkx(nx.barbell_graph(5, 0))
    assert not biconnected.is_dense_block(graph)
    assert len(set(biconnected.biconnected_edges(graph)[1].tolist())) == 2


@pytest.mark.parametrize("n", [9, 70_000])
def test_permuted_and_induced(n: int) -> None:
    random = np.random.default_rng(1)
    pairs = np.unique(np.sort(random.integers(0, n, (3 * n, 2)), axis=1), axis=0)
    graph = Graph.from_edge_array(pairs[pairs[:, 0] < pairs[:, 1]], n=n)
    place = random.permutation(n)
    expected = Graph.from_edge_array(place[graph.edges()], n=n)
    assert np.array_equal(graph.permuted(place).col_idx, expected.col_idx)
    keep = random.random(n) < 0.6
    inner = graph.edges()[keep[graph.edges()].all(axis=1)]
    expected = Graph.from_edge_array((np.cumsum(keep) - 1)[inner], n=int(keep.sum()))
    assert graph.induced(keep).edges().tolist() == expected.edges().tolist()
