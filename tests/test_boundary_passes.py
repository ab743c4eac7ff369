"""A count by length whose states do not fit with a number for each length: several passes, each exact."""

from __future__ import annotations

import itertools
import json
import math
import re

import oracles
import pytest
from chordless import generate
from chordless.runs.saved import packed, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import small_graphs
from python_process import run_python
from shortage import RemaindersDoNotFit, counts_with_a_failed_allocation

from kernels_ti import Graph, Options, SizeError, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors import in_passes, on_device, parts
from kernels_ti.boundary.executors import tables as device_tables
from kernels_ti.boundary.executors.on_device import DeviceBlock
from kernels_ti.boundary.values.numbers import coefficients, combined, primes_beyond
from kernels_ti.boundary.values.saved import SavedCount
from kernels_ti.reference.algorithm import chordless_cycles

FEW = settings(max_examples=30, deadline=None)


class DoesNotFit(DeviceBlock):
    """A block whose states never fit with a number for each length."""

    def take_vertex(self, enough):
        raise SizeError("it does not fit")


@pytest.fixture(autouse=True)
def _every_block_in_kernels(monkeypatch):
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)


@pytest.fixture
def cells_for_passes(monkeypatch):
    """Make passes of any block: with all lengths for None, else at as many points as so many cells have room for."""

    def set_cells(cells):
        monkeypatch.setattr(boundary, "CoresBlock", DoesNotFit)
        if cells is None:
            return
        monkeypatch.setattr(in_passes, "LengthsModulo", RemaindersDoNotFit)
        monkeypatch.setattr(in_passes, "cells_of_two_tables", lambda memory: cells)

    return set_cells


def begun(graph, *, memory=None, saved=None, **options):
    count = BoundaryCount(SearchSpace(graph, Options(**options)), saved=saved)
    count.use(open_device("cpu"), memory)
    return count


def counted(graph, **options):
    count = begun(graph, **options)
    shares = [count.share]
    while not count.finished:
        count.advance(0.0)
        shares.append(count.share)
    assert shares == sorted(shares)
    return count.cycles_by_length


def beads_of(beads):
    """A ring of cycles of four vertices: it has 2^beads long cycles."""
    ends = [(3 * bead, 3 * (bead + 1) % (3 * beads)) for bead in range(beads)]
    edges = [
        edge for bead, (a, b) in enumerate(ends) for x in (1, 2) for edge in ((a, 3 * bead + x), (3 * bead + x, b))
    ]
    return Graph.from_edges(3 * beads, edges)


def in_python(graph, **options):
    count = BoundaryCount(SearchSpace(graph, Options(**options)))
    count.advance(math.inf)
    return count.cycles_by_length


@given(st.lists(st.integers(0, 10**40), min_size=1, max_size=30))
def test_a_polynomial_comes_back_from_its_values(wanted):
    primes = primes_beyond(max(wanted), 48)
    assert all((1 << 47) < prime < 1 << 48 for prime in primes)
    points = range(1, len(wanted) + 1)
    parts = []
    for prime in primes:
        values = [sum(each * z**power for power, each in enumerate(wanted)) % prime for z in points]
        parts.append(coefficients(values, prime))
    assert [combined(remainders, primes) for remainders in zip(*parts, strict=True)] == (wanted if primes else [])


@pytest.mark.parametrize("cells", [None, 1, 100])
def test_counts_are_those_of_the_reference(cells, cells_for_passes):
    cells_for_passes(cells)

    @FEW
    @given(small_graphs(), st.data(), st.integers(3, 6), st.integers(0, 5))
    def check(graph, data, shortest, more):
        vertices = st.sets(st.integers(0, graph.n - 1), max_size=2)
        through = data.draw(vertices)
        avoid = data.draw(vertices) - through
        wanted = [
            cycle
            for cycle in chordless_cycles(graph)
            if through <= set(cycle) and not avoid & set(cycle) and shortest <= len(cycle) <= shortest + more
        ]
        options = {"through": sorted(through), "avoid": sorted(avoid)}
        options |= {"min_length": shortest, "max_length": shortest + more}
        assert counted(graph, **options) == oracles.by_length(wanted)

    check()


