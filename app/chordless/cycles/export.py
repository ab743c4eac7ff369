"""Exporting cycles chunk by chunk: bit rows to any output of a listing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chordless.cycles.base import CycleOutput
from chordless.cycles.paths import walker_of
from chordless.cycles.read import CycleStore, Rows, read_rows, row_words
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.checkpoint import read_position, require_own
from chordless.runs.directory import RunDirectory
from chordless.runs.merge import check_parts, read_result
from kernels_ti import Graph, GraphError, OptionError
from kernels_ti.cycles import Cycles
from kernels_ti.found.order import CycleWalker

# Bit rows of a chunk; fewer if the vertices of their cycles might not fit in memory.
_ROWS_AT_ONCE = 1 << 17
_VERTICES_AT_ONCE = 1 << 25

Tell = Callable[[int], None]
"""Called after each chunk with the number of cycles that are done."""


@dataclass(frozen=True, eq=False)
class Source:
    """Cycles to export."""

    graph: Graph  # The graph of the cycles
    store: CycleStore
    complete: bool  # False if the search that wrote them is known to be unfinished
    name: str  # The file or the run directory, for messages
    command: RunCommand | None = None  # Of a run directory, of parts the first one's

    def chunks(self) -> Iterator[Rows]:
        """Yield the bit rows in chunks whose vertices fit in memory."""
        return self.store.chunks(max(min(_ROWS_AT_ONCE, _VERTICES_AT_ONCE // max(self.graph.n, 1)), 1))

    def ordered(self) -> Iterator[Cycles]:
        """Yield the cycles in cycle order, a chunk at a time; a GraphError if the rows are not cycles of this graph."""
        walker = CycleWalker(self.graph) if self.command is None else walker_of(self.command, self.graph)
        for rows in self.chunks():
            try:
                found = walker.order(rows)
            except GraphError as error:
                raise GraphError(f"{self.name}: {error}") from None
            yield found


def open_run(path: str) -> Source:
    """Open the cycles of a run directory, up to its checkpoint; an error if they are elsewhere or only counted."""
    directory = RunDirectory(Path(path))
    command = directory.command()
    if command.output is None:
        raise OptionError(f"the run in {path} keeps no {command.thing}s; `{command.lister} -o DIR/` does")
    if command.output_format != "parts":
        raise OptionError(f"the {command.thing}s of the run in {path} are in {command.output}")
    require_own(directory)
    position, finished = read_position(directory.checkpoint)
    source = _source(path, directory.graph(), CycleStore(read_rows(path, position)), finished)
    return replace(source, command=command)


def open_runs(paths: Sequence[str]) -> Source:
    """Open the cycles of a run directory, or of all the parts of one search, in order; see `check_parts`."""
    if len(paths) == 1:
        return open_run(paths[0])
    sources = [open_run(path) for path in paths]
    results = [read_result(path) for path in paths]
    check_parts(results)
    order = sorted(range(len(paths)), key=lambda i: results[i].command.part or (0, 0))
    store = CycleStore.joined([sources[i].store for i in order])
    complete = all(source.complete for source in sources)
    return replace(sources[0], store=store, complete=complete, name=" ".join(paths))


def open_file(path: str, graph: str, **reading: Any) -> Source:
    """Open a .npy file with cycles of the given graph, read as `chordless.graphs.load.load_graph` reads it."""
    return _source(path, load_graph(graph, **reading), CycleStore(read_rows(path)), True)


def _source(path: str, loaded: LoadedGraph, store: CycleStore, complete: bool) -> Source:
    if store.words != row_words(loaded.graph.n):
        raise OptionError(
            f"{path} holds the cycles of another graph: its rows have {64 * store.words:,} bits, "
            f"those of {loaded.title} would have {64 * row_words(loaded.graph.n):,}"
        )
    return Source(loaded.graph, store, complete, path)


def export(source: Source, output: CycleOutput, tell: Tell) -> None:
    """Write all cycles to an output; the errors are those of its `write`, and those of `Source.ordered`."""
    for found in source.chunks() if output.rows else source.ordered():
        output.write(found, lambda: False)
        tell(output.listed)
