"""Many whole numbers of any size, in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Digits in words of 64 bits: the room above is for sums.
_DIGIT_BITS = 48
_DIGIT_LIMIT, _SUM_LIMIT = 1 << _DIGIT_BITS, 1 << 63
# The sum of this many halves of digits fits into a word.
_HALF_BITS = 24
# Numbers that are added up at once where one of them is looked for.
_ADDED_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers from 0 on.

    Attributes
    ----------
    digits : ndarray of uint64, shape (digits, k)
        Digits of 48 bits, the lowest first.
    """

    digits: Words

    @classmethod
    def ones(cls, k: int) -> Numbers:
        """Return k times the number 1."""
        return cls(np.ones((1, k), np.uint64))

    @classmethod
    def zeros(cls, k: int) -> Numbers:
        """Return k times the number 0."""
        return cls(np.zeros((1, k), np.uint64))

    @staticmethod
    def of_halves(halves: Sequence[int]) -> int:
        """Return the number whose digits have these halves, the lowest first; they may be too large."""
        return sum(half << _HALF_BITS * k for k, half in enumerate(halves))

    def __len__(self) -> int:
        return int(self.digits.shape[1])

    def __getitem__(self, which: Indices) -> Numbers:
        return Numbers(self.digits[:, which])

    @property
    def nbytes(self) -> int:
        """Bytes of the digits."""
        return self.digits.nbytes

    def at(self, place: int) -> int:
        """Return one of the numbers."""
        return sum(digit << _DIGIT_BITS * k for k, digit in enumerate(self.digits[:, place].tolist()))

    def total(self) -> int:
        """Return the sum of all."""
        low = (self.digits & np.uint64((1 << _HALF_BITS) - 1)).sum(axis=1).tolist()
        high = (self.digits >> np.uint64(_HALF_BITS)).sum(axis=1).tolist()
        return sum(
            lower + (upper << _HALF_BITS) << _DIGIT_BITS * k
            for k, (lower, upper) in enumerate(zip(low, high, strict=True))
        )

    def modulo(self, prime: int) -> Words:
        """Return the remainders, shape (k,), of a division by a number below 2^31."""
        remainders = np.zeros(len(self), np.uint64)
        base = np.uint64((1 << _DIGIT_BITS) % prime)
        for digit in self.digits[::-1]:
            remainders *= base
            remainders += digit % np.uint64(prime)
            remainders %= np.uint64(prime)
        return remainders


def sums_of(parts: Sequence[tuple[Numbers, Indices]], size: int) -> Numbers:
    """Add up numbers at places.

    Parameters
    ----------
    parts : sequence of (Numbers, ndarray of int64)
        Numbers, and for each of them the place of the sum to which it is added.
    size : int
        Sums.

    Returns
    -------
    Numbers
    """
    most = sum(len(into) for _, into in parts)
    if most * _DIGIT_LIMIT >= _SUM_LIMIT:
        most = sum(int(np.bincount(into).max(initial=0)) for _, into in parts)
    # Otherwise they are added in pieces with a carry between: see `_carried`.
    count = max((part.digits.shape[0] for part, _ in parts), default=1)
    digits = np.zeros((count, size), np.uint64)
    for part, into in parts:
        at_once = len(into) if most * _DIGIT_LIMIT < _SUM_LIMIT else _SUM_LIMIT // _DIGIT_LIMIT // 4
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
        np.right_shift(digit, np.uint64(_DIGIT_BITS), out=over)
        digit &= np.uint64(_DIGIT_LIMIT - 1)
    return np.concatenate((digits, over[None])) if over.any() else digits


def first_above(ends: list[int], number: int) -> int:
    """Return the place of the first of ascending numbers that is above a number."""
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > number:
            high = middle
        else:
            low = middle + 1
    return low


def chosen(values: Numbers, states: Indices, samples: dict[int, int]) -> dict[int, tuple[int, int]]:
    """Return for each sample the state in which its number lies, and what is left of the number there."""
    chosen: dict[int, tuple[int, int]] = {}
    waiting = sorted(samples, key=lambda sample: -samples[sample])
    before = 0
    for start in range(0, len(states), _ADDED_AT_ONCE):
        some = states[start : start + _ADDED_AT_ONCE]
        end = before + values[some].total()
        if waiting and samples[waiting[-1]] < end:
            ways = [values.at(state) for state in some.tolist()]
            ends = list(accumulate(ways, initial=before))[1:]
            while waiting and samples[waiting[-1]] < end:
                sample = waiting.pop()
                which = first_above(ends, samples[sample])
                chosen[sample] = (int(some[which]), samples[sample] - (ends[which] - ways[which]))
        before = end
    return chosen
