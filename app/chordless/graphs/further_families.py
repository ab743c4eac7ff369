"""More families of graphs that whole numbers define."""

from __future__ import annotations

import itertools
import math

import numpy as np

from chordless.graphs.families import (
    LARGEST_NETWORKX_SIZE,
    LARGEST_SIZE,
    Size,
    aslant,
    bishop_size,
    diagonal,
    edge_array,
    family,
    in_line,
    joined,
    on_grid,
    on_words,
    pairs_of,
    rook_size,
    subsets_of_things,
    tupled,
)
from kernels_ti import Graph
from kernels_ti.graph import IntArray

_MOST_LETTERS = 60  # of words whose number is computed; larger graphs are refused anyway


def _knight_size(a: int, b: int) -> Size:
    return Size(a * b, 2 * ((a - 1) * max(b - 2, 0) + max(a - 2, 0) * (b - 1)), None)


@family("squares, joined by the moves of a knight", "knight:6x6", _knight_size, 2)
def _knight(*sizes: int) -> Graph:
    return on_grid(aslant(sizes, [(1, 2), (2, 1)]), sizes)


@family("squares, joined by the moves of a rook", "rook:4x4", rook_size, 2)
def _rook(*sizes: int) -> Graph:
    return on_grid(in_line(sizes, max(sizes)), sizes)


@family("squares, joined by the moves of a bishop", "bishop:5x5", bishop_size, 2)
def _bishop(*sizes: int) -> Graph:
    return on_grid(diagonal(sizes), sizes)


def _triangular_size(a: int, b: int) -> Size:
    return Size(a * b, a * (b - 1) + b * (a - 1) + (a - 1) * (b - 1), None)


@family("a grid with the same diagonal in each square", "triangular:6x6", _triangular_size, 2)
def _triangular(*sizes: int) -> Graph:
    index = np.arange(sizes[0] * sizes[1]).reshape(sizes)
    return on_grid([*in_line(sizes, 1), pairs_of(index[:-1, :-1], index[1:, 1:])], sizes)


def _hexagonal_size(a: int, b: int) -> Size:
    return Size(2 * (a * b + a + b), 3 * a * b + 2 * a + 2 * b - 1, 3 if a * b > 1 else 2)


@family("rows x columns of hexagons, a honeycomb", "hexagonal:4x4", _hexagonal_size, 2, largest=LARGEST_NETWORKX_SIZE)
def _hexagonal(*sizes: int) -> Graph:
    import networkx as nx

    return tupled(nx.hexagonal_lattice_graph(*sizes))


@family("two cycles of that length and the rungs between them", "prism:7", lambda n: Size(2 * n, 3 * n, 3), least=3)
def _prism(n: int) -> Graph:
    return _petersen(n, 1)


@family(
    "a ladder of that many rungs, its ends joined with a twist",
    "moebius:8",
    lambda n: Size(2 * n, 3 * n, 3),
    least=2,
)
def _moebius(rungs: int) -> Graph:
    v = np.arange(2 * rungs)
    return joined(2 * rungs, (v, (v + 1) % (2 * rungs)), (v[:rungs], v[rungs:]))


@family(
    "complete bipartite without a perfect matching; the size of a side",
    "crown:6",
    lambda n: Size(2 * n, n * (n - 1), n - 1),
    least=2,
)
def _crown(n: int) -> Graph:
    u, v = np.divmod(np.arange(n * n), n)
    return joined(2 * n, (u[u != v], v[u != v] + n))


@family(
    "that many pairs; all are joined that are no pair",
    "cocktail:6",
    lambda n: Size(2 * n, 2 * n * (n - 1), 2 * n - 2),
)
def _cocktail(n: int) -> Graph:
    u, v = np.triu_indices(2 * n, 1)
    return joined(2 * n, (u[v - u != n], v[v - u != n]))


