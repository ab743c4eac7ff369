"""The automorphisms of a graph, by way of igraph (BLISS, Junttila and Kaski)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import OptionError
from kernels_ti.graph import Graph

_TOO_MANY = 10**4000  # Python neither reads nor writes a number of more than 4,300 digits


class Automorphisms:
    """The automorphism group of a simple undirected graph, and the stabilizers of its vertices.

    `kept` are disjoint sets of vertices, each of which every automorphism maps to itself, as it does with the set of
    `edges`, each named once. An OptionError says that igraph is not installed, or that there are too many automorphisms
    to tell their number.
    """

    def __init__(self, graph: Graph, *kept: Sequence[int], edges: Sequence[tuple[int, int]] = ()) -> None:
        self.graph = graph
        # BLISS colours vertices alone, so each of the edges gets a vertex of their colour that is adjacent to its ends.
        joined = [(v, at) for at, edge in enumerate(edges, graph.n) for v in edge]
        self._igraph = _igraph().Graph(n=graph.n + len(edges), edges=[*graph.pairs().tolist(), *joined])
        self._base = [0] * graph.n + [len(kept) + 1] * len(edges)
        for colour, vertices in enumerate(kept, 1):
            for v in vertices:
                self._base[v] = colour
        self._free_colour = len(kept) + 2

    def order(self, fixed: Sequence[int] = ()) -> int:
        """Return the number of automorphisms that fix each of some vertices."""
        return self._counted(self._colours(fixed))

    def order_of_set(self, vertices: Iterable[int]) -> int:
        """Return the number of automorphisms that map a set of vertices to itself."""
        return self._counted(self._marked(vertices))

    def orbits(self, fixed: Sequence[int], among: Iterable[int]) -> list[tuple[int, int]]:
        """Return the orbits of some vertices, with each its whole orbit, under the automorphisms that fix some others.

        Each orbit is given by its first vertex, and how many it has.
        """
        leader = list(range(len(self._base)))

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

    def distances(self) -> npt.NDArray[np.uint64]:
        """Return the number of edges between each two vertices, n where no path joins them, shape (n, n)."""
        n, inner = self.graph.n, len(self._base)
        found = np.array(self._igraph.distances(), np.float64).reshape(inner, inner)[:n, :n]
        return np.where(np.isinf(found), n, found).astype(np.uint64)

    def canonical_form(self, marked: Iterable[int] = ()) -> bytes:
        """Return the same bytes for two graphs, each with a set of vertices, if and only if they are isomorphic."""
        marks = self._marked(marked)
        coloured = self._igraph.copy()
        coloured.vs["colour"] = marks
        # Releases of igraph differ in the direction of a permutation: it applies its own.
        canonical = coloured.permute_vertices(coloured.canonical_permutation(color=marks))
        return repr((canonical.vs["colour"], sorted(map(sorted, canonical.get_edgelist())))).encode()

    def _counted(self, colours: list[int]) -> int:
        try:
            return tellable(int(self._igraph.count_automorphisms(color=colours)))
        except ValueError:  # igraph hands on a text of too many digits
            return tellable(_TOO_MANY)

    def _colours(self, fixed: Iterable[int]) -> list[int]:
        colours = list(self._base)
        for number, v in enumerate(fixed, self._free_colour):
            colours[v] = number
        return colours

    def _marked(self, vertices: Iterable[int]) -> list[int]:
        colours = list(self._base)
        for v in vertices:
            colours[v] += self._free_colour
        return colours


def tellable(automorphisms: int) -> int:
    """Return a number of automorphisms. An OptionError says that it has too many digits."""
    if automorphisms >= _TOO_MANY:
        raise OptionError("the graph has more than 10^4000 automorphisms: count without symmetry")
    return automorphisms


@cache
def _igraph() -> Any:
    """Load igraph on a thread of its own: an interrupt would leave it, and what it loads, half loaded for ever."""
    loading = ThreadPoolExecutor(1)
    try:
        return loading.submit(import_module, "igraph").result()
    except ModuleNotFoundError:
        raise OptionError("a count with symmetry needs igraph: pip install 'chordless[symmetry]'") from None
    finally:
        loading.shutdown(wait=False)
