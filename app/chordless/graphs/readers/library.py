"""Formats that networkx reads, whose errors are turned into our messages, and adjacency lists."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from chordless.graphs.readers.attributed import json_graph, table_graph
from chordless.graphs.readers.columns import MULTILINE, is_multiline
from chordless.graphs.readers.incoming import SHOWN_STANDARD_INPUT
from chordless.graphs.readers.source import Parsed, Positions, Source, build_graph, label_names, number_of, readable
from kernels_ti import Graph
from kernels_ti.graph import IntArray

# A line of sparse6 with ten characters may declare any number of vertices, and networkx makes an object for each.
LARGEST_LIBRARY_SIZE = 2_000_000

# As other programs end the vertex before its neighbours.
_COLON = re.compile(r"(\s*[^\s:]+):(?=\s|$)")

# The readers of networkx take nodes of a nested graph for nodes of the graph, and a node that is listed twice for one.
# They drop an edge inside a node, and everything after the graph.
_PARENTS = {"graphml": (None,), "graph": ("graphml",), "node": ("graph",), "edge": ("graph",)}
_DEEPEST = 100
_NOT_FLAT = "nested graphs, hyperedges and ports are not read: write one flat graph of nodes and edges"

_GML_TOKEN = re.compile(r'"[^"]*"|#[^\n]*|[^\s"#\[\]]+|\[|\]|"|\n')


def _from_networkx(
    source: Source, graph: Any, names: tuple[str, ...], *, simplify: bool, says_directions: bool = True
) -> Graph:
    index = {node: v for v, node in enumerate(graph.nodes())}
    ends = [(index[edge[0]], index[edge[1]]) for edge in graph.edges()]
    directed = says_directions and graph.is_directed()
    return build_graph(source, ends, names, simplify=simplify, directed=directed)


def _attribute_names(graph: Any, *attributes: str) -> tuple[str, ...]:
    ids = [str(node) for node in graph.nodes()]
    for attribute in attributes:
        given = [data.get(attribute) for _, data in graph.nodes(data=True)]
        names = label_names([None if name is None else str(name) for name in given], ids)
        if names != tuple(ids):
            return names
    return tuple(ids)


def _graphml(source: Source) -> Any:
    from networkx.readwrite.graphml import GraphMLReader

    class Reader(GraphMLReader):  # type: ignore[misc]
        """networkx takes the id of an edge, or its attribute `key`, as a key, and keeps one edge of each."""

        def add_edge(self, graph: Any, edge: Any, keys: Any) -> None:
            edge.attrib.pop("id", None)
            super().add_edge(graph, edge, keys)

        def decode_data_elements(self, keys: Any, element: Any) -> dict[str, Any]:
            return {name: value for name, value in super().decode_data_elements(keys, element).items() if name != "key"}

    _check_graphml(source)
    data = source.data.replace(b"<graphml>", b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">', 1)
    graphs = list(Reader(force_multigraph=True)(path=io.BytesIO(data)))
    if not graphs:
        raise source.error("no <graph> in the namespace of GraphML, http://graphml.graphdrawing.org/xmlns")
    return graphs[0]


def _gml(source: Source) -> Any:
    import networkx as nx

    _check_gml(source)
    # As a multigraph, so that a repeated edge gives our message, or can be merged.
    text = re.sub(r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1 ", source.text, count=1)
    return nx.parse_gml(text.split("\n"), label="id")


# Of each format with attributes: its name in messages, its reader, and the attributes that may name the vertices.
_ATTRIBUTED: dict[str, tuple[str, Callable[[Source], Any], tuple[str, ...]]] = {
    "graphml": ("GraphML file", _graphml, ("label", "name")),
    "gml": ("GML file", _gml, ("label",)),
    "json": ("JSON graph", json_graph, ()),
    "table": ("table of edges", table_graph, ()),
}


def networkx_graph(source: Source, file_format: str) -> tuple[Any, tuple[str, ...]] | None:
    """Return the networkx graph of a file with its attributes, and the names of its nodes; None for other formats."""
    if file_format not in _ATTRIBUTED:
        return None
    what, read, naming = _ATTRIBUTED[file_format]
    with readable(source, what):
        graph = read(source)
    return graph, _attribute_names(graph, *naming)


def _read_attributed(file_format: str, source: Source, *, simplify: bool = False) -> Parsed:
    """Read a file with attributes; its vertices are where ``x`` and ``y`` say, as OSMnx writes them."""
    read = networkx_graph(source, file_format)
    assert read is not None
    graph, names = read
    says_directions = file_format != "table" or graph.graph["directed"]
    if file_format == "table" and says_directions and not simplify:
        source.note("a column says that each edge has a direction")
    made = _from_networkx(source, graph, names, simplify=simplify, says_directions=says_directions)
    return made, _positions(graph)


def _positions(graph: Any) -> Positions | None:
    places = {}
    for v, (_, data) in enumerate(graph.nodes(data=True)):
        x, y = (number_of(str(data.get(axis, ""))) for axis in "xy")
        if x is not None and y is not None:
            places[v] = x, y
    return places or None


def read_adjacency_list(source: Source, *, simplify: bool = False) -> Parsed:
    """Read an adjacency list: a vertex and its neighbours in each line, an edge listed from one end or from both."""
    lines = [line.split("#")[0] for line in source.text.split("\n")]
    if all(map(_COLON.match, filter(str.strip, lines))):
        lines = [_COLON.sub(r"\1", line, count=1) for line in lines]
    rows = [words for line in lines if (words := line.split())]
    if rows and is_multiline(rows):
        raise source.error(MULTILINE)
    if not rows:
        raise source.error("no vertices: the file is empty; an adjacency list has a line `u v w ...` for each vertex u")
    commas = re.compile("[,;]$" if any(len(words) > 1 for words in rows) else "[,;]")  # names may have some within
    if word := next((word for words in rows for word in words if commas.search(word)), None):
        raise source.error(f"the names of an adjacency list have blanks between them, not commas: {word!r}")
    index: dict[str, int] = {}
    for word in chain.from_iterable(rows):
        index.setdefault(word, len(index))
    source.check_room(sum(map(len, rows)) - len(rows), len(index))
    names = sorted(index, key=int) if all(re.fullmatch(r"[0-9]{1,18}", word) for word in index) else list(index)
    index = {name: v for v, name in enumerate(names)}
    tails = np.repeat([index[words[0]] for words in rows], [len(words) - 1 for words in rows])
    heads = np.fromiter((index[word] for words in rows for word in words[1:]), np.int64, len(tails))
    ends = np.column_stack((tails, heads))
    if not source.directed:
        ends = ends[~_told_from_the_other_end(ends, len(names))]
    return build_graph(source, ends, names, simplify=simplify), None


def _told_from_the_other_end(arcs: IntArray, n: int) -> npt.NDArray[np.bool_]:
    """Return which arcs, shape (m, 2), are the first from v to u where one from u to v came before."""
    keys, at = np.unique(arcs[:, 0] * n + arcs[:, 1], return_index=True)
    opposite = keys % n * n + keys // n
    place = np.minimum(np.searchsorted(keys, opposite), len(keys) - 1)
    told = np.zeros(len(arcs), np.bool_)
    told[at[(keys[place] == opposite) & (at[place] < at)]] = True
    return told


def read_graph6(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a graph6, sparse6 or digraph6 file with one graph; its vertices are called "0" to "n-1"."""
    lines = re.sub(rb"^\s*>>(?:graph6|sparse6|digraph6)<<", b"", source.data).split()
    if not lines:
        raise source.error("there is no graph in the file; a graph is a line of graph6 or sparse6")
    if len(lines) > 1:
        one = "" if source.name == SHOWN_STANDARD_INPUT else f"give one, {source.name}:1, or "
        raise source.error(f"there are {len(lines):,} graphs; {one}give all of them to `chordless batch`")
    line = lines[0]
    if line.startswith(b";"):
        raise source.error("incremental sparse6 needs the graph before it; convert the file to graph6", 1)
    sparse, directed = line.startswith(b":"), line.startswith(b"&")
    format_name = "sparse6" if sparse else "digraph6" if directed else "graph6"
    body = line[sparse or directed :]
    if not re.fullmatch(rb"[?-~]+", body):
        shown = line[:40].decode("ascii", "backslashreplace")
        raise source.error(f"not a {format_name} line: its characters are ? to ~, found {shown!r}", 1)

    import networkx as nx

    with readable(source, f"{format_name} file"):
        n, matrix = nx.readwrite.graph6.data_to_n([byte - 63 for byte in body])
        source.check_size(n, 1, largest=LARGEST_LIBRARY_SIZE)
        if directed:
            arcs = _arcs_of_matrix(n, matrix)
            return build_graph(source, arcs, tuple(map(str, range(n))), simplify=simplify, directed=True), None
        graph = nx.from_sparse6_bytes(line) if sparse else nx.from_graph6_bytes(line)
    return _from_networkx(source, graph, tuple(map(str, range(n))), simplify=simplify), None


