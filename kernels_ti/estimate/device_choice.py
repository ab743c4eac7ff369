"""What `auto` means: the CPU, or a GPU where it is worth its start."""

from __future__ import annotations

import time

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import Device, cuda_is_here, open_device
from kernels_ti.device.machine import cores
from kernels_ti.errors import EngineError
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.graph import Graph
from kernels_ti.options import require_arch

SMALL_GRAPH = 40
"""Graphs of up to this many vertices are done on the CPU before an estimate would be."""

CPU_PATHS_PER_SECOND = 50e6
"""Paths that a thread of the CPU looks at in a second, of those that the certificate lets pass."""

CUDA_START_SECONDS = 1.2
"""How much longer CUDA takes to start than the CPU."""

WALK_PATHS, PROBING_SECONDS = 64, 0.3
"""Paths of a level that the one walk of the estimate keeps, and seconds after which it is given up."""


def device_for(graph: Graph | SearchSpace, arch: str = "auto", *, threads: int | None = None) -> Device:
    """Open an arch for a graph.

    Parameters
    ----------
    graph : Graph or SearchSpace
        A graph stands for the search of all its cycles.
    arch : str
        One of `kernels_ti.device.device.ARCHES`, or ``auto``: CUDA if its driver is there and the search would take the
        CPU longer than CUDA takes to start, by an estimate of its paths; else the CPU.
    threads : int, optional
        Workers of a CPU; by default one to each core.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError, OptionError
        See `kernels_ti.device.device.open_device`. No other arch is taken in place of one that was asked for.

    Notes
    -----
    Both figures were measured on an NVIDIA H200 beside 16 cores of an Intel Xeon: the CPU wins up to 100 million
    cycles or so.
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
    """Say whether the CPU would search for longer than CUDA takes to start."""
    try:
        estimator.add_walk(WALK_PATHS, deadline=time.perf_counter() + PROBING_SECONDS)
        estimate = estimator.estimate()
    except EngineError:  # too large to be estimated
        return True
    # What is too large to be walked through once in this time is large.
    whole = estimate.exact or estimate.walks > 0
    return not whole or estimate.paths / (threads * CPU_PATHS_PER_SECOND) > CUDA_START_SECONDS
