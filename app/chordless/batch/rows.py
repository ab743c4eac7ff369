"""The lines of a batch: the fields of ``count --json``, with status, error, hash and the file of cycles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chordless.batch.entries import Entry, graph6_of
from chordless.batch.output import FIELDS, encoded
from chordless.protocol.events import Finished
from chordless.protocol.orders import BatchJob, RunCommand
from chordless.protocol.results import result_object, triangle_count


def error_line(entry: Entry, error: str) -> bytes:
    """Return the line of a graph that failed."""
    values: dict[str, Any] = dict.fromkeys(FIELDS)
    job = entry.chunk.job
    values.update(graph=entry.title, name=entry.name, status="error", error=error, complete=False, hash=entry.key)
    values.update(min_length=job.min_length, max_length=job.max_length, parity=job.parity)
    return encoded(values)


def alone_line(entry: Entry, command: RunCommand, finished: Finished) -> bytes:
    """Return the line of a graph that was searched on its own."""
    values: dict[str, Any] = dict.fromkeys(FIELDS)
    values.update((key, value) for key, value in result_object(command, finished).items() if key in FIELDS)
    values.update(graph=entry.title, name=entry.name, status=finished.reason, hash=entry.key)
    values.update(interval=entry.chunk.interval)
    if command.output is not None:
        values.update(listing=command.output, listed=finished.listed)
    if entry.chunk.job.with_graph:
        values.update(graph6=graph6_of(entry))
    return encoded(values)


class TogetherLines:
    """Makes the lines of graphs that were counted together: their frontier and time are unknown, and null."""

    def __init__(self, job: BatchJob, arch: str, device: str) -> None:
        bounds = {"min_length": job.min_length, "max_length": job.max_length, "parity": job.parity, "part": None}
        fields = list(FIELDS)
        rest: dict[str, Any] = dict.fromkeys(fields[fields.index("frontier") : fields.index("interval")])
        rest |= {"method": "search", "complete": True, "share": 1.0, "arch": arch, "device": device}
        self._job = job
        self._bounds, self._rest = json.dumps(bounds)[1:-1], json.dumps(rest)[1:-1]
        self._counts: dict[tuple[int, ...], str] = {}

    def line(self, entry: Entry, n: int, m: int, max_degree: int, counts: Sequence[int]) -> str:
        """Return a line; `counts` has the number of cycles of each length, from length 0 on."""
        known = tuple(counts)
        said = self._counts.get(known)
        if said is None:
            said = self._counts[known] = _counts_text(self._job, counts)
        name = "null" if entry.name is None else json.dumps(entry.name)
        graph6 = f', "graph6": {json.dumps(graph6_of(entry))}' if entry.chunk.job.with_graph else ""
        return (
            f'{{"graph": {json.dumps(entry.title)}, "name": {name}, "status": "complete", "error": null, "n": {n}, '
            f'"m": {m}, "max_degree": {max_degree}, {self._bounds}, {said}, {self._rest}, '
            f'"interval": {json.dumps(entry.chunk.interval)}, "hash": "{entry.key}"{graph6}}}\n'
        )


def _counts_text(job: BatchJob, counts: Sequence[int]) -> str:
    total = sum(counts)
    triangles = triangle_count(job.min_length, job.parity, dict(enumerate(counts)))
    return json.dumps(
        {
            "triangles": triangles,
            "chordless_cycles": total - (triangles or 0),
            "total": total,
            "by_length": {str(length): count for length, count in enumerate(counts) if count},
        }
    )[1:-1]
