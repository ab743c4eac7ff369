"""How a graph would be counted along a boundary: its blocks, and an order of the vertices of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels_ti.blocks.groups import LabelledBlocks
from kernels_ti.blocks.restriction import Restricted
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.order import BoundaryOrder, small_boundary_order
from kernels_ti.boundary.states import LARGEST_BOUNDARY
from kernels_ti.graph import Graph

# Grids and road networks on one core of an AMD EPYC: 0.2 to 0.5 us.
_SECONDS_TO_A_STATE = 4e-7


@dataclass(frozen=True)
class BoundaryPlan:
    """How a graph would be counted.

    Attributes
    ----------
    cycles_by_length : dict of int to int
        Those of blocks that are nothing but a cycle.
    blocks : tuple of Graph
        The others.
    orders : tuple of BoundaryOrder or None
        One to a block; None for a block of which none was found with boundaries that a state can hold.
    required : tuple of frozenset of int
        The vertices of each block that every cycle has to pass.
    """

    cycles_by_length: dict[int, int]
    blocks: tuple[Graph, ...]
    orders: tuple[BoundaryOrder | None, ...]
    required: tuple[frozenset[int], ...]

    @property
    def width(self) -> int:
        """Vertices in the largest boundary."""
        return max((order.width for order in self.orders if order is not None), default=0)

    @property
    def cost(self) -> float:
        """About how many states will be met."""
        return sum(order.cost for order in self.orders if order is not None)

    @property
    def seconds(self) -> float:
        """About how long a count of all lengths together takes; for each length, up to four times as long."""
        return self.cost * _SECONDS_TO_A_STATE

    @property
    def is_settled(self) -> bool:
        """Whether a count would take these orders too, as there was time to look for better ones."""
        return all(order is None or order.settled for order in self.orders)

    @property
    def is_possible(self) -> bool:
        """Whether there is an order for every block."""
        return None not in self.orders


def plan_of(
    graph: Graph | SearchSpace, *, seconds: float = 20.0, enough: Callable[[], bool] = lambda: False
) -> BoundaryPlan:
    """Put the vertices of each block in order.

    A graph that is not simple and undirected gets a plan that is not possible.

    Parameters
    ----------
    graph : Graph or SearchSpace
        A space with several cases gives the blocks of all of them; each wanted cycle lies in one of these blocks.
    seconds, enough : float, callable
        How long to look for the order of a block, see `small_boundary_order`.
    """
    space = SearchSpace.of(graph)
    if not space.graph.is_simple:
        return BoundaryPlan({}, (space.graph,), (None,), (frozenset(space.options.through),))
    plans = [_plan_of_case(*case, seconds, enough) for case in zip(space.cases, space.blocks, strict=True)]
    rings: Counter[int] = Counter()
    for plan in plans:
        rings.update(plan.cycles_by_length)
    return BoundaryPlan(
        dict(rings),
        tuple(block for plan in plans for block in plan.blocks),
        tuple(order for plan in plans for order in plan.orders),
        tuple(required for plan in plans for required in plan.required),
    )


def _plan_of_case(
    case: Restricted, labelled: LabelledBlocks, seconds: float, enough: Callable[[], bool]
) -> BoundaryPlan:
    graph, through = case.graph, case.through
    if graph.m > LARGEST_BOUNDARY * graph.n:
        # In any order some vertex has more than m / n neighbours before it, and the boundary has them all.
        return BoundaryPlan({}, (graph,), (None,), (frozenset(through),))
    blocks, required = [], []
    for block, vertices in labelled.other_blocks():
        blocks.append(block)
        required.append(frozenset(np.searchsorted(vertices, through).tolist()))
    orders = tuple(small_boundary_order(block, LARGEST_BOUNDARY, seconds=seconds, enough=enough) for block in blocks)
    return BoundaryPlan(Counter(labelled.ring_lengths.tolist()), tuple(blocks), orders, tuple(required))
