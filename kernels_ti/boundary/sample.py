"""Chordless cycles drawn uniformly at random, without listing all.

The cycles are put into an order that is never written down: by block, by the step in which they close, by the state in
which they do, and so on back along the layers. A number below their total stands for one cycle, and each step back
divides it: which of the ways to a state it is. So a random number gives a random cycle, each with the same probability,
and all numbers go back together.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.in_one_call import order_called, ready_to_pick
from kernels_ti.boundary.values.numbers import Numbers, picked, random_below
from kernels_ti.boundary.values.saved import SavedForward, SavedResult
from kernels_ti.boundary.way_back.blocks import PlannedBlocks, Report, space_for
from kernels_ti.boundary.way_back.counting import CountedWay
from kernels_ti.boundary.way_back.device_ways import DeviceWays
from kernels_ti.boundary.way_back.keeping import Keeping, Means
from kernels_ti.boundary.way_back.walks import words_for
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import host_budget
from kernels_ti.device.own_process import apart_if_needed
from kernels_ti.errors import SizeError, bytes_text, worded
from kernels_ti.found.cycle_order import CycleOrder, fits_in_rows
from kernels_ti.graph import Graph
from kernels_ti.options import require_number, require_seed
from kernels_ti.state import Rows
from kernels_ti.watch import ProgressOption, Watch

# A round of draws gets one part of so many of the memory; the states get the rest.
_PART_FOR_ROUND = 4
_FEWEST_AT_ONCE = 1_000

# Bytes of a draw while its round is under way: in any case, for each word of its bit row, and for each digit of its
# number. Measured on grids of 30 to 500 vertices with numbers of one to four digits.
_BYTES_OF_A_DRAW, _BYTES_OF_A_WORD, _BYTES_OF_A_DIGIT = 145, 16, 64

# A cycle of a table takes four bytes a vertex, and its length and its place besides.
_BYTES_OF_A_VERTEX, _BYTES_OF_A_CYCLE = 4, 16

_ORDERED_AT_ONCE = 1 << 17

# A block is gone through again, rather than kept while others are counted, if it takes more than this part of the room.
_PART_KEPT = 0.25


@apart_if_needed
def sample_cycles(
    graph: Any,
    k: int = 1,
    *,
    seed: int = 0,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
    arch: str = "auto",
    order: Iterable[Hashable] | None = None,
    timeout: float | None = None,
    progress: ProgressOption = False,
) -> CycleTable:
    """Draw chordless cycles uniformly at random, from any number of them.

    All cycles within the bounds have exactly the same probability. Each draw is from all of them, so that a cycle may
    come several times. The time depends on the boundary, see `kernels_ti.boundary.count`, and hardly on the number of
    cycles.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    k : int
        How many.
    seed : int
        The same seed draws the same cycles, in Python and in kernels each: which of them depends on `arch`.
    min_length, max_length, parity, through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    memory : int, optional
        Bytes that the process may use; by default a share of the free memory.
    arch : str
        ``auto``, ``cpu``, ``cuda`` or ``reference``, as for `count_cycles` along a boundary.
    order : iterable of vertex names, optional
        All vertices, in the order to take; by default one with a small boundary is sought.
    timeout : float, optional
        Give up after so many seconds. Start-up does not count.
    progress : bool or callable, optional
        As for `count_cycles`.

    Returns
    -------
    CycleTable
        The k cycles, in the order in which they were drawn; empty if no cycle is within the bounds. `complete` is
        False: these are not all cycles.

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed.
    SizeError
        If the boundaries are too large for the memory.
    TimeIsUpError
        If the time is up before the cycles are drawn.

    Examples
    --------
    >>> from chordless import Graph, sample_cycles
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> sorted(set(map(len, sample_cycles(house, 100).lists())))
    [3, 4]
    """
    watch = Watch(timeout, progress)
    watch.tell("reading")
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory, parity)
    with watch:
        vertices = order_called(graph, order)
        return sample_in(space, k, seed, watch.report, arch=arch, order=vertices, watch=watch)[0]


def sample_in(
    space: SearchSpace,
    k: int,
    seed: int,
    report: Report | None = None,
    **how: Any,
) -> tuple[CycleTable, int]:
    """Draw cycles of a search space; return them, and how many were drawn from. See `sample_cycles` and `draws_of`."""
    require_number(k, "draws")
    require_seed(seed)
    k, seed = int(k), int(seed)
    check_fit(k, space)
    with draws_of(space, k, report, **how) as draws:
        if not fits_in_rows(space.graph):
            return CycleTable.of_pieces(space.graph, draws.cycles(seed), complete=False), draws.total
        rows = np.concatenate([np.empty((0, words_for(space.graph.n)), np.uint64), *draws.rounds(seed)])
        return CycleTable.of_rows(space.graph, rows, CycleOrder(space.graph), complete=False), draws.total


@contextmanager
def draws_of(
    space: SearchSpace, k: int, report: Report | None = None, *, watch: Watch | None = None, **how: Any
) -> Iterator[Draws]:
    """Count the cycles of a search space, and yield the `Draws` of k of them; see `ready_to_pick` for `how`."""
    with ready_to_pick(space, watch, "the cycles were drawn", report=report, **how) as (planned, means):
        yield Draws(space.graph, planned, k, means)


def check_fit(k: int, space: SearchSpace) -> None:
    """Raise SizeError if so many cycles might not fit into the memory that is allowed, all at once."""
    budget = host_budget(space.options.memory)
    needed = k * (_BYTES_OF_A_CYCLE + _BYTES_OF_A_VERTEX * space.longest)
    if needed > budget:
        name, many = worded(f"k={k}", f"-k {k}"), budget * k // needed
        raise SizeError(
            f"{name}: so many cycles may need {bytes_text(needed)}, and {bytes_text(budget)} are allowed; "
            f"draw {many:,} at most, and more with another seed"
        )


class Draws:
    """Cycles of the blocks of a graph: all are counted, then k are drawn, in rounds that fit into the memory.

    Of a block that is done, `Keeping` has the total only: if a cycle of it is drawn, the block is gone through again.
    """

    def __init__(
        self,
        graph: Graph,
        planned: PlannedBlocks,
        k: int,
        means: Means | None = None,
    ) -> None:
        means = means or Means()
        memory, keeping = means.memory, means.keeping or Keeping()
        self._graph, self.planned, self._k, self._means = graph, planned, k, means
        self._words = words_for(graph.n)
        self._round_bytes = None if memory is None else min(memory // _PART_FOR_ROUND, k * self._draw_bytes(1))
        self._memory = None if memory is None or self._round_bytes is None else memory - self._round_bytes
        self._kept: list[CountedWay | DeviceWays | None] = []
        block_totals, held = [], 0
        keeping.begin(planned.plan)
        for number in range(len(planned.blocks)):
            if number < len(keeping.done):
                self._kept.append(None)
                block_totals.append(keeping.done[number].ways)
                continue
            room = None if self._memory is None else self._memory - held
            way = self._gone_through(number, replace(means, memory=room), keeping.take_forward())
            if number + 1 < len(planned.blocks):
                keeping.end_block(SavedResult(None, way.total, way.most_states))
            is_kept = room is None or len(planned.blocks) == 1 or way.nbytes <= _PART_KEPT * room
            self._kept.append(way if is_kept else None)
            block_totals.append(way.total)
            held += way.nbytes if is_kept else 0
        self._totals = [1] * len(planned.rings) + block_totals
        self.total = sum(self._totals)

    def rounds(self, seed: int) -> Iterator[Rows]:
        """Draw the cycles, and yield them as bit rows; none if there is no cycle.

        The same seed draws the same ones, however many fit into a round.
        """
        if self.total == 0:
            return
        generator = random.Random(seed)
        for start, stop in self._portions(self._k):
            yield self._round(random_below(self.total, stop - start, generator))

    def _portions(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield so many draws as ranges that fit into the memory."""
        at_once = max(number, 1)
        if self._round_bytes is not None:
            digits = len(Numbers.of([self.total]).digits)
            at_once = max(self._round_bytes // self._draw_bytes(digits), _FEWEST_AT_ONCE)
        for start in range(0, number, at_once):
            yield start, min(start + at_once, number)

    def cycles(self, seed: int) -> Iterator[Cycles]:
        """Draw the cycles, and yield them in cycle order, some at a time."""
        return self._in_order(self.rounds(seed))

    def first(self) -> Iterator[Cycles]:
        """Yield the k cycles with the smallest numbers instead, each once, or all if there are fewer."""
        return self._in_order(self._round(Numbers.of(range(*at))) for at in self._portions(min(self._k, self.total)))

    def _in_order(self, rounds: Iterable[Rows]) -> Iterator[Cycles]:
        """Put the cycles of some rounds into cycle order."""
        order = CycleOrder(self._graph)
        for rows in rounds:
            for start in range(0, len(rows), _ORDERED_AT_ONCE):
                table = CycleTable.of_rows(self._graph, rows[start : start + _ORDERED_AT_ONCE], order)
                yield Cycles(table.offsets, table.vertices)

    def _round(self, numbers: Numbers) -> Rows:
        """Return the cycles of some numbers below the total, by going back through each block once."""
        k, rings = len(numbers), self.planned.rings
        rows = np.zeros((k, self._words), np.uint64)
        part, rest = picked(Numbers.of(self._totals), np.zeros(k, np.int64), np.full(k, len(self._totals)), numbers)
        of_rings = np.flatnonzero(part < len(rings))
        drawn_rings, which = np.unique(part[of_rings], return_inverse=True)
        rows[of_rings] = Cycles.of_lists([rings[i] for i in drawn_rings.tolist()]).rows(self._graph.n)[which]
        for i, block in enumerate(self.planned.blocks):
            samples = np.flatnonzero(part == len(rings) + i)
            if len(samples):
                way, self._kept[i] = self._kept[i], None
                if way is None:
                    held = sum(each.nbytes for each in self._kept if each is not None)
                    room = None if self._memory is None else self._memory - held
                    way = self._gone_through(i, self._means.again(room))
                rows[samples] = way.members(rest[samples], block.vertices, self._graph.n)
        return rows

    def _draw_bytes(self, digits: int) -> int:
        """Return about how many bytes a draw takes while its round is under way."""
        return _BYTES_OF_A_DRAW + _BYTES_OF_A_WORD * self._words + _BYTES_OF_A_DIGIT * digits

    def _gone_through(self, number: int, means: Means, saved: SavedForward | None = None) -> CountedWay | DeviceWays:
        """Let all vertices of a block come."""
        block = self.planned.blocks[number]
        in_kernels = is_for_kernels(block.graph, block.order) if saved is None else saved.in_kernels
        way = DeviceWays if means.device is not None and in_kernels else CountedWay
        return way(block, means, saved)


def drawn(graph: Graph, planned: PlannedBlocks, k: int, seed: int, means: Means | None = None) -> tuple[Cycles, int]:
    """Draw cycles from the blocks of a graph; return them, and how many there are in all. See `Draws`."""
    draws = Draws(graph, planned, k, means)
    return Cycles.joined(list(draws.cycles(seed))), draws.total
