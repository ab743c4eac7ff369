"""An order of the vertices of a block in which few of them are ever between what came and what is to come.

The **boundary** of a prefix of the order is the set of its vertices with a neighbour behind it. The least width that
an order can have is the vertex separation number of the graph, its pathwidth; finding it is hard, so a greedy order is
made, and then better ones by a beam search, for as long as the count would gain by them.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Indices
from kernels_ti.graph import Graph

LARGEST_BOUNDARY = 254
"""Vertices of the largest boundary that is tried."""

# Following prefixes takes at most this part of the time that the count itself will.
_PART_FOR_ORDERS = 0.1
_STATES_PER_SECOND, _GPU_STATES_PER_SECOND = 2e6, 5e8
# Prefixes that are followed side by side, more and more of them as long as it is worth it.
_BEAMS = (8, 32, 128, 512, 2048)
# Vertices times edges of a graph that gets a greedy order in any case: it takes a few seconds at most.
_LARGEST_SURE = 20_000_000
# A prefix has a cell to each vertex.
_LARGEST_FOR_BEAMS = 5000
# A small boundary now is worth more than a little work saved before.
_STEPS_AHEAD = 3
# Vertices with which an order may begin, spread over all.
_STARTS = 1024
# Cells of the arrays that are made at once.
_CELLS_AT_ONCE = 1 << 20
# About how many longer prefixes a prefix has; a cell is one neighbour of what was added.
_CANDIDATES, _SECONDS_TO_A_CELL = 10, 5e-8
_WEIGHT_OF_AGE = 0.02
# Fitted to counts of grids (12x12, 15x15), king graphs (9x9, 12x12), tori (9x9), planar and random graphs. Boundaries
# whose cost is larger have more states than it says: the paths between their vertices are paired in more ways.
_COST_THAT_IS_RIGHT, _GROWTH, _SMALLEST_COST = 1000.0, 0.22, 300.0
# Paths lead through vertices that have left the boundary. This many for each vertex of it allow half of the states.
_LEFT_FOR_HALF, _STEEPNESS, _SMALLEST_PART = 1.6, 3, 0.02


@dataclass(frozen=True)
class BoundaryOrder:
    """An order of the vertices."""

    vertices: tuple[int, ...]
    sizes: tuple[int, ...]  # Vertices in the boundary when each of the vertices comes
    costs: tuple[float, ...]  # About how many states there are then
    width: int  # Vertices in the largest boundary, while the one that comes and those that it lets go of are all in it
    # Looking on would find the same order; otherwise the time was too short, and there may be a better one
    settled: bool = True

    @property
    def cost(self) -> float:
        """About how many states will be met."""
        return sum(self.costs)

    @property
    def likely(self) -> npt.NDArray[np.float64]:
        """About how many states there are when each vertex comes, shape (vertices,).

        Unlike `costs`, these allow for the time that a boundary needs to fill with states.
        """
        sizes, costs = np.array(self.sizes, np.float64), np.array(self.costs, np.float64)
        left = np.maximum(np.arange(len(sizes)) - sizes, 0) / np.maximum(sizes, 1)
        filled = left**_STEEPNESS / (left**_STEEPNESS + _LEFT_FOR_HALF**_STEEPNESS)
        growth = (np.maximum(costs, _SMALLEST_COST) / _COST_THAT_IS_RIGHT) ** _GROWTH
        found: npt.NDArray[np.float64] = costs * growth * np.maximum(filled, _SMALLEST_PART)
        return found


def states_per_second(arch: str) -> float:
    """Return how many states a count meets in a second, about, to tell what time an order is worth.

    On one NVIDIA H200 they were 1.6e9 in a count of all lengths together, and 2.8e8 by length.
    """
    return _GPU_STATES_PER_SECOND if arch in ("cuda", "vulkan") else _STATES_PER_SECOND


def neighbour_lists(graph: Graph) -> list[list[int]]:
    """Return the neighbours of each vertex."""
    return [graph.neighbours(v).tolist() for v in range(graph.n)]


def no_longer_than(seconds: float) -> Callable[[], bool]:
    """Return a predicate that becomes true after `seconds`."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


