"""Shared by all readers: the bytes of a file with its name, errors that name the line, and making the graph."""

from __future__ import annotations

import codecs
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from chordless.graphs.readers.incoming import MEMORY_PER_EDGE, MEMORY_PER_VERTEX, SHOWN_STANDARD_INPUT, Limits
from chordless.words.numbers import bytes_text
from chordless.words.shown import shortened
from kernels_ti import Graph, GraphError
from kernels_ti.errors import MULTIGRAPH, SIMPLIFY, parameter, worded
from kernels_ti.graph import IntArray

Positions = dict[int, tuple[float, float]]
Parsed = tuple[Graph, Positions | None]

LARGEST_DECLARED_SIZE = 10_000_000
NO_LOOPS = f"a simple graph has no loops — {SIMPLIFY} drops them, {MULTIGRAPH} keeps them"
EDGES_ONCE = f"a simple graph has each edge once — {SIMPLIFY} merges them, {MULTIGRAPH} keeps them"
UTF_8 = "utf-8"
_AT_ONCE = 1 << 18
# The mark of UTF-32 in little-endian order begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    32: (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    16: (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_ZIP_MAGIC = b"PK\x03\x04"

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")


@dataclass(frozen=True)
class Source:
    """A graph file in memory."""

    name: str  # Its name in messages: the path as given, or `SHOWN_STANDARD_INPUT`
    data: bytes  # Its content, decompressed
    encoding: str = UTF_8  # The encoding of its text
    limits: Limits = field(default_factory=Limits)  # Limits of memory and time for reading it
    # Parts of the file that were ignored or interpreted, which the user should know of: one line of text each
    notes: list[str] = field(default_factory=list)
    directed: bool = False  # The graph is to be taken as directed, although the format does not say so
    multigraph: bool = False  # Self-loops and repeated edges are to be kept

    def __post_init__(self) -> None:
        # Excel writes such line ends as "CSV (Macintosh)". A CR beside line feeds is a blank.
        if b"\r" in self.data and b"\n" not in self.data and "\r".encode(self.encoding) == b"\r":
            object.__setattr__(self, "data", self.data.replace(b"\r", b"\n"))

    def error(self, message: str, line: int | None = None) -> GraphError:
        """Return the error with this message about this file, and its line if known, shortened where it is long."""
        return GraphError(f"{self._place(line)}: {shortened(message)}")

    def note(self, message: str, line: int | None = None) -> None:
        """Keep a note for the user about this file, and its line if known."""
        self.notes.append(f"{self._place(line)}: {shortened(message)}")

    def _place(self, line: int | None) -> str:
        # Standard input has no path, so the form `FILE:12` would make no sense.
        separator = ", line " if self.name == SHOWN_STANDARD_INPUT else ":"
        return self.name if line is None else f"{self.name}{separator}{line}"

    @cached_property
    def text(self) -> str:
        """The content as text with plain line feeds; a GraphError if it is not text in the encoding."""
        return self._decoded(0, len(self.data))

    def line_pieces(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines of `text` some at a time, to save memory: the first number, the lines."""
        # In another encoding a line end may be other bytes.
        is_utf_8 = self.encoding == UTF_8
        whole: Any = self.data if is_utf_8 else self.text
        feed: Any = b"\n" if is_utf_8 else "\n"
        number, start = 1, 0
        while start < len(whole):
            end = len(whole)
            if end - start > _AT_ONCE:
                end = whole.rfind(feed, start, start + _AT_ONCE) + 1 or whole.find(feed, start) + 1 or end
            text = self._decoded(start, end) if is_utf_8 else whole[start:end]
            lines = text.removesuffix("\n").split("\n")
            yield number, lines
            number += len(lines)
            start = end

    def _decoded(self, start: int, end: int) -> str:
        if self.encoding == UTF_8 and self.data.find(b"\0", start, end) >= 0:
            for bits, marks in _BYTE_ORDER_MARKS.items():
                if self.data.startswith(marks):
                    hint = f"say so with {parameter('encoding', f'utf-{bits}')}, or save the file as UTF-8"
                    raise self.error(f"this is UTF-{bits} text: {hint}")
            if self.data.startswith(_ZIP_MAGIC):
                raise self.error("this is a ZIP archive, as Excel saves: save the table as CSV, or unpack it")
            raise self.error("this is a binary file (it holds NUL bytes); a graph file is UTF-8 text")
        try:
            text = self.data[start:end].decode(self.encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, start + error.start) + 1
            byte = self.data[start + error.start]
            wanted = "UTF-8" if self.encoding == UTF_8 else self.encoding
            hint = f"save the file as UTF-8, or say what it is, such as {parameter('encoding', 'latin-1')}"
            raise self.error(f"byte 0x{byte:02x} is not {wanted} text; {hint}", line) from None
        if "\0" in text:
            raise self.error("the text holds NUL characters: this is no graph file, or it has another encoding")
        if self.encoding != UTF_8 and "\n" not in text:  # in UTF-16 a line end is not the byte that was looked for
            text = text.replace("\r", "\n")
        return text.removeprefix("\ufeff") if start == 0 else text

    def check_room(self, edges: int, vertices: int) -> None:
        """Raise an error if a graph of this size, beside the file, takes more memory than reading may use."""
        needed = len(self.data) + MEMORY_PER_EDGE * edges + MEMORY_PER_VERTEX * vertices
        if needed > self.limits.most_bytes:
            raise self.error(
                f"{edges:,} edges of {vertices:,} vertices take {bytes_text(needed)}: more than memory allows here "
                f"({parameter('memory')} sets another limit)"
            )

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
        if "integer string conversion" in reason:  # Python's own limit
            longest = max(re.finditer("[0-9]+", source.text), key=lambda found: len(found[0]))
            most = f"the numbers of a {what} have at most {sys.get_int_max_str_digits():,}"
            at = source.text.count("\n", 0, longest.start()) + 1
            raise source.error(f"a number of {len(longest[0]):,} digits; {most}", at) from error
        if isinstance(error, KeyError):
            reason += " is missing"
        if isinstance(error, RecursionError):
            reason = "its values are nested too deeply"
        line = None
        if found := re.match(r"Line ([0-9]+): ", reason):  # the form of scipy's messages
            line, reason = int(found[1]), reason[found.end() :]
        raise source.error(f"not a readable {what}: {reason[:200].rstrip(' .:')}{hint}", line) from error


def format_options(*formats: str) -> str:
    """Return how a message names the option that says the format of a graph, with each of some formats."""
    options = " or ".join(f"--format {each}" for each in formats)
    return worded(
        " or ".join(f'file_format="{each}"' for each in formats),
        f"{options} (of chordless batch, plot and export: --graph-format)",
    )


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
    """Make the graph of edges, shape (m, 2); a GraphError names a loop or a repeated edge that it may not have.

    `line_of` returns the line number of edge i, for that error only; libraries do not tell it. With `directed` the file
    says that edges are arcs. With `simplify`, or a `multigraph` source, there are no such errors.
    """
    pairs = np.asarray(ends, np.int64).reshape(-1, 2)
    directed = directed or source.directed
    try:
        graph = Graph.from_edge_array(
            pairs, n=len(names), simplify=simplify, directed=directed, multigraph=source.multigraph
        )
    except GraphError as error:
        offence = _first_offence(source, pairs, names.__getitem__, line_of, directed)
        raise (error if offence is None else offence) from error
    return replace(graph, vertex_names=tuple(names))


def check_edges(
    source: Source,
    pairs: IntArray,
    name_of: Callable[[int], Hashable],
    line_of: Callable[[int], int],
    *,
    simplify: bool,
    directed: bool = False,
) -> None:
    """Raise the error of `build_graph` for the first edges of a file, before the rest is read."""
    if simplify or source.multigraph:
        return
    if offence := _first_offence(source, pairs, name_of, line_of, directed or source.directed):
        raise offence


def _first_offence(
    source: Source,
    pairs: IntArray,
    name_of: Callable[[int], Hashable],
    line_of: Callable[[int], int] | None,
    directed: bool,
) -> GraphError | None:
    """Return the error for the first loop, where there may be none, or the first repeated edge."""
    low, high = (pairs[:, 0], pairs[:, 1]) if directed else (pairs.min(axis=1), pairs.max(axis=1))
    loops = np.flatnonzero(low == high)[:1] if not directed else np.empty(0, np.int64)
    # Sorted so, equal pairs are neighbours, in the order of their rows.
    order = np.lexsort((high, low))
    same = (low[order[1:]] == low[order[:-1]]) & (high[order[1:]] == high[order[:-1]])
    repeats = order[1:][same]
    row = min((int(rows.min()) for rows in (loops, repeats) if len(rows)), default=None)
    if row is None:
        return None
    u, v = (name_of(int(end)) for end in pairs[row])
    line = None if line_of is None else line_of(row)
    if len(loops) and row == loops[0]:
        return source.error(f"edge from {u} to itself; {NO_LOOPS}", line)
    first = int(np.argmax((low == low[row]) & (high == high[row])))
    where = "is there more than once" if line_of is None else f"is already in line {line_of(first)}"
    return source.error(f"edge {u} {'->' if directed else '-'} {v} {where}; {EDGES_ONCE}", line)


def names_by_label(source: Source, labels: Sequence[str | None], ids: Sequence[str]) -> tuple[str, ...]:
    """Choose the vertex names as `label_names` does, with a note where labels are left out."""
    given = Counter(label for label in labels if label)
    if given and len(given) < len(ids):
        (label, times), labelled = given.most_common(1)[0], sum(given.values())
        why = (
            f"{times:,} vertices are called {label!r}"
            if times > 1
            else f"{labelled:,} of {len(ids):,} vertices have one"
        )
        source.note(f"the labels are left out, as {why}; the vertices are called {ids[0]!r} and so on")
    return label_names(labels, ids)


def label_names(labels: Sequence[str | None], ids: Sequence[str]) -> tuple[str, ...]:
    """Choose the vertex names: the labels if every vertex has one and they all differ, otherwise the ids."""
    given = [label for label in labels if label]
    return tuple(given) if len(set(given)) == len(ids) else tuple(ids)
