"""Names of vertices and edges: on a command line, such as ``--through-edge 3-4``, and in the file of an order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from chordless.files import open_to_read, text_of, whole_file
from kernels_ti import Graph, OptionError
from kernels_ti.blocks.restriction import are_joined, no_edge, no_vertex

_NAMED = 3


def restriction_named(
    graph: Graph, through: Iterable[str], through_edges: Iterable[str], avoid: Iterable[str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Find the vertices that cycles must pass, with the ends of required edges, and those to avoid."""
    ends = [v for edge in through_edges for v in edge_named(graph, edge)]
    return tuple(dict.fromkeys([*vertices_named(graph, through), *ends])), vertices_named(graph, avoid)


def vertices_named(graph: Graph, names: Iterable[str]) -> tuple[int, ...]:
    """Find vertices by name; a text may hold several, with commas. An OptionError names an unknown one."""
    names = tuple(names)
    index = {str(name): v for v, name in enumerate(graph.names)} if names else {}
    return tuple(index[name] for text in names for name in _names_in(text, graph, index))


def _names_in(text: str, graph: Graph, index: dict[str, int]) -> list[str]:
    """Cut a text at commas into names of vertices. Names may contain commas, so the longest match wins."""
    parts = text.split(",")
    names: list[str] = []
    while parts:
        for count in range(len(parts), 0, -1):
            name = ",".join(parts[:count]).strip()
            if name in index:
                break
        else:
            commas = any("," in known for known in index)
            raise no_vertex(graph, ",".join(parts).strip() if commas else name)
        names.append(name)
        del parts[:count]
    return names


def edge_named(graph: Graph, text: str) -> tuple[int, int]:
    """Find an edge by the names of its ends, such as ``3-4``, an arc with its tail first.

    Names may contain ``-`` if only one reading is possible.
    An induced cycle that passes both ends of an edge contains the edge. So the cycles through the edge are those
    through both its ends. An OptionError says that the text is no edge of the graph, or may be one of several.
    """
    index = {str(name): v for v, name in enumerate(graph.names)}
    cuts = [i for i, sign in enumerate(text) if sign == "-"]
    if not cuts:
        raise OptionError(f"{text!r} is not an edge: two vertices with a - between them, such as 3-4")
    pairs = [(text[:cut].strip(), text[cut + 1 :].strip()) for cut in cuts]
    known = [(index[u], index[v]) for u, v in pairs if u in index and v in index]
    edges = [(u, v) for u, v in known if are_joined(graph, u, v)]
    if len(edges) == 1:
        return edges[0]
    if edges:
        raise OptionError(f"{text!r} may be one of {len(edges)} edges: pass its ends instead")
    if known:
        raise no_edge(graph, *known[0])
    u_name, v_name = pairs[0]
    missing = u_name if u_name not in index else v_name
    raise no_vertex(graph, missing)


def json_name(name: Hashable) -> int | str:
    """Return the name of a vertex for JSON: names that are integers stay integers, all others are text."""
    import numpy as np

    return int(name) if isinstance(name, (int, np.integer)) and not isinstance(name, bool) else str(name)


def read_order(path: str, graph: Graph) -> list[int]:
    """Read an order of all vertices, a name a line, in UTF-8; an OptionError names the line that is wrong."""
    index = {str(name): v for v, name in enumerate(graph.names)}
    lines: dict[int, int] = {}
    try:
        with open_to_read(path) as stream, text_of(stream) as text:
            for number, line in enumerate(text, start=1):
                if not (name := (line.removeprefix("\ufeff") if number == 1 else line).strip()):
                    continue
                if name not in index:
                    raise OptionError(f"{path}, line {number}: {no_vertex(graph, name)}")
                if (v := index[name]) in lines:
                    raise OptionError(f"{path}, line {number}: the vertex {name} was on line {lines[v]} already")
                lines[v] = number
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"cannot read the order in {path}: {getattr(error, 'strerror', None) or error}") from error
    if missing := [str(name) for v, name in enumerate(graph.names) if v not in lines]:
        some = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        raise OptionError(f"{path}: an order names every vertex of the graph once; {len(missing):,} missing: {some}")
    return list(lines)


def write_order(path: str, graph: Graph, vertices: Sequence[int]) -> None:
    """Write an order of the vertices to a file. After an EngineError an old file is still there.

    Vertices that were joined to the graph, see `kernels_ti.path_graph`, are left out.
    """
    with whole_file(path) as stream:
        stream.writelines(f"{graph.names[v]}\n".encode() for v in vertices if v < graph.n)
