"""Counting along a small boundary, against the reference search and the known counts."""

from __future__ import annotations

import math
import re

import numpy as np
import oracles
import pytest
from chordless import generate
from chordless.graphs.load import load_graph
from hypothesis import given
from hypothesis import strategies as st
from known import each, generated
from oracles import small_graphs

from kernels_ti import (
    DeviceError,
    Graph,
    OptionError,
    Options,
    SizeError,
    count_cycles,
    longest_cycle,
    sample_cycles,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors import in_python
from kernels_ti.boundary.orders import order as order_module
from kernels_ti.boundary.orders.order import LARGEST_BOUNDARY, no_longer_than, small_boundary_order
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.participation import shares_of
from kernels_ti.boundary.spec import changes, packing
from kernels_ti.boundary.values.numbers import Numbers
from kernels_ti.boundary.way_back.blocks import planned_blocks
from kernels_ti.errors import in_words_of_command_line
from kernels_ti.reference.algorithm import chordless_cycles


def count_of(graph, *, by_length=True, memory=None, **bounds):
    return BoundaryCount(SearchSpace(graph, Options(**bounds)), by_length=by_length, memory=memory)


def counted(graph, **options):
    count = count_of(graph, **options)
    while not count.finished:
        count.advance(0.01)
    return count.cycles_by_length


@given(small_graphs())
def test_counts_are_those_of_the_reference(graph):
    assert counted(graph) == oracles.by_length(chordless_cycles(graph))


def test_it_is_one_way_to_call_count_cycles():
    graph = generate("petersen")
    counts = count_cycles(graph, method="boundary", max_length=5, through=[0])
    assert (counts.by_length, counts.frontier) == ({5: 6}, {})
    with pytest.raises(OptionError, match="no method 'magic': choose search or boundary"):
        count_cycles(graph, method="magic")
    with pytest.raises(OptionError, match='arch="reference" is for the method search: leave it out, or'):
        count_cycles(graph, method="boundary", arch="reference")


@given(small_graphs(), st.integers(3, 7), st.integers(0, 5))
def test_lengths_can_be_bounded(graph, shortest, more):
    longest = shortest + more
    wanted = [cycle for cycle in chordless_cycles(graph) if shortest <= len(cycle) <= longest]
    assert counted(graph, min_length=shortest, max_length=longest) == oracles.by_length(wanted)


@given(small_graphs(), st.data())
def test_cycles_can_be_made_to_pass_and_to_avoid_vertices(graph, data):
    vertices = st.sets(st.integers(0, graph.n - 1), max_size=3)
    through = data.draw(vertices)
    avoid = data.draw(vertices) - through
    wanted = [cycle for cycle in chordless_cycles(graph) if through <= set(cycle) and not avoid & set(cycle)]
    assert counted(graph, through=sorted(through), avoid=sorted(avoid)) == oracles.by_length(wanted)


@pytest.mark.parametrize("spec", ["grid:7x10", "gnp:40,0.12,1", "ladder:600", "hypercube:4", "complete:12", "wheel:70"])
def test_known_counts(spec):
    expected = {
        "grid:7x10": 8136453, "gnp:40,0.12,1": None, "ladder:600": 599, "hypercube:4": None, "complete:12": 220,
        "wheel:70": 71,
    }[spec]  # fmt: skip
    graph = generate(spec)
    if expected is None:
        expected = sum(1 for _ in chordless_cycles(graph))
    assert sum(counted(graph).values()) == expected
    assert sum(counted(graph, by_length=False).values()) == expected


# Of those in the table, these have no small boundary, or more cycles of few vertices than a test has time for.
TOO_WIDE = {"bipartite:50x50", "bipartite:100x100", "hoffman_singleton", "grid:9x10"}


@pytest.mark.parametrize("known", each([one for one in generated() if one.graph not in TOO_WIDE]))
def test_known_counts_by_length(known):
    assert counted(generate(known.graph)) == known.by_length


def necklace(beads):
    """A ring of diamonds: through each goes one of two ways, so there are 2 ** beads long cycles."""
    edges = []
    for bead in range(beads):
        start, upper, lower, end = 3 * bead, 3 * bead + 1, 3 * bead + 2, 3 * (bead + 1) % (3 * beads)
        edges += [(start, upper), (start, lower), (upper, end), (lower, end)]
    return Graph.from_edges(3 * beads, edges)


@pytest.mark.parametrize("beads", [15, 16, 17, 47, 48, 49, 64, 200])
def test_counts_have_any_number_of_digits(beads):
    assert counted(necklace(beads)) == {4: beads, 2 * beads: 2**beads}
    assert counted(necklace(beads), by_length=False) == {0: beads + 2**beads}


@pytest.mark.parametrize("by_length", [True, False])
def test_no_digit_is_lost_where_cycles_close_in_all_steps(by_length):
    """Numbers of several digits, in a graph in which cycles close before and after each carry."""
    graph = generate("grid:5x90")
    space = SearchSpace(graph)
    expected = shares_of(space, planned_blocks(space)).total
    assert expected > 1 << 96
    assert sum(counted(graph, by_length=by_length).values()) == expected


def test_two_states_with_one_sum_are_still_two(monkeypatch):
    graph = generate("grid:5x14")
    expected = counted(graph)
    monkeypatch.setattr(changes, "_MULTIPLIERS", (0, 0))
    monkeypatch.setattr(packing, "WORD_BITS", 8)
    assert counted(graph) == expected


def test_the_order_has_every_vertex_once_and_its_width_is_right():
    graph = generate("grid:6x9")
    order = small_boundary_order(graph, 20)
    assert sorted(order.vertices) == list(range(graph.n))
    came: set[int] = set()
    widths = []
    for v in order.vertices:
        widths.append(sum(not set(graph.neighbours(u).tolist()) <= came for u in came) + 1)
        came.add(v)
    assert order.width == max(widths) <= 8
    assert len(order.costs) == graph.n


@pytest.mark.parametrize("spec", ["grid:6x7", "gnp:40,0.12,3", "wheel:12", "petersen", "planar:60,2"])
def test_a_beam_knows_what_its_order_costs(spec):
    graph = generate(spec)
    neighbours = [graph.neighbours(v).tolist() for v in range(graph.n)]
    beam = order_module._Beam(neighbours, 40)
    vertices = beam.order(20, lambda: False)
    assert sorted(vertices) == list(range(graph.n))
    measured = order_module.measured_order(neighbours, vertices)
    assert measured.cost == pytest.approx(1 + float(beam._cost.min()))


def test_whoever_asks_finds_the_same_order_unless_there_was_no_time():
    graph = generate("grid:9x10")
    orders = [small_boundary_order(graph, 60) for _ in range(2)]
    assert orders[0] == orders[1]
    assert orders[0].settled
    hasty = small_boundary_order(graph, 60, enough=lambda: True)
    assert not hasty.settled
    assert hasty.cost > orders[0].cost


def test_no_order_is_found_where_there_is_none_or_no_time():
    assert small_boundary_order(generate("complete:12"), 10) is None
    assert small_boundary_order(generate("grid:20x20"), 30, enough=lambda: True) is not None
    assert small_boundary_order(generate("ladder:2501"), 30, enough=lambda: True) is None
    assert not plan_of(generate("complete:300"), enough=no_longer_than(1.0)).is_possible


def test_a_forest_and_plain_cycles_need_no_boundary():
    assert counted(generate("path:50")) == {}
    plan = plan_of(generate("cycle:1000"))
    assert plan.cycles_by_length == {1000: 1}
    assert plan.width == 0
    assert counted(generate("cycle:1000"), min_length=4, max_length=999) == {}


@pytest.mark.parametrize("spec", ["grid:12x12", "king:11x11"])
def test_the_share_is_that_of_the_states_that_will_be_met(spec):
    count = BoundaryCount(load_graph(spec).graph, by_length=False, plan=plan_of(load_graph(spec).graph, seconds=0.0))
    shares = []
    while not count.finished:
        count.advance(0.0)
        shares.append(count.share)
    truth = np.cumsum(count.states_by_step) / sum(count.states_by_step)
    told = [(share, true) for share, true in zip(shares, truth, strict=True) if 0.1 < true < 0.9]
    assert len(told) > 20
    assert all(2 / 3 < share / true < 3 / 2 for share, true in told)


def test_the_share_goes_up_to_one():
    count = BoundaryCount(generate("grid:5x30"))
    shares = [count.share]
    while not count.finished:
        count.advance(0.0001)
        shares.append(count.share)
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert len(shares) > 10


def test_too_wide_a_boundary_is_refused():
    with pytest.raises(SizeError, match="boundary of at most 254 vertices: it has to be searched") as error:
        BoundaryCount(generate("complete:300"))
    assert error.value.exit_code == 2


def test_too_little_memory_is_told():
    count = BoundaryCount(generate("grid:8x10"), memory=1 << 16)
    with pytest.raises(
        SizeError,
        match=r"the 64.0 KiB allowed, and the largest boundary about [\d.]+ [KM]iB: .*, method=\"search\"",
    ) as error:
        count.advance(math.inf)
    with in_words_of_command_line():
        assert "iB: --memory allows more, --method search needs" in str(error.value)


@pytest.mark.slow
def test_what_the_largest_boundary_needs_is_told_before_it_comes():
    graph = generate("grid:30x30")
    plan = plan_of(graph, order=range(900))
    count = BoundaryCount(graph, memory=1 << 22, plan=plan)
    with pytest.raises(SizeError) as error:
        count.advance(math.inf)
    sizes = re.findall(r"([\d.]+) ([KMGTPE])iB", str(error.value))
    needed, allowed, largest = (float(size) * 1024 ** "KMGTPE".index(unit) for size, unit in sizes)
    assert allowed == 4096, "KiB"
    assert allowed <= needed < 1024**2
    assert largest > 1000 * 1024**2


def test_states_are_dropped_once_their_sets_are_too_long():
    counts = {longest: count_of(generate("grid:7x7"), max_length=longest) for longest in (4, None)}
    for count in counts.values():
        count.advance(math.inf)
    assert counts[4].most_states < counts[None].most_states / 4


@given(small_graphs(), st.data())
def test_triangles_are_told_from_the_rest_of_a_total(graph, data):
    through = data.draw(st.lists(st.integers(0, graph.n - 1), unique=True, max_size=2))
    count = count_of(graph, by_length=False, through=tuple(through))
    while not count.finished:
        assert count.triangles <= sum(count.cycles_by_length.values())
        count.advance(0.0)
    wanted = [cycle for cycle in chordless_cycles(graph) if set(through) <= set(cycle)]
    assert count.triangles == oracles.by_length(wanted).get(3, 0)
    assert sum(count.cycles_by_length.values()) == len(wanted)


@given(small_graphs(), st.data(), st.booleans())
def test_it_avoids_edges(graph, data, by_length):
    edges = graph.edges().tolist()
    avoided = data.draw(st.lists(st.sampled_from(edges), unique_by=tuple, max_size=4)) if edges else []
    without = [set(edge) for edge in avoided]
    wanted = [cycle for cycle in chordless_cycles(graph) if not any(edge <= set(cycle) for edge in without)]
    lengths = counted(graph, avoid_edges=avoided, by_length=by_length)
    assert lengths == (oracles.by_length(wanted) if by_length else {0: len(wanted)} if wanted else {})


def test_bounds_need_lengths():
    with pytest.raises(OptionError, match="bounds on the length need counts by length"):
        count_of(generate("petersen"), by_length=False, max_length=5)


def test_the_cost_of_a_hopeless_order_is_a_number():
    """That of a long ladder as it is given has a boundary of a whole side."""
    ladder = generate("grid:2x1000")
    order = order_module.measured_order(order_module.neighbour_lists(ladder), range(ladder.n))
    assert order.width >= 1000
    assert math.isfinite(order.cost)


def test_totals_of_many_states_do_not_overflow():
    k = 1 << 15
    largest = (1 << 63) - 1
    assert Numbers(np.full((1, k, 1), largest, np.uint64), largest).totals(np.arange(k)) == [k * largest]
    assert math.log2(k * largest) > 64
    assert LARGEST_BOUNDARY == 254


def test_a_count_is_given_up_in_the_midst_of_a_vertex():
    """With a large boundary one vertex takes seconds, in which a time-out or an interrupt may come."""
    count = BoundaryCount(generate("grid:5x6"))
    count.advance(0.0)
    states, share = count.states, count.share
    count.advance(math.inf, lambda: True)
    assert not count.finished
    assert (count.states, count.share) == (states, share)


def test_no_grouping_of_states_begins_once_it_is_enough(monkeypatch):
    count = BoundaryCount(generate("grid:5x6"))
    count.advance(0.0)
    monkeypatch.setattr(in_python, "grouped", lambda words: pytest.fail("a long step began"))
    count.advance(math.inf, lambda: True)
    assert not count.finished


def test_so_many_edges_are_refused_by_their_number(monkeypatch):
    """To look for an order would take minutes."""

    def looked_for(*_, **__):
        pytest.fail("an order was looked for")

    monkeypatch.setattr("kernels_ti.boundary.orders.plan.small_boundary_order", looked_for)
    assert not plan_of(generate("complete:520")).is_possible


def test_an_order_can_be_given_and_every_order_counts_the_same():
    graph = generate("grid:4x6")
    expected = count_cycles(graph, arch="reference").by_length
    for order in (range(24), range(23, -1, -1), [7 * v % 24 for v in range(24)]):
        names = [graph.names[v] for v in order]
        assert count_cycles(graph, method="boundary", order=names).by_length == expected
    with pytest.raises(OptionError, match="order names each of the 24 vertices once, but it has 23 of them"):
        count_cycles(graph, method="boundary", order=names[1:])
    with pytest.raises(OptionError, match="order names each of the 24 vertices once, but it has 25 names"):
        count_cycles(graph, method="boundary", order=[*names, names[0]])
    with pytest.raises(OptionError, match="order is for the method boundary"):
        count_cycles(graph, method="search", order=names)


@given(small_graphs())
def test_an_order_of_the_graph_keeps_the_order_of_each_block(graph):
    plan = plan_of(graph)
    order = plan.order_of_graph(graph.n)
    assert sorted(order) == list(range(graph.n))
    assert plan_of(graph, order=order).orders == plan.orders


def test_an_order_with_too_wide_a_boundary_is_refused():
    with pytest.raises(SizeError, match=r"the order given has a boundary of 301 vertices, more than the 254"):
        plan_of(generate("ladder:300"), order=[*range(0, 600, 2), *range(1, 600, 2)])


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: count_cycles(graph, method="boundary", arch="cuda"),
        lambda graph: longest_cycle(graph, arch="cuda"),
        lambda graph: sample_cycles(graph, 3, arch="cuda"),
    ],
    ids=["count", "longest", "sample"],
)
def test_cuda_that_is_not_here_is_an_error_also_where_python_would_do(ask, monkeypatch):
    monkeypatch.setattr("kernels_ti.boundary.in_one_call.cuda_is_here", lambda: False)
    with pytest.raises(DeviceError, match="arch cuda is not available here: no driver was found"):
        ask(generate("grid:6x6"))
