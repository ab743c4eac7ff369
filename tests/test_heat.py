"""How many cycles pass each edge: from bit rows, and from counts of a run."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from chordless.cycles.heat import heat_of_counts, heat_of_rows

from kernels_ti import Graph, as_graph, collect_cycles, participation


@pytest.fixture(
    params=[nx.petersen_graph(), nx.grid_graph([5, 5]), nx.disjoint_union(nx.path_graph(125), nx.cubical_graph())]
)
def table(request):
    return collect_cycles(as_graph(nx.convert_node_labels_to_integers(request.param)), arch="reference")


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_edges_are_counted_as_the_cycles_pass_them(table, rows_at_once):
    rows, graph = table.rows(), table.graph
    heat = heat_of_rows(graph, (rows[i : i + rows_at_once] for i in range(0, len(rows), rows_at_once)))
    passed = dict.fromkeys(map(tuple, graph.pairs().tolist()), 0)
    for cycle in table:
        for u, v in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            passed[min(u, v), max(u, v)] += 1
    assert len(rows) > 3
    assert heat.total == len(rows)
    assert dict(zip(map(tuple, heat.pairs.tolist()), heat.counts, strict=True)) == passed
    assert heat.shares.tolist() == [count / len(rows) for count in heat.counts]
    hottest = heat.hottest(3)
    assert [count for *_, count in hottest] == sorted(passed.values(), reverse=True)[: len(hottest)]


def test_counts_of_a_run_are_taken_by_the_names_of_the_ends():
    graph = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="dcba")
    entries = [{"name": list(ends), "cycles": 10**20 + i} for i, ends in enumerate(("ab", "bc", "cd", "da"))]
    heat = heat_of_counts(graph, {"edges": entries}, 2 * 10**20)
    names = {frozenset(graph.names[v] for v in pair) for pair in heat.pairs.tolist()}
    assert names == {frozenset(ends) for ends in ("ab", "bc", "cd", "da")}
    assert sorted(heat.counts) == [10**20 + i for i in range(4)]
    assert np.allclose(heat.shares, 0.5)


def test_rows_and_the_boundary_agree(table):
    shares = participation(table.graph)
    heat = heat_of_rows(table.graph, [table.rows()])
    assert list(heat.counts) == shares.edges


def test_without_cycles_no_edge_is_hot():
    graph = Graph.from_edges(3, [(0, 1), (1, 2)])
    heat = heat_of_rows(graph, [np.zeros((0, 1), np.uint64)])
    assert (heat.counts, heat.total, heat.hottest(5)) == ((0, 0), 0, [])
    assert heat.shares.tolist() == [0.0, 0.0]
