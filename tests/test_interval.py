"""Interval graphs: the order of the vertices along a line, against networkx and against the definition."""

from __future__ import annotations

import random
from itertools import combinations

import chordless
import networkx as nx
import pytest
from chordless.graphs.interval import interval_order

from kernels_ti import Graph


def of_intervals(count):
    """Return the intersection graph of random intervals."""
    intervals = [sorted((random.random(), random.random())) for _ in range(count)]
    pairs = combinations(enumerate(intervals), 2)
    return [(u, v) for (u, a), (v, b) in pairs if max(a[0], b[0]) <= min(a[1], b[1])]


def check_order(n, edges, order):
    """Two vertices are joined if and only if their stretches have a place in common."""
    places = {one.vertex: range(one.first, one.last + 1) for one in order}
    joined = {frozenset(edge) for edge in edges}
    assert set(places) == set().union(*joined) if joined else not places
    for pair in combinations(places, 2):
        u, v = (set(places[vertex]) for vertex in pair)
        assert bool(u & v) == (frozenset(pair) in joined)
    assert list(order) == sorted(order, key=lambda one: (one.first, one.last, one.vertex))


@pytest.mark.parametrize("seed", range(300))
def test_a_graph_has_an_order_if_and_only_if_it_is_an_interval_graph(seed):
    random.seed(seed)
    n = random.randint(2, 12)
    edges = set(of_intervals(n))
    if seed % 3 == 1:
        # One pair more or less: often no interval graph any more.
        edges ^= {tuple(sorted(random.sample(range(n), 2)))}
    elif seed % 3 == 2:
        edges = set(nx.gnp_random_graph(n, random.random(), seed=seed).edges)
    whole = nx.empty_graph(n)
    whole.add_edges_from(edges)
    is_one = nx.is_chordal(whole) and nx.find_asteroidal_triple(whole) is None
    order = interval_order(Graph.from_edges(n, sorted(edges)))
    assert (order is not None) == is_one
    if order is not None:
        check_order(n, edges, order)


def test_the_public_function_takes_graphs_of_other_libraries_and_tells_names():
    order = chordless.interval_order(nx.Graph([("hare", "fox"), ("fox", "owl"), ("hare", "owl"), ("owl", "lynx")]))
    # Between "lynx" and the others is only "owl", at both places.
    places = {one.vertex: (one.first, one.last) for one in order}
    assert (places.pop("owl"), places["hare"], len(set(places.values()))) == ((1, 2), places["fox"], 2)
    assert chordless.interval_order(chordless.generate("cycle:4")) is None
    with pytest.raises(chordless.GraphError, match=r"this graph is directed \(simplify=True makes it simple\)"):
        chordless.interval_order(nx.DiGraph([(0, 1)]))
    assert len(chordless.interval_order(nx.DiGraph([(0, 1)]), simplify=True)) == 2


def test_a_graph_without_edges_has_an_order_of_no_vertices():
    assert interval_order(Graph.from_edges(3, [])) == ()


def test_the_order_of_a_large_interval_graph_is_found_at_once():
    """A row of 3,000 vertices, each joined to the next 40: its complement has 4.4 million edges."""
    n, reach = 3000, 40
    mixed = random.Random(1).sample(range(n), n)
    edges = [(mixed[v], mixed[w]) for v in range(n) for w in range(v + 1, min(v + reach + 1, n))]
    order = interval_order(Graph.from_edges(n, edges))
    assert order is not None
    along = [one.vertex for one in sorted(order, key=lambda one: one.first + one.last)]
    assert along in (mixed, mixed[::-1])
