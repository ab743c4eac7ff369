"""How fast this machine goes along a boundary, in Python and in kernels: measured once, and kept."""

from __future__ import annotations

import contextlib
import json
import math
import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

from chordless.files import read_file, replaced
from chordless.graphs.generators import generate
from chordless.runs.directory import program_version
from kernels_ti import Device, EngineError, OptionError
from kernels_ti.boundary.count import arch_of_count, block_in_kernels
from kernels_ti.boundary.executors.in_python import PythonBlock
from kernels_ti.boundary.needs import Needs, needs_of, states_of_lengths
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.spec.block import ordered_blocks
from kernels_ti.choices import COST_OF_LENGTHS
from kernels_ti.device.cuda import driver_is_here
from kernels_ti.device.device import cuda_is_here, held_device
from kernels_ti.device.machine import cores, cpu_name
from kernels_ti.device.memory import KERNELS, LEAST, host_budget, search_budget
from kernels_ti.folders import base_folder, make_folder
from kernels_ti.taichi_door.libraries import library

_VERSION = 3
# Counts of some tenths of a second: long enough to tell the rate, short enough not to be waited for.
_GRAPHS = {
    "reference": ("grid:10x10", "grid:10x10"),
    "cpu": ("grid:12x12", "grid:10x10"),
    "cuda": ("grid:16x16", "grid:14x14"),
    "vulkan": ("grid:12x12", "grid:10x10"),
}
"""For each arch a graph of which all lengths are counted together, and one for a count by length."""
# A step that is expected to meet less than this part of the most states takes the time of its launches.
_SMALL_STEP = 0.01
# Of the memory that is allowed on a CPU: Python, Taichi and a graph.
_BYTES_OF_THE_ENGINE = 190 << 20
# With less than this a count along a boundary in the kernels of a CPU is refused. Without them a process takes 58 MiB.
_LEAST_FOR_KERNELS = (58 << 20) + KERNELS + LEAST


@dataclass(frozen=True)
class BoundaryRates:
    """How fast an arch goes along a boundary."""

    device: str  # Its name
    memory: int | None  # Bytes that a count may take there
    start: float  # Seconds until the first vertex comes
    step: float  # Seconds that a vertex takes beside the seconds for its states
    # `total` and `by_length`: seconds that a state takes in a count of all lengths together, and in a count by length.
    total: float
    by_length: float

    def seconds(self, plan: BoundaryPlan, *, longest: int | None = None, needs: Needs | None = None) -> float:
        """Return about how long a count takes, by length if `longest` is given, in passes where it `needs` these."""
        if needs is not None and needs.totals != 1.0:
            steps = needs.passes * len(plan.expected_states)
            return self.start + self.step * steps + self.total * plan.states * needs.totals
        states = self.total * plan.states if longest is None else self.by_length * states_of_lengths(plan, longest)
        return self.start + self.step * len(plan.expected_states) + states

    def room(self, arch: str, memory: int | None) -> float:
        """Return the bytes for the states of a count: beside the engine, of the memory allowed, or of what is free."""
        if arch == "cuda":
            return memory or self.memory or math.inf
        if memory is None:
            return host_budget(None)
        if memory < _LEAST_FOR_KERNELS and arch != "reference":
            return 0
        return max(memory - _BYTES_OF_THE_ENGINE, LEAST)

    def needs(self, plan: BoundaryPlan, arch: str, memory: int | None, longest: int | None = None) -> Needs:
        """Return the needs of a count, by length if `longest` is given, within its `room`."""
        room = self.room(arch, memory)
        needs = needs_of(plan, arch, room, longest=longest)
        return needs if room else replace(needs, bytes=_LEAST_FOR_KERNELS)


@dataclass(frozen=True)
class Way:
    """One way to count along a boundary."""

    arch: str  # What ``--arch`` asks for it
    # `total` and `by_length`: the arches that count all lengths together and by length; ``reference`` is Python.
    total: str
    by_length: str


def ways_along(plan: BoundaryPlan, arch: str) -> list[Way]:
    """Return the ways in which an arch, for ``auto`` also CUDA if that is here, can count along a boundary."""
    ways: list[Way] = []
    # Where the rates of CUDA are known, the library of the driver tells whether it is here, without Taichi.
    has_cuda = arch == "auto" and driver_is_here() and (known_rates("cuda") is not None or cuda_is_here())
    for asked in (arch, "cuda") if has_cuda else (arch,):
        # Some arches have no such kernels, or not for this graph.
        with contextlib.suppress(OptionError):
            total, by_length = (arch_of_count(plan, asked, by_length=by_length) for by_length in (False, True))
            if not ways or (total, by_length) != (ways[0].total, ways[0].by_length):
                ways.append(Way(asked, total, by_length))
    return ways


@dataclass(frozen=True)
class Expected:
    """The expected cost of a count by length along a boundary on this machine."""

    seconds: float
    bytes: float  # Of its states; of states that do not fit, the least that would do
    fits: bool  # Whether that fits into the memory


