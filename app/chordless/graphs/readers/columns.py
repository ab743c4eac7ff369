"""The columns of an edge list: their separator, an optional heading, optional weights."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

from chordless.graphs.readers.source import Source, format_options, number_of
from kernels_ti.errors import quantity

SEPARATORS = ("\t", ";", ",", None)
"""The separators of columns, the surest first; None stands for blanks."""

_CALLED = {"\t": "tabs", ";": "semicolons", ",": "commas", None: "blanks"}
_FIRST_LINES = 1000
_LARGEST_OF_ONE_LETTER = 62  # vertices that one letter of graph6 tells; from 63 on it is ~ and more
_SHOWN = 60

WEIGHTS_UNUSED = "the third column, weights, is not used: every line is an edge"

MULTILINE = "this is a multiline adjacency list of networkx; write_adjlist and write_edgelist write what is read"

_NEIGHBOURS = re.compile("[1-9][0-9]{0,8}")
_WHOLE_NUMBER = re.compile("-?[0-9]+")
# What stands for a number that is no weight, ``inf``, ``0x10``, ``1e400``, or for none, ``NA`` and ``?``.
_NO_WEIGHT = re.compile(r"[-+]?(?:[0-9]|nan$|inf$|infinity$)|n/?a$|none$|null$|\W+$", re.IGNORECASE)
_DECIMAL_COMMA = re.compile("[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]{1,4})?")

FEEDING = (("prey", "predator"), ("resource", "consumer"))
"""Names of the two columns of a list of who eats whom: arcs lead from the first to the second."""

_COMMON = (
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
)

ENDS = (("u", "v"), ("init_node", "term_node"), *_COMMON, *FEEDING)
"""Names of the two columns with the ends in a table of edges, the surest first."""

# Names of the two columns in the heading of an edge list. A vertex may be called u.
_HEADINGS = {*FEEDING, *((eater, eaten) for eaten, eater in FEEDING), *_COMMON}

_BLANKS_BEHIND_QUOTED = re.compile(r'"[ \t]+(?=[,;])')
# A name of two words, such as `plant 2`, rather than a name and a weight with another separator between them.
_NAME_BEHIND_TAB = re.compile(r"\s*\S+ *\t *[^\W\d]\S* +\S+\s*")
_BETWEEN_ENDS = re.compile(r"\s->\s")
_ARROW = re.compile(r"\s*(\S+)\s+->\s+(\S+)\s*")


@dataclass(frozen=True)
class Layout:
    """How the lines of an edge list are divided."""

    separator: str | None  # The text between two columns; None for blanks
    columns: int  # 2; 3 with weights; 4 with the data that networkx writes in braces
    arrows: int | None = None  # The number of the first line ``u -> v``; None if the lines have no arrows

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line."""
        if self.arrows is None:
            return cells_of(line, self.separator)
        found = _ARROW.fullmatch(line)
        return [] if found is None else [found[1], found[2]]

    def rows(self, lines: list[str]) -> list[list[str]]:
        """Return the cells of some lines."""
        if self.separator is None and self.arrows is None:
            return [line.split() for line in lines]
        return [self.cells(line) for line in lines]

    def misfit(self, rows: list[list[str]]) -> int | None:
        """Return the place of the first of some rows of cells that is not an edge; None if all are."""
        if self.columns == 2 and self.separator is None and set(map(len, rows)) <= {2}:
            return None
        return next((place for place, cells in enumerate(rows) if _columns_of(cells) != self.columns), None)

    def wrong(self, line: str) -> str:
        """Return the fault of a line that does not fit."""
        cells = self.cells(line)
        arrow = " (an arrow has blanks on both sides)" if "->" in line else ""
        if self.arrows is not None:
            if len(ends := _BETWEEN_ENDS.split(line.strip())) == 2 and all(map(str.strip, ends)):
                arrow = (
                    " (names with blanks stand in two columns, with commas or tabs between them, under a heading such "
                    "as `prey,predator`)"
                )
            return (
                f"each line of this list is an arc `u -> v`, as line {self.arrows} has an arrow; found "
                f"{quoted(line)}{arrow}"
            )
        between = "" if self.separator is None else f", with {_CALLED[self.separator]} between the columns"
        found = f"found {quantity(len(cells), 'word')}: {quoted(line)}"
        if line.startswith(tuple(filter(None, SEPARATORS))):
            return (
                f"the first cell is empty: {quoted(line)} (if the first column has the numbers of the rows, as pandas "
                f"writes them, leave it out with index=False; a matrix is read with {format_options('matrix')})"
            )
        if self.columns == 3:
            return f"each line of this list is an edge and a number, its weight{between}; {found}"
        message = f"edge needs two vertices{between}, {found}{arrow}"
        columns = max(len(cells_of(line, separator)) for separator in SEPARATORS[:-1])
        if len(cells) == 1 and columns > 3:
            return (
                f"an edge list has two columns, or three with weights; found {columns}: {quoted(line)} (a table of "
                "edges has a heading that names the ends: source and target, from and to, or u and v; a matrix has "
                "names in its first row and column, and numbers elsewhere)"
            )
        if len(cells) == 3 and decimal_of(cells[2]) is not None:
            return f"{message} (weights in a third column are left out if every line has one)"
        if len(cells) == 1 and columns == 1 and _may_be_graph6(line.strip()):
            return f"{message}; if it is graph6, {format_options('graph6')} tells what is wrong with it"
        return message


