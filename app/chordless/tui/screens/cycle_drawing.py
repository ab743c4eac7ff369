"""What can be done with the drawing on the Cycles screen."""

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
        """Draw the cycle alone, or in the graph."""
        self._graph_view.set_alone(not self._graph_view.is_alone)

    def action_zoom_in(self) -> None:
        """Magnify the drawing."""
        self._graph_view.zoom(1)

    def action_zoom_out(self) -> None:
        """Show more of the graph."""
        self._graph_view.zoom(-1)

    def action_fit(self) -> None:
        """Show the whole graph."""
        self._graph_view.fit()

    def action_pan_left(self) -> None:
        """Look further to the left."""
        self._graph_view.pan_by_share(-1, 0)

    def action_pan_right(self) -> None:
        """Look further to the right."""
        self._graph_view.pan_by_share(1, 0)

    def action_pan_up(self) -> None:
        """Look further up."""
        self._graph_view.pan_by_share(0, -1)

    def action_pan_down(self) -> None:
        """Look further down."""
        self._graph_view.pan_by_share(0, 1)
