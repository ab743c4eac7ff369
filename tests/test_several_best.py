"""The k longest, shortest, heaviest and lightest cycles and paths, against all of them sorted."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import networkx
import pytest
from brute_force import chordless_cycles, edge_weight
from chordless import generate
from chordless.cli import main
from json_schemas import is_promised

import kernels_ti.longest
from kernels_ti import (
    Graph,
    OptionError,
    SizeError,
    TimeIsUpError,
    enumerate_cycles,
    enumerate_paths,
    longest_cycle,
    longest_path,
)
from kernels_ti.boundary import count
from kernels_ti.cheapest import cheapest_cycle
from kernels_ti.device.memory import resident_bytes


def check(found, cycles, value, k, *, least):
    """Check k best cycles against all that are wanted; several may be as good as the last one."""
    wanted = {frozenset(cycle): value(cycle) for cycle in cycles}
    best = sorted(wanted.values(), reverse=not least)
    assert [wanted[frozenset(cycle)] for cycle in found.cycles] == best[:k]
    assert len({frozenset(cycle) for cycle in found.cycles}) == len(found.cycles)
    assert found.ways == (best.count(best[0]) if best else 0)
    assert found.cycle == (found.cycles or [[]])[0]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", ["length", "vertices", "edges"])
@pytest.mark.parametrize("least", [False, True])
def test_the_best_are_those_of_all(seed, kind, least):
    numbers = random.Random(seed)
    n, directed, k = numbers.randint(4, 10), numbers.random() < 0.3, numbers.randint(2, 12)
    pairs = [(u, v) for u in range(n) for v in range(n) if u < v or (directed and u != v)]
    edges = [pair for pair in pairs if numbers.random() < 0.4]
    graph = Graph.from_edges(n, edges, directed=directed)
    smallest = numbers.choice([-2, 0])
    weights = {key: numbers.randint(smallest, 6) for key in (range(n) if kind == "vertices" else edges)}

    def value(cycle):
        if kind == "edges":
            return edge_weight(cycle, weights, directed=directed)
        return sum(weights[v] for v in cycle) if kind == "vertices" else len(cycle)

    cycles = [cycle for cycle in chordless_cycles(n, edges, directed=directed) if len(cycle) > 2]
    if kind == "length":
        for method in ("auto", "boundary", "search"):
            found = longest_cycle(graph, k=k, shortest=least, min_length=3, method=method)
            check(found, cycles, value, k, least=least)
    elif weights:
        found = longest_cycle(graph, k=k, shortest=least, min_length=3, weight=weights)
        assert found.seconds > 0
        check(found, cycles, value, k, least=least)
        assert found.weights == [value(cycle) for cycle in found.cycles]


@pytest.mark.slow
@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("options", [{"method": "search", "arch": "cpu"}, {"method": "boundary", "arch": "cpu"}])
@pytest.mark.parametrize("bounds", [{}, {"parity": "odd"}, {"through": [3], "max_length": 9}])
def test_more_than_all_cycles_of_a_length(least, options, bounds, monkeypatch):
    monkeypatch.setattr(count, "_FEWEST_STATES", 0)
    graph = generate("gnp:26,0.25,3")
    cycles = list(enumerate_cycles(graph, **bounds))
    for k in (40, len(cycles) + 5):
        found = longest_cycle(graph, k=k, shortest=least, min_length=3, **options, **bounds)
        check(found, cycles, len, k, least=least)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("least", [False, True])
def test_the_best_paths(seed, least):
    graph = networkx.gnp_random_graph(11, 0.35, seed=seed)
    metres = {edge: random.Random(seed).randint(1, 9) for edge in graph.edges}
    paths = {tuple(path) for path in enumerate_paths(graph, 0, 10)}

    def weight(path):
        return sum(metres[min(edge), max(edge)] for edge in pairwise(path))

    for value, given in ((len, None), (weight, metres)):
        found = longest_path(graph, 0, 10, k=4, shortest=least, weight=given)
        best = sorted(map(value, paths), reverse=not least)[:4]
        assert [value(path) for path in found.paths] == best
        assert len({tuple(path) for path in found.paths} & paths) == len(best)
        assert found.weights == ([] if given is None else best)


def test_the_best_so_far_where_the_time_is_up(monkeypatch):
    def stopped(space, cost, enough, k):
        found = cheapest_cycle(space, cost, lambda: False, k)
        found.complete = False
        return found

    monkeypatch.setattr(kernels_ti.longest, "cheapest_cycle", stopped)
    with pytest.raises(TimeIsUpError) as caught:
        longest_cycle(generate("grid:4x4"), k=3, shortest=True, method="search", timeout=1e-9)
    assert [len(cycle) for cycle in caught.value.best.cycles] == [4, 4, 4]
    assert not caught.value.best.complete


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is a whole number from 1 on, not 0"),
        (
            {"k": 2, "weight": dict.fromkeys(range(4), 1), "method": "boundary"},
            'leave method="boundary" and an order out',
        ),
        ({"k": 2, "weight": dict.fromkeys(range(4), 1), "order": range(4)}, 'leave method="boundary" and an order out'),
    ],
)
def test_what_cannot_be_done_is_told(options, message):
    with pytest.raises(OptionError, match=message):
        longest_cycle(networkx.cycle_graph(4), **options)


def printed(capsys, *arguments):
    exit_code = main(list(map(str, arguments)))
    return exit_code, *capsys.readouterr()


def test_by_command(capsys, tmp_path):
    _, text, _ = printed(capsys, "longest", "karate", "-k", 4, "--json")
    assert is_promised("longest", json.loads(text))
    assert [each["length"] for each in json.loads(text)["cycles"]] == [6, 6, 5, 5]
    (tmp_path / "weights").write_text("".join(f"{v} {v + 0.5}\n" for v in range(34)))
    _, text, _ = printed(capsys, "longest", "karate", "-k", 3, "--shortest", "--weight", tmp_path / "weights")
    cycles = [cycle for cycle in enumerate_cycles(networkx.karate_club_graph()) if len(cycle) > 3]
    lightest = sorted(sum(cycle) + len(cycle) / 2 for cycle in cycles)[:3]
    assert [float(line.split()[0]) for line in text.splitlines()[-3:]] == lightest
    _, text, _ = printed(capsys, "paths", "petersen", 0, 2, "--longest", "-k", 3, "--json")
    assert is_promised("paths", json.loads(text))
    assert [len(path) for path in json.loads(text)["paths"]] == [5, 5, 4]
    exit_code, _, told = printed(capsys, "longest", "karate", "-k", 2, "--checkpoint", tmp_path / "run")
    assert (exit_code, "leave --checkpoint out" in told) == (2, True)
    exit_code, _, told = printed(capsys, "paths", "karate", 0, 1, "-k", 2)
    assert (exit_code, "--limit N bounds a list" in told) == (2, True)


@pytest.mark.parametrize("options", [{}, {"weight": True}])
def test_many_of_the_best_of_a_search(options, monkeypatch):
    """Better cycles put the worse ones out, as often as they come."""
    monkeypatch.setattr("kernels_ti.best_by_search._MOST_BESIDE", 1)
    graph = generate("grid:6x6")
    everything = [frozenset(cycle) for cycle in enumerate_cycles(graph)]
    weight = {name: i % 7 for i, name in enumerate(graph.names)} if options else None

    def value(cycle):
        return len(cycle) if weight is None else sum(weight[v] for v in cycle)

    how = {} if weight is None else {"weight": weight}
    found = longest_cycle(graph, k=500, method="auto" if options else "search", **how)
    check(found, everything, value, 500, least=False)


def test_more_than_all_cycles_are_all_of_them():
    petersen = networkx.petersen_graph()
    found = longest_cycle(petersen, k=10**30, method="boundary")
    assert list(map(len, found.cycles)) == [6] * 10 + [5] * 12
    with pytest.raises(
        SizeError, match=r"1,000,000,000 cycles may need [\d.]* TiB, .* allowed; ask for [\d,]* at most"
    ):
        longest_cycle(generate("grid:10x10"), k=10**9, method="boundary", memory=1 << 30)


@pytest.mark.parametrize("options", [{}, {"weight": True}])
def test_lists_of_the_best_of_a_search_keep_to_the_memory(options):
    graph = generate("grid:7x8")
    weight = {"weight": dict.fromkeys(graph.names, 1)} if options else {}
    longest_cycle(graph, k=2, method="search", **weight)  # What the kernels hold counts from now on.
    with pytest.raises(SizeError, match=r"cycles may need [\d.]* MiB, .* allowed; ask for [\d,]* at most"):
        longest_cycle(graph, k=10**6, method="search", memory=resident_bytes() + (64 << 20), **weight)
