"""The layout of a drawing: coordinates of the file, a grid, a circle, or stress majorization."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from chordless.graphs.large_layout import distances_from, pivot_layout
from chordless.graphs.load import LoadedGraph
from kernels_ti import Graph, OptionError
from kernels_ti.graph import IntArray

Layout = npt.NDArray[np.float64]

LARGEST_DRAWN, MOST_EDGES_DRAWN = 20_000, 200_000
"""Vertices and edges above which a graph is not drawn: the layout would take more than a few seconds."""
_LARGEST_EXACT = 600

_ROUNDS = 300
_ENOUGH = 1e-4
_ROOM = 1.0


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
    drawn = [_upright(_component_layout(graph, part)) for part in parts]
    corners = _side_by_side([np.ptp(layout, axis=0) for layout in drawn])
    for part, layout, corner in zip(parts, drawn, corners, strict=True):
        places[part] = layout - layout.min(axis=0) + corner
    lonely = np.flatnonzero(graph.degrees == 0)
    placed = places[graph.degrees > 0]
    low, high = (placed.min(axis=0), placed.max(axis=0)) if len(placed) else (np.zeros(2), np.ones(2))
    share = (np.arange(len(lonely)) + 0.5) / max(len(lonely), 1)
    places[lonely] = np.column_stack((low[0] + share * (high[0] - low[0]), np.full(len(lonely), low[1] - _ROOM)))
    return places


def _component_layout(graph: Graph, part: IntArray) -> Layout:
    if len(part) <= _LARGEST_EXACT:
        return _least_stress(_distances(graph, part))
    keep = np.zeros(graph.n, bool)
    keep[part] = True
    return pivot_layout(graph.induced(keep))


def _components(graph: Graph) -> IntArray:
    """Return the number of the component of each vertex, shape (n,)."""
    label = np.where(graph.degrees == 0, np.arange(graph.n), -1)
    for start in range(graph.n):
        if label[start] < 0:
            label[distances_from(graph, start) >= 0] = start
    component: IntArray = np.unique(label, return_inverse=True)[1]
    return component


def _distances(graph: Graph, part: IntArray) -> Layout:
    """Return the lengths of shortest paths between the vertices of a component, shape (k, k)."""
    k = len(part)
    index = np.full(graph.n, -1)
    index[part] = np.arange(k)
    adjacency = np.zeros((k, k), np.float32)
    for i, v in enumerate(part):
        adjacency[i, index[graph.neighbours(v)]] = 1
    distances = np.full((k, k), np.inf)
    np.fill_diagonal(distances, 0)
    reached = np.eye(k, dtype=np.float32)
    for distance in range(1, k):
        reached = np.minimum(reached @ adjacency, 1)
        new = (reached > 0) & np.isinf(distances)
        if not new.any():
            break
        distances[new] = distance
        reached = new.astype(np.float32)
    return distances


def _least_stress(distances: Layout) -> Layout:
    """Place vertices so that the sum of the squared relative errors of their distances is as small as possible."""
    k = len(distances)
    if k <= 2:
        return np.column_stack((np.arange(k, dtype=np.float64), np.zeros(k)))
    places = _classical(distances)
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


def _classical(distances: Layout) -> Layout:
    """Return the classical multidimensional scaling: a good start, and the same one each time."""
    k = len(distances)
    squares = distances**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(centred)
    # The sign of an eigenvector is arbitrary: the largest entry is made positive.
    axes = vectors[:, [-1, -2]]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    places: Layout = axes * np.sqrt(np.maximum(values[[-1, -2]], 1e-9))
    # Otherwise vertices with the same neighbours would stay at the same point.
    places += 1e-3 * ring_layout(k) * np.sqrt(np.arange(1, k + 1) / k)[:, None]
    return places


def _upright(layout: Layout) -> Layout:
    """Turn a layout so that it is widest from left to right."""
    centred = layout - layout.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1] * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])[::-1]
    upright: Layout = centred @ axes
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
