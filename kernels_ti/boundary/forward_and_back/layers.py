"""A block, vertex by vertex and back again: what each state becomes, kept in bounded memory.

The states of all boundaries with their children are a layered graph without circles: each way from the one state of no
vertex to a state in which a vertex closes a cycle is one chordless cycle. So the longest cycle, a cycle drawn at random
and the cycles through an edge are found on it as on any such graph, by going forward once and back once.

Forward, the layers are kept as long as they fit. Then every other one of them is forgotten, and so on. On the way back,
what is missing is made again from the last layer that was kept before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.forward_and_back.blocks import LengthBounds, PlannedBlock
from kernels_ti.boundary.forward_and_back.keeping import Offer
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.saved import SavedForward, SavedLayer
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.boundary.states.transitions import Packing, children_of, grouped
from kernels_ti.errors import SizeError, parameter, quantity, vertices_text

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]

# Bytes that a step needs for a while: for each state, and for each of its words.
_BYTES_OF_A_STATE, _BYTES_OF_A_WORD = 150, 50
_NONE = -1


@dataclass(frozen=True, eq=False)
class Layer:
    """The states of a boundary, and what they become when a vertex comes.

    Attributes
    ----------
    step : Step
    words : ndarray of uint64, shape (words, k)
        The states, before the vertex comes.
    off, on : ndarray of int32, shape (k,)
        The state that follows where the vertex stays off the cycle, and where it joins; -1 for none.
    closing : ndarray of int64
        The states in which the vertex closes a cycle, within the bounds on the length.
    after : int
        States that follow.
    """

    step: Step
    words: Words
    off: Places
    on: Places
    closing: Indices
    after: int

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


V = TypeVar("V")


class Rule(Protocol[V]):
    """What is carried along for each state."""

    def begin(self) -> V:
        """Return what belongs to the one state of no vertex."""

    def follow(self, layer: Layer, values: V) -> V:
        """Return what belongs to the states that follow, from what belongs to those of the layer."""

    def close(self, place: int, layer: Layer, values: V) -> None:
        """Take notice of the cycles that the vertex of a step closes; called once for each step."""

    def nbytes(self, values: V) -> int:
        """Return the bytes of values."""

    def arrays_of(self, values: V) -> dict[str, npt.NDArray[Any]]:
        """Return values as arrays with names."""

    def values_of(self, arrays: dict[str, npt.NDArray[Any]]) -> V:
        """Return the values of such arrays."""

    def found(self) -> dict[str, Any]:
        """Return what is known of the cycles that have closed."""

    def go_on(self, found: dict[str, Any]) -> None:
        """Go on from what was known, see `found`."""


@dataclass
class _Kept(Generic[V]):
    """What is known before a step; the layer itself only while every one is kept."""

    place: int
    words: Words
    values: V
    layer: Layer | None = None


class History(Generic[V]):
    """A block that has been gone through, and can be gone back.

    Parameters
    ----------
    block : PlannedBlock
    rule : Rule
        What is carried along.
    memory : int or None
        Bytes for all of it.
    enough : callable
        Asked again and again; once it says so, `GivenUp` is raised.
    report : callable, optional
        Told the states of each boundary, on the way forward.
    words : ndarray of uint64, shape (words, 1), optional
        Begin with this one state; by default with that of no vertex.
    steps : range, optional
        The steps to go through; by default all.
    offer : callable, optional
        Told the state between two vertices, on the way forward.
    saved : SavedForward, optional
        Go on from there.

    Attributes
    ----------
    most_states : int
        States of the largest boundary.
    reached : ndarray of uint64, shape (words, k)
        The states after the last step.
    values
        What the rule carries for them.

    Raises
    ------
    GivenUp
    SizeError
        If a boundary alone does not fit into the memory.
    """

    def __init__(
        self,
        block: PlannedBlock,
        rule: Rule[V],
        memory: int | None = None,
        enough: Callable[[], bool] = lambda: False,
        report: Callable[[Step, int], None] = lambda step, states: None,
        *,
        words: Words | None = None,
        steps: range | None = None,
        offer: Offer = lambda forward, all_came: None,
        saved: SavedForward | None = None,
    ) -> None:
        self._steps = block.steps
        self._bounds = block.bounds
        self._packing = block.packing
        self._rule = rule
        self._memory = memory
        self._enough = enough
        self._report = report
        self._offer = offer
        self.most_states = 1
        self.reached = np.zeros((self._packing.words + self._bounds.are_told_apart, 1), np.uint64)
        if words is not None:
            self.reached = words
        steps = range(len(block.steps)) if steps is None else steps
        budget = None if memory is None else memory // 2
        self._last, self.values = steps.stop, rule.begin()
        now = _Kept(steps.start, self.reached, self.values)
        kept, stride = [now], 1
        if saved is not None:
            kept, stride = [self._restored(layer) for layer in saved.layers], saved.between
            now, self.most_states = kept[-1], saved.most_states
            if now.place == self._last or (now.place - steps.start) % stride:
                kept.pop()
            rule.go_on(saved.found)
        self._kept = self._forward(kept, now, steps.stop, budget, stride, first=True)

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return sum(self._bytes_of(each) for each in self._kept)

    def backward(self, end: int | None = None) -> Iterator[tuple[int, Layer, V]]:
        """Go back, once: yield the number of a step, its layer and the values of its states, from the last one on.

        Parameters
        ----------
        end : int, optional
            Begin with the step before this one.
        """
        end = self._last if end is None else end
        while self._kept and self._kept[-1].place >= end:
            self._kept.pop()
        budget = None if self._memory is None else self._memory // 4
        yield from self._backward(self._kept, end, budget)

    def _backward(self, kept: list[_Kept[V]], end: int, budget: int | None) -> Iterator[tuple[int, Layer, V]]:
        while kept:
            last = kept.pop()
            if last.layer is not None and end == last.place + 1:
                yield last.place, last.layer, last.values
            else:
                again = self._forward([last], last, end, budget, first=False)
                yield from self._backward(again, end, None if budget is None else max(budget // 2, 1))
            end = last.place

    def _forward(
        self, kept: list[_Kept[V]], now: _Kept[V], end: int, budget: int | None, stride: int = 1, *, first: bool
    ) -> list[_Kept[V]]:
        """Go on from what is known now to a step; keep what fits, one step or more."""
        start, held = kept[0].place, sum(self._bytes_of(each) for each in kept if each.place < now.place)
        words, values = now.words, now.values
        for place in range(now.place, end):
            if first:
                self._offer(self._saved(kept, _Kept(place, words, values), stride), False)
            if self._enough():
                raise GivenUp
            step = self._steps[place]
            self._require_room(step, words.shape[1], held + self._rule.nbytes(values))
            layer, words = layer_of(words, step, self._packing, self._bounds)
            if first:
                self._rule.close(place, layer, values)
            values = self._rule.follow(layer, values)
            if first:
                self.most_states = max(self.most_states, layer.after)
                self._report(step, layer.after)
            if kept[-1].place == place:
                kept[-1].layer = layer if stride == 1 else None
                held += self._bytes_of(kept[-1])
            while budget is not None and held > budget and len(kept) > 2:
                stride *= 2
                kept = [each for each in kept if (each.place - start) % stride == 0]
                for each in kept:
                    each.layer = None
                held = sum(self._bytes_of(each) for each in kept)
            if (place + 1 - start) % stride == 0 and place + 1 < end:
                kept.append(_Kept(place + 1, words, values))
        if first:
            self.reached, self.values = words, values
            self._offer(self._saved(kept, _Kept(end, words, values), stride), True)
        return kept

    def _saved(self, kept: list[_Kept[V]], now: _Kept[V], stride: int) -> Callable[[], SavedForward]:
        """Return what returns the state between two vertices."""
        layers = [*kept, now] if kept[-1].place < now.place else list(kept)
        found, most_states = self._rule.found(), self.most_states
        return lambda: SavedForward(
            in_kernels=False,
            between=stride,
            most_states=most_states,
            found=found,
            layers=tuple(map(self._saved_layer, layers)),
        )

    def _saved_layer(self, kept: _Kept[V]) -> SavedLayer:
        numbers, arrays = {}, {"words": kept.words, **self._rule.arrays_of(kept.values)}
        if kept.layer is not None:
            numbers = {"after": kept.layer.after}
            arrays.update(off=kept.layer.off, on=kept.layer.on, closing=kept.layer.closing)
        return SavedLayer(kept.place, numbers, arrays)

    def _restored(self, saved: SavedLayer) -> _Kept[V]:
        words, layer, arrays = saved.arrays["words"], None, saved.arrays
        if "after" in saved.numbers:
            step = self._steps[saved.place]
            layer = Layer(step, words, arrays["off"], arrays["on"], arrays["closing"], saved.numbers["after"])
        return _Kept(saved.place, words, self._rule.values_of(arrays), layer)

    def _bytes_of(self, kept: _Kept[V]) -> int:
        layer = kept.words.nbytes if kept.layer is None else kept.layer.nbytes
        return layer + self._rule.nbytes(kept.values)

    def _require_room(self, step: Step, states: int, held: int) -> None:
        step_bytes = states * (_BYTES_OF_A_STATE + _BYTES_OF_A_WORD * self._packing.words)
        needed = held + step_bytes
        if self._memory is None or needed <= self._memory:
            return
        largest = max(each.cost for each in self._steps) / max(step.cost, 1.0)
        raise SizeError(
            f"{quantity(states, 'state')} at a boundary of {vertices_text(step.width + step.leaving)} may need about "
            f"{needed / 2**20:,.0f} MiB, more than the {self._memory / 2**20:,.0f} MiB that are left, and the largest "
            f"boundary may need {(held + step_bytes * max(largest, 1.0)) / 2**20:,.0f} MiB: "
            f"{parameter('memory')} allows more"
        )


def layer_of(words: Words, step: Step, packing: Packing, bounds: LengthBounds) -> tuple[Layer, Words]:
    """Let a vertex come in all states.

    Parameters
    ----------
    words : ndarray of uint64, shape (words, k)
        The states. Where lengths are told apart, the last word is the number of vertices on the cycle.
    step : Step
    packing : Packing
    bounds : LengthBounds

    Returns
    -------
    layer : Layer
    words : ndarray of uint64
        The states that follow.
    """
    states = words.shape[1]
    children = children_of(words, step, packing)
    on_parents, on_words, closing = children.on_parents, children.on_words, children.closing
    if bounds.are_told_apart:
        on_words[-1] += np.uint64(1)
        if bounds.longest < bounds.n:
            # One vertex more has to close the cycle.
            fits = on_words[-1] < bounds.longest
            on_parents, on_words = on_parents[fits], on_words[:, fits]
        else:
            np.minimum(on_words[-1], np.uint64(bounds.most), out=on_words[-1])
        lengths = words[-1][closing] + np.uint64(1)
        closing = closing[(lengths >= bounds.shortest) & (lengths <= bounds.longest)]
    together = np.concatenate((children.off_words, on_words), axis=1)
    leaders, group = grouped(together)
    off, on = np.full(states, _NONE, np.int32), np.full(states, _NONE, np.int32)
    off[children.off_parents] = group[: len(children.off_parents)]
    on[on_parents] = group[len(children.off_parents) :]
    layer = Layer(step, words, off, on, closing, len(leaders))
    return layer, np.ascontiguousarray(together[:, leaders])
