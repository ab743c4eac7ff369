"""The one place that starts Taichi: which arch, what it is called, how much memory, and whether to trust it."""

from __future__ import annotations

import ctypes
import io
import os
import platform
import re
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kernels_ti.device import kernel_cache, owner
from kernels_ti.device.turns import Turns
from kernels_ti.errors import DeviceError, EngineError, OptionError
from kernels_ti.options import require_threads

ARCHES = ("cpu", "cuda", "vulkan", "reference")
"""What a search can run on; ``reference`` is the sequential algorithm in plain Python."""

LARGEST_BUFFER = (1 << 31) - 1
"""Elements of a buffer: kernels count them in 32 bits."""

UNLIMITED_ROUNDS = 1 << 30
_THREADS = "/proc/self/task"
_NO_DRIVER = re.compile(r"(libcuda\.so|nvcuda\.dll) lib not found")
SOFTWARE_DRIVERS = re.compile("llvmpipe|lavapipe|softpipe|swiftshader", re.IGNORECASE)
"""Vulkan drivers that run on the CPU."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Device:
    """An arch that has been started and has passed its self-test.

    Attributes
    ----------
    arch : str
        One of `ARCHES`.
    name : str
        The hardware, as its driver calls it.
    memory : int or None
        Bytes of memory in all; None where the driver does not say.
    threads : int or None
        Workers of a CPU.
    word_bits : int
        Bits to a word: 64 on CPU, 32 elsewhere.
    loop_rounds : int
        Rounds that one work item may loop in all; some drivers stop silently after 65,535.
    """

    arch: str
    name: str
    memory: int | None
    threads: int | None
    word_bits: int = 64
    loop_rounds: int = UNLIMITED_ROUNDS

    @property
    def items_at_once(self) -> int:
        """Work items to a launch: where loops are limited, the items that one thread takes share the limit."""
        return 1 << 31 if self.loop_rounds == UNLIMITED_ROUNDS else 1 << 17

    @property
    def software(self) -> bool:
        """Whether a CPU plays the GPU: to make a large buffer then costs time."""
        return self.arch == "vulkan" and SOFTWARE_DRIVERS.search(self.name) is not None

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out what uses the device, on the thread that Taichi wants; see `kernels_ti.device.owner.call`."""
        return work(*args, **kwargs) if self.arch == "reference" else owner.call(work, *args, **kwargs)

    def buffer(self, values: np.ndarray) -> Any:
        """Copy an array to the device; on CPU it is the array itself.

        Raises
        ------
        EngineError
            If the device has no room for it.
        """
        if self.arch == "cpu":
            return np.ascontiguousarray(values)
        target = self.empty(len(values), values.dtype)
        owner.call(target.from_numpy, np.ascontiguousarray(values))
        return target

    def empty(self, size: int, dtype: np.typing.DTypeLike) -> Any:
        """Make a one-dimensional buffer on the device; its content is undefined.

        Raises
        ------
        EngineError
            If the device has no room for it.
        """
        if size > LARGEST_BUFFER:
            raise EngineError(f"a buffer of {size:,} elements is more than kernels can count ({LARGEST_BUFFER:,})")
        try:
            return self._allocated(size, np.dtype(dtype))
        except (MemoryError, RuntimeError) as error:
            wanted = size * np.dtype(dtype).itemsize / 2**20
            raise EngineError(f"{self.name} has no room for another {wanted:,.0f} MiB: {error}") from error

    def _allocated(self, size: int, dtype: np.dtype[Any]) -> Any:
        return np.empty(size, dtype) if self.arch == "cpu" else owner.call(_new_buffer, size, dtype)

    def free_memory(self) -> int | None:
        """Bytes of the device's memory that are free now, None where its driver does not say."""
        if self.arch == "cuda":
            return owner.call(_free_cuda_memory)
        return None if self.arch == "vulkan" else self.memory

    def download(self, buffer: Any) -> np.ndarray:
        """Copy a buffer back from the device; on CPU it is the buffer itself.

        Raises
        ------
        EngineError
            If the device has failed.
        """
        if isinstance(buffer, np.ndarray):
            return buffer
        return owner.call(_copied_from_cuda if self.arch == "cuda" else type(buffer).to_numpy, buffer)


_started: dict[tuple[str, int | None], Device] = {}  # by arch and threads: what Taichi runs on in this process
_buffers: weakref.WeakSet[Any] = weakref.WeakSet()
_closings = 0  # how often Taichi has been closed
_turns = Turns()


def cuda_is_here() -> bool:
    """Whether a driver for CUDA is there; a device is not tried."""
    return owner.call(_cuda_is_here)


