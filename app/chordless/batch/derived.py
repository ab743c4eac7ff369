"""Outputs that are made of the lines of a batch by an expression: the graphs that it keeps, a sequence of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from chordless.batch.output import DONE
from chordless.batch.properties import OF_SIMPLE_GRAPHS, Property
from chordless.graphs.readers.library import read_graph6
from chordless.graphs.readers.source import Source
from chordless.graphs.writers import format_to_write, line_of_graph
from kernels_ti import Graph, OptionError

_KINDS = {"&": ("directed", ".d6"), ":": ("a multigraph", ".s6")}
"""What a graph is by the first letter of its line, and the suffix of the format that holds it."""

_SIMPLE = ("simple and undirected", ".g6")


def kept_graphs(lines: Iterable[dict[str, Any]], keep: Property, suffix: str) -> Iterator[bytes]:
    """Yield the graphs for which an expression is true, in the format with this suffix, "" for that of each graph.

    Raise OptionError for a graph that the format cannot hold, or that does not have what the expression asks for.
    """
    for line in lines:
        if line["status"] != DONE[0]:
            continue
        text = line["graph6"]
        if text is None:
            raise OptionError(f"{line['graph']} is a directed multigraph, which no line of --keep can hold")
        kind, holder = _checked_kind(line, keep)
        if not keep.of(line, partial(_graph_of, line)):
            continue
        if suffix == ".s6" and kind == _SIMPLE[0]:
            text = line_of_graph(_graph_of(line), suffix)
        elif suffix not in ("", holder):
            name = format_to_write(f"graph{suffix}").name
            raise OptionError(f"{line['graph']} is {kind}, which {name} cannot hold: write to a file *{holder}")
        yield text.encode() + b"\n"


class TermRows:
    """The rows ``n a(n)`` of a b-file, from n = `first` on, which has no gaps: it ends at a graph that was not done."""

    def __init__(self, term: Property, first: int) -> None:
        self._term = term
        self._next = first
        self._ended = False

    def rows(self, lines: Iterable[dict[str, Any]]) -> Iterator[bytes]:
        """Yield the rows of the next lines; an OptionError for a term that is infinite, or divided by zero."""
        for line in lines:
            self._ended = self._ended or line["status"] != DONE[0]
            if self._ended:
                return
            _checked_kind(line, self._term)
            value = self._term.of(line, partial(_graph_of, line))
            if isinstance(value, float) and not value.is_integer():
                raise OptionError(f"the term of {line['graph']} is infinite; a b-file has whole numbers")
            yield f"{self._next} {int(value)}\n".encode()
            self._next += 1


def _checked_kind(line: dict[str, Any], expression: Property) -> tuple[str, str]:
    """Return what kind the graph of a line is, with the suffix of its format; an OptionError if it lacks a property."""
    kind = _KINDS.get((line.get("graph6") or "?")[0], _SIMPLE)
    if kind is not _SIMPLE and expression.needs_graph:
        asked = " and ".join(sorted(expression.names & OF_SIMPLE_GRAPHS))
        raise OptionError(f"{line['graph']} is {kind[0]}, and {asked} of such a graph is not defined")
    return kind


def _graph_of(line: dict[str, Any]) -> Graph:
    graph, _ = read_graph6(Source(line["graph"], line["graph6"].encode()))
    return graph
