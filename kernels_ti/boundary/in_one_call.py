"""What goes along a boundary in one call: a count as `kernels_ti.count_cycles` makes it, and plans within a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from kernels_ti.blocks.restriction import vertices_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount, arch_of_count, arch_of_longest
from kernels_ti.boundary.forward_and_back.blocks import PlannedBlocks, Report, planned_blocks
from kernels_ti.boundary.forward_and_back.keeping import Keeping
from kernels_ti.boundary.orders.annealing import SECONDS_FOR_PREFIXES, annealed_plan
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.device.device import held_device
from kernels_ti.device.memory import host_budget, search_budget
from kernels_ti.errors import EngineError, OptionError, TimeIsUpError
from kernels_ti.graph import Graph
from kernels_ti.options import CycleCounts

_SLICE_SECONDS = 0.1


def count_along_boundary(
    space: SearchSpace, arch: str, order: Iterable[Hashable] | None, timeout: float | None
) -> CycleCounts:
    """Count the cycles of a graph by length.

    Parameters
    ----------
    space : SearchSpace
        The graph, with the bounds, the restriction and the memory of the count.
    arch : str
        See `kernels_ti.boundary.count.arch_of_count`.
    order : iterable of vertex names, or None
        The order in which the vertices are taken; by default one is sought.
    timeout : float or None
        Seconds after which the count ends.

    Raises
    ------
    OptionError
        If the order does not have each vertex once, or the kernels do not run on the arch.
    SizeError
        If a boundary or the states are too large.
    """
    began = time.perf_counter()
    deadline = began + (math.inf if timeout is None else timeout)

    def too_late() -> bool:
        return time.perf_counter() >= deadline

    options, vertices = space.options, order_called(space.graph, order)
    plan = plan_of(space, order=vertices, arch=arch, seconds=SECONDS_FOR_PREFIXES, enough=too_late)
    arch = arch_of_count(plan, arch, by_length=True)
    if vertices is None:
        plan = annealed_plan(plan, arch, enough=too_late)
    try:
        count = BoundaryCount(space, memory=host_budget(options.memory), plan=plan)
    except EngineError:
        if not too_late():
            raise
        # The time-out came before the order of the vertices was known.
        return CycleCounts({}, {}, time.perf_counter() - began, options.min_length, complete=False)
    with held_device(arch) as device:
        if device.arch != "reference":
            count.use(device, search_budget(device, options.memory))
        while not count.finished and not too_late():
            count.advance(_SLICE_SECONDS, too_late)
    seconds = time.perf_counter() - began
    return CycleCounts(count.cycles_by_length, {}, seconds, options.min_length, complete=count.finished)


def order_called(graph: Graph, order: Iterable[Hashable] | None) -> list[int] | None:
    """Return the vertices of an order that is given by their names; None without one.

    Raises
    ------
    OptionError
        If it does not have each vertex once.
    """
    if order is None:
        return None
    vertices = list(vertices_called(graph, order))
    if sorted(vertices) != list(range(graph.n)):
        raise OptionError(
            f"order names each of the {graph.n:,} vertices once, but it has {len(set(vertices)):,} of them"
        )
    return vertices


@contextmanager
def in_time(timeout: float | None, answer: str, keeping: Keeping | None = None) -> Iterator[Callable[[], bool]]:
    """Yield what says that the time is up, or that the work was stopped.

    Parameters
    ----------
    timeout : float or None
        Seconds from now on.
    answer : str
        What was to happen before, for the message.
    keeping : Keeping, optional
        Says that the work was stopped.

    Raises
    ------
    GivenUp
        If it was stopped.
    OptionError
        If the seconds are not a positive number.
    TimeIsUpError
        If the work inside has been given up.
    """
    if timeout is not None and not timeout > 0:
        raise OptionError(f"timeout is a positive number of seconds, not {timeout!r}")
    end = time.perf_counter() + (math.inf if timeout is None else timeout)
    stopped = (keeping or Keeping()).stopped
    try:
        yield lambda: stopped() or time.perf_counter() >= end
    except GivenUp:
        if stopped():
            raise
        raise TimeIsUpError(f"the {timeout:g} s allowed were up before {answer}") from None


def annealed_blocks(
    space: SearchSpace,
    arch: str,
    too_late: Callable[[], bool],
    *,
    threads: int | None = None,
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    report: Report | None = None,
    keeping: Keeping | None = None,
) -> tuple[PlannedBlocks, str]:
    """Plan a search space with the orders that a count would take; return the plan, and the arch for its states.

    Parameters
    ----------
    space : SearchSpace
    arch : str
        See `kernels_ti.boundary.count.arch_of_longest`.
    too_late : callable
        Asked again and again.
    threads : int, optional
        Workers of the CPU, where somebody asks for a number of them.
    order : sequence of int, optional
        All vertices, in the order to take; by default one is sought.
    tell_order : callable, optional
        Told all vertices in the order that is taken.
    report : callable, optional
        Told of no states now and then, while an order is sought, with the width of the best order so far.
    keeping : Keeping, optional
        Has the orders of work that goes on, and says whether it needs kernels.

    Raises
    ------
    GivenUp
        Once it was too late.
    OptionError, SizeError
        See `kernels_ti.boundary.forward_and_back.blocks.planned_blocks`.
    """
    width = 0

    def tell_width(found: int) -> None:
        nonlocal width
        width = found

    def enough() -> bool:
        if report is not None:
            report(0.0, 0, width)
        return too_late()

    orders = None if keeping is None else keeping.orders
    seconds = SECONDS_FOR_PREFIXES
    plan = plan_of(space, order=order, orders=orders, arch=arch, seconds=seconds, enough=enough, tell_width=tell_width)
    found = arch_of_longest(plan, arch, threads=threads)
    # The layers of kernels go on in kernels, also where a new search would be made in Python.
    arch = "cpu" if keeping is not None and keeping.in_kernels and found == "reference" else found
    if order is None and orders is None:
        plan = annealed_plan(plan, arch, threads=threads, enough=enough, tell_width=tell_width)
    if too_late():
        raise GivenUp
    planned = planned_blocks(space, plan)
    if tell_order is not None:
        tell_order(plan.order_of_graph(space.graph.n))
    return planned, arch
