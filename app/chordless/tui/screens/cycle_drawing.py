"""The actions for the drawing on the Cycles screen."""

from __future__ import annotations

from textual.dom import DOMNode

from chordless.tui.widgets.graph_view import GraphView


class DrawingActions(DOMNode):
    """The actions of a screen that has a `GraphView`."""

    _graph_view: GraphView

    def action_drawing(self) -> None:
        """Show or hide the drawing."""
        self.toggle_class("-no-drawing")

    def action_alone(self) -> None:
        """Switch between the cycle alone and the cycle in the graph."""
        self._graph_view.set_alone(not self._graph_view.is_alone)

    def action_zoom_in(self) -> None:
        """Magnify the drawing."""
        self._graph_view.zoom(1)

    def action_zoom_out(self) -> None:
        """Shrink the drawing, so that it shows more of the graph."""
        self._graph_view.zoom(-1)

    def action_fit(self) -> None:
        """Show the whole graph."""
        self._graph_view.fit()

    def action_pan_left(self) -> None:
        """Move the view to the left."""
        self._graph_view.pan_by_share(-1, 0)

    def action_pan_right(self) -> None:
        """Move the view to the right."""
        self._graph_view.pan_by_share(1, 0)

    def action_pan_up(self) -> None:
        """Move the view up."""
        self._graph_view.pan_by_share(0, -1)

    def action_pan_down(self) -> None:
        """Move the view down."""
        self._graph_view.pan_by_share(0, 1)
