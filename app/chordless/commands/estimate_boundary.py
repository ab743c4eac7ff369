"""What ``chordless estimate`` tells of a count along a boundary: its time and memory, in Python and on each device."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from chordless.engine.process import EngineProcess
from chordless.protocol.events import Failed
from chordless.protocol.orders import ProbeCommand
from chordless.words.numbers import bytes_text, does_not_fit_text, duration_text
from kernels_ti.choices import LONGEST_COUNT, SHORT_SEARCH, TIMES_FASTER
from kernels_ti.errors import vertices_text

if TYPE_CHECKING:
    from chordless.engine.rates import BoundaryRates, Way
    from kernels_ti.boundary.orders.plan import BoundaryPlan

_SECONDS_TO_MEASURE = 120.0
_PYTHON = "reference"


@dataclass(frozen=True)
class AlongBoundary:
    """A count along a boundary as one arch would make it."""

    arch: str  # What ``--arch`` asks for it
    device: str  # Where all lengths are counted together
    memory: int | None  # Bytes that the states of a count may take there
    seconds: float
    seconds_by_length: float
    # `bytes`, `bytes_by_length`: of the states; of states that do not fit, the least that would do
    bytes: float
    bytes_by_length: float
    # `fits`, `fits_by_length`: whether that fits into the memory
    fits: bool = True
    fits_by_length: bool = True
    passes_by_length: int = 1  # Over the graph


def counts_along(
    plan: BoundaryPlan,
    longest: int,
    arch: str,
    threads: int | None,
    memory: int | None = None,
    tell_first: Callable[[list[AlongBoundary]], None] = lambda _: None,
) -> list[AlongBoundary]:
    """Estimate a count along a boundary on the device that would be used, and on CUDA if that is here.

    A rate that is not known is measured, once on a machine, and a line on standard error says so. Before that,
    `tell_first` gets the count in Python if it takes less than a day. The list is empty if no order has boundaries that
    a state can hold.
    """
    from chordless.engine.rates import Way, known_rates, ways_along

    if not plan.is_possible:
        return []
    ways = ways_along(plan, arch)
    needed = dict.fromkeys(each for way in ways for each in (way.total, way.by_length) if each != _PYTHON)
    if missing := [each for each in needed if known_rates(each, threads=threads) is None]:
        in_python = _count(plan, longest, Way(_PYTHON, _PYTHON, _PYTHON), threads, memory)
        if in_python is not None and in_python.seconds <= LONGEST_COUNT:
            tell_first([in_python])
        what = " and ".join(missing)
        sys.stderr.write(f"measuring how fast {what} counts along a boundary: once on this machine, some seconds\n")
    found = [_count(plan, longest, way, threads, memory) for way in ways]
    return [count for count in found if count is not None]


def _count(plan: BoundaryPlan, longest: int, way: Way, threads: int | None, memory: int | None) -> AlongBoundary | None:
    rates = {arch: _rates(arch, threads) for arch in {way.total, way.by_length}}
    together, apart = rates[way.total], rates[way.by_length]
    if together is None or apart is None:
        return None
    room, needs = together.room(way.total, memory), together.needs(plan, way.total, memory)
    needs_by_length = apart.needs(plan, way.by_length, memory, longest)
    return AlongBoundary(
        arch=way.arch,
        device="Python" if way.total == _PYTHON else together.device,
        memory=None if math.isinf(room) else int(room),
        seconds=together.seconds(plan, needs=needs),
        seconds_by_length=apart.seconds(plan, longest=longest, needs=needs_by_length),
        bytes=needs.bytes,
        bytes_by_length=needs_by_length.bytes,
        fits=needs.fits,
        fits_by_length=needs_by_length.fits,
        passes_by_length=needs_by_length.passes,
    )


def _rates(arch: str, threads: int | None) -> BoundaryRates | None:
    """Return the rates of an arch; measure them in an engine if they are not known. None if it cannot be opened."""
    from chordless.engine.rates import BoundaryRates, boundary_rates, known_rates

    known = known_rates(arch, threads=threads)
    if known is not None:
        return known
    if arch == _PYTHON:
        return boundary_rates(arch)
    with EngineProcess(ProbeCommand(arch, rates=True, threads=threads if arch == "cpu" else None)) as engine:
        answer = engine.answer(_SECONDS_TO_MEASURE)
    if isinstance(answer, Failed):
        raise answer.to_error()
    return None if answer is None or answer.rates is None else BoundaryRates(**answer.rates)  # type: ignore[arg-type]


def boundary_object(plan: BoundaryPlan, counts: Sequence[AlongBoundary]) -> dict[str, Any] | None:
    """Return the object that ``--json`` prints: the first count, and all in ``devices``; None without one."""
    if not counts:
        return None
    devices = [asdict(count) for count in counts]
    first = {name: value for name, value in devices[0].items() if name not in ("arch", "device", "memory")}
    return {"width": plan.width, "states": plan.states, **first, "settled": plan.is_settled, "devices": devices}


def boundary_lines(
    plan: BoundaryPlan,
    counts: Sequence[AlongBoundary],
    search_seconds: float | None,
    *,
    of_paths: bool = False,
    totals: bool = True,
) -> Iterator[str]:
    """Yield the lines for people where the boundary method is the better one, or the time of a search is None.

    `totals` says that all lengths may be counted together.
    """
    if not counts or min(count.seconds for count in counts) > LONGEST_COUNT:
        width = vertices_text(plan.width) if counts else "hundreds of vertices"
        if plan.is_settled or not counts:
            yield f"  --method boundary is out of reach too: the graph has a boundary of {width}"
        else:
            yield f"  --method boundary seems out of reach too: the best order so far has a boundary of {width}"
        return
    if search_seconds is not None and min(count.seconds for count in counts) > search_seconds:
        return
    boundary = f"a boundary of {vertices_text(plan.width)}"
    if any(count.fits or count.fits_by_length for count in counts):
        yield f"  --method boundary counts them without meeting each: {boundary}"
    elif plan.is_settled:
        yield f"  --method boundary cannot count them here: {boundary}"
    else:
        yield f"  --method boundary may not count them here: so far {boundary}"
    for count in counts:
        yield from _lines_of(count, totals=totals)
    if not plan.is_settled:
        yield "  at most: a count looks longer for a better order of the vertices"
    possible = [count.seconds_by_length for count in counts if count.fits_by_length]
    search = math.inf if search_seconds is None else search_seconds
    if search > SHORT_SEARCH and min(possible, default=math.inf) <= min(search / TIMES_FASTER, LONGEST_COUNT):
        command, one = ("paths", "path") if of_paths else ("count", "cycle")
        if search_seconds is None:
            yield f"  chordless {command} takes this method, unless a search turns out to be short"
        else:
            yield f"  chordless {command} takes this method by itself; --method search meets every {one}"


def _lines_of(count: AlongBoundary, *, totals: bool) -> Iterator[str]:
    where = "in Python" if count.device == "Python" else f"--arch {count.arch} ({count.device})"
    there = "" if count.memory is None else f", {bytes_text(count.memory)} for its states"
    yield f"    {where}{there}"
    passes = f" in {count.passes_by_length:,} passes" if count.passes_by_length > 1 else ""
    by_length = f"{duration_text(count.seconds_by_length)}{passes}, {bytes_text(int(count.bytes_by_length))}"
    if not count.fits_by_length:
        by_length = does_not_fit_text(count.bytes_by_length)
    together = f"{duration_text(count.seconds)}, {bytes_text(int(count.bytes))}"
    if not count.fits:
        together = does_not_fit_text(count.bytes)
    yield f"      by length     {by_length}"
    if totals:
        yield f"      --total-only  {together}"
