"""``chordless estimate``: about how many chordless cycles there are, and how long it would take to find them all."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import operator
import sys
import time
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING

from chordless import values
from chordless.commands import options as shared
from chordless.commands.estimate_boundary import AlongBoundary, boundary_lines, boundary_object, counts_along
from chordless.commands.estimate_words import FEWEST_CYCLES, is_lower_bound, result_object, table
from chordless.commands.other_method import quick_plan
from chordless.commands.session import graph_asked_for
from chordless.commands.terminal import title_of
from chordless.commands.trial import Trial
from chordless.engine.framing import search_space
from chordless.graphs.paths import new_on_a_cycle
from chordless.graphs.readers.incoming import comes_through_a_pipe
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.protocol.results import triangle_count
from chordless.termination import TerminatedError
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import host_budget
from kernels_ti.folders import temporary_folder

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from kernels_ti import CountEstimate


# Parts of the time: until then an order of the vertices is sought, and so long at least on a machine that is busy.
_ORDERS_UNTIL, _LEAST_FOR_ORDERS = 0.45, 0.1
# Where the probes tell no range yet, they go on until this part of the time, and this long at least after the trial.
_PROBES_UNTIL, _LAST_PROBE = 0.9, 0.2
_SHORTEST_PROBE, _SHORTEST_WAIT = 0.1, 0.02  # seconds
# The usual rate of a CPU may be so many times too high or too low here.
_RATE_IS_OFF_BY = 2.0
# For each path that leads to a cycle a search looks at so many paths: the usual number, the fewest and the most.
_PATHS_LOOKED_AT = (2.0, 1.0, 5.0)
_SHORT_RUN = 60.0  # seconds; of a run so short no other method is spoken of
_INTERRUPTED_EXIT_CODE = 130
DESCRIPTION = """\
Estimate how many chordless cycles a graph has, by random samples of the search,
and how long a run would take here, by a short trial of it. A number is given
with the range in which the truth lies in 9 cases out of 10. Paths are those
that lead to a cycle; `paths` of `chordless count --json` are all that a search
looked at. Where the graph has a small boundary, it also tells how long
`chordless count --method boundary` would take. For this the speed of each
device is measured, once on a machine: some seconds. With --between S T, or
--all-pairs, all this of the paths that `chordless paths` counts.
"""
EXAMPLES = (
    "chordless estimate roads.txt",
    "chordless estimate roads.txt --max-length 20 --arch cuda",
    "chordless estimate grid:9x10 --seconds 30 --json | jq .total",
    "chordless estimate hypercube:7 --symmetry --seconds 20",
    "chordless estimate roads.txt --between 17 203",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.add_graph(parser)
    shared.add(parser, "--json")
    group = parser.add_argument_group("what to estimate")
    paths = group.add_mutually_exclusive_group()
    shared.add(
        paths, "--between", "the chordless paths from S to T, not cycles", nargs=2, default=(), metavar=("S", "T")
    )
    shared.add(paths, "--all-pairs", "all chordless paths, not cycles")
    shared.add_lengths(group)
    shared.add_restriction(group)
    shared.add(
        group,
        "--seconds",
        "answer within about this long: 10, 1.5, 90s, 5m, 2h (default: 2); four times as long halves the range",
        default=2.0,
    )
    shared.add(group, "--seed", "seed of the random probes (default: 0)", default=0)
    group = parser.add_argument_group(
        "how the run would be made", "The trial and the probes are two processes, each of which keeps to --memory."
    )
    shared.add(group, "--symmetry")
    shared.add_device(group)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Set the bounds on the length; end with a usage error for options that exclude each other."""
    of_paths = options.between or options.all_pairs
    shared.settle_lengths(parser, options, shortest=values.SHORTEST_PATH if of_paths else values.SHORTEST_CYCLE)
    shared.check_symmetry(parser, options)
    if options.symmetry and of_paths:
        parser.error("--symmetry is for cycles: leave it out for paths")


def act(options: argparse.Namespace) -> int:
    """Make a short trial, probe, print what came out, return the exit code."""
    with temporary_folder("chordless-") as folder, contextlib.ExitStack() as stack:
        # The engine takes a second to start, so it starts first and reads the graph for itself.
        trial = None if comes_through_a_pipe(options.graph) else stack.enter_context(Trial(options, folder))
        loaded = graph_asked_for(options)
        return _estimated(options, loaded, trial or stack.enter_context(Trial(options, folder, loaded)))


def _command(options: argparse.Namespace, *, symmetry: bool) -> RunCommand:
    return shared.order_of(RunCommand, options, symmetry=symmetry, memory=None)


