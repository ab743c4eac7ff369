"""The longest, shortest, heaviest or lightest chordless cycle, and how many cycles are equal to it in this.

Of all ways to a state only those count that have the largest value so far: whatever completes one of them completes the
others as well. The value is the number of vertices or the weight, negated where the least is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.blocks import PlannedBlock, PlannedBlocks
from kernels_ti.boundary.layers import History, Layer
from kernels_ti.boundary.numbers import Numbers, sums_of
from kernels_ti.boundary.walk import Step
from kernels_ti.errors import EngineError, OptionError

Values = npt.NDArray[np.int64]

_LARGEST_SUM = 1 << 62
_NOTHING = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Gains:
    """What a vertex, or an edge, adds to the value of a cycle.

    Attributes
    ----------
    of_vertices : mapping of int to int, or None
        For each vertex of the graph; None adds 1 for each.
    of_edges : mapping of (int, int) to int, or None
        For each edge of the graph, as (u, v) with u < v, or from the tail to the head of an arc.

    Raises
    ------
    OptionError
        If sums of them would not fit into 64 bits.
    """

    of_vertices: Mapping[int, int] | None = None
    of_edges: Mapping[tuple[int, int], int] | None = None

    def __post_init__(self) -> None:
        given = [*(self.of_vertices or {}).values(), *(self.of_edges or {}).values()]
        if sum(map(abs, given)) >= _LARGEST_SUM:
            raise OptionError("the weights have too many digits: all together, as whole numbers, must stay below 2^62")

    def of(self, v: int) -> int:
        """Return what a vertex adds."""
        if self.of_vertices is not None:
            return self.of_vertices[v]
        return 1 if self.of_edges is None else 0

    def between(self, u: int, v: int) -> int:
        """Return what an edge adds."""
        if self.of_edges is None:
            return 0
        return self.of_edges[u, v] if (u, v) in self.of_edges else self.of_edges[v, u]

    def of_cycle(self, cycle: list[int]) -> int:
        """Return the value of a cycle, given in cycle order."""
        edges = zip(cycle, cycle[1:] + cycle[:1], strict=True)
        return sum(map(self.of, cycle)) + sum(self.between(u, v) for u, v in edges)


@dataclass(frozen=True)
class Optimum:
    """The best cycle.

    Attributes
    ----------
    cycle : list of int
        Its vertices in cycle order; empty if there is no cycle.
    value : int
        The sum of what its vertices and edges add.
    ways : int
        Cycles with this value.
    states : int
        States of the largest boundary.
    """

    cycle: list[int]
    value: int
    ways: int
    states: int


@dataclass(frozen=True, eq=False)
class _Best:
    """For each state the largest value of a way to it, and how many ways have it."""

    values: Values
    ways: Numbers


class _Largest:
    """The rule that carries the largest values along, and remembers where the best cycle closes.

    Parameters
    ----------
    block : PlannedBlock
    gains : Gains
    sign : int
        -1 looks for the least value.
    """

    def __init__(self, block: PlannedBlock, gains: Gains, sign: int) -> None:
        self._names = block.vertices
        self._packing = block.packing
        self._gains = gains
        self._sign = sign
        self.best: int | None = None
        self.ways = 0
        self.place = 0

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
        """Return what the vertex adds to some states when it joins, with its edges."""
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

    def nbytes(self, values: _Best) -> int:
        """Return the bytes of values."""
        return values.values.nbytes + values.ways.nbytes


def best_cycle(
    planned: PlannedBlocks,
    gains: Gains,
    *,
    least: bool = False,
    memory: int | None = None,
    enough: Callable[[], bool] = lambda: False,
    report: Callable[[Step, int], None] = lambda step, states: None,
) -> Optimum:
    """Find the cycle with the largest, or the least, value.

    Parameters
    ----------
    planned : PlannedBlocks
    gains : Gains
    least : bool
    memory, enough, report
        See `kernels_ti.boundary.layers.History`.

    Returns
    -------
    Optimum
        Of several cycles with this value, always the same one.

    Raises
    ------
    GivenUp, SizeError
        See `kernels_ti.boundary.layers.History`.
    """
    sign = -1 if least else 1
    best, ways, cycle, states = _NOTHING, 0, [], 0
    for ring in planned.rings:
        value = sign * gains.of_cycle(ring)
        if value > best:
            best, ways, cycle = value, 0, ring
        ways += value == best
    for block in planned.blocks:
        rule = _Largest(block, gains, sign)
        history = History(block, rule, memory, enough, report)
        states = max(states, history.most_states)
        if rule.best is None or rule.best < best:
            continue
        if rule.best > best:
            best, ways, cycle = rule.best, 0, block.cycle(_witness(history, rule))
        ways += rule.ways
    return Optimum(cycle, sign * best if cycle else 0, ways, states)


def _witness(history: History[_Best], rule: _Largest) -> set[int]:
    """Go back from where the best cycle closes, and return its vertices."""
    assert rule.best is not None
    cycle: set[int] = set()
    state, value = -1, rule.best
    for place, layer, values in history.backward(rule.place + 1):
        if place == rule.place:
            state = int(layer.closing[np.flatnonzero(rule.closed(layer, values) == value)[0]])
            joins = True
        else:
            state, joins = _parent(layer, values, rule, state, value)
        if joins:
            value -= int(rule.gain(layer, np.array([state]))[0])
            cycle.add(layer.step.vertex)
    if value:
        raise EngineError("internal error: the way back to the best cycle has another value")
    return cycle


def _parent(layer: Layer, values: _Best, rule: _Largest, state: int, value: int) -> tuple[int, bool]:
    """Return a state that becomes the given one with its value, and whether the vertex joins."""
    for joins in (False, True):
        parents = layer.parents_of(state, joins=joins)
        gained = rule.gain(layer, parents) if joins else 0
        fitting = parents[values.values[parents] + gained == value]
        if len(fitting):
            return int(fitting[0]), joins
    raise EngineError("internal error: no way back to the best cycle was found")
