"""The kernels of the wave that run on CUDA alone, on graphs of every shape that they tell apart."""

import networkx as nx
import numpy as np
import pytest
from oracles import grid

from kernels_ti import Device, DeviceError, Graph, Options, Run, open_device
from kernels_ti.bits import LARGEST_UNROLLED
from kernels_ti.wave import warp_batch as wave_batch
from kernels_ti.wave import warp_batch_wide as wave_wide_batch


def crossed_ladder(rungs: int, seed: int) -> nx.Graph:
    """A ladder with some rungs left out: long cycles, and floods along the whole block."""
    ladder = nx.ladder_graph(rungs)
    draw = np.random.default_rng(seed)
    for rung in range(1, rungs - 1):
        if draw.random() < 0.8:
            ladder.remove_edge(rung, rung + rungs)
    return ladder


GRAPHS = {
    "one word": lambda: nx.gnp_random_graph(24, 0.25, seed=3),
    "more children than a queue holds": lambda: nx.complete_multipartite_graph(*[6] * 10),
    "three words": lambda: nx.gnp_random_graph(75, 0.045, seed=4),
    "eight words": lambda: nx.disjoint_union(crossed_ladder(110, 1), nx.path_graph(2)),
    "several blocks": lambda: nx.disjoint_union_all([nx.gnp_random_graph(30, 0.16, seed=seed) for seed in range(4)]),
    "blocks of eight words": lambda: nx.disjoint_union_all([crossed_ladder(115 + seed, seed) for seed in range(3)]),
    "nine words": lambda: crossed_ladder(150, 2),
    "wide and dense": lambda: nx.complete_bipartite_graph(20, 280),
    "wide blocks": lambda: nx.disjoint_union(crossed_ladder(140, 5), crossed_ladder(150, 6)),
    "summary of two words": lambda: crossed_ladder(600, 7),
    "beyond shared memory": lambda: crossed_ladder(1100, 8),
}


SHARED_BYTES = 48 * 1024
"""Shared memory that a thread block may have without being asked for by name."""


@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("words", range(1, wave_wide_batch.MOST_WORDS + 1))
def test_shared_memory_is_enough(words: int, collect: bool) -> None:
    cells = [wave_wide_batch.cells_of(words)]
    if words <= LARGEST_UNROLLED:
        cells = [
            wave_batch.cells_of_rows(words, resident) + wave_batch.WARPS * wave_batch.cells_of(words, resident, collect)
            for resident in (False, True)
        ]
    assert 0 < 4 * max(cells) <= SHARED_BYTES


def searched(graph: Graph, device: Device, options: Options) -> Run:
    run = Run(graph, device, options)
    while not run.finished:
        run.advance()
        if options.collect:
            run.take_cycles()
    return run


@pytest.mark.cuda
@pytest.mark.parametrize("collect", [False, True], ids=["count", "list"])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_wave_counts_what_the_sweep_counts(name: str, collect: bool) -> None:
    graph = Graph.from_networkx(GRAPHS[name]())
    try:
        device = open_device("cuda")
    except DeviceError as error:
        pytest.skip(f"needs a cuda device: {error}")
    wave = searched(graph, device, Options(collect=collect)).snapshot()
    whole = searched(graph, open_device("cpu"), Options()).snapshot()
    assert wave.cycles_by_length == whole.cycles_by_length
    # With the certificate at every step no path is dead; the sweep asks for it now and then.
    assert sum(wave.paths_by_length.values()) <= sum(whole.paths_by_length.values())


def test_slices_stay_large_where_every_launch_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a launch takes long whatever is in it: smaller slices would only be more of them."""

    class SlowClock:
        now = 0.0

        @classmethod
        def perf_counter(cls) -> float:
            cls.now += 10.0
            return cls.now

    run = Run(grid(6, 8), open_device("cpu"), Options(expansion="paper"))
    run.advance()  # compiles
    monkeypatch.setattr("kernels_ti.wave.search.time", SlowClock)
    slices = 0
    while not run.finished:
        run.advance()
        slices += 1
    snapshot = run.snapshot()
    assert slices <= snapshot.paths // 512, (slices, snapshot.paths)
