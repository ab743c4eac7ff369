"""The count of one block on all cores of a CPU, in kernels that share nothing but a queue."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernels_ti.boundary.executors.forward import (
    FEWEST_NUMBERS,
    STATES_AT_ONCE,
    Completion,
    Forward,
    go_through,
    slices,
)
from kernels_ti.boundary.executors.parts import FOR_THE_NEXT_LAYER, Parts
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.packing import DONE, WINDOW
from kernels_ti.boundary.values.saved import (
    SavedBlock,
    SavedStates,
    rows_by_length,
    rows_of_totals,
    states_by_length,
    totals_of_rows,
)
from kernels_ti.device.device import Device
from kernels_ti.errors import SizeError

# Room for the new layer, in rows for each state of the old one, and where there is less memory. Then none at all: the
# workers tell how much it takes.
_GROWTH, _SMALL_GROWTH, _TIGHTEST = 4, 1.3, 2
# Lengths for which a state has room beyond those that the states have on average.
_NUMBERS_TO_SPARE = 2
# Halves of a digit, which are added up for all workers without overflow.
_HALF, _LOW_HALF = 32, (1 << 32) - 1
# Workers write numbers of their own so many cells apart: no two of them write to one line of the cache.
_LINE = 8


@dataclass(frozen=True)
class _Attempt:
    """With how much room a stretch is tried: what it takes is known once it is through."""

    vertices: int  # That come
    digits: int  # Of the ways to a state that follows
    room: int  # Rows of a layer of a worker
    cells: int  # Cells for ways of a worker
    rows: int  # Of the new layer
    ways: int  # Cells for ways of the new layer
    tight: int  # How much less room than wanted this is: 0, 1, or `_TIGHTEST`


class CoresBlock(Forward):
    """The count of one block, on all cores of a CPU. Its width must fit kernels."""

    def __init__(self, device: Device, block: OrderedBlock, longest: int | None, memory: int | None) -> None:
        from kernels_ti.boundary.kernels.stretch import stretch_kernel

        super().__init__(block, memory, longest)
        self._device = device
        self._completion = Completion(block)
        spec, self._bases = block.coded
        self._spec = device.buffer(spec)
        self._kernel = stretch_kernel(self._packing.words, self._packing.bits, by_length=longest is not None)
        # The pieces of a state end at its boundary: in a bipartite graph this tells whether their vertices are even.
        self._apart = 2 if block.is_bipartite else 1
        self._digits = 1
        self._parts = Parts(device, block, memory, by_length=longest is not None)
        # Cells that hold the ways to all states, in a count by length.
        self._cells = 1
        self._begin(SavedStates(np.zeros((self._packing.words, 1), np.uint64), np.ones((1, 1, 1), np.uint64)))

    @property
    def states(self) -> int:
        """States held now."""
        return self._parts.states

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertices come, as many as one launch can take; see `PythonBlock.take_vertex`."""
        go_through(self._device, self._take(), enough)
        self._go_to(self.place + len(self.states_met))

    def saved(self) -> SavedBlock:
        """Return the count between two vertices; also after a vertex was given up."""
        rows = self._parts.occupied()
        if self._longest is None:
            return self._saved_with(totals_of_rows(rows, self._packing.words))
        ways = self._parts.buffer("ways", 1)
        return self._saved_with(states_by_length(rows, self._packing.words, ways, self._digits, self._apart))

    def resume(self, saved: SavedBlock) -> None:
        """Go on from a count of the same block, on any device."""
        super().resume(saved)
        self._begin(saved.states)

    def _begin(self, states: SavedStates) -> None:
        if self._longest is None:
            rows, self._digits = rows_of_totals(states)
        else:
            rows, ways, self._digits = rows_by_length(states, self._apart)
            self._parts.buffer("ways", len(ways))[: len(ways)] = ways
            self._cells = len(ways)
        self._parts.begin(rows)

    def _take(self) -> Generator[object, None, None]:
        parts, states = self._parts, self.states
        yield from self._drop()
        yield from parts.prepare(self.place)
        attempt = self._attempt(parts.vertices_apart(), self._digits)
        is_through = False
        while not is_through:
            try:
                is_through = yield from self._fitted(attempt)
            except SizeError:
                if attempt.tight == _TIGHTEST:
                    raise
                parts.buffers.free(*FOR_THE_NEXT_LAYER)
                attempt = self._attempt(1, attempt.digits, attempt.tight + 1)
            else:
                if not is_through:
                    attempt = self._next_attempt(attempt)
        # States that were dropped were met too.
        self.states_met[0] = states
        self._digits = attempt.digits
        parts.follow(self._beside(self._digits))
        if self._longest is not None:
            parts.buffers.swap("ways", "other ways")
            *_, self._cells = parts.report

    def _attempt(self, vertices: int, digits: int, tight: int = 0) -> _Attempt:
        """Return with how much room to let so many vertices come; what is too little is known after an attempt."""
        parts, states = self._parts, max(self.states, 1)
        room = parts.room(vertices)
        rows = [max(_GROWTH * states, room), int(_SMALL_GROWTH * states) + 1, 1][tight]
        if self._longest is None:
            return _Attempt(vertices, digits, room, 0, rows, 1, tight)
        # A vertex that joins makes the windows of lengths wider.
        numbers = self._cells // states // self._digits + _NUMBERS_TO_SPARE + vertices
        numbers = max(numbers, 1) * digits
        return _Attempt(vertices, digits, room, numbers * room, rows, numbers * rows, tight)

    def _next_attempt(self, attempt: _Attempt) -> _Attempt:
        """Return the next attempt after one that failed, by the report of its launches."""
        overflowed, vertices, rows, ways = self._parts.report
        if overflowed:
            return self._attempt(attempt.vertices, attempt.digits + 1, attempt.tight)
        if vertices == 0:
            return replace(attempt, cells=2 * attempt.cells)
        if vertices < attempt.vertices and len(self._parts.table) > 1:
            return replace(attempt, vertices=vertices)
        return replace(attempt, rows=rows, ways=ways)

    def _beside(self, digits: int) -> int:
        return digits if self._longest is None else WINDOW

    def _fitted(self, attempt: _Attempt) -> Generator[None, None, bool]:
        """Put the states that follow a stretch into the other rows; say whether they fit."""
        parts, vertices, digits, room = self._parts, attempt.vertices, attempt.digits, attempt.room
        stride = self._packing.words + self._beside(digits)
        first_room = room if vertices > 1 else room // 2
        is_tight = attempt.tight > 0
        layers = parts.buffer(
            "layers", parts.workers * ((first_room + room) * stride + 2 * attempt.cells), is_tight=is_tight
        )
        links = 0 if self._longest is None else room
        tables = parts.buffer("tables", parts.workers * (2 * room + links), np.int32, is_tight=is_tight)
        new = parts.buffer("other rows", attempt.rows * stride, is_tight=is_tight)
        lengths = 1 if self._longest is None else self.place + vertices
        spread = (max(lengths * digits, vertices) // _LINE + 2) * _LINE
        found = np.zeros((parts.workers, spread), np.uint64)
        met = np.zeros((parts.workers, spread), np.int64)
        table, bases = parts.table.reshape(-1), self._bases[self.place : self.place + vertices]
        ways, new_ways = parts.buffer("ways", 1), parts.buffer("other ways", attempt.ways, is_tight=is_tight)
        cells = 0 if self._longest is None else len(new_ways)
        most = self._block.graph.n if self._longest is None else self._longest - 1
        parts.queue[:] = 0
        parts.queue[DONE] = vertices
        for end in parts.launches(vertices):
            self._kernel(
                parts.workers, table, end, parts.queue, self._spec, vertices, bases,
                parts.buffers["rows"], ways, self._digits, new, len(new) // stride, new_ways, cells, digits,
                self._apart, most, layers, first_room, room, attempt.cells, tables,
                found.reshape(-1), spread, met.reshape(-1),
            )  # fmt: skip
            yield
        overflowed, came, rows, cells_taken = parts.report
        is_whole = came == vertices or (len(parts.table) == 1 and came > 0)
        if overflowed or not is_whole or rows > len(new) // stride or cells_taken > cells:
            return False
        self.states_met = [self.states, *met.sum(axis=0)[: came - 1].tolist()]
        closing = found[:, : lengths * digits].reshape(-1, lengths, digits)
        low, high = (closing & np.uint64(_LOW_HALF)).sum(axis=0), (closing >> np.uint64(_HALF)).sum(axis=0)
        closed = low.astype(object) + (high.astype(object) << _HALF)
        self._close(sum(digit << 64 * k for k, digit in enumerate(number)) for number in closed.tolist())
        return True

    def _drop(self) -> Iterator[object]:
        parts, states = self._parts, self.states
        if self.place == 0 or states == 0:
            return
        numbers = self._digits if self._longest is None else self._cells // states
        # A row of each worker's layers goes with three links and cells of its table.
        likely = int(_SMALL_GROWTH * states) + 3 * parts.workers * parts.largest
        expected = parts.buffers.nbytes_beside(*FOR_THE_NEXT_LAYER)
        expected += 8 * (likely * parts.stride + 3 * parts.workers * parts.largest)
        if self._longest is not None:
            expected += 8 * self._cells * likely // states
        is_short = self._memory is not None and expected > self._memory
        is_due = self._completion.is_due(states, numbers, is_short=is_short, met=sum(self.states_met[1:]))
        if not is_due or not (is_short or numbers >= FEWEST_NUMBERS):
            return
        # That puts the rows behind one another.
        yield from parts.rearrange(self.place)
        pieces = slices(parts.states, STATES_AT_ONCE)
        dead = yield from self._completion.drop(
            self._device, self.place - 1, [parts.buffers["rows"]] * 3, pieces, parts.stride
        )
        self._completion.learn(parts.states, dead)
        parts.states -= dead
