"""The longest, shortest, heaviest or lightest chordless cycle of a graph in one call, and the choice of the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from typing import Any, cast

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.forward_and_back.blocks import Report, space_for
from kernels_ti.boundary.forward_and_back.gains import Gains
from kernels_ti.boundary.forward_and_back.keeping import Keeping
from kernels_ti.boundary.forward_and_back.weights import Weights, attribute_weights
from kernels_ti.boundary.in_one_call import order_called
from kernels_ti.boundary.longest import BestCycle, longest_in
from kernels_ti.boundary.needs import needs_of
from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.cheapest import Cheapest, cheapest_cycle
from kernels_ti.choices import METHODS, Arch, Method
from kernels_ti.conversion import as_graph
from kernels_ti.device.device import Device, held_device, is_open
from kernels_ti.device.memory import host_budget
from kernels_ti.device.own_process import apart_if_needed
from kernels_ti.errors import OptionError, TimeIsUpError, vertices_text
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.method import COST_OF_LENGTHS, SHORT_SEARCH, SearchTime
from kernels_ti.run import Run
from kernels_ti.watch import ProgressOption, Watch

SHORTEST_HOLE = 4

_WAYS = 2
"""The longest cycle takes the way along the boundary and the way back."""

_SECONDS_OF_SEARCH = 10.0
"""The search by shortest paths goes on so long before the boundary method is tried."""


@apart_if_needed
def longest_cycle(
    graph: Any,
    *,
    shortest: bool = False,
    weight: str | Mapping[Any, Any] | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
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
    shortest : bool
        The shortest cycle, or the lightest.
    weight : str or mapping, optional
        Find the heaviest cycle instead of the longest, or with `shortest` the lightest. A mapping has a number for the
        name of each vertex, or for the pair of names of each edge. A string names an attribute of the edges or of the
        nodes of a networkx graph. Sums are exact; a float stands for the decimal that is printed for it.
    min_length, max_length : int, optional
        Bounds on the number of vertices. The lower one is 3, with `shortest` 4: a triangle is no hole.
    through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    memory : int, optional
        Bytes that the process may use; by default a share of the free memory.
    arch : str
        ``auto``, ``cpu``, ``cuda`` or ``reference``, as for `count_cycles` along a boundary.
    method : {"auto", "search", "boundary"}
        ``search`` finds the shortest or lightest cycle by shortest paths, where no weight is negative, and the longest
        one by a search of all cycles. ``boundary`` goes along a boundary. ``auto`` does so for the heaviest cycle, for
        the longest one unless a search is expected to be faster, and where an order is given or the search by shortest
        paths takes more than 10 s.
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
    >>> from kernels_ti import Graph, longest_cycle
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> longest_cycle(house).cycle
    ['a', 'b', 'c', 'd']
    """
    if isinstance(weight, str):
        weight = attribute_weights(graph, weight, simplify=simplify)
    watch = Watch(timeout, progress)
    watch.tell("reading")
    graph = as_graph(graph, simplify=simplify)
    shortest_wanted = min_length if min_length is not None else SHORTEST_HOLE if shortest else 3
    space = space_for(graph, shortest_wanted, max_length, through, avoid, avoid_edges, memory)
    weights = None if weight is None else Weights.of_mapping(graph, weight)
    vertices = order_called(graph, order)
    with watch:
        return best_in(
            space,
            weights,
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

    For the other parameters see `kernels_ti.boundary.in_one_call.ready_to_pick` and `annealed_blocks`. Where an
    order or a state is to be kept, ``auto`` goes along a boundary. The time-out of `watch` gives the search up.
    """
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}: choose {' or '.join(METHODS)}")
    watch = watch or Watch()
    for_boundary = order is not None or tell_order is not None or (keeping is not None and keeping.keeps)
    if method == "search" and for_boundary:
        raise OptionError("an order of the vertices and a checkpoint are for the method boundary")
    gains = Gains() if weights is None else weights.gains
    is_negative = min([*(gains.of_vertices or {}).values(), *(gains.of_edges or {}).values()], default=0) < 0
    if method == "search" and weights is not None and (not shortest or is_negative):
        raise OptionError("the method search takes weights for a lightest cycle, and none of them may be negative")
    so_far = None
    if not shortest and (
        method == "search"
        or (method == "auto" and weights is None and not for_boundary and _is_for_search(space, arch, watch))
    ):
        return _longest_by_search(space, arch, watch, threads)
    if method == "search" or (method == "auto" and shortest and not is_negative and not for_boundary):
        began = time.perf_counter()
        found = _by_shortest_paths(space, weights, watch, None if method == "search" else _SECONDS_OF_SEARCH)
        so_far = BestCycle(
            cycle=[space.graph.names[v] for v in found.cycle],
            weight=weights.weight(found.value) if weights is not None and found.value is not None else None,
            ways=found.ways,
            width=0,
            states=0,
            seconds=time.perf_counter() - began,
            method="search",
            complete=found.complete,
        )
        if found.complete:
            return so_far
        if watch.too_late():
            error = TimeIsUpError(f"the {watch.timeout:g} s allowed were up before the best cycle was found")
            error.best = so_far if so_far.cycle else None
            raise error
    try:
        return longest_in(
            space, weights, shortest=shortest, watch=watch,
            arch=arch, threads=threads, order=order, tell_order=tell_order, report=report, keeping=keeping,
        )  # fmt: skip
    except TimeIsUpError as error:
        error.best = _better(so_far, error.best, least=shortest)
        raise


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


def _is_for_search(space: SearchSpace, arch: str, watch: Watch) -> bool:
    """Whether a search of all cycles is expected to be faster than the boundary method, and that one takes long."""
    with watch.searching():
        plan = plan_of(space, seconds=SECONDS_FOR_PREFIXES, enough=watch.look)
        seconds = math.inf
        if plan.is_possible:
            needs = needs_of(plan, "reference", host_budget(space.options.memory), longest=space.longest)
            seconds = _WAYS * max(COST_OF_LENGTHS, needs.totals) * plan.seconds if needs.fits else math.inf
        if seconds <= SHORT_SEARCH or watch.too_late() or arch == "reference":
            return False
        search = SearchTime(space, None)
        search.probe(lambda shortest, longest: shortest < seconds <= longest)
        return search.seconds < seconds


def _longest_by_search(space: SearchSpace, arch: str, watch: Watch, threads: int | None) -> BestCycle:
    """Count all cycles by length, and then search again for one of the longest.

    The second search meets the cycles in much the same order, so the first one has half of the time. Then a cycle of
    the greatest length that was found is there in about the same time again.
    """
    device_arch = arch_for(space, cast("Arch", arch), threads=threads)
    with ExitStack() as stack:
        if not is_open(device_arch):
            watch.tell("compiling")
        device = stack.enter_context(held_device(device_arch, threads=threads))
        counted = Run(space, device)
        _advance(counted, watch, lambda: watch.seconds >= watch.timeout / 2)
        by_length = counted.snapshot().cycles_by_length
        cycle: list[int] = []
        length = max(by_length, default=0)
        if length:
            only = replace(space.options, min_length=length, collect=True)
            found: list[list[int]] = []
            again = Run(SearchSpace(space.graph, only), device)

            def is_found() -> bool:
                cycles = again.take_cycles()
                found.extend(cycles.vertices[: cycles.offsets[1]].tolist() for _ in range(min(len(cycles), 1)))
                return bool(found) or watch.too_late()

            _advance(again, watch, is_found)
            is_found()
            cycle = found[0] if found else _some_cycle(space, device)
    best = BestCycle(
        cycle=[space.graph.names[v] for v in cycle],
        weight=None,
        ways=by_length.get(len(cycle), 0),
        width=0,
        states=0,
        seconds=watch.seconds,
        method="search",
        complete=counted.finished,
    )
    if not counted.finished:
        so_far = f"; a cycle of {vertices_text(length)} was met" if length else ""
        error = TimeIsUpError(f"the {watch.timeout:g} s allowed were up before the longest cycle was found{so_far}")
        error.best = best if cycle else None
        raise error
    return best


def _some_cycle(space: SearchSpace, device: Device) -> list[int]:
    """Return the longest of the cycles that a search meets first; it must meet one."""
    run = Run(SearchSpace(space.graph, replace(space.options, collect=True)), device)
    while True:
        cycles = run.take_cycles()
        if len(cycles):
            at = int(cycles.lengths.argmax())
            vertices: list[int] = cycles.vertices[cycles.offsets[at] : cycles.offsets[at + 1]].tolist()
            return vertices
        run.advance()


def _advance(run: Run, watch: Watch, enough: Callable[[], bool]) -> None:
    """Search until the end, or until it is enough; the start and compilations do not count."""
    last = run.snapshot()
    while not run.finished and not enough():
        watch.tell("compiling" if last.compiling else "searching", last.share, last.cycles)
        with nullcontext() if last.compiling else watch.searching():
            last = run.advance()


def _by_shortest_paths(space: SearchSpace, weights: Weights | None, watch: Watch, most: float | None) -> Cheapest:
    """Search until the end, the time-out, or `most` seconds."""
    latest = math.inf if most is None else time.perf_counter() + most
    with watch.searching():
        watch.tell("searching")
        cost = None if weights is None else weights.gains.onto
        found = cheapest_cycle(space, cost, lambda: watch.look() or time.perf_counter() > latest)
        watch.tell("searching", float(found.complete), is_last=found.complete)
    return found


def _better(one: BestCycle | None, other: BestCycle | None, *, least: bool) -> BestCycle | None:
    """Return the better one of two cycles that were found before the time was up."""
    found = [replace(each, complete=False) for each in (one, other) if each is not None and each.cycle]
    if not found:
        return None
    return (min if least else max)(found, key=lambda best: best.length if best.weight is None else best.weight)
