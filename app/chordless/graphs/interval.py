"""The order of the vertices of an interval graph along one line, if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels_ti import Graph, is_chordal
from kernels_ti.graph import IntArray

_DOUBLINGS = 30
"""Bits that a label takes before the labels are numbered again; 32 more are left for a number."""


@dataclass(frozen=True)
class Stretch:
    """The interval of a vertex: two vertices are joined if and only if their intervals have a place in common."""

    vertex: int
    first: int  # The first place on the line, counted from 1
    last: int  # The last place; it belongs to the interval


def interval_order(graph: Graph) -> tuple[Stretch, ...] | None:
    """Lay the vertices of a simple graph along a line, so that those that are joined overlap, and no others.

    Each place of the line is a maximal clique. A vertex without a neighbour fits anywhere between the others, so it is
    left out. The cliques are ordered by partition refinement (Habib, McConnell, Paul and Viennot 2000, *Lex-BFS and
    partition refinement*, Theoretical Computer Science 234). None if this is not an interval graph.
    """
    if not is_chordal(graph):
        return None
    tree = clique_tree(graph)
    places = _places(tree)
    stretches = []
    for vertex, cliques in tree.of_vertex.items():
        held = places[cliques]
        first, last = int(held.min()) + 1, int(held.max()) + 1
        if last - first + 1 != len(held):
            return None
        stretches.append(Stretch(vertex, first, last))
    return tuple(sorted(stretches, key=lambda one: (one.first, one.last, one.vertex)))


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
