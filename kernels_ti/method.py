"""The choice between the two methods of counting: a search of every cycle, or a count along a boundary."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.choices import COST_OF_LENGTHS, LONGEST_COUNT, METHODS, SHORT_SEARCH, TIMES_FASTER, Method
from kernels_ti.device.device import cuda_is_here
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.estimate.device_choice import SMALL_GRAPH
from kernels_ti.estimate.estimate import FIRST_SIZE, Estimator
from kernels_ti.estimate.usual_rate import usual_rate

if TYPE_CHECKING:
    from kernels_ti.boundary.orders.plan import BoundaryPlan
    from kernels_ti.watch import Watch

# Of a larger graph, an estimate alone takes seconds.
_LARGEST_GRAPH, _MOST_SEED_WORDS = 20_000, 1_000_000
_PROBING_SECONDS = 0.5
# Small random walks before the long ones: a few milliseconds each, and enough to see that a search is short.
_SMALL_WALKS = 4
# Seconds of a way along a boundary that is taken without asking for a search
_MOMENT = 1.0
# Seconds for which an order is sought before the search is probed: most often it is found by then
_SECONDS_UNPROBED = 0.2
# A pick takes the way along the boundary and the way back.
_WAYS = 2


@dataclass(frozen=True)
class MethodChoice:
    """A method, and what was estimated for the choice."""

    method: Literal["search", "boundary"]
    # About how long a search would take; infinite if it cannot be told; None if it was not asked, as it is short
    search_seconds: float | None = None
    plan: BoundaryPlan | None = None  # None where the boundary method was not looked at
    boundary_seconds: float = math.inf  # About how long that would take; infinite if it is not possible
    fits: bool = True  # Whether its states are expected to fit into the memory
    # About how long a search would take, also where it is short; 0 if it was not asked at all
    probed_seconds: float = 0.0


def choose_method(
    space: SearchSpace,
    *,
    threads: int | None = None,
    memory: int | None = None,
    along: Callable[[BoundaryPlan], tuple[float, bool]] | None = None,
    enough: Callable[[], bool] = lambda: False,
    start: float = 0.0,
) -> MethodChoice:
    """Choose how to count the cycles of a graph by length.

    A search is chosen where it is estimated to end within `SHORT_SEARCH`, and the boundary method where that is at
    least `TIMES_FASTER` times faster and its states fit into the memory. The search is probed only as long as the
    answer is open. So the choice takes a moment for a graph that is searched quickly; another graph also needs an order
    of its vertices, which takes a tenth of a search, or about two seconds, at most, unless `enough` ends it. `along`
    returns the seconds of a count by length along a boundary on this machine, and whether its states are expected to
    fit into the memory; by default those of an average machine that counts in Python.

    Where a search waits `start` seconds for its device, a count in Python that takes no longer is chosen, too.
    """
    graph = space.graph
    if graph.n <= SMALL_GRAPH or graph.n > _LARGEST_GRAPH:
        return MethodChoice("search")
    search = SearchTime(space, threads)
    search.probe(lambda low, high: low < SHORT_SEARCH < high)
    if search.seconds <= SHORT_SEARCH and not start:
        return MethodChoice("search", probed_seconds=search.seconds)
    from kernels_ti.boundary.needs import needs_of, states_of_lengths
    from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES
    from kernels_ti.boundary.orders.plan import plan_of

    began = time.perf_counter()

    def is_sought_enough() -> bool:
        return enough() or time.perf_counter() - began > (start + search.seconds) / TIMES_FASTER

    def in_python(plan: BoundaryPlan) -> tuple[float, bool]:
        needs = needs_of(plan, "reference", host_budget(memory), longest=space.longest)
        apart = COST_OF_LENGTHS * states_of_lengths(plan, space.longest) / max(plan.states, 1.0)
        return max(apart, needs.totals) * plan.seconds, needs.fits

    plan = plan_of(space, seconds=SECONDS_FOR_PREFIXES, enough=is_sought_enough)
    boundary, fits = math.inf, False
    if start and plan.is_possible:
        with suppress(OptionError):  # A memory that is too small for a count in Python may do for a search on a GPU.
            boundary, fits = in_python(plan)
        if fits and boundary <= start:
            return MethodChoice("boundary", search.seconds, plan, boundary, fits, search.seconds)
    if search.seconds <= SHORT_SEARCH:
        return MethodChoice("search", probed_seconds=search.seconds)
    if plan.is_possible:
        boundary, fits = (along or in_python)(plan)
    if fits and boundary <= LONGEST_COUNT:
        search.probe(lambda low, high: low < TIMES_FASTER * boundary < high)
    better = fits and boundary <= min(search.seconds / TIMES_FASTER, LONGEST_COUNT)
    method: Literal["search", "boundary"] = "boundary" if better else "search"
    return MethodChoice(method, search.seconds, plan, boundary, fits, search.seconds)


def may_search(method: Method, order: Sequence[int] | None, tell_order: Callable[[list[int]], None] | None) -> bool:
    """Whether cycles may be picked by a search. An OptionError says that what is asked for is for the other method."""
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}: choose {' or '.join(METHODS)}")
    for_boundary = order is not None or tell_order is not None
    if method == "search" and for_boundary:
        raise OptionError("an order of the vertices is for the method boundary")
    return method != "boundary" and not for_boundary


def seconds_of_faster_search(space: SearchSpace, arch: str, watch: Watch, *, share: float = 1.0) -> float:
    """Return how long a search is expected to take, if it is faster than the boundary method.

    That takes a way along a boundary and the way back. Infinite, if a search is slower, or that takes a moment only.
    The search looks at a `share` of all paths.
    """
    from kernels_ti.boundary.count import arch_of_longest
    from kernels_ti.boundary.needs import needs_of
    from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES
    from kernels_ti.boundary.orders.order import states_per_second
    from kernels_ti.boundary.orders.plan import plan_of

    with watch.searching():
        search, began = SearchTime(space, None), time.perf_counter()

        def is_sought_enough() -> bool:
            """Say whether the order was sought as long as a search takes; the way along a boundary seeks it again."""
            if watch.look():
                return True
            if (sought := time.perf_counter() - began) < _SECONDS_UNPROBED:
                return False
            search.probe(lambda _, longest: share * longest > SECONDS_FOR_PREFIXES)
            return sought > share * search.most

        plan = plan_of(space, arch=arch, seconds=SECONDS_FOR_PREFIXES, enough=is_sought_enough)
        boundary = math.inf
        if plan.is_possible:
            needs = needs_of(plan, "reference", host_budget(space.options.memory), longest=space.longest)
            is_on_gpu = arch == "cuda" and arch_of_longest(plan, arch) == "cuda"
            total = plan.states / states_per_second(arch) if is_on_gpu else plan.seconds
            boundary = _WAYS * max(COST_OF_LENGTHS, needs.totals) * total if needs.fits else math.inf
        if boundary <= _MOMENT or watch.too_late() or arch == "reference":
            return math.inf
        search.probe(lambda shortest, longest: share * shortest < boundary <= share * longest)
        seconds = share * search.seconds
        return seconds if seconds < boundary else math.inf


class SearchTime:
    """About how long a search takes, from random walks that are made as long as a question is open.

    `seconds` is infinite if a moment is too short to tell; it may be up to `most`.
    """

    def __init__(self, space: SearchSpace, threads: int | None) -> None:
        self._threads = None if cuda_is_here() else threads or cores()
        self._left = _PROBING_SECONDS
        self._walks = 0
        self.seconds, self._low, self.most = math.inf, 0.0, math.inf
        self._estimator: Estimator | None = None
        if space.batches().seed_words <= _MOST_SEED_WORDS:
            # A graph that is too large to be estimated has no estimator.
            with suppress(EngineError):
                self._estimator = Estimator(space)

    def probe(self, is_open: Callable[[float, float], bool]) -> None:
        """Probe until a question about the shortest and the longest time is answered, or no time is left."""
        while self._estimator is not None and self._left > 0 and is_open(self._low, self.most):
            began = time.perf_counter()
            try:
                if self._walks < _SMALL_WALKS:
                    self._estimator.add_walk(FIRST_SIZE, deadline=began + self._left)
                else:
                    self._estimator.probe(self._left)
                self._take(self._estimator)
            except EngineError:  # a block that is too large to be estimated
                self.seconds, self._estimator = math.inf, None
            self._walks += 1
            self._left = 0.0 if self._walks > _SMALL_WALKS else self._left - (time.perf_counter() - began)

    def _take(self, estimator: Estimator) -> None:
        """Take what the walks tell; those that were broken off tell nothing."""
        estimate = estimator.estimate()
        if estimate.exact or estimate.walks:
            rate, paths = usual_rate(estimator.words, self._threads), estimate.paths
            self.seconds, self._low, self.most = paths.estimate / rate, paths.low / rate, paths.high / rate
        if estimate.exact:
            self._left = 0.0
