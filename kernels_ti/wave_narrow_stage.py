"""Launches of the wave for narrow blocks, whose bit rows fit into registers."""

from __future__ import annotations

from typing import Any

from kernels_ti.bits import vector_of
from kernels_ti.search import ResidentBlocks
from kernels_ti.wave import expand_kernel, triplets_kernel
from kernels_ti.wave_queue import TRIPLET_ARGUMENTS, Queue, made_graph


class NarrowStage:
    """Both stages for one group of narrow blocks.

    Parameters
    ----------
    blocks : ResidentBlocks
    collect, bounded : bool
        See `kernels_ti.wave.expand_kernel`.
    """

    def __init__(self, blocks: ResidentBlocks, collect: bool, bounded: bool) -> None:
        group, arch = blocks.group, blocks.device.arch
        words = vector_of(group.words, group.word_bits)
        resident = arch == "cuda" and group.longest_block == group.rows
        kernel = expand_kernel(words, collect, arch, bounded, group.required is not None, resident)
        self._queue = Queue(kernel, (), blocks.device, words.dtype)
        self._triplets = triplets_kernel(words, collect)
        self._graph = None if arch == "cpu" else made_graph(self._triplets, TRIPLET_ARGUMENTS, words.dtype)

    def launch_triplets(self, arguments: dict[str, Any]) -> None:
        """Stage 1: the arguments of `kernels_ti.wave.triplets_kernel`, by name."""
        if self._graph is None:
            self._triplets(**arguments)
        else:
            self._graph.run(arguments)

    def launch(self, levels: int, arguments: dict[str, Any]) -> None:
        """Queue so many levels, see `Queue.launch`."""
        self._queue.launch(levels, arguments)
