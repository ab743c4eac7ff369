"""Files with an order of the vertices: one name a line."""

from __future__ import annotations

from collections.abc import Sequence

from chordless.files import open_to_read, text_of, whole_file
from kernels_ti import Graph, OptionError
from kernels_ti.blocks.restriction import no_vertex

_NAMED = 3


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