def expected_by_length(
    plan: BoundaryPlan,
    longest: int,
    arch: str = "auto",
    *,
    threads: int | None = None,
    memory: int | None = None,
    may_measure: bool = False,
) -> Expected | None:
    """Return the cost of a count by length, of cycles of up to `longest` vertices; None if there is no such count.

    With `may_measure` an arch is opened to measure a rate that is not known; otherwise the time is then that on an
    average machine.
    """
    try:
        where = arch_of_count(plan, arch, by_length=True)
    except OptionError:  # the arch has no such kernels
        return None
    if not plan.is_possible:
        return None
    rates = boundary_rates(where, threads=threads) if may_measure else known_rates(where, threads=threads)
    if rates is None:
        needs = needs_of(plan, where, host_budget(memory), longest=longest)
        apart = COST_OF_LENGTHS * states_of_lengths(plan, longest) / max(plan.states, 1.0)
        return Expected(max(apart, needs.totals) * plan.seconds, needs.bytes, needs.fits)
    needs = rates.needs(plan, where, memory, longest)
    return Expected(rates.seconds(plan, longest=longest, needs=needs), needs.bytes, needs.fits)


def rates_path() -> Path:
    """Return the file that keeps the rates of this machine."""
    return base_folder("XDG_CACHE_HOME", ".cache") / "chordless" / "boundary-rates.json"


def known_rates(arch: str, *, threads: int | None = None) -> BoundaryRates | None:
    """Return the rates of an arch if they have been measured; nothing is measured."""
    return _rates_of(_kept().get(_name(arch, threads)))


def boundary_rates(arch: str, *, threads: int | None = None) -> BoundaryRates:
    """Return the rates of an arch, ``reference`` for Python; open it and measure them if they are not known.

    Rates of another version of the program, of another processor, and a damaged file are made again. Raise DeviceError
    if the arch is not there.
    """
    known = known_rates(arch, threads=threads)
    if known is not None:
        return known
    began = time.perf_counter()
    with held_device(arch, threads=threads) as device:
        start = time.perf_counter() - began
        together, apart = _GRAPHS[arch]
        step, total = _measured(device, together, by_length=False)
        _, by_length = _measured(device, apart, by_length=True)
        rates = BoundaryRates(device.name, search_budget(device, None), start, step, total, by_length)
    # Without a place to keep it, the next estimate measures again.
    with contextlib.suppress(OSError):
        make_folder(rates_path().parent, 0o700)
        kept = {**_kept(), _name(arch, threads): asdict(rates)}
        with replaced(rates_path()) as stream:
            stream.write(json.dumps({**_made_for(), "rates": kept}).encode())
    return rates


def _name(arch: str, threads: int | None) -> str:
    return arch if threads is None or arch != "cpu" else f"{arch}, {threads} threads"


def _made_for() -> dict[str, object]:
    machine = f"{cpu_name()}, {cores()} cores"
    return {"version": _VERSION, "program": program_version(), "library": library().package, "machine": machine}


def _kept() -> dict[str, Any]:
    """Return the rates of the file; none if it is not there, damaged, or made for something else."""
    try:
        found = json.loads(read_file(rates_path()))
        if any(found[name] != value for name, value in _made_for().items()):
            return {}
        return dict(found["rates"])
    except (OSError, EngineError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _rates_of(entry: Any) -> BoundaryRates | None:
    """Return the rates of an entry of the file; None if it is damaged."""
    try:
        rates = BoundaryRates(**entry)
        seconds = [float(getattr(rates, field.name)) for field in fields(rates)[2:]]
        sizes = [] if rates.memory is None else [float(rates.memory)]
    except (TypeError, ValueError):
        return None
    usable = all(0 <= each < math.inf for each in (*seconds, *sizes)) and min(rates.total, rates.by_length) > 0
    return rates if usable and isinstance(rates.device, str) else None


def _measured(device: Device, spec: str, *, by_length: bool) -> tuple[float, float]:
    """Return the seconds that a step takes beside its states, and those that a state takes."""
    graph = generate(spec)
    plan = plan_of(graph, order=range(graph.n))
    if device.arch != "reference":
        # The first count compiles.
        _step_seconds(device, plan, by_length=by_length)
    seconds = _step_seconds(device, plan, by_length=by_length)
    costs = plan.expected_states
    small = max(_SMALL_STEP * max(costs), min(costs))
    step = median(took for took, cost in zip(seconds, costs, strict=True) if cost <= small)
    # The clock is exact to less than a microsecond: a state takes some time in any case.
    return step, max(sum(seconds) - step * len(seconds), 1e-6) / plan.cost


def _step_seconds(device: Device, plan: BoundaryPlan, *, by_length: bool) -> list[float]:
    """Count the one block of a graph; return the seconds that each vertex took; of several at once, the mean."""
    seconds: list[float] = []
    for ordered in ordered_blocks(plan):
        longest = ordered.graph.n if by_length else None
        block = (
            PythonBlock(ordered, longest, None, drops=False)
            if device.arch == "reference"
            else block_in_kernels(device, ordered, longest, search_budget(device, None))
        )
        while not block.finished:
            began, place = time.perf_counter(), block.place
            block.take_vertex(lambda: False)
            came = block.place - place
            seconds += [(time.perf_counter() - began) / came] * came
    return seconds
