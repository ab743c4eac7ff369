"""The layers of a block, the rule that carries values along from each to the next, and the way over kept layers.

The states of all boundaries are a layered graph without circles: each way from the one state of no vertex to a state in
which a vertex closes a cycle is one chordless cycle. The values are how many ways lead to a state, or only those of the
largest value so far: whatever completes one of them completes the others as well. The value is the number of vertices
or the weight, negated where the least is wanted. Where every cycle counts, no way has a value.

Forward, the layers are kept as long as they fit. Then every other one of them is forgotten, and so on. On the way back,
what is missing is made again from the last layer that was kept before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Flags, Indices, Places, Words
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.spec.changes import children_of, grouped
from kernels_ti.boundary.values.numbers import Addends, Numbers, sums_of
from kernels_ti.boundary.values.saved import SavedForward, SavedLayer
from kernels_ti.boundary.values.weights import Gains
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock

NOTHING = np.iinfo(np.int64).min
"""Less than any value."""
_NONE = -1


@dataclass(frozen=True, eq=False)
class Layer:
    """The states of a boundary, and what they become when a vertex comes."""

    step: Step
    words: Words  # The states, before the vertex comes
    off: Places  # The state that follows where the vertex stays off the cycle, -1 for none
    on: Places  # The same where it joins
    closing: Indices  # The states in which the vertex closes a cycle, within the bounds on the length
    after: int  # States that follow

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.words.nbytes + self.off.nbytes + self.on.nbytes + self.closing.nbytes

    def children(self, *, joins: bool) -> tuple[Indices, Indices]:
        """Return the states that have a child on one side, and the child of each."""
        child = self.on if joins else self.off
        parents = np.flatnonzero(child >= 0)
        return parents, child[parents].astype(np.int64)


def layer_of(block: PlannedBlock, place: int, words: Words) -> tuple[Layer, Words]:
    """Let the vertex of a step come in all states; return the layer, and the states that follow.

    Where lengths are told apart, the last word of a state is the number of vertices on the cycle.
    """
    bounds = block.bounds
    states = words.shape[1]
    children = children_of(words, block.changes[place], block.packing)
    on_parents, on_words, closing = children.on_parents, children.on_words, children.closing
    if bounds.are_told_apart:
        on_words[-1] += np.uint64(1)
        if bounds.longest < bounds.n:
            # One vertex more has to close the cycle.
            fits = on_words[-1] < bounds.longest
            on_parents, on_words = on_parents[fits], on_words[:, fits]
        else:
            on_words[-1] -= (on_words[-1] > bounds.most) * np.uint64(bounds.stride)
        lengths = words[-1][closing].astype(np.int64) + 1
        is_wanted = (lengths >= bounds.shortest) & (lengths <= bounds.longest)
        closing = closing[is_wanted & ((lengths - bounds.shortest) % bounds.stride == 0)]
    together = np.concatenate((children.off_words, on_words), axis=1)
    leaders, group = grouped(together)
    off, on = np.full(states, _NONE, np.int32), np.full(states, _NONE, np.int32)
    off[children.off_parents] = group[: len(children.off_parents)]
    on[on_parents] = group[len(children.off_parents) :]
    layer = Layer(block.steps[place], words, off, on, closing, len(leaders))
    return layer, np.ascontiguousarray(together[:, leaders])


@dataclass(frozen=True, eq=False)
class Values:
    """For each state how many ways lead there; with gains, those of the largest value, and this value."""

    ways: Numbers
    largest: Indices | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self.ways.digits.nbytes + (0 if self.largest is None else self.largest.nbytes)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Both as arrays with names."""
        return {"ways": self.ways.digits} | ({} if self.largest is None else {"values": self.largest})


