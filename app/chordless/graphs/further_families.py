"""More families of graphs that whole numbers define, and the table of all."""

from __future__ import annotations

import itertools

import numpy as np

from chordless.graphs.families import (
    FIRST_FAMILIES,
    LARGEST_NETWORKX_SIZE,
    Family,
    Numbers,
    Size,
    bishop_size,
    board,
    combinations,
    edge_array,
    on_grid,
    pairs_of,
    rook_size,
)
from kernels_ti import Graph

_MOST_LETTERS = 60  # of words whose number is computed; larger graphs are refused anyway


def _knight_size(sizes: Numbers) -> Size:
    a, b = sizes
    return Size(a * b, 2 * ((a - 1) * max(b - 2, 0) + max(a - 2, 0) * (b - 1)), None)


def _knight(sizes: Numbers) -> Graph:
    index = np.arange(sizes[0] * sizes[1]).reshape(sizes)
    edges = [pairs_of(index[:-a, :-b], index[a:, b:]) for a, b in ((1, 2), (2, 1))]
    edges += [pairs_of(index[:-a, b:], index[a:, :-b]) for a, b in ((1, 2), (2, 1))]
    return on_grid(edges, sizes)


def _triangular_size(sizes: Numbers) -> Size:
    a, b = sizes
    m = a * (b - 1) + b * (a - 1) + (a - 1) * (b - 1)
    return Size(a * b, m, None)


def _triangular(sizes: Numbers) -> Graph:
    index = np.arange(sizes[0] * sizes[1]).reshape(sizes)
    ends = ((index[:, :-1], index[:, 1:]), (index[:-1], index[1:]), (index[:-1, :-1], index[1:, 1:]))
    return on_grid([pairs_of(*each) for each in ends], sizes)


def _hexagonal_size(sizes: Numbers) -> Size:
    a, b = sizes
    return Size(2 * (a * b + a + b), 3 * a * b + 2 * a + 2 * b - 1, 3 if a * b > 1 else 2)


def _hexagonal(sizes: Numbers) -> Graph:
    import networkx as nx

    drawn = nx.hexagonal_lattice_graph(*sizes)
    places = {node: number for number, node in enumerate(sorted(drawn))}
    edges = edge_array((places[u], places[v]) for u, v in drawn.edges())
    return Graph.from_edge_array(edges, names=[",".join(map(str, node)) for node in places], n=len(places))


def _petersen_size(numbers: Numbers) -> Size:
    n, k = numbers
    if n < 3 or 2 * k >= n:
        raise ValueError("the first number is 3 or more, and the second less than half of it, as in petersen:7,2")
    return Size(2 * n, 3 * n, 3)


def _petersen(numbers: Numbers) -> Graph:
    n, k = numbers
    v = np.arange(n)
    ends = ((v, (v + 1) % n), (v, v + n), (v + n, (v + k) % n + n))
    return Graph.from_edge_array(np.concatenate([pairs_of(*each) for each in ends]), n=2 * n)


def _moebius(numbers: Numbers) -> Graph:
    (rungs,) = numbers
    v = np.arange(2 * rungs)
    edges = np.concatenate((pairs_of(v, (v + 1) % (2 * rungs)), pairs_of(v[:rungs], v[rungs:])))
    return Graph.from_edge_array(edges, n=2 * rungs)


def _crown(numbers: Numbers) -> Graph:
    (n,) = numbers
    u, v = np.divmod(np.arange(n * n), n)
    return Graph.from_edge_array(pairs_of(u, v + n)[u != v], n=2 * n)


def _cocktail(numbers: Numbers) -> Graph:
    (n,) = numbers
    u, v = np.triu_indices(2 * n, 1)
    return Graph.from_edge_array(pairs_of(u, v)[v - u != n], n=2 * n)


