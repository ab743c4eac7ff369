"""The state of a sweep, handed out midway: another search goes on from it and nothing is lost or counted twice."""

import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import block_batches
from oracles import grid, waiting_in

from kernels_ti import Graph, SizeError, open_device
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.found.stored import ResidentBlocks
from kernels_ti.found.to_host import rows_of
from kernels_ti.state import Frames, GroupState, Layout, Totals
from kernels_ti.sweep import search as search_sweep
from kernels_ti.sweep import search_stage_1
from kernels_ti.sweep.found_cycles import close_gaps
from kernels_ti.sweep.frames import frame_words
from kernels_ti.sweep.search import SweepSearch
from kernels_ti.sweep.search_stage_1 import SurveySearch

pytestmark = pytest.mark.owner

PLENTY = 1 << 30

KEYS = ("allowed", "extensions", "members", "end", "length", "weight")


def ladder(rungs: int) -> Graph:
    """A ladder: rungs cycles of every length, in a block of 2 * rungs vertices."""
    return Graph.from_networkx(nx.convert_node_labels_to_integers(nx.ladder_graph(rungs)))


def ring_with_a_grid(words: int) -> Graph:
    """A grid of 4 x 5 in a block of that many words: many short cycles and some long ones."""
    joined = nx.disjoint_union(nx.grid_2d_graph(4, 5), nx.cycle_graph(64 * words - 20))
    joined.add_edges_from([(0, 20), (19, 90)])
    return Graph.from_networkx(joined)


GRAPHS = {
    "one word": grid(5, 6),
    "two words": Graph.from_networkx(nx.gnp_random_graph(70, 0.06, seed=3)),
    "many words, few frames": ladder(290),
    "many words": ring_with_a_grid(9),
}


def groups_of(graph: Graph) -> list[BlockGroup]:
    return block_batches(graph, Layout(), 64)[0]


def weights_of(group: BlockGroup, groups: list[BlockGroup]) -> np.ndarray:
    pairs = sum(int(other.pairs_of_seed.sum()) for other in groups)
    return group.pairs_of_seed / pairs


def sweep_of(
    graph: Graph,
    group: BlockGroup,
    collect: bool,
    threads: int,
    start: GroupState,
    memory: int = PLENTY,
    to_host: bool = False,
) -> SweepSearch:
    device = replace(open_device("cpu"), threads=threads)  # workers, without starting Taichi anew
    blocks = ResidentBlocks(device, group, graph.n, to_host=to_host)
    return SweepSearch(blocks, graph.n, collect, start, weights_of(group, groups_of(graph)), memory)


def step(search: SweepSearch, budget: int, found: list[np.ndarray]) -> None:
    """Let every worker make up to `budget` steps, and take the cycles."""
    search.advance_by(budget)
    found.append(rows_of(search.take_found(), search.blocks.row_words))


def finish(search: SweepSearch, found: list[np.ndarray]) -> None:
    while not search.finished:
        search.advance(0.05)
        found.append(rows_of(search.take_found(), search.blocks.row_words))


def merged(*parts: Totals) -> Totals:
    total = Totals()
    for part in parts:
        total.add(part.paths, part.cycles)
    return total


def listed(found: list[np.ndarray]) -> list[bytes]:
    return sorted(row.tobytes() for rows in found for row in rows)


def whole_search(graph: Graph, group: BlockGroup) -> tuple[Totals, list[bytes]]:
    search = sweep_of(graph, group, True, 1, GroupState())
    found: list[np.ndarray] = []
    finish(search, found)
    return search.totals, listed(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("collect", "to_host"), [(False, False), (True, False), (True, True)])
