"""The queue of levels: the wave's second stage runs many levels before the host reads any result.

A launch from Python costs more than a small level of the search. So a graph of launches is compiled once and started
with one call. Each level reads on the device how many records the level before it has made. On CUDA one launch goes
from level to level by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from kernels_ti import taichi_door
from kernels_ti.device import buffers, resident
from kernels_ti.device.device import Device
from kernels_ti.device.placing import MOST_HERE
from kernels_ti.taichi_door import ti
from kernels_ti.taichi_door.libraries import library

LAUNCHES = {"vulkan": 8, "cuda": 1}  # Launches of a graph; a queue of more levels starts it several times


def made_graph(kernel: Any, word: Any, launches: Sequence[str] = ()) -> Any:
    """Return a graph of launches, which starts in a fraction of the time that a launch from Python takes.

    It is compiled once, for as long as the device is open. It takes the arguments of the kernel by name, and buffers of
    a device only: on the CPU, where buffers are arrays, a launch costs little anyway. Arrays for which the signature
    names no element type have `word`. There is one launch, or one for each of `launches`: the names under which the
    graph takes the argument `launch` of each.
    """
    return resident.made_once((kernel, word, *launches), lambda: _compiled_graph(kernel, word, launches))


def _compiled_graph(kernel: Any, word: Any, launches: Sequence[str]) -> Any:
    names = signature(kernel).parameters
    if not library().has_graphs:
        return _Launches(kernel, frozenset(names), tuple(launches))
    graph = ti.graph

    def symbol(name: str, kind: Any) -> Any:
        if kind is ti.i32:
            return graph.Arg(graph.ArgKind.SCALAR, name, kind)
        return graph.Arg(graph.ArgKind.NDARRAY, name, kind.dtype or word, ndim=1)

    symbols = {each.name: symbol(each.name, each.annotation) for each in names.values()}
    examples = [
        0 if each.annotation is ti.i32 else buffers.example(each.annotation.dtype or word) for each in names.values()
    ]
    named = [symbols | ({"launch": symbol(launch, ti.i32)} if launch else {}) for launch in launches or [""]]
    return taichi_door.graph_of_launches(kernel, [list(each.values()) for each in named], examples)


@dataclass(frozen=True)
class _Launches:
    """Stands for a graph of launches where there is none: one launch after another, which cost little there."""

    kernel: Any
    names: frozenset[str]
    launches: tuple[str, ...]

    def run(self, arguments: dict[str, Any]) -> None:
        given = {name: value for name, value in arguments.items() if name in self.names}
        if not self.launches:
            self.kernel(**given)
        for launch in self.launches:
            self.kernel(**{**given, "launch": arguments[launch]})


def launcher(kernel: Any, device: Device, word: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that launches a kernel with arguments by name: through a graph where that takes less time."""
    if device.arch == "cpu":
        return lambda arguments: kernel(**arguments)
    run: Callable[[dict[str, Any]], None] = made_graph(kernel, word).run
    return run


class Queue:
    """Launches of one kernel for stage 2: on CUDA a single one goes through all levels, else each has a level.

    The kernel takes `launch`, the number of the launch, `meeting`, `levels` and whatever the method `launch` is given;
    `word` is the type of the words of a bit row.
    """

    def __init__(self, kernel: Any, device: Device, word: Any) -> None:
        self._kernel = kernel
        self._device = device
        self._meeting = 0
        self._launches = [f"launch_{i}" for i in range(LAUNCHES.get(device.arch, 1))]
        self._graph: Any = None if device.arch == "cpu" else made_graph(kernel, word, self._launches)

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Queue the launches of some levels, at most `kernels_ti.device.placing.MOST_LEVELS`; arguments go by name."""
        launches, at_once = levels, len(self._launches)
        if self._device.arch == "cuda":
            self._meeting, launches = self._meeting or self._counted(arguments), 1
        arguments = {**arguments, "levels": levels, "meeting": self._meeting}
        arguments["control"].fill(0)
        first = 0
        while self._graph is not None and launches - first >= at_once:
            self._graph.run({**arguments, **{name: first + i for i, name in enumerate(self._launches)}})
            first += at_once
        for number in range(first, launches):
            self._kernel(launch=number, **arguments)

    def _counted(self, arguments: dict[str, Any]) -> int:
        """Count the thread blocks of the kernel that are on the device together."""
        control = arguments["control"]
        control.fill(0)
        # Through the graph: from Python, Taichi would read the source of the kernel a second time.
        self._graph.run({**arguments, "levels": 0, "meeting": 0, self._launches[0]: 0})
        return int(self._device.download(control)[MOST_HERE])
