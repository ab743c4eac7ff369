"""A large edge list of numbers, read from its bytes: comments anywhere, a heading, weights."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np

from chordless.graphs.readers.columns import (
    cells_of,
    is_heading_of_weights,
    may_be_heading,
    note_heading,
    note_weights,
    note_zeros,
)
from chordless.graphs.readers.source import UTF_8, Source
from kernels_ti.graph import IntArray

Comment = tuple[int, str]
"""The number of a line, and the comment in it without the blanks before."""

_COMMENT = re.compile(rb"^[ \t]*([#%][^\n]*)", re.MULTILINE)
# In one of the first two columns: a weight may begin with zeros.
_ZEROS = re.compile(rb"^[ \t]*(?:-?[0-9]+[ \t,;]+)?(-?0[0-9]+|-0)(?=[ \t,;\r\n])", re.MULTILINE)
_LOOKED_AT = 1 << 20
"""Bytes at the beginning of a file in which zeros before a number are looked for."""

_NOT_OF_NUMBERS = re.compile(rb"[^0-9\s.,;-]")

LARGE = 1 << 18
"""Bytes of a file from which this is worthwhile."""

_AT_ONCE = 1 << 22
_CHECKED_FIRST = 1 << 16
_TOO_LONG = b"0" * 19  # longer numbers may not fit an int64
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_BLANKS = b" \t\r\n"
_PLAIN = np.dtype([("u", np.int64), ("v", np.int64)])
_WEIGHTED = np.dtype([*_PLAIN.descr, ("weight", np.float64)])
_OF_WEIGHTS_IN_A_NAME = re.compile(rb"[.-][0-9]*[ \t]*[ \t,;][ \t]*[-.0-9]")

Check = Callable[[IntArray, Callable[[int], Hashable], "int | None", bool], None]
"""Gets the first pairs, the name of each vertex in them, the line of a heading, and whether the edges are arcs.

