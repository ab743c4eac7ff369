"""The one place that opens devices: each is started once, passes the self-test, and is shared by all who ask for it."""

from __future__ import annotations

import gc
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kernels_ti import taichi_door
from kernels_ti.choices import ARCHES as CHOICES
from kernels_ti.device import buffers, copies, cuda, kernel_cache, owner, resident, starting
from kernels_ti.device.compilation import compiled_quickly
from kernels_ti.device.machine import cores, host_memory
from kernels_ti.device.memory import KERNELS
from kernels_ti.device.own_process import require_here
from kernels_ti.device.pinned import PINNED_BYTES
from kernels_ti.device.turns import Turns
from kernels_ti.errors import DeviceError, EngineError, OptionError
from kernels_ti.options import require_threads
from kernels_ti.taichi_door.libraries import library

ARCHES = tuple(arch for arch in CHOICES if arch != "auto")
"""Where a search can run; ``reference`` is the sequential algorithm in plain Python."""

UNLIMITED_ROUNDS = 1 << 30
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to be pickled; a DeviceError for a device that another process would have to open."""
        if self.arch != "reference":
            raise DeviceError(
                f"a device belongs to its process and is not pickled: call open_device({self.arch!r}) where it is used"
            )
        return self.__dict__

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
        target = self.empty(len(values), values.dtype, kept=True, exact=True)
        self.upload(values, target)
        return target

    def upload(self, values: np.ndarray, buffer: Any) -> None:
        """Copy a flat array to the beginning of a buffer of its type; what lies behind it is undefined afterwards."""
        owner.call(copies.upload, self.arch, np.ascontiguousarray(values), buffer)

    def empty(self, size: int, dtype: np.typing.DTypeLike, *, kept: bool = False, exact: bool = False) -> Any:
        """Make a one-dimensional buffer on the device; its content is undefined.

        Parameters
        ----------
        size : int
            Elements.
        dtype : dtype
        kept : bool
            When nobody holds it any more, it is kept for a later call, and an earlier one is returned: see
            `kernels_ti.device.resident`, where a large one may have more elements. Not on the CPU.
        exact : bool
            With `kept`: only a buffer of just this size will do.

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
                if kept and self.arch != "cpu":
                    return owner.call(resident.buffer, size, np.dtype(dtype), self.allocate, exact=exact)
                return self.allocate(size, np.dtype(dtype))
            except (MemoryError, RuntimeError):
                if self.arch == "cpu":
                    raise
                # A search that was dropped half-way holds its buffers until Python collects it.
                owner.call(gc.collect)
                owner.call(resident.drop_idle)
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
            found = owner.call(cuda.memory)
            return None if found is None else found[0]
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


_started: dict[tuple[str, int | None], Device] = {}  # by arch and threads: the device that was opened last
_turns = Turns()


def cuda_is_here() -> bool:
    """Return whether CUDA has a device here. It is not opened."""
    return cuda.driver_is_here() and owner.call(lambda: cuda.device_is_here() and taichi_door.has_driver("cuda"))


def no_driver(arch: str) -> DeviceError:
    """Return the error that says that an arch has no device here."""
    return DeviceError(f"arch {arch} is not available here: no driver was found")


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
    >>> from chordless import open_device
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
    """Open an arch, and let no other thread open another one until the block is left; see `open_device`."""
    if arch not in ARCHES:
        raise OptionError(f"there is no arch {arch!r}: choose one of {', '.join(ARCHES)}")
    require_threads(threads)
    if arch == "reference":
        yield Device("reference", f"Python {platform.python_version()}", host_memory(), None)
        return
    if _started and not taichi_door.is_open():
        owner.call(_close)  # its kernels were written when the process reset Taichi
    require_here()
    workers = int(threads or cores()) if arch == "cpu" else None
    with _turns.hold((arch, workers)):
        yield _open_one((arch, workers)) or owner.call(_open, arch, workers)


def is_open(arch: str = "auto") -> bool:
    """Say whether this process has an arch open, so that kernels need no start; ``auto`` stands for any."""
    return any(arch in ("auto", each) for each, _ in _started) and taichi_door.is_open()


def left_beside_kernels(memory: int) -> int:
    """Return how many of the bytes are left once kernels on the CPU have started; 0 if they take more than half."""
    return memory if is_open("cpu") else memory - KERNELS if memory >= 2 * KERNELS else 0


