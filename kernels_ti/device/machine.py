"""What the operating system says of this machine: its processor, memory, cores, and the threads of this process."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from pathlib import Path

_THREADS = "/proc/self/task"


def cpu_name() -> str:
    """Name of the processor, as the system has it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        if model:
            return model.group(1).strip()
    return platform.processor() or platform.machine()


def thread_ids() -> set[int]:
    """Return the threads of this process as Linux numbers them; elsewhere none."""
    return set(map(int, os.listdir(_THREADS))) if os.path.isdir(_THREADS) else set()


def spread(workers: list[int]) -> None:
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


def host_memory() -> int | None:
    """Bytes of memory in all, None where the system does not say."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
