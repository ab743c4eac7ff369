"""The options of a search, and its results: snapshots and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_args

from kernels_ti.choices import EXPANSIONS, PARITIES, PARTICIPATIONS, Arch, Parity
from kernels_ti.errors import OptionError, require_flags
from kernels_ti.notebook import html_of_counts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_THREADS = 1024


def require_arch(arch: Any) -> None:
    """Raise OptionError if there is no arch of that name."""
    if arch not in get_args(Arch):
        raise OptionError(f"there is no arch {arch!r}: choose one of {', '.join(get_args(Arch))}")


def require_threads(threads: Any) -> None:
    """Raise OptionError if `threads` is not a possible number of worker threads."""
    if threads is not None and not (is_whole(threads) and 1 <= int(threads) <= MOST_THREADS):
        raise OptionError(f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}")


def require_limit(limit: Any) -> None:
    """Raise OptionError if `limit` is not a number of cycles; None is allowed."""
    if limit is not None and not (is_whole(limit) and int(limit) >= 1):
        raise OptionError(f"limit must be a whole number, 1 or more, not {limit!r}")


def require_memory(memory: Any) -> None:
    """Raise OptionError if `memory` is not a number of bytes; None is allowed."""
    is_number = isinstance(memory, Real) and not isinstance(memory, bool)
    if memory is not None and not (is_number and 1 <= memory < math.inf):
        raise OptionError(f"memory must be a number of bytes, 1 or more, not {memory!r}")


def require_lengths(min_length: Any, max_length: Any) -> None:
    """Raise OptionError if one of the bounds is not a whole number; a maximum of None is allowed."""
    if not is_whole(min_length):
        raise OptionError(f"min_length must be a whole number, not {min_length!r}")
    if max_length is not None and not is_whole(max_length):
        raise OptionError(f"max_length must be a whole number, not {max_length!r}")


def require_parity(parity: Any) -> None:
    """Raise OptionError if `parity` is not one of the parities; None is allowed."""
    if parity is not None and parity not in PARITIES:
        raise OptionError(f"there is no parity {parity!r}: choose {' or '.join(PARITIES)}")


def require_seed(seed: Any) -> None:
    """Raise OptionError if `seed` is not a whole number from 0 on: a generator ignores its sign."""
    if not is_whole(seed) or int(seed) < 0:
        raise OptionError(f"the seed must be a whole number from 0 on, not {seed!r}")


def require_number(n: Any, what: str) -> None:
    """Raise OptionError if `n`, which says how many of something are wanted, is not a whole number from 0 on."""
    if not is_whole(n) or int(n) < 0:
        raise OptionError(f"the number of {what} must be a whole number from 0 on, not {n!r}")


def require_indices(name: str, given: Any) -> None:
    """Raise OptionError if this is not a sequence of whole numbers."""
    if not (isinstance(given, Sequence) and all(map(is_whole, given))):
        raise OptionError(f"{name} has indices of vertices, counted from 0, such as (0, 5), not {given!r}")


def is_whole(value: Any) -> bool:
    """Whether this is an integer of Python or numpy; True and False do not count as integers."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _of_python(value: Any) -> Any:
    """Return whole numbers, also in sequences, as Python's own: small ones of numpy overflow. None stays None."""
    if isinstance(value, Sequence):
        return tuple(map(_of_python, value))
    return None if value is None else int(value)


