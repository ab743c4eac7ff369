"""An order of the vertices of a block in which few of them are ever between what came and what is to come.

The **boundary** of a prefix of the order is the set of its vertices with a neighbour behind it. The least width that
an order can have is the vertex separation number of the graph, its pathwidth; finding it is hard, so a greedy order is
made, and then better ones by a beam search, for as long as the count would gain by them.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from kernels_ti.graph import Graph

# Looking for orders takes this part of the time that the count itself will, at so many states a second.
_PART_FOR_ORDERS = 0.3
_STATES_PER_SECOND = 2e6
# Prefixes that are followed side by side, more and more of them as long as it is worth it.
_BEAMS = (8, 32, 128, 512, 2048)
# A prefix is a mask of as many bits as there are vertices.
_LARGEST_FOR_BEAMS = 5000
# A small boundary now is worth more than a little work saved before.
_STEPS_AHEAD = 3
_WEIGHT_OF_AGE = 0.02


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


def no_longer_than(seconds: float) -> Callable[[], bool]:
    """Return a predicate that becomes true after `seconds`."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


def small_boundary_order(
    graph: Graph, largest: int, *, seconds: float = 20.0, enough: Callable[[], bool] = lambda: False
) -> BoundaryOrder | None:
    """Look for an order with small boundaries.

    Parameters
    ----------
    graph : Graph
        Connected.
    largest : int
        Vertices that a boundary may have.
    seconds : float
        Having found one, look for better ones no longer than about this. The answer depends on the time that
        there is; the counts do not.
    enough : callable
        Asked again and again; once it says so, the best one so far is taken: the greedy one, which a graph that is
        not large always gets.

    Returns
    -------
    BoundaryOrder or None
        None if none was found.
    """
    neighbours = [graph.neighbours(v).tolist() for v in range(graph.n)]
    began = time.perf_counter()
    if graph.n > _LARGEST_FOR_BEAMS:
        return _greedy(neighbours, largest, enough)
    best = _greedy(neighbours, largest, lambda: False)
    if best is None:
        return None
    for prefixes in _BEAMS:
        if time.perf_counter() - began > min(_PART_FOR_ORDERS * best.cost / _STATES_PER_SECOND, seconds):
            break
        vertices = _beam(neighbours, prefixes, largest, lambda: enough() or time.perf_counter() > began + seconds)
        if vertices is not None:
            best = min(best, _measured(neighbours, vertices), key=lambda order: order.cost)
    return best


def _greedy(neighbours: list[list[int]], largest: int, enough: Callable[[], bool]) -> BoundaryOrder | None:
    """Take, again and again, the vertex that leaves the smallest boundary; among those, one beside old vertices."""
    place: dict[int, int] = {}
    missing = [len(near) for near in neighbours]  # neighbours that are still to come
    boundary: set[int] = set()
    candidates = {min(range(len(neighbours)), key=missing.__getitem__)}
    while candidates:
        if len(boundary) >= largest or enough():
            return None
        least, following = (2.0, 0.0), -1
        for v in candidates:
            let_go, age = 0, 0.0
            for u in neighbours[v]:
                if u in boundary:
                    let_go += missing[u] == 1
                    age += len(place) - place[u]
            key = ((missing[v] > 0) - let_go, -_WEIGHT_OF_AGE * age)
            if following < 0 or key < least:
                least, following = key, v
        candidates.discard(following)
        place[following] = len(place)
        boundary.add(following)
        for u in neighbours[following]:
            missing[u] -= 1
            if u not in place:
                candidates.add(u)
        boundary.difference_update([u for u in (following, *neighbours[following]) if missing[u] == 0])
    return _measured(neighbours, list(place))


@dataclass(frozen=True)
class _Prefix:
    """The first vertices of an order: sets as masks, the states met so far, and the vertex that came last."""

    came: int
    boundary: int
    edges: int
    cost: float
    last: int
    before: _Prefix | None

    @property
    def prospect(self) -> float:
        return self.cost + _STEPS_AHEAD * _states(self.boundary.bit_count(), self.edges)


def _beam(neighbours: list[list[int]], prefixes: int, largest: int, enough: Callable[[], bool]) -> list[int] | None:
    """Follow the most promising prefixes side by side; of two with the same vertices, the cheaper."""
    near = [sum(1 << u for u in row) for row in neighbours]
    here = [_Prefix(1 << v, 1 << v, 0, 0.0, v, None) for v in range(len(near))]
    for _ in range(len(near) - 1):
        longer: dict[int, _Prefix] = {}
        for prefix in here:
            if enough():
                return None
            _extend(prefix, near, largest, longer)
        here = heapq.nsmallest(prefixes, longer.values(), key=lambda prefix: prefix.prospect)
    found: _Prefix | None = min(here, key=lambda prefix: prefix.cost, default=None)
    if found is None:
        return None
    vertices = []
    while found is not None:
        vertices.append(found.last)
        found = found.before
    return vertices[::-1]


def _extend(prefix: _Prefix, near: list[int], largest: int, longer: dict[int, _Prefix]) -> None:
    """Put each vertex next to the boundary behind a prefix."""
    cost = prefix.cost + _states(prefix.boundary.bit_count(), prefix.edges)
    candidates = 0
    for u in _members(prefix.boundary):
        candidates |= near[u]
    for v in _members(candidates & ~prefix.came):
        came = prefix.came | 1 << v
        known = longer.get(came)
        if known is not None and known.cost <= cost:
            continue
        boundary = prefix.boundary | 1 << v
        if boundary.bit_count() > largest:
            continue
        edges = prefix.edges + (near[v] & prefix.boundary).bit_count()
        for u in _members(near[v] & prefix.boundary | 1 << v):
            if not near[u] & ~came:
                boundary ^= 1 << u
                edges -= (near[u] & boundary).bit_count()
        longer[came] = _Prefix(came, boundary, edges, cost, v, prefix)


def _members(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _measured(neighbours: list[list[int]], vertices: list[int]) -> BoundaryOrder:
    """Go along an order and see what its boundaries are."""
    missing = [len(near) for near in neighbours]
    boundary: set[int] = set()
    edges = width = 0
    costs = []
    for v in vertices:
        costs.append(_states(len(boundary), edges))
        edges += sum(u in boundary for u in neighbours[v])
        boundary.add(v)
        width = max(width, len(boundary))
        for u in neighbours[v]:
            missing[u] -= 1
        for u in (v, *neighbours[v]):
            if missing[u] == 0 and u in boundary:
                boundary.discard(u)
                edges -= sum(w in boundary for w in neighbours[u])
    return BoundaryOrder(tuple(vertices), tuple(costs), width)


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
