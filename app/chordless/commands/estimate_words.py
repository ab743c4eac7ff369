"""The answer of ``chordless estimate``: lines for people, or one JSON object."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from chordless.commands.terminal import histogram
from chordless.protocol.events import Finished
from chordless.words.numbers import CycleRange, duration_text, round_number, seconds_text, short_number
from chordless.words.shown import on_terminal

if TYPE_CHECKING:
    from kernels_ti import CountEstimate, EstimatedRange

FEWEST_CYCLES = 1000
"""Cycles of a trial; with fewer its rate is that of its paths."""

_OUT_OF_REACH = 1000 * 365.25 * 86400  # seconds
_MOST_SEARCHED = 1e18  # cycles; no machine finds so many one by one in years
_ROWS = 24


def is_lower_bound(estimate: CountEstimate) -> bool:
    """Return whether next to nothing but a lower bound on the number of cycles is known."""
    return _range_of(estimate.total, estimate).is_vague


def _rate_text(trial: Finished, things: str) -> str:
    begun = "begun paths" if things == "paths" else "paths"
    done, what = (trial.cycles, things) if trial.cycles >= FEWEST_CYCLES else (trial.paths, begun)
    return f"{short_number(done / trial.enumerate_seconds)} {what}/s"


def result_object(
    estimate: CountEstimate, trial: Finished, seconds: tuple[float, float, float] | None
) -> dict[str, Any]:
    """Return the object that ``--json`` prints; null stands for what no number can hold or nothing is known of."""
    from kernels_ti import EstimatedRange

    return {
        "graph": trial.graph,
        "n": trial.n,
        "m": trial.m,
        "max_degree": trial.max_degree,
        **_finite(asdict(estimate)),
        "run_seconds": None if seconds is None else _finite(asdict(EstimatedRange(*seconds))),
        "arch": trial.arch,
        "device": trial.device,
        "trial": {"cycles": trial.cycles, "paths": trial.paths, "seconds": round(trial.enumerate_seconds, 6)},
    }


def _finite(value: Any) -> Any:
    """Return a value of JSON, or an object of such, with None for each number that is infinite."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table(
    title: str, estimate: CountEstimate, trial: Finished, seconds: tuple[float, float, float] | None, things: str
) -> Iterator[str]:
    """Yield the lines for people, fit for 80 columns; `seconds` is the time of a run, `things` are cycles or paths."""
    triangles = estimate.triangles or 0
    counted = triangles if 3 in estimate.by_length else 0
    cycles = _range_of(estimate.total, estimate).with_found(trial.cycles)
    holes = replace(cycles, middle=cycles.middle - counted, low=cycles.low - counted, high=cycles.high - counted)
    expanded = _range_of(estimate.paths, estimate)
    paths = (expanded.number, expanded.spread) if estimate.exact or estimate.walks else ("not known", "")
    is_of_paths = things == "paths"
    searched = "begun paths" if is_of_paths else "paths" if trial.complete else "paths to cycles"
    rows = [
        ("vertices", f"{trial.n:,}", ""),
        ("edges", f"{trial.m:,}", ""),
        ("largest degree", f"{trial.max_degree:,}", ""),
        *([] if estimate.triangles is None else [("triangles", f"{triangles:,}", "")]),
        (f"chordless {things}", holes.number, holes.spread),
        (searched, *paths),
    ]
    width = max(len(value) for _, value, _ in rows)
    yield on_terminal(title, sys.stdout)
    for label, value, note in rows:
        yield f"  {label:<16}  {value:>{width}}{note and '  '}{note}"
    # The probes behind a lower bound may tell of far more cycles, by length too.
    if estimate.by_length and not is_lower_bound(estimate):
        yield ""
        text = (lambda count: f"{round(count):,}") if estimate.exact else round_number
        yield from histogram(estimate.by_length, sys.stdout, text, things=things, rows=_ROWS, in_one_column=_ROWS)
    yield ""
    if trial.complete:
        yield f"  counted, not estimated: a whole run takes {seconds_text(trial.enumerate_seconds)}"
    elif not estimate.exact and not estimate.walks:
        yield "  no probe came to its end, so more is not known: allow more time, --seconds"
    elif seconds is None and is_lower_bound(estimate) and estimate.total.estimate > _MOST_SEARCHED:
        told = _power_of_ten(estimate.total.estimate)
        yield f"  a run is most likely out of reach: these few probes tell of about {told} {things}"
    elif seconds is None and is_lower_bound(estimate):
        yield "  too few probes for an estimate: allow more time, --seconds"
    elif seconds is None:
        yield f"  the search met nothing in {seconds_text(trial.enumerate_seconds)}, so its time cannot be estimated"
    elif seconds[1] > _OUT_OF_REACH:
        yield f"  a run is out of reach: there are more than {_power_of_ten(estimate.total.low)} {things}"
    else:
        middle, low, high = map(duration_text, seconds)
        end = f"to {high}" if math.isfinite(seconds[2]) else "or more"
        yield f"  a run would take about {middle}{'' if low == high else f' ({low} {end})'}"
        if trial.enumerate_seconds:
            first, rate = seconds_text(trial.enumerate_seconds), _rate_text(trial, things)
            yield f"  if it goes on like its first {first}, at {rate}"
        else:
            yield "  at the usual rate: there was no time to measure it here (--seconds gives more)"
    if trial.device:
        yield f"  on {trial.arch}: {trial.device}"
    if estimate.walks and not estimate.exact:
        if estimate.probes:
            yield f"  by {estimate.probes:,} probes{_what_they_tell(cycles, expanded)}"
        if estimate.triangles is not None:
            yield "  counted exactly: vertices, edges, degrees and triangles"
        yield f"  {searched}: a search looks at more, often at several times as many"
    elif estimate.exact and not trial.complete:
        yield f"  all {'' if is_of_paths else 'cycles and '}paths are counted exactly; only the time is an estimate"


def _what_they_tell(*ranges: CycleRange) -> str:
    """Return the kind of the numbers of a table: ranges, lower bounds, or both."""
    vague = [each.is_vague for each in ranges]
    if all(vague):
        return ", too few for a range: the numbers are lower bounds"
    bound = "; `at least` is a lower bound" if any(vague) else ""
    return f"; 9 ranges out of 10 hold the truth{bound}"


def _power_of_ten(count: float) -> str:
    return f"10^{math.floor(math.log10(count)) if math.isfinite(count) else 308}"


def _range_of(counted: EstimatedRange, estimate: CountEstimate) -> CycleRange:
    """Return a count and its range; only a lower bound where no probe came to its end."""
    is_told = estimate.exact or estimate.walks > 0
    return CycleRange(counted.estimate, counted.low, counted.high if is_told else math.inf, estimate.exact)
