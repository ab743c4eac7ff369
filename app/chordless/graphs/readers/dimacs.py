"""DIMACS files: ``p edge N M``, then ``e u v``."""

from __future__ import annotations

import re
from array import array

import numpy as np

from chordless.graphs.readers.source import Parsed, Source, build_graph
from kernels_ti.graph import IntArray

_EDGE = re.compile(r"\s*[ea]\s+(-?[0-9]{1,18})\s+(-?[0-9]{1,18})(?:\s+(\S.*))?\s*")
_PROBLEM = re.compile(r"\s*p\s+(?:edge|edges|col|sp)\s+([0-9]{1,18})\s+([0-9]{1,18})\s*")


def read_dimacs(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a graph in DIMACS format: ``p edge N M``, then ``e u v`` for each edge, vertices named 1 to N.

    Many DIMACS files have every edge twice, as ``e u v`` and as ``e v u``. They are accepted, too. Lines ``a u v``,
    which may have a weight, are the arcs of a directed graph; such files often begin with ``p sp N M``. ``c`` and ``n``
    lines say nothing about the graph. A GraphError names the line of anything else.
    """
    n, m, header = 0, 0, 0
    edge_kind = ""
    ends, lines = array("q"), array("q")
    for number, line in enumerate(source.text.split("\n"), 1):
        kind = line.split(None, 1)[0] if line.strip() else ""
        if kind in ("e", "a"):
            if not header:
                raise source.error("an edge before the `p edge N M` line", number)
            if edge_kind not in ("", kind):
                raise source.error("the file has edges (`e` lines) and arcs (`a` lines); give one kind", number)
            edge_kind = kind
            edge = _EDGE.fullmatch(line)
            if edge is None or (kind == "e" and edge[3]):
                right = f"`{kind} u v` with vertices 1 to {n}"
                raise source.error(f"an edge must read {right}, found {line.strip()!r}", number)
            u, v = int(edge[1]), int(edge[2])
            if not (1 <= u <= n and 1 <= v <= n):
                raise source.error(f"edge {u} {v}: the vertices are 1 to {n}", number)
            ends.extend((u, v))
            lines.append(number)
        elif kind == "p":
            problem = _PROBLEM.fullmatch(line)
            if problem is None:
                raise source.error(f"the problem line must read `p edge N M`, found {line.strip()!r}", number)
            if header:
                raise source.error(f"a second `p` line, the first is line {header}", number)
            n, m, header = int(problem[1]), int(problem[2]), number
            source.check_size(n, number)
        elif kind and kind[0] != "c" and kind != "n":
            raise source.error(f"lines start with c, p, n, e or a, found {line.strip()!r}", number)
    if not header:
        raise source.error("no `p edge N M` line; a DIMACS graph starts with one")
    pairs, directed = np.array(ends, np.int64).reshape(-1, 2), edge_kind == "a"
    declared = len(pairs)
    if not (simplify or directed or source.directed) and _is_both_ways(pairs):
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    names = tuple(map(str, range(1, n + 1)))
    graph = build_graph(source, pairs - 1, names, simplify=simplify, line_of=lines.__getitem__, directed=directed)
    source.check_edge_count(m, declared, graph.m, header)
    return graph, None


def _is_both_ways(pairs: IntArray) -> bool:
    """Return whether each edge occurs exactly once in each of the two directions."""
    if (pairs[:, 0] == pairs[:, 1]).any():
        return False
    there = np.unique(pairs, axis=0)
    return len(there) == len(pairs) and np.array_equal(there, np.unique(pairs[:, ::-1], axis=0))
