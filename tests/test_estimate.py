"""Estimates: unbiased, with a range that holds the truth, and exact where everything can be looked at."""

import math
import time
import tracemalloc
from itertools import pairwise
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import block_batches
from oracles import disjoint_union, grid, levels_of

from kernels_ti import EngineError, EstimatedRange, Graph, Options, SizeError
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate import estimate, host_step
from kernels_ti.estimate.estimate import Estimator, seed_weights
from kernels_ti.estimate.host_step import HostBlocks, labels_of, populations
from kernels_ti.estimate.random_walk import scaled, walk
from kernels_ti.estimate.strata import LevelSeen, SubtreeSizes
from kernels_ti.state import Layout


def gnp(n: int, p: float, seed: int) -> Graph:
    return Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))


def groups_of(graph: Graph, **layout: object) -> list[BlockGroup]:
    return block_batches(graph, Layout(**layout), 64)[0]


GRAPHS = {
    "grid": grid(5, 5),
    "petersen": Graph.from_networkx(nx.petersen_graph()),
    "random": gnp(18, 0.25, 1),
    "dense": gnp(14, 0.5, 2),
    "blocks": disjoint_union([nx.petersen_graph(), nx.grid_2d_graph(3, 5), nx.cycle_graph(9), nx.wheel_graph(7)])[0],
}
LONG = disjoint_union([nx.cycle_graph(70), nx.cycle_graph(130), nx.petersen_graph()])[0]


def neighbour_sets(group: BlockGroup) -> list[set[int]]:
    return [set(group.neighbour[a:b].tolist()) for a, b in pairwise(group.row_ptr)]


def certified_paths(graph: Graph, max_length: int) -> int:
    """Count the paths of a search with the certificate at every step, with sets and as simply as it goes."""
    return sum(certified_paths_of(group, max_length) for group in groups_of(graph)) if max_length > 3 else 0


def certified_paths_of(group: BlockGroup, max_length: int) -> int:
    near = neighbour_sets(group)
    stack = []

    def push(allowed, end, extensions, length):
        seen = allowed & near[end]
        for _ in range(max_length - length - 2):
            seen |= allowed & set().union(*(near[w] for w in seen))
        kept = [w for w in extensions if near[w] & seen]
        stack.extend((seen, end, w, length + 1) for w in kept)
        return len(kept)

    total = 0
    for entry, u in zip(group.seed_entries.tolist(), group.seed_roots.tolist(), strict=True):
        x = int(group.neighbour[entry])
        later = set(range(u + 1, group.rows)) & set(np.flatnonzero(group.first_row == group.first_row[u]).tolist())
        triplets = {y for y in near[u] - near[x] if y > x}
        push(later - near[u], x, triplets, 2)
        total += len(triplets)
    while stack:
        allowed, end, v, length = stack.pop()
        only_end, only_v = allowed & near[end] - near[v], allowed & near[v] - near[end]
        if length + 2 <= max_length and only_end and only_v:
            growing, waiting, extensions = (v, end, only_v) if len(only_v) <= len(only_end) else (end, v, only_end)
            total += push(allowed - near[growing], waiting, extensions, length)
    return total


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("max_length", [None, 3, 4, 6, 9])
def test_small_graphs_are_counted(name, max_length):
    graph = GRAPHS[name]
    estimator = Estimator(SearchSpace(graph, Options(max_length=max_length)))
    estimator.add_walk(10**6)
    known = estimator.estimate()
    expected = levels_of(graph, max_length=max_length).cycles
    assert estimator.exact
    assert known.exact
    assert known.by_length == expected
    assert known.triangles == expected.get(3, 0)
    assert known.total == EstimatedRange(*[sum(expected.values())] * 3)
    assert known.paths == EstimatedRange(*[certified_paths(graph, max_length or graph.n)] * 3)


def test_long_cycles_of_several_words_are_counted():
    estimator = Estimator(LONG)
    estimator.add_walk(10**6)
    known = estimator.estimate()
    assert known.by_length == levels_of(LONG).cycles
    assert known.paths.estimate == certified_paths(LONG, LONG.n)


