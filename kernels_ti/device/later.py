"""Modules that a library imports at its start and rarely needs: they are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


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
    version of itself. To import both takes a hundredth of a second.

    Parameters
    ----------
    names : str
        Full names of modules. Those that are already imported are left alone.
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
