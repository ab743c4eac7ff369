"""Many whole numbers of any size, in arrays; and single ones from their remainders modulo primes.

The chordless cycles of each length are the coefficients of a polynomial: the sum of z^length over all cycles. Modulo a
prime, its values at as many points as there are lengths tell its coefficients (interpolation), and the remainders of a
coefficient modulo enough primes tell the coefficient itself (the Chinese remainder theorem; J. von zur Gathen, J.
Gerhard, *Modern Computer Algebra*, chapter 5).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Flags, Indices, Words
from kernels_ti.boundary.spec.block import GivenUp
from kernels_ti.boundary.spec.packing import DIGIT_BITS, DIGIT_LIMIT

# Digits in words of 64 bits: the room above is for sums.
_SUM_LIMIT = 1 << 63
# Numbers of which the halves of digits are added up without overflow, and those that stay in the cache meanwhile.
_TOTALLED_AT_ONCE, _ADDED_AT_ONCE = 1 << 14, 2048
# Counts that are copied when several lengths are looked at together.
_COPIED_AT_ONCE = 1 << 14
# The sum of this many halves of digits fits into a word.
_HALF_BITS = 24
_LOW_HALF = (1 << 32) - 1
# The bits of the upper half of a sum that belong to the same digit.
_OF_THIS_DIGIT = (1 << DIGIT_BITS - 32) - 1
# Random numbers that are drawn together.
_DRAWN_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers from 0 on: digits of 48 bits, the lowest first, shape (digits, k).

    Or k times a number for each length, shape (digits, k, lengths). Sums may have larger digits until a carry.
    """

    digits: Words
    bound: int = DIGIT_LIMIT - 1  # No digit is larger

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

    def __getitem__(self, which: npt.NDArray[Any]) -> Numbers:
        return Numbers(self.digits[:, which], self.bound)

    @property
    def by_length(self) -> Words:
        """The digits, shape (digits, k, lengths); one length for numbers that know none."""
        return self.digits if self.digits.ndim == 3 else self.digits[:, :, None]

    def at(self, place: int) -> int:
        """Return one of the numbers."""
        return sum(digit << DIGIT_BITS * k for k, digit in enumerate(self.digits[:, place].tolist()))

    def totals(self, which: Indices) -> list[int]:
        """Return the sum of some, or one for each length."""
        digits = self.by_length
        count, lengths = len(digits), digits.shape[2]
        totals = [0] * lengths
        for start in range(0, len(which), _TOTALLED_AT_ONCE):
            sums = np.zeros((count + 1, lengths), np.uint64)
            for place, digit in enumerate(digits[:, which[start : start + _TOTALLED_AT_ONCE]]):
                low, high = (digit & np.uint64(_LOW_HALF)).sum(axis=0), (digit >> np.uint64(32)).sum(axis=0)
                sums[place] += low + ((high & np.uint64(_OF_THIS_DIGIT)) << np.uint64(32))
                sums[place + 1] += high >> np.uint64(DIGIT_BITS - 32)
            # Python's own numbers would be made anew for each digit: that takes long where there are many.
            columns = np.ascontiguousarray(_carried(sums).T, "<u8")
            data = columns[:, :, None].view(np.uint8)[:, :, : DIGIT_BITS // 8].tobytes()
            size = columns.shape[1] * (DIGIT_BITS // 8)
            for length in np.flatnonzero(columns.any(axis=1)).tolist():
                totals[length] += int.from_bytes(data[length * size : (length + 1) * size], "little")
        return totals

    def carried(self) -> Numbers:
        """Return the same with digits of 48 bits, and one more where that takes one."""
        if self.bound < DIGIT_LIMIT:
            return self
        largest = int(self.digits.max(initial=0))
        return Numbers(self.digits, largest) if largest < DIGIT_LIMIT else Numbers(_carried(self.digits.copy()))

    def modulo(self, prime: int) -> Words:
        """Return the remainders, shape (k,), of a division by a number below 2^31."""
        remainders = np.zeros(len(self), np.uint64)
        base = np.uint64((1 << DIGIT_BITS) % prime)
        for digit in self.digits[::-1]:
            remainders *= base
            remainders += digit % np.uint64(prime)
            remainders %= np.uint64(prime)
        return remainders


@dataclass(frozen=True, eq=False)
class Addends:
    """Some of many numbers, and for each the place of the sum to which it is added."""

    numbers: Numbers
    which: Indices
    into: Indices
    longer: int = 0  # By how many lengths it moves up


def sums_of(
    addends: Sequence[Addends], size: int, longest: int | None = None, enough: Callable[[], bool] = lambda: False
) -> Numbers:
    """Add up numbers in so many sums, whose digits may await a carry; GivenUp is raised once it was enough.

    With a number for each length, those of more than `longest` are left out.
    """
    ranks = sum(int(np.bincount(each.into).max(initial=0)) for each in addends)
    numbers, bound = [each.numbers for each in addends], max(each.numbers.bound for each in addends)
    if bound * ranks >= _SUM_LIMIT:
        carried = numbers[0].carried()
        numbers = [carried if each is numbers[0] else each.carried() for each in numbers]
        bound = max(each.bound for each in numbers)
    # Where that does not suffice, they are added in pieces with a carry between.
    at_once = max(len(each.into) for each in addends) if bound * ranks < _SUM_LIMIT else _SUM_LIMIT // DIGIT_LIMIT // 4
    digits = np.zeros((max(len(each.digits) for each in numbers), size, *_lengths(addends, longest)), np.uint64)
    is_empty = np.ones(size, np.bool_)
    for each, more in zip(addends, numbers, strict=True):
        for start in range(0, len(each.into), max(at_once, 1)):
            piece = slice(start, start + at_once)
            _add(digits, is_empty, more.digits, each.which[piece], each.into[piece], each.longer, enough)
            if bound * ranks >= _SUM_LIMIT:
                digits = _carried(digits)
    return Numbers(digits, min(bound * ranks, _SUM_LIMIT))


def _lengths(addends: Sequence[Addends], longest: int | None) -> tuple[int, ...]:
    """Return how many lengths the sums have, from 0 on; nothing for numbers that know no length."""
    if addends[0].numbers.digits.ndim == 2:
        return ()
    grown = 1
    for each in addends:
        digits = each.numbers.digits
        lengths, looked_at = digits.shape[2], 1
        while lengths and lengths + each.longer > grown:
            lowest = max(lengths - looked_at, 0)
            in_use = np.flatnonzero(digits[:, each.which, lowest:lengths].any(axis=(0, 1)))
            if len(in_use):
                lengths = lowest + int(in_use[-1]) + 1
                break
            # The next look takes twice as many lengths, as long as the copy stays small.
            lengths, looked_at = lowest, looked_at * (2 if looked_at * len(each.which) < _COPIED_AT_ONCE else 1)
        grown = max(grown, lengths + each.longer)
    return (grown if longest is None else min(grown, longest + 1),)


def _add(
    sums: Words, is_empty: Flags, digits: Words, which: Indices, into: Indices, longer: int,
    enough: Callable[[], bool],
) -> None:  # fmt: skip
    """Add some numbers to sums; the first ones are written to sums that are empty."""
    if enough():
        raise GivenUp
    if sums.ndim == 2:
        # numpy adds up numbers of one dimension at many places at once.
        for one, digit in zip(sums, digits, strict=False):
            np.add.at(one, into, digit[which])
        return
    lengths = min(digits.shape[2], sums.shape[2] - longer)
    last = np.empty(sums.shape[1], np.int64)
    while len(which):
        # Those of one sum are added one after another.
        last[into] = np.arange(len(into))
        now = last[into] == np.arange(len(into))
        turn, places = which[now], into[now]
        for start in range(0, len(places), _ADDED_AT_ONCE):
            if enough():
                raise GivenUp
            piece = slice(start, start + _ADDED_AT_ONCE)
            place, old = places[piece], ~is_empty[places[piece]]
            for one, digit in zip(sums, digits, strict=False):
                new, more = place, digit[turn[piece], :lengths]
                if old.any():
                    one[place[old], longer : longer + lengths] += more[old]
                    new, more = place[~old], more[~old]
                one[new, longer : longer + lengths] = more
        is_empty[places] = False
        which, into = which[~now], into[~now]


def _carried(digits: Words) -> Words:
    """Make digits small; add one where the highest becomes too large."""
    over = np.zeros(digits.shape[1:], np.uint64)
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
    sums = _sums_before(np.pad(weights.digits, ((0, max(count - len(weights.digits), 0)), (0, 0))))
    targets = sums[:, first]
    targets[:count] += numbers.digits
    targets = _carried(targets)[: len(sums)]
    low, high = first, last
    while ((high - low) > 1).any():
        middle = (low + high) // 2
        is_below = _are_less(targets, sums[:, middle])
        low, high = np.where(is_below, low, middle), np.where(is_below, middle, high)
    left = targets + np.uint64(DIGIT_LIMIT) - sums[:, low]
    for digit, following in itertools.pairwise(left):
        following -= np.uint64(1) - (digit >> np.uint64(DIGIT_BITS))
    left &= np.uint64(DIGIT_LIMIT - 1)
    return low, Numbers(left[:count])


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


def _are_less(some: Words, others: Words) -> Flags:
    are_less = np.zeros(np.broadcast_shapes(some.shape, others.shape)[1], np.bool_)
    for digit, other in zip(some, others, strict=True):
        are_less = (digit < other) | (digit == other) & are_less
    return are_less


# Strong pseudoprimes to these bases are larger than 2^64 (J. Sorenson and J. Webster, *Strong pseudoprimes to twelve
# prime bases*, Mathematics of Computation 86, 2017).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def largest_primes(bits: int) -> Iterator[int]:
    """Yield the primes below 2^bits, 8 to 64, the largest first."""
    yield from filter(_is_prime, range((1 << bits) - 1, _BASES[-1], -2))


def primes_beyond(number: int, bits: int) -> list[int]:
    """Return the largest primes below 2^bits, 8 to 64, whose product is larger than a number, as few as suffice."""
    primes: list[int] = []
    candidates = largest_primes(bits)
    while prod(primes) <= number:
        primes.append(next(candidates))
    return primes


def combined(remainders: Sequence[int], primes: Sequence[int]) -> int:
    """Return the least number with a remainder for each of some different primes, by the Chinese remainder theorem."""
    found, modulus = 0, 1
    for remainder, prime in zip(remainders, primes, strict=True):
        found += modulus * ((remainder - found) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return found


def values_at(coefficients: Sequence[int], points: range, prime: int) -> list[int]:
    """Return the values of a polynomial at some points, modulo a prime; the lowest power comes first."""
    return [reduce(lambda value, each: (value * z + each) % prime, reversed(coefficients), 0) for z in points]


def coefficients(values: Sequence[int], prime: int) -> list[int]:
    """Return the coefficients, modulo a prime, of the polynomial with given values at the points 1, 2, 3, ...

    There are as many coefficients as values, the lowest power first, and fewer than the prime.
    """
    # Newton's divided differences; the points of each differ by `gap`.
    differences = list(values)
    for gap in range(1, len(values)):
        inverse = pow(gap, -1, prime)
        for i in range(len(values) - 1, gap - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) * inverse % prime
    # Horner's rule: the polynomial so far times (z - point), plus the next difference.
    found: list[int] = []
    for point, difference in zip(range(len(values), 0, -1), reversed(differences), strict=True):
        shifted = [0, *found]
        for power, coefficient in enumerate(found):
            shifted[power] = (shifted[power] - point * coefficient) % prime
        shifted[0] = (shifted[0] + difference) % prime
        found = shifted
    return found


def _is_prime(odd: int) -> bool:
    """Say whether an odd number from 38 to 2^64 is a prime, by Miller and Rabin."""
    exponent, twos = odd - 1, 0
    while exponent % 2 == 0:
        exponent, twos = exponent // 2, twos + 1
    for base in _BASES:
        power = pow(base, exponent, odd)
        if power in (1, odd - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % odd
            if power == odd - 1:
                break
        else:
            return False
    return True
