"""A count along a boundary in the engine: slices of it, reports, and what stops it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.channel import Channel
from app.events import Paused, Progress, Reason, RunCommand
from kernels_ti.boundary import BoundaryCount
from kernels_ti.graph import Graph
from kernels_ti.memory import host_budget, resident_bytes
from kernels_ti.options import Snapshot

_SLICE_SECONDS = 0.1
_TRIANGLE = 3


def count_along_boundary(
    command: RunCommand, channel: Channel, graph: Graph, through: Sequence[int], avoid: Sequence[int]
) -> tuple[Reason, Snapshot, dict[str, int]]:
    """Count until the end, a time-out or a stop.

    Parameters
    ----------
    command : RunCommand
    channel : Channel
        For reports and commands.
    graph : Graph
    through, avoid : sequence of int
        Vertices that every cycle passes, and that none passes.

    Returns
    -------
    reason : {"complete", "timeout", "interrupted"}
    snapshot : Snapshot
        The counts; those of a count that was ended are of the vertices that came until then.
    boundary : dict
        Its ``width`` and the most ``states``.

    Raises
    ------
    EngineError
        If the states do not fit into the memory allowed.
    """
    began = time.monotonic()
    count = BoundaryCount(
        graph,
        min_length=command.min_length,
        max_length=command.max_length,
        by_length=not command.total_only,
        memory=host_budget(command.memory),
        through=through,
        avoid=avoid,
    )
    reason: Reason = "complete"
    while not count.finished:
        channel.obey()
        if channel.paused and not channel.stop_asked:
            began += _wait(channel)
        if channel.stop_asked:
            reason = "interrupted"
            break
        if command.timeout is not None and time.monotonic() - began >= command.timeout:
            reason = "timeout"
            break
        count.advance(_SLICE_SECONDS)
        channel.send(_progress(count))
    lengths = count.cycles_by_length
    cycles = sum(lengths.values())
    if command.total_only:
        lengths = _triangles(graph, through, avoid)
    snapshot = Snapshot(
        cycles_by_length=lengths,
        cycles=cycles,
        seconds=time.monotonic() - began,
        share=count.share,
        finished=count.finished,
    )
    return reason, snapshot, {"width": count.plan.width, "states": count.most_states}


def _wait(channel: Channel) -> float:
    """Halt until there is another command; return for how long."""
    halted = time.monotonic()
    channel.send(Paused())
    while channel.paused and not channel.stop_asked:
        channel.obey(wait=True)
    return time.monotonic() - halted


def _progress(count: BoundaryCount) -> Progress:
    lengths = count.cycles_by_length
    return Progress(
        seconds=count.seconds,
        paths=0,
        cycles=sum(lengths.values()),
        frontier=0,
        frontier_by_length={},
        cycles_by_length={length: cycles for length, cycles in lengths.items() if length},
        device_bytes=0,
        share=count.share,
        memory_bytes=resident_bytes(),
        states=count.states,
    )


def _triangles(graph: Graph, through: Sequence[int], avoid: Sequence[int]) -> dict[int, int]:
    """Count the triangles alone: few states are left if no set may grow beyond three vertices."""
    count = BoundaryCount(graph, max_length=_TRIANGLE, through=through, avoid=avoid)
    while not count.finished:
        count.advance(_SLICE_SECONDS)
    return count.cycles_by_length
