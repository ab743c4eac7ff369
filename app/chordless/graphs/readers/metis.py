"""METIS files: the numbers of vertices and edges, then a line for each vertex with the numbers of its neighbours."""

from __future__ import annotations

import re
from array import array

import numpy as np

from chordless.graphs.readers.source import Parsed, Source, build_graph
from kernels_ti import GraphError
from kernels_ti.graph import IntArray

_HEADING = re.compile(r"\s*([0-9]{1,18})\s+([0-9]{1,18})(\s+0{1,3})?\s*")
_NUMBER = re.compile("[0-9]{1,18}")

_NO_HEADING = "METIS begins with `n m`, the numbers of vertices and edges; weights are not read"


def is_metis(source: Source) -> bool:
    """Return whether every line of a file is as METIS has it, and there is an edge."""
    try:
        return len(_parsed(source)[1]) > 0
    except GraphError:  # it is a list of edges, whose reader tells a fault
        return False


def read_metis(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a graph of METIS: ``n m``, then the neighbours of the vertices 1 to n, a line for each vertex.

    A GraphError names the line of anything that does not fit; files with weights are refused.
    """
    n, ends, lines = _parsed(source)
    names = tuple(map(str, range(1, n + 1)))
    return build_graph(source, ends - 1, names, simplify=simplify, line_of=lambda row: int(lines[row])), None


def _parsed(source: Source) -> tuple[int, IntArray, IntArray]:
    """Return n, the edges, shape (m, 2), and the line of each."""
    n = m = v = heading = 0
    ends, lines = array("q"), array("q")
    for first, piece in source.line_pieces():
        for number, line in enumerate(piece, first):
            if line.startswith("%") or (not line.strip() and (not heading or v == n)):
                continue
            if not heading:
                if (found := _HEADING.fullmatch(line)) is None:
                    raise source.error(_NO_HEADING, number)
                n, m, heading = int(found[1]), int(found[2]), number
                source.check_size(n, number)
                continue
            v += 1
            for word in line.split():
                if v > n or not _NUMBER.fullmatch(word) or not 1 <= int(word) <= n:
                    raise source.error(f"line {v} of {n} has numbers of neighbours, from 1 to {n}: {word!r}", number)
                ends.extend((v, int(word)))
                lines.append(number)
            if len(lines) > 2 * m:
                raise source.error(f"the heading declares m={m}, and here begins the next edge", number)
    if not heading:
        raise source.error(_NO_HEADING)
    if v < n or len(lines) < 2 * m:
        raise source.error(f"the heading declares n={n} and m={m}, but the file has {v} and {len(lines) // 2}", heading)
    pairs, at = np.array(ends, np.int64).reshape(-1, 2), np.array(lines, np.int64)
    lacking = np.flatnonzero(~np.isin(pairs @ (n + 1, 1), pairs @ (1, n + 1)))
    if len(lacking):
        u, w = pairs[lacking[0]]
        raise source.error(f"{w} is a neighbour of {u}, but {u} none of {w}", int(at[lacking[0]]))
    once = pairs[:, 0] <= pairs[:, 1]
    return n, pairs[once], at[once]
