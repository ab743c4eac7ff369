"""Chordless cycles drawn uniformly at random, without listing all.

The cycles are put into an order that is never written down: by block, by the step in which they close, by the state in
which they do, and so on back along the layers. A random number below their total stands for one cycle, and each step
back divides it: which of the ways to a state it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.in_one_call import ready_to_pick
from kernels_ti.boundary.spec.packing import DIGIT_BITS
from kernels_ti.boundary.values.numbers import Numbers, picked, random_below
from kernels_ti.boundary.values.saved import SavedForward, SavedResult
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlocks
from kernels_ti.boundary.way_back.device_ways import DeviceWays
from kernels_ti.boundary.way_back.history import History
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.device.memory import host_budget
from kernels_ti.errors import SizeError, bytes_text
from kernels_ti.found.cycle_order import CycleOrder
from kernels_ti.graph import Graph
from kernels_ti.state import Rows, words_for
from kernels_ti.watch import Watch

# A round of draws gets one part of so many of the memory; the states get the rest.
_PART_FOR_ROUND = 4
_FEWEST_AT_ONCE = 1_000

# Bytes of a draw while its round is under way: in any case, for each word of its bit row, and for each digit of its
# number. Measured on grids of 30 to 500 vertices with numbers of one to four digits.
_BYTES_OF_A_DRAW, _BYTES_OF_A_WORD, _BYTES_OF_A_DIGIT = 145, 16, 64

# A cycle of a table takes four bytes a vertex, and its length and its place besides.
_BYTES_OF_A_VERTEX, _BYTES_OF_A_CYCLE = 4, 16

# Best cycles are lists of numbers first, and then of names, both at a time.
_BYTES_OF_A_NAME, _BYTES_OF_A_LIST = 16, 208

_ORDERED_AT_ONCE = 1 << 17

ANSWER = "the cycles were drawn"
"""What a time-out comes before."""

# A block is gone through again, rather than kept while others are counted, if it takes more than this part of the room.
_PART_KEPT = 0.25


@contextmanager
def draws_of(space: SearchSpace, k: int, seed: int = 0, *, watch: Watch | None = None, **how: Any) -> Iterator[Draws]:
    """Count the cycles of a search space, and yield the `Draws` of k of them; see `ready_to_pick` for `how`."""
    with ready_to_pick(space, watch, ANSWER, **how) as (planned, means):
        yield Draws(space.graph, planned, k, seed, means)


def check_fit(k: int, space: SearchSpace) -> None:
    """Raise SizeError if so many draws might not fit into the memory that is allowed, all at once."""
    each = _BYTES_OF_A_CYCLE + _BYTES_OF_A_VERTEX * space.longest
    _require(k, each, host_budget(space.options.memory), "draws", "draw {} at most, and more with another seed")


def check_lists_fit(k: int, longest: int, budget: int) -> None:
    """Raise SizeError if lists of the names of k cycles, up to `longest` vertices each, might not fit into a budget."""
    each = _BYTES_OF_A_LIST + _BYTES_OF_A_NAME * longest
    _require(k, each, budget, "cycles", "ask for {} at most")


def _require(k: int, each: int, budget: int, what: str, advice: str) -> None:
    if k * each > budget:
        # What the process itself holds is not the same at the next call.
        most = budget * 9 // (10 * each)
        raise SizeError(
            f"{k:,} {what} may need {bytes_text(k * each)}, and {bytes_text(budget)} are allowed; "
            + advice.format(f"{most:,}")
        )


class Draws:
    """Cycles of the blocks of a graph: all are counted, then k are drawn, in rounds that fit into the memory.

    The same seed draws the same ones, however many fit into a round. Of a block that is done, `Keeping` has the total
    only: if a cycle of it is drawn, the block is gone through again.
    """

    def __init__(self, graph: Graph, planned: PlannedBlocks, k: int, seed: int = 0, means: Means | None = None) -> None:
        means = means or Means()
        memory, keeping = means.memory, means.keeping
        self._graph, self.planned, self._k, self._seed, self._means = graph, planned, k, seed, means
        self._words = words_for(graph.n)
        # A chordless cycle of a simple graph is a set of vertices, so a number below the total has no more bits.
        most_bytes = k * self._draw_bytes(-(-graph.n // DIGIT_BITS))
        self._round_bytes = None if memory is None else min(memory // _PART_FOR_ROUND, most_bytes)
        self._memory = None if memory is None or self._round_bytes is None else memory - self._round_bytes
        self._kept: list[History | DeviceWays | None] = []
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

    @property
    def width(self) -> int:
        """Vertices in the boundary."""
        return self.planned.plan.width

    def rounds(self) -> Iterator[Rows]:
        """Draw the cycles, and yield them as bit rows; none if there is no cycle."""
        if self.total == 0:
            return
        generator = random.Random(self._seed)
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

    def first(self) -> Iterator[Cycles]:
        """Yield the k cycles with the smallest numbers instead, each once, or all if there are fewer."""
        rounds = (self._round(Numbers.of(range(*at))) for at in self._portions(min(self._k, self.total)))
        return in_cycle_order(self._graph, rounds)

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
        return _BYTES_OF_A_DRAW + _BYTES_OF_A_WORD * self._words + _BYTES_OF_A_DIGIT * digits

    def _gone_through(self, number: int, means: Means, saved: SavedForward | None = None) -> History | DeviceWays:
        block = self.planned.blocks[number]
        in_kernels = is_for_kernels(block.graph, block.order) if saved is None else saved.in_kernels
        way = DeviceWays if means.device is not None and in_kernels else History
        return way(block, means, saved)


def in_cycle_order(graph: Graph, rounds: Iterable[Rows]) -> Iterator[Cycles]:
    """Put the cycles of some rounds into cycle order, some at a time."""
    order = CycleOrder(graph)
    for rows in rounds:
        for start in range(0, len(rows), _ORDERED_AT_ONCE):
            table = CycleTable.of_rows(graph, rows[start : start + _ORDERED_AT_ONCE], order)
            yield Cycles(table.offsets, table.vertices)
