"""Chordless cycles drawn uniformly at random, without listing all.

The cycles are put into an order that is never written down: by block, by the step in which they close, by the state in
which they do, and so on back along the layers. A number below their total stands for one cycle, and each step back
divides it: which of the ways to a state it is. So a random number gives a random cycle, each with the same probability,
and all numbers go back together.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.count import is_for_kernels
from kernels_ti.boundary.forward_and_back.blocks import PlannedBlock, PlannedBlocks, Report, space_for
from kernels_ti.boundary.forward_and_back.counting import Ways, closing_numbers
from kernels_ti.boundary.forward_and_back.device_ways import DeviceWays
from kernels_ti.boundary.forward_and_back.keeping import Keeping, Offer
from kernels_ti.boundary.forward_and_back.layers import History, Layer
from kernels_ti.boundary.forward_and_back.numbers import Numbers, chosen, first_above
from kernels_ti.boundary.in_one_call import annealed_blocks, in_time, order_called
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.states.saved import SavedForward, SavedResult
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles, CycleTable
from kernels_ti.device.device import held_device
from kernels_ti.device.memory import host_budget, search_budget
from kernels_ti.errors import EngineError, OptionError

if TYPE_CHECKING:
    from kernels_ti.device.device import Device

# A block is gone through again, rather than kept while others are counted, if it takes more than this part of the room.
_PART_KEPT = 0.25


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
        Give up after so many seconds.

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
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory)
    return sample_in(space, k, seed, arch=arch, order=order_called(graph, order), timeout=timeout)[0]


def sample_in(
    space: SearchSpace,
    k: int,
    seed: int,
    report: Report | None = None,
    *,
    arch: str = "auto",
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    timeout: float | None = None,
    keeping: Keeping | None = None,
) -> tuple[CycleTable, int]:
    """Draw cycles of a search space; see `sample_cycles`.

    Parameters
    ----------
    space : SearchSpace
    k, seed : int
    report : callable, optional
        See `kernels_ti.boundary.forward_and_back.blocks.Report`.
    order, tell_order
        See `kernels_ti.boundary.in_one_call.annealed_blocks`.
    arch, timeout
        As for `sample_cycles`.
    keeping : Keeping, optional
        See `drawn`.

    Returns
    -------
    table : CycleTable
    total : int
        The cycles that were drawn from.
    """
    if not isinstance(k, int) or k < 0:
        raise OptionError(f"the number of cycles to draw must be a whole number from 0 on, not {k!r}")
    with in_time(timeout, "the cycles were drawn", keeping) as too_late:
        planned, arch = annealed_blocks(
            space, arch, too_late, order=order, tell_order=tell_order, report=report, keeping=keeping
        )
        memory = space.options.memory
        with held_device(arch) as device:
            is_used = device.arch != "reference"
            cycles, total = drawn(
                planned,
                k,
                seed,
                host_budget(memory),
                planned.reporter(report, keeping),
                enough=too_late,
                device=device if is_used else None,
                device_memory=search_budget(device, memory) if is_used else None,
                keeping=keeping,
            )
    table = CycleTable.of_pieces(space.graph, [Cycles.of_lists(cycles)])
    return CycleTable(table.graph, table.offsets, table.vertices, complete=False), total


def drawn(
    planned: PlannedBlocks,
    k: int,
    seed: int,
    memory: int | None = None,
    report: Callable[[Step, int], None] = lambda step, states: None,
    *,
    enough: Callable[[], bool] = lambda: False,
    device: Device | None = None,
    device_memory: int | None = None,
    keeping: Keeping | None = None,
) -> tuple[list[list[int]], int]:
    """Draw cycles from blocks; return them, each in cycle order, and how many there are in all.

    Parameters
    ----------
    planned : PlannedBlocks
    k, seed : int
    memory, report, enough
        See `kernels_ti.boundary.forward_and_back.layers.History`.
    device : Device, optional
        Takes the blocks that are large enough; by default all are gone through in Python.
    device_memory : int or None
        Bytes that the states may take there.
    keeping : Keeping, optional
        Keeps the state between two vertices, and has that from which to go on. Of a block that is done it has the
        total only: if a cycle of it is drawn, the block is gone through again.
    """
    kept: list[_Way | DeviceWays | None] = []
    block_totals, held = [], 0
    keeping = keeping or Keeping()
    keeping.begin(planned.plan)

    def gone_through(number: int, room: int | None, offer: Offer, saved: SavedForward | None) -> _Way | DeviceWays:
        block = planned.blocks[number]
        in_kernels = is_for_kernels(block.graph, block.order) if saved is None else saved.in_kernels
        if device is not None and in_kernels:
            return DeviceWays(device, block, device_memory, room, enough, report, offer, saved)
        return _Way(block, room, enough, report, offer, saved)

    for number in range(len(planned.blocks)):
        if number < len(keeping.done):
            kept.append(None)
            block_totals.append(keeping.done[number].ways)
            continue
        room = None if memory is None else memory - held
        way = gone_through(number, room, keeping.offer, keeping.take_forward())
        if number + 1 < len(planned.blocks):
            keeping.end_block(SavedResult(None, way.total, way.most_states))
        is_kept = room is None or len(planned.blocks) == 1 or way.nbytes <= _PART_KEPT * room
        kept.append(way if is_kept else None)
        block_totals.append(way.total)
        held += way.nbytes if is_kept else 0
    totals = [1] * len(planned.rings) + block_totals
    total = sum(totals)
    if total == 0:
        return [], 0
    generator = random.Random(seed)
    parts: list[dict[int, int]] = [{} for _ in totals]
    ends = list(accumulate(totals))
    for sample in range(k):
        number = generator.randrange(total)
        part = first_above(ends, number)
        parts[part][sample] = number - (ends[part] - totals[part])
    cycles: dict[int, list[int]] = {}
    for ring, samples in zip(planned.rings, parts, strict=False):
        cycles.update(dict.fromkeys(samples, ring))
    for i, (block, samples) in enumerate(zip(planned.blocks, parts[len(planned.rings) :], strict=True)):
        kept_way, kept[i] = kept[i], None
        if samples:
            room = None if memory is None else memory - sum(each.nbytes for each in kept if each is not None)
            way = kept_way or gone_through(i, room, lambda forward, all_came: None, None)
            cycles.update({sample: block.cycle(members) for sample, members in way.members(samples).items()})
    return [cycles[sample] for sample in range(k)], total


class _Way:
    """A block that has been gone through in Python, and can be gone back.

    See `kernels_ti.boundary.forward_and_back.layers.History`.
    """

    def __init__(
        self,
        block: PlannedBlock,
        memory: int | None,
        enough: Callable[[], bool],
        report: Callable[[Step, int], None],
        offer: Offer,
        saved: SavedForward | None,
    ) -> None:
        self._rule = Ways()
        self._history = History(block, self._rule, memory, enough, report, offer=offer, saved=saved)

    @property
    def most_states(self) -> int:
        """States of the largest boundary."""
        return self._history.most_states

    @property
    def total(self) -> int:
        """All cycles."""
        return self._rule.total

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return self._history.nbytes

    def members(self, samples: dict[int, int]) -> dict[int, set[int]]:
        """Return the vertices of the cycle for each number of the block, by going back once."""
        closing = closing_numbers(self._rule.closed, samples)
        members: dict[int, set[int]] = {sample: set() for sample in samples}
        # For each state, which of the ways to it is wanted, by sample.
        wanted: dict[int, dict[int, int]] = {}
        for place, layer, values in self._history.backward(max(closing) + 1):
            wanted = _before(layer, values, wanted, members)
            if place in closing:
                for sample, (state, rest) in chosen(values, layer.closing, closing.pop(place)).items():
                    members[sample].add(layer.step.vertex)
                    wanted.setdefault(state, {})[sample] = rest
        if any(number for numbers in wanted.values() for number in numbers.values()):
            raise EngineError("internal error: the way back to a cycle has a rest")
        return members


def _before(
    layer: Layer, values: Numbers, wanted: dict[int, dict[int, int]], members: dict[int, set[int]]
) -> dict[int, dict[int, int]]:
    """Go back by one step: from the states that follow to those of the layer."""
    before: dict[int, dict[int, int]] = {}
    if not wanted:
        return before
    is_wanted = np.zeros(layer.after, np.bool_)
    is_wanted[list(wanted)] = True
    parents: defaultdict[int, list[tuple[int, bool]]] = defaultdict(list)
    for joins in (False, True):
        states, children = layer.children(joins=joins)
        found = is_wanted[children]
        for state, child in zip(states[found].tolist(), children[found].tolist(), strict=True):
            parents[child].append((state, joins))
    for child, numbers in wanted.items():
        ways = [values.at(state) for state, _ in parents[child]]
        ends = list(accumulate(ways))
        for sample, number in numbers.items():
            which = first_above(ends, number)
            state, joins = parents[child][which]
            if joins:
                members[sample].add(layer.step.vertex)
            before.setdefault(state, {})[sample] = number - (ends[which] - ways[which])
    return before
