"""States of a boundary that nothing completes: what is dropped, and that nothing else is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chordless import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import by_length, small_graphs
from python_process import run_python

from kernels_ti import Options, SizeError, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors import forward, on_cores, parts, tables
from kernels_ti.boundary.executors.forward import Completion
from kernels_ti.boundary.executors.on_device import DeviceBlock, block_on_device
from kernels_ti.boundary.executors.tables import DeviceTables
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.way_back.blocks import planned_blocks
from kernels_ti.boundary.way_back.layers import layer_of
from kernels_ti.reference.algorithm import chordless_cycles

FEW = settings(max_examples=40, deadline=None)


@pytest.fixture(autouse=True)
def _a_test_before_every_step(monkeypatch):
    monkeypatch.setattr(forward, "_START", -1)
    monkeypatch.setattr(forward, "_TEST", 0)
    monkeypatch.setattr(forward, "_TABLES", -1)
    for executor in (on_cores, tables):
        monkeypatch.setattr(executor, "FEWEST_NUMBERS", 0)
    monkeypatch.setattr(parts, "_STATES_OF_A_STRETCH", 0)
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)


def counted(graph, *, by_length=True, memory=None, arch="reference", order=None, **bounds):
    space = SearchSpace(graph, Options(**bounds))
    count = BoundaryCount(space, by_length=by_length, memory=memory, plan=plan_of(space, order=order))
    if arch != "reference":
        count.use(open_device(arch), memory)
    count.advance(math.inf)
    assert count.finished
    return count


def judged(graph):
    """Yield, for each step of each block, which states that follow lead to a cycle, and which pass the test."""
    for block in planned_blocks(SearchSpace.of(graph)).blocks:
        words = np.zeros((block.packing.words, 1), np.uint64)
        layers, passed = [], []
        test = Completion(block)
        for place in range(len(block.steps)):
            layer, words = layer_of(block, place, words)
            layers.append(layer)
            passed.append(test.possible(place, words, lambda: False))
        follows = np.zeros(words.shape[1], np.bool_)
        for layer, passing in zip(layers[::-1], passed[::-1], strict=True):
            yield follows, passing
            before = np.zeros(layer.words.shape[1], np.bool_)
            before[layer.closing] = True
            for child in (layer.off, layer.on):
                before |= (child >= 0) & np.append(follows, False)[child]
            follows = before


@FEW
@given(small_graphs())
def test_no_state_that_leads_to_a_cycle_is_dropped(graph):
    for leads, passes in judged(graph):
        assert not (leads & ~passes).any()


SPECS = ["grid:7x7", "king:6x6", "planar:60,2", "gnp:24,0.2,3", "ladder:20", "wheel:9", "petersen", "gnp:60,0.05,8"]


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_that_leads_to_a_cycle_is_dropped_in_larger_graphs(spec):
    for leads, passes in judged(generate(spec)):
        assert not (leads & ~passes).any()


@pytest.mark.parametrize(("spec", "least"), [("grid:7x7", 0.95), ("king:6x6", 0.9), ("planar:60,2", 0.8)])
def test_most_states_that_lead_nowhere_are_dropped(spec, least):
    dead = dropped = 0
    for leads, passes in judged(generate(spec)):
        dead += np.count_nonzero(~leads)
        dropped += np.count_nonzero(~passes)
    assert dropped >= least * dead > 100


ARCHES = pytest.mark.parametrize("arch", ["reference", "cpu"])


@pytest.mark.slow
@ARCHES
@FEW
@given(small_graphs(), st.data())
def test_counts_are_those_of_the_reference(arch, graph, data):
    vertices = st.sets(st.integers(0, graph.n - 1), max_size=2)
    through = data.draw(vertices)
    avoid = data.draw(vertices) - through
    shortest = data.draw(st.integers(3, 6))
    longest = shortest + data.draw(st.integers(0, 5))
    restriction = {"through": sorted(through), "avoid": sorted(avoid)}
    wanted = [cycle for cycle in chordless_cycles(graph) if through <= set(cycle) and not avoid & set(cycle)]
    bounded = [cycle for cycle in wanted if shortest <= len(cycle) <= longest]
    found = counted(graph, arch=arch, min_length=shortest, max_length=longest, **restriction).cycles_by_length
    assert found == by_length(bounded)
    total = counted(graph, by_length=False, arch=arch, **restriction).cycles_by_length
    assert total == ({0: len(wanted)} if wanted else {})


@ARCHES
@pytest.mark.parametrize("spec", SPECS)
def test_fewer_states_count_the_same(spec, arch, monkeypatch):
    graph = generate(spec)
    fewer = counted(graph, arch=arch)
    monkeypatch.setattr(forward, "_START", math.inf)
    all_of_them = counted(graph)
    assert fewer.cycles_by_length == all_of_them.cycles_by_length
    # All states of a ladder and of a wheel lead to a cycle.
    spared = sum(all_of_them.states_by_step) - sum(fewer.states_by_step)
    assert spared > 0 if spec not in {"ladder:20", "wheel:9"} else spared == 0


@pytest.mark.parametrize(("arch", "memory"), [("reference", 20 * 2**14), ("cpu", 10 * 2**14)])
def test_states_are_dropped_before_memory_is_refused(arch, memory, monkeypatch):
    graph = generate("king:8x8")
    monkeypatch.setattr(forward, "_START", math.inf)
    expected = counted(graph, by_length=False).cycles_by_length
    row_by_row = range(graph.n)
    assert counted(graph, by_length=False, memory=memory, arch=arch, order=row_by_row).cycles_by_length == expected
    # Without the test, the states do not fit.
    monkeypatch.setattr(forward, "_MOST_SLOTS", 0)
    with pytest.raises(SizeError, match="states at a boundary of"):
        counted(graph, by_length=False, memory=memory, arch=arch, order=row_by_row)


def test_the_compiler_keeps_no_states():
    """In a process of its own: the kernel has not been compiled, and no garbage is collected."""
    code = """
