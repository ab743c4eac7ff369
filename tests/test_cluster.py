"""A search on a cluster: whatever the workers do, the cycles are those of the single run, each once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from oracles import grid
from simulated_workers import QUICK, SimulatedWorkers, finished

from kernels_ti import Device, EngineError, Graph, OptionError, Options, Run, count_cycles, open_device
from kernels_ti.cluster import on_worker
from kernels_ti.cluster.address import check_cluster
from kernels_ti.cluster.driver import ClusterRun
from kernels_ti.cluster.leases import FEWEST_CHUNKS, Chunk, chunks_of, groups_of
from kernels_ti.cluster.on_worker import SearchJob
from kernels_ti.cluster.pool import Pool
from kernels_ti.cluster.portions import PORTION_BYTES, Portions, frame_bytes, untouched
from kernels_ti.resident_batch import ResidentBatch
from kernels_ti.state import RunState


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a slice end early, so that a lease of a small graph leaves something to do."""
    monkeypatch.setattr("kernels_ti.sweep.search.FIRST_BUDGET", 200)
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)


@pytest.fixture
def cpu() -> Device:
    return open_device("cpu")


def two() -> SimulatedWorkers:
    return SimulatedWorkers({"a": 1, "b": 1})


def alone(graph: Graph, options: Options, device: Device) -> Run:
    run = Run(graph, device, options)
    while not run.finished:
        run.advance()
    return run


def random_graphs() -> Iterator[Graph]:
    for seed in range(2):
        yield Graph.from_networkx(nx.gnp_random_graph(14, 0.3, seed=seed))
    yield Graph.from_networkx(nx.gnp_random_graph(10, 0.3, seed=5, directed=True))
    yield Graph.from_networkx(nx.disjoint_union(nx.petersen_graph(), nx.cycle_graph(9)))


@pytest.mark.slow
@pytest.mark.parametrize("graph", [grid(5, 5), *random_graphs()], ids=str)
def test_counts_equal_those_of_the_single_run(graph: Graph, device: Device) -> None:
    single = alone(graph, Options(), device).snapshot()
    run = ClusterRun(graph, two(), arch=device.arch, pace=QUICK)
    assert finished(run) == single.cycles_by_length
    assert run.snapshot().share == 1.0
    assert not run.snapshot().waiting_by_length


@pytest.mark.parametrize(
    "options",
    [
        Options(min_length=5, max_length=8),
        Options(max_length=3),
        Options(through=(0,)),
        Options(through=(0, 7), avoid=(12,)),
        Options(avoid_edges=((0, 1), (6, 7))),
        Options(part=(2, 3)),
    ],
    ids=repr,
)
def test_bounds_and_restrictions_hold(options: Options, cpu: Device) -> None:
    graph = grid(5, 5)
    collecting = replace(options, collect=True)
    single = alone(graph, collecting, cpu)
    run = ClusterRun(graph, two(), collecting, arch=cpu.arch, pace=QUICK)
    assert finished(run) == single.snapshot().cycles_by_length
    assert as_set(run.take_cycles()) == as_set(single.take_cycles())


def as_set(cycles: Any) -> set[tuple[int, ...]]:
    listed = [tuple(cycle) for cycle in cycles.named(tuple(range(1000)))]
    assert len(set(listed)) == len(listed), "a cycle came twice"
    return set(listed)


@pytest.mark.parametrize("seed", range(5))
def test_faults_lose_nothing_and_double_nothing(seed: int, cpu: Device) -> None:
    """Deaths, failures, silence and forgotten searches, at random, while a cycle may come in any answer."""
    graph = grid(5, 5)
    drawn = random.Random(seed)
    faults = {name: drawn.choices(["ok", "die", "fail", "silent", "forget"], [6, 1, 1, 1, 1], k=30) for name in "abc"}
    workers = SimulatedWorkers(dict.fromkeys("abc", 1), faults, joining={k: f"late{k}" for k in range(2, 40, 3)})
    run = ClusterRun(graph, workers, Options(collect=True), arch=cpu.arch, pace=replace(QUICK, tries=9))
    finished(run)
    found = as_set(run.take_cycles())
    assert found == as_set(alone(graph, Options(collect=True), cpu).take_cycles())
    assert len(found) == run.snapshot().cycles


def test_rows_come_as_well(cpu: Device) -> None:
    options = Options(collect=True, rows=True)
    graph = grid(4, 5)
    run = ClusterRun(graph, two(), options, arch=cpu.arch, pace=QUICK)
    finished(run)
    expected = alone(graph, options, cpu).take_rows()
    assert sorted(run.take_rows().tolist()) == sorted(expected.tolist())


