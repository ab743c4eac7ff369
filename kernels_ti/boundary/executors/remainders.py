"""A count of all cycles of one block together, where exact numbers of its states do not fit into one table.

A state has one word for each of its numbers. Some are remainders modulo primes. One bounds the count from above: all
these share an exponent, and are rounded up. The first pass finds the bound, which tells how many primes there have to
be (the Chinese remainder theorem), and as many remainders as fit beside it. Further passes find the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernels_ti.boundary.executors.forward import Completion
from kernels_ti.boundary.executors.in_passes import BlockInPasses
from kernels_ti.boundary.executors.tables import MOST_CELLS, DeviceTables, Shape
from kernels_ti.boundary.orders.walk import Step, most_additions
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.spec.packing import DIGIT_BITS, TALLIES
from kernels_ti.boundary.values.numbers import combined, largest_primes
from kernels_ti.boundary.values.saved import SavedPasses
from kernels_ti.device.device import Device
from kernels_ti.errors import EngineError

MOST_WORDS, MOST_NUMBERS = 3, 5
"""Words and numbers of a state that the kernel takes."""
BITS_OF_A_VERTEX = 0.3
"""Bits of the number of cycles for each vertex: grids have 0.35, road networks 0.2."""
_WORD_BITS, _MOST_BITS = 64, 62
# Rows that a table needs for each state, where memory is short.
_LEAST_ROWS_TO_A_STATE = 1.2


def number_bits(block: OrderedBlock) -> int:
    """Return the bits of a number: as many of them as states can become one have a sum that fits into a word."""
    additions = max((most_additions(step, 1 << _WORD_BITS) for step in block.steps), default=1)
    return min(_WORD_BITS - additions.bit_length(), _MOST_BITS)


def may_have_remainders(block: OrderedBlock) -> bool:
    """Say whether a block's cycles can be counted in remainders."""
    return block.packing.words <= MOST_WORDS and number_bits(block) >= DIGIT_BITS


class TotalModulo(DeviceTables):
    """All cycles of a block together: their number modulo some primes, after a bound above it if `has_bound`.

    `found` are these numbers for the cycles that closed so far. The bound is the number itself if it `is_exact`.
    """

    _digits_apart = True

    def __init__(
        self, device: Device, block: OrderedBlock, memory: int | None, primes: Sequence[int], *, has_bound: bool
    ) -> None:
        super().__init__(device, block, memory, ways=[1] * (has_bound + len(primes)))
        self.primes, self.has_bound, self.is_exact = primes, has_bound, True
        self.found = [0] * self._shape.digits
        self._number_bits = number_bits(block)
        below = [0] * has_bound + [(1 << self._number_bits) - prime for prime in primes]
        self._buffers["below"] = device.buffer(np.array(below, np.uint64))
        # Of the bounds: their exponent, and the largest that are held.
        self._exponent, self._largest = 0, 1
        self._columns = self._shape.used
        self._most_cells = MOST_CELLS * self._columns
        self._shape = replace(self._shape, in_columns=True)
        row = self._device.download(self._buffers.pop(self._old))
        for name, cell in zip(self._names(self._old), row, strict=False):
            self._buffers[name] = device.buffer(np.array([cell], np.uint64))

    def _next_digits(self, step: Step) -> int:
        """Return as many digits as numbers: each is one word."""
        return self._shape.digits

    def _is_short(self, shape: Shape) -> bool:
        return _LEAST_ROWS_TO_A_STATE / 2 * 8 * shape.cells > self._room()

    def _dropped(self, completion: Completion) -> Generator[bool, None, int]:
        place, words = self.place - 1, self._arrays_of(self._old)[:MOST_WORDS]
        return (yield from completion.drop(self._device, place, words, self._launches(), 1, word_stride=0, empty=0))

    def _arrays_of(self, table: str) -> list[Any]:
        """Return the arrays of a table as the kernel takes them: those of words, then those of numbers."""
        arrays = [self._buffers[name] for name in self._names(table)]
        words, numbers = arrays[: self._words], arrays[self._words :]
        beside = arrays[:1]
        return [*words, *beside * (MOST_WORDS - len(words)), *numbers, *beside * (MOST_NUMBERS - len(numbers))]

    def _slices(self, step: Step, carry: Callable[[], None]) -> Iterator[tuple[int, int]]:
        # No sum needs a carry, see `number_bits`.
        return self._launches()

    @property
    def _shift(self) -> int:
        """By how many bits the bounds are cut before the next step."""
        return max(self._largest.bit_length() - self._number_bits, 0)

    def _launch(self, first: int, last: int, shape: Shape, table: Any, copies: int, tallies: Any) -> None:
        from kernels_ti.boundary.kernels.count import remainder_kernel

        remainder_kernel(self._words, self._bits, shape.digits)(
            first, last, *self._arrays_of(self._old), *self._arrays_of(self._new), shape.rows,
            self._buffers["below"], self._number_bits, self._shift,
            self._buffers["spec"], self._bases[self.place], self._spread, copies, tallies,
        )  # fmt: skip

    def _measure(self, step: Step, told: np.ndarray) -> None:
        self._exponent, self.is_exact = self._exponent + self._shift, self.is_exact and not self._shift
        self._largest = int(told[TALLIES : 2 * TALLIES].max()) * most_additions(step, self.states)
        self.states = int(told[:TALLIES].sum())

    def _close(self, found: Iterable[int]) -> None:
        shifts = [self._exponent] * self.has_bound + [0] * len(self.primes)
        self.found = [number + (more << by) for number, more, by in zip(self.found, found, shifts, strict=True)]


