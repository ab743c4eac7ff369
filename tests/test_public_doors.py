"""Every public function with its defaults, every option and pairs of options, on small graphs of every kind.

What each function says is compared with a brute force that shares no code with it. ``pytest --graphs 20000`` tries more
graphs, and the same numbers make the same graphs.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import brute_force
import networkx as nx
import numpy as np
import pytest
from patience import PATIENCE

from kernels_ti import (
    Graph,
    GraphError,
    OptionError,
    Options,
    Progress,
    Run,
    collect_cycles,
    count_cycles,
    count_participation,
    count_paths,
    cycle_orbits,
    enumerate_cycles,
    enumerate_paths,
    estimate_cycles,
    estimate_paths,
    is_chordal,
    longest_cycle,
    longest_path,
    open_device,
    participation,
    sample_cycles,
    sample_paths,
    shortest_path,
)

GRAPHS_OF_A_TEST = 100
QUICK_GRAPHS, ALL_GRAPHS = 200, 2000
MOST_OF_A_GROUP = 7
"""Vertices of the largest graph whose automorphisms are looked at one by one."""

NAMES = (range(100), "abcdefghijk", [("v", i) for i in range(11)], [3.5, None, "x", 7, "7", (), b"", True, -1, "", 0.1])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "first" in metafunc.fixturenames:
        wanted = metafunc.config.getoption("graphs")
        quick = QUICK_GRAPHS if wanted is None else wanted
        firsts = range(0, ALL_GRAPHS if wanted is None else wanted, GRAPHS_OF_A_TEST)
        slow = pytest.mark.slow
        metafunc.parametrize("first", [pytest.param(at, marks=() if at < quick else slow) for at in firsts])


@dataclass(frozen=True)
class Drawn:
    """A graph as a user has it, and as its edges."""

    n: int
    edges: list[tuple[int, int]]
    directed: bool
    names: list[Any]
    given: Any

    @property
    def is_simple(self) -> bool:
        return not self.directed and len(brute_force.simplified(self.edges)) == len(self.edges)

    @property
    def has_own_weights(self) -> bool:
        """Whether edges can have weights: none is a self-loop or parallel to another."""
        ends = self.edges if self.directed else brute_force.simplified(self.edges)
        return all(u != v for u, v in self.edges) and len(set(ends)) == len(self.edges)


def drawn(number: int) -> Drawn:
    """Draw a graph of 1 to 11 vertices."""
    generator = random.Random(number)
    n, directed, multi = generator.randint(1, 11), number % 2 == 1, number % 4 > 1
    probability = generator.choice((0.15, 0.25, 0.35, 0.5, 0.8))
    edges = []
    for u, v in product(range(n), repeat=2):
        if u != v and (directed or u < v):
            while generator.random() < probability / (1 + directed):
                edges.append((u, v) if directed or generator.random() < 0.5 else (v, u))
                if not multi or generator.random() < 0.7:
                    break
        elif u == v and multi and generator.random() < 0.15:
            edges += [(u, u)] * generator.choice((1, 1, 2))
    generator.shuffle(edges)
    names = list(generator.choice(NAMES))[:n]
    form = generator.randrange(3)
    if form == 0:
        given: Any = Graph.from_edges(n, edges, names=names, directed=directed, multigraph=multi)
    elif form == 1 or multi or directed:
        given = {(0, 0): nx.Graph, (1, 0): nx.DiGraph, (0, 1): nx.MultiGraph, (1, 1): nx.MultiDiGraph}[
            directed, multi
        ]()
        given.add_nodes_from(names := [f"None of {i}" if name is None else name for i, name in enumerate(names)])
        given.add_edges_from((names[u], names[v]) for u, v in edges)
    else:
        names, given = list(range(n)), np.zeros((n, n), int)
        for u, v in edges:
            given[u, v] = given[v, u] = generator.choice((1, 2))
    return Drawn(n, edges, directed, names, given)


def print_nothing(now: Progress) -> None:
    assert 0 <= now.share <= 1


IN_ORDER = (
    *("simplify", "shortest", "max_length", "min_length", "parity", "through", "avoid", "avoid_edges", "weight"),
    *(
        "edges",
        "k",
        "arch",
        "threads",
        "memory",
        "limit",
        "timeout",
        "progress",
        "symmetry",
        "expansion",
        "method",
        "order",
    ),
)
"""Options in an order in which each can be drawn to fit those before it."""


class Question:
    """A graph and options, drawn together so that the options fit each other; and the cycles that are then right."""

    FEWEST = 3

    def __init__(self, graph: Drawn, options: tuple[str, ...], seed: int, cycles: dict[bool, list[tuple[int, ...]]]):
        self.graph, self.asked, self._generator = graph, {}, random.Random(seed)
        self.simplify = "simplify" in options
        self.is_simple = self.simplify or graph.is_simple
        self.directed = graph.directed and not self.simplify
        self._restriction: dict[str, Any] = {"min_length": self.FEWEST}
        for name in sorted(options, key=IN_ORDER.index):
            getattr(self, f"_{name}")()
        self.cycles = brute_force.wanted(cycles[self.simplify], **self._restriction)

    @property
    def kept(self) -> list[list[int]]:
        """The sets of vertices that automorphisms map to themselves."""
        return [self._restriction.get(name, []) for name in ("through", "avoid")]

    @property
    def shortest(self) -> int:
        return self._restriction["min_length"]

    def _simplify(self) -> None:
        self.asked["simplify"] = True

    def _min_length(self) -> None:
        longest = self._restriction.get("max_length", 7)
        least = self._generator.randint(3 if self.is_simple else 1, longest)
        self.asked["min_length"] = self._restriction["min_length"] = least

    def _max_length(self) -> None:
        self.asked["max_length"] = self._restriction["max_length"] = self._generator.randint(self.shortest, 8)

    def _parity(self) -> None:
        self.asked["parity"] = self._restriction["parity"] = self._generator.choice(("odd", "even"))

    def _through(self) -> None:
        vertices = self._generator.sample(range(self.graph.n), min(self._generator.randint(1, 3), self.graph.n))
        self._restriction["through"] = vertices
        self.asked["through"] = self.named(vertices)

    def _avoid(self) -> None:
        left = [v for v in range(self.graph.n) if v not in self._restriction.get("through", ())]
        vertices = self._generator.sample(left, min(self._generator.randint(1, 3), len(left)))
        self._restriction["avoid"] = vertices
        self.asked["avoid"] = self.named(vertices)

    def _avoid_edges(self) -> None:
        through = set(self._restriction.get("through", ()))
        edges = brute_force.simplified(self.graph.edges) if self.simplify else self.graph.edges
        left = [(u, v) for u, v in edges if u == v or not {u, v} <= through]
        edges = self._generator.sample(left, min(self._generator.randint(1, 4), len(left)))
        self._restriction["avoid_edges"] = edges
        self.asked["avoid_edges"] = [tuple(self.named(edge)) for edge in edges]

    def _threads(self) -> None:
        self.asked["threads"] = 2

    def _timeout(self) -> None:
        self.asked["timeout"] = 600

    def _memory(self) -> None:
        # The limit is for the whole process, and that of the tests may have grown.
        self.asked["memory"] = 1 << 32

    def _progress(self) -> None:
        self.asked["progress"] = self._generator.choice((True, print_nothing))

    def _symmetry(self) -> None:
        if self.is_simple:
            self.asked["symmetry"] = True

    def _limit(self) -> None:
        self.asked["limit"] = self._generator.randint(1, 9)

    def _expansion(self) -> None:
        self.asked["expansion"] = "paper" if self.is_simple else "two-ended"

    def _method(self) -> None:
        self.asked["method"] = self._generator.choice(("search", "boundary", "auto"))

    def _order(self) -> None:
        self.asked["order"] = self.named(self._generator.sample(range(self.graph.n), self.graph.n))
        if "method" in self.asked:
            self.asked["method"] = "boundary"

    def _arch(self) -> None:
        self.asked["arch"] = self._generator.choice(("auto", "cpu", "reference"))

    def _shortest(self) -> None:
        self.asked["shortest"] = True
        self._restriction["min_length"] = 4  # unless a minimum is given

    def _edges(self) -> None:
        self.asked["edges"] = self._generator.random() < 0.5

    def _k(self) -> None:
        self.asked["k"] = self._generator.randint(1, 6)

    def _weight(self) -> None:
        if self._generator.random() < 0.5 or not self.graph.has_own_weights or self.simplify or not self.graph.edges:
            self.asked["weight"] = {name: self._generator.randint(-5, 9) for name in self.graph.names}
        else:
            self.asked["weight"] = {
                tuple(self.named(edge)): self._generator.randint(-5, 9) for edge in self.graph.edges
            }

    def named(self, vertices: Any) -> list[Any]:
        return [self.graph.names[v] for v in vertices]

    def indices(self, cycle: Any) -> tuple[int, ...]:
        index = {(type(name), name): v for v, name in enumerate(self.graph.names)}
        return tuple(index[type(name), name] for name in cycle)


class PathQuestion(Question):
    """The same for chordless paths, which stand where the cycles of a question do: between two vertices, or all."""

    FEWEST = 2

    def __init__(self, ends: tuple[int, ...], *drawn: Any) -> None:
        self._ends = ends
        super().__init__(*drawn)

    @property
    def ends(self) -> list[Any]:
        return self.named(self._ends)

    def indices(self, cycle: Any) -> tuple[int, ...]:
        path = super().indices(cycle)
        return path if self._ends or self.directed else min(path, path[::-1])

    def _min_length(self) -> None:
        least = self._generator.randint(2, self._restriction.get("max_length", 7))
        self.asked["min_length"] = self._restriction["min_length"] = least

    def _shortest(self) -> None:
        self.asked["shortest"] = True


def listed(question: Question, cycles: Any) -> list[tuple[int, ...]]:
    return sorted(map(question.indices, cycles))


def check_some(question: Question, found: list[tuple[int, ...]], complete: bool) -> None:
    """Check cycles that a limit may have cut."""
    assert set(found) <= set(question.cycles)
    assert len(set(found)) == len(found)
    assert complete is (len(found) == len(question.cycles)) or ("limit" in question.asked and not complete)
    assert len(found) >= min(question.asked.get("limit", len(question.cycles)), len(question.cycles))


def check_count(question: Question) -> None:
    check_counts(question, count_cycles(question.graph.given, **question.asked))


def check_count_paths(question: PathQuestion) -> None:
    check_counts(question, count_paths(question.graph.given, *question.ends, **question.asked))


def check_counts(question: Question, counts: Any) -> None:
    right = brute_force.by_length(question.cycles)
    assert all(0 < counts.by_length[length] <= right.get(length, 0) for length in counts.by_length)
    if counts.complete or "limit" not in question.asked:
        assert counts.complete
        assert counts.by_length == right
    assert counts.total >= min(question.asked.get("limit", len(question.cycles)), len(question.cycles))


def check_collect(question: Question) -> None:
    table = collect_cycles(question.graph.given, **question.asked)
    found = [tuple(table.vertices[a:b].tolist()) for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    check_some(question, sorted(found), table.complete)
    assert len(found) <= question.asked.get("limit", len(found))
    assert listed(question, table.lists()) == sorted(found)
    assert table.rows().tolist() == [[sum(1 << v for v in cycle)] for cycle in found]


def check_enumerate(question: Question) -> None:
    stream = enumerate_cycles(question.graph.given, **question.asked)
    check_some(question, listed(question, stream), stream.complete)


def check_batches(question: Question) -> None:
    stream = enumerate_cycles(question.graph.given, **question.asked)
    found = [cycle for table in stream.batches() for cycle in listed(question, table.lists())]
    check_some(question, sorted(found), stream.complete)


def check_enumerate_paths(question: PathQuestion) -> None:
    stream = enumerate_paths(question.graph.given, *question.ends, **question.asked)
    check_some(question, listed(question, stream), stream.complete)


def check_count_participation(question: Question) -> None:
    shares = count_participation(question.graph.given, **question.asked)
    assert shares.complete or "limit" in question.asked
    if not shares.complete:
        return
    by_vertex = Counter((v, len(cycle)) for cycle in question.cycles for v in cycle)
    assert dict(zip(*entries(shares.vertices), strict=True)) == by_vertex
    if shares.edges is None:
        assert question.asked["edges"] is False
        return
    check_edge_list(question, shares.edge_list)
    by_pair = Counter((pair, len(cycle)) for cycle in question.cycles for pair in brute_force.pairs_of(cycle))
    ends = [frozenset(pair) for pair in shares.edge_list.tolist()]
    counts = {(ends[e], length): count for (e, length), count in zip(*entries(shares.edges), strict=True)}
    assert counts == by_pair


def entries(table: np.ndarray) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the places of the entries that are not 0, and the entries."""
    places = np.argwhere(table)
    return list(map(tuple, places.tolist())), table[tuple(places.T)].tolist()


