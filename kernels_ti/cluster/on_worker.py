"""What a worker of a cluster does: prepare itself for a search, and search leased frames for a while.

The functions here run inside the processes of Dask's workers. The graph and the device stay in the process from one
lease to the next.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device
from kernels_ti.device.memory import resident_bytes
from kernels_ti.errors import ChordlessError
from kernels_ti.graph import Graph
from kernels_ti.options import Options
from kernels_ti.state import Rows, RunState

SEARCHES_KEPT = 2
"""Searches whose graph and device stay in the process of a worker."""

MOST_CYCLE_BYTES = 64 << 20
"""A lease ends early once the cycles that it found take this much."""


@dataclass(frozen=True)
class Job:
    """A search, as its workers see it.

    Attributes
    ----------
    key : str
        Unique in the cluster.
    graph : Graph
    options : Options
    arch : str
    threads : int or None
        Worker threads on the CPU; None for as many as Dask gave the worker.
    versions : dict of str to str
        The versions of the driver; a worker must have the same.
    """

    key: str
    graph: Graph
    options: Options
    arch: str
    threads: int | None
    versions: dict[str, str]


@dataclass(frozen=True)
class Readiness:
    """The answer of a worker that prepared itself.

    Attributes
    ----------
    device : str
        Arch and name of the device; "" if the worker refuses.
    refusal : str
        Why the worker cannot be used; "" if it can.
    """

    device: str = ""
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a lease found, and what it left.

    Attributes
    ----------
    paths_by_length, cycles_by_length : dict of int to int
    found : Cycles or Rows or None
        The cycles themselves, if they are wanted.
    left : RunState or None
        What is still to do of the lease; its frames are a tuple. None if nothing is.
    seconds : float
        Time that the lease took on the worker.
    device_bytes, memory_bytes : int
        Bytes of the buffers on the device, and of the process.
    """

    paths_by_length: dict[int, int]
    cycles_by_length: dict[int, int]
    found: Cycles | Rows | None
    left: RunState | None
    seconds: float
    device_bytes: int
    memory_bytes: int


class NotPrepared(Exception):
    """The process does not know the search: it was started, or took other searches, in the meantime."""


@dataclass
class _Held:
    """A search in this process."""

    job: Job
    space: SearchSpace
    device: Device


_held: OrderedDict[str, _Held] = OrderedDict()
_turn = threading.Lock()  # one lease at a time, however many threads Dask gave the worker
_recalled: dict[str, int] = {}


def versions() -> dict[str, str]:
    """Return the versions on which the answers of a worker depend."""
    program = importlib.import_module("kernels_ti").__version__  # it lies above this room
    return {"chordless": program, "taichi": version("taichi"), "numpy": version("numpy")}


def prepare(job: Job, threads: int) -> Readiness:
    """Get ready for the leases of a search: compare versions, open the device.

    Parameters
    ----------
    job : Job
    threads : int
        Threads that Dask gave this worker.

    Returns
    -------
    Readiness
    """
    from kernels_ti.estimate.device_choice import device_for

    own = versions()
    others = [f"{name} {own[name]}, not {wanted}" for name, wanted in job.versions.items() if own[name] != wanted]
    if others:
        return Readiness(refusal=f"it has {' and '.join(others)}")
    with _turn:
        try:
            space = SearchSpace(job.graph, job.options)
            device = device_for(space, job.arch, threads=job.threads or threads)
        except ChordlessError as error:
            return Readiness(refusal=str(error))
        _held[job.key] = _Held(job, space, device)
        while len(_held) > SEARCHES_KEPT:
            _recalled.pop(_held.popitem(last=False)[0], None)
    return Readiness(device=f"{device.arch} {device.name}".strip())


def lease(key: str, number: int, state: RunState, seconds: float) -> Answer:
    """Search some frames for a while.

    Parameters
    ----------
    key : str
        The key of the job.
    number : int
        Number of this lease, see `recall`.
    state : RunState
        The frames; it covers its own batch only.
    seconds : float
        Answer after about so many seconds, or earlier if nothing is left or the lease is recalled.

    Raises
    ------
    NotPrepared
        If `prepare` has not been called in this process.
    ChordlessError
        If the search fails.
    """
    from kernels_ti.run import Run

    began = time.perf_counter()
    with _turn:
        held = _held.get(key)
        if held is None:
            raise NotPrepared(key)
        run = Run(held.space, held.device, held.job.options, state)
        found: list[Any] = []
        size = 0
        options = held.job.options
        while not run.finished:
            run.advance()
            if options.collect:
                some = run.take_rows() if options.rows else run.take_cycles()
                size += some.vertices.nbytes + some.offsets.nbytes if isinstance(some, Cycles) else some.nbytes
                found.append(some)
            late = time.perf_counter() - began >= seconds or _recalled.get(key, -1) >= number
            if late or size >= MOST_CYCLE_BYTES:
                break
        device_bytes = run.snapshot().device_bytes
        after = run.state()
        groups = tuple(replace(group, frames=tuple(group.frames)) for group in after.groups)
    return Answer(
        after.paths_by_length,
        after.cycles_by_length,
        found=_joined(found),
        left=None if run.finished else replace(after, groups=groups, paths_by_length={}, cycles_by_length={}),
        seconds=time.perf_counter() - began,
        device_bytes=device_bytes,
        memory_bytes=resident_bytes(),
    )


def _joined(found: list[Any]) -> Cycles | Rows | None:
    """Concatenate the cycles of several slices."""
    if not found:
        return None
    if isinstance(found[0], Cycles):
        return Cycles.joined(found)
    rows: Rows = np.concatenate(found)
    return rows


def recall(key: str, number: int) -> None:
    """Ask the leases up to this number to answer after their current slice."""
    _recalled[key] = max(number, _recalled.get(key, -1))
