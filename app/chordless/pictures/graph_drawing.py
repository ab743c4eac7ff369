"""The drawing of a graph: the size of its dots, and the names that fit beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chordless.graphs.drawing import Layout, layout_of
from chordless.graphs.load import LoadedGraph
from chordless.pictures.style import NO_TITLE_HEIGHT, PALETTE, TITLE_HEIGHT, new_figure, shortened
from kernels_ti.graph import IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Sizes in inches.
_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 7.0, 3.0, 9.0
_BELOW, _BESIDE, _BESIDE_WITH_NAMES = 0.35, 0.35, 1.1
_POINTS = 72.0
# Diameters in points: a dot with a name inside, the largest other dot, and the smallest visible dot.
_DOT_WITH_NAME, _LARGEST_DOT, _SMALLEST_DOT = 13.8, 9.0, 1.6
_MOST_DOTS = 500
# Shares of the length of a usual edge. A larger dot would hide its edges.
_DOT_SHARE, _LINE_SHARE = 0.28, 0.6
_ALL_NAMED_INSIDE, _ALL_NAMED_BESIDE = 80, 24
_LETTERS_INSIDE, _LONGEST_NAME = 3, 24
_NAME_INSIDE_SIZE, _NAME_SIZE = 6.5, 8.0
# In points: the gap between a dot and its name, and the free space around a name.
_GAP, _PADDING = 2.0, 1.0
_DIRECTIONS = 8


@dataclass(frozen=True, eq=False)
class GraphDrawing:
    """A figure with room for a graph."""

    figure: Figure
    axes: Axes  # Without a frame, with limits set
    places: Layout  # float64, shape (n, 2), see `chordless.graphs.drawing.layout_of`
    drawn: IntArray  # The vertices with an edge. Isolated vertices would take up most of the room
    points: Layout  # Places in points, from the lower left corner of the figure
    edge_points: float  # Length of a typical edge, in points
    names: Mapping[int, str]  # Names to write where they fit, the most important first
    names_inside: bool  # Whether names are written inside the dots

    @property
    def dot(self) -> float:
        """Diameter of a dot in points; 0 if dots would hide the edges."""
        if self.names_inside:
            return _DOT_WITH_NAME
        diameter = min(_LARGEST_DOT, _DOT_SHARE * self.edge_points)
        return diameter if len(self.drawn) <= _MOST_DOTS and diameter >= _SMALLEST_DOT else 0.0

    def line(self, widest: float) -> float:
        """Return the width in points of a highlighted line, at most `widest`."""
        return float(np.clip(_LINE_SHARE * self.edge_points, 1.0, widest))


def new_drawing(loaded: LoadedGraph, important: Sequence[int], *, titled: bool) -> GraphDrawing:
    """Make a figure for a graph, with room for a title if `titled`.

    The names of the `important` vertices come first. In large graphs, only these have names. An OptionError is raised
    if the graph is too large, see `chordless.graphs.drawing.layout_of`.
    """
    graph, places = loaded.graph, layout_of(loaded)
    drawn = np.flatnonzero(np.diff(graph.row_ptr))
    names = _wanted_names(loaded, drawn, important)
    short = max(map(len, names.values()), default=0) <= _LETTERS_INSIDE and bool(names)
    beside = _BESIDE if short or not names else _BESIDE_WITH_NAMES
    low, size = places[drawn].min(axis=0), np.maximum(np.ptp(places[drawn], axis=0), 1e-9)
    room = _WIDTH - 2 * beside
    above = _BELOW + (TITLE_HEIGHT - NO_TITLE_HEIGHT) * titled
    height = float(np.clip(room * size[1] / size[0] + above + _BELOW, _LEAST_HEIGHT, _MOST_HEIGHT))
    figure = new_figure(_WIDTH, height)
    frame = (beside / _WIDTH, _BELOW / height, room / _WIDTH, (height - above - _BELOW) / height)
    axes = figure.add_axes(frame)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(low[0], low[0] + size[0])
    axes.set_ylim(low[1], low[1] + size[1])
    axes.apply_aspect()
    points = axes.transData.transform(places) * _POINTS / figure.dpi
    u, v = graph.pairs().T
    edge_points = float(np.median(np.hypot(*(points[u] - points[v]).T)))
    inside = short and edge_points > _DOT_WITH_NAME and len(names) == len(drawn)
    return GraphDrawing(figure, axes, places, drawn, points, edge_points, names, inside)


def draw_edges(drawing: GraphDrawing, edges: IntArray, *, widths: Sequence[float] | float, colour: str) -> None:
    """Draw edges, shape (k, 2). `widths` in points is one number for all, or one for each edge."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        list(drawing.places[edges]), colors=colour, linewidths=widths, zorder=1, capstyle="round", clip_on=False
    )
    drawing.axes.add_collection(lines, autolim=False)


