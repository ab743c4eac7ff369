"""The rule that carries the number of ways to each state along; see `kernels_ti.boundary.forward_and_back.layers`."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import Any

import numpy.typing as npt

from kernels_ti.boundary.forward_and_back.layers import Layer
from kernels_ti.boundary.forward_and_back.numbers import Numbers, first_above, sums_of


class Ways:
    """The number of sets of vertices behind each state.

    Attributes
    ----------
    closed : dict of int to int
        For each step in which cycles close, how many do.
    """

    def __init__(self) -> None:
        self.closed: dict[int, int] = {}

    @property
    def total(self) -> int:
        """All cycles."""
        return sum(self.closed.values())

    def begin(self) -> Numbers:
        """Begin with one way."""
        return Numbers.ones(1)

    def follow(self, layer: Layer, values: Numbers) -> Numbers:
        """Add up the ways to the states that follow."""
        sides = [layer.children(joins=joins) for joins in (False, True)]
        return sums_of([(values[parents], into) for parents, into in sides], layer.after)

    def close(self, place: int, layer: Layer, values: Numbers) -> None:
        """Count the cycles that close."""
        if len(layer.closing):
            self.closed[place] = values[layer.closing].total()

    def nbytes(self, values: Numbers) -> int:
        """Return the bytes of numbers."""
        return values.nbytes

    def arrays_of(self, values: Numbers) -> dict[str, npt.NDArray[Any]]:
        """Return numbers as an array."""
        return {"ways": values.digits}

    def values_of(self, arrays: dict[str, npt.NDArray[Any]]) -> Numbers:
        """Return the numbers of such an array."""
        return Numbers(arrays["ways"])

    def found(self) -> dict[str, Any]:
        """Return how many cycles close in each step."""
        return {"closed": dict(self.closed)}

    def go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known."""
        self.closed = closed_in(found)


def closed_in(found: dict[str, Any]) -> dict[int, int]:
    """Return for each step in which cycles close, how many do; the steps of a checkpoint are text."""
    return {int(place): int(ways) for place, ways in found["closed"].items()}


def closing_numbers(closed: dict[int, int], samples: dict[int, int]) -> dict[int, dict[int, int]]:
    """Return for each step in which wanted cycles close, which of its cycles they are, by sample.

    Parameters
    ----------
    closed : dict of int to int
        For each step in which cycles close, how many do.
    samples : dict of int to int
        For each sample the number of its cycle, counted over the steps in their order.
    """
    places = sorted(closed)
    ends = list(accumulate(closed[place] for place in places))
    closing: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for sample, number in samples.items():
        which = first_above(ends, number)
        closing[places[which]][sample] = number - (ends[which] - closed[places[which]])
    return dict(closing)