class Rule:
    """Values by the gains of vertices and edges, the least where `sign` is -1; without gains every cycle counts.

    `best` is the largest value of a cycle that has closed, and `closed` says for each step how many cycles with this
    value close in it. In kernels the first of them comes from the state `origin` of the last kept layer before it.
    """

    def __init__(self, block: PlannedBlock, gains: Gains | None = None, sign: int = 1) -> None:
        self._block, self._gains, self._sign = block, gains, sign
        self.best: int | None = None
        self.closed: dict[int, int] = {}
        self.origin = 0

    def again(self) -> Rule:
        """Return the same rule, before any cycle has closed."""
        return Rule(self._block, self._gains, self._sign)

    @property
    def ways(self) -> int:
        """All cycles with the best value."""
        return sum(self.closed.values())

    @property
    def counts_edges(self) -> bool:
        """Whether edges add to the value."""
        return self._gains is not None and self._gains.of_edges is not None

    def begin(self) -> Values:
        """Return the values of the one state of no vertex: one way, of no value."""
        return Values(Numbers.ones(1), None if self._gains is None else np.zeros(1, np.int64))

    def follow(self, layer: Layer, values: Values) -> Values:
        """Return the values of the states that follow."""
        sides = [layer.children(joins=joins) for joins in (False, True)]
        largest = None if values.largest is None else np.full(layer.after, NOTHING)
        if largest is not None:
            reached = [self._reached(layer, values, parents, joins) for joins, (parents, _) in enumerate(sides)]
            for (_, into), value in zip(sides, reached, strict=True):
                np.maximum.at(largest, into, value)
            chosen = [value == largest[into] for (_, into), value in zip(sides, reached, strict=True)]
            sides = [(parents[are], into[are]) for (parents, into), are in zip(sides, chosen, strict=True)]
        return Values(sums_of([Addends(values.ways, *side) for side in sides], layer.after).carried(), largest)

    def ways_on(
        self, layer: Layer, values: Values, states: Indices, into: Indices | Places, joins: Flags | Indices
    ) -> Numbers:
        """Return the ways that go on from some states: of those that go `into` one, only the ways of the largest value.

        `joins` says for each state whether the vertex joins.
        """
        ways = values.ways[states]
        if values.largest is None:
            return ways
        reached = self._reached(layer, values, states, joins)
        largest = np.full(int(into.max(initial=0)) + 1, NOTHING)
        np.maximum.at(largest, into, reached)
        return Numbers(ways.digits * (reached == largest[into]))

    def close(self, place: int, layer: Layer, values: Values) -> None:
        """Take notice of the cycles that the vertex of a step closes."""
        closing = layer.closing
        if len(closing) and values.largest is None:
            self.closed[place] = values.ways.totals(closing)[0]
        elif len(closing):
            closed = self._reached(layer, values, closing, 1)
            best = int(closed.max())
            if self.best is None or best >= self.best:
                self.note(place, best, values.ways.totals(closing[closed == best])[0])

    def note(self, place: int, value: int, ways: int) -> bool:
        """Take notice of the cycles that close in a step with a value, the best so far; say whether it is a new one."""
        is_new = self.best is None or value > self.best
        if is_new:
            self.best, self.closed = value, {}
        self.closed[place] = ways
        return is_new

    def _reached(self, layer: Layer, values: Values, states: Indices, joins: Flags | Indices | int) -> Indices:
        """Return the largest values of ways that go on from some states: `joins` is 1 for those where the vertex joins.

        Then its gain is added, and that of its edges.
        """
        assert values.largest is not None
        if not np.any(joins):
            return values.largest[states]
        of_vertex, *of_edges = self.added_by(layer.step)
        gained = np.full(len(states), of_vertex, np.int64)
        for slot, added in zip(layer.step.near, of_edges, strict=False):
            gained += (self._block.packing.symbol(layer.words, slot)[states] != 0) * np.int64(added)
        reached: Indices = values.largest[states] + joins * gained
        return reached

    def added_by(self, step: Step) -> list[int]:
        """Return the gain of a step's vertex when it joins, then that of each edge to a vertex before it."""
        assert self._gains is not None
        names, gains = self._block.vertices, self._gains
        v = names[step.vertex]
        edges = [gains.between(names[u], v) for u in step.near_vertices] if self.counts_edges else []
        return [self._sign * added for added in (gains.of(v), *edges)]

    def found(self) -> dict[str, Any]:
        """Return the facts about the cycles that have closed."""
        if self._gains is None:
            return {"closed": dict(self.closed)}
        return {"best": self.best, "ways": self.ways, "place": min(self.closed, default=0), "origin": self.origin}

    def go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known."""
        if self._gains is None:
            # The steps of a checkpoint are text.
            self.closed = {int(place): int(ways) for place, ways in found["closed"].items()}
        elif found["best"] is not None:
            self.best, self.closed = found["best"], {found["place"]: found["ways"]}
            self.origin = found.get("origin", 0)


_FEWEST_LAYERS = 2


class Kept(ABC):
    """A layer that is kept: the states before a step, with what is carried along for them."""

    place: int  # The step

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the layer takes."""

    def thinned(self: K) -> K:
        """Return the layer without what only a way back over each single layer needs."""
        return self


