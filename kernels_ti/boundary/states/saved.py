"""A count along a boundary between two vertices, apart from any device: what a checkpoint of it holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class SavedStates:
    """The states of a block, with the number of ways that lead to each.

    Attributes
    ----------
    words : ndarray of uint64, shape (words, k)
        See `kernels_ti.boundary.states.transitions.Packing`.
    counts : ndarray of uint64, shape (k, digits, lengths)
        See `kernels_ti.boundary.states.states.States`.
    """

    words: Words
    counts: Words

    @property
    def largest(self) -> int:
        """No digit is larger; at least 1."""
        return max(int(self.counts.max(initial=0)), 1)


@dataclass(frozen=True)
class SavedPasses:
    """The passes over a block that are made, see `kernels_ti.boundary.tables.in_passes`.

    Attributes
    ----------
    total, triangles : int
        Cycles of all lengths together, and those of three vertices.
    most_states : int
        States of the largest boundary.
    longest : int or None
        Vertices of the longest cycle, once it is known.
    values : dict of int to tuple of int
        For each prime the values of the polynomial at the points 1, 2, 3, ...
    """

    total: int
    triangles: int
    most_states: int
    longest: int | None
    values: dict[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class SavedBlock:
    """The block that is being counted.

    Attributes
    ----------
    place : int
        Vertices that have come.
    states : SavedStates
    cycles : dict of int to int
        Cycles by length; all with length 0 where lengths are counted together.
    triangles : int
    passes : SavedPasses or None
        Where the block is counted in several passes.
    """

    place: int
    states: SavedStates
    cycles: dict[int, int]
    triangles: int
    passes: SavedPasses | None = None


@dataclass(frozen=True, eq=False)
class SavedCount:
    """A count of a graph.

    Attributes
    ----------
    orders : tuple of tuple of int
        The order of the vertices of each block.
    blocks_done : int
    block : SavedBlock or None
        The next one, if a vertex of it has come.
    cycles : dict of int to int
        Cycles of the blocks that are done, and of those that need no boundary.
    triangles : int
    work : float
        Expected cost of the vertices that have come.
    most_states : int
    states_by_step : tuple of int
        See `kernels_ti.boundary.count.BoundaryCount`.
    """

    orders: tuple[tuple[int, ...], ...]
    blocks_done: int
    block: SavedBlock | None
    cycles: dict[int, int]
    triangles: int
    work: float
    most_states: int
    states_by_step: tuple[int, ...]
