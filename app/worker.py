"""The engine process: reads the graph, opens the device, searches, writes the cycles, reports.

It is started by `app.client`, obeys the commands of one pipe and reports on another; see `app.protocol`. It never
looks at the terminal's signals: its client decides, and where it dies of one, the pipes close.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import traceback
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from app.channel import Channel, ClientIsGone
from app.events import DeviceReport, Failed, Finished, Reason, Started
from app.orders import BatchCommand, ProbeCommand, RunCommand
from app.run_directory import RunDirectory, check_is_free, created, graph_hash, reopened
from kernels_ti.errors import ChordlessError, DeviceError, EngineError, OptionError

if TYPE_CHECKING:
    from app.checkpoint import Checkpoint, Sessions
    from app.engine_loop import Forecast
    from app.formats import LoadedGraph
    from kernels_ti.device import Device
    from kernels_ti.graph import Graph
    from kernels_ti.run import Options, Snapshot

_NOT_OPTIONS = ("graph", "program_start")
_ROW_FORMATS = ("npy", "parts")


def run(command: RunCommand, channel: Channel, standard_output: int) -> None:
    """Do what `command` says and report the result.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
    standard_output : int
        Descriptor of what the user knows as standard output; this process's own descriptor 1 is something else.

    Raises
    ------
    ChordlessError
        If the graph, the options, the device, the output or the run directory are no good.
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

    from app.formats import load_graph

    if command.checkpoint is not None:
        check_is_free(command.checkpoint)
    loaded = load_graph(command.graph, simplify=command.simplify, file_format=command.file_format)
    if command.method == "boundary":
        _count_along_boundary(command, channel, loaded)
    else:
        search(command, channel, standard_output, loaded, None, None)


def _go_on(command: RunCommand, channel: Channel, directory: RunDirectory) -> None:
    """Search what a run has left, or report once more what a finished one has found."""
    from app.checkpoint import open_checkpoint

    loaded = directory.graph()
    with open_checkpoint(directory.checkpoint, graph_hash(loaded.graph), _identity(command)) as checkpoint:
        if not checkpoint.finished:
            # Standard output cannot be cut back, so no run that has a directory lists to it.
            search(command, channel, -1, loaded, directory, checkpoint)
            return
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
) -> None:
    """Search on from a checkpoint, or from the beginning; in the latter case make the directory, if one is wanted."""
    from app.engine_loop import Keeper, Search, Session
    from kernels_ti.choice import device_for
    from kernels_ti.restriction import restriction_named
    from kernels_ti.run import Options, Run

    graph = loaded.graph
    collect = command.output is not None
    rows = collect and command.output_format in _ROW_FORMATS
    if rows:
        from app.parts import check_size

        check_size(graph.n)
    through, avoid = restriction_named(graph, command.through, command.through_edges, command.avoid)
    options = Options(
        min_length=command.min_length,
        max_length=command.max_length,
        expansion=command.expansion,
        collect=collect,
        rows=rows,
        part=command.part,
        memory=command.memory,
        through=through,
        avoid=avoid,
        participation="edges" if command.per_edge else "vertices" if command.per_vertex else "none",
    )
    device = device_for(
        graph, command.arch, threads=command.threads, max_length=command.max_length, through=through, avoid=avoid
    )
    engine = Run(graph, device, options, None if checkpoint is None else checkpoint.state)
    with contextlib.ExitStack() as stack:
        if command.checkpoint is not None and directory is None:
            directory = stack.enter_context(created(command.checkpoint, command, loaded))
        output = None
        if collect:
            from app.results import open_output

            position = None if checkpoint is None else checkpoint.position
            output = stack.enter_context(open_output(command, graph, standard_output, position))
        earlier = None if checkpoint is None else checkpoint.sessions
        session = Session(command, device, time.time() - command.program_start, earlier)
        search = Search(
            command,
            channel,
            engine,
            output,
            keeper=None if directory is None else Keeper(directory, graph_hash(graph), _identity(command), session),
            forecast=_forecast(command, graph, device, options),
            unwritten=[] if checkpoint is None else list(checkpoint.unwritten),
        )
        if directory is not None and checkpoint is None:
            search.keep()
        channel.send(_started(command, loaded, session.so_far(), directory))
        reason, snapshot = search.go()
        listed = 0 if output is None else output.listed
    finished = _finished(reason, snapshot, loaded, session.so_far(), listed, directory)
    if options.participation != "none":
        from app.participation import participation_object

        counted = participation_object(graph, engine.participation(), vertices=command.per_vertex)
        finished = replace(finished, participation=counted)
    channel.send(finished)


