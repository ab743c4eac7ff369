"""The gains of vertices and edges: whole numbers that they add to the value of a cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernels_ti.errors import OptionError

_LARGEST_SUM = 1 << 62


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of all vertices, or of all edges; an OptionError if sums of them would not fit into 64 bits."""

    of_vertices: Mapping[int, int] | None = None  # None adds 1 for each
    # As (u, v) with u < v, or from the tail to the head of an arc
    of_edges: Mapping[tuple[int, int], int] | None = None

    def __post_init__(self) -> None:
        given = [*(self.of_vertices or {}).values(), *(self.of_edges or {}).values()]
        if sum(map(abs, given)) >= _LARGEST_SUM:
            raise OptionError("the weights have too many digits: all together, as whole numbers, must stay below 2^62")

    def of(self, v: int) -> int:
        """Return the gain of a vertex."""
        if self.of_vertices is not None:
            return self.of_vertices[v]
        return 1 if self.of_edges is None else 0

    def between(self, u: int, v: int) -> int:
        """Return the gain of an edge."""
        if self.of_edges is None:
            return 0
        return self.of_edges[u, v] if (u, v) in self.of_edges else self.of_edges[v, u]

    def onto(self, u: int, v: int) -> int:
        """Return the gain of going from u to v: the edge, and v."""
        return self.of(v) + (0 if u == v else self.between(u, v))

    def of_cycle(self, cycle: list[int]) -> int:
        """Return the value of a cycle, given in cycle order."""
        edges = zip(cycle, cycle[1:] + cycle[:1], strict=True)
        return sum(map(self.of, cycle)) + sum(self.between(u, v) for u, v in edges)
