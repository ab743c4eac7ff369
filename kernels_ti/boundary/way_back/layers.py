"""A block, vertex by vertex and back again: what each state becomes, kept in bounded memory.

The states of all boundaries with their children are a layered graph without circles: each way from the one state of no
vertex to a state in which a vertex closes a cycle is one chordless cycle. So the longest cycle, a cycle drawn at random
and the cycles through an edge are found on it as on any such graph, by going forward once and back once.

Forward, the layers are kept as long as they fit. Then every other one of them is forgotten, and so on. On the way back,
what is missing is made again from the last layer that was kept before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.transitions import children_of, grouped
from kernels_ti.boundary.values.saved import SavedForward, SavedLayer
from kernels_ti.boundary.values.states import GivenUp
from kernels_ti.boundary.way_back.blocks import PlannedBlock
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.kept_way import KeptWay
from kernels_ti.errors import SizeError, bytes_text, parameter, quantity, vertices_text

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]

# Bytes that a step needs for a while: for each state, and for each of its words.
_BYTES_OF_A_STATE, _BYTES_OF_A_WORD = 150, 50
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

    def parents_of(self, state: int, *, joins: bool) -> Indices:
        """Return the states that become one of those that follow."""
        return np.flatnonzero((self.on if joins else self.off) == state)


class Values(Protocol):
    """The values of all states of a boundary."""

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The values as arrays with names."""


V = TypeVar("V", bound=Values)


class Rule(Protocol[V]):
    """Values that are carried along for each state."""

    def begin(self) -> V:
        """Return the value of the one state of no vertex."""

    def follow(self, layer: Layer, values: V) -> V:
        """Return the values of the states that follow, from those of the states of the layer."""

    def close(self, place: int, layer: Layer, values: V) -> None:
        """Take notice of the cycles that the vertex of a step closes; called once for each step."""

    def values_of(self, arrays: dict[str, npt.NDArray[Any]]) -> V:
        """Return the values of arrays with names."""

    def found(self) -> dict[str, Any]:
        """Return the facts about the cycles that have closed."""

    def go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known, see `found`."""


@dataclass
class _Kept(Generic[V]):
    """The states before a step with their values; the layer itself only while every one is kept."""

    place: int
    words: Words
    values: V
    layer: Layer | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the states with their values, and of what they become."""
        return (self.words.nbytes if self.layer is None else self.layer.nbytes) + self.values.nbytes

    @property
    def is_whole(self) -> bool:
        """Whether it is known what the states become."""
        return self.layer is not None

    def thinned(self) -> _Kept[V]:
        """Return the states with their values alone."""
        return replace(self, layer=None)


class History(KeptWay[_Kept[V]]):
    """A block that has been gone through in numpy, and can be gone back.

    A rule says which values are carried along. The way begins with one state, by default that of no vertex, and takes
    some `steps`, by default all; or it goes on from `saved`. `reached` has the states after the last step, and `values`
    their values. A SizeError says that a boundary alone does not fit into the memory.
    """

    _in_kernels = False

    def __init__(
        self,
        block: PlannedBlock,
        rule: Rule[V],
        means: Means,
        saved: SavedForward | None = None,
        *,
        words: Words | None = None,
        steps: range | None = None,
    ) -> None:
        self._block, self._steps, self._packing = block, block.steps, block.packing
        self._rule, self._memory = rule, means.memory
        steps = range(len(block.steps)) if steps is None else steps
        self.place, self._last = steps.start, steps.stop
        first = np.zeros((self._packing.words + block.bounds.are_told_apart, 1), np.uint64)
        self.reached, self.values = first if words is None else words, rule.begin()
        self._set_out(means, None if means.memory is None else means.memory // 2)
        self._is_first = True
        self._go(saved, self._last)
        self._is_first = False

    @property
    def states(self) -> int:  # type: ignore[override]
        """States after the last step."""
        return len(self.reached[0])

    def backward(self, end: int | None = None) -> Iterator[tuple[int, Layer, V]]:
        """Go back, once, from a step: yield the number of each, its layer and the values of its states."""
        budget = None if self._budget is None else self._budget // 2
        for kept in self._back(self._last if end is None else end, budget):
            assert kept.layer is not None
            yield kept.place, kept.layer, kept.values

    def _keep(self) -> _Kept[V]:
        return _Kept(self.place, self.reached, self.values)

    def _come(self) -> None:
        if self._means.enough():
            raise GivenUp
        self._require_room()
        layer, words = layer_of(self._block, self.place, self.reached)
        if self._is_first:
            self._rule.close(self.place, layer, self.values)
        values = self._rule.follow(layer, self.values)
        if self._between == 1:
            self.layers[-1].layer = layer
        self.reached, self.values, self.place = words, values, self.place + 1

    def _restore(self, layer: _Kept[V]) -> None:
        self.place, self.reached, self.values = layer.place, layer.words, layer.values

    def _saved_layer(self, layer: _Kept[V]) -> SavedLayer:
        numbers, arrays = {}, {"words": layer.words, **layer.values.arrays}
        if layer.layer is not None:
            numbers = {"after": layer.layer.after}
            arrays.update(off=layer.layer.off, on=layer.layer.on, closing=layer.layer.closing)
        return SavedLayer(layer.place, numbers, arrays)

    def _restored(self, saved: SavedLayer) -> _Kept[V]:
        words, layer, arrays = saved.arrays["words"], None, saved.arrays
        if "after" in saved.numbers:
            step = self._steps[saved.place]
            layer = Layer(step, words, arrays["off"], arrays["on"], arrays["closing"], saved.numbers["after"])
        return _Kept(saved.place, words, self._rule.values_of(arrays), layer)

    def _found(self) -> dict[str, Any]:
        return self._rule.found()

    def _go_on(self, found: dict[str, Any]) -> None:
        self._rule.go_on(found)

    def _require_room(self) -> None:
        step, states, last = self._steps[self.place], self.states, self.layers[-1]
        held = self._held + (last.nbytes if last.place < self.place else 0) + self.values.nbytes
        step_bytes = states * (_BYTES_OF_A_STATE + _BYTES_OF_A_WORD * self._packing.words)
        needed = held + step_bytes
        if self._memory is None or needed <= self._memory:
            return
        largest = max(each.cost for each in self._steps) / max(step.cost, 1.0)
        raise SizeError(
            f"{quantity(states, 'state')} at a boundary of {vertices_text(step.width + step.leaving)} may need about "
            f"{bytes_text(needed)}, more than the {bytes_text(self._memory)} that are left, and the largest boundary "
            f"about {bytes_text(held + step_bytes * max(largest, 1.0))}: {parameter('memory')} allows more"
        )


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
