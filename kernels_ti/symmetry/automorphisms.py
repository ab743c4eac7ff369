"""The automorphisms of a graph, by way of igraph (BLISS, Junttila and Kaski)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph


class Automorphisms:
    """The automorphism group of a simple undirected graph, and the stabilizers of its vertices.

    Raise OptionError if igraph is not installed.

    Parameters
    ----------
    graph : Graph
        Simple and undirected.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._igraph = _igraph().Graph(n=graph.n, edges=graph.pairs().tolist())

    def order(self, fixed: Sequence[int] = ()) -> int:
        """Return the number of automorphisms that fix each of some vertices."""
        return int(self._igraph.count_automorphisms(color=self._colours(fixed)))

    def orbits(self, fixed: Sequence[int], among: Iterable[int]) -> list[tuple[int, int]]:
        """Return the orbits of some vertices under the automorphisms that fix each of others.

        Parameters
        ----------
        fixed : sequence of int
            The vertices that are fixed.
        among : iterable of int
            Vertices; with each vertex its whole orbit is here.

        Returns
        -------
        list of (int, int)
            The first vertex of each orbit, and how many vertices the orbit has.
        """
        leader = list(range(self.graph.n))

        def leading(v: int) -> int:
            while leader[v] != v:
                leader[v] = leader[leader[v]]
                v = leader[v]
            return v

        for generator in self._igraph.automorphism_group(color=self._colours(fixed)):
            for v, image in enumerate(generator):
                if v != image:
                    leader[leading(v)] = leading(image)
        sizes: dict[int, tuple[int, int]] = {}
        for v in among:
            first, size = sizes.get(leading(v), (v, 0))
            sizes[leading(v)] = first, size + 1
        return list(sizes.values())

    def canonical_form(self) -> bytes:
        """Return the same bytes for two graphs if, and only if, they are isomorphic."""
        label = np.array(self._igraph.canonical_permutation(), np.int64)
        edges = np.sort(label[self.graph.pairs()], axis=1).reshape(-1, 2)
        ordered = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
        return bytes(np.append(ordered.ravel(), self.graph.n).tobytes())

    def _colours(self, fixed: Sequence[int]) -> list[int]:
        colours = [0] * self.graph.n
        for number, v in enumerate(fixed, 1):
            colours[v] = number
        return colours


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise OptionError("a count with symmetry needs igraph: pip install 'chordless[symmetry]'") from None
    return igraph
