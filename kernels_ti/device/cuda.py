"""The door to the driver of CUDA: memory and copies that Taichi does not offer, or makes with detours.

Every call belongs to the thread that owns Taichi, except where it says otherwise. All copies are queued behind the
kernels that Taichi has launched, on the same stream.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from kernels_ti.errors import EngineError

MODULE_VERSION = Path("/sys/module/nvidia/version")
"""Where Linux tells the version of the driver's part in the kernel."""


@cache
def wake() -> threading.Thread:
    """Start the driver and its context in a thread, which takes a quarter of a second while Python imports Taichi.

    Taichi waits for it and uses this context. Without a driver nothing happens: opening the device says so.
    """
    # Not a daemon: a process must not end while the driver starts.
    thread = threading.Thread(target=_start_driver, name="cuda-driver")
    thread.start()
    return thread


def _start_driver() -> None:
    context, first_device = ctypes.c_void_p(), ctypes.c_int(0)
    if driver_is_here() and _library().cuInit(ctypes.c_uint(0)) == 0:
        _library().cuDevicePrimaryCtxRetain(ctypes.byref(context), first_device)


def driver_is_here() -> bool:
    """Return whether the library of the driver can be loaded. It is not started, and Taichi is not imported."""
    try:
        _library()
    except OSError:
        return False
    return True


def device_is_here() -> bool:
    """Return whether the driver can be started and has a device."""
    count = ctypes.c_int()
    return (
        driver_is_here()
        and _library().cuInit(ctypes.c_uint(0)) == 0
        and _library().cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


def driver_version() -> str | None:
    """Return the version of the driver that is loaded; None if the system does not tell."""
    try:
        in_kernel = MODULE_VERSION.read_text(encoding="ascii").strip()
    except OSError:
        return None
    library = ctypes.c_int()
    return None if _library().cuDriverGetVersion(ctypes.byref(library)) else f"{in_kernel} {library.value}"


def name() -> str:
    """Return the name of the device whose context is current."""
    device, text = ctypes.c_int(), ctypes.create_string_buffer(256)
    _require(_library().cuCtxGetDevice(ctypes.byref(device)), "asking for the device")
    _require(_library().cuDeviceGetName(text, ctypes.c_int(len(text)), device), "asking for its name")
    return text.value.decode(errors="replace").strip()


def memory() -> tuple[int, int] | None:
    """Return the bytes of free and of all memory on the device; None if the driver does not tell."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    asked = _library().cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return (free.value, total.value) if asked == 0 else None


def upload(values: np.ndarray, target: int) -> None:
    """Copy a contiguous array to an address of the device.

    Raise EngineError if the device has failed.
    """
    source = ctypes.c_void_p(values.ctypes.data)
    failed = _library().cuMemcpyHtoD_v2(ctypes.c_uint64(target), source, ctypes.c_size_t(values.nbytes))
    _require(failed, f"copying {values.nbytes:,} bytes to the device")


def download(source: int, target: np.ndarray) -> None:
    """Fill a contiguous array from an address of the device, and wait for it.

    Raise EngineError if the device has failed.
    """
    failed = _library().cuMemcpyDtoH_v2(
        ctypes.c_void_p(target.ctypes.data), ctypes.c_uint64(source), ctypes.c_size_t(target.nbytes)
    )
    _require(failed, f"copying {target.nbytes:,} bytes to the host")


class PinnedSlot:
    """A piece of pinned memory of the host, `size` bytes, which the device reads and writes without a core's help.

    A MemoryError is raised if the system gives no pinned memory. `values` are the bytes.
    """

    def __init__(self, size: int) -> None:
        self._place, self._event, self._context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        library = _library()
        _require(library.cuCtxGetCurrent(ctypes.byref(self._context)), "asking for the context")
        if library.cuMemHostAlloc(ctypes.byref(self._place), ctypes.c_size_t(size), ctypes.c_uint(0)):
            raise MemoryError(f"CUDA: the system has no {size:,} bytes of pinned memory")
        without_clock = ctypes.c_uint(2)
        _require(library.cuEventCreate(ctypes.byref(self._event), without_clock), "making an event")
        bytes_ = ctypes.cast(self._place, ctypes.POINTER(ctypes.c_uint8))
        self.values = np.ctypeslib.as_array(bytes_, (size,))

    def fill(self, source: int, size: int) -> None:
        """Queue a copy of `size` bytes from an address of the device; `wait` says when it is done.

        Raise EngineError if the device has failed.
        """
        library, stream = _library(), ctypes.c_void_p(0)
        failed = library.cuMemcpyDtoHAsync_v2(self._place, ctypes.c_uint64(source), ctypes.c_size_t(size), stream)
        _require(failed or library.cuEventRecord(self._event, stream), f"copying {size:,} bytes to the host")

    def send(self, target: int, size: int) -> None:
        """Queue a copy of `size` bytes to an address of the device; `wait` says when it is done.

        Any thread may call it, after `wait`. Raise EngineError if the device has failed.
        """
        library, stream = _library(), ctypes.c_void_p(0)
        failed = library.cuMemcpyHtoDAsync_v2(ctypes.c_uint64(target), self._place, ctypes.c_size_t(size), stream)
        _require(failed or library.cuEventRecord(self._event, stream), f"copying {size:,} bytes to the device")

    def wait(self) -> None:
        """Wait for the last `fill` or `send`. Any thread may call it.

        Raise EngineError if the device has failed.
        """
        library = _library()
        failed = library.cuCtxSetCurrent(self._context) or library.cuEventSynchronize(self._event)
        _require(failed, "waiting for a copy")

    def free(self) -> None:
        """Give the memory back. Nothing may be under way."""
        library = _library()
        library.cuEventDestroy_v2(self._event)
        library.cuMemFreeHost(self._place)


def _require(failed: int, what: str) -> None:
    if failed:
        raise EngineError(f"CUDA: {what} failed, error {failed}")


@lru_cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1" if sys.platform != "win32" else "nvcuda.dll")