def test_a_search_goes_on_from_the_state_of_another(name: str, collect: bool, to_host: bool) -> None:
    """Stopped three times, each time with another number of workers."""
    graph = GRAPHS[name]
    for group in groups_of(graph):
        totals, cycles = whole_search(graph, group)
        found: list[np.ndarray] = []
        parts, start = [], GroupState()
        for threads, budget in ((1, 40), (3, 100), (2, 300)):
            search = sweep_of(graph, group, collect, threads, start, to_host=to_host)
            for _ in range(3):
                step(search, budget, found)
            parts.append(search.totals)
            start = GroupState(0, search.next_seed, list(search.frames()))
        last = sweep_of(graph, group, collect, 2, start, to_host=not to_host)
        finish(last, found)
        after = merged(*parts, last.totals)
        assert after.cycles == totals.cycles
        assert sum(after.cycles.values()) == len(cycles)
        assert listed(found) == (cycles if collect else [])


@settings(max_examples=25)
@given(
    n=st.integers(6, 30),
    density=st.floats(0.05, 0.5),
    seed=st.integers(0, 10**6),
    budgets=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    threads=st.integers(1, 4),
)
def test_random_searches_stop_and_go_on(n: int, density: float, seed: int, budgets: list[int], threads: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, density, seed=seed))
    for group in groups_of(graph):
        totals, cycles = whole_search(graph, group)
        found: list[np.ndarray] = []
        parts, start = [], GroupState()
        for budget in budgets:
            search = sweep_of(graph, group, True, threads, start)
            step(search, budget, found)
            parts.append(search.totals)
            start = GroupState(0, search.next_seed, search.frames())
        last = sweep_of(graph, group, True, 1, start)
        finish(last, found)
        assert merged(*parts, last.totals).cycles == totals.cycles
        assert listed(found) == cycles


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("threads", [1, 3])
def test_what_remains_shrinks_to_nothing(name: str, threads: int) -> None:
    graph = GRAPHS[name]
    groups = groups_of(graph)
    for group in groups:
        search = sweep_of(graph, group, False, threads, GroupState())
        before = search.remaining
        assert before == pytest.approx(weights_of(group, groups).sum())
        for _ in range(20):
            step(search, 150, [])
            assert search.remaining <= before + 1e-12
            before = search.remaining
            resumed = sweep_of(graph, group, False, 2, GroupState(0, search.next_seed, search.frames()))
            assert resumed.remaining == pytest.approx(before, abs=1e-12)
            assert (resumed.waiting_by_length, resumed.pairs_left) == (search.waiting_by_length, search.pairs_left)
            assert resumed.finished == search.finished
        while not search.finished:
            search.advance(0.05)
            assert search.remaining <= before + 1e-12
            before = search.remaining
        assert search.remaining < 1e-9


