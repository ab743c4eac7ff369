"""Copies between buffers of a device and arrays of the host. All belong to the thread that owns Taichi.

CUDA's driver copies with one call. Taichi would allocate a second buffer, copy on the device and launch a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernels_ti import taichi_door
from kernels_ti.device import cuda
from kernels_ti.device.pinned import SLOT_BYTES, PinnedCopies

Start = Callable[[Any, np.ndarray], None]  # Begins to fill a contiguous array from the beginning of a buffer

_pinned: PinnedCopies | None = None


def upload(arch: str, values: np.ndarray, buffer: Any) -> None:
    """Copy a flat, contiguous array to the beginning of a buffer of its type; see `Device.upload`."""
    if arch == "cpu":
        buffer[: len(values)] = values
    elif arch == "cuda":
        # Through pinned memory where some is there already, and where several threads have something to do.
        send = cuda.upload if _pinned is None or values.nbytes <= SLOT_BYTES else _pinned.send
        send(values, taichi_door.address(buffer))
    else:
        whole = np.zeros(buffer.shape, values.dtype)
        whole[: len(values)] = values
        buffer.from_numpy(whole)


def download(arch: str, buffer: Any) -> np.ndarray:
    """Copy a whole buffer to the host; see `Device.download`."""
    if arch != "cuda" or isinstance(buffer, np.ndarray):
        return buffer if isinstance(buffer, np.ndarray) else np.asarray(buffer.to_numpy())
    values = np.empty(buffer.shape, taichi_door.numpy_type(buffer))
    cuda.download(taichi_door.address(buffer), values)
    return values


@contextmanager
def copying(arch: str, memory: int) -> Iterator[Start]:
    """Copy the beginnings of buffers into arrays of the host, several at once; an EngineError if the device has failed.

    This yields a function of a buffer and a contiguous array, which begins to fill the array. A buffer of bytes gives a
    number for each byte. The buffer may be written to again at once. All arrays are full when the block is left. On
    CUDA the copies may take `memory` bytes of pinned memory, which stay taken for the next time.
    """
    if arch != "cuda":
        yield lambda buffer, target: _fill(target, download(arch, buffer))
        return
    copies = _copies(memory)
    try:
        yield lambda buffer, target: copies.start(
            taichi_door.address(buffer), target, widen=taichi_door.numpy_type(buffer) is np.uint8
        )
    finally:
        copies.finish()


def can_pin(arch: str) -> bool | None:
    """Whether the system gives pinned memory for copies; None for arches that need none."""
    if arch != "cuda":
        return None
    try:
        cuda.PinnedSlot(SLOT_BYTES).free()
    except MemoryError:
        return False
    return True


def free_pinned() -> None:
    """Give the pinned memory back."""
    global _pinned
    if _pinned is not None:
        _pinned.close()
        _pinned = None


def _copies(memory: int) -> PinnedCopies:
    """Return the copies of this process, new ones if they may take another amount of memory."""
    global _pinned
    if _pinned is not None and _pinned.memory != memory:
        free_pinned()
    if _pinned is None:
        _pinned = PinnedCopies(memory)
    return _pinned


def _fill(target: np.ndarray, whole: np.ndarray) -> None:
    flat = target.reshape(-1)
    flat[:] = whole.view(flat.dtype)[: len(flat)]
