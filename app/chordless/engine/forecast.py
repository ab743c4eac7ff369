"""An estimate of the number of cycles that gets better while the search goes on."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import astuple

from chordless.words.numbers import CycleRange
from kernels_ti import EngineError
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate.estimate import Estimator

# Shorter runs need no forecast. Longer runs spend this share of their time on it.
_SECONDS_BEFORE_FORECAST = 2.0
# A walk begins if twice the time that it is expected to take is left, so the longest probe takes about half of this.
_PROBE_SECONDS, _LONGEST_PROBE = 0.02, 0.6
_SHARE_OF_FORECAST = 50
# A probe reads all seeds at once. For this many words of their rows it takes about a quarter of a second, in which
# no command is read, and 60 MB. With a memory budget, these bytes must fit beside those of the search.
_LARGEST_FORECAST = 20_000
_SEED_WORDS = 100_000
_PART_WITHIN_BUDGET = 10
_FIELDS = ("cycles_estimate", "cycles_low", "cycles_high")


class Forecast:
    """An estimate of the number of cycles that gets better during the search, if need be within its memory."""

    def __init__(self, space: SearchSpace, *, within_budget: bool = False) -> None:
        self._space = space
        self._probe_seconds = _PROBE_SECONDS
        self._part = _PART_WITHIN_BUDGET if within_budget else 1
        self._estimator: Estimator | None = None
        self._next = time.monotonic() + _SECONDS_BEFORE_FORECAST
        self.fields: dict[str, float | None] = {}

    def improve(self) -> None:
        """Probe for a moment, if a probe is due."""
        if time.monotonic() < self._next:
            return
        try:
            if self._estimator is None:
                if not self._is_cheap():
                    self._next = math.inf
                    return
                self._estimator = Estimator(self._space)
            # The preparation is done once, so its time does not count.
            began = time.monotonic()
            self._probe(self._estimator)
        except (EngineError, MemoryError) as error:
            # The search itself needs less memory, so it continues without a forecast.
            sys.stderr.write(f"no more estimates: {error or 'out of memory'}\n")
            self._next = math.inf
            return
        now = time.monotonic()
        self._next = now + (now - began) * _SHARE_OF_FORECAST

    def share(self, branching: float, cycles: int) -> float:
        """Return the share of the search that is done, 0 to 1, from that by branching and the cycles found so far."""
        middle, low, high = (self.fields.get(name) for name in _FIELDS)
        known = CycleRange.told(middle, low, high, cycles)
        return branching if known is None else known.share(cycles, branching)

    def _is_cheap(self) -> bool:
        """Return whether the seeds are few, judged by the size of the graph first, then by its blocks."""
        for case in self._space.cases:
            graph = case.graph
            # An edge that is no bridge is a seed, but for one at each root.
            fewest_seeds = graph.m - 2 * graph.n
            if graph.n > _LARGEST_FORECAST // self._part or fewest_seeds > _SEED_WORDS // self._part:
                return False
        return self._space.batches().seed_words <= _SEED_WORDS // self._part

    def _probe(self, estimator: Estimator) -> None:
        if estimator.exact:
            return
        if estimator.probe(self._probe_seconds):
            self._probe_seconds = max(self._probe_seconds / 2, _PROBE_SECONDS)
        else:
            self._probe_seconds = min(2 * self._probe_seconds, _LONGEST_PROBE)
            return
        values = astuple(estimator.estimate().total)
        self.fields = {
            name: float(value) if math.isfinite(value) else None for name, value in zip(_FIELDS, values, strict=True)
        }
