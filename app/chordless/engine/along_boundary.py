"""A run of the engine along a boundary: a count, a longest cycle, or a sample."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chordless.cycles.output import CycleOutput, open_output
from chordless.cycles.participation import shares_object
from chordless.engine.boundary import count_along_boundary
from chordless.engine.channel import Channel
from chordless.engine.framing import finished_event, identity_of, search_space, started_event
from chordless.engine.picks import Picked, picked
from chordless.protocol.events import Checkpointed
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import Checkpoint, Sessions, write_checkpoint
from chordless.runs.directory import RunDirectory, created, graph_hash
from chordless.runs.mailbox import Mailbox
from kernels_ti import Graph, Snapshot
from kernels_ti.boundary.plan import BoundaryPlan
from kernels_ti.device.machine import cpu_name
from kernels_ti.device.memory import peak_memory
from kernels_ti.state import Layout, RunState

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph


def go_along_boundary(
    command: RunCommand, channel: Channel, standard_output: int, loaded: LoadedGraph, plan: BoundaryPlan | None
) -> None:
    """Count along a boundary, or pick cycles; report the result. A run directory stays only if the run is complete.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
    standard_output : int
        Descriptor of the user's standard output.
    loaded : LoadedGraph
    plan : BoundaryPlan or None
        First orders of the vertices for a count, if they have been sought.
    """
    setup = time.time() - command.program_start
    sessions = Sessions("cpu", cpu_name(), setup, 0.0, 0)
    # The search space is not searched: it collects nothing.
    space = search_space(replace(command, output=None, per_vertex=False, per_edge=False), loaded.graph)
    with contextlib.ExitStack() as stack:
        directory, output, device = None, None, None
        if command.checkpoint is not None:
            directory = stack.enter_context(created(command.checkpoint, command, loaded))
            channel.mailbox = Mailbox(directory.path)
        channel.send(started_event(command, loaded, sessions, directory))
        if command.pick == "all":
            reason, snapshot, boundary, device, shares = count_along_boundary(command, channel, space, plan)
        else:
            found = picked(command, channel, space)
            reason, snapshot, boundary, shares = found.reason, _snapshot_of(found), found.boundary, found.shares
            if reason == "complete" and command.output is not None:
                output = stack.enter_context(open_output(command, loaded.graph, standard_output))
                output.write(found.cycles.rows(loaded.graph.n) if output.rows else found.cycles, lambda: False)
        if device is not None:
            sessions = replace(sessions, arch=device.arch, device=device.name)
        total = time.time() - command.program_start
        sessions = replace(sessions, total_seconds=total, peak_memory_bytes=peak_memory())
        if directory is not None and reason == "complete":
            channel.send(_kept_result(command, directory, loaded.graph, snapshot, sessions, output))
        listed = 0 if output is None else output.listed
        result = replace(finished_event(reason, snapshot, loaded, sessions, listed, directory), boundary=boundary)
        if shares is not None:
            counted = shares_object(loaded.graph, shares, vertices=command.per_vertex, edges=command.per_edge)
            result = replace(result, participation=counted)
        channel.send(result)


def _kept_result(
    command: RunCommand,
    directory: RunDirectory,
    graph: Graph,
    snapshot: Snapshot,
    sessions: Sessions,
    output: CycleOutput | None,
) -> Checkpointed:
    """Write the checkpoint of a run along a boundary that is complete: it keeps the directory, and vouches for it."""
    counts, listed = snapshot.cycles_by_length, 0 if output is None else output.listed
    directory.require_held()
    size = write_checkpoint(
        directory.checkpoint,
        Checkpoint(
            graph_hash=graph_hash(graph),
            options=identity_of(command),
            state=RunState(Layout(), 0, (), cycles_by_length=counts, seconds=snapshot.seconds, share=1.0),
            position=None if output is None else output.position(),
            listed=listed,
            unwritten=(),
            sessions=sessions,
            finished=True,
        ),
    )
    return Checkpointed(str(directory.checkpoint), cycles=snapshot.cycles, listed=listed, bytes=size)


def _snapshot_of(found: Picked) -> Snapshot:
    lengths, counts = np.unique(found.cycles.lengths, return_counts=True)
    return Snapshot(
        cycles_by_length=dict(zip(lengths.tolist(), counts.tolist(), strict=True)),
        cycles=len(found.cycles),
        seconds=found.seconds,
        share=float(found.reason == "complete"),
        finished=found.reason == "complete",
    )
