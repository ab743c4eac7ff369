"""Formats whose edges have attributes, such as lengths: node-link JSON, GeoJSON, tables of edges, TNTP."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chordless.graphs.readers.columns import ENDS, FEEDING
from chordless.graphs.readers.source import Source, number_of
from kernels_ti.errors import quantity

_END_OF_METADATA = "<END OF METADATA>"
_START_OF_METADATA = "<NUMBER OF "
_SEPARATORS = ",;\t"
_FARTHEST_EAST, _FARTHEST_NORTH = 180, 90  # degrees
_NUMBERS = ("", "x", "fid", "index", "unnamed:_0")
"""Headings of a column that numbers the rows, as R, QGIS and pandas write them."""

_ENTRIES = frozenset({"0", "1", "TRUE", "True", "FALSE", "False", "NA", "NaN", "nan"})
"""What a matrix has for an edge, for none, and for a value that is missing."""

_FIRST_LINES = 100

_DIRECTIONS = {"type": ("directed", "undirected"), "directed": ("true", "false")}
"""Columns that say for each edge whether it has a direction, as Gephi writes them, and how they say yes and no."""


_NEARNESS = 1e-9
"""Distance from a line, as a part of the largest coordinate, up to which a place lies on it: programs round."""

_PAIRS_AT_ONCE = 1 << 18

_Places = npt.NDArray[np.float64]  # Of shape (k, 2)


def looks_like_table(start: str) -> bool:
    """Return whether the beginning of a file is a table of edges: the metadata of TNTP, or a heading that names ends.

    It has four columns or more. Three are enough where the ends are not the first two, which would be an edge list with
    weights. The columns of a matrix may be called ``u`` and ``v``, too: these are the first two, or come after a column
    that numbers the rows, or hold other words than a matrix.
    """
    if start.lstrip().startswith(_START_OF_METADATA):
        return True
    names, rows = _first_rows(start)
    is_numbered = names[:1] and names[0] in _NUMBERS and bool(rows) and rows[0][:1] in (["0"], ["1"])
    is_adjacency = bool(rows) and _first_names(rows) <= set(names)
    lacks_corner = is_adjacency and all(len(row) == len(names) + 1 for row in rows)  # as R writes a matrix
    for ends in ENDS:
        are_first = tuple(names[:2]) == ends and not lacks_corner
        if len(names) < (4 if are_first else 3) or not set(ends) <= set(names):
            continue
        if are_first or is_numbered or (_are_ends(names, rows) if ends == ENDS[0] else not is_adjacency):
            return True
    return False


def what_may_be_a_matrix(start: bytes) -> str:
    """Return the ends of a table of edges, ``u and v``, that may be columns of a matrix as well; "" where that is sure.

    The rows of such a table begin with different words, and have numbers otherwise; the ends are not its first columns.
    """
    names, rows = _first_rows(start.decode(errors="replace"))
    ends = _ends_in(names[1:])
    words, cells = {row[0] for row in rows}, [cell.strip() for row in rows for cell in row[1:]]
    are_words = len(words) == len(rows) > 0 and not any(number_of(word.strip()) is not None for word in words)
    are_numbers = all(not cell or cell in _ENTRIES or number_of(cell) is not None for cell in cells)
    if ends is None or not (are_words and are_numbers) or names[0] in _NUMBERS or names[0].endswith("id"):
        return ""
    return "" if ends in FEEDING else " and ".join(ends)


def tells_who_eats_whom(start: bytes) -> bool:
    """Return whether the ends of a table of edges are called as those of a list of who eats whom."""
    return _ends_in(_first_rows(start.decode(errors="replace"))[0]) in FEEDING


def _first_rows(start: str) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the first rows that are not empty; nothing where the cells cannot be told."""
    lines = start.split("\n")
    try:
        names, *rows = csv.reader(lines[: min(_FIRST_LINES, max(len(lines) - 1, 2))], delimiter=_delimiter(lines[0]))
    except (csv.Error, ValueError):
        return [], []
    return _names(names), [row for row in rows if any(row)]


