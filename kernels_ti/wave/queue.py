"""A queue of launches of the wave's second stage: many levels of the search before the host looks.

A launch from Python costs more than a small level of the search, so a graph of launches is put together once and
started with one call; each level finds on the device how many records the level before it has made. On CUDA one launch
goes from level to level by itself.
"""

from __future__ import annotations

from typing import Any

import taichi as ti

from kernels_ti.device.device import Device
from kernels_ti.device.placing import MOST_HERE

_INDICES = {"first_row", "row_ptr", "neighbour", "seed_entry", "seed_root", "ends"}
_ARRAYS = {*_INDICES, "rows", "control", "allowed", "members", "cycles"}
ARGUMENTS = (
    "levels", "two_ended", "rows", "first_row", "parents", "length", "max_length", "control", "allowed", "ends",
    "members", "capacity", "from_start", "direction", "to_start", "free", "cycles", "cycle_capacity", "cycle_start",
)  # fmt: skip
"""What every kernel for stage 2 takes last."""

TRIPLET_ARGUMENTS = (
    "rows", "first_row", "neighbour", "seed_entry", "seed_root", "first_seed", "last_seed", "surveyed", "max_length",
    "control", "allowed", "ends", "members", "capacity", "start", "direction", "room", "cycles", "cycle_capacity",
    "cycle_start",
)  # fmt: skip
"""What every kernel for stage 1 takes."""

LAUNCHES = {"vulkan": 8, "cuda": 1}
"""Launches of a graph; a queue of more levels starts it several times."""


def made_graph(kernel: Any, arguments: tuple[str, ...], word: Any, numbers: tuple[str, ...] = ()) -> Any:
    """Put a graph of launches together, one to each name of `numbers`, which is the first argument of its launch.

    A graph is started with its arguments by name, in a fraction of the time that a launch from Python takes. It takes
    buffers of a device only: on the CPU, where buffers are arrays, a launch costs little.
    """
    graph = ti.graph
    types = {"control": ti.u32, **dict.fromkeys(_INDICES, ti.i32)}
    symbols = [
        graph.Arg(graph.ArgKind.NDARRAY, name, types.get(name, word), ndim=1)
        if name in _ARRAYS
        else graph.Arg(graph.ArgKind.SCALAR, name, ti.i32)
        for name in arguments
    ]
    builder = graph.GraphBuilder()
    for name in numbers:
        builder.dispatch(kernel, graph.Arg(graph.ArgKind.SCALAR, name, ti.i32), *symbols)
    if not numbers:
        builder.dispatch(kernel, *symbols)
    return builder.compile()


class Queue:
    """Launches of one kernel for stage 2: on CUDA a single one goes through all levels, else each has a level.

    Parameters
    ----------
    kernel : kernel
        Takes the number of the launch, ``meeting``, the arguments named here, and those of `ARGUMENTS`.
    arguments : tuple of str
    device : Device
    word : type
        Of the words of a bit row.
    """

    def __init__(self, kernel: Any, arguments: tuple[str, ...], device: Device, word: Any) -> None:
        self._kernel = kernel
        self._arguments = ("meeting", *arguments, *ARGUMENTS)
        self._device = device
        self._meeting = 0
        self._step = LAUNCHES.get(device.arch, 1)
        self._numbers = tuple(f"launch_{i}" for i in range(self._step))
        on_cpu = device.arch == "cpu"
        self._graph = None if on_cpu else made_graph(kernel, self._arguments, word, self._numbers)

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Queue so many levels.

        Parameters
        ----------
        levels : int
            At most `kernels_ti.device.placing.MOST_LEVELS`.
        arguments : dict
            The other arguments of the kernel, by name.
        """
        launches = levels
        if self._device.arch == "cuda":
            self._meeting, launches = self._meeting or self._counted(arguments), 1
        arguments = {**arguments, "levels": levels, "meeting": self._meeting}
        arguments["control"].fill(0)
        first = 0
        while self._graph is not None and launches - first >= self._step:
            self._graph.run({**arguments, **{name: first + i for i, name in enumerate(self._numbers)}})
            first += self._step
        for number in range(first, launches):
            self._kernel(number, *(arguments[name] for name in self._arguments))

    def _counted(self, arguments: dict[str, Any]) -> int:
        """Count the thread blocks of the kernel that are on the device together."""
        control = arguments["control"]
        control.fill(0)
        arguments = {**arguments, "levels": 0, "meeting": 0}
        self._kernel(0, *(arguments[name] for name in self._arguments))
        return int(self._device.download(control)[MOST_HERE])
