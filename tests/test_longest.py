"""The longest, shortest, heaviest and lightest chordless cycle, against all cycles of the reference search."""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import networkx
import numpy
import pytest
from chordless import generate
from chordless.cli import main
from chordless.commands.terminal import ProgressDisplay
from chordless.engine.boundary import NOTHING_YET
from chordless.graphs.load import read_weight_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from searches import searches

import kernels_ti.longest
from kernels_ti import (
    Graph,
    GraphError,
    OptionError,
    Options,
    Run,
    SizeError,
    TimeIsUpError,
    as_graph,
    count_cycles,
    enumerate_cycles,
    longest_cycle,
    longest_path,
    open_device,
    sample_cycles,
)
from kernels_ti.apart import _with_stand_ins
from kernels_ti.best_by_search import longest_by_search
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count, longest
from kernels_ti.boundary.longest import GivenUpWithBestError, best_cycle, longest_in
from kernels_ti.boundary.spec.block import require_memory
from kernels_ti.boundary.values.numbers import Addends, Numbers, sums_of
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back import device_ways, history
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks
from kernels_ti.boundary.way_back.device_ways import DeviceOptimum
from kernels_ti.cycles import Cycles
from kernels_ti.longest import longest_possible
from kernels_ti.reference.at_once import long_cycle
from kernels_ti.watch import Watch


def check_best(graph, best, wanted, value, *, least):
    """Check a best cycle against all cycles within the bounds."""
    if not wanted:
        assert (best.cycle, best.length, best.ways, best.weight) == ([], 0, 0, None)
        return
    values = [value(cycle) for cycle in wanted]
    extreme = min(values) if least else max(values)
    assert value(best.cycle) == extreme
    assert best.ways == values.count(extreme)
    assert set(best.cycle) in [set(cycle) for cycle in wanted]
    check_chordless(graph, best.cycle)


def check_chordless(graph, cycle):
    for u, v in itertools.combinations(range(len(cycle)), 2):
        beside = (v - u) in (1, len(cycle) - 1)
        assert (cycle[v] in graph.neighbours(cycle[u])) == beside


@given(searches(), st.booleans(), st.sampled_from(["auto", "boundary"]))
def test_the_length_is_that_of_the_longest_or_shortest(search, least, method):
    graph, bounds, wanted = search
    best = longest_cycle(graph, shortest=least, method=method, **bounds)
    assert best.method == ("search" if least and method == "auto" else "boundary")
    check_best(graph, best, wanted, len, least=least)


@given(searches(), st.booleans(), st.sampled_from([-50, 0, 1]), st.data())
def test_the_weight_of_vertices_is_the_largest_or_least(search, least, smallest, data):
    graph, bounds, wanted = search
    numbers = st.integers(smallest, 50).map(lambda number: number / 10)
    weights = {v: data.draw(numbers) for v in range(graph.n)}
    best = longest_cycle(graph, shortest=least, weight=weights, **bounds)

    def value(cycle):
        return sum(round(10 * weights[v]) for v in cycle)

    check_best(graph, best, wanted, value, least=least)
    assert best.weight == (Fraction(value(best.cycle), 10) if best.cycle else None)


@given(searches(), st.booleans(), st.sampled_from([-5, 0, 1]), st.sampled_from(["auto", "search"]), st.data())
def test_the_weight_of_edges_is_the_largest_or_least(search, least, smallest, method, data):
    graph, bounds, wanted = search
    weights = {(v, u): data.draw(st.integers(smallest, 5)) for u, v in graph.edges().tolist()}

    def value(cycle):
        pairs = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        return sum(weights[max(pair), min(pair)] for pair in pairs)

    if not weights:
        return
    best = longest_cycle(graph, shortest=least, weight=weights, method=method, **bounds)
    check_best(graph, best, wanted, value, least=least)
    assert best.weight == (value(best.cycle) if best.cycle else None)


@pytest.fixture
def _every_block_in_kernels(monkeypatch):
    """Blocks of any size go through the kernels, from one kept layer to the next in a few steps."""
    monkeypatch.setattr(count, "_FEWEST_STATES", 0)
    monkeypatch.setattr(device_ways, "_FEWEST_STEPS_BETWEEN", 3)


