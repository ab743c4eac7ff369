"""The layout of a drawing: coordinates of the file, a grid, a circle, or stress majorization."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from chordless.graphs.load import LoadedGraph
from kernels_ti import Graph, OptionError
from kernels_ti.graph import IntArray

Layout = npt.NDArray[np.float64]

LARGEST_DRAWN, MOST_EDGES_DRAWN = 20_000, 200_000
"""Vertices and edges above which a graph is not drawn: the layout would take more than a few seconds."""
_LARGEST_EXACT = 600

# A vertex so near to an edge, which is about 1 long, looks like one of its ends; pairs of both that are looked at.
_COVERED, _MOST_TO_COVER = 0.05, 200_000

_ROUNDS = 300
_ENOUGH = 1e-4
_ROOM = 1.0

_PIVOTS = 60
_PIVOT_ROUNDS, _FEWEST_ROUNDS = 60, 10
_FULL_ROUNDS_UP_TO = 1_000
# Weight of all pivots of a vertex together, where each of its edges has weight 1.
_SHARE_OF_PIVOTS = 0.3


def can_be_drawn(loaded: LoadedGraph) -> bool:
    """Say whether `layout_of` lays this graph out."""
    return 0 < loaded.graph.n <= LARGEST_DRAWN and loaded.graph.m <= MOST_EDGES_DRAWN


def layout_of(loaded: LoadedGraph) -> Layout:
    """Lay a graph out: x to the right, y upwards, shape (n, 2), the same layout for the same graph.

    If the file has coordinates for all vertices, they are used. A two-dimensional grid is drawn as a grid, a complete
    graph on a circle. In any other graph the distances in the plane approximate those in the graph (stress majorization
    of Gansner, Koren and North 2004, of a large graph to some vertices only), and the components stand side by side.
    Vertices without an edge stand in one line below. An OptionError says that the graph is too large.
    """
    graph = loaded.graph
    if not can_be_drawn(loaded):
        raise OptionError(
            f"a graph of {graph.n:,} vertices and {graph.m:,} edges is too large to draw; "
            f"the most are {LARGEST_DRAWN:,} vertices and {MOST_EDGES_DRAWN:,} edges"
        )
    places = _file_layout(loaded)
    if places is None:
        places = _grid_layout(loaded)
    if places is None and graph.n > 3 and graph.m == graph.n * (graph.n - 1) // 2:
        places = ring_layout(graph.n)
    return _laid_out(graph) if places is None else places


def ring_layout(k: int) -> Layout:
    """Lay k vertices out on a circle of radius 1, clockwise from the top; shape (k, 2)."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(k) / max(k, 1)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def _file_layout(loaded: LoadedGraph) -> Layout | None:
    positions, n = loaded.positions, loaded.graph.n
    if positions is None or len(positions) < n:
        return None
    places = np.array([positions[v] for v in range(n)], np.float64)
    # Coordinates that are all equal, or not finite, give no drawing.
    return places if np.isfinite(places).all() and (np.ptp(places, axis=0) > 0).any() else None


def _grid_layout(loaded: LoadedGraph) -> Layout | None:
    found = re.fullmatch(r"grid:(\d+)x(\d+)", loaded.title)
    if found is None or int(found[1]) * int(found[2]) != loaded.graph.n:
        return None
    row, column = np.divmod(np.arange(loaded.graph.n), int(found[2]))
    places = np.column_stack((column, -row)).astype(np.float64)
    # A file may have the name of a grid.
    u, v = loaded.graph.pairs().T
    return places if (np.abs(places[u] - places[v]).sum(axis=1) == 1).all() else None


def _laid_out(graph: Graph) -> Layout:
    of_component = _components(graph)
    places = np.zeros((graph.n, 2))
    sizes = np.bincount(of_component)
    largest_first = np.argsort(-sizes, kind="stable")
    parts = [np.flatnonzero(of_component == i) for i in largest_first[sizes[largest_first] > 1]]
    drawn = [_upright((_least_stress if len(part) <= _LARGEST_EXACT else _pivot_layout)(graph, part)) for part in parts]
    corners = _side_by_side([np.ptp(layout, axis=0) for layout in drawn])
    for part, layout, corner in zip(parts, drawn, corners, strict=True):
        places[part] = layout - layout.min(axis=0) + corner
    lonely = np.flatnonzero(graph.degrees == 0)
    placed = places[graph.degrees > 0]
    low, high = (placed.min(axis=0), placed.max(axis=0)) if len(placed) else (np.zeros(2), np.ones(2))
    share = (np.arange(len(lonely)) + 0.5) / max(len(lonely), 1)
    places[lonely] = np.column_stack((low[0] + share * (high[0] - low[0]), np.full(len(lonely), low[1] - _ROOM)))
    return places


def _components(graph: Graph) -> IntArray:
    """Return the number of the component of each vertex, shape (n,)."""
    label = np.where(graph.degrees == 0, np.arange(graph.n), -1)
    for start in range(graph.n):
        if label[start] < 0:
            label[_distances_from(graph, start) >= 0] = start
    component: IntArray = np.unique(label, return_inverse=True)[1]
    return component


