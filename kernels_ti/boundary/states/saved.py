"""Work along a boundary between two vertices, apart from any device: what a checkpoint of it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, eq=False)
class SavedLayer:
    """The states before a step, with what is carried along for them.

    Attributes
    ----------
    place : int
        The step.
    numbers : dict of str to int
    arrays : dict of str to ndarray
        What `numbers` and `arrays` hold is known to the class that goes through the block.
    """

    place: int
    numbers: dict[str, int]
    arrays: dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class SavedForward:
    """A block that is gone through forward, between two vertices.

    Attributes
    ----------
    in_kernels : bool
        Whether the layers are those of kernels.
    between : int
        Steps from one layer that is kept to the next.
    most_states : int
        States of the largest boundary so far.
    found : dict of str to int or to a dict
        What is known of the cycles that have closed.
    layers : tuple of SavedLayer
        The layers that are kept. The last one is that from which to go on.
    """

    in_kernels: bool
    between: int
    most_states: int
    found: dict[str, Any]
    layers: tuple[SavedLayer, ...]

    @property
    def place(self) -> int:
        """Vertices that have come."""
        return self.layers[-1].place


@dataclass(frozen=True)
class SavedResult:
    """What is known of a block that is done.

    Attributes
    ----------
    value : int or None
        The best value of its cycles. None without a cycle, and for a sample.
    ways : int
        Cycles with this value; for a sample all cycles.
    states : int
        States of the largest boundary.
    cycle : tuple of int
        A best cycle, if it is better than those of the blocks before.
    """

    value: int | None
    ways: int
    states: int
    cycle: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class SavedPick:
    """A search for a best cycle, or a sample.

    Attributes
    ----------
    orders : tuple of tuple of int
        The order of the vertices of each block.
    done : tuple of SavedResult
        The blocks that are done.
    forward : SavedForward or None
        The next block, if a vertex of it has come.
    """

    orders: tuple[tuple[int, ...], ...]
    done: tuple[SavedResult, ...]
    forward: SavedForward | None
