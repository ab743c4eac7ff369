"""A search that takes some milliseconds, in the process that was asked: no engine is started, Taichi is not loaded.

The graph is searched by the reference, as with ``--arch reference``. Input, output and reports are the same as
from an engine, because the same function does it.
"""

from __future__ import annotations

import math
import os
import re
import time
from typing import TYPE_CHECKING

from chordless.engine.channel import CallChannel
from chordless.graphs.paths import new_on_a_cycle, searched_graph
from chordless.graphs.readers.incoming import STANDARD_INPUT
from chordless.protocol.events import Event
from chordless.protocol.orders import RunCommand
from kernels_ti.choices import EXPANSIONS

if TYPE_CHECKING:
    from kernels_ti import Graph

STANDARD_OUTPUT = "-"

PICK_SECONDS = 0.3  # Expected seconds of the largest pick that is tried
MOST_DRAWN = 1000  # Cycles of the largest sample that is tried
LARGEST_FILE = 4096  # Bytes of the largest file that is tried
LARGEST_SPEC = 64  # Largest product of the numbers in a spec that is tried: about its number of vertices
TRIAL_SECONDS = 0.05
"""Seconds of a core in which the reference must search the whole graph. An engine takes ten times as long to start."""


def searched_at_once(command: RunCommand) -> list[Event] | None:
    """Carry out a command if its graph is small enough; return the events that an engine would send.

    None if the command needs an engine; nothing has been written then. A ChordlessError is as an engine would report.
    """
    if not _can_be_tried(command):
        return None
    from chordless.engine.search_run import loaded_graph, search
    from kernels_ti import open_device

    loaded = loaded_graph(command)
    in_time = _is_searched_in_time if command.pick == "all" else _is_picked_in_time
    if not in_time(command, searched_graph(command, loaded.graph) if command.pick == "all" else loaded.graph):
        return None
    # The output closes the descriptor that it is given.
    standard_output = os.dup(1) if command.output == STANDARD_OUTPUT else -1
    events: list[Event] = []
    channel = CallChannel(events.append)
    channel.extra = new_on_a_cycle(command)
    if command.pick == "all":
        search(command, channel, standard_output, loaded, None, None, device=open_device("reference"))
    else:
        from chordless.engine.along_boundary import go_along_boundary

        go_along_boundary(command, channel, standard_output, loaded, None)
    return events


def _can_be_tried(command: RunCommand) -> bool:
    """Return whether the reference can do what is asked, and the graph's name alone does not say that it is large."""
    asks_for_engine = (
        command.arch != "auto"
        or command.threads is not None
        or command.memory is not None
        or command.checkpoint is not None
        or command.part is not None
        or command.cluster is not None
        or command.overlap
        or command.symmetry
        or (command.method == "boundary" and command.pick == "all")
        or command.expansion != EXPANSIONS[0]
    )
    if asks_for_engine or command.graph == STANDARD_INPUT:
        return False
    if os.path.lexists(command.graph):
        return os.path.isfile(command.graph) and os.path.getsize(command.graph) <= LARGEST_FILE
    # Of a probability such as 0.1 a number is 0.
    return math.prod(int(number) or 1 for number in re.findall(r"[0-9]{1,9}", command.graph)) <= LARGEST_SPEC


def _is_searched_in_time(command: RunCommand, graph: Graph) -> bool:
    """Search the whole graph, without keeping anything; return whether that took less than `TRIAL_SECONDS`."""
    from kernels_ti.reference.algorithm import MOST_VERTICES
    from kernels_ti.reference.search import ReferenceSearch

    if graph.n > MOST_VERTICES:
        return False
    longest = graph.n if command.max_length is None else command.max_length + new_on_a_cycle(command)
    trial = ReferenceSearch(graph, min(graph.n, longest), False)
    begun = time.thread_time()
    while not trial.finished and time.thread_time() - begun < TRIAL_SECONDS:
        trial.advance(TRIAL_SECONDS)
    return trial.finished


def _is_picked_in_time(command: RunCommand, graph: Graph) -> bool:
    """Return whether cycles are expected to be picked in Python within `PICK_SECONDS`."""
    from chordless.engine.framing import search_space
    from kernels_ti.boundary.count import arch_of_longest
    from kernels_ti.boundary.orders.plan import plan_of

    began = time.thread_time()
    plan = plan_of(search_space(command, graph), enough=lambda: time.thread_time() - began > PICK_SECONDS)
    is_short = plan.is_possible and plan.seconds < PICK_SECONDS and (command.limit or 1) <= MOST_DRAWN
    return is_short and arch_of_longest(plan, "auto") == "reference"
