"""A run of the engine along a boundary: a count, a longest cycle, or a sample."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from chordless.cycles.base import CycleOutput
from chordless.cycles.output import open_output, require_listing
from chordless.cycles.participation import participation_object
from chordless.cycles.paths import as_paths, shares_told_in_paths
from chordless.engine.boundary import Task, count_along_boundary
from chordless.engine.channel import Channel
from chordless.engine.framing import finished_event, search_space, started_event
from chordless.engine.keeper import Keeper, Place, Session, totals_of
from chordless.engine.picks import Pick, best_object
from chordless.graphs.load import LoadedGraph, read_weight_file
from chordless.graphs.paths import counts_totals, path_graph_of, weights_of_cycles
from chordless.graphs.readers.columns import WEIGHTS_UNUSED
from chordless.graphs.readers.incoming import read_bytes
from chordless.graphs.vertex_names import read_order, write_order
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import Checkpoint
from chordless.runs.directory import RunDirectory, created, graph_hash
from chordless.runs.mailbox import Mailbox
from chordless.runs.saved import identity_in
from chordless.values import takes_all_lengths
from kernels_ti import Graph, Snapshot
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.values.saved import SavedCount
from kernels_ti.boundary.values.weights import Weights
from kernels_ti.device.device import held_open_device
from kernels_ti.errors import StatesError
from kernels_ti.paths import best_told_in_paths


def go_along_boundary(
    command: RunCommand,
    channel: Channel,
    standard_output: int,
    loaded: LoadedGraph,
    plan: BoundaryPlan | None,
    directory: RunDirectory | None = None,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Count along a boundary, or pick cycles; report the result.

    `standard_output` is the descriptor of the user's standard output. `plan` has first orders of the vertices for a
    count, if they have been sought. A run that goes on has a directory and a checkpoint.
    """
    earlier = None if checkpoint is None else checkpoint.sessions
    session = Session(command, Place(), time.monotonic() - command.program_start, earlier)
    # The search space is not searched: it collects nothing.
    space = search_space(replace(command, output=None, per_vertex=False, per_edge=False), loaded.graph)
    # Before there is a folder: a bad order, or bad weights, leave none.
    known = checkpoint is not None and checkpoint.along is not None
    order = None if command.order is None or known else read_order(command.order, loaded.graph)
    tell_order = None if command.write_order is None else partial(write_order, command.write_order, loaded.graph)
    paths, added = path_graph_of(command, loaded.graph), Fraction(0)
    if paths is not None and order is not None:
        order = paths.order(order)
    if command.weight is not None and command.weight == command.graph:
        # Weights of the graph's own file are used.
        loaded = replace(loaded, notes=tuple(note for note in loaded.notes if WEIGHTS_UNUSED not in note))
    weight_data, weights, notes = _weights(command, loaded, directory)
    if paths is not None and weights is not None:
        weights, added = weights_of_cycles(paths, weights)
    if weights is not None and command.checkpoint is not None:
        weights.gains.require_fit()  # What is kept in a folder goes along a boundary.
    loaded = replace(loaded, notes=(*loaded.notes, *notes))
    with contextlib.ExitStack() as stack:
        keeper, output = None, None
        if command.checkpoint is not None and directory is None:
            directory = stack.enter_context(created(command.checkpoint, command, loaded))
            if weight_data is not None:
                directory.keep_weights(weight_data)
        position = None if checkpoint is None else checkpoint.position
        if checkpoint is not None and command.pick != "all" and command.output_format in ("text", "jsonl", "npy"):
            require_listing(command, loaded.graph)
        opened = partial(_opened, command, loaded.graph, standard_output, position)
        if command.output_format == "parts" and command.output is not None:
            output = stack.enter_context(opened())
        if directory is not None:
            channel.mailbox = Mailbox(directory.path)
            keeper = Keeper(directory, graph_hash(loaded.graph), identity_in(command, directory), session)
            if checkpoint is None:
                keeper.write(totals_of(Snapshot()), output=output)
        channel.send(started_event(command, loaded, session.so_far(), directory))
        task = Task(command, channel, space, order, tell_order, keeper, checkpoint)
        listed, best = 0, None
        if command.pick == "all":
            with _telling_of_totals(command, loaded.graph):
                found = count_along_boundary(task, plan)
            device = found.device
        else:
            pick = Pick(task, weights, output, None if command.output is None else opened)
            found = pick.go()
            told = found.best if paths is None or found.best is None else best_told_in_paths(found.best, paths, added)
            listed, best = pick.listed, best_object(told, command)
            with held_open_device() as device:
                pass
        if device is not None:
            session = replace(session, device=device)
        result = finished_event(command, found.reason, found.snapshot, loaded, session.so_far(), listed, directory)
        result = replace(result, boundary=found.boundary, best=best)
        if (shares := found.shares) is not None:
            shares = shares if paths is None else shares_told_in_paths(shares, paths)
            wanted = {"vertices": command.per_vertex, "edges": command.per_edge}
            result = replace(result, participation=participation_object(loaded.graph, shares, **wanted))
        channel.send(result)


@contextlib.contextmanager
def _telling_of_totals(command: RunCommand, graph: Graph) -> Iterator[None]:
    """Let an error about memory name `--total-only` where the command could have it."""
    try:
        yield
    except StatesError as error:
        bounds, of_paths = (command.min_length, command.max_length, command.parity), command.is_of_paths
        asks_more = command.checkpoint or command.per_vertex or command.per_edge or not counts_totals(command, graph)
        if command.total_only or asks_more or not takes_all_lengths(*bounds, of_paths=of_paths):
            raise
        raise StatesError(f"{error}; {'paths' if of_paths else 'count'} --total-only may need less") from error


@contextlib.contextmanager
def _opened(
    command: RunCommand, graph: Graph, standard_output: int, position: Mapping[str, int] | None
) -> Iterator[CycleOutput]:
    with open_output(command, graph, standard_output, position) as output:
        yield as_paths(output, command, graph)


def _weights(
    command: RunCommand, loaded: LoadedGraph, directory: RunDirectory | None
) -> tuple[bytes | None, Weights | None, list[str]]:
    """Return the weights of a command, those of its directory if there is one, with their text and notes on them."""
    if command.weight is None:
        return None, None, []
    path, notes = command.weight if directory is None else str(directory.weights), list[str]()
    if directory is None:
        from chordless.graphs.attribute_weights import weights_asked_for

        how = {"file_format": command.file_format, "encoding": command.encoding}
        data, notes = weights_asked_for(loaded, command.graph, path, **how)
    else:
        data = read_bytes(path)
    weights = read_weight_file(
        path, loaded.graph, encoding=command.encoding, data=data, graph_file=None if directory else command.graph
    )
    return data, weights, notes


def last_count(
    command: RunCommand, loaded: LoadedGraph, checkpoint: Checkpoint, along: SavedCount
) -> tuple[Snapshot, dict[str, int]]:
    """Return the totals of a count that is complete, and its ``width`` and most ``states``."""
    counts = checkpoint.state.cycles_by_length
    snapshot = Snapshot(
        cycles_by_length=counts,
        cycles=sum((along.cycles if command.total_only else counts).values()),
        seconds=checkpoint.state.seconds,
        share=1.0,
        finished=True,
    )
    plan = plan_of(search_space(command, loaded.graph), orders=along.orders)
    return snapshot, {"width": plan.width, "states": along.most_states}
