"""Files or endless pipes of many graphs in graph6 or sparse6, one graph on each line, such as ``geng`` writes.

numpy decodes graph6, all lines with the same number of vertices at once. networkx reads the lines of sparse6. Lines
whose graph is directed, or may be a multigraph, are handed on as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from chordless.graphs.readers.incoming import with_newlines
from chordless.graphs.readers.library import LARGEST_LIBRARY_SIZE
from kernels_ti import GraphError
from kernels_ti.adjacency import running, spans
from kernels_ti.graph import IntArray
from kernels_ti.many.graphs import ManyGraphs

LINES_AT_ONCE = 50_000
BYTES_AT_ONCE = 1 << 20
"""A chunk ends with the line that reaches one of these limits."""

LARGEST_TABLE = 128
"""Vertices up to which graphs of one size are decoded together. Larger graphs are decoded one by one."""

Bytes = npt.NDArray[np.uint8]

LEAST, MOST = 63, 126  # the characters ? and ~ stand for 0 and 63
_BLANK = np.isin(np.arange(256), [ord(c) for c in " \t\r"])
HEADERS = (b">>graph6<<", b">>sparse6<<", b">>digraph6<<")
OTHER_KINDS = {
    ord(";"): "incremental sparse6 needs the graph before it; convert the file to graph6",
    ord(">"): "not a header that is known here: >>graph6<<, >>sparse6<< and >>digraph6<< are",
}


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some lines of a file, decoded."""

    graphs: ManyGraphs  # The graphs of the lines that hold one, in their order
    line_numbers: IntArray  # int64, shape (graphs,): the line of each graph, from 1 on in the whole file
    # The lines that are not a graph, ascending: the line number and the error. A blank line is not an error.
    errors: tuple[tuple[int, str], ...]
    # The lines that are to be read one by one, ascending: the line number and the line. These are digraph6, and sparse6
    # where a multigraph is allowed.
    apart: tuple[tuple[int, bytes], ...] = ()


def read_chunks(
    source: IO[bytes], *, lines_at_once: int = LINES_AT_ONCE, simplify: bool = False, multigraph: bool = False
) -> Iterator[Chunk]:
    """Read lines of graph6, sparse6 or digraph6, of any sizes, with or without a header, from any file or pipe.

    With `simplify`, self-loops and repeated edges, which sparse6 may have, are dropped instead of refused. With
    `multigraph`, sparse6 is not decoded. A file without lines gives no chunk.
    """
    line = 1
    for text in _texts(source, lines_at_once):
        text = with_newlines(text)
        yield decoded(text, line, simplify=simplify, multigraph=multigraph)
        line += text.count(b"\n")


def _texts(source: IO[bytes], lines_at_once: int) -> Iterator[bytes]:
    """Cut the input into pieces of whole lines, at most `lines_at_once` in each."""
    lines: list[bytes] = []
    held = 0
    for line in source:
        lines.append(line)
        held += len(line)
        if len(lines) >= lines_at_once or held >= BYTES_AT_ONCE:
            yield b"".join(lines)
            lines, held = [], 0
    if lines:
        yield b"".join(lines)


def decoded(text: bytes, first_line: int = 1, *, simplify: bool = False, multigraph: bool = False) -> Chunk:
    """Decode whole lines of graph6 or sparse6; in errors the first has the number `first_line`. See `read_chunks`."""
    data = np.frombuffer(text, np.uint8)
    starts, ends = _line_ends(data)
    errors: dict[int, str] = {}
    for at in np.flatnonzero(_first_bytes(data, starts, ends) == ord(">")).tolist():
        line = text[starts[at] : ends[at]]
        starts[at] += next((len(header) for header in HEADERS if line.startswith(header)), 0)
    first = _first_bytes(data, starts, ends)
    for kind, message in OTHER_KINDS.items():
        errors |= dict.fromkeys(np.flatnonzero(first == kind).tolist(), message)
    kinds_apart = [ord("&"), *[ord(":")] * multigraph]
    apart = np.flatnonzero(np.isin(first, kinds_apart)).tolist()
    parts = []
    sparse = np.flatnonzero((first == ord(":")) & (not multigraph))
    if len(sparse):
        texts = [text[starts[at] : ends[at]] for at in sparse.tolist()]
        parts.append(_sparse6(texts, sparse, errors, simplify))
    dense = np.flatnonzero((ends > starts) & ~np.isin(first, [ord(":"), ord("&"), *OTHER_KINDS]))
    parts += _graph6(data, starts, ends, dense, errors)
    graphs, lines = _in_order(parts)
    return Chunk(
        graphs,
        lines + first_line,
        tuple((at + first_line, errors[at]) for at in sorted(errors)),
        tuple((at + first_line, text[starts[at] : ends[at]]) for at in apart),
    )