def _johnson_size(numbers: Numbers) -> Size:
    n, k = numbers
    if k > n:
        raise ValueError(f"{n} things have no subsets of {k}")
    vertices = combinations(n, k)
    return Size(vertices, vertices * (k * (n - k)) // 2, k * (n - k))


def _johnson(numbers: Numbers) -> Graph:
    n, k = numbers
    places = {subset: place for place, subset in enumerate(itertools.combinations(range(n), k))}
    edges = []
    for subset, place in places.items():
        for i, x in enumerate(subset):
            # With a larger thing instead of x the subset comes later.
            for y in set(range(x + 1, n)).difference(subset):
                edges.append((place, places[tuple(sorted((*subset[:i], *subset[i + 1 :], y)))]))
    return Graph.from_edge_array(edge_array(edges), names=[",".join(map(str, each)) for each in places], n=len(places))


def _hamming_size(numbers: Numbers) -> Size:
    letters, alphabet = numbers
    if alphabet < 2:
        raise ValueError("an alphabet has two signs or more")
    n = alphabet ** min(letters, _MOST_LETTERS)
    return Size(n, n * letters * (alphabet - 1) // 2, letters * (alphabet - 1))


def _hamming(numbers: Numbers) -> Graph:
    letters, alphabet = numbers
    index = np.arange(alphabet**letters).reshape([alphabet] * letters)
    edges = [
        pairs_of(np.moveaxis(index, axis, 0)[:-step], np.moveaxis(index, axis, 0)[step:])
        for axis in range(letters)
        for step in range(1, alphabet)
    ]
    return on_grid(edges, [alphabet] * letters)


def _fibonacci_size(numbers: Numbers) -> Size:
    (letters,) = numbers
    shorter, words = 1, 1
    for _ in range(min(letters, _MOST_LETTERS)):
        shorter, words = words, shorter + words
    # A word has the letter 0 at its end, or 01.
    before = words - shorter
    return Size(words, (letters * shorter + 2 * (letters + 1) * before) // 5, letters)


def _fibonacci(numbers: Numbers) -> Graph:
    (letters,) = numbers
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


def _sierpinski_size(numbers: Numbers) -> Size:
    n = min(*numbers, _MOST_LETTERS)
    return Size(3 * (3 ** (n - 1) + 1) // 2, 3**n, 4 if n > 1 else 2)


def _sierpinski(numbers: Numbers) -> Graph:
    (n,) = numbers
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


FAMILIES = {
    **FIRST_FAMILIES,
    "knight": Family("squares, joined by the moves of a knight", "knight:6x6", 2, 1, _knight_size, _knight),
    "rook": Family(
        "squares, joined by the moves of a rook",
        "rook:4x4",
        2,
        1,
        rook_size,
        lambda sizes: board(sizes, max(sizes) - 1, diagonal=False),
    ),
    "bishop": Family(
        "squares, joined by the moves of a bishop",
        "bishop:5x5",
        2,
        1,
        bishop_size,
        lambda sizes: board(sizes, min(sizes) - 1, straight=False),
    ),
    "triangular": Family(
        "a grid with the same diagonal in each square", "triangular:6x6", 2, 1, _triangular_size, _triangular
    ),
    "hexagonal": Family(
        "rows x columns of hexagons, a honeycomb",
        "hexagonal:4x4",
        2,
        1,
        _hexagonal_size,
        _hexagonal,
        largest=LARGEST_NETWORKX_SIZE,
    ),
    "prism": Family(
        "two cycles of that length and the rungs between them",
        "prism:7",
        1,
        3,
        lambda s: Size(2 * s[0], 3 * s[0], 3),
        lambda s: _petersen((s[0], 1)),
    ),
    "moebius": Family(
        "a ladder of that many rungs, its ends joined with a twist",
        "moebius:8",
        1,
        2,
        lambda s: Size(2 * s[0], 3 * s[0], 3),
        _moebius,
    ),
    "crown": Family(
        "complete bipartite without a perfect matching; the size of a side",
        "crown:6",
        1,
        2,
        lambda s: Size(2 * s[0], s[0] * (s[0] - 1), s[0] - 1),
        _crown,
    ),
    "cocktail": Family(
        "that many pairs; all are joined that are no pair",
        "cocktail:6",
        1,
        1,
        lambda s: Size(2 * s[0], 2 * s[0] * (s[0] - 1), 2 * s[0] - 2),
        _cocktail,
    ),
    "johnson": Family(
        "n,k: the subsets of k among n things; those are joined that differ in one",
        "johnson:6,3",
        2,
        1,
        _johnson_size,
        _johnson,
        ",",
        2,
        LARGEST_NETWORKX_SIZE,
    ),
    "hamming": Family(
        "words of d letters of q kinds; those are joined that differ in one letter",
        "hamming:3,4",
        2,
        1,
        _hamming_size,
        _hamming,
        ",",
        2,
        LARGEST_NETWORKX_SIZE,
    ),
    "fibonacci": Family(
        "Fibonacci cube: words of 0 and 1 of that length without 11; those are joined that differ in one letter",
        "fibonacci:6",
        1,
        1,
        _fibonacci_size,
        _fibonacci,
    ),
    "sierpinski": Family(
        "Sierpinski gasket: 1 is a triangle, and each next one is three of the one before",
        "sierpinski:4",
        1,
        1,
        _sierpinski_size,
        _sierpinski,
    ),
    "petersen": Family(
        "n,k: a cycle of n, a star polygon of n that skips k, and spokes; petersen alone is petersen:5,2",
        "petersen:7,2",
        2,
        1,
        _petersen_size,
        _petersen,
        ",",
        2,
    ),
}
"""The families by the word before the colon of a spec; `petersen` without a colon is a named graph."""
