"""The longest, shortest, heaviest or lightest chordless cycle of a graph in one call, and the choice of the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernels_ti.apart import apart_if_needed
from kernels_ti.best_by_search import best_of_all, longest_by_search
from kernels_ti.blocks.restriction import order_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.longest import BestCycle, few_along_boundary, longest_in
from kernels_ti.boundary.values.weights import Gains, Weights
from kernels_ti.boundary.way_back.blocks import Keeping, Report, space_for
from kernels_ti.cheapest import cheapest_cycle
from kernels_ti.choices import Method, Parity
from kernels_ti.conversion import as_graph, attribute_weights
from kernels_ti.errors import OptionError, SizeError, TimeIsUpError, parameter, require_flags, time_is_up, worded
from kernels_ti.method import may_search, seconds_of_faster_search
from kernels_ti.options import is_whole, require_arch
from kernels_ti.reference.at_once import long_cycle
from kernels_ti.watch import ProgressOption, Watch

SHORTEST_HOLE = 4

_SECONDS_OF_SEARCH = 10.0  # The search by shortest paths goes on so long before the boundary method is tried

_SHARE_OF_PATHS = 1 / 3
"""The most of all paths that branch and bound looks at, on grids and random graphs; often it is a tenth and less."""

_SECONDS_FOR_ANY = 1.0
"""Seconds of a core for which a cycle is sought where the time was up before one was met."""


@apart_if_needed
def longest_cycle(
    graph: Any,
    *,
    k: int = 1,
    shortest: bool = False,
    weight: str | Mapping[Any, Any] | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
    arch: str = "auto",
    method: Method = "auto",
    order: Iterable[Hashable] | None = None,
    timeout: float | None = None,
    progress: ProgressOption = False,
) -> BestCycle:
    """Find the longest chordless cycle of a graph, or the shortest, heaviest or lightest one.

    The shortest and the lightest one are found by shortest paths, see `kernels_ti.cheapest`. The longest and the
    heaviest one are found by dynamic programming over a path decomposition, without looking at every cycle: the time
    depends on the boundary, see `kernels_ti.boundary.count`, and hardly on the number of cycles.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    k : int
        How many: the k longest, shortest, heaviest or lightest cycles, see `BestCycle.cycles`.
    shortest : bool
        The shortest cycle, or the lightest.
    weight : str or mapping, optional
        Find the heaviest cycle instead of the longest, or with `shortest` the lightest. A mapping has a number for the
        name of each vertex, or for the pair of names of each edge. A string names an attribute of the edges or of the
        nodes of a networkx graph. Sums are exact; a float stands for the decimal that is printed for it. All weights
        together, as whole numbers with the last decimal of any of them, stay below 2^62, but not for a lightest cycle
        that is found by shortest paths.
    min_length, max_length : int, optional
        Bounds on the number of vertices. The lower one is 3, with `shortest` 4: a triangle is no hole.
    parity : {"odd", "even"}, optional
        Only cycles with an odd, or an even, number of vertices.
    through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    memory : int, optional
        Bytes that the process may use; by default a share of the free memory.
    arch : str
        ``auto``, ``cpu``, ``cuda`` or ``reference``, as for `count_cycles` along a boundary.
    method : {"auto", "search", "boundary"}
        ``search`` finds the shortest or lightest cycle by shortest paths, where no weight is negative, the longest one
        by branch and bound, and others among all cycles. ``boundary`` goes along a boundary. ``auto`` does so for the
        heaviest cycle, for the longest one unless a search is expected to be faster, and where an order is given or the
        search by shortest paths takes more than 10 s; if it does not fit into the memory and there is a `timeout`, a
        search goes on.
        Several cycles with weights are found by searches only.
    order : iterable of vertex names, optional
        All vertices, in the order to take; by default one with a small boundary is sought.
    timeout : float, optional
        Give up after so many seconds. Start-up does not count.
    progress : bool or callable, optional
        As for `count_cycles`.

    Returns
    -------
    BestCycle

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed, or edges that are parallel have weights.
    SizeError
        If the boundaries are too large for the memory.
    TimeIsUpError
        If the time is up before the cycle is found. Its `best` is the best cycle found until then, a `BestCycle`, or
        None.

    Examples
    --------
    >>> from chordless import Graph, longest_cycle
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> longest_cycle(house).cycle
    ['a', 'b', 'c', 'd']
    """
    if isinstance(weight, str):
        weight = attribute_weights(graph, weight, simplify=simplify)
    require_flags(shortest=shortest)
    require_arch(arch)
    watch = Watch(timeout, progress)
    graph = as_graph(graph, simplify=simplify)
    shortest_wanted = min_length if min_length is not None else SHORTEST_HOLE if shortest else 3
    if shortest and min_length is None and max_length in range(1, SHORTEST_HOLE):
        raise OptionError(
            f"max_length {max_length} is below {SHORTEST_HOLE}, the least that is sought without min_length"
        )
    space = space_for(graph, shortest_wanted, max_length, through, avoid, avoid_edges, memory, parity)
    weights = None if weight is None else Weights.of_mapping(graph, weight)
    vertices = order_called(graph, order)
    with watch:
        return best_in(
            space,
            weights,
            k=k,
            shortest=shortest,
            arch=arch,
            method=method,
            order=vertices,
            watch=watch,
            report=watch.report,
        )


def best_in(
    space: SearchSpace,
    weights: Weights | None = None,
    *,
    k: int = 1,
    shortest: bool = False,
    arch: str = "auto",
    threads: int | None = None,
    method: Method = "auto",
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    watch: Watch | None = None,
    report: Report | None = None,
    keeping: Keeping | None = None,
) -> BestCycle:
    """Find the longest, shortest, heaviest or lightest cycle of a search space; see `longest_cycle`.

    For the other parameters see `kernels_ti.boundary.in_one_call.ready_to_pick`. Where an order is given or to be told,
    ``auto`` goes along a boundary. Only that way has states for `keeping`. The time-out of `watch` gives the search up.
    """
    for_search = may_search(method, order, tell_order)
    watch = watch or Watch()
    if not is_whole(k) or k < 1:
        raise OptionError(f"k is a whole number from 1 on, not {k!r}")
    k = int(k)  # small integers of numpy overflow
    gains = Gains() if weights is None else weights.gains
    is_negative = min([*(gains.of_vertices or {}).values(), *(gains.of_edges or {}).values()], default=0) < 0
    by_paths = shortest and not is_negative
    if k > 1 and weights is not None and not for_search:
        raise OptionError(
            f"{worded('k', '-k')} above 1 with weights needs a search: leave {parameter('method', 'boundary')} and an "
            "order out"
        )
    how: dict[str, Any] = {"arch": arch, "threads": threads, "watch": watch}
    along: dict[str, Any] = {"order": order, "tell_order": tell_order, "report": report, "keeping": keeping, **how}
    so_far, answer = None, "all cycles were compared"
    try:
        if for_search and by_paths:
            # Several cycles with weights, and sums beyond 64 bits, are found in no other way.
            only_way = method == "search" or (k > 1 and weights is not None) or not gains.fit()
            most = None if only_way else _SECONDS_OF_SEARCH
            so_far = _by_shortest_paths(space, weights, k, watch, most)
            if so_far.complete:
                return so_far
            if watch.too_late():
                raise time_is_up(watch.timeout, answer)
        elif for_search and (
            method == "search"
            or (
                k > 1
                if weights is not None
                else not shortest and seconds_of_faster_search(space, arch, watch, share=_SHARE_OF_PATHS) < math.inf
            )
        ):
            if k > 1 or weights is not None:
                return best_of_all(space, k, weights, least=shortest, **how)
            return longest_by_search(space, **how)
        try:
            if k > 1:
                # Each range of lengths has orders of its own.
                return few_along_boundary(space, k, shortest=shortest, **{**along, "keeping": None})
            return longest_in(space, weights, shortest=shortest, **along)
        except SizeError:
            # A search needs little memory, and has a best cycle when the time is up.
            if not for_search or math.isinf(watch.timeout) or (weights is not None and not by_paths):
                raise
        return best_in(space, weights, k=k, shortest=shortest, method="search", **how)
    except TimeIsUpError as error:
        best = _better(so_far, error.best, least=shortest)
        if weights is None and not shortest and (best is None or best.method == "boundary"):
            best = _better(best, _long_cycle(space, watch), least=False)
        best = best or _any_cycle(space, weights, watch)
        if best is not None and weights is None and not shortest:
            best = replace(best, no_longer_than=longest_possible(space))
        raise time_is_up(watch.timeout, answer, best) from None


def longest_possible(space: SearchSpace) -> int:
    """Return a number of vertices that no chordless cycle of a search space exceeds.

    Of a cycle of l vertices in a block, the vertices of the cycle have two neighbours each on it; their other edges
    end at the other vertices of the block. So the sum of the l smallest degrees, less 2 each, is at most the sum of
    the other degrees.
    """
    most = 2
    for blocks in space.blocks:
        most = max(most, int(blocks.ring_lengths.max(initial=0)))
        for block, _ in blocks.other_blocks():
            degrees = np.sort(block.degrees)
            inside = np.concatenate(([0], np.cumsum(degrees - 2)))
            outside = degrees.sum() - np.concatenate(([0], np.cumsum(degrees)))
            most = max(most, int(np.flatnonzero(inside <= outside)[-1]))
    return min(most, space.longest)


def _long_cycle(space: SearchSpace, watch: Watch) -> BestCycle | None:
    """Return the longest cycle that a search depth first meets soon, if it meets one."""
    latest = time.thread_time() + _SECONDS_FOR_ANY
    cycle, ways = long_cycle(space, lambda: time.thread_time() > latest)
    kept = [(len(cycle), cycle)] if cycle else []
    return BestCycle.of(space.graph, kept, ways, watch.seconds, None, complete=False) if kept else None


def _any_cycle(space: SearchSpace, weights: Weights | None, watch: Watch) -> BestCycle | None:
    """Return a cycle that the search by shortest paths meets soon, if it meets one."""
    latest = time.thread_time() + _SECONDS_FOR_ANY
    try:
        found = cheapest_cycle(space, enough=lambda: time.thread_time() > latest)
    except OptionError:  # there is no room for it
        return None
    if not found.kept:
        return None
    gains = Gains() if weights is None else weights.gains
    kept = [(gains.of_cycle(cycle), cycle) for _, cycle in found.kept]
    ways = found.ways if weights is None else 1
    return BestCycle.of(space.graph, kept, ways, watch.seconds, weights, complete=False)


def _by_shortest_paths(
    space: SearchSpace, weights: Weights | None, k: int, watch: Watch, most: float | None
) -> BestCycle:
    """Search until the end, the time-out, or `most` seconds."""
    began = time.perf_counter()
    latest = math.inf if most is None else began + most
    with watch.searching():
        watch.tell("searching")
        cost = None if weights is None else weights.gains.onto
        found = cheapest_cycle(space, cost, lambda: watch.look() or time.perf_counter() > latest, k)
        watch.tell("searching", float(found.complete), is_last=found.complete)
    seconds = time.perf_counter() - began
    return BestCycle.of(space.graph, found.kept, found.ways, seconds, weights, complete=found.complete)


def _better(one: BestCycle | None, other: BestCycle | None, *, least: bool) -> BestCycle | None:
    """Return the better one of two cycles that were found before the time was up."""
    found = [replace(each, complete=False) for each in (one, other) if each is not None and each.cycle]
    if not found:
        return None
    return (min if least else max)(found, key=lambda best: best.length if best.weight is None else best.weight)
