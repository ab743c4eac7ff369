"""Facts from the operating system: the processor, memory and cores of the machine, the threads of this process."""

from __future__ import annotations

import os
import platform
import re
import threading
from contextlib import suppress
from pathlib import Path

from kernels_ti.errors import DeviceError

_THREADS = "/proc/self/task"


def cpu_name() -> str:
    """Return the name of the processor from the system."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        if model:
            return model.group(1).strip()
    return platform.processor() or platform.machine()


def require_folder() -> None:
    """Raise DeviceError where the current folder is gone: Taichi does not start there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise DeviceError(
            "the current folder was removed, and no device starts in it: change to one that exists, such as by os.chdir"
        ) from None


def may_start(number: int) -> bool:
    """Return whether the system lets this process have so many more threads at once."""
    done = threading.Event()
    started = []
    try:
        for _ in range(number):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        done.set()
        for thread in started:
            thread.join()
    return True


def thread_ids() -> set[int]:
    """Return the Linux ids of the threads of this process; an empty set on other systems."""
    return set(map(int, os.listdir(_THREADS))) if os.path.isdir(_THREADS) else set()


def spread(workers: list[int]) -> None:
    """Pin each worker to a core of its own, if there are as many workers as cores.

    Linux often wakes two workers on the same core, and needs milliseconds to notice that another core is idle.
    """
    if len(workers) == cores() > 1:
        for worker, core in zip(workers, sorted(os.sched_getaffinity(0)), strict=True):
            with suppress(OSError):  # not allowed everywhere; it only makes a search faster
                os.sched_setaffinity(worker, {core})


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def host_memory() -> int | None:
    """Return the total memory in bytes; None if the system does not tell."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
