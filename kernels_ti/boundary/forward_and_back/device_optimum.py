"""The best cycle of one block in kernels: its value, the cycles that have it, and from where it comes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.forward_and_back.blocks import PlannedBlock
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.saved import SavedForward, SavedLayer
from kernels_ti.boundary.states.states import require_memory
from kernels_ti.boundary.tables.rows import words_in
from kernels_ti.boundary.tables.tables import FEW_CELLS, HALF_BITS, DeviceTables, Shape

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

Words = npt.NDArray[np.uint64]

# Steps from one layer that is kept to the next: from one state, so many steps are gone through again in numpy.
_FEWEST_STEPS_BETWEEN = 12
# The value and the origin.
_BESIDE = 2
_ROWS_TOGETHER = 8
_FOUND = ("best", "ways", "closing_step", "origin")
# States that a search for a key on the device finds.
_MOST_ALIKE = 64


@dataclass(frozen=True, eq=False)
class KeptLayer:
    """The states before a step.

    Attributes
    ----------
    place : int
        The step.
    size, cells : int
        How many states there are, and the cells of each: the state as a table has it, the largest value of a way to it,
        and where that way was in the layer before.
    rows : buffer or ndarray of uint64
    on_host : bool
        Whether the rows have left the device.
    """

    place: int
    size: int
    cells: int
    rows: Any
    on_host: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return 8 * self.size * self.cells


class DeviceOptimum(DeviceTables):
    """The search for the best cycle of one block, in kernels.

    Parameters
    ----------
    device : Device
        A CPU or CUDA.
    block : PlannedBlock
        Simple and undirected, with a boundary of up to `WIDEST` vertices.
    gains : sequence of list of int
        For each step what its vertex adds to the value when it joins, then what the edges to the vertices before add.
    of_edges : bool
        Whether these edges add anything.
    memory, host_memory : int or None
        Bytes that the tables and the layers may take on the device, and layers in the memory of the host.

    Attributes
    ----------
    best : int or None
        The largest value, None before any cycle closes.
    ways : int
        Cycles that have it.
    closing_step : int
        The step in which the first of them closes.
    origin : int
        The state of the last kept layer before, from which it comes.
    layers : list of KeptLayer
    """

    _is_count = False

    def __init__(
        self,
        device: Device,
        block: PlannedBlock,
        gains: Sequence[list[int]],
        *,
        of_edges: bool,
        memory: int | None,
        host_memory: int | None,
    ) -> None:
        self._bounds, self._gains, self._of_edges = block.bounds, gains, of_edges
        super().__init__(device, block.steps, memory, told_apart=int(block.bounds.are_told_apart), beside=_BESIDE)
        self._packing = block.packing
        self._host_memory = host_memory
        self._between = _FEWEST_STEPS_BETWEEN
        if host_memory is not None:
            whole = sum(step.cost for step in block.steps) * 8 * self._shape.words
            self._between = max(self._between, int(2 * whole / max(host_memory, 1)) + 1)
        self.best: int | None = None
        self.ways = self.closing_step = self.origin = 0
        self.layers: list[KeptLayer] = []

    def saved(self, most_states: int) -> SavedForward:
        """Return the state between two vertices; also after a vertex was given up."""
        layers = [self._device.call(self._saved_layer, layer) for layer in self.layers if layer.place < self._place]
        # Between two steps the other table is free.
        rows = self._device.call(self._gathered, self._new)
        now = SavedLayer(self._place, {"most_ways": self._most_ways}, {"rows": rows})
        return SavedForward(
            in_kernels=True,
            between=self._between,
            most_states=most_states,
            found={name: getattr(self, name) for name in _FOUND},
            layers=(*layers, now),
        )

    def resume(self, saved: SavedForward) -> None:
        """Go on from a state of the same block, on any device."""
        *layers, now = saved.layers
        self._between = saved.between
        for name in _FOUND:
            setattr(self, name, saved.found[name])
        self.layers = [
            KeptLayer(layer.place, len(rows), rows.shape[1], rows.reshape(-1), on_host=True)
            for layer, rows in ((layer, layer.arrays["rows"]) for layer in layers)
        ]
        self._device.call(self._put_back, now.place, now.arrays["rows"], now.numbers["most_ways"])

    def _saved_layer(self, layer: KeptLayer) -> SavedLayer:
        rows = np.asarray(layer.rows if layer.on_host else self._device.download(layer.rows))
        return SavedLayer(layer.place, {}, {"rows": rows[: layer.size * layer.cells].reshape(layer.size, layer.cells)})

    def words_of(self, rows: Words) -> Words:
        """Return the states of rows as numpy has them, see `kernels_ti.boundary.states.transitions`.

        Parameters
        ----------
        rows : ndarray of uint64, shape (k, cells)

        Returns
        -------
        ndarray of uint64, shape (words, k)
        """
        states = words_in(rows, self._cells)
        told_apart = self._cells - self._words
        words = np.zeros((self._packing.words + told_apart, len(rows)), np.uint64)
        to_a_word, field = 64 // self._bits, np.uint64((1 << self._bits) - 1)
        for slot in range(self._packing.slots):
            symbol = states[slot // to_a_word] >> np.uint64(slot % to_a_word * self._bits) & field
            word, shift = self._packing.place(slot)
            words[word] |= symbol << shift
        if told_apart:
            words[-1] = states[-1]
        return words

    def value_of(self, row: Words) -> int:
        """Return the largest value of a way to the state of a row."""
        from kernels_ti.boundary.kernels.optimum import BIAS

        return int(row[self._cells]) - BIAS

    def origin_of(self, row: Words) -> int:
        """Return where a way with this value was in the kept layer before."""
        return int(row[self._cells + 1])

    def _begin(self) -> None:
        """Make the one state of no vertex, of no value."""
        from kernels_ti.boundary.kernels.optimum import BIAS, optimum_kernels

        super()._begin()
        self._kernels = optimum_kernels(self._words, self._bits, self._cells)
        row = np.array(self._device.download(self._buffers[self._old]))
        row[self._cells] = BIAS
        self._upload(self._old, row)
        self._upload("bounds", self._bounds.limits)
        self._gain_bases = np.cumsum([0, *map(len, self._gains)]).tolist()
        self._upload("gains", np.array([gain for each in self._gains for gain in each], np.int64))

    @property
    def _is_kept(self) -> bool:
        """Whether the states before the next step are kept."""
        return self._place % self._between == 0

    def _take(self, step: Step) -> Generator[bool, None, None]:
        """Let a vertex come; yield between launches."""
        if self._is_kept and (not self.layers or self.layers[-1].place < self._place):
            self._keep_layer()
            yield True
        self._make_room(self._next_shape(step))
        yield from super()._take(step)

    def _cleared(self, shape: Shape, found: int) -> tuple[Any, Any]:
        """Return the other table and the tallies; see `DeviceTables._cleared`."""
        self._make_room(shape)
        return super()._cleared(shape, found)

    def _advanced(self, step: Step, shape: Shape) -> Generator[bool, None, bool]:
        """Put the children of all states into the other table; say whether they fit."""
        from kernels_ti.boundary.kernels.optimum import BIAS, ORIGIN
        from kernels_ti.boundary.kernels.tables import FULL, TALLIES

        old = self._shape
        copies = FEW_CELLS
        table, tallies = self._cleared(shape, 1 + 2 * copies * shape.digits)
        before, new = (self._buffers[self._old], old.stride), (table, shape.rows, shape.stride)
        how = (
            self._tabulate(step), self._buffers["steps"], self._bases[self._place], self._buffers["changes"],
            self._buffers["bounds"], self._buffers["gains"], self._gain_bases[self._place], int(self._of_edges),
        )  # fmt: skip
        for first, last in self._pieces(None):
            self._kernels.improve(first, last, *before, *new, *how, self._spread, tallies)
            yield True
        told = self._device.download(tallies)
        if told[FULL]:
            return False
        closed = int(told[2 * TALLIES : 3 * TALLIES].max())
        best = closed if self.best is None or closed >= self.best + BIAS else 0
        for first, last in self._slices(step, shape):
            self._kernels.settle(
                first, last, *before, old.digits, *new, shape.digits, *how, int(self._is_kept), best, self._spread,
                copies, tallies,
            )  # fmt: skip
            yield True
        told = self._device.download(tallies)[: ORIGIN + 1 + 2 * copies * shape.digits]
        self._measure(step, told)
        if best:
            self._close(best - BIAS, int(told[ORIGIN]), told[ORIGIN + 1 :].reshape(copies, shape.digits, 2))
        return True

    def _close(self, value: int, origin: int, found: np.ndarray) -> None:
        """Take notice of cycles that close with a value that is not less than the best one."""
        from kernels_ti.boundary.kernels.tables import DIGIT_BITS

        if self.best is None or value > self.best:
            self.best, self.ways, self.closing_step, self.origin = value, 0, self._place, origin
        for digit, (low, high) in enumerate(found.astype(object).sum(axis=0).tolist()):
            self.ways += low + (high << HALF_BITS) << DIGIT_BITS * digit

    def rows_at(self, layer: KeptLayer, origin: int) -> Words:
        """Return the rows of a kept layer that begin with a key, shape (k, cells): mostly one.

        States may share their keys, if they take several words.
        """
        if not layer.on_host:
            found = self._device.call(self._matching, layer, origin)
            if found is not None:
                return found
        held = layer.rows if layer.on_host else self._device.download(layer.rows)
        rows = np.asarray(held).reshape(-1, layer.cells)[: layer.size]
        return np.asarray(rows[rows[:, 0] == np.uint64(origin)])

    def _matching(self, layer: KeptLayer, origin: int) -> Words | None:
        """Look for a key on the device; return None where more states have it than are looked for."""
        from kernels_ti.boundary.kernels.optimum import matching

        met = self._device.buffer(np.zeros(1, np.uint64))
        found = self._device.empty(_MOST_ALIKE * layer.cells, np.uint64)
        matching(layer.size, layer.cells, origin, layer.rows, _MOST_ALIKE, met, found)
        alike = int(self._device.download(met)[0])
        if alike > _MOST_ALIKE:
            return None
        return np.array(self._device.download(found)).reshape(-1, layer.cells)[:alike]

    def _keep_layer(self) -> None:
        """Keep the states, with their values and where these come from, without gaps."""
        from kernels_ti.boundary.kernels.gather import gather

        cells = self._shape.words
        rows: Any = self._device.empty(self.states * cells, np.uint64)
        met = self._device.buffer(np.zeros(1, np.uint64))
        gather(self._shape.rows, self._shape.stride, cells, _ROWS_TOGETHER, self._buffers[self._old], met, rows)
        self.layers.append(KeptLayer(self._place, self.states, cells, rows))

    def _beside_other_table(self) -> int:
        """Return the bytes of all buffers but the other table, with the layers on the device."""
        return super()._beside_other_table() + sum(layer.nbytes for layer in self.layers if not layer.on_host)

    def _make_room(self, shape: Shape) -> None:
        """Move the kept layers to the host where the next table does not fit beside them."""
        if self._other_table(shape) <= self._room() or all(layer.on_host for layer in self.layers):
            return
        held = sum(layer.nbytes for layer in self.layers)
        require_memory(held, self._host_memory, self.states, self.width, by_length=False, is_count=False)
        self.layers = [
            layer if layer.on_host else replace(layer, rows=self._device.download(layer.rows), on_host=True)
            for layer in self.layers
        ]