def test_minimum_length_leaves_shorter_cycles_out():
    graph = GRAPHS["random"]
    estimator = Estimator(SearchSpace(graph, Options(min_length=5)))
    estimator.add_walk(10**6)
    expected = {length: count for length, count in levels_of(graph).cycles.items() if length >= 5}
    assert estimator.estimate().by_length == expected
    assert estimator.estimate().triangles is None


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 10])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("max_length", "learns"), [(None, True), (8, True), (8, False)])
@pytest.mark.slow_on(10)
def test_walks_are_unbiased(name, size, max_length, learns):
    graph = GRAPHS[name]
    longest = max_length or graph.n
    cycles, paths = [], []
    blocks = [HostBlocks(group) for group in groups_of(graph)]
    surveys = [each.survey(longest) for each in blocks]
    random = np.random.default_rng(1)
    sizes = [SubtreeSizes() if learns else None for _ in blocks]
    for _ in range(400):
        met = [walk(each, longest, size, random, sizes=own) for each, own in zip(blocks, sizes, strict=True)]
        cycles.append(sum(sum(each.cycles.values()) for each in met))
        paths.append(sum(sum(each.paths.values()) for each in met) + sum(triplets for _, triplets in surveys))
    truth = levels_of(graph, max_length=max_length).cycles
    holes = sum(count for length, count in truth.items() if length > 3)
    for values, expected in ((cycles, holes), (paths, certified_paths(graph, longest))):
        error = np.std(values) / math.sqrt(len(values))
        assert abs(np.mean(values) - expected) <= 4 * error + 1e-9 * expected
    assert np.std(cycles) > 0 or size == 10


def test_the_range_holds_the_truth_for_most_graphs():
    held = {"cycles": 0, "paths": 0}
    for seed in range(20):
        graph = gnp(22, 0.2, seed)
        estimator = Estimator(graph, seed=seed)
        for _ in range(6):
            estimator.add_walk(12)
        known = estimator.estimate()
        assert not known.exact
        truth = sum(levels_of(graph).cycles.values())
        held["cycles"] += known.total.low <= truth <= known.total.high
        held["paths"] += known.paths.low <= certified_paths(graph, graph.n) <= known.paths.high
    assert min(held.values()) >= 15


@pytest.mark.slow
def test_strata_steady_a_search_of_short_cycles():
    """Where the length is bounded, the distance of the ends decides how much lies below a path."""
    space = SearchSpace(grid(12, 12), Options(max_length=18, through=(70,)))
    (blocks,) = [HostBlocks(group) for batch in space.batches() for group in batch]
    spreads = []
    for sizes in (None, SubtreeSizes()):
        random = np.random.default_rng(1)
        cycles = [sum(walk(blocks, 18, 64, random, sizes=sizes).cycles.values()) for _ in range(60)]
        spreads.append(np.std(cycles) / np.mean(cycles))
    assert spreads[1] < spreads[0] / 2


def test_more_probes_narrow_the_range():
    widths = []
    for size in (8, 200):
        estimator = Estimator(grid(6, 6))
        for _ in range(6):
            estimator.add_walk(size)
        known = estimator.estimate()
        widths.append(known.total.high - known.total.low)
    assert widths[1] < widths[0] / 2


def test_many_walks_are_joined(monkeypatch):
    estimators = [Estimator(grid(6, 6), seed=3), Estimator(grid(6, 6), seed=3)]
    for most, estimator in zip((64, 8), estimators, strict=True):
        monkeypatch.setattr(estimate, "MOST_SAMPLES", most)
        for size in [5, 9] * 15:
            estimator.add_walk(size)
    apart, joined = (estimator.estimate() for estimator in estimators)
    assert len(estimators[1]._samples) <= 8
    assert apart.walks == joined.walks == 30
    assert joined.total.estimate == pytest.approx(apart.total.estimate)
    assert joined.paths.estimate == pytest.approx(apart.paths.estimate)
    assert joined.by_length == pytest.approx(apart.by_length)
    assert 0.3 < (joined.total.high - joined.total.low) / (apart.total.high - apart.total.low) < 3


