"""The easy entry points: count or enumerate the chordless cycles of a graph in one call."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from kernels_ti.apart import apart_if_needed
from kernels_ti.asked_search import AskedSearch, asked_for
from kernels_ti.choices import EXPANSIONS, METHODS, Arch, Expansion, Method, Parity
from kernels_ti.cycle_stream import CycleStream
from kernels_ti.cycle_table import CycleTable
from kernels_ti.device.device import is_open
from kernels_ti.errors import OptionError, parameter, require_flags
from kernels_ti.found.participation import Participation
from kernels_ti.options import CycleCounts, Options
from kernels_ti.watch import ProgressOption

if TYPE_CHECKING:
    from kernels_ti.boundary.orders.plan import BoundaryPlan

_SECONDS_WITHOUT_A_CHOICE = 0.1
"""A search on a device that is open already goes on so long before a method is chosen: most are done then."""


@apart_if_needed
def count_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    expansion: Expansion = "two-ended",
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    method: Method = "auto",
    order: Iterable[Hashable] | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
    cluster: Any = None,
    symmetry: bool = False,
    progress: ProgressOption = False,
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
    parity : {"odd", "even"}, optional
        Count only cycles with an odd, or an even, number of vertices. All are searched for, or counted by length along
        a boundary: it takes as long as without.
    expansion : {"two-ended", "paper"}
        See `Options`.
    threads : int, optional
        Worker threads on the CPU; by default one for each core.
    through, avoid : iterable of vertex names, optional
        Count only cycles that pass all vertices of `through` and none of `avoid`. Both make the search shorter. A
        chordless cycle that passes both ends of an edge contains that edge.
    avoid_edges : iterable of pairs of vertex names, optional
        Count only cycles that contain none of these edges. The edges stay in the graph as chords of longer cycles.
    method : {"auto", "search", "boundary"}
        ``search`` visits every cycle. ``boundary`` counts without visiting them, see `kernels_ti.boundary.count`: the
        result has no frontier, `arch` is "auto", "cpu" or, for a simple undirected graph, "cuda", and `expansion` and
        `limit` must keep their defaults. ``auto`` searches, unless that is expected to take more than a second and the
        boundary method a tenth of it at most, and always with `threads` or an option for a search only; every count is
        exact.
    order : iterable of vertex names, optional
        The order in which the method boundary takes the vertices, all of them; by default it looks for one.
    limit : int, optional
        End the search once it has found at least this many cycles. The count is checked about ten times a second, so
        the search may find many more.
    timeout : float, optional
        End the search after this many seconds of searching. Start-up, compilation and the choice of the method, which
        takes as many at most, do not count.
    simplify : bool
        Drop self-loops, repeated edges and directions of the graph.
    memory : int, optional
        Bytes that the search may use, see `kernels_ti.device.memory`; by default a share of the free memory.
    cluster : distributed.Client or str, optional
        Search on the workers of this Dask cluster, or of the one that the text names: ``"local"``, ``"local:4"``,
        ``"tcp://host:8786"`` or a scheduler file. `arch`, `threads` and `memory` then hold for each worker.
    symmetry : bool
        Search one path of each orbit under the automorphisms of the graph, see `kernels_ti.symmetry`: a simple
        undirected graph with many automorphisms is then counted far sooner. It needs igraph, from the extra
        ``symmetry``, and is for the method search.
    progress : bool or callable, optional
        A function is called with a `Progress` about ten times a second, and at once when another stage begins. True
        shows a bar in a terminal or a notebook, and nothing elsewhere.

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
    SizeError
        If the states of the method boundary do not fit into the memory.
    EngineError
        If the search itself fails.

    Notes
    -----
    This and the other functions here may be called from several threads. Searches on one arch take turns. A process has
    one arch at a time: a call that needs another arch waits until the calls of other threads are done. A process that
    has used a device cannot be forked: start processes with the method ``spawn`` or ``forkserver``.

    Examples
    --------
    >>> from chordless import Graph, count_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> count_cycles(square, arch="cpu").by_length
    {4: 1}

    References
    ----------
    Jradi, Dias, Castonguay, Longo, do Nascimento, *A GPU-based parallel algorithm for enumerating all
    chordless cycles in graphs*.
    """
    options = Options(
        min_length=min_length,
        max_length=max_length,
        parity=parity,
        expansion=expansion,
        memory=memory,
        symmetry=symmetry,
    )
    if method not in METHODS:
        raise OptionError(f"there is no method {method!r}: choose {' or '.join(METHODS)}")
    search = asked_for(graph, options, arch, threads, through, avoid, avoid_edges, limit, timeout, simplify, progress)
    meant_for_search = {
        "expansion": expansion != EXPANSIONS[0],
        "limit": limit is not None,
        "cluster": cluster is not None,
        "symmetry": symmetry,
        'arch="reference"': arch == "reference",
    }
    only_a_search = [option for option, is_given in meant_for_search.items() if is_given]
    reason = parameter("method", "boundary")
    if method == "auto" and order is not None:
        method, reason = "boundary", "order"
    elif method == "auto" and (only_a_search or threads is not None or arch == "vulkan"):
        method = "search"
    if method == "boundary" and only_a_search:
        raise OptionError(f"{only_a_search[0]} is for the method search: leave it out, or {reason}")
    if method == "search" and order is not None:
        raise OptionError("order is for the method boundary")
    with search.watch:
        found = _counted_by_search(search, method, cluster) if method != "boundary" else None
        if isinstance(found, CycleCounts):
            return found
        from kernels_ti.boundary.in_one_call import count_along_boundary

        # The kernels for a GPU count simple graphs. Other graphs are counted anyway where the method is left to us.
        along = "auto" if method == "auto" and not search.space.graph.is_simple else arch
        return count_along_boundary(search.space, along, order, search.watch, found, threads)


