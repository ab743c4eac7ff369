"""Tiny graphs are searched in the process that was asked, with the results that an engine has."""

from __future__ import annotations

import json
import random
import time

import networkx as nx
import pytest
from chordless.cli import main
from chordless.engine.at_once import LARGEST_FILE, searched_at_once
from chordless.protocol.orders import RunCommand
from directed_graphs import KINDS, by_reference, random_graph
from oracles import by_length
from test_layers import loaded_by

from kernels_ti import Graph, Options, collect_cycles, count_cycles
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.reference.algorithm import MOST_VERTICES
from kernels_ti.reference.at_once import found_at_once


def command(graph, **options):
    return RunCommand(graph, time.monotonic(), **options)


@pytest.mark.parametrize("words", [["count", "petersen"], ["list", "petersen"], ["first", "petersen", "--length", "6"]])
def test_a_tiny_graph_needs_no_taichi_and_no_other_process(words):
    code = (
        "import subprocess; from chordless.cli import main; subprocess.Popen = None; "
        f"assert main({words!r}) == 0; import sys; "
        "print([name for name in ('taichi', 'networkx') if name in sys.modules])"
    )
    _, printed = loaded_by(code)
    assert printed.splitlines()[-1] == "[]"


TIMES = ("seconds", "peak_memory_bytes")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("count", "petersen", "--json"),
        ("count", "grid:4x4", "--min-length", "6", "--max-length", "10", "--json"),
        ("count", "heawood", "--through", "5,6", "--json"),
        ("count", "karate", "--avoid", "2", "--avoid-edge", "0-1", "--json"),
        ("count", "petersen", "--per-vertex", "--per-edge", "--json"),
        ("count", "petersen", "--limit", "1", "--json"),
        ("count", "path:5", "--json"),
        ("list", "petersen", "-o", "-"),
        ("list", "grid:4x4", "--through-edge", "0,0-0,1"),
    ],
)
def test_it_prints_what_an_engine_prints(capfd, words):
    outcomes = []
    for more in ((), ("--arch", "reference")):
        exit_code = main([*words, *more])
        printed = capfd.readouterr()
        outcomes.append((exit_code, printed))
    (here, ours), (there, theirs) = outcomes
    assert here == there
    assert here in (0, 4)
    if "--json" not in words:
        assert ours == theirs
        return
    first, second = json.loads(ours.out), json.loads(theirs.out)
    assert list(first) == list(second)
    assert set(first["seconds"]) == set(second["seconds"])
    for name in TIMES:
        del first[name], second[name]
    assert first == second


def test_events_are_recorded_as_those_of_an_engine(tmp_path, capfd):
    for name, more in (("here", ()), ("there", ("--arch", "reference"))):
        assert main(["count", "petersen", "--quiet", "--events", str(tmp_path / name), *more]) == 0
    ours, theirs = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()] for name in ("here", "there")
    )
    assert [event["event"] for event in ours] == ["started", "finished"]
    assert list(map(set, ours)) == [set(event) for event in theirs if event["event"] != "progress"]


@pytest.mark.parametrize(
    "options",
    [
        {"arch": "cpu"},
        {"arch": "reference"},
        {"threads": 1},
        {"memory": 1 << 30},
        {"part": (1, 2)},
        {"checkpoint": "folder"},
        {"method": "boundary"},
        {"expansion": "paper"},
    ],
)
def test_what_only_an_engine_can_do_is_left_to_it(options):
    assert searched_at_once(command("petersen", **options)) is None


def test_larger_graphs_are_left_to_an_engine(tmp_path):
    file = tmp_path / "cycle.txt"
    file.write_text("1 2\n2 3\n3 1\n")
    assert searched_at_once(command(str(file))) is not None
    file.write_text(f"# n={MOST_VERTICES + 1} m=1\n1 2\n")
    assert searched_at_once(command(str(file))) is None
    file.write_text("1 2\n2 3\n3 1\n" + "#" * LARGEST_FILE)
    for graph in (str(file), "-", "grid:7x10", "gnp:60,0.1,1"):
        assert searched_at_once(command(graph)) is None


def test_a_bad_graph_is_one_line(capfd):
    assert main(["count", "cycle:2"]) == 2
    assert capfd.readouterr().err.startswith("chordless: error: cycle:2: ")


