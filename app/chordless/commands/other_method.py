"""The hint that counting along a boundary would finish a count that a search did not finish."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from chordless.engine.framing import search_space
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.runs.command_words import command_line
from chordless.words.numbers import duration_text
from kernels_ti.choices import COST_OF_LENGTHS, LONGEST_COUNT, SHORT_SEARCH
from kernels_ti.device.machine import cores

if TYPE_CHECKING:
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.boundary.orders.plan import BoundaryPlan

_SECONDS_FOR_ORDERS = 1.0
_SECONDS_OF_PROBES = 0.5
_LARGEST_GRAPH = 20_000


def quick_plan(space: SearchSpace, *, seconds: float = _SECONDS_FOR_ORDERS) -> BoundaryPlan:
    """Return a plan for counting along a boundary that takes about `seconds` seconds to make."""
    from kernels_ti.boundary.orders.order import no_longer_than
    from kernels_ti.boundary.orders.plan import plan_of

    return plan_of(space, enough=no_longer_than(seconds))


def _seconds_left(finished: Finished, space: SearchSpace) -> float:
    """Return about how long the rest of a search takes; infinite if a moment is too short to tell."""
    if finished.enumerate_seconds < SHORT_SEARCH:
        # The share that a moment has done says nothing about the rest.
        from kernels_ti.estimate.estimate import Estimator
        from kernels_ti.estimate.usual_rate import usual_rate

        estimator = Estimator(space)
        estimator.probe(_SECONDS_OF_PROBES)
        estimate = estimator.estimate()
        if not (estimate.exact or estimate.walks):
            return math.inf
        return estimate.paths.estimate / usual_rate(estimator.words, cores())
    return finished.enumerate_seconds * (1 - finished.share) / finished.share if finished.share else math.inf


def other_method(command: RunCommand, finished: Finished) -> str | None:
    """Return the line that names the command by which the boundary method would finish a count sooner; else None."""
    counts_what_it_cannot = command.part is not None or command.per_vertex or command.per_edge
    if finished.complete or finished.boundary is not None or counts_what_it_cannot:
        return None
    # Standard input cannot be read a second time, and reading a large graph again would take long.
    if command.graph == "-" or finished.n > _LARGEST_GRAPH:
        return None
    from chordless.graphs.load import load_as

    graph = load_as(command).graph
    space = search_space(replace(command, symmetry=False), graph)
    plan = quick_plan(space)
    seconds = max(COST_OF_LENGTHS * plan.seconds, 1.0)
    if not plan.is_possible or plan.seconds > LONGEST_COUNT or seconds > _seconds_left(finished, space):
        return None
    # Without the options that only a search has, see `count.check_method`.
    again = replace(
        command,
        method="boundary",
        arch="auto",
        threads=None,
        limit=None,
        timeout=None,
        expansion="two-ended",
        cluster=None,
        gpus=None,
        symmetry=False,
        proof=False,
    )
    words = command_line(command.graph, {**asdict(again), "arch": None})
    return f"`{words}` would count them all in about {duration_text(seconds)}"
