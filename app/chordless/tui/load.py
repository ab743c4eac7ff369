"""How busy the processors of this machine are, and how much of that is the work of a process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import psutil


@dataclass(frozen=True)
class Load:
    """How busy the processors are, each 0 to 1."""

    # Each core of the CPU since the last look. Empty at the first look.
    cores: tuple[float, ...] = ()
    gpus: tuple[float, ...] = ()  # Each GPU of NVIDIA; empty without one, or without the library that asks it


def machine_load() -> Load:
    """Return the load of this machine since the last call."""
    return Load(tuple(busy / 100 for busy in psutil.cpu_percent(percpu=True)), _gpus()())


class ProcessLoads:
    """How much of all cores each of some processes uses."""

    def __init__(self) -> None:
        self._known: dict[int, psutil.Process] = {}

    def of(self, pid: int) -> float | None:
        """Return the share since the last call, 0 to 1; None at the first call, and for a process that is gone."""
        try:
            is_new = pid not in self._known
            process = self._known.setdefault(pid, psutil.Process(pid))
            share: float = process.cpu_percent() / 100 / (psutil.cpu_count() or 1)
            # Workers on this machine are children of the engine.
            for child in process.children():
                share += self.of(child.pid) or 0.0
        except psutil.Error:
            self._known.pop(pid, None)
            return None
        return None if is_new else min(share, 1.0)


@cache
def _gpus() -> Callable[[], tuple[float, ...]]:
    """Return a function that asks NVIDIA's driver for the load of its GPUs. Where there is none, it returns ()."""
    try:
        nvml = import_module("pynvml")  # of the extra `nvidia`
    except ImportError:
        return tuple
    try:
        nvml.nvmlInit()
        devices = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError:
        return tuple

    def ask() -> tuple[float, ...]:
        loads = []
        for device in devices:
            # A GPU that was taken away, or that does not tell, is left out.
            with contextlib.suppress(nvml.NVMLError):
                loads.append(nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
        return tuple(loads)

    return ask
