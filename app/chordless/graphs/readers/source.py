"""Shared by all readers: the bytes of a file with its name, errors that name the line, and making the graph."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from chordless.graphs.readers.incoming import MEMORY_PER_VERTEX, SHOWN_STANDARD_INPUT, Limits
from chordless.words.numbers import bytes_text
from kernels_ti import Graph, GraphError
from kernels_ti.errors import MULTIGRAPH, SIMPLIFY, parameter
from kernels_ti.graph import IntArray

Positions = dict[int, tuple[float, float]]
Parsed = tuple[Graph, Positions | None]

LARGEST_DECLARED_SIZE = 10_000_000
NO_LOOPS = f"a simple graph has no loops — {SIMPLIFY} drops them, {MULTIGRAPH} keeps them"
EDGES_ONCE = f"a simple graph has each edge once — {SIMPLIFY} merges them, {MULTIGRAPH} keeps them"
UTF_8 = "utf-8"

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")


@dataclass(frozen=True)
class Source:
    """A graph file in memory.

    Parameters
    ----------
    name : str
        Its name in messages: the path as given, or `SHOWN_STANDARD_INPUT`.
    data : bytes
        Its content, decompressed.
    encoding : str
        The encoding of its text.
    limits : Limits
        Limits of memory and time for reading it.
    notes : list of str
        Parts of the file that were ignored or interpreted, which the user should know of: one line of text each.
    directed : bool
        The graph is to be taken as directed, although the format does not say so.
    multigraph : bool
        Self-loops and repeated edges are to be kept.
    """

    name: str
    data: bytes
    encoding: str = UTF_8
    limits: Limits = field(default_factory=Limits)
    notes: list[str] = field(default_factory=list)
    directed: bool = False
    multigraph: bool = False

    def error(self, message: str, line: int | None = None) -> GraphError:
        """Return the error with this message about this file, and its line if known."""
        return GraphError(f"{self._place(line)}: {message}")

    def note(self, message: str, line: int | None = None) -> None:
        """Keep a note for the user about this file, and its line if known."""
        self.notes.append(f"{self._place(line)}: {message}")

    def _place(self, line: int | None) -> str:
        # Standard input has no path, so the form `FILE:12` would make no sense.
        separator = ", line " if self.name == SHOWN_STANDARD_INPUT else ":"
        return self.name if line is None else f"{self.name}{separator}{line}"

    @cached_property
    def text(self) -> str:
        """The content as text with plain line feeds.

        Raises
        ------
        GraphError
            If it is not text in the encoding.
        """
        if self.encoding == UTF_8 and b"\0" in self.data:
            if self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise self.error("this is UTF-16 text: say so with --encoding utf-16, or save the file as UTF-8")
            raise self.error("this is a binary file (it holds NUL bytes); a graph file is UTF-8 text")
        try:
            text = self.data.decode(self.encoding).removeprefix("\ufeff").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            byte = self.data[error.start]
            wanted = "UTF-8" if self.encoding == UTF_8 else self.encoding
            hint = f"save the file as UTF-8, or say what it is, such as {parameter('encoding', 'latin-1')}"
            raise self.error(f"byte 0x{byte:02x} is not {wanted} text; {hint}", line) from None
        if "\0" in text:
            raise self.error("the text holds NUL characters: this is no graph file, or it has another encoding")
        return text

    def check_size(self, n: int, line: int | None = None, *, largest: int = LARGEST_DECLARED_SIZE) -> None:
        """Raise an error if a declared number of vertices does not fit in memory, before anything is allocated."""
        if n > largest:
            raise self.error(f"the file declares {n:,} vertices; graphs of up to {largest:,} are read", line)
        if n > self.limits.most_vertices:
            needed = bytes_text(n * MEMORY_PER_VERTEX)
            raise self.error(
                f"the file declares {n:,} vertices, which take {needed}: more than memory allows here "
                f"({parameter('memory')} sets another limit)",
                line,
            )

    def check_edge_count(self, declared: int, found: int, merged: int, line: int) -> None:
        """Compare the declared number of edges with the edge lines, or with the edges after `simplify`."""
        if declared not in (found, merged):
            raise self.error(f"the header declares m={declared}, but the file has m={found}", line)


@contextmanager
def readable(source: Source, what: str, *, hint: str = "") -> Iterator[None]:
    """Turn any error of a library about malformed input into one line: this file is not a readable `what`."""
    try:
        yield
    except (GraphError, MemoryError):
        raise
    except Exception as error:  # on malformed input the libraries raise errors of nearly every class
        reason = " ".join(str(error).split()) or type(error).__name__
        line = None
        if found := re.match(r"Line ([0-9]+): ", reason):  # the form of scipy's messages
            line, reason = int(found[1]), reason[found.end() :]
        raise source.error(f"not a readable {what}: {reason[:200].rstrip(' .:')}{hint}", line) from error


def number_of(word: str) -> float | None:
    """Return the value of a number in ASCII digits; None for any other word.

    Python's own `float` also accepts ``1_0``, ``nan``, ``inf`` and the digits of every script.
    """
    number = float(word) if _NUMBER.fullmatch(word) else math.nan
    return number if math.isfinite(number) else None


def build_graph(
    source: Source,
    ends: npt.ArrayLike,
    names: Sequence[Hashable],
    *,
    simplify: bool,
    line_of: Callable[[int], int] | None = None,
    directed: bool = False,
) -> Graph:
    """Make the graph; if it has a loop or a repeated edge that it may not have, the error names it and its line.

    Parameters
    ----------
    source : Source
        Where the edges come from.
    ends : array_like of int, shape (m, 2)
        Vertex indices of each edge.
    names : sequence of hashable
        Name of every vertex, all different.
    simplify : bool
        Drop loops and repeated edges.
    line_of : callable, optional
        Returns the line number of edge i; called for errors only. Libraries do not tell it.
    directed : bool
        The file says that its graph is directed: each edge leads from its first vertex to the second.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        Unless `simplify`, or `multigraph` of the source, for a repeated edge and, without directions, for a self-loop.
    """
    pairs = np.asarray(ends, np.int64).reshape(-1, 2)
    directed = directed or source.directed
    try:
        graph = Graph.from_edge_array(
            pairs, n=len(names), simplify=simplify, directed=directed, multigraph=source.multigraph
        )
    except GraphError as error:
        row, message = _first_offence(pairs, names, line_of, directed)
        raise source.error(message, None if line_of is None else line_of(row)) from error
    return replace(graph, vertex_names=tuple(names))


def _first_offence(
    pairs: IntArray, names: Sequence[Hashable], line_of: Callable[[int], int] | None, directed: bool
) -> tuple[int, str]:
    seen: dict[tuple[int, int], int] = {}
    for row, (u, v) in enumerate(pairs.tolist()):
        if u == v and not directed:
            return row, f"edge from {names[u]} to itself; {NO_LOOPS}"
        first = seen.setdefault((u, v) if directed else (min(u, v), max(u, v)), row)
        if first != row:
            where = "is there more than once" if line_of is None else f"is already in line {line_of(first)}"
            return row, f"edge {names[u]} {'->' if directed else '-'} {names[v]} {where}; {EDGES_ONCE}"
    raise AssertionError("the graph is simple")


def label_names(labels: Sequence[str | None], ids: Sequence[str]) -> tuple[str, ...]:
    """Choose the vertex names: the labels if every vertex has one and they all differ, otherwise the ids."""
    given = [label for label in labels if label]
    return tuple(given) if len(set(given)) == len(ids) else tuple(ids)
