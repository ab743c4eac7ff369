"""A queue of launches of the wave's second stage: many levels of the search before the host looks.

A launch from Python costs more than a small level of the search. A graph of launches is put together once
and started with one call; each level finds on the device how many records the level before it has made.
"""

from __future__ import annotations

from typing import Any

import taichi as ti

from kernels_ti.records import clear
from kernels_ti.search import ResidentBlocks
from kernels_ti.wave import expand_kernel

_ARRAYS = {"rows", "first_row", "control", "allowed", "ends", "members", "cycles"}
_ARGUMENTS = (
    "levels", "two_ended", "rows", "first_row", "parents", "length", "max_length", "control", "allowed", "ends",
    "members", "capacity", "from_start", "direction", "to_start", "free", "cycles", "cycle_capacity", "cycle_start",
)  # fmt: skip


LAUNCHES = {"vulkan": 8, "cuda": 16}
"""Launches of a graph; a queue of more levels starts it several times."""


class Queue:
    """Launches of stage 2 for one group of blocks.

    Parameters
    ----------
    blocks : ResidentBlocks
    words : vector type
        See `kernels_ti.bits.vector_of`.
    collect, bounded : bool
        See `kernels_ti.wave.expand_kernel`.

    """

    def __init__(self, blocks: ResidentBlocks, words: Any, collect: bool, bounded: bool) -> None:
        arch = blocks.device.arch
        group = blocks.group
        resident = arch == "cuda" and group.longest_block == group.rows
        self._kernel = expand_kernel(words, collect, arch, bounded, group.required is not None, resident)
        self._step = LAUNCHES.get(arch, 1)
        # A graph takes buffers of a device only; on the CPU, where buffers are arrays, a launch costs little.
        self._graph = None if arch == "cpu" else self._made_graph(words.dtype)

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Launch so many levels.

        Parameters
        ----------
        levels : int
            At most `kernels_ti.records.MOST_LEVELS`.
        arguments : dict
            The other arguments of the kernel but for ``level``, by name.
        """
        arguments = {**arguments, "levels": levels}
        clear(arguments["control"])
        first = 0
        while self._graph is not None and levels - first >= self._step:
            self._graph.run({**arguments, **{f"level_{i}": first + i for i in range(self._step)}})
            first += self._step
        for number in range(first, levels):
            self._kernel(number, *(arguments[name] for name in _ARGUMENTS))

    def _made_graph(self, word: Any) -> Any:
        graph = ti.graph
        types = {"control": ti.u32, "first_row": ti.i32, "ends": ti.i32}
        symbols = [
            graph.Arg(graph.ArgKind.NDARRAY, name, types.get(name, word), ndim=1)
            if name in _ARRAYS
            else graph.Arg(graph.ArgKind.SCALAR, name, ti.i32)
            for name in _ARGUMENTS
        ]
        builder = graph.GraphBuilder()
        for i in range(self._step):
            builder.dispatch(self._kernel, graph.Arg(graph.ArgKind.SCALAR, f"level_{i}", ti.i32), *symbols)
        return builder.compile()