def _johnson_size(n: int, k: int) -> Size:
    vertices = subsets_of_things(n, k)
    return Size(vertices, vertices * (k * (n - k)) // 2, k * (n - k))


@family(
    "n,k: the subsets of k among n things; those are joined that differ in one",
    "johnson:6,3",
    _johnson_size,
    2,
    largest=LARGEST_NETWORKX_SIZE,
)
def _johnson(n: int, k: int) -> Graph:
    places = {subset: place for place, subset in enumerate(itertools.combinations(range(n), k))}
    edges = []
    for subset, place in places.items():
        for i, x in enumerate(subset):
            # With a larger thing instead of x the subset comes later.
            for y in set(range(x + 1, n)).difference(subset):
                edges.append((place, places[tuple(sorted((*subset[:i], *subset[i + 1 :], y)))]))
    return Graph.from_edge_array(edge_array(edges), names=[",".join(map(str, each)) for each in places], n=len(places))


def _hamming_size(letters: int, alphabet: int) -> Size:
    if alphabet < 2:
        raise ValueError("an alphabet has two signs or more")
    n = alphabet ** min(letters, _MOST_LETTERS)
    return Size(n, n * letters * (alphabet - 1) // 2, letters * (alphabet - 1))


@family(
    "words of d letters of q kinds; those are joined that differ in one letter",
    "hamming:3,4",
    _hamming_size,
    2,
    largest=LARGEST_NETWORKX_SIZE,
)
def _hamming(letters: int, alphabet: int) -> Graph:
    sizes = [alphabet] * letters
    return on_grid(in_line(sizes, alphabet), sizes)


def _fibonacci_size(letters: int) -> Size:
    shorter, words = 1, 1
    for _ in range(min(letters, _MOST_LETTERS)):
        shorter, words = words, shorter + words
    # A word has the letter 0 at its end, or 01.
    before = words - shorter
    return Size(words, (letters * shorter + 2 * (letters + 1) * before) // 5, letters)


@family(
    "Fibonacci cube: words of 0 and 1 of that length without 11; those are joined that differ in one letter",
    "fibonacci:6",
    _fibonacci_size,
)
def _fibonacci(letters: int) -> Graph:
    shorter, words = np.zeros(1, np.int64), np.arange(2)
    for letter in range(1, letters):
        shorter, words = words, np.concatenate((words, shorter + (1 << letter)))
    edges = []
    for letter in range(letters):
        places = np.flatnonzero(words & 1 << letter == 0)
        other = words[places] | 1 << letter
        at = np.minimum(np.searchsorted(words, other), len(words) - 1)
        edges.append(pairs_of(places, at)[words[at] == other])
    return Graph.from_edge_array(np.concatenate(edges), names=[f"{word:0{letters}b}" for word in words.tolist()])


@family(
    "halved cube: words of 0 and 1 of that length with an even number of 1s; joined if two letters differ",
    "halved:5",
    lambda n: Size(1 << n - 1, (n * (n - 1) << n - 1) // 4, n * (n - 1) // 2),
    least=2,
)
def _halved(letters: int) -> Graph:
    bits = [*(1 << letter for letter in range(letters - 1)), 0]  # The last letter makes the number of 1s even
    return on_words(letters - 1, [one ^ other for one, other in itertools.combinations(bits, 2)], even=True)


@family(
    "folded cube: words of 0 and 1 of one letter less; joined if one letter differs, or all do",
    "folded:5",
    lambda n: Size(1 << n - 1, n << n - 2, n),
    least=3,
)
def _folded(letters: int) -> Graph:
    every = (1 << letters - 1) - 1
    return on_words(letters - 1, [*(1 << letter for letter in range(letters - 1)), every])


@family(
    "a triangle with that many points on a side, each joined to those next to it",
    "triangle:6",
    lambda n: Size(n * (n + 1) // 2, 3 * n * (n - 1) // 2, (0, 2, 4)[n - 1] if n < 4 else 6),
)
def _triangle(side: int) -> Graph:
    row, place = np.tril_indices(side)
    point = row * (row + 1) // 2 + place
    inner = row < side - 1
    below = (point + row + 1)[inner]
    edges = [pairs_of(point[inner], below), pairs_of(point[inner], below + 1), pairs_of(below, below + 1)]
    names = [f"{a},{b}" for a, b in zip(row.tolist(), place.tolist(), strict=True)]
    return Graph.from_edge_array(np.concatenate(edges), names=names)


def _prime_of(power: int) -> int:
    """Return the prime of which a number is a power, 0 if there is none."""
    prime = next((divisor for divisor in range(2, math.isqrt(power) + 1) if power % divisor == 0), power)
    return prime if prime ** round(math.log(power, prime)) == power else 0


def _paley_size(q: int) -> Size:
    # A number that is too large is refused anyway, so the slow test for a prime is skipped.
    if q % 4 != 1 or (q * (q - 1) // 4 <= LARGEST_SIZE and not _prime_of(q)):
        raise ValueError(
            "the size must be a power of a prime that leaves 1 when divided by 4, such as 5, 9, 13, 17, 25"
        )
    return Size(q, q * (q - 1) // 4, (q - 1) // 2)


@family(
    "elements of a finite field, whose number leaves 1 when divided by 4; those are joined that differ by a square",
    "paley:13",
    _paley_size,
    least=5,
)
def _paley(q: int) -> Graph:
    digits, power, squares = _squares(q)
    prime, element = _prime_of(q), np.arange(q)
    edges = [pairs_of(element, (digits + digits[square]) % prime @ power) for square in squares.tolist()]
    found = np.concatenate(edges)
    return Graph.from_edge_array(found[found[:, 0] < found[:, 1]], n=q)


def _squares(q: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the digits of the elements of a finite field, what each digit stands for, and the squares but 0.

    An element is a polynomial over the field of p elements, whose coefficients are the digits of its number to the base
    p, the lowest first. The modulus is the first polynomial that makes a field: only there are half of all elements but
    0 squares, and no square but that of 0 is 0.
    """
    prime = _prime_of(q)
    degree = round(math.log(q, prime))
    power = prime ** np.arange(degree)
    digits = np.arange(q)[:, None] // power % prime
    products = np.zeros((q, 2 * degree - 1), np.int64)
    for place in range(degree):
        products[:, place : place + degree] += digits[:, place, None] * digits
    for rest in digits:
        # The modulus is x^degree less this polynomial.
        reduced = products.copy()
        for place in range(2 * degree - 2, degree - 1, -1):
            reduced[:, place - degree : place] += reduced[:, place, None] % prime * rest
        squares = np.unique(reduced[1:, :degree] % prime @ power)
        if len(squares) == q // 2 and squares[0]:
            return digits, power, squares
    raise AssertionError("there is a finite field for each power of a prime")


def _sierpinski_size(number: int) -> Size:
    n = min(number, _MOST_LETTERS)
    return Size(3 * (3 ** (n - 1) + 1) // 2, 3**n, 4 if n > 1 else 2)


@family(
    "Sierpinski gasket: 1 is a triangle, and each next one is three of the one before",
    "sierpinski:4",
    _sierpinski_size,
)
def _sierpinski(n: int) -> Graph:
    x = y = np.zeros(1, np.int64)
    for bit in range(n - 1):
        # The triangles that stay have corners whose coordinates share no binary digit.
        x, y = np.concatenate((x, x + (1 << bit), x)), np.concatenate((y, y, y + (1 << bit)))
    width = (1 << n - 1) + 1
    corners = np.array([x * width + y, (x + 1) * width + y, x * width + y + 1])
    points, place = np.unique(corners, return_inverse=True)
    first, second, third = place.reshape(corners.shape)
    edges = [pairs_of(first, second), pairs_of(first, third), pairs_of(second, third)]
    names = [f"{point // width},{point % width}" for point in points.tolist()]
    return Graph.from_edge_array(np.concatenate(edges), names=names)


def _petersen_size(n: int, k: int) -> Size:
    if n < 3 or 2 * k >= n:
        raise ValueError("the first number is 3 or more, and the second less than half of it, as in petersen:7,2")
    return Size(2 * n, 3 * n, 3)


@family(
    "n,k: a cycle of n, a star polygon of n that skips k, and spokes; petersen alone is petersen:5,2",
    "petersen:7,2",
    _petersen_size,
    2,
)
def _petersen(n: int, k: int) -> Graph:
    v = np.arange(n)
    return joined(2 * n, (v, (v + 1) % n), (v, v + n), (v + n, (v + k) % n + n))
