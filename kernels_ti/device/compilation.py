"""How thoroughly Taichi compiles for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kernels_ti import taichi_door
from kernels_ti.taichi_door import kernel


@contextmanager
def compiled_quickly() -> Iterator[None]:
    """Compile the kernels that are first launched inside the block without Taichi's analysis of stores and loads.

    The analysis takes most of the time to compile a large kernel. LLVM, which comes after it, finds nearly as much.
    """
    config = taichi_door.settings()
    before = config.cfg_optimization
    config.cfg_optimization = False
    try:
        yield
    finally:
        config.cfg_optimization = before


class Tiered:
    """A kernel that is compiled at the first launch of each of its tiers. Both compute the same.

    It decorates a function in place of `kernels_ti.taichi_door.kernel`.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._quick = kernel(function)
        self.thorough = kernel(function)

    def quick(self, **arguments: Any) -> None:
        """Launch the kernel as it is compiled in a third of the time; its searches take about 6% longer."""
        with compiled_quickly():
            self._quick(**arguments)
