"""Buffers on a device: allocate them, copy them back, and free them from any thread.

A buffer belongs to one start of Taichi. Taichi frees all its buffers when it is closed, see `disown`.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from functools import lru_cache, partial
from typing import Any

import numpy as np

from kernels_ti.device import owner
from kernels_ti.errors import EngineError

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


def free_cuda_memory() -> int | None:
    """Return the bytes of free memory on the CUDA device; None if its driver does not tell."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    asked = _cuda_driver().cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return free.value if asked == 0 else None


def copied_from_cuda(buffer: Any) -> np.ndarray:
    """Copy a buffer with one driver call; Taichi would allocate, copy to the device, launch a kernel and copy back."""
    from taichi.lang.impl import get_runtime
    from taichi.lang.util import to_numpy_type

    values = np.empty(buffer.shape, to_numpy_type(buffer.dtype))
    place = get_runtime().prog.get_ndarray_data_ptr_as_int(buffer.arr)
    failed = _cuda_driver().cuMemcpyDtoH_v2(
        ctypes.c_void_p(values.ctypes.data), ctypes.c_uint64(place), ctypes.c_size_t(values.nbytes)
    )
    if failed:
        raise EngineError(f"CUDA: copying {values.nbytes:,} bytes to the host failed, error {failed}")
    return values


@lru_cache
def _cuda_driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1" if sys.platform != "win32" else "nvcuda.dll")
