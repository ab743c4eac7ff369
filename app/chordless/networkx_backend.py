"""A backend of networkx: ``nx.chordless_cycles`` and ``nx.is_perfect_graph`` on the engine.

networkx finds it by the entry points of the package, and loads it whenever it is itself imported: everything
else is imported where it is used.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels_ti import Arch, Graph

NETWORKX_SECONDS_PER_CYCLE = 7e-6
"""Seconds that networkx takes for a cycle of about 20 vertices."""

FIRST_SECONDS, NEXT_SECONDS = 1.1, 0.02
"""Seconds until the first search of a process begins, with the start of Taichi; and until any other one begins."""

WALK_PATHS, ESTIMATE_SECONDS = 64, 0.1
"""Paths of a level that the one walk of an estimate keeps, and when it is given up: the graph is not small then."""

FEW_INDEPENDENT_CYCLES = 10
"""The edges beyond a spanning forest up to which there are a thousand cycles at most, and no estimate is made."""

_begun = False  # whether a search has been made in this process


def backend_info() -> dict[str, Any]:
    """Return the text that networkx writes into the documentation of its functions."""
    return {
        "backend_name": "chordless",
        "project": "chordless",
        "package": "chordless",
        "short_summary": "Chordless cycles on CPU, CUDA and Vulkan.",
        "functions": {
            "chordless_cycles": {
                "additional_docs": "A fractional length bound is rounded down. The cycles are the same, in another "
                "order. In a multigraph, networkx also lists some cycles with a chord that has a parallel edge, and "
                "networkx 3.4 lists some through a vertex with a self-loop; this backend lists none of them.",
                "additional_parameters": {
                    "arch : {'cpu', 'auto', 'cuda', 'vulkan'}, optional": "What to search on; by default the CPU, and "
                    "for a tiny graph Python, which needs no start. The lists are made by Python, which takes longer "
                    "than the search on a CPU."
                },
            },
            "is_perfect_graph": {"additional_docs": "The search for odd holes ends at the first one."},
        },
    }


class Backend:
    """The functions that networkx calls, see its guide for backends."""

    @staticmethod
    def chordless_cycles(
        G: Any, length_bound: float | None = None, *, arch: Arch | None = None
    ) -> Iterator[list[Hashable]]:
        """Find the chordless cycles of a graph, streamed while the search goes on.

        Parameters
        ----------
        G : Graph
            Directed or not, with or without self-loops and parallel edges.
        length_bound : number, optional
            Vertices of the longest cycle that is wanted; a fraction is rounded down, where networkx rounds it up.
        arch : {"cpu", "auto", "cuda", "vulkan"}, optional
            What to search on; by default the CPU, and for a tiny graph Python, which needs no start.

        Yields
        ------
        list of hashable
            The nodes of a cycle in cycle order, in a directed graph along the arcs. A self-loop is a cycle of one node;
            two opposite arcs, or two parallel edges, are one of two nodes.

        Raises
        ------
        ValueError
            If the bound is below 0; like everything else, at the first cycle, as networkx does.
        DeviceError, EngineError
            See `kernels_ti.enumerate_cycles`.
        """
        global _begun
        from kernels_ti import CycleTable, Options, as_graph, enumerate_cycles
        from kernels_ti.blocks.search_space import SearchSpace
        from kernels_ti.reference.at_once import found_at_once

        if length_bound is not None and not length_bound >= 0:
            raise ValueError("length bound must be non-negative")
        graph = as_graph(G)
        shortest = 3 if graph.is_simple else 1
        if length_bound is not None and length_bound < shortest:
            return
        longest = _max_length(length_bound)
        if arch is None:
            space = SearchSpace(graph, Options(min_length=shortest, max_length=longest))
            found = found_at_once(space, collect=True)
            if found is not None:
                yield from CycleTable.of_pieces(graph, found.pieces())
                return
        _begun = True
        yield from enumerate_cycles(graph, arch=arch or "cpu", min_length=shortest, max_length=longest)

    @staticmethod
    def is_perfect_graph(G: Any) -> bool:
        """Say whether a graph is perfect: whether neither it nor its complement has an odd hole.

        Parameters
        ----------
        G : Graph
            Simple and undirected.

        Returns
        -------
        bool

        Raises
        ------
        NetworkXNotImplemented
            If the graph is directed or has parallel edges.
        DeviceError, EngineError
            See `kernels_ti.enumerate_cycles`.

        References
        ----------
        Chudnovsky, Robertson, Seymour, Thomas, *The strong perfect graph theorem*, Annals of Mathematics 164 (2006).
        """
        global _begun
        import networkx

        from kernels_ti import as_graph
        from kernels_ti.device.device import is_open
        from kernels_ti.perfection import is_berge

        graph = as_graph(G)
        for kind, is_so in (("directed", graph.directed), ("multigraph", graph.is_multigraph)):
            if is_so:
                raise networkx.NetworkXNotImplemented(f"not implemented for {kind} type")
        perfect = is_berge(graph)
        _begun = _begun or is_open("cpu")
        return perfect

    @staticmethod
    def can_run(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool | str:
        """Say that each function can be carried out, for every graph."""
        return True

    @staticmethod
    def should_run(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool | str:
        """Say whether the engine gains time over networkx, True or why not, for a call with these arguments.

        The number of cycles is estimated, by one short walk through the search; for a perfect graph also that of the
        complement. networkx takes 7 microseconds for a cycle; the engine takes 1.1 s to start and 20 ms where it has
        been used before in the process. So it is taken from about 160,000 cycles on, then from 3,000 on, and where
        0.1 s are too short for an estimate, but never for a graph with up to ten edges beyond a spanning forest.
        """
        from kernels_ti import EngineError, Options, as_graph
        from kernels_ti.blocks.search_space import SearchSpace
        from kernels_ti.estimate.estimate import Estimator

        graph, length_bound = _arguments(*arguments, **options)
        if name == "is_perfect_graph":
            # networkx lists the cycles of the graph, then those of the complement, which is large.
            answer = Backend.should_run("chordless_cycles", (graph,), {})
            if answer is True:
                return True
            of_complement = Backend.should_run("chordless_cycles", (as_graph(graph).complement(),), {})
            return True if of_complement is True else answer
        if length_bound is not None and length_bound < 3:
            return f"there is little to search up to a length of {length_bound}"
        converted = as_graph(graph)
        if (independent := _independent_cycles(converted)) <= FEW_INDEPENDENT_CYCLES:
            return f"the graph has few edges ({independent}) beyond a spanning forest"
        estimator = Estimator(SearchSpace(converted, Options(max_length=_max_length(length_bound))))
        try:
            estimator.add_walk(WALK_PATHS, deadline=time.perf_counter() + ESTIMATE_SECONDS)
        except EngineError:  # too large to be estimated
            return True
        estimate = estimator.estimate()
        if not estimate.exact and estimate.walks == 0:
            return True
        cycles = estimate.total.estimate
        worth = cycles * NETWORKX_SECONDS_PER_CYCLE > (NEXT_SECONDS if _begun else FIRST_SECONDS)
        return worth or f"networkx is done with about {cycles:.0f} cycles before the engine has started"

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Turn a graph of networkx into a `kernels_ti.Graph`; attributes are of no use to it."""
        from kernels_ti import Graph

        return Graph.from_networkx(graph)

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        """Turn a `kernels_ti.Graph` into a graph of networkx; anything else stays as it is."""
        from kernels_ti import Graph

        if not isinstance(result, Graph):
            return result
        import networkx

        kind = ("Multi" if result.is_multigraph else "") + ("DiGraph" if result.directed else "Graph")
        graph = getattr(networkx, kind)()
        graph.add_nodes_from(result.names)
        graph.add_edges_from((result.names[u], result.names[v]) for u, v in result.edges().tolist())
        return graph


backend = Backend()


def _independent_cycles(graph: Graph) -> int:
    import numpy as np

    from kernels_ti.blocks.passable import block_edges

    edges, component = block_edges(graph)
    vertices = np.unique(np.concatenate((component, component)) * graph.n + edges.T.ravel())
    return len(edges) - len(vertices) + int(component.max(initial=-1)) + 1


def _arguments(G: Any, length_bound: float | None = None, **_: Any) -> tuple[Any, float | None]:
    return G, length_bound


def _max_length(length_bound: float | None) -> int | None:
    return None if length_bound is None or length_bound == math.inf else math.floor(length_bound)
