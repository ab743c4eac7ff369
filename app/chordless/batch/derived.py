"""Outputs that are made of the lines of a batch by an expression: the graphs that it keeps, a sequence of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from chordless.batch.output import DONE
from chordless.batch.properties import Property
from chordless.files import replaced, writing
from chordless.graphs.readers.library import read_graph6
from chordless.graphs.readers.source import Source
from kernels_ti import Graph, OptionError


def kept_graphs(lines: Iterable[dict[str, Any]], keep: Property) -> Iterator[bytes]:
    """Yield the graphs for which an expression is true, as graph6; an OptionError for one that graph6 cannot hold."""
    for line in lines:
        if line["status"] != DONE[0]:
            continue
        text = line["graph6"]
        if text is None:
            raise OptionError(f"{line['graph']} is directed or a multigraph, which graph6 cannot hold")
        if keep.of(line, partial(_graph_of, line)):
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
            value = self._term.of(line, partial(_graph_of, line))
            if isinstance(value, float) and not value.is_integer():
                raise OptionError(f"the term of {line['graph']} is infinite; a b-file has whole numbers")
            yield f"{self._next} {int(value)}\n".encode()
            self._next += 1


def write_rows(rows: Iterable[bytes], path: str) -> None:
    """Write rows to a file, which appears only when it is complete; an EngineError if it cannot be written."""
    with writing(path), replaced(path, tidy=True) as stream:
        stream.writelines(rows)


def _graph_of(line: dict[str, Any]) -> Graph:
    graph, _ = read_graph6(Source(line["graph"], line["graph6"].encode()))
    return graph