def test_batches_of_balls_are_searched_one_after_another(monkeypatch: pytest.MonkeyPatch, cpu: Device) -> None:
    graph = grid(7, 7)
    options = Options(max_length=8)
    monkeypatch.setattr("kernels_ti.blocks.balls.LARGEST_WHOLE", 8)
    single = alone(graph, options, cpu).snapshot().cycles_by_length
    assert finished(ClusterRun(graph, two(), options, arch=cpu.arch, pace=QUICK)) == single


def test_a_run_goes_from_one_machine_to_a_cluster_and_back(cpu: Device) -> None:
    graph = grid(5, 6)
    expected = count_cycles(graph, arch=cpu.arch).by_length
    here = Run(graph, cpu)
    here.advance()
    there = ClusterRun(graph, two(), state=tidy(here.state()), arch=cpu.arch, pace=QUICK)
    for _ in range(3):
        there.advance()
    assert not there.finished
    back = Run(graph, cpu, state=there.state())
    while not back.finished:
        back.advance()
    assert back.snapshot().cycles_by_length == expected


def prepared(graph: Graph, run: ClusterRun, cpu: Device, key: str) -> None:
    """Prepare this process for the leases of a run."""
    state = run.state()
    job = SearchJob(key, on_worker.versions(), graph, Options(), state.layout, state.batch, cpu.arch, 1)
    assert on_worker.prepare(job, 1).refusal == ""


def leased(run: ClusterRun) -> tuple[list[Chunk], RunState]:
    """Return all frames of a run, as chunks and as the state of one lease."""
    state = run.state()
    chunks = [
        chunk for number, group in enumerate(state.groups) for f in group.frames for chunk in chunks_of(number, f)
    ]
    frames = groups_of(chunks, [group.next_seed for group in state.groups])
    return chunks, replace(state, groups=frames, batches=state.batch + 1, paths_by_length={}, cycles_by_length={})


def finished_alone(state: RunState, graph: Graph, cpu: Device) -> Counter[int]:
    run = Run(graph, cpu, state=state)
    while not run.finished:
        run.advance()
    return Counter(run.snapshot().cycles_by_length)


@pytest.mark.slow
@pytest.mark.parametrize(("most_bytes", "overrun"), [(1 << 20, 10.0), (0, 10.0), (0, 0.0)])
def test_a_lease_brings_back_only_what_it_began(
    most_bytes: int, overrun: float, monkeypatch: pytest.MonkeyPatch, cpu: Device
) -> None:
    """Frames that it has not begun stay with the driver; too many begun ones are searched to their end."""
    monkeypatch.setattr("kernels_ti.cluster.on_worker.MOST_FRAME_BYTES", most_bytes)
    monkeypatch.setattr("kernels_ti.cluster.on_worker.LONGEST_OVERRUN", overrun)
    graph = grid(6, 6)
    run = ClusterRun(graph, two(), arch=cpu.arch)
    chunks, state = leased(run)
    prepared(graph, run, cpu, "few")
    answer = on_worker.lease("few", 0, state, 0.0)
    assert 0 < sum(answer.begun) < sum(len(chunk.frames) for chunk in chunks)
    assert (answer.left is None) == (most_bytes == 0 and overrun > 0)
    assert answer.nbytes < frame_bytes(state) / 4
    kept = groups_of(untouched(chunks, answer.begun), [group.next_seed for group in state.groups])
    found = Counter(answer.cycles_by_length) + finished_alone(replace(state, groups=kept), graph, cpu)
    if answer.left is not None:
        found += finished_alone(answer.left, graph, cpu)
    assert found == finished_alone(state, graph, cpu)


def test_a_lease_that_waited_for_another_and_is_recalled_begins_nothing(cpu: Device) -> None:
    graph = grid(5, 5)
    run = ClusterRun(graph, two(), arch=cpu.arch)
    chunks, state = leased(run)
    prepared(graph, run, cpu, "waited")
    on_worker.recall("waited", 7)
    answer = on_worker.lease("waited", 7, state, 60.0)
    assert (answer.left, answer.cycles_by_length, set(answer.begun)) == (None, {}, {0})
    assert list(untouched(chunks, answer.begun)) == chunks


def test_a_worker_gets_a_lease_ahead(cpu: Device) -> None:
    workers = SimulatedWorkers({"a": 1, "b": 1}, {"a": ["silent"] * 9, "b": ["silent"] * 9})
    run = ClusterRun(grid(6, 6), workers, arch=cpu.arch, pace=replace(QUICK, patience=60.0))
    for _ in range(3):
        run.advance()
    assert workers.leases == {"a": 2, "b": 2}