# Of one word, of two, and of more with wider symbols; several blocks.
@pytest.mark.slow
@pytest.mark.parametrize("cells", [None, 10_000])
@pytest.mark.parametrize("spec", ["grid:6x9", "gnp:30,0.4,2", "ladder:60", "gnp:70,0.03,4"])
@pytest.mark.slow_on("gnp:30,0.4,2")
def test_counts_are_those_of_python(spec, cells, cells_for_passes):
    cells_for_passes(cells)
    graph = generate(spec)
    assert counted(graph) == in_python(graph)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [None, 400])
def test_counts_have_any_number_of_digits(cells, cells_for_passes):
    cells_for_passes(cells)
    assert counted(beads_of(60)) == {4: 60, 120: 2**60}


@pytest.mark.slow
@pytest.mark.parametrize("cells", [None, 4000])
def test_values_are_reduced_between_where_many_states_become_one(cells, cells_for_passes, monkeypatch):
    cells_for_passes(cells)
    graph = generate("grid:6x7")
    expected = in_python(graph)
    monkeypatch.setattr(device_tables, "_MOST_ADDITIONS", 2)
    monkeypatch.setattr(device_tables, "_ROWS_BETWEEN_CARRIES", 50)
    assert counted(graph) == expected


def test_the_ways_of_all_lengths_lie_in_two_buffers(monkeypatch):
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)
    graph = generate("grid:6x7")
    expected, kept, cells = in_python(graph), [], []
    monkeypatch.setattr(on_device, "BUFFER", 400)
    count = begun(graph)
    while not count.finished:
        count.advance(0.0)
        kept.append(count.saved())
        cells += [0] if count._block is None else [count._block._ways]
    assert count.cycles_by_length == expected
    assert 400 < max(cells) < 800
    # A count that was kept goes on, also from two buffers to one.
    for saved in kept[len(kept) // 2 :: 7]:
        resumed = begun(graph, saved=saved)
        resumed.advance(math.inf)
        assert resumed.cycles_by_length == expected


def test_numbers_that_do_not_fit_are_counted_modulo_primes(monkeypatch):
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)
    graph = beads_of(60)
    monkeypatch.setattr(on_device, "BUFFER", 50)
    count, passes = begun(graph), []
    while not count.finished:
        count.advance(0.0)
        passes.append(count.passes)
    assert count.cycles_by_length == {4: 60, 120: 2**60}
    assert [number for number, _ in itertools.groupby(passes)] == [None, (1, 0), (2, 3), (3, 3), None]


def test_remainders_of_all_lengths_that_take_long_are_given_up(cells_for_passes, monkeypatch):
    cells_for_passes(None)
    graph = generate("grid:6x7")
    monkeypatch.setattr(in_passes, "cells_of_two_tables", lambda memory: 1500)
    monkeypatch.setattr(in_passes, "_LONGER", 0.0)
    monkeypatch.setattr(in_passes, "_PATIENCE", 0.0)
    count, passes = begun(graph), []
    while not count.finished:
        count.advance(0.0)
        passes.append(count.passes)
    assert count.cycles_by_length == in_python(graph)
    assert max(made for made, _ in filter(None, passes)) > 3


@pytest.mark.slow
def test_a_table_of_few_cells_makes_passes(monkeypatch):
    """By length a state takes some thirty cells, in all two."""
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)
    graph = generate("grid:6x7")
    whole = begun(graph)
    whole.advance(math.inf)
    monkeypatch.setattr(device_tables, "MOST_CELLS", 8 * whole.most_states)
    assert counted(graph) == whole.cycles_by_length == in_python(graph)
    monkeypatch.setattr(in_passes, "LengthsModulo", RemaindersDoNotFit)
    assert counted(graph) == whole.cycles_by_length
    # Fewer numbers fit than was thought: the pass begins anew with half of them.
    monkeypatch.setattr(in_passes, "cells_of_two_tables", lambda memory: 1 << 20)
    assert counted(graph) == whole.cycles_by_length