def check_edge_list(question: Question, edge_list: np.ndarray) -> None:
    """Check that each pair of adjacent vertices is there once, an arc in its own direction."""
    ends = list(map(tuple, edge_list.tolist()))
    assert sorted((min(pair), max(pair)) for pair in ends) == brute_force.simplified(question.graph.edges)
    assert not question.directed or set(ends) <= set(question.graph.edges)


def check_participation(question: Question) -> None:
    shares = participation(question.graph.given, **question.asked)
    assert shares.total == len(question.cycles)
    by_vertex = Counter(v for cycle in question.cycles for v in cycle)
    assert shares.vertices == [by_vertex[v] for v in range(question.graph.n)]
    check_edge_list(question, shares.edge_list)
    by_pair = Counter(pair for cycle in question.cycles for pair in brute_force.pairs_of(cycle))
    assert shares.edges == [by_pair[frozenset(pair)] for pair in shares.edge_list.tolist()]


def check_longest(question: Question) -> None:
    best = longest_cycle(question.graph.given, **question.asked)
    check_best(question, best, best.cycles, brute_force.edge_weight)
    assert best.cycle == (best.cycles or [[]])[0]


def check_longest_path(question: PathQuestion) -> None:
    asked = dict(question.asked)
    find = shortest_path if asked.pop("shortest", False) else longest_path
    best = find(question.graph.given, *question.ends, **asked)
    check_best(question, best, best.paths, brute_force.path_weight)
    assert best.path == (best.paths or [[]])[0]


