"""Many cycles of one block at once: each walk has the number of one, and all go back together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kernels_ti.boundary.arrays import Flags, Indices, Words
from kernels_ti.boundary.values.numbers import Numbers, picked
from kernels_ti.boundary.way_back.layers import Layer, Values
from kernels_ti.errors import EngineError

_BITS = 64


def words_for(vertices: int) -> int:
    """Return the words of a bit row over so many vertices."""
    return -(-vertices // _BITS)


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


def members_of(
    walks: Walks, way_back: Iterator[tuple[int, Layer, Values]], names: Sequence[int], vertices: int
) -> Words:
    """Go back through the layers of a block in numpy, and return the cycles as bit rows, in the order of the numbers.

    `way_back` yields the number of a step, its layer and the ways to its states, from the last step of the walks on.
    `names` has the vertex of the graph for each vertex of the block, `vertices` is the number of the graph's.
    """
    members = np.zeros((len(walks), words_for(vertices)), np.uint64)
    at, rest = np.zeros(len(walks), np.int64), walks.rest.digits
    for place, layer, values in way_back:
        ways = values.ways
        going, begun = walks.begun(place)
        word, bit = divmod(names[layer.step.vertex], _BITS)
        if going:
            parents, joins, first, last = _parents(layer, at[:going])
            picks, left = picked(ways[parents], first, last, Numbers(rest[:, :going]))
            at[:going], rest[:, :going] = parents[picks], left.digits
            members[:going, word] |= joins[picks].astype(np.uint64) << np.uint64(bit)
        if begun > going:
            new, closing = np.zeros(begun - going, np.int64), layer.closing
            picks, left = picked(ways[closing], new, new + len(closing), Numbers(rest[:, going:begun]))
            at[going:begun], rest[:, going:begun] = closing[picks], left.digits
            members[going:begun, word] |= np.uint64(1) << np.uint64(bit)
    if rest.any():
        raise EngineError("internal error: the way back to a cycle has a rest")
    found = np.empty_like(members)
    found[walks.order] = members
    return found


def _parents(layer: Layer, children: Indices) -> tuple[Indices, Flags, Indices, Indices]:
    """Return the parents of `children`, whether the vertex joins, and the range of the parents of each."""
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
    return np.concatenate(sides)[order], order >= len(sides[0]), first, last