@pytest.mark.slow
def test_passes_are_numbered_and_share_the_work(cells_for_passes):
    cells_for_passes(1500)
    count = begun(generate("grid:6x7"))
    told, shares = [], {}
    while not count.finished:
        count.advance(0.0)
        if count.passes is not None:
            told.append(count.passes)
            shares[count.passes[0]] = count.share
    last = told[-1][1]
    assert told[0] == (1, 0)
    assert last > 3
    assert [number for number, _ in itertools.groupby(told, key=lambda each: each[0])] == list(range(1, last + 1))
    assert {passes for number, passes in told if number > 2} == {last}
    assert list(shares.values()) == sorted(shares.values())
    assert 0.3 < shares[(last + 1) // 2] < 0.7
    assert shares[last - 1] < 1.0
    assert count.passes is None


def test_a_count_on_cores_goes_on_in_passes(monkeypatch):
    graph = generate("grid:6x7")
    monkeypatch.setattr(parts, "LARGEST_BUFFER", 300)
    count = begun(graph)
    while count.passes is None:
        count.advance(0.0)
    count.advance(math.inf)
    assert count.cycles_by_length == in_python(graph)


def test_a_count_in_python_goes_on_in_passes():
    graph = generate("grid:8x10")
    open_device("cpu")
    count = BoundaryCount(SearchSpace(graph), memory=2_500_000)
    count.advance(math.inf)
    assert sum(count.cycles_by_length.values()) == 71_535_910
    assert count.cycles_by_length == in_python(graph)
    tight = BoundaryCount(SearchSpace(graph), memory=1 << 18)
    with pytest.raises(SizeError, match=r"[KM]iB: memory allows more, method=.search. needs"):
        tight.advance(math.inf)


def test_a_count_in_python_starts_no_kernels_that_its_memory_has_no_room_for():
    code = """
from kernels_ti import SizeError
from chordless import generate
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.device.device import is_open

try:
    BoundaryCount(generate("grid:11x11"), memory=16 << 20).advance(60)
except SizeError as error:
    print(error, is_open())
"""
    assert re.search(r"more than the 16\.0 MiB allowed.* False$", run_python(code).stdout)


@pytest.mark.slow
def test_passes_are_kept_and_go_on(cells_for_passes):
    """The pass that is under way begins anew, also where fewer numbers fit, or in a count that began in Python."""
    graph = generate("grid:6x7")
    expected = in_python(graph)
    cells_for_passes(2500)
    saved, kept, turn = None, set(), 0
    while True:
        turn += 1
        count = begun(graph, saved=saved) if turn % 3 else BoundaryCount(SearchSpace(graph), saved=saved)
        for _ in range(graph.n + 1):
            if not count.finished:
                count.advance(0.0)
        if count.finished:
            break
        saved = count.saved()
        arrays = {}
        header = json.loads(json.dumps(packed(saved, arrays, "boundary")))
        saved = unpacked(SavedCount, header, arrays.__getitem__)
        passes = saved.block.passes
        kept.add(0 if passes is None else 1 + sum(map(len, passes.values.values())))
        cells_for_passes(2000)
    assert len(kept) > 3
    assert count.cycles_by_length == expected


@pytest.mark.slow
def test_each_allocation_may_fail_and_the_count_goes_on(cells_for_passes):
    graph = generate("grid:5x6")
    expected = in_python(graph)
    cells_for_passes(1500)
    said = []
    for count, words in counts_with_a_failed_allocation(lambda: begun(graph)):
        if words is not None:
            said.append(words)
            assert begun_again(graph, count) == expected
    assert len(said) > 3
    assert all("has no room for another" in line for line in said)
    assert count.cycles_by_length == expected


def begun_again(graph, count):
    count = begun(graph, saved=count.saved())
    count.advance(math.inf)
    return count.cycles_by_length


def test_a_pass_is_given_up_in_the_midst_of_a_vertex(cells_for_passes):
    cells_for_passes(1500)
    graph = generate("grid:5x6")
    count = begun(graph)
    while count.share < 0.5 or count.states < 10:
        count.advance(0.0)
    states, share = count.states, count.share
    count.advance(math.inf, lambda: True)
    assert not count.finished
    assert (count.states, count.share) == (states, share)
    count.advance(math.inf)
    assert count.cycles_by_length == in_python(graph)
