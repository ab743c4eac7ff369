"""Ways along the boundaries of graphs, in a process that keeps its kernels: for ``bench boundary``."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

from chordless.graphs.load import load_graph
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount, arch_of_count, arch_of_longest
from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES, annealed_plan
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back.blocks import planned_blocks
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.optimum import best_cycle
from kernels_ti.device.device import held_device
from kernels_ti.device.memory import host_budget, search_budget


@cache
def _planned(graph: str, arch: str, threads: int | None) -> tuple[SearchSpace, BoundaryPlan]:
    """Return a graph and the orders of its vertices, which are sought once."""
    space = SearchSpace(load_graph(graph, simplify=True).graph)
    plan = plan_of(space, seconds=SECONDS_FOR_PREFIXES)
    return space, annealed_plan(plan, "reference" if arch == "auto" else arch, threads=threads)


def answer(graph: str, wanted: str, arch: str, threads: int | None) -> dict[str, Any]:
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
