"""The graphs of a batch, in order: from files with one graph, files with many, specs and standard input."""

from __future__ import annotations

import contextlib
import functools
import math
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import itemgetter
from typing import IO, BinaryIO, cast

import numpy as np

from chordless.batch.detect import many_format
from chordless.batch.kept_input import keep_lone_graph, keeping, path_to_keep
from chordless.graphs.graph6 import Chunk as DecodedLines
from chordless.graphs.graph6 import read_chunks
from chordless.graphs.load import LoadedGraph, load_as, require_direction_unsaid
from chordless.graphs.molecules import MoleculeFormat, read_molecules
from chordless.graphs.overlap import load_overlap
from chordless.graphs.readers.incoming import STANDARD_INPUT, Limits, open_input
from chordless.graphs.readers.library import read_graph6
from chordless.graphs.readers.source import Source
from chordless.protocol.orders import BatchJob
from kernels_ti import ChordlessError, EngineError, Graph, GraphError
from kernels_ti.errors import quantity
from kernels_ti.many.graphs import ManyGraphs

_LINE_NUMBER = re.compile(r":[0-9]+(?=: )")
LINES_AT_ONCE = 1 << 14  # Number of lines that are decoded and counted together: about half a second of work


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive graphs of one input."""

    job: BatchJob  # Of every graph
    # The input. If it has many graphs: a colon and the line number follow, or for SDF the number of the graph
    titles: Sequence[str]
    names: Sequence[str | None]  # In the file; None for a graph without a name
    errors: dict[int, str] = field(default_factory=dict)  # Of unreadable graphs, by index in `titles`
    graphs: ManyGraphs | None = None  # All readable graphs, in order; empty if `loaded` is given
    loaded: LoadedGraph | None = None  # The graph of an input that holds exactly one
    # The words of the reader: the title of the graph, and the note, which begins with it
    notes: Sequence[tuple[str, str]] = ()
    # For molecules: returns the names of the vertices of readable graph `i`
    atom_names: Callable[[int], tuple[str, ...]] | None = None

    @functools.cached_property
    def interval(self) -> bool | None:
        """Whether the niche overlap graph of a food web is an interval graph; None for any other graph."""
        if not self.job.overlap or self.loaded is None:
            return None
        from chordless.graphs.interval import interval_order

        return interval_order(self.loaded.graph) is not None

    def graph(self, i: int) -> LoadedGraph:
        """Return readable graph `i`."""
        if self.loaded is not None:
            return self.loaded
        assert self.graphs is not None
        places = [place for place in range(len(self.titles)) if place not in self.errors] if self.errors else None
        graph = self.graphs.graph(i)
        if self.atom_names is not None:
            graph = Graph(graph.row_ptr, graph.col_idx, self.atom_names(i))
        return LoadedGraph(graph, self.titles[i if places is None else places[i]])


def read_job(job: BatchJob, limits: Limits, output: str | None = None) -> Iterator[Chunk]:
    """Yield the graphs of an input, in chunks of thousands if it holds many.

    Errors of the input or of single graphs are in the chunks' `errors`. They are not raised. For a file with one graph,
    the time-out of the job is a limit of reading too. The bytes of standard input are kept beside `output`, the output
    file of the batch; an EngineError is raised if that fails.
    """
    try:
        if job.overlap:
            yield Chunk(job, (job.graph,), (None,), loaded=load_overlap(job.graph, job.types, job.encoding))
            return
        file_format = many_format(job)
        if file_format is None:
            loaded = load_as(job, replace(limits, seconds=job.timeout))
            if job.graph == STANDARD_INPUT and output is not None:
                keep_lone_graph(loaded, output)
            notes = [(job.graph, note) for note in loaded.notes]
            yield Chunk(job, (label_of(job),), (None,), loaded=loaded, notes=notes)
            return
        if job.directed:
            require_direction_unsaid(file_format)
        read, things = (_read_graph6, "graph") if file_format == "graph6" else (_read_molecules, "molecule")
        with contextlib.ExitStack() as opened:
            stream = opened.enter_context(open_input(job.graph, limits))
            if job.graph == STANDARD_INPUT and output is not None:
                stream = opened.enter_context(keeping(stream, path_to_keep(output, file_format)))
            chunks = read(job, stream, file_format)
            first = list(islice(chunks, 2))
            if not first:  # as a filter leaves it
                yield Chunk(job, (), (), notes=[(label_of(job), f"{label_of(job)}: no {things} in it")])
            elif len(first) == 1 and len(first[0].titles) == 1:
                yield replace(first[0], titles=(label_of(job),))
            else:
                yield from chain(first, chunks)
    except EngineError:
        raise
    except (ChordlessError, MemoryError) as error:
        # An OptionError says that RDKit or scipy is not installed, or that the format is unknown.
        yield Chunk(job, (label_of(job),), (None,), {0: str(error) or "out of memory"})
    except (OSError, EOFError, zlib.error) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        yield Chunk(job, (label_of(job),), (None,), {0: f"{label_of(job)}: cannot be read: {why}"})


def label_of(job: BatchJob) -> str:
    """Return what the graph of a job is called in the lines of a batch."""
    return "stdin" if job.graph == STANDARD_INPUT else job.graph


def _read_molecules(job: BatchJob, stream: IO[bytes], file_format: str) -> Iterator[Chunk]:
    for some in read_molecules(stream, cast(MoleculeFormat, file_format)):
        titles = [f"{label_of(job)}:{number}" for number in some.numbers]
        errors = {place: f"{titles[place]}: {message}" for place, message in some.errors.items()}
        notes = [(titles[place], f"{titles[place]}: {problem}") for place, problem in some.problems.items()]
        graphs = ManyGraphs(some.first_vertex, some.first_edge, some.edges.astype(np.int32))
        names = [name or None for name in some.names]
        yield Chunk(job, titles, names, errors, graphs, notes=notes, atom_names=some.atom_names)


def _read_graph6(job: BatchJob, stream: IO[bytes], file_format: str) -> Iterator[Chunk]:
    reader = cast(BinaryIO, stream)
    for some in read_chunks(reader, lines_at_once=LINES_AT_ONCE, simplify=job.simplify, multigraph=job.multigraph):
        first = 0
        for line, text in some.apart:
            yield from _between(job, some, first, line)
            yield _read_apart(job, f"{label_of(job)}:{line}", text)
            first = line
        yield from _between(job, some, first, None)


def _between(job: BatchJob, some: DecodedLines, first: int, last: int | None) -> Iterator[Chunk]:
    """Yield the graphs and errors of the lines behind the first, up to the last, if there are any."""
    if first == 0 and last is None:
        numbers, graphs, failed = some.line_numbers, some.graphs, some.errors
    else:
        bounds = (first, math.inf if last is None else last)
        begin, end = np.searchsorted(some.line_numbers, bounds, "right")
        numbers, graphs = some.line_numbers[begin:end], some.graphs.chosen(np.arange(begin, end))
        begin, end = (bisect_right(some.errors, line, key=itemgetter(0)) for line in bounds)
        failed = some.errors[begin:end]
    lines = sorted([*numbers.tolist(), *(line for line, _ in failed)])
    if lines:
        titles = [f"{label_of(job)}:{line}" for line in lines]
        places = {line: place for place, line in enumerate(lines)} if failed else {}
        errors = {places[line]: f"{label_of(job)}:{line}: {message}" for line, message in failed}
        yield Chunk(job, titles, [None] * len(lines), errors, graphs)


def _read_apart(job: BatchJob, title: str, text: bytes) -> Chunk:
    try:
        graph, _ = read_graph6(Source(title, text, multigraph=job.multigraph), simplify=job.simplify)
    except GraphError as error:
        return Chunk(job, (title,), (None,), {0: str(error)})
    return Chunk(job, (title,), (None,), loaded=LoadedGraph(graph, title))


@dataclass
class Notes:
    """Collects the notes of the readers of many graphs, such as weights that are left out: a line for each kind."""

    _first: dict[str, str] = field(default_factory=dict)  # The first note of each kind
    _graphs: dict[str, set[str]] = field(default_factory=dict)  # The titles of the graphs with a note of each kind

    def take(self, title: str, note: str) -> None:
        """Take a note, ``TITLE: what: more`` or ``TITLE:LINE: what: more``; equal texts `what` are one kind."""
        message = _LINE_NUMBER.sub("", note.removeprefix(title), count=1).removeprefix(": ")
        kind = message.partition(": ")[0]
        self._first.setdefault(kind, note)
        self._graphs.setdefault(kind, set()).add(title)

    def lines(self) -> list[str]:
        """Return the first note of each kind, with the number of other graphs that have one."""
        others = {kind: len(graphs) - 1 for kind, graphs in self._graphs.items()}
        return [
            f"{note} (and so in {quantity(others[kind], 'other graph')})" if others[kind] else note
            for kind, note in self._first.items()
        ]