It may raise an error.
"""


@dataclass
class ListedEdges:
    """The content of an edge list."""

    names: list[str] = field(default_factory=list)  # The vertices in the order in which they appear; none where large
    # int64, shape (k, 2): the places of the ends of each edge in `names`; where large the numbers themselves
    pairs: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    comments: list[Comment] = field(default_factory=list)
    heading: int | None = None  # The number of the line that is a heading
    directed: bool = False  # Whether the lines are arcs ``u -> v``


@dataclass(frozen=True)
class Columns:
    """How the lines of a list are divided."""

    count: int  # 2, or 3 with weights
    separator: int | None  # The byte between two columns; None stands for blanks


def read_large_list(source: Source, check: Check) -> ListedEdges | None:
    """Read a large list of numbers, and note what is ignored; None if the file is to be read line by line.

    So are small files, and those with a line that is neither a comment, nor a heading above all edges, nor two numbers
    with or without a weight, and files without edges. The others are read after `check`.
    """
    if len(source.data) < LARGE or source.encoding != UTF_8:
        return None
    taken = _without_comments(source.data)
    if taken is None:
        return None
    data, comments = taken
    start = data.rfind(b"\n", 0, len(data) - len(data.lstrip())) + 1
    end = data.find(b"\n", start) + 1 or len(data)
    number, heading = data.count(b"\n", 0, start) + 1, data[start:end]
    is_heading = _NOT_OF_NUMBERS.search(heading) is not None
    line = number if is_heading else None
    read = pairs_of_numbers(data, end if is_heading else start, lambda pairs: check(pairs, int, line, False))
    if read is None or not len(read[0]) or (is_heading and not _is_heading(heading, read[1])):
        return None
    if is_heading:
        note_heading(source, heading.decode(UTF_8), number)
    if zeros := _ZEROS.search(data, start, start + _LOOKED_AT):
        note_zeros(source, zeros[1].decode(), number + data.count(b"\n", start, zeros.start(1)))
    if read[1].count == 3:
        note_weights(source)
    return ListedEdges([], read[0], comments, line)


def blanked_comments(lines: list[str], first: int = 1) -> list[Comment]:
    """Take the comments out of some lines, from number `first` on; they are blank then, so all keep their numbers."""
    comments = []
    for number, line in enumerate(lines, first):
        if ("#" in line or "%" in line) and (content := line.lstrip()).startswith(("#", "%")):
            comments.append((number, content))
            lines[number - first] = ""
    return comments


def _without_comments(data: bytes) -> tuple[bytes, list[Comment]] | None:
    """Take the comments out of a file, whose lines keep their numbers; None for one that is no text."""
    last = max(data.rfind(b"#"), data.rfind(b"%"))
    pieces, comments = [], []
    kept, number = 0, 1
    for found in _COMMENT.finditer(data, 0, data.find(b"\n", last) + 1 or len(data)) if last >= 0 else ():
        number += data.count(b"\n", kept, found.start())
        pieces.append(data[kept : found.start()])
        kept = found.end()
        try:
            content = found[1].decode(UTF_8)
        except UnicodeDecodeError:
            return None
        if "\0" in content:
            return None
        comments.append((number, content.removesuffix("\r")))
    return b"".join([*pieces, data[kept:]]), comments


def _is_heading(line: bytes, columns: Columns) -> bool:
    """Whether the reader of lines would take a line above lines of numbers for a heading, and divide it like them."""
    try:
        text = line.decode(UTF_8).strip("\r\n")
    except UnicodeDecodeError:
        return False
    # `_COMMENT` finds no comment behind a form feed.
    if "\0" in text or text.lstrip().startswith(("#", "%")):
        return False
    separator = None if columns.separator is None else chr(columns.separator)
    cells = cells_of(text, separator)
    if "\t" in text and cells_of(text, "\t") != cells:
        return False
    if separator is None and any(cell[-1] in ",;" for cell in cells[:1]):
        return False
    if len(cells) != columns.count or not all(cells):
        return False
    # A line with a weight is an edge.
    of_two = columns.count == 2 and may_be_heading(cells, True) is True
    return of_two or is_heading_of_weights(cells, columns.count)


def pairs_of_numbers(
    data: bytes, start: int = 0, check: Callable[[IntArray], None] | None = None
) -> tuple[IntArray, Columns] | None:
    """Read lines of two whole numbers, with or without a weight after them, from byte `start` on.

    Blank lines are allowed. The numbers are separated by blanks, by tabs, by commas or by semicolons, the same in all
    lines. `check` gets some of the first pairs before the others are read, and may raise an error. Returns the pairs,
    shape (k, 2), and their columns. It returns None if a line is anything else, such as a comment, a word or a negative
    number, or if a weight is not written with digits, a point and a minus alone.
    """
    columns = _columns_of(data[start : data.find(b"\n", start) + 1 or len(data)])
    pairs = np.empty((data.count(b"\n", start) + 1, 2), np.int64)
    count = 0
    while start < len(data):
        end = len(data)
        if end - start > _AT_ONCE:
            end = data.rfind(b"\n", start, start + _AT_ONCE) + 1
            if not end:  # a line of megabytes
                return None
        some = _pairs(data[start:end], columns)
        if some is None:
            return None
        if check is not None and not count:
            check(some[:_CHECKED_FIRST])
        pairs[count : count + len(some)] = some
        count += len(some)
        start = end
    return pairs[:count], columns


def _columns_of(line: bytes) -> Columns:
    """Return how a line is divided, if it can be read here at all."""
    separator = next((byte for byte in b",;" if byte in line), None)
    cells = line.split() if separator is None else line.split(bytes([separator]))
    if separator is None and len(cells) == 3 and b"\t" in line:
        # In the lines `1 2<TAB>3` the first vertex is `1 2`.
        separator = ord("\t")
    return Columns(3 if len(cells) == 3 else 2, separator)


def _pairs(text: bytes, columns: Columns) -> IntArray | None:
    separator = b"" if columns.separator is None else bytes([columns.separator])
    is_weighted = columns.count == 3
    strange = text.translate(None, b"0123456789" + _BLANKS + separator + b".-" * is_weighted)
    # numpy would read a number that is too long, or has a point, as a float, and a CR as the end of a line.
    if strange or _TOO_LONG in text.translate(_AS_ZEROS) or text.count(b"\r") != text.count(b"\r\n"):
        return None
    if is_weighted and _OF_WEIGHTS_IN_A_NAME.search(text):
        return None
    # Of `1 ,2` the reader of lines has a note.
    if separator and (b" " + separator in text or b"\t" + separator in text):
        return None
    if not text.strip(_BLANKS):
        return np.empty((0, 2), np.int64)
    try:
        rows = np.loadtxt(
            io.BytesIO(text),
            _WEIGHTED if is_weighted else _PLAIN,
            comments=None,
            delimiter=separator.decode() or None,
            ndmin=1,
        )
    except ValueError:
        return None
    return np.column_stack((rows["u"], rows["v"]))
