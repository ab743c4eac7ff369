"""Exporting cycles chunk by chunk: bit rows to lines, to one .npy file, or to Parquet."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chordless.cycles.output import LineOutput
from chordless.cycles.read import CycleStore, Rows, read_rows, row_words
from chordless.cycles.write import RowOutput
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.runs.checkpoint import read_position
from chordless.runs.directory import RunDirectory
from chordless.runs.merge import check_parts, read_result
from kernels_ti import EngineError, Graph, GraphError, OptionError
from kernels_ti.arrow import arrow_table, name_column, require_pyarrow
from kernels_ti.cycles import Cycles
from kernels_ti.found.order import CycleWalker

# Memory for a chunk: its rows, and 8 bytes for each vertex of its cycles; a cycle may have all vertices.
_CYCLES_AT_ONCE = 1 << 17
_VERTICES_AT_ONCE = 1 << 25
_FEW_NAMES = 1 << 12

Tell = Callable[[int], None]
"""Called after each chunk with the number of cycles that are done."""


@dataclass(frozen=True, eq=False)
class Source:
    """Cycles to export.

    Attributes
    ----------
    graph : Graph
        The graph of the cycles.
    store : CycleStore
    complete : bool
        False if the search that wrote them is known to be unfinished.
    name : str
        The file or the run directory, for messages.
    """

    graph: Graph
    store: CycleStore
    complete: bool
    name: str

    def chunks(self) -> Iterator[Rows]:
        """Yield the bit rows in chunks whose vertices fit in memory."""
        return self.store.chunks(max(min(_CYCLES_AT_ONCE, _VERTICES_AT_ONCE // max(self.graph.n, 1)), 1))

    def ordered(self) -> Iterator[Cycles]:
        """Yield the cycles in cycle order, a chunk at a time.

        Raises
        ------
        GraphError
            If the rows are not cycles of this graph.
        """
        walker = CycleWalker(self.graph)
        for rows in self.chunks():
            try:
                found = walker.order(rows)
            except GraphError as error:
                raise GraphError(f"{self.name}: {error}") from None
            yield found


def open_run(path: str) -> Source:
    """Open the cycles of a run directory, up to its checkpoint.

    Raises
    ------
    CheckpointError
        If there is no run, or it is damaged.
    OptionError
        If its cycles are elsewhere, or were only counted.
    """
    directory = RunDirectory(Path(path))
    command = directory.command()
    if command.output is None:
        raise OptionError(f"the run in {path} only counts, it keeps no cycles; `chordless list` does")
    if command.output_format != "parts":
        raise OptionError(f"the cycles of the run in {path} are in {command.output}")
    position, finished = read_position(directory.checkpoint)
    return _source(path, directory.graph(), CycleStore(read_rows(path, position)), finished)


def open_runs(paths: Sequence[str]) -> Source:
    """Open the cycles of a run directory, or those of all the parts of one search, in the order of their numbers.

    Parameters
    ----------
    paths : sequence of str
        One run directory or more.

    Raises
    ------
    CheckpointError, OptionError
        See `open_run`, and for several `chordless.runs.merge.check_parts`.
    """
    if len(paths) == 1:
        return open_run(paths[0])
    sources = [open_run(path) for path in paths]
    results = [read_result(path) for path in paths]
    check_parts(results)
    order = sorted(range(len(paths)), key=lambda i: results[i].command.part or (0, 0))
    store = CycleStore.joined([sources[i].store for i in order])
    return Source(sources[0].graph, store, all(source.complete for source in sources), " ".join(paths))


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


def export_lines(source: Source, output: LineOutput, tell: Tell) -> None:
    """Write a line for each cycle.

    Raises
    ------
    BrokenPipeError
        If the reader has gone.
    EngineError
        If the output cannot be written; what is there are whole lines.
    """
    for cycles in source.ordered():
        output.write(cycles, _never)
        tell(output.listed)


def export_rows(source: Source, path: str, tell: Tell) -> None:
    """Join all bit rows in one .npy file.

    Raises
    ------
    EngineError
        If it cannot be written.
    """
    output = RowOutput(Path(path), source.graph.n)
    try:
        for rows in source.chunks():
            output.write(rows, _never)
            tell(output.listed)
    finally:
        output.close()


def require_parquet() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet.

    Raises
    ------
    OptionError
        If they are not installed.
    """
    return require_pyarrow("Parquet"), importlib.import_module("pyarrow.parquet")


def export_parquet(source: Source, path: str, tell: Tell) -> None:
    """Write a Parquet file: ``length`` and ``vertices``, the names in cycle order, a row group to each chunk.

    Names are integers where all are, and text otherwise.

    Raises
    ------
    OptionError
        If pyarrow is not installed.
    EngineError
        If the file cannot be written; none is left then.
    """
    pyarrow, parquet = require_parquet()
    names = name_column(source.graph)
    # The cycles of a chunk name few vertices many times, so they go to the file as the dictionary that they are. Each
    # chunk has all names: where there are many, text takes less room. Readers see text in both cases.
    as_dictionary = names.type == pyarrow.string() and len(names) <= _FEW_NAMES
    named = pyarrow.dictionary(pyarrow.int32(), names.type) if as_dictionary else names.type
    schema = pyarrow.schema([("length", pyarrow.int32()), ("vertices", pyarrow.list_(named))])
    done = 0
    try:
        writer = parquet.ParquetWriter(path, schema, store_schema=False, write_statistics=["length"])
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with writer:
            for cycles in source.ordered():
                writer.write_table(arrow_table(cycles.offsets, cycles.vertices, names).cast(schema))
                done += len(cycles)
                tell(done)
    except BaseException as error:
        # The end of the file is written last; without it the file is unreadable.
        if os.path.isfile(path):
            os.unlink(path)
        if isinstance(error, OSError):
            raise EngineError(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _never() -> bool:
    return False
