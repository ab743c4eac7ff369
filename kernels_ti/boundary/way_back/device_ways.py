"""The way back in kernels: walks from some states of a block, and the best cycle with how many have its value.

Layers are kept on the device as long as they fit beside the tables, then by the host.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.boundary.arrays import Places, Words
from kernels_ti.boundary.executors.forward import Buffers
from kernels_ti.boundary.executors.tables import FEW_CELLS, DeviceTables, Shape, closing_ways
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import require_memory
from kernels_ti.boundary.spec.packing import BIAS, FULL, ORIGIN, TALLIES
from kernels_ti.boundary.values.numbers import Numbers, picked
from kernels_ti.boundary.values.saved import SavedForward, SavedLayer, words_in
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock
from kernels_ti.boundary.way_back.history import Walks
from kernels_ti.boundary.way_back.layers import Kept, KeptWay, Rule
from kernels_ti.device.device import Device
from kernels_ti.errors import EngineError, SizeError
from kernels_ti.state import words_for


@dataclass(frozen=True, eq=False)
class KeptLayer(Kept):
    """The states before a step: rows of the state as a table has it, and its values."""

    place: int
    size: int
    cells: int  # Of a row
    rows: Any  # A buffer, or on the host an array of uint64
    most_ways: int  # No number of ways is larger
    on_host: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return 8 * self.size * self.cells


class LayersTooLargeError(SizeError):
    """The tables would fit into the memory, but not beside the layers that are kept."""


class DeviceLayers(DeviceTables, KeptWay[KeptLayer]):
    """The states of one block in tables, and some layers of them.

    Tables and layers stay within the memory of the device, and layers in that of the host within the host's. On the CPU
    that is one memory: with a bound on the host's, all of them together stay within that of the device. For `beside`
    see `DeviceTables`.
    """

    _is_count = False
    _in_kernels = True

    def __init__(self, block: PlannedBlock, means: Means, *, beside: Sequence[int] = ()) -> None:
        device, memory = means.device, means.device_memory
        assert device is not None
        self._host_memory = None if means.memory is None else means.memory // 2
        self._host_is_apart = device.arch != "cpu" or means.memory is None
        self.layers = []
        super().__init__(device, block, memory, told_apart=int(block.bounds.are_told_apart), beside=beside)
        self._buffers["bounds"] = device.buffer(block.bounds.limits)

    def rows_of(self, layer: KeptLayer) -> Words:
        """Return the rows of a layer, shape (k, cells)."""
        rows = layer.rows if layer.on_host else self._device.download(layer.rows)
        return np.asarray(rows)[: layer.size * layer.cells].reshape(layer.size, layer.cells)

    def _layer(self) -> KeptLayer:
        """Copy the states, with their values, without gaps; every digit is small."""
        shape = self._shape
        cells = shape.used
        if not self._host_is_apart and 8 * self.states * cells + self._other_table(shape) > self._room():
            # The next step makes it again, or is refused: what is saved then must have room.
            self._buffers.free(self._new)
        rows: Any = self._device.empty(max(self.states * cells, 1), np.uint64)
        self._gather(rows, shape.digits)
        return KeptLayer(self.place, self.states, cells, rows, self._most_ways)

    def _keep(self) -> KeptLayer:
        return self._device.call(self._layer)

    def _come(self) -> None:
        self.take_vertex(self._means.enough)

    def _restore(self, layer: KeptLayer) -> None:
        self._put_back(layer.place, self.rows_of(layer), layer.most_ways)

    def _rest(self) -> None:
        # Other blocks come before the way back.
        self._buffers.free(self._old, self._new)

    def _saved_layer(self, layer: KeptLayer) -> SavedLayer:
        return SavedLayer(layer.place, {"most_ways": layer.most_ways}, {"rows": self.rows_of(layer)})

    def _restored(self, saved: SavedLayer) -> KeptLayer:
        rows = saved.arrays["rows"]
        size, cells = rows.shape
        flat = np.ascontiguousarray(rows).reshape(-1)
        return KeptLayer(saved.place, size, cells, flat, saved.numbers.get("most_ways", 1), on_host=True)

    def _take(self, step: Step) -> Generator[bool, None, None]:
        self._make_room(self._next_shape(step))
        yield from super()._take(step)

    def _cleared(self, shape: Shape, found: int) -> tuple[Any, Any]:
        self._make_room(shape)
        return super()._cleared(shape, found)

    def _beside_other_table(self) -> int:
        """Return the bytes of all buffers but the other table, with the layers in the same memory."""
        here = [layer.nbytes for layer in self.layers if not (layer.on_host and self._host_is_apart)]
        return super()._beside_other_table() + sum(here)

    def _require_room(self, shape: Shape) -> None:
        try:
            super()._require_room(shape)
        except SizeError as error:
            alone = super()._beside_other_table() + self._other_table(shape)
            if self._memory is None or alone > self._memory:
                raise
            raise LayersTooLargeError(*error.args) from None

    def _make_room(self, shape: Shape) -> None:
        """Move the layers to the host where the next table does not fit beside them."""
        is_there = not self._host_is_apart or all(layer.on_host for layer in self.layers)
        if is_there or self._other_table(shape) <= self._room():
            return
        held = sum(layer.nbytes for layer in self.layers)
        try:
            require_memory(held, self._host_memory, self.states, self._block, self.place, of_a_state=0.0)
        except SizeError as error:
            raise LayersTooLargeError(*error.args) from None
        self.layers[:] = [
            layer if layer.on_host else replace(layer, rows=self._device.download(layer.rows), on_host=True)
            for layer in self.layers
        ]


class DeviceWays(DeviceLayers):
    """The ways to all states of one block, in kernels, with its layers; see `History` for the parameters."""

    def __init__(self, block: PlannedBlock, means: Means, saved: SavedForward | None = None) -> None:
        from kernels_ti.boundary.kernels.ways import ways_kernels

        self._rule = Rule(block)
        super().__init__(block, means)
        self._put_down, self._find_parents, self._go_back = ways_kernels(self._words, self._bits, self._cells)
        self._set_out(means, self._host_memory)
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
        from kernels_ti.boundary.kernels.tables import clear

        walks, device, cells = back.walks, self._device, layer.cells
        going, begun = walks.begun(layer.place)
        rows = device.buffer(layer.rows) if layer.on_host else layer.rows
        self.place, self.states = layer.place, layer.size
        self._shape = Shape(layer.size, self._cells, cells - self._cells)
        how = self._buffers["spec"], self._bases[layer.place], self._buffers["bounds"]
        size = 2 * min(going, back.states) + 1
        wanted = back.buffers.grown("wanted", size * self._cells, np.uint64)
        clear(size * self._cells, wanted, 0, back.failed)
        if going:
            self._put_down(going, back.at, back.following, back.stride, wanted, size, back.where, back.failed)
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


# Steps from one layer that is kept to the next: from one state, so many steps are gone through again in numpy.
_FEWEST_STEPS_BETWEEN = 12
# Where the layers turn out to be too large, so many times fewer are kept.
_TIMES_FEWER = 4
# States that a search for an origin has room for at first.
_MOST_ALIKE = 64


class DeviceOptimum(DeviceLayers):
    """The search for the best cycle of one block by the gains of a rule, in kernels."""

    def __init__(self, block: PlannedBlock, rule: Rule, means: Means, saved: SavedForward | None = None) -> None:
        from kernels_ti.boundary.kernels.ways import optimum_kernels

        self._rule = rule
        gains = [rule.added_by(step) for step in block.steps]
        # Beside the state, the value and the origin.
        super().__init__(block, means, beside=(BIAS, 0))
        self._improve, self._settle, self._matching = optimum_kernels(self._words, self._bits, self._cells)
        self._gain_bases = np.cumsum([0, *map(len, gains)]).tolist()
        self._buffers["gains"] = self._device.buffer(np.array([gain for each in gains for gain in each], np.int64))
        between = _FEWEST_STEPS_BETWEEN
        if self._host_memory is not None:
            whole = sum(step.cost for step in block.steps) * 8 * self._shape.used
            between = max(between, int(2 * whole / max(self._host_memory, 1)) + 1)
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

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
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
                rule.origin = int(told[ORIGIN])
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