@pytest.mark.slow
@pytest.mark.usefixtures("_every_block_in_kernels")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(searches(), st.booleans(), st.sampled_from(["length", "vertices", "edges"]), st.data())
def test_kernels_find_the_best_cycle(search, least, kind, data):
    graph, bounds, wanted = search
    pairs = [tuple(edge) for edge in graph.edges().tolist()]
    keys = {"length": [], "vertices": list(range(graph.n)), "edges": pairs}[kind]
    weights = {key: data.draw(st.integers(-5, 5)) for key in keys}

    def value(cycle):
        if kind == "length":
            return len(cycle)
        beside = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        return (
            sum(weights[v] for v in cycle)
            if kind == "vertices"
            else sum(weights[min(pair), max(pair)] for pair in beside)
        )

    best = longest_cycle(graph, shortest=least, weight=weights or None, arch="cpu", method="boundary", **bounds)
    check_best(graph, best, wanted, value, least=least)


@pytest.mark.slow
@pytest.mark.usefixtures("_every_block_in_kernels")
@pytest.mark.parametrize("spec", ["grid:7x8", "king:6x6", "gnp:30,0.2,1", "gnp:26,0.4,2", "hypercube:4"])
@pytest.mark.parametrize("bounds", [{}, {"shortest": True}, {"max_length": 9}])
def test_kernels_find_the_cycle_of_python(spec, bounds):
    graph = generate(spec)
    found = longest_cycle(graph, arch="cpu", method="boundary", **bounds)
    expected = longest_cycle(graph, arch="reference", method="boundary", **bounds)
    assert (found.length, found.ways, found.states) == (expected.length, expected.ways, expected.states)
    check_chordless(graph, [graph.names.index(name) for name in found.cycle])


@pytest.mark.usefixtures("_every_block_in_kernels")
@pytest.mark.parametrize("memory", [None, 9 << 18])
@pytest.mark.parametrize("alike", [64, 0])
def test_layers_leave_the_device_where_the_tables_need_the_room(memory, alike, monkeypatch):
    """`alike` states with one key are found on the device; with none, the whole layer is looked through on the host."""
    monkeypatch.setattr(device_ways, "_MOST_ALIKE", alike)
    made = []

    class Noted(DeviceOptimum):
        def __init__(self, *arguments, **options):
            made.append(self)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(longest, "DeviceOptimum", Noted)
    planned = planned_blocks(SearchSpace(generate("grid:9x9")))
    best = best_cycle(planned, Gains(), Means(device=open_device("cpu"), device_memory=memory))
    assert (best.value, best.ways, len(best.cycle)) == (50, 6840, 50)
    assert any(layer.on_host for layer in made[0].layers) == (memory is not None)


@pytest.mark.slow
@pytest.mark.usefixtures("_every_block_in_kernels")
def test_fewer_layers_are_kept_where_they_leave_too_little_room(monkeypatch):
    """On a CPU tables and layers share one memory: no room is gained by moving a layer from the device to the host."""
    begun = []

    class Noted(DeviceOptimum):
        def _set_out(self, means, budget, between=1):
            begun.append(between)
            super()._set_out(means, budget, between)

    monkeypatch.setattr(longest, "DeviceOptimum", Noted)
    planned = planned_blocks(SearchSpace(generate("grid:9x9")))
    for allowed, times in ((1 << 22, 1), (1 << 21, 2), (13 << 17, 3), (3 << 19, 4)):
        begun.clear()
        best = best_cycle(planned, Gains(), Means(1 << 26, device=open_device("cpu"), device_memory=allowed))
        assert (best.value, best.ways, len(best.cycle)) == (50, 6840, 50)
        assert begun == [3, 12, 48, 192][:times]


@pytest.mark.usefixtures("_every_block_in_kernels")
def test_states_that_do_not_fit_on_the_device_are_told():
    planned = planned_blocks(SearchSpace(generate("grid:9x9")))
    with pytest.raises(
        SizeError, match=r"may need [\d.]+ [KM]iB, .* largest boundary about [\d.]+ [KM]iB: memory allows more, method="
    ):
        best_cycle(planned, Gains(), Means(device=open_device("cpu"), device_memory=1 << 19))


@pytest.mark.slow
def test_a_step_of_wide_states_takes_no_more_memory_than_is_reckoned(monkeypatch):
    reckoned, taken = [], []

    class Traced(history.History):
        def _come(self):
            states, held = self.states, self.reached.nbytes
            tracemalloc.start()
            super()._come()
            if states > 1000:
                taken.append((held + tracemalloc.get_traced_memory()[1]) / states)
            tracemalloc.stop()

    monkeypatch.setattr(history, "require_memory", lambda *_, of_a_state, **__: reckoned.append(of_a_state))
    graph = as_graph(networkx.gnp_random_graph(200, 0.03, seed=1))
    (block,) = planned_blocks(SearchSpace(graph, Options(min_length=9))).blocks
    Traced(block, Means(1 << 30), steps=range(24))
    assert len(taken) > 5
    assert max(taken) < min(reckoned)


