"""A drawing of a graph in which one cycle is highlighted. The user can move and magnify it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.geometry import Offset
from textual.strip import Strip

from chordless.graphs.drawing import Layout, ring_layout
from chordless.tui.widgets.canvas import EDGE, FAINT_LABEL, HEAT, LABEL, LIT_EDGE, LIT_VERTEX, VERTEX, Canvas, Points
from chordless.tui.widgets.glyphs import is_ascii
from chordless.tui.widgets.picture import Picture
from chordless.words.numbers import share_text
from kernels_ti import Graph
from kernels_ti.graph import IntArray

_STYLES = {
    EDGE: "graph-view--edge",
    VERTEX: "graph-view--vertex",
    FAINT_LABEL: "graph-view--vertex",
    LIT_EDGE: "graph-view--lit-edge",
    LIT_VERTEX: "graph-view--lit-vertex",
    LABEL: "graph-view--label",
    **{kind: f"graph-view--heat-{level}" for level, kind in enumerate(HEAT, 1)},
}
_SMALLEST_ZOOM, _LARGEST_ZOOM, _ZOOM_STEP = 0.25, 64.0, 1.25
_PAN_SHARE = 0.15
# Free cells on the left and on the right, for labels. Above and below there are half as many.
_MARGIN = 4
# The names of a ring's vertices stand beside it: they take up to this share of the width on each side.
_LARGEST_MARGIN_SHARE = 0.25
# A vertex is drawn with its name, or as a dot, if there are at least this many cells for each vertex in view.
_CELLS_PER_NAME, _CELLS_PER_DOT = 60, 6
_CELLS_PER_LIT_NAME = 30
# The same for the dots of the cycle, by the rectangle that it takes. A crowded cycle is drawn as a line alone.
_CELLS_PER_LIT_DOT = 3
_ROWS_FOR_A_NOTE = 12
# Cells between the edge of the view and what must stay in it.
_INSIDE = 1
# The first that has room before what the kinds of lines mean.
_HEAT_HEADINGS = ("{}s that pass an edge: ", "{}s at an edge: ", "{}s: ")


class GraphView(Picture):
    """Draws a graph. The chosen cycle is bright and thick. Its vertices have names where there is room.

    With `crowded_names` they have names even where these cover edges. `thing` is the word for what is highlighted.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {*_STYLES.values(), "graph-view--caption"}

    thing = "cycle"
    _graph: Graph | None = None
    _edges: IntArray = np.empty((0, 2), np.int64)
    _names: Sequence[str] = ()
    _layout_of_graph: Layout | None = None
    _caption = ""
    _cycle: IntArray = np.empty(0, np.int64)
    _alone = False
    _heat: npt.NDArray[np.float64] | None = None
    # Vertices of the cycle in view whose names have no room.
    _unnamed = 0
    _zoom = 1.0
    # The centre of the view, in the coordinates of the layout. None is the centre of the graph.
    _middle: Points | None = None
    _dragged_from: Offset | None = None

    def __init__(self, *, id: str | None = None, crowded_names: bool = True) -> None:
        super().__init__(id=id)
        self._crowded_names = crowded_names

    # Content

    def show_graph(self, graph: Graph, layout: Layout | None, caption: str = "") -> None:
        """Draw another graph, with a caption below.

        The layout has the places of the vertices, shape (n, 2), y upwards. Without one, the chosen cycle is drawn
        alone, as a ring.
        """
        self._graph, self._layout_of_graph, self._caption = graph, layout, caption
        self._names = [str(name) for name in graph.names]
        self._edges = graph.pairs() if layout is not None else np.empty((0, 2), np.int64)
        self._cycle, self._heat = np.empty(0, np.int64), None
        self.fit()

    def clear(self) -> None:
        """Draw nothing."""
        self._graph = self._layout_of_graph = None
        self._caption, self._cycle = "", np.empty(0, np.int64)
        self.fit()

    def light(self, vertices: IntArray) -> None:
        """Highlight a cycle, or a path, of the graph that is shown, by its vertices in order, shape (length,)."""
        if self._graph is None:
            return
        self._cycle = vertices
        self._unnamed = 0
        if self._middle is not None and len(vertices):
            before = self._middle
            self._keep_in_view(self._drawn_members())
            if self._middle is not before:
                self._go_to_cycle()
        self.draw_again()

    def warm(self, shares: npt.NDArray[np.float64] | None) -> None:
        """Draw edges by their heat, in place of the cycle; None draws the cycle again.

        The shares have the heat of each pair of adjacent vertices, shape (pairs,), in the order of `Graph.pairs`.
        """
        self._heat = shares
        self.draw_again()

    @property
    def is_warm(self) -> bool:
        """Whether edges are drawn by their heat."""
        return self._heat is not None and not self.is_alone

    @property
    def is_alone(self) -> bool:
        """Whether the cycle is drawn alone, as a ring."""
        return self._alone or self._layout_of_graph is None

    def set_alone(self, alone: bool) -> None:
        """Choose whether the cycle is drawn alone, as a ring, or in the graph."""
        self._alone = alone
        self.fit()

    # View

    def fit(self) -> None:
        """Show the whole graph."""
        self._zoom, self._middle = 1.0, None
        self.draw_again()

    def zoom(self, steps: int, at: Offset | None = None) -> None:
        """Magnify by some steps; a negative number shrinks the drawing.

        The content of the cell `at`, by default the centre, stays in place.
        """
        before = self._scale()
        self._zoom = min(max(self._zoom * _ZOOM_STEP**steps, _SMALLEST_ZOOM), _LARGEST_ZOOM)
        if at is None and steps > 0 and len(self._cycle):
            # By the keys one zooms to the cycle.
            if self._middle is None:
                self._go_to_cycle()
            self._keep_in_view(self._drawn_members())
        if at is not None:
            away = np.array([at.x - self.size.width / 2, self.size.height - 2 * at.y])
            self._middle = self._centre() + away / before - away / self._scale()
        self.draw_again()

    def pan(self, columns: float, rows: float) -> None:
        """Move the view by some cells to the right and downwards."""
        self._middle = self._centre() + np.array([columns, -2 * rows]) / self._scale()
        self._keep_in_view(np.arange(len(self._drawn_layout())))
        self.draw_again()

    def _go_to_cycle(self) -> None:
        lit = self._drawn_layout()[self._drawn_members()]
        self._middle = (lit.min(axis=0) + lit.max(axis=0)) / 2
        self._keep_in_view(self._drawn_members())

    def _keep_in_view(self, vertices: IntArray) -> None:
        """Move the view, if none of these vertices is in it, until the nearest one is."""
        if not len(vertices) or not self.size.area:
            return
        away = self._drawn_layout()[vertices] - self._centre()
        half = np.array([self.size.width / 2 - _INSIDE, self._rows() - 2 * _INSIDE]) / self._scale()
        beyond = np.maximum(np.abs(away) - np.maximum(half, 0), 0)
        nearest = int(np.linalg.norm(beyond, axis=1).argmin())
        if beyond[nearest].any():
            self._middle = self._centre() + np.sign(away[nearest]) * beyond[nearest]

    def pan_by_share(self, x: int, y: int) -> None:
        """Move the view by a fixed share of its size."""
        self.pan(x * self.size.width * _PAN_SHARE, y * self.size.height * _PAN_SHARE)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Magnify. The content under the pointer stays in place."""
        event.stop()
        self.zoom(1, self._inside(event))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Shrink. The content under the pointer stays in place."""
        event.stop()
        self.zoom(-1, self._inside(event))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag the drawing."""
        self._dragged_from = event.screen_offset
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the drawing."""
        if self._dragged_from is not None:
            moved = event.screen_offset - self._dragged_from
            self._dragged_from = event.screen_offset
            self.pan(-moved.x, -moved.y)

    def on_mouse_up(self) -> None:
        """End the drag."""
        self._dragged_from = None
        self.release_mouse()

    def _inside(self, event: events.MouseEvent) -> Offset:
        return event.get_content_offset_capture(self)

    # Drawing

    def drawn(self, width: int, height: int) -> list[Strip]:
        """Draw the graph, and below it what is to be said of it."""
        canvas = Canvas(width, self._rows(), ascii_only=is_ascii(self), solid=self.app.is_web)
        if self._graph is not None and self._rows() > 0:
            self._draw_graph(canvas)
        plain = self.rich_style
        styles = {kind: self.get_component_rich_style(name) for kind, name in _STYLES.items()}
        strips = [Strip([Segment(text, styles.get(kind, plain)) for text, kind in line]) for line in canvas.strips()]
        note = self._caption or self._note_on_names()
        if self.is_warm:
            strips = [*strips[: height - 1], self._heat_legend()]
        elif note:
            # The names that have no room are told of in the last line of the drawing, which is mostly empty.
            style = self.get_component_rich_style("graph-view--caption")
            strips = [*strips[: height - 1], Strip([Segment(set_cell_size(note, width), style)])]
        return strips

    def _rows(self) -> int:
        return max(self.size.height - bool(self._caption), 0)

    def _note_on_names(self) -> str:
        has = "has" if self._unnamed == 1 else "have"
        note = f"{self._unnamed:,} of the {self.thing}'s {len(self._cycle):,} names {has} no room: zoom in"
        has_room = self.size.height >= _ROWS_FOR_A_NOTE and len(note) <= self.size.width
        return note if self._unnamed and has_room else ""

    def _heat_legend(self) -> Strip:
        assert self._heat is not None
        most = self._heat.max(initial=0.0)
        ascii_only = is_ascii(self)
        plain = self.get_component_rich_style("graph-view--caption")
        pieces = []
        for level, kind in enumerate(HEAT, 1):
            style = self.get_component_rich_style(_STYLES[kind])
            pieces += [
                Segment(("-+*#" if ascii_only else "⠒⠒⠶⠶")[level - 1] * 2, style),
                Segment(f" to {share_text(most * level / len(HEAT))}  ", plain),
            ]
        room = self.size.width - sum(piece.cell_length for piece in pieces)
        headings = [words.format(self.thing) for words in _HEAT_HEADINGS]
        heading = next((words for words in headings if len(words) <= room), "")
        return Strip([Segment(heading, plain), *pieces]).adjust_cell_length(self.size.width, plain)

    def _draw_heat(self, canvas: Canvas, places: Points) -> None:
        """Draw the edges that some cycles pass; the hottest ones lie on top."""
        assert self._heat is not None
        levels = np.ceil(self._heat / max(self._heat.max(initial=0.0), 1e-300) * len(HEAT)).astype(np.int64)
        for level, kind in enumerate(HEAT, 1):
            edges = self._edges[levels == level]
            canvas.lines(places[edges[:, 0]], places[edges[:, 1]], kind)

    def _draw_graph(self, canvas: Canvas) -> None:
        layout, members = self._drawn_layout(), self._drawn_members()
        away = (layout - self._centre()) * self._scale() * [1.0, -1.0]
        places = canvas.centred(np.array([canvas.width / 2, canvas.height]) + away)
        inside = np.logical_and.reduce((places >= 0) & (places < [canvas.width, 2 * canvas.height]), axis=1)
        cells_per_vertex = canvas.width * canvas.height / max(int(inside.sum()), 1)
        if not self.is_alone:
            canvas.lines(places[self._edges[:, 0]], places[self._edges[:, 1]], EDGE)
            if cells_per_vertex >= _CELLS_PER_DOT:
                canvas.points(places, VERTEX)
        if self.is_warm:
            self._draw_heat(canvas, places)
            self._write_names(canvas, places, inside, cells_per_vertex, np.empty(0, np.int64))
            return
        lit = places[members]
        # A path has no edge from its end to its start.
        edges = np.arange(len(lit)) if self.thing == "cycle" else np.arange(1, len(lit))
        canvas.lines(lit[edges - 1], lit[edges], LIT_EDGE)
        box = np.ptp(lit, axis=0) + 1 if len(lit) else np.ones(2)
        if box.prod() / 2 >= _CELLS_PER_LIT_DOT * len(lit) or self.is_alone:
            canvas.points(lit, LIT_VERTEX)
        if not self._crowded_names and cells_per_vertex < _CELLS_PER_LIT_NAME:
            return
        named = [canvas.label(place, self._names[v]) for v, place in zip(self._cycle.tolist(), lit, strict=True)]
        self._unnamed = int((inside[members] & ~np.array(named, bool)).sum())
        if not self.is_alone:
            self._write_names(canvas, places, inside, cells_per_vertex, self._cycle)

    def _write_names(
        self, canvas: Canvas, places: Points, inside: npt.NDArray[np.bool_], cells_per_vertex: float, without: IntArray
    ) -> None:
        """Write the names of vertices in view, if there is room for most of them."""
        # Before a path is lit, its ends are chosen by their names.
        is_choosing = self.thing == "path" and not len(self._cycle)
        if cells_per_vertex > (_CELLS_PER_LIT_NAME if is_choosing else _CELLS_PER_NAME):
            for v in np.setdiff1d(np.flatnonzero(inside), without).tolist():
                canvas.label(places[v], self._names[v], FAINT_LABEL)

    def _drawn_layout(self) -> Layout:
        """Return the places of the drawn vertices: all of them, or those of the cycle."""
        if self._layout_of_graph is None or self._alone:
            return ring_layout(len(self._cycle))
        return self._layout_of_graph

    def _drawn_members(self) -> IntArray:
        """Return the indices of the cycle's vertices in `_drawn_layout`, in cycle order."""
        return np.arange(len(self._cycle)) if self.is_alone else self._cycle

    def _box(self) -> tuple[Points, Points]:
        layout = self._drawn_layout()
        if len(layout) == 0:
            return np.zeros(2), np.ones(2)
        return layout.min(axis=0), layout.max(axis=0)

    def _centre(self) -> Points:
        if self._middle is not None:
            return self._middle
        low, high = self._box()
        return (low + high) / 2

    def _scale(self) -> float:
        """Return how many widths of a cell one unit of the layout takes."""
        low, high = self._box()
        extent = np.maximum(high - low, 1e-9)
        width, height = self.size.width, 2 * self._rows()
        room = np.maximum(np.array([width - 2 * self._side_margin() - 1, height - _MARGIN - 2]), 1)
        return float((room / extent).min()) * self._zoom

    def _side_margin(self) -> int:
        """Return how many cells stay free on the left and on the right of the drawing, for names."""
        if not self.is_alone:
            return _MARGIN
        longest = max((cell_len(self._names[v]) for v in self._cycle.tolist()), default=0)
        return max(min(longest + 1, int(self.size.width * _LARGEST_MARGIN_SHARE)), _MARGIN)
