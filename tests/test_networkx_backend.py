"""The backend of networkx: the same cycles, and no others than networkx would give."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import chordless.networkx_backend
import networkx as nx
import pytest
from chordless.networkx_backend import backend
from directed_graphs import KINDS, by_definition, canonical, random_graph
from patience import PATIENCE

from kernels_ti import Graph

needs_entry_points = pytest.mark.skipif(
    "chordless" not in nx.utils.backends.backends, reason="needs the installed package: its entry points"
)


@pytest.fixture(autouse=True)
def no_warning_of_the_cache():
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


@pytest.fixture
def first(monkeypatch):
    """Take searches, or none, to have been made in this process."""
    # On a busy machine a tenth of a second is too short for a walk.
    monkeypatch.setattr(chordless.networkx_backend, "ESTIMATE_SECONDS", PATIENCE)
    return lambda so: monkeypatch.setattr(chordless.networkx_backend, "_begun", not so)


def sets(cycles):
    cycles = list(cycles)
    found = {frozenset(cycle) for cycle in cycles}
    assert len(found) == len(cycles)
    return found


@needs_entry_points
@pytest.mark.parametrize("length_bound", [None, 0, 1, 2, 3, 4, 6, 2.5, 5.9, math.inf])
@pytest.mark.parametrize("graph", [nx.petersen_graph(), nx.grid_2d_graph(4, 4), nx.Graph(), nx.empty_graph(3)], ids=str)
def test_the_cycles_are_those_of_networkx(graph, length_bound):
    # networkx goes up to 6 where the bound is 5.9.
    whole = length_bound if length_bound in (None, math.inf) else math.floor(length_bound)
    theirs = sets(nx.chordless_cycles(graph, whole, backend="networkx"))
    ours = list(nx.chordless_cycles(graph, length_bound=length_bound, backend="chordless"))
    assert sets(ours) == theirs
    for cycle in ours:
        assert all(graph.has_edge(u, v) for u, v in itertools.pairwise([*cycle, cycle[0]]))


@needs_entry_points
@pytest.mark.parametrize(("bound", "names"), [(-1, ("networkx", "chordless")), (math.nan, ("chordless",))])
def test_a_bound_below_zero_is_the_error_of_networkx_at_the_first_cycle(bound, names):
    for name in names:
        cycles = nx.chordless_cycles(nx.cycle_graph(4), bound, backend=name)
        with pytest.raises(ValueError, match="length bound must be non-negative"):
            next(cycles)


@needs_entry_points
@pytest.mark.parametrize("length_bound", [None, 0, 1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_every_graph_of_networkx_is_searched(kind, length_bound):
    for seed in range(6):
        graph = random_graph(kind, seed, 9, 0.25)
        expected = [cycle for cycle in by_definition(graph) if length_bound is None or len(cycle) <= length_bound]
        ours = nx.chordless_cycles(graph, length_bound, backend="chordless")
        assert sorted(canonical(cycle, directed=graph.is_directed()) for cycle in ours) == expected


@needs_entry_points
@pytest.mark.parametrize("graph", [nx.DiGraph([(0, 1), (1, 0)]), nx.MultiGraph([(0, 1), (0, 1)]), nx.Graph([(0, 0)])])
def test_a_graph_that_is_not_simple_goes_to_the_engine_and_back(graph):
    assert len(list(nx.chordless_cycles(graph, backend="chordless"))) == 1
    assert backend.can_run("chordless_cycles", (graph,), {}) is True
    back = backend.convert_to_nx(Graph.from_networkx(graph))
    assert (type(back), sorted(back.edges())) == (type(graph), sorted(graph.edges()))


@needs_entry_points
def test_priority_takes_the_engine_where_it_gains(first, monkeypatch):
    taken = []
    ours = backend.chordless_cycles
    monkeypatch.setattr(backend, "chordless_cycles", lambda G, *a, **k: taken.append(G) or ours(G, *a, **k))
    first(False)
    with nx.config(backend_priority=["chordless"]):
        assert len(list(nx.chordless_cycles(nx.petersen_graph()))) == 22
        assert taken == []
        assert len(list(nx.chordless_cycles(nx.grid_2d_graph(7, 6)))) == 13350
        assert [type(graph) for graph in taken] == [Graph]


def test_which_graphs_are_worth_it(first):
    small, large, sparse = nx.petersen_graph(), nx.grid_2d_graph(6, 10), nx.cycle_graph(3000)
    for begun_is, middling in ((True, False), (False, True)):
        first(begun_is)
        for graph, worth in ((small, False), (nx.grid_2d_graph(6, 7), middling), (large, True), (sparse, False)):
            answer = backend.should_run("chordless_cycles", (graph,), {})
            assert (answer is True) is worth, answer
    assert "few edges (1) beyond" in backend.should_run("chordless_cycles", (sparse,), {})
    assert backend.should_run("chordless_cycles", (large, 2), {}) is not True
    assert backend.should_run("chordless_cycles", (), {"G": large, "length_bound": 4}) is not True
    assert backend.should_run("chordless_cycles", (large,), {"length_bound": 4.5}) is not True


@needs_entry_points
def test_it_streams_and_searches_may_take_turns():
    long = nx.chordless_cycles(nx.grid_2d_graph(7, 10), backend="chordless")
    begun = list(itertools.islice(long, 5))
    assert len(list(nx.chordless_cycles(nx.petersen_graph(), backend="chordless"))) == 22
    begun += itertools.islice(long, 1000)
    assert len(sets(begun)) == 1005


has_perfect_graphs = pytest.mark.skipif(not hasattr(nx, "is_perfect_graph"), reason="networkx 3.6 has the function")


@needs_entry_points
@has_perfect_graphs
def test_perfect_graphs_are_those_of_networkx():
    answers = set()
    for graph in [
        *nx.graph_atlas_g()[::5],
        nx.cycle_graph(9),
        nx.complement(nx.cycle_graph(7)),
        nx.grid_2d_graph(3, 4),
    ]:
        theirs = nx.is_perfect_graph(graph, backend="networkx")
        assert nx.is_perfect_graph(graph, backend="chordless") is theirs, graph.edges
        answers.add(theirs)
    assert answers == {True, False}
    with_loop = nx.Graph([*nx.cycle_graph(5).edges(), (0, 0)])
    assert nx.is_perfect_graph(with_loop, backend="chordless") is nx.is_perfect_graph(with_loop, backend="networkx")


@needs_entry_points
@has_perfect_graphs
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph])
def test_perfect_graphs_are_simple(kind):
    graph = kind([(0, 1), (1, 2), (2, 0), (0, 1)])
    for name in ("networkx", "chordless"):
        with pytest.raises(nx.NetworkXNotImplemented, match="not implemented for"):
            nx.is_perfect_graph(graph, backend=name)


def test_a_larger_graph_is_told_to_be_perfect_by_a_search():
    """A bipartite graph is perfect, one edge more closes an odd hole."""
    graph = nx.grid_2d_graph(5, 5)
    assert backend.is_perfect_graph(graph)
    graph.add_edge((0, 0), (4, 4))
    assert not backend.is_perfect_graph(graph)
    assert "few edges (1) beyond" in backend.should_run("is_perfect_graph", (nx.cycle_graph(7),), {})


@needs_entry_points
def test_a_graph_of_ours_needs_no_conversion():
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    assert list(nx.chordless_cycles(square)) == [["a", "b", "c", "d"]]
    theirs = backend.convert_to_nx(square)
    assert (list(theirs), sorted(theirs.edges)) == (list("abcd"), [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")])


@needs_entry_points
def test_the_documentation_of_networkx_names_it():
    assert "chordless : Chordless cycles on CPU, CUDA and Vulkan." in nx.chordless_cycles.__doc__
    assert "arch : " in nx.chordless_cycles.__doc__
    assert "networkx 3.4 lists some through a vertex with a self-loop" in nx.chordless_cycles.__doc__


@needs_entry_points
def test_importing_networkx_loads_nothing_of_the_engine():
    code = (
        "import sys, networkx; "
        "print([m for m in sys.modules if m.split('.')[0] in ('taichi', 'textual', 'kernels_ti')], "
        "'chordless.networkx_backend' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True, cwd="/"
    )
    assert done.stdout == "[] True\n"


@needs_entry_points
@pytest.mark.slow
def test_the_tests_of_networkx_pass():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", "chordless",
         "--pyargs", "networkx.algorithms.tests.test_cycles"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd="/",
        env={**os.environ, "NETWORKX_TEST_BACKEND": "chordless", "NETWORKX_FALLBACK_TO_NX": "False"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