@pytest.mark.parametrize("name", ["one word", "many words"])
@pytest.mark.parametrize("to_host", [False, True])
def test_frames_survive_a_round_trip(name: str, to_host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In at one side and out at the other, in pieces as small as the pool allows, before and after a refill."""
    graph = GRAPHS[name]
    group = groups_of(graph)[-1]
    search = sweep_of(graph, group, True, 2, GroupState(), to_host=to_host)
    for _ in range(30):
        step(search, 20, [])
    handed_out = list(search.frames())
    together = {key: np.concatenate([getattr(frames, key) for frames in handed_out]) for key in KEYS}
    assert len(together["end"]) >= 5
    everything = Frames(**together)
    pieces = [everything[k : k + 1] for k in range(len(everything))]
    monkeypatch.setattr(search_sweep, "FRAMES_AT_ONCE", 2)
    other = sweep_of(graph, group, True, 1, GroupState(0, search.next_seed, iter(pieces)), to_host=to_host)
    before = other.device_bytes
    assert other.remaining == pytest.approx(search.remaining)
    assert other.waiting_by_length == search.waiting_by_length == waiting_in([everything])
    assert other.pairs_left == search.pairs_left
    back = list(other.frames())
    for key in KEYS:
        assert np.array_equal(np.concatenate([getattr(frames, key) for frames in back]), together[key]), key
    step(other, 1, [])
    assert other.next_seed == search.next_seed, "frames come before seeds"
    laid_out = other.device_bytes - before
    assert 0 < laid_out <= 2 * 8 * frame_words(group.words, group.words)
    for _ in range(8):
        step(other, 5, [])
        assert other.waiting_by_length == waiting_in(other.frames())
    assert sum(len(frames) for frames in other.frames()) >= len(pieces) - 1


def test_a_pool_in_small_portions_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS["one word"]
    (group,) = groups_of(graph)
    totals, cycles = whole_search(graph, group)
    found: list[np.ndarray] = []
    search = sweep_of(graph, group, True, 2, GroupState())
    for _ in range(10):
        step(search, 30, found)
    monkeypatch.setattr(search_sweep, "FRAMES_AT_ONCE", 3)
    last = sweep_of(graph, group, True, 3, GroupState(0, search.next_seed, search.frames()))
    remaining = last.remaining
    while not last.finished:
        step(last, 25, found)
        assert last.remaining <= remaining + 1e-12
        remaining = last.remaining
    assert merged(search.totals, last.totals).cycles == totals.cycles
    assert listed(found) == cycles


def test_frames_without_members_cannot_be_listed() -> None:
    graph = GRAPHS["one word"]
    (group,) = groups_of(graph)
    search = sweep_of(graph, group, False, 1, GroupState())
    step(search, 30, [])
    with pytest.raises(ValueError, match="no members"):
        sweep_of(graph, group, True, 1, GroupState(0, search.next_seed, search.frames())).advance_by(1)


def test_frames_with_members_can_be_counted() -> None:
    graph = GRAPHS["one word"]
    (group,) = groups_of(graph)
    totals, _ = whole_search(graph, group)
    search = sweep_of(graph, group, True, 1, GroupState())
    step(search, 500, [])
    last = sweep_of(graph, group, False, 1, GroupState(0, search.next_seed, search.frames()))
    finish(last, [])
    assert merged(search.totals, last.totals).cycles == totals.cycles


@pytest.mark.parametrize("name", ["one word", "many words"])
@pytest.mark.parametrize("collect", [False, True])
def test_little_memory_makes_few_workers(name: str, collect: bool) -> None:
    """Down to one, with the same cycles; less than that is refused with the bytes that one worker needs."""
    graph = GRAPHS[name]
    group = groups_of(graph)[-1]
    totals, _ = whole_search(graph, group)
    with pytest.raises(SizeError, match=r"^a block of \d+ vertices needs \S+ KiB for one worker's stack") as refused:
        sweep_of(graph, group, collect, 8, GroupState(), 0)
    least = 1024 * int(re.findall(r"(\S+) KiB", str(refused.value))[0])
    workers = []
    for memory in np.linspace(least * 1.1, least * 10, 15).astype(int).tolist():
        search = sweep_of(graph, group, collect, 8, GroupState(), memory)
        assert search.device_bytes - search.blocks.bytes <= memory + 64
        workers.append(search.workers)
    assert (workers[0], workers[-1]) == (1, 8)
    search = sweep_of(graph, group, collect, 8, GroupState(), int(least * 1.1))
    finish(search, [])
    assert search.totals.cycles == totals.cycles


def test_stage_1_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some groups are for numpy and some for the kernels, and each time others are."""
    monkeypatch.setattr(search_stage_1, "SEEDS_AT_ONCE", 5)
    graph = Graph.from_networkx(nx.disjoint_union(nx.complete_graph(8), nx.gnp_random_graph(70, 0.4, seed=1)))
    blocks = [ResidentBlocks(open_device("cpu"), group, graph.n) for group in groups_of(graph)]
    search = SurveySearch(blocks, [0] * len(blocks), graph.n, True)
    found, parts = [], []
    while not search.finished:
        monkeypatch.setattr(search_stage_1, "HOST_WORDS", 0 if len(found) % 2 else 1 << 16)
        search.advance(0.0)
        assert search.remaining == 0.0
        found.append(rows_of(search.take_found(), blocks[0].row_words))
        parts.append(search.totals)
        search = SurveySearch(blocks, search.surveyed, graph.n, True)
    assert search.surveyed == [group.seeds for group in blocks]
    whole = SurveySearch(blocks, [0] * len(blocks), graph.n, True)
    while not whole.finished:
        whole.advance(1.0)
    assert merged(*parts).cycles == whole.totals.cycles
    assert merged(*parts).paths == whole.totals.paths
    assert whole.totals.cycles[3] > 56
    assert listed(found) == listed([rows_of(whole.take_found(), blocks[0].row_words)])
    assert len(set(listed(found))) == whole.totals.cycles[3]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_stage_1_in_numpy_and_in_kernels_is_the_same(directed, monkeypatch):
    edges = nx.gnp_random_graph(70, 0.2, seed=2, directed=directed).edges
    graph = Graph.from_edges(70, edges, directed=directed)
    results = []
    for most in (0, 1 << 16):
        monkeypatch.setattr(search_stage_1, "HOST_WORDS", most)
        blocks = [ResidentBlocks(open_device("cpu"), group, graph.n) for group in groups_of(graph)]
        search = SurveySearch(blocks, [0] * len(blocks), graph.n, True)
        while not search.finished:
            search.advance(1.0)
        results.append((search.totals, listed([rows_of(search.take_found(), blocks[0].row_words)])))
    assert results[0] == results[1]
    assert results[0][0].cycles[3] == len(results[0][1]) > 100


def test_stage_1_says_that_it_compiles(monkeypatch):
    monkeypatch.setattr(search_stage_1, "_compiled", set())
    graph = grid(5, 6)
    blocks = [ResidentBlocks(open_device("cpu"), group, graph.n) for group in groups_of(graph)]
    assert not SurveySearch(blocks, [0], graph.n, False).compiling, "few seeds are looked at in numpy"
    monkeypatch.setattr(search_stage_1, "HOST_WORDS", 0)
    search = SurveySearch(blocks, [0], graph.n, False)
    assert search.compiling
    search.advance(1.0)
    assert (search.compiling, search.totals.paths) == (False, {})
    search.advance(1.0)
    assert search.finished
    assert not SurveySearch(blocks, [0], graph.n, False).compiling


def test_members_over_the_graph_are_members_by_label() -> None:
    """Frames of two blocks, handed out by searches that keep either kind of members."""
    grids = nx.convert_node_labels_to_integers(nx.disjoint_union(nx.grid_2d_graph(4, 6), nx.grid_2d_graph(4, 6)))
    name = np.random.default_rng(1).permutation(48).tolist()
    graph = Graph.from_edges(48, [(name[u], name[v]) for u, v in grids.edges])
    (group,) = groups_of(graph)
    labelled, over_graph = (sweep_of(graph, group, True, 1, GroupState(), to_host=to_host) for to_host in (False, True))
    blocks = set()
    while not labelled.finished:
        for search in (labelled, over_graph):
            step(search, 37, [])
        for frames, other in zip(labelled.frames(), over_graph.frames(), strict=True):
            np.testing.assert_array_equal(other.members, frames.members)
            blocks.update(group.first_row[frames.end].tolist())
    assert len(blocks) == 2
    assert over_graph.blocks.over_graph
    assert not labelled.blocks.over_graph


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("room", [0, 1 << 10, 1 << 14], ids=["for one step", "for some cycles", "for many"])
def test_workers_fill_one_chunk_after_another(threads: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_sweep, "CYCLE_BYTES_PER_WORKER", room)
    graph = grid(5, 6)
    (group,) = groups_of(graph)
    _, cycles = whole_search(graph, group)
    search = sweep_of(graph, group, True, threads, GroupState())
    found: list[np.ndarray] = []
    slices = 0
    while not search.finished:
        step(search, 1 << 20, found)
        slices += 1
    assert listed(found) == cycles
    assert (slices == 1) == (room == 1 << 14)


@given(counts=st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_gaps_between_chunks_are_closed(counts: list[int]) -> None:
    filled = [100 * c + i for c, count in enumerate(counts) for i in range(count)]
    rows = np.zeros((5 * len(counts), 2), np.uint64)
    for c, count in enumerate(counts):
        rows[5 * c : 5 * c + count] = np.arange(100 * c, 100 * c + count)[:, None]
    close_gaps(rows, np.array(counts, np.int32), 5)
    assert sorted(rows[: len(filled), 0].tolist()) == filled
    assert np.array_equal(rows[:, 0], rows[:, 1])
