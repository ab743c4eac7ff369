"""The longest, shortest, heaviest or lightest chordless cycle of a search space, along a boundary."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.forward_and_back.gains import Gains
from kernels_ti.boundary.forward_and_back.optimum import GivenUpWithBestError, Optimum, best_cycle
from kernels_ti.boundary.forward_and_back.weights import Weights
from kernels_ti.boundary.in_one_call import ready_to_pick
from kernels_ti.errors import TimeIsUpError, vertices_text
from kernels_ti.watch import Watch


@dataclass(frozen=True)
class BestCycle:
    """The longest, shortest, heaviest or lightest chordless cycle of a graph.

    Attributes
    ----------
    cycle : list of hashable
        The names of its vertices in cycle order; empty if no cycle is within the bounds.
    weight : int, Fraction or None
        Exact; None where only the length counts, or without a cycle.
    ways : int
        Cycles that have this length, or this weight; where it is not `complete`, those that were found.
    width : int
        Vertices in the largest boundary; 0 without one.
    states : int
        States of the largest boundary; 0 without one.
    seconds : float
        With the search for an order of the vertices.
    method : {"boundary", "search"}
        How it was found.
    complete : bool
        False if the time was up: this is the best of the cycles that were found.
    """

    cycle: list[Hashable]
    weight: int | Fraction | None
    ways: int
    width: int
    states: int
    seconds: float
    method: str = "boundary"
    complete: bool = True

    @property
    def length(self) -> int:
        """Vertices of the cycle, 0 without one."""
        return len(self.cycle)


def longest_in(
    space: SearchSpace,
    weights: Weights | None = None,
    *,
    shortest: bool = False,
    watch: Watch | None = None,
    **how: Any,
) -> BestCycle:
    """Find the longest, shortest, heaviest or lightest cycle; see `kernels_ti.longest.longest_cycle`.

    The time-out of the watch gives the search up. For `how` see `kernels_ti.boundary.in_one_call.ready_to_pick`.
    """
    began = time.perf_counter()
    gains = Gains() if weights is None else weights.gains
    so_far = None

    def named(best: Optimum) -> BestCycle:
        return BestCycle(
            cycle=[space.graph.names[v] for v in best.cycle],
            weight=weights.weight(best.value) if weights is not None and best.cycle else None,
            ways=best.ways,
            width=planned.plan.width,
            states=best.states,
            seconds=time.perf_counter() - began,
        )

    try:
        with ready_to_pick(space, watch, "the best cycle was found", **how) as (planned, means):
            try:
                best = best_cycle(planned, gains, least=shortest, **means)
            except GivenUpWithBestError as given_up:
                so_far = named(given_up.best)
                raise
    except TimeIsUpError as error:
        if so_far is None:
            raise
        said = TimeIsUpError(f"{error}; the best one so far has {vertices_text(so_far.length)}")
        said.best = so_far
        raise said from None
    return named(best)
