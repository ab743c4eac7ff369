"""A cycle that a run has found, drawn in its graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chordless.cycles.browse import FoundCycle, RunCycles
from chordless.graphs.drawing import Layout, layout_of
from chordless.graphs.load import LoadedGraph
from chordless.pictures.style import NO_TITLE_HEIGHT, PALETTE, TITLE_HEIGHT, add_title, new_figure, printable, shortened
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.graph import IntArray
from kernels_ti.state import populations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CYCLES_AT_ONCE = 1 << 18
# Inches.
_WIDTH, _LEAST_HEIGHT, _MOST_HEIGHT = 7.0, 3.0, 9.0
_BELOW, _BESIDE, _BESIDE_WITH_NAMES = 0.35, 0.35, 1.1
_ALL_NAMED_INSIDE, _ALL_NAMED_BESIDE, _CYCLE_NAMED = 80, 24, 48
# Letters, and the area in square points of a circle for them.
_LETTERS_INSIDE, _SIZE_WITH_NAME, _LONGEST_NAME = 3, 150.0, 24


@dataclass(frozen=True)
class DrawnCycle:
    """A cycle of a run, and the graph that it lies in.

    Parameters
    ----------
    loaded : LoadedGraph
    number : int
        Which of those that the run found, from 1 on.
    vertices : ndarray of int64, shape (length,)
        Vertex indices in cycle order.
    """

    loaded: LoadedGraph
    number: int
    vertices: IntArray

    def names(self) -> list[str]:
        """Return the names of its vertices in cycle order."""
        names = self.loaded.graph.names
        return [str(names[v]) for v in self.vertices.tolist()]


def cycle_number(directory: Path, number: int) -> DrawnCycle:
    """Return the cycle that a run found as the `number`-th, from 1 on; so `chordless export` numbers its lines.

    Raises
    ------
    CheckpointError
        If there is no run in the directory.
    OptionError
        If the run keeps no cycles there, or has no such one.
    EngineError
        If its files are damaged.
    """
    run = _run_cycles(directory)
    if not 1 <= number <= len(run):
        has = f"they are numbered 1 to {len(run):,}" if len(run) else "it has found none"
        raise OptionError(f"{directory}: there is no cycle {number:,}; {has}")
    return _found(run, number - 1)


def longest_cycle(directory: Path) -> DrawnCycle:
    """Return the first of the longest cycles that a run found; the errors are those of `cycle_number`."""
    run = _run_cycles(directory)
    if not len(run):
        raise OptionError(f"{directory}: the run has found no cycle")
    longest, position, start = 0, 0, 0
    for rows in run.store.chunks(_CYCLES_AT_ONCE):
        lengths = populations(rows)
        at = int(lengths.argmax())
        if lengths[at] > longest:
            longest, position = int(lengths[at]), start + at
        start += len(rows)
    return _found(run, position)


def draw_cycle(cycle: DrawnCycle, *, titled: bool = True) -> Figure:
    """Draw a cycle in its graph.

    Parameters
    ----------
    cycle : DrawnCycle
    titled : bool
        Whether the picture says what it shows.

    Returns
    -------
    Figure

    Raises
    ------
    OptionError
        If the graph is too large, see `chordless.graphs.drawing.layout_of`.
    """
    graph = cycle.loaded.graph
    places = layout_of(cycle.loaded)
    # Isolated vertices would take most of the room.
    drawn = np.flatnonzero(np.diff(graph.row_ptr))
    names = _shown_names(cycle, drawn)
    inside = max(map(len, names.values()), default=0) <= _LETTERS_INSIDE
    beside = _BESIDE if inside or not names else _BESIDE_WITH_NAMES
    width, height = np.maximum(np.ptp(places[drawn], axis=0), 1e-9)
    room = _WIDTH - 2 * beside
    above = _BELOW + (TITLE_HEIGHT - NO_TITLE_HEIGHT) * titled
    figure_height = float(np.clip(room * height / width + above + _BELOW, _LEAST_HEIGHT, _MOST_HEIGHT))
    figure = new_figure(_WIDTH, figure_height)
    if titled:
        _add_cycle_title(figure, cycle, graph.n - len(drawn))
    axes = figure.add_axes(
        (
            beside / _WIDTH,
            _BELOW / figure_height,
            room / _WIDTH,
            (figure_height - above - _BELOW) / figure_height,
        )
    )
    axes.set_axis_off()
    axes.set_aspect("equal")
    _draw_graph(axes, cycle, places, drawn, _SIZE_WITH_NAME if inside and names else min(9000 / graph.n, 70))
    _write_names(axes, cycle, places, names, inside=inside)
    return figure


def _add_cycle_title(figure: Figure, cycle: DrawnCycle, alone: int) -> None:
    length = len(cycle.vertices)
    kind = "triangle" if length == 3 else f"chordless cycle of {length:,} vertices"
    where = f"in a graph of {cycle.loaded.graph.n:,} vertices"
    if alone:
        where = "an isolated vertex is not drawn" if alone == 1 else f"{alone:,} isolated vertices are not drawn"
    add_title(figure, cycle.loaded.title, f"{kind}, number {cycle.number:,} of the run; {where}")


def _shown_names(cycle: DrawnCycle, drawn: IntArray) -> dict[int, str]:
    """Return the names to write where there is room: of all vertices, of those of the cycle, or of none."""
    every = {v: shortened(str(cycle.loaded.graph.names[v]), _LONGEST_NAME) for v in drawn.tolist()}
    fit_inside = max(map(len, every.values())) <= _LETTERS_INSIDE
    if len(every) <= (_ALL_NAMED_INSIDE if fit_inside else _ALL_NAMED_BESIDE):
        return every
    return {v: every[v] for v in cycle.vertices.tolist()} if len(cycle.vertices) <= _CYCLE_NAMED else {}


def _draw_graph(axes: Axes, cycle: DrawnCycle, places: Layout, drawn: IntArray, size: float) -> None:
    from matplotlib.collections import LineCollection

    graph, on_cycle = cycle.loaded.graph, cycle.vertices
    # Many edges are drawn thin, so that the cycle stays in sight.
    thickness = 0.35 + 0.75 * min(1.0, 400 / graph.m)
    edges = LineCollection(list(places[graph.edges()]), colors=PALETTE.edge, linewidths=thickness, zorder=1)
    axes.add_collection(edges)
    rest = np.setdiff1d(drawn, on_cycle)
    axes.scatter(places[rest, 0], places[rest, 1], size, color=PALETTE.vertex, linewidths=0, zorder=2, clip_on=False)
    axes.plot(*places[np.append(on_cycle, on_cycle[0])].T, color=PALETTE.cycles, linewidth=2.6, zorder=3)
    lit = places[on_cycle]
    axes.scatter(lit[:, 0], lit[:, 1], 1.3 * size, color=PALETTE.cycles, linewidths=0, zorder=4, clip_on=False)


def _write_names(axes: Axes, cycle: DrawnCycle, places: Layout, names: dict[int, str], *, inside: bool) -> None:
    """Write names into the vertices, or on the side of each that is away from the middle of them."""
    from matplotlib.patheffects import withStroke

    on_cycle = set(cycle.vertices.tolist())
    middle = places[list(names)].mean(axis=0) if names else np.zeros(2)
    for v, name in names.items():
        lit = v in on_cycle
        away = places[v] - middle
        far = float(np.hypot(*away)) or 1.0
        axes.annotate(
            name,
            (float(places[v, 0]), float(places[v, 1])),
            (0.0, 0.0) if inside else (8 * float(away[0]) / far, 8 * float(away[1]) / far),
            textcoords="offset points",
            ha="center" if inside or abs(away[0]) < 0.4 * far else "left" if away[0] > 0 else "right",
            va="center" if inside or abs(away[1]) < 0.4 * far else "bottom" if away[1] > 0 else "top",
            size=6.5 if inside else 8.0,
            weight="bold" if lit else "normal",
            color=PALETTE.paper if inside else PALETTE.ink if lit else PALETTE.muted,
            path_effects=[] if inside else [withStroke(linewidth=2.5, foreground=PALETTE.paper)],
            parse_math=False,
            zorder=6 if lit else 5,
        )


def _run_cycles(directory: Path) -> RunCycles:
    try:
        return RunCycles(directory)
    except OptionError as error:
        raise OptionError(f"{directory}: {error}") from None


def _found(run: RunCycles, position: int) -> DrawnCycle:
    cycle: FoundCycle = run.found(np.array([position]))[0]
    if cycle.error is not None:
        raise EngineError(f"{run.directory.path}: cycle {position + 1:,}: {printable(cycle.error)}")
    return DrawnCycle(run.loaded, position + 1, cycle.vertices)
