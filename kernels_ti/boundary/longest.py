"""The longest, shortest, heaviest or lightest chordless cycle of a graph in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.forward_and_back.blocks import Report, space_for
from kernels_ti.boundary.forward_and_back.gains import Gains
from kernels_ti.boundary.forward_and_back.keeping import Keeping
from kernels_ti.boundary.forward_and_back.optimum import best_cycle
from kernels_ti.boundary.forward_and_back.weights import Weights, attribute_weights
from kernels_ti.boundary.in_one_call import annealed_blocks, in_time, order_called
from kernels_ti.conversion import as_graph
from kernels_ti.device.device import held_device
from kernels_ti.device.memory import host_budget, search_budget

SHORTEST_HOLE = 4


@dataclass(frozen=True)
class BestCycle:
    """The longest, shortest, heaviest or lightest chordless cycle of a graph.

    Attributes
    ----------
    cycle : list of hashable
        The names of its vertices in cycle order; empty if no cycle is within the bounds.
    weight : int, Fraction or None
        Exact; None where only the length counts, or without a cycle.
    ways : int
        Cycles that have this length, or this weight.
    width : int
        Vertices in the largest boundary.
    states : int
        States of the largest boundary.
    seconds : float
        With the search for an order of the vertices.
    """

    cycle: list[Hashable]
    weight: int | Fraction | None
    ways: int
    width: int
    states: int
    seconds: float

    @property
    def length(self) -> int:
        """Vertices of the cycle, 0 without one."""
        return len(self.cycle)


def longest_cycle(
    graph: Any,
    *,
    shortest: bool = False,
    weight: str | Mapping[Any, Any] | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
    arch: str = "auto",
    order: Iterable[Hashable] | None = None,
    timeout: float | None = None,
) -> BestCycle:
    """Find the longest chordless cycle of a graph, or the shortest, heaviest or lightest one.

    It is found by dynamic programming over a path decomposition, without looking at every cycle. The time depends on
    the boundary, see `kernels_ti.boundary.count`, and hardly on the number of cycles.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    shortest : bool
        The shortest cycle, or the lightest.
    weight : str or mapping, optional
        Find the heaviest cycle instead of the longest, or with `shortest` the lightest. A mapping has a number for the
        name of each vertex, or for the pair of names of each edge. A string names an attribute of the edges or of the
        nodes of a networkx graph. Sums are exact; a float stands for the decimal that is printed for it.
    min_length, max_length : int, optional
        Bounds on the number of vertices. The lower one is 3, with `shortest` 4: a triangle is no hole.
    through, avoid, avoid_edges, simplify
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
    BestCycle

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed, or edges that are parallel have weights.
    SizeError
        If the boundaries are too large for the memory.
    TimeIsUpError
        If the time is up before the cycle is found.

    Examples
    --------
    >>> from kernels_ti import Graph, longest_cycle
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> longest_cycle(house).cycle
    ['a', 'b', 'c', 'd']
    """
    if isinstance(weight, str):
        weight = attribute_weights(graph, weight)
    graph = as_graph(graph, simplify=simplify)
    shortest_wanted = min_length if min_length is not None else SHORTEST_HOLE if shortest else 3
    space = space_for(graph, shortest_wanted, max_length, through, avoid, avoid_edges, memory)
    weights = None if weight is None else Weights.of_mapping(graph, weight)
    vertices = order_called(graph, order)
    return longest_in(space, weights, shortest=shortest, arch=arch, order=vertices, timeout=timeout)


def longest_in(
    space: SearchSpace,
    weights: Weights | None = None,
    *,
    shortest: bool = False,
    arch: str = "auto",
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    timeout: float | None = None,
    report: Report | None = None,
    keeping: Keeping | None = None,
) -> BestCycle:
    """Find the longest, shortest, heaviest or lightest cycle of a search space; see `longest_cycle`.

    Parameters
    ----------
    space : SearchSpace
    weights : Weights, optional
    shortest : bool
    order, tell_order
        See `kernels_ti.boundary.in_one_call.annealed_blocks`.
    arch, timeout
        As for `longest_cycle`.
    report : callable, optional
        See `kernels_ti.boundary.forward_and_back.blocks.Report`.
    keeping : Keeping, optional
        Keeps the state between two vertices, and has that from which to go on.
    """
    began = time.perf_counter()
    memory = space.options.memory
    gains = Gains() if weights is None else weights.gains
    with in_time(timeout, "the best cycle was found", keeping) as too_late:
        planned, arch = annealed_blocks(
            space, arch, too_late, order=order, tell_order=tell_order, report=report, keeping=keeping
        )
        with held_device(arch) as device:
            is_used = device.arch != "reference"
            best = best_cycle(
                planned,
                gains,
                least=shortest,
                memory=host_budget(memory),
                enough=too_late,
                report=planned.reporter(report, keeping),
                device=device if is_used else None,
                device_memory=search_budget(device, memory) if is_used else None,
                keeping=keeping,
            )
    return BestCycle(
        cycle=[space.graph.names[v] for v in best.cycle],
        weight=weights.weight(best.value) if weights is not None and best.cycle else None,
        ways=best.ways,
        width=planned.plan.width,
        states=best.states,
        seconds=time.perf_counter() - began,
    )
