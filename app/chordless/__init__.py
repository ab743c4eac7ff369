"""Every chordless (induced) cycle of a graph, on CPU, CUDA or Vulkan.

`import chordless` offers the names of the compute library `kernels_ti`, and `load_graph` and `generate` for files and
specs. Each is loaded when it is first used. ``python -m chordless`` is the command; its rooms are the packages in here,
none of which imports taichi itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chordless.graphs.generators import generate
    from chordless.graphs.public import load_graph
    from kernels_ti import (
        Arch,
        BestCycle,
        Chordality,
        ChordlessError,
        CycleCounts,
        CycleShares,
        CycleStream,
        CycleTable,
        Device,
        DeviceError,
        EngineError,
        Expansion,
        Graph,
        GraphError,
        Method,
        OptionError,
        Options,
        Participation,
        Run,
        Snapshot,
        __version__,
        as_graph,
        collect_cycles,
        count_cycles,
        count_participation,
        enumerate_cycles,
        is_chordal,
        longest_cycle,
        open_device,
        participation,
        sample_cycles,
    )

_OWN = {"generate": "chordless.graphs.generators", "load_graph": "chordless.graphs.public"}

__all__ = [
    "Arch",
    "BestCycle",
    "Chordality",
    "ChordlessError",
    "CycleCounts",
    "CycleShares",
    "CycleStream",
    "CycleTable",
    "Device",
    "DeviceError",
    "EngineError",
    "Expansion",
    "Graph",
    "GraphError",
    "Method",
    "OptionError",
    "Options",
    "Participation",
    "Run",
    "Snapshot",
    "__version__",
    "as_graph",
    "collect_cycles",
    "count_cycles",
    "count_participation",
    "enumerate_cycles",
    "generate",
    "is_chordal",
    "load_graph",
    "longest_cycle",
    "open_device",
    "participation",
    "sample_cycles",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_OWN.get(name, "kernels_ti")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