def _line_ends(data: Bytes) -> tuple[IntArray, IntArray]:
    """Return where each line begins and ends, without its newline and surrounding blanks."""
    newlines = np.flatnonzero(data == ord("\n"))
    if not len(data) or data[-1] != ord("\n"):
        newlines = np.append(newlines, len(data))
    starts, ends = np.concatenate(([0], newlines[:-1] + 1)), newlines.copy()
    if _BLANK[data].any():
        solid = np.flatnonzero(~_BLANK[data] & (data != ord("\n")))
        first, last = np.searchsorted(solid, starts), np.searchsorted(solid, ends)
        filled = first < last
        starts[filled], ends[filled] = solid[first[filled]], solid[last[filled] - 1] + 1
        ends[~filled] = starts[~filled]
    return starts, ends


def _first_bytes(data: Bytes, starts: IntArray, ends: IntArray) -> IntArray:
    """Return the first byte of each line, 0 for a blank line."""
    first = np.zeros(len(starts), np.int64)
    filled = starts < ends
    first[filled] = data[starts[filled]]
    return first


Part = tuple[ManyGraphs, IntArray]
"""Graphs, and the line of each within the chunk."""


def _in_order(parts: list[Part]) -> Part:
    """Join parts, and put their graphs in the order of the lines."""
    lines = np.concatenate([np.empty(0, np.int64), *(lines for _, lines in parts)])
    graphs = ManyGraphs.joined([graphs for graphs, _ in parts])
    order = np.argsort(lines)
    return (graphs if len(parts) == 1 else graphs.chosen(order)), lines[order]


def _graph6(data: Bytes, starts: IntArray, ends: IntArray, lines: IntArray, errors: dict[int, str]) -> list[Part]:
    """Decode some lines of graph6; lines with the same number of vertices are decoded together."""
    wrong = np.flatnonzero((data < LEAST) | (data > MOST))
    foreign = np.searchsorted(wrong, ends[lines]) > np.searchsorted(wrong, starts[lines])
    for at in lines[foreign].tolist():
        errors[at] = _foreign("graph6", bytes(data[starts[at] : ends[at]]))
    lines = lines[~foreign]
    sizes, bodies = _sizes(data, starts[lines], ends[lines])
    found = ends[lines] - bodies
    # For more vertices than a line can hold, the product would overflow 64 bits.
    wrong_size = (sizes < 0) | (sizes >= 1 << 31)
    wrong_size[~wrong_size] = found[~wrong_size] != _characters(sizes[~wrong_size])
    some = lines[wrong_size].tolist(), sizes[wrong_size].tolist(), found[wrong_size].tolist()
    for at, size, has in zip(*some, strict=True):
        errors[at] = (
            "not a graph6 line: it ends within the number of vertices"
            if size < 0
            else f"not a graph6 line: a graph of {size:,} vertices has {_characters(size):,} characters after its "
            f"size, this line has {has:,}"
        )
    lines, sizes, bodies = lines[~wrong_size], sizes[~wrong_size], bodies[~wrong_size]
    return [
        (_same_size(data, bodies[sizes == size], size), lines[sizes == size]) for size in sorted(set(sizes.tolist()))
    ]


