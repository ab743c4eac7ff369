"""What every reader needs: the bytes with the name they go by, errors that name the line, and the way to a graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels_ti.errors import GraphError
from kernels_ti.graph import Graph, IntArray

Positions = dict[int, tuple[float, float]]
Parsed = tuple[Graph, Positions | None]

STANDARD_INPUT = "standard input"
"""The name of what is no file, in messages."""
LARGEST_DECLARED_SIZE = 10_000_000
UNDIRECTED_ONLY = (
    "chordless cycles are those of undirected graphs — use --simplify to drop directions, "
    "or `chordless overlap` for the niche overlap graph of a food web"
)
NO_LOOPS = "a simple graph has no loops — --simplify drops them"
EDGES_ONCE = "a simple graph has each edge once — --simplify merges them"


@dataclass(frozen=True)
class Source:
    """A graph file in memory.

    Parameters
    ----------
    name : str
        What messages call it: the path as given, or `STANDARD_INPUT`.
    data : bytes
        Its content, decompressed.
    """

    name: str
    data: bytes

    def error(self, message: str, line: int | None = None) -> GraphError:
        """Make the error that says what is wrong with this file, and in which line if that is known."""
        # Standard input has no name to which a line could be appended, as an editor or `FILE:12` takes it.
        separator = ", line " if self.name == STANDARD_INPUT else ":"
        return GraphError(f"{self.name}{'' if line is None else f'{separator}{line}'}: {message}")

    @cached_property
    def text(self) -> str:
        """The content as text with plain line feeds.

        Raises
        ------
        GraphError
            If it is not UTF-8 text.
        """
        if b"\0" in self.data:
            raise self.error("this is a binary file (it holds NUL bytes); a graph file is UTF-8 text")
        try:
            return self.data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            byte = self.data[error.start]
            raise self.error(f"byte 0x{byte:02x} is not UTF-8 text; save the file as UTF-8", line) from None

    def check_size(self, n: int, line: int | None = None, *, largest: int = LARGEST_DECLARED_SIZE) -> None:
        """Refuse a declared number of vertices that memory would not hold, before anything is allocated for it."""
        if n > largest:
            raise self.error(f"the file declares {n:,} vertices; graphs of up to {largest:,} are read", line)

    def check_edge_count(self, declared: int, found: int, merged: int, line: int) -> None:
        """Compare the declared number of edges with that of the edge lines, or of the edges left by simplify."""
        if declared not in (found, merged):
            raise self.error(f"the header declares m={declared}, but the file has m={found}", line)


@contextmanager
def readable(source: Source, what: str, *, hint: str = "") -> Iterator[None]:
    """Turn whatever a library raises about malformed input into one line that this file is not a readable `what`."""
    try:
        yield
    except (GraphError, MemoryError):
        raise
    except Exception as error:  # On malformed input the readers raise errors of nearly every class.
        reason = " ".join(str(error).split()) or type(error).__name__
        line = None
        if found := re.match(r"Line ([0-9]+): ", reason):  # as scipy says it
            line, reason = int(found[1]), reason[found.end() :]
        raise source.error(f"not a readable {what}: {reason[:200].rstrip(' .:')}{hint}", line) from error


def build_graph(
    source: Source,
    ends: npt.ArrayLike,
    names: Sequence[Hashable],
    *,
    simplify: bool,
    line_of: Callable[[int], int] | None = None,
) -> Graph:
    """Make the graph, and say what the first loop or repeated edge is, and in which line, if it is not simple.

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
        The line that edge number i came from; called for errors only. Libraries do not tell.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        Unless `simplify`, for a self-loop or a repeated edge.
    """
    pairs = np.asarray(ends, np.int64).reshape(-1, 2)
    try:
        return Graph.from_edge_array(pairs, names=names, simplify=simplify)
    except GraphError as error:
        row, message = _first_offence(pairs, names, line_of)
        raise source.error(message, None if line_of is None else line_of(row)) from error


def _first_offence(pairs: IntArray, names: Sequence[Hashable], line_of: Callable[[int], int] | None) -> tuple[int, str]:
    seen: dict[tuple[int, int], int] = {}
    for row, (u, v) in enumerate(pairs.tolist()):
        if u == v:
            return row, f"edge from {names[u]} to itself; {NO_LOOPS}"
        first = seen.setdefault((min(u, v), max(u, v)), row)
        if first != row:
            where = "is there more than once" if line_of is None else f"is already in line {line_of(first)}"
            return row, f"edge {names[u]} - {names[v]} {where}; {EDGES_ONCE}"
    raise AssertionError("the graph is simple")


def label_names(labels: Sequence[str | None], ids: Sequence[str]) -> tuple[str, ...]:
    """Choose the vertex names: the labels if every vertex has one and they all differ, otherwise the ids."""
    given = [label for label in labels if label]
    return tuple(given) if len(set(given)) == len(ids) else tuple(ids)
