"""The easy entry points: count or enumerate the chordless cycles of a graph in one call."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernels_ti.blocks.restriction import edges_called, vertices_called
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles, CycleTable
from kernels_ti.device.device import held_device, open_device
from kernels_ti.errors import EngineError, OptionError
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.graph import Graph
from kernels_ti.options import EXPANSIONS, METHODS, Arch, CycleCounts, Expansion, Method, Options, require_limits
from kernels_ti.run import SLICE_SECONDS, Run

if TYPE_CHECKING:
    from kernels_ti.found.participation import Participation


def count_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    expansion: Expansion = "two-ended",
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    method: Method = "search",
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
) -> CycleCounts:
    """Count the chordless cycles of a graph.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        Simple and undirected; see `as_graph` for what is understood.
    arch : {"auto", "cpu", "cuda", "vulkan", "reference"}
        What to search on.
    min_length, max_length : int, optional
        Bounds on the number of vertices of a cycle.
    expansion : {"two-ended", "paper"}
        See `Options`.
    threads : int, optional
        Workers of a CPU; by default one to each core.
    through, avoid : iterable of vertex names, optional
        Only cycles that pass all of the first vertices and none of the others; the search is the shorter for it. A
        cycle that passes both ends of an edge has the edge.
    avoid_edges : iterable of pairs of vertex names, optional
        Only cycles that have none of these edges. They stay chords of longer cycles.
    method : {"search", "boundary"}
        Meet every cycle, or add them up along a boundary, see `kernels_ti.boundary.count`; then there is no
        frontier, and `arch`, `expansion`, `threads` and `limit` are left as they are.
    limit : int, optional
        End the search once it has found at least so many cycles. It looks ten times a second, so it may have found
        many more.
    timeout : float, optional
        End the search after so many seconds, start-up and compilation not counted.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph instead of refusing them.
    memory : int, optional
        Bytes that the search may take, see `kernels_ti.device.memory`; by default a share of what is free.

    Returns
    -------
    CycleCounts
        With `complete` False if the limit or the time-out ended the search.

    Raises
    ------
    GraphError
        If the graph is not simple and undirected.
    OptionError
        If an option has no such value.
    DeviceError
        If the arch is not there or fails its self-test.
    EngineError
        If the search itself fails.

    Notes
    -----
    This and the other functions here may be called from several threads. Searches on one arch take turns. A process has
    one arch at a time: a call that needs another one waits for the counts of other threads. What has used a device
    cannot be forked: start processes with the method ``spawn`` or ``forkserver``.

    Examples
    --------
    >>> from kernels_ti import Graph, count_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> count_cycles(square, arch="cpu").by_length
    {4: 1}

    References
    ----------
    Jradi, Dias, Castonguay, Longo, do Nascimento, *A GPU-based parallel algorithm for enumerating all
    chordless cycles in graphs*.
    """
    options = Options(min_length=min_length, max_length=max_length, expansion=expansion, memory=memory)
    require_limits(limit, timeout)
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}: choose {' or '.join(METHODS)}")
    graph = as_graph(graph, simplify=simplify)
    if method == "boundary":
        if arch not in ("auto", "cpu") or (expansion, threads, limit) != (EXPANSIONS[0], None, None):
            raise OptionError("arch, expansion, threads and limit are for the method search")
        return _count_along_boundary(graph, options, through, avoid, avoid_edges, timeout)
    with _held_run(graph, arch, threads, options, through, avoid, avoid_edges) as run:
        for _ in _slices(run, limit, timeout):
            pass
    last = run.snapshot()
    return CycleCounts(last.cycles_by_length, last.paths_by_length, last.seconds, min_length, complete=run.finished)


def enumerate_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    simplify: bool = False,
    memory: int | None = None,
) -> Iterator[list[Hashable]]:
    """Enumerate the chordless cycles of a graph, streamed while the search goes on.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads, through, avoid, avoid_edges, simplify, memory
        As for `count_cycles`.

    Yields
    ------
    list of hashable
        The names of a cycle's vertices in cycle order, from the vertex with the smallest index to its
        neighbour with the smaller index. The cycles come in no particular order.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`, at the call and not at the first cycle, but for EngineError. Also a DeviceError at the
        next cycle if another arch, or the CPU with another number of threads, has been opened in this process since
        the call: unlike the other functions, the iterator does not keep its arch.

    Examples
    --------
    >>> from kernels_ti import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    """
    options = Options(min_length=min_length, max_length=max_length, collect=True, memory=memory)
    graph = as_graph(graph, simplify=simplify)
    space, chosen = _space(graph, arch, threads, options, through, avoid, avoid_edges)
    return _stream(Run(space, open_device(chosen, threads=threads)))


def collect_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
) -> CycleTable:
    """Find the chordless cycles of a graph, all together in arrays.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads, through, avoid, avoid_edges, timeout, simplify, memory
        As for `count_cycles`.
    limit : int, optional
        Find so many cycles and no more.

    Returns
    -------
    CycleTable
        A CSR pair ``offsets`` and ``vertices``, 4 bytes to a vertex and 8 to a cycle, with ``rows()`` for bit rows,
        ``lists()`` and ``to_arrow()``. The cycles come in no particular order. `complete` is False if the limit or
        the time-out ended the search.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`.

    Examples
    --------
    >>> import networkx
    >>> from kernels_ti import collect_cycles
    >>> collect_cycles(networkx.petersen_graph(), arch="cpu").lengths.tolist().count(6)
    10
    """
    options = Options(min_length=min_length, max_length=max_length, collect=True, memory=memory)
    require_limits(limit, timeout)
    graph = as_graph(graph, simplify=simplify)
    with _held_run(graph, arch, threads, options, through, avoid, avoid_edges) as run:
        table = CycleTable.of_pieces(graph, _pieces(run, limit, timeout))
    table = replace(table, complete=run.finished)
    return table if limit is None else table.first(limit)


def count_participation(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    edges: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
) -> Participation:
    """Count for each vertex, and each edge, in how many chordless cycles it lies, by length.

    The cycles are counted where they are found, on the device, and not kept.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads, through, avoid, avoid_edges, limit, timeout, simplify, memory
        As for `count_cycles`.
    edges : bool
        Count for the edges too.

    Returns
    -------
    Participation

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`.

    Examples
    --------
    >>> from kernels_ti import Graph, count_participation
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> count_participation(house, arch="cpu").vertices.sum(axis=1).tolist()
    [2, 2, 1, 1, 1]
    """
    wanted = "edges" if edges else "vertices"
    options = Options(min_length=min_length, max_length=max_length, participation=wanted, memory=memory)
    require_limits(limit, timeout)
    with _held_run(as_graph(graph, simplify=simplify), arch, threads, options, through, avoid, avoid_edges) as run:
        for _ in _slices(run, limit, timeout):
            pass
    return run.participation()


@contextmanager
def _held_run(
    graph: Graph,
    arch: str,
    threads: int | None,
    options: Options,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
) -> Iterator[Run]:
    """Begin a run that no other thread can end by opening another arch, until the block is left."""
    space, chosen = _space(graph, arch, threads, options, through, avoid, avoid_edges)
    with held_device(chosen, threads=threads) as device:
        yield Run(space, device)


def _space(
    graph: Graph,
    arch: str,
    threads: int | None,
    options: Options,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
) -> tuple[SearchSpace, str]:
    """Return what is searched, and what `auto` means for it."""
    options = replace(
        options,
        through=vertices_called(graph, through),
        avoid=vertices_called(graph, avoid),
        avoid_edges=edges_called(graph, avoid_edges),
    )
    space = SearchSpace(graph, options)
    return space, arch_for(space, arch, threads=threads)


def _count_along_boundary(
    graph: Graph,
    options: Options,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
    timeout: float | None,
) -> CycleCounts:
    from kernels_ti.boundary.count import BoundaryCount
    from kernels_ti.device.memory import host_budget

    began = time.perf_counter()
    deadline = began + (math.inf if timeout is None else timeout)
    try:
        count = BoundaryCount(
            graph,
            min_length=options.min_length,
            max_length=options.max_length,
            memory=host_budget(options.memory),
            through=vertices_called(graph, through),
            avoid=vertices_called(graph, avoid),
            avoid_edges=edges_called(graph, avoid_edges),
            enough=lambda: time.perf_counter() >= deadline,
        )
    except EngineError:
        if time.perf_counter() < deadline:
            raise
        # It was stopped before it had an order.
        return CycleCounts({}, {}, time.perf_counter() - began, options.min_length, complete=False)
    while not count.finished and time.perf_counter() < deadline:
        count.advance(SLICE_SECONDS)
    seconds = time.perf_counter() - began
    return CycleCounts(count.cycles_by_length, {}, seconds, options.min_length, complete=count.finished)


def _slices(run: Run, limit: int | None, timeout: float | None) -> Iterator[None]:
    """Search until the end, the limit or the time-out; yield after each slice, and before the first."""
    deadline = time.perf_counter() + (math.inf if timeout is None else timeout)
    most = math.inf if limit is None else limit
    # Where cycles must pass several vertices, some are found before the first slice.
    found = run.snapshot().cycles
    yield
    while not run.finished and found < most and time.perf_counter() < deadline:
        found = run.advance().cycles
        yield


def _pieces(run: Run, limit: int | None = None, timeout: float | None = None) -> Iterator[Cycles]:
    for _ in _slices(run, limit, timeout):
        yield run.take_cycles()


def _stream(run: Run) -> Iterator[list[Hashable]]:
    names = run.graph.names
    for found in _pieces(run):
        yield from found.named(names)
