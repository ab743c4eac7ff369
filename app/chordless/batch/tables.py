"""Output lines as a CSV or Parquet table, and back, so that a batch with a table can be resumed too."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, Literal

from chordless.batch.output import ADDED_LATER, FIELDS, encoded, write_whole
from chordless.cycles.columns import require_parquet
from chordless.files import replaced, text_of, writing
from kernels_ti import OptionError
from kernels_ti.options import Lengths

TableFormat = Literal["csv", "parquet"]
Lines = Callable[[], Iterable[dict[str, Any]]]  # Returns the lines. It is called twice.
Row = Mapping[str, Any]
Kinds = Mapping[str, str]
"""The columns of a table with the kinds of their values, as in `chordless.batch.output.FIELDS`, or ``indices``."""

_BY_LENGTH = "by_length"
_SHORTEST = 3
# Every length up to this one has a column. Larger lengths have one only if they occur, so that tables stay narrow.
_LONGEST_COLUMN_OF_ALL = 1000
_LENGTH_COLUMN = re.compile(r"c(\d+)")
_ROWS_AT_ONCE = 1 << 15
_MOST_IN_64_BITS = (1 << 63) - 1
_MOST_DECIMAL_DIGITS = 38  # of decimal128
_FLAGS = {"true": True, "false": False}
_READ: dict[str, Callable[[Any], Any]] = {
    "text": lambda cell: text_of_cell(cell),
    "whole": int,
    "real": float,
    "json": json.loads,
    "flag": _FLAGS.__getitem__,
}
# A spreadsheet would read such a text as a formula, so it gets a quote in front. So does a text that already has one.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WRITTEN_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
_FIRST_BYTE_OF_SURROGATES = 0xDC00


def write_table(lines: Lines, path: str, table_format: TableFormat) -> None:
    r"""Write lines as a table with a column for each field, which replaces a file when it is complete.

    Objects are written as JSON. The counts by length are in the columns ``c3``, ``c4`` and so on, up to the longest
    cycle of any graph. Above 1000, only lengths that occur have a column. A cell is null if its length was not asked
    for, or nothing was counted. A byte of a name that is not UTF-8 is written as ``\xHH``. In Parquet a column of whole
    numbers that do not all fit into 64 bits has the type decimal128, and with more than 38 digits it is text. An
    OptionError says that pyarrow is not installed, an EngineError that the file cannot be written.
    """
    kinds = _kinds(lines())
    write_rows((_row(line, kinds) for line in lines()), kinds, path, table_format)


def write_rows(rows: Iterable[Row], kinds: Kinds, path: str, table_format: TableFormat) -> None:
    """Write rows as a table whose columns have these names and kinds; see `write_table`."""
    with writing(path), replaced(path, tidy=True) as stream:
        if table_format == "csv":
            with text_of(stream) as text:
                write_csv_rows(rows, kinds, text)
        else:
            _write_parquet(rows, kinds, stream)


def write_csv(lines: Lines, stream: IO[str]) -> None:
    """Write lines as CSV with a heading line; see `write_table`."""
    kinds = _kinds(lines())
    write_csv_rows((_row(line, kinds) for line in lines()), kinds, stream)


def write_csv_rows(rows: Iterable[Row], kinds: Kinds, stream: IO[str]) -> None:
    """Write rows as CSV with a heading line; for texts see `cell_of_text`."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(kinds)
    writer.writerows([_csv_cell(row.get(field), kind) for field, kind in kinds.items()] for row in rows)


def cell_of_text(text: str) -> str:
    r"""Return a text as a CSV cell that no spreadsheet reads as a formula.

    A byte that is not UTF-8 is written as ``\xHH``. A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line
    end gets a single quote in front.
    """
    text = _encodable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def text_of_cell(cell: str) -> str:
    """Return the original text of a cell that `cell_of_text` made."""
    return _from_encodable(cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell)


