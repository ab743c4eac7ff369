"""The share of some cycles that pass each edge: from cycles, or from counts that a run made itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from chordless.cycles.named import NamedCycle, cycles_of_lines, named_cycles
from chordless.cycles.read import Rows
from chordless.graphs.readers.incoming import read_bytes, shown_name
from chordless.protocol.codec import is_count, wrong_participation
from kernels_ti import Graph, GraphError, OptionError
from kernels_ti.graph import IntArray
from kernels_ti.state import populations

_BITS = 64
_CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Heat:
    """How many cycles, or paths, pass each edge."""

    pairs: IntArray  # int64, shape (pairs, 2): the pairs of adjacent vertices, as `Graph.pairs` returns them
    counts: tuple[int, ...]  # Cycles through each of them
    total: int  # All cycles that were looked at
    thing: str = "cycle"  # What passes the edges

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Share of the cycles that pass each edge, 0 to 1."""
        return np.array([count / max(self.total, 1) for count in self.counts])

    def hottest(self, most: int) -> list[tuple[int, int, int]]:
        """Return the edges in the most cycles as (u, v, cycles): those in at least one, at most `most` of them."""
        order = sorted(range(len(self.counts)), key=lambda i: (-self.counts[i], i))[:most]
        pairs = self.pairs.tolist()
        return [(pairs[i][0], pairs[i][1], self.counts[i]) for i in order if self.counts[i]]


def heat_of_rows(graph: Graph, chunks: Iterable[Rows], enough: Callable[[], bool] = lambda: False) -> Heat:
    """Count the cycles, given as pieces of bit rows (k, words), through each edge; `enough` ends it between two pieces.

    A chordless cycle contains every edge between two of its vertices, so both ends tell that an edge is passed.
    """
    pairs = graph.pairs()
    counts, total = np.zeros(len(pairs), np.int64), 0
    at_once = max(_CELLS_AT_ONCE // max(graph.n, 1) // _BITS, 1) * _BITS
    for chunk in chunks:
        for start in range(0, len(chunk), at_once):
            if enough():
                break
            rows = np.ascontiguousarray(chunk[start : start + at_once])
            total += len(rows)
            counts += _passing(rows, graph.n, pairs)
    return Heat(pairs, tuple(counts.tolist()), total)


def heat_of_counts(graph: Graph, participation: dict[str, Any], total: int) -> Heat:
    """Return the counts of a run for each edge, from `chordless.cycles.participation.participation_object`."""
    pairs = graph.pairs()
    names = [str(name) for name in graph.names]
    counted = {frozenset(map(str, entry["name"])): int(entry["cycles"]) for entry in participation["edges"]}
    counts = tuple(counted.get(frozenset((names[u], names[v])), 0) for u, v in pairs.tolist())
    return Heat(pairs, counts, total)


def heat_of_file(path: str, graph: Graph, title: str, **reading: Any) -> Heat:
    """Return the heat of a file: of cycles, see `named_cycles`, or of what ``count --per-edge --json`` printed."""
    if PurePath(path).suffix.lower() in (".npy", ".parquet", ".arrow"):
        return _heat_of_cycles(graph, named_cycles(path, graph, title, **reading))
    data = read_bytes(path)
    counted = _counted(data)
    if counted is None:
        return _heat_of_cycles(graph, cycles_of_lines(data, graph, path))
    if not isinstance(counted.get("edges"), list):
        raise OptionError(f"{shown_name(path)}: it has no counts of edges: `chordless count --per-edge --json` has")
    wrong, total = wrong_participation(counted), counted.get("total")
    if wrong is None and not (is_count(total) and all(entry["cycles"] <= total for entry in counted["edges"])):
        wrong = f"total is {total!r:.80}"
    if wrong is not None:
        raise OptionError(f"{shown_name(path)} was changed or damaged: {wrong}")
    heat = heat_of_counts(graph, counted, counted["total"])
    if len(counted["edges"]) != len(heat.pairs) or sum(edge["cycles"] for edge in counted["edges"]) != sum(heat.counts):
        raise GraphError(f"{shown_name(path)}: its edges are not those of {title}, read in this way")
    return heat


def _counted(data: bytes) -> dict[str, Any] | None:
    """Return the object that ``count --json`` prints; None for anything else."""
    if data.lstrip()[:1] != b"{":
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "by_length" in value else None


def _heat_of_cycles(graph: Graph, cycles: Iterable[NamedCycle]) -> Heat:
    pairs, passing = graph.pairs(), Counter[frozenset[int]]()
    total = 0
    thing: str = "cycle"
    for cycle in cycles:
        total += 1
        thing = cycle.thing
        passing.update(map(frozenset, cycle.edges()))
    return Heat(pairs, tuple(passing[frozenset(pair)] for pair in pairs.tolist()), total, thing)


def _passing(rows: Rows, n: int, pairs: IntArray) -> IntArray:
    """Return how many of the rows have both ends of each pair."""
    padded = np.zeros((-(-len(rows) // _BITS) * _BITS, rows.shape[1]), np.uint64)
    padded[: len(rows)] = rows
    bits = np.unpackbits(padded.view(np.uint8), axis=1, bitorder="little")[:, :n]
    # For each vertex a bit for each cycle.
    by_vertex = np.packbits(np.ascontiguousarray(bits.T), axis=1).view(np.uint64)
    words = max(by_vertex.shape[1], 1)
    step = max(_CELLS_AT_ONCE // words, 1)
    pieces = [
        populations(by_vertex[pairs[start : start + step, 0]] & by_vertex[pairs[start : start + step, 1]])
        for start in range(0, len(pairs), step)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
