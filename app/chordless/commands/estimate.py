"""``chordless estimate``: about how many chordless cycles there are, and how long it would take to find them all."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chordless import values
from chordless.commands import options as shared
from chordless.words.numbers import count_text, duration_text

if TYPE_CHECKING:
    from chordless.commands.estimate_boundary import AlongBoundary
    from chordless.commands.trial import Trial
    from chordless.graphs.load import LoadedGraph
    from chordless.protocol.events import Finished
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.estimate.estimate import Estimate

SUMMARY = "estimate the number of cycles, and the time of a run"

# Parts of the time: until then an order of the vertices is sought, and so long at least on a machine that is busy.
_ORDERS_UNTIL, _LEAST_FOR_ORDERS = 0.45, 0.1
# The least part of the time for probes where none has come to its end.
_LEAST_FOR_PROBES = 0.1
_SHORTEST_PROBE, _SHORTEST_WAIT = 0.1, 0.02  # seconds
# Probes begin with the bit rows of all seeds. Larger graphs take longer for this than there is time.
_SEED_WORDS_PER_SECOND = 5_000_000
_USUAL_PATHS_PER_SECOND = 50e6  # of one thread of a CPU
_OUT_OF_REACH = 1000 * 365.25 * 86400  # seconds
_SHORT_RUN = 60.0  # seconds; of a run so short no other method is spoken of
_FEWEST_CYCLES = 1000  # of a trial; with fewer its rate is that of its paths
_ROWS = 24
_INTERRUPTED_EXIT_CODE = 130


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the program's parser."""
    parser = subparsers.add_parser(
        "estimate",
        help=SUMMARY,
        description=(
            "Estimate how many chordless cycles a graph has, by random probes of the search,\n"
            "and how long a run would take here, by a short trial of it. A number is given\n"
            "with the range in which the truth lies in 9 cases out of 10. Where the graph has\n"
            "a small boundary, it also tells how long `chordless count --method boundary`\n"
            "would take. For this the speed of each device is measured, once on a machine:\n"
            "some seconds."
        ),
        closing=lambda: shared.graph_help(
            "chordless estimate roads.txt",
            "chordless estimate roads.txt --max-length 20 --arch cuda",
            "chordless estimate grid:9x10 --seconds 30 --json | jq .total",
        ),
    )
    shared.add_graph(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    group = parser.add_argument_group("what to estimate")
    shared.add_lengths(group, values.any_cycle_length)
    shared.add_restriction(group)
    group.add_argument(
        "--seconds",
        type=values.duration,
        default=2.0,
        metavar="TIME",
        help="answer within about this long: 10, 1.5, 90s, 5m, 2h (default: 2); four times as long halves the range",
    )
    group.add_argument(
        "--seed", type=values.seed, default=0, metavar="N", help="seed of the random probes (default: 0)"
    )
    shared.add_device(parser.add_argument_group("how the run would be made"))
    parser.set_defaults(act=act, check=shared.settle_lengths, parser=parser)


def act(options: argparse.Namespace) -> int:
    """Make a short trial, probe, print what came out, return the exit code."""
    import contextlib
    import tempfile

    from chordless.commands.trial import Trial

    with tempfile.TemporaryDirectory(prefix="chordless-") as folder, contextlib.ExitStack() as stack:
        # The engine takes a second to start, so it starts first and reads the graph for itself.
        trial = None if _comes_through_a_pipe(options.graph) else stack.enter_context(Trial(options, folder))
        loaded = _graph(options)
        return _estimated(options, loaded, trial or stack.enter_context(Trial(options, folder, loaded)))


def _comes_through_a_pipe(path: str) -> bool:
    """Say whether a graph comes through a pipe, which only one process can read."""
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path))


def _graph(options: argparse.Namespace) -> LoadedGraph:
    from chordless.commands.session import graph_asked_for, print_notes

    loaded = graph_asked_for(options)
    print_notes(loaded.notes)
    return loaded


