"""The numbers of a large edge list, read from its bytes without a Python object for each line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels_ti.graph import IntArray

LARGE = 1 << 18
"""Bytes of a file from which this is worthwhile."""

_AT_ONCE = 1 << 22
_CHECKED_FIRST = 1 << 16
_MOST_DIGITS = 18  # longer numbers may not fit an int64

_DIGIT, _BLANK, _END, _SEPARATOR, _OF_WEIGHTS = 1, 2, 3, 4, 5
_KINDS = np.zeros(256, np.uint8)
_KINDS[np.frombuffer(b"0123456789", np.uint8)] = _DIGIT
_KINDS[np.frombuffer(b" \t\r", np.uint8)] = _BLANK
_KINDS[ord("\n")] = _END
_KINDS[np.frombuffer(b".-", np.uint8)] = _OF_WEIGHTS

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Columns:
    """How the lines of a list are divided."""

    count: int  # 2, or 3 with weights
    separator: int | None  # The byte between two columns; None stands for blanks


def heading_length(data: bytes) -> int:
    """Return the length in bytes of the blank lines and comments with which a file begins."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end].lstrip()
        if line and line[:1] not in (b"#", b"%"):
            break
        at = end
    return at


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
    kinds = _KINDS.copy()
    if columns.separator is not None:
        kinds[columns.separator] = _SEPARATOR
    pairs = np.empty((data.count(b"\n", start) + 1, 2), np.int64)
    count = 0
    while start < len(data):
        end = len(data)
        if end - start > _AT_ONCE:
            end = data.rfind(b"\n", start, start + _AT_ONCE) + 1
            if not end:  # a line of megabytes
                return None
        some = _pairs(np.frombuffer(data, np.uint8, end - start, start), kinds, columns)
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


def _pairs(text: Bytes, kind_of: Bytes, columns: Columns) -> IntArray | None:
    """Read some whole lines."""
    kinds = kind_of[text]
    if not kinds.all():
        return None
    of_weight = np.flatnonzero(kinds == _OF_WEIGHTS)
    in_cell = np.zeros(len(kinds) + 2, np.bool_)
    in_cell[1:-1] = kinds == _DIGIT
    in_cell[1 + of_weight] = True
    bounds = np.flatnonzero(in_cell[1:] != in_cell[:-1])
    starts, ends = bounds[0::2], bounds[1::2]
    if len(starts) % columns.count:
        return None
    if not len(starts):
        return None if (kinds == _SEPARATOR).any() else np.empty((0, 2), np.int64)
    line = np.searchsorted(np.flatnonzero(kinds == _END), starts)
    first, last = line[0 :: columns.count], line[columns.count - 1 :: columns.count]
    if not (np.array_equal(first, last) and (first[1:] > first[:-1]).all()):
        return None
    if not (_are_weights(text, of_weight, starts, ends, columns) and _are_separated(kinds, starts, ends, columns)):
        return None
    number = np.arange(len(starts)) % columns.count < 2
    starts, width = starts[number], (ends - starts)[number]
    most = int(width.max())
    return None if most > _MOST_DIGITS else _values(text, starts, width, most).reshape(-1, 2)


def _are_weights(text: Bytes, places: IntArray, starts: IntArray, ends: IntArray, columns: Columns) -> bool:
    """Return whether points and minuses, at `places`, are in weights only, and where a number may have them."""
    cell = np.searchsorted(starts, places, side="right") - 1
    is_point = text[places] == ord(".")
    points = cell[is_point]
    digits = (ends - starts)[cell] - np.bincount(cell, minlength=len(starts))[cell]
    return bool(
        (cell % columns.count == 2).all()
        and (points[1:] > points[:-1]).all()
        and np.array_equal(places[~is_point], starts[cell[~is_point]])
        and (digits > 0).all()
    )


def _are_separated(kinds: Bytes, starts: IntArray, ends: IntArray, columns: Columns) -> bool:
    """Return whether there is one separator between two cells of a line, right behind the first, and none elsewhere."""
    if columns.separator is None:
        return True
    behind = ends[np.arange(len(ends)) % columns.count < columns.count - 1]
    return np.array_equal(np.flatnonzero(kinds == _SEPARATOR), behind)


def _values(text: Bytes, starts: IntArray, width: IntArray, most: int) -> IntArray:
    """Return the numbers whose digits begin at `starts`, of which the longest has `most` digits; shape (k,)."""
    values: IntArray = text[starts].astype(np.int64) - ord("0")
    for at in range(1, most):
        longer = np.flatnonzero(width > at)
        values[longer] = 10 * values[longer] + text[starts[longer] + at] - ord("0")
    return values
