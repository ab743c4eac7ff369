"""Many whole numbers of any size, in arrays."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.spec.cells import DIGIT_BITS, DIGIT_LIMIT

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Digits in words of 64 bits: the room above is for sums.
_SUM_LIMIT = 1 << 63
# The sum of this many halves of digits fits into a word.
_HALF_BITS = 24
# Random numbers that are drawn together.
_DRAWN_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers from 0 on: digits of 48 bits, the lowest first, shape (digits, k)."""

    digits: Words

    @classmethod
    def ones(cls, k: int) -> Numbers:
        """Return k times the number 1."""
        return cls(np.ones((1, k), np.uint64))

    @classmethod
    def zeros(cls, k: int) -> Numbers:
        """Return k times the number 0."""
        return cls(np.zeros((1, k), np.uint64))

    @classmethod
    def of(cls, integers: Sequence[int]) -> Numbers:
        """Return some numbers, with as many digits as the largest takes."""
        count = max(-(-max(integers, default=0).bit_length() // DIGIT_BITS), 1)
        shifts = range(0, count * DIGIT_BITS, DIGIT_BITS)
        return cls(np.array([[each >> by & (DIGIT_LIMIT - 1) for each in integers] for by in shifts], np.uint64))

    def as_words(self) -> Words:
        """Return numbers below 2^64 in one word each, shape (k,)."""
        words = np.zeros(len(self), np.uint64)
        for digit in self.digits[::-1]:
            words = (words << np.uint64(DIGIT_BITS)) | digit
        return words

    def __len__(self) -> int:
        return int(self.digits.shape[1])

    def __getitem__(self, which: Indices) -> Numbers:
        return Numbers(self.digits[:, which])

    @property
    def nbytes(self) -> int:
        """Bytes of the digits."""
        return self.digits.nbytes

    @property
    def arrays(self) -> dict[str, Words]:
        """The numbers as an array with a name."""
        return {"ways": self.digits}

    def at(self, place: int) -> int:
        """Return one of the numbers."""
        return sum(digit << DIGIT_BITS * k for k, digit in enumerate(self.digits[:, place].tolist()))

    def padded(self, digits: int) -> Numbers:
        """Return the same with at least so many digits."""
        return Numbers(np.pad(self.digits, ((0, max(digits - len(self.digits), 0)), (0, 0))))

    def total(self) -> int:
        """Return the sum of all."""
        low = (self.digits & np.uint64((1 << _HALF_BITS) - 1)).sum(axis=1).tolist()
        high = (self.digits >> np.uint64(_HALF_BITS)).sum(axis=1).tolist()
        return sum(
            lower + (upper << _HALF_BITS) << DIGIT_BITS * k
            for k, (lower, upper) in enumerate(zip(low, high, strict=True))
        )

    def modulo(self, prime: int) -> Words:
        """Return the remainders, shape (k,), of a division by a number below 2^31."""
        remainders = np.zeros(len(self), np.uint64)
        base = np.uint64((1 << DIGIT_BITS) % prime)
        for digit in self.digits[::-1]:
            remainders *= base
            remainders += digit % np.uint64(prime)
            remainders %= np.uint64(prime)
        return remainders


def sums_of(parts: Sequence[tuple[Numbers, Indices]], size: int) -> Numbers:
    """Add up numbers, each at the place of the sum to which it is added; `size` is the number of sums."""
    most = sum(len(into) for _, into in parts)
    if most * DIGIT_LIMIT >= _SUM_LIMIT:
        most = sum(int(np.bincount(into).max(initial=0)) for _, into in parts)
    # Otherwise they are added in pieces with a carry between: see `_carried`.
    count = max((part.digits.shape[0] for part, _ in parts), default=1)
    digits = np.zeros((count, size), np.uint64)
    for part, into in parts:
        at_once = len(into) if most * DIGIT_LIMIT < _SUM_LIMIT else _SUM_LIMIT // DIGIT_LIMIT // 4
        for start in range(0, len(into), max(at_once, 1)):
            for digit, more in zip(digits, part.digits, strict=False):
                np.add.at(digit, into[start : start + at_once], more[start : start + at_once])
            if at_once < len(into):
                digits = _carried(digits)
    return Numbers(_carried(digits))


def _carried(digits: Words) -> Words:
    """Make digits small; add one where the highest becomes too large."""
    over = np.zeros(digits.shape[1], np.uint64)
    for digit in digits:
        digit += over
        np.right_shift(digit, np.uint64(DIGIT_BITS), out=over)
        digit &= np.uint64(DIGIT_LIMIT - 1)
    return np.concatenate((digits, over[None])) if over.any() else digits


def picked(weights: Numbers, first: Indices, last: Indices, numbers: Numbers) -> tuple[Indices, Numbers]:
    """Pick one of some weights for each number: that in which it lies, as they are added up.

    Each number lies below the sum of ``weights[first:last]``. Returns the picks, and what is left of each number beyond
    the weights before its pick, in as many digits.
    """
    count = len(numbers.digits)
    sums = _sums_before(weights.padded(count).digits)
    targets = sums[:, first]
    targets[:count] += numbers.digits
    targets = _carried(targets)[: len(sums)]
    low, high = first, last
    while ((high - low) > 1).any():
        middle = (low + high) // 2
        is_below = _are_less(targets, sums[:, middle])
        low, high = np.where(is_below, low, middle), np.where(is_below, middle, high)
    return low, Numbers(_difference(targets, sums[:, low])[:count])


def random_below(limit: int, k: int, generator: random.Random) -> Numbers:
    """Return k random numbers, each of 0 to ``limit - 1`` with the same probability.

    A generator gives the same ones, whether they are asked for together or in pieces.
    """
    bits = limit.bit_length()
    ends = Numbers.of([limit])
    count = len(ends.digits)
    masks = np.array([(1 << min(bits - DIGIT_BITS * digit, DIGIT_BITS)) - 1 for digit in range(count)], np.uint64)
    found, pieces = 0, [np.zeros((count, 0), np.uint64)]
    while found < k:
        more = min(k - found, _DRAWN_AT_ONCE)
        drawn = np.frombuffer(generator.randbytes(8 * count * more), "<u8").reshape(more, count).T & masks[:, None]
        pieces.append(drawn[:, _are_less(drawn, ends.digits)])
        found += pieces[-1].shape[1]
    return Numbers(np.concatenate(pieces, axis=1))


def _sums_before(digits: Words) -> Words:
    """Return the sum of the numbers before each of some numbers, and that of all, shape (digits + 1, k + 1)."""
    halves = np.zeros((len(digits) + 1, 2, digits.shape[1] + 1), np.uint64)
    np.cumsum(digits & np.uint64((1 << _HALF_BITS) - 1), axis=1, out=halves[:-1, 0, 1:])
    np.cumsum(digits >> np.uint64(_HALF_BITS), axis=1, out=halves[:-1, 1, 1:])
    flat = halves.reshape(-1, halves.shape[2])
    for half, following in itertools.pairwise(flat):
        following += half >> np.uint64(_HALF_BITS)
        half &= np.uint64((1 << _HALF_BITS) - 1)
    sums: Words = halves[:, 0] | halves[:, 1] << np.uint64(_HALF_BITS)
    return sums


def _are_less(some: Words, others: Words) -> npt.NDArray[np.bool_]:
    """Say which numbers are less than others of as many digits."""
    are_less = np.zeros(np.broadcast_shapes(some.shape, others.shape)[1], np.bool_)
    for digit, other in zip(some, others, strict=True):
        are_less = (digit < other) | (digit == other) & are_less
    return are_less


def _difference(some: Words, others: Words) -> Words:
    """Return numbers minus others that are not larger, of as many digits."""
    found: Words = some + np.uint64(DIGIT_LIMIT) - others
    for digit, following in itertools.pairwise(found):
        following -= np.uint64(1) - (digit >> np.uint64(DIGIT_BITS))
    found &= np.uint64(DIGIT_LIMIT - 1)
    return found