def test_what_was_met_is_certain():
    graph = gnp(20, 0.3, 1)
    estimator = Estimator(graph)
    for _ in range(4):
        estimator.add_walk(2)
        known = estimator.estimate()
        assert known.triangles <= known.total.low <= known.total.estimate <= known.total.high
        assert known.total.low > known.triangles
        assert known.paths.low <= known.paths.estimate <= known.paths.high


def test_one_walk_tells_no_upper_end():
    estimator = Estimator(grid(6, 6))
    estimator.add_walk(5)
    known = estimator.estimate()
    assert (known.walks, known.total.high, known.paths.high) == (1, math.inf, math.inf)


def test_a_walk_that_is_broken_off_tells_lower_bounds():
    estimator = Estimator(grid(6, 6))
    estimator.add_walk(50, deadline=time.perf_counter() - 1)
    known = estimator.estimate()
    assert (known.walks, known.exact, known.total.high) == (0, False, math.inf)
    assert 0 < known.paths.low <= certified_paths(grid(6, 6), 36)


def test_no_walk_begins_that_would_take_longer_than_the_time_left(monkeypatch):
    clock = [0.0]

    def slow_walk(blocks, longest, size, random, **_):
        clock[0] += size / 100
        return walk(blocks, longest, size, random)

    monkeypatch.setattr(estimate, "walk", slow_walk)
    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    estimator = Estimator(grid(9, 9))
    assert estimator.probe(10.0)
    assert 5.0 < clock[0] <= 10.0
    before = clock[0]
    assert not estimator.probe(0.5)
    assert clock[0] == before


def test_where_only_small_walks_end_in_time_others_of_their_size_follow(monkeypatch):
    """One walk tells no range. The time of a small one tells little of a larger one."""
    clock = [0.0]

    def walk_of_a_second(blocks, longest, size, random, *, deadline, **_):
        clock[0] += 1.0
        is_broken_off = deadline < math.inf and size > 4
        return walk(blocks, longest, size, random, deadline=0.0 if is_broken_off else math.inf)

    monkeypatch.setattr(estimate, "walk", walk_of_a_second)
    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    estimator = Estimator(grid(9, 9))
    assert estimator.probe(3.5)
    assert estimator.estimate().walks == 1
    assert estimator.probe(2.0)
    assert estimator.estimate().walks > 1


def test_probing_ends_once_everything_is_known():
    estimator = Estimator(grid(4, 5))
    estimator.probe(1e9)
    assert estimator.estimate().total.estimate == sum(levels_of(grid(4, 5)).cycles.values())
    forest = Estimator(Graph.from_networkx(nx.path_graph(6)))
    forest.probe(1e9)
    assert (forest.estimate().total.estimate, forest.estimate().exact) == (0, True)
    with pytest.raises(EngineError, match="nothing was probed"):
        Estimator(grid(4, 5)).estimate()


def test_the_same_seed_gives_the_same_estimate():
    made = []
    for seed in (1, 1, 2):
        estimator = Estimator(grid(6, 6), seed=seed)
        estimator.add_walk(9)
        made.append(estimator.estimate().total.estimate)
    assert made[0] == made[1] != made[2]


def test_balls_stand_for_a_large_block():
    estimator = Estimator(SearchSpace(grid(30, 40), Options(max_length=8)))
    estimator.add_walk(10**6)
    assert estimator.estimate().by_length == levels_of(grid(30, 40), max_length=8).cycles


def test_batches_of_balls_are_drawn_at_random(monkeypatch):
    monkeypatch.setattr("kernels_ti.blocks.balls.BATCH_BYTES", 1 << 18)
    graph = grid(30, 40)
    estimator = Estimator(SearchSpace(graph, Options(max_length=8)))
    for _ in range(40):
        estimator.add_walk(10**6)
    known = estimator.estimate()
    truth = sum(levels_of(graph, max_length=8).cycles.values())
    assert (known.exact, known.triangles) == (False, None)
    assert known.total.estimate == pytest.approx(truth, rel=0.1)


