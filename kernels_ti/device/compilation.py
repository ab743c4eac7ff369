"""How Taichi compiles kernels: what it notes about their source, and how thoroughly it compiles for the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


def note_less() -> None:
    """Make Taichi note the line of each expression without a picture of it, and read each source once.

    The pictures, for messages about errors in kernels, take half the time in which Taichi reads a kernel. It does so at
    every start, whether the kernel is in the cache or not. For a buffer it notes the stack of calls, which takes longer
    than making the buffer.
    """
    from taichi.lang import _ndarray, kernel_impl
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    if ASTTransformerContext.get_pos_info is not _position:
        ASTTransformerContext.get_pos_info = _position
        _ndarray.get_traceback = lambda: ""
        kernel_impl.getsourcelines = lru_cache(maxsize=None)(kernel_impl.getsourcelines)


def _position(context: Any, node: Any) -> str:
    line = node.lineno + context.lineno_offset
    return f'File "{context.file}", line {line}, in {context.func.func.__name__}:\n'


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
