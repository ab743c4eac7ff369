"""Calls of the library, and the work inside them alone, in a process that keeps its kernels (`WarmProcess`)."""

from __future__ import annotations

import gc
import math
import time
from collections import Counter, deque
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from chordless.graphs.load import load_graph
from kernels_ti import (
    Device,
    EngineError,
    Graph,
    OptionError,
    Options,
    Run,
    collect_cycles,
    count_cycles,
    enumerate_cycles,
)
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount, arch_of_count, arch_of_longest
from kernels_ti.boundary.longest import best_cycle
from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES, annealed_plan
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back.blocks import Means, planned_blocks
from kernels_ti.device.device import held_device
from kernels_ti.device.memory import host_budget, search_budget
from kernels_ti.estimate.device_choice import device_for
from kernels_ti.graph import IntArray
from kernels_ti.state import by_length_of

if TYPE_CHECKING:
    from kernels_ti.run import DeviceSearch, Search

_SEARCHES = ("search", "search rows", "kept")
_ALONG_BOUNDARY = ("total", "lengths", "longest")
_WARM_UP_SECONDS = 10.0
_warm: set[tuple[str, str]] = set()


def answer(file: str, wanted: str, arch: str, threads: int | None) -> dict[str, Any]:
    """Search a graph, and return the seconds and the counts by length. The kernels are loaded before.

    The ways are those of `chordless bench listing`: ``count``, ``rows``, ``batches`` and ``lists`` are calls of the
    library, ``search``, ``search rows`` and ``kept`` the search inside them alone. For those of `chordless bench
    boundary` see `_along_boundary`.
    """
    if wanted in _ALONG_BOUNDARY:
        return _along_boundary(file, wanted, arch, threads)
    graph = load_graph(file).graph
    device = device_for(graph, arch, threads=threads)
    measured = partial(_searched if wanted in _SEARCHES else _called, graph, device, wanted)
    if (file, wanted) not in _warm:
        # Load or compile every kernel first. Even a long search uses all of them before it is cut off.
        measured(_WARM_UP_SECONDS)
        _warm.add((file, wanted))
    gc.collect()
    seconds, by_length = measured(None)
    return {"seconds": seconds, "by_length": by_length}


def _called(graph: Graph, device: Device, wanted: str, give_up: float | None) -> tuple[float, dict[int, int]]:
    """Call a function of the library as a user does. Return the seconds that it took, and the counts by length."""
    where: dict[str, Any] = {"arch": device.arch, "threads": device.threads}
    start = time.perf_counter()
    if wanted == "count":
        counts = count_cycles(graph, **where, method="search", timeout=give_up)
        return time.perf_counter() - start, counts.by_length
    if wanted == "rows":
        table = collect_cycles(graph, **where, timeout=give_up)
        table.rows()
        return time.perf_counter() - start, _by_length(table.lengths)
    stream, found = enumerate_cycles(graph, **where), Counter[int]()
    if wanted == "lists":
        for cycle in stream:
            found[len(cycle)] += 1
            if give_up is not None and time.perf_counter() - start > give_up:
                break
        return time.perf_counter() - start, dict(found)
    for batch in stream.batches():
        assert batch.vertices.size  # the vertices are made
        found.update(_by_length(batch.lengths))
        if give_up is not None and time.perf_counter() - start > give_up:
            break
    return time.perf_counter() - start, dict(found)


def _by_length(lengths: IntArray) -> dict[int, int]:
    return by_length_of(np.bincount(lengths))


class _KeptOnDevice(Run):
    """A run whose cycles stay where the search has written them, in the memory of the device."""

    def _take(self, search: Search) -> None:
        if self.device.arch == "reference":
            raise OptionError("the reference keeps its cycles on the host: choose another arch")
        deque(cast("DeviceSearch", search).take_found(), maxlen=0)


def _searched(graph: Graph, device: Device, wanted: str, give_up: float | None) -> tuple[float, dict[int, int]]:
    """Search slice by slice. Return the seconds of the slices, and the counts by length."""
    kind = _KeptOnDevice if wanted == "kept" else Run
    run = kind(graph, device, Options(collect=wanted != "search", rows=wanted != "search"))
    seconds, listed = 0.0, 0
    while not run.finished and (give_up is None or seconds < give_up):
        start = time.perf_counter()
        run.advance()
        taken = run.take_rows() if wanted == "search rows" else None
        seconds += time.perf_counter() - start
        listed += 0 if taken is None else len(taken)
        del taken  # not on the clock: the system takes its time to get the memory back
    snapshot = run.snapshot()
    if wanted == "search rows" and listed != snapshot.cycles:
        raise EngineError(f"{listed:,} cycles came to the host, {snapshot.cycles:,} were counted")
    return seconds, snapshot.cycles_by_length


@cache
def _planned(graph: str, arch: str, threads: int | None) -> tuple[SearchSpace, BoundaryPlan]:
    """Return a graph and the orders of its vertices, which are sought once."""
    space = SearchSpace(load_graph(graph, simplify=True).graph)
    plan = plan_of(space, seconds=SECONDS_FOR_PREFIXES)
    return space, annealed_plan(plan, "reference" if arch == "auto" else arch, threads=threads)


def _along_boundary(graph: str, wanted: str, arch: str, threads: int | None) -> dict[str, Any]:
    """Go along the boundaries of a graph.

    ``total`` counts all cycles together, ``lengths`` by length, ``longest`` finds the longest cycle. The answer has the
    seconds; the cycles by length, all of them with length 0, or those of the largest length; the width of the boundary,
    the most states, and the arch.
    """
    space, plan = _planned(graph, arch, threads)
    longest, lengths = wanted == "longest", wanted == "lengths"
    kernels = arch_of_longest(plan, arch, threads=threads) if longest else arch_of_count(plan, arch, by_length=lengths)
    with held_device(kernels, threads=threads if kernels == "cpu" else None) as device:
        on_device = device.arch != "reference"
        room = search_budget(device, None) if on_device else None
        began = time.perf_counter()
        if longest:
            best = best_cycle(
                planned_blocks(space, plan),
                Gains(),
                Means(host_budget(None), device=device if on_device else None, device_memory=room),
            )
            seconds, by_length, states = time.perf_counter() - began, {best.value: best.ways}, best.states
        else:
            count = BoundaryCount(space, by_length=lengths, memory=host_budget(None), plan=plan)
            if on_device:
                count.use(device, room)
            count.advance(math.inf)
            seconds, by_length, states = time.perf_counter() - began, count.cycles_by_length, count.most_states
    return {"seconds": seconds, "by_length": by_length, "width": plan.width, "states": states, "arch": device.arch}
