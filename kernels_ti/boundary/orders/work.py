"""How much of a count along a boundary is done: the states that were met, of those that are expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.order import boundary_sizes, neighbour_lists
from kernels_ti.boundary.orders.plan import BoundaryPlan

# Fitted to counts of grids (12x12, 15x15), king graphs (9x9, 12x12), tori (9x9), planar and random graphs. Boundaries
# whose cost is larger have more states than it says: the paths between their vertices are paired in more ways.
_COST_THAT_IS_RIGHT, _GROWTH, _SMALLEST_COST = 1000.0, 0.22, 300.0
# Paths lead through vertices that have left the boundary. This many for each vertex of it allow half of the states.
_LEFT_FOR_HALF, _STEEPNESS, _SMALLEST_PART = 1.6, 3, 0.02
# Part of all states after which those that were met tell as much as the expectation.
_PART_TO_TRUST = 0.05


def likely_states(plan: BoundaryPlan) -> npt.NDArray[np.float64]:
    """Return about how many states there are when each vertex comes, block after block; shape (vertices,).

    Unlike the costs of an order, these allow for the time that a boundary needs to fill with states.
    """
    parts = [np.empty(0)]
    for block, order in zip(plan.blocks, plan.orders, strict=True):
        if order is None:
            continue
        sizes = boundary_sizes(neighbour_lists(block), order.vertices)[:-1].astype(np.float64)
        costs = np.array(order.costs)
        left = np.maximum(np.arange(len(sizes)) - sizes, 0) / np.maximum(sizes, 1)
        filled = left**_STEEPNESS / (left**_STEEPNESS + _LEFT_FOR_HALF**_STEEPNESS)
        growth = (np.maximum(costs, _SMALLEST_COST) / _COST_THAT_IS_RIGHT) ** _GROWTH
        parts.append(costs * growth * np.maximum(filled, _SMALLEST_PART))
    return np.concatenate(parts)


def share_done(likely: npt.NDArray[np.float64], states: Sequence[int]) -> float:
    """Return the share of the work that is done, 0 to 1; the states that were met correct those that are `likely`."""
    met, expected, whole = float(sum(states)), float(likely[: len(states)].sum()), float(likely.sum())
    trust = _PART_TO_TRUST * whole
    ahead = (whole - expected) * (met + trust) / max(expected + trust, 1.0)
    return met / max(met + ahead, 1.0)
