"""Buffers on a device: allocate them, and free them from any thread.

A buffer belongs to one start of Taichi, which frees all its buffers when it is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels_ti import taichi_door
from kernels_ti.device import owner

LARGEST_BUFFER = (1 << 31) - 1  # Largest number of elements in a buffer: kernels count them in 32 bits


def new(size: int, dtype: np.dtype[Any]) -> Any:
    """Make a one-dimensional buffer of integers; its content is undefined. Only the owner of Taichi may call it."""
    ti = taichi_door.ti
    types = {"uint8": ti.u8, "int32": ti.i32, "uint32": ti.u32, "int64": ti.i64, "uint64": ti.u64}
    return taichi_door.buffer_class(_by_owner)(types[dtype.name], (size,))


def example(kind: Any) -> Any:
    """Make a buffer of two elements of a type of the library below, for which a kernel is compiled."""
    return taichi_door.buffer_class(_by_owner)(kind, (2,))


def _by_owner(free: Callable[[], None]) -> None:
    """Let the owner of Taichi free a buffer that nobody refers to any more."""
    if owner.is_owner():
        free()
    else:
        owner.send(free)
