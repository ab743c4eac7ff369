"""Chordless paths between two vertices s and t: paths whose vertices have no other edges among them.

A new vertex that is joined to s and to t only (in a directed graph by arcs to s and from t) makes each such path a
chordless cycle through the new vertex, and each such cycle is one of these paths. So whatever finds or counts cycles
through a vertex does so with paths. If s and t are adjacent, the edge is the only chordless path between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from kernels_ti.api import count_cycles, enumerate_cycles
from kernels_ti.blocks.restriction import vertices_called
from kernels_ti.boundary.forward_and_back.weights import Weights, attribute_weights
from kernels_ti.boundary.in_one_call import order_called
from kernels_ti.boundary.sample import sample_cycles
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleStream
from kernels_ti.errors import OptionError, TimeIsUpError
from kernels_ti.graph import Graph
from kernels_ti.longest import longest_cycle
from kernels_ti.options import require_lengths, require_parity

FEWEST = 2
"""Vertices of the shortest path."""


@dataclass(frozen=True)
class _Joining:
    """The name of the new vertex: no vertex of a user has it."""


@dataclass(frozen=True)
class PathCounts:
    """How many chordless paths lead from one vertex to another.

    Attributes
    ----------
    by_length : dict of int to int
        Paths by number of vertices, both ends included.
    seconds : float
        Time of the search alone.
    complete : bool
        False if the search ended at its limit or time-out: there may be more paths.
    """

    by_length: dict[int, int]
    seconds: float
    complete: bool = True

    @property
    def total(self) -> int:
        """All paths."""
        return sum(self.by_length.values())


@dataclass(frozen=True)
class BestPath:
    """The longest, shortest, heaviest or lightest chordless path.

    Attributes
    ----------
    path : list of hashable
        The names of its vertices from the first end to the second; empty if there is none within the bounds.
    weight : int, Fraction or None
        Exact; None where only the length counts, or without a path.
    ways : int
        Paths that have this length, or this weight.
    seconds : float
    """

    path: list[Hashable]
    weight: int | Fraction | None
    ways: int
    seconds: float
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.path))


class PathStream(Iterator[list[Hashable]]):
    """The paths of `enumerate_paths`, while the search goes on."""

    def __init__(self, cycles: CycleStream, path: Callable[[list[Hashable]], list[Hashable]]) -> None:
        self._cycles, self._path = cycles, path

    def __next__(self) -> list[Hashable]:
        return self._path(next(self._cycles))

    def batches(self) -> Iterator[list[list[Hashable]]]:
        """Yield the paths of each slice of the search, as a list. Take paths or batches: a path is given once."""
        for table in self._cycles.batches():
            yield [self._path(cycle) for cycle in table]

    @property
    def complete(self) -> bool:
        """Whether all paths have been given."""
        return self._cycles.complete


@dataclass(frozen=True, eq=False)
class _Joined:
    """A graph with the new vertex, and the bounds of its cycles, with their order if there is one."""

    graph: Graph
    start: Hashable
    new: Hashable
    bounds: dict[str, Any]

    def path(self, cycle: list[Hashable]) -> list[Hashable]:
        """Return the path of a cycle."""
        if not cycle:
            return []
        at = cycle.index(self.new)
        path = [*cycle[at + 1 :], *cycle[:at]]
        return path if path[0] == self.start else path[::-1]


def _joined(
    graph: Any,
    s: Hashable,
    t: Hashable,
    *,
    min_length: int = FEWEST,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    order: Iterable[Hashable] | None = None,
) -> _Joined:
    """Join a new vertex to two others, and put it before them in an order; see `count_paths` for the parameters."""
    require_lengths(min_length, max_length)
    require_parity(parity)
    if min_length < FEWEST:
        raise OptionError(f"a path has {FEWEST} vertices or more: {min_length} is no minimum of its length")
    if max_length is not None and max_length < min_length:
        raise OptionError(f"the maximum length {max_length} of a path is less than the minimum {min_length}")
    graph = as_graph(graph, simplify=simplify)
    # A name may be a text or a tuple, which are no lists of names here.
    u, v = vertices_called(graph, [s, t])
    through = [graph.names[w] for w in vertices_called(graph, through)]
    if u == v:
        raise OptionError(f"a path has two different ends, not {s} twice")
    new = graph.n if graph.vertex_names is None else _Joining()
    edges = np.concatenate((graph.edges(), [[graph.n, u], [v, graph.n]]))
    joined = Graph.from_edge_array(
        edges,
        n=graph.n + 1,
        names=None if graph.vertex_names is None else (*graph.vertex_names, new),
        directed=graph.directed,
        multigraph=not graph.is_simple,
    )
    bounds: dict[str, Any] = {
        "min_length": min_length + 1,
        "max_length": None if max_length is None else max_length + 1,
        "through": [new, *through],
    }
    if parity is not None:
        # The new vertex makes one more.
        bounds["parity"] = "even" if parity == "odd" else "odd"
    if (vertices := order_called(graph, order)) is not None:
        first = min(vertices.index(u), vertices.index(v))
        names_in_order = [graph.names[w] for w in vertices]
        bounds["order"] = [*names_in_order[:first], new, *names_in_order[first:]]
    return _Joined(joined, graph.names[u], new, bounds)


def count_paths(
    graph: Any,
    s: Hashable,
    t: Hashable,
    *,
    min_length: int = FEWEST,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    **options: Any,
) -> PathCounts:
    """Count the chordless paths from s to t.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph`. Paths of a directed graph go along the arcs, and an arc in any direction between two vertices
        that do not follow each other is a chord; so are parallel edges between two that do.
    s, t : hashable
        The names of the two ends.
    min_length, max_length : int, optional
        Bounds on the number of vertices of a path, both ends included.
    parity : {"odd", "even"}, optional
        Count only paths with an odd, or an even, number of vertices, both ends included.
    through : iterable of vertex names, optional
        Count only paths that pass all of these.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.
    options : keywords
        The others of `count_cycles`: `avoid`, `avoid_edges`, `arch`, `method`, `timeout` and so on.

    Returns
    -------
    PathCounts

    Raises
    ------
    GraphError, OptionError, DeviceError, SizeError, EngineError
        As for `count_cycles`. An OptionError also if there is no vertex s or t, or both are the same.

    Examples
    --------
    >>> from kernels_ti import Graph, count_paths
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> count_paths(house, 4, 2).by_length
    {3: 1, 4: 1}
    """
    order = options.pop("order", None)
    joined = _joined(
        graph,
        s,
        t,
        min_length=min_length,
        max_length=max_length,
        parity=parity,
        through=through,
        simplify=simplify,
        order=order,
    )
    counts = count_cycles(joined.graph, **joined.bounds, **options)
    by_length = {length - 1: count for length, count in counts.by_length.items()}
    return PathCounts(by_length, counts.seconds, counts.complete)


def enumerate_paths(
    graph: Any,
    s: Hashable,
    t: Hashable,
    *,
    min_length: int = FEWEST,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    **options: Any,
) -> PathStream:
    """Give the chordless paths from s to t, while the search goes on.

    Parameters
    ----------
    graph, s, t, min_length, max_length, parity, through, simplify
        As for `count_paths`.
    options : keywords
        The others of `enumerate_cycles`.

    Returns
    -------
    PathStream
        An iterator of paths, each the list of its vertices' names from s to t, in no particular order. At the end its
        `complete` is False if the limit or the time-out ended the search.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `enumerate_cycles`, by the call itself.

    Examples
    --------
    >>> from kernels_ti import Graph, enumerate_paths
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> sorted(enumerate_paths(house, 4, 2))
    [[4, 0, 3, 2], [4, 1, 2]]
    """
    joined = _joined(
        graph, s, t, min_length=min_length, max_length=max_length, parity=parity, through=through, simplify=simplify
    )
    return PathStream(enumerate_cycles(joined.graph, **joined.bounds, **options), joined.path)


def longest_path(
    graph: Any,
    s: Hashable,
    t: Hashable,
    *,
    weight: str | Mapping[Any, Any] | None = None,
    min_length: int = FEWEST,
    max_length: int | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    **options: Any,
) -> BestPath:
    """Find the longest chordless path from s to t, or the heaviest.

    Parameters
    ----------
    graph, s, t, min_length, max_length, through, simplify
        As for `count_paths`.
    weight : str or mapping, optional
        As for `longest_cycle`.
    options : keywords
        The others of `longest_cycle`.

    Returns
    -------
    BestPath

    Raises
    ------
    GraphError, OptionError, SizeError, TimeIsUpError
        As for `longest_cycle`; `best` of the last one is a BestPath or None.

    Examples
    --------
    >>> from kernels_ti import Graph, longest_path
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> longest_path(house, 4, 2).path
    [4, 0, 3, 2]
    """
    if isinstance(weight, str):
        weight = attribute_weights(graph, weight, simplify=simplify)
    order = options.pop("order", None)
    joined = _joined(
        graph, s, t, min_length=min_length, max_length=max_length, through=through, simplify=simplify, order=order
    )
    added = 0
    if weight is not None:
        of_edges = Weights.of_mapping(as_graph(graph, simplify=simplify), weight).gains.of_edges is not None
        # Positive weights let the search by shortest paths count them.
        new = {(joined.new, s): 1, (t, joined.new): 1} if of_edges else {joined.new: 1}
        weight, added = {**weight, **new}, len(new)

    def path_of(best: Any) -> BestPath:
        return BestPath(
            joined.path(best.cycle), None if best.weight is None else best.weight - added, best.ways, best.seconds
        )

    try:
        return path_of(longest_cycle(joined.graph, weight=weight, **joined.bounds, **options))
    except TimeIsUpError as error:
        error.best = None if error.best is None else path_of(error.best)
        raise


def shortest_path(graph: Any, s: Hashable, t: Hashable, **options: Any) -> BestPath:
    """Find the shortest chordless path from s to t, or with `weight` the lightest; see `longest_path`.

    Without further bounds it is a shortest path of a simple graph. Opposite arcs and parallel edges between vertices
    that follow each other are chords too, so such a graph may have no chordless path: `simplify` takes them as one
    edge. A lightest path without chords may be heavier than a lightest one.

    Parameters
    ----------
    graph, s, t
        As for `count_paths`.
    options : keywords
        The others of `longest_path`.

    Returns
    -------
    BestPath

    Raises
    ------
    GraphError, OptionError, SizeError, TimeIsUpError
        As for `longest_path`.

    Examples
    --------
    >>> from kernels_ti import Graph, shortest_path
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> shortest_path(house, 4, 2).path
    [4, 1, 2]
    """
    return longest_path(graph, s, t, shortest=True, **options)


def sample_paths(
    graph: Any,
    s: Hashable,
    t: Hashable,
    k: int,
    *,
    min_length: int = FEWEST,
    max_length: int | None = None,
    through: Iterable[Hashable] = (),
    simplify: bool = False,
    **options: Any,
) -> list[list[Hashable]]:
    """Draw k chordless paths from s to t uniformly at random, with replacement.

    Parameters
    ----------
    graph, s, t, min_length, max_length, through, simplify
        As for `count_paths`.
    k : int
        How many.
    options : keywords
        The others of `sample_cycles`.

    Returns
    -------
    list of list
        The names of the vertices of each path, from s to t; empty if there is no path within the bounds.

    Raises
    ------
    GraphError, OptionError, SizeError, TimeIsUpError
        As for `sample_cycles`.

    Examples
    --------
    >>> from kernels_ti import Graph, sample_paths
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> sample_paths(square, 0, 1, 2)
    [[0, 1], [0, 1]]
    """
    order = options.pop("order", None)
    joined = _joined(
        graph, s, t, min_length=min_length, max_length=max_length, through=through, simplify=simplify, order=order
    )
    return [joined.path(cycle) for cycle in sample_cycles(joined.graph, k, **joined.bounds, **options).lists()]
