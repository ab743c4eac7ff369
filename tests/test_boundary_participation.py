"""In how many cycles vertices and edges lie, along a boundary, against all cycles of the reference search."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from chordless import generate, participation
from hypothesis import HealthCheck, given, settings
from searches import searches

from kernels_ti import EngineError, Graph, OptionError, Options, count_participation, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count
from kernels_ti.boundary.cores import parts
from kernels_ti.boundary.forward_and_back.blocks import planned_blocks
from kernels_ti.boundary.forward_and_back.cores_shares import CoresShares
from kernels_ti.boundary.forward_and_back.device_shares import DeviceShares
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.participation import shares_of
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.boundary.tables import tables
from kernels_ti.boundary.tables.residues import primes_beyond
from kernels_ti.errors import SizeError, TimeIsUpError
from kernels_ti.reference.algorithm import chordless_cycles

ON_DEVICES = pytest.mark.parametrize("arch", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)


@pytest.fixture
def in_kernels(monkeypatch):
    """Small blocks go to kernels too, also where cores are few."""
    monkeypatch.setattr(count, "_FEWEST_STATES", 0)
    monkeypatch.setattr(count, "_FEWEST_CORES", 1)


@pytest.fixture
def on_tables(monkeypatch):
    """The kernels for GPUs run on a CPU too."""

    def made(device, block, memory, enough, report):
        return DeviceShares(device, block, None, memory, enough, report)

    monkeypatch.setattr("kernels_ti.boundary.participation.CoresShares", made)


@pytest.fixture
def on_cores(monkeypatch):
    """A few states make several parts."""
    monkeypatch.setattr(parts, "_STATES_TO_A_PART", 4)
    monkeypatch.setattr(parts, "_FEWEST_STATES_TO_A_PART", 2)
    monkeypatch.setattr(parts, "_STATES_AT_ONCE", 40)


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


@pytest.mark.parametrize("kind", ["on_cores", "on_tables"])
@pytest.mark.usefixtures("in_kernels")
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(searches())
def test_kernels_count_as_enumeration_does(request, kind, search):
    request.getfixturevalue(kind)
    graph, bounds, wanted = search
    check_shares(graph, participation(graph, arch="cpu", **bounds), wanted)


@pytest.mark.usefixtures("in_kernels")
@pytest.mark.parametrize(
    ("arch", "kind", "memory"),
    [
        ("cpu", "on_cores", None),
        ("cpu", "on_tables", None),
        ("cpu", "on_tables", 256),
        pytest.param("cuda", "on_tables", None, marks=pytest.mark.cuda),
        pytest.param("cuda", "on_tables", 256, marks=pytest.mark.cuda),
    ],
    indirect=["arch"],
)
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
def test_a_device_counts_as_enumeration_does(request, arch, kind, memory, spec, step, bounds):
    request.getfixturevalue(kind)
    graph = generate(spec)
    space = SearchSpace(graph, Options(**bounds))
    planned = planned_blocks(space, plan_of(space, order=[step * v % graph.n for v in range(graph.n)]))
    shares = shares_of(space, planned, memory, device=open_device(arch))
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


@pytest.mark.parametrize(
    ("arch", "kind"),
    [
        ("reference", "on_cores"),
        ("cpu", "on_cores"),
        ("cpu", "on_tables"),
        pytest.param("cuda", "on_tables", marks=pytest.mark.cuda),
    ],
    indirect=["arch"],
)
@pytest.mark.usefixtures("in_kernels")
def test_numbers_of_any_size_are_exact(request, arch, kind):
    """A ring of diamonds: every cycle through all has one of two vertices in each."""
    request.getfixturevalue(kind)
    beads = 100
    edges = [
        pair
        for bead in range(beads)
        for side in (1, 2)
        for pair in ((3 * bead, 3 * bead + side), (3 * bead + side, 3 * (bead + 1) % (3 * beads)))
    ]
    shares = participation(Graph.from_edges(3 * beads, edges), arch=arch)
    assert shares.total == 2**beads + beads
    assert set(shares.vertices[0::3]) == {2**beads + 2}
    assert set(shares.vertices[1::3] + shares.vertices[2::3] + shares.edges) == {2 ** (beads - 1) + 1}


def test_the_least_memory_counts_the_same():
    space = SearchSpace(generate("grid:8x12"))
    planned = planned_blocks(space)
    roomy, tight = (shares_of(space, planned, memory) for memory in (None, 3 << 19))
    assert (tight.vertices, tight.edges) == (roomy.vertices, roomy.edges)


@pytest.mark.parametrize("kind", ["on_cores", "on_tables"])
@pytest.mark.usefixtures("in_kernels")
def test_a_step_after_which_no_state_is_left_is_passed(request, kind):
    request.getfixturevalue(kind)
    shares = participation(generate("complete:6"), through=[0, 1, 2, 3], arch="cpu")
    assert (shares.total, set(shares.vertices)) == (0, {0})
    king = generate("king:4x5")
    shares = participation(king, through=king.names[:1], max_length=4, arch="cpu", order=king.names)
    assert (shares.total, sum(shares.vertices), sum(shares.edges)) == (3, 9, 9)


# With the least memory, every other copy of the states is forgotten too.
@pytest.mark.parametrize("memory", [1 << 20, 1 << 19, 330_000])
def test_layers_that_do_not_fit_are_made_again_on_cores(on_cores, memory):
    space = SearchSpace(generate("grid:8x8"))
    planned = planned_blocks(space)
    (block,) = planned.blocks
    roomy, tight = (CoresShares(open_device("cpu"), block, each) for each in (None, memory))
    assert tight.nbytes < min(roomy.nbytes, memory)
    assert list(tight.passing()) == list(roomy.passing())
    assert roomy.total == 1_743_247


@ON_DEVICES
def test_a_device_counts_in_several_launches_as_python_does(arch, monkeypatch):
    monkeypatch.setitem(tables._ROWS_AT_ONCE, arch, 100)
    space = SearchSpace(generate("grid:9x9"))
    planned = planned_blocks(space)
    python = shares_of(space, planned)
    (block,) = planned.blocks
    found = dict(DeviceShares(open_device(arch), block, None, None).passing())
    vertices = {block.vertices[step.vertex]: counts[0] for step, counts in found.items()}
    assert [vertices[v] for v in range(81)] == python.vertices
    edges = {
        tuple(sorted((block.vertices[near], block.vertices[step.vertex]))): through
        for step, counts in found.items()
        for near, through in zip(step.near_vertices, counts[1:], strict=True)
    }
    assert [edges[pair] for pair in map(tuple, python.edge_list.tolist())] == python.edges


@pytest.mark.usefixtures("in_kernels")
@pytest.mark.parametrize("kind", [CoresShares, DeviceShares])
@pytest.mark.parametrize(
    ("more_cycles", "more_through_an_edge", "message"),
    [(1, 0, "the way back counts other cycles"), (0, 1, "edges are not those through their vertices")],
    ids=["total", "edges"],
)
def test_counts_that_contradict_each_other_are_refused(monkeypatch, kind, more_cycles, more_through_an_edge, message):
    class Wrong(kind):
        def __init__(self, device, block, memory, enough, report):
            super().__init__(device, block, *[None] * (kind is DeviceShares), memory, enough, report)
            if kind is CoresShares:
                self.total += more_cycles
            else:
                self.closed[max(self.closed)] += more_cycles

        def passing(self, report):
            for step, counts in super().passing(report):
                counts[-1] += more_through_an_edge
                yield step, counts

    monkeypatch.setattr("kernels_ti.boundary.participation.CoresShares", Wrong)
    with pytest.raises(EngineError, match=message):
        participation(generate("grid:4x6"), arch="cpu")


@pytest.mark.parametrize("kind", [CoresShares, DeviceShares])
def test_a_device_says_what_memory_it_lacks_and_ends_when_it_is_enough(kind):
    (block,) = planned_blocks(SearchSpace(generate("grid:4x6"))).blocks
    asked = []

    def shares(memory):
        return kind(open_device("cpu"), block, memory, *[None] * (kind is DeviceShares), lambda: bool(asked))

    steps = shares(1 << 24).passing()
    next(steps)
    asked.append(True)
    with pytest.raises(GivenUp):
        next(steps)
    asked.clear()
    with pytest.raises(SizeError, match=r"more than the .* allowed.*memory allows more"):
        list(shares(1 << 12).passing())


def test_an_arch_without_the_kernels_is_refused_and_the_time_can_be_up():
    with pytest.raises(OptionError, match="64-bit atomics, which Taichi does not have on Vulkan"):
        participation(generate("petersen"), arch="vulkan")
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
