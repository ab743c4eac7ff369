"""The one door to Taichi: only this room imports it, knows its private names, or changes anything of it.

The library below is Taichi, or Quadrants, the maintained fork of it, see `kernels_ti.taichi_door.libraries`. Kernels
say ``from kernels_ti.taichi_door import ti``: it is imported when that name is first asked for.

A process of a user stays as it was: no name of the library below, of Python or of the environment is changed for longer
than the library takes to be imported or started. `kernels_ti.taichi_door.quick` is for the program's own processes.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from kernels_ti.errors import DeviceError
from kernels_ti.folders import base_folder, make_folder, private_folder
from kernels_ti.taichi_door.libraries import LIBRARIES, library

if TYPE_CHECKING:
    ti: Any
    fence: Any

_in_a_hurry = False
_is_ours = False  # whether the library was imported by this module
_runtime: Any = None  # the runtime that `start` has started
_beginnings: list[str] = []  # what this module does right now: an import or a start that other threads may notice


def hurry() -> None:
    """Import and start the library below faster from now on; only for a process that runs nothing but this program.

    It changes names of the library below and of Python, see `kernels_ti.taichi_door.quick`.
    """
    global _in_a_hurry
    _in_a_hurry = True


def kernel(function: Callable[..., Any]) -> Any:
    """Make a function a kernel of the library below, as ``ti.kernel`` does, with the shortest way to its launch."""
    if library().package != "taichi":
        return _imported().kernel(function)
    _imported()
    return import_module(f"{__name__}.launching").Kernel(function)


def __getattr__(name: str) -> Any:
    """Import the library below when one of its names is first asked for."""
    if name == "ti":
        globals()["ti"] = _imported()
    elif name == "fence":
        globals()["fence"] = getattr(_imported().simt.grid, library().fence)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


@cache
def _private(name: str) -> Any:
    return import_module(f"{library().package}.{name}")


def _imported() -> Any:
    """Import the library below, quietly and without a question to its server."""
    global _is_ours
    package = library().package
    if package not in sys.modules:
        level = os.environ.get(library().variable("LOG_LEVEL")) or "info"
        with _beginning("import"):
            with _surroundings(log_level="error"), _ignoring_its_warnings():
                import_module(package)
            import_module(package).set_logging_level(level)
            _is_ours = True
    module = import_module(package)
    _require_known(_version(module))
    if _in_a_hurry:
        _quick().note_less(package)
    return module


@contextmanager
def _ignoring_its_warnings() -> Iterator[None]:
    """Ignore all warnings inside the block, but keep the filters that are added there.

    Under ``python -W error`` the library below could not be imported.
    """
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ignoring = warnings.filters[0]
        yield
        added = [each for each in warnings.filters if each != ignoring and each not in before]
    cast("list[Any]", warnings.filters)[:0] = added


def _version(module: ModuleType) -> str:
    return ".".join(map(str, module.__version__))


def _require_known(version: str) -> None:
    below = library()
    if not version.startswith(below.versions):
        known = " or ".join(f"{each}x" if each.endswith(".") else each for each in below.versions)
        raise DeviceError(f"this program knows {below.title} {known}, but {version} is installed")


@contextmanager
def _beginning(doing: str) -> Iterator[None]:
    """Import or start the library below in this context, faster if this process is in a hurry."""
    _beginnings.append(doing)
    try:
        with _quick().while_doing(doing, library().package) if _in_a_hurry else nullcontext():
            yield
    finally:
        _beginnings.pop()


def _quick() -> ModuleType:
    return import_module(f"{__name__}.quick")


@contextmanager
def _surroundings(log_level: str | None = None) -> Iterator[None]:
    """Let the library below find our folder for compiled kernels, and no reason to print or to ask a server.

    It makes a folder when it is imported, started or reset. It aborts if there is no ``HOME``. Its variables for the
    user's own programs would start another arch, or give our kernels other types.
    """
    below = library()
    wanted = {
        "XDG_CACHE_HOME": str(cache_home() or os.devnull),
        f"ENABLE_{below.package.upper()}_HEADER_PRINT": "0",
        below.variable("SKIP_VERSION_CHECK"): "ON",
        below.variable("LOG_LEVEL"): log_level,
        **{below.variable(name): None for name in ("ARCH", "DEFAULT_FP", "DEFAULT_IP")},
    }
    before = {name: os.environ.get(name) for name in wanted}
    _set_environment(wanted)
    try:
        yield
    finally:
        _set_environment(before)


def _set_environment(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def cache_home() -> Path | None:
    """Return the folder in which the library below makes its own; a substitute if the user's is not writable."""
    for base in (partial(base_folder, "XDG_CACHE_HOME", ".cache"), private_folder):
        # For example a read-only folder, or a name that the library below cannot read, as it is not in UTF-8.
        with suppress(OSError, UnicodeEncodeError):
            home = base() / "chordless"
            folder = home / library().cache
            str(folder).encode()
            make_folder(folder, 0o700)
            if os.access(folder, os.W_OK | os.X_OK):
                return home
    return None


def name_and_version() -> str | None:
    """Return the name and version of the library below; None if this process has not imported it."""
    return f"{library().package} {_version(_imported())}" if _is_imported() else None


def _is_imported() -> bool:
    return any(each.package in sys.modules for each in LIBRARIES) and library().package in sys.modules


def is_used_by_others() -> bool:
    """Return whether this process uses the library below for something else, so that our runtime would be in the way.

    It does if it has imported it itself, or started it since. What another thread imports or starts for us is ours.
    """
    # Looked at again, because a thread may have been done after the first look.
    return _seems_used_by_others() and not _beginnings and _seems_used_by_others()