def _kinds(lines: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the kind of each column: those of `FIELDS`, and ``wide`` or ``long`` for large whole numbers."""
    occurring: set[int] = set()
    large: dict[str, int] = {}
    for line in lines:
        by_length = line.get(_BY_LENGTH) or {}
        occurring.update(map(int, by_length))
        for field, number in (*line.items(), *((f"c{length}", count) for length, count in by_length.items())):
            if isinstance(number, int) and number > _MOST_IN_64_BITS:
                large[field] = max(number, large.get(field, 0))
    longest = min(max(occurring, default=_SHORTEST), _LONGEST_COLUMN_OF_ALL)
    lengths = sorted({*range(_SHORTEST, longest + 1), *occurring})
    kinds: dict[str, str] = {}
    for field, kind in FIELDS.items():
        kinds.update({f"c{length}": "whole" for length in lengths} if field == _BY_LENGTH else {field: kind})
    for field, number in large.items():
        if kinds.get(field) == "whole":
            kinds[field] = "wide" if number < 10**_MOST_DECIMAL_DIGITS else "long"
    return kinds


def _row(line: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    """Return a line as a row: one value for each length, and texts that can be encoded."""
    row = {field: _encodable(value) if isinstance(value, str) else value for field, value in line.items()}
    by_length = line.get(_BY_LENGTH)
    if by_length is not None:
        asked = Lengths(line.get("min_length") or _SHORTEST, line.get("max_length"), line.get("parity"))
        for field in kinds:
            if (found := _LENGTH_COLUMN.fullmatch(field)) is not None:
                length = int(found[1])
                row[field] = by_length.get(found[1], 0) if length in asked else None
    return row


def _encodable(text: str) -> str:
    r"""Replace surrogates: one that stands for a byte that is not UTF-8 by ``\xHH``, any other by ``\uHHHH``."""
    return _SURROGATE.sub(_written_surrogate, text)


def _written_surrogate(found: re.Match[str]) -> str:
    byte = ord(found[0]) - _FIRST_BYTE_OF_SURROGATES
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else f"\\u{ord(found[0]):04x}"


def _from_encodable(text: str) -> str:
    return _WRITTEN_BYTE.sub(lambda found: chr(_FIRST_BYTE_OF_SURROGATES + int(found[1], 16)), text)


def _csv_cell(value: Any, kind: str) -> Any:
    if value is None:
        return ""
    if kind == "text":
        return cell_of_text(value)
    if kind == "indices":
        return " ".join(map(str, value))
    return json.dumps(value) if kind in ("json", "flag") else value


def _write_parquet(rows: Iterable[Row], kinds: Kinds, stream: Any) -> None:
    pyarrow, parquet = require_parquet()
    types = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "wide": pyarrow.decimal128(_MOST_DECIMAL_DIGITS),
        "long": pyarrow.string(),
        "real": pyarrow.float64(),
        "json": pyarrow.string(),
        "flag": pyarrow.bool_(),
        "indices": pyarrow.list_(pyarrow.int32()),
    }
    schema = pyarrow.schema([(field, types[kind]) for field, kind in kinds.items()])
    left = iter(rows)
    with parquet.ParquetWriter(stream, schema) as writer:
        while some := list(islice(left, _ROWS_AT_ONCE)):
            columns = [[_parquet_cell(row.get(field), kind) for row in some] for field, kind in kinds.items()]
            arrays = [pyarrow.array(column, type_) for column, type_ in zip(columns, schema.types, strict=True)]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _parquet_cell(value: Any, kind: str) -> Any:
    if value is None:
        return None
    return json.dumps(value) if kind == "json" else str(value) if kind == "long" else value


def lines_of_table(path: str, table_format: TableFormat) -> Iterator[dict[str, Any]]:
    """Yield the lines of a table, also one of version 0.4.0; an OptionError if it is no table of a batch."""
    try:
        rows = _csv_rows(path) if table_format == "csv" else _parquet_rows(path)
        for row in rows:
            yield _line({**dict.fromkeys(ADDED_LATER), **row}, table_format)
    except (ValueError, KeyError, TypeError, OSError, RecursionError, csv.Error) as error:
        why = f"there is no column {error}" if isinstance(error, KeyError) else error
        raise OptionError(f"{path} is there and no table of a batch: {why}; write to another") from error


def _line(row: dict[str, Any], table_format: TableFormat) -> dict[str, Any]:
    line = {}
    for field, kind in FIELDS.items():
        if field != _BY_LENGTH or field in row:
            line[field] = _value(row[field], kind, table_format)
            continue
        counts = {
            found[1]: count
            for column, cell in row.items()
            if (found := _LENGTH_COLUMN.fullmatch(column)) is not None
            if (count := _value(cell, "whole", table_format))
        }
        line[field] = counts if _value(row["total"], "whole", table_format) is not None else None
    return line


def _csv_rows(path: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(1 << 30)
    with open(path, newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream)
        _require_columns(rows.fieldnames or ())
        yield from rows


def _parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    _, parquet = require_parquet()
    with parquet.ParquetFile(path) as file:
        _require_columns(file.schema_arrow.names)
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def _require_columns(names: Iterable[str]) -> None:
    names = set(names)
    required = [field for field in FIELDS if field not in (_BY_LENGTH, *ADDED_LATER)]
    if names and (missing := [field for field in required if field not in names]):
        raise KeyError(missing[0])
    if names and _BY_LENGTH not in names and not any(map(_LENGTH_COLUMN.fullmatch, names)):
        raise KeyError(f"c{_SHORTEST}")


def _value(value: Any, kind: str, table_format: TableFormat) -> Any:
    if value is None or (table_format == "csv" and value == ""):
        return None
    value = _READ[kind](value) if table_format == "csv" or kind in ("json", "whole") else value
    return _from_encodable(value) if kind == "text" else value


def table_to_lines(path: str, table_format: TableFormat, to: str) -> None:
    """Write the lines of a table to an output file, so that it can be resumed. The file appears only when complete."""
    write_whole(map(encoded, lines_of_table(path, table_format)), to)
