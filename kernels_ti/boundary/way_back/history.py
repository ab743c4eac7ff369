"""A block, vertex by vertex and back again in numpy, with the values of a rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels_ti.boundary.arrays import Flags, Indices, Places, Words
from kernels_ti.boundary.spec.block import GivenUp, require_memory
from kernels_ti.boundary.values.numbers import Numbers, picked
from kernels_ti.boundary.values.saved import SavedForward, SavedLayer
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock
from kernels_ti.boundary.way_back.layers import Kept, KeptWay, Layer, Rule, Values, layer_of
from kernels_ti.errors import EngineError, parameter
from kernels_ti.state import STATE_WORD_BITS, words_for

# Bytes that a step needs for a while: for each state, and for each of its words.
_BYTES_OF_A_STATE, _BYTES_OF_A_WORD = 150, 60


@dataclass
class _Kept(Kept):
    """The states before a step with their values; the layer itself only while every one is kept."""

    place: int
    words: Words
    values: Values
    layer: Layer | None = None

    @property
    def nbytes(self) -> int:
        return (self.words.nbytes if self.layer is None else self.layer.nbytes) + self.values.nbytes

    def thinned(self) -> _Kept:
        return replace(self, layer=None)


class History(KeptWay[_Kept]):
    """A block that has been gone through in numpy, and can be gone back.

    A rule says which values are carried along, by default the number of all ways. The way begins with one state, by
    default that of no vertex, and takes some `steps`, by default all; or it goes on from `saved`. `reached` has the
    states after the last step, and `values` their values. A SizeError says that a boundary alone does not fit.
    """

    _in_kernels = False
    _by_search = parameter("method", "search")

    def __init__(
        self,
        block: PlannedBlock,
        means: Means,
        saved: SavedForward | None = None,
        *,
        rule: Rule | None = None,
        words: Words | None = None,
        steps: range | None = None,
    ) -> None:
        self._block, self._steps, self._packing = block, block.steps, block.packing
        self._rule, self._memory = rule or Rule(block), means.memory
        steps = range(len(block.steps)) if steps is None else steps
        self.place, self._last = steps.start, steps.stop
        first = np.zeros((self._packing.words + block.bounds.are_told_apart, 1), np.uint64)
        self.reached, self.values = first if words is None else words, self._rule.begin()
        self._set_out(means, None if means.memory is None else means.memory // 2)
        self._go(saved, self._last)

    @property
    def states(self) -> int:  # type: ignore[override]
        """States after the last step."""
        return len(self.reached[0])

    def members(self, numbers: Numbers, names: Sequence[int], vertices: int, *, state: int | None = None) -> Words:
        """Go back once, and return the cycles for some numbers of the block, as bit rows in the order of the numbers.

        `names` has the vertex of the graph for each vertex of the block, `vertices` is the number of the graph's. With
        values, the cycles are those of the best one. Instead of cycles, the ways to a `state` after the last step.
        """
        walks = Walks(numbers, self._rule.closed if state is None else {self._last: self.values.ways.at(state)})
        members = np.zeros((len(walks), words_for(vertices)), np.uint64)
        at, rest = np.full(len(walks), state or 0), walks.rest.digits
        for place, layer, values in self.backward(min(walks.last + 1, self._last)):
            going, begun = walks.begun(place)
            word, bit = divmod(names[layer.step.vertex], STATE_WORD_BITS)
            if going:
                parents, joins, children, first, last = _parents(layer, at[:going])
                ways = self._rule.ways_on(layer, values, parents, children, joins)
                picks, left = picked(ways, first, last, Numbers(rest[:, :going]))
                at[:going], rest[:, :going] = parents[picks], left.digits
                members[:going, word] |= joins[picks].astype(np.uint64) << np.uint64(bit)
            if begun > going:
                new, closing = np.zeros(begun - going, np.int64), layer.closing
                ways = self._rule.ways_on(layer, values, closing, np.zeros_like(closing), np.ones_like(closing))
                picks, left = picked(ways, new, new + len(closing), Numbers(rest[:, going:begun]))
                at[going:begun], rest[:, going:begun] = closing[picks], left.digits
                members[going:begun, word] |= np.uint64(1) << np.uint64(bit)
        if rest.any():
            raise EngineError("internal error: the way back to a cycle has a rest")
        found = np.empty_like(members)
        found[walks.order] = members
        return found

    def first(self, state: int | None = None) -> set[int]:
        """Go back once, and return the block's vertices of the first best cycle, or of the first way to a `state`."""
        n = self._block.graph.n
        row = self.members(Numbers.zeros(1), range(n), n, state=state)
        return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())

    def reaches(self, target: Words) -> tuple[int, int] | tuple[None, None]:
        """Return where a state lies among those after the last step, and its value; nothing if it is none of them."""
        met = np.flatnonzero((self.reached == target).all(axis=0))
        if not len(met):
            return None, None
        assert self.values.largest is not None
        return int(met[0]), int(self.values.largest[met[0]])

    def backward(self, end: int | None = None) -> Iterator[tuple[int, Layer, Values]]:
        """Go back, once, from a step: yield the number of each, its layer and the values of its states."""
        budget = None if self._budget is None else self._budget // 2
        for kept in self._back(self._last if end is None else end, budget):
            yield kept.place, kept.layer or layer_of(self._block, kept.place, kept.words)[0], kept.values

    def _keep(self) -> _Kept:
        return _Kept(self.place, self.reached, self.values)

    def _come(self) -> None:
        if self._means.enough():
            raise GivenUp
        last, of_a_state = self.layers[-1], _BYTES_OF_A_STATE + _BYTES_OF_A_WORD * len(self.reached)
        held = self._held + (last.nbytes if last.place < self.place else 0) + self.values.nbytes
        require_memory(
            held + self.states * of_a_state, self._memory, self.states, self._block, self.place,
            of_a_state=of_a_state, by_search=self._by_search,
        )  # fmt: skip
        layer, words = layer_of(self._block, self.place, self.reached)
        self._rule.close(self.place, layer, self.values)
        values = self._rule.follow(layer, self.values)
        if self._between == 1:
            self.layers[-1].layer = layer
        self.reached, self.values, self.place = words, values, self.place + 1

    def _restore(self, layer: _Kept) -> None:
        self.place, self.reached, self.values = layer.place, layer.words, layer.values

    def _saved_layer(self, layer: _Kept) -> SavedLayer:
        numbers, arrays = {}, {"words": layer.words, **layer.values.arrays}
        if layer.layer is not None:
            numbers = {"after": layer.layer.after}
            arrays.update(off=layer.layer.off, on=layer.layer.on, closing=layer.layer.closing)
        return SavedLayer(layer.place, numbers, arrays)

    def _restored(self, saved: SavedLayer) -> _Kept:
        words, layer, arrays = saved.arrays["words"], None, saved.arrays
        if "after" in saved.numbers:
            step = self._steps[saved.place]
            layer = Layer(step, words, arrays["off"], arrays["on"], arrays["closing"], saved.numbers["after"])
        return _Kept(saved.place, words, Values(Numbers(arrays["ways"]), arrays.get("values")), layer)


