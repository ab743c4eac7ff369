"""Chordless cycles drawn uniformly at random in one call, and the choice of the method."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernels_ti.apart import apart_if_needed
from kernels_ti.blocks.restriction import order_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.sample import Draws, check_fit, draws_of, in_cycle_order
from kernels_ti.boundary.way_back.blocks import Keeping, Report, space_for
from kernels_ti.choices import LONGEST_COUNT, Method, Parity
from kernels_ti.conversion import as_graph
from kernels_ti.cycle_table import CycleTable
from kernels_ti.found.cycle_order import CycleOrder, fits_in_rows
from kernels_ti.method import may_search, seconds_of_faster_search
from kernels_ti.options import require_arch, require_number, require_seed
from kernels_ti.sample_by_search import SearchedDraws, draws_by_search
from kernels_ti.state import words_for
from kernels_ti.watch import ProgressOption, Watch


@apart_if_needed
def sample_cycles(
    graph: Any,
    k: int = 1,
    *,
    seed: int = 0,
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
    arch: str = "auto",
    method: Method = "auto",
    order: Iterable[Hashable] | None = None,
    timeout: float | None = None,
    progress: ProgressOption = False,
) -> CycleTable:
    """Draw chordless cycles uniformly at random, from any number of them.

    All cycles within the bounds have exactly the same probability. Each draw is from all of them, so that a cycle may
    come several times. Along a boundary, see `kernels_ti.boundary.count`, the time hardly depends on the number of
    cycles. Where a search of all cycles is expected to be faster, the draws are from all that it finds.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    k : int
        How many.
    seed : int
        The same seed draws the same cycles by the same `method`, along a boundary in Python and in kernels each.
    min_length, max_length, parity, through, avoid, avoid_edges, simplify
        As for `count_cycles`.
    memory : int, optional
        Bytes that the process may use; by default a share of the free memory.
    arch : str
        ``auto``, ``cpu``, ``cuda`` or ``reference``, as for `count_cycles` along a boundary; in a search also
        ``vulkan``.
    method : {"auto", "search", "boundary"}
        ``boundary`` counts the cycles along a boundary first, ``search`` searches them all. ``auto`` goes along a
        boundary unless a search is expected to be faster, and where an order is given.
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
    >>> from chordless import Graph, sample_cycles
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names="abcde")
    >>> sorted(set(map(len, sample_cycles(house, 100).lists())))
    [3, 4]
    """
    require_arch(arch)
    watch = Watch(timeout, progress)
    graph = as_graph(graph, simplify=simplify)
    space = space_for(graph, min_length, max_length, through, avoid, avoid_edges, memory, parity)
    with watch:
        vertices = order_called(graph, order)
        require_number(k, "draws")
        require_seed(seed)
        k, seed = int(k), int(seed)
        check_fit(k, space)
        how: dict[str, Any] = {"arch": arch, "method": method, "order": vertices, "watch": watch}
        with draws_in(space, k, seed, report=watch.report, **how) as draws:
            if not fits_in_rows(graph):
                return CycleTable.of_pieces(graph, in_cycle_order(graph, draws.rounds()), complete=False)
            rows = np.concatenate([np.empty((0, words_for(graph.n)), np.uint64), *draws.rounds()])
            return CycleTable.of_rows(graph, rows, CycleOrder(graph), complete=False)


@contextmanager
def draws_in(
    space: SearchSpace,
    k: int,
    seed: int = 0,
    *,
    arch: str = "auto",
    threads: int | None = None,
    method: Method = "auto",
    order: Sequence[int] | None = None,
    tell_order: Callable[[list[int]], None] | None = None,
    watch: Watch | None = None,
    report: Report | None = None,
    keeping: Keeping | None = None,
) -> Iterator[Draws | SearchedDraws]:
    """Count or search the cycles of a search space, and yield k draws of them; see `sample_cycles`.

    For the other parameters see `kernels_ti.boundary.in_one_call.ready_to_pick`. Where an order is given or
    to be told, ``auto`` goes along a boundary; only that way has states for `keeping`.
    """
    watch = watch or Watch()
    how: dict[str, Any] = {"arch": arch, "threads": threads, "watch": watch}
    if may_search(method, order, tell_order) and (
        method == "search" or seconds_of_faster_search(space, arch, watch) <= LONGEST_COUNT
    ):
        yield draws_by_search(space, k, seed, **how)
        return
    along: dict[str, Any] = {"order": order, "tell_order": tell_order, "report": report, "keeping": keeping}
    with draws_of(space, k, seed, **along, **how) as draws:
        yield draws
