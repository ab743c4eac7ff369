"""Memory for arrays that a caller drops as fast as they come.

A new array costs more than filling it: the system clears each page that is touched for the first time.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

HELD_BY_US = 2
"""The references to an array that nobody else holds: the attribute, and the argument of `sys.getrefcount`."""


class SpareMemory:
    """Makes arrays, each in the memory of the one before if nobody holds that any more."""

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array with undefined content. It belongs to the caller, as do all views of it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        # An array refers to the block, and so does each view of it: numpy keeps the owner of the memory as their base.
        if len(self._block) < size or sys.getrefcount(self._block) > HELD_BY_US:
            self._block = np.empty(size + size // 4, np.uint8)  # the next slice may find a little more
        return self._block[:size].view(dtype).reshape(shape)
