"""In how many chordless cycles each vertex and each edge lies, without listing any.

Forward, the number of ways to each state is carried along; back, the number of ways to complete it. Where a vertex
joins, the product of the two is the number of cycles that go this way. An edge lies in a chordless cycle exactly if
both its ends do. Products are made modulo primes whose product is larger than the number of all cycles.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kernels_ti.apart import apart_if_needed
from kernels_ti.blocks.restriction import order_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.arrays import Indices
from kernels_ti.boundary.in_one_call import ready_to_pick
from kernels_ti.boundary.orders.walk import Step
from kernels_ti.boundary.values.numbers import Addends, Numbers, combined, primes_beyond, sums_of
from kernels_ti.boundary.way_back.blocks import Means, PlannedBlock, PlannedBlocks, space_for
from kernels_ti.boundary.way_back.history import History
from kernels_ti.choices import Parity
from kernels_ti.conversion import as_graph
from kernels_ti.errors import EngineError, quantity, vertices_text, worded
from kernels_ti.found.participation import Participation
from kernels_ti.notebook import html_of_shares
from kernels_ti.watch import ProgressOption, Watch

# A product of two remainders fits into a word.
_LARGEST_PRIME_BITS = 31


@dataclass(frozen=True, eq=False)
class CycleShares:
    """The number of chordless cycles through each vertex and each edge of a graph, of any size.

    Attributes
    ----------
    total : int
        All cycles within the bounds.
    vertices : list of int
        For each vertex, the cycles that pass it.
    edges : list of int
        The same for the edges: for each pair of adjacent vertices.
    edge_list : ndarray of int64, shape (m, 2)
        The two vertices of each pair, see `Graph.pairs_in_direction`.
    names : tuple of hashable
        The names of the vertices.
    width, states : int
        Vertices in the largest boundary, and its states.
    seconds : float
        With the search for an order of the vertices.
    """

    total: int
    vertices: list[int]
    edges: list[int]
    edge_list: Indices
    names: tuple[Hashable, ...]
    width: int
    states: int
    seconds: float

    def __repr__(self) -> str:
        of = f"{vertices_text(len(self.vertices))}, {quantity(len(self.edges), 'edge')}"
        return f"CycleShares({quantity(self.total, 'cycle')}, {of})"

    def _repr_html_(self) -> str:
        return html_of_shares(repr(self), self.top(), self.top(edges=True))

    def top(self, n: int = 10, *, edges: bool = False) -> list[tuple[Any, int]]:
        """Return the vertices, or edges, that lie in the most cycles, as `Participation.top` does."""
        of_vertices, of_edges = (np.array(counts, object).reshape(-1, 1) for counts in (self.vertices, self.edges))
        return Participation(of_vertices, of_edges, self.edge_list, self.names).top(n, edges=edges)


@apart_if_needed
def participation(
    graph: Any,
    *,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
    order: Iterable[Hashable] | None = None,
    timeout: float | None = None,
    progress: ProgressOption = False,
) -> CycleShares:
    """Count for each vertex and each edge the chordless cycles that contain it, without looking at every cycle.

    The time depends on the boundary, see `kernels_ti.boundary.count`, and hardly on the number of cycles.
    `count_participation` counts by length, and looks at every cycle.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    min_length, max_length, parity, through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    memory : int, optional
        Bytes that the process may use; by default a share of the free memory.
    order : iterable of vertex names, optional
        All vertices, in the order to take; by default one with a small boundary is sought.
    timeout : float, optional
        Give up after so many seconds. Start-up does not count.
    progress : bool or callable, optional
        As for `count_cycles`.

    Returns
    -------
    CycleShares

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed.
    SizeError
        If the boundaries are too large for the memory.
    TimeIsUpError
        If the time is up before all are counted.

    Examples
    --------
    >>> from chordless import Graph, participation
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> participation(house).top(1, edges=True)
    [(('a', 'b'), 2)]
    """
    watch = Watch(timeout, progress)
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory, parity)
    vertices, began, answer = order_called(graph, order), time.perf_counter(), "the cycles were counted"
    along: dict[str, Any] = {"arch": "reference", "order": vertices, "report": watch.report, "times": 2}
    with watch, ready_to_pick(space, watch, answer, **along) as (planned, means):
        return shares_of(space, planned, means, began=began)


def shares_of(
    space: SearchSpace, planned: PlannedBlocks, means: Means | None = None, *, began: float | None = None
) -> CycleShares:
    """Count for each vertex and edge of a search space that is planned; see `participation`.

    The work `began` at a time of `time.perf_counter`, by default now. Each step is reported once on the way forward and
    once on the way back. An EngineError says that the counts contradict each other.
    """
    began = time.perf_counter() if began is None else began
    vertices: Counter[int] = Counter()
    edges: Counter[tuple[int, int]] = Counter()
    total, states = len(planned.rings), 0
    for ring in planned.rings:
        vertices.update(ring)
        # The two edges of a cycle of two vertices join one pair.
        edges.update({(min(u, v), max(u, v)) for u, v in pairwise([*ring, ring[0]])})
    for block in planned.blocks:
        way = Shares(block, means or Means())
        total += way.total
        states = max(states, way.most_states)
        if way.total:
            _add_block(block, way.passing(), vertices, edges)
    edge_list = space.graph.pairs_in_direction()
    return CycleShares(
        total=total,
        vertices=[vertices[v] for v in range(space.graph.n)],
        edges=[edges[min(u, v), max(u, v)] for u, v in edge_list.tolist()],
        edge_list=edge_list,
        names=space.graph.names,
        width=planned.plan.width,
        states=states,
        seconds=time.perf_counter() - began,
    )


def _add_block(
    block: PlannedBlock,
    passing: Iterable[tuple[Step, list[int]]],
    vertices: Counter[int],
    edges: Counter[tuple[int, int]],
) -> None:
    """Add the cycles through the vertices and edges of a block; `passing` has those of each step.

    A cycle passes two edges of each of its vertices: an EngineError says that the counts contradict this.
    """
    beside: Counter[int] = Counter()
    through: dict[int, int] = {}
    for step, (through[step.vertex], *counts) in passing:
        v = block.vertices[step.vertex]
        vertices[v] += through[step.vertex]
        for near, count in zip(step.near_vertices, counts, strict=True):
            beside.update({step.vertex: count, near: count})
            u = block.vertices[near]
            edges[min(u, v), max(u, v)] += count
    if any(beside[v] != 2 * count for v, count in through.items()):
        raise EngineError("internal error: the cycles through edges are not those through their vertices")


class Shares(History):
    """A block that has been gone through forward, and can be gone back once for all its cycles."""

    _by_search = worded("count_participation", "--method search")

    def passing(self) -> Iterator[tuple[Step, list[int]]]:
        """Go back once; yield each step with the cycles through its vertex, and through the edge to each of `near`."""
        block = self._block
        primes = primes_beyond(self.total, _LARGEST_PRIME_BITS)
        behind = Numbers.zeros(0)
        for place, layer, values in self.backward():
            if place == len(block.steps) - 1:
                behind = Numbers.zeros(layer.after)
            step = layer.step
            parents, children = layer.children(joins=True)
            can_close = (behind.digits != 0).any(axis=0)[children]
            parents, children = parents[can_close], children[can_close]
            # The cycles that go from each of these states to the vertex: on to others, or closed by it.
            states = np.concatenate((parents, layer.closing))
            passing = [
                np.concatenate(
                    (
                        values.ways[parents].modulo(prime) * behind[children].modulo(prime) % np.uint64(prime),
                        values.ways[layer.closing].modulo(prime),
                    )
                )
                for prime in primes
            ]
            counts = [combined([int(each.sum()) for each in passing], primes)]
            for slot in step.near:
                on_cycle = block.packing.symbol(layer.words[:, states], slot) != 0
                counts.append(combined([int(each[on_cycle].sum()) for each in passing], primes))
            addends = [Addends(behind, *layer.children(joins=joins)[::-1]) for joins in (False, True)]
            addends.append(Addends(Numbers.ones(len(layer.closing)), np.arange(len(layer.closing)), layer.closing))
            behind = sums_of(addends, layer.words.shape[1]).carried()
            self._means.report(step, layer.words.shape[1])
            yield step, counts
        if Numbers(behind.digits[:, :1]).at(0) != self.total:
            raise EngineError("internal error: the way back counts other cycles than the way forward")