def layout_of(source: Source, lines: list[tuple[int, str]]) -> Layout:
    """Find how the lines of an edge list are divided by the first of them, given with their numbers.

    A line is ``u v`` with blanks, a tab, a comma or a semicolon between the two, the same in all lines; names with
    blanks in them need one of the last three. There may be a third column of numbers, or the data that networkx writes
    in braces. If another separator would divide the lines as well, a note says which one was taken.
    """
    lines = lines[:_FIRST_LINES]
    arrows = next((number for number, line in lines if " -> " in line), None)
    if arrows is not None:
        return Layout(None, 2, arrows)
    separator = _separator(source, [line for _, line in lines])
    columns = Counter(_columns_of(cells_of(line, separator)) for _, line in lines)
    del columns[0]
    return Layout(separator, columns.most_common(1)[0][0] if columns else 2)


def _columns_of(cells: list[str]) -> int:
    """Return the number of columns of an edge, see `Layout`; 0 if it is none."""
    if len(cells) < 2 or not all(cells):
        return 0
    if len(cells) == 2:
        return 2
    if cells[2].startswith("{") and cells[-1].endswith("}"):
        return 4
    return 3 if len(cells) == 3 and decimal_of(cells[2]) is not None else 0


def note_zeros(source: Source, word: str, number: int) -> None:
    """Note that a whole number with zeros before it is read as another name."""
    source.note(f"a whole number loses the zeros before it: {word} is the vertex {int(word)}", number)


def note_weights(source: Source) -> None:
    """Note that the file has weights, which are not used."""
    source.note(WEIGHTS_UNUSED)


def _separator(source: Source, lines: list[str]) -> str | None:
    """Return the separator of an edge list's columns by its first lines, and note where another one would do, too."""
    words = [line.split() for line in lines]
    if len(words) > 1 and is_heading_of_weights(words[0], len(words[1])):
        del words[0]
    blanks_are_sure = all(map(is_even_edge, words)) and not any(map(_NAME_BEHIND_TAB.fullmatch, lines))
    order = (None, *SEPARATORS[:-1]) if blanks_are_sure else SEPARATORS
    separator = best_separator(lines, _is_edge, order)
    ends = [cells_of(line, separator)[:2] for line in lines]
    for other in order:
        others = [cells_of(line, other)[:2] for line in lines]
        if others != ends and all(_fits(line, other, _is_edge) for line in lines):
            source.note(f"the columns are divided at {_CALLED[separator]}, not at {_CALLED[other]}")
    return separator


