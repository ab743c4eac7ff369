"""The sequential algorithm of Dias et al. in plain Python: slow, clear, and the oracle for everything else.

It shares only the graph and the degree labelling with the code for devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kernels_ti.blocks.degree_labelling import degree_labelling, relabelled
from kernels_ti.graph import Graph


@dataclass
class Levels:
    """Paths and cycles counted so far, by number of vertices."""

    # |T_t|: chordless paths with t vertices that were put into the frontier
    paths: dict[int, int] = field(default_factory=dict)
    # |C_t|: chordless cycles with t vertices; 3 stands for the triangles
    cycles: dict[int, int] = field(default_factory=dict)


def search(graph: Graph, levels: Levels, *, max_length: int | None = None) -> Iterator[list[int] | None]:
    """Enumerate the chordless cycles of three or more vertices of a graph, depth first from every initial triplet.

    Algorithm 1 of Jradi et al. A path <v1, .., vt> that started from a triplet <x, u, y> is extended at its last vertex
    by every neighbour v with l(v) > l(u) that is adjacent to no vertex of the path but vt and perhaps v1; if v is
    adjacent to v1 the cycle is closed. The counts are added to `levels`, which may be read at any time. Yields a cycle
    in cycle order (see `canonical`), and None after every expanded path, so that a caller can stop although the next
    cycle is far away.
    """
    longest = graph.n if max_length is None else max_length
    if not graph.is_simple:
        yield from _search_with_chords(graph, levels, longest)
        return
    by_label, vertex_of = relabelled(graph, degree_labelling(graph))
    neighbours = [by_label.neighbours(v).tolist() for v in range(by_label.n)]
    adjacent = [set(row) for row in neighbours]
    original = vertex_of.tolist()

    for u in range(by_label.n):
        later = [x for x in neighbours[u] if x > u]
        for i, x in enumerate(later):
            for y in later[i + 1 :]:
                if y in adjacent[x]:
                    if longest >= 3:
                        _count(levels.cycles, 3)
                        yield canonical([original[v] for v in (x, u, y)])
                    continue
                if longest < 4:
                    continue
                _count(levels.paths, 3)
                frontier = [[x, u, y]]
                while frontier:
                    path = frontier.pop()
                    first, inner, last = path[0], path[1:-1], path[-1]
                    for v in neighbours[last]:
                        if v <= u or v == first or any(v in adjacent[w] for w in inner):
                            continue
                        if v in adjacent[first]:
                            _count(levels.cycles, len(path) + 1)
                            yield canonical([original[w] for w in [*path, v]])
                        elif len(path) + 2 <= longest:
                            _count(levels.paths, len(path) + 1)
                            frontier.append([*path, v])
                    yield None


def _count(counts: dict[int, int], length: int) -> None:
    counts[length] = counts.get(length, 0) + 1


def _search_with_chords(graph: Graph, levels: Levels, longest: int) -> Iterator[list[int] | None]:
    """Enumerate the chordless cycles of three or more vertices of a directed graph or a multigraph.

    A path x -> u -> .. -> head follows edges that are the only one between their ends, in their direction. It is
    extended at its head. No vertex joins that has another edge to the path, whatever its direction.
    """
    without_loops = graph if graph.loops is None else graph.among(graph.loops == 0)
    by_label, vertex_of = relabelled(without_loops, degree_labelling(without_loops))
    ways = np.full(len(by_label.col_idx), 3) if by_label.ways is None else by_label.ways
    original, directed = vertex_of.tolist(), graph.directed
    adjacent: list[set[int]] = []
    heads: list[list[int]] = []
    tails: list[list[int]] = []
    for v in range(by_label.n):
        near, way = by_label.neighbours(v), ways[by_label.row_ptr[v] : by_label.row_ptr[v + 1]]
        adjacent.append(set(near.tolist()))
        heads.append(near[(way & 1) > 0].tolist())
        tails.append(near[(way & 2) > 0].tolist())
    for u in range(by_label.n):
        for x in (x for x in tails[u] if x > u):
            # Without directions each pair of neighbours is taken once.
            for y in (y for y in heads[u] if y > (u if directed else x)):
                if y in adjacent[x]:
                    if x in heads[y] and longest >= 3:
                        _count(levels.cycles, 3)
                        yield canonical([original[v] for v in (x, u, y)], directed=directed)
                    continue
                if longest < 4:
                    continue
                _count(levels.paths, 3)
                frontier = [[x, u, y]]
                while frontier:
                    path = frontier.pop()
                    inner, head = path[1:-1], path[-1]
                    for v in heads[head]:
                        if v <= u or v == x or any(v in adjacent[w] for w in inner):
                            continue
                        if v in adjacent[x]:
                            if x in heads[v]:
                                _count(levels.cycles, len(path) + 1)
                                yield canonical([original[w] for w in [*path, v]], directed=directed)
                        elif len(path) + 2 <= longest:
                            _count(levels.paths, len(path) + 1)
                            frontier.append([*path, v])
                    yield None


def canonical(cycle: list[int], *, directed: bool = False) -> list[int]:
    """Rotate a cycle to its smallest vertex; if it has no direction, that vertex's smaller neighbour follows."""
    at = cycle.index(min(cycle))
    forward = cycle[at:] + cycle[:at]
    return forward if directed or forward[1] < forward[-1] else [forward[0], *reversed(forward[1:])]


def chordless_cycles(graph: Graph, *, max_length: int | None = None) -> Iterator[list[int]]:
    """Enumerate the chordless cycles of a graph as lists of vertex indices in canonical cycle order."""
    for cycle in search(graph, Levels(), max_length=max_length):
        if cycle is not None:
            yield cycle


def levels_of(graph: Graph, *, max_length: int | None = None) -> Levels:
    """Run the whole search and return its counts by length."""
    levels = Levels()
    for _ in search(graph, levels, max_length=max_length):
        pass
    return levels