def _open_one(key: tuple[str, int | None]) -> Device | None:
    """Return the device of an arch and threads if it is open: the process may have reset Taichi since."""
    return _started.get(key) if taichi_door.is_open() else None


def release_memory() -> None:
    """Give back the memory of the open GPU that is kept for the next search, and pinned memory of the host.

    Searches that go on are not changed. Without an open device nothing happens.

    Raises
    ------
    EngineError
        If the device has failed.

    Examples
    --------
    >>> from chordless import Graph, count_cycles, release_memory
    >>> square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> count_cycles(square, arch="cpu").total
    1
    >>> release_memory()
    """
    with held_open_device() as device:
        if device is not None:
            device.call(resident.drop_idle)
            device.call(copies.free_pinned)


@contextmanager
def held_open_device() -> Iterator[Device | None]:
    """Let no other thread open another arch than the open one until the block is left; open none.

    Yield None if no arch is open, or this process may use none any more, as after a fork.
    """
    while owner.may_work() and (key := next(iter(_started), None)) is not None and taichi_door.is_open():
        with _turns.hold(key):
            found = _open_one(key)
            if found is not None:  # it may have been closed while this thread waited
                yield found
                return
    yield None


def _open(arch: str, workers: int | None) -> Device:
    """Return the device of an arch; if another arch is open, close it and start this one."""
    if taichi_door.is_taken():
        raise DeviceError(
            f"this process runs a program of {library().title} that would lose its fields: count and list "
            "with count_cycles and the other functions, which then search in a process of their own, or open the "
            f"device before that program is started or after it was reset (ti.reset())"
        )
    if arch == "cuda":
        cuda.wake()
    may_be_here = arch != "cuda" or cuda.driver_is_here()  # else Taichi would print that it found none
    if arch != "cpu" and not (may_be_here and taichi_door.has_driver(arch)):
        raise no_driver(arch)
    found = _open_one((arch, workers))
    if found is None:
        _close()
        try:
            found = _start(arch, workers)
        except DeviceError:
            raise
        except Exception:
            if not kernel_cache.discard():
                raise
            taichi_door.stop()
            found = _start(arch, workers)
        _started[arch, workers] = found
    return found


def _close() -> None:
    """Close the open arch, if there is one, and save the kernels that were compiled for it."""
    if not _started:
        return
    _started.clear()
    copies.free_pinned()
    resident.forget()
    with kernel_cache.writing():
        taichi_door.stop()


owner.at_end(_close)


def require_running(device: Device) -> None:
    """Raise a DeviceError if another arch has been opened since this device, or the process has reset Taichi.

    Taichi has dropped the kernels and buffers of the device then.
    """
    if device.arch == "reference":
        return
    if not taichi_door.is_open():
        raise DeviceError(
            f"arch {device.arch} is no longer open: this process has started or reset {library().title} "
            "since. Take all cycles of a search before that, or open the device again and search anew"
        )
    if all(arch != device.arch for arch, _ in _started):
        raise DeviceError(
            f"arch {device.arch} is no longer open: another one has been opened since in this process. Take all "
            "cycles of a search before another arch is opened, or use a process for each arch"
        )


def _start(arch: str, threads: int | None) -> Device:
    name, memory = starting.start(arch, threads)
    word_bits = 64 if arch == "cpu" else 32
    device = Device(arch, name, memory, threads, word_bits)
    passed = _note_of_pass(arch, name)
    if passed is not None and kernel_cache.holds(passed):
        # The same hardware runs the same compiled kernel: it would pass again.
        return device
    from kernels_ti.device.selftest import LONG_LOOP, failures

    with compiled_quickly() if arch == "cpu" else nullcontext():
        found, rounds = failures(word_bits, device.buffer, device.download)
    if found:
        raise DeviceError(f"{name} ({arch}) fails the self-test and is not used: {'; '.join(found)}")
    if rounds < LONG_LOOP:
        return replace(device, loop_rounds=rounds)
    if passed is not None:
        kernel_cache.note(passed)
    return device


def _note_of_pass(arch: str, name: str) -> str | None:
    """Return the note about hardware that has passed the self-test; None if its driver is unknown."""
    driver = {"cpu": lambda: "", "cuda": cuda.driver_version, "vulkan": lambda: None}[arch]()
    version = import_module("kernels_ti").__version__  # it lies above this room
    return None if driver is None else f"self-test {version} {taichi_door.name_and_version()} {name} {driver}".rstrip()
