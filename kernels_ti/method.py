"""The choice between the two methods of counting: a search of every cycle, or a count along a boundary."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import cuda_is_here
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import EngineError
from kernels_ti.estimate.device_choice import CPU_PATHS_PER_SECOND, SMALL_GRAPH
from kernels_ti.estimate.estimate import FIRST_SIZE, Estimator

if TYPE_CHECKING:
    from kernels_ti.boundary.orders.plan import BoundaryPlan

SHORT_SEARCH = 10.0
"""Seconds of a search that is made without asking for the other method."""

TIMES_FASTER = 10.0
"""How much faster than a search the boundary method must be, to be chosen."""

LONGEST_COUNT = 86400.0
"""Seconds of the longest count along a boundary that is chosen."""

COST_OF_LENGTHS = 4
"""How much longer a count by length takes than the total alone, which is what a plan estimates."""

# Of a larger graph, an estimate alone takes seconds.
_LARGEST_GRAPH, _MOST_SEED_WORDS = 20_000, 1_000_000
_PROBING_SECONDS = 0.5
# Small random walks before the long ones: a few milliseconds each, and enough to see that a search is short.
_SMALL_WALKS = 4
# A search whose time is this at most, with the certainty of an estimate, is not probed further.
_SURELY_SHORT = SHORT_SEARCH / 4
_CUDA_PATHS_PER_SECOND = 5e9


@dataclass(frozen=True)
class MethodChoice:
    """A method, and what was estimated for the choice.

    Attributes
    ----------
    method : {"search", "boundary"}
    search_seconds : float or None
        About how long a search would take; infinite if it cannot be told; None if it was not asked, as it is short.
    plan : BoundaryPlan or None
        None where the boundary method was not looked at.
    boundary_seconds : float
        About how long that would take; infinite if it is not possible.
    fits : bool
        Whether its states are expected to fit into the memory.
    """

    method: Literal["search", "boundary"]
    search_seconds: float | None = None
    plan: BoundaryPlan | None = None
    boundary_seconds: float = math.inf
    fits: bool = True


def choose_method(
    space: SearchSpace,
    *,
    threads: int | None = None,
    memory: int | None = None,
    along: Callable[[BoundaryPlan], tuple[float, bool]] | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> MethodChoice:
    """Choose how to count the cycles of a graph by length.

    A search is chosen where it is estimated to end within `SHORT_SEARCH`, and the boundary method where that is at
    least `TIMES_FASTER` times faster and its states fit into the memory. The choice takes a moment for a graph that is
    searched quickly, and up to about three seconds for another one.

    Parameters
    ----------
    space : SearchSpace
    threads : int, optional
        Threads of the search.
    memory : int, optional
        Bytes allowed.
    along : callable, optional
        Returns the seconds of a count by length along a boundary on this machine, and whether its states are expected
        to fit into the memory; by default those of an average machine that counts in Python.
    enough : callable
        Ends the search for orders of the vertices.

    Returns
    -------
    MethodChoice
    """
    graph = space.graph
    if graph.n <= SMALL_GRAPH or graph.n > _LARGEST_GRAPH:
        return MethodChoice("search")
    search = search_seconds(space, threads)
    if search <= SHORT_SEARCH:
        return MethodChoice("search")
    from kernels_ti.boundary.needs import needs_of
    from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES
    from kernels_ti.boundary.orders.plan import plan_of

    plan = plan_of(space, seconds=SECONDS_FOR_PREFIXES, enough=enough)
    boundary, fits = math.inf, False
    if plan.is_possible and along is not None:
        boundary, fits = along(plan)
    elif plan.is_possible:
        needs = needs_of(plan, "reference", host_budget(memory), longest=space.longest)
        boundary, fits = max(COST_OF_LENGTHS, needs.totals) * plan.seconds, needs.fits
    better = fits and boundary <= min(search / TIMES_FASTER, LONGEST_COUNT)
    return MethodChoice("boundary" if better else "search", search, plan, boundary, fits)


def search_seconds(space: SearchSpace, threads: int | None) -> float:
    """Return about how long a search would take; infinite if a moment is too short to tell."""
    if space.batches().seed_words > _MOST_SEED_WORDS:
        return math.inf
    rate = _CUDA_PATHS_PER_SECOND if cuda_is_here() else (threads or cores()) * CPU_PATHS_PER_SECOND
    deadline = time.perf_counter() + _PROBING_SECONDS
    try:
        estimator = Estimator(space)
        for _ in range(_SMALL_WALKS):
            estimator.add_walk(FIRST_SIZE, deadline=deadline)
            estimate = estimator.estimate()
            if estimate.exact or estimate.paths_high <= _SURELY_SHORT * rate:
                return estimate.paths / rate
        estimator.probe(deadline - time.perf_counter())
        estimate = estimator.estimate()
    except EngineError:  # too large to be estimated
        return math.inf
    return estimate.paths / rate if estimate.exact or estimate.walks else math.inf
