"""DIMACS files (``p edge N M``, then ``e u v``), read by numpy where every id is a number."""

from __future__ import annotations

import re

import numpy as np

from chordless.graphs.readers.edge_list import INTEGER, integer_pairs, line_of_row
from chordless.graphs.readers.source import Parsed, Source, build_graph
from kernels_ti.graph import IntArray


def read_dimacs(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a graph in DIMACS format: ``p edge N M``, then ``e u v`` for each edge, vertices named 1 to N.

    Many DIMACS files have every edge twice, as ``e u v`` and as ``e v u``. They are accepted, too. Lines ``a u v``,
    which may have a weight, are the arcs of a directed graph; such files often begin with ``p sp N M``. ``c`` and ``n``
    lines say nothing about the graph. A GraphError names the line of anything else.
    """
    lines = source.text.split("\n")
    size, directed = _take_problem(source, lines)
    if size is None:
        raise source.error("no `p edge N M` line; a DIMACS graph starts with one")
    n, m, header = size
    pairs = integer_pairs(lines)
    if pairs is None:
        pairs = np.array(_dimacs_pairs(source, lines, n), np.int64).reshape(-1, 2)
    outside = ((pairs < 1) | (pairs > n)).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        u, v = pairs[row]
        raise source.error(f"edge {u} {v}: the vertices are 1 to {n}", line_of_row(lines, row))
    names = tuple(map(str, range(1, n + 1)))
    declared = len(pairs)
    if not (simplify or directed or source.directed) and _is_both_ways(pairs):
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    graph = build_graph(
        source,
        pairs - 1,
        names,
        simplify=simplify,
        line_of=lambda row: line_of_row(lines, row),
        directed=directed,
    )
    source.check_edge_count(m, declared, graph.m, header)
    return graph, None


def _is_both_ways(pairs: IntArray) -> bool:
    """Return whether each edge occurs exactly once in each of the two directions."""
    if (pairs[:, 0] == pairs[:, 1]).any():
        return False
    there = np.unique(pairs, axis=0)
    return len(there) == len(pairs) and np.array_equal(there, np.unique(pairs[:, ::-1], axis=0))


def _take_problem(source: Source, lines: list[str]) -> tuple[tuple[int, int, int] | None, bool]:
    """Reduce lines to the vertices of edges; return the numbers of the ``p`` line and its place, and whether arcs."""
    size: tuple[int, int, int] | None = None
    edge_kind = ""
    for number, line in enumerate(lines, 1):
        kind, rest = (*line.strip().split(None, 1), "", "")[:2]
        if kind in ("e", "a") and size is not None:
            if edge_kind not in ("", kind):
                raise source.error("the file has edges (`e` lines) and arcs (`a` lines); give one kind", number)
            edge_kind = kind
            # The weight of an arc is left out. A single `e` must not become a blank line: these are accepted.
            lines[number - 1] = (" ".join(rest.split()[:2]) if kind == "a" else rest) or kind
            continue
        lines[number - 1] = ""
        if kind == "p":
            found = re.fullmatch(r"\s*(?:edge|edges|col|sp)\s+([0-9]{1,18})\s+([0-9]{1,18})", rest)
            if found is None:
                raise source.error(f"the problem line must read `p edge N M`, found {line.strip()!r}", number)
            if size is not None:
                raise source.error(f"a second `p` line, the first is line {size[2]}", number)
            size = (int(found[1]), int(found[2]), number)
            source.check_size(size[0], number)
        elif kind in ("e", "a"):
            raise source.error("an edge before the `p edge N M` line", number)
        elif kind and kind[0] != "c" and kind != "n":
            raise source.error(f"lines start with c, p, n, e or a, found {line.strip()[:60]!r}", number)
    return size, edge_kind == "a"


def _dimacs_pairs(source: Source, lines: list[str], n: int) -> list[int]:
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words and (len(words) != 2 or not all(map(INTEGER.fullmatch, words))):
            raise source.error(
                f"an edge must read `e u v` with vertices 1 to {n}, found 'e {line.strip()[:60]}'", number
            )
    return [int(word) for line in lines for word in line.split()]
