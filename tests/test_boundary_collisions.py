"""States that share their keys in a table of the kernels: whole states are compared, so none is taken for another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chordless import generate
from oracles import check_cycles

from kernels_ti import open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors.on_device import DeviceBlock
from kernels_ti.boundary.kernels import count as count_kernel
from kernels_ti.boundary.kernels import tables as kernels
from kernels_ti.boundary.kernels import ways as ways_kernels
from kernels_ti.boundary.longest import best_cycle
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back import device_ways
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks

# The kernels are compiled anew.
pytestmark = pytest.mark.slow

# Its states have two words.
SPEC = "gnp:30,0.4,2"


def _forget_kernels():
    for made in (kernels.row_functions, count_kernel.count_kernel, ways_kernels.optimum_kernels):
        made.cache_clear()


@pytest.fixture(autouse=True)
def _keys_of_the_first_word_alone(monkeypatch):
    monkeypatch.setattr(kernels, "MIX", 0)
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)
    _forget_kernels()
    yield
    _forget_kernels()


def test_counts_are_exact(monkeypatch):
    shared = 0

    class Noted(DeviceBlock):
        def take_vertex(self, enough):
            nonlocal shared
            cost = super().take_vertex(enough)
            keys = self._device.call(self._gathered, "noted")[:, 0]
            shared += len(keys) - len(np.unique(keys))
            return cost

    monkeypatch.setattr(boundary, "CoresBlock", Noted)
    graph = generate(SPEC)
    expected, count = BoundaryCount(graph, by_length=False), BoundaryCount(graph, by_length=False)
    expected.advance(math.inf)
    count.use(open_device("cpu"), None)
    count.advance(math.inf)
    assert shared > 1000
    assert count.cycles_by_length == expected.cycles_by_length
    assert count.states_by_step == expected.states_by_step


@pytest.mark.parametrize("alike", [1 << 12, 1])
def test_the_longest_cycle_is_found_again(alike, monkeypatch):
    """The way back tries each state that has the key of the origin."""
    monkeypatch.setattr(device_ways, "_MOST_ALIKE", alike)
    monkeypatch.setattr(device_ways, "_FEWEST_STEPS_BETWEEN", 3)
    graph = generate(SPEC)
    planned = planned_blocks(SearchSpace(graph))
    expected = best_cycle(planned, Gains())
    best = best_cycle(planned, Gains(), Means(device=open_device("cpu")))
    assert (best.value, best.ways, best.states) == (expected.value, expected.ways, expected.states)
    assert len(best.cycle) == best.value
    check_cycles(graph, [best.cycle])