def test_numbers_beyond_a_float_are_infinite():
    assert scaled(0.75, 2000) == math.inf
    mean, low, high = estimate.spread([math.inf, 1.0], np.array([0.5, 0.5]), 7)
    assert (mean, low, high) == (math.inf, 7, math.inf)


def test_too_large_a_block_is_refused(monkeypatch):
    monkeypatch.setattr(estimate, "LARGEST_ROWS", 100)
    with pytest.raises(SizeError, match="25 vertices is too large") as error:
        Estimator(grid(5, 5)).add_walk(10)
    assert error.value.exit_code == 2


def test_a_walk_takes_no_more_than_the_memory_allowed():
    space, memory = SearchSpace(grid(60, 60)), 12 << 20
    space.batches()[0]
    tracemalloc.start()
    try:
        estimator = Estimator(space, memory=memory)
        estimator.add_walk(1 << 15, deadline=time.perf_counter() + 1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert estimator.probed
    assert peak < memory


def test_a_memory_too_small_for_a_walk_is_refused():
    with pytest.raises(SizeError, match="25 vertices is too large for an estimate; a maximum length, or more memory,"):
        Estimator(grid(5, 5), memory=4000).add_walk(10)


def test_the_first_certificate_is_broken_off_when_the_time_is_over(monkeypatch):
    rounds = []
    neighbours_of = host_step._Lanes.neighbours_of
    monkeypatch.setattr(host_step._Lanes, "neighbours_of", lambda *given: rounds.append(1) or neighbours_of(*given))
    estimator = Estimator(grid(9, 9))
    assert not estimator.add_walk(10, deadline=-math.inf)
    assert len(rounds) == 1
    assert not estimator.exact
    assert (estimator.estimate().total.low, estimator.estimate().total.high) == (0, math.inf)


@pytest.mark.parametrize("layout", [{}, {"nested": True}])
@pytest.mark.parametrize("name", GRAPHS)
def test_weights_of_seeds(name, layout):
    groups = groups_of(GRAPHS[name], **layout)
    weights = seed_weights(groups, GRAPHS[name].n)
    assert [len(each) for each in weights] == [len(group.seed_entries) for group in groups]
    assert sum(float(each.sum()) for each in weights) == pytest.approx(1)
    assert all((each > 0).all() for each in weights)
    again = seed_weights(groups_of(GRAPHS[name], **layout), GRAPHS[name].n)
    assert all((one == other).all() for one, other in zip(weights, again, strict=True))


@pytest.mark.parametrize("graph", [grid(5, 7), gnp(30, 0.15, 1)])
def test_weights_are_near_the_work_of_each_seed(graph, monkeypatch):
    monkeypatch.setattr(estimate, "FEW_PAIRS", 0)
    (group,) = groups_of(graph)
    near = neighbour_sets(group)
    work = []
    for entry, u in zip(group.seed_entries.tolist(), group.seed_roots.tolist(), strict=True):
        x = int(group.neighbour[entry])
        allowed = {v for v in range(group.rows) if v > u} - near[u]
        stack = [(allowed, y) for y in near[u] - near[x] if y > x]
        work.append(0)
        while stack:  # at one end alone, without the certificate: the shares are much the same
            allowed, v = stack.pop()
            work[-1] += 1
            stack += [(allowed - near[v], w) for w in allowed & near[v] - near[x]]
    share = np.array(work) / sum(work)
    (weights,) = seed_weights([group], graph.n)
    assert np.abs(weights - share).sum() / 2 < 0.25


def test_too_large_a_group_is_weighed_by_its_pairs(monkeypatch):
    monkeypatch.setattr(estimate, "LARGEST_WEIGHED", 100)
    (group,) = groups_of(gnp(30, 0.15, 1))
    (weights,) = seed_weights([group], 30)
    assert weights == pytest.approx(group.pairs_of_seed / group.pairs_of_seed.sum())


def test_a_group_whose_walk_has_no_room_is_weighed_by_its_pairs():
    (group,) = groups_of(gnp(30, 0.15, 1))
    pairs = pytest.approx(group.pairs_of_seed / group.pairs_of_seed.sum())
    (walked,), (weights,) = seed_weights([group], 30, 1 << 20), seed_weights([group], 30, 1 << 16)
    assert weights == pairs
    assert walked != pairs


def test_no_group_has_no_weights():
    assert seed_weights([], 5) == []


@settings(max_examples=40)
@given(n=st.integers(5, 14), p=st.floats(0.1, 0.5), seed=st.integers(0, 999), rounds=st.integers(1, 8))
def test_the_certificate_keeps_what_the_waiting_end_reaches(n, p, seed, rounds):
    graph, _ = disjoint_union([nx.gnp_random_graph(n, p, seed=seed), nx.cycle_graph(9), nx.petersen_graph()])
    for group in groups_of(graph):
        blocks = HostBlocks(group)
        seeds = np.arange(len(group.seed_entries))
        frames = blocks.seed_frames(seeds, members=False, weight=np.ones(len(seeds)))
        kept, certified, distance, _ = blocks.certified(frames, rounds + 3)
        near = neighbour_sets(group)
        distances = []
        expected = []
        for i in range(len(frames)):
            first = int(group.first_row[frames.end[i]])
            allowed = {first + v for v in labels_in(frames.allowed, i)}
            seen = allowed & near[int(frames.end[i])]
            layers = [set(seen)]
            for _ in range(rounds - 1):
                seen |= allowed & set().union(*(near[v] for v in seen))
                layers.append(set(seen))
            left = [v for v in labels_in(frames.extensions, i) if near[first + v] & seen]
            if left:
                expected.append((i, left, sorted(v - first for v in seen)))
                ways = [[k for k, layer in enumerate(layers) if near[first + v] & layer] for v in left]
                distances += [way[0] + 2 for way in ways]
        assert expected == [
            (int(kept[i]), labels_in(certified.extensions, i), labels_in(certified.allowed, i))
            for i in range(len(certified))
        ]
        assert distance.tolist() == distances


def labels_in(rows: np.ndarray, i: int) -> list[int]:
    return labels_of(rows[i : i + 1])[1].tolist()


def test_bits_are_counted_without_numpy_2(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 1 << 63, (50, 3), np.uint64)
    counted = populations(rows).tolist()
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert populations(rows).tolist() == counted == [sum(int(word).bit_count() for word in row) for row in rows]
    assert populations(rows[:0]).tolist() == []


def test_a_model_that_tells_sizes_beyond_any_float_is_drawn_back() -> None:
    """Paths far from those that a model has seen may be told e^1000 times what was found below them."""
    count = 50
    far = np.zeros((count, 7))
    far[:, 0], far[:, 1] = 1.0, np.linspace(0.0, 40.0, count)

    def seen(length: int, features: np.ndarray, closing: np.ndarray) -> LevelSeen:
        nobody = np.empty(0, np.int64)
        return LevelSeen(length, features, np.full(len(features), 1e200), closing, nobody, np.empty((0, 7)))

    steep = seen(5, far, (2.0 ** far[:, 1]).astype(np.int64))
    beyond = np.array([[1.0, 0.0, 0, 0, 0, 0, 0], [1.0, 1e6, 0, 0, 0, 0, 0]])
    sizes = SubtreeSizes()
    sizes.learn([seen(4, beyond, np.zeros(2, np.int64)), steep])
    told = sizes.logarithms(4, beyond)
    assert told is not None
    assert np.isfinite(told).all()
    assert np.allclose(sizes.logarithms(5, far[[0, -1]]), [0, 40 * math.log(2)], atol=5)
