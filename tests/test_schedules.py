"""What the host loops do when memory or time is short: nothing lost, nothing twice."""

from itertools import cycle, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from oracles import check_cycles, grid, levels_of, waiting_in
from test_sweep_state import groups_of, sweep_of

from kernels_ti import Device, DeviceError, EngineError, Graph, Options, Run, enumerate_cycles, open_device
from kernels_ti.device.levels import opened_level
from kernels_ti.device.memory import resident_bytes
from kernels_ti.device.placing import CELLS_PER_LEVEL, CHILDREN, READY
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.state import GroupState
from kernels_ti.sweep import search as search_sweep
from kernels_ti.sweep import search_stage_1 as search_survey
from kernels_ti.sweep.frames import frame_words, share_frames
from kernels_ti.taichi_door import ti
from kernels_ti.wave import found_cycles
from kernels_ti.wave import search as search_wave


@pytest.fixture(params=["cpu", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def wave_device(request: pytest.FixtureRequest) -> Device:
    """A device whose wave can be starved; the CPU takes the wave for the paper's expansion."""
    try:
        return open_device(request.param)
    except DeviceError as error:
        pytest.skip(f"needs a {request.param} device: {error}")


def finish(run: Run) -> None:
    while not run.finished:
        run.advance()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "records"),
    [
        pytest.param(1, 60, marks=pytest.mark.slow),
        (1, 200),
        (1, 1000),
        pytest.param(9, 60, marks=pytest.mark.slow),
        (9, 200),
    ],
)
def test_a_wave_in_a_tiny_arena_loses_nothing(
    wave_device: Device, width: int, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Level by level does not fit, so slices are halved and the deepest level goes first."""
    graph = grid(4, 5)
    if width > 1:
        # The same grid in a block of more words than are unrolled: triangles on its edges, and no other cycle.
        edges = graph.edges().tolist()
        triangles = range(graph.n, wave_device.word_bits * width + 1)
        pages = [(end, v) for v, edge in zip(triangles, cycle(edges), strict=False) for end in edge]
        graph = Graph.from_edges(triangles.stop, edges + pages)
    expected = sorted(chordless_cycles(graph))
    words = 1 if width == 1 else width + 1
    arena = records * (2 * words * wave_device.word_bits // 8 + 8)
    monkeypatch.setitem(search_wave.ARENA_BYTES, wave_device.arch, arena)
    monkeypatch.setitem(found_cycles.CYCLE_BYTES, wave_device.arch, 70 * (words + 1) * wave_device.word_bits // 8)
    for expansion in ("paper", "two-ended"):
        if expansion == "paper" and width > 1:
            continue
        run = Run(graph, wave_device, Options(expansion=expansion, collect=True))
        found = []
        while not run.finished:
            assert run.advance().frontier <= records + graph.m**2
            pieces = run.take_cycles()
            ends = pieces.offsets.tolist()
            found += [pieces.vertices[a:b].tolist() for a, b in pairwise(ends)]
        check_cycles(graph, found)
        assert sorted(found) == expected
        assert sum(run.snapshot().cycles_by_length.values()) == len(expected)


@pytest.mark.slow
def test_the_wave_says_that_it_compiles(wave_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_wave, "_compiled", set())
    graph = grid(4, 5)
    run = Run(graph, wave_device, Options(expansion="paper"))
    assert run.snapshot().compiling
    after = run.advance()
    assert (after.compiling, after.seconds, after.paths_by_length) == (False, 0.0, {})
    finish(run)
    assert run.snapshot().cycles_by_length == levels_of(graph).cycles
    again = Run(graph, wave_device, Options(expansion="paper"))
    assert not again.snapshot().compiling, "this process has the kernels"


@pytest.mark.slow
@pytest.mark.parametrize("levels", [1, 3, 64])
@pytest.mark.parametrize(
    "records", [pytest.param(15, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.slow), 10**5]
)
def test_several_levels_in_one_queue_give_the_same_counts(
    wave_device: Device, levels: int, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels that fit are kept, the one that does not is tried again; cycles and frontier are exact."""
    graph = grid(4, 4)
    reference = levels_of(graph)
    monkeypatch.setitem(search_wave.FIRST_QUEUE, wave_device.arch, levels)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_QUEUE", levels)
    for collect in (False, True):
        words = graph.n // wave_device.word_bits + 1
        record_bytes = (2 if collect else 1) * words * wave_device.word_bits // 8 + 8
        monkeypatch.setitem(search_wave.ARENA_BYTES, wave_device.arch, records * record_bytes)
        monkeypatch.setitem(found_cycles.CYCLE_BYTES, wave_device.arch, 40 * 2 * wave_device.word_bits // 8)
        run = Run(graph, wave_device, Options(expansion="paper", collect=collect))
        found = 0
        while not run.finished:
            run.advance()
            found += len(run.take_cycles())
        last = run.snapshot()
        assert last.paths_by_length == dict(sorted(reference.paths.items()))
        assert last.cycles_by_length == dict(sorted(reference.cycles.items()))
        assert found == (last.cycles if collect else 0)


@ti.kernel
def records_ready(control: ti.types.ndarray(ti.u32, 1), free: ti.i32) -> ti.i32:
    """Return how many records the second level of a queue expands."""
    ready, _room, _taken = opened_level(control, 1, 2, 1, free, 0)
    return ready


@pytest.mark.parametrize(("free", "ready"), [(4, 0), (5, 0), (6, 0), (7, 2)])
def test_a_level_is_expanded_only_where_its_children_fit(device: Device, free: int, ready: int) -> None:
    """Five records were expanded and have two children; the arena may have less room than the records themselves."""
    control = np.zeros(CELLS_PER_LEVEL, np.uint32)
    control[[READY, CHILDREN]] = 5, 2
    assert records_ready(device.buffer(control), free) == ready


@pytest.mark.slow
def test_a_queue_of_levels_never_reads_what_was_not_written(
    wave_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New buffers hold the numbers of rows that are far away, so that a record that was not written is not harmless."""
    empty = Device.empty

    def full_of_far_rows(device: Device, size: int, dtype: Any, **how: bool) -> Any:
        buffer = empty(device, size, dtype, **how)
        buffer.fill(1_500_000_000)
        return buffer

    monkeypatch.setattr(Device, "empty", full_of_far_rows)
    monkeypatch.setitem(search_wave.FIRST_QUEUE, wave_device.arch, 64)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_QUEUE", 64)
    record_bytes = wave_device.word_bits // 8 + 8
    monkeypatch.setitem(search_wave.ARENA_BYTES, wave_device.arch, 8 * record_bytes)
    run = Run(grid(4, 4), wave_device, Options(expansion="paper"))
    finish(run)
    assert run.snapshot().cycles == 24


def test_an_arena_that_is_too_small_for_one_path_says_so(wave_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(search_wave.ARENA_BYTES, wave_device.arch, 64)
    run = Run(Graph.from_networkx(nx.complete_bipartite_graph(9, 9)), wave_device, Options(expansion="paper"))
    with pytest.raises(EngineError, match="places"):
        finish(run)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("budget", [100, 3000])
def test_a_sweep_in_tiny_slices_shares_its_frames(threads: int, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One triplet to begin with, many workers: frames move between them after every slice."""
    monkeypatch.setattr(search_sweep, "FIRST_BUDGET", budget)
    monkeypatch.setattr(search_sweep, "WIDE_FIRST_BUDGET", budget)
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    corner = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
    for graph in (corner, nx.disjoint_union(corner, corner)):
        joined = Graph.from_networkx(graph)
        cycles = list(enumerate_cycles(joined, arch="cpu", threads=threads))
        check_cycles(joined, cycles)
        assert len(cycles) == 749 * (len(graph) // 30)


@pytest.mark.slow
@pytest.mark.parametrize("host_words", [0, 1 << 16], ids=["kernels", "numpy"])
@pytest.mark.parametrize("places", [1, 7])
@pytest.mark.slow_on(1)
def test_stage_1_in_pieces_finds_every_triangle(places: int, host_words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few seeds to a launch, and room for few triangles."""
    monkeypatch.setattr(search_survey, "HOST_WORDS", host_words)
    monkeypatch.setattr(search_survey, "SEEDS_AT_ONCE", places)
    monkeypatch.setattr(search_survey, "CYCLE_BYTES", 16 * places)
    chordal = nx.disjoint_union(nx.complete_graph(8), nx.power(nx.path_graph(70), 12))
    triangles = sum(nx.triangles(chordal).values()) // 3
    graph = Graph.from_networkx(chordal)
    for collect in (False, True):
        run = Run(graph, open_device("cpu"), Options(collect=collect))
        finish(run)
        assert run.snapshot().cycles_by_length == {3: triangles}
        assert len(run.take_cycles()) == (triangles if collect else 0)


@pytest.mark.owner
def test_sharing_gives_work_to_every_worker() -> None:
    graph = grid(6, 10)
    (group,) = groups_of(graph)
    search = sweep_of(graph, group, False, 4, GroupState())
    busy = 0
    while not search.finished:
        search.advance_by(2000)
        busy = max(busy, int(np.count_nonzero(search._depth_of)))
    assert busy == search.workers == 4
    assert sum(search.totals.cycles.values()) == 800_139


def test_a_run_stops_between_slices_with_exact_counts_so_far() -> None:
    run = Run(grid(8, 10), open_device("cpu"), Options())
    assert run.snapshot().frontier == 63, "no path waits yet, but all pairs of neighbours from which paths begin"
    first = run.advance()
    assert first.paths_by_length == {3: 63}, "stage 1 comes first"
    for _ in range(3):
        second = run.advance()
    assert not second.finished
    assert 0 < second.cycles < 71_535_910
    assert second.frontier > 0
    assert second.paths == sum(second.paths_by_length.values())
    assert second.device_bytes > 0
    assert second.seconds > first.seconds


@pytest.mark.parametrize("expansion", ["two-ended", "paper"])
def test_a_snapshot_says_how_many_paths_of_each_length_wait(expansion: str) -> None:
    run = Run(grid(8, 10), open_device("cpu"), Options(expansion=expansion, memory=resident_bytes() + (1 << 29)))
    snapshots = [run.advance() for _ in range(3)]
    while not snapshots[-1].waiting_by_length:  # a slice may do nothing but compile
        snapshots.append(run.advance())
    waiting = waiting_in(frames for group in run.state().groups for frames in group.frames)
    assert snapshots[-1].waiting_by_length == waiting
    assert 1 <= sum(waiting.values()) <= snapshots[-1].frontier
    assert all(waiting[length] <= snapshots[-1].paths_by_length[length] for length in waiting)
    assert expansion == "paper" or len(waiting) > 5


def test_the_wave_goes_level_by_level_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several levels at once took seconds, in which the run could not pause and showed no wave."""
    launched = []
    launch = search_wave.WaveSearch._launch_expand

    def recorded(search: search_wave.WaveSearch, segment: Any, parents: int, levels: int) -> None:
        launched.append(levels)
        launch(search, segment, parents, levels)

    monkeypatch.setattr(search_wave.WaveSearch, "_launch_expand", recorded)
    finish(Run(grid(4, 5), open_device("cpu"), Options(expansion="paper")))
    assert len(launched) > 8
    assert set(launched) == {1}


def test_cycles_come_while_the_search_goes_on() -> None:
    stream = enumerate_cycles(grid(8, 10), arch="cpu")
    some = [next(stream) for _ in range(1000)]
    check_cycles(grid(8, 10), some)


def test_a_run_ends_when_another_arch_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(grid(5, 6), open_device("cpu"), Options())
    monkeypatch.setattr(ti._lib.core, "with_cuda", lambda: False)
    with pytest.raises(DeviceError, match="no driver"):
        open_device("cuda")
    run.advance()  # an arch that is not there takes nothing away
    try:
        open_device("vulkan")
    except DeviceError as error:
        pytest.skip(f"needs a vulkan device: {error}")
    with pytest.raises(DeviceError, match="another one has been opened"):
        run.advance()
    open_device("cpu")


def test_a_run_that_failed_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small blocks are done when the large one cannot be made."""
    graph = Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(80)))
    run = Run(graph, open_device("cpu"), Options())
    made = search_sweep.SweepSearch.__init__

    def fail_on_the_large(self: search_sweep.SweepSearch, blocks, *arguments, **named) -> None:
        if blocks.group.words > 1:
            raise MemoryError
        made(self, blocks, *arguments, **named)

    monkeypatch.setattr(search_sweep.SweepSearch, "__init__", fail_on_the_large)
    with pytest.raises(MemoryError):
        finish(run)
    assert not run.finished
    assert run.snapshot().cycles_by_length == {5: 1}
    with pytest.raises(EngineError, match="cannot go on"):
        run.advance()


def test_an_idle_worker_gets_half_of_the_work_of_the_stack_with_the_most() -> None:
    """One worker has many frames with little below them, one has few with much, one has nothing."""
    stacks = np.zeros((3, 4, frame_words(1, 0)), np.uint64)
    stacks[:2, :, 2] = 0b11  # two extensions each
    stacks[0, :, -2], stacks[1, :, -2] = np.array([[0.001], [0.2]]).view(np.uint64)
    stacks[:2, :, -1] = [[1, 2, 3, 4], [5, 6, 0, 0]]
    depth_of = np.array([4, 2, 0], np.int32)
    share_frames(stacks, depth_of, 1)
    assert depth_of.tolist() == [4, 1, 1]
    assert [stacks[worker, 0, -1] for worker in range(3)] == [1, 6, 5]
    share_frames(stacks, depth_of, 1)
    assert depth_of.tolist() == [4, 1, 1], "nobody is idle"
