"""The longest, shortest, heaviest or lightest chordless cycle of a search space, and how many cycles are equal to it.

See `kernels_ti.boundary.way_back.layers` for the values of ways.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.in_one_call import count_along_boundary, ready_to_pick
from kernels_ti.boundary.sample import check_lists_fit, draws_of
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.values.saved import SavedForward, SavedResult
from kernels_ti.boundary.values.weights import Gains, Weights
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock, PlannedBlocks, Report
from kernels_ti.boundary.way_back.device_ways import DeviceOptimum
from kernels_ti.boundary.way_back.history import History
from kernels_ti.boundary.way_back.layers import NOTHING, Rule
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import EngineError, TimeIsUpError, time_is_up
from kernels_ti.graph import Graph
from kernels_ti.notebook import html_of_best
from kernels_ti.watch import Watch


@dataclass(frozen=True)
class Optimum:
    """The best cycle."""

    cycle: list[int]  # In cycle order; empty if there is no cycle
    value: int  # The sum of what its vertices and edges add
    ways: int  # Cycles with this value
    states: int  # Of the largest boundary


class GivenUpWithBestError(GivenUp):
    """The search was given up when some cycles had been found; `best` is the best of them."""

    def __init__(self, best: Optimum) -> None:
        super().__init__()
        self.best = best


def best_cycle(planned: PlannedBlocks, gains: Gains, means: Means | None = None, *, least: bool = False) -> Optimum:
    """Find the cycle with the largest, or the least, value; of several such cycles, always the same one.

    `GivenUpWithBestError` is raised if the search was given up after a cycle had been found.
    """
    means = means or Means()
    keeping = means.keeping
    sign = -1 if least else 1
    best, ways, cycle, states = NOTHING, 0, [], 0
    for ring in planned.rings:
        value = sign * gains.of_cycle(ring)
        if value > best:
            best, ways, cycle = value, 0, ring
        ways += value == best
    keeping.begin(planned.plan)
    for number, block in enumerate(planned.blocks):
        if number == len(keeping.done):
            rule = Rule(block, gains, sign)
            # A block that goes on stays where it was begun.
            in_kernels = is_for_kernels(block.graph, block.order) if keeping.in_kernels is None else keeping.in_kernels
            try:
                found_in = _found_on_device if means.device is not None and in_kernels else _found_in_python
                result, cycle_in, is_through = found_in(block, rule, means, keeping.take_forward())
            except GivenUp:
                if cycle:
                    raise GivenUpWithBestError(Optimum(cycle, sign * best, ways, states)) from None
                raise
            if result.value is not None and result.value > best:
                found = block.cycle(cycle_in())
                if sign * gains.of_cycle(found) != result.value:
                    raise EngineError("internal error: the way back to the best cycle has another value")
                result = replace(result, cycle=tuple(found))
            if is_through:
                keeping.end_block(result)
        else:
            result, is_through = keeping.done[number], True
        states = max(states, result.states)
        if result.value is not None and result.value > best:
            best, ways, cycle = result.value, 0, list(result.cycle)
        if result.value == best:
            ways += result.ways
        if not is_through:
            raise GivenUpWithBestError(Optimum(cycle, sign * best, ways, states))
    return Optimum(cycle, sign * best if cycle else 0, ways, states)


_Found = tuple[SavedResult, Callable[[], set[int]], bool]
"""The result of a block; how to get its cycle; and whether the block was not given up. If it was, the result is about
the cycles that had been found."""


def _found_in_python(block: PlannedBlock, rule: Rule, means: Means, saved: SavedForward | None) -> _Found:
    is_through = True
    try:
        history = History(block, means, saved, rule=rule)
    except GivenUp:
        # A way back along layers that were not kept takes as long as the way forward.
        if rule.best is None or (forward := means.keeping.latest()).between > 1:
            raise
        rule, is_through = rule.again(), False
        history = History(block, Means(means.memory), forward, rule=rule, steps=range(forward.place))
    return SavedResult(rule.best, rule.ways, history.most_states), history.first, is_through


def _found_on_device(block: PlannedBlock, rule: Rule, means: Means, saved: SavedForward | None) -> _Found:
    optimum = DeviceOptimum(block, rule, means, saved)
    again = means.again(None if means.memory is None else means.memory // 2)
    return SavedResult(rule.best, rule.ways, optimum.most_states), lambda: _cycle_of(optimum, block, rule, again), True


def _cycle_of(optimum: DeviceOptimum, block: PlannedBlock, rule: Rule, means: Means) -> set[int]:
    """Go back from one kept layer to the one before: from a single state, each piece of the way is found in Python."""
    assert rule.best is not None
    cycle: set[int] = set()
    value, origin, end, target = rule.best, rule.origin, min(rule.closed) + 1, None
    for layer in reversed([layer for layer in optimum.layers if layer.place < end]):
        # States may share what is noted of their origin, if they take several words: try each of them.
        for alike in optimum.states_at(layer, origin):
            words, value_before, origin_before = alike
            piece = rule.again()
            history = History(block, means, rule=piece, words=words, steps=range(layer.place, end))
            state, reached = history.reaches(target) if target is not None else (None, piece.best)
            if reached == value - value_before:
                break
        else:
            raise EngineError("internal error: a kept layer has no way to the best cycle")
        cycle |= history.first(state)
        value, origin, end, target = value_before, origin_before, layer.place, words
    return cycle


@dataclass(frozen=True)
class BestCycle:
    """The longest, shortest, heaviest or lightest chordless cycle of a graph.

    Attributes
    ----------
    cycle : list of hashable
        The names of its vertices in cycle order; empty if no cycle is within the bounds.
    weight : int, Fraction or None
        Exact; None where only the length counts, or without a cycle.
    ways : int
        Cycles that have this length, or this weight; where it is not `complete`, those that were found.
    width : int
        Vertices in the largest boundary; 0 without one.
    states : int
        States of the largest boundary; 0 without one.
    seconds : float
        With the search for an order of the vertices.
    method : {"boundary", "search"}
        How it was found.
    complete : bool
        False if the time was up: this is the best of the cycles that were found.
    no_longer_than : int or None
        If it is not `complete`: no chordless cycle has more vertices. None where the shortest, heaviest or lightest one
        was sought.
    cycles : list of list
        The k best ones, the best first; fewer if there are fewer.
    weights : list of int or Fraction
        Of each of them; empty where only the length counts.
    """

    cycle: list[Hashable]
    weight: int | Fraction | None
    ways: int
    width: int
    states: int
    seconds: float
    method: str = "boundary"
    complete: bool = True
    cycles: list[list[Hashable]] = field(default_factory=list)
    weights: list[int | Fraction] = field(default_factory=list)
    no_longer_than: int | None = None

    def __post_init__(self) -> None:
        if self.cycle and not self.cycles:
            self.cycles.append(self.cycle)
            self.weights.extend([] if self.weight is None else [self.weight])

    @classmethod
    def of(
        cls, graph: Graph, best: Sequence[tuple[int, list[int]]], ways: int, seconds: float, weights: Weights | None,
        *, complete: bool = True,
    ) -> BestCycle:  # fmt: skip
        """Return the best cycles that a search found, each with its value; there may be none."""
        cycles = [[graph.names[v] for v in cycle] for _, cycle in best]
        found = [] if weights is None else [weights.weight(value) for value, _ in best]
        one, weight = (cycles or [[]])[0], found[0] if found else None
        return cls(one, weight, ways, 0, 0, seconds, "search", complete, cycles, found)

    @property
    def length(self) -> int:
        """Vertices of the cycle, 0 without one."""
        return len(self.cycle)

    def _repr_html_(self) -> str:
        best = self.cycles, self.weights, self.ways
        return html_of_best(*best, "chordless cycle", complete=self.complete, most=self.no_longer_than)


def longest_in(
    space: SearchSpace,
    weights: Weights | None = None,
    *,
    shortest: bool = False,
    watch: Watch | None = None,
    **how: Any,
) -> BestCycle:
    """Find the longest, shortest, heaviest or lightest cycle, until the time-out; for `how` see `ready_to_pick`."""
    began = time.perf_counter()
    watch, answer = watch or Watch(), "all cycles were compared"
    gains = Gains() if weights is None else weights.gains
    gains.require_fit()
    so_far = None

    def named(best: Optimum) -> BestCycle:
        return BestCycle(
            cycle=[space.graph.names[v] for v in best.cycle],
            weight=weights.weight(best.value) if weights is not None and best.cycle else None,
            ways=best.ways,
            width=planned.plan.width,
            states=best.states,
            seconds=time.perf_counter() - began,
        )

    try:
        with ready_to_pick(space, watch, answer, **how) as (planned, means):
            try:
                best = best_cycle(planned, gains, means, least=shortest)
            except GivenUpWithBestError as given_up:
                so_far = named(given_up.best)
                raise
    except TimeIsUpError:
        raise time_is_up(watch.timeout, answer, so_far) from None
    return named(best)


def few_along_boundary(
    space: SearchSpace, k: int, *, shortest: bool, watch: Watch, arch: str, report: Report | None = None, **how: Any
) -> BestCycle:
    """Find the k longest, or shortest, cycles: count by length, and read off the first ones of those lengths."""
    order = how.get("order")
    names = None if order is None else [space.graph.names[v] for v in order]
    # The count and two draws at most are three ways forward.
    with watch.part(0.0, 1 / 3):
        counts = count_along_boundary(space, arch if space.graph.is_simple else "auto", names, watch)
    if not counts.complete:
        raise time_is_up(watch.timeout, "the best cycles were found")
    longest = max(counts.by_length, default=0)
    check_lists_fit(min(k, counts.total), longest, host_budget(space.options.memory))
    cycles: list[list[Hashable]] = []
    most_states = width = 0

    def told(share: float, states: int, boundary: int) -> None:
        nonlocal most_states
        most_states = max(most_states, states)
        if report is not None:
            report(share, states, boundary)

    portions = list(_portions(counts.by_length, k, shortest=shortest))
    for way, (first, last, number) in enumerate(portions, 1):
        only = SearchSpace(space.graph, replace(space.options, min_length=first, max_length=last))
        end = 1.0 if way == len(portions) else 2 / 3
        with (
            watch.part(way / 3, end),
            draws_of(only, number, report=told, watch=watch, arch=arch, **how) as draws,
        ):
            width = draws.width
            found = [cycle for piece in draws.first() for cycle in piece.named(space.graph.names)]
        cycles += sorted(found, key=len, reverse=not shortest)
    ways = counts.by_length[len(cycles[0])] if cycles else 0
    return BestCycle((cycles or [[]])[0], None, ways, width, most_states, watch.seconds, cycles=cycles)


def _portions(by_length: Mapping[int, int], k: int, *, shortest: bool) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of lengths, and how many cycles of each: all lengths that are wanted whole, and then one in part."""
    lengths = sorted((length for length, count in by_length.items() if count), reverse=not shortest)
    whole, left = [], k
    while lengths and by_length[lengths[0]] <= left:
        whole.append(lengths.pop(0))
        left -= by_length[whole[-1]]
    if whole:
        yield min(whole), max(whole), k - left
    if lengths and left:
        yield lengths[0], lengths[0], left