def _counted_by_search(search: AskedSearch, method: Method, cluster: Any) -> CycleCounts | BoundaryPlan:
    """Search; where that takes long and the method boundary is chosen, return its plan instead."""
    found = search.at_once(collect=False) if cluster is None else None
    if found is not None:
        return found.counts
    is_chosen = method == "search"
    if not is_chosen and not is_open(search.device_arch):
        # The choice takes less time than the start of a device.
        if (plan := _plan_of_choice(search)) is not None:
            return plan
        is_chosen = True
    if cluster is None:
        held: Any = search.run()
    else:
        from kernels_ti.cluster.connect import held_run

        held = held_run(cluster, search.space, arch=search.arch, threads=search.threads)
    with held as run:
        for _ in search.slices(run):
            # It also takes less time than kernels that are still to be compiled.
            is_due = not is_chosen and (search.watch.seconds >= _SECONDS_WITHOUT_A_CHOICE or run.snapshot().compiling)
            if is_due and not run.finished:
                if (plan := _plan_of_choice(search)) is not None:
                    return plan
                is_chosen = True
        if cluster is not None and not run.finished:
            run.settle()
    last, asked = run.snapshot(), search.space.options
    counts = (last.cycles_by_length, last.paths_by_length, last.seconds)
    return CycleCounts(*counts, asked.min_length, run.finished, asked.parity)


def _plan_of_choice(search: AskedSearch) -> BoundaryPlan | None:
    """Choose a method; return the plan of the method boundary if that is chosen.

    The time-out is for the work that is chosen: the choice takes as long at most, beside it.
    """
    from kernels_ti.method import choose_method

    began = time.perf_counter()

    def enough() -> bool:
        search.watch.tell("seeking an order")
        return time.perf_counter() - began > search.watch.timeout

    choice = choose_method(search.space, memory=search.space.options.memory, enough=enough)
    return choice.plan if choice.method == "boundary" else None