def small_boundary_order(
    graph: Graph,
    largest: int,
    *,
    arch: str = "cpu",
    seconds: float = 20.0,
    enough: Callable[[], bool] = lambda: False,
    tell_width: Callable[[int], None] = lambda _: None,
) -> BoundaryOrder | None:
    """Look for an order of a connected graph whose boundaries have at most `largest` vertices; None if none was found.

    Having found an order, it looks for better ones no longer than about `seconds`, and as long as a count on `arch` is
    worth it. The work is counted, not the time, so that everybody who asks finds the same order. Once `enough` returns
    True, the best order so far is taken. `tell_width` is called with the width of each better order.
    """
    neighbours = neighbour_lists(graph)
    if graph.n > _LARGEST_FOR_BEAMS:
        return _greedy(neighbours, largest, enough)
    best = _greedy(neighbours, largest, enough if graph.n * graph.m > _LARGEST_SURE else lambda: False)
    if best is None:
        return None
    # Grids and maps often name their vertices line by line.
    given = measured_order(neighbours, range(graph.n))
    if given.width <= largest:
        best = min(best, given, key=lambda order: order.cost)
    tell_width(best.width)
    beam = _Beam(neighbours, largest)
    for prefixes in _BEAMS:
        gain = min(_PART_FOR_ORDERS * best.cost / states_per_second(arch), seconds)
        if beam.seconds_for(prefixes) > gain:
            return best
        vertices = beam.order(prefixes, enough)
        if vertices is not None:
            best = min(best, measured_order(neighbours, vertices), key=lambda order: order.cost)
            tell_width(best.width)
        elif enough():
            return replace(best, settled=False)
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
    return measured_order(neighbours, list(place))


