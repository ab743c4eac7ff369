"""Asteroidal triples: what a chordal graph has that is no interval graph (Lekkerkerker and Boland 1962)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chordless.graphs.interval import clique_tree, interval_order
from kernels_ti import Graph
from kernels_ti.graph import IntArray

Labels = NDArray[np.int32]

_FEW = 300
"""Ends among which a triple is sought at once."""

_PIECES = 64
"""A piece of the graph that is left out to see whether the rest has a triple is no smaller than this part of it."""


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
            found[row, _are_in(component, n)[chosen]] = part
    return found


def _are_in(bits: int, n: int) -> NDArray[np.bool_]:
    whole = np.frombuffer(bits.to_bytes(n // 8 + 1, "little"), np.uint8)
    return np.unpackbits(whole, bitorder="little")[:n].astype(bool)