def check_best(question: Question, best: Any, found: list[Any], weight_of_edges: Any) -> None:
    value: Any = len
    if weights := question.asked.get("weight"):
        by_index = {
            question.indices(key if type(key) is tuple and key not in question.graph.names else [key]): weight
            for key, weight in weights.items()
        }
        if len(next(iter(by_index))) == 1:
            value = partial(weight_of_vertices, weights=by_index)
        else:
            value = partial(weight_of_edges, weights=by_index, directed=question.directed)
    if not question.cycles:
        assert (found, best.ways, best.weight) == ([], 0, None)
        return
    right = sorted(map(value, question.cycles), reverse="shortest" not in question.asked)
    cycles = list(map(question.indices, found))
    assert set(cycles) <= set(question.cycles)
    assert len(set(cycles)) == len(cycles)
    values = list(map(value, cycles))
    assert values == right[: question.asked.get("k", 1)]
    assert best.ways == right.count(right[0])
    assert (best.weight, best.weights) == ((right[0], values) if weights else (None, []))


def weight_of_vertices(cycle: tuple[int, ...], weights: dict[Any, int]) -> int:
    return sum(weights[v,] for v in cycle)


def check_sample(question: Question) -> None:
    table = sample_cycles(question.graph.given, 5, seed=1, **question.asked)
    found = listed(question, table.lists())
    assert len(found) == (5 if question.cycles else 0)
    assert set(found) <= set(question.cycles)