def _first_names(rows: list[list[str]]) -> set[str]:
    """Return the first cells of rows, written as the names of columns are."""
    return set(_names([row[0] for row in rows]))


def _ends_in(names: list[str]) -> tuple[str, str] | None:
    return next(((u, v) for u, v in ENDS if u in names and v in names), None)


def _are_ends(names: list[str], rows: list[list[str]]) -> bool:
    """Return whether the columns ``u`` and ``v`` hold ends of edges, not entries of a matrix.

    Ends are words or whole numbers, other ones than 0 and 1, and the rows are not called as the columns.
    """
    if not rows or any(len(row) != len(names) for row in rows) or _first_names(rows) & set(names):
        return False
    cells = {row[names.index(end)].strip() for row in rows for end in ENDS[0]}
    numbers = [number_of(cell) for cell in cells]
    return "" not in cells and not cells <= _ENTRIES and all(map(float.is_integer, filter(None, numbers)))


def json_graph(source: Source) -> Any:
    """Return the networkx graph of node-link JSON, as networkx and D3 write it, or of GeoJSON.

    The lines of a GeoJSON are edges between the properties ``u`` and ``v``, as OSMnx writes them, or else between the
    coordinates of their ends; its points place vertices.
    """
    data = json.loads(source.text)
    if isinstance(data, dict) and data.get("type") == "FeatureCollection":
        if not isinstance(data.get("features"), list):
            raise source.error("the `features` of GeoJSON are a list")
        graph = _graph_of_features(source, data["features"])
        graph.graph["crs"] = _system_of(data, graph)
        return graph
    if not isinstance(data, dict) or "nodes" not in data or not {"edges", "links"} & set(data):
        raise source.error("not a graph: node-link JSON has `nodes` and `edges`, or `links`; GeoJSON has `features`")
    if data.get("edges") and data.get("links"):
        raise source.error("both `edges` and `links` hold edges; put all edges into one of them")
    if not isinstance(data.get("directed", False), bool):
        raise source.error(f"`directed` is true or false, not {json.dumps(data['directed'])[:40]}")
    edges = "edges" if data.get("edges") or "links" not in data else "links"
    import networkx as nx

    nodes, listed = _nodes(source, data["nodes"])
    joined = []
    for edge in data[edges]:
        ends = {side: listed.get(_text(edge[side])) for side in ("source", "target")}
        for side, end in ends.items():
            if end is None:
                raise source.error(f"an edge ends in a node that the file does not list: {edge[side]}")
        # Its key would make one edge of two that have the same.
        joined.append({name: value for name, value in edge.items() if name != "key"} | ends)
    return nx.node_link_graph({**data, "multigraph": True, "nodes": nodes, edges: joined}, edges=edges)


