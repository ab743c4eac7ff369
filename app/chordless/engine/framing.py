"""The first and the last event of every run of the engine, and the meaning of its command for a graph."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from chordless.graphs.paths import ends_of, path_graph_of
from chordless.protocol.events import Finished, Reason, Started
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory, graph_hash, program_version
from kernels_ti import taichi_door

if TYPE_CHECKING:
    from chordless.graphs.load import LoadedGraph
    from chordless.runs.saved import Sessions
    from kernels_ti import Graph, Snapshot
    from kernels_ti.blocks.search_space import SearchSpace

_NOT_OPTIONS = ("graph", "program_start")


def search_space(command: RunCommand, graph: Graph, *, rows: bool = False) -> SearchSpace:
    """Return the graph with the bounds and the restriction of the command; with `rows` cycles are kept as bit rows."""
    from chordless.graphs.vertex_names import edge_named, restriction_named
    from kernels_ti import Options
    from kernels_ti.blocks.restriction import vertices_called
    from kernels_ti.symmetry.space import space_of

    through, avoid = restriction_named(graph, command.through, command.through_edges, command.avoid)
    avoid_edges = tuple(edge_named(graph, text) for text in command.avoid_edges)
    options = Options(
        min_length=command.min_length,
        max_length=command.max_length,
        parity=command.parity,
        expansion=command.expansion,
        collect=command.output is not None or command.proof,
        rows=rows,
        part=command.part,
        memory=command.memory,
        through=through,
        avoid=avoid,
        avoid_edges=avoid_edges,
        participation="edges" if command.per_edge else "vertices" if command.per_vertex else "none",
        symmetry=command.symmetry,
    )
    paths = path_graph_of(command, graph)
    if paths is None:
        return space_of(graph, options)
    bounds = {**paths.options, "through": vertices_called(paths.graph, paths.options["through"])}
    return space_of(paths.graph, replace(options, **bounds))


def _about(command: RunCommand, loaded: LoadedGraph, sessions: Sessions) -> dict[str, Any]:
    from chordless.graphs.vertex_names import json_name

    graph, library = loaded.graph, None if sessions.arch == "reference" else taichi_door.name_and_version()
    return {
        "graph": loaded.title,
        **{name: getattr(graph, name) for name in ("n", "m", "max_degree")},
        **{name: getattr(sessions, name) for name in ("arch", "device", "setup_seconds")},
        "ends": [json_name(name) for name in ends_of(command, graph)],
        "program": program_version() if library is None else f"{program_version()} ({library})",
    }


def found_so_far(snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields of a report about what a search has found and what waits."""
    names = ("cycles", "cycles_by_length", "paths", "device_bytes", "waiting_by_length")
    counts = {name: getattr(snapshot, name) for name in names}
    return {**counts, "frontier": snapshot.paths_waiting, "frontier_by_length": snapshot.paths_by_length}


def started_event(
    command: RunCommand, loaded: LoadedGraph, sessions: Sessions, directory: RunDirectory | None
) -> Started:
    """Return the first event of a run."""
    return Started(
        **_about(command, loaded, sessions),
        pid=os.getpid(),
        options={key: value for key, value in asdict(command).items() if key not in _NOT_OPTIONS},
        directory=None if directory is None else os.path.abspath(directory.path),
        notes=list(loaded.notes),
    )


def finished_event(
    command: RunCommand,
    reason: Reason,
    snapshot: Snapshot,
    loaded: LoadedGraph,
    sessions: Sessions,
    listed: int,
    directory: RunDirectory | None,
) -> Finished:
    """Return the last event of a run."""
    return Finished(
        **_about(command, loaded, sessions),
        **found_so_far(snapshot),
        reason=reason,
        listed=listed,
        enumerate_seconds=snapshot.seconds,
        total_seconds=sessions.total_seconds,
        share=snapshot.share,
        peak_memory_bytes=sessions.peak_memory_bytes,
        checkpoint=None if directory is None else str(directory.path),
        write_seconds=sessions.write_seconds,
        graph_hash=graph_hash(loaded.graph),
        directed_by_length=snapshot.directed_by_length,
    )