class Walks:
    """Walks in the order in which they begin on the way back, each with a number below the sum of `closed`.

    `closed` says for each step how many cycles close in it. `order` has the place of each walk among the numbers,
    `rest` what is left of its number. The first walks begin in the step `last`.
    """

    def __init__(self, numbers: Numbers, closed: dict[int, int]) -> None:
        places = sorted(closed)
        ways = Numbers.of([closed[place] for place in places])
        k = len(numbers)
        which, rest = picked(ways, np.zeros(k, np.int64), np.full(k, len(places)), numbers)
        begins = np.array(places)[which]
        self.order: Indices = np.argsort(-begins, kind="stable")
        self.rest = rest[self.order]
        self.last = int(begins.max())
        self._begins = -begins[self.order]

    def __len__(self) -> int:
        return len(self.order)

    def begun(self, place: int) -> tuple[int, int]:
        """Return how many walks begin after a step, and how many after or in it."""
        before, after = np.searchsorted(self._begins, (-place, -place + 1))
        return int(before), int(after)


def _parents(layer: Layer, children: Indices) -> tuple[Indices, Flags, Places, Indices, Indices]:
    """Return the parents of `children`, whether the vertex joins, their child, and the range of the parents of each."""
    is_wanted = np.zeros(layer.after + 1, np.bool_)  # the last entry stands for no child
    is_wanted[children] = True
    sides = [np.flatnonzero(is_wanted[child]) for child in (layer.off, layer.on)]
    child = np.concatenate((layer.off[sides[0]], layer.on[sides[1]]))
    order = np.argsort(child, kind="stable")
    child = child[order]
    places = np.zeros(layer.after + 1, np.int64)
    wanted = np.flatnonzero(is_wanted)
    places[wanted] = np.arange(len(wanted))
    ends = np.searchsorted(child, wanted, side="right")
    group = places[children]
    last = ends[group]
    first = np.concatenate(([0], ends[:-1]))[group]
    return np.concatenate(sides)[order], order >= len(sides[0]), child, first, last
