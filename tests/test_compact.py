"""Searches that go on in bit rows of one word: counted, cut short, handed over and shared in the middle of them."""

import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from oracles import by_length, grid
from test_sweep_state import finish, groups_of, step, sweep_of

from kernels_ti import Graph, Options, Run, count_cycles, enumerate_cycles, open_device
from kernels_ti.cycles import Cycles
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.state import GroupState
from kernels_ti.sweep import search as search_sweep
from kernels_ti.sweep.compact import compact_words
from kernels_ti.sweep.search import SweepSearch

SIZES = range(65, 140)


def some_graph(seed: int) -> nx.Graph:
    """Return a graph of one block of several words, with a few thousand cycles at the most."""
    draw = random.Random(seed)
    graph = nx.cycle_graph(draw.choice(SIZES))
    for _ in range(draw.randint(3, 7)):
        graph.add_edge(*draw.sample(range(len(graph)), 2))
    dense = nx.gnp_random_graph(draw.randint(4, 12), draw.choice([0.2, 0.4, 0.6]), seed=seed)
    graph = nx.disjoint_union(graph, dense)
    at = len(graph) - len(dense)
    graph.add_edges_from((v, draw.randrange(at)) for v in range(at, len(graph)))
    names = list(graph)
    draw.shuffle(names)
    return nx.relabel_nodes(graph, dict(zip(graph, names, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "collect"),
    [pytest.param(seed, seed % 2 == 1, marks=() if seed < 10 else pytest.mark.slow) for seed in range(60)],
)
def test_cut_short_handed_over_and_shared(seed: int, collect: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    graph = Graph.from_networkx(some_graph(seed))
    monkeypatch.setattr(search_sweep, "FIRST_BUDGET", draw.choice([30, 100, 500]))
    monkeypatch.setattr(search_sweep, "PATIENCE", draw.choice([0, 32]))
    monkeypatch.setattr(search_sweep, "CYCLE_BYTES_PER_WORKER", draw.choice([1, 1 << 21]))  # full after few cycles
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    device = replace(open_device("cpu"), threads=draw.choice([1, 2, 3]))  # workers, without starting Taichi anew
    longest = draw.choice([None, 12, 70])
    options = Options(max_length=longest, collect=collect, rows=collect)
    run = Run(graph, device, options)
    shares, found = [run.snapshot().share], []
    while not run.finished:
        run.advance()
        shares.append(run.snapshot().share)
        found.extend(map(tuple, run.take_rows().tolist()))
        if draw.random() < 0.3:
            run = Run(graph, device, options, run.state())
    wanted = [cycle for cycle in chordless_cycles(graph) if len(cycle) <= (longest or graph.n)]
    assert run.snapshot().cycles_by_length == by_length(wanted)
    if collect:
        assert sorted(found) == sorted(map(tuple, Cycles.of_lists(wanted).rows(graph.n).tolist()))
    assert np.all(np.diff(shares) >= -1e-12)
    assert shares[-1] == 1


@pytest.mark.slow
@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("budget", [50, 333, 5000])
def test_the_frames_are_those_of_wider_rows(budget: int, collect: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel for long rows makes none compact; with a certificate at every step both stop at the same frames."""
    monkeypatch.setattr(search_sweep, "PATIENCE", -1)
    block = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 14))
    graph = Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(70), block))
    (group,) = groups_of(graph)
    compact = sweep_of(graph, group, collect, 1, GroupState())
    monkeypatch.setattr(search_sweep, "LARGEST_UNROLLED", 0)
    wide = sweep_of(graph, group, collect, 1, GroupState())
    remembered = compact._stack[-compact_words(group.words) :]
    remembered[:] = 99
    found: dict[SweepSearch, list[np.ndarray]] = {compact: [], wide: []}
    for _ in range(12):
        for search, rows in found.items():
            step(search, budget, rows)
        (of_compact,), (of_wide,) = (list(search.frames()) for search in found)
        assert len(of_compact) > 0
        for part in ("extensions", "end", "length", "weight", *(["members"] if collect else [])):
            np.testing.assert_array_equal(getattr(of_compact, part), getattr(of_wide, part), part)
        vertices = np.array([~np.uint64(0), np.uint64((1 << 70 - 64) - 1)])
        np.testing.assert_array_equal(of_compact.allowed & vertices, of_wide.allowed & vertices)
        assert compact.totals == wide.totals
    assert compact.totals.cycles
    np.testing.assert_array_equal(*(np.concatenate(rows) for rows in found.values()))
    assert (remembered != 99).any(), "no row was made compact"


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("budget", [300, 1000, 5000])
@pytest.mark.slow
def test_frames_of_compact_rows_are_given_away(threads: int, budget: int) -> None:
    """One seed after another has nearly all the work, and every slice takes several looks at the queue."""
    graph = grid(4, 18)
    for group in groups_of(graph):
        counting, listing = (sweep_of(graph, group, collect, threads, GroupState()) for collect in (False, True))
        while not counting.finished:
            step(counting, budget, [])
        finish(listing, [])
        assert counting.totals.cycles == listing.totals.cycles


def test_many_usable_vertices_and_few() -> None:
    """A block of eight words whose paths soon need one, and a clique, through which no path goes on."""
    graph = nx.windmill_graph(2, 20)
    nx.add_cycle(graph, range(19, 500))
    graph.add_edges_from((v, v + 30) for v in range(40, 400, 90))
    graph.add_edge(5, 300)
    assert count_cycles(graph, arch="cpu").by_length == by_length(chordless_cycles(Graph.from_networkx(graph)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_cycles_through_some_vertices_and_around_others(seed: int) -> None:
    """Through one vertex or edge rows are made compact, through several vertices they are not."""
    draw = random.Random(seed)
    graph = Graph.from_networkx(some_graph(seed))
    everything = list(enumerate_cycles(graph, arch="reference"))
    through = draw.sample(draw.choice(everything), seed % 3)
    avoid = draw.sample([name for name in graph.names if name not in through], 2)
    wanted = [cycle for cycle in everything if set(through) <= set(cycle) and not set(avoid) & set(cycle)]
    assert sorted(enumerate_cycles(graph, arch="cpu", through=through, avoid=avoid)) == sorted(wanted)
