"""One run of the engine: read the graph, open a device, begin or resume the search, report the end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from chordless.engine.channel import Channel
from chordless.protocol.events import Finished, Reason, Started
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, check_is_free, created, graph_hash, program_version, reopened
from kernels_ti import OptionError

if TYPE_CHECKING:
    from chordless.engine.forecast import Forecast
    from chordless.engine.loop import Place
    from chordless.graphs.load import LoadedGraph
    from chordless.runs.checkpoint import Checkpoint, Sessions
    from kernels_ti import Device, Graph, Run, Snapshot
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.boundary.plan import BoundaryPlan
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.state import RunState


_NOT_OPTIONS = ("graph", "program_start")


_ROW_FORMATS = ("npy", "parts")


def run(command: RunCommand, channel: Channel, standard_output: int) -> None:
    """Carry out `command` and report the result.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
    standard_output : int
        Descriptor of the user's standard output. Descriptor 1 of this process is something else.

    Raises
    ------
    ChordlessError
        If the graph, the options, the device, the output or the run directory is unusable.
    """
    if command.checkpoint is not None and command.arch == "reference":
        raise OptionError("--arch reference has no checkpoints: it keeps its place in Python's own stack")
    if command.checkpoint is not None and (command.per_vertex or command.per_edge):
        raise OptionError("a count for each vertex or edge keeps no checkpoints: leave --checkpoint out")
    if command.resume:
        assert command.checkpoint is not None
        with reopened(command.checkpoint) as directory:
            _go_on(command, channel, directory)
        return

    if command.checkpoint is not None:
        check_is_free(command.checkpoint)
    loaded = loaded_graph(command)
    count_or_search(command, channel, standard_output, loaded)


def count_or_search(command: RunCommand, channel: Channel, standard_output: int, loaded: LoadedGraph) -> None:
    """Carry out a command that begins, by its method."""
    plan = None
    if command.method == "auto":
        from chordless.engine.method import settled

        command, loaded, plan = settled(command, loaded, _search_space(command, loaded.graph))
    if command.method == "boundary":
        _count_along_boundary(command, channel, loaded, plan)
    else:
        search(command, channel, standard_output, loaded, None, None)


def loaded_graph(command: RunCommand) -> LoadedGraph:
    """Load the graph that a command names."""
    if command.overlap:
        from chordless.graphs.overlap import load_overlap

        return load_overlap(command.graph, command.types, command.encoding)
    from chordless.graphs.load import load_graph
    from chordless.graphs.readers.incoming import Limits

    return load_graph(
        command.graph,
        simplify=command.simplify,
        directed=command.directed,
        multigraph=command.multigraph,
        file_format=command.file_format,
        encoding=command.encoding,
        limits=Limits(command.memory, command.reading_timeout),
    )


def _go_on(command: RunCommand, channel: Channel, directory: RunDirectory) -> None:
    """Resume a run from its checkpoint, or report the result of a finished one again."""
    from chordless.runs.checkpoint import open_checkpoint
    from kernels_ti.blocks import bulk

    loaded = directory.graph()
    large, options = loaded.graph.m >= bulk.LARGE, _identity(command)
    with open_checkpoint(directory.checkpoint, graph_hash(loaded.graph), options, large=large) as checkpoint:
        if not checkpoint.finished:
            # Standard output cannot be cut back to a checkpoint, so a run with a directory never lists to it.
            search(command, channel, -1, loaded, directory, checkpoint)
            return
        if command.output_format == "parts":
            from chordless.cycles.read import read_rows

            # It raises an error where cycles are gone, which would otherwise be reported as written.
            read_rows(directory.path, checkpoint.position)
        snapshot = _last_snapshot(checkpoint, command.min_length)
        sessions, listed = checkpoint.sessions, checkpoint.listed
    channel.send(_started(command, loaded, sessions, directory))
    channel.send(_finished("complete", snapshot, loaded, sessions, listed, directory))


def search(
    command: RunCommand,
    channel: Channel,
    standard_output: int,
    loaded: LoadedGraph,
    directory: RunDirectory | None,
    checkpoint: Checkpoint | None,
    *,
    device: Device | None = None,
) -> None:
    """Search from a checkpoint or from the beginning; in the latter case make the run directory, if one is wanted.

    Without a device the command's arch is opened.
    """
    from chordless.engine.loop import Keeper, Search, Session

    graph = loaded.graph
    collect = command.output is not None
    rows = collect and command.output_format in _ROW_FORMATS
    if rows:
        from chordless.cycles.write import check_size

        check_size(graph.n)
    space = _search_space(command, graph, rows=rows)
    state = None if checkpoint is None else checkpoint.state
    # A local cluster takes its time to end: the result is sent before.
    with _engine(command, space, state, device) as (engine, place, cluster):
        output = None
        with contextlib.ExitStack() as stack:
            if command.checkpoint is not None and directory is None:
                directory = stack.enter_context(created(command.checkpoint, command, loaded))
            if collect:
                from chordless.cycles.output import open_output

                position = None if checkpoint is None else checkpoint.position
                output = stack.enter_context(open_output(command, graph, standard_output, position))
            earlier = None if checkpoint is None else checkpoint.sessions
            session = Session(command, place, time.time() - command.program_start, earlier)
            search = Search(
                command,
                channel,
                engine,
                output,
                keeper=None if directory is None else Keeper(directory, graph_hash(graph), _identity(command), session),
                forecast=_forecast(command, space, place),
                cluster=cluster,
                unwritten=[] if checkpoint is None else list(checkpoint.unwritten),
            )
            if directory is not None and checkpoint is None:
                search.keep()
            channel.send(_started(command, loaded, session.so_far(), directory))
            reason, snapshot = search.go()
            listed = 0 if output is None else output.listed
        finished = _finished(reason, snapshot, loaded, session.so_far(search.write_seconds), listed, directory)
        if cluster is not None:
            finished = replace(finished, workers=[asdict(view) for view in cluster.worker_views()])
        if cluster is None and space.options.participation != "none":
            from chordless.cycles.participation import participation_object

            counted = participation_object(graph, cast("Run", engine).participation(), vertices=command.per_vertex)
            finished = replace(finished, participation=counted)
        channel.send(finished)


@contextlib.contextmanager
def _engine(
    command: RunCommand, space: SearchSpace, state: RunState | None, device: Device | None
) -> Iterator[tuple[Run | ClusterRun, Place, ClusterRun | None]]:
    """Make the run of a command: on a device of this machine, or on a cluster."""
    from kernels_ti import Run
    from kernels_ti.estimate.device_choice import device_for

    if command.cluster is None:
        device = device or device_for(space, command.arch, threads=command.threads)
        yield Run(space, device, state=state), device, None
        return
    from chordless.engine.on_cluster import ClusterPlace, run_on_cluster

    with run_on_cluster(command, space, state) as run:
        yield run, ClusterPlace(run), run


def _count_along_boundary(
    command: RunCommand, channel: Channel, loaded: LoadedGraph, plan: BoundaryPlan | None
) -> None:
    """Count along a boundary, without checkpoints."""
    from chordless.engine.boundary import count_along_boundary
    from chordless.runs.checkpoint import Sessions
    from kernels_ti.device.machine import cpu_name
    from kernels_ti.device.memory import peak_memory

    setup = time.time() - command.program_start
    sessions = Sessions("cpu", cpu_name(), setup, 0.0, 0)
    channel.send(_started(command, loaded, sessions, None))
    space = _search_space(command, loaded.graph)
    reason, snapshot, boundary, device, shares = count_along_boundary(command, channel, space, plan)
    if device is not None:
        sessions = replace(sessions, arch=device.arch, device=device.name)
    total = time.time() - command.program_start
    sessions = replace(sessions, total_seconds=total, peak_memory_bytes=peak_memory())
    finished = _finished(reason, snapshot, loaded, sessions, 0, None)
    if shares is not None:
        from chordless.cycles.participation import shares_object

        counted = shares_object(loaded.graph, shares, vertices=command.per_vertex, edges=command.per_edge)
        finished = replace(finished, participation=counted)
    channel.send(replace(finished, boundary=boundary))


def _search_space(command: RunCommand, graph: Graph, *, rows: bool = False) -> SearchSpace:
    """Return the graph with the bounds and the restriction of the command; with `rows` cycles are kept as bit rows."""
    from chordless.graphs.vertex_names import edges_named, restriction_named
    from kernels_ti import Options
    from kernels_ti.blocks.search_space import SearchSpace

    through, avoid = restriction_named(graph, command.through, command.through_edges, command.avoid)
    options = Options(
        min_length=command.min_length,
        max_length=command.max_length,
        expansion=command.expansion,
        collect=command.output is not None,
        rows=rows,
        part=command.part,
        memory=command.memory,
        through=through,
        avoid=avoid,
        avoid_edges=edges_named(graph, command.avoid_edges),
        participation="edges" if command.per_edge else "vertices" if command.per_vertex else "none",
    )
    return SearchSpace(graph, options)


def _forecast(command: RunCommand, space: SearchSpace, place: Place) -> Forecast | None:
    from chordless.engine.forecast import Forecast

    if command.part is not None:
        # Probes estimate the whole search, not a part of it.
        return None
    # On a GPU the budget covers the buffers on the device only.
    return Forecast(space, within_budget=command.memory is not None and place.arch in ("cpu", "reference"))


def _identity(command: RunCommand) -> dict[str, Any]:
    """Return the options that a checkpoint of this run must match."""
    restriction = {name: list(getattr(command, name)) for name in ("through", "through_edges", "avoid", "avoid_edges")}
    return {
        "min_length": command.min_length,
        "max_length": command.max_length,
        "expansion": command.expansion,
        "part": command.part,
        "output_format": None if command.output is None else command.output_format,
        **{name: names for name, names in restriction.items() if names},
    }


def _last_snapshot(checkpoint: Checkpoint, min_length: int) -> Snapshot:
    from kernels_ti import Snapshot

    state = checkpoint.state
    done = {"seconds": state.seconds, "share": 1.0, "finished": True}
    return Snapshot.of_totals(state.paths_by_length, state.cycles_by_length, min_length, **done)


def _started(command: RunCommand, loaded: LoadedGraph, sessions: Sessions, directory: RunDirectory | None) -> Started:
    graph = loaded.graph
    return Started(
        graph=loaded.title,
        n=graph.n,
        m=graph.m,
        max_degree=graph.max_degree,
        arch=sessions.arch,
        device=sessions.device,
        setup_seconds=sessions.setup_seconds,
        pid=os.getpid(),
        options={key: value for key, value in asdict(command).items() if key not in _NOT_OPTIONS},
        directory=None if directory is None else os.path.abspath(directory.path),
        notes=list(loaded.notes),
        program=program_version(),
    )


def _finished(
    reason: Reason,
    snapshot: Snapshot,
    loaded: LoadedGraph,
    sessions: Sessions,
    listed: int,
    directory: RunDirectory | None,
) -> Finished:
    graph = loaded.graph
    return Finished(
        reason=reason,
        graph=loaded.title,
        n=graph.n,
        m=graph.m,
        max_degree=graph.max_degree,
        cycles=snapshot.cycles,
        cycles_by_length=snapshot.cycles_by_length,
        paths=snapshot.paths,
        frontier=snapshot.frontier,
        frontier_by_length=snapshot.paths_by_length,
        listed=listed,
        device_bytes=snapshot.device_bytes,
        arch=sessions.arch,
        device=sessions.device,
        setup_seconds=sessions.setup_seconds,
        enumerate_seconds=snapshot.seconds,
        total_seconds=sessions.total_seconds,
        share=snapshot.share,
        peak_memory_bytes=sessions.peak_memory_bytes,
        checkpoint=None if directory is None else str(directory.path),
        write_seconds=sessions.write_seconds,
        graph_hash=graph_hash(graph),
        program=program_version(),
        waiting_by_length=snapshot.waiting_by_length,
    )
