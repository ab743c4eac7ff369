"""Vertices and edges ranked by the number of their cycles, and a drawing in which an edge in more cycles is wider."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chordless.cycles.browse import RunCycles
from chordless.cycles.heat import Heat, heat_of_counts, heat_of_rows
from chordless.graphs.generators import is_spec
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.pictures.graph_drawing import draw_dots, draw_edges, new_drawing, write_names
from chordless.pictures.recorded_run import RecordedRun, read_run
from chordless.pictures.style import PALETTE, add_title
from chordless.words.shown import label_of
from kernels_ti import ChordlessError, Graph, OptionError
from kernels_ti.errors import quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_THINNEST, _WIDEST = 0.4, 6.0
_UNUSED = 0.5
_NAMED_EDGES = 12
_CYCLES_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Ranked:
    """A vertex or an edge, with the number of cycles that contain it."""

    name: str  # Of a vertex, or the names of both ends of an edge
    cycles: int
    share: float  # Of all cycles, 0 to 1


def ranking(run: RecordedRun, what: str) -> list[Ranked]:
    """Return the vertices or edges in a cycle, those in the most cycles first; nothing if they were not counted."""
    total = max(run.state.counted, 1)
    used = [entry for entry in _entries(run, what) if entry["cycles"]]
    used.sort(key=lambda entry: -entry["cycles"])
    return [Ranked(label_of(entry["name"]), entry["cycles"], entry["cycles"] / total) for entry in used]


def graph_of_edges(run: RecordedRun) -> LoadedGraph | None:
    """Return the graph of a run that counted for each edge, from its file or else from the counted edges.

    Only the file has coordinates of the vertices. It is used if it still has the same edges. None if the run did not
    count for each edge.
    """
    edges = [entry["name"] for entry in _entries(run, "edges")]
    if not edges:
        return None
    options = run.state.options
    wanted = {frozenset(map(str, edge)) for edge in edges}
    # Standard input, devices and pipes cannot be read a second time.
    if is_spec(run.state.graph) or os.path.isfile(run.state.graph):
        how: dict[str, Any] = {name: bool(options.get(name)) for name in ("simplify", "directed", "multigraph")}
        with contextlib.suppress(ChordlessError):
            # The file may have changed since the run, and may not even hold a graph.
            loaded = load_graph(run.state.graph, file_format=options.get("file_format"), **how)
            found = [str(name) for name in loaded.graph.names]
            if {frozenset((found[u], found[v])) for u, v in loaded.graph.pairs().tolist()} == wanted:
                return loaded
    names = list(dict.fromkeys(str(end) for edge in edges for end in edge))
    number = {name: v for v, name in enumerate(names)}
    pairs = [(number[str(u)], number[str(v)]) for u, v in edges]
    return LoadedGraph(Graph.from_edges(len(names), pairs, names=names), run.state.graph)


def draw_used_edges(run: RecordedRun, loaded: LoadedGraph) -> Figure:
    """Draw the heat of a run that counted for each edge of the graph, see `graph_of_edges` and `draw_heat`."""
    return draw_heat(loaded, heat_of_counts(loaded.graph, {"edges": _entries(run, "edges")}, run.state.counted))


def heat_of_run(path: str) -> tuple[LoadedGraph, Heat]:
    """Return the graph and the heat of a run that counted for each edge, or lists its cycles; else an OptionError."""
    run = read_run(path)
    loaded = graph_of_edges(run)
    if loaded is not None:
        return loaded, heat_of_counts(loaded.graph, {"edges": _entries(run, "edges")}, run.state.counted)
    if run.directory is None or run.directory.command().output is None:
        is_of_paths = run.state.thing == "path"
        how = "`chordless paths -o DIR/` does" if is_of_paths else "count with --per-edge, or list"
        raise OptionError(f"{path}: this run counted no edges, and keeps no {run.state.thing}s: {how}")
    cycles = RunCycles(run.directory.path)
    heat = heat_of_rows(cycles.loaded.graph, cycles.store.chunks(_CYCLES_AT_ONCE))
    return cycles.loaded, replace(heat, thing=run.state.thing)


def draw_heat(loaded: LoadedGraph, heat: Heat, *, titled: bool = False) -> Figure:
    """Draw a graph: the width of an edge shows its share of the cycles, and edges in no cycle are grey."""
    names, edges = loaded.graph.names, heat.pairs
    # A number of cycles may be too large for a float, but a share fits.
    most = max(heat.counts, default=0)
    shares = np.array([count / most if most else 0.0 for count in heat.counts])
    order = np.argsort(-shares, kind="stable")
    named = list(dict.fromkeys(v for edge in edges[order[:_NAMED_EDGES]].tolist() for v in edge)) if most else []
    drawing = new_drawing(loaded, named, titled=titled)
    if titled:
        widest = " - ".join(str(names[v]) for v in edges[order[0]].tolist()) if most else ""
        note = f"the widest edge, {widest}, is in {most:,} of {quantity(heat.total, heat.thing)}; grey ones are in none"
        add_title(drawing.figure, loaded.title, note if most else f"no edge is in a {heat.thing}")
    unused = shares == 0
    draw_edges(drawing, edges[unused], widths=_UNUSED, colour=PALETTE.edge)
    # Wide edges are drawn last, on top of the others.
    rising = order[::-1][int(unused.sum()) :]
    widths = _THINNEST + (drawing.line(_WIDEST) - _THINNEST) * shares[rising]
    draw_edges(drawing, edges[rising], widths=widths.tolist(), colour=PALETTE.cycles)
    draw_dots(drawing, drawing.drawn, colour=PALETTE.vertex)
    write_names(drawing, [])
    return drawing.figure


def heat_features(loaded: LoadedGraph, heat: Heat) -> list[dict[str, Any]]:
    """Return each edge as a line of GeoJSON with its number of cycles or paths; an OptionError without coordinates."""
    places = loaded.positions or {}
    if len(places) < loaded.graph.n:
        raise OptionError(f"{loaded.title} has no coordinates for all vertices, which GeoJSON needs")
    names = [str(name) for name in loaded.graph.names]
    return [
        {
            "type": "Feature",
            "properties": {"u": names[u], "v": names[v], f"{heat.thing}s": count, "share": share},
            "geometry": {"type": "LineString", "coordinates": [places[u], places[v]]},
        }
        for (u, v), count, share in zip(heat.pairs.tolist(), heat.counts, heat.shares.tolist(), strict=True)
    ]


def _entries(run: RecordedRun, what: str) -> list[dict[str, Any]]:
    participation = None if run.finished is None else run.finished.participation
    entries: list[dict[str, Any]] = (participation or {}).get(what, [])
    return entries