def _cuda_is_here() -> bool:
    taichi = _taichi()
    with _captured_output() as said:
        here = bool(taichi._lib.core.with_cuda())
    for line in said[0].splitlines():
        # That there is no driver is the answer, and nothing to warn of.
        if here or not _NO_DRIVER.search(line):
            print(line, file=sys.stderr)
    return here


def open_device(arch: str, *, threads: int | None = None) -> Device:
    """Start an arch, test it, and return it.

    Parameters
    ----------
    arch : str
        One of `ARCHES`; `kernels_ti.estimate.device_choice.device_for` chooses one.
    threads : int, optional
        Workers of a CPU; by default one to each core.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        If the arch is not there or fails its self-test. No other arch is taken in its place.
    OptionError
        If there is no arch of that name, or `threads` is not from 1 to 1,024.

    Notes
    -----
    Taichi runs on one arch at a time in a process: opening another one ends the runs on the one before. It waits for
    calls of other threads that hold the one before, see `held_device`.
    """
    with held_device(arch, threads=threads) as device:
        return device


@contextmanager
def held_device(arch: str, *, threads: int | None = None) -> Iterator[Device]:
    """Open an arch, and let no other thread open another one until the block is left.

    Parameters
    ----------
    arch, threads
        As for `open_device`.

    Yields
    ------
    Device

    Raises
    ------
    DeviceError, OptionError
        As for `open_device`.
    """
    if arch not in ARCHES:
        raise OptionError(f"there is no arch {arch!r}: choose one of auto, {', '.join(ARCHES)}")
    require_threads(threads)
    if arch == "reference":
        yield Device("reference", f"Python {platform.python_version()}", _host_memory(), None)
        return
    workers = (threads or cores()) if arch == "cpu" else None
    with _turns.hold((arch, workers)):
        yield _started.get((arch, workers)) or owner.call(_open, arch, workers)


def _open(arch: str, workers: int | None) -> Device:
    """Return the arch if it runs, else end the one that does and start this one."""
    ti = _taichi()
    if arch != "cpu" and not getattr(ti._lib.core, f"with_{arch}")():
        raise DeviceError(f"arch {arch} is not available here: no driver for it was found")
    if (arch, workers) not in _started:
        _close()
        try:
            _started[arch, workers] = _start(ti, arch, workers)
        except DeviceError:
            raise
        except Exception:
            if not kernel_cache.discard():
                raise
            _reset()
            _started[arch, workers] = _start(ti, arch, workers)
    return _started[arch, workers]


def _close() -> None:
    """End the arch that runs, if any does, and keep the kernels that were compiled for it."""
    global _closings
    if not _started:
        return
    _started.clear()
    _closings += 1
    _disown_buffers()
    with kernel_cache.writing():
        _reset()


def _reset() -> None:
    with kernel_cache.own_cache_home():
        _taichi().reset()


owner.at_end(_close)


def _keep_taichi() -> None:
    """Never free Taichi, in a forked child: its destructor waits for threads that are not there."""
    impl: Any = sys.modules.get("taichi.lang.impl")
    if impl is not None and impl.get_runtime().prog is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(impl.get_runtime().prog))


os.register_at_fork(after_in_child=_keep_taichi)


def _disown_buffers() -> None:
    """Detach our handles from the device memory that they stand for.

    Taichi has freed these buffers. A late destructor would free whatever now lives at their address.
    """
    for buffer in _buffers:
        buffer.arr = None
    _buffers.clear()


def _new_buffer(size: int, dtype: np.dtype[Any]) -> Any:
    ti = _taichi()
    types = {"int32": ti.i32, "uint32": ti.u32, "int64": ti.i64, "uint64": ti.u64}
    buffer = ti.ndarray(types[dtype.name], (size,))
    buffer.__class__ = _buffer_class()
    _buffers.add(buffer)
    return buffer


@lru_cache
def _buffer_class() -> Any:
    """Return Taichi's class of buffers with another destructor: any thread may drop a buffer, the owner frees it."""
    from taichi.lang._ndarray import ScalarNdarray

    class Buffer(ScalarNdarray):  # type: ignore[misc]
        def __del__(self) -> None:
            if self.arr is None:
                return
            if owner.is_owner():
                _free(self.arr, _closings)
            else:
                owner.send(partial(_free, self.arr, _closings))

    return Buffer


def _free(allocated: Any, closings: int) -> None:
    """Free a buffer, unless Taichi has done so by being closed since."""
    if closings == _closings:
        from taichi.lang import impl

        impl.get_runtime().prog.delete_ndarray(allocated)