import gc, weakref
import numpy as np
from chordless import generate
from kernels_ti.boundary.executors.forward import Completion
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.spec.block import ordered_blocks

def noted(self, device, place, words, *rest, **more):
    seen.append(weakref.ref(words[0]))
    return drop(self, device, place, words, *rest, **more)

seen, drop, Completion.drop = [], Completion.drop, noted
gc.disable()
(block,) = ordered_blocks(plan_of(generate("grid:5x5")))
states = np.zeros((block.packing.words, 1000), np.uint64)
assert Completion(block).possible(10, states, lambda: False).all()
assert seen
assert all(kept() is None for kept in seen)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_a_wide_boundary_keeps_its_states():
    graph = generate("complete:70")
    assert counted(graph, by_length=False).cycles_by_length == {0: math.comb(70, 3)}


def test_a_vertex_is_given_up_after_states_were_dropped():
    (block,) = planned_blocks(SearchSpace(generate("king:6x6"))).blocks
    device, wanted = open_device("cpu"), counted(generate("king:6x6"), by_length=False).cycles_by_length
    count = DeviceBlock(device, block, None, None)
    while count.place < 20:
        count.take_vertex(lambda: False)
    asked, states = [], count.states
    with pytest.raises(GivenUp):
        # The first question comes before the test.
        count.take_vertex(lambda: asked.append(True) or len(asked) > 1)
    assert count.states < states
    again = DeviceBlock(device, block, None, None)
    again.resume(count.saved())
    while not again.finished:
        again.take_vertex(lambda: False)
    assert again.cycles == wanted


@pytest.mark.parametrize("longest", [None, 36])
def test_a_count_that_is_saved_while_states_are_dropped_goes_on(longest, monkeypatch):
    monkeypatch.setattr(forward, "_made_for_a_while", lambda launches: next(launches, None) is None)
    monkeypatch.setattr(tables, "FEWEST_NUMBERS", 0)
    monkeypatch.setattr(forward, "_START", math.inf)
    (block,) = planned_blocks(SearchSpace(generate("grid:6x6"))).blocks
    device, by_length = open_device("cpu"), longest is not None
    count = block_on_device(device, block, longest, None)
    dropping = DeviceTables._dropping
    begun = []

    def noted(self, tests):
        begun.append(self.states)
        yield from dropping(self, tests)

    monkeypatch.setattr(DeviceTables, "_dropping", noted)
    while count.place < 18:
        count.take_vertex(lambda: False)
    monkeypatch.setattr(forward, "_START", 0)
    # It is given up after the first launch that drops some.
    with pytest.raises(GivenUp):
        count.take_vertex(lambda: len(begun) > 0)
    again = block_on_device(device, block, longest, None)
    again.resume(count.saved())
    assert again.states < begun[-1]
    while not again.finished:
        again.take_vertex(lambda: False)
    assert again.cycles == counted(generate("grid:6x6"), by_length=by_length).cycles_by_length
