"""Shortcuts for a faster start of Taichi in a process of this program alone: names of Taichi and Python replaced.

It saves a tenth of a second. Of Quadrants only the import and the start are known, not how it reads sources.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from importlib import import_module
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any, cast

_SPACES_TO_TAB = 4  # as Taichi reads a source
_PACKAGE = __name__.partition(".")[0]


@contextmanager
def while_doing(doing: str, package: str) -> Iterator[None]:
    """Let a library be imported or started faster inside the block: `doing` is ``import`` or ``start``."""
    # A module that imports torch after Quadrants looks for the real `dill`.
    rarely = ("dill", "urllib.request") if doing == "import" and package == "taichi" else ()
    # Quadrants imports torch where it is installed, which takes a second; our kernels take no tensors.
    never = ("torch",) if doing == "import" else ()
    with frames_have_no_modules(), imported_later(*rarely), absent(*never):
        yield


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Let modules that are not imported yet seem not to be installed inside the block."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden, cast("ModuleType", None)))
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


@contextmanager
def frames_have_no_modules() -> Iterator[None]:
    """Let `inspect` describe a frame without a search for its module inside the block.

    When Taichi is imported, each of its decorators asks what the frame that imports the module looks like. When it is
    started, it asks the same of a frame to write a line of its log. For either, `inspect` goes through all modules.
    """
    before = inspect.getmodule

    def getmodule(object: object, _filename: str | None = None) -> ModuleType | None:
        return None if isinstance(object, FrameType) else before(object, _filename)

    inspect.getmodule = getmodule
    try:
        yield
    finally:
        inspect.getmodule = before


def note_less(package: str) -> None:
    """Make Taichi, not Quadrants, note the line of each expression without a picture of it, and read each source once.

    Taichi reads the source of a kernel at every start, whether the kernel is in the cache or not. The pictures, for
    messages about errors in kernels, take half of that time. A function is inlined wherever it is called, and Taichi
    would read its file, break its lines and parse it anew for each call, which takes a quarter of the time.
    For each decorator it looks through all modules. The functions of others are read as Taichi reads them: they may
    call themselves.
    """
    if package != "taichi":
        return
    from taichi.lang import kernel_impl
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    if ASTTransformerContext.get_pos_info is not _position:
        ASTTransformerContext.get_pos_info = _position
        kernel_impl._inside_class = _inside_class
        kernel_impl.getsourcefile = cache(kernel_impl.getsourcefile)
        kernel_impl.getsourcelines = _source(kernel_impl.getsourcelines)
        kernel_impl.textwrap = SimpleNamespace(fill=_filled, dedent=_without_margin)
        kernel_impl.ast = SimpleNamespace(parse=_parsed)


def _inside_class(level_of_class_stackframe: int) -> bool:
    """Say, as Taichi does but without a search for the frame's module, whether a decorated function is a method."""
    from taichi.lang import kernel_impl

    try:
        frame = sys._getframe(level_of_class_stackframe)
    except ValueError:  # the function stands in the script that Python runs, outside any class
        return False
    linecache.checkcache(frame.f_code.co_filename)
    statement = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
    return any(pattern.match(statement) for pattern in kernel_impl._KERNEL_CLASS_STACKFRAME_STMT_RES)


def _source(thorough: Callable[[Any], tuple[list[str], int]]) -> Callable[[Any], tuple[list[str], int]]:
    """Return Taichi's function that reads the source of a function, made faster for those of this package.

    For these it returns one string, not lines. The end of the function is found by the margin instead of by the words
    of the source. Where that finds no whole function, Taichi's own way is taken.
    """

    @cache
    def source(function: Any) -> tuple[list[str], int]:
        if str(function.__module__).partition(".")[0] != _PACKAGE:
            return thorough(function)
        first = function.__code__.co_firstlineno
        found = _dedented(_lines_of(function.__code__))
        try:
            _tree(found)
        except (SyntaxError, IndexError):
            lines, first = thorough(function)
            found = _dedented(lines)
        _ours.add(found)
        return [found], first

    return source


_ours: set[str] = set()  # sources of this package, in the form that Taichi would make of their lines


def _filled(text: str, **options: Any) -> str:
    return text if text in _ours else textwrap.fill(text, **options)


def _without_margin(text: str) -> str:
    return text if text in _ours else textwrap.dedent(text)


def _lines_of(code: CodeType) -> list[str]:
    """Return the lines of a function, with its decorators; none if they are in no file."""
    linecache.checkcache(code.co_filename)
    lines, first = linecache.getlines(code.co_filename), code.co_firstlineno - 1
    last = max(line for _, _, line in code.co_lines() if line is not None)
    margin = _margin(lines[first]) if first < len(lines) else 0
    while last < len(lines) and (lines[last].isspace() or _margin(lines[last]) > margin):
        last += 1
    return lines[first:last]


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: list[str]) -> str:
    return textwrap.dedent("".join(lines).expandtabs(_SPACES_TO_TAB))


@cache
def _tree(source: str) -> ast.FunctionDef:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


def _parsed(source: str) -> ast.Module:
    """Parse the source of a function, once if it is of this package.

    No function of this package calls itself, so no tree is needed again while it is read. Taichi takes the decorators
    and the arguments out of the tree, so these parts are copied. It writes the value of any other node before it reads
    it.
    """
    if source not in _ours:
        return ast.parse(source)
    function = copy(_tree(source))
    function.args = copy(function.args)
    return ast.Module([function], [])


def _position(context: Any, node: Any) -> str:
    line = node.lineno + context.lineno_offset
    return f'File "{context.file}", line {line}, in {context.func.func.__name__}:\n'


class _Later(ModuleType):
    """Stands for a module, and imports it when anything of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of every module, for example by `inspect`
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def imported_later(*names: str) -> Iterator[None]:
    """Put off the import of modules that code inside the block imports.

    Taichi needs `dill` for kernels that are typed into an interactive Python, and `urllib.request` to look for a newer
    version of itself. To import both takes a hundredth of a second. Modules that are already imported are left alone.
    """
    put_off = {name: _Later(name) for name in names if name not in sys.modules}
    sys.modules.update(put_off)
    try:
        for name, module in put_off.items():
            package, _, own_name = name.rpartition(".")
            if package:
                # Another thread that says `import urllib.request` meanwhile looks for it there, also after the block.
                setattr(import_module(package), own_name, module)
        yield
    finally:
        for name, module in put_off.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
