"""Chordless cycles drawn uniformly at random, without listing all.

The cycles are put into an order that is never written down: by block, by the step in which they close, by the state in
which they do, and so on back along the layers. A number below their total stands for one cycle, and each step back
divides it: which of the ways to a state it is. So a random number gives a random cycle, each with the same probability,
and all numbers go back together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.forward_and_back.blocks import PlannedBlocks, Report, space_for
from kernels_ti.boundary.forward_and_back.counting import CountedWay
from kernels_ti.boundary.forward_and_back.device_ways import DeviceWays
from kernels_ti.boundary.forward_and_back.keeping import Keeping, Offer
from kernels_ti.boundary.forward_and_back.numbers import Numbers, picked, random_below
from kernels_ti.boundary.forward_and_back.walks import words_for
from kernels_ti.boundary.in_one_call import order_called, ready_to_pick
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.saved import SavedForward, SavedResult
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleTable
from kernels_ti.cycles import Cycles
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import host_budget
from kernels_ti.device.own_process import apart_if_needed
from kernels_ti.errors import SizeError, bytes_text, worded
from kernels_ti.found.order import CycleWalker
from kernels_ti.graph import Graph
from kernels_ti.options import require_number, require_seed
from kernels_ti.state import Rows
from kernels_ti.watch import ProgressOption, Watch

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

# A round of draws gets one part of so many of the memory; the states get the rest.
_PART_FOR_ROUND = 4
_FEWEST_AT_ONCE = 1_000

# Bytes of a draw while its round is under way: in any case, for each word of its bit row, and for each digit of its
# number. Measured on grids of 30 to 500 vertices with numbers of one to four digits.
_BYTES_OF_A_DRAW, _BYTES_OF_A_WORD, _BYTES_OF_A_DIGIT = 145, 16, 64

# A cycle of a table takes four bytes a vertex, and its length and its place besides.
_BYTES_OF_A_VERTEX, _BYTES_OF_A_CYCLE = 4, 16

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
    min_length, max_length, through, avoid, avoid_edges, simplify
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
    >>> from kernels_ti import Graph, sample_cycles
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> sorted(set(map(len, sample_cycles(house, 100).lists())))
    [3, 4]
    """
    watch = Watch(timeout, progress)
    watch.tell("reading")
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory)
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
        return CycleTable.of_pieces(space.graph, draws.cycles(seed), complete=False), draws.total


@contextmanager
def draws_of(
    space: SearchSpace, k: int, report: Report | None = None, *, watch: Watch | None = None, **how: Any
) -> Iterator[Draws]:
    """Count the cycles of a search space, and yield the `Draws` of k of them; see `ready_to_pick` for `how`."""
    with ready_to_pick(space, watch, "the cycles were drawn", report=report, **how) as (planned, means):
        yield Draws(space.graph, planned, k, **means)


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

    For the parameters see `best_cycle`. Of a block that is done, `keeping` has the total only: if a cycle of it is
    drawn, the block is gone through again.
    """

    def __init__(
        self,
        graph: Graph,
        planned: PlannedBlocks,
        k: int,
        memory: int | None = None,
        report: Callable[[Step, int], None] = lambda step, states: None,
        *,
        enough: Callable[[], bool] = lambda: False,
        device: Device | None = None,
        device_memory: int | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        self._graph, self.planned, self._k = graph, planned, k
        self._enough, self._device, self._device_memory = enough, device, device_memory
        self._words = words_for(graph.n)
        self._round_bytes = None if memory is None else min(memory // _PART_FOR_ROUND, k * self._draw_bytes(1))
        self._memory = None if memory is None or self._round_bytes is None else memory - self._round_bytes
        self._kept: list[CountedWay | DeviceWays | None] = []
        block_totals, held = [], 0
        keeping = keeping or Keeping()
        keeping.begin(planned.plan)
        for number in range(len(planned.blocks)):
            if number < len(keeping.done):
                self._kept.append(None)
                block_totals.append(keeping.done[number].ways)
                continue
            room = None if self._memory is None else self._memory - held
            way = self._gone_through(number, room, report, keeping.offer, keeping.take_forward())
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
        generator, left = random.Random(seed), self._k
        at_once = left
        if self._round_bytes is not None:
            digits = len(Numbers.of([self.total]).digits)
            at_once = max(self._round_bytes // self._draw_bytes(digits), _FEWEST_AT_ONCE)
        while left:
            yield self._round(random_below(self.total, min(left, at_once), generator))
            left -= min(left, at_once)

    def cycles(self, seed: int) -> Iterator[Cycles]:
        """Draw the cycles, and yield them in cycle order, some at a time."""
        walker = CycleWalker(self._graph)
        at_once = walker.at_once * cores()
        for rows in self.rounds(seed):
            for start in range(0, len(rows), at_once):
                yield walker.order(rows[start : start + at_once])

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
                    way = self._gone_through(i, None if self._memory is None else self._memory - held)
                rows[samples] = way.members(rest[samples], block.vertices, self._graph.n)
        return rows

    def _draw_bytes(self, digits: int) -> int:
        """Return about how many bytes a draw takes while its round is under way."""
        return _BYTES_OF_A_DRAW + _BYTES_OF_A_WORD * self._words + _BYTES_OF_A_DIGIT * digits

    def _gone_through(
        self,
        number: int,
        room: int | None,
        report: Callable[[Step, int], None] = lambda step, states: None,
        offer: Offer = lambda forward, all_came: None,
        saved: SavedForward | None = None,
    ) -> CountedWay | DeviceWays:
        """Let all vertices of a block come."""
        block = self.planned.blocks[number]
        in_kernels = is_for_kernels(block.graph, block.order) if saved is None else saved.in_kernels
        if self._device is not None and in_kernels:
            return DeviceWays(self._device, block, self._device_memory, room, self._enough, report, offer, saved)
        return CountedWay(block, room, self._enough, report, offer, saved)


def drawn(graph: Graph, planned: PlannedBlocks, k: int, seed: int, *how: Any, **more: Any) -> tuple[Cycles, int]:
    """Draw cycles from the blocks of a graph; return them, and how many there are in all. See `Draws`."""
    draws = Draws(graph, planned, k, *how, **more)
    return Cycles.joined(list(draws.cycles(seed))), draws.total
