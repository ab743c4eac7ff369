"""The search in plain Python: slow, clear, and the oracle for everything else.

A bit row is a whole number. Only the graph, its degree labelling and the totals are shared with the code for devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.degree_labelling import degree_labelling, relabelled
from kernels_ti.blocks.passable import ways_of
from kernels_ti.cycles import canonical
from kernels_ti.errors import SizeError, parameter, vertices_text
from kernels_ti.graph import Graph
from kernels_ti.state import Totals

MOST_VERTICES = 1 << 16  # Vertices of the largest graph whose bit rows are made: they take up to a GiB then


def expansions(
    graph: Graph, order: Iterable[int], longest: int, *, two_ended: bool
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Expand every chordless path of a graph, depth first from every initial triplet.

    A path goes from its tail to its head: along arcs in a directed graph, along edges that are the only one between
    their ends in a multigraph. No vertex joins that has another edge to the path. `order` are all vertices
    that have neighbours; the first one of a cycle, with its two neighbours, begins the path. With `two_ended` a path
    grows at the end with fewer extensions, and not at all if an end has none, as in `kernels_ti.step`. Without, it
    grows at its head as in the paper.

    Yields each path of two or more vertices, with bits for the vertices that close a cycle of at most `longest` with
    it. Those of two vertices are the seeds; the triangles belong to them.
    """
    onward, back, adjacent = rows_in_bits(graph)
    later = (1 << graph.n) - 1
    for u in order if longest > 2 else ():
        later &= ~(1 << u)
        heads, tails = onward[u] & later, back[u] & later
        for x in bits_of(tails) if heads else ():
            if not graph.directed:
                # Each pair of neighbours is taken once.
                heads &= ~(1 << x)
            yield (x, u), heads & back[x]
            begins = bits_of(heads & ~adjacent[x]) if longest > 3 else ()
            waiting: list[tuple[tuple[int, ...], int]] = [((x, u, y), later & ~adjacent[u]) for y in begins]
            while waiting:
                path, allowed = waiting.pop()
                tail, head = path[0], path[-1]
                to, fro = onward[head] & allowed, back[tail] & allowed
                yield path, to & fro
                to &= ~adjacent[tail]
                fro &= ~adjacent[head]
                if len(path) + 2 > longest or (two_ended and not fro):
                    continue
                # A function for the bits would take as long as all the rest.
                if not two_ended or to.bit_count() <= fro.bit_count():
                    allowed &= ~adjacent[head]
                    while to:
                        waiting.append(((*path, to.bit_length() - 1), allowed))
                        to ^= 1 << to.bit_length() - 1
                else:
                    allowed &= ~adjacent[tail]
                    while fro:
                        waiting.append(((fro.bit_length() - 1, *path), allowed))
                        fro ^= 1 << fro.bit_length() - 1


def rows_in_bits(graph: Graph) -> tuple[list[int], list[int], list[int]]:
    """Return bits for each vertex: where a cycle may go on, from where it may come, and all neighbours."""
    onward, back, adjacent = ([0] * graph.n for _ in range(3))
    for u, v, way in zip(graph.row_of_entry.tolist(), graph.col_idx.tolist(), ways_of(graph).tolist(), strict=True):
        bit = 1 << v
        adjacent[u] |= bit
        if way & 1:
            onward[u] |= bit
        if way & 2:
            back[u] |= bit
    return onward, back, adjacent


def labelled(graph: Graph) -> tuple[Graph, list[int], list[int]]:
    """Return the graph without self-loops, named by the degree labelling; its old names; and the vertices in order."""
    without_loops = graph if graph.loops is None else graph.among(graph.loops == 0)
    by_label, vertex_of = relabelled(without_loops, degree_labelling(without_loops))
    return by_label, vertex_of.tolist(), np.flatnonzero(by_label.degrees).tolist()


def search(graph: Graph, totals: Totals, *, max_length: int | None = None) -> Iterator[list[int] | None]:
    """Enumerate the chordless cycles of three or more vertices of a graph; a SizeError if it is too large.

    Algorithm 1 of Jradi et al. A path <v1, .., vt> that started from a triplet <x, u, y> is extended at its last vertex
    by every neighbour v with l(v) > l(u) that is adjacent to no vertex of the path but vt and perhaps v1; if v is
    adjacent to v1 the cycle is closed. The counts are added to `totals`, which may be read at any time. Yields a cycle
    in cycle order (see `canonical`), and None after every expanded path, so that a caller can stop although the next
    cycle is far away.
    """
    if graph.n > MOST_VERTICES:
        raise SizeError(
            f"the search in plain Python is for at most {MOST_VERTICES:,} vertices, and this graph has "
            f"{vertices_text(graph.n)}: use another {parameter('arch')}"
        )
    by_label, original, order = labelled(graph)
    longest = graph.n if max_length is None else max_length
    for path, closers in expansions(by_label, order, longest, two_ended=False):
        length = len(path)
        if length > 2:
            totals.paths[length] = totals.paths.get(length, 0) + 1
        for v in bits_of(closers):
            totals.cycles[length + 1] = totals.cycles.get(length + 1, 0) + 1
            yield canonical([original[w] for w in (*path, v)], directed=graph.directed)
        yield None


def chordless_cycles(graph: Graph, *, max_length: int | None = None) -> Iterator[list[int]]:
    """Enumerate the chordless cycles of a graph as lists of vertex indices in canonical cycle order."""
    for cycle in search(graph, Totals(), max_length=max_length):
        if cycle is not None:
            yield cycle