def _estimated(options: argparse.Namespace, loaded: LoadedGraph, trial: Trial) -> int:
    from kernels_ti.estimate.estimate import Estimator
    from kernels_ti.estimate.usual_rate import seconds_to_begin, usual_rate

    of_paths = bool(options.between or options.all_pairs)
    space = search_space(_command(options, symmetry=options.symmetry), loaded.graph)
    boundary_space = search_space(_command(options, symmetry=False), loaded.graph) if options.symmetry else space

    def can_be_probed() -> bool:
        return seconds_to_begin(space) <= float(options.seconds)

    def begun() -> Estimator:
        memory = None if options.memory is None else host_budget(options.memory)
        return Estimator(space, seed=options.seed, memory=memory)

    exit_code = 0
    estimator: Estimator | None = None
    plan = quick_plan(
        boundary_space, seconds=max(trial.seconds_until(_ORDERS_UNTIL), _LEAST_FOR_ORDERS * options.seconds)
    )
    probe = min(_SHORTEST_PROBE, options.seconds / 4)
    try:
        while trial.goes_on:
            if not trial.is_searching and trial.seconds_left > 0 and can_be_probed():
                estimator = estimator or begun()
                began = time.perf_counter()
                if not estimator.probe(min(probe, max(trial.seconds_left, _SHORTEST_WAIT))):
                    # No walk fits into this time.
                    probe *= 2
                if time.perf_counter() - began < _SHORTEST_WAIT:
                    time.sleep(_SHORTEST_WAIT)
        tried = trial.result(loaded)
        if not tried.complete and can_be_probed():
            estimator = estimator or begun()
            is_told = estimator.has_walked and not is_lower_bound(estimator.estimate())
            least = 0.0 if is_told else max(trial.seconds_until(_PROBES_UNTIL), min(_LAST_PROBE, options.seconds / 2))
            # A probe that has begun goes on to the end of its walk.
            if (left := max(trial.seconds_left, least)) > 0:
                estimator.probe(left)
    except KeyboardInterrupt as interrupt:
        if estimator is None or not estimator.probed:
            raise
        exit_code = interrupt.exit_code if isinstance(interrupt, TerminatedError) else _INTERRUPTED_EXIT_CODE
        tried = trial.result(loaded)
    by_trial = _of_trial(options, tried)
    estimate = by_trial if tried.complete or estimator is None else _in_paths(options, estimator.estimate())
    words = 1 if estimator is None else estimator.words
    search = _run_seconds(estimate, tried, usual_rate(words, options.threads or cores()))
    is_asked = options.json or not (
        tried.complete or (search is not None and search[0] < min(plan.seconds, _SHORT_RUN))
    )
    search_seconds = None if search is None else search[0]
    bounds = (options.min_length, options.max_length, options.parity)
    totals = values.takes_all_lengths(*bounds, of_paths=of_paths) and not (options.all_pairs and loaded.graph.directed)
    lines_along = partial(boundary_lines, plan, search_seconds=search_seconds, of_paths=of_paths, totals=totals)

    def tell_first(in_python: list[AlongBoundary]) -> None:
        if not options.json:
            for line in lines_along(in_python):
                print(line, flush=True)

    if not options.json:
        title = title_of(tried.graph, _command(options, symmetry=False))
        for line in table(title, estimate, tried, search, "paths" if of_paths else "cycles"):
            print(line)
        sys.stdout.flush()
    counts = (
        counts_along(plan, space.longest, options.arch, options.threads, options.memory, tell_first) if is_asked else []
    )
    if options.json:
        print(json.dumps({**result_object(estimate, tried, search), "boundary": boundary_object(plan, counts)}))
    else:
        for line in lines_along(counts) if is_asked else ():
            print(line)
    if exit_code:
        sys.stderr.write("chordless: interrupted: this is what the probes up to now tell\n")
    return exit_code


def _in_paths(options: argparse.Namespace, estimate: CountEstimate) -> CountEstimate:
    """Return an estimate by vertices of a path, if paths are asked for; they have no triangles."""
    extra = new_on_a_cycle(_command(options, symmetry=False))
    return estimate.in_paths(extra) if extra else estimate


def _of_trial(options: argparse.Namespace, trial: Finished) -> CountEstimate:
    """Return the counts of a trial alone: all there is after a whole run, else lower bounds."""
    from kernels_ti import CountEstimate, EstimatedRange

    return CountEstimate(
        triangles=triangle_count(options.min_length, None, trial.cycles_by_length)
        if trial.complete and not (options.between or options.all_pairs)
        else None,
        total=EstimatedRange(trial.cycles, trial.cycles, trial.cycles if trial.complete else math.inf),
        by_length=dict(trial.cycles_by_length),
        paths=EstimatedRange(trial.paths, trial.paths, trial.paths if trial.complete else math.inf),
        exact=trial.complete,
        probes=0,
        walks=0,
    )


def _run_seconds(estimate: CountEstimate, trial: Finished, usual: float) -> tuple[float, float, float] | None:
    """Return the middle and both ends of the time of a run, without a trial at the usual rate; None without a rate."""
    if trial.complete:
        return (trial.enumerate_seconds,) * 3
    if is_lower_bound(estimate):
        return None
    if not trial.enumerate_seconds:
        low, high = estimate.paths.low / _RATE_IS_OFF_BY, estimate.paths.high * _RATE_IS_OFF_BY
        return estimate.paths.estimate / usual, low / usual, high / usual
    # Cycles rather than paths: how many dead paths a search makes on the way to a cycle depends on the arch.
    if trial.cycles >= FEWEST_CYCLES:
        done, wanted = trial.cycles, astuple(estimate.total)
    else:
        done, wanted = trial.paths, tuple(map(operator.mul, astuple(estimate.paths), _PATHS_LOOKED_AT))
    if not done:
        return None
    middle, low, high = (trial.enumerate_seconds * count / done for count in wanted)
    return middle, low, high