def test_states_that_fit_nowhere_are_told_with_the_way_out():
    (block,) = planned_blocks(SearchSpace(generate("grid:9x9"))).blocks
    with pytest.raises(
        SizeError,
        match=r'the 1 bytes allowed, and .* boundary more than any machine has: method="search" needs',
    ):
        require_memory(2, 1, 1, block, 1, of_a_state=2.0**60)


# Grids: OEIS A357357; king graphs: A357501.
@pytest.mark.parametrize(
    ("spec", "lengths"),
    [
        ("grid:{0}x{0}", {2: 4, 3: 8, 4: 12, 5: 16, 6: 20, 7: 32, 8: 40, 9: 50, 10: 62}),
        ("king:{0}x{0}", {2: 3, 3: 4, 4: 8, 5: 12, 6: 16, 7: 24}),
    ],
)
def test_published_lengths(spec, lengths):
    for size, length in lengths.items():
        assert longest_cycle(generate(spec.format(size))).length == length


def test_the_least_memory_finds_the_same_cycle():
    """Layers that do not fit are made again on the way back."""
    space = SearchSpace(generate("grid:8x20"))
    planned = planned_blocks(space)
    roomy = best_cycle(planned, Gains())
    tight = best_cycle(planned, Gains(), Means(3 << 19))
    assert (tight.cycle, tight.value, tight.ways) == (roomy.cycle, roomy.value, roomy.ways)
    with pytest.raises(
        SizeError, match=r"more than the [\d.]+ KiB allowed, and the largest boundary about [\d.]+ [KM]iB"
    ):
        best_cycle(planned, Gains(), Means(1 << 16))


def test_many_ways_are_counted_exactly():
    """A ring of diamonds has two ways through each: 2 ** 200 longest cycles."""
    beads = 200
    edges = [
        pair
        for bead in range(beads)
        for side in (1, 2)
        for pair in ((3 * bead, 3 * bead + side), (3 * bead + side, 3 * (bead + 1) % (3 * beads)))
    ]
    best = longest_cycle(Graph.from_edges(3 * beads, edges))
    assert (best.length, best.ways) == (2 * beads, 2**beads)


def test_sums_of_many_numbers_carry():
    largest = (1 << 200) - 1
    numbers, first = Numbers.ones(1), numpy.zeros(1, numpy.int64)
    for _ in range(200):
        numbers = sums_of([Addends(numbers, first, first)] * 2, 1).carried()
    assert [numbers.at(0)] == numbers.totals(numpy.arange(1)) == [largest + 1]
    assert int(numbers.modulo(1_000_000_007)[0]) == (largest + 1) % 1_000_000_007
    many = Numbers(numpy.full((1, 100_000), (1 << 48) - 1, numpy.uint64))
    total = sums_of([Addends(many, numpy.arange(100_000), numpy.zeros(100_000, numpy.int64))], 1).carried()
    assert [total.at(0)] == many.totals(numpy.arange(100_000)) == [100_000 * ((1 << 48) - 1)]


@pytest.mark.parametrize("shape", [(1, 5), (3, 7), (2, 40_000), (1, 3, 4), (4, 20_000, 3), (5, 1, 2)])
@pytest.mark.parametrize("largest", [(1 << 48) - 1, (1 << 63) - 1])
def test_totals_of_digits_of_any_size_are_exact(shape, largest):
    digits = numpy.full(shape, largest, numpy.uint64)
    digits[0, ::2] = 0
    numbers, which = Numbers(digits, largest), numpy.arange(shape[1])
    by_length = numbers.by_length.astype(object).sum(axis=1)
    assert numbers.totals(which) == [
        sum(int(digit) << 48 * place for place, digit in enumerate(column)) for column in by_length.T
    ]
    assert numbers.totals(which[:0]) == [0] * len(by_length.T)


def test_small_integers_of_numpy_are_exact_beside_decimals():
    weights = {0: numpy.int16(300), 1: 0.001, 2: numpy.uint8(200), 3: numpy.int64(1)}
    assert longest_cycle(networkx.cycle_graph(4), weight=weights).weight == Fraction(501_001, 1000)


def test_attributes_of_networkx_are_weights():
    graph = networkx.grid_2d_graph(3, 3)
    networkx.set_edge_attributes(graph, 1, "metres")
    graph.edges[(0, 0), (0, 1)]["metres"] = 0.1
    lightest = longest_cycle(graph, shortest=True, weight="metres")
    assert (lightest.weight, lightest.ways, (0, 0) in lightest.cycle) == (Fraction(31, 10), 1, True)
    with pytest.raises(OptionError, match="no edge and no node of the graph has an attribute 'miles'"):
        longest_cycle(graph, weight="miles")
    of_rustworkx = pytest.importorskip("rustworkx").generators.cycle_graph(3)
    for other in (generate("petersen"), of_rustworkx):
        with pytest.raises(OptionError, match="names an attribute of a networkx graph"):
            longest_cycle(other, weight="miles")


