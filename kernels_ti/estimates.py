"""About how many chordless cycles or paths a graph has, in one call."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

from kernels_ti.boundary.way_back.blocks import space_for
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.errors import OptionError, TimeIsUpError, require_flags
from kernels_ti.estimate.count_estimate import CountEstimate
from kernels_ti.estimate.estimate import Estimator
from kernels_ti.estimate.usual_rate import seconds_to_begin
from kernels_ti.options import require_seed
from kernels_ti.path_graph import End, path_graph
from kernels_ti.paths import refuse_unknown
from kernels_ti.symmetry.space import space_of
from kernels_ti.watch import ProgressOption, Watch, float_or_infinite

_SHORTEST_PROBE = 0.2
"""Seconds of probing at least, or half of the time that is given, however long the preparation has taken."""


def estimate_cycles(
    graph: Any,
    *,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    seconds: float = 2.0,
    seed: int = 0,
    simplify: bool = False,
    memory: int | None = None,
    symmetry: bool = False,
    progress: ProgressOption = False,
) -> CountEstimate:
    """Estimate how many chordless cycles a graph has, by random samples of the search.

    It probes in numpy on the host, without a device. A small graph is counted on the way, and the answer then comes at
    once.

    Parameters
    ----------
    graph, min_length, max_length, parity, through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    seconds : float
        Answer within about this long; four times as long halves the range.
    seed : int
        Seed of the random probes. How many there are depends on the time.
    memory : int, optional
        Bytes that the bit rows of a part of the search may take; by default 1 GiB.
    symmetry : bool
        Probe the search that `count_cycles` makes with `symmetry`, which looks at fewer paths.
    progress : bool or callable, optional
        As for `count_cycles`. The share is that of the time, and no cycles are told before the end.

    Returns
    -------
    CountEstimate
        Its `total` has `estimate`, `low` and `high`: the range holds the truth in 9 cases out of 10. All three are the
        same if it is `exact`.

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed.
    SizeError
        If the bit rows do not fit into the memory.
    TimeIsUpError
        If the graph is so large that no probe can begin within the time.

    Examples
    --------
    >>> import networkx
    >>> from chordless import estimate_cycles
    >>> found = estimate_cycles(networkx.petersen_graph())
    >>> found, found.by_length
    (CountEstimate(22, exact), {5: 12, 6: 10})
    """
    began = time.perf_counter()
    given: Any = seconds
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not (is_number and 0 < float_or_infinite(given) < math.inf):
        raise OptionError(f"seconds must be a number of seconds above 0 that a float can hold, not {seconds!r:.40}")
    require_seed(seed)
    require_flags(symmetry=symmetry)
    watch = Watch(progress=progress)
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory, parity)
    if symmetry:
        space = space_of(graph, replace(space.options, symmetry=True))
    if seconds_to_begin(space) > seconds:
        raise TimeIsUpError(
            f"no probe of so large a graph can begin within {float(seconds):g} s: allow more seconds; a maximum "
            "length may help too"
        )
    estimator = Estimator(space, seed=int(seed), memory=space.options.memory, together=True)

    def look() -> None:
        watch.tell("searching", min((time.perf_counter() - began) / float(seconds), 1.0))

    with watch:
        left = float(seconds) - (time.perf_counter() - began)
        estimator.probe(max(left, min(_SHORTEST_PROBE, seconds / 2)), look=look)
        watch.tell("searching", 1.0, is_last=True)
    return estimator.estimate()


def estimate_paths(graph: Any, s: Hashable = End.ANY, t: Hashable = End.ANY, **options: Any) -> CountEstimate:
    """Estimate how many chordless paths lead from s to t, or how many a graph has.

    Parameters
    ----------
    graph, s, t
        As for `count_paths`.
    options : keywords
        Those of `estimate_cycles`, for paths: `min_length`, `max_length` and `parity` are about the number of vertices
        of a path, both ends included.

    Returns
    -------
    CountEstimate

    Raises
    ------
    GraphError, OptionError, SizeError, TimeIsUpError
        As for `estimate_cycles`. An OptionError also if there is no vertex s or t, or both are the same.

    Examples
    --------
    >>> from chordless import Graph, estimate_paths
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> found = estimate_paths(house, 4, 2)
    >>> found, found.by_length
    (CountEstimate(2, exact), {3: 1, 4: 1})
    """
    refuse_unknown(estimate_paths, estimate_cycles, options)
    joined = path_graph(graph, s, t, **options)
    return estimate_cycles(joined.graph, **joined.options).in_paths(joined.extra)
