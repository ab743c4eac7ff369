"""The numbers of a large edge list, read by numpy without a Python object for each line."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels_ti.graph import IntArray

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


@dataclass(frozen=True)
class Columns:
    """How the lines of a list are divided."""

    count: int  # 2, or 3 with weights
    separator: int | None  # The byte between two columns; None stands for blanks


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
    """Read some whole lines."""
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