def check_sample_paths(question: PathQuestion) -> None:
    found = listed(question, sample_paths(question.graph.given, *question.ends, k=5, seed=1, **question.asked))
    assert len(found) == (5 if question.cycles else 0)
    assert set(found) <= set(question.cycles)


def check_estimate(question: Question) -> None:
    check_estimated(question, estimate_cycles(question.graph.given, **{"seconds": PATIENCE, **question.asked}))


def check_estimate_paths(question: PathQuestion) -> None:
    asked = {"seconds": PATIENCE, **question.asked}
    check_estimated(question, estimate_paths(question.graph.given, *question.ends, **asked))


def check_estimated(question: Question, found: Any) -> None:
    """Check an estimate of a graph so small that it is exact."""
    assert found.exact
    assert found.by_length == brute_force.by_length(question.cycles)
    assert found.total.low == found.total.estimate == found.total.high == len(question.cycles)


def check_orbits(question: Question) -> None:
    if not question.is_simple:
        with pytest.raises(OptionError, match="simple undirected"):
            cycle_orbits(question.graph.given, **question.asked)
        return
    found = cycle_orbits(question.graph.given, **question.asked)
    assert found.by_length == brute_force.by_length(question.cycles)
    assert set(listed(question, found.cycles)) <= set(question.cycles)
    if question.graph.n > MOST_OF_A_GROUP:
        return
    edges = brute_force.simplified(question.graph.edges)
    group = brute_force.automorphisms(question.graph.n, edges, question.kept)
    orbit_of = {cycle: frozenset(frozenset(image[v] for v in cycle) for image in group) for cycle in question.cycles}
    met = [orbit_of[question.indices(cycle)] for cycle in found.cycles]
    assert sorted(found.sizes) == sorted(map(len, set(orbit_of.values())))
    assert list(map(len, met)) == found.sizes
    assert set(met) == set(orbit_of.values())
    assert found.automorphisms == len(group)


