"""How thoroughly Taichi compiles for the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernels_ti import taichi_door


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
