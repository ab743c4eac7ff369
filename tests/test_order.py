"""Bit rows to vertices in cycle order on the host, against the reference search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chordless import generate
from hypothesis import given
from hypothesis import strategies as st

from kernels_ti import Graph, GraphError
from kernels_ti.found import order
from kernels_ti.found.order import CycleWalker
from kernels_ti.reference.algorithm import chordless_cycles


def rows_of(cycles, n):
    members = np.zeros((len(cycles), -(-n // 64) * 64), bool)
    for i, cycle in enumerate(cycles):
        members[i, cycle] = True
    return np.packbits(members, axis=1, bitorder="little").view(np.uint64).reshape(len(cycles), -(-n // 64))


def lists_of(cycles):
    return [cycles.vertices[a:b].tolist() for a, b in itertools.pairwise(cycles.offsets)]


def spread(graph, n):
    """Give the vertices other numbers, far apart, among `n`."""
    places = np.random.default_rng(7).permutation(n)[: graph.n]
    return Graph.from_edge_array(places[graph.edges()], n=n)


@st.composite
def graphs(draw):
    n = draw(st.integers(3, 11))
    pairs = list(itertools.combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25))
    return spread(Graph.from_edges(n, edges), draw(st.sampled_from([n, 64, 65, 129, 1000])))


@given(graphs())
def test_order_is_that_of_the_reference(graph):
    cycles = list(chordless_cycles(graph))
    assert lists_of(CycleWalker(graph).order(rows_of(cycles, graph.n))) == cycles


# One word and many, more words than neighbours and more neighbours than words.
@pytest.mark.parametrize("spec", ["petersen", "karate", "grid:5x6", "gnp:30,0.2,3", "complete:80", "complete:130"])
@pytest.mark.parametrize("n", [0, 128, 1000])
def test_known_graphs(spec, n):
    small = generate(spec)
    graph = spread(small, max(n, small.n))
    cycles = list(itertools.islice(chordless_cycles(graph), 5000))
    assert lists_of(CycleWalker(graph).order(rows_of(cycles, graph.n))) == cycles


def test_pieces_join_without_a_seam(monkeypatch):
    graph = generate("grid:5x6")
    cycles = list(chordless_cycles(graph))
    monkeypatch.setattr(order, "_CYCLES_AT_ONCE", 10)
    assert lists_of(CycleWalker(graph).order(rows_of(cycles, graph.n))) == cycles


def test_a_hub_of_many_neighbours(monkeypatch):
    # A wheel: the rim, and a triangle for each of its edges.
    rim = 3000
    edges = [(v, v % rim + 1) for v in range(1, rim + 1)] + [(0, v) for v in range(1, rim + 1)]
    graph = Graph.from_edges(rim + 1, edges)
    cycles = [[0, v, v + 1] for v in range(1, rim)] + [[0, 1, rim], list(range(1, rim + 1))]
    assert CycleWalker(graph)._adjacency is None
    monkeypatch.setattr(order, "_NEIGHBOURS_AT_ONCE", 4 * rim)
    walker = CycleWalker(graph)
    assert walker.at_once == 4
    assert lists_of(walker.order(rows_of(cycles[-11:], graph.n))) == cycles[-11:]


def test_no_cycles():
    cycles = CycleWalker(generate("petersen")).order(np.zeros((0, 1), np.uint64))
    assert (len(cycles.offsets), len(cycles.vertices)) == (1, 0)


# A hexagon 0..5 with the chord 1-4, a triangle 6 7 8 that hangs on it, and another triangle apart.
HOUSE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)]
HOUSE += [(0, 6), (6, 7), (7, 8), (6, 8), (9, 10), (10, 11), (9, 11)]


@pytest.mark.parametrize("n", [12, 400])
@pytest.mark.parametrize(
    "members",
    [
        [0, 1, 2, 3, 4, 5],  # a chord
        [1, 2, 3],  # a path
        [6, 7, 8, 9, 10, 11],  # two cycles
        [0, 6, 7, 8],  # a cycle and a tail
        [0, 1, 4, 5, 6],
        [],
        [0],
        [0, 1],
        [0, 2, 8],  # no edges
        [0, 2, 7, 8],  # no way on from the first
    ],
)
def test_a_row_that_is_no_chordless_cycle_is_refused(members, n):
    graph = Graph.from_edges(n, HOUSE)
    assert (CycleWalker(graph)._adjacency is not None) == (n != 400)
    good = [0, 1, 4, 5]
    with pytest.raises(GraphError, match="the row at 2 is not a chordless cycle"):
        CycleWalker(graph).order(rows_of([good, [6, 7, 8], members, good], n))


@given(st.sets(st.integers(0, 11)), st.sampled_from([12, 400]))
def test_what_is_a_chordless_cycle_is_told_exactly(members, n):
    graph = Graph.from_edges(n, HOUSE)
    cycles = {frozenset(cycle) for cycle in chordless_cycles(graph)}
    rows = rows_of([sorted(members)], n)
    if members in cycles:
        assert set(CycleWalker(graph).order(rows).vertices.tolist()) == members
    else:
        with pytest.raises(GraphError):
            CycleWalker(graph).order(rows)


def test_rows_of_another_width_are_refused():
    with pytest.raises(GraphError, match="rows of 2 words"):
        CycleWalker(generate("petersen")).order(np.zeros((1, 2), np.uint64))