@pytest.mark.parametrize("method", ["search", "boundary"])
def test_a_vertex_may_have_the_name_of_an_edge(method):
    total = networkx.Graph([(0, 1), (1, 2), (2, 0), (0, (0, 1)), ((0, 1), 1)])
    networkx.set_edge_attributes(total, 2, "cost")
    total[0][1]["cost"] = 7
    assert longest_cycle(total, weight="cost", method=method).weight == 11
    assert longest_path(total, 2, (0, 1), weight="cost", method=method).weight == 4
    by_vertex = {0: 1, 1: 1, 2: 1, (0, 1): 5}
    assert longest_cycle(total, weight=by_vertex, method=method).cycle == [0, 1, (0, 1)]
    sent, names = _with_stand_ins({"graph": total, "weight": "cost"})
    assert longest_cycle(**sent, method=method).weight == 11
    assert names == tuple(total)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({0: 1, 1: 1}, "the vertex 2 has no weight"),
        ({(0, 1): 1, (1, 2): 1}, "the edge 0 - 2 has no weight"),
        ({0: 1, 1: 1, 2: "heavy"}, "the weight 'heavy' is not a finite number"),
        ({0: 1, 1: 1, 2: float("inf")}, "is not a finite number"),
        ({(0, 1): 1, (1, 0): 2, (1, 2): 1}, "the edge 1 - 0 has two weights"),
        ({0: 1 << 62, 1: 1, 2: 1}, "must stay below 2"),
        ({0: 1, 1: 1, 7: 1}, "there is no vertex 7"),
    ],
)
def test_wrong_weights_are_told(weights, message):
    with pytest.raises(OptionError, match=message):
        longest_cycle(generate("complete:3"), weight=weights)


