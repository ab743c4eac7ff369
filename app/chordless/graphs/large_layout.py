"""The layout of a large connected graph by its distances to a few vertices, in time linear in its size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels_ti import Graph
from kernels_ti.graph import IntArray

Layout = npt.NDArray[np.float64]

_PIVOTS = 60
_ROUNDS, _FEWEST_ROUNDS = 60, 10
_FULL_ROUNDS_UP_TO = 1_000
# Weight of all pivots of a vertex together, where each of its edges has weight 1.
_SHARE_OF_PIVOTS = 0.3


def pivot_layout(graph: Graph) -> Layout:
    """Lay out a connected graph of 3 or more vertices, shape (n, 2), with edges about 1 long; always in the same way.

    Distances in the plane approximate those in the graph: from each vertex to some pivots far from each other, and
    along its edges (Brandes and Pich 2007; Ortmann, Klimenta and Brandes 2016, *A sparse stress model*).
    """
    pivots, distances = _pivots(graph)
    places = _scaled(distances, pivots)
    rounds = max(_ROUNDS * _FULL_ROUNDS_UP_TO // max(graph.n, _FULL_ROUNDS_UP_TO), _FEWEST_ROUNDS)
    return _less_stress(graph, places, pivots, distances, rounds)


def distances_from(graph: Graph, start: int) -> IntArray:
    """Return the number of edges from a vertex to each vertex, shape (n,); -1 where there is no way."""
    distance = np.full(graph.n, -1, np.int64)
    distance[start] = steps = 0
    reached = np.array([start])
    while len(reached):
        steps += 1
        first, degree = graph.row_ptr[reached], np.diff(graph.row_ptr)[reached]
        entry = np.repeat(first - (np.cumsum(degree) - degree), degree) + np.arange(degree.sum())
        near = np.unique(graph.col_idx[entry])
        reached = near[distance[near] < 0]
        distance[reached] = steps
    return distance


def _pivots(graph: Graph) -> tuple[IntArray, Layout]:
    """Choose pivots, each as far as possible from those before; return them and all distances, shape (n, pivots)."""
    pivot = int(distances_from(graph, 0).argmax())
    nearest = np.full(graph.n, np.iinfo(np.int64).max)
    pivots, distances = [], []
    for _ in range(min(_PIVOTS, graph.n)):
        pivots.append(pivot)
        distances.append(distances_from(graph, pivot))
        nearest = np.minimum(nearest, distances[-1])
        pivot = int(nearest.argmax())
    return np.array(pivots), np.array(distances, np.float64).T


def _scaled(distances: Layout, pivots: IntArray) -> Layout:
    """Return the scaling by pivots of Brandes and Pich, an edge about 1 long."""
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, [-1, -2]]
    # The sign of an eigenvector is arbitrary: the largest entry is made positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    places = centred @ axes
    places *= np.maximum(values[[-1, -2]], 1e-9) ** 0.25 / np.maximum(np.linalg.norm(places, axis=0), 1e-9)
    apart = np.linalg.norm(places[:, None] - places[None, pivots], axis=2)
    places *= (apart * distances).sum() / max(float((apart * apart).sum()), 1e-9)
    # Otherwise vertices with the same distances would stay at the same point.
    angle = np.arange(len(places)) * 2.4
    scaled: Layout = places + 0.02 * np.column_stack((np.cos(angle), np.sin(angle)))
    return scaled


def _less_stress(graph: Graph, places: Layout, pivots: IntArray, distances: Layout, rounds: int) -> Layout:
    """Move each vertex, round by round, to where its edges and its pivots would have it."""
    n = graph.n
    u, v = np.concatenate([graph.pairs(), graph.pairs()[:, ::-1]]).T
    weight = _SHARE_OF_PIVOTS * n / len(pivots) * np.where(distances > 1, 1 / np.maximum(distances, 1) ** 2, 0)
    total = weight.sum(axis=1) + graph.degrees
    for _ in range(rounds):
        away = places[:, None] - places[None, pivots]
        stretch = weight * distances / np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        wanted = weight @ places[pivots] + (stretch[:, :, None] * away).sum(axis=1)
        along = places[u] - places[v]
        ends = places[v] + along / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
        for axis in (0, 1):
            wanted[:, axis] += np.bincount(u, ends[:, axis], n)
        places = wanted / total[:, None]
    return places
