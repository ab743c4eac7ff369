"""What a run of a graph will come to, before it begins: how many cycles, how long it takes, and which method is best.

This module does not use Textual.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from chordless.words.numbers import duration_text, large_number, range_text
from kernels_ti import EngineError, Graph, Options

_SECONDS, _PROBE_SECONDS, _SECONDS_FOR_ORDERS = 0.7, 0.05, 0.3
# Larger graphs take longer to prepare than there is time.
_MOST_VERTICES, _MOST_SEED_WORDS = 20_000, 1_000_000
# Paths that a search expands in a second on one thread of a CPU.
_USUAL_RATE = 50e6
# A count by length takes up to four times as long as the total, which is what a plan tells.
_COST_OF_LENGTHS = 4
# Of a run so short no other method is spoken of.
_SHORT_RUN = 10.0
_LARGEST_EXACT = 1e15
# Nobody is told to begin a count that takes longer than a day.
_LONGEST_ADVISED = 86_400.0


@dataclass(frozen=True)
class Outlook:
    """An estimate of a search.

    Parameters
    ----------
    cycles, low, high : float
        Number of cycles, and the range in which the truth lies in nine cases out of ten. `high` may be infinite.
    exact : bool
        Whether the number is exact.
    seconds : float
        Time of a search on all threads, at the usual rate.
    boundary_seconds : float or None
        Time of a count along a boundary; None if the graph is too wide for it.
    threads : int
    is_settled : bool
        Whether the count would find no better order of the vertices, by which it is faster.
    """

    cycles: float
    low: float
    high: float
    exact: bool
    seconds: float
    boundary_seconds: float | None
    threads: int
    is_settled: bool = True

    @property
    def lines(self) -> tuple[str, ...]:
        """The estimate in words: how many, how long, which method."""
        return (self._how_many(), self._how_long(), self._which_method())

    def _how_many(self) -> str:
        if self.exact and self.cycles < _LARGEST_EXACT:
            return f"{self.cycles:,.0f} chordless cycle{'s' * (self.cycles != 1)}, exactly."
        if not math.isfinite(self.high):
            least = f": at least {large_number(self.low)}" if self.low else ""
            return f"More chordless cycles than can be estimated in a second{least}."
        return f"About {large_number(self.cycles)} chordless cycles{range_text(self.low, self.high)}."

    def _how_long(self) -> str:
        if not math.isfinite(self.high):
            return "How long a search takes cannot be said yet."
        return f"About {duration_text(self.seconds)} of search on {self.threads} thread{'s' * (self.threads != 1)}."

    def _which_method(self) -> str:
        along = self.boundary_seconds
        if along is None or along > self.seconds or self.seconds < _SHORT_RUN:
            return "Method: search."
        about = "about" if self.is_settled else "at most"
        advice = ": choose it under Find." if along <= _LONGEST_ADVISED else ". Stop after some, or bound the length."
        return f"A count along a boundary takes {about} {duration_text(along)}{advice}"


def outlook_of(graph: Graph, options: Options, given_up: Callable[[], bool]) -> Outlook | None:
    """Estimate a search in about a second.

    Parameters
    ----------
    graph : Graph
    options : Options
        The bounds on the length.
    given_up : callable
        Called about twenty times a second. When it returns True, the result is not wanted any more.

    Returns
    -------
    Outlook or None
        None if the graph is too large for a quick estimate, or `given_up` returned True.
    """
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.boundary.orders.plan import plan_of
    from kernels_ti.estimate.estimate import Estimator

    if graph.n > _MOST_VERTICES or graph.m > _MOST_SEED_WORDS:
        return None
    threads = os.cpu_count() or 1
    space = SearchSpace(graph, options)
    if space.batches().seed_words > _MOST_SEED_WORDS:
        return None
    try:
        estimator = Estimator(space)
    except EngineError:
        return None
    deadline, probe = time.monotonic() + _SECONDS, _PROBE_SECONDS
    while not estimator.exact and (time.monotonic() < deadline or not estimator.probed):
        if given_up():
            return None
        estimator.probe(probe)
        # A walk that takes longer than this time needs more.
        probe = probe if estimator.has_walked else 2 * probe
    estimate = estimator.estimate()
    seconds = (estimate.paths + estimate.cycles) / (_USUAL_RATE * threads)
    along, is_settled = None, True
    if seconds >= _SHORT_RUN and options.max_length is None and not given_up():
        began = time.monotonic()
        plan = plan_of(space, enough=lambda: given_up() or time.monotonic() - began > _SECONDS_FOR_ORDERS)
        along, is_settled = _COST_OF_LENGTHS * plan.seconds if plan.is_possible else None, plan.is_settled
    return Outlook(
        estimate.cycles,
        estimate.cycles_low,
        estimate.cycles_high,
        estimate.exact,
        seconds,
        along,
        threads,
        is_settled,
    )