class _Beam:
    """The most promising prefixes, side by side in arrays, with boundaries of at most `largest` vertices."""

    def __init__(self, neighbours: list[list[int]], largest: int) -> None:
        n = len(neighbours)
        self._n = n
        self._largest = largest
        self._degree = np.array([len(near) for near in neighbours], np.int16)
        # Vertex n stands for nothing, where a vertex has fewer neighbours than the one with the most.
        self._near = np.full((n, int(self._degree.max(initial=1))), n, np.int32)
        for v, near in enumerate(neighbours):
            self._near[v, : len(near)] = near
        self._adjacent = np.zeros((n + 1, n + 1), np.bool_)
        self._adjacent[np.arange(n)[:, None], self._near] = True
        self._adjacent[:, n] = False
        # A set of vertices is known by the exclusive or of their numbers; that two sets share one costs an order only.
        self._number = np.random.Generator(np.random.PCG64(0)).integers(1 << 63, size=n, dtype=np.uint64)
        self._seconds, self._last = 0.0, 0

    def seconds_for(self, prefixes: int) -> float:
        """Return about how long it takes to follow a number of prefixes, from the last beam if there was one."""
        if self._last:
            return self._seconds * prefixes / self._last
        return self._n * prefixes * _CANDIDATES * self._near.shape[1] * _SECONDS_TO_A_CELL

    def order(self, prefixes: int, enough: Callable[[], bool]) -> list[int] | None:
        """Follow a number of prefixes to the end; None if time ran out, or all boundaries became too large."""
        n = self._n
        first = np.unique(np.arange(_STARTS) * n // _STARTS)
        rows = np.arange(len(first))
        self._came = np.zeros((len(first), n + 1), np.bool_)
        self._came[rows, first] = True
        self._inside = self._came.copy()  # in the boundary
        self._missing = np.tile(np.append(self._degree, np.int16(0)), (len(first), 1))
        np.subtract.at(self._missing, (rows[:, None], self._near[first]), 1)
        self._edges, self._cost = np.zeros(len(first), np.int64), np.zeros(len(first))
        self._set = self._number[first]
        self._seconds, self._last = 0.0, prefixes
        steps = [(first, first)]
        for _ in range(n - 1):
            step = self._step(prefixes, enough)
            if step is None:
                return None
            steps.append(step)
        at, vertices = int(self._cost.argmin()), []
        for parents, added in reversed(steps):
            vertices.append(int(added[at]))
            at = int(parents[at])
        return vertices[::-1]

    def _step(self, prefixes: int, enough: Callable[[], bool]) -> tuple[Indices, Indices] | None:
        """Make all prefixes longer by one vertex beside its boundary, and keep the best.

        Returns for each of these its parent and the vertex; None if there is none, or it is enough.
        """
        sizes = np.count_nonzero(self._inside, axis=1)
        touched = ~self._came[:, :-1] & (self._missing[:, :-1] < self._degree)
        touched[sizes >= self._largest] = False
        parents, added = np.nonzero(touched)
        self._seconds += len(parents) * self._near.shape[1] * _SECONDS_TO_A_CELL
        if not len(parents):
            return None
        costs = self._cost + _states_of(sizes, self._edges)
        sets = self._set[parents] ^ self._number[added]
        _, distinct = np.unique(sets[by_cost := np.argsort(costs[parents], kind="stable")], return_index=True)
        chosen = np.sort(by_cost[distinct])
        parents, added, sets = parents[chosen], added[chosen], sets[chosen]
        ends, size = [], max(_CELLS_AT_ONCE // self._near.shape[1] ** 2, 1)
        for start in range(0, len(parents), size):
            if enough():
                return None
            ends.append(self._let_go(parents[start : start + size], added[start : start + size]))
        left, cut = np.concatenate([end[0] for end in ends]), np.concatenate([end[1] for end in ends])
        edges = self._edges[parents] + self._degree[added] - self._missing[parents, added] - cut
        prospects = costs[parents] + _STEPS_AHEAD * _states_of(sizes[parents] + 1 - left, edges)
        best = np.argsort(prospects, kind="stable")[:prefixes]
        parents, added = parents[best], added[best]
        self._cost, self._edges, self._set = costs[parents], edges[best], sets[best]
        self._take(parents, added)
        return parents, added

    def _leaving(self, parents: Indices, added: Indices) -> tuple[npt.NDArray[Any], ...]:
        """Say which neighbours of an added vertex, and at last it itself, leave; with the child and vertex of each."""
        near = self._near[added]
        rows = parents[:, None]
        leaving = self._came[rows, near] & (self._missing[rows, near] == 1)
        leaving = np.column_stack((leaving, self._missing[parents, added] == 0))
        child, place = np.nonzero(leaving)
        return leaving, child, np.column_stack((near, added))[child, place]

    def _let_go(self, parents: Indices, added: Indices) -> tuple[Indices, Indices]:
        """Return how many vertices leave the boundary as one is added, and how many edges of the boundary with them."""
        leaving, child, vertex = self._leaving(parents, added)
        beside = self._near[vertex]
        rows = parents[child][:, None]
        inside = self._inside[rows, beside].sum(axis=1) + self._adjacent[vertex, added[child]]
        # An edge of which both ends leave has been counted at each.
        new = added[child][:, None]
        both = self._came[rows, beside] & (self._missing[rows, beside] == 1) & self._adjacent[beside, new]
        both |= (beside == new) & leaving[child, -1][:, None]
        cut = np.bincount(child, inside - both.sum(axis=1) / 2, minlength=len(parents)).astype(np.int64)
        return leaving.sum(axis=1), cut

    def _take(self, parents: Indices, added: Indices) -> None:
        _, child, vertex = self._leaving(parents, added)
        self._came, self._inside = self._came[parents], self._inside[parents]
        self._missing = self._missing[parents]
        rows = np.arange(len(added))
        self._came[rows, added] = self._inside[rows, added] = True
        self._inside[child, vertex] = False
        self._missing[rows[:, None], self._near[added]] -= 1
        self._missing[:, -1] = 0


def _states_of(sizes: Indices, edges: Indices) -> npt.NDArray[np.float64]:
    span = int(edges.max(initial=0)) + 1
    kinds, which = np.unique(sizes * span + edges, return_inverse=True)
    return np.array([_states(*divmod(kind, span)) for kind in kinds.tolist()])[which]


def measured_order(neighbours: list[list[int]], vertices: Sequence[int], *, crossing: bool = False) -> BoundaryOrder:
    """Go along an order of all vertices and see what its boundaries are; for `crossing` see `_states`."""
    missing = [len(near) for near in neighbours]
    boundary: set[int] = set()
    edges = width = 0
    sizes, costs = [], []
    for v in vertices:
        sizes.append(len(boundary))
        costs.append(_states(len(boundary), edges, crossing))
        edges += sum(u in boundary for u in neighbours[v])
        boundary.add(v)
        width = max(width, len(boundary))
        for u in neighbours[v]:
            missing[u] -= 1
        for u in (v, *neighbours[v]):
            if missing[u] == 0 and u in boundary:
                boundary.discard(u)
                edges -= sum(w in boundary for w in neighbours[u])
    return BoundaryOrder(tuple(vertices), tuple(sizes), tuple(costs), width)


# Of the states of a boundary of one size. The sum over sizes and over the steps of an order is still a float.
_LARGEST_LOGARITHM = 600.0


@lru_cache(maxsize=1 << 16)
def _states(vertices: int, edges: int, crossing: bool = False) -> float:
    """Estimate the states of a boundary: its sets of vertices without an edge, each with two ways to be paired.

    Vertices of a cycle that are neighbours are so in a known way; those that are not count as if the boundary were
    a random graph with its number of edges. Where paths cross, k vertices are paired as an involution pairs them.
    """
    pairs = vertices * (vertices - 1) / 2
    apart = math.log(1 - edges / pairs) if edges < pairs else -math.inf
    return sum(
        math.exp(
            min(
                math.lgamma(vertices + 1) - math.lgamma(k + 1) - math.lgamma(vertices - k + 1)
                + (_log_of_involutions(k) if crossing else k * math.log(2))
                + (k * (k - 1) / 2 * apart if k > 1 else 0.0),
                _LARGEST_LOGARITHM,
            )
        )
        for k in range(vertices + 1)
    )  # fmt: skip


@lru_cache(maxsize=LARGEST_BOUNDARY + 1)
def _log_of_involutions(k: int) -> float:
    """Return the logarithm of the number of ways to pair some of k things, and at least that of 2^k."""
    one, more = 1, 1
    for i in range(2, k + 1):
        one, more = more, more + (i - 1) * one
    return max(math.log(more), k * math.log(2))


# Vertices of all orders that are kept: some megabytes.
_MOST_VERTICES = 1 << 17


class KnownOrders:
    """The orders of blocks that were asked for last, with up to `_MOST_VERTICES` vertices in all."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._orders: dict[tuple[Hashable, ...], BoundaryOrder] = {}
        self._vertices = 0  # Of all of them: a graph may have tens of thousands of blocks

    def __iter__(self) -> Iterator[BoundaryOrder]:
        return iter(list(self._orders.values()))

    def take(self, key: tuple[Hashable, ...]) -> BoundaryOrder | None:
        """Take away and return the order that is kept under a key, None if there is none."""
        with self._lock:
            return self._take(key)

    def keep(self, key: tuple[Hashable, ...], order: BoundaryOrder) -> None:
        """Keep an order as the last one to be forgotten."""
        with self._lock:
            self._take(key)
            self._orders[key] = order
            self._vertices += len(order.vertices)
            while self._vertices > _MOST_VERTICES:
                self._take(next(iter(self._orders)))

    def _take(self, key: tuple[Hashable, ...]) -> BoundaryOrder | None:
        found = self._orders.pop(key, None)
        self._vertices -= 0 if found is None else len(found.vertices)
        return found


_known = KnownOrders()


def found_once(
    block: Graph, how: tuple[Hashable, ...], seek: Callable[[], BoundaryOrder | None]
) -> BoundaryOrder | None:
    """Return the order that was found for a block with the same edges, sought in the same way; or seek it.

    An order that is not settled is not kept: there may be a better one.
    """
    # An order does not depend on the directions of the edges.
    content = block.row_ptr.tobytes() + block.col_idx.tobytes()
    key = (hashlib.blake2b(content, digest_size=16).digest(), *how)
    found = _known.take(key) or seek()
    if found is not None and found.settled:
        _known.keep(key, found)
    return found
