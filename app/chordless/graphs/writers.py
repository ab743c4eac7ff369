"""Writing a graph to a file: as an edge list, or in the format that its suffix says."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from chordless.files import replaced, text_of, writing
from chordless.graphs.generators import numbered
from chordless.graphs.load import LoadedGraph, extension_of
from kernels_ti import Graph, GraphError, OptionError
from kernels_ti.errors import bytes_text
from kernels_ti.graph import IntArray

_LARGEST_MATRIX = 1 << 30
"""Bytes that the adjacency matrix of a graph6 line may take."""


def save_graph(loaded: LoadedGraph, path: str | Path) -> None:
    """Write a graph to a file that `load_graph` reads back, with the names and places of its vertices.

    Parallel edges, and self-loops without directions, need ``multigraph=True`` there; with it every graph is read back.
    Raises GraphError for names that an edge list cannot hold, see `write_edge_list`, EngineError for a failing disk.
    """
    with writing(path), replaced(path) as file, text_of(file) as text:
        write_edge_list(loaded.graph, text)
        for v, (x, y) in (loaded.positions or {}).items():
            text.write(f"# xy {v + 1} {x!r} {y!r}\n")


@dataclass(frozen=True)
class FileFormat:
    """A format in which graphs are written."""

    name: str  # Its name in messages
    # Writes a graph to a text stream, with lines of comment above where the format has any
    write: Callable[[Graph, TextIO, Sequence[str]], None]
    # The format has no names of vertices, and numbers them from this number on. None: it has names.
    first_name: int | None = None
    # `directed`, `undirected`, `multigraph`: which graphs it can hold; a multigraph has parallel edges, or self-loops
    # without directions
    directed: bool = True
    undirected: bool = True
    multigraph: bool = True


def format_to_write(path: str) -> FileFormat:
    """Return the format that the suffix of a file says, without one an edge list; else an OptionError."""
    suffix = extension_of(path)
    if suffix not in _FORMATS:
        raise OptionError(
            f"{path}: graphs are not written as {suffix}; a file may end in .txt (an edge list), .g6, .s6, .col, .net, "
            ".mtx, .graphml or .gml"
        )
    return _FORMATS[suffix]


def write_graph_file(graph: Graph, path: str, stream: BinaryIO, comments: Sequence[str] = ()) -> list[str]:
    """Write a graph in the format that the suffix of a file says, compressed if its name ends in ``.gz``.

    The comments go above, where the format has any. Returns notes for the user, a line each, about what the format does
    not hold. Raises OptionError for a format that is not written, GraphError for a graph that it cannot hold.
    """
    made = format_to_write(path)
    has_loops = graph.loops is not None and (not graph.directed or int(graph.loops.max(initial=0)) > 1)
    for is_so, can_be, kind, other in (
        (graph.directed, made.directed, "directed", ".d6"),
        (not graph.directed, made.undirected, "undirected", ".g6"),
        (graph.is_multigraph or has_loops, made.multigraph, "a multigraph", ".s6" if not graph.directed else ".net"),
    ):
        if is_so and not can_be:
            raise GraphError(f"{path}: {made.name} cannot hold this graph, which is {kind}; {other} can")
    with ExitStack() as stack:
        target: Any = stream
        if path.lower().endswith(".gz"):
            # Without a name and a time in it, so that the same graph makes the same file.
            target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=stream, mtime=0))
        made.write(graph, stack.enter_context(text_of(target)), comments)
    if made.first_name is None:
        return []
    numbers = range(made.first_name, graph.n + made.first_name)
    if list(map(str, graph.names)) == list(map(str, numbers)):
        return []
    last = graph.n - 1 + made.first_name
    return [f"{path}: {made.name} has no names of vertices; they are the numbers {made.first_name} to {last}"]


def write_edge_list(graph: Graph, stream: TextIO, comments: Iterable[str] = ()) -> None:
    """Write a graph as the edge list that `load_graph` reads back with the same vertices, edges and names.

    The edges of a directed graph are lines ``u -> v``. A graph with parallel edges, and an undirected one with
    self-loops, is read back as a multigraph. Ids are 1 to n in the order of the vertices. Names other than these become
    ``# label`` lines, as text. A GraphError is raised for a name that a line cannot hold, two names that are the same
    text, or a comment that would be read as one of the three comments with a meaning.
    """
    names = [str(name) for name in graph.names]
    ids = [str(number) for number in range(1, graph.n + 1)]
    heading = [line for comment in comments for line in comment.splitlines()]
    for line in heading:
        if re.match(r"\s*(?:n=\S*\s+m=|(?:label|xy)(?:\s|$))", line):
            raise GraphError(f"the comment {line!r} would be read as a part of the graph")
    if names != ids:
        _check_labels(names)
    stream.writelines(f"# {line}\n" for line in heading)
    stream.write(f"# n={graph.n} m={graph.m}\n")
    if names != ids:
        stream.writelines(f"# label {v} {name}\n" for v, name in zip(ids, names, strict=True))
    between = " -> " if graph.directed else " "
    stream.writelines(f"{u}{between}{v}\n" for u, v in (graph.edges() + 1).tolist())


def _check_labels(names: list[str]) -> None:
    if len(set(names)) != len(names):
        raise GraphError("two vertices have names that are the same text; an edge list cannot tell them apart")
    for name in names:
        if not name or re.search(r"[\r\n\0]", name):
            raise GraphError(f"the vertex name {name!r} does not fit in a line of an edge list")


def _write_graph6(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    u, v = graph.edges().T
    if graph.directed:
        stream.write(f"&{graph6_line(graph.n, u * graph.n + v, graph.n**2)}")
    else:
        stream.write(graph6_line(graph.n, v * (v - 1) // 2 + u, graph.n * (graph.n - 1) // 2))


def graph6_line(n: int, places: IntArray, count: int) -> str:
    """Return the line of graph6 for n vertices whose bits at `places`, of `count`, are set, unless it is too long."""
    if (length := -(-count // 6)) > _LARGEST_MATRIX:
        raise GraphError(f"a line of graph6 for {n:,} vertices takes {bytes_text(length)}; .s6 and .txt are smaller")
    characters = np.zeros(length, np.uint8)
    np.bitwise_or.at(characters, places // 6, (32 >> places % 6).astype(np.uint8))
    digits = 1 if n < 63 else 3 if n < 1 << 18 else 6
    size = "~" * (digits // 3) + "".join(chr(63 + (n >> 6 * k & 63)) for k in reversed(range(digits)))
    return f"{size}{(characters + 63).tobytes().decode('ascii')}\n"


def _write_sparse6(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    import networkx as nx

    stream.write(nx.to_sparse6_bytes(numbered(graph), header=False).decode("ascii"))


def _write_dimacs(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    stream.writelines(f"c {line}\n" for line in comments)
    stream.write(f"p {'sp' if graph.directed else 'edge'} {graph.n} {graph.m}\n")
    kind = "a" if graph.directed else "e"
    stream.writelines(f"{kind} {u} {v}\n" for u, v in (graph.edges() + 1).tolist())


def _write_matrix_market(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    shape = "general" if graph.directed else "symmetric"
    stream.write(f"%%MatrixMarket matrix coordinate pattern {shape}\n")
    stream.writelines(f"% {line}\n" for line in comments)
    stream.write(f"{graph.n} {graph.n} {graph.m}\n")
    # Of a symmetric matrix the lower triangle is written.
    edges = graph.edges() + 1
    stream.writelines(f"{u} {v}\n" for u, v in (edges if graph.directed else edges[:, ::-1]).tolist())


def _write_pajek(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    names = [str(name) for name in graph.names]
    _check_labels(names)
    if wrong := next((name for name in names if '"' in name), None):
        raise GraphError(f"the vertex name {wrong!r} has a quotation mark, which a Pajek network cannot hold")
    stream.writelines(f"% {line}\n" for line in comments)
    stream.write(f"*Vertices {graph.n}\n")
    stream.writelines(f'{v} "{name}"\n' for v, name in enumerate(names, 1))
    stream.write("*Arcs\n" if graph.directed else "*Edges\n")
    stream.writelines(f"{u} {v}\n" for u, v in (graph.edges() + 1).tolist())


def _write_graphml(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    import networkx as nx

    drawn = numbered(graph)
    nx.set_node_attributes(drawn, {v: str(name) for v, name in enumerate(graph.names)}, "label")
    stream.writelines(f"{line}\n" for line in nx.generate_graphml(drawn))


def _write_gml(graph: Graph, stream: TextIO, comments: Sequence[str]) -> None:
    import networkx as nx

    named = nx.relabel_nodes(numbered(graph), {v: str(name) for v, name in enumerate(graph.names)})
    if len(named) < graph.n:
        raise GraphError("two vertices have names that are the same text; GML cannot tell them apart")
    stream.writelines(f"{line}\n" for line in nx.generate_gml(named))


def line_of_graph(graph: Graph, suffix: str) -> str | None:
    """Return a graph as a line of the format with this suffix; None if it cannot hold the graph."""
    line = io.BytesIO()
    try:
        write_graph_file(graph, f"graph{suffix}", line)
    except GraphError:
        return None
    return line.getvalue().decode().rstrip("\n")


_EDGE_LIST = FileFormat("an edge list", write_edge_list)
_GRAPH6 = FileFormat("graph6", _write_graph6, 0, directed=False, multigraph=False)
_SPARSE6 = FileFormat("sparse6", _write_sparse6, 0, directed=False)
_DIGRAPH6 = FileFormat("digraph6", _write_graph6, 0, undirected=False, multigraph=False)
_DIMACS = FileFormat("DIMACS", _write_dimacs, 1)
_FORMATS = {
    **dict.fromkeys(("", ".txt", ".edges", ".edgelist", ".el", ".dat", ".lst"), _EDGE_LIST),
    **dict.fromkeys((".g6", ".graph6"), _GRAPH6),
    **dict.fromkeys((".s6", ".sparse6"), _SPARSE6),
    **dict.fromkeys((".d6", ".digraph6"), _DIGRAPH6),
    **dict.fromkeys((".col", ".dimacs", ".clq"), _DIMACS),
    ".net": FileFormat("Pajek", _write_pajek),
    ".mtx": FileFormat("Matrix Market", _write_matrix_market, 1, multigraph=False),
    ".graphml": FileFormat("GraphML", _write_graphml),
    ".gml": FileFormat("GML", _write_gml),
}
