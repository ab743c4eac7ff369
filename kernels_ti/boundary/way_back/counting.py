"""The number of ways to each state, carried along in numpy; see `kernels_ti.boundary.way_back.layers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.values.numbers import Numbers, sums_of
from kernels_ti.boundary.values.saved import SavedForward
from kernels_ti.boundary.way_back.blocks import PlannedBlock
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.layers import History, Layer
from kernels_ti.boundary.way_back.walks import Walks, members_of


class Ways:
    """The number of sets of vertices behind each state; `closed` says for each step how many cycles close in it."""

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

    def values_of(self, arrays: dict[str, npt.NDArray[Any]]) -> Numbers:
        """Return the numbers of an array."""
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


class CountedWay(History[Numbers]):
    """A block that has been gone through in numpy with the ways to each state, and can be gone back; see `History`."""

    def __init__(self, block: PlannedBlock, means: Means, saved: SavedForward | None = None) -> None:
        self._ways = Ways()
        super().__init__(block, self._ways, means, saved)

    @property
    def total(self) -> int:
        """All cycles."""
        return self._ways.total

    def members(self, numbers: Numbers, names: Sequence[int], vertices: int) -> npt.NDArray[np.uint64]:
        """Return the cycles for some numbers of the block, by going back once; see `members_of`."""
        walks = Walks(numbers, self._ways.closed)
        return members_of(walks, self.backward(walks.last + 1), names, vertices)
