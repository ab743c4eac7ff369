"""Cycles as columns of names: Parquet and Arrow files, written row group by row group."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from chordless.cycles.base import CycleOutput
from chordless.files import replaced
from kernels_ti import EngineError, Graph, OptionError
from kernels_ti.arrow import arrow_table, name_column, require_pyarrow
from kernels_ti.cycles import Cycles

ColumnFormat = Literal["parquet", "arrow"]

# Cycles and vertices of a row group; a single cycle may have more vertices. Two row groups are in memory at once.
_CYCLES_AT_ONCE = 1 << 17
_VERTICES_AT_ONCE = 1 << 18
_FEW_NAMES = 1 << 12


def require_parquet() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet; an OptionError if they are not installed."""
    return require_pyarrow("Parquet"), importlib.import_module("pyarrow.parquet")


def require_columns(file_format: ColumnFormat) -> None:
    """Load the library that writes files of a format; an OptionError if it is not installed."""
    if file_format == "parquet":
        require_parquet()
    else:
        require_pyarrow("an Arrow file")


@contextlib.contextmanager
def column_file(path: str, graph: Graph, file_format: ColumnFormat) -> Iterator[Callable[[Cycles], None]]:
    """Yield a function that adds cycles to a Parquet or Arrow IPC (Feather version 2) file, a row group at a time.

    A thread encodes and writes a row group while the caller makes the next one; no more than these two are in memory.
    The column ``vertices`` has the names in cycle order: integers where all are, and text otherwise. The end of such a
    file is written last, and no reader takes a file without it. So the file gets its name when the block has ended
    without an error. Otherwise nothing is left, and an older file of that name stays as it was. Raises OptionError
    without pyarrow or if the path is no file, EngineError if it cannot be written.
    """
    require_columns(file_format)
    if os.path.exists(path) and not os.path.isfile(path):
        raise OptionError(f"{path} is not a file: columns of cycles can only be written to a file")
    names = name_column(graph)
    index_type = np.min_scalar_type(-max(len(names), 1))  # signed: some readers take no other
    schema = _schema(names, index_type, file_format)
    with contextlib.ExitStack() as stack:
        with _failures_of(path):
            stream = stack.enter_context(replaced(os.path.realpath(path), tidy=True))  # a link is followed
            if file_format == "parquet":
                writer = require_parquet()[1].ParquetWriter(
                    stream, schema, store_schema=False, write_statistics=["length"]
                )
            else:
                writer = importlib.import_module("pyarrow.ipc").new_file(stream, schema)

        thread = stack.enter_context(ThreadPoolExecutor(1, "chordless columns"))
        under_way: list[Future[None]] = []

        def finish() -> None:
            """Wait for the row group before, and raise its error if it failed."""
            if under_way:
                under_way.pop().result()

        def add(cycles: Cycles) -> None:
            with _failures_of(path):
                table = arrow_table(cycles.offsets, cycles.vertices, names, index_type=index_type)
                if table.schema != schema:
                    table = table.cast(schema)
                finish()
                under_way.append(thread.submit(writer.write_table, table))

        try:
            yield add
        except BaseException:
            for close in (finish, writer.close):  # before its stream
                with contextlib.suppress(OSError):
                    close()
            raise
        with _failures_of(path):
            try:
                finish()
            finally:
                writer.close()
            stack.close()


def _schema(names: Any, index_type: Any, file_format: ColumnFormat) -> Any:
    """Return the schema of a file.

    A row group names few vertices many times, so names go to the file as the dictionary that they are. Each row group
    of Parquet has all names: where there are many, text takes less room. Its readers see text in both cases. An Arrow
    file has the dictionary once.
    """
    pyarrow = require_pyarrow()
    few = file_format == "arrow" or len(names) <= _FEW_NAMES
    as_dictionary = names.type == pyarrow.string() and few
    indices = pyarrow.from_numpy_dtype(index_type)
    named = pyarrow.dictionary(indices, names.type) if as_dictionary else names.type
    return pyarrow.schema([("length", pyarrow.int32()), ("vertices", pyarrow.list_(named))])


@contextlib.contextmanager
def _failures_of(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EngineError(f"cannot write {path}: {error.strerror or error}; no part of it is kept") from error


class ColumnOutput(CycleOutput):
    """Cycles that come in pieces, gathered to row groups, see `column_output`.

    `path` is for messages; `add` takes a row group. No more than `limit` cycles are taken; `listed` counts them.
    """

    def __init__(self, path: str, add: Callable[[Cycles], None], limit: int | None) -> None:
        super().__init__()
        self._path = path
        self._add = add
        self._limit = limit
        self._gathered: list[Cycles] = []
        self._cycles = self._vertices = 0  # of what is gathered

    def write(self, found: Cycles, give_up: Callable[[], bool]) -> bool:
        """Take the cycles of a slice, and write those that fill a row group.

        Returns whether all were taken: False after the limit, or once `give_up`, asked between row groups, is True. An
        EngineError says that the file cannot be written.
        """
        wanted = len(found) if self._limit is None else min(len(found), self._limit - self.listed)
        start = 0
        while start < wanted:
            if give_up():
                return False
            end = found.offsets[start] + _VERTICES_AT_ONCE - self._vertices
            fitting = int(np.searchsorted(found.offsets, end, "right")) - 1
            stop = min(wanted, start + _CYCLES_AT_ONCE - self._cycles, fitting)
            if stop <= start and self._gathered:
                self.close()
                continue
            stop = max(stop, start + 1)
            self._gathered.append(found.part(start, stop))
            self._cycles += stop - start
            self._vertices += int(found.offsets[stop] - found.offsets[start])
            self._listed += stop - start
            start = stop
            if self._cycles >= _CYCLES_AT_ONCE or self._vertices >= _VERTICES_AT_ONCE:
                self.close()
        return wanted == len(found)

    def position(self) -> dict[str, int]:
        """Raise an OptionError: the end of the file is missing until it is complete, so no run can go on with it."""
        raise OptionError(f"a run that writes {self._path} cannot be resumed; list to a folder DIR/ and export that")

    def close(self) -> None:
        """Write what has been taken and not written."""
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._cycles = self._vertices = 0
            self._add(Cycles.joined(gathered))


@contextlib.contextmanager
def column_output(path: str, graph: Graph, file_format: ColumnFormat, limit: int | None) -> Iterator[ColumnOutput]:
    """Yield the output of a listing to a Parquet or an Arrow file, see `column_file`."""
    with column_file(path, graph, file_format) as add:
        output = ColumnOutput(path, add, limit)
        yield output
        output.close()
