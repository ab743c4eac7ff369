"""An order of the vertices of a block in which few of them are ever between what came and what is to come.

The **boundary** of a prefix of the order is the set of its vertices with a neighbour behind it. The least width that
an order can have is the vertex separation number of the graph, its pathwidth; finding it is hard, so many greedy
orders are made and the cheapest is taken.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from functools import lru_cache

from kernels_ti.graph import Graph

_NOISES = (0.1, 1.0, 2.0)
_WEIGHT_OF_AGE = 0.02
# Looking for orders takes this part of the time that the count itself will, at so many states a second, but a few are
# always tried where there is something to gain: costs of dense graphs are rough.
_PART_FOR_ORDERS = 0.05
_STATES_PER_SECOND = 2e6
_FEWEST_ORDERS, _WORTH_A_FEW = 12, 20_000


@dataclass(frozen=True)
class BoundaryOrder:
    """An order of the vertices.

    Attributes
    ----------
    vertices : tuple of int
    costs : tuple of float
        About how many states there are when each of the vertices comes.
    width : int
        Vertices in the largest boundary, while the one that comes and those that it lets go of are all in it.
    """

    vertices: tuple[int, ...]
    costs: tuple[float, ...]
    width: int

    @property
    def cost(self) -> float:
        """About how many states will be met."""
        return sum(self.costs)


def small_boundary_order(
    graph: Graph, largest: int, *, seconds: float = 5.0, patience: float | None = None, seed: int = 0
) -> BoundaryOrder | None:
    """Look for an order with small boundaries.

    Parameters
    ----------
    graph : Graph
        Connected.
    largest : int
        Vertices that a boundary may have.
    seconds : float
        Having found one, look for better ones no longer than about this.
    patience : float or None
        Seconds after which to give up when there is none yet.
    seed : int
        Of the random choices. More of them are made where the count will take long, so the answer also depends on
        the time that they take; the counts do not.

    Returns
    -------
    BoundaryOrder or None
        None if none was found.
    """
    chance = random.Random(seed)
    neighbours = [graph.neighbours(v).tolist() for v in range(graph.n)]
    began = time.perf_counter()
    best: BoundaryOrder | None = None
    tries = 0
    while _is_worth_a_try(tries, best, time.perf_counter() - began, seconds):
        start = chance.randrange(graph.n)
        deadline = None if patience is None else began + patience
        order = _greedy(neighbours, start, chance, chance.choice(_NOISES), largest, deadline)
        tries += 1
        if order is not None and (best is None or order.cost < best.cost):
            best = order
    return best


def _is_worth_a_try(tries: int, best: BoundaryOrder | None, spent: float, seconds: float) -> bool:
    if best is None or best.cost > _WORTH_A_FEW and tries < _FEWEST_ORDERS:
        return tries < _FEWEST_ORDERS
    return spent < min(_PART_FOR_ORDERS * best.cost / _STATES_PER_SECOND, seconds)


def _greedy(
    neighbours: list[list[int]], start: int, chance: random.Random, noise: float, largest: int, deadline: float | None
) -> BoundaryOrder | None:
    """Take, again and again, the vertex that leaves the smallest boundary; among those, one beside old vertices."""
    place: dict[int, int] = {}
    missing = [len(near) for near in neighbours]  # neighbours that are still to come
    boundary: set[int] = set()
    edges = 0  # between vertices of the boundary
    width = 0
    candidates = {start}
    costs = []
    while candidates:
        if len(boundary) >= largest or deadline is not None and time.perf_counter() > deadline:
            return None
        least, following = (2.0, 0.0), start
        for v in candidates:
            let_go, age = 0, 0.0
            for u in neighbours[v]:
                if u in boundary:
                    let_go += missing[u] == 1
                    age += len(place) - place[u]
            key = ((missing[v] > 0) - let_go, -_WEIGHT_OF_AGE * age + noise * chance.random())
            if key < least:
                least, following = key, v
        candidates.discard(following)
        costs.append(_states(len(boundary), edges))
        place[following] = len(place)
        edges += sum(u in boundary for u in neighbours[following])
        boundary.add(following)
        width = max(width, len(boundary))
        for u in neighbours[following]:
            missing[u] -= 1
            if u not in place:
                candidates.add(u)
        for u in (following, *neighbours[following]):
            if missing[u] == 0 and u in boundary:
                boundary.discard(u)
                edges -= sum(v in boundary for v in neighbours[u])
    return BoundaryOrder(tuple(place), tuple(costs), width)


@lru_cache(maxsize=1 << 16)
def _states(vertices: int, edges: int) -> float:
    """Estimate the states of a boundary: its sets of vertices without an edge, each with two ways to be paired.

    Vertices of a cycle that are neighbours are so in a known way; those that are not count as if the boundary were
    a random graph with its number of edges.
    """
    pairs = vertices * (vertices - 1) / 2
    apart = math.log(1 - edges / pairs) if edges < pairs else -math.inf
    return sum(
        math.exp(
            math.lgamma(vertices + 1) - math.lgamma(k + 1) - math.lgamma(vertices - k + 1)
            + k * math.log(2) + (k * (k - 1) / 2 * apart if k > 1 else 0.0)
        )
        for k in range(vertices + 1)
    )  # fmt: skip
