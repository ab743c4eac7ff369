"""The reference schedule: the sequential algorithm in plain Python, cut into slices of time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kernels_ti.cycles import Cycles
from kernels_ti.graph import Graph
from kernels_ti.reference.algorithm import search
from kernels_ti.state import Totals


class ReferenceSearch:
    """The sequential algorithm of `kernels_ti.reference.algorithm` as a search of a whole graph.

    Only cycles through all vertices of `through` count. The other arches prune their search. This one visits all
    cycles, because the others are tested against it.
    """

    def __init__(self, graph: Graph, max_length: int, collect: bool, through: Sequence[int] = ()) -> None:
        met = Totals()
        self._events = search(graph, met, max_length=max_length)
        self._collect = collect
        self._found: list[list[int]] = []
        self._through = frozenset(through)
        self.totals = Totals(met.paths, {} if through else met.cycles)
        self.finished = self.compiling = False
        self.device_bytes = 0

    @property
    def remaining(self) -> float:
        """1 until the end: a generator does not tell its progress."""
        return 0.0 if self.finished else 1.0

    @property
    def waiting_by_length(self) -> dict[int, int]:
        """Nothing: the waiting paths are on Python's own stack."""
        return {}

    @property
    def pairs_left(self) -> int:
        """1 until the end: how many are left is unknown."""
        return 0 if self.finished else 1

    def advance(self, seconds: float) -> None:
        """Search for about `seconds` seconds."""
        deadline = time.perf_counter() + seconds
        for cycle in self._events:
            if cycle is not None and self._through.issubset(cycle):
                if self._through:
                    self.totals.add({}, {len(cycle): 1})
                if self._collect:
                    self._found.append(cycle)
            if time.perf_counter() > deadline:
                return
        self.finished = True

    def take_cycles(self) -> Cycles:
        """Return the cycles found since the last call."""
        found, self._found = self._found, []
        return Cycles.of_lists(found)
