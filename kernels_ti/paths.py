"""Chordless paths, between two vertices s and t or of a whole graph: their vertices have no other edges among them.

Each path is a chordless cycle through a new vertex, see `kernels_ti.path_graph`. So whatever finds or counts cycles
through a vertex does so with paths.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from kernels_ti.api import count_cycles, enumerate_cycles
from kernels_ti.boundary.longest import BestCycle
from kernels_ti.boundary.values.weights import whole_if_it_is
from kernels_ti.conversion import attribute_weights
from kernels_ti.cycle_stream import CycleStream
from kernels_ti.errors import TimeIsUpError, time_is_up
from kernels_ti.longest import longest_cycle
from kernels_ti.notebook import html_of_best, html_of_counts
from kernels_ti.path_graph import End, PathGraph, path_graph
from kernels_ti.sample import sample_cycles

_MOST_IN_BATCH = 1 << 14


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

    def _repr_html_(self) -> str:
        return html_of_counts(self.by_length, "path", complete=self.complete)


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
    paths : list of list
        The k best ones, the best first; fewer if there are fewer.
    weights : list of int or Fraction
        Of each of them; empty where only the length counts.
    complete : bool
        False if the time was up: this is the best of the paths that were found.
    no_longer_than : int or None
        If it is not `complete`: no chordless path has more vertices. None where the shortest, heaviest or lightest one
        was sought.
    """

    path: list[Hashable]
    weight: int | Fraction | None
    ways: int
    seconds: float
    paths: list[list[Hashable]] = field(default_factory=list)
    weights: list[int | Fraction] = field(default_factory=list)
    complete: bool = True
    no_longer_than: int | None = None
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.path))

    def _repr_html_(self) -> str:
        best = self.paths, self.weights, self.ways
        return html_of_best(*best, "path", complete=self.complete, most=self.no_longer_than)


class PathStream(Iterator[list[Hashable]]):
    """The paths of `enumerate_paths`, while the search goes on.

    Parameters
    ----------
    cycles : CycleStream
        The cycles of a graph with new vertices; each stands for a path.
    path : callable
        Makes the path of such a cycle.

    Examples
    --------
    >>> from chordless import Graph, enumerate_paths
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> stream = enumerate_paths(square, 0, 2)
    >>> sorted(stream), stream.complete
    ([[0, 1, 2], [0, 3, 2]], True)
    """

    def __init__(self, cycles: CycleStream, path: Callable[[list[Hashable]], list[Hashable]]) -> None:
        self._cycles, self._path = cycles, path

    def __next__(self) -> list[Hashable]:
        return self._path(next(self._cycles))

    def batches(self) -> Iterator[list[list[Hashable]]]:
        """Yield the paths of a slice of the search, or of a part of it. Take paths or batches: a path is given once.

        Yields
        ------
        list of list
            At least one path.
        """
        for table in self._cycles.batches():
            paths = map(self._path, table)
            while batch := list(islice(paths, _MOST_IN_BATCH)):
                yield batch

    def close(self) -> None:
        """End the search, as that of a generator: no path is given any more, and its memory is free."""
        self._cycles.close()

    @property
    def complete(self) -> bool:
        """Whether all paths have been given."""
        return self._cycles.complete


def count_paths(graph: Any, s: Hashable = End.ANY, t: Hashable = End.ANY, **options: Any) -> PathCounts:
    """Count the chordless paths from s to t, or all chordless paths of a graph.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph`. Paths of a directed graph go along the arcs, and an arc in any direction between two vertices
        that do not follow each other is a chord; so are parallel edges between two that do. No path passes a vertex
        with a self-loop.
    s, t : hashable, optional
        The names of the two ends. Without them all chordless paths of the graph are counted, each once: from two
        vertices on, so that an edge is a path and a vertex alone is none. In a directed graph each path leads from its
        first vertex to its last one.
    options : keywords
        Those of `count_cycles`, for paths: `min_length` and `max_length` bound the number of vertices of a path, and
        `parity` is that of this number, both ends included; `through`, `avoid`, `avoid_edges`, `simplify`, `arch`,
        `method`, `order`, `limit`, `timeout` and so on mean the same.

    Returns
    -------
    PathCounts

    Raises
    ------
    GraphError, OptionError, DeviceError, SizeError, EngineError
        As for `count_cycles`. An OptionError also if there is no vertex s or t, or both are the same.

    Examples
    --------
    >>> from chordless import Graph, count_paths
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> count_paths(house, 4, 2).by_length
    {3: 1, 4: 1}
    """
    refuse_unknown(count_paths, count_cycles, options)
    joined = path_graph(graph, s, t, **options)
    counts = count_cycles(joined.graph, **joined.options)
    by_length = {length - joined.extra: count for length, count in counts.by_length.items()}
    return PathCounts(by_length, counts.seconds, counts.complete)


