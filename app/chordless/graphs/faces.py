"""The faces of a graph in the plane, its edges straight lines: blocks of houses among streets.

A dead end, or a part of the graph that hangs at one vertex, may lie inside of a face: only the edges of one biconnected
component count.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np

from chordless.graphs.drawing import Layout
from chordless.graphs.load import LoadedGraph
from kernels_ti import Graph, OptionError
from kernels_ti.blocks.biconnected import biconnected_edges
from kernels_ti.graph import IntArray


class Faces:
    """Which cycles of a graph with coordinates are faces; an OptionError if a vertex has no place."""

    def __init__(self, loaded: LoadedGraph) -> None:
        places = loaded.positions or {}
        if len(places) < loaded.graph.n:
            raise OptionError(f"{loaded.title} has no coordinates for all vertices, which faces need")
        self._places: Layout = np.array([places[v] for v in range(loaded.graph.n)], np.float64).reshape(-1, 2)
        graph = loaded.graph
        simple = graph if graph.ways is None else Graph.from_edge_array(graph.pairs(), n=graph.n, simplify=True)
        self._edges, component = biconnected_edges(simple)
        self._next = _next_around(self._edges, component, self._places)
        self._crossed: dict[tuple[int, int], bool] = {}

    def is_face(self, cycle: list[int]) -> bool | None:
        """Return whether a chordless cycle is a face; None where an edge, no dead end, crosses one of its edges."""
        if any(self._is_crossed(min(edge), max(edge)) for edge in pairwise([*cycle, cycle[0]])):
            return None
        x, y = self._places[cycle].T
        area = float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
        # Counterclockwise, the inside of the cycle lies on the left, between the next vertex and the one before.
        around = cycle if area > 0 else cycle[::-1]
        after = [*around[1:], around[0]]
        return all(self._next[v, w] == u for u, v, w in zip([around[-1], *around[:-1]], around, after, strict=True))

    def _is_crossed(self, u: int, v: int) -> bool:
        """Return whether another edge has an inner point in common with an edge."""
        if (u, v) not in self._crossed:
            others = self._edges[~np.isin(self._edges, (u, v)).any(axis=1)]
            a, b, c, d = (self._places[ends] for ends in (u, v, *others.T))
            apart = _side(a, b, c) * _side(a, b, d) < 0
            self._crossed[u, v] = bool((apart & (_side(c, d, a) * _side(c, d, b) < 0)).any())
        return self._crossed[u, v]


def _next_around(edges: IntArray, component: IntArray, places: Layout) -> dict[tuple[int, int], int]:
    """Return for (v, u) the neighbour of v in the same component that comes next after u, counterclockwise."""
    around: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for (u, v), number in zip(edges.tolist(), component.tolist(), strict=True):
        around[u, number].append(v)
        around[v, number].append(u)
    following: dict[tuple[int, int], int] = {}
    for (v, _), neighbours in around.items():
        x, y = (places[neighbours] - places[v]).T
        turned = [neighbours[i] for i in np.argsort(np.arctan2(y, x), kind="stable").tolist()]
        following.update({(v, u): w for u, w in zip(turned, [*turned[1:], turned[0]], strict=True)})
    return following


def _side(p: Layout, q: Layout, r: Layout) -> Layout:
    """Return on which side of the line from p to q the point r lies: positive on the left, 0 on the line."""
    sides: Layout = np.sign(
        (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
    )
    return sides
