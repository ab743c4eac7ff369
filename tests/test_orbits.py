"""Cycles up to symmetry, against all automorphisms one by one, and against the transition sequences of coils."""

import json
import random
from collections import Counter
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from oracles import networkx_cycles
from program import chordless
from python_process import run_python
from test_symmetry import CUBE_6, converted, symmetric_graphs

from kernels_ti import (
    Graph,
    OptionError,
    Options,
    Run,
    SizeError,
    TimeIsUpError,
    count_cycles,
    cycle_orbits,
    open_device,
    orbits,
)
from kernels_ti.symmetry import representatives, space


def automorphisms(graph: Graph, labels: list[int]) -> list[dict[int, int]]:
    """Return all automorphisms that keep the labels, by a search of networkx."""
    plain = nx.Graph(graph.pairs().tolist())
    plain.add_nodes_from(range(graph.n))
    nx.set_node_attributes(plain, dict(enumerate(labels)), "label")
    return list(nx.vf2pp_all_isomorphisms(plain, plain, node_label="label"))


Edges = tuple[tuple[int, int], ...]


def orbits_by_brute_force(
    graph: Graph, through: tuple[int, ...], avoid: tuple[int, ...], avoid_edges: Edges
) -> Counter[frozenset[int]]:
    """Return each orbit as the set of its cycles, and each of these as the set of its vertices."""
    avoided = {frozenset(edge) for edge in avoid_edges}
    labels = [1 if v in through else 2 if v in avoid else 0 for v in range(graph.n)]
    group = [
        image
        for image in automorphisms(graph, labels)
        if {frozenset(image[v] for v in edge) for edge in avoided} == avoided
    ]
    cycles = {frozenset(cycle) for cycle in networkx_cycles(graph)}
    left = {cycle for cycle in cycles if set(through) <= cycle and not cycle & set(avoid)}
    left = {cycle for cycle in left if not any(edge <= cycle for edge in avoided)}
    found = []
    while left:
        cycle = left.pop()
        orbit = frozenset(frozenset(image[v] for v in cycle) for image in group)
        left -= orbit
        found.append(orbit)
    assert len(group) == cycle_orbits(graph, through=through, avoid=avoid, avoid_edges=avoid_edges).automorphisms
    return Counter(found)


def check(graph: Graph, through: tuple[int, ...] = (), avoid: tuple[int, ...] = (), avoid_edges: Edges = ()) -> None:
    wanted = orbits_by_brute_force(graph, through, avoid, avoid_edges)
    found = cycle_orbits(graph, through=through, avoid=avoid, avoid_edges=avoid_edges)
    of_cycle = {cycle: orbit for orbit in wanted for cycle in orbit}
    assert Counter(of_cycle[frozenset(cycle)] for cycle in found.cycles) == wanted
    assert found.sizes == [len(of_cycle[frozenset(cycle)]) for cycle in found.cycles]


SMALL = [
    (name, graph)
    for name, graph in symmetric_graphs()
    if name.split()[0]
    in {"circulant", "torus", "cube", "prism", "petersen", "wheel", "grid", "strong", "paley", "cycle"}
    and converted(graph).n
]


@pytest.mark.parametrize(("name", "graph"), SMALL[::4], ids=[name for name, _ in SMALL[::4]])
@pytest.mark.slow_on("vulkan")
def test_a_search_up_to_symmetry_meets_a_cycle_of_each_orbit(name: str, graph: nx.Graph, arch: str) -> None:
    """It keeps cycles of the graph, as a whole and in two parts."""
    mine = converted(graph)
    wanted = orbits_by_brute_force(mine, (), (), ())
    for parts in (None,), ((1, 2), (2, 2)):
        met = {frozenset(cycle) for part in parts for cycle in cycles_met(mine, arch, part)}
        assert met <= set().union(*wanted)
        assert all(met & orbit for orbit in wanted)


def cycles_met(graph: Graph, arch: str, part: tuple[int, int] | None) -> list[tuple[int, ...]]:
    run = Run(graph, open_device(arch), Options(symmetry=True, collect=True, part=part))
    while not run.finished:
        run.advance()
    return list(map(tuple, run.take_cycles().named(range(graph.n))))


@pytest.mark.parametrize(("name", "graph"), SMALL, ids=[name for name, _ in SMALL])
def test_orbits_of_symmetric_graphs(name: str, graph: nx.Graph) -> None:
    check(converted(graph))


