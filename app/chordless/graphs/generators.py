"""Graphs made on the spot from a spec such as ``grid:7x10``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph, IntArray

LARGEST_SIZE = 20_000_000
"""Vertices or edges that a spec may ask for, and pairs that a random graph may draw."""
LARGEST_RANDOM_SIZE = 5_000_000
"""Edges that a random graph may expect: networkx needs some hundred bytes for each."""


@dataclass(frozen=True)
class Kind:
    """One kind of graph, for the help.

    Parameters
    ----------
    name : str
        What stands before the colon.
    example : str
        A spec that is right.
    summary : str
        One line about it.
    """

    name: str
    example: str
    summary: str


def _check_size(spec: str, n: int, m: int) -> None:
    if max(n, m) > LARGEST_SIZE:
        raise GraphError(f"{spec}: {n:,} vertices and {m:,} edges are more than the {LARGEST_SIZE:,} that are made")


def _grid(spec: str, sizes: Sequence[int]) -> Graph:
    n = math.prod(sizes)
    _check_size(spec, n, sum(n // size * (size - 1) for size in sizes))
    index = np.arange(n).reshape(sizes)
    edges = [np.empty((0, 2), np.int64)]
    for axis, size in enumerate(sizes):
        from_ = index.take(range(size - 1), axis)
        to = index.take(range(1, size), axis)
        edges.append(np.column_stack((from_.ravel(), to.ravel())))
    places = np.unravel_index(np.arange(n), sizes)
    names = [",".join(map(str, place)) for place in zip(*(axis.tolist() for axis in places), strict=True)]
    return Graph.from_edge_array(np.concatenate(edges), names=names if len(sizes) > 1 else None, n=n)


def _cycle(spec: str, sizes: Sequence[int]) -> Graph:
    (n,) = sizes
    _check_size(spec, n, n)
    v = np.arange(n)
    return Graph.from_edge_array(np.column_stack((v, (v + 1) % n)), n=n)


def _path(spec: str, sizes: Sequence[int]) -> Graph:
    (n,) = sizes
    _check_size(spec, n, n - 1)
    v = np.arange(n - 1)
    return Graph.from_edge_array(np.column_stack((v, v + 1)), n=n)


def _wheel(spec: str, sizes: Sequence[int]) -> Graph:
    (rim,) = sizes
    _check_size(spec, rim + 1, 2 * rim)
    v = np.arange(rim)
    edges = np.concatenate((np.column_stack((v, (v + 1) % rim)) + 1, np.column_stack((np.zeros_like(v), v + 1))))
    return Graph.from_edge_array(edges, n=rim + 1)


def _complete(spec: str, sizes: Sequence[int]) -> Graph:
    (n,) = sizes
    _check_size(spec, n, n * (n - 1) // 2)
    return Graph.from_edge_array(np.column_stack(np.triu_indices(n, 1)), n=n)


def _bipartite(spec: str, sizes: Sequence[int]) -> Graph:
    a, b = sizes
    _check_size(spec, a + b, a * b)
    edges = np.column_stack((np.repeat(np.arange(a), b), np.tile(np.arange(b) + a, a)))
    return Graph.from_edge_array(edges, n=a + b)


def _hypercube(spec: str, sizes: Sequence[int]) -> Graph:
    (d,) = sizes
    if d > 60:
        raise GraphError(f"{spec}: 2^{d} vertices are more than the {LARGEST_SIZE:,} that are made")
    n = 2**d
    _check_size(spec, n, d * n // 2)
    v = np.arange(n)
    edges = [np.column_stack((v, v | 1 << bit))[v & 1 << bit == 0] for bit in range(d)]
    return Graph.from_edge_array(np.concatenate(edges), names=[f"{u:0{d}b}" for u in range(n)])


def _ladder(spec: str, sizes: Sequence[int]) -> Graph:
    (n,) = sizes
    _check_size(spec, 2 * n, 3 * n - 2)
    v = np.arange(n)
    rail = np.column_stack((v[:-1], v[1:]))
    return Graph.from_edge_array(np.concatenate((rail, rail + n, np.column_stack((v, v + n)))), n=2 * n)


@dataclass(frozen=True)
class _Family:
    """Graphs of a kind given by whole numbers: how many (None: any), the least of them, and the maker."""

    summary: str
    example: str
    count: int | None
    least: int
    make: Callable[[str, Sequence[int]], Graph]


_FAMILIES = {
    "grid": _Family("rows x columns, or more dimensions", "grid:7x10", None, 1, _grid),
    "cycle": _Family("one cycle", "cycle:100", 1, 3, _cycle),
    "path": _Family("one path", "path:5", 1, 1, _path),
    "wheel": _Family("a rim of that many vertices and a hub", "wheel:100", 1, 3, _wheel),
    "complete": _Family("every pair joined", "complete:10", 1, 1, _complete),
    "bipartite": _Family("complete bipartite", "bipartite:50x50", 2, 1, _bipartite),
    "hypercube": _Family("corners of a cube of that dimension", "hypercube:5", 1, 1, _hypercube),
    "ladder": _Family("two paths and their rungs", "ladder:30", 1, 1, _ladder),
}


def _gnp(spec: str, n: int, probability: float, seed: int) -> Graph:
    if not 0 <= probability <= 1:
        raise GraphError(f"{spec}: the probability must be from 0 to 1, found {probability}")
    pairs = n * (n - 1) // 2
    _check_size(spec, n, pairs)
    _check_random(spec, round(pairs * probability))
    import networkx as nx

    return Graph.from_edge_array(_edge_array(nx.gnp_random_graph(n, probability, seed=seed).edges()), n=n)


def _regular(spec: str, degree: int, n: int, seed: int) -> Graph:
    if degree >= n or degree * n % 2:
        raise GraphError(
            f"{spec}: a {degree}-regular graph on {n} vertices does not exist; "
            "the degree must be below the number of vertices and their product even"
        )
    _check_size(spec, n, degree * n // 2)
    _check_random(spec, degree * n // 2)
    import networkx as nx

    # Drawing a dense one edge by edge hardly ever succeeds, so its complement is drawn.
    drawn = nx.random_regular_graph(min(degree, n - 1 - degree), n, seed=seed)
    if degree > n - 1 - degree:
        drawn = nx.complement(drawn)
    # By number: networkx lists the vertices in the order in which edges were drawn.
    return Graph.from_edge_array(_edge_array(drawn.edges()), n=n)


def _planar(spec: str, n: int, seed: int) -> Graph:
    _check_size(spec, n, 3 * n // 2)
    columns = math.isqrt(max(n - 1, 0)) + 1
    v = np.arange(n)
    inner = v % columns + 1 < columns
    right, down = v[inner & (v + 1 < n)], v[v + columns < n]
    square = v[inner & (v + columns + 1 < n)]
    # Raw numbers, because those of a seed are the same in every version of numpy.
    source = np.random.PCG64(seed)
    falling = source.random_raw(len(square)) >> np.uint64(63) == 0
    pairs = np.concatenate(
        (
            np.column_stack((right, right + 1)),
            np.column_stack((down, down + columns)),
            np.column_stack((square + ~falling, square + columns + falling)),
        )
    )
    drawn = source.random_raw(len(pairs)).argsort(kind="stable")[: 3 * n // 2]
    return Graph.from_edge_array(pairs[drawn], n=n)


def _check_random(spec: str, m: int) -> None:
    if m > LARGEST_RANDOM_SIZE:
        raise GraphError(f"{spec}: about {m:,} edges are more than the {LARGEST_RANDOM_SIZE:,} of a random graph")


def _edge_array(edges: object) -> IntArray:
    return np.array(list(edges), np.int64).reshape(-1, 2)  # type: ignore[call-overload]


_RANDOM = {
    "gnp": ("gnp:60,0.1,1", "random: vertices, probability of an edge, seed"),
    "regular": ("regular:3,60,1", "random: degree, vertices, seed"),
    "planar": ("planar:1000,1", "random: vertices, seed; a square grid with diagonals, cut down to average degree 3"),
}

_NAMED = {
    "bull": "bull_graph",
    "chvatal": "chvatal_graph",
    "cubical": "cubical_graph",
    "davis_women": "davis_southern_women_graph",
    "desargues": "desargues_graph",
    "diamond": "diamond_graph",
    "dodecahedral": "dodecahedral_graph",
    "florentine": "florentine_families_graph",
    "frucht": "frucht_graph",
    "heawood": "heawood_graph",
    "hoffman_singleton": "hoffman_singleton_graph",
    "house": "house_graph",
    "house_x": "house_x_graph",
    "icosahedral": "icosahedral_graph",
    "karate": "karate_club_graph",
    "krackhardt_kite": "krackhardt_kite_graph",
    "les_miserables": "les_miserables_graph",
    "moebius_kantor": "moebius_kantor_graph",
    "octahedral": "octahedral_graph",
    "pappus": "pappus_graph",
    "petersen": "petersen_graph",
    "sedgewick_maze": "sedgewick_maze_graph",
    "tetrahedral": "tetrahedral_graph",
    "truncated_cube": "truncated_cube_graph",
    "truncated_tetrahedron": "truncated_tetrahedron_graph",
    "tutte": "tutte_graph",
}


def known_kinds() -> tuple[Kind, ...]:
    """List every kind of graph with an example and a line of help."""
    families = [Kind(name, family.example, family.summary) for name, family in _FAMILIES.items()]
    random = [Kind(name, example, summary) for name, (example, summary) in _RANDOM.items()]
    named = [Kind(name, name, f"{function} of networkx") for name, function in _NAMED.items()]
    return (*families, *random, *named)


def is_spec(text: str) -> bool:
    """Say whether a text starts with a known kind; what follows may still be wrong."""
    return text.partition(":")[0] in (*_FAMILIES, *_RANDOM, *_NAMED)


def unknown_kind(kind: str) -> str:
    """Say that there is no such kind of graph, and which are spelt like it."""
    known = (*_FAMILIES, *_RANDOM, *_NAMED)
    close = difflib.get_close_matches(kind.lower(), known, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else "chordless count --help lists the kinds"
    return f"there is no kind of graph called {kind!r}; {hint}"


def generate(spec: str) -> Graph:
    """Make the graph of a spec.

    Vertices are numbered as networkx numbers them, from 0; grids row by row, with names ``row,column``, and
    hypercubes with their corners in binary as names. Named graphs keep the names of networkx. Random graphs are
    those of networkx' ``gnp_random_graph`` and ``random_regular_graph`` with that seed; a regular graph in which
    more than half of all pairs are joined is the complement of one. A planar graph is a square grid, numbered row
    by row and its last row cut short, with one of the two diagonals in each square, of whose edges 3 n / 2 are
    drawn; it need not be connected.

    Parameters
    ----------
    spec : str
        ``kind:sizes``, or the name of a graph; see `known_kinds`.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        For a kind or a size that does not exist, or a graph too large to make.
    """
    kind, colon, sizes = spec.partition(":")
    if kind in _FAMILIES:
        return _generate_family(spec, _FAMILIES[kind], sizes)
    if kind in _RANDOM:
        return _generate_random(spec, kind, sizes)
    if kind not in _NAMED:
        raise GraphError(f"{spec}: {unknown_kind(kind)}")
    if colon:
        raise GraphError(f"{spec}: {kind} is one graph and takes no size; write {kind}")
    import networkx as nx

    graph = getattr(nx, _NAMED[kind])()
    if all(isinstance(name, int) for name in graph):
        # By number, whatever the order in which networkx adds them.
        return Graph.from_edge_array(_edge_array(graph.edges()), n=len(graph))
    return Graph.from_networkx(graph)


def _generate_family(spec: str, family: _Family, sizes: str) -> Graph:
    numbers = sizes.split("x")
    if not all(re.fullmatch(r"[0-9]{1,18}", number) for number in numbers):
        raise GraphError(f"{spec}: the size {sizes!r} is not made of whole numbers; right is {family.example}")
    if family.count not in (None, len(numbers)):
        plural = "s" * (family.count != 1)
        raise GraphError(
            f"{spec}: {family.count} number{plural} expected, found {len(numbers)}; right is {family.example}"
        )
    if min(map(int, numbers)) < family.least:
        raise GraphError(f"{spec}: sizes start at {family.least}; right is {family.example}")
    if len(numbers) > 32:
        raise GraphError(f"{spec}: a grid of {len(numbers)} dimensions; up to 32 are made")
    return family.make(spec, tuple(map(int, numbers)))


def _generate_random(spec: str, kind: str, sizes: str) -> Graph:
    whole, fraction = r"([0-9]{1,18})", r"([0-9]*\.?[0-9]+(?:e-?[0-9]{1,3})?)"
    parts = {"gnp": (whole, fraction, whole), "regular": (whole, whole, whole), "planar": (whole, whole)}
    found = re.fullmatch(",".join(parts[kind]), sizes)
    if found is None:
        example, summary = _RANDOM[kind]
        needs = summary.removeprefix("random: ").partition(";")[0]
        raise GraphError(f"{spec}: {kind} takes {needs}, separated by commas; right is {example}")
    if kind == "gnp":
        return _gnp(spec, int(found[1]), float(found[2]), int(found[3]))
    if kind == "regular":
        return _regular(spec, int(found[1]), int(found[2]), int(found[3]))
    return _planar(spec, int(found[1]), int(found[2]))