def best_separator(
    lines: Sequence[str],
    fits: Callable[[list[str], str | None], bool],
    order: Sequence[str | None] = SEPARATORS,
) -> str | None:
    """Return the separator for which the cells of the most lines fit, a heading above weights among them.

    A line does not fit where it is divided inside quotation marks. Of several it is the first in `order`; without any,
    blanks.
    """

    def score(separator: str | None) -> int:
        fitting = sum(_fits(line, separator, fits) for line in lines)
        head = [cells_of(line, separator) for line in lines[:2]]
        return fitting + (
            len(head) == 2 and is_heading_of_weights(head[0], len(head[1])) and not fits(head[0], separator)
        )

    scores = [score(separator) for separator in order]
    best = max(scores)
    return order[scores.index(best)] if best else None


def _fits(line: str, separator: str | None, fits: Callable[[list[str], str | None], bool]) -> bool:
    """Return whether the cells of a line fit, and the separator stands outside quotation marks."""
    return fits(cells_of(line, separator), separator) and not ('"' in line and _divides_quoted(line, separator))


def _divides_quoted(line: str, separator: str | None) -> bool:
    if separator in (None, "\t"):
        return any(cell[:1] == '"' and (len(cell) == 1 or cell[-1] != '"') for cell in cells_of(line, separator))
    plain = _BLANKS_BEHIND_QUOTED.sub('"', line)
    try:
        list(csv.reader([plain], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        return True
    return False


def _is_edge(cells: list[str], separator: str | None) -> bool:
    """Return whether these cells may be an edge, with or without a weight or the data of networkx."""
    # In `x, y` the comma is no part of the name.
    return _columns_of(cells) > 0 and not (separator is None and cells[0][-1] in ",;")


def is_even_edge(words: list[str]) -> bool:
    """Return whether these words may be an edge of names with as many commas and semicolons each.

    So may ``0,1 0,2``, but not ``Room 1,Room 2``.
    """
    return _is_edge(words, None) and all(words[0].count(sign) == words[1].count(sign) for sign in ",;")


def length_of_graph6(first: int) -> int:
    """Return how many characters a line of graph6 has that begins with this one; 0 if none does."""
    n = first - ord("?")
    return 1 - (-comb(n, 2) // 6) if 0 <= n <= _LARGEST_OF_ONE_LETTER else 0


def _may_be_graph6(word: str) -> bool:
    """Return whether a word is about as long as a line of graph6 of its first character."""
    return length_of_graph6(ord(word[0])) // 2 < len(word) < 2 * length_of_graph6(ord(word[0]))


def decimal_of(cell: str) -> str | None:
    """Return a decimal number with a point, where the cell may have a comma; None for any other text."""
    text = cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell
    return None if number_of(text) is None else text


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


def has_data(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(("#", "%"))


def note_heading(source: Source, line: str, number: int) -> None:
    """Note that line `number` of the file is a heading; a GraphError if by its words the ends are not the first two."""
    for separator in SEPARATORS:
        words = tuple(cell.lower() for cell in cells_of(line, separator))
        if len(words) == 3 and words[1:] in {*ENDS, *_HEADINGS}:
            raise source.error(
                f"the ends of the edges are in columns 2 and 3 of {quoted(line)}; an edge list has them first: leave "
                "column 1 out",
                number,
            )
    source.note(f"taken for a heading, not for an edge: {quoted(line)}", number)


def is_heading_of_weights(first: list[str], columns: int) -> bool:
    """Say whether the first line is a heading because all lines below have a weight, and it has a word there.

    Behind two whole numbers any word is a fault of an edge, and so are ``nan``, ``NA`` and the like.
    """
    if columns != 3 or len(first) != 3 or not all(first) or decimal_of(first[2]) is not None:
        return False
    return not _NO_WEIGHT.match(first[2]) and not all(map(_WHOLE_NUMBER.fullmatch, first[:2]))


def fault_of_columns(layout: Layout, rows: list[list[str]]) -> str | None:
    """Return why the first rows are no edges, although they have 2 or 3 columns, such as ``1 -- 2``; else None."""
    if [cell.lower() for cell in rows[0][:2]] == ["id", "label"]:
        return "this is a table of vertices, as Gephi writes it; an edge list has a line `u v` for each edge"
    if is_multiline(rows):
        return MULTILINE
    if all(len(cells) > 1 and _is_bracketed(cells) for cells in rows):
        return "an edge list has no brackets around its lines; write `u v`"
    if layout.separator is None and rows[0][0].endswith(":") and layout.columns < 4:
        return (
            f"{rows[0][0]!r} ends in a colon, and is no vertex; an adjacency list is read with the extension .adjlist, "
            "and an edge list has a line `u v` for each edge"
        )
    if layout.columns != 3:
        return None
    for column in (1, 0):
        word = rows[0][column]
        is_sign = not any(map(str.isalnum, word))
        if all(cells[column] == word for cells in rows) and decimal_of(word) is None:
            others = [cells[place] for cells in rows for place in (1 - column, 2)]
            if is_sign or (len(rows) > 1 and all(map(_WHOLE_NUMBER.fullmatch, others))):
                hint = "; DIMACS begins with a line `p edge N M`" if word in ("e", "a") else ""
                return (
                    f"each line has {word!r} in column {column + 1}, which is no vertex; an edge is `u v` or "
                    f"`u v weight`{hint}"
                )
    return None


def is_multiline(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the words of lines are those of a multiline adjacency list of networkx.

    There a vertex stands above its neighbours with their number, and each neighbour has data in braces.
    """
    first = next((at for at, words in enumerate(rows) if words[1:] != ["0"]), 0)
    if len(rows[first]) != 2 or not _NEIGHBOURS.fullmatch(rows[first][1]):
        return False
    below = rows[first + 1 : first + 1 + int(rows[first][1])]
    return bool(below) and all(len(words) > 1 and words[1][0] == "{" and words[-1][-1] == "}" for words in below)


def _is_bracketed(cells: list[str]) -> bool:
    """Return whether a bracket opens before the first cell and closes after the last, as Python prints an edge."""
    closing = {"(": ")", "[": "]", "{": "}"}.get(cells[0][:1])
    return closing is not None and closing not in cells[0] and cells[-1].endswith(closing)


def may_be_heading(first: list[str], others_are_whole: bool) -> bool | None:
    """Say whether the first line is a heading by its two names, which never come again below; None if that depends.

    It is one if neither of them is a whole number and all others below are. So it is if they are common words for two
    columns, such as ``source`` and ``target``. If not, it depends on whether it is the only line that shares no name
    with another.
    """
    if first[0] == first[1] or any(_WHOLE_NUMBER.fullmatch(name) for name in first[:2]):
        return False
    return True if others_are_whole or is_usual_heading(first) else None


def is_usual_heading(first: list[str]) -> bool:
    """Return whether the first two words are common ones for the two columns of a list, ``source`` and ``target``."""
    return tuple(word.lower() for word in first[:2]) in _HEADINGS


def feeding_columns(source: Source) -> tuple[int, int] | None:
    """Return which columns of a list have the prey and the predators, by its heading; None without such a heading."""
    first = next((line for _, lines in source.line_pieces() for line in lines if has_data(line)), "")
    for separator in SEPARATORS:
        names = [cell.lower() for cell in cells_of(first, separator)[:2]]
        for pair in FEEDING:
            if set(names) == set(pair):
                return names.index(pair[0]), names.index(pair[1])
    return None


def quoted(text: str) -> str:
    """Return a line or a cell as an error quotes it: the beginning of a long one."""
    text = text.strip()
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
