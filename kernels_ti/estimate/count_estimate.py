"""An estimated count of cycles or paths, as callers of a function and readers of JSON get it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from kernels_ti.notebook import html_table


@dataclass(frozen=True)
class EstimatedRange:
    """An estimated number, and the range in which the truth lies in 9 cases out of 10.

    Attributes
    ----------
    estimate : float
        A whole number if it is exact; infinite beyond the largest float.
    low, high : float
        The ends of the range. The lower one is never below what was found; the upper one is infinite where the probes
        tell a lower bound only.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class CountEstimate:
    """About how many chordless cycles, or paths, a graph has: the keys of ``chordless estimate --json``.

    Attributes
    ----------
    triangles : int or None
        Exact; None where none are wanted or not all of them were looked at, and for paths.
    total : EstimatedRange
        All cycles, or all paths, within the bounds.
    by_length : dict of int to float
        Cycles, or paths, by number of vertices; estimates without a range.
    paths : EstimatedRange
        Chordless paths that a search looks at because they lead to a cycle, or to a path that is wanted. It looks at
        a few more where it keeps vertices that cannot join.
    exact : bool
        Whether everything was counted: then each number is whole and true.
    probes, walks : int
        Paths that were expanded, and random walks through the whole search.
    """

    triangles: int | None
    total: EstimatedRange
    by_length: dict[int, float]
    paths: EstimatedRange
    exact: bool
    probes: int
    walks: int

    def in_paths(self, extra: int) -> CountEstimate:
        """Return the estimate of the paths for which cycles with so many vertices more stand; they have no triangles.

        Parameters
        ----------
        extra : int

        Returns
        -------
        CountEstimate
        """
        by_length = {length - extra: count for length, count in self.by_length.items()}
        return replace(self, triangles=None, by_length=by_length)

    @property
    def _text(self) -> str:
        total = self.total
        if self.exact:
            return f"{total.estimate:,}, exact"
        if math.isinf(total.high):
            return f"at least {total.low:.3g}"
        return f"about {total.estimate:.3g}, {total.low:.3g} to {total.high:.3g}"

    def __repr__(self) -> str:
        return f"CountEstimate({self._text})"

    def _repr_html_(self) -> str:
        rows = ((length, count if self.exact else f"{count:.3g}") for length, count in self.by_length.items())
        return html_table(self._text, ("length", "count"), rows)
