"""The choice of `auto`: CUDA for a search that takes the CPU longer than CUDA takes to start, else the CPU."""

from __future__ import annotations

import time

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import Device, cuda_is_here, open_device
from kernels_ti.device.machine import cores
from kernels_ti.errors import EngineError
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.estimate.usual_rate import usual_rate
from kernels_ti.graph import Graph
from kernels_ti.options import require_arch

SMALL_GRAPH = 40
"""Graphs of up to this many vertices go to the CPU without an estimate, which would take longer than the search."""

CUDA_START_SECONDS = 1.2  # Seconds that CUDA takes longer to start than the CPU

WALK_PATHS, PROBING_SECONDS = 64, 0.3
"""Paths of a level that the one random walk of the estimate keeps, and seconds after which the walk is given up."""


def device_for(graph: Graph | SearchSpace, arch: str = "auto", *, threads: int | None = None) -> Device:
    """Open an arch for a search space, or for the search of all cycles of a graph.

    ``auto`` is CUDA if its driver is there and the search would take the CPU longer than CUDA takes to start, by an
    estimate of its paths; else the CPU. For another arch, `threads` and errors see
    `kernels_ti.device.device.open_device`. The speed and the start-up time were measured on an NVIDIA H200 and 16 cores
    of an Intel Xeon. There the CPU is faster up to about 100 million cycles.
    """
    space = SearchSpace.of(graph)
    return open_device(arch_for(space, arch, threads=threads), threads=threads)


def arch_for(space: SearchSpace, arch: str, *, threads: int | None) -> str:
    """Return the arch that `device_for` opens, which has the same parameters."""
    require_arch(arch)
    if arch != "auto":
        return arch
    large = cuda_is_here() and space.graph.n > SMALL_GRAPH and _is_large(Estimator(space), threads or cores())
    return "cuda" if large else "cpu"


def _is_large(estimator: Estimator, threads: int) -> bool:
    """Return whether the CPU would search longer than CUDA takes to start."""
    try:
        estimator.add_walk(WALK_PATHS, deadline=time.perf_counter() + PROBING_SECONDS)
        estimate = estimator.estimate()
    except EngineError:  # too large to be estimated
        return True
    # A search is large if not even one random walk ends in this time.
    whole = estimate.exact or estimate.walks > 0
    return not whole or estimate.paths.estimate / usual_rate(estimator.words, threads) > CUDA_START_SECONDS
