"""Test whether a graph is perfect: whether neither it nor its complement has an odd hole."""

from __future__ import annotations

from typing import Any

from kernels_ti.api import enumerate_cycles
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.chordality import require_simple
from kernels_ti.conversion import as_graph
from kernels_ti.graph import Graph
from kernels_ti.options import Options
from kernels_ti.reference.at_once import found_at_once

_LEAST_DEGREE_IN_ANTIHOLE = 4  # That of each vertex in the complement of a hole of seven vertices


def is_perfect(graph: Any, *, simplify: bool = False) -> bool:
    """Say whether a graph is perfect: whether neither it nor its complement has an odd hole.

    The search ends at the first odd hole. Where there is none it meets every hole of both graphs: that of a large
    bipartite graph may never end. The complement takes about 20 bytes for each pair of vertices of the graph's
    4-core.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        Simple and undirected; see `as_graph` for what is understood.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.

    Returns
    -------
    bool

    Raises
    ------
    GraphError
        If the graph is not simple and undirected.
    DeviceError, EngineError
        As for `enumerate_cycles`.

    References
    ----------
    Chudnovsky, Robertson, Seymour, Thomas, *The strong perfect graph theorem*, Annals of Mathematics 164 (2006).

    Examples
    --------
    >>> import networkx
    >>> from chordless import is_perfect
    >>> is_perfect(networkx.grid_2d_graph(3, 4)), is_perfect(networkx.cycle_graph(5))
    (True, False)
    """
    graph = as_graph(graph, simplify=simplify)
    require_simple(graph, "perfection")
    return is_berge(graph)


def is_berge(graph: Graph) -> bool:
    """Say whether neither a graph nor its complement has an odd hole; a graph with self-loops is not made simple."""
    if _has_odd_hole(graph):
        return False
    # A hole of five is its own complement, unless a self-loop bars it.
    while graph.is_simple and not (may_be_in_antihole := graph.degrees >= _LEAST_DEGREE_IN_ANTIHOLE).all():
        graph = graph.induced(may_be_in_antihole)
    return not _has_odd_hole(graph.complement())


def _has_odd_hole(graph: Graph) -> bool:
    """Say whether a graph has a chordless cycle of five or more vertices, an odd number of them."""
    found = found_at_once(SearchSpace(graph, Options(min_length=5, parity="odd")), collect=False)
    if found is not None:
        return found.counts.total > 0
    return any(True for _ in enumerate_cycles(graph, arch="cpu", min_length=5, parity="odd", limit=1))
