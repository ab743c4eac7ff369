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
from kernels_ti.choices import EXPANSIONS, METHODS, Arch, Expansion, Method
from kernels_ti.conversion import as_graph
from kernels_ti.cycles import Cycles, CycleStream, CycleTable
from kernels_ti.device.device import held_device, open_device
from kernels_ti.errors import OptionError
from kernels_ti.estimate.device_choice import arch_for
from kernels_ti.graph import Graph
from kernels_ti.options import CycleCounts, Options, require_limits
from kernels_ti.reference.at_once import found_at_once
from kernels_ti.run import Run

if TYPE_CHECKING:
    from kernels_ti.cluster.driver import ClusterRun
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
    order: Iterable[Hashable] | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
    cluster: Any = None,
) -> CycleCounts:
    """Count the chordless cycles of a graph.

    Parameters
    ----------
    graph : Graph, or a graph or adjacency matrix of another library
        See `as_graph` for the types that are accepted. It may be directed and have self-loops and parallel edges.
    arch : {"auto", "cpu", "cuda", "vulkan", "reference"}
        Where to search; ``auto`` is CUDA if it is available and the search is large, else the CPU. A tiny graph is
        then searched in Python, see `kernels_ti.reference.at_once`: no device is started.
    min_length, max_length : int, optional
        Bounds on the number of vertices of a cycle. Cycles of one vertex (a self-loop) and of two (parallel edges or
        opposite arcs) count with a minimum below 3, which is for graphs that are not simple.
    expansion : {"two-ended", "paper"}
        See `Options`.
    threads : int, optional
        Worker threads on the CPU; by default one for each core.
    through, avoid : iterable of vertex names, optional
        Count only cycles that pass all vertices of `through` and none of `avoid`. Both make the search shorter. A
        chordless cycle that passes both ends of an edge contains that edge.
    avoid_edges : iterable of pairs of vertex names, optional
        Count only cycles that contain none of these edges. The edges stay in the graph as chords of longer cycles.
    method : {"search", "boundary", "auto"}
        ``search`` visits every cycle. ``boundary`` counts without visiting them, see `kernels_ti.boundary.count`: the
        result has no frontier, `arch` is "auto", "cpu" or, for a simple undirected graph, "cuda", and `expansion`,
        `threads` and `limit` must keep their defaults. ``auto`` searches, unless that is expected to take more than
        10 s and the boundary method a tenth of it at most; every count is exact.
    order : iterable of vertex names, optional
        With the method boundary: the order in which it takes the vertices, all of them; by default it looks for one.
    limit : int, optional
        End the search once it has found at least this many cycles. The count is checked about ten times a second, so
        the search may find many more.
    timeout : float, optional
        End the search after this many seconds. Start-up and compilation do not count.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.
    memory : int, optional
        Bytes that the search may use, see `kernels_ti.device.memory`; by default a share of the free memory.
    cluster : distributed.Client or str, optional
        Search on the workers of this Dask cluster, or of the one that the text names: ``"local"``, ``"local:4"``,
        ``"tcp://host:8786"`` or a scheduler file. `arch`, `threads` and `memory` then hold for each worker.

    Returns
    -------
    CycleCounts
        With `complete` False if the limit or the time-out ended the search.

    Raises
    ------
    GraphError
        If `graph` is no graph.
    OptionError
        If the value of an option is not allowed.
    DeviceError
        If the arch is not available or fails its self-test.
    EngineError
        If the search itself fails.

    Notes
    -----
    This and the other functions here may be called from several threads. Searches on one arch take turns. A process has
    one arch at a time: a call that needs another arch waits until the calls of other threads are done. A process that
    has used a device cannot be forked: start processes with the method ``spawn`` or ``forkserver``.

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
    is_plain = (expansion, threads, limit, cluster, order) == (EXPANSIONS[0], None, None, None, None)
    if arch == "auto" and method != "boundary" and is_plain:
        found = found_at_once(_space(graph, options, through, avoid, avoid_edges), collect=False)
        if found is not None:
            return found.counts
    if method == "auto":
        from kernels_ti.method import choose_method

        for_search = (expansion, threads, limit, cluster) != (EXPANSIONS[0], None, None, None)
        only_a_search = for_search or arch in ("vulkan", "reference")
        space = None if only_a_search or order is not None else _space(graph, options, through, avoid, avoid_edges)
        default: Method = "search" if only_a_search else "boundary"
        method = default if space is None else choose_method(space, memory=memory).method
    if method == "boundary":
        if arch == "reference" or (expansion, threads, limit, cluster) != (EXPANSIONS[0], None, None, None):
            raise OptionError('arch="reference", expansion, threads, limit and cluster are for the method search')
        from kernels_ti.boundary.in_one_call import count_along_boundary

        return count_along_boundary(_space(graph, options, through, avoid, avoid_edges), arch, order, timeout)
    if order is not None:
        raise OptionError("order is for the method boundary")
    if cluster is None:
        held: Any = _held_run(graph, arch, threads, options, through, avoid, avoid_edges)
    else:
        from kernels_ti.cluster.connect import held_run

        held = held_run(cluster, _space(graph, options, through, avoid, avoid_edges), arch=arch, threads=threads)
    with held as run:
        for _ in _slices(run, limit, timeout):
            pass
        if cluster is not None and not run.finished:
            run.settle()
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
) -> CycleStream:
    """Enumerate the chordless cycles of a graph. They are given while the search goes on.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads, through, avoid, avoid_edges, simplify, memory
        As for `count_cycles`.

    Returns
    -------
    CycleStream
        An iterator of cycles, each the list of its vertices' names in cycle order, from the vertex with the smallest
        index to its neighbour with the smaller index; in a directed graph along the arcs. The cycles come in no
        particular order. Its method ``batches()`` gives them in arrays instead, those of a slice at a time.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`. All but EngineError are raised by the call itself, not by the first cycle. The iterator
        does not hold its arch: if this process opens another arch, or the CPU with another number of threads, the next
        cycle raises a DeviceError.

    Examples
    --------
    >>> from kernels_ti import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    """
    options = Options(min_length=min_length, max_length=max_length, collect=True, memory=memory)
    graph = as_graph(graph, simplify=simplify)
    space = _space(graph, options, through, avoid, avoid_edges)
    found = found_at_once(space, collect=True) if arch == "auto" and threads is None else None
    if found is not None:
        return CycleStream(graph, found.pieces())
    chosen = arch_for(space, arch, threads=threads)
    return CycleStream(graph, _pieces(Run(space, open_device(chosen, threads=threads))))


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
    """Find the chordless cycles of a graph and return them all in arrays.

    Parameters
    ----------
    graph, arch, min_length, max_length, threads, through, avoid, avoid_edges, timeout, simplify, memory
        As for `count_cycles`.
    limit : int, optional
        Return at most this many cycles.

    Returns
    -------
    CycleTable
        A CSR pair ``offsets`` and ``vertices``, 4 bytes for each vertex and 8 for each cycle, with ``rows()`` for bit
        rows, ``lists()`` and ``to_arrow()``. The cycles come in no particular order. `complete` is False if the limit
        or the time-out ended the search.

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
    if arch == "auto" and (threads, limit) == (None, None):
        found = found_at_once(_space(graph, options, through, avoid, avoid_edges), collect=True)
        if found is not None:
            return CycleTable.of_pieces(graph, found.pieces())
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
    """Count for each vertex and each edge the chordless cycles that contain it, by length.

    The cycles are counted on the device and not kept.

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
    """Begin a run; until the block is left, no other thread can open another arch."""
    space = _space(graph, options, through, avoid, avoid_edges)
    with held_device(arch_for(space, arch, threads=threads), threads=threads) as device:
        yield Run(space, device)


def _space(
    graph: Graph,
    options: Options,
    through: Iterable[Hashable],
    avoid: Iterable[Hashable],
    avoid_edges: Iterable[tuple[Hashable, Hashable]],
) -> SearchSpace:
    """Return the search space with the vertices and edges that the caller named."""
    options = replace(
        options,
        through=vertices_called(graph, through),
        avoid=vertices_called(graph, avoid),
        avoid_edges=edges_called(graph, avoid_edges),
    )
    return SearchSpace(graph, options)


def _slices(run: Run | ClusterRun, limit: int | None, timeout: float | None) -> Iterator[None]:
    """Search until the end, the limit or the time-out; yield after each slice, and before the first."""
    deadline = time.perf_counter() + (math.inf if timeout is None else timeout)
    most = math.inf if limit is None else limit
    # A search through several required vertices finds some cycles before its first slice.
    found = run.snapshot().cycles
    yield
    while not run.finished and found < most and time.perf_counter() < deadline:
        found = run.advance().cycles
        yield


def _pieces(run: Run, limit: int | None = None, timeout: float | None = None) -> Iterator[Cycles]:
    for _ in _slices(run, limit, timeout):
        yield run.take_cycles()
