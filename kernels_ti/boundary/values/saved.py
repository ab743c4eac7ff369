"""Work along a boundary between two vertices, apart from any device: what a checkpoint of it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.boundary.arrays import Words
from kernels_ti.boundary.values.numbers import Numbers


@dataclass(frozen=True, eq=False)
class SavedStates:
    """The states of a block, with the number of ways that lead to each."""

    words: Words  # Shape (words, k), see `kernels_ti.boundary.spec.packing.Packing`
    counts: Words  # By the number of vertices from 0 on, shape (k, digits, lengths), the lowest digit first

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that do not fit together."""
        if self.words.ndim != 2 or self.counts.ndim != 3 or self.words.shape[1] != len(self.counts):
            raise ValueError("its states and their counts do not fit together")

    @classmethod
    def of(cls, words: Words, ways: Numbers) -> SavedStates:
        """Return states with the ways to them, whose digits have 48 bits."""
        return cls(words, np.ascontiguousarray(ways.by_length.transpose(1, 0, 2)))

    @property
    def ways(self) -> Numbers:
        """The ways, a number for each length."""
        return Numbers(np.ascontiguousarray(self.counts.transpose(1, 0, 2)), self.largest)

    @property
    def largest(self) -> int:
        """No digit is larger; at least 1."""
        return max(int(self.counts.max(initial=0)), 1)


@dataclass(frozen=True)
class SavedPasses:
    """The passes over a block that are made, see `kernels_ti.boundary.executors.in_passes`."""

    total: int  # Cycles of all lengths together
    triangles: int  # Those of three vertices
    most_states: int  # States of the largest boundary
    longest: int | None  # Vertices of the longest cycle, once it is known
    values: dict[int, tuple[int, ...]]  # For each prime the values of the polynomial at the points 1, 2, 3, ...


@dataclass(frozen=True, eq=False)
class SavedBlock:
    """The block that is being counted."""

    place: int  # Vertices that have come
    states: SavedStates
    cycles: dict[int, int]  # By length; all with length 0 where lengths are counted together
    triangles: int
    passes: SavedPasses | None = None  # Where the block is counted in several passes


@dataclass(frozen=True, eq=False)
class SavedCount:
    """A count of a graph."""

    orders: tuple[tuple[int, ...], ...]  # The order of the vertices of each block
    blocks_done: int
    block: SavedBlock | None  # The next one, if a vertex of it has come
    cycles: dict[int, int]  # Of the blocks that are done, and of those that need no boundary
    triangles: int
    work: float  # Expected cost of the vertices that have come
    most_states: int
    states_by_step: tuple[int, ...]  # See `kernels_ti.boundary.count.BoundaryCount`


@dataclass(frozen=True, eq=False)
class SavedLayer:
    """The states before a step, with what is carried along for them."""

    place: int  # The step
    numbers: dict[str, int]  # The class that goes through the block knows the names in `numbers` and `arrays`
    arrays: dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class SavedForward:
    """A block that is gone through forward, between two vertices."""

    in_kernels: bool  # Whether the layers are those of kernels
    between: int  # Steps from one layer that is kept to the next
    most_states: int  # States of the largest boundary so far
    found: dict[str, Any]  # The facts about the cycles that have closed
    layers: tuple[SavedLayer, ...]  # The layers that are kept; the last one is that from which to go on

    def __post_init__(self) -> None:
        """Raise ValueError if there is no layer from which to go on."""
        if not self.layers:
            raise ValueError("it has no states")

    @property
    def place(self) -> int:
        """Vertices that have come."""
        return self.layers[-1].place


@dataclass(frozen=True)
class SavedResult:
    """The result of a block that is done."""

    value: int | None  # The best value of its cycles; None without a cycle, and for a sample
    ways: int  # Cycles with this value; for a sample all cycles
    states: int  # States of the largest boundary
    cycle: tuple[int, ...] = ()  # A best cycle, if it is better than those of the blocks before


@dataclass(frozen=True, eq=False)
class SavedPick:
    """A search for a best cycle, or a sample."""

    orders: tuple[tuple[int, ...], ...]  # The order of the vertices of each block
    done: tuple[SavedResult, ...]  # The blocks that are done
    forward: SavedForward | None  # The next block, if a vertex of it has come