@apart_if_needed
def enumerate_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
    progress: ProgressOption = False,
) -> CycleStream:
    """Enumerate the chordless cycles of a graph. They are given while the search goes on.

    Parameters
    ----------
    graph, arch, min_length, max_length, parity, threads, through, avoid, avoid_edges, timeout, simplify
        As for `count_cycles`. The time that the caller takes between two cycles does not count against the time-out.
    memory, progress
        As for `count_cycles`.
    limit : int, optional
        Give at most this many cycles.

    Returns
    -------
    CycleStream
        An iterator of cycles, each the list of its vertices' names in cycle order, from the vertex with the smallest
        index to its neighbour with the smaller index; in a directed graph along the arcs. The cycles come in no
        particular order. Its method ``batches()`` gives them in arrays instead, those of a slice at a time. At the end
        its `complete` is False if the limit or the time-out ended the search.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`. All but EngineError are raised by the call itself, not by the first cycle. The iterator
        does not hold its arch: if this process opens another arch, the next cycle raises a DeviceError. Where it opens
        the CPU with another number of threads, the iterator goes on.

    Examples
    --------
    >>> from chordless import Graph, enumerate_cycles
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], names="abcd")
    >>> list(enumerate_cycles(square, arch="cpu"))
    [['a', 'b', 'c', 'd']]
    """
    options = Options(min_length=min_length, max_length=max_length, parity=parity, collect=True, memory=memory)
    search = asked_for(graph, options, arch, threads, through, avoid, avoid_edges, limit, timeout, simplify, progress)
    found = search.at_once(collect=True)
    if found is not None:
        return CycleStream(search.space.graph, search.limited(found.pieces()))
    with search.run() as run:
        return CycleStream(search.space.graph, search.limited(search.pieces(run), run))


@apart_if_needed
def collect_cycles(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
    progress: ProgressOption = False,
) -> CycleTable:
    """Find the chordless cycles of a graph and return them all in arrays.

    Parameters
    ----------
    graph, arch, min_length, max_length, parity, threads, through, avoid, avoid_edges, timeout, simplify
        As for `count_cycles`.
    memory, progress
        As for `count_cycles`.
    limit : int, optional
        Return at most this many cycles.

    Returns
    -------
    CycleTable
        With ``rows()`` for bit rows, a CSR pair ``offsets`` and ``vertices``, ``lists()``, ``to_arrow()`` and
        ``to_pandas()``. A search of a graph of 512 vertices or fewer brings bit rows, 8 bytes for each 64 vertices of
        the graph; the other forms are made when they are asked for. Of a larger graph it brings vertices, 4 bytes for
        each vertex and 8 for each cycle. The cycles come in no particular order. `complete` is False if the limit or
        the time-out ended the search.

    Raises
    ------
    GraphError, OptionError, DeviceError, EngineError
        As for `count_cycles`.
    SizeError
        If `memory` is given and the cycles do not fit, on an arch that searches in the memory of the host.

    Examples
    --------
    >>> import networkx
    >>> from chordless import collect_cycles
    >>> collect_cycles(networkx.petersen_graph(), arch="cpu").lengths.tolist().count(6)
    10
    """
    options = Options(min_length=min_length, max_length=max_length, parity=parity, collect=True, memory=memory)
    search = asked_for(graph, options, arch, threads, through, avoid, avoid_edges, limit, timeout, simplify, progress)
    graph = search.space.graph
    with search.watch:
        found = search.at_once(collect=True)
        table = search.table() if found is None else CycleTable.of_pieces(graph, found.pieces())
    return table if limit is None else table.first(limit)


@apart_if_needed
def count_participation(
    graph: Any,
    *,
    arch: Arch = "auto",
    min_length: int = 3,
    max_length: int | None = None,
    parity: Parity | None = None,
    threads: int | None = None,
    through: Iterable[Hashable] = (),
    avoid: Iterable[Hashable] = (),
    avoid_edges: Iterable[tuple[Hashable, Hashable]] = (),
    edges: bool = True,
    limit: int | None = None,
    timeout: float | None = None,
    simplify: bool = False,
    memory: int | None = None,
    progress: ProgressOption = False,
) -> Participation:
    """Count for each vertex and each edge the chordless cycles that contain it, by length.

    The cycles are counted on the device and not kept.

    Parameters
    ----------
    graph, arch, min_length, max_length, parity, threads, through, avoid, avoid_edges, limit, timeout, simplify
        As for `count_cycles`.
    memory, progress
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
    >>> from chordless import Graph, count_participation
    >>> house = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
    >>> count_participation(house, arch="cpu").vertices.sum(axis=1).tolist()
    [2, 2, 1, 1, 1]
    """
    require_flags(edges=edges)
    wanted = "edges" if edges else "vertices"
    options = Options(min_length=min_length, max_length=max_length, parity=parity, participation=wanted, memory=memory)
    search = asked_for(graph, options, arch, threads, through, avoid, avoid_edges, limit, timeout, simplify, progress)
    with search.watch, search.run() as run:
        for _ in search.slices(run):
            pass
    return run.participation()