def check_chordal(question: Question) -> None:
    if not question.is_simple:
        with pytest.raises(GraphError, match="simplify=True makes it simple"):
            is_chordal(question.graph.given, **question.asked)
        return
    answer = is_chordal(question.graph.given, **question.asked)
    holes = [cycle for cycle in question.cycles if len(cycle) > 3]
    assert bool(answer) is not bool(holes)
    if holes:
        assert question.indices(answer.hole) in holes
        return
    place = {v: i for i, v in enumerate(question.indices(answer.elimination_ordering))}
    assert len(place) == question.graph.n
    pairs = set(map(frozenset, brute_force.simplified(question.graph.edges)))
    for v in place:
        later = [u for u in place if place[u] > place[v] and {u, v} in pairs]
        assert all({u, w} in pairs for u, w in combinations(later, 2))


def check_networkx(question: Question) -> None:
    if not hasattr(question.graph.given, "adj"):
        return
    bound = question.asked.pop("max_length", None)
    assert not question.asked
    found = listed(question, nx.chordless_cycles(question.graph.given, bound, backend="chordless"))
    assert found == question.cycles


def check_run(question: Question) -> None:
    """Check the parts of a search together."""
    graph = Graph.from_edges(
        question.graph.n,
        question.graph.edges,
        directed=question.graph.directed,
        multigraph=not question.graph.is_simple,
    )
    least, most = question.asked.get("min_length", 3), question.asked.get("max_length")
    found = []
    for part in range(1, 4):
        parity = question.asked.get("parity")
        options = Options(min_length=least, max_length=most, parity=parity, collect=True, part=(part, 3))
        run = Run(graph, open_device("cpu"), options)
        while not run.finished:
            run.advance()
        cycles = run.take_cycles()
        found += [
            tuple(cycles.vertices[a:b].tolist()) for a, b in zip(cycles.offsets, cycles.offsets[1:], strict=False)
        ]
    assert sorted(found) == question.cycles


