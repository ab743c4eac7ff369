"""Random searches under random shortages of memory, room and time, handed over now and then: always the same cycles."""

import random
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from oracles import by_length, check_cycles

from kernels_ti import Device, EngineError, Graph, Options, Run
from kernels_ti.found import stored
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.sweep import search as search_sweep
from kernels_ti.sweep import search_stage_1 as search_survey
from kernels_ti.wave import found_cycles
from kernels_ti.wave import search as search_wave

ROUNDS = {"cpu": 120, "vulkan": 10, "cuda": 60}


def some_graph(draw: random.Random) -> Graph:
    seed = draw.randrange(10**6)
    kind = draw.choice(["dense", "sparse", "bipartite", "grid", "star of cycles", "with a long cycle"])
    if kind == "dense":
        graph = nx.gnp_random_graph(draw.randint(3, 14), draw.random(), seed=seed)
    elif kind == "sparse":
        graph = nx.gnp_random_graph(draw.randint(10, 24), 0.13, seed=seed)
    elif kind == "bipartite":
        graph = nx.complete_bipartite_graph(draw.randint(1, 6), draw.randint(1, 8))
    elif kind == "grid":
        graph = nx.grid_2d_graph(draw.randint(2, 4), draw.randint(2, 5))
    elif kind == "star of cycles":
        graph = nx.Graph()
        for k in range(draw.randint(1, 8)):
            nx.add_cycle(graph, [0, *((k, i) for i in range(draw.randint(2, 8)))])
    else:
        graph = nx.disjoint_union(nx.gnp_random_graph(7, 0.5, seed=seed), nx.cycle_graph(draw.choice([65, 130])))
        graph.add_edges_from([(0, 8), (5, 30)])
    names = list(graph)
    draw.shuffle(names)
    return Graph.from_networkx(nx.relabel_nodes(graph, {name: v for v, name in enumerate(names)}))


def starve(draw: random.Random, graph: Graph, device: Device, patch: pytest.MonkeyPatch) -> None:
    """Set every size that the schedules may choose to something small, sometimes absurdly so."""
    word_bytes = device.word_bits // 8
    words = graph.n // device.word_bits + 1
    settings: dict[Any, dict[str, Any]] = {
        search_survey: {
            "SEEDS_AT_ONCE": draw.choice([1, 13, 1 << 18]),
            "CYCLE_BYTES": draw.choice([0, 300, 1 << 20]),
            "HOST_WORDS": draw.choice([0, 30, 1 << 16]),
        },
        search_sweep: {
            "FIRST_BUDGET": draw.choice([1, 7, 100, 20_000]),
            "PATIENCE": draw.choice([0, 1, 32]),
            "CYCLE_BYTES_PER_WORKER": draw.choice([0, 200, 1 << 19]),
        },
    }
    for module, values in settings.items():
        for name, value in values.items():
            patch.setattr(module, name, value)
    for name, value in {
        "ARENA_BYTES": draw.choice([100, 300, 2000]) * (2 * words * word_bytes + 8),
        "FIRST_SLICE": draw.choice([2, 100, 1 << 14]),
        "FIRST_QUEUE": draw.choice([1, 8, 64]),
    }.items():
        patch.setitem(getattr(search_wave, name), device.arch, value)
    patch.setitem(found_cycles.CYCLE_BYTES, device.arch, draw.choice([70, 500]) * (words + 1) * word_bytes)
    patch.setitem(stored.TRACED_AT_ONCE, device.arch, draw.choice([1, 100, 1 << 22]))
    patch.setitem(stored.ROW_BYTES_AT_ONCE, device.arch, draw.choice([1, 100, 1 << 22]))
    patch.setattr(search_wave, "SOFTWARE_ARENA_BYTES", draw.choice([100, 1 << 20]))
    patch.setattr(search_wave, "SOFTWARE_FIRST_SLICE", draw.choice([2, 100, 1 << 14]))
    patch.setattr(search_wave, "SOFTWARE_FIRST_QUEUE", draw.choice([1, 8, 64]))
    patch.setattr("kernels_ti.run.SLICE_SECONDS", draw.choice([0.0, 0.1]))


@pytest.mark.slow
def test_shortages_change_nothing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    finished = 0
    for seed in range(ROUNDS[device.arch]):
        draw = random.Random(seed)
        graph = some_graph(draw)
        expected = sorted(chordless_cycles(graph))
        starve(draw, graph, device, monkeypatch)
        options = Options(expansion=draw.choice(["two-ended", "paper"]), collect=True)
        found: list[list[int]] = []
        try:
            run = Run(graph, device, options)
            while not run.finished:
                run.advance()
                cycles = run.take_cycles()
                found += [cycles.vertices[a:b].tolist() for a, b in pairwise(cycles.offsets.tolist())]
                if draw.random() < 0.2:
                    run = Run(graph, device, options, run.state())
        except EngineError:  # an arena may be too small in earnest
            continue
        finished += 1
        check_cycles(graph, found)
        assert sorted(found) == expected, f"seed {seed}"
        assert run.snapshot().cycles_by_length == by_length(expected), f"seed {seed}"
    assert finished >= 0.9 * ROUNDS[device.arch], "hardly a search had room enough to say anything"
