"""Chordless paths on their way out to files, and back in: each is a cycle through a new vertex, without that vertex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from chordless.cycles.base import CycleOutput, PassingOn
from chordless.cycles.read import Rows, row_words
from chordless.graphs.paths import path_graph_of
from kernels_ti.cycles import CYCLES_AT_ONCE
from kernels_ti.found.order import CycleWalker

if TYPE_CHECKING:
    from chordless.protocol.orders import RunCommand
    from kernels_ti import CycleShares, Graph
    from kernels_ti.cycles import Cycles
    from kernels_ti.path_graph import PathGraph


class PathWalker:
    """Puts the vertices of paths between two ends in order, from bit rows over the graph of a user."""

    def __init__(self, paths: PathGraph) -> None:
        self._paths, self._walker = paths, CycleWalker(paths.graph)

    def order(self, rows: Rows) -> Cycles:
        """Put the vertices of bit rows, shape (k, ceil(n / 64)), in order; a GraphError if one is no chordless path."""
        new = self._paths.given.n
        joined = np.zeros((len(rows), row_words(new + 1)), np.uint64)
        joined[:, : rows.shape[1]] = rows
        joined[:, new >> 6] |= np.uint64(1) << np.uint64(new & 63)
        return self._paths.of_cycles(self._walker.order(joined))


def walker_of(command: RunCommand, graph: Graph) -> CycleWalker | PathWalker:
    """Return what puts the vertices of the bit rows of a run in order."""
    paths = path_graph_of(command, graph)
    return CycleWalker(graph) if paths is None else PathWalker(paths)


def shares_told_in_paths(shares: CycleShares, paths: PathGraph) -> CycleShares:
    """Return how many paths pass each vertex and each edge of their graph, from how many cycles do."""
    n = paths.given.n
    is_given: npt.NDArray[np.bool_] = np.all(shares.edge_list < n, axis=1)
    return replace(
        shares,
        vertices=shares.vertices[:n],
        edges=list(compress(shares.edges, is_given.tolist())),
        edge_list=shares.edge_list[is_given],
        names=tuple(paths.given.names),
    )


def as_paths(output: CycleOutput, command: RunCommand, graph: Graph) -> CycleOutput:
    """Return an output that takes the cycles of a search, and gets the paths for which they stand in one for paths."""
    paths = path_graph_of(command, graph)
    return output if paths is None else PathOutput(output, paths)


class PathOutput(PassingOn):
    """Passes cycles through a new vertex on to another output as the paths for which they stand."""

    def __init__(self, inner: CycleOutput, paths: PathGraph) -> None:
        super().__init__(inner)
        self._paths = paths

    def write(self, found: Cycles, give_up: Callable[[], bool]) -> bool:
        """Write the paths of a slice; return whether every one was written."""
        # A draw at random has a hundred thousand cycles in a slice, and turning takes forty bytes a vertex.
        starts = range(0, len(found), CYCLES_AT_ONCE)
        return all(self._write_some(found.part(start, start + CYCLES_AT_ONCE), give_up) for start in starts)

    def _write_some(self, found: Cycles, give_up: Callable[[], bool]) -> bool:
        paths = self._paths.of_cycles(found)
        return self._inner.write(paths.rows(self._paths.given.n) if self._inner.rows else paths, give_up)
