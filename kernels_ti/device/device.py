"""The one place that starts Taichi on an arch, asks the hardware for its name and memory, and runs the self-test."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kernels_ti.choices import ARCHES as CHOICES
from kernels_ti.device import buffers, copies, cuda, kernel_cache, owner
from kernels_ti.device.captured_output import captured_output
from kernels_ti.device.compilation import compiled_quickly, frames_have_no_modules, note_less
from kernels_ti.device.later import imported_later
from kernels_ti.device.machine import cores, cpu_name, host_memory, spread, thread_ids
from kernels_ti.device.pinned import PINNED_BYTES
from kernels_ti.device.turns import Turns
from kernels_ti.errors import DeviceError, EngineError, OptionError
from kernels_ti.options import require_threads

ARCHES = tuple(arch for arch in CHOICES if arch != "auto")
"""Where a search can run; ``reference`` is the sequential algorithm in plain Python."""

UNLIMITED_ROUNDS = 1 << 30
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
        The name of the hardware from its driver.
    memory : int or None
        Total memory in bytes; None if the driver does not tell.
    threads : int or None
        Worker threads of the CPU; None elsewhere.
    word_bits : int
        Bits in a word: 64 on CPU, 32 elsewhere.
    loop_rounds : int
        Loop rounds that one work item may make in all; some drivers silently stop after 65,535.
    """

    arch: str
    name: str
    memory: int | None
    threads: int | None
    word_bits: int = 64
    loop_rounds: int = UNLIMITED_ROUNDS

    @property
    def items_at_once(self) -> int:
        """Work items in a launch. Where loops are limited, all items of one thread share the limit."""
        return 1 << 31 if self.loop_rounds == UNLIMITED_ROUNDS else 1 << 17

    @property
    def software(self) -> bool:
        """Whether the GPU is emulated on the CPU: allocating a large buffer then takes time."""
        return self.arch == "vulkan" and SOFTWARE_DRIVERS.search(self.name) is not None

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work` on the thread that owns Taichi; see `kernels_ti.device.owner.call`."""
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
        self.upload(values, target)
        return target

    def upload(self, values: np.ndarray, buffer: Any) -> None:
        """Copy a flat array to the beginning of a buffer of its type; what lies behind it is undefined afterwards."""
        owner.call(copies.upload, self.arch, np.ascontiguousarray(values), buffer)

    def empty(self, size: int, dtype: np.typing.DTypeLike) -> Any:
        """Make a one-dimensional buffer on the device; its content is undefined.

        Raises
        ------
        EngineError
            If the device has no room for it.
        """
        if size > buffers.LARGEST_BUFFER:
            raise EngineError(
                f"a buffer of {size:,} elements is more than kernels can count ({buffers.LARGEST_BUFFER:,})"
            )
        try:
            try:
                return self.allocate(size, np.dtype(dtype))
            except (MemoryError, RuntimeError):
                if self.arch == "cpu":
                    raise
                # A search that was dropped half-way holds its buffers until Python collects it.
                owner.call(gc.collect)
                return self.allocate(size, np.dtype(dtype))
        except (MemoryError, RuntimeError) as error:
            wanted = size * np.dtype(dtype).itemsize / 2**20
            raise EngineError(f"{self.name} has no room for another {wanted:,.0f} MiB: {error}") from error

    def allocate(self, size: int, dtype: np.dtype[Any]) -> Any:
        """Return a new buffer; an error of Taichi or numpy if there is no room, which `empty` puts in plain words."""
        return np.empty(size, dtype) if self.arch == "cpu" else owner.call(buffers.new, size, dtype)

    def free_memory(self) -> int | None:
        """Return the bytes of free memory on the device; None if its driver does not tell."""
        if self.arch == "cuda":
            return owner.call(cuda.free_memory)
        return None if self.arch == "vulkan" else self.memory

    def download(self, buffer: Any) -> np.ndarray:
        """Copy a buffer back from the device; on CPU it is the buffer itself.

        Raises
        ------
        EngineError
            If the device has failed.
        """
        return owner.call(copies.download, self.arch, buffer)

    def copying(self, memory: int = PINNED_BYTES) -> AbstractContextManager[copies.Start]:
        """Copy the beginnings of buffers into arrays of the host; see `kernels_ti.device.copies.copying`."""
        return copies.copying(self.arch, memory)

    def can_pin(self) -> bool | None:
        """Return whether the system gives pinned memory, through which cycles come to the host; None if not on CUDA."""
        return self.call(copies.can_pin, self.arch)


_started: dict[tuple[str, int | None], Device] = {}  # by arch and threads: the open device
_turns = Turns()


def cuda_is_here() -> bool:
    """Return whether a CUDA driver is installed. No device is opened."""
    return cuda.driver_is_here() and owner.call(_cuda_is_here)


def _cuda_is_here() -> bool:
    taichi = _taichi()
    with captured_output() as said:
        here = bool(taichi._lib.core.with_cuda())
    for line in said[0].splitlines():
        # A missing driver is a valid answer, not a reason for a warning.
        if here or not _NO_DRIVER.search(line):
            print(line, file=sys.stderr)
    return here


def open_device(arch: str, *, threads: int | None = None) -> Device:
    """Start an arch, test it, and return it.

    Parameters
    ----------
    arch : str
        One of `ARCHES`.
    threads : int, optional
        Worker threads on the CPU; by default one for each core.

    Returns
    -------
    Device

    Raises
    ------
    DeviceError
        If the arch is not available or fails its self-test. No other arch is opened instead.
    OptionError
        If there is no arch of that name, or `threads` is not from 1 to 1,024.

    Examples
    --------
    >>> from kernels_ti import open_device
    >>> open_device("cpu", threads=1).threads
    1

    Notes
    -----
    Taichi runs on one arch at a time in a process. Opening another arch ends the runs on the previous one. It first
    waits for other threads that hold the previous arch, see `held_device`.
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
        raise OptionError(f"there is no arch {arch!r}: choose one of {', '.join(ARCHES)}")
    require_threads(threads)
    if arch == "reference":
        yield Device("reference", f"Python {platform.python_version()}", host_memory(), None)
        return
    workers = (threads or cores()) if arch == "cpu" else None
    with _turns.hold((arch, workers)):
        yield _started.get((arch, workers)) or owner.call(_open, arch, workers)


def _open(arch: str, workers: int | None) -> Device:
    """Return the device of an arch; if another arch is open, close it and start this one."""
    if arch == "cuda":
        cuda.wake()
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
    """Close the open arch, if there is one, and save the kernels that were compiled for it."""
    if not _started:
        return
    _started.clear()
    copies.free_pinned()
    buffers.disown()
    with kernel_cache.writing():
        _reset()


def _reset() -> None:
    taichi = _taichi()
    with kernel_cache.own_cache_home():
        taichi.reset()


owner.at_end(_close)


def _keep_taichi() -> None:
    """In a forked child, never free Taichi: its destructor would wait for threads that do not exist there."""
    impl: Any = sys.modules.get("taichi.lang.impl")
    if impl is not None and impl.get_runtime().prog is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(impl.get_runtime().prog))


os.register_at_fork(after_in_child=_keep_taichi)


def _taichi() -> Any:
    """Import Taichi, quietly."""
    if "taichi" not in sys.modules:
        os.environ["TI_SKIP_VERSION_CHECK"] = "ON"  # otherwise Taichi asks a server
        os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
        later = imported_later("dill", "urllib.request")
        with kernel_cache.own_cache_home(), later, frames_have_no_modules(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Taichi's own: under `python -W error` it could not be imported
            import_module("taichi")
    buffers.adopt()
    note_less()
    return import_module("taichi")


def require_running(device: Device) -> None:
    """Raise an error if another arch has been opened since this device.

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
    if arch == "cuda":
        # Taichi's analysis of stores and loads takes 3.3 of 3.5 s to compile the wave, and its searches are no faster.
        options["cfg_optimization"] = False
    options |= kernel_cache.settings()
    before = thread_ids()
    with captured_output() as said, kernel_cache.own_cache_home(), frames_have_no_modules():
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
        # Taichi starts the threads that compile first, then the threads that compute.
        of_python = {thread.native_id for thread in threading.enumerate()}
        spread(sorted(thread_ids() - before - of_python)[-threads:])
    name, memory = _identity(arch, said[0])
    word_bits = 64 if arch == "cpu" else 32
    device = Device(arch, name, memory, threads, word_bits)
    passed = _note_of_pass(ti, arch, name)
    if passed is not None and kernel_cache.holds(passed):
        # The same hardware runs the same compiled kernel: it would pass again.
        return device
    from kernels_ti.device.selftest import LONG_LOOP, failures

    with compiled_quickly() if arch == "cpu" else nullcontext():
        found, rounds = failures(word_bits, arch, device.buffer, device.download)
    if found:
        raise DeviceError(f"{name} ({arch}) fails the self-test and is not used: {'; '.join(found)}")
    if rounds < LONG_LOOP:
        return replace(device, loop_rounds=rounds)
    if passed is not None:
        kernel_cache.note(passed)
    return device


def _note_of_pass(ti: Any, arch: str, name: str) -> str | None:
    """Return what is noted of hardware that has passed the self-test; None if its driver is unknown."""
    driver = {"cpu": lambda: "", "cuda": cuda.driver_version, "vulkan": lambda: None}[arch]()
    version = import_module("kernels_ti").__version__  # it lies above this room
    return None if driver is None else f"self-test {version} {ti.__version__} {name} {driver}".rstrip()


def _identity(arch: str, log: str) -> tuple[str, int | None]:
    """Return the name and the memory in bytes of the device that Taichi has started, read from its log."""
    if arch == "cpu":
        return cpu_name(), host_memory()
    pattern = r"Using CUDA device \[id=\d+\]: (.+)" if arch == "cuda" else r'Vulkan Device "(.+?)" supports'
    name = re.search(pattern, log)
    memory = re.search(r"Total memory ([\d.]+) GB", log) if arch == "cuda" else None
    return (
        name.group(1).strip() if name else f"{arch} device",
        int(float(memory.group(1)) * 2**30) if memory else None,
    )
