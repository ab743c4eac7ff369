"""Families of graphs that whole numbers define: the size of each graph, and the function that makes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernels_ti import Graph, GraphError
from kernels_ti.errors import bytes_text, parameter, quantity
from kernels_ti.graph import IntArray

LARGEST_SIZE = 20_000_000
"""Vertices or edges that a spec may ask for, and pairs that a random graph may draw."""
LARGEST_NETWORKX_SIZE = 5_000_000
"""Largest number of edges of a graph that networkx makes; networkx needs some hundred bytes for each edge."""
_MEMORY_PER_VERTEX, _MEMORY_PER_EDGE, _MEMORY_PER_NETWORKX_EDGE = 80, 80, 550
"""Bytes while a graph is made, measured."""
_TOO_LONG_TO_PRINT = 10**18


class Size(NamedTuple):
    """Vertices, edges and largest degree of a graph; the degree is None if no formula gives it."""

    n: int
    m: int
    max_degree: int | None


@dataclass(frozen=True)
class Family:
    """A family of graphs that whole numbers define."""

    # `summary`, `example`: texts of the help
    summary: str
    example: str
    count: int | None  # How many numbers a spec has; None stands for any number of them
    fewest: int  # The least count of numbers
    least: int  # The smallest value of each number
    largest: int  # Largest number of vertices or edges of such a graph
    # Returns the `Size` of the graph of some numbers without making it. A ValueError says why there is no such graph.
    size: Callable[..., Size]
    make: Callable[..., Graph]  # Returns the graph of some numbers

    @property
    def separator(self) -> str:
        """The separator of two numbers, ``x`` or a comma."""
        return "," if "," in self.example else "x"


FAMILIES: dict[str, Family] = {}
"""The families by the word before the colon of a spec; `chordless.graphs.further_families` adds its own."""

Make = TypeVar("Make", bound=Callable[..., Graph])


def family(
    summary: str,
    example: str,
    size: Callable[..., Size],
    count: int | None = 1,
    *,
    fewest: int = 1,
    least: int = 1,
    largest: int = LARGEST_SIZE,
) -> Callable[[Make], Make]:
    """Take a function that makes graphs into `FAMILIES`; see `Family`."""

    def taken(make: Make) -> Make:
        FAMILIES[example.partition(":")[0]] = Family(summary, example, count, fewest, least, largest, size, make)
        return make

    return taken


def check_size(spec: str, n: int, m: int, largest: int = LARGEST_SIZE, memory: int | None = None) -> None:
    """Raise GraphError, before anything is allocated, for more than so many vertices or edges, or bytes."""
    if max(n, m) > largest:
        vertices, edges = (f"{size:,}" if size < _TOO_LONG_TO_PRINT else "over 10^18" for size in (n, m))
        raise GraphError(f"{spec}: {vertices} vertices and {edges} edges are more than the {largest:,} allowed")
    edge = _MEMORY_PER_NETWORKX_EDGE if largest == LARGEST_NETWORKX_SIZE else _MEMORY_PER_EDGE
    if memory is not None and (needed := _MEMORY_PER_VERTEX * n + edge * m) > memory:
        raise GraphError(
            f"{spec}: {quantity(m, 'edge')} take about {bytes_text(needed)} to make: more than memory allows here "
            f"({parameter('memory')} sets another limit)"
        )


def edge_array(edges: object) -> IntArray:
    """Return the edges of a networkx graph whose vertices are integers, shape (m, 2)."""
    return np.array(list(edges), np.int64).reshape(-1, 2)  # type: ignore[call-overload]


def pairs_of(from_: IntArray, to: IntArray) -> IntArray:
    """Return the pairs of the entries of two arrays of one shape, shape (m, 2)."""
    return np.column_stack((from_.ravel(), to.ravel()))


def joined(n: int, *ends: tuple[IntArray, IntArray]) -> Graph:
    """Return the graph with n vertices whose edges join the entries of pairs of arrays."""
    return Graph.from_edge_array(np.concatenate([pairs_of(*each) for each in ends]), n=n)


def on_grid(edges: Sequence[IntArray], sizes: Sequence[int]) -> Graph:
    """Name the vertices by their places, row by row; those of one dimension keep their numbers."""
    n = math.prod(sizes)
    places = np.unravel_index(np.arange(n), sizes)
    names = [",".join(map(str, place)) for place in zip(*(axis.tolist() for axis in places), strict=True)]
    pairs = np.concatenate([np.empty((0, 2), np.int64), *edges])
    return Graph.from_edge_array(pairs, names=names if len(sizes) > 1 else None, n=n)


def in_line(sizes: Sequence[int], reach: int) -> list[IntArray]:
    """Return the pairs of places of a grid that are in line along one dimension, at most `reach` apart."""
    index = np.arange(math.prod(sizes)).reshape(sizes)
    return [
        pairs_of(index.take(range(size - step), axis), index.take(range(step, size), axis))
        for axis, size in enumerate(sizes)
        for step in range(1, min(reach, size - 1) + 1)
    ]


def aslant(sizes: Sequence[int], moves: Sequence[tuple[int, int]]) -> list[IntArray]:
    """Return the pairs of squares of a board so many rows and columns apart, in both directions."""
    index = np.arange(math.prod(sizes)).reshape(sizes)
    return [pairs_of(each[:-a, :-b], each[a:, b:]) for each in (index, index[:, ::-1]) for a, b in moves]


def diagonal(sizes: Sequence[int]) -> list[IntArray]:
    """Return the pairs of squares of a board on one diagonal."""
    return aslant(sizes, [(step, step) for step in range(1, min(sizes))])


def on_words(letters: int, steps: Iterable[int], *, even: bool = False) -> Graph:
    """Join words of 0 and 1 of that length whose difference is a step; one more letter makes the 1s `even`."""
    word = np.arange(1 << letters)
    below = [(word[word < word ^ step], step) for step in steps]
    edges = [pairs_of(some, some ^ step) for some, step in below]
    names = [f"{each:0{letters}b}{each.bit_count() % 2 if even else ''}" for each in word.tolist()]
    return Graph.from_edge_array(np.concatenate(edges), names=names)


def tupled(drawn: Any) -> Graph:
    """Return a graph of networkx whose vertices are tuples of numbers, in their order, and named by them."""
    places = {node: number for number, node in enumerate(sorted(drawn))}
    edges = edge_array((places[u], places[v]) for u, v in drawn.edges())
    return Graph.from_edge_array(edges, names=[",".join(map(str, node)) for node in places], n=len(places))


def _grid_size(*sizes: int) -> Size:
    n = math.prod(sizes)
    return Size(n, sum(n // size * (size - 1) for size in sizes), sum(min(2, size - 1) for size in sizes))


@family("rows x columns, or more dimensions", "grid:7x10", _grid_size, None)
def _grid(*sizes: int) -> Graph:
    return on_grid(in_line(sizes, 1), sizes)


def _torus_size(*sizes: int) -> Size:
    n = math.prod(sizes)
    return Size(n, len(sizes) * n, 2 * len(sizes))


@family("a grid whose opposite sides are joined", "torus:5x6", _torus_size, None, least=3)
def _torus(*sizes: int) -> Graph:
    index = np.arange(math.prod(sizes)).reshape(sizes)
    return on_grid([pairs_of(index, np.roll(index, -1, axis)) for axis in range(len(sizes))], sizes)


def _king_size(rows: int, columns: int) -> Size:
    m = rows * (columns - 1) + columns * (rows - 1) + 2 * (rows - 1) * (columns - 1)
    return Size(rows * columns, m, min(3, rows) * min(3, columns) - 1)


@family("squares of a board, joined by the moves of a king", "king:6x6", _king_size, 2)
def _king(*sizes: int) -> Graph:
    return on_grid([*in_line(sizes, 1), *aslant(sizes, [(1, 1)])], sizes)


def rook_size(a: int, b: int) -> Size:
    """Return the size of a board on which a piece moves along rows and columns."""
    return Size(a * b, a * (b * (b - 1) // 2) + b * (a * (a - 1) // 2), a + b - 2)


def bishop_size(*sizes: int) -> Size:
    """Return the size of a board on which a piece moves along diagonals."""
    a, b = sorted(sizes)
    # In each of the two directions there are two diagonals each of 1 to a - 1 squares, and b - a + 1 of a squares.
    diagonals = 2 * (a * (a - 1) * (a - 2) // 6) + (b - a + 1) * (a * (a - 1) // 2)
    return Size(a * b, 2 * diagonals, None)


def _queens_size(a: int, b: int) -> Size:
    return Size(a * b, rook_size(a, b).m + bishop_size(a, b).m, None)


@family("squares, joined by the moves of a queen", "queens:5x5", _queens_size, 2)
def _queens(*sizes: int) -> Graph:
    return on_grid([*in_line(sizes, max(sizes)), *diagonal(sizes)], sizes)


@family("one cycle", "cycle:100", lambda n: Size(n, n, 2), least=3)
def _cycle(n: int) -> Graph:
    v = np.arange(n)
    return joined(n, (v, (v + 1) % n))


@family("one path", "path:5", lambda n: Size(n, n - 1, min(2, n - 1)))
def _path(n: int) -> Graph:
    v = np.arange(n)
    return joined(n, (v[:-1], v[1:]))


@family("a rim of that many vertices and a hub", "wheel:100", lambda n: Size(n + 1, 2 * n, max(3, n)), least=3)
def _wheel(rim: int) -> Graph:
    v = np.arange(rim)
    return joined(rim + 1, (v + 1, (v + 1) % rim + 1), (np.zeros_like(v), v + 1))


@family("every pair joined", "complete:10", lambda n: Size(n, n * (n - 1) // 2, n - 1))
def _complete(n: int) -> Graph:
    return joined(n, np.triu_indices(n, 1))


@family("complete bipartite", "bipartite:50x50", lambda a, b: Size(a + b, a * b, max(a, b)), 2)
def _bipartite(a: int, b: int) -> Graph:
    return joined(a + b, (np.repeat(np.arange(a), b), np.tile(np.arange(b) + a, a)))


def _hypercube_size(d: int) -> Size:
    n = 2 ** min(d, 60)
    return Size(n, d * n // 2, d)


@family("corners of a cube of that dimension", "hypercube:5", _hypercube_size)
def _hypercube(d: int) -> Graph:
    return on_words(d, [1 << letter for letter in range(d)])


@family("two paths and their rungs", "ladder:30", lambda n: Size(2 * n, 3 * n - 2, min(3, n)))
def _ladder(n: int) -> Graph:
    v = np.arange(n)
    return joined(2 * n, (v[:-1], v[1:]), (v[:-1] + n, v[1:] + n), (v, v + n))


def _circulant_size(n: int, *steps: int) -> Size:
    if max(steps) > n // 2 or len(set(steps)) < len(steps):
        raise ValueError(f"the steps must differ and be from 1 to half of the {n} vertices")
    ends = sum(1 if 2 * step == n else 2 for step in steps)
    return Size(n, n * ends // 2, ends)


@family(
    "vertices, then the steps round the circle that join two of them",
    "circulant:12,1,3",
    _circulant_size,
    None,
    fewest=2,
    largest=LARGEST_NETWORKX_SIZE,
)
def _circulant(n: int, *steps: int) -> Graph:
    import networkx as nx

    return Graph.from_edge_array(edge_array(nx.circulant_graph(n, steps).edges()), n=n)


def subsets(n: int, k: int) -> int:
    """Return the number of subsets of size k; above 10^18 the result is only some number above 10^18."""
    chosen = 1
    for i in range(min(k, n - k)):
        chosen = chosen * (n - i) // (i + 1)
        if chosen > _TOO_LONG_TO_PRINT:
            break
    return chosen if k <= n else 0


def subsets_of_things(n: int, k: int) -> int:
    """Return `subsets` where there are any; else a ValueError."""
    if k > n:
        raise ValueError(f"{n} things have no subsets of {k}")
    return subsets(n, k)


def _kneser_size(n: int, k: int) -> Size:
    vertices, degree = subsets_of_things(n, k), subsets(n - k, k)
    return Size(vertices, vertices * degree // 2, degree)


@family(
    "n,k: the subsets of k among n things; disjoint ones are joined",
    "kneser:5,2",
    _kneser_size,
    2,
    largest=LARGEST_NETWORKX_SIZE,
)
def _kneser(n: int, k: int) -> Graph:
    import networkx as nx

    return tupled(nx.kneser_graph(n, k))


def _mycielski_size(number: int) -> Size:
    size = Size(1, 0, 0) if number == 1 else Size(2, 1, 1)
    for _ in range(number - 2):
        n, m, degree = size
        size = Size(2 * n + 1, 3 * m + n, max(2 * (degree or 0), n))
        if n > _TOO_LONG_TO_PRINT:
            break
    return size


@family("the Mycielski graph of that number", "mycielski:5", _mycielski_size, largest=LARGEST_NETWORKX_SIZE)
def _mycielski(number: int) -> Graph:
    import networkx as nx

    drawn = nx.mycielski_graph(number)
    return Graph.from_edge_array(edge_array(drawn.edges()), n=len(drawn))
