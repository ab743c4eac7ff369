"""A run handed over in the middle: to another arch, another number of threads, another process in effect."""

import gc
import itertools
import pickle
import weakref
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from oracles import by_length, check_cycles, grid

from kernels_ti import Device, DeviceError, EngineError, Graph, OptionError, Options, Run, open_device
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.state import RunState
from kernels_ti.wave import search as search_wave

ARCHES = [
    "cpu",
    pytest.param("vulkan", marks=pytest.mark.vulkan),
    pytest.param("cuda", marks=pytest.mark.cuda),
]


def long() -> Graph:
    """A grid and a ring in a block of more words than are unrolled: a search of hundreds of levels."""
    ring = nx.disjoint_union(nx.Graph(grid(3, 4).edges().tolist()), nx.cycle_graph(540))
    ring.add_edges_from([(0, 12), (11, 282), (20, 276), (40, 260)])
    return Graph.from_networkx(ring)


def wide() -> Graph:
    """The same with a ring of few vertices. Triangles on the edges fill the words."""
    ring = nx.disjoint_union(nx.Graph(grid(3, 4).edges().tolist()), nx.cycle_graph(54))
    ring.add_edges_from([(0, 12), (11, 39), (20, 36), (25, 30)])
    for v, (a, b) in zip(range(len(ring), 552), itertools.cycle(list(ring.edges())), strict=False):
        ring.add_edges_from([(v, a), (v, b)])
    return Graph.from_networkx(ring)


def several_blocks() -> Graph:
    graph = nx.disjoint_union_all([nx.grid_2d_graph(4, 5), nx.petersen_graph(), nx.complete_graph(5), nx.path_graph(3)])
    graph.add_edges_from([(0, 20), (5, 30)])
    return Graph.from_networkx(graph)


GRAPHS = {"grid": lambda: grid(4, 6), "wide": wide, "long": long, "several blocks": several_blocks}


def open_or_skip(arch: str, threads: int | None = None) -> Device:
    try:
        return open_device(arch, threads=threads)
    except DeviceError as error:
        pytest.skip(f"needs a {arch} device: {error}")


def collected(run: Run, into: list[list[int]]) -> None:
    cycles = run.take_cycles()
    into += [cycles.vertices[a:b].tolist() for a, b in pairwise(cycles.offsets.tolist())]


def frozen(state: RunState) -> RunState:
    """A state whose frames have been read, as another process would have it."""
    return pickle.loads(pickle.dumps(state))


