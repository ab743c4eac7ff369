"""A large edge list of numbers, read from its bytes: comments anywhere, a heading, weights."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

from chordless.graphs.readers.columns import (
    cells_of,
    is_heading_of_weights,
    may_be_heading,
    note_heading,
    note_weights,
    note_zeros,
)
from chordless.graphs.readers.integers import LARGE, Columns, pairs_of_numbers
from chordless.graphs.readers.source import UTF_8, Source
from kernels_ti.graph import IntArray

Comment = tuple[int, str]
"""The number of a line, and the comment in it without the blanks before."""

_COMMENT = re.compile(rb"^[ \t]*([#%][^\n]*)", re.MULTILINE)
# In one of the first two columns: a weight may begin with zeros.
_ZEROS = re.compile(rb"^[ \t]*(?:-?[0-9]+[ \t,;]+)?(0[0-9]+)(?=[ \t,;\r\n])", re.MULTILINE)
_LOOKED_AT = 1 << 20
"""Bytes at the beginning of a file in which zeros before a number are looked for."""

_NOT_OF_NUMBERS = re.compile(rb"[^0-9\s.,;-]")


@dataclass(frozen=True)
class LargeList:
    """The content of a large edge list."""

    pairs: IntArray  # int64, shape (k, 2)
    comments: list[Comment]
    heading: int | None  # The number of the line that is a heading


def read_large_list(source: Source, check: Callable[[IntArray, int | None], None]) -> LargeList | None:
    """Read a large list of numbers, and note what is ignored; None if the file is to be read line by line.

    So are small files, and those with a line that is neither a comment, nor a heading above all edges, nor two numbers
    with or without a weight, and files without edges. `check` gets the first pairs, and the line of the heading, before
    the others are read; it may raise an error.
    """
    if len(source.data) < LARGE or source.encoding != UTF_8:
        return None
    taken = _without_comments(source.data.removeprefix(codecs.BOM_UTF8))
    if taken is None:
        return None
    data, comments = taken
    start = data.rfind(b"\n", 0, len(data) - len(data.lstrip())) + 1
    end = data.find(b"\n", start) + 1 or len(data)
    number, heading = data.count(b"\n", 0, start) + 1, data[start:end]
    is_heading = _NOT_OF_NUMBERS.search(heading) is not None
    line = number if is_heading else None
    read = pairs_of_numbers(data, end if is_heading else start, lambda pairs: check(pairs, line))
    if read is None or not len(read[0]) or (is_heading and not _is_heading(heading, read[1])):
        return None
    if is_heading:
        note_heading(source, heading.decode(UTF_8), number)
    if zeros := _ZEROS.search(data, start, start + _LOOKED_AT):
        note_zeros(source, zeros[1].decode(), number + data.count(b"\n", start, zeros.start(1)))
    if read[1].count == 3:
        note_weights(source)
    return LargeList(read[0], comments, line)


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
    if "\0" in text:
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
