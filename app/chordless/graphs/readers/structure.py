"""Checks of GraphML and GML files for errors that the readers of networkx silently ignore.

They read nodes of a nested graph as nodes of the graph, and a node that is listed twice as one. They drop an edge
inside a node, and everything after the graph.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from chordless.graphs.readers.source import Source

_PARENTS = {"graphml": (None,), "graph": ("graphml",), "node": ("graph",), "edge": ("graph",)}
_DEEPEST = 100
_NOT_FLAT = "nested graphs, hyperedges and ports are not read: write one flat graph of nodes and edges"

_GML_TOKEN = re.compile(r'"[^"]*"|#[^\n]*|[^\s"#\[\]]+|\[|\]|"|\n')


def check_graphml(source: Source) -> None:
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


def check_gml(source: Source) -> None:
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
