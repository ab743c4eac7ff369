"""Many graphs in one launch have the counts that each has alone, however the launches are cut."""

import re

import networkx as nx
import numpy as np
import pytest
from oracles import grid, levels_of, nauty

from kernels_ti import Device, Graph, GraphError, OptionError, open_device
from kernels_ti.many import count as many_module
from kernels_ti.many import search as many_search
from kernels_ti.many.count import MOST_VERTICES, count_many
from kernels_ti.many.graphs import ManyGraphs


def expected(graphs: list[Graph], max_length: int | None = None) -> list[dict[int, int]]:
    return [dict(sorted(levels_of(graph, max_length=max_length).cycles.items())) for graph in graphs]


def some_graphs() -> list[Graph]:
    """Graphs of all sorts, and of every number of words to a bit row."""
    random = [nx.gnp_random_graph(k % 13, (0.1, 0.25, 0.4, 0.6, 0.9)[k % 5], seed=k) for k in range(65)]
    sparse = [nx.gnm_random_graph(n, n - 8, seed=n) for n in (31, 32, 33, 63, 64, 65, 96, 127, 128)]
    chords = nx.cycle_graph(70)
    chords.add_edges_from([(0, 35), (10, 50)])
    named = [
        nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(128), nx.path_graph(60), nx.cycle_graph(3),
        nx.cycle_graph(64), nx.cycle_graph(128), nx.complete_graph(30), nx.complete_bipartite_graph(5, 6),
        nx.petersen_graph(), nx.disjoint_union(nx.cycle_graph(40), nx.complete_graph(5)), chords,
        nx.balanced_tree(2, 5),
    ]  # fmt: skip
    rng = np.random.default_rng(3)
    graphs = []
    for graph in random + sparse + named:
        places = rng.permutation(len(graph)).tolist()
        graphs.append(Graph.from_edges(len(graph), [(places[u], places[v]) for u, v in graph.edges()]))
    return graphs


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [None, 3, 4, 7])
def test_each_graph_has_the_counts_that_it_has_alone(device: Device, max_length: int | None) -> None:
    graphs = some_graphs()
    counts = count_many(ManyGraphs.from_graphs(graphs), device, max_length=max_length)
    assert counts.left_over.tolist() == []
    assert list(counts.by_length()) == expected(graphs, max_length)


def test_all_graphs_of_up_to_six_vertices(device: Device) -> None:
    graphs = [Graph.from_networkx(graph) for graph in nx.graph_atlas_g() if len(graph) <= 6]
    counts = count_many(ManyGraphs.from_graphs(graphs), device)
    assert list(counts.by_length()) == expected(graphs)


def test_all_graphs_of_seven_vertices_as_nauty_counts_them() -> None:
    lines = nauty("geng", "7", "-q")
    said = nauty("countg", "--H", "-q", stdin=lines).decode()
    histogram = {
        int(cycles): int(graphs) for graphs, cycles in re.findall(r"(\d+) graphs? : induced cycles=(\d+)", said)
    }
    graphs = [Graph.from_networkx(nx.from_graph6_bytes(line)) for line in lines.split()]
    totals = count_many(ManyGraphs.from_graphs(graphs), open_device("cpu")).totals
    assert dict(zip(*(found.tolist() for found in np.unique(totals, return_counts=True)), strict=True)) == histogram


