"""The best cycle of one block in kernels: its value, the cycles that have it, and from where it comes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.boundary.arrays import Words
from kernels_ti.boundary.executors.rows import words_in
from kernels_ti.boundary.executors.tables import FEW_CELLS, Shape, closing_ways
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.cells import BIAS, FULL, ORIGIN, TALLIES
from kernels_ti.boundary.values.saved import SavedForward
from kernels_ti.boundary.way_back.blocks import PlannedBlock
from kernels_ti.boundary.way_back.device_layers import DeviceLayers, KeptLayer, LayersTooLargeError
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.layers import Rule

# Steps from one layer that is kept to the next: from one state, so many steps are gone through again in numpy.
_FEWEST_STEPS_BETWEEN = 12
# Where the layers turn out to be too large, so many times fewer are kept.
_TIMES_FEWER = 4
# States that a search for an origin has room for at first.
_MOST_ALIKE = 64


class DeviceOptimum(DeviceLayers):
    """The search for the best cycle of one block by the gains of a rule, in kernels.

    The first of the best cycles comes from the state `origin` of the last kept layer before it closes.
    """

    def __init__(self, block: PlannedBlock, rule: Rule, means: Means, saved: SavedForward | None = None) -> None:
        from kernels_ti.boundary.kernels.optimum import optimum_kernels

        self._rule, self.origin = rule, 0
        gains = [rule.added_by(step) for step in block.steps]
        host_memory = None if means.memory is None else means.memory // 2
        # Beside the state, the value and the origin.
        super().__init__(block, means, host_memory, beside=(BIAS, 0))
        self._improve, self._settle, self._matching = optimum_kernels(self._words, self._bits, self._cells)
        self._gain_bases = np.cumsum([0, *map(len, gains)]).tolist()
        self._buffers["gains"] = self._device.buffer(np.array([gain for each in gains for gain in each], np.int64))
        between = _FEWEST_STEPS_BETWEEN
        if host_memory is not None:
            whole = sum(step.cost for step in block.steps) * 8 * self._shape.used
            between = max(between, int(2 * whole / max(host_memory, 1)) + 1)
        # No layer is left out later: what is noted of an origin is of the last one before.
        self._set_out(means, None, between)
        is_through = False
        while not is_through:
            try:
                self._go(saved, len(block.steps))
                is_through = True
            except LayersTooLargeError:
                # Begin again, with fewer layers.
                if self._between >= len(block.steps):
                    raise
                first, saved = self.layers[0], None
                self._set_out(self._means, None, _TIMES_FEWER * self._between)
                rule.best, rule.closed = None, {}
                self._restore(first)

    def _found(self) -> dict[str, Any]:
        return {**super()._found(), "origin": self.origin}

    def _go_on(self, found: dict[str, Any]) -> None:
        super()._go_on(found)
        self.origin = found["origin"]

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        old, rule, copies = self._shape, self._rule, FEW_CELLS
        table, tallies = self._cleared(shape, 1 + 2 * copies * shape.digits)
        before, new = (self._buffers[self._old], old.stride), (table, shape.rows, shape.stride)
        how = (
            self._buffers["spec"], self._bases[self.place],
            self._buffers["bounds"], self._buffers["gains"], self._gain_bases[self.place], int(rule.counts_edges),
        )  # fmt: skip
        for first, last in self._launches():
            self._improve(first, last, *before, *new, *how, self._spread, tallies)
            yield True
        told = self._device.download(tallies)
        if told[FULL]:
            return False
        closed = int(told[2 * TALLIES : 3 * TALLIES].max())
        is_kept = int(self.layers[-1].place == self.place)
        best = closed if rule.best is None or closed >= rule.best + BIAS else 0
        for first, last in self._slices(step, partial(self._carry, shape)):
            self._settle(
                first, last, *before, old.digits, *new, shape.digits, *how, is_kept, best, self._spread,
                copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: ORIGIN + 1 + 2 * copies * shape.digits]
        self._measure(step, told)
        if best:
            ways = closing_ways(told[ORIGIN + 1 :], copies, 1, shape.digits)[0]
            if rule.note(self.place, best - BIAS, ways):
                self.origin = int(told[ORIGIN])
        return True

    def states_at(self, layer: KeptLayer, origin: int) -> Iterator[tuple[Words, int, int]]:
        """Yield the states of a kept layer that may have an origin, mostly one: as numpy has it, its value and origin.

        Its own origin is that of a way with this value.
        """
        for row in self._device.call(self._alike, layer, origin, _MOST_ALIKE):
            yield words_in(row[None], self._cells), int(row[self._cells]) - BIAS, int(row[self._cells + 1])

    def _alike(self, layer: KeptLayer, origin: int, most: int) -> Words:
        device, cells = self._device, layer.cells
        met, found = device.buffer(np.zeros(1, np.uint64)), device.empty(most * cells, np.uint64)
        rows = device.buffer(layer.rows) if layer.on_host else layer.rows
        self._matching(layer.size, cells, origin, rows, most, met, found)
        alike = int(device.download(met)[0])
        if alike > most:
            return self._alike(layer, origin, alike)
        return np.array(device.download(found)).reshape(-1, cells)[:alike]
