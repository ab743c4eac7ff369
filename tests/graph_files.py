"""Graphs written to a file and loaded from it."""

import os
from pathlib import Path

import pytest
from chordless.graphs.load import LoadedGraph, load_graph

from kernels_ti import Graph, GraphError


def load(path: Path, content: str | bytes, **options: object) -> LoadedGraph:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_graph(str(path), **options)


def refusal(path: Path, content: str | bytes, **options: object) -> str:
    """Load, and give back the one line of the refusal without the folder."""
    with pytest.raises(GraphError) as caught:
        load(path, content, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path.parent) + os.sep)


def named_edges(graph: Graph) -> set[frozenset[object]]:
    return {frozenset((graph.names[u], graph.names[v])) for u, v in graph.edges()}


def pairs(*edges: str) -> set[frozenset[object]]:
    return {frozenset(edge.split()) for edge in edges}
