"""The longest, shortest, heaviest or lightest chordless cycle, and how many cycles are equal to it in this.

See `kernels_ti.boundary.way_back.layers` for the values of ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.values.saved import SavedForward, SavedResult
from kernels_ti.boundary.values.states import GivenUp
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back.blocks import PlannedBlock, PlannedBlocks
from kernels_ti.boundary.way_back.device_optimum import DeviceOptimum
from kernels_ti.boundary.way_back.history import History
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.layers import NOTHING, Rule
from kernels_ti.errors import EngineError


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
    value, origin, end, target = rule.best, optimum.origin, min(rule.closed) + 1, None
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
