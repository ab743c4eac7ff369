"""Counting along a boundary in directed graphs and multigraphs, against the search."""

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from chordless import generate
from directed_graphs import KINDS, all_digraphs, all_multigraphs, by_reference, random_graph
from oracles import by_length

from kernels_ti import (
    Graph,
    OptionError,
    Options,
    count_cycles,
    longest_cycle,
    open_device,
    participation,
    sample_cycles,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount


def counted(graph, *, each_length=True, **options):
    options = {"min_length": 3 if graph.is_simple else 1, **options}
    count = BoundaryCount(SearchSpace(graph, Options(**options)), by_length=each_length)
    while not count.finished:
        count.advance(0.01)
    return count.cycles_by_length


def agrees(drawn):
    for graph in map(Graph.from_networkx, drawn):
        cycles = by_reference(graph)
        assert counted(graph) == by_length(cycles), graph.edges().tolist()
        assert counted(graph, each_length=False) == ({0: len(cycles)} if cycles else {})


def tournament(n, seed):
    return nx.tournament.random_tournament(n, seed=seed)


def de_bruijn(letters, length):
    """Words of a number of letters, and an arc to each that drops the first letter and adds a last one."""
    n = letters**length
    return nx.DiGraph((v, letters * v % n + letter) for v in range(n) for letter in range(letters))


def kautz(letters, length):
    """Words in which no letter follows itself."""
    graph = nx.complete_graph(letters + 1, nx.DiGraph)
    for _ in range(length - 1):
        graph = nx.line_graph(graph)
    return nx.convert_node_labels_to_integers(graph)


def test_all_small_digraphs_and_multigraphs():
    agrees(itertools.chain(all_digraphs(3), all_multigraphs(3, 3)))


@pytest.mark.slow
def test_all_digraphs_and_multigraphs_with_four_vertices():
    agrees(itertools.chain(all_digraphs(4), all_multigraphs(4, 3)))


@pytest.mark.parametrize("kind", KINDS)
def test_random_graphs(kind):
    agrees(random_graph(kind, seed, 3 + seed % 10, 0.08 + seed % 5 * 0.06) for seed in range(30))


@pytest.mark.parametrize(
    "graph",
    [tournament(9, 3), tournament(11, 4), kautz(2, 4), kautz(3, 2), de_bruijn(2, 5), de_bruijn(3, 3)],
    ids=["tournament 9", "tournament 11", "Kautz 2, 4", "Kautz 3, 2", "de Bruijn 2, 5", "de Bruijn 3, 3"],
)
def test_tournaments_and_graphs_of_words(graph):
    agrees([graph])


SEEDS = zip(KINDS[1:], (27, 22, 35), strict=True)  # graphs with cycles of many lengths
DRAWN = [Graph.from_networkx(random_graph(kind, seed, 18, 0.16, 0.04)) for kind, seed in SEEDS]


@pytest.mark.parametrize("graph", DRAWN, ids=["directed", "multigraph", "directed multigraph"])
def test_bounds_and_restrictions(graph):
    cycles = by_reference(graph)
    u, v = max(cycles, key=len)[:2]
    w = next(w for w in range(graph.n) if w not in (u, v))
    for options, wanted in (
        ({"min_length": 2, "max_length": 4}, lambda cycle: 2 <= len(cycle) <= 4),
        ({"min_length": 4}, lambda cycle: len(cycle) >= 4),
        ({"through": (u,)}, lambda cycle: u in cycle),
        ({"avoid": (u,)}, lambda cycle: u not in cycle),
        ({"avoid_edges": ((u, v),)}, lambda cycle: not {u, v} <= set(cycle)),
        ({"through": (u, v), "avoid": (w,)}, lambda cycle: {u, v} <= set(cycle) and w not in cycle),
    ):
        assert counted(graph, **options) == by_length([cycle for cycle in cycles if wanted(cycle)])


@pytest.mark.parametrize("graph", DRAWN, ids=["directed", "multigraph", "directed multigraph"])
def test_the_longest_one_draws_and_shares_are_those_of_a_listing(graph):
    cycles = by_reference(graph)
    longest = [list(cycle) for cycle in cycles if len(cycle) == max(map(len, cycles))]
    best = longest_cycle(graph)
    assert best.cycle in longest
    assert best.ways == len(longest)
    least = longest_cycle(graph, shortest=True, min_length=1)
    assert (least.length, least.ways) == min(Counter(map(len, cycles)).items())
    drawn = sample_cycles(graph, 40 * len(cycles), min_length=1).lists()
    assert {tuple(cycle) for cycle in drawn} == set(cycles)
    shares = participation(graph, min_length=1)
    assert shares.total == len(cycles)
    assert shares.vertices == [sum(v in cycle for cycle in cycles) for v in range(graph.n)]
    assert shares.edges == [sum({u, v} <= set(cycle) for cycle in cycles) for u, v in shares.edge_list.tolist()]


@pytest.mark.parametrize("graph", DRAWN, ids=["directed", "multigraph", "directed multigraph"])
def test_a_count_that_was_saved_goes_on(graph):
    space = SearchSpace(graph, Options(min_length=1))
    count = BoundaryCount(space)
    while not count.finished:
        count.advance(0.0)
        count = BoundaryCount(space, saved=count.saved())
    assert count.cycles_by_length == by_length(by_reference(graph))


@pytest.mark.parametrize("spec", ["grid:8x20", "planar:120,1"])
def test_a_plan_expects_the_states_that_arcs_leave(spec):
    pairs = generate(spec).pairs()
    turned = np.random.default_rng(1).random(len(pairs)) < 0.5
    graph = Graph.from_edge_array(np.where(turned[:, None], pairs[:, ::-1], pairs), directed=True)
    count = BoundaryCount(graph)
    met = 0
    while not count.finished:
        count.advance(0.0)
        met += count.states
    assert met / 8 < count.plan.states < 8 * met


def test_arcs_have_weights():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1), (1, 2, 1), (2, 0, 1), (2, 3, 4), (3, 0, 5), (3, 2, 9)])
    best = longest_cycle(graph, weight="weight")
    assert (best.cycle, best.weight) == ([0, 1, 2], 3)
    best = longest_cycle(graph, weight="weight", min_length=1)
    assert (best.cycle, best.weight) == ([2, 3], 13)
    with pytest.raises(OptionError, match="there is no arc 1 -> 0 in the graph"):
        longest_cycle(graph, weight={(1, 0): 2})
    with pytest.raises(OptionError, match="the arc 1 -> 2 has no weight"):
        longest_cycle(graph, weight={(0, 1): 2})
    with pytest.raises(OptionError, match="self-loops and parallel edges cannot have weights of their own"):
        longest_cycle(nx.MultiGraph([(0, 1), (0, 1)]), weight={(0, 1): 2})


