"""Layers of a block in kernels: kept on the device as long as they fit beside the tables, then by the host."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernels_ti.boundary.arrays import Words
from kernels_ti.boundary.executors.tables import DeviceTables, Shape
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import require_memory
from kernels_ti.boundary.values.saved import SavedLayer
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock
from kernels_ti.boundary.way_back.layers import Kept, KeptWay
from kernels_ti.errors import SizeError


@dataclass(frozen=True, eq=False)
class KeptLayer(Kept):
    """The states before a step: rows of the state as a table has it, and its values."""

    place: int
    size: int
    cells: int  # Of a row
    rows: Any  # A buffer, or on the host an array of uint64
    most_ways: int  # No number of ways is larger
    on_host: bool = False

    @cached_property
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

    def __init__(
        self, block: PlannedBlock, means: Means, host_memory: int | None, *, beside: Sequence[int] = ()
    ) -> None:
        device, memory = means.device, means.device_memory
        assert device is not None
        self._host_memory = host_memory
        self._host_is_apart = device.arch != "cpu" or host_memory is None
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
            require_memory(
                held, self._host_memory, self.states, self._block, self.place, of_a_state=0.0, is_count=False
            )
        except SizeError as error:
            raise LayersTooLargeError(*error.args) from None
        self.layers[:] = [
            layer if layer.on_host else replace(layer, rows=self._device.download(layer.rows), on_host=True)
            for layer in self.layers
        ]