def draw_dots(drawing: GraphDrawing, vertices: IntArray, *, colour: str, above: int = 2) -> None:
    """Draw vertices as dots, unless the dots would hide the edges."""
    if not drawing.dot:
        return
    where = drawing.places[vertices]
    drawing.axes.scatter(
        where[:, 0], where[:, 1], drawing.dot**2, color=colour, linewidths=0, zorder=above, clip_on=False
    )


def write_names(drawing: GraphDrawing, lit: Sequence[int]) -> None:
    """Write names into the dots, or beside them where there is room. The names of `lit` are bold."""
    from matplotlib.patheffects import withStroke

    bold = set(lit)
    inside = drawing.names_inside
    offsets = dict.fromkeys(drawing.names, (0.0, 0.0)) if inside else dict(_fitting(drawing, bold))
    for v, offset in offsets.items():
        drawing.axes.annotate(
            drawing.names[v],
            (float(drawing.places[v, 0]), float(drawing.places[v, 1])),
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            size=_NAME_INSIDE_SIZE if inside else _NAME_SIZE,
            weight="bold" if v in bold else "normal",
            color=PALETTE.paper if inside else PALETTE.ink if v in bold else PALETTE.muted,
            path_effects=[] if inside else [withStroke(linewidth=2.5, foreground=PALETTE.paper)],
            parse_math=False,
            zorder=6 if v in bold else 5,
        )


def _wanted_names(loaded: LoadedGraph, drawn: IntArray, important: Sequence[int]) -> dict[int, str]:
    """Return the names of all vertices of a small graph, important ones first. Of a large graph, return only these."""
    names = loaded.graph.names
    every = {v: shortened(str(names[v]), _LONGEST_NAME) for v in drawn.tolist()}
    fit_inside = max(map(len, every.values()), default=0) <= _LETTERS_INSIDE
    first = {v: every[v] for v in important if v in every}
    if len(every) > (_ALL_NAMED_INSIDE if fit_inside else _ALL_NAMED_BESIDE):
        return first
    degrees = np.diff(loaded.graph.row_ptr)
    rest = sorted(every, key=lambda v: -degrees[v])
    return every if fit_inside else {**first, **{v: every[v] for v in rest}}


def _fitting(drawing: GraphDrawing, bold: set[int]) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the vertices whose names fit, most important first, and the centre of each name in points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.font_manager import FontProperties

    renderer = FigureCanvasAgg(drawing.figure).get_renderer()  # type: ignore[no-untyped-call]
    size = drawing.figure.get_size_inches() * _POINTS
    middle = drawing.points[drawing.drawn].mean(axis=0)
    dots = drawing.points[drawing.drawn if drawing.dot else list(drawing.names)]
    taken = np.empty((0, 4))
    for v, name in drawing.names.items():
        font = FontProperties(size=_NAME_SIZE, weight="bold" if v in bold else "normal")
        pixels = renderer.get_text_width_height_descent(name, font, False)
        half = np.array(pixels[:2]) * _POINTS / drawing.figure.dpi / 2
        here = drawing.points[v]
        others = dots[np.abs(dots - here).sum(axis=1) > 1e-6]
        for direction in _directions(here - middle):
            offset = direction * (drawing.dot / 2 + _GAP + half)
            low, high = here + offset - half - _PADDING, here + offset + half + _PADDING
            if (low < 0).any() or (high > size).any():
                continue
            overlaps = (taken[:, :2] < high).all(axis=1) & (taken[:, 2:] > low).all(axis=1)
            radius = max(drawing.dot / 2, 0.5)
            hides = (others > low - radius).all(axis=1) & (others < high + radius).all(axis=1)
            if not overlaps.any() and not hides.any():
                taken = np.vstack((taken, [*low, *high]))
                yield v, (float(offset[0]), float(offset[1]))
                break


def _directions(outward: Layout) -> Iterator[Layout]:
    """Yield eight directions, the nearest to `outward` first. They point to the edges and corners of a square."""
    start = round(float(np.arctan2(outward[1], outward[0])) / (2 * np.pi / _DIRECTIONS))
    for turn in (0, 1, -1, 2, -2, 3, -3, 4):
        angle = (start + turn) * 2 * np.pi / _DIRECTIONS
        yield np.round(np.array([np.cos(angle), np.sin(angle)]) * 1.01)