class TotalInPasses(BlockInPasses):
    """The count of all cycles of one block together, from the passes of `saved` on; its total is their bound.

    A pass has so many `numbers` of each state, or fewer where they do not fit.
    """

    def __init__(
        self, device: Device, block: OrderedBlock, memory: int | None, numbers: int, saved: SavedPasses | None = None
    ) -> None:
        self._numbers, self._prime_bits = numbers, number_bits(block)
        super().__init__(device, block, None, memory, saved)

    @property
    def _lengths(self) -> int:
        """One number takes the place of one for each length."""
        return 1

    @property
    def passes(self) -> tuple[int, int]:
        """The number of the pass that is under way, from 1, and that of all; 0 before the first pass has told it."""
        if self.known is None:
            return 1, 0
        made = 1 + math.ceil(max(len(self.known.values) - self._numbers + 1, 0) / self._numbers)
        left = math.ceil(max(len(self._primes) - len(self.known.values), 0) / self._numbers)
        return made + (left > 0), made + left

    @property
    def share(self) -> float:
        """Expected part of the work that is done."""
        if self.finished:
            return 1.0
        number, passes = self.passes
        # Not known before the first pass: how many primes are needed.
        likely = 1 + math.ceil(BITS_OF_A_VERTEX * self._block.graph.n / self._prime_bits)
        return (number - 1 + self._passed) / (passes or math.ceil(likely / self._numbers))

    def _takes_less(self, too_large: DeviceTables) -> bool:
        could, self._numbers = self._numbers > 1, max(self._numbers // 2, 1)
        return could

    def _next_pass(self) -> TotalModulo:
        if self.known is None:
            primes = list(itertools.islice(largest_primes(self._prime_bits), self._numbers - 1))
        else:
            primes = [prime for prime in self._primes if prime not in self.known.values][: self._numbers]
        return TotalModulo(self._device, self._block, self._memory, primes, has_bound=self.known is None)

    def _end_pass(self, made: DeviceTables) -> None:
        assert isinstance(made, TotalModulo)
        numbers = made.found[made.has_bound :]
        values: dict[int, tuple[int, ...]] = {}
        values |= {prime: (number % prime,) for prime, number in zip(made.primes, numbers, strict=True)}
        if self.known is not None:
            self.known = replace(self.known, values={**self.known.values, **values})
            self._finish_if_known(self.known)
            return
        if made.is_exact:
            self.triangles, self.finished = made.triangles, True
            self.cycles = {0: made.found[0]} if made.found[0] else {}
        else:
            self._first_pass_is_made(SavedPasses(made.found[0], made.triangles, self._most_states, None, values))

    def _work_out(self, known: SavedPasses) -> None:
        total = combined([known.values[prime][0] for prime in self._primes], self._primes)
        if total > known.total:
            raise EngineError("internal error: the count from remainders is above its bound")
        self.cycles = {0: total} if total else {}
