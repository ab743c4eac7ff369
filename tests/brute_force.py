"""Chordless cycles and paths of a small graph by their definition alone: nothing here is shared with the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise

Edge = tuple[int, int]
Cycle = tuple[int, ...]
Path = tuple[int, ...]


def chordless_cycles(n: int, edges: Sequence[Edge], *, directed: bool) -> list[Cycle]:
    """Look at every set of vertices: it has a chordless cycle if the edges inside are those of one cycle.

    A cycle begins at its smallest vertex. It goes along the arcs, and without directions on to the smaller neighbour.
    """
    found = []
    for members, inside in _induced(n, edges):
        if len(inside) == len(members) and (walk := _followed(inside, members[0], directed)):
            *cycle, last = walk
            if last == cycle[0] and len(set(cycle)) == len(cycle):
                found.append(tuple(cycle))
    return sorted(found)


def chordless_paths(n: int, edges: Sequence[Edge], ends: tuple[int, ...], *, directed: bool) -> list[Path]:
    """Look at every set of vertices: it has a chordless path if the edges inside are those of one.

    A path leads from the first to the second of the ends; without these, between any two vertices. Then a path without
    directions begins at the smaller one.
    """
    found = []
    for members, inside in _induced(n, edges):
        if len(members) < 2 or len(inside) != len(members) - 1 or not set(ends) <= set(members):
            continue
        for first in ends[:1] or members:
            path = _followed(inside, first, directed)
            if (
                path
                and len(set(path)) == len(path)
                and (path[-1] == ends[1] if ends else directed or path[0] < path[-1])
            ):
                found.append(path)
    return sorted(found)


def automorphisms(n: int, edges: Sequence[Edge], kept: Iterable[Iterable[int]]) -> list[tuple[int, ...]]:
    """Return every permutation of the vertices that maps edges to edges, and each of the kept sets to itself."""
    pairs, sets = set(map(frozenset, edges)), list(map(set, kept))
    colours = [[v in members for members in sets] for v in range(n)]
    found: list[tuple[int, ...]] = [()]
    for v in range(n):
        found = [
            (*image, w)
            for image in found
            for w in set(range(n)).difference(image)
            if colours[v] == colours[w] and all(({u, v} in pairs) == ({image[u], w} in pairs) for u in range(v))
        ]
    return found


def _induced(n: int, edges: Sequence[Edge]) -> Iterator[tuple[tuple[int, ...], list[Edge]]]:
    """Yield every set of vertices with the edges inside."""
    masks = [1 << u | 1 << v for u, v in edges]
    for size in range(1, n + 1):
        for members in combinations(range(n), size):
            inside = sum(1 << v for v in members)
            yield members, [edges[i] for i, mask in enumerate(masks) if mask & inside == mask]


def _followed(edges: list[Edge], first: int, directed: bool) -> tuple[int, ...] | None:
    """Follow edges from a vertex; return the vertices passed, the last one too, if that uses each edge once."""
    left, passed = sorted(edges), [first]
    while left:
        at = passed[-1]
        onward = [(u, v) for u, v in left if at == u or (not directed and at == v)]
        if not onward:
            return None
        following = min((v if u == at else u, (u, v)) for u, v in onward)
        left.remove(following[1])
        passed.append(following[0])
    return tuple(passed)


def simplified(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges without directions, self-loops and repetitions."""
    return sorted({(min(u, v), max(u, v)) for u, v in edges if u != v})


def wanted(
    cycles: Iterable[Cycle],
    *,
    min_length: int = 3,
    max_length: int | None = None,
    parity: str | None = None,
    through: Iterable[int] = (),
    avoid: Iterable[int] = (),
    avoid_edges: Iterable[Edge] = (),
) -> list[Cycle]:
    """Return the cycles within bounds and restrictions, and of a parity if there is one.

    A chordless cycle has an edge if it passes both its ends.
    """
    through, avoid, without = set(through), set(avoid), [set(edge) for edge in avoid_edges]
    return [
        cycle
        for cycle in cycles
        if min_length <= len(cycle) <= (max_length or len(cycle))
        and len(cycle) % 2 in {None: (0, 1), "even": (0,), "odd": (1,)}[parity]
        and through <= set(cycle)
        and not avoid & set(cycle)
        and not any(edge <= set(cycle) for edge in without)
    ]


def by_length(cycles: Iterable[Cycle]) -> dict[int, int]:
    """Count cycles by their number of vertices."""
    return dict(sorted(Counter(map(len, cycles)).items()))


def pairs_of(cycle: Cycle) -> set[frozenset[int]]:
    """Return the pairs of vertices that follow each other in a cycle."""
    following = (*cycle[1:], cycle[0])
    return {frozenset(pair) for pair in zip(cycle, following, strict=True) if len(set(pair)) == 2}


def edge_weight(cycle: Cycle, weights: dict[Edge, int], *, directed: bool) -> int:
    """Add up the weights of a cycle's edges, or arcs."""
    return path_weight((*cycle, cycle[0]), weights, directed=directed)


def path_weight(path: Path, weights: dict[Edge, int], *, directed: bool) -> int:
    """Add up the weights of a path's edges, or arcs."""
    ends = pairwise(path)
    return sum(weights[end] if directed or end in weights else weights[end[::-1]] for end in ends)
