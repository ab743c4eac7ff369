"""The steps of a count: what each vertex of an order changes in the boundary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kernels_ti.boundary.orders.order import BoundaryOrder, neighbour_lists
from kernels_ti.graph import Graph

TAIL, HEAD, ALONE = 1, 2, 4
"""As what a vertex ends a piece: the first one of the piece, the last one, or its only one. Both ends of an undirected
piece may be either."""


@dataclass(frozen=True)
class Step:
    """One vertex comes."""

    vertex: int
    near_vertices: tuple[int, ...]  # Its neighbours in the boundary
    slot: int
    near: tuple[int, ...]  # Slots of these neighbours
    # How a cycle passes from the vertex to each of `near`, as in `Graph.ways`: 1 only to it, 2 only from it, 3 in both
    # directions, 0 not at all, as the edges between them are a chord
    ways: tuple[int, ...]
    to_come: tuple[int, ...]  # Neighbours that are still to come, of the vertex itself and of each of `near`
    may_end: tuple[int, ...]  # As what each of these may still end a piece: the sum of `TAIL`, `HEAD` and `ALONE`
    directed: bool  # Whether a piece has a tail and a head
    required: bool  # Whether every cycle has to pass the vertex
    may_close: bool  # Whether all vertices have come that a cycle has to pass
    triangles: int  # Chordless cycles of the vertex and two before it, with all vertices to be passed
    cost: float  # About how many states there are when it comes
    width: int  # Vertices in the boundary once those are gone that have no neighbour to come

    @property
    def changed(self) -> tuple[tuple[int, int], ...]:
        """Each slot of which a neighbour came, with the number of its neighbours to come."""
        return tuple(zip((self.slot, *self.near), self.to_come, strict=True))

    @property
    def leaving(self) -> int:
        """How many vertices leave the boundary, beside the one that comes."""
        return self.to_come[1:].count(0)


def steps_of(block: Graph, order: BoundaryOrder, required: frozenset[int]) -> Iterator[Step]:
    """Go along the order of a block, in which every cycle has to pass the vertices that are `required`.

    A vertex that comes takes the slot of a neighbour that leaves, if one does: so fewer slots are needed.
    """
    entries = [3] * len(block.col_idx) if block.ways is None else block.ways.tolist()
    neighbours, ends = neighbour_lists(block), block.row_ptr.tolist()
    # How a cycle passes from each vertex to each of its neighbours
    ways = [dict(zip(near, entries[ends[v] : ends[v + 1]], strict=True)) for v, near in enumerate(neighbours)]
    missing = [Counter(each.values()) for each in ways]
    slots: dict[int, int] = {}
    free = list(range(order.width))[::-1]
    to_pass = len(required)
    for v, cost in zip(order.vertices, order.costs, strict=True):
        near = [u for u in neighbours[v] if u in slots]
        for u in neighbours[v]:
            missing[u][ways[u][v]] -= 1
        heirs = [slots[u] for u in near if missing[u].total() == 0]
        slots[v] = heirs[0] if heirs else free.pop()
        to_pass -= v in required
        changed = [v, *near]
        # The three vertices of a triangle are all in the boundary when the last of them comes.
        pairs = ((u, x) for i, u in enumerate(near) for x in near[i + 1 :] if x in ways[u])
        triangles = sum(required <= {u, v, x} and ways[v][u] & ways[u][x] & ways[x][v] > 0 for u, x in pairs)
        leaving = [u for u in changed if missing[u].total() == 0]
        yield Step(
            vertex=v,
            near_vertices=tuple(near),
            slot=slots[v],
            near=tuple(slots[u] for u in near),
            ways=tuple(ways[v][u] for u in near),
            to_come=tuple(missing[u].total() for u in changed),
            may_end=tuple(_may_end(missing[u]) for u in changed),
            directed=block.directed,
            required=v in required,
            may_close=to_pass == 0,
            triangles=triangles,
            cost=cost,
            width=len(slots) - len(leaving),
        )
        free += [slot for u in leaving if (slot := slots.pop(u)) not in heirs[:1] or u == v]


def _may_end(to_come: Counter[int]) -> int:
    """Return as what a vertex may still end a piece, from its neighbours to come by how a cycle passes to them."""
    onward, back, either = (to_come[way] for way in (1, 2, 3))
    tail, head = back + either > 0, onward + either > 0
    return TAIL * tail + HEAD * head + ALONE * (tail and head and onward + back + either >= 2)


def most_additions(step: Step, states: int) -> int:
    """Return how many states can become one, at most, as a vertex comes.

    Where it stays off, they differ in the vertices that leave the boundary, of which each was on the cycle or not.
    Where it joins, at most two of its neighbours were on the cycle. The state that it makes tells the rest but for
    which these are, and where the piece of the first of them ended.
    """
    near, slots = len(step.near), step.width + step.leaving + 1
    return min(2 * states, (1 << min(step.leaving, 62)) + 1 + (near + near * near) * slots)
