"""The blocks of a search space as the boundary method takes them: with their orders, and with the graph's vertices.

And the means of a way through them, with the layer checkpoint callback: between two vertices it gets the state of a
search for a best cycle, or a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import numpy as np

from kernels_ti.blocks.restriction import edges_called, vertices_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.arrays import Places
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.spec.block import OrderedBlock
from kernels_ti.boundary.values.saved import SavedForward, SavedPick, SavedResult
from kernels_ti.choices import Parity
from kernels_ti.cycles import canonical, in_order
from kernels_ti.device.device import Device
from kernels_ti.graph import Graph
from kernels_ti.options import Lengths, Options
from kernels_ti.short_cycles import short_cycles


class Keeping:
    """The checkpoints of a search for a best cycle, or of a sample.

    `keep` is called with a function that returns the state, and whether a block has been gone through; None keeps
    nothing. The work goes on from `saved`. `done` are the blocks that are done.
    """

    def __init__(
        self, keep: Callable[[Callable[[], SavedPick], bool], None] | None = None, saved: SavedPick | None = None
    ) -> None:
        self._keep = keep
        self.orders = None if saved is None else saved.orders
        self.done: tuple[SavedResult, ...] = () if saved is None else saved.done
        self._forward = None if saved is None else saved.forward
        self._latest: list[Callable[[], SavedForward]] = []

    @property
    def in_kernels(self) -> bool | None:
        """Whether the block that goes on was begun in kernels; None without such a block."""
        return None if self._forward is None else self._forward.in_kernels

    @property
    def place(self) -> int:
        """Vertices that have come in the block that goes on."""
        return 0 if self._forward is None else self._forward.place

    def begin(self, plan: BoundaryPlan) -> None:
        """Take notice of the orders of the vertices."""
        self.orders = tuple(order.vertices for order in plan.orders if order is not None)

    def take_forward(self) -> SavedForward | None:
        """Return the state of the block that goes on, once; None for a block that begins."""
        forward, self._forward = self._forward, None
        return forward

    def offer(self, forward: Callable[[], SavedForward], all_came: bool) -> None:
        """Offer the state between two vertices, until the next one has come; or say that all of the block have come."""
        self._latest = [] if all_came else [forward]
        if self._keep is not None:
            orders, done = self.orders or (), self.done
            self._keep(lambda: SavedPick(orders, done, forward()), all_came)

    def latest(self) -> SavedForward:
        """Return the state that was offered last."""
        return self._latest[0]()

    def end_block(self, result: SavedResult) -> None:
        """Take notice of a block that is done."""
        self.done = (*self.done, result)
        if self._keep is not None:
            saved = SavedPick(self.orders or (), self.done, None)
            self._keep(lambda: saved, False)


@dataclass(frozen=True)
class Means:
    """The room and the time for a way through blocks, and the callbacks on the way."""

    memory: int | None = None  # Bytes of the host for states and layers
    # It says when to raise GivenUp
    enough: Callable[[], bool] = lambda: False
    # It gets each step of the way forward with the states that follow
    report: Callable[[Step, int], None] = lambda step, states: None
    device: Device | None = None  # For blocks that are large enough; without one, numpy takes all
    device_memory: int | None = None  # Bytes of the device for tables and layers
    # It keeps the state between two vertices, and has that from which to go on
    keeping: Keeping = field(default_factory=Keeping)

    def again(self, memory: int | None) -> Means:
        """Return the means to go a way again: it is not reported, and nothing is kept."""
        return Means(memory, self.enough, device=self.device, device_memory=self.device_memory)


Report = Callable[[float, int, int], None]
"""A callback with the share of the way forward, the states that are held, and the vertices of the boundary. While an
order of the vertices is sought there are no states, and the boundary is that of the best order so far, or 0."""


@dataclass(frozen=True)
class LengthBounds:
    """The wanted numbers of vertices of a cycle, in a block of `n` vertices: from the shortest to the longest."""

    shortest: int
    longest: int
    n: int
    stride: int = 1  # 2 where only numbers of the parity of the shortest are wanted

    @classmethod
    def of(cls, wanted: Lengths, n: int) -> LengthBounds:
        """Return the bounds for the lengths that are wanted."""
        # States have no room for a length that no cycle of the block has.
        shortest, longest = min(wanted.shortest, n + 1), n if wanted.longest is None else wanted.longest
        if wanted.parity is None:
            return cls(shortest, longest, n)
        shortest = shortest if shortest > 3 else 2  # A block has no cycle of two vertices
        return cls(shortest + (shortest % 2 != (wanted.parity == "odd")), longest, n, stride=2)

    @property
    def are_told_apart(self) -> bool:
        """Whether the states tell how many vertices they have: one word more."""
        return self.shortest > 3 or self.longest < self.n or self.stride > 1

    @property
    def most(self) -> int:
        """The largest number of vertices that states tell apart; of larger ones the stride is taken away."""
        return self.longest if self.longest < self.n else self.shortest - 1

    @property
    def limits(self) -> Places:
        """The bounds as kernels read them, and whether longer cycles are possible."""
        bounded = int(self.longest < self.n)
        return np.array([self.shortest, self.longest, bounded, self.most, self.stride], np.int32)


@dataclass(frozen=True, eq=False)
class PlannedBlock(OrderedBlock):
    """A block with bounds on its cycles; `vertices` has the vertex of the input graph for each of its own."""

    vertices: tuple[int, ...]
    bounds: LengthBounds

    def cycle(self, vertices: set[int]) -> list[int]:
        """Return the vertices of a chordless cycle, given as a set of the block's, as those of the graph in its order.

        See `kernels_ti.cycles.canonical`.
        """
        return _cycle(self.graph, vertices, self.vertices)


@dataclass(frozen=True, eq=False)
class PlannedBlocks:
    """All blocks of a search space that can have wanted cycles."""

    plan: BoundaryPlan
    # Wanted cycles that are a block of their own, and those of one and two vertices, each in cycle order
    rings: tuple[list[int], ...]
    blocks: tuple[PlannedBlock, ...]  # The others

    def reporter(self, report: Report | None, keeping: Keeping, *, times: int) -> Callable[[Step, int], None]:
        """Return a function that adds up steps, and calls `report` with the share of all, the states and the width.

        The steps of earlier sessions, which `keeping` has, are done. Each step is taken `times` times.
        """
        came = sum(len(block.steps) for block in self.blocks[: len(keeping.done)]) + keeping.place
        costs = (step.cost for block in self.blocks for step in block.steps)
        done = sum(islice(costs, came))

        def step_done(step: Step, states: int) -> None:
            nonlocal done
            done += step.cost
            if report is not None:
                report(min(done / max(times * self.plan.cost, 1.0), 1.0), states, step.width)

        return step_done


def space_for(
    graph: Graph,
    min_length: int,
    max_length: int | None,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
    memory: int | None,
    parity: Parity | None = None,
) -> SearchSpace:
    """Return a graph with bounds and a restriction; vertices and edges are given by name, as for `count_cycles`."""
    options = Options(
        min_length=min_length,
        max_length=max_length,
        memory=memory,
        parity=parity,
        through=vertices_called(graph, through),
        avoid=vertices_called(graph, avoid),
        avoid_edges=edges_called(graph, avoid_edges),
    )
    return SearchSpace(graph, options)


def planned_blocks(space: SearchSpace, plan: BoundaryPlan | None = None) -> PlannedBlocks:
    """Plan a search space; a NoOrderError says that no order has boundaries that a state can hold."""
    plan = plan or plan_of(space)
    plan.require_possible()
    wanted = space.options.lengths
    alone = ((block, names.tolist()) for labelled in space.blocks for block, names in labelled.rings())
    rings = [_cycle(block, range(block.n), names) for block, names in alone if block.n in wanted]
    rings += short_cycles(space.graph, space.options)
    blocks = []
    for graph, order, required, vertices in zip(plan.blocks, plan.orders, plan.required, plan.vertices, strict=True):
        assert order is not None
        blocks.append(PlannedBlock(graph, order, required, vertices, LengthBounds.of(wanted, graph.n)))
    return PlannedBlocks(plan, tuple(rings), tuple(blocks))


def _cycle(block: Graph, vertices: Iterable[int], names: Sequence[int]) -> list[int]:
    order = in_order(vertices, partial(_onward, block))
    return canonical([names[v] for v in order], directed=block.directed)


def _onward(graph: Graph, v: int) -> list[int]:
    """Return the vertices to which a cycle of three or more vertices may go on from a vertex."""
    near: list[int] = graph.neighbours(v).tolist()
    if graph.ways is None:
        return near
    ways = graph.ways[graph.row_ptr[v] : graph.row_ptr[v + 1]].tolist()
    return [u for u, way in zip(near, ways, strict=True) if way & 1]