def _least_stress(graph: Graph, part: IntArray) -> Layout:
    """Place a component so that the sum of the squared relative errors of its distances is as small as possible."""
    k = len(part)
    if k <= 2:
        return np.column_stack((np.arange(k, dtype=np.float64), np.zeros(k)))
    distances = np.where(np.eye(k), 0.0, np.inf)
    index = np.empty(graph.n, np.int64)
    index[part] = np.arange(k)
    for i, v in enumerate(part):
        distances[i, index[graph.neighbours(v)]] = 1
    for via in range(k):
        np.minimum(distances, distances[:, via, None] + distances[via], out=distances)
    u, v = np.nonzero(np.triu(distances == 1))
    places = _near(distances, _classical(distances))
    covered = _covered(places, u, v)
    if covered:
        # From a circle, symmetric graphs such as the octahedron come out with all their vertices apart.
        others = _near(distances, ring_layout(k) * distances.max() / 2)
        if 2 * _covered(others, u, v) <= covered:
            return others
    return places


def _near(distances: Layout, places: Layout) -> Layout:
    """Move places until their distances come no nearer to the given ones: stress majorization."""
    k = len(places)
    with np.errstate(divide="ignore"):
        weights = np.where(distances > 0, distances**-2.0, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / k) - 1 / k
    before = np.inf
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        stress = float((weights * (apart - distances) ** 2).sum())
        if before - stress <= _ENOUGH * stress:
            break
        before = stress
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.where(apart > 0, weights * distances / apart, 0)
        places = inverse @ (pull.sum(axis=1)[:, None] * places - pull @ places)
    return places


def _covered(places: Layout, u: IntArray, v: IntArray) -> int:
    """Count the vertices that lie on edges u-v which are not theirs; 0 of a graph in which many edges cross anyway."""
    if len(u) * len(places) > _MOST_TO_COVER:
        return 0
    along = places[v] - places[u]
    beside = places[None] - places[u][:, None]
    share = (beside * along[:, None]).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-12)[:, None]
    apart = np.linalg.norm(beside - np.clip(share, 0, 1)[..., None] * along[:, None], axis=2)
    apart[np.arange(len(u)), u] = apart[np.arange(len(v)), v] = np.inf
    return int(np.count_nonzero(apart < _COVERED))


def _classical(distances: Layout) -> Layout:
    """Return the classical multidimensional scaling: a good start, and the same one each time."""
    k = len(distances)
    values, axes = _main_axes(_centred(distances))
    places: Layout = axes * np.sqrt(np.maximum(values, 1e-9))
    # Otherwise vertices with the same neighbours would stay at the same point.
    places += 1e-3 * ring_layout(k) * np.sqrt(np.arange(1, k + 1) / k)[:, None]
    return places


def _centred(distances: Layout) -> Layout:
    squares = distances**2
    centred: Layout = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    return centred


def _main_axes(matrix: Layout) -> tuple[Layout, Layout]:
    """Return the two largest eigenvalues of a symmetric matrix, and their vectors, the largest entry positive."""
    values, vectors = np.linalg.eigh(matrix)
    axes = vectors[:, [-1, -2]]
    return values[[-1, -2]], axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])


def _upright(layout: Layout) -> Layout:
    """Turn a layout so that it is widest from left to right."""
    centred = layout - layout.mean(axis=0)
    upright: Layout = centred @ _main_axes(centred.T @ centred)[1]
    return upright


def _side_by_side(sizes: list[Layout]) -> list[Layout]:
    """Put rectangles in rows, in total about as wide as high; return the lower left corner of each."""
    width = max([np.sqrt(sum(float(np.prod(size + _ROOM)) for size in sizes)), *(float(size[0]) for size in sizes)])
    corners: list[Layout] = []
    x = y = height = 0.0
    for size in sizes:
        if x > 0 and x + float(size[0]) > width:
            x, y, height = 0.0, y - height - _ROOM, 0.0
        corners.append(np.array([x, y - float(size[1])]))
        x += float(size[0]) + _ROOM
        height = max(height, float(size[1]))
    return corners


def _pivot_layout(graph: Graph, part: IntArray) -> Layout:
    """Lay out a component of 3 or more vertices, shape (k, 2), with edges about 1 long; always in the same way.

    Distances in the plane approximate those in the graph: from each vertex to some pivots far from each other, and
    along its edges (Brandes and Pich 2007; Ortmann, Klimenta and Brandes 2016, *A sparse stress model*).
    """
    graph = graph.induced(np.isin(np.arange(graph.n), part))
    pivots, distances = _pivots(graph)
    places = _scaled(distances, pivots)
    rounds = max(_PIVOT_ROUNDS * _FULL_ROUNDS_UP_TO // max(graph.n, _FULL_ROUNDS_UP_TO), _FEWEST_ROUNDS)
    return _less_stress(graph, places, pivots, distances, rounds)


def _distances_from(graph: Graph, start: int) -> IntArray:
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
    pivot = int(_distances_from(graph, 0).argmax())
    nearest = np.full(graph.n, np.iinfo(np.int64).max)
    pivots, distances = [], []
    for _ in range(min(_PIVOTS, graph.n)):
        pivots.append(pivot)
        distances.append(_distances_from(graph, pivot))
        nearest = np.minimum(nearest, distances[-1])
        pivot = int(nearest.argmax())
    return np.array(pivots), np.array(distances, np.float64).T


def _scaled(distances: Layout, pivots: IntArray) -> Layout:
    """Return the scaling by pivots of Brandes and Pich, an edge about 1 long."""
    centred = _centred(distances)
    values, axes = _main_axes(centred.T @ centred)
    places = centred @ axes
    places *= np.maximum(values, 1e-9) ** 0.25 / np.maximum(np.linalg.norm(places, axis=0), 1e-9)
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
