"""The objects that an open device keeps from one search to the next: buffers, and kernels compiled for it.

A large buffer takes milliseconds to make, more than a short search. A buffer that nobody holds any more is given to the
next search that asks for its size. When the device is closed, all is forgotten. Only the owner of Taichi may call this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

LARGE = 1 << 20
"""Bytes from which on a buffer may be up to a quarter larger than asked for. Before such a buffer is made, the others
that nobody holds are given back: their memory may be needed."""

MOST_SMALL = 256  # Small buffers that are kept at the most

_HELD_BY_US = 2  # the references to a buffer that nobody else holds: this list, and the argument of `getrefcount`

_buffers: list[tuple[Any, np.dtype[Any]]] = []
_made: dict[Hashable, Any] = {}


def made_once(key: Hashable, make: Callable[[], T]) -> T:
    """Return the result of `make` for this key since the device was opened; call it the first time."""
    if key not in _made:
        _made[key] = make()
    made: T = _made[key]
    return made


def buffer(size: int, dtype: np.dtype[Any], make: Callable[[int, np.dtype[Any]], Any], *, exact: bool = False) -> Any:
    """Return a kept buffer of `size` elements, or one that `make` makes. Unless `exact`, a large one may have more."""
    large = size * dtype.itemsize >= LARGE
    most = size + size // 4 if large and not exact else size
    for i in range(len(_buffers)):
        kept, kind = _buffers[i]
        if kind == dtype and size <= kept.shape[0] <= most:
            del kept
            if _is_idle(i):
                return _buffers[i][0]
    kept = None
    if large or len(_buffers) > MOST_SMALL:
        drop_idle()
    made = make(size, dtype)
    _buffers.append((made, dtype))
    return made


def drop_idle() -> None:
    """Give the memory of the buffers back that nobody holds."""
    _buffers[:] = [_buffers[i] for i in range(len(_buffers)) if not _is_idle(i)]


def forget() -> None:
    """Forget everything: the device is closed."""
    _buffers.clear()
    _made.clear()


def _is_idle(i: int) -> bool:
    return sys.getrefcount(_buffers[i][0]) <= _HELD_BY_US
