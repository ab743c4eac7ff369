"""Which GPUs of this machine get a worker each."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from kernels_ti.errors import DeviceError

_LIBRARY = "libnvidia-ml.so.1"


def chosen_gpus(wanted: Sequence[int] | None) -> tuple[int, ...]:
    """Return the GPUs to use; all that NVIDIA's driver lists, unless some are wanted. They must be there."""
    there = listed_gpus()
    if wanted is None:
        return there
    missing = [number for number in wanted if number not in there]
    if missing:
        have = f"it has {', '.join(map(str, there))}" if there else "it has none"
        raise DeviceError(f"this machine has no GPU {missing[0]}: {have}")
    return tuple(wanted)


def listed_gpus() -> tuple[int, ...]:
    """Return the numbers of the GPUs that NVIDIA's driver lists, as far as ``CUDA_VISIBLE_DEVICES`` shows them."""
    there = tuple(range(_count()))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return there
    chosen = [int(name) for name in visible.split(",") if name.strip().isdigit()]
    return tuple(number for number in chosen if number in there)


def _count() -> int:
    """Return how many GPUs NVIDIA's management library counts, as `nvidia-smi` does; 0 without a driver.

    The library answers in milliseconds; the program `nvidia-smi` takes up to a second to start.
    """
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return 0  # no driver is installed
    count = ctypes.c_uint()
    if library.nvmlInit_v2() != 0:
        return 0  # the driver does not answer: there is no GPU to use
    try:
        answered = library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
    finally:
        library.nvmlShutdown()
    return int(count.value) if answered else 0