def _seems_used_by_others() -> bool:
    return _is_imported() and (not _is_ours or is_taken())


def is_taken() -> bool:
    """Return whether a runtime is started that is not ours: to start ours would end it, and all its fields with it."""
    return _is_imported() and _started_runtime() not in (None, _runtime)


def is_open() -> bool:
    """Return whether the runtime that `start` has started is still there: the process may have ended or replaced it."""
    return _runtime is not None and _started_runtime() is _runtime


def _started_runtime() -> Any:
    """Return the runtime of the library below; None if it is not started."""
    runtime = _private("lang.impl").get_runtime()
    return None if getattr(runtime, library().program) is None else runtime


def start(arch: str, *, log: bool = False, **options: Any) -> None:
    """Start a runtime of our own on ``cpu``, ``cuda`` or ``vulkan``. There must not be one of somebody else.

    With `log` it writes all that it does to the standard output or error of the process. The other options are for
    `ti.init`.
    """
    global _runtime
    below = _imported()
    with _beginning("start"):
        with _surroundings(), _not_printing(_private("lang.misc")):
            level = "trace" if log else "error"
            below.init(arch=getattr(below, arch), enable_fallback=False, log_level=level, **options)
            below.set_logging_level("error")
        _runtime = _started_runtime()


def stop() -> None:
    """End the runtime that `start` has started, if it is still there; forget it in any case."""
    global _runtime
    if is_open():
        with _surroundings():
            _imported().reset()
            _imported().set_logging_level("info")
    _runtime = None


@contextmanager
def _not_printing(module: Any) -> Iterator[None]:
    """Let one module of the library below print nothing inside the block; it prints on which arch it starts."""
    module.print = lambda *_, **__: None
    try:
        yield
    finally:
        del module.print


def arch_here() -> str:
    """Return the arch on which the library below has started: ``cpu`` for all kinds of CPU."""
    name = str(settings().arch).removeprefix("Arch.")
    return "cpu" if name in ("x64", "arm64") else name


def has_driver(arch: str) -> bool:
    """Return whether the library below finds a driver for a GPU's arch."""
    _imported()  # a private module alone would be taken for an import by the program of the user
    return bool(getattr(_private("_lib").core, f"with_{arch}")())


def settings() -> Any:
    """Return the settings of the open runtime, among them its arch, and how thoroughly it compiles."""
    return _private("lang.impl").current_cfg()


def address(buffer: Any) -> int:
    """Return where on the device a buffer begins."""
    program = getattr(_private("lang.impl").get_runtime(), library().program)
    return int(program.get_ndarray_data_ptr_as_int(buffer.arr))


def graph_of_launches(kernel: Any, launches: Sequence[Sequence[Any]], examples: Sequence[Any]) -> Any:
    """Return a graph of launches of one kernel, each given by its arguments, which are symbols of the graph.

    The builder of the library below compiles for buffers of its own class, which are freed in whatever thread collects
    them: on CUDA the process dies in a thread without a context. See `buffer_class`. The kernel is compiled for
    `examples`, an argument for each symbol, of its type.
    """
    primal = kernel._primal
    compiled = primal.compiled_kernels[primal.ensure_compiled(*examples)]
    builder = _private("_lib").core.GraphBuilder()
    for symbols in launches:
        builder.dispatch(compiled, list(symbols))
    return _private("graph").Graph(builder.compile())


def numpy_type(buffer: Any) -> Any:
    """Return the type of numpy that a buffer has."""
    return _private("lang.util").to_numpy_type(buffer.dtype)


@cache
def buffer_class(drop: Callable[[Callable[[], None]], None]) -> Any:
    """Return the class of one-dimensional buffers on a device, made of a type and a shape.

    The class of the library below frees a buffer in whatever thread drops the last reference to it, and in whatever
    runtime there is then. On CUDA the process dies in a thread without a context; in a later runtime another buffer may
    live at the address. `drop` is given a function that frees a buffer, and calls it on the thread that owns the
    runtime.
    """
    base: type[Any] = _private("lang._ndarray").ScalarNdarray
    is_taichi = library().package == "taichi"

    class Buffer(base):  # type: ignore[misc]
        def __init__(self, dtype: Any, shape: tuple[int]) -> None:
            self._runtime = _started_runtime()
            if not is_taichi:
                super().__init__(dtype, shape)
                return
            # Taichi's own constructor writes the stack of calls into a text, which takes longer than to make a buffer.
            super(base, self).__init__()
            self.element_type = dtype
            self.dtype = _private("lang.util").cook_dtype(dtype)
            core, layout = _private("_lib").core, _private("lang.enums").Layout.NULL
            self.arr = getattr(self._runtime, library().program).create_ndarray(
                self.dtype, shape, layout=layout, zero_fill=True, dbg_info=core.DebugInfo("")
            )
            self.shape = tuple(self.arr.shape)

        def __del__(self) -> None:
            allocated = getattr(self, "arr", None)  # None if the allocation failed, or by the fork when it is reset
            if allocated is not None:
                drop(partial(_free, allocated, self._runtime))

    return Buffer


def _free(allocated: Any, runtime: Any) -> None:
    """Free a buffer, unless its runtime has ended since and has freed it."""
    if _started_runtime() is runtime:
        getattr(runtime, library().program).delete_ndarray(allocated)


def _keep_runtime() -> None:
    """In a forked child, never free our runtime: its destructor would wait for threads that do not exist there."""
    if _runtime is not None and (program := getattr(_runtime, library().program)) is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(program))


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_keep_runtime)
