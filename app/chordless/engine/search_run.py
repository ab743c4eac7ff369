"""One run of the engine: read the graph, open a device, begin or resume the search, report the end."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from chordless.engine.channel import Channel
from chordless.engine.forecast import Forecast
from chordless.engine.framing import finished_event, search_space, started_event
from chordless.engine.keeper import Keeper, Place, Session
from chordless.engine.loop import Search
from chordless.graphs.load import LoadedGraph, load_as
from chordless.graphs.paths import new_on_a_cycle, searched_graph
from chordless.graphs.readers.incoming import Limits
from chordless.protocol.orders import RunCommand
from chordless.protocol.results import SYMMETRY
from chordless.runs.directory import RunDirectory, check_is_free, created, graph_hash, reopened
from chordless.runs.saved import identity_in, identity_of
from kernels_ti import Device, Graph, OptionError, Run
from kernels_ti.blocks import bulk
from kernels_ti.blocks.biconnected import bytes_to_split
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.device.device import cuda_is_here
from kernels_ti.device.memory import host_budget, require_room
from kernels_ti.estimate.device_choice import device_for
from kernels_ti.proof import proof_text
from kernels_ti.state import RunState, Totals
from kernels_ti.symmetry.space import SymmetricSpace

if TYPE_CHECKING:
    from chordless.cycles.base import CycleOutput
    from chordless.cycles.passing_on import ProofOutput, SortedOutput
    from chordless.runs.checkpoint import Checkpoint
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.cluster.local import LocalWorkers

_ROW_FORMATS = ("npy", "parts")


def run(command: RunCommand, channel: Channel, standard_output: int) -> None:
    """Carry out `command` and report the result; `standard_output` is the descriptor of the user's standard output.

    Descriptor 1 of this process is something else. Raise ChordlessError if the graph, the options, the device, the
    output or the run directory is unusable.
    """
    channel.extra = new_on_a_cycle(command)
    if command.all_pairs and command.output is not None and command.output_format in _ROW_FORMATS:
        raise OptionError("bit rows are for the paths between two vertices: all paths are listed as text")
    if command.checkpoint is not None and command.arch == "reference":
        raise OptionError("--arch reference has no checkpoints: it keeps its place in Python's own stack")
    if command.checkpoint is not None and (command.per_vertex or command.per_edge) and not _goes_along(command):
        raise OptionError("a count for each vertex or edge keeps no checkpoints: leave --checkpoint out")
    if command.resume:
        assert command.checkpoint is not None
        with reopened(command.checkpoint) as directory, started_cluster(command) as cluster:
            _go_on(command, channel, standard_output, directory, cluster)
        return

    if command.checkpoint is not None:
        check_is_free(command.checkpoint)
    with started_cluster(command) as cluster:
        loaded = loaded_graph(command)
        count_or_search(command, channel, standard_output, loaded, cluster)


def count_or_search(
    command: RunCommand,
    channel: Channel,
    standard_output: int,
    loaded: LoadedGraph,
    cluster: LocalWorkers | str | None = None,
) -> None:
    """Carry out a command that begins, by its method; search on a cluster, if one is given."""
    if cluster is None and command.memory is not None:
        _require_room_to_split(command.arch, command.memory, loaded.graph)
    plan = None
    if command.method == "auto" and command.pick == "all":
        from chordless.engine.method import settled

        command, loaded, plan = settled(command, loaded, search_space(command, loaded.graph))
    if _goes_along(command):
        from chordless.engine.along_boundary import go_along_boundary

        go_along_boundary(command, channel, standard_output, loaded, plan)
    else:
        search(command, channel, standard_output, loaded, None, None, cluster=cluster)


def _require_room_to_split(arch: str, memory: int, graph: Graph) -> None:
    """Raise OptionError if a large graph cannot be split into blocks in the memory allowed on the host."""
    needed = bytes_to_split(graph)
    if needed and (arch in ("cpu", "reference") or (arch == "auto" and not cuda_is_here())):
        require_room(memory, needed, "splitting the graph into blocks")


def loaded_graph(command: RunCommand) -> LoadedGraph:
    """Load the graph that a command names."""
    if command.overlap:
        from chordless.graphs.overlap import load_overlap

        return load_overlap(command.graph, command.types, command.encoding)
    return load_as(command, Limits(command.memory, command.reading_timeout))


def _go_on(
    command: RunCommand,
    channel: Channel,
    standard_output: int,
    directory: RunDirectory,
    cluster: LocalWorkers | str | None,
) -> None:
    """Resume a run from its checkpoint, or report the result of a finished one again."""
    from chordless.runs.checkpoint import open_checkpoint
    from kernels_ti.boundary.values.saved import SavedCount

    loaded = directory.graph()
    large, options = searched_graph(command, loaded.graph).m >= bulk.LARGE, identity_in(command, directory)
    listing = None if command.output is None else command.output_format
    with open_checkpoint(
        directory.checkpoint, graph_hash(loaded.graph), options, large=large, listing=listing
    ) as checkpoint:
        is_kept = command.pick == "all" or command.output_format == "parts"
        if is_kept and checkpoint.finished and checkpoint.position is not None:
            from chordless.cycles.output import check_listing

            # It raises an error where cycles are gone, which would otherwise be reported as written.
            check_listing(command, loaded.graph, checkpoint.position)
        # A pick that is finished tells its cycles again.
        if command.pick != "all" or (not checkpoint.finished and _goes_along(command)):
            from chordless.engine.along_boundary import go_along_boundary

            go_along_boundary(command, channel, standard_output, loaded, None, directory, checkpoint)
            return
        if not checkpoint.finished:
            # Standard output cannot be cut back to a checkpoint, so a run with a directory never lists to it.
            search(command, channel, -1, loaded, directory, checkpoint, cluster=cluster)
            return
        space = search_space(command, loaded.graph)
        state, boundary = checkpoint.state, None
        snapshot = space.snapshot(
            Totals(state.paths_by_length, state.cycles_by_length),
            finished=True,
            is_piece=space.options.part is not None,
            seconds=state.seconds,
            share=1.0,
        )
        sessions, listed = checkpoint.sessions, checkpoint.listed
        proof = None if not command.proof or checkpoint.position is None else proof_text(checkpoint.position["proof"])
        if isinstance(checkpoint.along, SavedCount):
            from chordless.engine.along_boundary import last_count

            snapshot, boundary = last_count(command, loaded, checkpoint, checkpoint.along)
    channel.send(started_event(command, loaded, sessions, directory))
    finished = finished_event(command, "complete", snapshot, loaded, sessions, listed, directory)
    channel.send(replace(finished, boundary=boundary, proof=proof, symmetry=_symmetry_used(space)))


def search(
    command: RunCommand,
    channel: Channel,
    standard_output: int,
    loaded: LoadedGraph,
    directory: RunDirectory | None,
    checkpoint: Checkpoint | None,
    *,
    device: Device | None = None,
    cluster: LocalWorkers | str | None = None,
) -> None:
    """Search from a checkpoint or from the beginning; in the latter case make the run directory, if one is wanted.

    Without a device and without a cluster the command's arch is opened.
    """
    graph = loaded.graph
    rows = command.output is not None and command.output_format in _ROW_FORMATS
    if rows:
        from chordless.cycles.write import check_size

        check_size(graph.n)
    if command.output_format == "parquet" or command.output_format == "arrow":
        from chordless.cycles.columns import require_columns

        require_columns(command.output_format)
    space = search_space(command, graph, rows=rows and not command.in_order and not command.is_of_paths)
    state = None if checkpoint is None else checkpoint.state
    # A local cluster takes its time to end: the result is sent before.
    with _engine(command, space, state, device, cluster) as (engine, place, on_cluster):
        output: CycleOutput | None = None
        sorting: SortedOutput | None = None
        proving: ProofOutput | None = None
        with contextlib.ExitStack() as stack:
            if command.checkpoint is not None and directory is None:
                directory = stack.enter_context(created(command.checkpoint, command, loaded))
            position = None if checkpoint is None else checkpoint.position
            if command.output is not None:
                from chordless.cycles.output import open_output

                output = stack.enter_context(open_output(command, graph, standard_output, position))
            if command.in_order and output is not None:
                from chordless.cycles.passing_on import SortedOutput

                output = sorting = SortedOutput(output, graph.n, host_budget(command.memory))
            if command.proof:
                from chordless.cycles.passing_on import ProofOutput

                output = proving = ProofOutput(output, graph.names, position)
            if output is not None:
                from chordless.cycles.paths import as_paths

                output = as_paths(output, command, graph)
            earlier = None if checkpoint is None else checkpoint.sessions
            session = Session(command, place, time.monotonic() - command.program_start, earlier)
            keeper = None
            if directory is not None:
                keeper = Keeper(directory, graph_hash(graph), identity_of(command), session)
            search = Search(
                command,
                channel,
                engine,
                output,
                keeper=keeper,
                forecast=_forecast(command, space, place),
                cluster=on_cluster,
                unwritten=[] if checkpoint is None else list(checkpoint.unwritten),
            )
            if directory is not None and checkpoint is None:
                search.keep()
            channel.send(started_event(command, loaded, session.so_far(), directory))
            reason, snapshot = search.go()
            if sorting is not None:
                reason = sorting.flush(reason)
            listed = 0 if output is None else output.listed
        so_far = session.so_far(search.write_seconds)
        finished = finished_event(command, reason, snapshot, loaded, so_far, listed, directory)
        if proving is not None and reason == "complete":
            finished = replace(finished, proof=proving.text)
        if on_cluster is not None:
            finished = replace(finished, workers=[asdict(view) for view in on_cluster.worker_views()])
        if on_cluster is None and space.options.participation != "none":
            from chordless.cycles.participation import participation_object

            wanted = {"vertices": command.per_vertex, "edges": command.per_edge}
            counted = cast("Run", engine).participation()
            finished = replace(finished, participation=participation_object(graph, counted, **wanted))
        channel.send(replace(finished, symmetry=_symmetry_used(space)))


@contextlib.contextmanager
def _engine(
    command: RunCommand,
    space: SearchSpace,
    state: RunState | None,
    device: Device | None,
    cluster: LocalWorkers | str | None,
) -> Iterator[tuple[Run | ClusterRun, Device | Place, ClusterRun | None]]:
    if cluster is None:
        device = device or device_for(space, command.arch, threads=command.threads)
        yield Run(space, device, state=state), device, None
        return
    from kernels_ti.cluster.connect import held_run

    with held_run(cluster, space, state=state, arch=command.arch, threads=command.threads, tell=tell) as run:
        yield run, Place("cluster", lambda: run.device_name), run


def _goes_along(command: RunCommand) -> bool:
    return command.method == "boundary" or command.pick != "all"


def _forecast(command: RunCommand, space: SearchSpace, place: Device | Place) -> Forecast | None:
    if command.part is not None:
        # The whole search of every path is estimated, not a part of it.
        return None
    # On a GPU the budget covers the buffers on the device only.
    return Forecast(space, within_budget=command.memory is not None and place.arch in ("cpu", "reference"))


def _symmetry_used(space: SearchSpace) -> dict[str, int] | None:
    """Return how a count used the automorphisms of its graph; None if it is made without them."""
    if not isinstance(space, SymmetricSpace):
        return None
    return dict(zip(SYMMETRY, (space.automorphisms, space.representatives), strict=True))


def started_cluster(command: RunCommand) -> contextlib.AbstractContextManager[LocalWorkers | str | None]:
    """Start the workers of a command's local cluster; see `kernels_ti.cluster.connect.started`."""
    if command.cluster is None:
        return contextlib.nullcontext()
    from kernels_ti.cluster.connect import started

    return started(command.cluster, command.gpus, arch=command.arch, threads=command.threads, tell=tell)


def tell(line: str) -> None:
    """Let the client show a line to the user, see `chordless.protocol.events.Log`."""
    sys.stderr.write(f"chordless: {line}\n")
    sys.stderr.flush()
