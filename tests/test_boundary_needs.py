"""What a count along a boundary is expected to need, beside what counts took."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import pytest
from chordless import generate
from chordless.engine.rates import BoundaryRates

from kernels_ti import Graph, SizeError, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors import tables as device_tables
from kernels_ti.boundary.executors.remainders import TotalModulo, number_bits
from kernels_ti.boundary.needs import Needs, Sizes, needs_of, states_of_lengths
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.spec.block import ordered_blocks
from kernels_ti.boundary.values.numbers import largest_primes

GIB = 1 << 30
GRID = plan_of(generate("grid:14x14"), order=range(196))


@pytest.mark.parametrize(
    ("arch", "longest"), [(arch, longest) for arch in ("reference", "cpu", "cuda") for longest in (None, 196)]
)
def test_what_fits_is_made_in_one_pass(arch, longest):
    needs = needs_of(GRID, arch, math.inf, longest=longest)
    assert (needs.fits, needs.passes) == (True, 1)
    assert needs == needs_of(GRID, arch, needs.bytes, longest=longest)
    assert needs_of(GRID, arch, 0.9 * needs.bytes, longest=longest) != needs


def test_the_bytes_are_about_those_of_counts_on_cores():
    """Grid 14x14 met 217,032 states at most: 17 MB of buffers, and 160 MB by length."""
    assert needs_of(GRID, "cpu", math.inf).bytes == pytest.approx(17e6, rel=0.5)
    assert needs_of(GRID, "cpu", math.inf, longest=196).bytes == pytest.approx(160e6, rel=0.5)


def test_a_count_by_length_that_does_not_fit_takes_passes_within_the_memory():
    passes, least = [], needs_of(GRID, "cpu", 1.0, longest=196)
    assert not least.fits
    assert not needs_of(GRID, "cpu", 0.99 * least.bytes, longest=196).fits
    for memory in (1.01 * least.bytes, 3 * least.bytes, 6 * least.bytes):
        needs = needs_of(GRID, "cpu", memory, longest=196)
        assert needs.fits
        assert needs.bytes <= memory
        assert needs.totals > needs.passes
        passes.append(needs.passes)
    assert passes == sorted(passes, reverse=True)
    assert passes[0] > 20 > passes[-1] > 1


@pytest.mark.slow
def test_about_as_many_passes_are_made_as_were_expected(monkeypatch):
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)
    for smallest in ("_FEWEST_ROWS", "_FEWEST_CELLS", "_FEWEST_TALLIES"):
        monkeypatch.setattr(device_tables, smallest, 1)
    graph = generate("grid:9x9")
    plan = plan_of(graph, order=range(81))
    memory = 2 * int(needs_of(plan, "cpu", 1.0, longest=81).bytes)
    count = BoundaryCount(SearchSpace(graph), plan=plan)
    # The table of what a vertex changes takes the same for every graph, and is not expected: here it counts.
    count.use(open_device("cpu"), memory + (1 << 18))
    made = 1
    while not count.finished:
        count.advance(0.0)
        made = max(made, (count.passes or (1, 1))[1])
    expected = needs_of(plan, "cpu", memory, longest=81).passes
    assert expected / 3 <= made <= 3 * expected
    assert made > 2


def test_a_total_that_does_not_fit_in_one_pass_goes_in_several():
    needs = needs_of(GRID, "cuda", 1 << 24)
    assert needs.fits
    assert needs.bytes <= 1 << 24
    assert needs.passes == 3


@pytest.mark.parametrize("spec", ["grid:9x9", "king:8x8"])
def test_as_many_numbers_as_are_expected_fit_into_a_pass(spec, monkeypatch):
    for smallest in ("_FEWEST_ROWS", "_FEWEST_CELLS", "_FEWEST_TALLIES"):
        monkeypatch.setattr(device_tables, smallest, 1)
    (block,) = ordered_blocks(plan := plan_of(generate(spec)))
    primes = list(islice(largest_primes(number_bits(block)), 2))

    def states_met(memory):
        count, most = TotalModulo(open_device("cpu"), block, memory, primes, has_bound=True), 0
        while not count.finished:
            count.take_vertex(lambda: False)
            most = max(most, count.states)
        return most

    # The numbers that fit beside the words of the states that are met are those of the rule for as many states.
    sizes, beside = Sizes(plan), block.coded[0].nbytes + (1 << 14)
    states = sizes.likely = states_met(None)
    memory = next(memory for memory in range(0, 1 << 30, 8 * states) if sizes.numbers_in_a_pass(memory) == 3)
    assert 0 < states_met(memory + beside) <= states
    with pytest.raises(SizeError):
        states_met(memory // 3 + beside)


@pytest.mark.parametrize(("arch", "memory"), [("cuda", 1 << 22), ("cpu", 1 << 20)])
def test_a_total_that_does_not_fit_is_told(arch, memory):
    needs = needs_of(GRID, arch, memory)
    assert not needs.fits
    assert needs.bytes > memory


def test_directed_graphs_and_wide_boundaries_take_no_passes():
    edges = [(u, v) if (u * v) % 3 else (v, u) for u, v in generate("grid:14x14").edges().tolist()]
    directed = plan_of(Graph.from_edges(196, edges, directed=True), order=range(196))
    assert not needs_of(directed, "reference", 1 << 16, longest=196).fits
    wide = plan_of(generate("bipartite:70x70"), order=range(140))
    assert not needs_of(wide, "reference", 1 << 16, longest=140).fits


def test_passes_take_their_time():
    rates = BoundaryRates("a device", GIB, 2.0, 0.5, 7.0, 9.0)
    in_passes = Needs(1.0, passes=33, totals=100.0)
    assert rates.seconds(GRID, longest=196, needs=Needs(1.0)) == rates.seconds(GRID, longest=196)
    seconds = rates.seconds(GRID, longest=196, needs=in_passes)
    assert seconds == pytest.approx(2.0 + 0.5 * 33 * 196 + 7.0 * 100 * GRID.states)


def test_numbers_of_many_digits_take_their_time():
    """Grid 4x1200 met 25,000 digits for each state, grid 4x100 met 220; so most of the time goes into digits."""
    small, large = (plan_of(generate(spec), order=range(n)) for spec, n in (("grid:100x4", 400), ("grid:1200x4", 4800)))
    times = [states_of_lengths(plan, longest) / plan.states for plan, longest in ((small, 400), (large, 4800))]
    assert 1 < times[0] < 3
    assert 100 < times[1] < 400
    assert states_of_lengths(large, 1) == pytest.approx(large.states)


def test_the_memory_is_what_the_user_allows_or_what_is_there():
    rates = BoundaryRates("a device", None, 2.0, 0.5, 7.0, 9.0)
    assert rates.needs(GRID, "cpu", 300 << 20, 196).passes > rates.needs(GRID, "cpu", 8 * GIB, 196).passes == 1
    assert rates.needs(GRID, "cuda", None, 196).fits
    assert rates.needs(GRID, "cuda", 64 << 20, 196).passes > 1
    assert replace(rates, memory=64 << 20).needs(GRID, "cuda", None, 196).passes > 1
