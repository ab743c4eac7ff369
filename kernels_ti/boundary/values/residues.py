"""Exact whole numbers from their remainders modulo primes, and a polynomial from its values.

The chordless cycles of each length are the coefficients of a polynomial: the sum of z^length over all cycles. Modulo a
prime, its values at as many points as there are lengths tell its coefficients (interpolation), and the remainders of a
coefficient modulo enough primes tell the coefficient itself (the Chinese remainder theorem).

References
----------
J. von zur Gathen, J. Gerhard, *Modern Computer Algebra*, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

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
    found = []
    for point in points:
        value = 0
        for coefficient in reversed(coefficients):
            value = (value * point + coefficient) % prime
        found.append(value)
    return found


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
