"""The result of a run as one JSON object: what ``count --json`` prints and a batch writes for each graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chordless.protocol.codec import is_count
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from kernels_ti.choices import Parity

RESTRICTIONS = ("through", "through_edges", "avoid", "avoid_edges")
_TRIANGLE = 3
SYMMETRY = ("automorphisms", "orbits_begun")
"""Further fields of a count up to symmetry: the automorphisms that were used, the representatives."""


def triangle_count(min_length: int, parity: Parity | None, cycles_by_length: Mapping[int, int]) -> int | None:
    """Return how many triangles were found; None where bound and parity leave them out of the search."""
    return cycles_by_length.get(_TRIANGLE, 0) if min_length <= _TRIANGLE and parity != "even" else None


def hole_count(cycles: int, cycles_by_length: Mapping[int, int]) -> int:
    """Return how many of all `cycles` have 4 or more vertices; of a total alone, only the triangles have a length."""
    return cycles - sum(count for length, count in cycles_by_length.items() if length <= _TRIANGLE)


def seconds_object(finished: Finished) -> dict[str, float]:
    """Return where the time went; the first four values add up to ``total``.

    It is ``setup``, until the search began; ``enumerate``, the search itself; ``write``, for the output, with the
    waiting for its reader, and for checkpoints; ``other``, the preparation of later blocks and stages, pauses, reports
    and forecasts.
    """
    parts = {
        "setup": round(finished.setup_seconds, 6),
        "enumerate": round(finished.enumerate_seconds, 6),
        "write": round(finished.write_seconds, 6),
    }
    known = sum(parts.values())
    # The wall clock, which measures the total, may be set back during a run.
    other = round(max(finished.total_seconds - known, 0.0), 6)
    return {**parts, "other": other, "total": round(known + other, 6)}


def result_object(command: RunCommand, finished: Finished) -> dict[str, Any]:
    """Return the object that ``--json`` prints; ``triangles`` is None where only other cycles were searched for."""
    triangles = triangle_count(command.min_length, command.parity, finished.cycles_by_length)
    return {
        **{name: getattr(finished, name) for name in ("graph", "n", "m", "max_degree")},
        **{name: getattr(command, name) for name in ("min_length", "max_length", "part")},
        **({"parity": command.parity} if command.parity else {}),
        **{name: names for name in RESTRICTIONS if (names := list(getattr(command, name)))},
        "triangles": triangles,
        "chordless_cycles": hole_count(finished.cycles, finished.cycles_by_length),
        "total": finished.cycles,
        "by_length": None if command.total_only else dict(sorted(finished.cycles_by_length.items())),
        "frontier": {
            "peak": max(finished.frontier_by_length.values(), default=0),
            "by_length": dict(sorted(finished.frontier_by_length.items())),
        },
        "paths": finished.paths,
        "method": "search" if finished.boundary is None else "boundary",
        "boundary": finished.boundary,
        **{name: getattr(finished, name) for name in ("complete", "share", "arch", "device")},
        "seconds": seconds_object(finished),
        "peak_memory_bytes": finished.peak_memory_bytes,
        "checkpoint": finished.checkpoint,
        "expansion": command.expansion,
        "graph_hash": finished.graph_hash,
        "program": finished.program,
        **({"workers": finished.workers} if finished.workers else {}),
        **({"proof": finished.proof} if command.proof else {}),
        **(finished.symmetry or {}),
        **({} if finished.directed_by_length is None else {"directed_by_length": finished.directed_by_length}),
        **(finished.participation or {}),
    }


def result_of_object(values: Mapping[str, Any]) -> tuple[RunCommand, Finished]:
    """Return the run that ``--json`` has printed: its command, as far as the result tells, and its result.

    Raise KeyError, TypeError, ValueError or AttributeError if it is no `result_object`, or holds a number that is no
    count.
    """
    seconds, part = values["seconds"], values["part"]
    restrictions: dict[str, Any] = {name: tuple(values.get(name, ())) for name in RESTRICTIONS}
    command = RunCommand(
        graph=str(values["graph"]),
        program_start=0.0,
        **{name: values[name] for name in ("min_length", "max_length", "expansion", "method")},
        parity=values.get("parity"),
        part=None if part is None else (_count(part[0]), _count(part[1])),
        total_only=values["by_length"] is None,
        per_vertex="vertices" in values,
        per_edge="edges" in values,
        **restrictions,
        symmetry=SYMMETRY[0] in values,
        proof="proof" in values,
    )
    plain: dict[str, Any] = {name: str(values[name]) for name in ("graph", "arch", "device")}
    plain |= {name: _count(values[name]) for name in ("n", "m", "max_degree", "paths", "peak_memory_bytes")}
    plain |= {f"{name}_seconds": float(seconds[name]) for name in ("setup", "enumerate", "write", "total")}
    finished = Finished(
        reason="complete" if values["complete"] else "interrupted",
        **plain,
        cycles=_count(values["total"]),
        cycles_by_length=_counts(values["by_length"] or {}),
        frontier=0,
        frontier_by_length=_counts(values["frontier"]["by_length"]),
        listed=0,
        device_bytes=0,
        share=float(values["share"]),
        participation={
            kind: [
                {"name": entry["name"], "cycles": _count(entry["cycles"]), "by_length": _counts(entry["by_length"])}
                for entry in values[kind]
            ]
            for kind in ("vertices", "edges")
            if kind in values
        }
        or None,
        boundary=values["boundary"],
        graph_hash=values["graph_hash"],
        program=values["program"],
        workers=values.get("workers", []),
        symmetry={name: _count(values[name]) for name in SYMMETRY} if command.symmetry else None,
        directed_by_length=_counts(values["directed_by_length"]) if command.symmetry and command.part else None,
        proof=values.get("proof"),
    )
    return command, finished


def _counts(by_length: Mapping[str, Any]) -> dict[int, int]:
    return {int(length): _count(count) for length, count in by_length.items()}


def _count(value: Any) -> int:
    if not is_count(value):
        raise ValueError(f"{value!r} is no count")
    return int(value)
