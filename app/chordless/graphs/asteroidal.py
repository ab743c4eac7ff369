"""Asteroidal triples: what a chordal graph has that is no interval graph (Lekkerkerker and Boland 1962)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels_ti import Graph

Labels = NDArray[np.int32]


def asteroidal_triple(graph: Graph) -> tuple[int, int, int] | None:
    """Find three vertices, each two of which are joined by a path without the third and its neighbours.

    A graph is an interval graph if and only if it is chordal and has no such asteroidal triple. The search takes n^3
    steps, many at a time: about a second for 1,000 vertices, and 4 n^2 bytes.

    Parameters
    ----------
    graph : Graph
        A simple undirected graph.

    Returns
    -------
    tuple of three int, ascending, or None
    """
    parts = _parts(graph)
    for x in range(graph.n):
        # The smallest vertex of a triple is x. The others lie in one part without x and its neighbours.
        others = x + 1 + np.flatnonzero(parts[x, x + 1 :])
        for part in np.unique(parts[x, others]).tolist():
            among = others[parts[x, others] == part]
            # Row y, column z: y is joined neither to x nor to z, and one part without y and its neighbours has both.
            fits = parts[np.ix_(among, among)] == parts[among, x][:, None]
            fits &= fits.T
            if fits.any():
                y, z = np.unravel_index(int(fits.argmax()), fits.shape)
                return x, int(among[y]), int(among[z])
    return None


def _parts(graph: Graph) -> Labels:
    """Return, in row v, the number of each vertex's component without v and its neighbours; 0 for v and these."""
    n, found = graph.n, np.zeros((graph.n, graph.n), np.int32)
    near = [_bits(graph.neighbours(v)) for v in range(n)]
    everything = (1 << n) - 1
    for v in range(n):
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
            found[v, _places(component, n)] = part
    return found


def _bits(vertices: NDArray[np.int64]) -> int:
    return sum(1 << v for v in vertices.tolist())


def _places(bits: int, n: int) -> NDArray[np.int64]:
    whole = np.frombuffer(bits.to_bytes(n // 8 + 1, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(whole, bitorder="little"))
