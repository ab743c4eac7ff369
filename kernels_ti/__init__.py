"""The compute library: every chordless cycle of a graph, on CPU, CUDA or Vulkan through Taichi.

Importing this package is cheap: each name below loads its module when it is first used, and taichi
itself is loaded only when a device is opened.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels_ti.api import CycleCounts, count_cycles, enumerate_cycles
    from kernels_ti.errors import ChordlessError, DeviceError, EngineError, GraphError, OptionError
    from kernels_ti.graph import Graph
    from kernels_ti.run import Options, Run, Snapshot

_MODULE_OF = {
    "ChordlessError": "errors",
    "CycleCounts": "api",
    "DeviceError": "errors",
    "EngineError": "errors",
    "Graph": "graph",
    "GraphError": "errors",
    "OptionError": "errors",
    "Options": "run",
    "Run": "run",
    "Snapshot": "run",
    "count_cycles": "api",
    "enumerate_cycles": "api",
}

__all__ = [
    "ChordlessError",
    "CycleCounts",
    "DeviceError",
    "EngineError",
    "Graph",
    "GraphError",
    "OptionError",
    "Options",
    "Run",
    "Snapshot",
    "count_cycles",
    "enumerate_cycles",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
