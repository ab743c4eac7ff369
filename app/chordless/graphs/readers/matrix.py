"""Matrices with names in the first row and column: adjacency, or who eats whom, as spreadsheets write them."""

from __future__ import annotations

import csv
import itertools
import re
from array import array
from collections.abc import Iterator

import numpy as np

from chordless.graphs.readers.columns import decimal_of, is_even_edge, is_usual_heading
from chordless.graphs.readers.source import Parsed, Source, build_graph
from kernels_ti.errors import DIRECTED, SIMPLIFY, quantity
from kernels_ti.graph import IntArray

_SEPARATORS = ";\t,"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?')  # Excel's own first line
_MISSING = frozenset({"NA", "N/A", "NaN", "nan", "#N/A"})  # as R, pandas and Excel write them
_TRUTH = {"TRUE": "1", "True": "1", "FALSE": "0", "False": "0"}  # as R and pandas write them
_COLUMNS_OF_A_LIST = 3
# One of them divides a row: a line ``0,0 0,1`` is an edge of a grid.
_BETWEEN_NUMBERS = (" *; *", " *, *", r"[ \t]+")
_ENTRY = r"[01](?:\.0+(?:e\+00)?)?"  # as R and numpy.savetxt write it
_MORE_NUMBERS = "|".join(f"(?:{sign}{_ENTRY}){{{_COLUMNS_OF_A_LIST - 1},}}" for sign in _BETWEEN_NUMBERS)
_ROW_WITHOUT_NAME = re.compile(rf"\s*{_ENTRY}(?:{_MORE_NUMBERS})\s*")
_BETWEEN = str.maketrans(_SEPARATORS, " " * len(_SEPARATORS))
_FIRST_LINES = 100
_LEFT_OUT = "(left out)"  # The first cell where the file has none: write.table of R names the other columns alone

_Rows = Iterator[tuple[int, list[str]]]


def looks_like_matrix(start: str) -> bool:
    """Return whether the beginning of a file is a table of numbers with names around it, and no list of edges.

    A list has two or three columns, and a heading above each or above none. A table with a fault that is no list
    either counts as a matrix: its reader says what is wrong.
    """
    lines = start.split("\n")
    if _has_no_names(lines):
        return True
    first = lines[: min(_FIRST_LINES, max(len(lines) - 1, 2))]
    if all(is_even_edge(words) and {",", ";"} & set(words[0]) for words in map(str.split, first) if words):
        return False  # edges between names such as 0,0,1
    rows = _rows(first)
    try:
        _, (corner, *columns) = next(rows)
        if corner and len(columns) < _COLUMNS_OF_A_LIST:
            return False
        names, cells = [], []
        is_table = True
        for _, (name, *entries) in rows:
            names.append(name)
            cells += entries
            is_table = is_table and len(entries) == len(columns)
    except (StopIteration, csv.Error):
        return False
    is_adjacency = names == columns[: len(names)]
    if corner == _LEFT_OUT and not is_adjacency and names[0] == "1" and columns[0] != "V1":
        return False  # a data frame of R, with the numbers of its rows
    if not (corner or is_adjacency) and _are_numbered(columns) and _are_numbered(names) and not {*cells} <= {"0", "1"}:
        return False  # a data frame of pandas without names, with the numbers of its rows
    if not is_adjacency and (is_usual_heading([corner, *columns]) or is_usual_heading(columns)):
        return False
    numbers = sum(not cell or cell in _MISSING or _number_of(cell) is not None for cell in cells)
    has_own_names = sum(name in columns for name in names) > len(names) / 2
    if is_table and numbers == len(cells):
        if all(all(group) and len(set(group)) == len(group) > 0 for group in (names, columns)):
            return True
        # A name that is missing or comes again is a fault of a matrix where there are too many columns for a list.
        has_words = all(_number_of(name) is None for name in names)
        return len(columns) >= _COLUMNS_OF_A_LIST and len(names) > 0 and (has_own_names or has_words)
    return (has_own_names or (not corner and len(columns) > _COLUMNS_OF_A_LIST)) and numbers > len(cells) / 2


def _are_numbered(names: list[str]) -> bool:
    """Return whether these are the numbers 0, 1, 2 and so on."""
    return names == [str(number) for number in range(len(names))]


def _has_no_names(lines: list[str]) -> bool:
    """Return whether a file begins with a row of 0 and 1 that is too long for a list, or is three such rows of three.

    A list of three edges between vertices 0 and 1 with weights 0 and 1 would say nothing.
    """
    rows = list(itertools.islice(filter(str.strip, lines), _COLUMNS_OF_A_LIST + 1))
    if not rows or not _ROW_WITHOUT_NAME.fullmatch(rows[0]):
        return False
    if len(rows[0].translate(_BETWEEN).split()) > _COLUMNS_OF_A_LIST:
        return True
    return len(rows) == _COLUMNS_OF_A_LIST and all(map(_ROW_WITHOUT_NAME.fullmatch, rows))