def _space(options: argparse.Namespace, loaded: LoadedGraph) -> SearchSpace:
    """Return what is to be searched."""
    from chordless.graphs.vertex_names import edges_named, restriction_named
    from kernels_ti import Options
    from kernels_ti.blocks.search_space import SearchSpace

    through, avoid = restriction_named(loaded.graph, options.through, options.through_edge, options.avoid)
    wanted = Options(
        min_length=options.min_length,
        max_length=options.max_length,
        through=through,
        avoid=avoid,
        avoid_edges=edges_named(loaded.graph, options.avoid_edge),
    )
    return SearchSpace(loaded.graph, wanted)


def _estimated(options: argparse.Namespace, loaded: LoadedGraph, trial: Trial) -> int:
    """Probe while the trial starts, print what came out, return the exit code."""
    from chordless.commands.estimate_boundary import boundary_lines, boundary_object, counts_along
    from chordless.commands.other_method import quick_plan
    from kernels_ti.estimate.estimate import Estimator

    space = _space(options, loaded)

    def can_be_probed() -> bool:
        return space.batches().seed_words <= _SEED_WORDS_PER_SECOND * float(options.seconds)

    exit_code = 0
    estimator: Estimator | None = None
    plan = quick_plan(space, seconds=max(trial.seconds_until(_ORDERS_UNTIL), _LEAST_FOR_ORDERS * options.seconds))
    probe = min(_SHORTEST_PROBE, options.seconds / 4)
    try:
        while trial.goes_on:
            if not trial.is_searching and trial.seconds_left > 0 and can_be_probed():
                estimator = estimator or Estimator(space, seed=options.seed)
                began = time.perf_counter()
                if not estimator.probe(min(probe, max(trial.seconds_left, _SHORTEST_WAIT))):
                    # No walk fits into this time.
                    probe *= 2
                if time.perf_counter() - began < _SHORTEST_WAIT:
                    time.sleep(_SHORTEST_WAIT)
        tried = trial.result(loaded)
        if not tried.complete and can_be_probed():
            estimator = estimator or Estimator(space, seed=options.seed)
            least = 0.0 if estimator.has_walked else _LEAST_FOR_PROBES * options.seconds
            # A probe that has begun goes on to the end of its walk.
            if (left := max(trial.seconds_left, least)) > 0:
                estimator.probe(left)
    except KeyboardInterrupt:
        if estimator is None or not estimator.probed:
            raise
        exit_code = _INTERRUPTED_EXIT_CODE
        tried = trial.result(loaded)
    by_trial = _of_trial(options.min_length, tried)
    estimate = by_trial if tried.complete or estimator is None else estimator.estimate()
    search = _run_seconds(estimate, tried)
    is_asked = options.json or not (
        tried.complete or (search is not None and search[0] < min(plan.seconds, _SHORT_RUN))
    )
    search_seconds = None if search is None else search[0]

    def tell_first(in_python: list[AlongBoundary]) -> None:
        if not options.json:
            for line in boundary_lines(plan, in_python, search_seconds):
                print(line, flush=True)

    if not options.json:
        for line in _table(estimate, tried):
            print(line)
        sys.stdout.flush()
    counts = (
        counts_along(plan, space.longest, options.arch, options.threads, options.memory, tell_first) if is_asked else []
    )
    if options.json:
        import json

        print(json.dumps({**_result_object(estimate, tried), "boundary": boundary_object(plan, counts)}))
    else:
        for line in boundary_lines(plan, counts, search_seconds) if is_asked else ():
            print(line)
    if exit_code:
        sys.stderr.write("chordless: interrupted: this is what the probes up to now tell\n")
    return exit_code


def _of_trial(min_length: int, trial: Finished) -> Estimate:
    """Return what a trial alone tells: all there is after a whole run, else lower bounds."""
    from chordless.protocol.results import triangle_count
    from kernels_ti.estimate.estimate import Estimate

    return Estimate(
        probes=0,
        walks=0,
        exact=trial.complete,
        triangles=triangle_count(min_length, trial.cycles_by_length) if trial.complete else None,
        paths=trial.paths,
        paths_low=trial.paths,
        paths_high=trial.paths if trial.complete else math.inf,
        cycles=trial.cycles,
        cycles_low=trial.cycles,
        cycles_high=trial.cycles if trial.complete else math.inf,
        cycles_by_length={length: float(count) for length, count in trial.cycles_by_length.items()},
    )