@pytest.mark.slow
@pytest.mark.parametrize("second", ARCHES)
@pytest.mark.parametrize("first", ARCHES)
@pytest.mark.parametrize("name", GRAPHS)
def test_another_arch_goes_on(name: str, first: str, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices as short as can be, so that there is a middle to stop in."""
    if name == "long" and "vulkan" in (first, second):
        pytest.skip("hundreds of levels, one launch each, are slow on a software device")
    graph = GRAPHS[name]()
    expected = sorted(chordless_cycles(graph))
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    monkeypatch.setattr("kernels_ti.sweep.search.FIRST_BUDGET", 200)
    for arch in ("cpu", "vulkan", "cuda"):
        monkeypatch.setitem(search_wave.FIRST_SLICE, arch, 100)
        monkeypatch.setitem(search_wave.FIRST_QUEUE, arch, 1)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_SLICE", 100)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_QUEUE", 1)
    for slices in (0, 4) if name in ("wide", "long") else (0, 2, 5):
        run = Run(graph, open_or_skip(first), Options(collect=True))
        found: list[list[int]] = []
        for _ in range(slices):
            run.advance()
            collected(run, found)
        before = run.snapshot()
        state = frozen(run.state())
        run = Run(graph, open_or_skip(second, threads=3 if second == "cpu" else None), Options(collect=True), state)
        assert run.snapshot().share >= before.share
        assert run.snapshot().cycles_by_length == before.cycles_by_length
        shares = [run.snapshot().share]
        while not run.finished:
            shares.append(run.advance().share)
            collected(run, found)
        check_cycles(graph, found)
        assert sorted(found) == expected
        assert run.snapshot().cycles_by_length == by_length(expected)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_the_papers_expansion_goes_on(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its frontier by length is the same as without a stop."""
    graph = grid(4, 6)
    device = open_or_skip(arch)
    monkeypatch.setitem(search_wave.FIRST_QUEUE, arch, 1)
    monkeypatch.setitem(search_wave.ARENA_BYTES, arch, 1 << 22)  # one for each run, and a device frees them late
    monkeypatch.setitem(search_wave.FIRST_SLICE, arch, 50)
    monkeypatch.setattr(search_wave, "SOFTWARE_FIRST_SLICE", 50)
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    options = Options(expansion="paper")
    whole = Run(graph, device, options)
    while not whole.finished:
        whole.advance()
    run = Run(graph, device, options)
    handed = 0
    while not run.finished:
        run.advance()
        if not run.finished:
            run = Run(graph, device, options, frozen(run.state()))
            handed += 1
    assert handed > 2
    assert run.snapshot().paths_by_length == whole.snapshot().paths_by_length
    assert run.snapshot().cycles_by_length == whole.snapshot().cycles_by_length


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("parts", [1, 3])
def test_parts_add_up(arch: str, parts: int) -> None:
    graph = several_blocks()
    device = open_or_skip(arch)
    found: list[list[int]] = []
    counted: dict[int, int] = {}
    for part in range(1, parts + 1):
        run = Run(graph, device, Options(collect=True, part=(part, parts)))
        while not run.finished:
            run.advance()
            collected(run, found)
        for length, count in run.snapshot().cycles_by_length.items():
            counted[length] = counted.get(length, 0) + count
    expected = sorted(chordless_cycles(graph))
    assert sorted(found) == expected
    assert counted == by_length(expected)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_rows_hold_the_members(arch: str) -> None:
    graph = several_blocks()
    run = Run(graph, open_or_skip(arch), Options(collect=True, rows=True, min_length=4))
    rows = []
    while not run.finished:
        run.advance()
        rows.append(run.take_rows())
    bits = np.unpackbits(np.concatenate(rows).view(np.uint8), axis=1, bitorder="little")
    found = sorted(tuple(np.flatnonzero(row).tolist()) for row in bits)
    assert found == sorted(tuple(sorted(cycle)) for cycle in chordless_cycles(graph) if len(cycle) > 3)


def test_a_state_cannot_be_had_before_the_cycles_are_taken() -> None:
    run = Run(grid(3, 3), open_device("cpu"), Options(collect=True))
    while not run.snapshot().cycles:
        run.advance()
    with pytest.raises(EngineError, match="have not been taken"):
        run.state()


@pytest.mark.parametrize("too_late", ["used", "pickled", "gone on"])
def test_a_state_is_used_once_and_before_its_run_goes_on(too_late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of it would be counted otherwise."""
    monkeypatch.setattr("kernels_ti.run.SLICE_SECONDS", 0.0)
    graph, device = grid(8, 8), open_device("cpu", threads=1)
    run = Run(graph, device)
    while not run.snapshot().waiting_by_length:
        run.advance()
    state, kept = run.state(), None
    if too_late == "used":
        Run(graph, device, state=state).advance()
    elif too_late == "pickled":
        kept = frozen(state)
    else:
        run.advance()
    with pytest.raises(EngineError, match="take the state of the run anew"):
        Run(graph, device, state=state).advance()
    monkeypatch.undo()
    for left in (kept, kept) if kept else (run.state(),):
        rest = Run(graph, device, state=left)
        while not rest.finished:
            rest.advance()
        assert rest.snapshot().cycles == 1743247


def test_the_state_of_another_graph_is_refused() -> None:
    device = open_device("cpu")
    state = Run(Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(70), nx.cycle_graph(7))), device).state()
    with pytest.raises(OptionError, match="does not fit the graph: it has other groups"):
        Run(grid(3, 4), device, state=state)


def test_the_reference_cannot_be_resumed() -> None:
    run = Run(grid(3, 3), open_device("reference"))
    with pytest.raises(OptionError, match="choose another arch"):
        run.state()
    with pytest.raises(OptionError, match="choose another arch"):
        Run(grid(3, 3), open_device("reference"), Options(part=(1, 2)))


@pytest.mark.parametrize("part", [(0, 3), (4, 3), (-1, 1)])
def test_there_is_no_such_part(part: tuple[int, int]) -> None:
    with pytest.raises(OptionError, match="parts are numbered from 1"):
        Options(part=part)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.slow_on("vulkan")
def test_the_kth_allocation_fails(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every k: a smaller slice, or one clear error, never a wrong count. A GPU is asked twice."""
    graph = grid(4, 5)
    device = open_or_skip(arch)
    expected = by_length(chordless_cycles(graph))
    original = type(device).allocate
    messages: list[str] = []
    successes = k = 0
    while True:
        k += 1
        calls = 0

        def failing(self, size, dtype, k=k):
            nonlocal calls
            calls += 1
            if calls == k or (arch != "cpu" and calls == k + 1):
                raise MemoryError("no more")
            return original(self, size, dtype)

        monkeypatch.setattr(type(device), "allocate", failing)
        try:
            run = Run(graph, device, Options(collect=True))
            found: list[list[int]] = []
            while not run.finished:
                run.advance()
                collected(run, found)
        except EngineError as error:
            messages.append(str(error))
        else:
            assert by_length(found) == expected
            successes += 1
            if calls < k:
                break
    assert len(messages) > 3
    assert all("has no room for another" in message for message in messages)
    assert successes > 0


@pytest.mark.parametrize("arch", ["cuda", "vulkan"])
def test_a_search_that_was_dropped_makes_room_for_the_next(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = open_or_skip(arch)
    run = Run(grid(4, 5), device)
    run.self = run  # type: ignore[attr-defined]
    dropped, real = weakref.ref(run), type(device).allocate
    gc.disable()
    try:
        del run
        assert dropped() is not None

        def full_until_it_is_gone(self: Device, size: int, dtype: np.dtype[np.generic]) -> object:
            if dropped() is not None:
                raise RuntimeError("no more")
            return real(self, size, dtype)

        monkeypatch.setattr(type(device), "allocate", full_until_it_is_gone)
        assert device.empty(10, np.int32).shape == (10,)
        assert dropped() is None
    finally:
        gc.enable()
