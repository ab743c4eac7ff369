"""The result of a run as one JSON object: what ``count --json`` prints and a batch writes for each graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand

_RESTRICTIONS = ("through", "through_edges", "avoid")
_TRIANGLE = 3


def triangle_count(min_length: int, cycles_by_length: Mapping[int, int]) -> int | None:
    """Return how many triangles were found, or None where only longer cycles were searched for.

    Parameters
    ----------
    min_length : int
        The lower bound of the search.
    cycles_by_length : mapping of int to int
        Cycles by number of vertices.
    """
    return cycles_by_length.get(_TRIANGLE, 0) if min_length <= _TRIANGLE else None


def result_object(command: RunCommand, finished: Finished) -> dict[str, Any]:
    """Return what ``--json`` prints; ``triangles`` is None where only longer cycles were searched for."""
    triangles = triangle_count(command.min_length, finished.cycles_by_length)
    return {
        "graph": finished.graph,
        "n": finished.n,
        "m": finished.m,
        "max_degree": finished.max_degree,
        "min_length": command.min_length,
        "max_length": command.max_length,
        "part": command.part,
        **{name: names for name in _RESTRICTIONS if (names := list(getattr(command, name)))},
        "triangles": triangles,
        "chordless_cycles": finished.cycles - (triangles or 0),
        "total": finished.cycles,
        "by_length": None if command.total_only else dict(sorted(finished.cycles_by_length.items())),
        "frontier": {
            "peak": max(finished.frontier_by_length.values(), default=0),
            "by_length": dict(sorted(finished.frontier_by_length.items())),
        },
        "paths": finished.paths,
        "method": command.method,
        "boundary": finished.boundary,
        "complete": finished.complete,
        "share": finished.share,
        "arch": finished.arch,
        "device": finished.device,
        "seconds": {
            "setup": round(finished.setup_seconds, 6),
            "enumerate": round(finished.enumerate_seconds, 6),
            "total": round(finished.total_seconds, 6),
        },
        "peak_memory_bytes": finished.peak_memory_bytes,
        "checkpoint": finished.checkpoint,
        **(finished.participation or {}),
    }
