"""How thoroughly Taichi compiles a kernel for the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compiled_quickly() -> Iterator[None]:
    """Compile the kernels that are first launched inside the block without Taichi's analysis of stores and loads.

    The analysis takes most of the time to compile a large kernel. LLVM, which comes after it, finds nearly as much.
    """
    from taichi.lang.impl import current_cfg

    config = current_cfg()
    before = config.cfg_optimization
    config.cfg_optimization = False
    try:
        yield
    finally:
        config.cfg_optimization = before
