"""Weights that the file of a graph has itself: an attribute of its edges or vertices, or distances of its places."""

from __future__ import annotations

import math
import os
from typing import Any

from chordless.graphs.load import LoadedGraph, checked_encoding, format_of_file
from chordless.graphs.readers.columns import decimal_of
from chordless.graphs.readers.incoming import read_bytes, shown_name
from chordless.graphs.readers.library import networkx_graph
from chordless.graphs.readers.source import Source
from kernels_ti import OptionError
from kernels_ti.errors import quantity

DISTANCE = "distance"
"""The name of the straight lines between the ends of the edges, for a file without such an attribute."""

_EARTH_RADIUS = 6_371_008.8  # metres, the mean radius of WGS 84
_GEOGRAPHIC = ("4326", "CRS84")
_FEWEST_DECIMALS = 3
_DIGITS = 8  # of the longest edge, where a unit may be long; the others have as many decimals


def weights_asked_for(
    loaded: LoadedGraph, path: str, name: str, *, file_format: str | None = None, encoding: str | None = None
) -> tuple[bytes, list[str]]:
    """Return the lines of a file of weights, or where there is none those made of an attribute of the file of a graph.

    These are `u v weight`, or `v weight`; an attribute that edges have is of edges. Of parallel edges, and of opposite
    ones without directions, the smallest weight counts. There are notes for the user, too. An OptionError says that
    there is no such attribute or file, or that a value is no number.
    """
    if os.path.lexists(name):
        return read_bytes(name), []
    read = None
    if loaded.title == path and os.path.isfile(path):
        source = Source(shown_name(path), read_bytes(path), checked_encoding(encoding))
        read = networkx_graph(source, format_of_file(path, source, file_format))
    graph = None if read is None else read[0]
    notes: list[str] = []
    if graph is not None and any(name in data for *_, data in graph.edges(data=True)):
        rows, unequal = _of_edges(loaded, graph, name)
        if unequal:
            notes.append(
                f"{path}: {quantity(unequal, 'pair')} of vertices with edges of different {name}: the smallest counts"
            )
    elif graph is not None and any(name in data for _, data in graph.nodes(data=True)):
        given = zip(_names(loaded), graph.nodes(data=True), strict=True)
        rows = [(vertex, _number(data.get(name), name, vertex)) for vertex, (_, data) in given]
    elif name == DISTANCE:
        system = "" if graph is None else str(graph.graph.get("crs"))
        is_geographic = any(name in system for name in _GEOGRAPHIC)
        rows = _distances(loaded, is_geographic)
        unit = "metres" if is_geographic else "the unit of the coordinates"
        notes.append(f"{path}: {DISTANCE} is that of the ends of each edge in a straight line, in {unit}")
    else:
        known = sorted({key for *_, data in graph.edges(data=True) for key in data}) if graph is not None else []
        has = f"the edges of {path} have {', '.join(known)}" if known else f"the edges of {path} have no attributes"
        raise OptionError(f"--weight {name}: there is no such file, and no such attribute: {has}")
    text = "".join("\t".join(row) + "\n" for row in rows)
    return text.encode(checked_encoding(encoding)), notes


def _names(loaded: LoadedGraph) -> list[str]:
    return [str(name) for name in loaded.graph.names]


def _of_edges(loaded: LoadedGraph, graph: Any, name: str) -> tuple[list[tuple[str, ...]], int]:
    """Return the rows of the edges, and how many pairs of vertices have edges of different weights."""
    names, index = _names(loaded), {node: v for v, node in enumerate(graph)}
    least: dict[tuple[int, int], str] = {}
    unequal = set()
    for tail, head, data in graph.edges(data=True):
        u, v = index[tail], index[head]
        if u == v:
            continue
        key = (u, v) if loaded.graph.directed else (min(u, v), max(u, v))
        text = _number(data.get(name), name, f"{names[u]} - {names[v]}")
        known = least.setdefault(key, text)
        if float(text) != float(known):
            unequal.add(key)
            least[key] = min(text, known, key=float)
    return [(names[u], names[v], text) for (u, v), text in least.items()], len(unequal)


def _number(value: Any, name: str, of: str) -> str:
    text = None if value is None else decimal_of(str(value).strip())
    if text is None:
        raise OptionError(
            f"--weight {name}: {'no value' if value is None else repr(value)} at {of}; a weight is a number"
        )
    return text


def _distances(loaded: LoadedGraph, is_geographic: bool) -> list[tuple[str, ...]]:
    places, names = loaded.positions or {}, _names(loaded)
    lengths: list[tuple[str, str, float]] = []
    for u, v in loaded.graph.edges().tolist():
        if u not in places or v not in places:
            lacking = names[u if u not in places else v]
            some = f" for the vertex {lacking}" if places else "; GraphML, GML, JSON, GeoJSON and Pajek may have some"
            raise OptionError(f"--weight {DISTANCE}: {shown_name(loaded.title)} has no coordinates{some}")
        apart = (_on_earth if is_geographic else math.dist)(places[u], places[v])
        if u != v:
            lengths.append((names[u], names[v], apart))
    longest = max((apart for *_, apart in lengths), default=0.0)
    decimals = _FEWEST_DECIMALS
    if longest > 0 and not is_geographic:
        decimals = max(decimals, _DIGITS - 1 - math.floor(math.log10(longest)))
    return [(u, v, f"{apart:.{decimals}f}") for u, v, apart in lengths]


def _on_earth(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the metres between two places, longitude and latitude in degrees (haversine formula)."""
    (x, y), (to_x, to_y) = (tuple(map(math.radians, place)) for place in (one, other))
    half = math.sin((to_y - y) / 2) ** 2 + math.cos(y) * math.cos(to_y) * math.sin((to_x - x) / 2) ** 2
    return 2 * _EARTH_RADIUS * math.asin(math.sqrt(min(half, 1.0)))
