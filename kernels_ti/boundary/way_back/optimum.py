"""The longest, shortest, heaviest or lightest chordless cycle, and how many cycles are equal to it in this.

Of all ways to a state only those count that have the largest value so far: whatever completes one of them completes the
others as well. The value is the number of vertices or the weight, negated where the least is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.values.gains import Gains
from kernels_ti.boundary.values.numbers import Numbers, sums_of
from kernels_ti.boundary.values.saved import SavedForward, SavedResult
from kernels_ti.boundary.values.states import GivenUp
from kernels_ti.boundary.way_back.blocks import PlannedBlock, PlannedBlocks
from kernels_ti.boundary.way_back.device_optimum import DeviceOptimum
from kernels_ti.boundary.way_back.keeping import Keeping, Means
from kernels_ti.boundary.way_back.layers import History, Layer, Words
from kernels_ti.errors import EngineError

Values = npt.NDArray[np.int64]

_NOTHING = np.iinfo(np.int64).min


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


@dataclass(frozen=True, eq=False)
class _Best:
    """For each state the largest value of a way to it, and how many ways have it."""

    values: Values
    ways: Numbers

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self.values.nbytes + self.ways.nbytes

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Both as arrays with names."""
        return {"values": self.values, **self.ways.arrays}


class Largest:
    """The rule that carries the largest values along, the least where `sign` is -1, and where the best cycle closes."""

    def __init__(self, block: PlannedBlock, gains: Gains, sign: int) -> None:
        self._block = block
        self._names = block.vertices
        self._packing = block.packing
        self._gains = gains
        self._sign = sign
        self.best: int | None = None
        self.ways = 0
        self.place = 0

    def again(self) -> Largest:
        """Return the same rule, before any cycle has closed."""
        return Largest(self._block, self._gains, self._sign)

    @property
    def counts_edges(self) -> bool:
        """Whether edges add to the value."""
        return self._gains.of_edges is not None

    def added_by(self, step: Step) -> list[int]:
        """Return the gain of a step's vertex when it joins, then that of each edge to a vertex before it."""
        edges = [added for _, added in self._edges_of(step)] if self.counts_edges else []
        return [self._sign * self._gains.of(self._names[step.vertex]), *edges]

    def begin(self) -> _Best:
        """Begin with one way of no value."""
        return _Best(np.zeros(1, np.int64), Numbers.ones(1))

    def follow(self, layer: Layer, values: _Best) -> _Best:
        """Keep the largest value of each state that follows, and the ways that have it."""
        sides = [layer.children(joins=joins) for joins in (False, True)]
        candidates = [values.values[parents] for parents, _ in sides]
        candidates[1] += self.gain(layer, sides[1][0])
        best = np.full(layer.after, _NOTHING)
        for (_, into), candidate in zip(sides, candidates, strict=True):
            np.maximum.at(best, into, candidate)
        parts = []
        for (parents, into), candidate in zip(sides, candidates, strict=True):
            chosen = candidate == best[into]
            parts.append((values.ways[parents[chosen]], into[chosen]))
        return _Best(best, sums_of(parts, layer.after))

    def close(self, place: int, layer: Layer, values: _Best) -> None:
        """Compare the cycles that close with the best one so far."""
        if not len(layer.closing):
            return
        closed = self.closed(layer, values)
        best = int(closed.max())
        if self.best is None or best > self.best:
            self.best, self.ways, self.place = best, 0, place
        if best == self.best:
            self.ways += values.ways[layer.closing[closed == best]].total()

    def closed(self, layer: Layer, values: _Best) -> Values:
        """Return the values of the cycles that close in `layer.closing`."""
        return values.values[layer.closing] + self.gain(layer, layer.closing)

    def gain(self, layer: Layer, states: npt.NDArray[np.int64]) -> Values:
        """Return the gain of some states when the vertex joins, with its edges."""
        step = layer.step
        gained = np.full(len(states), self._sign * self._gains.of(self._names[step.vertex]), np.int64)
        if self._gains.of_edges is not None:
            for slot, added in self._edges_of(step):
                gained += (self._packing.symbol(layer.words, slot)[states] != 0) * np.int64(added)
        return gained

    def _edges_of(self, step: Step) -> list[tuple[int, int]]:
        v = self._names[step.vertex]
        return [
            (slot, self._sign * self._gains.between(self._names[u], v))
            for slot, u in zip(step.near, step.near_vertices, strict=True)
        ]

    def values_of(self, arrays: dict[str, npt.NDArray[Any]]) -> _Best:
        """Return the values of arrays with names."""
        return _Best(arrays["values"], Numbers(arrays["ways"]))

    def found(self) -> dict[str, Any]:
        """Return the best value so far, how many cycles have it, and the step in which the first of them closes."""
        return {"best": self.best, "ways": self.ways, "place": self.place}

    def go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known."""
        self.best, self.ways, self.place = found["best"], found["ways"], found["place"]


def best_cycle(planned: PlannedBlocks, gains: Gains, means: Means | None = None, *, least: bool = False) -> Optimum:
    """Find the cycle with the largest, or the least, value; of several such cycles, always the same one.

    `GivenUpWithBestError` is raised if the search was given up after a cycle had been found.
    """
    keeping = (means and means.keeping) or Keeping()
    means = replace(means or Means(), keeping=keeping)
    sign = -1 if least else 1
    best, ways, cycle, states = _NOTHING, 0, [], 0
    for ring in planned.rings:
        value = sign * gains.of_cycle(ring)
        if value > best:
            best, ways, cycle = value, 0, ring
        ways += value == best
    keeping.begin(planned.plan)
    for number, block in enumerate(planned.blocks):
        if number == len(keeping.done):
            rule = Largest(block, gains, sign)
            # A block that goes on stays where it was begun.
            in_kernels = is_for_kernels(block.graph, block.order) if keeping.in_kernels is None else keeping.in_kernels
            try:
                found_in = _found_on_device if means.device is not None and in_kernels else _found_in_python
                found = found_in(block, rule, means, keeping.take_forward())
            except GivenUp:
                if cycle:
                    raise GivenUpWithBestError(Optimum(cycle, sign * best, ways, states)) from None
                raise
            is_better = found.value is not None and found.value > best
            chosen = tuple(block.cycle(found.cycle())) if is_better else ()
            result, is_through = SavedResult(found.value, found.ways, found.states, chosen), found.is_through
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


class _Found(NamedTuple):
    """The best value of a block, if it has a cycle, how many cycles have it, the most states, and how to get one.

    If the block was given up, this is about the cycles that had been found.
    """

    value: int | None
    ways: int
    states: int
    cycle: Callable[[], set[int]]
    is_through: bool = True  # Whether the block was not given up


def _found_in_python(block: PlannedBlock, rule: Largest, means: Means, saved: SavedForward | None) -> _Found:
    try:
        history = History(block, rule, means, saved)
    except GivenUp:
        # A way back along layers that were not kept takes as long as the way forward.
        assert means.keeping is not None
        keeping = means.keeping
        if rule.best is None or (forward := keeping.latest()).between > 1:
            raise
        so_far = rule.again()
        history = History(block, so_far, Means(means.memory), forward, steps=range(forward.place))
        cycle = _way_to_closing(history, so_far, so_far.best)
        return _Found(so_far.best, so_far.ways, history.most_states, lambda: cycle, is_through=False)
    return _Found(rule.best, rule.ways, history.most_states, lambda: _way_to_closing(history, rule, rule.best))


def _found_on_device(block: PlannedBlock, rule: Largest, means: Means, saved: SavedForward | None) -> _Found:
    added = [rule.added_by(step) for step in block.steps]
    optimum = DeviceOptimum(block, added, means, saved, of_edges=rule.counts_edges)
    again = means.again(None if means.memory is None else means.memory // 2)
    return _Found(optimum.best, optimum.ways, optimum.most_states, lambda: _cycle_of(optimum, block, rule, again))


def _cycle_of(optimum: DeviceOptimum, block: PlannedBlock, rule: Largest, means: Means) -> set[int]:
    """Go back from one kept layer to the one before: from a single state, each piece of the way is found in Python."""
    assert optimum.best is not None
    cycle: set[int] = set()
    value, origin, end, target = optimum.best, optimum.origin, optimum.closing_step + 1, None
    for layer in reversed([layer for layer in optimum.layers if layer.place < end]):
        # States may share what is noted of their origin, if they take several words: try each of them.
        for row in optimum.rows_at(layer, origin):
            words = optimum.words_of(row[None])
            piece = rule.again()
            history = History(block, piece, means, words=words, steps=range(layer.place, end))
            way = _way_between(history, piece, target, value - optimum.value_of(row))
            if way is not None:
                break
        else:
            raise EngineError("internal error: a kept layer has no way to the best cycle")
        cycle |= way
        value, origin, end, target = optimum.value_of(row), optimum.origin_of(row), layer.place, words
    return cycle


def _way_between(history: History[_Best], rule: Largest, target: Words | None, value: int) -> set[int] | None:
    """Return the vertices of a way with a value from the first state to another one, or to where the cycle closes."""
    if target is None:
        return _way_to_closing(history, rule, value) if rule.best == value else None
    (reached,) = np.nonzero((history.reached == target).all(axis=0))
    if not len(reached) or int(history.values.values[reached[0]]) != value:
        return None
    return _way_back(history.backward(), rule, int(reached[0]), value)


def _way_to_closing(history: History[_Best], rule: Largest, value: int | None) -> set[int]:
    """Go back from where the best cycle closes, and return its vertices."""
    assert value is not None
    way = history.backward(rule.place + 1)
    _, layer, values = next(way)
    state = int(layer.closing[np.flatnonzero(rule.closed(layer, values) == value)[0]])
    gained = int(rule.gain(layer, np.array([state]))[0])
    return {layer.step.vertex} | _way_back(way, rule, state, value - gained)


def _way_back(way: Iterator[tuple[int, Layer, _Best]], rule: Largest, state: int, value: int) -> set[int]:
    """Go back from a state that is reached with a value, and return the vertices that join."""
    vertices: set[int] = set()
    for _, layer, values in way:
        state, joins = _parent(layer, values, rule, state, value)
        if joins:
            value -= int(rule.gain(layer, np.array([state]))[0])
            vertices.add(layer.step.vertex)
    if value:
        raise EngineError("internal error: the way back to the best cycle has another value")
    return vertices


def _parent(layer: Layer, values: _Best, rule: Largest, state: int, value: int) -> tuple[int, bool]:
    """Return a state that becomes the given one with its value, and whether the vertex joins."""
    for joins in (False, True):
        parents = layer.parents_of(state, joins=joins)
        gained = rule.gain(layer, parents) if joins else 0
        fitting = parents[values.values[parents] + gained == value]
        if len(fitting):
            return int(fitting[0]), joins
    raise EngineError("internal error: no way back to the best cycle was found")