def test_the_method_is_chosen_for_directed_graphs_too():
    # A ring of 60 pairs of vertices, with all arcs from each pair to the next one.
    arcs = [(v, (v // 2 * 2 + 2 + bit) % 120) for v in range(120) for bit in (0, 1)]
    assert count_cycles(Graph.from_edges(120, arcs, directed=True), method="auto").by_length == {60: 2**60}


def test_count_cycles_takes_a_directed_graph_along_a_boundary():
    graph = Graph.from_edges(3, [(0, 1), (1, 2), (2, 0)], directed=True)
    assert count_cycles(graph, method="boundary").by_length == {3: 1}


@pytest.fixture(params=["cores", "tables"])
def in_kernels(request, monkeypatch):
    """Every block goes to kernels, those for cores or those for GPUs."""
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)
    if request.param == "tables":
        monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)


@pytest.mark.slow
@pytest.mark.usefixtures("in_kernels")
@pytest.mark.parametrize("graph", DRAWN, ids=["directed", "multigraph", "directed multigraph"])
def test_kernels_count_find_and_draw_as_the_reference_does(graph):
    cycles = by_reference(graph)
    counted = by_length(cycles)
    assert count_cycles(graph, method="boundary", arch="cpu", min_length=1).by_length == counted
    total = BoundaryCount(SearchSpace(graph), by_length=False)
    total.use(open_device("cpu"), None)
    total.advance(math.inf)
    assert total.cycles_by_length == {0: sum(ways for length, ways in counted.items() if length > 2)}
    best = longest_cycle(graph, arch="cpu")
    assert (best.length, best.ways) == max(counted.items())
    assert best.cycle in [list(cycle) for cycle in cycles]
    drawn = sample_cycles(graph, 40 * len(cycles), min_length=1, arch="cpu").lists()
    assert {tuple(cycle) for cycle in drawn} == set(cycles)


@pytest.mark.slow
@pytest.mark.usefixtures("in_kernels")
def test_kernels_count_a_directed_band_of_two_words_as_a_search_does():
    # All arcs from each column of five to the next one, in a ring.
    arcs = [(5 * at + u, 5 * ((at + 1) % 7) + v) for at in range(7) for u in range(5) for v in range(5) if u != 2 or v]
    graph = Graph.from_edges(35, arcs, directed=True)
    expected = count_cycles(graph, method="search").by_length
    assert sum(expected.values()) > 100
    assert count_cycles(graph, method="boundary", arch="cpu").by_length == expected
