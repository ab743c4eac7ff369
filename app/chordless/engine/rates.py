"""How fast this machine counts along a boundary: measured once, and kept in the user's cache."""

from __future__ import annotations

import contextlib
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from chordless.files import read_file, replaced
from chordless.graphs.generators import generate
from chordless.runs.directory import program_version
from kernels_ti import EngineError
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.plan import plan_of
from kernels_ti.device.machine import cores, cpu_name
from kernels_ti.folders import base_folder

_VERSION = 1
_GRAPH = "grid:10x10"
"""A count that takes some tenths of a second: long enough to tell the rate, short enough not to be waited for."""


@dataclass(frozen=True)
class BoundaryRates:
    """Seconds that a state takes.

    Attributes
    ----------
    total : float
        In a count of all lengths together.
    by_length : float
        In a count by length.
    """

    total: float
    by_length: float


def rates_path() -> Path:
    """Return the file that keeps the rates of this machine."""
    return base_folder("XDG_CACHE_HOME", ".cache") / "chordless" / "boundary-rates.json"


def boundary_rates() -> BoundaryRates:
    """Return the rates of this machine; measure them if they are not known.

    Rates of another version of the program, of another processor, and a damaged file are made again.
    """
    made_for = {"version": _VERSION, "program": program_version(), "machine": f"{cpu_name()}, {cores()} cores"}
    known = _kept(made_for)
    if known is not None:
        return known
    rates = BoundaryRates(_measured(by_length=False), _measured(by_length=True))
    # Without a place to keep it, the next estimate measures again.
    with contextlib.suppress(OSError):
        rates_path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replaced(rates_path()) as stream:
            stream.write(json.dumps({**made_for, **asdict(rates)}).encode())
    return rates


def _kept(made_for: dict[str, object]) -> BoundaryRates | None:
    """Return the rates of the file; None if it is not there, damaged, or made for something else."""
    try:
        found = json.loads(read_file(rates_path()))
        if any(found[name] != value for name, value in made_for.items()):
            return None
        rates = BoundaryRates(float(found["total"]), float(found["by_length"]))
    except (OSError, EngineError, ValueError, KeyError, TypeError):
        return None
    return rates if all(0 < rate < math.inf for rate in (rates.total, rates.by_length)) else None


def _measured(*, by_length: bool) -> float:
    graph = generate(_GRAPH)
    plan = plan_of(graph, order=range(graph.n))
    count = BoundaryCount(graph, by_length=by_length, plan=plan)
    began = time.perf_counter()
    while not count.finished:
        count.advance(math.inf)
    return (time.perf_counter() - began) / plan.cost
