"""Cycles drawn at random: each is a wanted chordless cycle, and all have the same probability."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tracemalloc
from collections import Counter

import numpy
import pytest
from chordless import generate, sample_cycles
from chordless.cli import main
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from program import ENVIRONMENT, chordless, command
from searches import searches

from kernels_ti import (
    Graph,
    OptionError,
    Options,
    SizeError,
    TimeIsUpError,
    count_cycles,
    enumerate_cycles,
    open_device,
    participation,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.sample import Draws
from kernels_ti.boundary.values.numbers import Numbers
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks
from kernels_ti.boundary.way_back.device_ways import DeviceWays
from kernels_ti.choices import METHODS
from kernels_ti.device.memory import resident_bytes
from kernels_ti.found.order import CycleWalker
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.sample_by_search import _Smallest, shares_by_search
from kernels_ti.state import populations
from kernels_ti.watch import Watch


@pytest.mark.slow
@settings(max_examples=60)
@given(searches(), st.integers(0, 5), st.sampled_from(METHODS))
def test_every_sample_is_a_wanted_cycle(search, seed, method):
    graph, bounds, wanted = search
    table = sample_cycles(graph, 20, seed=seed, method=method, **bounds)
    assert len(table) == (20 if wanted else 0)
    # In the same form as those that are enumerated: from the smallest vertex to its smaller neighbour.
    assert {tuple(cycle) for cycle in table} <= {tuple(cycle) for cycle in wanted}


def lists(cycles):
    return [part.tolist() for part in numpy.split(cycles.vertices, cycles.offsets[1:-1])]


def two_blocks_and_rings():
    """A grid, a complete graph, and two rings that are blocks of their own, on one chain of cut vertices."""
    edges = generate("grid:3x4").edges().tolist()
    edges += [(u + 11, v + 11) for u, v in generate("complete:5").edges().tolist()]
    edges += [(15, 16), (16, 17), (17, 15), (17, 18), (18, 19), (19, 20), (20, 17)]
    return Graph.from_edges(21, edges)


@pytest.mark.parametrize("method", ["boundary", "search"])
@pytest.mark.parametrize(
    ("graph", "cycles"),
    [
        (generate("complete:5"), 10),
        (two_blocks_and_rings(), None),
        (generate("petersen"), 22),
        (generate("grid:5x5"), 229),
        (generate("grid:5x6"), None),
    ],
    ids=["complete", "blocks", "petersen", "grid", "larger grid"],
)
def test_all_cycles_have_the_same_probability(graph, cycles, method):
    everything = [tuple(cycle) for cycle in chordless_cycles(graph)]
    assert cycles in (None, len(everything))
    assert 10 <= len(everything) <= 2000
    times = 20
    counts = Counter(map(tuple, sample_cycles(graph, times * len(everything), seed=1, method=method).lists()))
    index = dict(enumerate(graph.names))
    drawn_of = [counts[tuple(index[v] for v in cycle)] for cycle in everything]
    assert sum(drawn_of) == times * len(everything)
    chi_square = sum((count - times) ** 2 / times for count in drawn_of)
    freedom = len(everything) - 1
    # Four standard deviations.
    assert abs(chi_square - freedom) < 4 * math.sqrt(2 * freedom)


def test_a_seed_and_the_memory_do_not_change_what_is_drawn():
    space = SearchSpace(generate("grid:8x12"))
    planned = planned_blocks(space)
    graph = space.graph
    roomy, total = drawn(graph, planned, 50, 3)
    again, total_again = drawn(graph, planned, 50, 3, Means(1 << 21))
    assert (lists(again), total_again) == (lists(roomy), total)
    assert lists(drawn(graph, planned, 50, 4)[0]) != lists(roomy)
    assert total == count_cycles(generate("grid:8x12"), method="boundary").total


def test_lengths_are_those_of_all_cycles():
    graph = generate("grid:6x6")
    table = sample_cycles(graph, 4000, seed=2)
    lengths = Counter(map(len, chordless_cycles(graph)))
    everything = sum(lengths.values())
    for length, count in lengths.items():
        expected = 4000 * count / everything
        assert abs(numpy.count_nonzero(table.lengths == length) - expected) < 5 * math.sqrt(expected) + 5


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
@pytest.mark.parametrize("host_memory", [None, 256], ids=["kept", "made again"])
@pytest.mark.parametrize(
    ("spec", "step", "bounds"),
    [
        ("grid:4x6", 1, {}),
        ("grid:4x6", 1, {"min_length": 12, "max_length": 14}),
        ("king:4x5", 1, {"through": (3,)}),
        ("king:4x5", 1, {"parity": "odd"}),
        # An order with a boundary of 17 vertices: states of two words.
        ("grid:4x8", 7, {"max_length": 12}),
    ],
    ids=["grid", "bounds", "through", "parity", "wide"],
)
@pytest.mark.slow_on(256)
def test_each_number_is_a_cycle_of_its_own_in_kernels(arch, spec, step, bounds, host_memory):
    graph = generate(spec)
    space = SearchSpace(graph, Options(**bounds))
    planned = planned_blocks(space, plan_of(space, order=[step * v % graph.n for v in range(graph.n)]))
    assert planned.plan.width > (14 if step > 1 else 3)
    found = [frozenset(ring) for ring in planned.rings]
    for block in planned.blocks:
        ways = DeviceWays(block, Means(host_memory, device=open_device(arch)))
        assert (ways.nbytes < DeviceWays(block, Means(device=open_device(arch))).nbytes) == (host_memory is not None)
        rows = ways.members(Numbers.of(range(ways.total)), block.vertices, graph.n)
        found += [frozenset(cycle) for cycle in lists(CycleWalker(graph).order(rows))]
    cycles = {frozenset(cycle) for cycle in chordless_cycles(graph)}
    lengths, through = space.options.lengths, set(bounds.get("through", ()))
    wanted = {cycle for cycle in cycles if len(cycle) in lengths and through <= cycle}
    assert len(found) == len(wanted) > 10
    assert set(found) == wanted


def test_a_sample_in_kernels_depends_on_the_seed_alone(monkeypatch):
    monkeypatch.setattr("kernels_ti.boundary.count._FEWEST_STATES", 1)
    graph = generate("grid:5x6")
    every = {tuple(cycle) for cycle in chordless_cycles(graph)}
    index = {name: v for v, name in enumerate(graph.names)}
    first, again, other = (
        [tuple(index[name] for name in cycle) for cycle in sample_cycles(graph, 40, seed=seed, arch="cpu").lists()]
        for seed in (1, 1, 2)
    )
    assert first == again != other
    assert set(first) <= every


def test_a_sample_by_a_search_depends_on_the_seed_alone(monkeypatch):
    """Not on the order in which the search meets the cycles, nor on how many it hands over at once."""
    graph = generate("grid:6x6")
    first = sample_cycles(graph, 300, seed=1, method="search", arch="reference").lists()
    assert sample_cycles(graph, 300, seed=1, method="search", arch="cpu").lists() == first
    assert sample_cycles(graph, 300, seed=2, method="search", arch="cpu").lists() != first
    monkeypatch.setattr("kernels_ti.sample_by_search._TAKEN_AT_ONCE", 64)
    assert sample_cycles(graph, 300, seed=1, method="search", arch="cpu").lists() == first
    # The first draws of a larger sample are others: it has other repeats.
    assert 250 < len(set(map(tuple, first))) < 300


def test_a_search_that_hands_over_very_many_cycles_at_once_takes_little_memory_for_the_draws():
    rows = numpy.random.default_rng(1).integers(1 << 63, size=(1 << 22, 1), dtype=numpy.uint64)
    smallest = _Smallest(100, 1, seed=1, memory=1 << 30)
    tracemalloc.start()
    try:
        smallest.take_rows(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < rows.nbytes // 2


@pytest.mark.slow
def test_a_sample_by_a_search_of_a_graph_too_large_for_tables_of_rows():
    graph = generate("grid:2x300")
    squares = set(map(tuple, enumerate_cycles(graph)))
    counts = Counter(map(tuple, sample_cycles(graph, 2000, seed=4, method="search").lists()))
    assert len(squares) == 299
    assert counts.keys() <= squares
    assert len(counts) > 290
    assert max(counts.values()) < 25


@pytest.mark.slow
def test_a_search_is_taken_where_the_boundary_is_expected_to_take_longer(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the boundary was taken")

    monkeypatch.setattr("kernels_ti.sample.draws_of", refused)
    monkeypatch.setattr("kernels_ti.method.SHORT_SEARCH", 0.0)
    graph = generate("hypercube:5")
    assert len(sample_cycles(graph, 10)) == 10
    with pytest.raises(AssertionError, match="the boundary was taken"):
        sample_cycles(graph, 10, order=graph.names)
    # Nobody lives to see the end of this search.
    with pytest.raises(AssertionError, match="the boundary was taken"):
        sample_cycles(generate("grid:30x30"), 10)


def test_a_time_out_before_all_cycles_are_found_is_told():
    with pytest.raises(TimeIsUpError, match="the cycles were drawn"):
        sample_cycles(generate("hypercube:6"), 10, method="search", timeout=0.05)


def test_the_command_draws_by_a_search(tmp_path, capfd):
    assert main(["sample", "hypercube:4", "-k", "5", "--method", "search", "--seed", "3"]) == 0
    lines, notes = capfd.readouterr()
    assert notes == ""
    graph = generate("hypercube:4")
    every = {" ".join(graph.names[v] for v in cycle) for cycle in chordless_cycles(graph)}
    assert len(lines.splitlines()) == 5
    assert set(lines.splitlines()) <= every
    path = tmp_path / "cycles.npy"
    assert main(["sample", "hypercube:4", "-k", "5", "--method", "search", "--seed", "3", "-o", str(path)]) == 0
    assert capfd.readouterr() == ("", f"5 cycles, drawn from {len(every)}\n")
    assert populations(numpy.load(path)).tolist() == [len(line.split()) for line in lines.splitlines()]
    assert main(["sample", "hypercube:4", "--method", "search", "--checkpoint", str(tmp_path / "run")]) == 2
    assert "--checkpoint is for the method boundary" in capfd.readouterr().err


@pytest.mark.parametrize("method", ["search", "boundary"])
def test_of_a_graph_without_vertices_nothing_is_drawn(method):
    assert len(sample_cycles(Graph.from_edges(0, []), 3, method=method)) == 0


def test_a_number_that_is_none_is_refused():
    with pytest.raises(OptionError, match="must be a whole number from 0 on, not -1"):
        sample_cycles(generate("petersen"), -1)
    assert len(sample_cycles(generate("petersen"), 0)) == 0


def test_the_command_writes_the_lines_of_list(tmp_path, capfd):
    def ran(*arguments):
        exit_code = main(["sample", *map(str, arguments)])
        return exit_code, *capfd.readouterr()

    exit_code, lines, _ = ran("grid:3x4", "-k", "5", "--length", "8", "--seed", "2")
    graph = generate("grid:3x4")
    wanted = {" ".join(graph.names[v] for v in cycle) for cycle in chordless_cycles(graph) if len(cycle) == 8}
    assert (exit_code, len(lines.splitlines())) == (0, 5)
    assert set(lines.splitlines()) <= wanted
    assert ran("petersen", "-k", "3", "-o", tmp_path / "cycles.jsonl") == (0, "", "3 cycles, drawn from 22\n")
    drawn = (tmp_path / "cycles.jsonl").read_text().splitlines()
    assert [len(json.loads(line)) in (5, 6) for line in drawn] == [True] * 3
    assert ran("petersen", "-k", "3", "-o", tmp_path / "cycles.npy", "-q") == (0, "", "")
    assert numpy.load(tmp_path / "cycles.npy").shape == (3, 1)
    assert ran("path:4") == (0, "", "no chordless cycle to draw\n")
    assert ran("petersen", "--length", "7") == (0, "", "no chordless cycles of 7 vertices to draw\n")
    exit_code, lines, notes = ran("petersen", "-k", "3", "--json")
    assert (exit_code, notes) == (0, "")
    assert lines == (tmp_path / "cycles.jsonl").read_text(), "the lines of list"
    assert ran("petersen", "-k", "3", "--json", "-q", "-o", tmp_path / "again.jsonl") == (0, "", "")
    assert (tmp_path / "again.jsonl").read_text() == lines
    assert ran("petersen", "--json", "-q", "--checkpoint", tmp_path / "run")[1] == lines.splitlines(keepends=True)[0]
    for option, value, message in (
        ("--json", "-ocycles.txt", "JSON lines are written to a file named .jsonl"),
        ("-o", "cycles.csv", "cycles are written as .txt, .jsonl or .npy"),
        ("--seed", "-1", "'-1' is not a whole number from 0 on"),
        ("-k", "0", "0 is not above 0"),
    ):
        exit_code, printed, error = ran("petersen", option, value)
        assert (exit_code, printed) == (2, "")
        assert message in error


@pytest.mark.slow
def test_more_cycles_than_fit_are_drawn_in_rounds(tmp_path):
    """The memory bounds a round, and a seed draws the same cycles in one round or in several."""
    path = tmp_path / "cycles.npy"
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    line = command("sample", "grid:5x6", "-k", 1_000_000, "--memory", "256M", "--seed", 5, "-q", "-o", path)
    peak = subprocess.run([sys.executable, "-c", code, *line], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    assert int(peak.stdout) < 256 << 10
    rows = numpy.load(path)
    assert rows.shape == (1_000_000, 1)
    few = chordless("sample", "grid:5x6", "-k", 1000, "--seed", 5, "-o", tmp_path / "few.npy")
    assert few.stderr.startswith("1,000 cycles, drawn from ")
    assert (numpy.load(tmp_path / "few.npy") == rows[:1000]).all()


def test_rounds_of_a_few_cycles_draw_what_one_round_draws(monkeypatch):
    """Also where a number takes more digits than the ways to the states of the first layers."""
    graph = generate("grid:5x64")
    planned = planned_blocks(SearchSpace(graph))
    whole, total = drawn(graph, planned, 24, 3)
    assert total > 1 << 96
    monkeypatch.setattr("kernels_ti.boundary.sample._FEWEST_AT_ONCE", 10)
    monkeypatch.setattr("kernels_ti.boundary.sample._PART_FOR_ROUND", 1 << 10)
    rounds = list(Draws(graph, planned, 24, 3, Means(1 << 21)).rounds())
    assert len(rounds) > 1
    assert (numpy.concatenate(rounds) == whole.rows(graph.n)).all()


def test_draws_that_fit_come_in_one_round_whatever_digits_their_numbers_take():
    graph = generate("grid:5x64")
    draws = Draws(graph, planned_blocks(SearchSpace(graph)), 2_000, 3, Means(1 << 28))
    assert draws.total > 1 << 96
    assert [len(rows) for rows in draws.rounds()] == [2_000]


def test_what_cannot_be_drawn_is_refused():
    done = chordless("sample", "grid:5x6", "-k", "9" * 20, "--memory", "256M")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"-k {'9' * 20}: 1,000,000,000,000 cycles are the most that are drawn in one run\n" in done.stderr
    with pytest.raises(SizeError, match=r"5,000,000 draws may need .*; draw [\d,]* at most"):
        sample_cycles(generate("grid:5x6"), 5_000_000, memory=(1 << 28) + resident_bytes())


def test_many_draws_of_few_cycles_by_a_search_come_in_rounds(monkeypatch):
    petersen = generate("petersen")
    every = {tuple(petersen.names[v] for v in cycle) for cycle in chordless_cycles(petersen)}
    whole = sample_cycles(petersen, 3_000_000, seed=5, method="search")
    counts = numpy.unique(whole.rows(), return_counts=True)[1]
    assert len(counts) == len(every) == 22
    assert abs(counts - 3_000_000 / 22).max() < 5 * math.sqrt(3_000_000 / 22)
    monkeypatch.setattr("kernels_ti.sample_by_search._BYTES_AT_ONCE", 8 * 1000)
    monkeypatch.setattr("kernels_ti.boundary.values.numbers._DRAWN_AT_ONCE", 77)
    assert (sample_cycles(petersen, 20_000, seed=5, method="search").rows() == whole.rows()[:20_000]).all()


@pytest.mark.slow
def test_different_draws_that_do_not_fit_are_refused(tmp_path):
    done = chordless(
        "sample", "hypercube:6", "-k", 10**9, "--method", "search", "--memory", "256M", "-o", tmp_path / "x.npy"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "of so many draws more than" in done.stderr


@pytest.mark.parametrize("spec", ["petersen", "grid:5x5", "hypercube:4"])
def test_shares_by_a_search_are_those_along_a_boundary(spec):
    graph = generate(spec)
    options = Options(max_length=10, avoid=(1,))
    searched = shares_by_search(SearchSpace(graph, options), arch="cpu", watch=Watch())
    along = participation(graph, max_length=10, avoid=[graph.names[1]])
    assert (searched.total, searched.vertices, searched.edges) == (along.total, along.vertices, along.edges)
    assert (searched.edge_list == along.edge_list).all()
    assert searched.names == along.names
    with pytest.raises(TimeIsUpError, match="the shares were counted"):
        shares_by_search(SearchSpace(generate("hypercube:6")), arch="cpu", watch=Watch(0.05))
