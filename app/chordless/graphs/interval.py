"""The order of the vertices of an interval graph along one line, or why a chordal graph has none.

That is an asteroidal triple (Lekkerkerker and Boland 1962).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels_ti import Graph, as_graph, is_chordal
from kernels_ti.chordality import require_simple
from kernels_ti.graph import IntArray

Labels = NDArray[np.int32]

_FEW = 300
"""Ends among which a triple is sought at once."""

_PIECES = 64
"""A piece of the graph that is left out to see whether the rest has a triple is no smaller than this part of it."""

_DOUBLINGS = 30
"""Bits that a label takes before the labels are numbered again; 32 more are left for a number."""


@dataclass(frozen=True)
class Stretch:
    """The interval of a vertex: two vertices are joined if and only if their intervals have a place in common."""

    vertex: Hashable  # Its name
    first: int  # The first place on the line, counted from 1
    last: int  # The last place; it belongs to the interval


def interval_order(graph: Any, *, simplify: bool = False) -> tuple[Stretch, ...] | None:
    """Lay the vertices of an interval graph along a line, so that those that are joined overlap, and no others.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        Simple and undirected, such as the niche overlap graph of a food web; see `as_graph` for what is understood.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.

    Returns
    -------
    tuple of Stretch, or None
        For each vertex that has a neighbour its name, ``vertex``, and the ``first`` and the ``last`` place that it
        takes on the line, counted from 1; by their first places. A vertex without a neighbour fits anywhere between
        the others. None if this is not an interval graph.

    Raises
    ------
    GraphError
        If the graph is not simple and undirected.

    Notes
    -----
    Each place of the line is a maximal clique. The cliques are ordered by partition refinement.

    References
    ----------
    Habib, McConnell, Paul, Viennot, *Lex-BFS and partition refinement, with applications to transitive orientation,
    interval graph recognition and consecutive ones testing*, Theoretical Computer Science 234 (2000).

    Examples
    --------
    >>> import networkx
    >>> from chordless import interval_order
    >>> [(one.vertex, one.first, one.last) for one in interval_order(networkx.path_graph(4))]
    [(0, 1, 1), (1, 1, 2), (2, 2, 3), (3, 3, 3)]
    >>> interval_order(networkx.cycle_graph(4)) is None
    True
    """
    graph = as_graph(graph, simplify=simplify)
    require_simple(graph, "an order along a line")
    if not is_chordal(graph):
        return None
    tree = clique_tree(graph)
    places = _places(tree)
    stretches, names = [], graph.names
    for vertex, cliques in tree.of_vertex.items():
        held = places[cliques]
        first, last = int(held.min()) + 1, int(held.max()) + 1
        if last - first + 1 != len(held):
            return None
        stretches.append(Stretch(names[vertex], first, last))
    # Those of the same places stay in the order of their vertices.
    return tuple(sorted(stretches, key=lambda one: (one.first, one.last)))


class CliqueTree(NamedTuple):
    """The maximal cliques of a chordal graph, in the order in which the search meets them."""

    parent: IntArray  # Of each clique; itself at the root of a component
    separators: list[IntArray]  # The vertices that a clique shares with its parent
    of_vertex: dict[int, IntArray]  # The cliques of each vertex that has a neighbour


def clique_tree(graph: Graph) -> CliqueTree:
    """Take the vertices of a chordal graph by lexicographic breadth-first search.

    A vertex and its neighbours before it are a clique. It is the clique of the latest of these neighbours with one
    vertex more, or another clique of the tree.
    """
    visited_at = np.full(graph.n, graph.n)
    labels = np.zeros(graph.n, np.int64)
    clique_of: dict[int, int] = {}
    members: list[list[int]] = []
    parent: list[int] = []
    separators: list[IntArray] = []
    for at in range(graph.n):
        v = int(labels.argmax())
        near = graph.neighbours(v)
        # A vertex that was visited keeps a negative label.
        labels[v] = -1
        labels *= 2
        labels[near] += 1
        if at % _DOUBLINGS == 0:
            labels = np.unique(np.maximum(labels, -1), return_inverse=True)[1] - 1
        visited_at[v] = at
        if not len(near):
            continue
        earlier = near[visited_at[near] < at]
        before = clique_of[int(earlier[visited_at[earlier].argmax()])] if len(earlier) else len(members)
        if before < len(members) and len(members[before]) == len(earlier):
            members[before].append(v)
            clique_of[v] = before
            continue
        clique_of[v] = len(members)
        members.append([*earlier.tolist(), v])
        parent.append(before)
        separators.append(earlier)
    of_vertex: dict[int, list[int]] = {v: [] for v in sorted(clique_of)}
    for clique, vertices in enumerate(members):
        for v in vertices:
            of_vertex[v].append(clique)
    return CliqueTree(np.array(parent, np.int64), separators, {v: np.array(held) for v, held in of_vertex.items()})


def _places(tree: CliqueTree) -> IntArray:
    """Return the place of each clique; the cliques of each vertex lie side by side if any order of them does so.

    Cliques that are still together have the first of their places. Those of one vertex are moved to the side where the
    vertex has others. The last clique that the search met can be an end of those that are together.
    """
    places = np.zeros(len(tree.parent), np.int64)
    links = np.arange(len(places)) != tree.parent
    waiting: list[int] = []
    done: set[int] = set()
    while True:
        if waiting:
            v = waiting.pop()
            if v in done:
                continue
            done.add(v)
            inside = np.zeros(len(places), bool)
            inside[tree.of_vertex[v]] = True
            first, last = places[inside].min(), places[inside].max()
        else:
            together = np.flatnonzero(np.bincount(places) > 1)
            if not len(together):
                return places
            first = last = together[0]
            inside = np.arange(len(places)) == np.flatnonzero(places == first).max()
        for side in {first, last}:
            here = places == side
            # To the right in the first group, to the left in the last one.
            right = here & (inside if side == first else ~inside)
            places[right] += np.count_nonzero(here & ~right)
        cut = np.flatnonzero(links & (inside != inside[tree.parent]))
        links[cut] = False
        waiting += [v for clique in cut.tolist() for v in tree.separators[clique].tolist()]


def asteroidal_triple(graph: Graph) -> tuple[int, int, int] | None:
    """Find three vertices of a chordal graph; a path without the third and its neighbours joins each two of them.

    A chordal graph is an interval graph if and only if it has no such asteroidal triple. If it has one, it has one of
    ends: vertices that lie in one maximal clique only. (Leave out the neighbours of the component that holds y and z
    when x and its neighbours are gone. They are a clique, so the component of x has an end, and that may stand for x.)
    Of a graph with many ends, every piece is left out whose rest is no interval graph either.
    """
    kept, chosen = np.arange(graph.n), _ends(graph)
    if len(chosen) > _FEW:
        kept = _without_pieces(graph)
        graph = graph.induced(np.isin(np.arange(graph.n), kept))
        chosen = _ends(graph)
    parts = _parts(graph, chosen)
    for x in range(len(chosen)):
        # The smallest vertex of a triple is x. The others lie in one part without x and its neighbours.
        others = x + 1 + np.flatnonzero(parts[x, x + 1 :])
        for part in np.unique(parts[x, others]).tolist():
            among = others[parts[x, others] == part]
            # Row y, column z: y is joined neither to x nor to z, and one part without y and its neighbours has both.
            fits = parts[np.ix_(among, among)] == parts[among, x][:, None]
            fits &= fits.T
            if fits.any():
                y, z = np.unravel_index(int(fits.argmax()), fits.shape)
                a, b, c = kept[chosen[[x, among[y], among[z]]]].tolist()
                return a, b, c
    return None


def _ends(graph: Graph) -> IntArray:
    """Return an end of each maximal clique that has one. Those of the same clique are joined to the same vertices."""
    of_clique = {int(held[0]): v for v, held in clique_tree(graph).of_vertex.items() if len(held) == 1}
    return np.array(sorted(of_clique.values()), np.int64)


def _without_pieces(graph: Graph) -> IntArray:
    """Return vertices among which there is a triple if the graph has one, and few others where they are not needed."""
    kept = np.arange(graph.n)
    size = graph.n
    while size > graph.n // _PIECES:
        size = -(-size // 2)
        for start in reversed(range(0, len(kept), size)):
            rest = np.delete(kept, slice(start, start + size))
            if interval_order(graph.induced(np.isin(np.arange(graph.n), rest))) is None:
                kept = rest
    return kept


def _parts(graph: Graph, chosen: IntArray) -> Labels:
    """Return each chosen vertex's component without another, the row, and its neighbours: 0 for these."""
    n, found = graph.n, np.zeros((len(chosen), len(chosen)), np.int32)
    near = [sum(1 << u for u in graph.neighbours(v).tolist()) for v in range(n)]
    everything = (1 << n) - 1
    for row, v in enumerate(chosen.tolist()):
        left, part = everything & ~(near[v] | 1 << v), 0
        while left:
            part += 1
            component = reached = left & -left
            while reached:
                at = reached & -reached
                reached ^= at
                new = near[at.bit_length() - 1] & left & ~component
                component |= new
                reached |= new
            left &= ~component
            whole = np.frombuffer(component.to_bytes(n // 8 + 1, "little"), np.uint8)
            found[row, np.unpackbits(whole, bitorder="little")[chosen] == 1] = part
    return found
