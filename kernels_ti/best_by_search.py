"""The best cycles by a search: the longest one by branch and bound, or a few by a search of all cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernels_ti.asked_search import begun, watched_slices
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.longest import BestCycle
from kernels_ti.boundary.sample import check_lists_fit
from kernels_ti.boundary.values.weights import Gains, Weights
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.device.device import Device
from kernels_ti.device.memory import search_budget
from kernels_ti.errors import time_is_up
from kernels_ti.found.cycle_order import CycleOrder, fits_in_rows
from kernels_ti.graph import Graph
from kernels_ti.reference.at_once import found_at_once
from kernels_ti.run import Run
from kernels_ti.state import Rows, populations
from kernels_ti.symmetry.space import worthwhile
from kernels_ti.watch import Watch

Values = npt.NDArray[np.int64]

_TRIANGLE = 3
_MOST_BESIDE = 1 << 16  # Cycles that are held beside the best ones, before they are compared


def longest_by_search(space: SearchSpace, arch: str, watch: Watch, threads: int | None) -> BestCycle:
    """Count the longest cycles by branch and bound, and then search again for one of them.

    A path is dropped where it cannot become as long as the longest cycle so far, see `Options.pruned`. The second
    search meets the cycles in much the same order, so the first one has half of the time that is left. If the first one
    was stopped, the second one may not meet a cycle of the greatest length in time, so it takes longer and longer ones.
    Both searches are made up to symmetry where that pays and the arch can do it: of the cycles that automorphisms map
    to each other any will do.
    """
    if arch != "reference":
        space = SearchSpace(space.graph, replace(space.options, pruned=True))
        space = worthwhile(space, watch.timeout - watch.seconds) or space
    latest = (watch.seconds + watch.timeout) / 2
    with begun(space, arch, threads, watch) as counted:
        for so_far in watched_slices(counted, watch):
            counted.least_length = max(so_far.cycles_by_length, default=counted.least_length)
            if watch.seconds >= latest:
                break
        by_length = counted.snapshot().cycles_by_length
        cycle: list[int] = []
        length = max(by_length, default=0)
        if length:
            least = length if counted.finished else _reached_by_many(by_length)
            again = Run(space.graph, counted.device, replace(space.options, min_length=least, collect=True))
            for _ in watched_slices(again, watch):
                cycle = max(cycle, _longest_of(again.take_cycles()), key=len)
                again.least_length = max(len(cycle) + 1, again.least_length)
                if counted.finished and len(cycle) == length:
                    break
            cycle = cycle or _some_cycle(space, counted.device, _commonest(by_length))
    # A count up to symmetry that was stopped may not be certain of one whole cycle.
    kept, ways = [(len(cycle), cycle)] if cycle else [], max(by_length.get(len(cycle), 0), 1 if cycle else 0)
    complete = counted.finished and len(cycle) == length  # The second search may have been stopped, too.
    best = BestCycle.of(space.graph, kept, ways, watch.seconds, None, complete=complete)
    if not complete:
        raise time_is_up(watch.timeout, "the longest cycle was found", best if cycle else None)
    watch.tell("searching", 1.0, sum(by_length.values()), is_last=True)
    return best


def _reached_by_many(by_length: Mapping[int, int]) -> int:
    """Return the greatest length that one cycle in a thousand has, or more than that."""
    longer, wanted = 0, sum(by_length.values()) / 1000
    for length in sorted(by_length, reverse=True):
        longer += by_length[length]
        if longer >= wanted:
            return length
    raise AssertionError("no cycle was counted")


def _commonest(by_length: Mapping[int, int]) -> int:
    """Return the length of most cycles; of triangles, which are all counted first, only if there is no other."""
    longer = [length for length in by_length if length > _TRIANGLE]
    return max(longer or by_length, key=by_length.__getitem__)


def _longest_of(cycles: Cycles) -> list[int]:
    if not len(cycles):
        return []
    at = int(cycles.lengths.argmax())
    vertices: list[int] = cycles.vertices[cycles.offsets[at] : cycles.offsets[at + 1]].tolist()
    return vertices


def _some_cycle(space: SearchSpace, device: Device, shortest: int) -> list[int]:
    """Return the longest of the cycles that a search meets first, of those from a length on; it must meet one."""
    run = Run(space.graph, device, replace(space.options, min_length=shortest, collect=True))
    while True:
        if cycle := _longest_of(run.take_cycles()):
            return cycle
        run.advance()


def best_of_all(
    space: SearchSpace, k: int, weights: Weights | None, *, least: bool, arch: str, watch: Watch, threads: int | None
) -> BestCycle:
    """Search all cycles, and keep the k with the greatest, or least, number of vertices or weight.

    Of cycles without weights those are dropped that are shorter than the k longest so far, see `Options.pruned`.
    """
    gains = Gains() if weights is None else weights.gains
    gains.require_fit()
    few = _Few(space.graph, k, gains, least=least)
    with watch.searching():
        found = found_at_once(space, collect=True) if arch == "auto" else None
        if found is not None:
            few.take(Cycles.of_lists(found.cycles))
    finished, cycles = found is not None, 0 if found is None else found.counts.total
    if not finished:
        # Of bit rows the lengths are known at once, and only the best are put in order.
        rows = weights is None and fits_in_rows(space.graph)
        pruned = weights is None and not least
        collecting = SearchSpace(space.graph, replace(space.options, collect=True, rows=rows, pruned=pruned))
        with begun(collecting, arch, threads, watch) as run:
            budget = search_budget(run.device, space.options.memory, begun=True)
            for last in watched_slices(run, watch):
                with watch.searching():
                    few.take(run.take_rows() if rows else run.take_cycles())
                    check_lists_fit(few.number, max(last.cycles_by_length, default=0), budget)
                    if pruned:
                        run.least_length = max(few.least_length(), run.least_length)
            finished, cycles = run.finished, run.snapshot().cycles
    best = BestCycle.of(space.graph, few.best(), few.ways, watch.seconds, weights, complete=finished)
    if not finished:
        raise time_is_up(watch.timeout, "all cycles were compared", best if best.cycle else None)
    watch.tell("searching", 1.0, cycles, is_last=True)
    return best


class _Few:
    """The best of the cycles that a search hands over; `ways` is the number of those that are as good as the first."""

    def __init__(self, graph: Graph, k: int, gains: Gains, *, least: bool) -> None:
        self._graph, self._k, self._gains, self._sign = graph, k, gains, 1 if least else -1
        # Pieces of cycles, the better ones with the smaller values; at least the k best of all that came are there.
        self._pieces: list[Cycles | Rows] = []
        self._values: list[Values] = []
        self._held, self._worst = 0, np.iinfo(np.int64).max
        self._least = self._worst
        self.ways = 0
        if gains.of_edges is not None:
            edges = dict(gains.of_edges)
            for (u, v), gain in gains.of_edges.items():
                edges.setdefault((v, u), gain)
            pairs = np.array(sorted(edges), np.int64).reshape(-1, 2)
            self._keys = pairs @ np.array([graph.n, 1])
            self._of_edges = np.array([edges[u, v] for u, v in pairs.tolist()], np.int64)
        self._of_vertices = np.array([gains.of(v) for v in range(graph.n)], np.int64)

    def best(self) -> list[tuple[int, list[int]]]:
        """Return the best cycles with their values, the best one first."""
        if not self._pieces:
            return []
        self._cut()
        (piece,), (values,) = self._pieces, self._values
        if isinstance(piece, np.ndarray):
            table = CycleTable.of_rows(self._graph, piece, CycleOrder(self._graph))
            piece = Cycles(table.offsets, table.vertices)
        order, offsets = np.argsort(values, kind="stable").tolist(), piece.offsets.tolist()
        kept = values.tolist()
        return [(self._sign * kept[i], piece.vertices[offsets[i] : offsets[i + 1]].tolist()) for i in order]

    @property
    def number(self) -> int:
        """How many cycles `best` returns if no other comes."""
        return min(self._held, self._k)

    def least_length(self) -> int:
        """Return the number of vertices of the k-th longest cycle, without weights; 0 before there are k."""
        if self._held >= self._k:
            self._cut()
        return 0 if self._held < self._k else -self._worst

    def take(self, cycles: Cycles | Rows) -> None:
        """Compare some cycles with the best ones so far; bit rows only by their length."""
        if not len(cycles):
            return
        values = self._sign * (populations(cycles) if isinstance(cycles, np.ndarray) else self._values_of(cycles))
        least = int(values.min())
        if least < self._least:
            self._least, self.ways = least, 0
        if least == self._least:
            self.ways += int(np.count_nonzero(values == least))
        good = values < self._worst
        self._pieces.append(cycles[good] if isinstance(cycles, np.ndarray) else cycles.chosen(good))
        self._values.append(values[good])
        self._held += len(self._values[-1])
        if self._held > 2 * self._k + _MOST_BESIDE:
            self._cut()

    def _cut(self) -> None:
        """Leave the k best ones; of those that are as good the first."""
        values = np.concatenate(self._values)
        good = np.zeros(len(values), np.bool_)
        good[np.argsort(values, kind="stable")[: self._k]] = True
        if len(values) >= self._k:
            self._worst = int(values[good].max())
        rows = [piece for piece in self._pieces if isinstance(piece, np.ndarray)]
        cycles = [piece for piece in self._pieces if isinstance(piece, Cycles)]
        kept = np.concatenate(rows)[good] if rows else Cycles.joined(cycles).chosen(good)
        self._pieces, self._values, self._held = [kept], [values[good]], int(np.count_nonzero(good))

    def _values_of(self, cycles: Cycles) -> Values:
        """Return the sums of what the vertices and the edges of each cycle add."""
        first, vertices = cycles.offsets[:-1], cycles.vertices.astype(np.int64)
        values: Values = np.add.reduceat(self._of_vertices[vertices], first)
        if self._gains.of_edges is not None:
            following = np.arange(1, len(vertices) + 1)
            following[cycles.offsets[1:] - 1] = first
            keys = vertices * self._graph.n + vertices[following]
            values += np.add.reduceat(self._of_edges[np.searchsorted(self._keys, keys)], first)
        return values
