"""The ways to all states of one block in kernels, and the way back from some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.forward_and_back.blocks import PlannedBlock
from kernels_ti.boundary.forward_and_back.counting import closed_in, closing_numbers
from kernels_ti.boundary.forward_and_back.keeping import Offer
from kernels_ti.boundary.forward_and_back.numbers import Numbers, chosen, first_above
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.saved import SavedForward, SavedLayer
from kernels_ti.boundary.states.states import GivenUp
from kernels_ti.boundary.tables.rows import first_row
from kernels_ti.boundary.tables.tables import FEW_CELLS, HALF_BITS, DeviceTables, Shape
from kernels_ti.errors import EngineError

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

_FEWEST_FOUND = 1 << 12


@dataclass(frozen=True, eq=False)
class WaysLayer:
    """The states before a step.

    Attributes
    ----------
    place : int
        The step.
    rows : ndarray of uint64, shape (k, cells)
        Each state as a table has it, and the digits of the ways to it.
    most_ways : int
        No number of ways is larger.
    """

    place: int
    rows: Words
    most_ways: int


class DeviceWays(DeviceTables):
    """The ways to all states of one block, in kernels; the layers are kept by the host.

    Layers that do not fit there are made again on the way back, as in `kernels_ti.boundary.forward_and_back.layers`.

    Parameters
    ----------
    device : Device
        A CPU or CUDA.
    block : PlannedBlock
        Simple and undirected, with a boundary of up to `WIDEST` vertices.
    memory, host_memory : int or None
        Bytes that the tables may take on the device, and the layers in the memory of the host.
    enough : callable
        Asked again and again; once it says so, `GivenUp` is raised.
    report : callable, optional
        Told the states of each boundary, on the way forward.
    offer : callable, optional
        Told the state between two vertices, on the way forward.
    saved : SavedForward, optional
        Go on from there.

    Attributes
    ----------
    most_states : int
        States of the largest boundary.
    closed : dict of int to int
        For each step in which cycles close, how many do.

    Raises
    ------
    GivenUp
    SizeError
        If a boundary alone does not fit into the memory.
    """

    _is_count = False

    def __init__(
        self,
        device: Device,
        block: PlannedBlock,
        memory: int | None,
        host_memory: int | None,
        enough: Callable[[], bool] = lambda: False,
        report: Callable[[Step, int], None] = lambda step, states: None,
        offer: Offer = lambda forward, all_came: None,
        saved: SavedForward | None = None,
    ) -> None:
        self._bounds, self._enough = block.bounds, enough
        super().__init__(device, block.steps, memory, told_apart=int(block.bounds.are_told_apart))
        self.closed: dict[int, int] = {}
        self._host_memory = None if host_memory is None else host_memory // 2
        self.most_states = 1
        kept, between = ([], 1) if saved is None else (self._resumed(saved), saved.between)
        self._layers = self._forward(len(block.steps), self._host_memory, report, offer, kept, between)
        # Other blocks come before the way back.
        device.call(self._drop_tables)

    @property
    def total(self) -> int:
        """All cycles."""
        return sum(self.closed.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the layers that are kept."""
        return sum(layer.rows.nbytes for layer in self._layers)

    def members(self, samples: dict[int, int]) -> dict[int, set[int]]:
        """Return the vertices of the cycle for each number of a block, by going back once.

        The numbers of the states that lead to one state follow each other in an order that does not depend on the
        threads or on the arch.
        """
        closing = closing_numbers(self.closed, samples)
        members: dict[int, set[int]] = {sample: set() for sample in samples}
        wanted, numbers = np.zeros((0, self._cells), np.uint64), list[dict[int, int]]()
        for layer in self._backward(self._layers, max(closing) + 1, self._host_memory):
            if not numbers and layer.place not in closing:
                continue
            found = self._found(layer, wanted, wants_closing=layer.place in closing)
            before = self._before(layer, found, numbers, members)
            if layer.place in closing:
                vertex, digits = self._steps[layer.place].vertex, Numbers(layer.rows[:, self._cells :].T)
                closes = found[found[:, 1] == _CLOSES, 0]
                for sample, (row, rest) in chosen(digits, closes, closing.pop(layer.place)).items():
                    members[sample].add(vertex)
                    before.setdefault(row, {})[sample] = rest
            wanted, numbers = layer.rows[list(before), : self._cells], list(before.values())
        if any(number for each in numbers for number in each.values()):
            raise EngineError("internal error: the way back to a cycle has a rest")
        return members

    def _before(
        self, layer: WaysLayer, found: Indices, numbers: list[dict[int, int]], members: dict[int, set[int]]
    ) -> dict[int, dict[int, int]]:
        """Go back by one step: from the wanted states to rows of the layer, each with its samples and their numbers."""
        before: dict[int, dict[int, int]] = {}
        vertex, ways = self._steps[layer.place].vertex, Numbers(layer.rows[:, self._cells :].T)
        parents: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for row, does, which in found[found[:, 1] != _CLOSES].tolist():
            parents[which].append((row, does))
        for which, samples in enumerate(numbers):
            each = [ways.at(row) for row, _ in parents[which]]
            ends = list(accumulate(each))
            for sample, number in samples.items():
                at = first_above(ends, number)
                row, does = parents[which][at]
                if does == _ON:
                    members[sample].add(vertex)
                before.setdefault(row, {})[sample] = number - (ends[at] - each[at])
        return before

    def _found(self, layer: WaysLayer, wanted: Words, *, wants_closing: bool) -> Indices:
        """Return rows of a layer, what the vertex does there, and the wanted state that follows, shape (k, 3).

        They are in order of the wanted state, of what the vertex does, and of the state itself.
        """
        most = max(_FEWEST_FOUND, 8 * len(wanted))
        found, met = self._device.call(self._traced, layer, wanted, int(wants_closing), most)
        if met > most:
            found, _ = self._device.call(self._traced, layer, wanted, int(wants_closing), met)
        row, does, which = found[:met].astype(np.int64).T
        state = layer.rows[row, : self._cells].T
        return found[np.lexsort((*state[::-1], does, which))].astype(np.int64)

    def _traced(self, layer: WaysLayer, wanted: Words, wants_closing: int, most: int) -> tuple[Indices, int]:
        """Run the kernel over a layer; return what it found, and how much there is."""
        from kernels_ti.boundary.kernels.ways import FOUND_CELLS

        self._place, self.states = layer.place, len(layer.rows)
        table, size = _table_of(wanted, self._cells)
        rows: Any = self._device.buffer(np.ascontiguousarray(layer.rows).reshape(-1))
        met = self._device.buffer(np.zeros(1, np.uint64))
        found = self._device.empty(most * FOUND_CELLS, np.int32)
        how = (
            self._tabulate(self._steps[layer.place]), self._buffers["steps"], self._bases[layer.place],
            self._buffers["changes"], self._buffers["bounds"],
        )  # fmt: skip
        self._shape = Shape(len(layer.rows), self._cells, 1, layer.rows.shape[1] - self._cells)
        for first, last in self._pieces(None):
            self._kernels.trace(
                first, last, rows, layer.rows.shape[1], *how, self._device.buffer(table), size, wants_closing, most,
                met, found,
            )  # fmt: skip
        count = int(self._device.download(met)[0])
        return np.array(self._device.download(found)).reshape(-1, FOUND_CELLS)[: min(count, most)], count

    def _begin(self) -> None:
        """Make the one state of no vertex: one way leads there."""
        from kernels_ti.boundary.kernels.ways import ways_kernels

        super()._begin()
        self._kernels = ways_kernels(self._words, self._bits, self._cells)
        self._upload("bounds", self._bounds.limits)

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS, FOUND, FULL

        old, copies = self._shape, max(FEW_CELLS // (2 * shape.digits), 1)
        table, tallies = self._cleared(shape, 2 * copies * shape.digits)
        tabled = self._tabulate(step)
        for first, last in self._slices(step, shape):
            self._kernels.carry_along(
                first, last, self._buffers[self._old], old.stride, old.digits,
                table, shape.rows, shape.stride, shape.digits,
                tabled, self._buffers["steps"], self._bases[self._place], self._buffers["changes"],
                self._buffers["bounds"], self._spread, copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: FOUND + 2 * copies * shape.digits]
        if told[FULL]:
            return False
        self._measure(step, told)
        halves = told[FOUND:].reshape(copies, shape.digits, 2).astype(object).sum(axis=0).tolist()
        ways = sum(low + (high << HALF_BITS) << DIGIT_BITS * digit for digit, (low, high) in enumerate(halves))
        if ways:
            self.closed[self._place] = ways
        return True

    def _forward(
        self,
        end: int,
        budget: int | None,
        report: Callable[[Step, int], None] = lambda step, states: None,
        offer: Offer = lambda forward, all_came: None,
        kept: list[WaysLayer] | None = None,
        between: int = 1,
    ) -> list[WaysLayer]:
        """Let vertices come up to a step; return the layers that fit, the first one in any case."""
        kept = kept or []
        start, held = kept[0].place if kept else self._place, sum(layer.rows.nbytes for layer in kept)
        while self._place < end:
            step = self._steps[self._place]
            if (self._place - start) % between == 0 and (not kept or kept[-1].place < self._place):
                kept.append(self._device.call(self._layer))
                held += kept[-1].rows.nbytes
            while budget is not None and held > budget and len(kept) > 2:
                between *= 2
                kept = [layer for layer in kept if (layer.place - start) % between == 0]
                held = sum(layer.rows.nbytes for layer in kept)
            offer(partial(self._saved, list(kept), between), False)
            self.take_vertex(self._enough)
            self.most_states = max(self.most_states, self.states)
            report(step, self.states)
        offer(partial(self._saved, list(kept), between), True)
        return kept

    def _saved(self, kept: list[WaysLayer], between: int) -> SavedForward:
        """Return the state between two vertices."""
        layers = kept if kept[-1].place == self._place else [*kept, self._device.call(self._layer)]
        return SavedForward(
            in_kernels=True,
            between=between,
            most_states=self.most_states,
            found={"closed": dict(self.closed)},
            layers=tuple(
                SavedLayer(layer.place, {"most_ways": layer.most_ways}, {"rows": layer.rows}) for layer in layers
            ),
        )

    def _resumed(self, saved: SavedForward) -> list[WaysLayer]:
        """Go on from a state between two vertices; return the layers that are kept."""
        kept = [WaysLayer(layer.place, layer.arrays["rows"], layer.numbers["most_ways"]) for layer in saved.layers]
        self.closed, self.most_states = closed_in(saved.found), saved.most_states
        self._device.call(self._restore, kept[-1])
        if self.finished or (self._place - kept[0].place) % saved.between:
            kept.pop()
        return kept

    def _backward(self, kept: list[WaysLayer], end: int, budget: int | None) -> Iterator[WaysLayer]:
        """Yield the layers before a step, from the last one on."""
        while kept and kept[-1].place >= end:
            kept.pop()
        while kept:
            if self._enough():
                raise GivenUp
            last = kept.pop()
            if end == last.place + 1:
                yield last
            else:
                self._device.call(self._restore, last)
                again = self._forward(end, budget)
                yield from self._backward(again, end, None if budget is None else max(budget // 2, 1))
            end = last.place

    def _layer(self) -> WaysLayer:
        """Return the states, with the ways to them, without gaps."""
        return WaysLayer(self._place, self._gathered("rows"), self._most_ways)

    def _drop_tables(self) -> None:
        """Free the tables."""
        for name in (self._old, self._new, "rows"):
            self._buffers.pop(name, None)

    def _restore(self, layer: WaysLayer) -> None:
        """Go on from a layer."""
        self._put_back(layer.place, layer.rows, layer.most_ways)


_ON, _CLOSES = 1, 2  # as in `kernels_ti.boundary.kernels.ways`, which opens Taichi


def _table_of(wanted: Words, cells: int) -> tuple[Words, int]:
    """Return a table of states with their numbers, half empty, and its rows."""
    size = 2 * len(wanted) + 1
    table = np.zeros((size, cells + 1), np.uint64)
    for number, state in enumerate(wanted):
        at = first_row(int(state[0]), size)
        while table[at, 0]:
            at = (at + 1) % size
        table[at, :cells], table[at, cells] = state, number
    return table.reshape(-1), size
