"""Chordless cycles up to symmetry: one cycle of each orbit, with the size of the orbit.

Of all chordless paths that automorphisms map to each other one is searched, see `kernels_ti.symmetry`. So the cycles of
an orbit are met many times, each time from the first path of one of them. They are told apart by an **invariant**, a
hash that is the same for all cycles of an orbit. Different orbits rarely have the same one, and this is noticed: the
paths behind an orbit of k cycles of l vertices are 2 l k, and k is the size of the group over that of the cycle's own.
Where the paths behind an invariant are more, the canonical forms of its cycles are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels_ti.blocks.groups import LabelledBlocks
from kernels_ti.blocks.restriction import Restricted, edges_called, require_avoidable, restricted, vertices_called
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.errors import EngineError, OptionError, SizeError, quantity, time_is_up
from kernels_ti.estimate.host_step import HostBlocks, labels_of, unpacked
from kernels_ti.found.order import CycleWalker
from kernels_ti.graph import Graph
from kernels_ti.notebook import SHOWN, html_table, more_text
from kernels_ti.options import Lengths, Options
from kernels_ti.state import STATE_WORD_BITS, Frames, Layout, Rows, by_length, populations, scattered, singles
from kernels_ti.symmetry.automorphisms import Automorphisms
from kernels_ti.symmetry.representatives import frames_of, representatives
from kernels_ti.watch import ProgressOption, Watch

PATHS_AT_ONCE = 1 << 15  # Paths that are extended together
WORDS_AT_ONCE = 1 << 18  # Words of a bitset of each of them
MOST_CYCLES = 3_000_000  # Cycles that are met at the most: more take minutes, and gigabytes
MOST_VERTICES = 4000  # Vertices of the largest graph: the distances between all of them are kept
_ROUNDS = 2  # Rounds in which the hash of a vertex takes in those of its two neighbours on the cycle

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class CycleOrbits:
    """The orbits of the chordless cycles of a graph under its automorphisms.

    Attributes
    ----------
    cycles : CycleTable
        One cycle of each orbit, by length, then by vertices.
    sizes : list of int
        The number of cycles in each of these orbits.
    automorphisms : int
        The size of the group.
    """

    cycles: CycleTable
    sizes: list[int]
    automorphisms: int

    @property
    def orbits_by_length(self) -> dict[int, int]:
        """Number of orbits by the number of vertices of their cycles."""
        return dict(sorted(Counter(self.cycles.lengths.tolist()).items()))

    @property
    def by_length(self) -> dict[int, int]:
        """Number of cycles by number of vertices, as `kernels_ti.count_cycles` counts them."""
        counts = Counter[int]()
        for length, size in zip(self.cycles.lengths.tolist(), self.sizes, strict=True):
            counts[length] += size
        return dict(sorted(counts.items()))

    def _repr_html_(self) -> str:
        shown = self.cycles.first(SHOWN).lists()
        rows = ([size, len(cycle), cycle] for size, cycle in zip(self.sizes, shown, strict=False))
        group = quantity(self.automorphisms, "automorphism")
        title = f"{quantity(len(self.cycles), 'orbit')} of chordless cycles under {group}"
        return html_table(
            title, ("cycles", "length", "one of them"), rows, more_text(len(self.cycles) - SHOWN, "orbit")
        )


def cycle_orbits(
    graph: Any,
    *,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    timeout: float | None = None,
    progress: ProgressOption = False,
) -> CycleOrbits:
    """Find one chordless cycle of each orbit under the automorphisms of the graph.

    It searches in numpy on the host, and needs igraph, from the extra ``symmetry``.

    Parameters
    ----------
    graph, min_length, max_length, parity, simplify
        As for `kernels_ti.count_cycles`; the graph is simple and undirected.
    through, avoid : iterable of hashable
    avoid_edges : iterable of pairs of hashable
        As there. The automorphisms are those that map `through` to itself, `avoid` to itself, and the set of
        `avoid_edges` to itself.
    timeout : float, optional
        Give up after so many seconds.
    progress : bool or callable, optional
        As for `kernels_ti.count_cycles`. The cycles are those that were met, some of them several times.

    Returns
    -------
    CycleOrbits

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed, the graph is not simple and undirected, or igraph is missing.
    SizeError
        If the graph has more than `MOST_VERTICES` vertices, or more than `MOST_CYCLES` cycles are met on the way.
    TimeIsUpError
        If the time is up before all orbits are found.

    Examples
    --------
    >>> import networkx
    >>> from chordless import cycle_orbits
    >>> found = cycle_orbits(networkx.petersen_graph())
    >>> found.automorphisms, found.orbits_by_length, found.sizes
    (120, {5: 1, 6: 1}, [12, 10])
    """
    watch = Watch(timeout, progress)
    graph = as_graph(graph, simplify=simplify)
    if not graph.is_simple:
        raise OptionError("cycles up to symmetry are for simple undirected graphs")
    if graph.n > MOST_VERTICES:
        raise SizeError(
            f"a graph of {graph.n:,} vertices is too large for cycles up to symmetry: {MOST_VERTICES:,} fit"
        )
    passed, avoided = vertices_called(graph, through), vertices_called(graph, avoid)
    edges = tuple(dict.fromkeys((min(edge), max(edge)) for edge in edges_called(graph, avoid_edges)))
    require_avoidable(graph, passed, edges)
    lengths = Options(min_length=min_length, max_length=max_length, parity=parity).lengths
    case = restricted(graph, passed, avoided, max_length)
    with watch, watch.searching():
        group = Automorphisms(graph, passed, avoided, edges=edges)
        met, order = _met(graph, group, case, min(graph.n, max_length or graph.n), watch)
        orbits = []
        for same in met.by_length(graph, group, lengths):
            for orbit in _orbits(group, same, order):
                # A chordless cycle that passes both ends of an edge contains it, and so do all cycles of its orbit.
                if not any(set(edge) <= set(orbit[0]) for edge in edges):
                    orbits.append(orbit)
                _go_on(watch, len(met))
        watch.tell("searching", 1.0, len(met), is_last=True)
    orbits.sort(key=lambda orbit: (len(orbit[0]), orbit[0]))
    table = CycleTable.of_pieces(graph, [Cycles.of_lists([cycle for cycle, _ in orbits])])
    return CycleOrbits(table, [size for _, size in orbits], order)


def _met(graph: Graph, group: Automorphisms, case: Restricted, longest: int, watch: Watch) -> tuple[_Met, int]:
    """Search from one path of each orbit; return the cycles that are met, and the size of the group."""
    found = representatives(group, case.graph, longest, required=case.through)
    met = _Met(graph.n)
    closed = Cycles.of_lists([list(each.path) for each in found.closed])
    met.add(closed.rows(graph.n), [each.orbit for each in found.closed])
    _go_on(watch, len(met))
    blocks = LabelledBlocks(case.graph, required=case.through).batches(Layout(whole=True), STATE_WORD_BITS)[0]
    if not blocks:
        return met, found.automorphisms
    host, at_once = HostBlocks(blocks[0]), _paths_at_once(blocks[0].words)
    for orbit in found.orbits:
        paths = [each.path for each in found.paths if each.orbit == orbit]
        for first in range(0, len(paths), at_once):
            frames = frames_of(blocks[0], paths[first : first + at_once], members=True)
            for rows in _closed_from(host, frames, longest):
                met.add(rows, [orbit] * len(rows))
                _go_on(watch, len(met))
    return met, found.automorphisms


def _paths_at_once(words: int) -> int:
    """Return how many paths of so many words are extended together, so that a step takes less than a second."""
    return min(PATHS_AT_ONCE, WORDS_AT_ONCE // words)


def _go_on(watch: Watch, cycles: int) -> None:
    """Tell how many cycles were met; raise TimeIsUpError once it is too late."""
    watch.tell("searching", 0.0, cycles)
    if watch.too_late():
        raise time_is_up(watch.timeout, "all orbits were found")


def _closed_from(blocks: HostBlocks, frames: Frames, longest: int) -> Iterator[Rows]:
    """Search from some frames; yield bit rows over the graph of the cycles that are closed, shape (k, W)."""
    vertex, at_once = blocks.group.vertex_of_row, _paths_at_once(blocks.words)
    waiting = by_length([frames]) if len(frames) else []
    while waiting:
        paths = waiting.pop()
        if len(paths) > at_once:
            waiting.append(paths[at_once:])
            paths = paths[:at_once]
        step = blocks.expand(paths, longest)
        path, closer = labels_of(step.closers)
        assert paths.members is not None
        labels = unpacked((paths.members | paths.extensions)[path] | singles(closer, blocks.words))
        over_graph = np.zeros_like(labels)
        over_graph[:, vertex] = labels[:, : len(vertex)]
        yield np.packbits(over_graph, axis=1, bitorder="little").view(np.uint64)
        _, children = blocks.singled(step.children)
        if len(children):
            waiting.append(children)


class _Met:
    """The cycles that a search has met, each with the number of paths that the path before it stands for."""

    def __init__(self, n: int) -> None:
        self._rows = [np.zeros((0, -(-n // STATE_WORD_BITS)), np.uint64)]
        self._paths: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: Rows, paths: Sequence[int]) -> None:
        self._count += len(rows)
        if self._count > MOST_CYCLES:
            raise SizeError(
                f"more than {MOST_CYCLES:,} cycles are met on the way: too many for a list up to symmetry; "
                "a maximum length may help"
            )
        self._rows.append(rows)
        self._paths += paths

    def by_length(self, graph: Graph, group: Automorphisms, lengths: Lengths) -> Iterator[_SameLength]:
        # A cycle is met once for each of many paths. What follows looks at it once.
        rows, place = np.unique(np.concatenate(self._rows), axis=0, return_inverse=True)
        paths = np.zeros(len(rows), object)
        np.add.at(paths, place.reshape(-1), np.array(self._paths, object))
        length = populations(rows)
        walker, invariants = CycleWalker(graph), _Invariants(group.distances())
        for wanted in np.unique(length[lengths.among(length)]).tolist():
            chosen = length == wanted
            cycles = walker.order(rows[chosen]).vertices.reshape(-1, wanted)
            yield _SameLength(cycles, paths[chosen], invariants(cycles))


@dataclass(frozen=True, eq=False)
class _SameLength:
    """Different cycles of one length."""

    cycles: npt.NDArray[np.int32]  # Shape (k, length)
    paths: npt.NDArray[np.object_]  # Paths that the paths before each stand for, shape (k,)
    invariant: npt.NDArray[Any]  # Shape (k,)

    def classes(self) -> Iterator[_SameLength]:
        """Yield the cycles of each invariant, in the order of their vertices."""
        order = np.lexsort((*self.cycles.T[::-1], self.invariant))
        cuts = np.flatnonzero(self.invariant[order][1:] != self.invariant[order][:-1]) + 1
        for of_class in np.split(order, cuts):
            yield _SameLength(self.cycles[of_class], self.paths[of_class], self.invariant[of_class])


def _orbits(group: Automorphisms, met: _SameLength, order: int) -> Iterator[tuple[list[int], int]]:
    """Yield the first cycle and the size of each orbit behind cycles of one length; `order` is the size of the group.

    Raise EngineError if the paths of an orbit do not add up.
    """
    for alike in met.classes():
        first = alike.cycles[0].tolist()
        size = order // group.order_of_set(first)
        if alike.paths.sum() == 2 * len(first) * size:
            yield first, size
            continue
        forms = np.array([group.canonical_form(cycle) for cycle in alike.cycles.tolist()])
        if (forms == forms[0]).all():
            raise EngineError(f"the orbit of the cycle {first} is wrong; please report this graph")
        _, form = np.unique(forms, return_inverse=True)
        yield from _orbits(group, replace(alike, invariant=form), order)


class _Invariants:
    """Hashes of cycles that are the same for all cycles of an orbit."""

    def __init__(self, distance: npt.NDArray[np.uint64]) -> None:
        self._distance = distance
        self._of_vertex = scattered(self._distance + _ODD).sum(axis=1, dtype=np.uint64)

    def __call__(self, cycles: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
        """Hash cycles of one length, shape (k, length): by the distances between all their vertices."""
        found = [self._hashed(cycles[start : start + PATHS_AT_ONCE]) for start in range(0, len(cycles), PATHS_AT_ONCE)]
        return np.concatenate(found)

    def _hashed(self, cycles: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
        hashed = self._of_vertex[cycles]
        for apart in range(1, cycles.shape[1] // 2 + 1):
            pair = scattered(self._distance[cycles, np.roll(cycles, -apart, axis=1)] * _ODD + np.uint64(apart))
            hashed += pair + np.roll(pair, apart, axis=1)
        for _ in range(_ROUNDS):
            mixed = scattered(hashed)
            hashed = hashed + np.roll(mixed, 1, axis=1) + np.roll(mixed, -1, axis=1)
        total: npt.NDArray[np.uint64] = scattered(hashed).sum(axis=1, dtype=np.uint64)
        return total