def read_matrix(source: Source, *, simplify: bool = False) -> Parsed:
    """Read a matrix with names in the first row and the first column; a cell that is empty, 0 or FALSE is no edge.

    The columns are separated by semicolons, tabs or commas; numbers may have decimal commas. If rows and columns have
    the same names, in any order, it is an adjacency matrix. Otherwise it is a predation matrix: an entry is an arc from
    its row, the prey, to its column, the predator. A GraphError names the line of anything that is not such a matrix.
    """
    rows, columns, ends, lines = _parsed(source)
    names = list(dict.fromkeys((*rows, *columns)))
    source.check_size(len(names))
    place = {name: v for v, name in enumerate(names)}
    ends[:, 1] = np.array([place[name] for name in columns], np.int64)[ends[:, 1]]
    same_names = len(names) == len(rows) == len(columns)
    if not same_names and not (simplify or source.directed):
        source.note(
            "rows and columns have different names, so this is a predation matrix: an entry is an arc from its row to "
            "its column"
        )
    if same_names and not (simplify or source.directed):
        one_way = ~np.isin(ends @ (1, len(names)), ends @ (len(names), 1))
        if one_way.any():
            at = int(np.argmax(one_way))
            u, v = (names[end] for end in ends[at])
            raise source.error(
                f"the matrix is directed: row {u!r} has an entry for {v!r}, but row {v!r} none for {u!r}; say so with "
                f"{DIRECTED}, or use {SIMPLIFY} to drop directions",
                int(lines[at]),
            )
        upper = ends[:, 0] <= ends[:, 1]
        ends, lines = ends[upper], lines[upper]
    directed = not same_names and not simplify
    return build_graph(
        source, ends, names, simplify=simplify, line_of=lambda row: int(lines[row]), directed=directed
    ), None


def _parsed(source: Source) -> tuple[list[str], list[str], IntArray, IntArray]:
    """Return the names of rows and columns, and row and column, shape (k, 2), and line of each entry that is not 0."""
    text_lines = source.text.split("\n")
    if _has_no_names(text_lines):
        raise source.error(
            "this matrix has no names: write them into a first row and a first column, with tabs, semicolons or commas "
            "between the columns"
        )
    rows = _rows(text_lines)
    names: list[str] = []
    places, lines = array("q"), array("q")
    try:
        _, (_, *columns) = next(rows, (0, [""]))
        _check_names(source, columns, "column")
        for number, (name, *cells) in rows:
            names.append(name)
            if len(cells) != len(columns):
                raise source.error(
                    f"row {name!r} has {quantity(len(cells), 'entry', 'entries')}, the first line names "
                    f"{quantity(len(columns), 'column')}",
                    number,
                )
            for v, cell in enumerate(cells):
                if cell in ("", "0"):
                    continue
                value = _number_of(cell)
                if value is None or cell in _MISSING:
                    fault = "says that the value is missing" if cell in _MISSING else "is not a number"
                    raise source.error(
                        f"row {name!r}, column {columns[v]!r}: {cell!r} {fault}; leave the cell empty where there "
                        "is no edge",
                        number,
                    )
                if float(value) != 0:
                    places.extend((len(names) - 1, v))
                    lines.append(number)
    except csv.Error as error:
        raise source.error(f"not a readable table: {error}") from None
    _check_names(source, names, "row")
    if columns == [f"V{number}" for number in range(1, len(names) + 1)] and names == [name[1:] for name in columns]:
        columns = names  # R gives these names to the rows and columns of a matrix that has none
    return names, columns, np.array(places, np.int64).reshape(-1, 2), np.array(lines, np.int64)


def _number_of(cell: str) -> str | None:
    """Return the number of a cell, 1 and 0 for true and false; None for any other text."""
    return decimal_of(_TRUTH.get(cell, cell))


def _check_names(source: Source, names: list[str], what: str) -> None:
    if not names:
        raise source.error(f"the matrix has no {what}s")
    if "" in names:
        raise source.error(f"{what} {names.index('') + 1} of the matrix has no name")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise source.error(f"two {what}s of the matrix are called {twice!r}")


def _rows(lines: list[str]) -> _Rows:
    """Yield the rows that are not blank, each with its line; without the empty columns that Excel writes at the end."""
    first = next((at for at, line in enumerate(lines) if line.strip(_SEPARATORS + " ")), len(lines))
    if first == len(lines):
        return
    if said := _SEPARATOR_LINE.fullmatch(lines[first].strip(" ")):
        separator, first = said[1], first + 1
    else:
        separator = max(_SEPARATORS, key=lines[first].count)
    # A cell in quotation marks may hold the end of a line.
    reader = csv.reader((f"{line}\n" for line in lines[first:]), delimiter=separator)
    table = ((first + reader.line_num, [cell.strip() for cell in row]) for row in reader)
    filled = (row for row in table if any(row[1]))
    begin = list(itertools.islice(filled, _FIRST_LINES))
    if begin and _lacks_corner(*(cells for _, cells in begin)):
        begin[0][1].insert(0, _LEFT_OUT)
    width = 0
    for number, cells in itertools.chain(begin, filled):
        while len(cells) > width and not cells[-1]:
            cells.pop()
        width = width or len(cells)
        yield number, cells


def _lacks_corner(head: list[str], *rows: list[str]) -> bool:
    """Return whether the first row has names above all columns but that of the names, as R's ``write.table`` has."""
    longer = [cells for cells in rows if len(cells) == len(head) + 1]
    is_filled = any(cells[-1] for cells in longer) or head[0] in (cells[0] for cells in longer)
    return all(head) and len(longer) > len(rows) / 2 and is_filled