def _nodes(source: Source, nodes: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the nodes of node-link JSON, each with its id, and the id for each text that may be the end of an edge.

    In D3's first form no node has an id, and an edge ends in the place of a node, from 0: the id is the name there, if
    all names differ, else the place. An edge may end in such a name, too.
    """
    if not all(isinstance(node, dict) for node in nodes):
        raise source.error("the `nodes` of node-link JSON are objects, each with its `id`")
    if any(isinstance(node.get("id"), dict) for node in nodes):
        raise source.error("the `id` of a node is a text or a number, not an object")
    if nodes and not any("id" in node for node in nodes):
        names = [str(node.get("name", "")) for node in nodes]
        are_names = all(names) and len(set(names)) == len(names)
        ids = names if are_names else list(range(len(nodes)))
        ends = {name: name for name in names} if are_names else {}
        return [{**node, "id": ids[at]} for at, node in enumerate(nodes)], ends | {
            str(at): v for at, v in enumerate(ids)
        }
    times = Counter(_text(node["id"]) for node in nodes)
    if repeated := [name for name in times if times[name] > 1]:
        ways = list(dict.fromkeys(json.dumps(node["id"]) for node in nodes if _text(node["id"]) == repeated[0]))
        fault = f"node {ways[0]} is listed twice" if len(ways) == 1 else f"the nodes {' and '.join(ways)} have one name"
        raise source.error(f"{fault}; list each node once, with a name of its own")
    # An end may be written as a text where its node is a number.
    return nodes, {_text(node["id"]): node["id"] for node in nodes}


def _graph_of_features(source: Source, features: Iterable[dict[str, Any]]) -> Any:
    import networkx as nx

    graph = nx.MultiGraph()
    points: dict[str, str] = {}  # The names of vertices by their places
    lines: list[tuple[dict[str, Any], list[list[list[float]]]]] = []
    nowhere = 0
    for number, feature in enumerate(features, 1):
        properties, shape = feature.get("properties") or {}, feature["geometry"]
        if shape is None or not shape.get("coordinates"):
            nowhere += 1
            continue
        kind, places = shape["type"], shape["coordinates"]
        if kind == "Point":
            name = feature.get("id", properties.get("osmid", properties.get("id")))
            named = points.setdefault(_place(places), _place(places) if name is None else _text(name))
            graph.add_nodes_from([(named, {**properties, "x": places[0], "y": places[1]})])
        elif kind == "LineString":
            lines.append((properties, [places]))
        elif kind == "MultiLineString":
            # Its properties `u` and `v` name the ends of one line only.
            lines.append((properties if len(places) == 1 else {**properties, "u": None, "v": None}, places))
        else:
            raise source.error(f"feature {number} is a {kind}; the lines of GeoJSON are edges, its points are vertices")
    if nowhere:
        source.note(f"{quantity(nowhere, 'feature')} without coordinates left out")
    for properties, parts in lines:
        for line in parts:
            ends = []
            for name, place in zip(_ends(properties), (line[0], line[-1]), strict=True):
                ends.append(points.get(_place(place), _place(place)) if name is None else _text(name))
                graph.add_node(ends[-1], x=place[0], y=place[1])
            # As attributes alone: with a property called `key`, one edge would take the place of another.
            graph.add_edges_from([(*ends, properties)])
    _tell_meetings(source, [line for properties, parts in lines if None in _ends(properties) for line in parts])
    return graph


def _system_of(data: dict[str, Any], graph: Any) -> str | None:
    """Return the coordinate system that a GeoJSON names; without one it is longitude and latitude (RFC 7946)."""
    if data.get("crs") is not None:
        return json.dumps(data["crs"])
    places = [(place["x"], place["y"]) for _, place in graph.nodes(data=True)]
    is_on_earth = all(abs(x) <= _FARTHEST_EAST and abs(y) <= _FARTHEST_NORTH for x, y in places)
    return "epsg:4326" if is_on_earth else None


def _ends(properties: dict[str, Any]) -> tuple[Any, Any]:
    return properties.get("u"), properties.get("v")


def _tell_meetings(source: Source, lines: list[list[list[float]]]) -> None:
    """Note how many places of lines, whose ends are vertices by their places, look like junctions and are none."""
    meetings = places_on_the_inside([np.array([place[:2] for place in line], np.float64) for line in lines])
    if meetings:
        source.note(
            f"the ends of lines are vertices, so there is no junction in {quantity(meetings, 'place')} where a line "
            "meets the inside of another; split the lines there to join them"
        )


def _place(place: list[float]) -> str:
    return f"{_text(place[0])},{_text(place[1])}"


def _text(name: Any) -> str:
    """Return a name as a text; numbers that are equal, such as 1 and 1.0, have the same."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def table_graph(source: Source) -> Any:
    """Return the networkx graph of a table with a row for each edge and a heading, as OSMnx's, or of a TNTP network.

    The ends are in the columns ``u`` and ``v``, ``source`` and ``target`` or the like; the others are attributes. Each
    edge leads from the first to the second, but the file need not mean that. If a column says that all edges have a
    direction, the graph's attribute ``directed`` is True.
    """
    import networkx as nx

    rows = _rows(source)
    _, heading = next(rows, (0, []))
    if not heading:
        raise source.error("no heading: the columns of a table of edges have names")
    names = _names(heading)
    ends = _ends_in(names)
    if ends is None:
        known = ", ".join(f"{u} and {v}" for u, v in ENDS[:7])
        raise source.error(f"no columns with the ends of the edges; they are called {known} or the like", 1)
    graph = nx.MultiDiGraph(directed=False)
    directions: dict[bool, int] = {}  # With the first line that says so
    for number, cells in rows:
        if len(cells) != len(names):
            raise source.error(f"{len(cells)} cells, and the heading has {len(names)}", number)
        values = dict(zip(names, map(str.strip, cells), strict=True))
        tail, head = (values.pop(end) for end in ends)
        if not tail or not head:
            raise source.error("an edge without an end", number)
        values.pop("key", None)
        graph.add_edge(tail, head, **values)
        for name, ways in _DIRECTIONS.items():
            if (said := values.get(name, "").lower()) in ways:
                directions.setdefault(said == ways[0], number)
    if len(directions) == 2:
        raise source.error(
            "some edges have a direction and others have none; give each of the others as two arcs", directions[False]
        )
    graph.graph["directed"] = True in directions
    return graph


def _names(heading: list[str]) -> list[str]:
    return [cell.strip().lower().replace(" ", "_") for cell in heading]


def _delimiter(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row, the heading first."""
    lines = source.text.split("\n")
    is_tntp = lines[0].lstrip().startswith("<")
    if is_tntp:
        begin = next((i for i, line in enumerate(lines) if line.strip().startswith(_END_OF_METADATA)), len(lines))
        for number, line in enumerate(lines[begin + 1 :], begin + 2):
            row = line.strip().lstrip("~").rstrip(";").strip()
            if row:
                yield number, row.split("\t") if "\t" in row else row.split()
        return
    reader = csv.reader(lines, delimiter=_delimiter(lines[0]))
    for cells in reader:
        if any(cells):
            yield reader.line_num, cells


def places_on_the_inside(lines: Sequence[_Places]) -> int:
    """Return how many places lie on the inside of a line and are an end of another, or also on its inside.

    The insides of two lines meet only where both have a place: lines that merely cross are a bridge and a road.
    """
    if not lines:
        return 0
    insides, times = np.unique(np.concatenate([line[1:-1] for line in lines]), axis=0, return_counts=True)
    ends = [line[[0, -1]] for line in lines]
    places = np.unique(np.concatenate([*ends, insides[times > 1]]), axis=0)
    starts, stops = (np.concatenate([line[piece] for line in lines]) for piece in (slice(-1), slice(1, None)))
    own = np.repeat(np.array(ends), [len(line) - 1 for line in lines], axis=0)
    near = _NEARNESS * max(float(np.abs(starts).max(initial=0)), float(np.abs(stops).max(initial=0)))
    low, high = np.minimum(starts, stops) - near, np.maximum(starts, stops) + near
    # The places are in order of their first coordinate.
    first = np.searchsorted(places[:, 0], low[:, 0], "left")
    count = np.searchsorted(places[:, 0], high[:, 0], "right") - first
    before = np.concatenate(([0], np.cumsum(count)))
    met = np.zeros(len(places), np.bool_)
    begin = 0
    while begin < len(starts):
        end = max(int(np.searchsorted(before, before[begin] + _PAIRS_AT_ONCE, "right")) - 1, begin + 1)
        of = np.repeat(np.arange(begin, end), count[begin:end])
        at = np.arange(before[begin], before[end]) - before[of] + first[of]
        inside_box = (low[of, 1] <= places[at, 1]) & (places[at, 1] <= high[of, 1])
        of, at = of[inside_box], at[inside_box]
        along, aside = stops[of] - starts[of], places[at] - starts[of]
        distance = np.abs(along[:, 0] * aside[:, 1] - along[:, 1] * aside[:, 0])
        is_own = (own[of] == places[at, None]).all(axis=2).any(axis=1)
        met[at[(distance <= near * np.maximum(np.hypot(*along.T), near)) & ~is_own]] = True
        begin = end
    return int(met.sum())