def _characters(size: Any) -> Any:
    """Return the number of characters that hold the bits of a graph, or of several: six bits in each."""
    return (size * (size - 1) // 2 + 5) // 6


def _foreign(kind: str, line: bytes) -> str:
    shown = repr(line[:40]).removeprefix("b")
    return f"not a {kind} line: its characters are ? to ~, found {shown}"


def _sizes(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Read the number of vertices of each line (-1 if it is cut off) and where its bits begin.

    The number is one character, or ~ and three characters, or ~~ and six.
    """
    last = len(data) - 1  # bytes read beyond a line are not used
    marks = (data[starts] == MOST).astype(np.int64)
    marks += (marks == 1) & (data[np.minimum(starts + 1, last)] == MOST)
    digits = np.array([1, 3, 6])[marks]
    sizes = np.zeros(len(starts), np.int64)
    for k in range(6):
        sizes = np.where(
            k < digits, sizes << 6 | (data[np.minimum(starts + marks + k, last)].astype(np.int64) - LEAST), sizes
        )
    bodies = starts + marks + digits
    return np.where(bodies <= ends, sizes, -1), bodies


def _same_size(data: Bytes, bodies: IntArray, size: int) -> ManyGraphs:
    if size > LARGEST_TABLE:
        return ManyGraphs.joined([_large(data[body : body + _characters(size)], size) for body in bodies.tolist()])
    sixes = data[bodies[:, None] + np.arange(_characters(size))]
    adjacent = _unpacked(sixes).reshape(len(bodies), -1)[:, : size * (size - 1) // 2]
    edge_counts = np.count_nonzero(adjacent, axis=1)
    edges = np.take(_pairs(size), np.nonzero(adjacent)[1], axis=0)
    return ManyGraphs(running(np.full(len(bodies), size)), running(edge_counts), edges)


def _large(characters: Bytes, size: int) -> ManyGraphs:
    """Decode one large graph, in which most characters hold no edge."""
    at = np.flatnonzero(characters != LEAST)
    which, bit = np.nonzero(_unpacked(characters[at]))
    bits = 6 * at[which] + bit
    bits = bits[bits < size * (size - 1) // 2]
    before = running(np.arange(size))
    columns = np.searchsorted(before, bits, "right") - 1
    edges = np.column_stack((bits - before[columns], columns)).astype(np.int32)
    return ManyGraphs(running(np.array([size])), running(np.array([len(edges)])), edges)


def _unpacked(characters: Bytes) -> Bytes:
    """Return the bits of characters, six in a new last axis."""
    return np.unpackbits((characters - np.uint8(LEAST))[..., None], axis=-1)[..., 2:]


@lru_cache
def _pairs(size: int) -> npt.NDArray[np.int32]:
    """Pairs of vertices in the order of the bits: column by column of the upper triangle."""
    columns = np.arange(size)
    low = spans(np.zeros(size, np.int64), columns)
    return np.column_stack((low, np.repeat(columns, columns))).astype(np.int32)


def _sparse6(texts: list[bytes], lines: IntArray, errors: dict[int, str], simplify: bool) -> Part:
    vertices, edges, good = [], [np.empty((0, 2), np.int32)], []
    for text, line in zip(texts, lines.tolist(), strict=True):
        try:
            size, pairs = _sparse6_line(text, simplify)
        except GraphError as error:
            errors[line] = str(error)
            continue
        vertices.append(size)
        edges.append(pairs)
        good.append(line)
    counts = np.array([len(pairs) for pairs in edges[1:]], np.int64)
    graphs = ManyGraphs(running(np.array(vertices, np.int64)), running(counts), np.concatenate(edges))
    return graphs, np.array(good, np.int64)


def _sparse6_line(text: bytes, simplify: bool) -> tuple[int, npt.NDArray[np.int32]]:
    import networkx as nx

    if any(not LEAST <= byte <= MOST for byte in text[1:]):
        raise GraphError(_foreign("sparse6", text))
    try:
        size, _ = nx.readwrite.graph6.data_to_n([byte - LEAST for byte in text[1:]])
        if size > LARGEST_LIBRARY_SIZE:
            raise GraphError(f"{size:,} vertices are too many for sparse6; the most are {LARGEST_LIBRARY_SIZE:,}")
        graph = nx.from_sparse6_bytes(text)
    except (nx.NetworkXError, IndexError, ValueError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError("not a sparse6 line: it ends within the number of vertices or an edge") from error
    if simplify:
        graph = nx.Graph(graph)
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    if graph.is_multigraph():
        u, v, _ = next(edge for edge in graph.edges(keys=True) if edge[2])
        raise GraphError(f"the edge {u} - {v} is there more than once")
    loop = next(nx.selfloop_edges(graph), None)
    if loop is not None:
        raise GraphError(f"vertex {loop[0]} has a self-loop")
    return size, np.array(list(graph.edges()), np.int32).reshape(-1, 2)
