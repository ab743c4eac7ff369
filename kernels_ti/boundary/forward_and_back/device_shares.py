"""The cycles through each vertex and each edge of one block, in kernels: forward as for a sample, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.forward_and_back.device_ways import DeviceWays, WaysLayer
from kernels_ti.boundary.forward_and_back.numbers import Numbers
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.states import GivenUp, require_memory
from kernels_ti.boundary.tables.tables import MOST_CELLS, Shape
from kernels_ti.errors import EngineError, SizeError

Words = npt.NDArray[np.uint64]

# Work items of a launch that add up, and the fewest rows for each.
_ITEMS = {"cpu": 1 << 8, "cuda": 1 << 15}
_FEWEST_ROWS_TO_AN_ITEM = 16


class DeviceShares(DeviceWays):
    """The ways to all states of one block, and on the way back the cycles through its vertices and edges.

    See `DeviceWays` for the parameters.
    """

    def passing(
        self, report: Callable[[Step, int], None] = lambda step, states: None
    ) -> Iterator[tuple[Step, list[int]]]:
        """Go back once; yield each step with the cycles through its vertex, and through the edge to each of `near`.

        An edge comes with the step of that one of its vertices that comes last.

        Parameters
        ----------
        report : callable, optional
            Told each step, and the states before it.

        Raises
        ------
        EngineError
            If the numbers of cycles that were counted on both ways differ.
        GivenUp
        SizeError
            If a layer and the one that follows do not fit into the memory.
        """
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        wide = max(-(-self.total.bit_length() // DIGIT_BITS), 1)
        following = np.zeros((0, self._cells), np.uint64)
        after: Any = self._device.buffer(np.zeros(wide, np.uint64))
        for layer in self._backward(self._layers, len(self._steps), self._host_memory):
            step = self._steps[layer.place]
            self._device.call(self._drop_tables)
            self._require_two_layers(layer, following, wide)
            # A device has no buffers without cells.
            sums = np.zeros((1 + len(step.near), 2 * wide), np.uint64)
            if len(layer.rows):
                sums, after = self._before_step(layer, following, after, wide)
            following = layer.rows
            report(step, len(layer.rows))
            yield step, [Numbers.of_halves(halves) for halves in sums.tolist()]
        if Numbers(self._device.download(after)[:wide, None]).at(0) != self.total:
            raise EngineError("internal error: the way back counts other cycles than the way forward")

    def _before_step(self, layer: WaysLayer, following: Words, after: Any, wide: int) -> tuple[Words, Any]:
        """Go back by one step.

        Parameters
        ----------
        layer : WaysLayer
            The states before the step.
        following : ndarray of uint64, shape (k, cells)
            Rows of the states after it.
        after : buffer
            The completions of these.
        wide : int
            Digits of a number of completions.

        Returns
        -------
        sums : ndarray of uint64, shape (1 + near, 2 * wide)
            The cycles through the vertex and through its edges, in halves of digits that may be too large.
        before : buffer
            The completions of the states of the layer.
        """
        from kernels_ti.boundary.kernels.shares import LINKED, share_kernels
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS, carry

        device, count, stride = self._device, len(layer.rows), layer.rows.shape[1]
        kernels = device.call(share_kernels, self._words, self._bits, self._cells)
        self._place, self.states = layer.place, count
        self._shape = Shape(count, self._cells, 1, stride - self._cells)
        table, size = self._table_of(kernels, following)
        rows = device.buffer(np.ascontiguousarray(layer.rows).reshape(-1))
        # Digits of sums may be too large until the next step has carried.
        device.call(carry, count, stride, self._cells, 1, stride - self._cells, rows)
        links = device.empty(LINKED * count, np.uint64)
        how = (
            device.call(self._tabulate, self._steps[layer.place]), self._buffers["steps"], self._bases[layer.place],
            self._buffers["changes"], self._buffers["bounds"],
        )  # fmt: skip
        for first, last in self._looked_between(self._shape):
            device.call(partial(kernels.link, first, last, rows, stride, *how, table, size, links))
        near = len(self._steps[layer.place].near)
        items = self._items(count)
        sums = device.buffer(np.zeros(items * (1 + near) * 2 * wide, np.uint64))
        before = device.empty(count * wide, np.uint64)
        for first, last in self._looked_between(self._shape):
            device.call(
                kernels.complete, first, last, items, self._spread, int(device.arch != "cpu"),
                links, LINKED, rows, stride, self._cells, stride - self._cells, DIGIT_BITS, wide, after, before, near,
                sums,
            )  # fmt: skip
        return device.download(sums).reshape(items, 1 + near, 2 * wide).sum(axis=0), before

    def _table_of(self, kernels: Any, following: Words) -> tuple[Any, int]:
        """Return a table of states with the numbers of their rows, half empty, and its rows."""
        from kernels_ti.boundary.kernels.tables import clear

        device, stride, size = self._device, following.shape[1], 2 * len(following) + 1
        full = device.buffer(np.zeros(1, np.uint64))
        table = device.empty(size * (self._cells + 1), np.uint64)
        device.call(clear, size * (self._cells + 1), table, 1, full)
        if len(following):
            rows = device.buffer(np.ascontiguousarray(following).reshape(-1))
            for first, last in self._looked_between(Shape(len(following), stride, 1, 0)):
                device.call(kernels.put_down, first, last, rows, stride, table, size, full)
        if int(device.download(full)[0]):
            raise EngineError("internal error: a table that is half empty has no room for a state")
        return table, size

    def _items(self, count: int) -> int:
        """Return how many work items add up the cycles of so many states."""
        return min(max(count // _FEWEST_ROWS_TO_AN_ITEM, 1), _ITEMS[self._device.arch])

    def _looked_between(self, shape: Shape) -> Iterator[tuple[int, int]]:
        """Cut rows into pieces for one launch each, and look between these whether it is enough."""
        for piece in self._launches(shape, None):
            if self._enough():
                raise GivenUp
            yield piece

    def _require_two_layers(self, layer: WaysLayer, following: Words, wide: int) -> None:
        """Refuse a step whose layers do not fit into the memory of the device, or into a buffer."""
        table = (2 * len(following) + 1) * (self._cells + 1)
        count, step = len(layer.rows), self._steps[layer.place]
        sums = self._items(count) * (1 + len(step.near)) * 2 * wide
        cells = table + layer.rows.size + following.size + 2 * count + (count + len(following)) * wide + sums
        require_memory(8 * cells, self._memory, count, step.width, by_length=False, is_count=False)
        if max(table, count * wide) > MOST_CELLS:
            raise SizeError(
                f"{count:,} states need a table of {max(table, count * wide):,} cells, more than the {MOST_CELLS:,} "
                "that kernels can count"
            )