@pytest.mark.parametrize(("name", "graph"), SMALL[::3], ids=[name for name, _ in SMALL[::3]])
def test_orbits_without_some_edges(name: str, graph: nx.Graph) -> None:
    edges = converted(graph).pairs().tolist()
    check(converted(graph), avoid_edges=((*edges[0],), (*edges[-1],)))


@pytest.mark.parametrize("seed", range(10))
def test_orbits_of_random_graphs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With vertices to pass and to avoid; with few stabilizers; with an invariant that tells nothing apart."""
    drawn = random.Random(seed)
    for _ in range(10):
        n = drawn.randint(4, 9)
        graph = converted(
            nx.connected_watts_strogatz_graph(n, 4, drawn.choice((0.0, 0.2, 0.6)), seed=drawn.randrange(99))
        )
        monkeypatch.setattr(representatives, "MOST_STABILIZERS", drawn.choice((0, 3, 4000)))
        with monkeypatch.context() as patch:
            if drawn.random() < 0.5:
                patch.setattr(orbits._Invariants, "__call__", lambda self, cycles: np.zeros(len(cycles), np.uint64))
            vertices = drawn.sample(range(n), 3)
            passed = drawn.randint(0, 2)
            through, avoid = tuple(vertices[:passed]), tuple(vertices[passed : drawn.randint(passed, 3)])
            check(graph, through, avoid)
            edges = drawn.sample([(v, u) for u, v in graph.pairs().tolist()], drawn.randint(1, 3))
            # Once from either end.
            check(graph, through[:1], avoid, (*edges, edges[0][::-1]))


def transitions(cycle: list[int]) -> tuple[int, ...]:
    """Return the first of all transition sequences of a coil, coordinates numbered as they come.

    Two coils have the same one if, and only if, an automorphism of the cube maps one to the other.
    """
    steps = [u ^ v for u, v in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    return min(
        tuple(map(list(dict.fromkeys(turned)).index, turned))
        for way in (steps, steps[::-1])
        for turned in (way[start:] + way[:start] for start in range(len(way)))
    )


def cube(dimension: int) -> Graph:
    """Return a hypercube whose vertices are numbered by their coordinates."""
    n = 1 << dimension
    return Graph.from_edges(n, [(v, v | 1 << k) for v in range(n) for k in range(dimension) if not v >> k & 1])


@pytest.mark.slow
def test_coils_of_the_5_cube() -> None:
    """The classes of all its coils by their transition sequences, and how many coils each has."""
    wanted = Counter(transitions(cycle) for cycle in networkx_cycles(cube(5)))
    found = cycle_orbits(cube(5))
    sizes = dict(zip(map(transitions, found.cycles), found.sizes, strict=True))
    assert len(found.sizes) == len(wanted) == 23
    assert sizes == wanted


@pytest.mark.slow
def test_coils_of_the_6_cube() -> None:
    """No two are equivalent, and the orbits together are all coils."""
    found = cycle_orbits(cube(6))
    assert len({transitions(cycle) for cycle in found.cycles}) == len(found.sizes) == 3632
    assert found.by_length == CUBE_6
    assert found.orbits_by_length[26] == 4
    assert found.automorphisms == 46080


def test_bounds_and_parity() -> None:
    whole = cycle_orbits(cube(5))
    some = cycle_orbits(cube(5), min_length=8, max_length=12)
    assert some.orbits_by_length == {8: 3, 10: 10, 12: 5}
    assert some.by_length == {length: k for length, k in whole.by_length.items() if 8 <= length <= 12}
    assert cycle_orbits(cube(4), parity="odd").sizes == []
    assert cycle_orbits(nx.path_graph(4)).sizes == []
    assert cycle_orbits(nx.Graph()).sizes == []


def test_too_many_cycles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orbits, "MOST_CYCLES", 20)
    with pytest.raises(SizeError, match="more than 20 cycles are met"):
        cycle_orbits(cube(5))


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^0 and 1 are both in through, so the edge between them cannot be avoided$"):
        cycle_orbits(nx.cycle_graph(4), through=[0, 1], avoid_edges=[(1, 0)])
    with pytest.raises(OptionError, match="there is no edge 0 - 2"):
        cycle_orbits(nx.cycle_graph(4), avoid_edges=[(0, 2)])
    with pytest.raises(OptionError, match="simple undirected"):
        cycle_orbits(nx.DiGraph([(0, 1), (1, 2), (2, 0)]))


def test_isomorphic_blocks_are_searched_once() -> None:
    """The canonical form is the same whatever the numbers of the vertices."""
    one = nx.petersen_graph()
    order = list(range(10))
    random.Random(1).shuffle(order)
    other = nx.relabel_nodes(one, {v: 10 + order[v] for v in one})
    options = Options(symmetry=True)
    begun = [space.space_of(converted(graph), options).representatives for graph in (one, nx.union(one, other))]
    assert begun[0] == begun[1] > 0


@pytest.mark.slow
def test_the_commands(tmp_path) -> None:
    done = chordless("count", "hypercube:4", "--up-to-symmetry", "--json")
    result = json.loads(done.stdout)
    assert (result["orbits"], result["total"], result["orbits_by_length"]) == (5, 224, {"4": 1, "6": 1, "8": 3})
    printed = chordless("count", "hypercube:4", "--up-to-symmetry").stdout.splitlines()
    assert [line.split() for line in printed[1:6]] == [
        ["length", "orbits", "cycles"], ["4", "1", "24"], ["6", "1", "32"], ["8", "3", "168"], ["total", "5", "224"],
    ]  # fmt: skip
    lines = chordless("list", "hypercube:4", "--up-to-symmetry").stdout.splitlines()
    assert sum(int(line.split("\t")[0]) for line in lines) == 224
    done = chordless("count", "hypercube:4", "--up-to-symmetry", "--avoid-edge", "0000-0001", "--json")
    assert json.loads(done.stdout)["by_length"] == {"4": 21, "6": 26, "8": 126}
    target = tmp_path / "orbits.jsonl"
    chordless("list", "hypercube:4", "--up-to-symmetry", "-o", target)
    assert [json.loads(line)["orbit"] for line in target.read_text().splitlines()] == [24, 32, 48, 96, 24]


@pytest.mark.parametrize(
    ("command", "option"), [("count", ("--part", "1/2")), ("list", ("--sorted",)), ("list", ("-o", "x.npy"))]
)
def test_the_commands_refuse_in_one_line(command: str, option: tuple[str, ...]) -> None:
    done = chordless(command, "hypercube:3", "--up-to-symmetry", *option)
    assert done.returncode == 2
    assert option[0] in done.stderr.splitlines()[0]


def test_the_search_tells_what_it_does_and_obeys_a_time_out():
    told = []
    found = cycle_orbits(nx.hypercube_graph(5), progress=told.append)
    assert list(dict.fromkeys(one.stage for one in told)) == ["reading", "searching"]
    assert told[-1].share == 1.0
    assert told[-1].cycles >= len(found.sizes)
    with pytest.raises(TimeIsUpError, match=r"the 0.01 s allowed were up before all orbits were found"):
        cycle_orbits(nx.hypercube_graph(6), timeout=0.01)
    done = chordless("count", "hypercube:6", "--up-to-symmetry", "--timeout", "0.01")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "chordless: error: the 0.01 s allowed were up before all orbits were found\n"


def test_a_step_of_large_paths_takes_few_of_them_so_that_the_time_is_looked_at(monkeypatch):
    monkeypatch.setattr(orbits, "WORDS_AT_ONCE", 5)
    frames = mock.Mock(side_effect=orbits.frames_of)
    monkeypatch.setattr(orbits, "frames_of", frames)
    graph = nx.grid_2d_graph(8, 9)  # two words
    assert sum(cycle_orbits(graph, max_length=8).sizes) == count_cycles(graph, max_length=8).total
    assert {len(call.args[1]) for call in frames.call_args_list} <= {1, 2}


def test_an_interrupt_leaves_igraph_whole() -> None:
    code = """
import os, signal, sys, time
from chordless import cycle_orbits, generate

class Interrupting:
    through = None

    def find_spec(self, name, path=None, target=None):
        if name == "igraph.drawing" and self.through is None:
            self.through = False
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            self.through = True

loading = Interrupting()
sys.meta_path.insert(0, loading)
try:
    cycle_orbits(generate("petersen"))
except KeyboardInterrupt:
    print(cycle_orbits(generate("petersen")).by_length, loading.through)
"""
    done = run_python(code)
    assert done.stdout.splitlines() == ["{5: 12, 6: 10} True"], done.stderr
