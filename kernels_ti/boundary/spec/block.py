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
from kernels_ti.graph import Graph


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
