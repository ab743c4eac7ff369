"""One chordless cycle at random, found by going down the search along one path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels_ti.adjacency import bits_of
from kernels_ti.graph import Graph, IntArray

_CLOSE = 0.1
"""Probability of closing a path that could also grow: a small one gives long cycles."""


class CycleSampler:
    """Draws chordless cycles at random. It is plain Python, for graphs of some thousand vertices.

    The cycles are not drawn uniformly: each is met by a path that starts at a random vertex and grows by one vertex at
    a time. The certificate of the search lets it grow only where a cycle can still be closed, so no path is given up.
    """

    def __init__(self, graph: Graph, *, seed: int = 0) -> None:
        self._graph = graph
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._rows = [_row(graph.neighbours(v).tolist()) for v in range(graph.n)]
        self._all = (1 << graph.n) - 1
        self._starts = [v for v in range(graph.n) if self._rows[v].bit_count() > 1]

    def draw(self, given_up: Callable[[], bool] = lambda: False) -> IntArray | None:
        """Return the vertices of a cycle in cycle order, shape (length,).

        None if no cycle was met from the drawn start; another one may have one. Also None once `given_up`, which is
        called before each vertex, has returned True.
        """
        cycle = self._draw_underlying(given_up)
        return None if cycle is None or not self._is_cycle(cycle) else cycle

    def _is_cycle(self, cycle: IntArray) -> bool:
        """Return whether a chordless cycle of the underlying graph is one of the graph.

        No pair of its vertices may have a second edge, its arcs must lead one way round, and no vertex has a self-loop.
        """
        graph = self._graph
        if graph.is_simple:
            return True
        if graph.loops is not None and graph.loops[cycle].any():
            return False
        steps = list(zip(cycle.tolist(), np.roll(cycle, -1).tolist(), strict=True))
        if graph.multiplicity is not None and graph.multiplicity[[self._entry(*step) for step in steps]].max() > 1:
            return False
        if not graph.directed:
            return True
        forward = {graph.has_edge(u, v) for u, v in steps}
        backward = {graph.has_edge(v, u) for u, v in steps}
        return len(forward) == len(backward) == 1 and forward != backward

    def _entry(self, u: int, v: int) -> int:
        """Return where the row of u has v."""
        return int(self._graph.row_ptr[u] + np.searchsorted(self._graph.neighbours(u), v))

    def _draw_underlying(self, given_up: Callable[[], bool]) -> IntArray | None:
        if not self._starts:
            return None
        u = self._starts[int(self._random.integers(len(self._starts)))]
        x = self._one_of(self._rows[u])
        others = self._rows[u] & ~self._rows[x] & ~(1 << x)
        if not others:
            # All other neighbours of u are joined to x.
            return np.array([u, x, self._one_of(self._rows[u] & ~(1 << x))], np.int64)
        y = self._one_of(others)
        forbidden = self._rows[u] | 1 << u
        path = [u, x]
        # From here on: `path` ends at x, the cycle is closed at y, and `forbidden` holds what may not join.
        while not given_up():
            free_x, free_y = self._rows[x] & ~forbidden, self._rows[y] & ~forbidden
            closers = free_x & free_y
            after = forbidden | self._rows[x]
            reached = self._flood(self._rows[y] & ~after, after)
            growing = [v for v in bits_of(free_x & ~free_y) if self._rows[v] & reached]
            if closers and (not growing or self._random.random() < _CLOSE):
                return np.array([*path, self._one_of(closers), y], np.int64)
            if not growing:
                return None
            x, forbidden = growing[int(self._random.integers(len(growing)))], after
            path.append(x)
        return None

    def _flood(self, frontier: int, forbidden: int) -> int:
        """Return all vertices that are joined to `frontier` by paths outside `forbidden`."""
        free, reached = self._all & ~forbidden, frontier
        while frontier:
            found = 0
            for v in bits_of(frontier):
                found |= self._rows[v]
            frontier = found & free & ~reached
            reached |= frontier
        return reached

    def _one_of(self, row: int) -> int:
        wanted = int(self._random.integers(row.bit_count()))
        return next(v for i, v in enumerate(bits_of(row)) if i == wanted)


def _row(vertices: list[int]) -> int:
    return sum(1 << v for v in vertices)
