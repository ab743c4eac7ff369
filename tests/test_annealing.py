"""Vertex orders that are annealed: they are orders, they are better, and they are the same on each arch."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest
from chordless import generate

from kernels_ti import count_cycles, longest_cycle, open_device, sample_cycles
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.orders import annealing
from kernels_ti.boundary.orders import order as orders
from kernels_ti.boundary.orders import plan as plan_module
from kernels_ti.boundary.orders.annealing import annealed_order, annealed_plan
from kernels_ti.boundary.orders.order import BoundaryOrder, measured_order, neighbour_lists, small_boundary_order
from kernels_ti.boundary.orders.plan import plan_of


@pytest.fixture(autouse=True)
def _few_moves(monkeypatch):
    monkeypatch.setattr(annealing, "_MOVES_TO_A_VERTEX", 48)


def poor_order(graph):
    """Return the vertices as they are numbered, which costs so much that there is something to gain."""
    order = measured_order(neighbour_lists(graph), range(graph.n))
    return replace(order, costs=tuple(1e6 * cost for cost in order.costs))


def shuffled(spec):
    """Return a graph whose own order is a poor one."""
    graph = generate(spec)
    edges = [(7 * u % graph.n, 7 * v % graph.n) for u, v in graph.edges().tolist()]
    return type(graph).from_edges(graph.n, edges)


@pytest.mark.parametrize("spec", ["grid:6x10", "gnp:40,0.15,3", "planar:60,2"])
def test_an_annealed_order_has_every_vertex_once_and_is_better(spec):
    graph = shuffled(spec)
    poor = measured_order(neighbour_lists(graph), range(graph.n))
    order = annealed_order(open_device("cpu"), graph, poor_order(graph), seconds=2.0)
    assert sorted(order.vertices) == list(range(graph.n))
    assert order == measured_order(neighbour_lists(graph), order.vertices)
    assert order.cost < poor.cost
    assert order.width < poor.width


def test_a_grid_gets_the_order_of_its_rows():
    graph = shuffled("grid:6x10")
    order = annealed_order(open_device("cpu"), graph, poor_order(graph), seconds=2.0)
    assert order.width <= 8


@pytest.mark.parametrize("spec", ["grid:12x12", "torus:7x7"])
def test_no_order_is_taken_that_meets_more_states(spec, monkeypatch):
    monkeypatch.setattr(annealing, "_MOVES_TO_A_VERTEX", 256)
    first = plan_of(generate(spec))
    monkeypatch.setattr(annealing, "states_per_second", lambda arch: 3e4)
    most = []
    for plan in (first, annealed_plan(first, "cpu")):
        count = BoundaryCount(generate(spec), by_length=False, plan=plan)
        count.use(open_device("cpu"), None)
        while not count.finished:
            count.advance(1.0)
        most.append(count.most_states)
    assert most[1] <= most[0]


@pytest.mark.slow_on("vulkan")
def test_the_order_depends_on_the_seed_alone(device):
    graph = shuffled("grid:4x5")
    poor = poor_order(graph)
    found = [annealed_order(device, graph, poor, seed=seed, seconds=0.4).vertices for seed in (5, 5, 6)]
    assert found[0] == found[1] != found[2]
    assert hash(found[0]) == hash(
        annealed_order(open_device("cpu", threads=1), graph, poor, seed=5, seconds=0.4).vertices
    )


def test_it_ends_when_it_is_enough():
    graph = shuffled("grid:6x10")
    poor = poor_order(graph)
    asked = []
    order = annealed_order(open_device("cpu"), graph, poor, enough=lambda: asked.append(0) or len(asked) == 3)
    assert order == replace(poor, settled=False)
    assert len(asked) == 3


def test_a_short_count_gets_no_annealing(monkeypatch):
    monkeypatch.setattr(annealing, "held_device", lambda *_, **__: pytest.fail("a device was opened"))
    plan = plan_of(generate("grid:8x10"))
    assert annealed_plan(plan, "cpu") is plan


def test_a_long_count_gets_better_orders():
    graph = shuffled("grid:6x10")
    plan = replace(plan_of(graph), orders=(poor_order(graph),))
    better = annealed_plan(plan, "reference", seconds=1.0)
    assert better.cost < plan.cost
    assert better.blocks is plan.blocks
    assert small_boundary_order(graph, 60).width >= better.width - 1


@pytest.mark.parametrize(("arch", "opened"), [("reference", ["cpu"]), ("cpu", ["cpu"]), ("cuda", [])])
def test_the_chains_run_on_the_cpu_and_a_gpu_has_less_to_gain(monkeypatch, arch, opened):
    order = plan_of(generate("grid:6x10")).orders[0]
    plan = replace(plan_of(generate("grid:6x10")), orders=(replace(order, costs=(2e7,)),))
    archs = []

    @contextmanager
    def noted(arch, **_):
        archs.append(arch)
        yield open_device("cpu")

    monkeypatch.setattr(annealing, "held_device", noted)
    annealed_plan(plan, arch, enough=lambda: bool(archs))
    assert archs == opened
    # A far longer count is worth it on a GPU too.
    annealed_plan(
        replace(plan, orders=(replace(order, costs=(2e10,)),)), "cuda", enough=lambda: len(archs) > len(opened)
    )
    assert archs == [*opened, "cpu"]


def test_the_reference_opens_no_device_for_its_order(monkeypatch):
    monkeypatch.setattr(annealing, "_is_worth", lambda *_: True)
    monkeypatch.setattr(annealing, "held_device", lambda *_, **__: pytest.fail("a device was opened"))
    graph = generate("grid:5x6")
    found = longest_cycle(graph, arch="reference", method="boundary")
    expected = longest_cycle(graph, arch="reference", method="search")
    assert (len(found.cycle), found.ways) == (len(expected.cycle), expected.ways)


def test_a_second_call_with_the_same_graph_seeks_no_order(monkeypatch):
    sought = []

    def noted(name, seek):
        return lambda *how, **more: sought.append(name) or seek(*how, **more)

    monkeypatch.setattr(plan_module, "small_boundary_order", noted("first", small_boundary_order))
    monkeypatch.setattr(annealing, "annealed_order", noted("annealed", annealed_order))
    # So slow a count is worth annealing.
    monkeypatch.setattr(annealing, "states_per_second", lambda arch: 2e4)
    counted = count_cycles(shuffled("grid:9x9"), method="boundary").by_length
    assert sought == ["first", "annealed"]
    assert count_cycles(shuffled("grid:9x9"), method="boundary").by_length == counted
    assert len(sample_cycles(shuffled("grid:9x9"), 10)) == 10
    assert sought == ["first", "annealed"]
    # In another graph, and with another restriction, other blocks have orders of their own.
    count_cycles(shuffled("grid:9x9"), method="boundary", avoid=[0])
    count_cycles(shuffled("grid:8x9"), method="boundary")
    assert sought == ["first", "annealed"] * 3


def test_an_order_that_was_sought_for_too_short_a_time_is_sought_again(monkeypatch):
    graph = shuffled("grid:8x10")
    hasty = plan_of(graph, enough=lambda: True)
    assert not hasty.is_settled
    assert plan_of(graph).is_settled
    monkeypatch.setattr(plan_module, "small_boundary_order", lambda *_, **__: pytest.fail("an order was sought"))
    assert plan_of(graph, enough=lambda: True).is_settled


def test_the_orders_that_were_asked_for_last_are_kept(monkeypatch):
    monkeypatch.setattr(orders, "_MOST_VERTICES", 100)
    one, other = generate("grid:6x7"), generate("grid:6x8")
    for graph in (one, other, one, generate("grid:4x5")):
        plan_of(graph)
    assert [len(order.vertices) for order in orders._known] == [42, 20]


def test_orders_that_are_kept_are_counted_once(monkeypatch):
    """A graph may have tens of thousands of blocks: to add up all of them for each is a square of work."""
    looked_at = []

    class Noted(BoundaryOrder):
        @property
        def vertices(self):
            looked_at.append(0)
            return range(3)

    monkeypatch.setattr(orders, "_MOST_VERTICES", 30)
    known = orders.KnownOrders()
    for key in range(200):
        known.keep((key % 150,), object.__new__(Noted))
    assert len(list(known)) == 10
    assert len(looked_at) <= 3 * 200
    assert known.take((49,)) is not None
    assert known.take((49,)) is None


def test_an_order_for_a_gpu_is_worth_a_shorter_search():
    graph = shuffled("grid:8x10")
    assert small_boundary_order(graph, 60).cost < small_boundary_order(graph, 60, arch="cuda").cost


@pytest.mark.parametrize("spec", ["grid:16x16", "king:10x10"])
def test_the_order_in_which_a_graph_names_its_vertices_is_tried(spec):
    graph = generate(spec)
    given = measured_order(neighbour_lists(graph), range(graph.n))
    found = small_boundary_order(graph, 30, seconds=0.0)
    assert found.cost <= given.cost
