"""The compute library: every chordless cycle of a graph, on CPU, CUDA or Vulkan through Taichi.

`count_cycles` counts them by length, `enumerate_cycles` streams them as lists of vertices, `collect_cycles` puts them
all in arrays, `is_chordal` says whether there is any of 4 or more vertices, `longest_cycle` finds the longest, and
`sample_cycles` draws some at random, and `estimate_cycles` tells about how many there are. All of them take a `Graph`,
or a graph that `as_graph` can convert. `Run` is the search in slices, for programs that report, pause or stop; it needs
a device from `open_device`. Every error raised on purpose is a `ChordlessError`.

Importing this package is cheap: each name below loads its module when it is first used, and taichi
itself is loaded only when a device is opened. Other packages import from here, not from the modules of this floor.
``assets/docs/architecture.md`` has a line for each module and folder in here, and says where to add something.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels_ti.api import collect_cycles, count_cycles, count_participation, enumerate_cycles
    from kernels_ti.boundary.longest import BestCycle
    from kernels_ti.boundary.participation import CycleShares, participation
    from kernels_ti.choices import Arch, Expansion, Method
    from kernels_ti.chordality import Chordality, is_chordal
    from kernels_ti.conversion import as_graph
    from kernels_ti.cycle_stream import CycleStream
    from kernels_ti.cycle_table import CycleTable
    from kernels_ti.device.device import Device, open_device, release_memory
    from kernels_ti.errors import (
        ChordlessError,
        DeviceError,
        EngineError,
        GraphError,
        OptionError,
        SizeError,
        TimeIsUpError,
    )
    from kernels_ti.estimate.count_estimate import CountEstimate, EstimatedRange
    from kernels_ti.estimates import estimate_cycles, estimate_paths
    from kernels_ti.found.participation import Participation
    from kernels_ti.graph import Graph
    from kernels_ti.longest import longest_cycle
    from kernels_ti.options import CycleCounts, Options, Snapshot
    from kernels_ti.orbits import CycleOrbits, cycle_orbits
    from kernels_ti.paths import (
        BestPath,
        PathCounts,
        PathStream,
        count_paths,
        enumerate_paths,
        longest_path,
        sample_paths,
        shortest_path,
    )
    from kernels_ti.perfection import is_perfect
    from kernels_ti.run import Run
    from kernels_ti.sample import sample_cycles
    from kernels_ti.watch import Progress

__version__ = "0.6.0"

_NAMES_IN = {
    "api": "collect_cycles count_cycles count_participation enumerate_cycles",
    "boundary.longest": "BestCycle",
    "boundary.participation": "CycleShares participation",
    "choices": "Arch Expansion Method",
    "chordality": "Chordality is_chordal",
    "conversion": "as_graph",
    "cycle_stream": "CycleStream",
    "cycle_table": "CycleTable",
    "device.device": "Device open_device release_memory",
    "errors": "ChordlessError DeviceError EngineError GraphError OptionError SizeError TimeIsUpError",
    "estimate.count_estimate": "CountEstimate EstimatedRange",
    "estimates": "estimate_cycles estimate_paths",
    "found.participation": "Participation",
    "graph": "Graph",
    "longest": "longest_cycle",
    "options": "CycleCounts Options Snapshot",
    "orbits": "CycleOrbits cycle_orbits",
    "paths": "BestPath PathCounts PathStream count_paths enumerate_paths longest_path sample_paths shortest_path",
    "perfection": "is_perfect",
    "run": "Run",
    "sample": "sample_cycles",
    "watch": "Progress",
}
_MODULE_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = [
    "Arch",
    "BestCycle",
    "BestPath",
    "Chordality",
    "ChordlessError",
    "CountEstimate",
    "CycleCounts",
    "CycleOrbits",
    "CycleShares",
    "CycleStream",
    "CycleTable",
    "Device",
    "DeviceError",
    "EngineError",
    "EstimatedRange",
    "Expansion",
    "Graph",
    "GraphError",
    "Method",
    "OptionError",
    "Options",
    "Participation",
    "PathCounts",
    "PathStream",
    "Progress",
    "Run",
    "SizeError",
    "Snapshot",
    "TimeIsUpError",
    "__version__",
    "as_graph",
    "collect_cycles",
    "count_cycles",
    "count_participation",
    "count_paths",
    "cycle_orbits",
    "enumerate_cycles",
    "enumerate_paths",
    "estimate_cycles",
    "estimate_paths",
    "is_chordal",
    "is_perfect",
    "longest_cycle",
    "longest_path",
    "open_device",
    "participation",
    "release_memory",
    "sample_cycles",
    "sample_paths",
    "shortest_path",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
