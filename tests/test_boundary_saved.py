"""A count along a boundary that is saved between two vertices and goes on elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from chordless import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import by_length, small_graphs
from shortage import counts_with_a_failed_allocation

from kernels_ti import Graph, Options, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.errors import CheckpointError
from kernels_ti.reference.algorithm import chordless_cycles

FEW = settings(max_examples=30, deadline=None)
PYTHON, KERNELS = ["reference"], ["cpu"]


def in_turns(space, arches, *, by_length=True):
    """Count by one vertex at a time, each on the next arch; return the last count."""
    count = BoundaryCount(space, by_length=by_length)
    for arch in cycle(arches):
        if count.finished:
            return count
        count = BoundaryCount(space, by_length=by_length, saved=count.saved())
        if arch != "reference":
            count.use(open_device(arch), None)
        count.advance(0.0)


@pytest.fixture(autouse=True)
def _every_block_in_kernels(monkeypatch):
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)


@FEW
@given(small_graphs(), st.data(), st.booleans())
def test_counts_are_those_of_the_reference(graph, data, total_only):
    vertices = st.sets(st.integers(0, graph.n - 1), max_size=2)
    through = data.draw(vertices)
    avoid = data.draw(vertices) - through
    space = SearchSpace(graph, Options(through=sorted(through), avoid=sorted(avoid)))
    wanted = [found for found in chordless_cycles(graph) if through <= set(found) and not avoid & set(found)]
    expected = by_length(wanted) if not total_only else {0: len(wanted)} if wanted else {}
    assert in_turns(space, PYTHON, by_length=not total_only).cycles_by_length == expected


# One word, two words, wider symbols, many digits, several blocks.
SPECS = ["grid:6x9", "gnp:40,0.12,1", "bipartite:7x9", "ladder:60", "gnp:30,0.4,2", "gnp:70,0.03,4"]


@pytest.mark.slow
@pytest.mark.parametrize("by_length", [True, False])
@pytest.mark.parametrize("arches", [KERNELS, PYTHON + KERNELS], ids=["kernels", "python and kernels"])
@pytest.mark.parametrize("spec", SPECS)
def test_a_count_goes_on_on_any_device(spec, arches, by_length):
    space = SearchSpace.of(generate(spec))
    whole = BoundaryCount(space, by_length=by_length)
    whole.advance(math.inf)
    parted = in_turns(space, arches, by_length=by_length)
    assert parted.cycles_by_length == whole.cycles_by_length
    assert parted.triangles == whole.triangles
    assert parted.states_by_step == whole.states_by_step
    assert parted.share == 1.0


@pytest.mark.parametrize("arch", ["reference", "cpu"])
def test_a_vertex_that_was_given_up_comes_again(arch):
    space = SearchSpace.of(generate("grid:6x9"))
    count = BoundaryCount(space)
    if arch != "reference":
        count.use(open_device(arch), None)
    asked = 0
    while not count.finished:
        asked += 1
        count.advance(math.inf, lambda asked=asked: asked % 3 == 0)
        count.advance(0.0)
        count = BoundaryCount(space, saved=count.saved())
        if arch != "reference":
            count.use(open_device(arch), None)
    whole = BoundaryCount(space)
    whole.advance(math.inf)
    assert count.cycles_by_length == whole.cycles_by_length


def test_a_directed_graph_goes_on():
    arcs = [(u, (u + step) % 11) for u in range(11) for step in (1, 3, 4)]
    space = SearchSpace.of(Graph.from_edges(11, arcs, directed=True))
    whole = BoundaryCount(space)
    whole.advance(math.inf)
    assert in_turns(space, PYTHON).cycles_by_length == whole.cycles_by_length != {}


def test_several_cases_go_on():
    graph = generate("grid:5x5")
    space = SearchSpace(graph, Options(avoid_edges=[(6, 7), (12, 17)]))
    whole = BoundaryCount(space)
    whole.advance(math.inf)
    assert in_turns(space, PYTHON).cycles_by_length == whole.cycles_by_length


def test_each_allocation_may_fail_and_the_count_goes_on():
    space = SearchSpace.of(generate("grid:6x9"))
    whole = BoundaryCount(space)
    whole.advance(math.inf)

    def begin():
        count = BoundaryCount(space)
        count.use(open_device("cpu"), None)
        return count

    said = []
    for count, words in counts_with_a_failed_allocation(begin):
        if words is not None:
            said.append(words)
            again = BoundaryCount(space, saved=count.saved())
            again.advance(math.inf)
            assert again.cycles_by_length == whole.cycles_by_length
    assert len(said) > 3
    assert all("has no room for another" in line for line in said)
    assert count.cycles_by_length == whole.cycles_by_length


@pytest.mark.parametrize("orders", [[], [[0, 1, 2]], [[0] * 9], [[0, 1, 2, 3, 4, 5, 6, 7, 10**6]]], ids=str)
def test_orders_of_another_graph_are_refused(orders):
    with pytest.raises(CheckpointError, match="the order of the vertices that was kept does not fit the graph"):
        plan_of(generate("grid:3x3"), orders=orders)


@pytest.mark.parametrize(
    "forged",
    [
        lambda saved: replace(saved, blocks_done=1),
        lambda saved: replace(saved, blocks_done=-1),
        lambda saved: replace(saved, block=replace(saved.block, place=43)),
        lambda saved: replace(saved, block=replace(saved.block, states=of_words(saved, 0))),
        lambda saved: replace(saved, block=replace(saved.block, states=of_words(saved, 2))),
        lambda saved: replace(saved, block=replace(saved.block, states=of_lengths(saved, 44))),
    ],
    ids=["more blocks", "fewer blocks", "more vertices", "no words", "more words", "longer cycles"],
)
def test_states_that_do_not_fit_the_graph_are_refused(forged):
    """Kernels do not check what they are given: states in other words than those of the block would end the process."""
    graph = generate("grid:6x7")
    count = BoundaryCount(graph)
    for _ in range(20):
        count.advance(0.0)
    saved = count.saved()
    assert saved.block.states.words.shape[0] == 1
    assert BoundaryCount(graph, saved=saved).share == count.share
    with pytest.raises(CheckpointError, match="the count that was kept does not fit the blocks of the graph"):
        BoundaryCount(graph, saved=forged(saved))


def of_words(saved, words):
    states = saved.block.states
    return replace(states, words=np.repeat(states.words, words, axis=0))


def of_lengths(saved, lengths):
    states = saved.block.states
    return replace(states, counts=np.zeros((len(states.counts), 1, lengths), np.uint64))
