"""Buffers on a device: allocate them, and free them from any thread.

A buffer belongs to one start of Taichi. Taichi frees all its buffers when it is closed, see `disown`.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np

from kernels_ti.device import owner

LARGEST_BUFFER = (1 << 31) - 1
"""Largest number of elements in a buffer: kernels count them in 32 bits."""

_buffers: weakref.WeakSet[Any] = weakref.WeakSet()
_closings = 0  # how often Taichi has been closed


def disown() -> None:
    """Detach our handles from their device memory when Taichi is closed.

    Taichi has freed these buffers. A late destructor would free whatever now lives at their address.
    """
    global _closings
    _closings += 1
    for buffer in _buffers:
        buffer.arr = None
    _buffers.clear()


def adopt() -> None:
    """Replace the destructor of Taichi's buffers: any thread may drop a buffer, the owner of Taichi frees it.

    This includes the buffers that Taichi makes for itself. On CUDA the process dies if another thread frees a buffer,
    because that thread has no context of the driver.
    """
    from taichi.lang._ndarray import ScalarNdarray

    if ScalarNdarray.__del__ is _drop:
        return
    make = ScalarNdarray.__init__

    def make_and_note(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        _buffers.add(self)

    ScalarNdarray.__init__ = make_and_note
    ScalarNdarray.__del__ = _drop


def new(size: int, dtype: np.dtype[Any]) -> Any:
    """Make a one-dimensional buffer of integers; its content is undefined. Only the owner of Taichi may call it."""
    import taichi as ti

    types = {"int32": ti.i32, "uint32": ti.u32, "int64": ti.i64, "uint64": ti.u64}
    return ti.ndarray(types[dtype.name], (size,))


def _drop(buffer: Any) -> None:
    """Free a buffer that nobody refers to any more."""
    allocated = getattr(buffer, "arr", None)  # None once Taichi is closed, or if the allocation failed
    if allocated is None:
        return
    if owner.is_owner():
        _free(allocated, _closings)
    else:
        owner.send(partial(_free, allocated, _closings))


def _free(allocated: Any, closings: int) -> None:
    """Free a buffer, unless Taichi has been closed since and has freed it."""
    if closings == _closings:
        from taichi.lang import impl

        impl.get_runtime().prog.delete_ndarray(allocated)
