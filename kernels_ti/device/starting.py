"""The start of Taichi on an arch: its options, its threads, and what its device is called."""

from __future__ import annotations

import re
import threading
from contextlib import nullcontext
from typing import Any

from kernels_ti import taichi_door
from kernels_ti.device import cuda, kernel_cache
from kernels_ti.device.captured_output import captured_output
from kernels_ti.device.machine import cores, cpu_name, host_memory, may_start, require_folder, spread, thread_ids
from kernels_ti.errors import DeviceError
from kernels_ti.options import MOST_THREADS

_OTHER_THREADS = 5
"""Threads that Taichi starts beside those that compute, most of them to compile."""


def start(arch: str, threads: int | None) -> tuple[str, int | None]:
    """Start an arch, with so many threads on the CPU; return the name of the device and its bytes of memory.

    A DeviceError says why it is not available.
    """
    require_folder()
    options: dict[str, Any] = {"cpu_max_num_threads": threads} if threads else {}
    if arch == "cuda":
        # Taichi's analysis of stores and loads takes 3.3 of 3.5 s to compile the wave, and its searches are no faster.
        options["cfg_optimization"] = False
    options |= kernel_cache.settings()
    # Taichi that gets too few threads hangs, or aborts the process.
    if not may_start((threads or cores()) + _OTHER_THREADS):
        raise DeviceError(f"arch {arch} is not available here: the system allows no more threads (`ulimit -u`)")
    before = thread_ids()
    # The name of a Vulkan device stands only in the log.
    with captured_output() if arch == "vulkan" else nullcontext([""]) as said:
        try:
            # Our arrays are allocated beside Taichi's own pool.
            taichi_door.start(arch, log=arch == "vulkan", device_memory_GB=0.25, **options)
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise DeviceError(f"arch {arch} is not available here: {reason[0]}") from error
    if taichi_door.arch_here() != arch:
        raise DeviceError(f"arch {arch} is not available here: {taichi_door.arch_here()} was started instead")
    if arch == "cpu":
        # The threads are started. Kernels know their number; with a fixed one, the cache has them for any number.
        taichi_door.settings().cpu_max_num_threads = MOST_THREADS
    if threads:
        # Taichi starts the threads that compile first, then the threads that compute.
        of_python = {thread.native_id for thread in threading.enumerate()}
        spread(sorted(thread_ids() - before - of_python)[-threads:])
    return _identity(arch, said[0])


def _identity(arch: str, log: str) -> tuple[str, int | None]:
    """Return the name and the memory in bytes of the device that was started; the log names that of Vulkan."""
    if arch == "cpu":
        return cpu_name(), host_memory()
    if arch == "cuda":
        memory = cuda.memory()
        return cuda.name(), None if memory is None else memory[1]
    name = re.search(r'Vulkan Device "(.+?)" supports', log)
    return name.group(1).strip() if name else "vulkan device", None
