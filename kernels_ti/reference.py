"""The sequential algorithm of Dias et al. in plain Python: slow, clear, and the oracle for everything else.

It shares only the graph and the degree labelling with the code for devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kernels_ti.blocks.degree_labelling import degree_labelling, relabelled
from kernels_ti.graph import Graph


@dataclass
class Levels:
    """Paths and cycles counted so far, by number of vertices.

    Attributes
    ----------
    paths : dict of int to int
        |T_t|: chordless paths with t vertices that were put into the frontier.
    cycles : dict of int to int
        |C_t|: chordless cycles with t vertices; 3 stands for the triangles.
    """

    paths: dict[int, int] = field(default_factory=dict)
    cycles: dict[int, int] = field(default_factory=dict)


def search(graph: Graph, levels: Levels, *, max_length: int | None = None) -> Iterator[list[int] | None]:
    """Enumerate the chordless cycles of a graph, depth first from every initial triplet.

    Algorithm 1 of Jradi et al. A path <v1, .., vt> that started from a triplet <x, u, y> is extended at its
    last vertex by every neighbour v with l(v) > l(u) that is adjacent to no vertex of the path but vt and
    perhaps v1; if v is adjacent to v1 the cycle is closed.

    Parameters
    ----------
    graph : Graph
    levels : Levels
        The search adds its counts here. It may be read at any time.
    max_length : int, optional
        Number of vertices of the longest cycle that is wanted. Longer paths are not made.

    Yields
    ------
    list of int, or None
        A cycle as vertex indices in cycle order (see `canonical`). None after every expanded path, so that a caller can
        stop although the next cycle is far away.

    References
    ----------
    Dias, Castonguay, Longo, Jradi 2014; Jradi, Dias, Castonguay, Longo, do Nascimento.
    """
    longest = graph.n if max_length is None else max_length
    by_label, vertex_of = relabelled(graph, degree_labelling(graph))
    neighbours = [by_label.neighbours(v).tolist() for v in range(by_label.n)]
    adjacent = [set(row) for row in neighbours]
    original = vertex_of.tolist()

    def count(counts: dict[int, int], length: int) -> None:
        counts[length] = counts.get(length, 0) + 1

    for u in range(by_label.n):
        later = [x for x in neighbours[u] if x > u]
        for i, x in enumerate(later):
            for y in later[i + 1 :]:
                if y in adjacent[x]:
                    if longest >= 3:
                        count(levels.cycles, 3)
                        yield canonical([original[v] for v in (x, u, y)])
                    continue
                if longest < 4:
                    continue
                count(levels.paths, 3)
                frontier = [[x, u, y]]
                while frontier:
                    path = frontier.pop()
                    first, inner, last = path[0], path[1:-1], path[-1]
                    for v in neighbours[last]:
                        if v <= u or v == first or any(v in adjacent[w] for w in inner):
                            continue
                        if v in adjacent[first]:
                            count(levels.cycles, len(path) + 1)
                            yield canonical([original[w] for w in [*path, v]])
                        elif len(path) + 2 <= longest:
                            count(levels.paths, len(path) + 1)
                            frontier.append([*path, v])
                    yield None


def canonical(cycle: list[int]) -> list[int]:
    """Rotate and reflect a cycle so that it starts at its smallest vertex, then its smaller neighbour."""
    at = cycle.index(min(cycle))
    forward = cycle[at:] + cycle[:at]
    return forward if forward[1] < forward[-1] else [forward[0], *reversed(forward[1:])]


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