def _run_seconds(estimate: Estimate, trial: Finished) -> tuple[float, float, float] | None:
    """Estimate the time of a run: its middle, its lower and its upper end; None if the trial tells no rate.

    Without a trial it is that at the usual rate.
    """
    if trial.complete:
        return (trial.enumerate_seconds,) * 3
    if _is_lower_bound(estimate):
        return None
    if not trial.enumerate_seconds:
        rate = _USUAL_PATHS_PER_SECOND * (os.cpu_count() or 1)
        return estimate.paths / rate, estimate.paths_low / rate, estimate.paths_high / rate
    # Cycles rather than paths: how many dead paths a search makes on the way to a cycle depends on the arch.
    if trial.cycles >= _FEWEST_CYCLES:
        done, wanted = trial.cycles, (estimate.cycles, estimate.cycles_low, estimate.cycles_high)
    else:
        done, wanted = trial.paths, (estimate.paths, estimate.paths_low, estimate.paths_high)
    if not done:
        return None
    middle, low, high = (trial.enumerate_seconds * count / done for count in wanted)
    return middle, low, high


def _is_lower_bound(estimate: Estimate) -> bool:
    """Return whether only a lower bound on the number of cycles is known."""
    return not math.isfinite(estimate.cycles_high) and estimate.cycles <= estimate.cycles_low


def _rate_text(trial: Finished) -> str:
    """Return how fast the trial was, for people."""
    from chordless.words.numbers import short_number

    done, what = (trial.cycles, "cycles") if trial.cycles >= _FEWEST_CYCLES else (trial.paths, "paths")
    return f"{short_number(done / trial.enumerate_seconds)} {what}/s"


def _result_object(estimate: Estimate, trial: Finished) -> dict[str, Any]:
    """Return what ``--json`` prints; null stands for what no number can hold or nothing is known of."""
    seconds = _run_seconds(estimate, trial)
    return {
        "graph": trial.graph,
        "n": trial.n,
        "m": trial.m,
        "max_degree": trial.max_degree,
        "triangles": estimate.triangles,
        "total": _range_object((estimate.cycles, estimate.cycles_low, estimate.cycles_high)),
        "by_length": {length: _finite(count) for length, count in estimate.cycles_by_length.items()},
        "paths": _range_object((estimate.paths, estimate.paths_low, estimate.paths_high)),
        "exact": estimate.exact,
        "probes": estimate.probes,
        "walks": estimate.walks,
        "run_seconds": None if seconds is None else _range_object(seconds),
        "arch": trial.arch,
        "device": trial.device,
        "trial": {"cycles": trial.cycles, "paths": trial.paths, "seconds": round(trial.enumerate_seconds, 6)},
    }


