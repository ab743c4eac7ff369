"""A run of the engine along a boundary: a count, a longest cycle, or a sample."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chordless.cycles.output import open_output
from chordless.cycles.participation import shares_object
from chordless.engine.boundary import count_along_boundary
from chordless.engine.boundary_keeper import Keeper
from chordless.engine.channel import Channel
from chordless.engine.framing import finished_event, search_space, started_event
from chordless.engine.loop import Session
from chordless.engine.picks import Picked, picked
from chordless.graphs.vertex_order import read_order
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import Checkpoint
from chordless.runs.directory import RunDirectory, created, graph_hash
from chordless.runs.mailbox import Mailbox
from kernels_ti import Snapshot
from kernels_ti.boundary.orders.plan import BoundaryPlan, plan_of
from kernels_ti.boundary.states.saved import SavedCount
from kernels_ti.device.machine import cpu_name

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph


@dataclass(frozen=True)
class _Python:
    """Where a count runs that needs no device."""

    arch: str = "cpu"

    @property
    def name(self) -> str:
        return cpu_name()


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

    The run directory of a count can be resumed. That of cycles that are picked stays only if the run is complete.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
    standard_output : int
        Descriptor of the user's standard output.
    loaded : LoadedGraph
    plan : BoundaryPlan or None
        First orders of the vertices for a count, if they have been sought.
    directory : RunDirectory, optional
        Of the run that goes on.
    checkpoint : Checkpoint, optional
        From which it goes on.
    """
    earlier = None if checkpoint is None else checkpoint.sessions
    session = Session(command, _Python(), time.time() - command.program_start, earlier)
    # The search space is not searched: it collects nothing.
    space = search_space(replace(command, output=None, per_vertex=False, per_edge=False), loaded.graph)
    # Before there is a folder: a bad order leaves none.
    known = checkpoint is not None and checkpoint.along is not None
    order = None if command.order is None or known else read_order(command.order, loaded.graph)
    with contextlib.ExitStack() as stack:
        output, keeper = None, None
        if command.checkpoint is not None and directory is None:
            directory = stack.enter_context(created(command.checkpoint, command, loaded))
        if directory is not None:
            channel.mailbox = Mailbox(directory.path)
            keeper = Keeper(command, directory, graph_hash(loaded.graph), session)
            if checkpoint is None and command.pick == "all":
                keeper.keep(Snapshot())
        channel.send(started_event(command, loaded, session.so_far(), directory))
        if command.pick == "all":
            reason, snapshot, boundary, device, shares = count_along_boundary(
                command, channel, space, plan, keeper, checkpoint, order
            )
        else:
            found = picked(command, channel, space)
            device = found.device
            if keeper is not None and device is not None:
                keeper.session = replace(keeper.session, device=device)
            reason, snapshot, boundary, shares = found.reason, _snapshot_of(found), found.boundary, found.shares
            if reason == "complete" and command.output is not None:
                output = stack.enter_context(open_output(command, loaded.graph, standard_output))
                output.write(found.cycles.rows(loaded.graph.n) if output.rows else found.cycles, lambda: False)
            if keeper is not None and reason == "complete":
                channel.send(keeper.keep(snapshot, output=output, finished=True))
        listed = 0 if output is None else output.listed
        if device is not None:
            session = replace(session, device=device)
        result = replace(
            finished_event(reason, snapshot, loaded, session.so_far(), listed, directory), boundary=boundary
        )
        if shares is not None:
            counted = shares_object(loaded.graph, shares, vertices=command.per_vertex, edges=command.per_edge)
            result = replace(result, participation=counted)
        channel.send(result)


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


def _snapshot_of(found: Picked) -> Snapshot:
    lengths, counts = np.unique(found.cycles.lengths, return_counts=True)
    return Snapshot(
        cycles_by_length=dict(zip(lengths.tolist(), counts.tolist(), strict=True)),
        cycles=len(found.cycles),
        seconds=found.seconds,
        share=float(found.reason == "complete"),
        finished=found.reason == "complete",
    )