@pytest.mark.parametrize(("steps", "patience"), [(1, 32), (1, 0), (7, 2)])
def test_a_search_goes_on_where_the_launch_before_stopped(
    device: Device, steps: int, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if device.arch == "vulkan" and steps == 1:
        pytest.skip("hundreds of launches take seconds on lavapipe; seven steps to a launch are tried there")
    monkeypatch.setitem(many_search.FIRST_BUDGET, device.arch, steps)
    monkeypatch.setattr(many_search, "LARGEST_BUDGET", steps)
    monkeypatch.setattr(many_search, "PATIENCE", patience)
    monkeypatch.setattr(many_search, "SLOT_BYTES", 1 << 14)
    monkeypatch.setattr(many_search, "SOFTWARE_SLOT_BYTES", 1 << 14)  # fewer slots than graphs
    graphs = [grid(4, 4), grid(3, 5), *(Graph.from_networkx(nx.gnp_random_graph(9, 0.4, seed=k)) for k in range(60))]
    launches: list[int] = []
    found: list[int] = []

    def progress(done: int, cycles: int) -> None:
        launches.append(done)
        found.append(cycles)

    counts = count_many(ManyGraphs.from_graphs(graphs), device, max_length=6, parity="even", progress=progress)
    wanted = [{length: each[length] for length in each if length in (4, 6)} for each in expected(graphs)]
    assert list(counts.by_length()) == wanted
    assert (launches, found) == (sorted(launches), sorted(found))
    assert (launches[-1], found[-1]) == (len(graphs), sum(sum(each.values()) for each in wanted))
    assert all(cycles > 0 for done, cycles in zip(launches, found, strict=True) if done > len(graphs) // 2)
    assert len(set(launches)) > 5


def test_graphs_are_laid_out_in_pieces(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = some_graphs()[:40]
    monkeypatch.setattr(many_module, "MOST_GRAPHS", 11)
    monkeypatch.setattr(many_module, "MOST_EDGES", 60)
    assert list(count_many(ManyGraphs.from_graphs(graphs), device).by_length()) == expected(graphs)


def test_lengths_below_the_minimum_are_left_out(device: Device) -> None:
    graphs = some_graphs()[:40]
    counts = count_many(ManyGraphs.from_graphs(graphs), device, min_length=5, max_length=6)
    assert list(counts.by_length()) == [{k: c for k, c in found.items() if 5 <= k <= 6} for found in expected(graphs)]
    with pytest.raises(OptionError, match="maximum length 4 is less"):
        count_many(ManyGraphs.from_graphs(graphs), device, min_length=5, max_length=4)


def test_what_takes_too_long_or_is_too_large_is_left_over(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(many_search.MOST_STEPS, device.arch, 300)
    monkeypatch.setattr(many_search, "SLOW_MOST_STEPS", 300)
    large = Graph.from_networkx(nx.cycle_graph(MOST_VERTICES + 1))
    graphs = [grid(2, 3), grid(5, 6), large, Graph.from_networkx(nx.complete_graph(9)), grid(3, 3)]
    counts = count_many(ManyGraphs.from_graphs(graphs), device)
    assert counts.left_over.tolist() == [1, 2]
    wanted = expected(graphs)
    assert list(counts.by_length()) == [wanted[0], {}, {}, wanted[3], wanted[4]]


def test_the_reference_leaves_all_graphs_over() -> None:
    counts = count_many(ManyGraphs.from_graphs([grid(2, 2), grid(3, 3)]), open_device("reference"))
    assert counts.left_over.tolist() == [0, 1]
    assert counts.totals.tolist() == [0, 0]


def test_no_graph_at_all(device: Device) -> None:
    counts = count_many(ManyGraphs.from_graphs([]), device)
    assert (len(counts), list(counts.by_length()), counts.table().shape) == (0, [], (0, 1))


def test_a_counter_of_32_bits_holds_what_a_graph_may_count() -> None:
    assert max(many_search.MOST_STEPS.values()) * MOST_VERTICES < 1 << 32


def test_progress_may_end_the_count(device: Device) -> None:
    graphs = ManyGraphs.from_graphs([grid(3, 4)] * 50)

    def stop(done: int, cycles: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_many(graphs, device, progress=stop)
    assert count_many(graphs, device).totals.tolist() == [sum(expected([grid(3, 4)])[0].values())] * 50


def test_counts_are_the_same_in_every_form() -> None:
    graphs = some_graphs()[:30]
    counts = count_many(ManyGraphs.from_graphs(graphs), open_device("cpu"))
    table = counts.table()
    assert table.shape == (30, 1 + max(graph.n for graph in graphs))
    assert [{int(k): int(row[k]) for k in np.flatnonzero(row)} for row in table] == list(counts.by_length())
    assert table.sum(axis=1).tolist() == counts.totals.tolist()


def test_graphs_come_out_as_they_went_in() -> None:
    graphs = some_graphs()
    many = ManyGraphs.from_graphs(graphs)
    checked = ManyGraphs.from_arrays(many.vertices, many.edge_counts, many.edges[:, ::-1])
    order = np.array([5, 3, 3, 80, 0])
    chosen = ManyGraphs.joined([checked.chosen(order[:2]), checked.chosen(order[2:])])
    assert [len(many), len(checked), len(chosen)] == [len(graphs), len(graphs), 5]
    for i, graph in enumerate(graphs):
        assert np.array_equal(checked.graph(i).edges(), graph.edges())
        assert many.graph(i).n == graph.n
    for i, which in enumerate(order.tolist()):
        assert np.array_equal(chosen.graph(i).edges(), graphs[which].edges())


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (0, 1), (1, 2), (2, 1)], "graph 1: the edge 1 - 2 is there more than once"),
        ([(0, 1), (0, 1), (2, 2), (0, 2)], "graph 1: vertex 2 has a self-loop"),
        ([(0, 2), (0, 1), (1, 2), (0, 2)], r"graph 0, edge \(0, 2\): a vertex is out of range, the graph has 2"),
        ([(0, 1), (0, 1), (-1, 2), (0, 2)], r"graph 1, edge \(-1, 2\): a vertex is out of range"),
        ([(0, 1), (0, 1), (1, 2)], "edge_counts add up to 4, but there are 3 edges"),
        ([0, 1, 2, 3], "an array of shape"),
    ],
)
def test_what_is_no_simple_graph_is_refused(edges: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        ManyGraphs.from_arrays([2, 3], [1, 3], edges)
