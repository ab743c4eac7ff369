"""A block as the boundary method takes it: with an order of its vertices, and what each of them changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from kernels_ti.boundary.arrays import Places, Words
from kernels_ti.boundary.orders.order import BoundaryOrder
from kernels_ti.boundary.orders.plan import BoundaryPlan
from kernels_ti.boundary.orders.walk import Step, steps_of
from kernels_ti.boundary.spec.changes import ChangesOfSteps, coded
from kernels_ti.boundary.spec.packing import Packing
from kernels_ti.device.buffers import LARGEST_BUFFER
from kernels_ti.errors import StatesError, bytes_text, parameter, quantity, vertices_text
from kernels_ti.graph import Graph

_MORE_THAN_MACHINES_HAVE = 1 << 45  # bytes


class GivenUp(Exception):
    """States were being put together when it was enough."""


def require_memory(
    needed: int, memory: int | None, states: int, block: OrderedBlock, place: int, *,
    of_a_state: float | None = None, by_search: str = parameter("method", "search"), cells: int = 0,
    most: int = LARGEST_BUFFER,
) -> None:  # fmt: skip
    """Refuse, by a StatesError, a step of a block that needs more bytes than the memory allows; None allows all.

    A buffer that it needs with more than `most` cells is refused too.
    `of_a_state` are the bytes that each state of the largest boundary to come needs; by default as many as each of
    these. `by_search` names the way to the same answer that needs next to no memory.
    """
    if memory is None or needed <= memory:
        if cells > most:
            raise StatesError(f"{states:,} states need {cells:,} cells, more than the {most:,} that kernels can count")
        return
    largest = (needed / max(states, 1) if of_a_state is None else of_a_state) * block.most_from[place]
    at_most = f"about {bytes_text(max(needed, largest))}: {parameter('memory')} allows more, "
    if largest >= _MORE_THAN_MACHINES_HAVE:
        at_most = "more than any machine has: "
    width = block.steps[place - 1].width if place else 0
    raise StatesError(
        f"{quantity(states, 'state')} at a boundary of {vertices_text(width)} may need "
        f"{bytes_text(needed)}, more than the {bytes_text(memory)} allowed, and the largest boundary "
        f"{at_most}{by_search} needs next to none"
    )


@dataclass(frozen=True, eq=False)
class OrderedBlock:
    """A block that is not only a cycle, with an order; every cycle has to pass the vertices that are `required`."""

    graph: Graph
    order: BoundaryOrder
    required: frozenset[int]

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """One for each vertex, in the order."""
        return tuple(steps_of(self.graph, self.order, self.required))

    @cached_property
    def packing(self) -> Packing:
        """How its states lie in words."""
        return Packing.of(self.steps)

    @cached_property
    def changes(self) -> ChangesOfSteps:
        """The changes that its vertices make."""
        return ChangesOfSteps(self.steps, self.packing)

    @cached_property
    def coded(self) -> tuple[Words, Places]:
        """The same in cells, as kernels read them, and where those of each vertex begin."""
        return coded([self.changes[place] for place in range(len(self.steps))], self.packing)

    @cached_property
    def most_from(self) -> Sequence[float]:
        """About how many states there are at the largest boundary from each step on."""
        return list(accumulate((step.cost for step in reversed(self.steps)), max))[::-1]

    @cached_property
    def is_bipartite(self) -> bool:
        """Whether the vertices have two colours, different ones at both ends of each edge."""
        colours = {0: 0}
        waiting = [0]
        while waiting:
            v = waiting.pop()
            for u in self.graph.neighbours(v).tolist():
                if u not in colours:
                    colours[u] = 1 - colours[v]
                    waiting.append(u)
                elif colours[u] == colours[v]:
                    return False
        return True


def ordered_blocks(plan: BoundaryPlan) -> list[OrderedBlock]:
    """Return the blocks of a plan that have an order."""
    blocks = zip(plan.blocks, plan.orders, plan.required, strict=True)
    return [OrderedBlock(graph, order, required) for graph, order, required in blocks if order is not None]
