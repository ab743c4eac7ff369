"""Chordless cycles of directed graphs, of multigraphs and of graphs with self-loops."""

import itertools

import networkx as nx
import numpy as np
import pytest
from chordless.graphs.vertex_names import edge_named
from directed_graphs import KINDS, all_digraphs, all_multigraphs, by_definition, by_reference, random_graph
from oracles import by_length

from kernels_ti import (
    Graph,
    GraphError,
    OptionError,
    Options,
    Run,
    collect_cycles,
    count_cycles,
    count_participation,
    enumerate_cycles,
)
from kernels_ti.blocks.passable import strong_components
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.found.order import CycleWalker


def searched(graph, device, **options):
    """Run a search; return its counts and its cycles, sorted."""
    run = Run(graph, device, Options(**options))
    while not run.finished:
        run.advance()
    return run.snapshot().cycles_by_length, sorted(map(tuple, run.take_cycles().named(run.graph.names)))


def agrees(graphs):
    for graph in graphs:
        assert by_reference(Graph.from_networkx(graph)) == by_definition(graph), list(graph.edges())


def test_the_reference_agrees_with_networkx_on_all_small_digraphs_and_multigraphs():
    agrees(itertools.chain(all_digraphs(3), all_multigraphs(3, 3)))


@pytest.mark.slow
def test_the_reference_agrees_with_networkx_on_all_digraphs_and_multigraphs_with_four_vertices():
    agrees(itertools.chain(all_digraphs(4), all_multigraphs(4, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_agrees_with_networkx_on_random_graphs(kind):
    agrees(random_graph(kind, seed, 3 + seed % 10, 0.1 + seed % 4 * 0.1) for seed in range(40))


KAUTZ = nx.complete_graph(4, nx.DiGraph)  # its line graph is the Kautz graph of words with two letters of four
CASES = [
    ("directed", Graph.from_networkx(random_graph(nx.DiGraph, 10, 40, 0.06, 0.02))),
    ("multigraph", Graph.from_networkx(random_graph(nx.MultiGraph, 6, 25, 0.12, 0.02))),
    ("directed multigraph of two words", Graph.from_networkx(random_graph(nx.MultiDiGraph, 5, 70, 0.03, 0.02))),
    ("tournament", Graph.from_networkx(nx.tournament.random_tournament(9, seed=3))),
    ("Kautz", Graph.from_networkx(nx.convert_node_labels_to_integers(nx.line_graph(KAUTZ)))),
    ("de Bruijn", Graph.from_edges(16, [(v, 2 * v % 16 + bit) for v in range(16) for bit in (0, 1)], directed=True)),
]
NAMES, GRAPHS = [name for name, _ in CASES], [graph for _, graph in CASES]


@pytest.mark.slow
@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
def test_every_device_finds_the_cycles_of_the_reference(device, graph):
    cycles = by_reference(graph)
    shortest = 3 if graph.is_simple else 1
    assert searched(graph, device, collect=True, min_length=shortest) == (by_length(cycles), cycles)
    assert searched(graph, device, min_length=shortest)[0] == by_length(cycles)
    longer = [cycle for cycle in cycles if 3 <= len(cycle) <= 6]
    assert searched(graph, device, collect=True, max_length=6) == (by_length(longer), longer)


@pytest.mark.parametrize("graph", GRAPHS[:3], ids=NAMES[:3])
@pytest.mark.slow_on("vulkan")
def test_restrictions_choose_among_the_cycles(device, graph):
    cycles = by_reference(graph)
    u, v = max(cycles, key=len)[:2]
    w = next(w for w in range(graph.n) if w not in (u, v))
    for options, wanted in (
        ({"through": (u,)}, lambda cycle: u in cycle),
        ({"avoid": (u,)}, lambda cycle: u not in cycle),
        ({"avoid_edges": ((u, v),)}, lambda cycle: not {u, v} <= set(cycle)),
        ({"through": (u, v), "avoid": (w,)}, lambda cycle: {u, v} <= set(cycle) and w not in cycle),
    ):
        expected = [cycle for cycle in cycles if wanted(cycle)]
        assert searched(graph, device, collect=True, min_length=1, **options)[1] == expected
        assert searched(graph, device, min_length=1, **options)[0] == by_length(expected)


def test_parts_and_a_resumed_search_find_each_cycle_once(device):
    graph = GRAPHS[2]
    cycles = by_reference(graph)
    parts = [searched(graph, device, collect=True, min_length=1, part=(i, 3))[1] for i in (1, 2, 3)]
    assert sorted(itertools.chain(*parts)) == cycles
    run = Run(graph, device, Options(min_length=1, collect=True))
    found = [run.take_cycles()]
    run.advance()
    found.append(run.take_cycles())
    resumed = Run(graph, device, run.options, state=run.state())
    while not resumed.finished:
        resumed.advance()
    found.append(resumed.take_cycles())
    assert sorted(tuple(cycle) for some in found for cycle in some.named(graph.names)) == cycles


def test_participation_counts_what_a_listing_has(device):
    graph = GRAPHS[0]
    cycles = by_reference(graph)
    run = Run(graph, device, Options(min_length=1, participation="edges"))
    while not run.finished:
        run.advance()
    counted = run.participation()
    for v in range(graph.n):
        assert counted.vertices[v].sum() == sum(v in cycle for cycle in cycles)
    for (u, v), count in zip(counted.edge_list.tolist(), counted.edges.sum(axis=1).tolist(), strict=True):
        assert count == sum({u, v} <= set(cycle) for cycle in cycles)
        assert [u, v] in graph.edges().tolist()


def test_balls_and_wide_rows_are_for_directed_graphs_too(device):
    cycle = [(v, (v + 1) % 600) for v in range(600)]
    back = [(v + 3, v) for v in range(0, 597, 3)]
    graph = Graph.from_edges(600, cycle + back, directed=True)
    assert searched(graph, device, max_length=5)[0] == {4: 199}
    assert searched(graph, device, through=(1,))[0] == {4: 1}


def test_an_estimate_that_looks_at_every_path_is_exact():
    estimator = Estimator(SearchSpace(GRAPHS[0], Options(min_length=1)))
    estimator.add_walk(1 << 12)
    assert estimator.exact
    assert estimator.estimate().by_length == by_length(by_reference(GRAPHS[0]))


@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
def test_bit_rows_are_put_in_the_direction_of_the_arcs(graph):
    table = collect_cycles(graph, arch="cpu", min_length=3 if graph.is_simple else 1)
    ordered = CycleWalker(graph).order(table.rows())
    assert (ordered.offsets.tolist(), ordered.vertices.tolist()) == (table.offsets.tolist(), table.vertices.tolist())


@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
def test_lists_csr_and_arrow_go_along_the_arcs(graph):
    pytest.importorskip("pyarrow")
    batches = list(enumerate_cycles(graph, arch="cpu", min_length=1).batches())
    for tables in [collect_cycles(graph, arch="cpu", min_length=1)], [collect_cycles(graph, min_length=1)], batches:
        slices = [table.vertices[i:j] for table in tables for i, j in itertools.pairwise(table.offsets.tolist())]
        arrow = [cycle for table in tables for cycle in table.to_arrow()["vertices"].to_pylist()]
        lists = [cycle for table in tables for cycle in table.lists()]
        for found in slices, arrow, lists:
            assert sorted(map(tuple, found)) == by_reference(graph)


@pytest.mark.parametrize("members", [[0, 1, 2], [0, 1], [3], [0, 2, 3]])
def test_a_bit_row_that_is_no_cycle_of_the_graph_is_refused(members):
    graph = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 0), (0, 3)], directed=True)
    with pytest.raises(GraphError, match="the row at 0 is not a chordless cycle"):
        CycleWalker(graph).order(np.array([[sum(1 << v for v in members)]], np.uint64))


