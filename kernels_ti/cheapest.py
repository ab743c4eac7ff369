"""The shortest, or lightest, chordless cycles by shortest paths around chordless paths, without a list of all cycles.

Take a chordless path x, u, ..., h. The chordless cycles that contain it are closed by the chordless paths from h to x
that pass no other neighbour of the inner vertices u, ...: all these neighbours are blocked. Two facts follow.

- A shortest path from h to x that passes no blocked vertex closes a cycle of the least possible value, or of a smaller
  one. So the distance to x is a lower bound for all cycles that contain the path.
- In a simple undirected graph a chord of such a path is a shortcut. If each vertex has a positive value and edges have
  none, as for the number of vertices, a shortcut has a smaller value. So no shortest path has a chord: each of them
  closes a chordless cycle, and Dijkstra's algorithm counts them all at once.

With values of edges a chord may be heavier than the way around it. In a directed graph it may lead backward, and
parallel edges are a chord that no path can follow; and a shortest path may have the wrong parity. There a shortest
path is the answer only if it is the only one, has no chord and is wanted. Otherwise the path x, u, ..., h grows by one
vertex in all ways, the most promising one first, and those whose lower bound exceeds the best cycle so far are dropped
(branch and bound). So does it wherever several of the best cycles are wanted. A path also grows while cycles of the
least length that is wanted might be too short, or while vertices that a cycle must pass are missing.

Every cycle is found at one place: u is its first vertex in a degeneracy order, and earlier vertices are removed. Where
all cycles pass a given vertex, u is that one. Values must not be negative. The worst case is exponential: whether any
chordless cycle passes two given vertices is NP-complete (Bienstock 1991).

References
----------
Bienstock, *On the complexity of testing for odd holes and induced odd paths*, Discrete Mathematics 90 (1991).
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from kernels_ti.blocks.degree_labelling import degree_labelling
from kernels_ti.blocks.restriction import Restricted
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cycles import canonical
from kernels_ti.device.memory import require_room
from kernels_ti.graph import Graph
from kernels_ti.short_cycles import short_cycles

Cost = Callable[[int, int], int]
"""The cost of going from the first vertex to the second one: that of the edge, and that of the second vertex."""

Path = tuple[int, ...]

BYTES_OF_VERTEX, BYTES_OF_ARC = 384, 300  # What the arcs in Python and the distances take at most

Arcs = list[list[tuple[int, int]]]  # For each vertex others, each with the cost of the arc between them


@dataclass
class Cheapest:
    """The cheapest cycles so far."""

    k: int = 1  # How many are wanted
    ways: int = 0  # Cycles with the least value that were found
    # Values and cycles, the cheapest first; each from its smallest vertex on to the smaller neighbour, in a directed
    # graph along the arc
    kept: list[tuple[int, list[int]]] = field(default_factory=list)
    # Whether the search came to its end: no cycle has a smaller value, and there are no further ways
    complete: bool = False

    def offer(self, value: int, ways: int, cycle: list[int], *, directed: bool) -> None:
        """Take notice of cycles of one value, and of one of them."""
        if not self.kept or value < self.kept[0][0]:
            self.ways = 0
        if self.limit is None or value < self.limit:
            insort(self.kept, (value, canonical(cycle, directed=directed)), key=lambda each: each[0])
            del self.kept[self.k :]
        if value == self.kept[0][0]:
            self.ways += ways

    @property
    def limit(self) -> int | None:
        """A value that further cycles must not exceed; None before there are as many cycles as are wanted."""
        return self.kept[-1][0] if len(self.kept) == self.k else None


def cheapest_cycle(
    space: SearchSpace, cost: Cost | None = None, enough: Callable[[], bool] = lambda: False, k: int = 1
) -> Cheapest:
    """Find the k chordless cycles of the least cost, and count those of the least, until `enough` ends the search.

    Costs are whole numbers, 0 or more, by default the number of vertices; a ValueError for a negative one. An
    OptionError is raised where the memory allowed has no room for the arcs.
    """
    if space.options.memory is not None:
        needed = BYTES_OF_VERTEX * space.graph.n + BYTES_OF_ARC * len(space.graph.col_idx)
        require_room(space.options.memory, needed, "a search by shortest paths")
    best = Cheapest(k)
    directed = space.graph.directed
    for cycle in short_cycles(space.graph, space.options):
        # A self-loop is no way from one vertex to another: `cost` of it is that of the vertex.
        value = len(cycle) if cost is None else sum(map(cost, cycle, cycle[1:] + cycle[:1]))
        best.offer(value, 1, cycle, directed=directed)
    best.complete = all(_Case(case, space, cost, best, enough).search() for case in space.cases)
    return best


class _Case:
    """A search in a graph without edges to avoid."""

    def __init__(
        self, case: Restricted, space: SearchSpace, cost: Cost | None, best: Cheapest, enough: Callable[[], bool]
    ) -> None:
        graph, options = case.graph, space.options
        self._case, self._best, self._enough = case, best, enough
        self._directed = graph.directed
        self._wanted, self._longest = options.lengths, space.longest
        # Without costs the value is the length: a cycle that is too long is too expensive.
        self._most = self._longest if cost is None else math.inf
        self._near, self._out, self._into = _arcs(graph, cost)
        costs = [each for arcs in self._out for _, each in arcs]
        if min(costs, default=0) < 0:
            raise ValueError("a cost is negative")
        of_vertices = all(len({each for _, each in arcs}) < 2 for arcs in self._into)
        is_bounded = cost is not None and self._longest < graph.n
        self._counts_are_sure = min(costs, default=1) > 0
        any_length = not is_bounded and self._wanted.parity is None
        self._no_chords = graph.is_simple and of_vertices and self._counts_are_sure and any_length
        self._alive = bytearray(b"\1") * graph.n
        self._to_required = [self._distances(v, self._into) for v in case.required]
        self._from_required = [self._distances(v, self._out) for v in case.required]

    def search(self) -> bool:
        """Search; return whether it came to the end."""
        return all(self._search_around(u) for u in self._roots())

    def _roots(self) -> Iterator[int]:
        """Yield the vertices that are the first one of a cycle; each is removed afterwards."""
        if self._case.root is not None:
            yield self._case.root
            return
        for u in np.argsort(degree_labelling(self._case.graph)).tolist():
            if len(self._near[u]) > 1:
                yield u
            self._alive[u] = 0

    def _search_around(self, u: int) -> bool:
        """Search the cycles that pass u; return whether that came to the end."""
        waiting: list[tuple[int, Path, int]] = []
        before = [(x, each) for x, each in self._into[u] if self._alive[x]]
        after = [(y, each) for y, each in self._out[u] if self._alive[y]]
        for x, cost_x in before:
            if self._enough():
                return False
            for y, cost_y in after:
                if x == y or (not self._directed and x > y):
                    continue
                cost = cost_x + cost_y
                if y in self._near[x]:
                    self._close((x, u, y), cost)
                elif self._is_wanted(cost, 4):
                    heappush(waiting, (cost, (x, u, y), cost))
        while waiting:
            if self._enough():
                return False
            bound, path, cost = heappop(waiting)
            if self._is_wanted(bound, len(path) + 1):
                self._look_beyond(path, cost, waiting)
        return True

    def _is_wanted(self, bound: int, length: int) -> bool:
        """Whether cycles of this lower bound, and of so many vertices or more, may be among the best."""
        most = self._most if self._best.limit is None else min(self._most, self._best.limit)
        return bound <= most and length <= self._longest

    def _close(self, path: Path, cost: int) -> None:
        """Take the cycle in which the last vertex of a path is followed by the first one, if it may be."""
        closing = [each for v, each in self._out[path[-1]] if v == path[0]]
        if not closing or len(path) not in self._wanted or not set(self._case.required) <= set(path):
            return
        if self._is_wanted(cost + closing[0], len(path)):
            self._best.offer(cost + closing[0], 1, list(path), directed=self._directed)

    def _look_beyond(self, path: Path, cost: int, waiting: list[tuple[int, Path, int]]) -> None:
        """Find the best cycle that contains a path, or make the path longer."""
        target, head = path[0], path[-1]
        blocked = set(path).union(*(self._near[v] for v in path[1:-1]))
        missing = [v for v in self._case.required if v not in path]
        if not blocked.isdisjoint(missing):
            return
        # A shortest path is an answer, but none of those beyond it.
        if self._counts_are_sure and self._best.k == 1:
            value, ways, rest = self._way_back(head, target, blocked, cost)
            if not ways or not self._is_wanted(value, len(path) + 1):
                return
            is_long_enough = len(path) + 1 >= self._wanted.shortest
            if (self._no_chords and is_long_enough and not missing) or (ways == 1 and self._is_answer([*path, *rest])):
                self._best.offer(value, ways, [*path, *rest], directed=self._directed)
                return
        beyond = self._distances(target, self._into, blocked, cost)
        inner = blocked | self._near[head]
        for v, each in self._out[head]:
            if v in blocked or not self._alive[v]:
                continue
            longer = (*path, v)
            if v in self._near[target]:
                self._close(longer, cost + each)
            elif v in beyond and inner.isdisjoint(set(missing) - {v}):
                bound = cost + each + max(beyond[v], self._by_required(v, target, missing))
                if self._is_wanted(bound, len(longer) + 1):
                    heappush(waiting, (bound, longer, cost + each))

    def _by_required(self, v: int, target: int, missing: list[int]) -> int:
        """Return a lower bound of the cost from v to the target by way of the vertices that are missing."""
        most = 0
        for r, to, back in zip(self._case.required, self._to_required, self._from_required, strict=True):
            if r in missing:
                most = max(most, to.get(v, 0) + back.get(target, 0))
        return most

    def _is_answer(self, cycle: list[int]) -> bool:
        """Whether a closed way is a chordless cycle within the bounds and through all required vertices."""
        members = set(cycle)
        return (
            len(cycle) in self._wanted
            and members.issuperset(self._case.required)
            and all(len(members & self._near[v]) == 2 for v in cycle)
        )

    def _distances(self, start: int, arcs: Arcs, blocked: Set[int] = frozenset(), cost: int = 0) -> dict[int, int]:
        """Return the costs of the cheapest ways between a vertex and all that are not blocked."""
        found: dict[int, int] = {}
        waiting = [(0, start)]
        while waiting:
            passed, v = heappop(waiting)
            if v in found:
                continue
            found[v] = passed
            for u, each in arcs[v]:
                if self._alive[u] and u not in blocked and u not in found and self._is_wanted(cost + passed + each, 0):
                    heappush(waiting, (passed + each, u))
        return found

    def _way_back(self, head: int, target: int, blocked: set[int], cost: int) -> tuple[int, int, list[int]]:
        """Return the cost of the cheapest closed ways that contain a path, their number, and the rest of one."""
        costs, ways, onward = {target: 0}, {target: 1}, {target: target}
        settled = set()
        waiting = [(0, target)]
        while waiting:
            passed, v = heappop(waiting)
            if v in settled:
                continue
            settled.add(v)
            if v == head:
                rest = [onward[head]]
                while rest[-1] != target:
                    rest.append(onward[rest[-1]])
                return cost + passed, ways[head], rest[:-1]
            for u, each in self._into[v]:
                if (u in blocked and u != head) or not self._alive[u]:
                    continue
                total = passed + each
                if u not in costs or total < costs[u]:
                    if self._is_wanted(cost + total, 0):
                        costs[u], ways[u], onward[u] = total, ways[v], v
                        heappush(waiting, (total, u))
                elif total == costs[u]:
                    ways[u] += ways[v]
        return 0, 0, []


def _arcs(graph: Graph, cost: Cost | None) -> tuple[list[set[int]], Arcs, Arcs]:
    """Return for each vertex all neighbours, those that may follow it, and those that may precede it, with costs."""
    ends, columns = graph.row_ptr.tolist(), graph.col_idx.tolist()
    ways = [3] * len(columns) if graph.ways is None else graph.ways.tolist()
    near: list[set[int]] = []
    out: Arcs = []
    into: Arcs = []
    for v in range(graph.n):
        row = range(ends[v], ends[v + 1])
        near.append(set(columns[ends[v] : ends[v + 1]]))
        following = [columns[i] for i in row if ways[i] & 1]
        preceding = [columns[i] for i in row if ways[i] & 2]
        out.append([(u, 1 if cost is None else cost(v, u)) for u in following])
        into.append([(u, 1 if cost is None else cost(u, v)) for u in preceding])
    return near, out, into