def _taichi() -> Any:
    """Import Taichi, quietly."""
    os.environ["TI_SKIP_VERSION_CHECK"] = "ON"  # Taichi asks a server otherwise
    os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
    with kernel_cache.own_cache_home():
        import taichi

    return taichi


def require_running(device: Device) -> None:
    """Refuse to go on with a device when another arch has been opened since.

    Raises
    ------
    DeviceError
        Taichi has dropped the kernels and buffers of the device.
    """
    if device.arch != "reference" and all(arch != device.arch for arch, _ in _started):
        raise DeviceError(
            f"arch {device.arch} is no longer open: another one has been opened since in this process. Take all "
            "cycles of a search before another arch is opened, or use a process for each arch"
        )


def _start(ti: Any, arch: str, threads: int | None) -> Device:
    options: dict[str, Any] = {"cpu_max_num_threads": threads} if threads else {}
    options |= kernel_cache.settings()
    before = _thread_ids()
    with _captured_output() as said, kernel_cache.own_cache_home():
        try:
            ti.init(
                arch=getattr(ti, arch),
                enable_fallback=False,
                log_level=ti.TRACE,
                device_memory_GB=0.25,  # our arrays are allocated beside Taichi's own pool
                **options,
            )
            ti.set_logging_level(ti.ERROR)
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise DeviceError(f"arch {arch} is not available here: {reason[0]}") from error
    if str(ti.cfg.arch) not in (f"Arch.{arch}", *(("Arch.x64", "Arch.arm64") if arch == "cpu" else ())):
        raise DeviceError(f"arch {arch} is not available here: Taichi started {ti.cfg.arch} instead")
    if threads:
        # Taichi starts those that compile first, then those that compute.
        of_python = {thread.native_id for thread in threading.enumerate()}
        _spread(sorted(_thread_ids() - before - of_python)[-threads:])
    name, memory = _identity(arch, said[0])
    word_bits = 64 if arch == "cpu" else 32
    device = Device(arch, name, memory, threads, word_bits)
    from kernels_ti.device.selftest import LONG_LOOP, failures

    found, rounds = failures(word_bits, arch, device.buffer, device.download)
    if found:
        raise DeviceError(f"{name} ({arch}) fails the self-test and is not used: {'; '.join(found)}")
    return Device(arch, name, memory, threads, word_bits, UNLIMITED_ROUNDS if rounds >= LONG_LOOP else rounds)


def _thread_ids() -> set[int]:
    """Return the threads of this process as Linux numbers them; elsewhere none."""
    return set(map(int, os.listdir(_THREADS))) if os.path.isdir(_THREADS) else set()


def _spread(workers: list[int]) -> None:
    """Keep each worker on a core of its own, if there are as many of either.

    Linux often wakes two workers on the same core, and takes milliseconds to see that another one is idle.
    """
    if len(workers) == cores() > 1:
        for worker, core in zip(workers, sorted(os.sched_getaffinity(0)), strict=True):
            with suppress(OSError):  # not allowed everywhere; it only makes a search faster
                os.sched_setaffinity(worker, {core})


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _host_memory() -> int | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_cuda_memory() -> int | None:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    asked = _cuda_driver().cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return free.value if asked == 0 else None


def _copied_from_cuda(buffer: Any) -> np.ndarray:
    """Copy a buffer with one call of the driver; Taichi allocates, copies to the device, launches and copies back."""
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


def _identity(arch: str, log: str) -> tuple[str, int | None]:
    """Name and memory of the device that Taichi says it has started."""
    if arch == "cpu":
        return cpu_name(), _host_memory()
    pattern = r"Using CUDA device \[id=\d+\]: (.+)" if arch == "cuda" else r'Vulkan Device "(.+?)" supports'
    name = re.search(pattern, log)
    memory = re.search(r"Total memory ([\d.]+) GB", log) if arch == "cuda" else None
    return (
        name.group(1).strip() if name else f"{arch} device",
        int(float(memory.group(1)) * 2**30) if memory else None,
    )


def cpu_name() -> str:
    """Name of the processor, as the system has it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        if model:
            return model.group(1).strip()
    return platform.processor() or platform.machine()


@contextmanager
def _captured_output() -> Iterator[list[str]]:
    """Keep what the process writes to its standard output and error: Taichi names its device only there."""
    captured = [""]
    _flush()
    saved = {}
    for descriptor in (1, 2):
        with suppress(OSError):  # it may be closed
            saved[descriptor] = os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        try:
            for descriptor in saved:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(io.StringIO()):  # a notebook's output is not descriptor 1
                yield captured
        finally:
            _flush()
            for descriptor, original in saved.items():
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            captured[0] = file.read().decode(errors="replace")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