def _arcs_of_matrix(n: int, values: Sequence[int]) -> IntArray:
    """Return the arcs of the adjacency matrix of digraph6: its rows bit by bit, six bits to a value."""
    if len(values) != -(-n * n // 6):
        raise ValueError(f"{n} vertices take {-(-n * n // 6)} characters for their arcs, not {len(values)}")
    bits = np.unpackbits(np.array(values, np.uint8)[:, None], axis=1)[:, 2:].reshape(-1)
    arcs: IntArray = np.argwhere(bits[: n * n].reshape(n, n))
    return arcs


LIBRARY_READERS: dict[str, Callable[..., Parsed]] = {
    **{file_format: partial(_read_attributed, file_format) for file_format in _ATTRIBUTED},
    "graph6": read_graph6,
    "adjlist": read_adjacency_list,
}


def _check_graphml(source: Source) -> None:
    """Raise a GraphError, which names the line, unless a GraphML file is one flat graph with every node once."""
    parser = expat.ParserCreate(namespace_separator=" ")
    above: list[str] = []
    graphs = 0
    nodes: dict[str, int] = {}
    ends: list[tuple[str, int]] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal graphs
        name, line = tag.rpartition(" ")[2], parser.CurrentLineNumber
        parent = above[-1] if above else None
        above.append(name)
        if parent is None and name == "gexf":
            raise source.error("GEXF is not read: save the graph as GraphML, GML or an edge list", line)
        if len(above) > _DEEPEST:
            raise source.error(f"more than {_DEEPEST} elements inside one another; a graph needs 5", line)
        if name in ("hyperedge", "port"):
            raise source.error(f"<{name}>; {_NOT_FLAT}", line)
        if name in _PARENTS and parent not in _PARENTS[name]:
            where = f"inside <{parent}>; {_NOT_FLAT}" if parent else f"outside of <{_PARENTS[name][0]}>"
            raise source.error(f"<{name}> {where}", line)
        if name == "graph":
            graphs += 1
        elif name == "node" and "id" in attributes:
            node = attributes["id"]
            if node in nodes:
                raise source.error(f"node {node} is already in line {nodes[node]}; list each node once", line)
            nodes[node] = line
        elif name == "edge":
            ends.extend((attributes[end], line) for end in ("source", "target") if end in attributes)

    def end(tag: str) -> None:
        above.pop()

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.Parse(source.data, True)
    if graphs != 1:
        raise source.error(f"the file holds {graphs} graphs; one is needed")
    for node, line in ends:
        if node not in nodes:
            raise source.error(f"an edge ends in a node that the file does not list: {node}", line)


def _check_gml(source: Source) -> None:
    """Raise a GraphError, which names the line, unless a GML file is one flat graph within its brackets."""
    line = 1
    above: list[str] = []
    word = ""
    graphs = 0
    for token in _GML_TOKEN.findall(source.text):
        if token == "[":
            graphs += _check_gml_list(source, word, above, line)
            above.append(word)
        elif token == "]":
            if not above:
                raise source.error("a closing bracket without an opening one", line)
            above.pop()
        elif token[0] not in '"#\n':
            word = token.lower()
        line += token.count("\n")
    if graphs != 1:
        raise source.error(f"the file holds {graphs} graphs; one is needed: graph [ node [ id 1 ] ... ]")


def _check_gml_list(source: Source, word: str, above: list[str], line: int) -> bool:
    """Check the beginning of a list; return whether it is a graph."""
    if len(above) >= _DEEPEST:
        raise source.error(f"more than {_DEEPEST} brackets inside one another; a graph needs 3", line)
    if word in ("node", "edge") and above != ["graph"]:
        where = f"inside `{above[-1]}`" if above else "outside of the brackets of the graph"
        raise source.error(f"`{word}` {where}; {_NOT_FLAT}", line)
    if word == "graph" and above:
        raise source.error(f"`graph` inside `{above[-1]}`; {_NOT_FLAT}", line)
    return word == "graph"