def _count_along_boundary(command: RunCommand, channel: Channel, loaded: LoadedGraph) -> None:
    """Count without a search; it runs on the host and keeps no checkpoint."""
    from app.boundary_run import count_along_boundary
    from app.checkpoint import Sessions
    from kernels_ti.device import cpu_name
    from kernels_ti.memory import peak_memory
    from kernels_ti.restriction import restriction_named

    setup = time.time() - command.program_start
    sessions = Sessions("cpu", cpu_name(), setup, 0.0, 0)
    channel.send(_started(command, loaded, sessions, None))
    through, avoid = restriction_named(loaded.graph, command.through, command.through_edges, command.avoid)
    reason, snapshot, boundary = count_along_boundary(command, channel, loaded.graph, through, avoid)
    total = time.time() - command.program_start
    sessions = replace(sessions, total_seconds=total, peak_memory_bytes=peak_memory())
    finished = _finished(reason, snapshot, loaded, sessions, 0, None)
    channel.send(replace(finished, boundary=boundary))


def _forecast(command: RunCommand, graph: Graph, device: Device, options: Options) -> Forecast | None:
    from app.engine_loop import Forecast

    if command.part is not None:
        # The probes know nothing of parts.
        return None
    # On a GPU the budget is for the buffers there.
    within_budget = command.memory is not None and device.arch in ("cpu", "reference")
    return Forecast(
        graph,
        command.min_length,
        command.max_length,
        within_budget=within_budget,
        through=options.through,
        avoid=options.avoid,
    )


def _identity(command: RunCommand) -> dict[str, Any]:
    """Return what a checkpoint of this run is valid for."""
    restriction = {name: list(getattr(command, name)) for name in ("through", "through_edges", "avoid")}
    return {
        "min_length": command.min_length,
        "max_length": command.max_length,
        "expansion": command.expansion,
        "part": command.part,
        "output_format": None if command.output is None else command.output_format,
        **{name: names for name, names in restriction.items() if names},
    }


def _last_snapshot(checkpoint: Checkpoint, min_length: int) -> Snapshot:
    from kernels_ti.run import Snapshot

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
    )


def probe(command: ProbeCommand, channel: Channel) -> None:
    """Open the arch, which tests it, and report what it is; ``auto`` is here what it is for a large graph."""
    from kernels_ti.device import cuda_is_here, open_device

    arch = command.arch
    if arch == "auto":
        arch = "cuda" if cuda_is_here() else "cpu"
    try:
        device = open_device(arch)
    except DeviceError as error:
        channel.send(DeviceReport(arch, available=False, message=str(error)))
    else:
        channel.send(
            DeviceReport(arch, available=True, device=device.name, memory=device.memory, threads=device.threads)
        )


def _failure(error: Exception) -> Failed:
    if isinstance(error, OSError) and isinstance(error.__context__, ChordlessError):
        # The taking away of a folder that is gone has failed too; what went wrong is what came first.
        error = error.__context__
    if isinstance(error, ChordlessError):
        return Failed(type(error).__name__, str(error), error.exit_code)
    if isinstance(error, MemoryError):
        return Failed(EngineError.__name__, f"out of memory: {error}".removesuffix(": "), EngineError.exit_code)
    message = f"internal error: {type(error).__name__}: {error} (CHORDLESS_DEBUG=1 shows where)"
    return Failed(type(error).__name__, message, EngineError.exit_code, traceback.format_exc())


def main(commands: int, events: int) -> None:
    """Serve one command and end.

    Parameters
    ----------
    commands, events : int
        Descriptors of the pipes from and to the client.
    """
    left_to_client = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in left_to_client:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, left_to_client)
    # Taichi and drivers print to descriptor 1, and standard output carries data only.
    standard_output = os.dup(1)
    os.dup2(2, 1)
    channel = Channel(commands, events)
    try:
        try:
            command = channel.first_command()
            if isinstance(command, RunCommand):
                run(command, channel, standard_output)
            elif isinstance(command, BatchCommand):
                from app.batch.runner import run_batch

                run_batch(command, channel)
            elif isinstance(command, ProbeCommand):
                probe(command, channel)
        except Exception as error:
            channel.send(_failure(error))
    except ClientIsGone:
        # Nobody is left to hear of anything, so nothing is cleaned up that the system does not clean up itself.
        os._exit(1)
