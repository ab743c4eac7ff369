"""The easy entry points: count or enumerate the chordless cycles of a graph in one call."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kernels_ti.choice import device_for
from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph
from kernels_ti.run import Options, Run


@dataclass(frozen=True)
class CycleCounts:
    """How many chordless cycles a graph has.

    Attributes
    ----------
    by_length : dict of int to int
        Cycles by number of vertices; 3 stands for the triangles.
    frontier : dict of int to int
        |T_t|: chordless paths by number of vertices that the search put into its frontier.
    seconds : float
        Time of the search alone, without start-up and compilation.
    """

    by_length: dict[int, int]
    frontier: dict[int, int]
    seconds: float

    @property
    def triangles(self) -> int:
        """Cycles of 3 vertices."""
        return self.by_length.get(3, 0)

    @property
    def chordless_cycles(self) -> int:
        """Cycles of 4 or more vertices, the paper's #clc."""
        return self.total - self.triangles

    @property
    def total(self) -> int:
        """All cycles."""
        return sum(self.by_length.values())


def _as_graph(graph: Any) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        return Graph.from_networkx(graph)
    if hasattr(graph, "tocoo"):
        return Graph.from_scipy(graph)
    raise GraphError(
        f"a {type(graph).__name__} is not a graph: give a Graph, a networkx graph or a scipy sparse matrix"
    )


def count_cycles(
    graph: Any,
    *,
    arch: str = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    expansion: str = "two-ended",
    threads: int | None = None,
) -> CycleCounts:
    """Count the chordless cycles of a graph.

    Parameters
    ----------
    graph : Graph, networkx.Graph or scipy sparse matrix
        Simple and undirected.
    arch : {"auto", "cpu", "cuda", "vulkan", "reference"}
        What to search on.
    min_length, max_length : int, optional
        Bounds on the number of vertices of a cycle.
    expansion : {"two-ended", "paper"}
        See `Options`.
    threads : int, optional
        Workers of a CPU; by default one to each core.

    Returns
    -------
    CycleCounts

    Raises
    ------
    GraphError
        If the graph is not simple and undirected.
    OptionError
        If an option has no such value.
    DeviceError
        If the arch is not there or fails its self-test.
    EngineError
        If the search itself fails.

    Examples
    --------
    >>> from kernels_ti import Graph, count_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> count_cycles(square, arch="cpu").by_length
    {4: 1}

    References
    ----------
    Jradi, Dias, Castonguay, Longo, do Nascimento, *A GPU-based parallel algorithm for enumerating all
    chordless cycles in graphs*.
    """
    options = Options(min_length=min_length, max_length=max_length, expansion=expansion)
    graph = _as_graph(graph)
    run = Run(graph, device_for(graph, arch, threads=threads, max_length=max_length), options)
    while not run.finished:
        run.advance()
    last = run.snapshot()
    return CycleCounts(last.cycles_by_length, last.paths_by_length, last.seconds)


def enumerate_cycles(
    graph: Any,
    *,
    arch: str = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    threads: int | None = None,
) -> Iterator[list[Hashable]]:
    """Enumerate the chordless cycles of a graph, streamed while the search goes on.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads
        As for `count_cycles`.

    Yields
    ------
    list of hashable
        The names of a cycle's vertices in cycle order, from the vertex with the smallest index to its
        neighbour with the smaller index. The cycles come in no particular order.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`, at the call and not at the first cycle, but for EngineError.

    Examples
    --------
    >>> from kernels_ti import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    """
    options = Options(min_length=min_length, max_length=max_length, collect=True)
    graph = _as_graph(graph)
    run = Run(graph, device_for(graph, arch, threads=threads, max_length=max_length), options)
    return _stream(run)


def _stream(run: Run) -> Iterator[list[Hashable]]:
    names = run.graph.names
    while not run.finished:
        run.advance()
        found = run.take_cycles()
        vertices = found.vertices.tolist()
        offsets = found.offsets.tolist()
        for begin, end in pairwise(offsets):
            yield [names[v] for v in vertices[begin:end]]
