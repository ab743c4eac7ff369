"""The search of a tiny graph in plain Python, which is done before a device has been asked: Taichi is not loaded.

It is the two-ended expansion of `kernels_ti.step`, without a certificate. `long_cycle` breaks it off.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.bulk import LARGE
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.cycles import Cycles, canonical
from kernels_ti.graph import Graph
from kernels_ti.options import CycleCounts
from kernels_ti.reference.algorithm import MOST_VERTICES, expansions, labelled
from kernels_ti.short_cycles import short_cycles

MOST_PAIRS = 256  # Pairs of adjacent vertices among those in blocks with a cycle, of the largest graph that is tried
MOST_PATHS = 2000  # Paths and cycles after which the search is given up: about a millisecond


# Most of the work is at the first edges: many paths there mean that a search takes long, and it is given up sooner.
_PATHS_AT_FIRST, _PATHS_OF_AN_EDGE = 500, 100


@dataclass(frozen=True, eq=False)
class FoundAtOnce:
    """All cycles of a tiny graph."""

    counts: CycleCounts
    cycles: list[list[int]]  # The wanted cycles in canonical order, where they were to be collected

    def pieces(self) -> Iterator[Cycles]:
        """Yield all cycles, as a search yields those of each slice."""
        yield Cycles.of_lists(self.cycles)


def found_at_once(space: SearchSpace, *, collect: bool) -> FoundAtOnce | None:
    """Search a graph if that takes about a millisecond; None for a graph that needs a device."""
    graph, options = space.graph, space.options
    began = time.perf_counter()
    parts = _searched_parts(space)
    if parts is None:
        return None
    # Of a simple graph, these are none.
    found = short_cycles(graph, options)
    by_length, frontier = Counter(map(len, found)), Counter[int]()
    left = MOST_PATHS
    for part, wanted, vertex_of in parts:
        limit, degrees = left - _PATHS_AT_FIRST, part.degrees
        by_degree = sorted(np.flatnonzero(degrees).tolist(), key=degrees.__getitem__)
        for path, closers in expansions(part, by_degree, space.longest, two_ended=True):
            if len(path) > 2:
                frontier[len(path)] += 1
                left -= 1
            else:
                limit -= _PATHS_OF_AN_EDGE
            left -= closers.bit_count()
            if left < max(limit, 0):
                return None
            if closers and wanted and (missing := wanted - {*path}):
                # A path is closed by one vertex.
                closers &= 1 << min(missing) if len(missing) == 1 else 0
            if closers:
                by_length[len(path) + 1] += closers.bit_count()
                if collect:
                    found += [[vertex_of[w] for w in (*path, v)] for v in bits_of(closers)]
    lengths = options.lengths
    wanted_by_length = {length: count for length, count in sorted(by_length.items()) if count and length in lengths}
    frontier_by_length, seconds = dict(sorted(frontier.items())), time.perf_counter() - began
    return FoundAtOnce(
        CycleCounts(wanted_by_length, frontier_by_length, seconds, options.min_length, parity=options.parity),
        [canonical(cycle, directed=graph.directed) for cycle in found if len(cycle) in lengths] if collect else [],
    )


def _searched_parts(space: SearchSpace) -> list[tuple[Graph, frozenset[int], list[int]]] | None:
    """Return for each case the vertices that cycles may pass, as a graph, with those that a cycle must pass.

    The last is the vertex of the input graph for each vertex of this one. None if a graph is too large.
    """
    is_large = len(space.graph.col_idx) > 2 * MOST_PAIRS
    parts = []
    for case in space.cases:
        graph = case.graph
        keep = np.diff(graph.row_ptr) > 0
        if is_large:
            pairs = len(graph.col_idx) // 2
            # A graph has at most n - 1 edges outside of blocks with a cycle: this tells most graphs that are too large.
            if len(space.cases) > 1 or pairs - graph.n >= MOST_PAIRS or max(pairs, graph.n) >= LARGE:
                return None
            keep = np.zeros(graph.n, np.bool_)
            keep[space.blocks[0].vertices] = True
            if np.count_nonzero(keep) > MOST_PAIRS:
                return None
        vertex_of = np.flatnonzero(keep).tolist()
        if set(case.through) <= set(vertex_of):
            part = graph.induced(keep)
            if len(part.col_idx) > 2 * MOST_PAIRS:
                return None
            parts.append((part, frozenset(map(vertex_of.index, case.through)), vertex_of))
    return parts


def long_cycle(space: SearchSpace, enough: Callable[[], bool]) -> tuple[list[int], int]:
    """Search until `enough` returns True, and return the longest wanted cycle that was met, and how many are as long.

    The cycle is empty if none was met, or the graph is too large for bit rows in Python.
    """
    best: list[int] = []
    ways = 0
    lengths = space.options.lengths
    for case in space.cases if space.graph.n <= MOST_VERTICES else ():
        by_label, original, order = labelled(case.graph)
        for path, closers in expansions(by_label, order, space.longest, two_ended=True):
            length = len(path) + 1
            if closers and length in lengths and length >= len(best):
                for closer in bits_of(closers):
                    cycle = [original[v] for v in (*path, closer)]
                    if set(case.through) <= set(cycle):
                        ways = ways + 1 if length == len(best) else 1
                        best = cycle
            if enough():
                return best, ways
    return best, ways
