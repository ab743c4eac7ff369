"""Counting along a boundary in kernels, against the reference search and known counts."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from chordless import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import small_graphs

from kernels_ti import Graph, OptionError, Options, SizeError, count_cycles, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount, arch_of_count, arch_of_longest
from kernels_ti.boundary.executors import parts
from kernels_ti.boundary.executors import tables as device_tables
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.spec.packing import Packing
from kernels_ti.boundary.way_back.blocks import planned_blocks
from kernels_ti.boundary.way_back.layers import layer_of
from kernels_ti.reference.algorithm import chordless_cycles


@pytest.fixture(autouse=True)
def _every_block_in_kernels(monkeypatch):
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)


@pytest.fixture
def on_devices(monkeypatch):
    """The kernels for GPUs run on a CPU too."""
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)


@pytest.fixture
def in_small_parts(monkeypatch):
    monkeypatch.setattr(parts, "_STATES_TO_A_PART", 4)
    monkeypatch.setattr(parts, "_FEWEST_STATES_TO_A_PART", 2)
    monkeypatch.setattr(parts, "_STATES_AT_ONCE", 40)
    monkeypatch.setattr(parts, "_LEAST_ROOM", 8)


@pytest.fixture(params=["in_small_parts", "on_devices"])
def road(request):
    """Both kinds of kernels."""
    return request.getfixturevalue(request.param)


on_both_roads = pytest.mark.usefixtures("road")


def planned(graph, *, by_length=True, **bounds):
    return BoundaryCount(SearchSpace(graph, Options(**bounds)), by_length=by_length)


def count_of(graph, memory=None, **options):
    count = planned(graph, **options)
    count.use(open_device("cpu"), memory)
    return count


def counted(graph, **options):
    count = count_of(graph, **options)
    while not count.finished:
        count.advance(0.01)
    return count.cycles_by_length


def in_python(graph, **options):
    count = planned(graph, **options)
    count.advance(math.inf)
    return count.cycles_by_length


FEW = settings(max_examples=40, deadline=None)


@on_both_roads
@FEW
@given(small_graphs(), st.data())
def test_counts_are_those_of_the_reference(graph, data):
    vertices = st.sets(st.integers(0, graph.n - 1), max_size=2)
    through = data.draw(vertices)
    avoid = data.draw(vertices) - through
    cycles = [cycle for cycle in chordless_cycles(graph) if through <= set(cycle) and not avoid & set(cycle)]
    restriction = {"through": sorted(through), "avoid": sorted(avoid)}
    assert counted(graph, **restriction) == oracles.by_length(cycles)
    assert counted(graph, by_length=False, **restriction) == ({0: len(cycles)} if cycles else {})


@on_both_roads
@FEW
@given(small_graphs(), st.integers(3, 7), st.integers(0, 5))
def test_lengths_can_be_bounded(graph, shortest, more):
    longest = shortest + more
    wanted = [cycle for cycle in chordless_cycles(graph) if shortest <= len(cycle) <= longest]
    assert counted(graph, min_length=shortest, max_length=longest) == oracles.by_length(wanted)


@pytest.mark.slow
@on_both_roads
@pytest.mark.parametrize("by_length", [False, True])
def test_a_count_goes_on_where_no_state_is_left(by_length, monkeypatch):
    # Every vertex comes alone.
    monkeypatch.setattr(parts.Parts, "vertices_apart", lambda _: 1)
    graph, through = generate("complete:6"), [0, 1, 2, 3]
    count, states = count_of(graph, by_length=by_length, through=through), []
    while not count.finished:
        count.advance(0.0)
        states.append(count.states)
        saved = count.saved()
        count = BoundaryCount(SearchSpace(graph, Options(through=through)), by_length=by_length, saved=saved)
        count.use(open_device("cpu"), None)
    assert 0 in states[:-1]
    assert count.cycles_by_length == {}


# Of one word, of two, and of more with wider symbols; twins, chains, cut vertices, dense blocks.
GRAPHS = [
    "grid:7x10",
    "gnp:40,0.12,1",
    "gnp:30,0.4,2",
    "ladder:60",
    "hypercube:4",
    "wheel:30",
    "bipartite:7x9",
    "karate",
]


@pytest.mark.slow
@on_both_roads
@pytest.mark.parametrize("spec", [*GRAPHS, pytest.param("complete:35", marks=pytest.mark.slow)])
@pytest.mark.slow_on("gnp:30,0.4,2")
def test_counts_are_those_of_python(spec):
    graph = generate(spec)
    expected = in_python(graph)
    assert counted(graph) == expected
    assert counted(graph, by_length=False) == {0: sum(expected.values())}


@pytest.mark.parametrize(
    ("spec", "total"), [("grid:8x8", 1_743_247), ("grid:10x10", 7_234_839_185), ("grid:12x12", 421_587_920_205_546)]
)
def test_known_totals(spec, total):
    assert counted(generate(spec), by_length=False) == {0: total}


# OEIS A360197 and A360198: induced cycles in grids of 4 and of 5 rows.
@pytest.mark.parametrize(
    ("spec", "total"),
    [("grid:4x16", 86_350), ("grid:4x33", 4_616_535_768), ("grid:5x5", 229), ("grid:5x29", 35_417_189_532_323)],
)
def test_published_totals(spec, total):
    assert counted(generate(spec), by_length=False) == {0: total}
    assert sum(counted(generate(spec)).values()) == total


@pytest.mark.slow
@on_both_roads
@pytest.mark.parametrize("beads", [15, 16, 47, 48, 49, 100, 200])
def test_counts_have_any_number_of_digits(beads):
    ends = [(3 * bead, 3 * (bead + 1) % (3 * beads)) for bead in range(beads)]
    edges = [
        edge for bead, (a, b) in enumerate(ends) for x in (1, 2) for edge in ((a, 3 * bead + x), (3 * bead + x, b))
    ]
    graph = Graph.from_edges(3 * beads, edges)
    assert counted(graph) == {4: beads, 2 * beads: 2**beads}
    assert counted(graph, by_length=False) == {0: beads + 2**beads}


@on_both_roads
@pytest.mark.parametrize("by_length", [True, False])
def test_all_states_can_die_before_the_last_vertex(by_length):
    """No chordless cycle passes opposite corners and the middle of a grid."""
    assert counted(generate("grid:3x3"), by_length=by_length, through=[0, 4, 8]) == {}


# Launches of few rows; what a vertex changes worked out for each state; tables that are too small at first.
CUTS = {"_ROWS_AT_ONCE": {"cpu": 37}, "_ROWS_TO_A_STATE": 0.2, "_FEWEST_ROWS": 1}


@pytest.mark.slow
@pytest.mark.usefixtures("on_devices")
@pytest.mark.parametrize("spec", ["grid:7x10", "gnp:30,0.4,2"])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.slow_on("gnp:30,0.4,2")
def test_nothing_depends_on_how_a_step_is_cut(spec, cut, monkeypatch):
    graph = generate(spec)
    expected = in_python(graph)
    monkeypatch.setattr(device_tables, cut, CUTS[cut])
    assert counted(graph) == expected
    assert counted(graph, by_length=False) == {0: sum(expected.values())}


@pytest.mark.usefixtures("on_devices")
def test_digits_are_carried_between_where_many_states_become_one(monkeypatch):
    graph = generate("grid:6x7")
    expected = in_python(graph)
    monkeypatch.setattr(device_tables, "_MOST_ADDITIONS", 2)
    monkeypatch.setattr(device_tables, "_ROWS_BETWEEN_CARRIES", 50)
    assert counted(graph) == expected


@pytest.mark.parametrize("spec", ["grid:7x10", "gnp:40,0.12,1", "bipartite:5x8"])
def test_no_more_states_become_one_than_is_reckoned_with(spec):
    """The bound decides how many digits there are."""
    (block,) = planned_blocks(SearchSpace(generate(spec))).blocks
    words = np.zeros((block.packing.words, 1), np.uint64)
    most = []
    for place, step in enumerate(block.steps):
        before = words.shape[1]
        layer, words = layer_of(block, place, words)
        into = np.concatenate([layer.children(joins=joins)[1] for joins in (False, True)])
        most.append(int(np.bincount(into).max(initial=0)))
        assert most[-1] <= device_tables.most_additions(step, before)
    assert max(most) > 2


def test_parts_are_made_of_states_and_stay_apart(monkeypatch):
    """Were two equal children made in different parts, there would be more states than in one part."""
    graph = generate("grid:8x8")
    whole = count_of(graph, by_length=False)
    whole.advance(math.inf)
    monkeypatch.setattr(parts, "_FEWEST_STATES_TO_A_PART", 1)
    monkeypatch.setattr(parts, "_STATES_TO_A_PART", 1)
    parted = count_of(graph, by_length=False)
    parted.advance(math.inf)
    assert parted.states_by_step == whole.states_by_step
    assert parted.cycles_by_length == whole.cycles_by_length


def test_several_vertices_come_in_one_launch():
    count = count_of(generate("grid:5x6"))
    count.advance(0.0)
    assert len(count.states_by_step) > 5


# Vertices that come alone, or in layers that are too small for them; new layers without room; too few cells for ways.
SHORTAGES = {
    "alone": {"parts._STATES_OF_A_STRETCH": 0},
    "few rows of a worker": {"parts._ROOM_TO_A_STATE": 2, "parts._LEAST_ROOM": 2},
    "few new rows": {"on_cores._GROWTH": 0, "parts._LEAST_ROOM": 2},
    "few numbers": {"on_cores._NUMBERS_TO_SPARE": -99},
}


@pytest.mark.parametrize("shortage", SHORTAGES)
@pytest.mark.parametrize("spec", ["grid:7x10", "gnp:40,0.12,1"])
def test_nothing_depends_on_how_a_stretch_is_cut(spec, shortage, monkeypatch):
    expected = planned(generate(spec))
    expected.advance(math.inf)
    for name, value in SHORTAGES[shortage].items():
        monkeypatch.setattr(f"kernels_ti.boundary.executors.{name}", value)
    monkeypatch.setattr(parts, "_FEWEST_STATES_TO_A_PART", 8)
    for by_length in (True, False):
        count = count_of(generate(spec), by_length=by_length)
        count.advance(math.inf)
        assert count.states_by_step == expected.states_by_step
        total = {0: sum(expected.cycles_by_length.values())}
        assert count.cycles_by_length == (expected.cycles_by_length if by_length else total)


@pytest.mark.parametrize("memory", [36, 37, 38, 40])
def test_what_the_next_layer_had_makes_room_for_states_that_move(memory):
    count = BoundaryCount(generate("grid:12x12"), memory=memory << 20)
    count.use(open_device("cpu", threads=2), memory << 20)
    while not count.finished:
        count.advance(0.0)
        assert count.passes is None
    assert sum(count.cycles_by_length.values()) == 421_587_920_205_546


def test_no_table_is_so_large_that_a_gpu_miscounts_its_cells():
    """A thread adds the threads of the whole grid to its place, in 32 bits: no GPU runs 2^24 threads at once."""
    assert device_tables.MOST_CELLS + (1 << 24) < 1 << 31


@pytest.mark.usefixtures("on_devices")
def test_a_table_is_fuller_where_there_is_less_room(monkeypatch):
    graph = generate("grid:8x8")
    monkeypatch.setattr(device_tables, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(device_tables, "MOST_CELLS", 2 * 1500)
    count = count_of(graph, by_length=False)
    count.advance(math.inf, lambda: False)
    assert count.cycles_by_length == {0: 1_743_247}


@on_both_roads
def test_too_little_memory_is_told():
    count = count_of(generate("grid:8x10"), memory=1 << 14, by_length=False)
    with pytest.raises(
        SizeError,
        match=r"may need .* the 16.0 KiB allowed, and the largest boundary about [\d.]+ [KM]iB: memory allows more",
    ):
        count.advance(math.inf)


@on_both_roads
def test_a_count_is_given_up_in_the_midst_of_a_vertex():
    count = count_of(generate("grid:5x6"))
    count.advance(0.0)
    states, share = count.states, count.share
    count.advance(math.inf, lambda: True)
    assert not count.finished
    assert (count.states, count.share) == (states, share)


def test_where_a_count_is_made(monkeypatch):
    monkeypatch.undo()
    small, large = plan_of(generate("grid:6x6")), plan_of(generate("grid:14x14"), seconds=0.0)
    assert arch_of_count(small, "auto", by_length=False) == "reference"
    assert arch_of_count(large, "cpu", by_length=False) == "cpu"
    assert arch_of_count(large, "auto", by_length=False) == "cpu"
    assert arch_of_count(large, "auto", by_length=True) == "cpu"
    for cores, arch in ((2, "reference"), (4, "cpu")):
        monkeypatch.setattr(boundary, "cores", lambda cores=cores: cores)
        assert arch_of_longest(large, "auto") == arch
        assert arch_of_longest(large, "cpu") == "cpu"
    assert arch_of_count(large, "cuda", by_length=True) == "cuda"
    with pytest.raises(OptionError, match="64-bit atomics, which Taichi does not have on Vulkan"):
        arch_of_count(small, "vulkan", by_length=False)


def test_no_total_is_slower_than_the_count_by_length_that_contains_it(monkeypatch):
    """Once kernels need no start, a total is made in them wherever a count by length is."""
    monkeypatch.undo()
    plans = [plan_of(generate(f"grid:{n}x{n}"), order=range(n * n)) for n in range(6, 15)]
    open_device("cpu")
    total, by_length = ([arch_of_count(plan, "auto", by_length=apart) for plan in plans] for apart in (False, True))
    assert total == by_length
    assert set(total) == {"reference", "cpu"}
    monkeypatch.setattr(boundary, "is_open", lambda: False)
    before_the_start = [arch_of_count(plan, "auto", by_length=False) for plan in plans]
    assert before_the_start.count("reference") > total.count("reference")


def test_a_wide_boundary_is_counted_in_python():
    graph = generate("complete:70")
    assert not Packing(plan_of(graph).width).fits_kernels
    assert counted(graph, by_length=False) == {0: math.comb(70, 3)}


def test_vulkan_is_refused():
    with pytest.raises(OptionError, match="on Vulkan: choose cpu or cuda"):
        count_cycles(generate("petersen"), method="boundary", arch="vulkan")


@pytest.mark.usefixtures("on_devices")
@pytest.mark.parametrize("spec", ["grid:6x6", "king:5x5"])
def test_a_bounded_count_that_python_began_goes_on_in_tables(spec):
    """Sets that are too large for one more vertex change no number beside theirs."""
    expected, begun = (planned(generate(spec), max_length=9) for _ in range(2))
    expected.advance(math.inf)
    while len(begun.states_by_step) < begun.plan.blocks[0].n // 2:
        begun.advance(0.0)
    count = BoundaryCount(SearchSpace(generate(spec), Options(max_length=9)), saved=begun.saved())
    count.use(open_device("cpu"), None)
    count.advance(math.inf)
    assert count.cycles_by_length == expected.cycles_by_length