@dataclass(frozen=True)
class Lengths:
    """The numbers of vertices that a wanted cycle may have; the bounds belong to them."""

    shortest: int = 3
    longest: int | None = None
    parity: Parity | None = None  # None for both

    def __contains__(self, length: int) -> bool:
        is_within = self.shortest <= length and (self.longest is None or length <= self.longest)
        return is_within and (self.parity is None or length % 2 == (self.parity == "odd"))

    def among(self, lengths: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which of some lengths are wanted, as a mask of the same shape."""
        wanted = lengths >= self.shortest
        if self.longest is not None:
            wanted &= lengths <= self.longest
        if self.parity is not None:
            wanted &= lengths % 2 == (self.parity == "odd")
        return wanted

    @property
    def exclude_some_found(self) -> bool:
        """Whether a search, which never exceeds the longest, finds cycles of three or more that are not wanted."""
        return self.shortest > 3 or self.parity is not None


@dataclass(frozen=True)
class Options:
    """The cycles to search for, and how.

    Attributes
    ----------
    min_length, max_length : int, int or None
        Number of vertices of the shortest and the longest cycle that is wanted. A maximum prunes the search. A
        minimum only drops the shorter cycles from the result.
    parity : {"odd", "even"} or None
        Only cycles with an odd, or an even, number of vertices. It drops the others from the result.
    expansion : {"two-ended", "paper"}
        How a path grows. ``two-ended``: at the end with fewer extensions, with a certificate that it can still be
        closed. ``paper``: as in the paper, only at its last vertex, breadth first, in the whole graph.
    collect : bool
        Keep the cycles for `Run.take_cycles`, not only their number.
    rows : bool
        With `collect`: keep bit rows for `Run.take_rows` instead.
    part : (int, int) or None
        (i, N): search part i of N, counted from 1. The counts of all parts add up; no two parts share a cycle.
    memory : int or None
        Bytes that the search may use, see `kernels_ti.device.memory`; None for a share of the free memory.
    through, avoid : tuple of int
        Only cycles that pass all vertices of `through` and none of `avoid`. Both prune the search.
    avoid_edges : tuple of (int, int)
        Only cycles that contain none of these edges: no chordless cycle passes both ends of one of them.
    participation : {"none", "vertices", "edges"}
        Count for each vertex, or for each vertex and edge, the cycles that contain it; see `Run.participation`. It
        cannot be combined with `collect`.
    symmetry : bool
        Count up to the automorphisms of the graph, see `kernels_ti.symmetry`. It needs igraph, and cannot be combined
        with `participation`. With `collect` it keeps the cycles that it meets: one of each orbit or more, and a cycle
        may come several times.
    pruned : bool
        Drop cycles of fewer than `Run.least_length` vertices, and paths that cannot become as long. Numbers of shorter
        cycles are too small.

    Raises
    ------
    OptionError
        If a bound is below 1 or not a whole number, the bounds exclude each other, `memory` is not a number of bytes,
        or the expansion, the parity or the part does not exist.
    """

    min_length: int = 3
    max_length: int | None = None
    expansion: str = "two-ended"
    collect: bool = False
    rows: bool = False
    part: tuple[int, int] | None = None
    memory: int | None = None
    through: tuple[int, ...] = ()
    avoid: tuple[int, ...] = ()
    avoid_edges: tuple[tuple[int, int], ...] = ()
    participation: str = "none"
    symmetry: bool = False
    pruned: bool = False
    parity: Parity | None = None

    def __post_init__(self) -> None:
        require_flags(collect=self.collect, rows=self.rows, symmetry=self.symmetry, pruned=self.pruned)
        require_lengths(self.min_length, self.max_length)
        require_parity(self.parity)
        require_memory(self.memory)
        if self.memory is not None:
            object.__setattr__(self, "memory", math.floor(self.memory))
        if self.min_length < 1:
            raise OptionError(f"the minimum length must be 1 or more (a self-loop), not {self.min_length}")
        if self.max_length is not None and self.max_length < 1:
            raise OptionError(f"the maximum length must be 1 or more (a self-loop), not {self.max_length}")
        if self.max_length is not None and self.max_length < self.min_length:
            raise OptionError(f"the maximum length {self.max_length} is less than the minimum {self.min_length}")
        require_indices("through", self.through)
        require_indices("avoid", self.avoid)
        edges: Any = self.avoid_edges
        if not (isinstance(edges, Sequence) and all(isinstance(edge, Sequence) and len(edge) == 2 for edge in edges)):
            raise OptionError(f"avoid_edges has pairs of indices of vertices, such as ((0, 5),), not {edges!r}")
        for edge in edges:
            require_indices("avoid_edges", edge)
        if self.expansion not in EXPANSIONS:
            raise OptionError(f"there is no expansion {self.expansion!r}: choose {' or '.join(EXPANSIONS)}")
        part: Any = self.part
        if part is not None and not (isinstance(part, tuple) and len(part) == 2 and all(map(is_whole, part))):
            raise OptionError(f"part is a pair of whole numbers, such as (1, 4), not {part!r}")
        if self.part is not None and not 1 <= self.part[0] <= self.part[1]:
            raise OptionError(f"there is no part {self.part[0]} of {self.part[1]}: parts are numbered from 1")
        if self.participation not in PARTICIPATIONS:
            raise OptionError(f"there is no participation {self.participation!r}: choose {', '.join(PARTICIPATIONS)}")
        if self.participation != "none" and self.collect:
            raise OptionError("collect cannot be combined with participation")
        if self.symmetry and self.participation != "none":
            raise OptionError("symmetry counts by length: it cannot be combined with counts for each vertex or edge")
        for name in ("min_length", "max_length", "part", "through", "avoid", "avoid_edges"):
            object.__setattr__(self, name, _of_python(getattr(self, name)))

    @property
    def lengths(self) -> Lengths:
        """The lengths that are wanted."""
        return Lengths(self.min_length, self.max_length, self.parity)

    @property
    def members(self) -> bool:
        """Whether paths store their members: to list cycles, or to check that they pass several required vertices."""
        return self.collect or self.participation != "none" or len(set(self.through)) + len(self.avoid_edges) > 1


@dataclass(frozen=True)
class Snapshot:
    """The progress of a run.

    Attributes
    ----------
    paths_by_length : dict of int to int
        |T_t|: paths with t vertices that have been put into the frontier so far.
    cycles_by_length : dict of int to int
        |C_t|: cycles with t vertices found so far, of the wanted lengths; 3 stands for the triangles.
    frontier : int
        Waiting paths, plus the pairs of neighbours from which stage 2 has not started yet.
    paths, cycles : int
        Sums of `paths_by_length` and `cycles_by_length`.
    seconds : float
        Time spent searching and copying the cycles found to the host.
    share : float
        Share of the search that is done, 0 to 1, estimated from the branching. It never decreases.
    device_bytes : int
        Bytes of the buffers on the device.
    finished : bool
        Whether the search is complete.
    compiling : bool
        Whether the next slice compiles kernels for this kind of graph instead of searching.
    waiting_by_length : dict of int to int
        Chordless paths with t vertices that wait now. Their sum is `frontier` without those pairs of neighbours.
    directed_by_length : dict of int to int, or None
        Of one part of a count up to symmetry: the directed cycles, each with a first vertex, of the wanted lengths. A
        cycle of l vertices is 2 l of them. They add up over the parts, while `cycles_by_length` is rounded down.
    """

    paths_by_length: dict[int, int] = field(default_factory=dict)
    cycles_by_length: dict[int, int] = field(default_factory=dict)
    frontier: int = 0
    paths: int = 0
    cycles: int = 0
    seconds: float = 0.0
    share: float = 0.0
    device_bytes: int = 0
    finished: bool = False
    waiting_by_length: dict[int, int] = field(default_factory=dict)
    compiling: bool = False
    directed_by_length: dict[int, int] | None = None

    @property
    def paths_waiting(self) -> int:
        """Chordless paths that wait now: `frontier` without the pairs of neighbours from which paths begin."""
        return sum(self.waiting_by_length.values())

    @classmethod
    def of_totals(cls, paths: dict[int, int], cycles: dict[int, int], lengths: Lengths, **more: Any) -> Snapshot:
        """Return the snapshot of totals by length; cycles of lengths that are not wanted are left out."""
        paths = dict(sorted(paths.items()))
        cycles = {length: count for length, count in sorted(cycles.items()) if length in lengths}
        return cls(paths, cycles, paths=sum(paths.values()), cycles=sum(cycles.values()), **more)


@dataclass(frozen=True)
class CycleCounts:
    """How many chordless cycles a graph has.

    Attributes
    ----------
    by_length : dict of int to int
        Cycles by number of vertices; 3 stands for the triangles.
    frontier : dict of int to int
        |T_t|: chordless paths by number of vertices that the search put into its frontier.
    seconds : float
        Time of the search alone, without start-up and compilation.
    min_length : int
        The lower bound of the search.
    complete : bool
        False if the search ended before it was done, at its limit or time-out: there may be more cycles.
    parity : {"odd", "even"} or None
        That of the cycles which were counted; None for both.
    """

    by_length: dict[int, int]
    frontier: dict[int, int]
    seconds: float
    min_length: int = 3
    complete: bool = True
    parity: Parity | None = None

    @property
    def triangles(self) -> int | None:
        """Cycles of 3 vertices; None where only others were counted."""
        return self.by_length.get(3, 0) if 3 in Lengths(self.min_length, parity=self.parity) else None

    @property
    def chordless_cycles(self) -> int:
        """Cycles of 4 or more vertices, the paper's #clc."""
        return sum(count for length, count in self.by_length.items() if length > 3)

    @property
    def total(self) -> int:
        """All cycles."""
        return sum(self.by_length.values())

    def _repr_html_(self) -> str:
        return html_of_counts(self.by_length, "cycle", complete=self.complete)
