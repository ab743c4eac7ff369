"""One chordless cycle at random, found by going down the search along one path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels_ti.adjacency import bits_of
from kernels_ti.graph import Graph, IntArray
from kernels_ti.reference.algorithm import rows_in_bits

_CLOSE = 0.1  # Probability of closing a path that could also grow: a small one gives long cycles


class CycleSampler:
    """Draws chordless cycles at random. It is plain Python, for graphs of some thousand vertices.

    The cycles are not drawn uniformly: each is met by a path that starts at a random vertex and grows by one vertex at
    a time. It grows only where its tail can still be reached, so in a simple graph no path is given up.
    With a `start` every cycle passes this vertex.
    """

    def __init__(self, graph: Graph, *, start: int | None = None, seed: int = 0) -> None:
        self._random = np.random.Generator(np.random.PCG64(seed))
        without_loops = graph if graph.loops is None else graph.among(graph.loops == 0)
        self._onward, self._back, self._adjacent = rows_in_bits(without_loops)
        starts = range(graph.n) if start is None else (start,)
        self._starts = [u for u in starts if self._back[u] and (self._onward[u] | self._back[u]).bit_count() > 1]
        self._all = (1 << graph.n) - 1

    def draw(self, given_up: Callable[[], bool] = lambda: False) -> IntArray | None:
        """Return the vertices of a cycle in cycle order, shape (length,).

        None if no cycle was met from the drawn start; another one may have one. Also None once `given_up`, which is
        called before each vertex, has returned True.
        """
        if not self._starts:
            return None
        head = self._starts[int(self._random.integers(len(self._starts)))]
        tail = self._one_of(self._back[head])
        path, allowed = [tail, head], self._all & ~(1 << tail | 1 << head)
        while not given_up():
            onward, back = self._onward[head] & allowed, self._back[tail] & allowed
            allowed &= ~self._adjacent[head]
            reaching = self._reaching(back & allowed, allowed)
            growing = [v for v in bits_of(onward & ~self._adjacent[tail]) if self._onward[v] & reaching]
            closers = onward & back
            if closers and (not growing or self._random.random() < _CLOSE):
                return np.array([*path, self._one_of(closers)], np.int64)
            if not growing:
                return None
            head = growing[int(self._random.integers(len(growing)))]
            path.append(head)
        return None

    def _reaching(self, frontier: int, allowed: int) -> int:
        """Return all vertices from which a way through allowed ones leads to `frontier`."""
        reaching = frontier
        while frontier:
            found = 0
            for v in bits_of(frontier):
                found |= self._back[v]
            frontier = found & allowed & ~reaching
            reaching |= frontier
        return reaching

    def _one_of(self, row: int) -> int:
        return list(bits_of(row))[int(self._random.integers(row.bit_count()))]
