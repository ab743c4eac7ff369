"""A count by length of one block in several passes, where its states with a number for each length do not fit.

The first pass counts all lengths together. The others count modulo primes. Where the remainders of all lengths fit, and
are not slower than what follows, there is one pass for each prime. Otherwise a pass carries values of the polynomial
whose coefficients are the cycles by length, at as many points at once as fit. See
`kernels_ti.boundary.values.numbers` for how these tell the exact counts.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kernels_ti.boundary.executors.on_device import DeviceBlock, LengthsModulo
from kernels_ti.boundary.executors.tables import DeviceTables, Shape, cells_of_two_tables
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.packing import DIGIT_LIMIT, TALLIES
from kernels_ti.boundary.values.numbers import coefficients, combined, primes_beyond, values_at
from kernels_ti.boundary.values.saved import SavedBlock, SavedPasses, SavedStates
from kernels_ti.device.device import Device
from kernels_ti.errors import EngineError, SizeError

PRIME_BITS = 48
"""The primes are the largest below 2 to this power."""
MOST_VERTICES = 1 << 16
"""Of a block: there are fewer points than that, see `kernels_ti.boundary.kernels.count`."""

SHORTEST = 3
"""No chordless cycle has fewer vertices."""
ROWS_TO_A_STATE = 1.5
"""Rows of the largest table for each of its states: fewer take more time, but leave room for more numbers."""
NUMBERS_OF_A_ROW = 8
"""Beside its numbers, a row costs about as much time as so many of them."""
# A pass at points takes so many times as long as the first pass, or less; seconds in which kernels may be compiled.
_LONGER, _PATIENCE = 1.5, 5.0


class BlockAtPoints(DeviceTables):
    """The polynomial whose coefficients are a block's cycles by length, at some points from 1 on, modulo a prime.

    The prime is just below 2^48. `values` has the values for the cycles that closed so far. The longest of these has
    `longest` vertices, 0 before any closed.
    """

    _digits_apart = True

    def __init__(self, device: Device, block: OrderedBlock, memory: int | None, points: range, prime: int) -> None:
        self._points, self.prime, self._below = points, prime, DIGIT_LIMIT - prime
        self.longest = 0
        self.values = [0] * len(points)
        super().__init__(device, block, memory, beside=(1,), ways=[1] * len(points))

    def _next_digits(self, step: Step) -> int:
        return len(self._points)

    def _launch(self, first: int, last: int, shape: Shape, table: Any, copies: int, tallies: Any) -> None:
        from kernels_ti.boundary.kernels.count import points_kernel

        points_kernel(self._words, self._bits)(
            first, last, self._buffers[self._old], self._shape.stride,
            table, shape.rows, shape.stride, shape.digits, self._points.start, self._below,
            self._buffers["spec"], self._bases[self.place],
            self._spread, copies, tallies,
        )  # fmt: skip

    def _measure(self, step: Step, told: np.ndarray) -> None:
        super()._measure(step, told)
        self.longest = max(self.longest, int(told[2 * TALLIES : 3 * TALLIES].max()))

    def _close(self, found: Iterable[int]) -> None:
        self.values = [(value + more) % self.prime for value, more in zip(self.values, found, strict=True)]


class BlockInPasses:
    """The count of one block by length, in kernels, from the passes of `saved` on; `cycles` is known in the end.

    `known` is what the passes that are made have found, None before the first one is.
    """

    _prime_bits = PRIME_BITS

    def __init__(
        self,
        device: Device,
        block: OrderedBlock,
        longest: int | None,
        memory: int | None,
        saved: SavedPasses | None = None,
    ) -> None:
        self._device, self._block = device, block
        self._longest, self._memory = longest, memory
        self.states_met: list[int] = []
        self.cycles: dict[int, int] = {}
        self.triangles = 0
        self.known: SavedPasses | None = None
        self._primes: list[int] = []
        self._points_that_fit = self._most_states = 1
        self._takes_all_lengths = True
        self.finished = False
        self._pass: DeviceTables | None = None
        # Of the pass that is under way, and of the first one, if that was made here.
        self._seconds, self._first_seconds = 0.0, math.inf
        if saved is not None:
            self._first_pass_is_made(saved)

    @property
    def states(self) -> int:
        """States held now."""
        return 0 if self._pass is None else self._pass.states

    @property
    def place(self) -> int:
        """Vertices that have come in this pass."""
        return 0 if self._pass is None else self._pass.place

    @property
    def passes(self) -> tuple[int, int]:
        """The number of the pass that is under way, from 1, and that of all; 0 before the first pass has told it."""
        known = self.known
        if known is None:
            return 1, 0
        made = [len(known.values.get(prime, ())) for prime in self._primes]
        before = 1 + sum(math.ceil(values / self._at_once) for values in made)
        left = sum(math.ceil(max(self._lengths - values, 0) / self._at_once) for values in made)
        return before + (left > 0), before + left

    def take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let the next vertex of a pass come; see `PythonBlock.take_vertex`. A pass that is given up can go on."""
        if self._pass is None:
            if self._most_states > 1:
                # Reference cycles of the compiler hold the tables of the previous pass.
                gc.collect()
            self._pass, self._seconds = self._next_pass(), 0.0
        self.states_met = [self._pass.states]
        began = time.perf_counter()
        try:
            self._pass.take_vertex(enough)
        except SizeError:
            if not self._takes_less(self._pass):
                raise
            self._pass = None
            return
        finally:
            self._seconds += time.perf_counter() - began
        self._most_states = max(self._most_states, self._pass.states)
        if self._pass.finished:
            self._end_pass(self._pass)
            self._pass = None
        elif isinstance(self._pass, LengthsModulo):
            # About how long all points take, modulo one prime.
            at_points = _LONGER * self._first_seconds * math.ceil(self._lengths / self._points_that_fit)
            if self._seconds > max(at_points, _PATIENCE):
                self._takes_all_lengths, self._pass = False, None

    def _takes_less(self, too_large: DeviceTables) -> bool:
        """Let the next pass take less room than one that did not fit; say whether it can."""
        if isinstance(too_large, LengthsModulo):
            self._takes_all_lengths = False
            return True
        if isinstance(too_large, BlockAtPoints) and self._points_that_fit > 1:
            self._points_that_fit //= 2
            return True
        return False

    def saved(self) -> SavedBlock:
        """Return the passes that are made; the one that is under way is begun anew."""
        words = np.zeros((self._block.packing.words, 1), np.uint64)
        states = SavedStates(words, np.ones((1, 1, 1), np.uint64))
        return SavedBlock(0, states, {}, 0, self.known)

    @property
    def _at_once(self) -> int:
        """Numbers that a pass carries for each state, or finds for all lengths."""
        return max(self._lengths, 1) if self._takes_all_lengths else self._points_that_fit

    @property
    def _lengths(self) -> int:
        """How many lengths there may be: as many points are needed."""
        known = self.known
        most = self._block.graph.n if known is None or known.longest is None else known.longest
        return max(most - SHORTEST + 1, 0)

    @property
    def _passed(self) -> float:
        """Expected part of the pass that is under way that is done."""
        steps = self._block.steps
        return sum(step.cost for step in steps[: self.place]) / sum(step.cost for step in steps)

    @property
    def share(self) -> float:
        """Expected part of the work that is done."""
        row = NUMBERS_OF_A_ROW
        known = self.known
        if self.finished:
            return 1.0
        passed = self._passed
        if known is None:
            # Not known yet: how many numbers fit, and how many primes are needed.
            return passed * row / (3 * row + 2 * self._lengths)
        passes = math.ceil(self._lengths / self._at_once) * len(self._primes)
        whole = row + passes * row + len(self._primes) * self._lengths
        done = row + sum(len(values) + row * len(values) / self._at_once for values in known.values.values())
        under_way = 0 if self._pass is None else min(self._at_once, self._lengths)
        return min((done + passed * (row + under_way)) / whole, 1.0)

    def _next_pass(self) -> DeviceTables:
        if self.known is None:
            return DeviceBlock(self._device, self._block, None, self._memory)
        known = self.known
        prime = next(prime for prime in self._primes if len(known.values.get(prime, ())) < self._lengths)
        if self._takes_all_lengths:
            return LengthsModulo(self._device, self._block, self._memory, prime)
        made = len(known.values.get(prime, ()))
        left = self._lengths - made
        # The passes that are left are of equal size.
        points = range(made + 1, made + 1 + math.ceil(left / math.ceil(left / self._at_once)))
        return BlockAtPoints(self._device, self._block, self._memory, points, prime)

    def _end_pass(self, made: DeviceTables) -> None:
        known = self.known
        if known is None:
            assert isinstance(made, DeviceBlock)
            known = SavedPasses(made.cycles.get(0, 0), made.triangles, self._most_states, None, {})
            self._first_seconds = self._seconds
            self._first_pass_is_made(known)
            return
        assert isinstance(made, LengthsModulo | BlockAtPoints)
        if isinstance(made, BlockAtPoints):
            values = (*known.values.get(made.prime, ()), *made.values)
        else:
            # A checkpoint has values at points, so that a pass of either kind can follow.
            cycles = [made.cycles.get(length, 0) for length in range(made.longest + 1)]
            values = tuple(values_at(cycles, range(1, made.longest - SHORTEST + 2), made.prime))
        self.known = known = replace(known, longest=made.longest, values={**known.values, made.prime: values})
        self._finish_if_known(known)

    def _first_pass_is_made(self, known: SavedPasses) -> None:
        self.known, self.triangles = known, known.triangles
        self._primes = primes_beyond(known.total, self._prime_bits)
        # As many numbers to a state as are expected to fit.
        beside, rows = self._block.packing.words + 1, ROWS_TO_A_STATE * known.most_states
        self._points_that_fit = max(min(int(cells_of_two_tables(self._memory) / rows) - beside, self._lengths), 1)
        self._finish_if_known(known)

    def _finish_if_known(self, known: SavedPasses) -> None:
        """Work out the counts, once there are enough values modulo each prime."""
        if all(len(known.values.get(prime, ())) >= self._lengths for prime in self._primes):
            self.finished = True
            if known.total:
                self._work_out(known)

    def _work_out(self, known: SavedPasses) -> None:
        assert self._longest is not None
        # Each cycle has three vertices or more, so the values are divided by z^3.
        parts = []
        for prime in self._primes:
            values = known.values[prime][: self._lengths]
            divided = [value * pow(z, -SHORTEST, prime) % prime for z, value in enumerate(values, start=1)]
            parts.append(coefficients(divided, prime))
        counts = [combined(remainders, self._primes) for remainders in zip(*parts, strict=True)]
        if sum(counts) != known.total:
            raise EngineError("internal error: the counts by length do not add up to the total")
        self.cycles = {
            length: count for length, count in enumerate(counts, start=SHORTEST) if count and length <= self._longest
        }