def test_the_components_are_those_of_networkx():
    for seed in range(20):
        drawn = nx.gnp_random_graph(30, 0.06, seed=seed, directed=True)
        graph = Graph.from_networkx(drawn)
        numbers = strong_components(graph, graph.multiplicity > 0)
        assert {frozenset(np.flatnonzero(numbers == k).tolist()) for k in set(numbers.tolist())} == set(
            map(frozenset, nx.strongly_connected_components(drawn))
        )


def test_short_cycles_are_asked_for():
    graph = nx.DiGraph([(0, 1), (1, 0), (2, 2), (1, 2)])
    assert count_cycles(graph, arch="cpu").total == 0
    assert count_cycles(graph, arch="cpu", min_length=1).by_length == {1: 1, 2: 1}
    assert count_cycles(graph, arch="cpu", min_length=1, max_length=1).by_length == {1: 1}
    counted = count_participation(graph, arch="cpu", min_length=2)
    assert counted.top(edges=True) == [((0, 1), 1)]


def test_an_arc_is_named_from_its_tail():
    graph = nx.DiGraph([(0, 1), (1, 2), (2, 0)])
    assert count_cycles(graph, avoid_edges=[(0, 1)]).by_length == {}
    with pytest.raises(OptionError, match="there is no arc 1 -> 0 in the graph"):
        count_cycles(graph, avoid_edges=[(1, 0)])
    named = Graph.from_networkx(graph)
    assert edge_named(named, "0-1") == (0, 1)
    with pytest.raises(OptionError, match="there is no arc 1 -> 0 in the graph"):
        edge_named(named, "1-0")


def test_the_expansion_of_the_paper_refuses_directed_graphs():
    with pytest.raises(
        OptionError, match="the expansion of the paper is for simple undirected graphs, and this graph is"
    ):
        count_cycles(nx.DiGraph([(0, 1), (1, 2), (2, 0)]), arch="cpu", expansion="paper")


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"expansion": "paper"}, {"method": "boundary"}, {"method": "search"}], ids=str)
@pytest.mark.parametrize("bounds", [(1, None), (2, None), (1, 2), (1, 3)])
def test_a_graph_may_be_asked_for_cycles_shorter_than_a_triangle_whether_it_has_parallel_edges_or_not(bounds, more):
    shortest, longest = bounds
    wanted = {length: number for length, number in {3: 1, 4: 1}.items() if longest is None or length <= longest}
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 3)]
    for graph in (nx.Graph(edges), nx.MultiGraph(edges)):
        found = count_cycles(graph, arch="cpu", min_length=shortest, max_length=longest, **more).by_length
        assert found == wanted
    if more.get("expansion") != "paper":
        double = nx.MultiGraph([*edges, (7, 8), (7, 8)])
        found = count_cycles(double, arch="cpu", min_length=shortest, max_length=longest, **more).by_length
        assert found == {2: 1} | wanted