K = TypeVar("K", bound=Kept)


class KeptWay(ABC, Generic[K]):
    """A block that is gone through, and can be gone back; `layers` are those that are kept, one in `between` steps.

    Layers may take `budget` bytes, None for any number. `place` vertices have come, and `most_states` is the number of
    states of the largest boundary.
    """

    _in_kernels: bool
    _rule: Rule
    _steps: tuple[Step, ...]
    place: int
    states: int

    def _set_out(self, means: Means, budget: int | None, between: int = 1) -> None:
        self.layers: list[K] = []
        self._means, self._budget, self._between = means, budget, between
        self._held, self.most_states = 0, 1

    @abstractmethod
    def _keep(self) -> K:
        """Return the states before the next step."""

    @abstractmethod
    def _come(self) -> None:
        """Let the next vertex come; raise GivenUp once it is enough."""

    @abstractmethod
    def _restore(self, layer: K) -> None:
        """Go on from a layer."""

    def _rest(self) -> None:
        """Give up what only the way forward needs."""

    @abstractmethod
    def _saved_layer(self, layer: K) -> SavedLayer:
        """Return a layer apart from any device."""

    @abstractmethod
    def _restored(self, saved: SavedLayer) -> K:
        """Return the layer that was saved."""

    @property
    def total(self) -> int:
        """All cycles that have closed, of those that the rule counts."""
        return self._rule.ways

    @property
    def nbytes(self) -> int:
        """Bytes of the layers that are kept."""
        return sum(layer.nbytes for layer in self.layers)

    def _go(self, saved: SavedForward | None, end: int) -> None:
        """Go to a step for the first time, from the state between two vertices that was saved, if there is one."""
        if saved is not None:
            self.layers = [self._restored(layer) for layer in saved.layers]
            self._between, self.most_states = saved.between, saved.most_states
            self._rule.go_on(saved.found)
            self._restore(self.layers[-1])
            if self.place == end or (self.place - self.layers[0].place) % self._between:
                self.layers.pop()
        self._forward(end, self._budget, self._means)

    def _forward(self, end: int, budget: int | None, means: Means) -> None:
        """Let vertices come up to a step, and keep the layers that fit, the first one in any case."""
        self._held = sum(layer.nbytes for layer in self.layers[:-1])
        while self.place < end:
            self._keep_if_due(budget)
            means.keeping.offer(self._saved, False)
            step = self._steps[self.place]
            self._come()
            self.most_states = max(self.most_states, self.states)
            means.report(step, self.states)
        means.keeping.offer(self._saved, True)
        self._rest()

    def _keep_if_due(self, budget: int | None) -> None:
        layers = self.layers
        if not layers:
            layers.append(self._keep())
        elif layers[-1].place < self.place and (self.place - layers[0].place) % self._between == 0:
            self._held += layers[-1].nbytes
            layers.append(self._keep())
        while budget is not None and self._held + self.layers[-1].nbytes > budget and len(self.layers) > _FEWEST_LAYERS:
            self._between *= 2
            start = self.layers[0].place
            self.layers = [layer.thinned() for layer in self.layers if (layer.place - start) % self._between == 0]
            self._held = sum(layer.nbytes for layer in self.layers[:-1])

    def _saved(self) -> SavedForward:
        """Return the state between two vertices; also after a vertex was given up."""
        layers = self.layers if self.layers[-1].place == self.place else [*self.layers, self._keep()]
        return SavedForward(
            in_kernels=self._in_kernels,
            between=self._between,
            most_states=self.most_states,
            found=self._rule.found(),
            layers=tuple(map(self._saved_layer, layers)),
        )

    def _back(self, end: int, budget: int | None) -> Iterator[K]:
        """Yield the layers before a step, from the last one on, once."""
        while self.layers and self.layers[-1].place >= end:
            self.layers.pop()
        while self.layers:
            if self._means.enough():
                raise GivenUp
            last = self.layers.pop()
            if end == last.place + 1:
                yield last
            else:
                before, self.layers, self._between = self.layers, [], 1
                self._restore(last)
                self._forward(end, budget, self._means.again(None))
                yield from self._back(end, None if budget is None else max(budget // 2, 1))
                self.layers = before
            end = last.place
