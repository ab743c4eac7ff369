"""The lines of the graphs of a batch: places, hashes and errors before the search, all other fields after it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from chordless.batch.inputs import Chunk
from chordless.batch.output import FIELDS, UNREADABLE, encoded
from chordless.graphs.writers import graph6_line, line_of_graph
from chordless.protocol.events import Finished
from chordless.protocol.orders import BatchJob, RunCommand
from chordless.protocol.results import result_object, triangle_count
from kernels_ti.many.graphs import ManyGraphs

_KEY_BYTES = 16


class Entry(NamedTuple):
    """One line to be written."""

    place: int  # Of the line in the batch, from 0 on
    title: str  # See `chordless.batch.inputs.Chunk`
    name: str | None
    key: str  # The hash that identifies its line in an earlier output
    error: str | None  # Why there is no graph; None if there is one
    chunk: Chunk
    number: int  # The index of the graph among those of the chunk


def entries_of(chunk: Chunk, first: int) -> list[Entry]:
    """Return the entries of a chunk. The first one is at place `first` of the batch."""
    keys = iter(_keys(chunk))
    entries = []
    index = 0
    for i, (title, name) in enumerate(zip(chunk.titles, chunk.names, strict=True)):
        error = chunk.errors.get(i)
        if error is None:
            entries.append(Entry(first + i, title, name, next(keys), None, chunk, index))
            index += 1
        else:
            # A file name may contain bytes that are not UTF-8.
            message = error.encode(errors="surrogatepass")
            key = f"{UNREADABLE}-{hashlib.blake2b(message, digest_size=_KEY_BYTES).hexdigest()}"
            entries.append(Entry(first + i, title, name, key, error, chunk, -1))
    return entries


def _keys(chunk: Chunk) -> Iterable[str]:
    start = hashlib.blake2b(_options(chunk.job), digest_size=_KEY_BYTES)
    if chunk.loaded is not None:
        graph = chunk.loaded.graph
        if chunk.job.listing is not None:
            # A listing contains the names, so the result depends on them.
            start.update(json.dumps([str(name) for name in graph.names]).encode())
        if graph.directed:
            start.update(b"directed")
        edges = graph.edges()
        return _hashes(start, [graph.n], [0, len(edges)], edges.astype("<i4").tobytes())
    if chunk.graphs is None:
        return ()
    many = chunk.graphs
    return _hashes(start, many.vertices.tolist(), many.first_edge.tolist(), many.edges.astype("<i4").tobytes())


def _hashes(start: hashlib.blake2b, vertices: Sequence[int], first_edge: Sequence[int], data: bytes) -> list[str]:
    view = memoryview(data)
    keys = []
    for i, n in enumerate(vertices):
        digest = start.copy()
        digest.update(n.to_bytes(8, "little"))
        digest.update(view[8 * first_edge[i] : 8 * first_edge[i + 1]])
        keys.append(digest.hexdigest())
    return keys


def _options(job: BatchJob) -> bytes:
    """Return the options that a result depends on, as bytes for the hash."""
    listing = None if job.listing is None else (job.listing, job.listing_format)
    asked = [job.min_length, job.max_length, listing, job.limit, job.timeout]
    # Every method counts the same.
    # The line of a food web has more fields than that of the same niche overlap graph.
    return json.dumps(
        [*asked, *["overlap"] * job.overlap, *["graph"] * job.with_graph, *filter(None, [job.parity])]
    ).encode()


def graph6_of(entry: Entry) -> str | None:
    """Return the graph of an entry as a line of graph6, else of digraph6 or sparse6; None if none can hold it."""
    chunk = entry.chunk
    if chunk.loaded is not None:
        graph = chunk.loaded.graph
        if not graph.is_simple:
            return line_of_graph(graph, ".d6" if graph.directed else ".s6")
        n, edges = graph.n, np.asarray(graph.edges())
    else:
        assert chunk.graphs is not None
        first, end = chunk.graphs.first_edge[entry.number : entry.number + 2]
        n, edges = int(chunk.graphs.vertices[entry.number]), chunk.graphs.edges[first:end].astype(np.int64)
    least, most = edges.min(axis=1, initial=n), edges.max(axis=1, initial=0)
    return graph6_line(n, most * (most - 1) // 2 + least, n * (n - 1) // 2).rstrip("\n")


def largest_degrees(many: ManyGraphs) -> list[int]:
    """Return the largest degree of each graph."""
    if not len(many):
        return []
    owner = np.repeat(many.first_vertex[:-1], many.edge_counts)
    # One extra vertex, so that `reduceat` has a valid index for an empty graph at the end.
    degrees = np.bincount((many.edges + owner[:, None]).ravel(), minlength=int(many.first_vertex[-1]) + 1)
    largest = np.maximum.reduceat(degrees, many.first_vertex[:-1])
    return [int(degree) for degree in np.where(many.vertices > 0, largest, 0).tolist()]


def gathered(entries: list[Entry]) -> tuple[ManyGraphs, list[int]]:
    """Combine the graphs of entries of one or more chunks. Return them with their largest degrees."""
    parts: list[ManyGraphs] = []
    degrees: list[int] = []
    for _, same in groupby(entries, key=lambda entry: id(entry.chunk)):
        some = list(same)
        chunk = some[0].chunk
        if chunk.loaded is not None:
            parts.append(ManyGraphs.from_graphs([chunk.loaded.graph]))
            degrees.append(chunk.loaded.graph.max_degree)
        else:
            assert chunk.graphs is not None
            chosen = chunk.graphs
            if len(some) < len(chosen):
                chosen = chosen.chosen(np.array([entry.number for entry in some], np.int64))
            parts.append(chosen)
            degrees += largest_degrees(chosen)
    return ManyGraphs.joined(parts), degrees


def error_line(entry: Entry, error: str) -> bytes:
    """Return the line of a graph that failed."""
    values: dict[str, Any] = dict.fromkeys(FIELDS)
    values.update(graph=entry.title, name=entry.name, status="error", error=error, complete=False, hash=entry.key)
    values.update(_asked(entry.chunk.job))
    return encoded(values)


def _asked(job: BatchJob) -> dict[str, Any]:
    """Return the fields of a line that tell what was asked."""
    return {name: getattr(job, name) for name in ("min_length", "max_length", "parity", "reading")}


def alone_line(entry: Entry, command: RunCommand, finished: Finished) -> bytes:
    """Return the line of a graph that was searched on its own."""
    values: dict[str, Any] = dict.fromkeys(FIELDS)
    values.update((key, value) for key, value in result_object(command, finished).items() if key in FIELDS)
    values.update(graph=entry.title, name=entry.name, status=finished.reason, hash=entry.key)
    values.update(interval=entry.chunk.interval, reading=entry.chunk.job.reading)
    if command.output is not None:
        values.update(listing=command.output, listed=finished.listed)
    if entry.chunk.job.with_graph:
        values.update(graph6=graph6_of(entry))
    return encoded(values)


class TogetherLines:
    """Makes the lines of graphs that were counted together: their frontier and time are unknown, and null."""

    def __init__(self, job: BatchJob, arch: str, device: str) -> None:
        asked = {**_asked(job), "part": None}
        fields = list(FIELDS)
        rest: dict[str, Any] = dict.fromkeys(fields[fields.index("frontier") : fields.index("interval")])
        rest |= {"method": "search", "complete": True, "share": 1.0, "arch": arch, "device": device}
        self._job = job
        self._asked, self._rest = json.dumps(asked)[1:-1], json.dumps(rest)[1:-1]
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
            f'"m": {m}, "max_degree": {max_degree}, {self._asked}, {said}, {self._rest}, '
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