def _range_object(values: tuple[float, float, float]) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in zip(("estimate", "low", "high"), values, strict=True)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _table(estimate: Estimate, trial: Finished) -> Iterator[str]:
    """Yield the lines for people, fit for 80 columns."""
    from chordless.words.numbers import seconds_text
    from chordless.words.shown import on_terminal

    triangles = estimate.triangles or 0
    counted = triangles if 3 in estimate.cycles_by_length else 0
    # The trial may have found more than the probes are sure of.
    least = max(estimate.cycles_low, float(trial.cycles))
    holes = (estimate.cycles - counted, least - counted, estimate.cycles_high - counted)
    paths = ("not known", "")
    if estimate.exact or estimate.walks:
        paths = _count_texts(estimate.paths, estimate.paths_low, estimate.paths_high, estimate)
    rows = [
        ("vertices", f"{trial.n:,}", ""),
        ("edges", f"{trial.m:,}", ""),
        ("largest degree", f"{trial.max_degree:,}", ""),
        *([] if estimate.triangles is None else [("triangles", f"{triangles:,}", "")]),
        ("chordless cycles", *_count_texts(*holes, estimate)),
        ("paths", *paths),
    ]
    width = max(len(value) for _, value, _ in rows)
    yield on_terminal(trial.graph, sys.stdout)
    for label, value, note in rows:
        yield f"  {label:<16}  {value:>{width}}{note and '  '}{note}"
    if estimate.cycles_by_length:
        yield ""
        yield from _length_lines(estimate.cycles_by_length)
    yield ""
    seconds = _run_seconds(estimate, trial)
    if trial.complete:
        yield f"  counted, not estimated: a whole run takes {seconds_text(trial.enumerate_seconds)}"
    elif not estimate.exact and not estimate.walks:
        yield "  no probe came to its end, so more is not known: allow more time, --seconds"
    elif seconds is None and _is_lower_bound(estimate):
        yield "  too few probes for an estimate: allow more time, --seconds"
    elif seconds is None:
        yield f"  the search met nothing in {seconds_text(trial.enumerate_seconds)}, so its time cannot be estimated"
    elif seconds[1] > _OUT_OF_REACH:
        yield f"  a run is out of reach: there are more than {_power_of_ten(estimate.cycles_low)} cycles"
    else:
        middle, low, high = map(duration_text, seconds)
        end = f"to {high}" if math.isfinite(seconds[2]) else "or more"
        yield f"  a run would take about {middle}{'' if low == high else f' ({low} {end})'}"
        if trial.enumerate_seconds:
            yield f"  if it goes on like its first {seconds_text(trial.enumerate_seconds)}, at {_rate_text(trial)}"
        else:
            yield "  at the usual rate: there was no time to measure it here (--seconds gives more)"
    if trial.device:
        yield f"  on {trial.arch}: {trial.device}"
    if estimate.walks and not estimate.exact:
        if estimate.probes:
            yield f"  by {estimate.probes:,} probes; 9 ranges out of 10 hold the truth"
        if estimate.triangles is not None:
            yield "  counted exactly: vertices, edges, degrees and triangles"
    elif estimate.exact and not trial.complete:
        yield "  all cycles and paths are counted exactly; only the time is an estimate"


def _power_of_ten(count: float) -> str:
    """Return the largest power of ten that is no larger than a count."""
    return f"10^{math.floor(math.log10(count)) if math.isfinite(count) else 308}"


def _count_texts(middle: float, low: float, high: float, estimate: Estimate) -> tuple[str, str]:
    """Return a count and its range for people."""
    if estimate.exact:
        return f"{middle:,.0f}", ""
    if not estimate.walks or (not math.isfinite(high) and middle <= low):
        return f"at least {low:,.0f}", ""
    end = f"to {count_text(high)}" if math.isfinite(high) else "or more"
    return f"about {count_text(middle)}", f"({count_text(low)} {end})"


def _length_lines(by_length: dict[int, float]) -> Iterator[str]:
    """Yield a bar for each length, or for a few lengths together if there are many."""
    from chordless.commands.terminal import ONE_ROW_FOR_SEVERAL_LENGTHS, bars_for

    first, last = min(by_length), max(by_length)
    span = -(-(last - first + 1) // _ROWS)
    sums: dict[int, float] = {}
    for length, count in by_length.items():
        start = length - (length - first) % span
        sums[start] = sums.get(start, 0.0) + count
    labels = {start: str(start) if span == 1 else f"{start}-{start + span - 1}" for start in sums}
    width = max(len("length"), *map(len, labels.values()))
    counts = {start: count_text(count) for start, count in sums.items()}
    count_width = max(len("cycles"), *map(len, counts.values()))
    largest = max(sums.values())
    bar = bars_for(sys.stdout)
    yield f"  {'length':>{width}}  {'cycles':>{count_width}}"
    for start, count in sorted(sums.items()):
        share = count / largest if math.isfinite(largest) and largest else 0.0
        yield f"  {labels[start]:>{width}}  {counts[start]:>{count_width}}  {bar(share, 40) if share else ''}".rstrip()
    if span > 1:
        yield f"  {ONE_ROW_FOR_SEVERAL_LENGTHS}"