def test_the_blocks_stay_on_the_device_from_one_lease_to_the_next(monkeypatch: pytest.MonkeyPatch, cpu: Device) -> None:
    made: list[int] = []

    class Counted(ResidentBatch):
        def __init__(self, *args: Any, **more: Any) -> None:
            made.append(1)
            super().__init__(*args, **more)

    monkeypatch.setattr("kernels_ti.resident_batch.ResidentBatch", Counted)
    workers = SimulatedWorkers({"a": 1})
    finished(ClusterRun(grid(5, 5), workers, arch=cpu.arch, pace=QUICK))
    assert workers.leases["a"] > 3
    assert len(made) == 1


def test_a_lease_that_ends_in_an_error_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, cpu: Device) -> None:
    graph = grid(5, 5)
    run = ClusterRun(graph, two(), arch=cpu.arch)
    _, state = leased(run)
    prepared(graph, run, cpu, "error")
    with monkeypatch.context() as broken:
        broken.setattr("kernels_ti.run.Run.snapshot", lambda run: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            on_worker.lease("error", 0, state, 0.0)
    answer = on_worker.lease("error", 1, state, 60.0)
    assert answer.left is None
    assert Counter(answer.cycles_by_length) == finished_alone(state, graph, cpu)


def test_portions_grow_until_they_take_the_wanted_time(cpu: Device) -> None:
    chunks, state = leased(ClusterRun(grid(6, 6), two(), arch=cpu.arch))
    portions, sizes = Portions(state, 0.0, listing=False), []
    for portion in portions:
        sizes.append(sum(frames.share for group in portion.groups for frames in group.frames))
        portions.searched(1e-3)
    whole = sum(chunk.share for chunk in chunks)
    assert sum(sizes) == pytest.approx(whole)
    assert sizes[0] < whole / 4
    assert sizes[0] < sizes[1]
    assert portions.begun == tuple(sum(map(len, group.frames)) for group in state.groups)
    slow = Portions(state, 1e-9, listing=False)
    assert sum(len(frames) for group in next(iter(slow)).groups for frames in group.frames) == 1


def test_portions_are_few_whatever_came_before(monkeypatch: pytest.MonkeyPatch, cpu: Device) -> None:
    """The first lease has triangles and triplets only, which tell nothing of the size of portions."""
    portions: list[float] = []
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.1)
    searched = Portions.searched

    def counted(self: Portions, seconds: float, found_bytes: int = 0) -> None:
        portions.append(seconds)
        searched(self, seconds, found_bytes)

    monkeypatch.setattr(Portions, "searched", counted)
    workers = SimulatedWorkers({"a": 1})
    finished(ClusterRun(grid(6, 7), workers, arch=cpu.arch, pace=replace(QUICK, shortest=60.0, longest=60.0)))
    assert len(portions) < 4 * workers.leases.total()


def test_a_portion_of_a_listing_is_as_small_as_its_cycles_are_many(cpu: Device) -> None:
    _, state = leased(ClusterRun(grid(6, 6), two(), arch=cpu.arch))
    portions = Portions(state, 0.2, listing=True)
    next(iter(portions))
    portions.searched(1e-3, 64 * PORTION_BYTES)
    assert portions.share < 0.2 / 32
    assert Portions(state, 0.0, listing=True).share < Portions(state, 0.0, listing=False).share / 100


def test_a_lease_that_finds_too_many_cycles_ends_in_its_portion(monkeypatch: pytest.MonkeyPatch, cpu: Device) -> None:
    for name, size in (("MOST_CYCLE_BYTES", 1), ("TOO_MANY_CYCLE_BYTES", 1), ("MOST_FRAME_BYTES", 0)):
        monkeypatch.setattr(f"kernels_ti.cluster.on_worker.{name}", size)
    graph, options = grid(5, 6), Options(collect=True)
    run = ClusterRun(graph, two(), options, arch=cpu.arch, pace=replace(QUICK, longest=60.0, shortest=60.0))
    finished(run)
    assert as_set(run.take_cycles()) == as_set(alone(graph, options, cpu).take_cycles())
    assert sum(view.leases for view in run.worker_views()) > 4


def tidy(state: RunState) -> RunState:
    return replace(state, groups=tuple(replace(group, frames=tuple(group.frames)) for group in state.groups))


def test_a_lease_that_is_out_is_part_of_the_state(cpu: Device) -> None:
    graph = grid(5, 5)
    workers = SimulatedWorkers({"a": 1}, {"a": ["silent"]})
    run = ClusterRun(graph, workers, arch=cpu.arch, pace=replace(QUICK, patience=60.0))
    run.advance()
    rest = Run(graph, cpu, state=run.state())
    while not rest.finished:
        rest.advance()
    assert rest.snapshot().cycles_by_length == count_cycles(graph, arch=cpu.arch).by_length


