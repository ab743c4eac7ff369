"""A long chordless cycle soon, by a search depth first in plain Python that is broken off."""

from __future__ import annotations

from collections.abc import Callable

from kernels_ti.adjacency import bits_of
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.reference.algorithm import MOST_VERTICES, expansions, labelled


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
