"""Steps in rounds over the memory of the host, where the states do not fit into two tables."""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import oracles
import pytest
from chordless import generate
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import small_graphs
from shortage import counts_with_a_failed_allocation

from kernels_ti import Options, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.tables import tables as device_tables
from kernels_ti.boundary.tables.on_device import DeviceBlock
from kernels_ti.errors import SizeError
from kernels_ti.reference.algorithm import chordless_cycles

FEW = settings(max_examples=30, deadline=None)


class Noted(DeviceBlock):
    """Notes the rounds of all steps."""

    taken: ClassVar[list[int]] = []

    def take_vertex(self, enough):
        cost = super().take_vertex(enough)
        self.taken.append(self.rounds)
        return cost


@pytest.fixture(autouse=True)
def rounds(monkeypatch):
    """Count every block in kernels; return the rounds of the steps of totals."""
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(device_tables, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(boundary, "CoresBlock", Noted)
    Noted.taken.clear()
    return Noted.taken


def begun(graph, *, memory=None, saved=None, by_length=False, **options):
    count = BoundaryCount(SearchSpace(graph, Options(**options)), by_length=by_length, saved=saved)
    count.use(open_device("cpu"), memory)
    return count


def counted(graph, **options):
    count = begun(graph, **options)
    count.advance(math.inf)
    return count.cycles_by_length


def in_python(graph, **options):
    count = BoundaryCount(SearchSpace(graph), **options)
    count.advance(math.inf)
    return count.cycles_by_length


@FEW
@given(small_graphs(), st.data())
def test_counts_are_those_of_the_reference(graph, data):
    vertices = st.sets(st.integers(0, graph.n - 1), max_size=2)
    through = data.draw(vertices)
    avoid = data.draw(vertices) - through
    wanted = [cycle for cycle in chordless_cycles(graph) if through <= set(cycle) and not avoid & set(cycle)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_tables, "MOST_CELLS", 12)
        options = {"through": sorted(through), "avoid": sorted(avoid)}
        assert counted(graph, **options) == ({0: len(wanted)} if wanted else {})
        assert counted(graph, by_length=True, **options) == oracles.by_length(wanted)


# Of one word, of two, and of several blocks; many digits.
@pytest.mark.parametrize(
    ("spec", "cells"), [("grid:8x8", 900), ("gnp:30,0.4,2", 9000), ("gnp:70,0.03,4", 16), ("bipartite:7x9", 300)]
)
def test_counts_are_those_of_python(spec, cells, rounds, monkeypatch):
    graph = generate(spec)
    expected = in_python(graph, by_length=False)
    assert counted(graph) == expected
    assert set(rounds) == {1}
    monkeypatch.setattr(device_tables, "MOST_CELLS", cells)
    assert counted(graph) == expected
    assert max(rounds) > 2
    # Where the boundary is small again, one table holds the states.
    assert rounds[-1] == 1


def test_a_step_in_rounds_is_given_up_and_comes_again(rounds, monkeypatch):
    graph = generate("grid:7x7")
    monkeypatch.setattr(device_tables, "MOST_CELLS", 400)
    asked = itertools.count()
    count = begun(graph)
    while not count.finished:
        before = count.states, count.share, count.cycles_by_length
        steps = len(count.states_by_step)
        count.advance(math.inf, lambda: next(asked) % 7 == 6)
        if len(count.states_by_step) == steps:
            assert (count.states, count.share, count.cycles_by_length) == before
        count.advance(0.0)
    assert count.cycles_by_length == {0: 65_772}
    assert max(rounds) > 2


@pytest.mark.parametrize("cells", [400, 1 << 20])
def test_parts_are_kept_and_go_on(cells, rounds, monkeypatch):
    graph = generate("grid:7x7")
    saved, turn, whole = None, 0, device_tables.MOST_CELLS
    while True:
        turn += 1
        monkeypatch.setattr(device_tables, "MOST_CELLS", 400 if turn % 2 else cells)
        count = begun(graph, saved=saved)
        if turn % 5 == 0:
            count = BoundaryCount(SearchSpace(graph), by_length=False, saved=saved)
        count.advance(0.0)
        if count.finished:
            break
        saved = count.saved()
    assert count.cycles_by_length == {0: 65_772}
    assert max(rounds) > 2
    assert whole > cells


def test_each_allocation_may_fail_and_the_count_goes_on(monkeypatch):
    graph = generate("grid:5x6")
    monkeypatch.setattr(device_tables, "MOST_CELLS", 60)
    monkeypatch.setattr(device_tables, "_FEWEST_CELLS", 1)
    said = []
    for count, words in counts_with_a_failed_allocation(lambda: begun(graph), step=3):
        if words is not None:
            said.append(words)
            again = begun(graph, saved=count.saved())
            again.advance(math.inf)
            assert again.cycles_by_length == {0: 749}
    assert len(said) > 3
    assert all("has no room for another" in line for line in said)
    assert count.cycles_by_length == {0: 749}


def test_too_little_memory_is_told(rounds, monkeypatch):
    """On a CPU the parts take the memory that the tables leave; what fits neither way is refused, and was kept."""
    monkeypatch.setattr(device_tables, "_FEWEST_CELLS", 1)
    graph = generate("grid:9x9")
    count = begun(graph, memory=80_000)
    with pytest.raises(
        SizeError, match=r"may need [\d.]+ KiB, more than the [\d.]+ KiB allowed, and the largest boundary"
    ):
        count.advance(math.inf)
    assert max(rounds) > 1
    count = begun(graph, saved=count.saved())
    count.advance(math.inf)
    assert count.cycles_by_length == in_python(graph, by_length=False)
