"""In how many cycles vertices and edges lie, along a boundary, against all cycles of the reference search."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from chordless import generate, participation
from hypothesis import given
from searches import searches

from kernels_ti import EngineError, Graph, OptionError, Options, SizeError, TimeIsUpError, count_participation
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.participation import Shares, shares_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.values.numbers import primes_beyond
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks
from kernels_ti.reference.algorithm import chordless_cycles


def check_shares(graph, shares, cycles):
    vertices = Counter(v for cycle in cycles for v in cycle)
    edges = Counter(tuple(sorted(pair)) for cycle in cycles for pair in pairwise([*cycle, cycle[0]]))
    assert shares.total == len(cycles)
    assert shares.vertices == [vertices[v] for v in range(graph.n)]
    assert shares.edges == [edges[pair] for pair in map(tuple, graph.edges().tolist())]


@given(searches())
def test_vertices_and_edges_are_counted_as_by_enumeration(search):
    graph, bounds, wanted = search
    check_shares(graph, participation(graph, **bounds), wanted)


@pytest.mark.parametrize("memory", [None, 1 << 17], ids=["kept", "made again"])
@pytest.mark.parametrize(
    ("spec", "step", "bounds"),
    [
        ("grid:4x6", 1, {}),
        ("grid:4x6", 1, {"min_length": 12, "max_length": 14}),
        ("king:4x5", 1, {"through": (3,), "avoid": (12,)}),
        # An order with a boundary of 17 vertices: states of two words.
        ("grid:4x8", 7, {"max_length": 12}),
    ],
    ids=["grid", "bounds", "restriction", "wide"],
)
def test_an_order_counts_as_enumeration_does(memory, spec, step, bounds):
    graph = generate(spec)
    space = SearchSpace(graph, Options(**bounds))
    planned = planned_blocks(space, plan_of(space, order=[step * v % graph.n for v in range(graph.n)]))
    shares = shares_of(space, planned, Means(memory if step == 1 else None))
    lengths, through, avoid = (
        range(space.options.min_length, space.longest + 1),
        *(set(bounds.get(name, ())) for name in ("through", "avoid")),
    )
    wanted = [c for c in chordless_cycles(graph) if len(c) in lengths and through <= set(c) and not avoid & set(c)]
    assert len(wanted) > 10
    check_shares(graph, shares, wanted)


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
    roomy, tight = (shares_of(space, planned, Means(memory)) for memory in (None, 3 << 19))
    assert (tight.vertices, tight.edges) == (roomy.vertices, roomy.edges)


def test_a_step_after_which_no_state_is_left_is_passed():
    shares = participation(generate("complete:6"), through=[0, 1, 2, 3])
    assert (shares.total, set(shares.vertices)) == (0, {0})
    king = generate("king:4x5")
    shares = participation(king, through=king.names[:1], max_length=4, order=king.names)
    assert (shares.total, sum(shares.vertices), sum(shares.edges)) == (3, 9, 9)


@pytest.mark.parametrize(
    ("more_cycles", "more_through_an_edge", "message"),
    [(1, 0, "the way back counts other cycles"), (0, 1, "edges are not those through their vertices")],
    ids=["total", "edges"],
)
def test_counts_that_contradict_each_other_are_refused(monkeypatch, more_cycles, more_through_an_edge, message):
    class Wrong(Shares):
        def __init__(self, *more):
            super().__init__(*more)
            self._rule.closed[max(self._rule.closed)] += more_cycles

        def passing(self):
            for step, counts in super().passing():
                counts[-1] += more_through_an_edge
                yield step, counts

    monkeypatch.setattr("kernels_ti.boundary.participation.Shares", Wrong)
    with pytest.raises(EngineError, match=message):
        participation(generate("grid:4x6"))


def test_it_says_what_memory_it_lacks_and_ends_when_it_is_enough():
    space = SearchSpace(generate("grid:4x6"))
    planned = planned_blocks(space)
    asked = []
    (block,) = planned.blocks
    steps = Shares(block, Means(enough=lambda: bool(asked))).passing()
    next(steps)
    asked.append(True)
    with pytest.raises(GivenUp):
        next(steps)
    with pytest.raises(SizeError, match=r"more than the .* allowed.*memory allows more, count_participation needs"):
        shares_of(space, planned, Means(1 << 12))


def test_the_time_can_be_up():
    with pytest.raises(TimeIsUpError, match="were up before the cycles were counted"):
        participation(generate("grid:14x14"), timeout=0.05)


def test_an_order_is_taken():
    graph = generate("grid:4x5")
    found, best = participation(graph, order=graph.names[::-1]), participation(graph)
    assert found.vertices == best.vertices
    assert found.width > best.width
    with pytest.raises(OptionError, match="order names each of the 20 vertices once"):
        participation(graph, order=graph.names[1:])


def test_primes_are_primes_and_enough():
    primes = primes_beyond(10**30, 31)
    assert primes[:2] == [2**31 - 1, 2147483629]
    assert primes[0] * primes[1] * primes[2] < 10**30 < primes[0] * primes[1] * primes[2] * primes[3]
    assert len(primes) == 4
