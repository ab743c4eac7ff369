"""The columns of an edge list: their separator, an optional heading, optional weights."""

from __future__ import annotations

import csv
import re

from chordless.graphs.readers.source import Source, number_of

_SEPARATORS = ("\t", ",", ";")
_SHOWN = 60

WEIGHTS_UNUSED = "the third column, weights, is not used: every line is an edge"

# Names of the two columns in the heading of a table of edges. The short ones may also be names of vertices.
_HEADINGS = {
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("start", "end"),
    ("tail", "head"),
    *((f"{kind}{first}", f"{kind}{second}") for kind in ("node", "vertex", "id") for first, second in ("12", "ab")),
    *((f"{kind}_{first}", f"{kind}_{second}") for kind in ("node", "vertex", "id") for first, second in ("12", "ab")),
    *(
        (f"{first}{kind}", f"{second}{kind}")
        for kind in ("_id", "id", "_node", "nodeid")
        for first, second in (("source", "target"), ("from", "to"))
    ),
}
_SHORT_HEADINGS = {("u", "v"), ("i", "j"), ("a", "b"), ("x", "y")}

_Row = tuple[int, list[str]]
"""The number of a line, and its cells."""


def two_columns(source: Source, lines: list[str]) -> list[str]:
    """Return the two vertices of each line, one line after another, and note what is ignored.

    A line is ``u v`` with blanks, a tab, a comma or a semicolon between the two, the same in all lines; names with
    blanks in them need one of the last three. A third column of numbers in all lines, and the data that networkx
    writes in braces, are left out with a note. So is a heading, where it cannot be an edge.

    Parameters
    ----------
    source : Source
        Receives the notes.
    lines : list of str
        Comments must be blank lines here; a heading is replaced by a blank line.

    Raises
    ------
    GraphError
        For a line that is anything else.
    """
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    separator = _separator(filled)
    rows = [(number, cells_of(line, separator)) for number, line in filled]
    if has_heading(rows):
        number = rows.pop(0)[0]
        note_heading(source, lines[number - 1], number)
        lines[number - 1] = ""
    if rows and all(len(cells) == 3 and number_of(cells[2]) is not None for _, cells in rows):
        note_weights(source)
        rows = [(number, cells[:2]) for number, cells in rows]
    elif rows and separator is None and all(len(cells) > 2 and _is_data(cells[2:]) for _, cells in rows):
        if any(cells[2] != "{}" for _, cells in rows):
            source.note("the data in braces are not used: every line is an edge")
        rows = [(number, cells[:2]) for number, cells in rows]
    for number, cells in rows:
        if len(cells) != 2 or not all(cells):
            raise source.error(_wrong_columns(cells, lines[number - 1]), number)
    return [cell for _, cells in rows for cell in cells]


def note_weights(source: Source) -> None:
    """Note that the file has weights, which are not used."""
    source.note(WEIGHTS_UNUSED)


def _separator(filled: list[tuple[int, str]]) -> str | None:
    """Return what separates the cells of all lines; None for blanks."""
    by_blanks = [line.split() for _, line in filled]
    if all(len(words) == 2 and words[0][-1] not in ",;" for words in by_blanks):
        # Names may have commas.
        return None
    for separator in _SEPARATORS:
        if not all(separator in line for _, line in filled):
            continue
        counts = {len([cell for cell in cells_of(line, separator) if cell]) for _, line in filled}
        if counts in ({2}, {3}):
            return separator
    return None


def cells_of(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line; separator None stands for blanks. Cells may be quoted as in CSV."""
    if separator is None:
        return line.split()
    if separator == "\t":
        cells = line.split(separator)
    else:
        try:
            cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
        except csv.Error:
            return [line]
    return [cell.strip() for cell in cells]


def note_heading(source: Source, line: str, number: int) -> None:
    """Note that line `number` of the file is a heading."""
    source.note(f"taken for a heading, not for an edge: {_shown(line)}", number)


def has_heading(rows: list[_Row]) -> bool:
    """Say whether the first of the rows of a table of edges is its heading."""
    if len(rows) < 2 or len(rows[0][1]) < 2:
        return False
    first, others = rows[0][1], [cells for _, cells in rows[1:]]
    is_weighted = all(len(cells) == 3 and number_of(cells[2]) is not None for cells in others)
    if is_weighted and len(first) == 3 and number_of(first[2]) is None:
        return True
    ends = (first[0].lower(), first[1].lower())
    if ends in _HEADINGS:
        return not any(name in cells[:2] for cells in others for name in first[:2])
    return ends in _SHORT_HEADINGS and all(re.fullmatch("-?[0-9]+", cell) for cells in others for cell in cells[:2])


def _is_data(cells: list[str]) -> bool:
    return cells[0].startswith("{") and cells[-1].endswith("}")


def _shown(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


def _wrong_columns(cells: list[str], line: str) -> str:
    count = f"{len(cells)} word" + "s" * (len(cells) != 1)
    message = f"edge needs two vertices, found {count}: {_shown(line)}"
    columns = max(len(cells_of(line, separator)) for separator in _SEPARATORS)
    if len(cells) == 1 and columns > 3:
        return f"an edge list has two columns, or three with weights; found {columns}: {_shown(line)}"
    if len(cells) == 3 and number_of(cells[2]) is not None:
        return f"{message} (weights in a third column are left out if every line has one)"
    return message