def search_space(graph, **options):
    graph = Graph.from_networkx(graph)
    return SearchSpace(graph, Options(**{"min_length": 3 if graph.is_simple else 1, **options}))


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_in_python_finds_what_the_reference_finds(kind):
    for seed in range(40):
        drawn = random_graph(kind, seed, 3 + seed % 12, 0.05 + seed % 6 * 0.08)
        space = search_space(drawn)
        cycles = by_reference(space.graph)
        found = found_at_once(space, collect=True)
        assert sorted(map(tuple, found.cycles)) == cycles
        assert found.counts.by_length == found_at_once(space, collect=False).counts.by_length == by_length(cycles)
        u, v, w = random.Random(seed).sample(range(len(drawn)), 3)
        for options, wanted in (
            ({"min_length": 4, "max_length": 5}, lambda cycle: 4 <= len(cycle) <= 5),
            ({"max_length": 3}, lambda cycle: len(cycle) <= 3),
            ({"through": (u, v), "avoid": (w,)}, lambda cycle, u=u, v=v, w=w: {u, v} <= {*cycle} and w not in cycle),
        ):
            expected = [cycle for cycle in cycles if wanted(cycle)]
            restricted = search_space(drawn, **options)
            assert sorted(map(tuple, found_at_once(restricted, collect=True).cycles)) == expected
            assert found_at_once(restricted, collect=False).counts.by_length == by_length(expected)


@pytest.mark.parametrize(
    ("graph", "edges", "counts"),
    [
        (nx.Graph([(0, 1), (1, 2), (0, 2), (0, 3)]), [(0, 3)], {3: 1}),
        (nx.petersen_graph(), [(0, 1), (2, 3)], {5: 5, 6: 3}),
    ],
)
def test_a_tiny_graph_without_some_edges_is_counted_in_all_its_cases(graph, edges, counts):
    assert count_cycles(graph, avoid_edges=edges).by_length == counts
    assert by_length(collect_cycles(graph, avoid_edges=edges)) == counts


def test_a_search_that_takes_longer_is_given_up():
    assert found_at_once(search_space(nx.gnp_random_graph(40, 0.15, seed=3)), collect=False) is None
    assert found_at_once(search_space(nx.complete_bipartite_graph(12, 12)), collect=False) is None
    assert found_at_once(search_space(nx.cycle_graph(300)), collect=False) is None
    assert found_at_once(search_space(nx.disjoint_union_all([nx.cycle_graph(3)] * 90)), collect=False) is None


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_large_graph_only_the_blocks_count(kind):
    for seed in range(10):
        drawn = random_graph(kind, seed, 6 + seed, 0.1 + seed % 3 * 0.1)
        large = nx.disjoint_union(type(drawn)(nx.path_graph(150)), drawn)
        nx.add_path(large, [149, 150, *range(1000, 1200)])
        space = search_space(large)
        found = found_at_once(space, collect=True)
        cycles = by_reference(space.graph)
        assert sorted(map(tuple, found.cycles)) == cycles
        assert found.counts.by_length == by_length(cycles)
        if cycles:
            wanted = cycles[-1][0]
            through = found_at_once(search_space(large, through=(wanted,)), collect=True)
            assert sorted(map(tuple, through.cycles)) == [cycle for cycle in cycles if wanted in cycle]
    bridge = found_at_once(search_space(large, through=(0,), min_length=3), collect=True)
    assert (bridge.cycles, bridge.counts.by_length) == ([], {})


def test_a_tiny_graph_is_searched_from_python_without_taichi():
    code = (
        "import sys, networkx as nx; from chordless import collect_cycles, count_cycles, enumerate_cycles; "
        "graph = nx.petersen_graph(); "
        "print(count_cycles(graph).by_length, len(list(enumerate_cycles(graph))), len(collect_cycles(graph)), "
        "len(list(nx.chordless_cycles(graph, backend='chordless'))), 'taichi' in sys.modules)"
    )
    _, printed = loaded_by(code)
    assert printed.splitlines()[-1] == "{5: 12, 6: 10} 22 22 22 False"


def test_vertices_without_an_edge_cost_next_to_nothing():
    graph = Graph.from_edges(300_000, [(0, 1), (1, 2), (2, 0)])
    space = SearchSpace(graph, Options())
    started = time.process_time()
    assert found_at_once(space, collect=False).counts.by_length == {3: 1}
    assert time.process_time() - started < 3  # a step for each vertex, with a bit row of all, takes ten seconds


def test_a_graph_with_a_probability_in_its_name_is_as_large_as_it_says():
    for spec in ("gnp:200,0.1,1", "gnp:200,0.1,0"):
        assert searched_at_once(RunCommand(spec, 0.0, pick="sample", method="auto")) is None
