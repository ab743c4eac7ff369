"""In how many cycles vertices and edges lie, along a boundary, against all cycles of the reference search."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from chordless import generate, participation
from hypothesis import given
from searches import searches

from kernels_ti import Graph, count_participation
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.forward_and_back.blocks import planned_blocks
from kernels_ti.boundary.participation import shares_of
from kernels_ti.boundary.tables.residues import primes_beyond


@given(searches())
def test_vertices_and_edges_are_counted_as_by_enumeration(search):
    graph, bounds, wanted = search
    shares = participation(graph, **bounds)
    vertices = Counter(v for cycle in wanted for v in cycle)
    edges = Counter(tuple(sorted(pair)) for cycle in wanted for pair in pairwise([*cycle, cycle[0]]))
    assert shares.total == len(wanted)
    assert shares.vertices == [vertices[v] for v in range(graph.n)]
    assert shares.edges == [edges[pair] for pair in map(tuple, graph.edges().tolist())]


@pytest.mark.parametrize("spec", ["grid:5x6", "petersen", "complete:7", "wheel:12", "ladder:12", "gnp:24,0.15,3"])
def test_the_search_counts_the_same(spec):
    graph = generate(spec)
    searched = count_participation(graph, arch="reference")
    shares = participation(graph)
    assert shares.vertices == searched.vertices.sum(axis=1).tolist()
    assert shares.edges == searched.edges.sum(axis=1).tolist()
    for edges in (False, True):
        assert shares.top(4, edges=edges) == searched.top(4, edges=edges)


def test_numbers_of_any_size_are_exact():
    """A ring of diamonds: every cycle through all has one of two vertices in each."""
    beads = 100
    edges = [
        pair
        for bead in range(beads)
        for side in (1, 2)
        for pair in ((3 * bead, 3 * bead + side), (3 * bead + side, 3 * (bead + 1) % (3 * beads)))
    ]
    shares = participation(Graph.from_edges(3 * beads, edges))
    assert shares.total == 2**beads + beads
    assert set(shares.vertices[0::3]) == {2**beads + 2}
    assert set(shares.vertices[1::3] + shares.vertices[2::3] + shares.edges) == {2 ** (beads - 1) + 1}


def test_the_least_memory_counts_the_same():
    space = SearchSpace(generate("grid:8x12"))
    planned = planned_blocks(space)
    roomy, tight = (shares_of(space, planned, memory) for memory in (None, 3 << 19))
    assert (tight.vertices, tight.edges) == (roomy.vertices, roomy.edges)


def test_primes_are_primes_and_enough():
    primes = primes_beyond(10**30, 31)
    assert primes[:2] == [2**31 - 1, 2147483629]
    assert primes[0] * primes[1] * primes[2] < 10**30 < primes[0] * primes[1] * primes[2] * primes[3]
    assert len(primes) == 4
