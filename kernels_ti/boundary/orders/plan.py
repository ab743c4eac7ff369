"""How a graph would be counted along a boundary: its blocks, and an order of the vertices of each."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.orders.order import (
    LARGEST_BOUNDARY,
    BoundaryOrder,
    found_once,
    measured_order,
    neighbour_lists,
    small_boundary_order,
    states_per_second,
)
from kernels_ti.errors import CheckpointError, NoOrderError, OptionError, SizeError, worded
from kernels_ti.graph import Graph

# Grids and road networks on one core of an AMD EPYC: 0.2 to 0.5 us.
_SECONDS_TO_A_STATE = 4e-7
# For each vertex of the boundary: grids, planar graphs and king graphs with random directions, de Bruijn graphs.
_LEFT_BY_ARCS = 0.72
# Part of the edges that a planar graph could not have. From there on paths are paired in all ways: Fibonacci cubes
# (0.26) and sparse random graphs (0.14) met 0.9 to 2.4 times as many states, tori (0.03) as many as planar graphs.
_SURELY_CROSSING = 0.2
# Part of all states after which those that were met tell as much as the expectation.
_PART_TO_TRUST = 0.05


@dataclass(frozen=True)
class BoundaryPlan:
    """How a graph would be counted."""

    cycles_by_length: dict[int, int]  # Those of blocks that are nothing but a cycle
    blocks: tuple[Graph, ...]  # The others
    vertices: tuple[tuple[int, ...], ...]  # The vertices of each block in the graph, ascending
    # One to a block; None if none was found with boundaries that a state can hold
    orders: tuple[BoundaryOrder | None, ...]
    required: tuple[frozenset[int], ...]  # The vertices of each block that every cycle has to pass

    @property
    def width(self) -> int:
        """Vertices in the largest boundary."""
        return max((order.width for order in self.orders if order is not None), default=0)

    @property
    def cost(self) -> float:
        """About how many states the boundaries can have, summed up over all vertices."""
        return sum(order.cost for order in self.orders if order is not None)

    @property
    def states(self) -> float:
        """About how many states will be met."""
        return sum(order.cost * part for order, part in zip(self.orders, self._parts, strict=True) if order is not None)

    @functools.cached_property
    def _parts(self) -> list[float]:
        """For each block as how many of its costs are met: arcs leave fewer states, paths that cross have more."""
        pairs = zip(self.blocks, self.orders, strict=True)
        return [1.0 if order is None else _part_of_costs(block, order) for block, order in pairs]

    @property
    def expected_states(self) -> tuple[float, ...]:
        """About how many states there are when each vertex comes, block after block."""
        return tuple(itertools.chain.from_iterable(order.costs for order in self.orders if order is not None))

    @property
    def seconds(self) -> float:
        """About how long a count of all lengths together takes; for each length, up to four times as long."""
        return self.states * _SECONDS_TO_A_STATE

    @property
    def most_states(self) -> float:
        """About how many states there are at the largest boundary."""
        orders = zip(self.orders, self._parts, strict=True)
        return max((max(order.costs) * part for order, part in orders if order is not None), default=0.0)

    @property
    def is_settled(self) -> bool:
        """Whether a count would take these orders too, as there was time to look for better ones."""
        return all(order is None or order.settled for order in self.orders)

    @property
    def is_possible(self) -> bool:
        """Whether there is an order for every block."""
        return None not in self.orders

    def require_possible(self) -> None:
        """Raise a NoOrderError unless there is an order for every block."""
        if not self.is_possible:
            search = worded('method="search"; count_participation searches, participation does not', "--method search")
            raise NoOrderError(
                f"no order of this graph was found with a boundary of at most {LARGEST_BOUNDARY} vertices: "
                f"it has to be searched ({search})"
            )

    def order_of_graph(self, n: int) -> list[int]:
        """Return an order of all n vertices of the graph in which the vertices of each block come in its order.

        An OptionError says that a block is counted in several cases, and there is none.
        """
        after: dict[int, list[int]] = {v: [] for v in range(n)}
        for vertices, order in zip(self.vertices, self.orders, strict=True):
            for v, following in itertools.pairwise([] if order is None else order.vertices):
                after[vertices[following]].append(vertices[v])
        try:
            return list(TopologicalSorter(after).static_order())
        except CycleError:
            raise OptionError("there is no one order: with edges to avoid, each case has its own") from None


def plan_of(
    graph: Graph | SearchSpace,
    *,
    order: Sequence[int] | None = None,
    orders: Sequence[Sequence[int]] | None = None,
    arch: str = "cpu",
    seconds: float = 20.0,
    enough: Callable[[], bool] = lambda: False,
    tell_width: Callable[[int], None] = lambda _: None,
) -> BoundaryPlan:
    """Put the vertices of each block in order.

    Each wanted cycle lies in one of the blocks of all cases of the space. With an `order` of all vertices of the graph,
    those of each block are taken in this order; `orders` has those of each block. Otherwise `arch`, `seconds`, `enough`
    and `tell_width` are for `small_boundary_order`; an order that this process has found lately is taken at once. A
    SizeError refuses a given order with a boundary that a state cannot hold.
    """
    space = SearchSpace.of(graph)
    known, place, widths = iter(orders or ()), {v: at for at, v in enumerate(order or ())}, [0]

    def seek(block: Graph) -> BoundaryOrder | None:
        return small_boundary_order(
            block, LARGEST_BOUNDARY, arch=arch, seconds=seconds, enough=enough,
            tell_width=lambda width: tell_width(max(*widths, width)),
        )  # fmt: skip

    def ordered(block: Graph, vertices: tuple[int, ...]) -> BoundaryOrder | None:
        if orders is not None:
            kept = next(known, ())
            if sorted(kept) != list(range(block.n)):
                raise CheckpointError("the order of the vertices that was kept does not fit the graph")
            return _given_order(block, kept)
        if order is not None:
            return _given_order(block, sorted(range(block.n), key=lambda v: place[vertices[v]]))
        found = found_once(block, (states_per_second(arch), seconds), lambda: seek(block))
        widths.append(0 if found is None else found.width)
        return found

    rings: Counter[int] = Counter()
    found: list[tuple[Graph, tuple[int, ...], BoundaryOrder | None, frozenset[int]]] = []
    for case, labelled in zip(space.cases, space.blocks, strict=True):
        if case.graph.m > LARGEST_BOUNDARY * case.graph.n:
            # In any order some vertex has more than m / n neighbours before it, and the boundary has them all.
            found.append((case.graph, tuple(range(case.graph.n)), None, frozenset(case.through)))
            continue
        rings.update(labelled.ring_lengths.tolist())
        for block, places in labelled.other_blocks():
            vertices = tuple(places.tolist())
            required = frozenset(np.searchsorted(places, case.through).tolist())
            found.append((block, vertices, ordered(block, vertices), required))
    return BoundaryPlan(dict(rings), *zip(*found, strict=True)) if found else BoundaryPlan(dict(rings), (), (), (), ())


def _part_of_costs(block: Graph, order: BoundaryOrder) -> float:
    part = _LEFT_BY_ARCS**order.width if block.directed else 1.0
    # By Euler's formula, a planar graph with t triangles has at most 2 n - 4 + t / 2 edges.
    crossing = (1 - (2 * block.n - 4 + _triangles(block) / 2) / block.m) / _SURELY_CROSSING
    if crossing <= 0:
        return part
    dearer = measured_order(neighbour_lists(block), order.vertices, crossing=True).cost
    more: float = (dearer / order.cost) ** min(crossing, 1.0)
    return part * more


def _triangles(graph: Graph) -> int:
    if graph.m <= 2 * graph.n - 4:
        # There may be some: they change nothing.
        return 0
    near = [set(neighbours) for neighbours in neighbour_lists(graph)]
    return sum(len(near[u] & near[v]) for u, v in graph.edges().tolist()) // 3


def _given_order(block: Graph, vertices: Sequence[int]) -> BoundaryOrder:
    order = measured_order(neighbour_lists(block), vertices)
    if order.width > LARGEST_BOUNDARY:
        raise SizeError(
            f"the order given has a boundary of {order.width:,} vertices, more than the {LARGEST_BOUNDARY} that "
            "a state can hold"
        )
    return order


def likely_states(plan: BoundaryPlan) -> npt.NDArray[np.float64]:
    """Return about how many states there are when each vertex comes, block after block; shape (vertices,)."""
    return np.concatenate([np.zeros(0), *(order.likely for order in plan.orders if order is not None)])


def share_done(likely: npt.NDArray[np.float64], states: Sequence[int]) -> float:
    """Return the share of the work that is done, 0 to 1; the states that were met correct those that are `likely`."""
    met, expected, whole = float(sum(states)), float(likely[: len(states)].sum()), float(likely.sum())
    trust = _PART_TO_TRUST * whole
    ahead = (whole - expected) * (met + trust) / max(expected + trust, 1.0)
    return met / max(met + ahead, 1.0)
