"""The memory budget of a search.

On the CPU the budget is for the whole process: Python and Taichi, the graph, bit rows, stacks, and cycles that
are not written yet. On a GPU it is for the buffers on the device, and on CUDA for the pinned memory through which
cycles come to the host; the memory of the driver itself does not count.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from kernels_ti.errors import OptionError, bytes_text, parameter

SHARE_OF_FREE = 2  # Without a budget, a search may use the free memory divided by this
LEAST = 16 << 20  # Bytes that a search needs at least to begin
SPARE = 24 << 20  # Bytes on the CPU for temporary objects: pieces of output, frames of a checkpoint
KERNELS = 96 << 20  # Bytes that Taichi and the kernels of a count take in a process that has not opened the CPU yet
ON_HOST = "cpu", "reference"  # The arches that search in the memory of this process
UNKNOWN_DEVICE_MEMORY = 2 << 30  # Free bytes that are assumed for a device whose driver does not tell


class _HasMemory(Protocol):
    """A `kernels_ti.device.device.Device`, of which commands must not know."""

    @property
    def arch(self) -> str: ...
    @property
    def memory(self) -> int | None: ...
    def free_memory(self) -> int | None: ...


def resident_bytes() -> int:
    """Return the current resident size of this process in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def peak_memory() -> int:
    """Return the largest resident size that this process has had, in bytes."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def search_budget(device: _HasMemory, memory: int | None, *, begun: bool = False) -> int:
    """Return the bytes that blocks, stacks or arena, and found cycles may take together.

    The user allows `memory` bytes, see the module; None stands for a share of the free memory. An OptionError is raised
    if the process alone takes nearly as much, unless a part of the search is done (`begun`): it goes on with little
    memory.
    """
    if memory is None:
        free = device.free_memory() or device.memory or UNKNOWN_DEVICE_MEMORY
        if device.arch != "cuda":
            free = min(free, _free_host_memory())
        return max(free // SHARE_OF_FREE, LEAST)
    return _left_of(memory, resident_bytes() if device.arch in ON_HOST else None, begun=begun)


def host_budget(memory: int | None) -> int:
    """Return the bytes that a count on the host may take for its states, of the `memory` that the whole process may.

    None stands for a share of the free memory. An OptionError is raised if the process alone takes nearly as much.
    """
    if memory is None:
        return max(_free_host_memory() // SHARE_OF_FREE, LEAST)
    return _left_of(memory, resident_bytes())


def require_room(memory: int, needed: int, purpose: str) -> None:
    """Raise OptionError if this process would take more than `memory` bytes with those needed for a purpose."""
    held = resident_bytes()
    if held + needed > memory:
        raise _too_small(memory, held, f"{purpose} takes {bytes_text(needed)} more")


def _too_small(memory: int, held: int | None, needs: str) -> OptionError:
    """Return the error about a limit that is too small, given the bytes that the process holds, if they count."""
    holds = "" if held is None else f"this process holds {bytes_text(held)} itself, and "
    return OptionError(f"{parameter('memory')} {bytes_text(memory)} is too small: {holds}{needs}")


def _left_of(memory: int, held: int | None, *, begun: bool = False) -> int:
    """Return what a limit leaves to a search, given the bytes that the process holds itself, if they count."""
    needed = LEAST if held is None else LEAST + SPARE
    left = memory - (held or 0) - needed + LEAST
    if left < LEAST and not begun:
        more = "" if held is None else "more "
        raise _too_small(memory, held, f"a search needs {bytes_text(needed)} {more}at least")
    return max(left, LEAST)


def _free_host_memory() -> int:
    """Return the bytes that the system, or the control group of this process, can still give."""
    import psutil

    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # not Linux, or no limit
        group = Path("/sys/fs/cgroup")
        free = min(free, int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(free, 0)
