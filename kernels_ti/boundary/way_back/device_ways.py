"""The ways to all states of one block in kernels, and walks back from some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kernels_ti.boundary.arrays import Places, Words
from kernels_ti.boundary.executors.forward import Buffers
from kernels_ti.boundary.executors.tables import Shape
from kernels_ti.boundary.values.numbers import Numbers, picked
from kernels_ti.boundary.values.saved import SavedForward
from kernels_ti.boundary.way_back.blocks import PlannedBlock
from kernels_ti.boundary.way_back.device_layers import DeviceLayers, KeptLayer
from kernels_ti.boundary.way_back.history import Walks
from kernels_ti.boundary.way_back.keeping import Means
from kernels_ti.boundary.way_back.layers import Rule
from kernels_ti.device.device import Device
from kernels_ti.errors import EngineError
from kernels_ti.state import words_for


class DeviceWays(DeviceLayers):
    """The ways to all states of one block, in kernels, with its layers; see `History` for the parameters."""

    def __init__(self, block: PlannedBlock, means: Means, saved: SavedForward | None = None) -> None:
        from kernels_ti.boundary.kernels.ways import ways_kernels

        self._rule = Rule(block)
        host_memory = None if means.memory is None else means.memory // 2
        super().__init__(block, means, host_memory)
        self._put_down, self._find_parents, self._go_back = ways_kernels(self._words, self._bits, self._cells)
        self._set_out(means, host_memory)
        self._go(saved, len(block.steps))

    def members(self, numbers: Numbers, names: Sequence[int], vertices: int) -> Words:
        """Return the cycles for some numbers of the block by going back once; see `History.members`.

        The ways to a state are taken in an order that does not depend on the threads or on the arch.
        """
        walks = Walks(numbers, self._rule.closed)
        back = _WalksOnDevice(self._device, walks, words_for(vertices))
        for layer in self._back(walks.last + 1, self._budget):
            self._device.call(self._step_back, back, layer, names[self._steps[layer.place].vertex])
        return back.members()

    def _step_back(self, back: _WalksOnDevice, layer: KeptLayer, vertex: int) -> None:
        """Take all walks back by one step."""
        walks, device, cells = back.walks, self._device, layer.cells
        going, begun = walks.begun(layer.place)
        rows = device.buffer(layer.rows) if layer.on_host else layer.rows
        self.place, self.states = layer.place, layer.size
        self._shape = Shape(layer.size, self._cells, cells - self._cells)
        how = self._buffers["spec"], self._bases[layer.place], self._buffers["bounds"]
        size = 2 * min(going, back.states) + 1
        wanted = back.wanted(self._put_down, going, size, self._cells)
        places, parents = np.zeros(size + 1, np.int32), back.buffers.grown("parents", 1, np.int32)
        for notes in range(2):
            counts = back.buffers.grown("counts", size + 1, np.int32)
            device.upload(places, counts)
            for first, last in self._launches():
                self._find_parents(first, last, rows, cells, *how, wanted, size, counts, notes, parents)
            if notes == 0:
                found = np.array(device.download(counts)[: size + 1])
                ends = np.cumsum(found, dtype=np.int64)
                places = (ends - found).astype(np.int32)
                parents = back.buffers.grown("parents", int(ends[-1]), np.int32)
        if going:
            self._go_back(
                going, back.at, back.where, counts, parents, rows, cells, back.rest, back.digits,
                back.bits, back.words, vertex // 64, 1 << vertex % 64, back.failed,
            )  # fmt: skip
        if begun > going:
            closing = np.array(device.download(parents)[ends[-2] : ends[-1]])
            back.begin(going, begun, closing, rows, cells, self._cells, vertex)
        back.following, back.stride, back.states = rows, cells, layer.size

    def _close(self, found: Iterable[int]) -> None:
        (ways,) = found
        if ways:
            self._rule.closed[self.place] = ways


class _WalksOnDevice:
    """Walks that go back through layers on a device.

    They are in the layer of the rows `following`: `states` rows of `stride` cells.
    """

    def __init__(self, device: Device, walks: Walks, words: int) -> None:
        self.walks, self._device, self.words = walks, device, words
        k, self.digits = len(walks), len(walks.rest.digits)
        self.at = device.buffer(np.zeros(k, np.int32))
        self.where = device.buffer(np.zeros(k, np.int32))
        self.rest = device.buffer(np.zeros(k * self.digits, np.uint64))
        self.bits = device.buffer(np.zeros(k * words, np.uint64))
        self.failed = device.buffer(np.zeros(1, np.uint64))
        self.following: Any = None
        self.stride = self.states = 0
        self.buffers = Buffers(device)

    def wanted(self, put_down: Any, going: int, size: int, cells: int) -> Any:
        """Return a table of the states of the walks, of so many rows; it has empty ones."""
        from kernels_ti.boundary.kernels.tables import clear

        table = self.buffers.grown("wanted", size * cells, np.uint64)
        clear(size * cells, table, 0, self.failed)
        if going:
            put_down(going, self.at, self.following, self.stride, table, size, self.where, self.failed)
        return table

    def begin(self, first: int, last: int, closing: Places, rows: Any, stride: int, cells: int, vertex: int) -> None:
        """Begin some walks, each in one of the states in which the vertex closes a cycle."""
        from kernels_ti.boundary.kernels.ways import begin, copy_rows

        device = self._device
        copies = device.empty(len(closing) * stride, np.uint64)
        copy_rows(len(closing), device.buffer(closing), stride, rows, copies)
        states = np.array(device.download(copies)).reshape(-1, stride).T
        order = np.lexsort(states[:cells][::-1])
        new = np.zeros(last - first, np.int64)
        numbers = Numbers(self.walks.rest.digits[:, first:last])
        picks, left = picked(Numbers(states[cells:, order]), new, new + len(closing), numbers)
        word, bit = divmod(vertex, 64)
        begin(
            first, last, device.buffer(closing[order[picks]] >> 1), device.buffer(left.digits.T.reshape(-1)),
            self.digits, self.at, self.rest, self.bits, self.words, word, 1 << bit,
        )  # fmt: skip

    def members(self) -> Words:
        """Return the vertices of all cycles as bit rows, in the order of the numbers."""
        rest, failed = (self._device.download(buffer) for buffer in (self.rest, self.failed))
        if rest.any() or failed.any():
            raise EngineError("internal error: the way back to a cycle has a rest")
        found = np.empty((len(self.walks), self.words), np.uint64)
        found[self.walks.order] = self._device.download(self.bits).reshape(-1, self.words)
        return found
