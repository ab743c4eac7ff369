"""Places where a line of a map meets the inside of another: no vertices, since only the ends of lines are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_NEARNESS = 1e-9
"""Distance from a line, as a part of the largest coordinate, up to which a place lies on it: programs round."""

_PAIRS_AT_ONCE = 1 << 18

_Places = npt.NDArray[np.float64]  # Of shape (k, 2)


def places_on_the_inside(lines: Sequence[_Places]) -> int:
    """Return how many places lie on the inside of a line and are an end of another, or also on its inside.

    The insides of two lines meet only where both have a place: lines that merely cross are a bridge and a road.
    """
    if not lines:
        return 0
    insides, times = np.unique(np.concatenate([line[1:-1] for line in lines]), axis=0, return_counts=True)
    ends = [line[[0, -1]] for line in lines]
    places = np.unique(np.concatenate([*ends, insides[times > 1]]), axis=0)
    starts, stops = (np.concatenate([line[piece] for line in lines]) for piece in (slice(-1), slice(1, None)))
    own = np.repeat(np.array(ends), [len(line) - 1 for line in lines], axis=0)
    near = _NEARNESS * max(float(np.abs(starts).max(initial=0)), float(np.abs(stops).max(initial=0)))
    low, high = np.minimum(starts, stops) - near, np.maximum(starts, stops) + near
    # The places are in order of their first coordinate.
    first = np.searchsorted(places[:, 0], low[:, 0], "left")
    count = np.searchsorted(places[:, 0], high[:, 0], "right") - first
    before = np.concatenate(([0], np.cumsum(count)))
    met = np.zeros(len(places), np.bool_)
    begin = 0
    while begin < len(starts):
        end = max(int(np.searchsorted(before, before[begin] + _PAIRS_AT_ONCE, "right")) - 1, begin + 1)
        of = np.repeat(np.arange(begin, end), count[begin:end])
        at = np.arange(before[begin], before[end]) - before[of] + first[of]
        inside_box = (low[of, 1] <= places[at, 1]) & (places[at, 1] <= high[of, 1])
        of, at = of[inside_box], at[inside_box]
        along, aside = stops[of] - starts[of], places[at] - starts[of]
        distance = np.abs(along[:, 0] * aside[:, 1] - along[:, 1] * aside[:, 0])
        is_own = (own[of] == places[at, None]).all(axis=2).any(axis=1)
        met[at[(distance <= near * np.maximum(np.hypot(*along.T), near)) & ~is_own]] = True
        begin = end
    return int(met.sum())
