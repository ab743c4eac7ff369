"""The drawing of a cycle of a run, or of a file, in its graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.cycles.browse import FoundCycle, RunCycles
from chordless.cycles.named import NamedCycle, named_cycles
from chordless.graphs.faces import Faces
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.graphs.readers.incoming import shown_name
from chordless.pictures.graph_drawing import draw_dots, draw_edges, new_drawing, write_names
from chordless.pictures.style import PALETTE, add_title, printable
from chordless.runs.checkpoint import read_position
from chordless.runs.directory import way_on_of
from kernels_ti import EngineError, OptionError
from kernels_ti.graph import IntArray
from kernels_ti.state import populations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CYCLES_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class DrawnCycle:
    """A cycle or a path of a run or of a file, with its graph."""

    loaded: LoadedGraph
    number: int  # In the order of the run or of the file, from 1 on
    vertices: IntArray  # Indices in cycle order, int64
    source: str = "the run"  # Where it comes from, for the title
    thing: str = "cycle"  # Or ``path``
    weight: int | float | str | None = None  # If the file has one

    def names(self) -> list[str]:
        """Return the names of its vertices in cycle order."""
        names = self.loaded.graph.names
        return [str(names[v]) for v in self.vertices.tolist()]


def cycle_number(directory: Path, number: int) -> DrawnCycle:
    """Return a cycle of a run by its number, from 1 on. `chordless export` numbers its lines in the same way.

    A CheckpointError is raised if the directory holds no run, an OptionError if it holds no cycles, or none of that
    number, an EngineError if its files are damaged.
    """
    run = _run_cycles(directory)
    if not 1 <= number <= len(run):
        has = f"they are numbered 1 to {len(run):,}" if len(run) else _why_none(run)
        raise OptionError(f"{directory}: there is no {run.thing} {number:,}; {has}")
    return _found(run, number - 1)


def longest_cycle(directory: Path) -> DrawnCycle:
    """Return the first of the longest cycles of a run. The errors are those of `cycle_number`."""
    run = _run_cycles(directory)
    if not len(run):
        raise OptionError(f"{directory}: {_why_none(run)}")
    return _longest(run)


def longest_kept(directory: Path) -> DrawnCycle | None:
    """Return what `longest_cycle` does; None of a run that has kept no cycle, as it was killed before it could."""
    run = _run_cycles(directory)
    return _longest(run) if len(run) else None


def _longest(run: RunCycles) -> DrawnCycle:
    longest, position, start = 0, 0, 0
    for rows in run.store.chunks(_CYCLES_AT_ONCE):
        lengths = populations(rows)
        at = int(lengths.argmax())
        if lengths[at] > longest:
            longest, position = int(lengths[at]), start + at
        start += len(rows)
    return _found(run, position)


def cycle_of_file(path: str, graph: str, number: int | None, **reading: Any) -> DrawnCycle:
    """Return a cycle of a file by its number, from 1 on, or the first of the longest if that is None.

    `reading` says how the graph is read, see `chordless.graphs.load.load_graph`. An OptionError is raised if there is
    no such cycle, a GraphError if the file holds something else.
    """
    loaded = load_graph(graph, **reading)
    chosen: tuple[int, NamedCycle] | None = None
    seen = 0
    for seen, cycle in enumerate(named_cycles(path, loaded.graph, graph, **reading), 1):
        if seen == number or (number is None and (chosen is None or len(cycle.vertices) > len(chosen[1].vertices))):
            chosen = seen, cycle
        if seen == number:
            break
    name = shown_name(path)
    if chosen is None:
        has = f"there is no cycle {number:,}; it has {seen:,}" if seen and number else "there is no cycle, and no path"
        raise OptionError(f"{name}: {has}")
    return _of_file(loaded, *chosen, name)


def all_cycles_of_file(path: str, graph: str, **reading: Any) -> Iterator[DrawnCycle]:
    """Yield all cycles of a file, see `cycle_of_file`."""
    loaded = load_graph(graph, **reading)
    for number, cycle in enumerate(named_cycles(path, loaded.graph, graph, **reading), 1):
        yield _of_file(loaded, number, cycle, shown_name(path))


def _of_file(loaded: LoadedGraph, number: int, cycle: NamedCycle, source: str) -> DrawnCycle:
    return DrawnCycle(loaded, number, np.array(cycle.vertices, np.int64), source, cycle.thing, cycle.weight)


def cycle_feature(cycle: DrawnCycle) -> dict[str, Any]:
    """Return a cycle as a line of GeoJSON that comes back to its start, a path as one that does not.

    An OptionError is raised without coordinates.
    """
    places = cycle.loaded.positions or {}
    around = [*cycle.vertices.tolist(), *cycle.vertices[: cycle.thing == "cycle"].tolist()]
    if not all(v in places for v in around):
        raise OptionError(f"{cycle.loaded.title} has no coordinates for these vertices, which GeoJSON needs")
    return {
        "type": "Feature",
        "properties": {
            "graph": cycle.loaded.title,
            "length": len(cycle.vertices),
            **({} if cycle.weight is None else {"weight": cycle.weight}),
            "vertices": cycle.names(),
        },
        "geometry": {"type": "LineString", "coordinates": [places[v] for v in around]},
    }


def cycles_features(cycles: Iterable[DrawnCycle]) -> list[dict[str, Any]]:
    """Return cycles of one graph with coordinates as `cycle_feature` does, each with `Faces.is_face`."""
    features: list[dict[str, Any]] = []
    faces: Faces | None = None
    for cycle in cycles:
        feature = cycle_feature(cycle)
        if cycle.thing == "cycle":
            faces = faces or Faces(cycle.loaded)
            feature["properties"]["face"] = faces.is_face(cycle.vertices.tolist())
        features.append(feature)
    return features


def draw_cycle(cycle: DrawnCycle, *, titled: bool = True) -> Figure:
    """Draw a cycle in its graph; an OptionError if that is too large, see `chordless.graphs.drawing.layout_of`."""
    on_cycle = cycle.vertices
    drawing = new_drawing(cycle.loaded, on_cycle.tolist(), titled=titled)
    if titled:
        _add_cycle_title(drawing.figure, cycle, cycle.loaded.graph.n - len(drawing.drawn))
    edges = cycle.loaded.graph.pairs()
    # The more edges, the thinner they are, so that the cycle stays visible.
    draw_edges(drawing, edges, widths=0.35 + 0.75 * min(1.0, 400 / len(edges)), colour=PALETTE.edge)
    draw_dots(drawing, np.setdiff1d(drawing.drawn, on_cycle), colour=PALETTE.vertex)
    ring = drawing.places[np.append(on_cycle, on_cycle[: cycle.thing == "cycle"])]
    drawing.axes.plot(*ring.T, color=PALETTE.cycles, linewidth=drawing.line(2.6), zorder=3, clip_on=False)
    draw_dots(drawing, on_cycle, colour=PALETTE.cycles, above=4)
    write_names(drawing, on_cycle.tolist())
    return drawing.figure


def _add_cycle_title(figure: Figure, cycle: DrawnCycle, alone: int) -> None:
    length = len(cycle.vertices)
    is_triangle = length == 3 and cycle.thing == "cycle"
    kind = "triangle" if is_triangle else f"chordless {cycle.thing} of {length:,} vertices"
    weight = "" if cycle.weight is None else f", weight {printable(str(cycle.weight))}"
    where = f"in a graph of {cycle.loaded.graph.n:,} vertices"
    if alone:
        where = "an isolated vertex is not drawn" if alone == 1 else f"{alone:,} isolated vertices are not drawn"
    which = f"number {cycle.number:,} of {printable(cycle.source)}"
    add_title(figure, cycle.loaded.title, f"{kind}{weight}, {which}; {where}")


def _run_cycles(directory: Path) -> RunCycles:
    try:
        return RunCycles(directory)
    except OptionError as error:
        raise OptionError(f"{directory}: {error}") from None


def _why_none(run: RunCycles) -> str:
    """Return why a run has no cycle to draw."""
    if run.at_work:
        return f"the run has kept no {run.thing} so far"
    _, is_finished = read_position(run.directory.checkpoint)
    if is_finished:
        return f"the run found no {run.thing}s"
    return f"the run was stopped before it kept a {run.thing}; `{way_on_of(run.directory.path)}` goes on with it"


def _found(run: RunCycles, position: int) -> DrawnCycle:
    cycle: FoundCycle = run.found(np.array([position]))[0]
    if cycle.error is not None:
        raise EngineError(f"{run.directory.path}: cycle {position + 1:,}: {printable(cycle.error)}")
    return DrawnCycle(run.loaded, position + 1, cycle.vertices, thing=run.thing)