def test_a_lease_that_fails_on_three_workers_ends_the_run_which_can_be_gone_on_with(cpu: Device) -> None:
    graph = grid(5, 5)
    workers = SimulatedWorkers(dict.fromkeys("abc", 1), {name: ["ok"] * 2 + ["fail"] * 9 for name in "abc"})
    run = ClusterRun(graph, workers, arch=cpu.arch, pace=QUICK)
    with pytest.raises(EngineError, match=r"a lease failed 3 times, the last time on [abc]: no room"):
        finished(run)
    rest = Run(graph, cpu, state=run.state())
    while not rest.finished:
        rest.advance()
    assert rest.snapshot().cycles_by_length == count_cycles(graph, arch=cpu.arch).by_length


def test_work_that_kills_every_worker_ends_the_run(cpu: Device) -> None:
    workers = SimulatedWorkers(
        {"0": 1}, {str(k): ["die"] for k in range(99)}, joining={k: str(k) for k in range(1, 99)}
    )
    run = ClusterRun(grid(5, 5), workers, arch=cpu.arch, pace=replace(QUICK, deaths=4))
    with pytest.raises(EngineError, match="4 workers were lost with the same work"):
        finished(run)


def test_a_scheduler_that_does_not_answer_ends_the_run(cpu: Device) -> None:
    workers = two()
    run = ClusterRun(grid(5, 5), workers, arch=cpu.arch, pace=QUICK)
    run.advance()
    workers.mute = 1.0
    with pytest.raises(EngineError, match="the scheduler of the cluster has not answered for 1 s"):
        run.advance()


def test_a_worker_that_joins_late_gets_work(cpu: Device) -> None:
    workers = SimulatedWorkers({"a": 1}, joining={3: "b"})
    run = ClusterRun(grid(6, 6), workers, arch=cpu.arch, pace=QUICK)
    on_the_way = run.snapshot().paths  # to the first frames
    finished(run)
    assert workers.leases["b"] > 0
    views = {view.address: view for view in run.worker_views()}
    assert sum(view.paths for view in views.values()) == run.snapshot().paths - on_the_way
    assert views["b"].leases == workers.leases["b"]
    assert views["b"].seconds > 0
    assert sum(view.share for view in views.values()) == pytest.approx(1.0)


def test_what_a_cluster_cannot_do_is_refused() -> None:
    for options in (Options(expansion="paper"), Options(participation="edges")):
        with pytest.raises(OptionError):
            ClusterRun(grid(3, 3), two(), options)
    with pytest.raises(OptionError, match="searches in one piece"):
        ClusterRun(grid(3, 3), two(), arch="reference")


def frames_of(graph: Graph, cpu: Device) -> tuple[Any, ...]:
    run = ClusterRun(graph, two(), arch=cpu.arch)
    return run.state().groups


def test_chunks_are_all_of_the_frames_once(cpu: Device) -> None:
    (group,) = frames_of(grid(5, 5), cpu)
    (frames,) = group.frames
    for some in (frames, frames[:3], frames[:1]):
        chunks = chunks_of(0, some)
        assert sum(chunk.frames.paths for chunk in chunks) == some.paths
        assert sum(chunk.share for chunk in chunks) == pytest.approx(some.share)
        rows = np.concatenate([chunk.frames.extensions for chunk in chunks])
        assert np.bitwise_xor.reduce(rows) == np.bitwise_xor.reduce(some.extensions)
        assert len(chunks) >= min(FEWEST_CHUNKS, some.paths)


def test_the_largest_chunks_are_leased_first_and_the_deepest_where_very_many_wait(cpu: Device) -> None:
    (group,) = frames_of(grid(5, 5), cpu)
    (frames,) = group.frames
    shallow, deep = frames[:1], replace(frames[1:2], length=frames.length[1:2] + 5)
    chunks = [Chunk(0, shallow, 0.9), Chunk(0, deep, 0.1)]
    roomy, narrow = Pool(1 << 30), Pool(1)
    for work, first in ((roomy, 0.9), (narrow, 0.1)):
        work.add(chunks)
        assert [chunk.share for chunk in work.take(0.05, 1)] == [first]
        assert work.share == pytest.approx(1.0 - first)
        work.take(1.0, 10)
        assert (len(work), work.share, work.paths_by_length.total()) == (0, 0.0, 0)


@pytest.mark.parametrize("where", ["loca", "local:0", "tcp:/host", "host:8786", ""])
def test_a_cluster_that_does_not_exist_is_named(where: str) -> None:
    with pytest.raises(OptionError, match="there is no cluster"):
        check_cluster(where, None)


@pytest.mark.parametrize(("where", "gpus"), [("tcp://a:1", (0,)), ("local:2", (0,)), ("local", (1, 1)), ("local", ())])
def test_gpus_are_for_a_local_cluster(where: str, gpus: tuple[int, ...]) -> None:
    with pytest.raises(OptionError, match="gpus"):
        check_cluster(where, gpus)
