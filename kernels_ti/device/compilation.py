"""How Taichi compiles kernels: what it notes about their source, and how thoroughly it compiles for the CPU."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from types import SimpleNamespace
from typing import Any


def note_less() -> None:
    """Make Taichi note the line of each expression without a picture of it, and read each source once.

    Taichi reads the source of a kernel at every start, whether the kernel is in the cache or not. The pictures, for
    messages about errors in kernels, take half of that time. A function is inlined wherever it is called, and Taichi
    would read its file, break its lines and parse it anew for each call, which takes a sixth of the time.
    For a buffer it notes the stack of calls, which takes longer than making the buffer.
    """
    from taichi.lang import _ndarray, kernel_impl
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    if ASTTransformerContext.get_pos_info is not _position:
        ASTTransformerContext.get_pos_info = _position
        _ndarray.get_traceback = lambda: ""
        kernel_impl.getsourcelines = cache(kernel_impl.getsourcelines)
        kernel_impl.textwrap = SimpleNamespace(fill=cache(textwrap.fill), dedent=textwrap.dedent)
        kernel_impl.ast = SimpleNamespace(parse=_parsed)


@cache
def _tree(source: str) -> ast.FunctionDef:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


def _parsed(source: str) -> ast.Module:
    """Parse the source of a function once.

    Taichi takes the decorators and the arguments out of the tree, so these parts are copied. It writes the value of any
    other node before it reads it.
    """
    function = copy(_tree(source))
    function.args = copy(function.args)
    return ast.Module([function], [])


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
