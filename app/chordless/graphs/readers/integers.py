"""The numbers of a large edge list, read from its bytes without a Python object for each line."""

from __future__ import annotations

import numpy as np

from kernels_ti.graph import IntArray

LARGE = 1 << 18
"""Bytes of a file from which this is worthwhile."""

_AT_ONCE = 1 << 22
_MOST_DIGITS = 18  # longer numbers may not fit an int64

_DIGIT, _BLANK, _END = 1, 2, 3
_KINDS = np.zeros(256, np.uint8)
_KINDS[np.frombuffer(b"0123456789", np.uint8)] = _DIGIT
_KINDS[np.frombuffer(b" \t\r", np.uint8)] = _BLANK
_KINDS[ord("\n")] = _END


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


def pairs_of_numbers(data: bytes, start: int = 0) -> IntArray | None:
    """Read lines of two whole numbers, separated by blanks; blank lines are allowed.

    Parameters
    ----------
    data : bytes
    start : int
        The byte at which the first line begins.

    Returns
    -------
    ndarray of int64, shape (k, 2), or None
        None if a line is anything else, such as a comment, a word, three numbers or a negative number.
    """
    pairs = np.empty((data.count(b"\n", start) + 1, 2), np.int64)
    count = 0
    while start < len(data):
        end = len(data)
        if end - start > _AT_ONCE:
            end = data.rfind(b"\n", start, start + _AT_ONCE) + 1
            if not end:  # a line of megabytes
                return None
        some = _pairs(data[start:end])
        if some is None:
            return None
        pairs[count : count + len(some)] = some
        count += len(some)
        start = end
    return pairs[:count]


def _pairs(text: bytes) -> IntArray | None:
    """Read some whole lines."""
    kinds = _KINDS[np.frombuffer(text, np.uint8)]
    if not kinds.all():
        return None
    is_digit = np.zeros(len(kinds) + 2, np.bool_)
    is_digit[1:-1] = kinds == _DIGIT
    bounds = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    starts, ends = bounds[0::2], bounds[1::2]
    if not len(starts):
        return np.empty((0, 2), np.int64)
    if len(starts) % 2 or int((ends - starts).max()) > _MOST_DIGITS:
        return None
    line = np.searchsorted(np.flatnonzero(kinds == _END), starts)
    first, second = line[0::2], line[1::2]
    if not (np.array_equal(first, second) and (first[1:] > first[:-1]).all()):
        return None
    numbers: IntArray = np.fromstring(text, np.int64, sep=" ").reshape(-1, 2)
    return numbers