RESTRICTION = ("min_length", "max_length", "through", "avoid", "avoid_edges", "simplify")
SEARCH = (*RESTRICTION, "parity", "arch", "threads", "memory", "limit", "timeout", "progress")
BOUNDARY = (*RESTRICTION, "parity", "memory", "order", "timeout", "progress")
DOORS = {
    check_count: (*SEARCH, "expansion", "method", "order", "symmetry"),
    check_collect: SEARCH,
    check_enumerate: SEARCH,
    check_batches: SEARCH,
    check_count_participation: (*SEARCH, "edges"),
    check_participation: BOUNDARY,
    check_longest: (*BOUNDARY, "arch", "method", "shortest", "weight", "k"),
    check_sample: (*BOUNDARY, "arch", "method"),
    check_estimate: (*RESTRICTION, "parity", "memory", "symmetry", "progress"),
    check_orbits: ("min_length", "max_length", "parity", "through", "avoid", "simplify"),
    check_chordal: ("simplify",),
    check_networkx: ("max_length",),
    check_run: ("min_length", "max_length", "parity"),
}
DOORS_OF_PATHS = {
    check_count_paths: (*SEARCH, "expansion", "method", "order", "symmetry"),
    check_enumerate_paths: SEARCH,
    check_longest_path: (*BOUNDARY, "arch", "method", "shortest", "weight", "k"),
    check_sample_paths: (*BOUNDARY, "arch", "method"),
    check_estimate_paths: (*RESTRICTION, "parity", "memory", "symmetry", "progress"),
}
EXCLUDED = (
    *({"order", name} for name in ("threads", "limit", "expansion", "arch", "symmetry")),
    {"symmetry", "arch"},
)
"""Options that contradict each other."""


def choices_of(options: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return no option, each one, and each pair."""
    chosen = [some for k in range(3) for some in combinations(options, k)]
    return [some for some in chosen if not any(pair <= set(some) for pair in EXCLUDED)]


def questions(number: int) -> Any:
    """Ask every function something of one graph; yield the check with its question."""
    graph = drawn(number)
    simple = brute_force.simplified(graph.edges)
    cycles = {
        False: brute_force.chordless_cycles(graph.n, graph.edges, directed=graph.directed),
        True: brute_force.chordless_cycles(graph.n, simple, directed=False),
    }
    for door, (check, options) in enumerate(DOORS.items()):
        chosen = choices_of(options)
        question = Question(graph, chosen[(number + door) % len(chosen)], number * 100 + door, cycles)
        fit(question, check is check_count)
        if check is check_networkx:
            shortest = 3 if graph.is_simple else 1
            question.cycles = brute_force.wanted(
                cycles[False], min_length=shortest, max_length=question.asked.get("max_length")
            )
        yield check, question
    if graph.n == 1:
        return
    ends = tuple(random.Random(number).sample(range(graph.n), 2)) if number % 3 else ()
    paths = {
        False: brute_force.chordless_paths(graph.n, graph.edges, ends, directed=graph.directed),
        True: brute_force.chordless_paths(graph.n, simple, ends, directed=False),
    }
    for door, (check_paths, options) in enumerate(DOORS_OF_PATHS.items(), len(DOORS)):
        chosen = choices_of(options)
        asked = PathQuestion(ends, graph, chosen[(number + door) % len(chosen)], number * 100 + door, paths)
        fit(asked, check_paths is check_count_paths)
        yield check_paths, asked


def fit(question: Question, is_count: bool) -> None:
    """Leave out what does not go with the method, and take the one that an order of a count needs."""
    asked = question.asked
    if asked.get("method") == "boundary":
        for name in ("threads", "limit", "expansion", "arch", "symmetry"):
            asked.pop(name, None)
    elif asked.get("method") == "search" and "weight" in asked:
        asked.pop("method")
    elif is_count and "order" in asked:
        asked["method"] = "boundary"


def test_every_function_agrees_with_the_definition(first: int) -> None:
    faults = []
    for number in range(first, first + GRAPHS_OF_A_TEST):
        for check, question in questions(number):
            try:
                check(question)
            except Exception as error:  # every fault is told, not only the first
                kind = type(error).__name__
                text = str(error).splitlines()[0] if str(error) else ""
                asked = {"directed": question.graph.directed, **question.asked}
                faults.append(f"{number} {check.__name__}: {asked} of {question.graph.edges}: {kind} {text}")
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:5])
