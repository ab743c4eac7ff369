"""A count along a boundary in one call, as `kernels_ti.count_cycles` makes it, and plans within a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Literal

from kernels_ti.blocks.restriction import order_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import BoundaryCount, arch_of_count, arch_of_longest
from kernels_ti.boundary.needs import needs_of
from kernels_ti.boundary.orders.annealing import GROWTH, SECONDS_FOR_PREFIXES, annealed_plan
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.way_back.blocks import Keeping, Means, PlannedBlocks, Report, planned_blocks
from kernels_ti.device.device import Device, cuda_is_here, held_device, is_open, no_driver
from kernels_ti.device.memory import host_budget, search_budget
from kernels_ti.errors import EngineError, SizeError, bytes_text, parameter, time_is_up, vertices_text
from kernels_ti.options import CycleCounts
from kernels_ti.watch import Watch

_SLICE_SECONDS = 0.1

# How many times fewer states than expected a count may meet: with a better order, which annealing has found for road
# networks, and with the same order.
_GAINED_BY_ANNEALING, _GAINED_BY_LUCK = 1e4, 4.0


def set_up(
    space: SearchSpace,
    arch: str,
    wanted: Literal["total", "lengths", "cycles"],
    *,
    order: Sequence[int] | None = None,
    orders: Sequence[Sequence[int]] | None = None,
    plan: BoundaryPlan | None = None,
    threads: int | None = None,
    enough: Callable[[], bool] = lambda: False,
    tell_width: Callable[[int], None] = lambda _: None,
    before_annealing: Callable[[BoundaryPlan, str], None] = lambda plan, arch: None,
) -> tuple[BoundaryPlan, str]:
    """Seek the orders for a count of all cycles, or by length, or for cycles; return the plan and the arch for states.

    An order of all vertices, or the orders of blocks, save the search; `plan` has first orders, if they have been
    sought. For the others see `plan_of` and `annealed_plan`. `before_annealing` may refuse what was found first. With
    the arch ``reference`` no order is annealed, which takes the kernels of the CPU. An OptionError refuses a memory
    that is too small for any count, a DeviceError the arch ``cuda`` where it is not, also if no block is large enough
    for it.
    """
    if arch == "cuda" and not cuda_is_here():
        raise no_driver(arch)
    host_budget(space.options.memory)
    is_in_python = arch == "reference"  # asked for; where it is chosen, kernels for annealing may be worth their start
    if plan is None:
        plan = plan_of(
            space, order=order, orders=orders, arch=arch, seconds=SECONDS_FOR_PREFIXES,
            enough=enough, tell_width=tell_width,
        )  # fmt: skip
    if wanted == "cycles":
        arch = arch_of_longest(plan, arch, threads=threads)
    else:
        arch = arch_of_count(plan, arch, by_length=wanted == "lengths")
    if order is None and orders is None and not is_in_python:
        before_annealing(plan, arch)
        plan = annealed_plan(plan, arch, threads=threads, enough=enough, tell_width=tell_width)
    return plan, arch


def count_along_boundary(
    space: SearchSpace,
    arch: str,
    order: Iterable[Hashable] | None,
    watch: Watch,
    plan: BoundaryPlan | None = None,
    threads: int | None = None,
) -> CycleCounts:
    """Count the cycles of a search space by length, in its memory, until the time-out of the watch.

    The order has the names of the vertices; `plan` has first orders, if they have been sought. An OptionError refuses
    the order or the arch; a SizeError says that a boundary or the states are too large.
    """
    options, vertices = space.options, order_called(space.graph, order)
    with watch.searching():
        watch.tell("seeking an order")
        plan, arch = set_up(
            space, arch, "lengths", order=vertices, plan=plan, threads=threads, enough=watch.look,
            before_annealing=partial(_require_room, space, _GAINED_BY_ANNEALING),
        )  # fmt: skip
        _require_room(space, _GAINED_BY_LUCK, plan, arch)
        try:
            count = BoundaryCount(space, memory=host_budget(options.memory), plan=plan)
        except EngineError:
            if not watch.too_late():
                raise
            # The time-out came before the order of the vertices was known.
            return CycleCounts({}, {}, watch.seconds, options.min_length, complete=False, parity=options.parity)
        with opened(arch, watch, threads) as device:
            if device.arch != "reference":
                count.use(device, search_budget(device, options.memory))
            while not count.finished and not watch.too_late():
                watch.tell("searching", count.share, sum(count.cycles_by_length.values()))
                with watch.paused() if count.begins_in_kernels else nullcontext():
                    count.advance(_SLICE_SECONDS, watch.look)
    found = count.cycles_by_length
    watch.tell("searching", count.share, sum(found.values()), is_last=True)
    return CycleCounts(found, {}, watch.seconds, options.min_length, count.finished, options.parity)


def _require_room(space: SearchSpace, gain: float, plan: BoundaryPlan, arch: str) -> None:
    """Raise a SizeError if a count would not fit into the memory of the host even with so many times fewer states."""
    if not plan.is_possible or arch == "cuda":
        return
    memory = host_budget(space.options.memory)
    needs = needs_of(plan, arch, memory, longest=space.longest)
    if needs.fits or needs.bytes <= gain * memory:
        return
    fitting = plan.width - math.ceil(math.log(needs.bytes / memory, GROWTH))
    raise SizeError(
        f"the best boundary that was found has {vertices_text(plan.width)}: its states are expected to need about "
        f"{bytes_text(needs.bytes)}, more than the {bytes_text(memory)} allowed, which are enough for about {fitting} "
        f"vertices. {parameter('memory')} allows more, and {parameter('method', 'search')} needs little memory: a "
        "bound on the length, or vertices to pass, make a search shorter"
    )


@contextmanager
def opened(arch: str, watch: Watch, threads: int | None = None) -> Iterator[Device]:
    """Open a device, and keep it for the block; the clock does not run while it starts."""
    with ExitStack() as stack:
        with watch.paused():
            if arch != "reference" and not is_open(arch):
                watch.tell("compiling")
            device = stack.enter_context(held_device(arch, threads=threads))
        yield device


@contextmanager
def in_time(watch: Watch, answer: str) -> Iterator[Callable[[], bool]]:
    """Yield a predicate that becomes true when the time is up or the work was stopped; the clock runs inside.

    `answer` names the event that was to come first, for the message of the TimeIsUpError.
    """
    try:
        with watch.searching():
            yield watch.look
            watch.tell("searching", 1.0, is_last=True)
    except GivenUp:
        raise time_is_up(watch.timeout, answer) from None


@contextmanager
def ready_to_pick(
    space: SearchSpace,
    watch: Watch | None,
    answer: str,
    *,
    arch: str = "auto",
    threads: int | None = None,
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    report: Report | None = None,
    times: int = 1,
    keeping: Keeping | None = None,
) -> Iterator[tuple[PlannedBlocks, Means]]:
    """Plan a search space with the orders that a count would take, and open the device for its states.

    An order of all vertices, or the orders of `keeping` where the work goes on, save the search. `tell_order` takes all
    vertices in the order that is used. While orders are sought, `report` is called with no states now and then, with
    the width of the best order so far; then with each step, of which each is taken `times` times. See `in_time` too.
    """
    watch, memory, keeping, widths = watch or Watch(), space.options.memory, keeping or Keeping(), [0]
    with in_time(watch, answer) as too_late:

        def enough() -> bool:
            if report is not None:
                report(0.0, 0, widths[-1])
            return too_late()

        plan, chosen = set_up(
            space, arch, "cycles", order=order, orders=keeping.orders, threads=threads, enough=enough,
            tell_width=widths.append,
        )  # fmt: skip
        if too_late():
            raise GivenUp
        planned = planned_blocks(space, plan)
        if tell_order is not None:
            tell_order(plan.order_of_graph(space.graph.n))
        # The layers of kernels go on in kernels, also where a new search would be made in Python.
        chosen = "cpu" if keeping.in_kernels and chosen == "reference" else chosen
        with opened(chosen, watch, threads) as device:
            is_used = device.arch != "reference"
            means = Means(
                host_budget(memory),
                too_late,
                planned.reporter(report, keeping, times=times),
                device if is_used else None,
                search_budget(device, memory) if is_used else None,
                keeping,
            )
            yield planned, means
