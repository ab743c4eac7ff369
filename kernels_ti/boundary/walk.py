"""The steps of a count: what each vertex of an order changes in the boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernels_ti.boundary.order import BoundaryOrder
from kernels_ti.graph import Graph


@dataclass(frozen=True)
class Step:
    """One vertex comes.

    Attributes
    ----------
    vertex : int
    near_vertices : tuple of int
        Its neighbours in the boundary.
    slot : int
        Its slot.
    near : tuple of int
        Slots of these neighbours.
    to_come : tuple of int
        Neighbours that are still to come, of the vertex itself and of each of `near`.
    required : bool
        Whether every cycle has to pass the vertex.
    may_close : bool
        Whether a cycle may close now: all vertices that it has to pass have come.
    triangles : int
        Triangles of the vertex and two that came before, with all vertices to be passed.
    cost : float
        About how many states there are when it comes.
    width : int
        Vertices in the boundary once those are gone that have no neighbour to come.
    """

    vertex: int
    near_vertices: tuple[int, ...]
    slot: int
    near: tuple[int, ...]
    to_come: tuple[int, ...]
    required: bool
    may_close: bool
    triangles: int
    cost: float
    width: int

    @property
    def changed(self) -> tuple[tuple[int, int], ...]:
        """Each slot of which a neighbour came, with the number of its neighbours to come."""
        return tuple(zip((self.slot, *self.near), self.to_come, strict=True))

    @property
    def leaving(self) -> int:
        """How many vertices leave the boundary, beside the one that comes."""
        return self.to_come[1:].count(0)


def steps_of(block: Graph, order: BoundaryOrder, required: frozenset[int]) -> Iterator[Step]:
    """Go along the order of a block.

    A vertex that comes takes the slot of a neighbour that leaves, if one does: so fewer slots are needed.

    Parameters
    ----------
    block : Graph
    order : BoundaryOrder
    required : frozenset of int
        Vertices that every cycle has to pass.

    Yields
    ------
    Step
    """
    neighbours = [block.neighbours(v).tolist() for v in range(block.n)]
    beside = [set(near) for near in neighbours]
    missing = [len(near) for near in neighbours]
    slots: dict[int, int] = {}
    free = list(range(order.width))[::-1]
    to_pass = len(required)
    for v, cost in zip(order.vertices, order.costs, strict=True):
        near = [u for u in neighbours[v] if u in slots]
        for u in neighbours[v]:
            missing[u] -= 1
        heirs = [slots[u] for u in near if missing[u] == 0]
        slots[v] = heirs[0] if heirs else free.pop()
        to_pass -= v in required
        changed = [v, *near]
        # The three vertices of a triangle are all in the boundary when the last of them comes.
        pairs = ((u, x) for i, u in enumerate(near) for x in near[i + 1 :] if x in beside[u])
        triangles = sum(required <= {u, v, x} for u, x in pairs)
        leaving = [u for u in changed if missing[u] == 0]
        yield Step(
            vertex=v,
            near_vertices=tuple(near),
            slot=slots[v],
            near=tuple(slots[u] for u in near),
            to_come=tuple(missing[u] for u in changed),
            required=v in required,
            may_close=to_pass == 0,
            triangles=triangles,
            cost=cost,
            width=len(slots) - len(leaving),
        )
        free += [slot for u in leaving if (slot := slots.pop(u)) not in heirs[:1] or u == v]
