"""The work of a cluster's worker: prepare itself for a search, and search leased frames for a while.

The functions here run inside the processes of Dask's workers. The graph and the device stay in the process from one
lease to the next.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cluster.portions import Portions, frame_bytes
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device
from kernels_ti.device.memory import resident_bytes
from kernels_ti.errors import ChordlessError
from kernels_ti.graph import Graph
from kernels_ti.options import Options
from kernels_ti.resident_batch import BatchCache
from kernels_ti.state import Layout, Rows, RunState, Totals
from kernels_ti.symmetry.space import space_of
from kernels_ti.taichi_door.libraries import library

SEARCHES_KEPT = 2  # Searches whose graph and device stay in the process of a worker

MOST_CYCLE_BYTES = 64 << 20  # A lease ends early, after its portion, once the cycles that it found take this much
TOO_MANY_CYCLE_BYTES = 8 * MOST_CYCLE_BYTES  # Then it ends in the middle of its portion, whatever is left

MOST_FRAME_BYTES = 4 << 20
"""Frames that an answer brings back. A lease that has more left goes on, because they soon become fewer."""

LONGEST_OVERRUN = 10.0  # Seconds that a lease goes on, at the most, because too many frames are left


@dataclass(frozen=True)
class Job:
    """The work that workers are to be ready for: by itself calls of functions."""

    key: str  # Unique in the cluster
    versions: dict[str, str]  # Of the driver; a worker must have the same


@dataclass(frozen=True)
class SearchJob(Job):
    """A search, as its workers see it."""

    graph: Graph
    options: Options
    layout: Layout
    batch: int  # The batch of blocks for which a worker compiles its kernels when it prepares itself
    arch: str
    threads: int | None  # On the CPU; None for as many as Dask gave the worker


@dataclass(frozen=True)
class Readiness:
    """The answer of a worker that prepared itself."""

    device: str = ""  # Arch and name of the device; "" if the worker refuses
    refusal: str = ""  # Why the worker cannot be used; "" if it can
    device_seconds: float = 0.0  # To open the device; a worker of a local cluster may have opened it before
    kernel_seconds: float = 0.0  # To compile or load its kernels


@dataclass(frozen=True, eq=False)
class Answer:
    """The results of a lease, and the work that it left."""

    paths_by_length: dict[int, int]
    cycles_by_length: dict[int, int]
    found: Cycles | Rows | None  # The cycles themselves, if they are wanted
    # The work that is left of the frames that were begun; its frames are a tuple. None if nothing is
    left: RunState | None
    begun: tuple[int, ...]  # How many frames of each group were begun, from the first on. The driver has the others
    seconds: float  # Time that the lease took on the worker
    device_bytes: int  # Of the buffers on the device
    memory_bytes: int  # Of the process

    @property
    def nbytes(self) -> int:
        """Bytes of the frames and cycles."""
        frames = 0 if self.left is None else frame_bytes(self.left)
        return frames + (0 if self.found is None else size_of(self.found))


def size_of(found: Cycles | Rows) -> int:
    """Return the bytes of some cycles."""
    return found.vertices.nbytes + found.offsets.nbytes if isinstance(found, Cycles) else found.nbytes


class NotPrepared(Exception):
    """The process does not know the search: it was started, or took other searches, in the meantime."""


@dataclass
class _Held:
    job: SearchJob
    space: SearchSpace
    device: Device
    cache: BatchCache = field(default_factory=BatchCache)
    portion_share: float = 0.0


_held: OrderedDict[str, _Held] = OrderedDict()
_turn = threading.Lock()  # one lease at a time, however many threads Dask gave the worker; others wait for it
_recalled: dict[str, int] = {}


def versions() -> dict[str, str]:
    """Return the versions on which the answers of a worker depend."""
    program = importlib.import_module("kernels_ti").__version__  # it lies above this room
    below = library()
    return {"chordless": program, below.package: below.version, "numpy": version("numpy")}


def prepare(job: Job, threads: int) -> Readiness:
    """Get ready: compare versions; for leases of a search open the device, with the threads from Dask, and compile."""
    from kernels_ti.estimate.device_choice import device_for

    own = versions()
    others = [f"{name} {own[name]}, not {wanted}" for name, wanted in job.versions.items() if own[name] != wanted]
    if others:
        return Readiness(refusal=f"it has {' and '.join(others)}")
    if not isinstance(job, SearchJob):
        return Readiness()
    with _turn:
        began = time.perf_counter()
        try:
            space = space_of(job.graph, job.options)
            device = device_for(space, job.arch, threads=job.threads or threads)
            held = _Held(job, space, device)
            opened = time.perf_counter()
            if space.longest > 3:
                device.call(_compile, held)
        except ChordlessError as error:
            return Readiness(refusal=str(error))
        _held[job.key] = held
        while len(_held) > SEARCHES_KEPT:
            _recalled.pop(_held.popitem(last=False)[0], None)
    return Readiness(
        device=f"{device.arch} {device.name}".strip(),
        device_seconds=opened - began,
        kernel_seconds=time.perf_counter() - opened,
    )


def lease(key: str, number: int, state: RunState, seconds: float) -> Answer:
    """Search the frames of a state, which covers its own batch only, for a while.

    The answer comes after about `seconds`, or earlier if nothing is left or the lease is recalled by its key and
    number, see `recall`. NotPrepared is raised if `prepare` has not been called in this process, a ChordlessError if
    the search fails.
    """
    with _turn:
        began = time.perf_counter()
        held = _held.get(key)
        if held is None:
            raise NotPrepared(key)
        if is_recalled(key, number) and frame_bytes(state):
            # It waited for another lease, and others have nothing to do.
            begun = (0,) * len(state.groups)
            return Answer({}, {}, None, None, begun, time.perf_counter() - began, 0, resident_bytes())
        try:
            return _searched(held, state, number, began, began + seconds)
        except BaseException:
            held.cache.clear()  # its search ended in the middle
            raise


def _searched(held: _Held, state: RunState, number: int, began: float, deadline: float) -> Answer:
    from kernels_ti.run import Run

    def ends() -> bool:
        is_late = time.perf_counter() >= deadline or is_recalled(held.job.key, number)
        return is_late or size >= MOST_CYCLE_BYTES

    options = held.job.options
    totals, found, size, left = Totals(), [], 0, None
    device_bytes = 0
    portions = Portions(state, held.portion_share, listing=options.collect)
    for portion in portions:
        before = size
        started = time.perf_counter()
        run = Run(held.space, held.device, options, portion, held.cache)
        while not run.finished:
            snapshot = run.advance()
            device_bytes = max(device_bytes, snapshot.device_bytes)
            if options.collect:
                some = run.take_rows() if options.rows else run.take_cycles()
                size += size_of(some)
                found.append(some)
            few_left = portions.most_bytes(snapshot.frontier) <= MOST_FRAME_BYTES
            overruns = time.perf_counter() >= deadline + LONGEST_OVERRUN
            if ends() and (few_left or overruns or size >= TOO_MANY_CYCLE_BYTES):
                break
        after = run.state()
        totals.add(after.paths_by_length, after.cycles_by_length)
        if not run.finished:
            groups = tuple(replace(group, frames=tuple(group.frames)) for group in after.groups)
            left = replace(after, groups=groups, paths_by_length={}, cycles_by_length={})
            break
        portions.searched(time.perf_counter() - started, size - before)
        if ends():
            break
    held.portion_share = portions.share
    return Answer(
        totals.paths,
        totals.cycles,
        found=_joined(found),
        left=left,
        begun=portions.begun,
        seconds=time.perf_counter() - began,
        device_bytes=device_bytes,
        memory_bytes=resident_bytes(),
    )


def _compile(held: _Held) -> None:
    """Bring the first batch of blocks to the device, and compile the kernels for it."""
    job = held.job
    held.cache.batch(held.space, job.layout, job.batch, held.device, job.options, begun=True).compile()


def _joined(found: list[Any]) -> Cycles | Rows | None:
    if not found:
        return None
    if isinstance(found[0], Cycles):
        return Cycles.joined(found)
    rows: Rows = np.concatenate(found)
    return rows


def recall(key: str, number: int) -> None:
    """Ask the leases and calls up to this number to answer soon."""
    _recalled[key] = max(number, _recalled.get(key, -1))


def is_recalled(key: str, number: int) -> bool:
    """Whether a lease or a call is to answer soon."""
    return _recalled.get(key, -1) >= number