def enumerate_paths(graph: Any, s: Hashable = End.ANY, t: Hashable = End.ANY, **options: Any) -> PathStream:
    """Give the chordless paths from s to t, while the search goes on.

    Parameters
    ----------
    graph, s, t
        As for `count_paths`.
    options : keywords
        Those of `enumerate_cycles`, see `count_paths`.

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
    >>> from chordless import Graph, enumerate_paths
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> sorted(enumerate_paths(house, 4, 2))
    [[4, 0, 3, 2], [4, 1, 2]]
    """
    refuse_unknown(enumerate_paths, enumerate_cycles, options)
    joined = path_graph(graph, s, t, **options)
    return PathStream(enumerate_cycles(joined.graph, **joined.options), joined.path)


def longest_path(
    graph: Any,
    s: Hashable = End.ANY,
    t: Hashable = End.ANY,
    *,
    weight: str | Mapping[Any, Any] | None = None,
    **options: Any,
) -> BestPath:
    """Find the longest chordless path from s to t, or the heaviest.

    Parameters
    ----------
    graph, s, t
        As for `count_paths`.
    weight : str or mapping, optional
        As for `longest_cycle`.
    options : keywords
        Those of `longest_cycle`, see `count_paths`.

    Returns
    -------
    BestPath

    Raises
    ------
    GraphError, OptionError, SizeError, TimeIsUpError
        As for `longest_cycle`; `best` of the last one is a BestPath or None.

    Examples
    --------
    >>> from chordless import Graph, longest_path
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> longest_path(house, 4, 2).path
    [4, 0, 3, 2]
    """
    simplify = options.get("simplify", False)
    refuse_unknown(longest_path, longest_cycle, options)
    if isinstance(weight, str):
        weight = attribute_weights(graph, weight, simplify=simplify)
    joined = path_graph(graph, s, t, **options)
    added = Fraction(0)
    if weight is not None:
        weight, added = joined.weights(weight)

    def path_of(best: BestCycle) -> BestPath:
        told = best_told_in_paths(best, joined, added)
        return BestPath(
            told.cycle, told.weight, told.ways, told.seconds, told.cycles, told.weights, told.complete,
            told.no_longer_than,
        )  # fmt: skip

    try:
        return path_of(longest_cycle(joined.graph, weight=weight, **joined.options))
    except TimeIsUpError as error:
        best = None if error.best is None else path_of(error.best)
        raise time_is_up(options.get("timeout"), "all paths were compared", best) from None


def shortest_path(graph: Any, s: Hashable = End.ANY, t: Hashable = End.ANY, **options: Any) -> BestPath:
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
    >>> from chordless import Graph, shortest_path
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> shortest_path(house, 4, 2).path
    [4, 1, 2]
    """
    refuse_unknown(shortest_path, longest_cycle, options, but="shortest")
    return longest_path(graph, s, t, shortest=True, **options)


def sample_paths(
    graph: Any, s: Hashable = End.ANY, t: Hashable = End.ANY, k: int = 1, **options: Any
) -> list[list[Hashable]]:
    """Draw k chordless paths from s to t uniformly at random, with replacement.

    Parameters
    ----------
    graph, s, t
        As for `count_paths`.
    k : int
        How many.
    options : keywords
        Those of `sample_cycles`, see `count_paths`.

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
    >>> from chordless import Graph, sample_paths
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> sample_paths(square, 0, 1, 2)
    [[0, 1], [0, 1]]
    """
    refuse_unknown(sample_paths, sample_cycles, options)
    joined = path_graph(graph, s, t, **options)
    try:
        drawn = sample_cycles(joined.graph, k, **joined.options)
    except TimeIsUpError:
        raise time_is_up(options.get("timeout"), "the paths were drawn") from None
    return [joined.path(cycle) for cycle in drawn.lists()]


def best_told_in_paths(best: BestCycle, joined: PathGraph, added: Fraction) -> BestCycle:
    """Return best cycles as the paths for which they stand; `added` is that of `PathGraph.weights`, or 0."""
    paths, weights = list(map(joined.path, best.cycles)), [whole_if_it_is(each - added) for each in best.weights]
    bound = None if best.no_longer_than is None else most_on_path(joined, best.no_longer_than)
    return replace(
        best,
        cycle=paths[0] if paths else [],
        weight=weights[0] if weights else None,
        cycles=paths,
        weights=weights,
        no_longer_than=bound,
    )


def most_on_path(joined: PathGraph, most_on_cycle: int) -> int:
    """Return a number of vertices that no path exceeds, where no cycle that stands for one exceeds `most_on_cycle`.

    Of a path with l vertices, all but l - 1 of the edges that end at them lead out of it, so the sum of the l smallest
    degrees, less l - 1, is at most the number of all edges.
    """
    given = joined.given.underlying()
    degrees = np.sort(given.degrees[given.degrees > 0])
    by_degrees = int(np.count_nonzero(np.cumsum(degrees - 1) < given.m))
    return min(by_degrees, most_on_cycle - joined.extra)


def refuse_unknown(
    function: Callable[..., Any], of_cycles: Callable[..., Any], options: Mapping[str, Any], but: str = ""
) -> None:
    """Raise TypeError for a keyword that the function for cycles does not have; its own would name that function.

    The keyword `but` is one of the function for cycles alone.
    """
    known = inspect.signature(of_cycles).parameters
    for name in options:
        if name not in known or name == but:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
