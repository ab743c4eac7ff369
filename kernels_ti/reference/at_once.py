"""The search of a tiny graph in plain Python, which is done before a device has been asked: Taichi is not loaded.

It is the two-ended expansion of `kernels_ti.step`, without a certificate. The bit rows are whole numbers of Python.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.passable import ways_of
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cycles import Cycles
from kernels_ti.graph import Graph
from kernels_ti.options import CycleCounts, Lengths
from kernels_ti.reference.algorithm import canonical
from kernels_ti.short_cycles import short_cycles

MOST_PAIRS = 256
"""Pairs of adjacent vertices in the largest graph that is tried."""

MOST_PATHS = 2000
"""Paths and cycles after which the search is given up: about a millisecond."""


# Most of the work is at the first edges: many paths there mean that a search takes long, and it is given up sooner.
_PATHS_AT_FIRST, _PATHS_OF_AN_EDGE = 500, 100


@dataclass(frozen=True, eq=False)
class FoundAtOnce:
    """All cycles of a tiny graph."""

    # `by_length`, `frontier`, `seconds`: see `kernels_ti.options.CycleCounts`
    by_length: dict[int, int]
    frontier: dict[int, int]
    seconds: float
    lengths: Lengths  # Those that are wanted
    cycles: list[list[int]]  # The wanted cycles in canonical order, where they were to be collected

    @property
    def counts(self) -> CycleCounts:
        """The counts alone."""
        wanted = self.lengths
        return CycleCounts(self.by_length, self.frontier, self.seconds, wanted.shortest, parity=wanted.parity)

    def pieces(self) -> Iterator[Cycles]:
        """Yield all cycles, as a search yields those of each slice."""
        yield Cycles.of_lists(self.cycles)


def found_at_once(space: SearchSpace, *, collect: bool) -> FoundAtOnce | None:
    """Search a graph if that takes about a millisecond; None for a graph that needs a device."""
    graph, options = space.graph, space.options
    if len(graph.col_idx) > 2 * MOST_PAIRS:
        return None
    began = time.perf_counter()
    # Of a simple graph, these are none.
    found = short_cycles(graph, options)
    by_length, frontier = Counter(map(len, found)), Counter[int]()
    left = MOST_PATHS
    for case in space.cases if space.longest >= 3 else ():
        searched = _Search(case.graph, space.longest, left)
        if not searched.finished:
            return None
        left = searched.left
        frontier.update(searched.paths)
        wanted = frozenset(case.through)
        for path, closers in searched.closed:
            if wanted and (missing := wanted - {*path}):
                # A path is closed by one vertex.
                closers &= 1 << min(missing) if len(missing) == 1 else 0
            by_length[len(path) + 1] += closers.bit_count()
            if collect:
                found += [[*path, v] for v in bits_of(closers)]
    lengths = options.lengths
    return FoundAtOnce(
        {length: count for length, count in sorted(by_length.items()) if count and length in lengths},
        dict(sorted(frontier.items())),
        time.perf_counter() - began,
        lengths,
        [_ordered(cycle, graph) for cycle in found if len(cycle) in lengths] if collect else [],
    )


def _ordered(cycle: list[int], graph: Graph) -> list[int]:
    return canonical(cycle, directed=graph.directed) if len(cycle) > 2 else cycle


class _Search:
    """Search a graph for the chordless cycles of three or more vertices, up to `longest`.

    The search is given up after `left` paths and cycles. `paths` counts paths of three or more vertices by length;
    `closed` has paths, each with the bits of the vertices that close it.
    """

    def __init__(self, graph: Graph, longest: int, left: int) -> None:
        self.finished, self.left = True, left
        self.closed: list[tuple[tuple[int, ...], int]] = []
        self._graph, self._longest = graph, longest
        self._paths = [0] * (longest + 1)
        self._rows = _rows(graph)
        self._search()

    @property
    def paths(self) -> dict[int, int]:
        """Paths of three or more vertices."""
        return {length: count for length, count in enumerate(self._paths) if count}

    def _search(self) -> None:
        """Take each vertex u as the first one of its cycles in an order by degree, with two of its neighbours."""
        onward, back, adjacent = self._rows
        later = (1 << len(adjacent)) - 1
        limit = self.left - _PATHS_AT_FIRST
        for u in sorted(range(len(adjacent)), key=lambda v: adjacent[v].bit_count()):
            later &= ~(1 << u)
            heads, tails = onward[u] & later, back[u] & later
            for y in bits_of(heads) if tails else ():
                if not self._graph.directed:
                    # Each pair of neighbours is taken once.
                    tails &= ~(1 << y)
                if triangles := onward[y] & tails:
                    self._close((u, y), triangles)
                if self._longest > 3:
                    begins = [(x, u, y) for x in bits_of(tails & ~adjacent[y])]
                    limit -= _PATHS_OF_AN_EDGE
                    self._expand(begins, later & ~adjacent[u], max(limit, 0))
                if self.left < max(limit, 0):
                    self.finished = False
                    return

    def _close(self, path: tuple[int, ...], closers: int) -> None:
        self.left -= closers.bit_count()
        self.closed.append((path, closers))

    def _expand(self, begins: Iterable[tuple[int, ...]], allowed: int, limit: int) -> None:
        """Expand paths, each from its tail to its head, while more than `limit` paths are left.

        The bits of `allowed` are the vertices that the paths may get.
        """
        onward, back, adjacent = self._rows
        longest, paths = self._longest, self._paths
        waiting = [(path, allowed) for path in begins]
        while waiting and self.left >= limit:
            path, allowed = waiting.pop()
            tail, head, length = path[0], path[-1], len(path)
            paths[length] += 1
            self.left -= 1
            to, fro = onward[head] & allowed, back[tail] & allowed
            if closers := to & fro:
                self._close(path, closers)
            to &= ~adjacent[tail]
            fro &= ~adjacent[head]
            if not to or not fro or length + 2 > longest:
                continue
            # The end with fewer extensions grows. A function for the bits would take as long as all the rest.
            if to.bit_count() <= fro.bit_count():
                allowed &= ~adjacent[head]
                while to:
                    waiting.append(((*path, to.bit_length() - 1), allowed))
                    to ^= 1 << to.bit_length() - 1
            else:
                allowed &= ~adjacent[tail]
                while fro:
                    waiting.append(((fro.bit_length() - 1, *path), allowed))
                    fro ^= 1 << fro.bit_length() - 1


def _rows(graph: Graph) -> tuple[list[int], list[int], list[int]]:
    """Return bits for each vertex: where a cycle may go on, from where it may come, and all neighbours."""
    onward, back, adjacent = ([0] * graph.n for _ in range(3))
    ends, columns, ways = graph.row_ptr.tolist(), graph.col_idx.tolist(), ways_of(graph).tolist()
    for u in range(graph.n):
        for v, way in zip(columns[ends[u] : ends[u + 1]], ways[ends[u] : ends[u + 1]], strict=True):
            bit = 1 << v
            adjacent[u] |= bit
            if way & 1:
                onward[u] |= bit
            if way & 2:
                back[u] |= bit
    return onward, back, adjacent
