"""The lines of a batch as a table, CSV or Parquet, and back again, so that a table can be gone on with as well."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any, Literal

from chordless.batch.output import ADDED_LATER, FIELDS, encoded
from chordless.cycles.export import require_parquet
from kernels_ti.errors import EngineError, OptionError

TableFormat = Literal["csv", "parquet"]

_ROWS_AT_ONCE = 1 << 15
_FLAGS = {"true": True, "false": False}
_READ: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "whole": int,
    "real": float,
    "json": json.loads,
    "flag": _FLAGS.__getitem__,
}


def write_table(lines: Iterable[dict[str, Any]], path: str, table_format: TableFormat) -> None:
    """Write lines as a table with a column for each field; those that are objects are columns of JSON.

    Parameters
    ----------
    lines : iterable of dict
    path : str
        Made anew, and only whole: another file takes its place at the end.
    table_format : {"csv", "parquet"}

    Raises
    ------
    OptionError
        If pyarrow is not installed.
    EngineError
        If the file cannot be written.
    """
    new = f"{path}.new"
    try:
        if table_format == "csv":
            with open(new, "w", newline="", encoding="utf-8") as stream:
                write_csv(lines, stream)
        else:
            _write_parquet(lines, new)
        os.replace(new, path)
    except BaseException as error:
        _remove(new)
        if isinstance(error, OSError):
            raise EngineError(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _remove(path: str) -> None:
    if os.path.isfile(path):
        os.unlink(path)


def write_csv(lines: Iterable[dict[str, Any]], stream: IO[str]) -> None:
    """Write lines as CSV, with a line of headings."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows([_text(line.get(field), kind) for field, kind in FIELDS.items()] for line in lines)


def _text(value: Any, kind: str) -> Any:
    if value is None:
        return ""
    return json.dumps(value) if kind in ("json", "flag") else value


def _write_parquet(lines: Iterable[dict[str, Any]], path: str) -> None:
    pyarrow, parquet = require_parquet()
    types = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "real": pyarrow.float64(),
        "json": pyarrow.string(),
        "flag": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(field, types[kind]) for field, kind in FIELDS.items()])
    rows = iter(lines)
    with parquet.ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            columns = [
                [_cell(line.get(field), kind) for line in some] for field, kind in FIELDS.items()
            ]  # fmt: skip
            try:
                arrays = [pyarrow.array(column, type_) for column, type_ in zip(columns, schema.types, strict=True)]
            except (OverflowError, pyarrow.ArrowInvalid):
                raise OptionError("a count has more than 63 bits: write JSON lines or CSV instead of Parquet") from None
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _cell(value: Any, kind: str) -> Any:
    return json.dumps(value) if kind == "json" and value is not None else value


def lines_of_table(path: str, table_format: TableFormat) -> Iterator[dict[str, Any]]:
    """Yield the lines of which a table was made.

    Raises
    ------
    OptionError
        If it is no table of a batch.
    """
    try:
        rows = _csv_rows(path) if table_format == "csv" else _parquet_rows(path)
        for row in rows:
            whole = {**dict.fromkeys(ADDED_LATER), **row}
            yield {field: _value(whole[field], kind, table_format) for field, kind in FIELDS.items()}
    except (ValueError, KeyError, TypeError, OSError, csv.Error) as error:
        why = f"there is no column {error}" if isinstance(error, KeyError) else error
        raise OptionError(f"{path} is there and no table of a batch: {why}; write to another") from error


def _csv_rows(path: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(1 << 30)
    with open(path, newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream)
        if rows.fieldnames and (
            missing := [field for field in FIELDS if field not in (*rows.fieldnames, *ADDED_LATER)]
        ):
            raise KeyError(missing[0])
        yield from rows


def _parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    _, parquet = require_parquet()
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def _value(value: Any, kind: str, table_format: TableFormat) -> Any:
    if value is None or (table_format == "csv" and value == ""):
        return None
    return _READ[kind](value) if table_format == "csv" or kind == "json" else value


def table_to_lines(path: str, table_format: TableFormat, to: str) -> None:
    """Write the lines of a table to a file of JSON lines, to go on with; it is there only once it is whole."""
    new = f"{to}.new"
    try:
        with open(new, "wb") as stream:
            stream.writelines(encoded(line) for line in lines_of_table(path, table_format))
        os.replace(new, to)
    except BaseException as error:
        _remove(new)
        if isinstance(error, OSError):
            raise EngineError(f"cannot write {to}: {error.strerror}") from error
        raise