def test_the_lightest_cycle_takes_weights_of_many_digits_as_osmnx_writes_them(tmp_path, capsys):
    roads, kept = tmp_path / "roads.txt", tmp_path / "kept"
    roads.write_text("a b 84.69183821928318\nb c 9.123456789012345\nc d 1234567.25\nd a 0.000001234567890123\n")
    arguments = ["longest", str(roads), "--weight", str(roads)]
    assert main([*arguments, "--shortest", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["weight"], found["method"]) == ("1234661.065296242863415123", "search")
    folder = ("--checkpoint", str(kept))
    for refused in ((), ("--shortest", "--method", "boundary"), ("-k", "2"), folder, ("--shortest", *folder)):
        assert main([*arguments, *refused]) == 2
        assert capsys.readouterr().err.endswith("must stay below 2^62; round them to fewer decimals\n")
    assert not kept.exists()


def test_the_command_prints_an_object_or_lines(tmp_path, capsys):
    def printed(*arguments):
        assert main(["longest", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    roads = tmp_path / "roads.txt"
    roads.write_text("u v km\na b 1.5\nb c 1\nc d 1\nd a 1\nb e 1\ne f 1\nf c 0.25\n")
    found = json.loads(printed(roads, "--weight", roads, "--json", "-q"))
    assert (found.pop("seconds") > 0, found.pop("graph")) == (True, str(roads))
    assert found == {
        "length": 4, "cycle": ["a", "b", "c", "d"], "weight": 4.5, "ways": 1, "method": "boundary", "complete": True,
        "boundary": {"width": 3, "states": found["boundary"]["states"]},
    }  # fmt: skip
    lines = printed("grid:3x3")
    assert "longest   8 vertices\n" in lines
    assert "cycles    1 of this length\n" in lines
    assert "no chordless cycle" in printed("path:4")
    assert main(["longest", str(roads), "--weight", str(roads), "-k", "2", "--method", "boundary"]) == 2
    assert "-k above 1 with weights needs a search: leave --method boundary" in capsys.readouterr().err
    roads.write_text("a a\na b\n")
    loop = (roads, "--multigraph", "--min-length", "1", "--through-edge", "a-a")
    assert "longest   1 vertex\n" in printed(*loop)
    assert "no chordless cycles of 1 vertex\n" in printed(*loop[:2], "--length", "1", "--avoid-edge", "a-a")
    nothing = json.loads(printed("grid:3x3", "--length", "5", "--json"))
    assert (nothing["length"], nothing["cycle"], nothing["weight"], nothing["ways"]) == (0, [], None, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 nan\n1 1\n", "w.txt:1: a line of weights is `v weight` with a number at its end, found '0 nan'"),
        ("0 1\n1 x\n", "w.txt:2: a line of weights is `v weight` with a number at its end, found '1 x'"),
        ("a" * 100_000, "w.txt:1: a line of weights is `u v weight` with a number at its end, found 'aaaaaa"),
        ("0 1\n" + "a" * 100_000 + " 1\n", "w.txt:2: there is no vertex 'aaaaaa"),
        ("0 1 2\n1 0 3\n", "w.txt:2: a second, different weight for 1 - 0"),
        ("0 1 2\n0 5 3\n", "w.txt:2: there is no vertex '5' in the graph"),
        ("0 2 2\n", "w.txt:1: there is no edge 0 - 2 in the graph"),
        ("# nothing\n", "w.txt: no weights: a line is"),
        ("0 1\n", "the vertex 1 has no weight"),
    ],
)
def test_wrong_files_of_weights_are_told(tmp_path, text, message):
    weights = tmp_path / "w.txt"
    weights.write_text(text)
    with pytest.raises((GraphError, OptionError)) as error:
        read_weight_file(str(weights), generate("cycle:4"))
    assert message in str(error.value)
    assert len(str(error.value)) < 200 + len(str(weights))


def test_an_edge_list_without_weights_is_no_file_of_weights(tmp_path, capsys):
    roads = tmp_path / "roads.txt"
    roads.write_text("1 2\n2 3\n3 4\n4 1\n")
    assert main(["longest", str(roads), "--weight", str(roads)]) == 2
    assert "roads.txt:1: this edge list has no weights: right is `u v weight`" in capsys.readouterr().err
    of_vertices = tmp_path / "places.txt"
    of_vertices.write_text(roads.read_text())
    assert main(["longest", str(roads), "--weight", str(of_vertices)]) == 0


@given(searches())
def test_no_cycle_has_more_vertices_than_are_possible(search):
    graph, bounds, wanted = search
    options = Options(**{name: tuple(map(tuple, v)) if name == "avoid_edges" else v for name, v in bounds.items()})
    assert max(map(len, wanted), default=0) <= longest_possible(SearchSpace(graph, options))


def test_a_search_that_is_stopped_before_it_meets_a_longest_cycle_is_not_complete(monkeypatch) -> None:
    """All cycles are counted by then, so that the greatest length is known."""
    monkeypatch.setattr(kernels_ti.best_by_search, "_some_cycle", lambda *_: [0, 1, 6, 5])
    asked = []
    monkeypatch.setattr(Run, "take_cycles", lambda run: asked.append(run) or Cycles.of_lists([]))
    monkeypatch.setattr(Watch, "too_late", lambda watch: bool(asked))
    with pytest.raises(TimeIsUpError, match="the best one so far has 4 vertices") as error:
        longest_by_search(SearchSpace(generate("grid:5x5")), "cpu", Watch(), None)
    assert (error.value.best.length, error.value.best.complete) == (4, False)


def test_the_bound_of_a_cube_counts_the_edges_that_leave_a_cycle():
    assert longest_possible(SearchSpace(generate("hypercube:6"))) == 38  # 4 l <= 6 (64 - l)


def test_the_command_gives_the_best_so_far_when_the_time_is_up(capsys, monkeypatch):
    monkeypatch.setattr(Watch, "look", lambda watch: watch.share > 0.8)
    real = kernels_ti.longest.longest_in

    def with_shares(*arguments, watch, **options):
        watch = Watch(watch.timeout)
        return real(*arguments, **{**options, "watch": watch, "report": watch.report})

    monkeypatch.setattr(kernels_ti.longest, "longest_in", with_shares)
    arguments = ["longest", "grid:5x6", "--timeout", "50", "-q"]
    assert main([*arguments, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["complete"], len(found["cycle"])) == (False, found["length"])
    assert 4 <= found["length"] <= 18 <= found["no_longer_than"] <= 30
    assert main(arguments) == 4
    lines = capsys.readouterr().out
    assert f"longest   {found['length']} vertices so far" in lines
    assert f"none has more than {found['no_longer_than']} vertices" in lines


def test_the_command_finds_the_shortest_cycle_of_a_wide_graph_by_shortest_paths(capsys):
    assert main(["longest", "torus:60x61", "--shortest", "--length", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["length"], found["ways"], found["method"]) == (4, 3660, "search")


@pytest.mark.parametrize("spec", ["hypercube:4", "bipartite:5x5", "complete:3"])
def test_the_reference_finds_the_longest_cycle_of_a_symmetric_graph(spec):
    graph = generate(spec)
    found = longest_cycle(graph, method="search", arch="reference")
    expected = longest_cycle(graph, method="boundary")
    assert (len(found.cycle), found.ways) == (len(expected.cycle), expected.ways)


@pytest.mark.parametrize("spec", ["hypercube:4", "gnp:26,0.4,2", "path:4"])
def test_a_search_finds_and_counts_the_longest_cycles(spec):
    graph = generate(spec)
    found = longest_cycle(graph, method="search")
    expected = longest_cycle(graph, method="boundary")
    assert (found.length, found.ways, found.method) == (expected.length, expected.ways, "search")
    check_chordless(graph, [graph.names.index(name) for name in found.cycle])


@pytest.mark.slow
def test_a_graph_with_wide_boundaries_is_searched_for_its_longest_cycle(monkeypatch):
    graph = generate("gnp:70,0.4,1")
    found = longest_cycle(graph)
    counts = count_cycles(graph).by_length
    assert (found.method, found.length, found.ways) == ("search", max(counts), counts[max(counts)])
    check_chordless(graph, [graph.names.index(name) for name in found.cycle])


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"shortest": True}, {"shortest": True, "weight": True}])
def test_with_a_timeout_a_search_goes_on_where_the_boundary_method_does_not_fit(monkeypatch, options):
    def does_not_fit(*_, **__):
        raise SizeError("no room")

    for way in ("longest_in", "few_along_boundary"):
        monkeypatch.setattr(kernels_ti.longest, way, does_not_fit)
    monkeypatch.setattr(kernels_ti.longest, "_SECONDS_OF_SEARCH", 0.0)
    graph = generate("gnp:26,0.3,2")
    options = options | ({"weight": dict.fromkeys(graph.names, 1)} if "weight" in options else {})
    expected = longest_cycle(graph, method="search", **options)
    found = longest_cycle(graph, timeout=300, **options)
    assert (found.length, found.ways, found.complete, found.method) == (expected.length, expected.ways, True, "search")
    for refused in ({}, {"timeout": 300, "method": "boundary"}):
        with pytest.raises(SizeError, match="no room"):
            longest_cycle(graph, **options, **refused)


def test_the_method_search_refuses_an_order():
    with pytest.raises(OptionError):
        longest_cycle(generate("cycle:5"), method="search", order=range(5))


def test_where_the_kernels_cannot_run(capsys):
    assert main(["longest", "grid:3x3", "--arch", "vulkan"]) == 2
    assert "64-bit atomics, which Taichi does not have on Vulkan" in capsys.readouterr().err


@pytest.mark.slow
def test_the_time_can_be_up(capsys):
    assert main(["sample", "grid:14x14", "--timeout", "0.05"]) == 4
    assert "the 0.05 s allowed were up before the" in capsys.readouterr().err
    assert main(["longest", "grid:14x14", "--timeout", "0.05"]) == 4
    assert re.search(r"longest +\d+ vertices so far\n", capsys.readouterr().out)


@pytest.mark.parametrize("command", ["longest", "sample"])
def test_an_order_is_taken_and_written(command, tmp_path, capsys):
    graph = generate("grid:3x5")
    taken, written = tmp_path / "taken", tmp_path / "written"
    names = sorted(graph.names, key=lambda name: name[::-1])
    taken.write_text("\n".join(names))
    assert main([command, "grid:3x5", "--order", str(taken), "--write-order", str(written)]) == 0
    assert written.read_text().split() == names
    found = capsys.readouterr().out
    assert main([command, "grid:3x5", "--write-order", str(written)]) == 0
    assert sorted(written.read_text().split()) == sorted(names)
    assert main([command, "grid:3x5", "--order", str(written)]) == 0
    assert main([command, "grid:3x5", "--order", str(tmp_path / "none")]) == 2
    if command == "longest":
        assert f"boundary  {longest_cycle(graph, order=names).width} vertices" in found
    with pytest.raises(OptionError, match="order names each of the 15 vertices once, but it has 14 of them"):
        (longest_cycle if command == "longest" else sample_cycles)(graph, order=names[1:])


def test_weights_of_the_graphs_own_file_are_not_called_unused(tmp_path, capsys):
    roads, others = tmp_path / "roads.txt", tmp_path / "others.txt"
    for path in (roads, others):
        path.write_text("a b 1\nb c 2\nc a 4\n")
    assert main(["longest", str(roads), "--weight", str(others)]) == 0
    assert "weights, is not used" in capsys.readouterr().err
    assert main(["longest", str(roads), "--weight", str(roads)]) == 0
    assert capsys.readouterr().err == ""


def test_weights_in_an_edge_list_with_labels_are_those_of_its_ids(tmp_path, capsys):
    path = tmp_path / "g.txt"
    # Each label is the id of another vertex.
    path.write_text("# n=4 m=4\n# label 1 2\n# label 2 1\n# label 3 c\n# label 4 d\n1 2 5\n1 3 1\n2 3 1\n3 4 9\n")
    assert main(["longest", str(path), "--weight", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (sorted(found["cycle"]), found["weight"]) == (["1", "2", "c"], 7)


def test_the_search_for_an_order_is_reported():
    graph = Graph.from_edges(70, [(11 * u % 70, 11 * v % 70) for u, v in generate("grid:7x10").edges().tolist()])
    reports = []
    longest_in(SearchSpace(graph), report=lambda *told: reports.append(told))
    assert reports[0] == (0.0, 0, 8), "the best order so far has a boundary of 8 vertices"
    assert reports[-1][0] == pytest.approx(1.0)
    lines = io.StringIO()
    line = ProgressDisplay("plain", lines, live=False, pick="longest")
    for share, states, width in ((0.0, 0, 0), (0.0, 0, 21), (0.5, 30, 7), (1 - 1e-12, 1, 1)):
        line.show(replace(NOTHING_YET, share=share, states=states, width=width, seeking_order=not states))
        line.draw()
    said = [line.partition("  ")[2] for line in lines.getvalue().splitlines()]
    assert said == [
        "seeking a vertex order with a small boundary",
        "seeking a vertex order: boundary of 21 vertices so far",
        "50%  30 states  boundary of 7 vertices",
        "going back along the boundary",
    ]


@pytest.mark.parametrize("k", [3, 500])
def test_the_share_of_a_search_for_several_longest_cycles_never_goes_back(monkeypatch, k):
    monkeypatch.setattr("kernels_ti.watch.SECONDS_BETWEEN_REPORTS", 0.0)
    told = []
    longest_cycle(generate("grid:6x7"), k=k, method="boundary", progress=told.append)
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert len(set(shares)) > 10


def test_the_best_cycles_of_a_block_that_is_given_up_count_with_those_of_other_blocks() -> None:
    """Two equal blocks: the search is given up at each of its questions in turn."""
    edges = generate("grid:4x4").edges().tolist()
    two = Graph.from_edges(32, [*edges, *([u + 16, v + 16] for u, v in edges)])
    (alone, planned) = (planned_blocks(SearchSpace(graph)) for graph in (generate("grid:4x4"), two))
    expected, found = best_cycle(alone, Gains()), []
    for questions in range(32, 80):
        left = iter(range(questions))
        try:
            best_cycle(planned, Gains(), Means(enough=lambda left=left: next(left, None) is None))
        except GivenUpWithBestError as given_up:
            found.append(given_up.best)
    assert {one.value for one in found} == {expected.value}
    assert min(one.ways for one in found) == expected.ways < max(one.ways for one in found) < 2 * expected.ways


@pytest.mark.slow
@pytest.mark.parametrize("shortest", [False, True])
def test_an_error_for_a_time_that_is_up_has_the_best_cycle_so_far(monkeypatch, shortest) -> None:
    """The search is given up at each of its vertices in turn."""
    graph = networkx.disjoint_union(
        networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(5, 6)), networkx.cycle_graph(7)
    )
    lengths = set(map(len, enumerate_cycles(graph)))
    best = longest_cycle(graph, shortest=shortest, method="boundary")
    monkeypatch.setattr(kernels_ti.longest, "_long_cycle", lambda *_: None)  # it finds the longest of so small a graph
    found = []
    for vertices in range(40):
        left = iter(range(vertices))
        monkeypatch.setattr(Watch, "look", lambda watch, left=left: watch.share > 0 and next(left, None) is None)
        try:
            answer = longest_cycle(graph, shortest=shortest, method="boundary", timeout=1000)
        except TimeIsUpError as error:
            found.append((error.best, str(error)))
        else:
            assert answer.cycle == best.cycle
            break
    assert len(found) > 10
    for one, said in found:
        expected = f"were up before all cycles were compared; the best one so far has {one.length} vertices"
        assert said.partition(", and none has more than ")[0].endswith(expected)
        assert one.length in lengths
        assert len(graph.subgraph(one.cycle).edges) == one.length
        assert one.length >= best.length if shortest else one.length <= best.length
    # Before one was met, it is any cycle.
    assert all(one.length == 4 for one, _ in found if one.method == "search")
    sizes = [one.length for one, _ in found if one.method == "boundary"]
    assert sizes == sorted(sizes, reverse=shortest)
    assert len(set(sizes)) > 1


@given(searches())
def test_the_cycle_that_a_search_meets_soon_is_wanted(search) -> None:
    graph, bounds, wanted = search
    bounds |= {name: tuple(bounds[name]) for name in ("through", "avoid")}
    space = SearchSpace(graph, Options(**bounds | {"avoid_edges": tuple(map(tuple, bounds["avoid_edges"]))}))
    cycle, ways = long_cycle(space, lambda: False)
    longest = max(map(len, wanted), default=0)
    assert len(cycle) == longest
    assert ways == sum(len(each) == longest for each in wanted)
    assert not cycle or set(cycle) in [set(each) for each in wanted]


def test_a_longest_cycle_that_takes_too_long_is_a_long_one() -> None:
    graph = generate("king:12x12")
    with pytest.raises(TimeIsUpError) as late:
        longest_cycle(graph, method="boundary", timeout=0.01)
    check_chordless(graph, [graph.names.index(v) for v in late.value.best.cycle])
    assert late.value.best.length > 20


class Impatient(Watch):
    """The time is up as soon as the first search has met a cycle."""

    met = False

    @property
    def seconds(self):
        return math.inf if self.met else 0.0

    def too_late(self):
        return self.met

    def tell(self, phase, share=0.0, cycles=0, **more):
        self.met = self.met or cycles > 0


def test_where_a_search_has_met_a_cycle_the_error_has_one() -> None:
    graph = generate("grid:10x10")
    with pytest.raises(TimeIsUpError, match=r"the best one so far has \d+ vertices$") as late:
        longest_by_search(SearchSpace(graph), "cpu", Impatient(1.0), None)
    best = late.value.best
    assert best.length >= 4
    assert best.ways >= 1
    assert not best.complete
    assert networkx.is_isomorphic(
        networkx.grid_2d_graph(10, 10).subgraph([tuple(map(int, name.split(","))) for name in best.cycle]),
        networkx.cycle_graph(best.length),
    )


def test_the_second_search_takes_longer_and_longer_cycles_where_the_first_was_stopped(monkeypatch) -> None:
    """The first one is stopped once it has met a cycle, the second one after a few slices."""
    met = [[[0, 1, 11, 10]], [[0, 1, 2, 12, 22, 21, 20, 10]], [[2, 3, 13, 12]], []]
    asked: list[int] = []

    def take(run):
        asked.append(run.least_length)
        return Cycles.of_lists(met.pop(0))

    class Halved(Impatient):
        def too_late(self):
            return not met

    monkeypatch.setattr(Run, "take_cycles", take)
    monkeypatch.setattr(kernels_ti.best_by_search, "_reached_by_many", lambda _: 4)
    with pytest.raises(TimeIsUpError, match="the best one so far has 8 vertices") as late:
        longest_by_search(SearchSpace(generate("grid:10x10")), "cpu", Halved(1.0), None)
    assert (len(late.value.best.cycle), late.value.best.complete) == (8, False)
    assert json.dumps(late.value.best.ways) == "1"  # The first search met no cycle of 8 vertices.
    assert asked[1:] == [5, 9, 9]


@pytest.mark.parametrize(
    ("by_length", "least"), [({5: 1}, 5), ({4: 900, 6: 99, 8: 1}, 8), ({4: 5000, 6: 9, 8: 1}, 6), ({4: 10**7, 6: 1}, 4)]
)
def test_the_second_search_begins_with_a_length_that_many_cycles_have(by_length, least) -> None:
    assert kernels_ti.best_by_search._reached_by_many(by_length) == least


def test_the_way_back_after_a_time_out_makes_no_layer_again(monkeypatch) -> None:
    made = []
    real = history.layer_of
    monkeypatch.setattr(
        history, "layer_of", lambda block, place, words: made.append(place) or real(block, place, words)
    )
    monkeypatch.setattr(kernels_ti.longest, "_long_cycle", lambda *_: None)
    monkeypatch.setattr(Watch, "look", lambda watch: watch.share > 0.8)
    with pytest.raises(TimeIsUpError):
        longest_cycle(generate("grid:6x7"), method="boundary", arch="reference", timeout=1000)
    assert made == sorted(set(made))


@pytest.mark.parametrize(
    ("by_length", "commonest"), [({3: 1000, 4: 5, 9: 30, 10: 2}, 9), ({3: 7}, 3), ({2: 1, 3: 7}, 3)]
)
def test_a_stopped_search_tells_a_triangle_only_if_it_met_nothing_longer(by_length, commonest):
    """All triangles are counted before the search, so they say nothing of what it meets soon."""
    assert kernels_ti.best_by_search._commonest(by_length) == commonest
